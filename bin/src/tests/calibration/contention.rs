//! Contention in simulated time: the latency that the neighbours of a machine add to its memory.

use std::boxed::Box;
use std::vec::Vec;

use latency_core::Pcg32;

/// A source of random numbers of several distributions.
#[derive(Clone, Debug)]
pub struct Chance(Pcg32);

impl Chance {
    /// Makes the source for one run of a machine.
    pub fn new(seed: u64, machine: u64) -> Chance {
        Chance(Pcg32::new(seed, machine))
    }

    /// Makes a separate source for one of several parts of a machine.
    pub fn of_part(&mut self, part: u64) -> Chance {
        Chance::new(self.0.next_u64(), part)
    }

    /// Returns a uniform number between 0 and 1.
    pub fn uniform(&mut self) -> f64 {
        f64::from(self.0.next_u32()) / f64::from(u32::MAX)
    }

    /// Returns a uniform number between two bounds.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Returns a number whose logarithm is uniform between two bounds.
    pub fn between_orders(&mut self, low: f64, high: f64) -> f64 {
        self.between(low.ln(), high.ln()).exp()
    }

    /// Returns true in that share of cases.
    pub fn is(&mut self, share: f64) -> bool {
        self.uniform() < share
    }

    /// Returns a nearly normal number, with a standard deviation of one.
    pub fn normal(&mut self) -> f64 {
        let sum: f64 = (0..4).map(|_| self.uniform()).sum();
        (sum - 2.0) * 3f64.sqrt()
    }

    /// Returns a waiting time with that mean, as between events without memory.
    pub fn wait(&mut self, mean: f64) -> f64 {
        -mean * (1.0 - self.uniform()).max(1e-9).ln()
    }
}

/// Draws the next stretch of contention: its length in seconds, and its addition as a fraction of the
/// latency.
type Draw = Box<dyn FnMut(&mut Chance) -> (f64, f64)>;

/// A stretch of time with constant contention.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    until_ns: f64,
    adds: f64,
}

/// The contention of one run, drawn as far as it was requested.
pub struct Contention {
    draw: Draw,
    chance: Chance,
    stretches: Vec<Stretch>,
    at: usize,
}

impl Contention {
    fn new(chance: &mut Chance, draw: Draw) -> Contention {
        Contention { draw, chance: chance.of_part(1), stretches: Vec::new(), at: 0 }
    }

    /// Makes only a machine's own contention: 0.2 % that comes and goes within a second.
    pub fn quiet(chance: &mut Chance) -> Contention {
        let mut wanders = wandering(0.1);
        Contention::new(
            chance,
            Box::new(move |chance| (0.1, (0.004 + 0.002 * wanders(chance)).clamp(0.0, 0.008))),
        )
    }

    /// Makes neighbours that add `mean` on average, either on and off or ever changing, over 50 ms to 3 s;
    /// half of them are never quiet.
    pub fn neighbours(chance: &mut Chance, mean: f64) -> Contention {
        let seconds = chance.between_orders(0.05, 3.0);
        let is_sometimes_quiet = chance.is(0.5);
        if chance.is(0.5) {
            let duty = chance.between(0.3, 0.8);
            let floor = if is_sometimes_quiet { 0.0 } else { 0.3 * mean };
            let on = (mean - (1.0 - duty) * floor) / duty;
            let lengths = [2.0 * seconds * (1.0 - duty), 2.0 * seconds * duty];
            return Contention::on_and_off(chance, lengths, floor, 0.25, move |chance| {
                on * chance.between(0.6, 1.4)
            });
        }
        let step = (seconds / 10.0).max(0.005);
        let mut wanders = wandering(step / seconds);
        Contention::new(
            chance,
            Box::new(move |chance| {
                let value = wanders(chance);
                let adds = if is_sometimes_quiet {
                    // The mean of the positive part of a normal value about 0.6 with a deviation of 0.9.
                    (0.6 + 0.9 * value).max(0.0) / 0.736
                } else {
                    (0.5 * value - 0.125).exp()
                };
                (step, mean * adds)
            }),
        )
    }

    /// Makes neighbours that add `mean` on average over 50 ms to 3 s, and never less than 0.3 of it.
    pub fn never_quiet(chance: &mut Chance, mean: f64) -> Contention {
        let seconds = chance.between_orders(0.05, 3.0);
        let step = (seconds / 10.0).max(0.005);
        let mut wanders = wandering(step / seconds);
        let draw =
            move |chance: &mut Chance| (step, mean * (0.3 + 0.7 * (0.5 * wanders(chance) - 0.125).exp()));
        Contention::new(chance, Box::new(draw))
    }

    /// Makes a neighbour that adds `adds` all the time; rounds of the run scatter by a fraction, each by itself.
    pub fn constant(chance: &mut Chance, adds: f64, rounds_scatter: f64) -> Contention {
        let draw = move |chance: &mut Chance| {
            (0.1, ((1.0 + adds) * (1.0 + rounds_scatter * chance.normal()) - 1.0).max(0.0))
        };
        Contention::new(chance, Box::new(draw))
    }

    /// Makes neighbours that alternate between quiet and busy, each for a mean time in seconds; their
    /// addition varies by a fraction within tenths of a second.
    pub fn on_and_off(
        chance: &mut Chance,
        [off, on]: [f64; 2],
        floor: f64,
        varies: f64,
        mut adds: impl FnMut(&mut Chance) -> f64 + 'static,
    ) -> Contention {
        let mut is_on = chance.is(on / (off + on));
        let next = move |chance: &mut Chance| {
            is_on = !is_on;
            if is_on { (chance.wait(on), adds(chance)) } else { (chance.wait(off), floor) }
        };
        Contention::new(chance, varying(varies, next))
    }

    /// Makes neighbours that add `adds` for the last `on` of each `period` seconds, from a random phase; the
    /// addition varies by a quarter within tenths of a second.
    pub fn periodic(chance: &mut Chance, period: f64, on: f64, adds: f64) -> Contention {
        let off = period - on;
        // The run begins within the first period.
        let mut begins = Some(chance.between(0.0, period));
        let mut is_on = false;
        let next = move |_: &mut Chance| {
            let passed = begins.unwrap_or(0.0);
            let (length, level) = if is_on { (on, adds) } else { (off, 0.0) };
            is_on = !is_on;
            let left = length - passed;
            begins = Some(-left).filter(|left| *left > 0.0);
            (left.max(0.0), level)
        };
        Contention::new(chance, varying(0.25, next))
    }

    fn reach(&mut self, now_ns: f64) {
        while self.stretches.last().is_none_or(|last| last.until_ns <= now_ns) {
            let (seconds, adds) = (self.draw)(&mut self.chance);
            let begun_ns = self.stretches.last().map_or(0.0, |last| last.until_ns);
            self.stretches.push(Stretch { until_ns: begun_ns + seconds * 1e9, adds });
        }
    }

    /// Returns the current addition, and the end of its validity in nanoseconds. Time only moves forward from
    /// call to call.
    pub fn now(&mut self, now_ns: f64) -> (f64, f64) {
        self.reach(now_ns);
        while self.stretches[self.at].until_ns <= now_ns {
            self.at += 1;
        }
        let Stretch { until_ns, adds } = self.stretches[self.at];
        (adds, until_ns)
    }

    /// Returns the mean over time of the addition between two moments.
    pub fn mean(&mut self, from_ns: f64, to_ns: f64) -> f64 {
        self.reach(to_ns);
        let (mut begun_ns, mut sum) = (0.0, 0.0);
        for Stretch { until_ns, adds } in &self.stretches {
            sum += adds * (until_ns.min(to_ns) - f64::max(begun_ns, from_ns)).max(0.0);
            begun_ns = *until_ns;
        }
        sum / (to_ns - from_ns)
    }

    /// Returns the median over time of the addition between two moments.
    pub fn median(&mut self, from_ns: f64, to_ns: f64) -> f64 {
        self.reach(to_ns);
        let mut begun_ns = 0.0;
        let mut parts: Vec<(f64, f64)> = Vec::new();
        for Stretch { until_ns, adds } in &self.stretches {
            parts.push((*adds, (until_ns.min(to_ns) - f64::max(begun_ns, from_ns)).max(0.0)));
            begun_ns = *until_ns;
        }
        parts.sort_by(|one, other| one.0.total_cmp(&other.0));
        let mut left = (to_ns - from_ns) / 2.0;
        for (adds, length) in &parts {
            left -= length;
            if left <= 0.0 {
                return *adds;
            }
        }
        f64::NAN
    }
}

/// Cuts stretches into tenths of a second or less, over which the addition varies by a fraction, and keeps
/// its mean.
fn varying(varies: f64, mut next: impl FnMut(&mut Chance) -> (f64, f64) + 'static) -> Draw {
    const STEP: f64 = 0.1;
    let mut wanders = wandering(0.5);
    let (mut left, mut adds) = (0.0, 0.0);
    Box::new(move |chance| {
        while left <= 0.0 {
            (left, adds) = next(chance);
        }
        let length = if varies > 0.0 && adds > 0.0 { f64::min(left, STEP) } else { left };
        left -= length;
        (length, adds * (varies * wanders(chance) - varies * varies / 2.0).exp())
    })
}

/// Draws values with a mean of zero and a deviation of one; each forgets a share of the previous one.
fn wandering(forgets: f64) -> impl FnMut(&mut Chance) -> f64 {
    let keeps = (-forgets).exp();
    let new = (1.0 - keeps * keeps).sqrt();
    let mut value = None::<f64>;
    move |chance| {
        let drawn = chance.normal();
        let next = value.map_or(drawn, |value| keeps * value + new * drawn);
        value = Some(next);
        next
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_add_their_nominal_mean() {
        for mean in [0.1, 0.6] {
            let found = (0..300).map(|seed| {
                let mut contention = Contention::neighbours(&mut Chance::new(seed, 1), mean);
                contention.mean(1e9, 31e9)
            });
            let found = found.sum::<f64>() / 300.0;
            assert!((found / mean - 1.0).abs() < 0.05, "{found} of {mean}");
        }
    }

    #[test]
    fn means_over_time_match_the_drawn_stretches() {
        for seed in 0..20 {
            let mut contention = Contention::periodic(&mut Chance::new(seed, 1), 10.0, 7.0, 0.5);
            let met = (0..20_000).map(|step| contention.now(f64::from(step) * 1e6 + 1.0).0);
            let met: Vec<f64> = met.collect();
            let (mean, quiet) =
                (met.iter().sum::<f64>() / 2e4, met.iter().filter(|adds| **adds == 0.0).count());
            assert!((quiet as f64 / 2e4 - 0.3).abs() < 0.001, "{quiet}");
            assert!(
                (mean - contention.mean(0.0, 20e9)).abs() < 0.002 && (mean - 0.35).abs() < 0.05,
                "{mean}"
            );
            let median = contention.median(0.0, 20e9);
            let below = met.iter().filter(|adds| **adds < median).count();
            assert!((below as f64 / 2e4 - 0.5).abs() < 0.01, "{below}");
        }
    }
}
