//! From the ticks that a load is to take to the moment at which it is over.
//!
//! The emulator itself needs time for every hop: a fixed cost around the
//! callback, which the guest sees on top of what was modelled. There are two ways
//! to take it back. A hop that begins within [`Pacing::absorb`] ticks of the end
//! of the last one is counted from that end, so that the cost between the two
//! disappears, whatever it was; any other is shortened by [`Pacing::overhead`].
//! Nothing here reads a clock.

/// How the emulator's own cost is taken back, in ticks. Both 0 leave it in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Pacing {
    /// The longest time between two hops that counts as cost of the emulator.
    pub absorb: u64,
    /// What is taken off a hop that follows no other so closely.
    pub overhead: u64,
}

/// A callback that ends this long after its deadline was kept from the CPU.
const DISTURBED: u64 = 1000;

/// Ticks of one bucket of [`Gaps`].
const STEP: u64 = 4;
/// Buckets of [`Gaps`]; the last one holds everything from there on.
const BUCKETS: usize = 1024;

/// How often each time between two hops was seen.
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

    /// Adds what `other` has seen.
    pub fn add(&mut self, other: &Gaps) {
        self.0.iter_mut().zip(&other.0).for_each(|(into, from)| *into += from);
    }

    /// The gap, in ticks, that `percent` of all gaps do not exceed by more than a
    /// bucket of 4 ticks; `None` without gaps, and where it is 4092 or more.
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
    /// When the last callback was left.
    end: Option<u64>,
    /// When the last hop was to be over.
    deadline: u64,
    /// Times between the end of a callback and the beginning of the next.
    pub gaps: Gaps,
    /// Hops over before the model had answered: their latency is too short to be
    /// kept.
    pub late: u64,
    /// Hops that ended more than 1000 ticks after they were to.
    pub disturbed: u64,
    /// Ticks by which those were late.
    pub disturbed_ticks: u64,
}

impl Pace {
    /// A callback was entered at `entry` for a hop of `ticks`: when it is to end.
    pub fn deadline(&mut self, pacing: Pacing, entry: u64, ticks: u64) -> u64 {
        let gap = self.end.map(|end| entry.saturating_sub(end));
        if let Some(gap) = gap {
            self.gaps.note(gap);
        }
        // Measured from where the last hop was to end: what it took longer is
        // made good by the next as well, if it was not more than `absorb`.
        let behind = entry.saturating_sub(self.deadline);
        self.deadline = if gap.is_some() && behind <= pacing.absorb {
            self.deadline.saturating_add(ticks)
        } else {
            entry.saturating_add(ticks.saturating_sub(pacing.overhead))
        };
        self.deadline
    }

    /// The callback is left at `end`; `waited` says whether it had to wait at all,
    /// `pause` how much longer than the hop it was to last.
    pub fn leave(&mut self, end: u64, waited: bool, pause: u64) {
        self.end = Some(end);
        self.deadline = self.deadline.saturating_add(pause);
        self.late += u64::from(!waited);
        let excess = end.saturating_sub(self.deadline);
        if excess > DISTURBED {
            self.disturbed += 1;
            self.disturbed_ticks = self.disturbed_ticks.saturating_add(excess);
        }
    }

    /// Adds what `other` has counted.
    pub fn add(&mut self, other: &Pace) {
        self.gaps.add(&other.gaps);
        self.late += other.late;
        self.disturbed += other.disturbed;
        self.disturbed_ticks = self.disturbed_ticks.saturating_add(other.disturbed_ticks);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hops that take `cost` ticks around each callback: when the last one ends.
    fn run(pacing: Pacing, hops: u64, ticks: u64, cost: u64) -> u64 {
        let (mut pace, mut now) = (Pace::default(), 10_000);
        for _ in 0..hops {
            now += cost;
            now = pace.deadline(pacing, now, ticks);
            pace.leave(now, true, 0);
        }
        now - 10_000
    }

    #[test]
    fn the_cost_stays_is_absorbed_or_is_taken_off() {
        assert_eq!(run(Pacing::default(), 100, 3000, 80), 100 * 3080);
        assert_eq!(run(Pacing { absorb: 0, overhead: 80 }, 100, 3000, 80), 100 * 3000);
        assert_eq!(run(Pacing { absorb: 200, overhead: 0 }, 100, 3000, 80), 80 + 100 * 3000);
        assert_eq!(run(Pacing { absorb: 200, overhead: 80 }, 100, 3000, 80), 100 * 3000);
        assert_eq!(run(Pacing { absorb: 50, overhead: 0 }, 100, 3000, 80), 100 * 3080);
    }

    #[test]
    fn a_hop_after_a_break_starts_when_it_starts() {
        let pacing = Pacing { absorb: 200, overhead: 80 };
        let mut pace = Pace::default();
        assert_eq!(pace.deadline(pacing, 100, 1000), 1020, "the first is shortened");
        pace.leave(1020, true, 0);
        assert_eq!(pace.deadline(pacing, 1100, 1000), 2020, "the second is absorbed");
        pace.leave(2020, true, 0);
        assert_eq!(pace.deadline(pacing, 9000, 1000), 9920, "the third comes late");
    }

    #[test]
    fn hops_that_could_not_be_kept_are_counted() {
        let mut pace = Pace::default();
        pace.deadline(Pacing::default(), 100, 10);
        pace.leave(300, false, 0);
        pace.deadline(Pacing::default(), 400, 10);
        pace.leave(5410, true, 0);
        assert_eq!((pace.late, pace.disturbed, pace.disturbed_ticks), (1, 1, 5000));
    }

    #[test]
    fn a_pause_lies_between_two_hops_and_disturbs_none() {
        let pacing = Pacing { absorb: 200, overhead: 0 };
        let mut pace = Pace::default();
        let end = pace.deadline(pacing, 100, 1000) + 50_000;
        pace.leave(end, true, 50_000);
        assert_eq!(pace.deadline(pacing, end + 80, 1000), end + 1000);
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
