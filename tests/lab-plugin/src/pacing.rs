//! Turns the modelled ticks of a load into the moment of its end.
//!
//! The emulator itself needs time for every hop: a cost around the callback, which the guest sees on top of
//! the modelled time. There are two ways to compensate for it. A hop that begins within [`Pacing::absorb`]
//! ticks of the modelled end of the last one, in the same call of the loop, is counted from that end: the
//! time between the two disappears, and the following hops make up for a longer interruption. The first hop
//! behind the stamp that opens a timed window is likewise counted from that stamp, so that the guest times
//! exactly the modelled ticks. Any other hop is shortened by [`Pacing::overhead`]. Nothing here reads a
//! clock.

/// Compensation of the emulator's own cost, in ticks. If both are 0, the cost is not compensated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacing {
    /// The longest time between two hops that is compensated.
    pub absorb: u64,
    /// Ticks subtracted from any other hop.
    pub overhead: u64,
}

/// Ticks after its deadline from which a callback counts as disturbed by the host.
const DISTURBED: u64 = 1000;

/// Ticks of one bucket of [`Gaps`].
const STEP: u64 = 4;
/// Number of buckets of [`Gaps`]; the last one also counts all longer gaps.
const BUCKETS: usize = 1024;

/// A histogram of the times between two hops.
#[derive(Clone, Debug)]
pub struct Gaps(Vec<u64>);

impl Default for Gaps {
    fn default() -> Self {
        Self(vec![0; BUCKETS])
    }
}

impl Gaps {
    fn note(&mut self, ticks: u64) {
        let bucket = usize::try_from(ticks / STEP).unwrap_or(BUCKETS).min(BUCKETS - 1);
        if let Some(count) = self.0.get_mut(bucket) {
            *count += 1;
        }
    }

    /// Adds the gaps of `other`.
    pub fn add(&mut self, other: &Gaps) {
        self.0.iter_mut().zip(&other.0).for_each(|(into, from)| *into += from);
    }

    /// Returns the gap, in ticks, that `percent` of all gaps do not exceed by more than a bucket of 4 ticks;
    /// `None` without gaps, and for 4092 ticks or more.
    #[must_use]
    pub fn percentile(&self, percent: u64) -> Option<u64> {
        let total: u64 = self.0.iter().sum();
        let rank = (u128::from(total) * u128::from(percent)).div_ceil(100).max(1);
        let mut seen = 0_u128;
        for (bucket, &count) in (0_u64..).zip(self.0.iter().take(BUCKETS - 1)) {
            seen += u128::from(count);
            if seen >= rank {
                return Some(bucket * STEP + STEP / 2);
            }
        }
        None
    }
}

/// The clock of one CPU's hops.
#[derive(Clone, Debug, Default)]
pub struct Pace {
    /// End of the last callback within the same call of the loop or the same timed window.
    end: Option<u64>,
    /// True if that callback was for a stamp.
    stamped: bool,
    /// Modelled end of the last hop.
    deadline: u64,
    /// True if the hop ended before it began, to compensate for an interruption.
    behind: bool,
    /// Times between the end of a callback and the beginning of the next.
    pub gaps: Gaps,
    /// Hops whose modelled end was over before the model had answered, so that their latency is too long.
    pub late: u64,
    /// Hops that ended at once, to compensate for an interruption.
    pub hurried: u64,
    /// Hops that ended more than 1000 ticks after their deadline.
    pub disturbed: u64,
    /// Ticks by which those hops were late.
    pub disturbed_ticks: u64,
}

impl Pace {
    /// Returns the end of a hop of `ticks` and of a `pause` after it, for a callback entered at `entry`.
    pub fn enter(&mut self, pacing: Pacing, entry: u64, ticks: u64, pause: u64) -> u64 {
        if let Some(end) = self.end.filter(|_| !self.stamped) {
            self.gaps.note(entry.saturating_sub(end));
        }
        self.stamped = false;
        let continues = self.continues(pacing, entry);
        let over = if continues {
            self.deadline.saturating_add(ticks)
        } else {
            entry.saturating_add(ticks.saturating_sub(pacing.overhead))
        };
        self.deadline = over.saturating_add(pause);
        self.behind = self.deadline <= entry && continues;
        self.deadline
    }

    /// Returns the beginning of the hop whose callback was entered at `entry`: the end of the last hop, if it
    /// is counted from there.
    #[must_use]
    pub fn arrival(&self, pacing: Pacing, entry: u64) -> u64 {
        if self.continues(pacing, entry) { self.deadline } else { entry }
    }

    fn continues(&self, pacing: Pacing, entry: u64) -> bool {
        self.end.is_some() && entry.saturating_sub(self.deadline) <= pacing.absorb
    }

    /// Notes that the model answered at `answer` and that the callback is left at `end`.
    pub fn leave(&mut self, answer: u64, end: u64) {
        self.end = Some(end);
        if self.behind {
            self.hurried += 1;
            return;
        }
        self.late += u64::from(answer > self.deadline);
        let excess = end.saturating_sub(self.deadline);
        if excess > DISTURBED {
            self.disturbed += 1;
            self.disturbed_ticks = self.disturbed_ticks.saturating_add(excess);
        }
    }

    /// Notes a stamp at `now` that opens a timed window: the next hop is counted from it.
    pub fn begin(&mut self, now: u64) {
        (self.end, self.deadline, self.stamped) = (Some(now), now, true);
    }

    /// Notes that the loop is left: the next hop is not counted from the last one.
    pub fn interrupt(&mut self) {
        self.end = None;
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Pace) {
        self.gaps.add(&other.gaps);
        self.late += other.late;
        self.hurried += other.hurried;
        self.disturbed += other.disturbed;
        self.disturbed_ticks = self.disturbed_ticks.saturating_add(other.disturbed_ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a hop of `ticks` that is entered at `entry`, and returns its end.
    fn hop(pace: &mut Pace, pacing: Pacing, entry: u64, ticks: u64) -> u64 {
        let end = pace.enter(pacing, entry, ticks, 0).max(entry);
        pace.leave(entry, end);
        end
    }

    /// Runs hops with a cost of `cost` ticks around each callback, and returns the end of the last one.
    fn run(pacing: Pacing, hops: u64, ticks: u64, cost: u64) -> u64 {
        let mut pace = Pace::default();
        (0..hops).fold(10_000, |now, _| hop(&mut pace, pacing, now + cost, ticks)) - 10_000
    }

    #[test]
    fn the_cost_stays_or_is_absorbed_or_subtracted() {
        assert_eq!(run(Pacing::default(), 100, 3000, 80), 100 * 3080);
        assert_eq!(run(Pacing { absorb: 0, overhead: 80 }, 100, 3000, 80), 100 * 3000);
        assert_eq!(run(Pacing { absorb: 200, overhead: 0 }, 100, 3000, 80), 80 + 100 * 3000);
        assert_eq!(run(Pacing { absorb: 200, overhead: 80 }, 100, 3000, 80), 100 * 3000);
        assert_eq!(run(Pacing { absorb: 50, overhead: 0 }, 100, 3000, 80), 100 * 3080);
    }

    #[test]
    fn a_hop_in_another_call_is_not_counted_from_the_last_one() {
        let pacing = Pacing { absorb: 200, overhead: 80 };
        let mut pace = Pace::default();
        assert_eq!(hop(&mut pace, pacing, 100, 1000), 1020, "the first is shortened");
        assert_eq!((pace.arrival(pacing, 1100), pace.arrival(pacing, 9000)), (1020, 9000));
        assert_eq!(hop(&mut pace, pacing, 1100, 1000), 2020, "the second is absorbed");
        assert_eq!(hop(&mut pace, pacing, 9000, 1000), 9920, "the third comes late");
        pace.interrupt();
        assert_eq!(hop(&mut pace, pacing, 10_000, 1000), 10_920, "the fourth is in another call");
        assert_eq!(pace.gaps.percentile(100), None, "the third came more than 4092 later");
    }

    #[test]
    fn the_first_hop_of_a_timed_window_counts_from_its_stamp() {
        let mut pace = Pace::default();
        pace.begin(100);
        assert_eq!(hop(&mut pace, Pacing { absorb: 500, overhead: 80 }, 450, 1000), 1100);
        assert_eq!(pace.gaps.percentile(100), None, "a stamp is not a hop");
        pace.interrupt();
        assert_eq!(hop(&mut pace, Pacing { absorb: 500, overhead: 80 }, 1200, 1000), 2120);
    }

    #[test]
    fn later_hops_make_up_for_an_interruption() {
        let pacing = Pacing { absorb: 10_000, overhead: 0 };
        let mut pace = Pace::default();
        assert_eq!(hop(&mut pace, pacing, 0, 1000), 1000);
        let ends = [4500, 4580, 4660, 4740].map(|entry| hop(&mut pace, pacing, entry, 1000));
        assert_eq!(ends, [4500, 4580, 4660, 5000]);
        assert_eq!((pace.hurried, pace.late, pace.disturbed), (3, 0, 0));
    }

    #[test]
    fn late_and_hurried_hops_are_counted() {
        let mut pace = Pace::default();
        pace.enter(Pacing::default(), 100, 10, 0);
        pace.leave(300, 300);
        pace.enter(Pacing::default(), 400, 10, 0);
        pace.leave(405, 5410);
        assert_eq!((pace.late, pace.disturbed, pace.disturbed_ticks), (1, 1, 5000));
    }

    #[test]
    fn a_pause_between_hops_disturbs_neither() {
        let pacing = Pacing { absorb: 200, overhead: 0 };
        let mut pace = Pace::default();
        let end = pace.enter(pacing, 100, 1000, 50_000);
        assert_eq!(end, 51_100);
        pace.leave(150, end);
        assert_eq!(hop(&mut pace, pacing, end + 80, 1000), end + 1000);
        assert_eq!(pace.disturbed, 0);
    }

    #[test]
    fn gaps_give_percentiles() {
        let mut gaps = Gaps::default();
        assert_eq!(gaps.percentile(50), None);
        for gap in 0..100 {
            gaps.note(gap);
        }
        assert_eq!((gaps.percentile(1), gaps.percentile(50)), (Some(2), Some(50)));
        let mut more = Gaps::default();
        more.note(1 << 40);
        gaps.add(&more);
        assert_eq!((gaps.percentile(99), gaps.percentile(100)), (Some(98), None));
    }
}
