//! The arithmetic of a core in simulated time. Its clock steps, and the hypervisor keeps its CPU for moments that no kernel
//! counts.

use latency_core::arch::{CLOCK_BLOCK, Stamp};
use latency_core::clock::Sandwich;
use latency_core::{Hertz, Ticks};

use super::contention::Chance;
use latency_engine::result::Counter;
use latency_engine::stopwatch::core_clock::Arithmetic;

/// Frequency of the counter, in gigahertz, and its step in ticks.
const TICKS_PER_NS: f64 = 2.6;
const STEP: u64 = 2;
/// Core cycles of a pair of readings and of the loop's last branch, and nanoseconds between two runs.
const PAIR_CYCLES: f64 = 60.0;
const BETWEEN_NS: f64 = 30.0;
/// Core clock in gigahertz.
const GIGAHERTZ: f64 = 4.0;

/// Random events: the mean nanoseconds between two of them, and their amount.
#[derive(Clone, Debug)]
pub struct Events {
    every_ns: f64,
    amount: f64,
    chance: Chance,
    next_ns: f64,
}

impl Events {
    /// Makes events with a mean distance and an amount that are random numbers between two bounds.
    pub fn between(mut chance: Chance, every_ns: [f64; 2], amount: [f64; 2]) -> Events {
        let [every_ns, amount] =
            [chance.between_orders(every_ns[0], every_ns[1]), chance.between(amount[0], amount[1])];
        let next_ns = chance.wait(every_ns);
        Events { every_ns, amount, chance, next_ns }
    }

    /// Returns the amount of the next event, multiplied by a random number between two bounds, and plans the event after
    /// it.
    fn next(&mut self, low: f64, high: f64) -> f64 {
        self.next_ns += self.chance.wait(self.every_ns);
        self.amount * self.chance.between(low, high)
    }
}

/// A core.
#[derive(Clone, Debug)]
pub struct Core {
    /// Core cycles of an addition, and of a multiplication.
    pub addition_cycles: f64,
    pub multiplication_cycles: f64,
    /// Steps of the clock, as fractions of it.
    steps: Events,
    /// Moments of the hypervisor, in nanoseconds.
    absences: Events,
    gigahertz: f64,
    now_ns: f64,
}

impl Core {
    /// Makes a core without faults. Its clock steps by up to 5% at intervals of microseconds to milliseconds, and the
    /// hypervisor keeps its CPU for about a microsecond, as often as was seen on a guest (every 25 us), or less often.
    pub fn new(steps: Chance, absences: Chance) -> Core {
        Core {
            addition_cycles: 1.0,
            multiplication_cycles: 3.0,
            steps: Events::between(steps, [5e3, 5e6], [0.0, 0.05]),
            absences: Events::between(absences, [15e3, 3e6], [300.0, 1700.0]),
            gigahertz: GIGAHERTZ,
            now_ns: 0.0,
        }
    }

    /// Returns the ratio of a multiplication to an addition, as the program finds it from the times of its runs.
    pub fn multiply_ratio(&mut self) -> Option<f64> {
        let counter = Counter {
            stamp: Stamp::detect().unwrap(),
            frequency: Hertz((TICKS_PER_NS * 1e9) as u64),
            anchor: Sandwich::default(),
            spread_ppm: 0.0,
            invariant: true,
            declared: None,
            step: Ticks(STEP),
            overhead: Ticks(0),
            trapped: false,
            fence_ratio: f64::NAN,
        };
        counter.multiply_ratio_by(|work, blocks| self.ticks(work, blocks))
    }

    /// Executes blocks of operations between two readings of the counter.
    fn ticks(&mut self, work: Arithmetic, blocks: usize) -> u64 {
        let each = match work {
            Arithmetic::Additions => self.addition_cycles,
            Arithmetic::Multiplications => self.multiplication_cycles,
        };
        let start = self.read();
        self.pass((blocks as u64 * CLOCK_BLOCK) as f64 * each + PAIR_CYCLES);
        let ticks = self.read() - start;
        self.now_ns += BETWEEN_NS;
        ticks
    }

    fn read(&self) -> u64 {
        (self.now_ns * TICKS_PER_NS) as u64 / STEP * STEP
    }

    /// Executes instructions for a number of core cycles.
    fn pass(&mut self, mut cycles: f64) {
        loop {
            let next_ns = self.steps.next_ns.min(self.absences.next_ns).max(self.now_ns);
            let possible = (next_ns - self.now_ns) * self.gigahertz;
            if cycles <= possible {
                self.now_ns += cycles / self.gigahertz;
                return;
            }
            cycles -= possible;
            self.now_ns = next_ns;
            if self.absences.next_ns <= next_ns {
                self.now_ns += self.absences.next(0.5, 1.5);
            } else {
                self.gigahertz = GIGAHERTZ * (1.0 + self.steps.next(-1.0, 1.0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::math;
    use latency_engine::checks::self_test;
    use latency_engine::result::Health;
    use std::vec::Vec;

    fn core(seed: u64) -> Core {
        Core::new(Chance::new(seed, 1), Chance::new(seed, 2))
    }

    /// Returns the ratios that runs before and after the trials find on 400 cores.
    fn ratios(plant: impl Fn(&mut Core)) -> Vec<f64> {
        let found = |seed| {
            let (mut core, mut health) = (core(seed), Health::default());
            plant(&mut core);
            for _ in 0..2 {
                let ratio = &mut || core.multiply_ratio();
                self_test::look_by(self_test::TRIES, &mut health, &mut || Some(5.0), ratio);
            }
            health.multiply_ratio.unwrap()
        };
        (0..400).map(found).collect()
    }

    fn failed(ratios: &[f64]) -> usize {
        ratios.iter().filter(|ratio| math::distance_from_whole(**ratio) > 0.05).count()
    }

    #[test]
    fn a_clock_that_steps_fails_no_self_test() {
        for cycles in [3.0, 4.0] {
            let found = ratios(|core| core.multiplication_cycles = cycles);
            assert_eq!(failed(&found), 0);
            assert!(found.iter().all(|ratio| (ratio - cycles).abs() <= 0.05), "{found:?}");
        }
        let single: Vec<f64> = (0..400).map(|seed| core(seed).multiply_ratio().unwrap()).collect();
        assert!(failed(&single) <= 4, "{single:?}");
    }

    // Medians of long runs, with all additions before all multiplications, do not help.
    #[test]
    fn the_steps_fail_rates_that_are_measured_one_after_the_other() {
        let rate = |core: &mut Core, work| {
            let [short, long] = [40, 480].map(|blocks| {
                let mut found: Vec<u64> = (0..51).map(|_| core.ticks(work, blocks)).collect();
                found.sort_unstable();
                found[25] as f64
            });
            long - short
        };
        let ratio = |seed| {
            let mut core = core(seed);
            let additions = rate(&mut core, Arithmetic::Additions);
            rate(&mut core, Arithmetic::Multiplications) / additions
        };
        let found: Vec<f64> = (0..400).map(ratio).collect();
        std::println!("{} of {} failed", failed(&found), found.len());
        assert!(failed(&found) >= 40, "{}", failed(&found));
    }

    #[test]
    fn additions_of_two_cycles_are_found() {
        let found = ratios(|core| core.addition_cycles = 2.0);
        assert_eq!(failed(&found), found.len(), "{found:?}");
    }

    #[test]
    fn multiplications_of_no_whole_number_of_cycles_are_found() {
        for cycles in [2.8, 3.3] {
            let found = ratios(|core| core.multiplication_cycles = cycles);
            assert!(failed(&found) >= 396, "{found:?}");
        }
    }
}
