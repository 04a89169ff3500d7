//! Arithmetic of known length between two readings of the counter: the clock of the core, the latency of a
//! multiplication, and the check that readings wait for earlier instructions.
//!
//! Each function gets the ticks of some work from a function that does the work, so that tests measure with counters of
//! any frequency.

use latency_core::{Ticks, ToReal, arch, clock, sort_by_key, stats};

use crate::result::Counter;

/// Maximum clock of a core beside a coarse counter, in gigahertz. At a lower clock, the same work spans more steps.
pub const FASTEST_GIGAHERTZ: f64 = 4.5;
/// Steps that the difference of two runs of additions spans on a coarse counter; the error is below two steps.
const CLOCK_STEPS: u32 = 1000;
/// Steps that the difference of two runs spans in a self-test on a coarse counter.
pub const SELF_TEST_STEPS: u32 = 2000;
/// Steps that multiplications span on a coarse counter before their rate is compared with few of them.
const FENCE_STEPS: u32 = 200;
/// Blocks of multiplications between two readings, for the check that readings wait.
const FENCED: usize = 2;
/// Minimum ratio of multiplications before a fence to none that shows that the fence waits (method 1.1: 4 to 8).
const FENCE_WAITS: f64 = 2.5;
/// Minimum share of the time of some multiplications that two readings of a coarse counter show, if they wait.
const FENCE_SHOWS: f64 = 0.9;
/// Blocks of a short run, too many for the branch predictor to predict its end.
const SHORT: usize = 40;
/// Blocks of a long run in a round of the self-test. It lasts 2 us, because guests were seen to lose their CPU for about
/// 1 us every 25 us, which no kernel counted: a run of 7 us often included that.
const LONG: usize = 120;
/// Rounds of the self-test.
const ROUNDS: usize = 51;

/// Dependent operations between two readings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Additions, one core cycle each.
    Additions,
    /// Multiplications, a whole number of core cycles each.
    Multiplications,
}

impl Counter {
    /// Measures the current core cycles per tick by dependent additions, for some microseconds.
    ///
    /// The counter does not follow turbo. The core's clock does, and it changes within seconds, so it is measured with
    /// every batch, or with every fourth one if steps are long. Both runs are too long for the branch predictor to
    /// predict their end, so the cost of the misprediction cancels. Their difference is some hundred steps of the
    /// counter, because Zen 4 counts in steps of 26 ticks. Returns `None` if the runs were disturbed too much.
    pub fn core_clock(&self) -> Option<f64> {
        self.core_clock_by(self.arithmetic())
    }

    /// Measures the core cycles per tick as [`core_clock`](Self::core_clock) does; `ticks` executes blocks of
    /// [`arch::CLOCK_BLOCK`] operations, and returns their ticks.
    pub fn core_clock_by(&self, mut ticks: impl FnMut(Arithmetic, usize) -> u64) -> Option<f64> {
        let mut run = |blocks| Ticks(ticks(Arithmetic::Additions, blocks));
        let usual = (self.step.0 as usize * 16).clamp(SHORT, 50 * SHORT);
        let long = SHORT + usual.max(self.blocks(CLOCK_STEPS));
        // A long chase has evicted this code from the caches, and the fetch must not be timed.
        let _ = run(1);
        clock::cycles_per_tick((additions(SHORT), run(SHORT)), (additions(long), run(long)))
    }

    /// Returns the ratio of a multiplication's latency to that of an addition: see [`arch::Words::multiply_ratio`].
    ///
    /// Any other ratio means that the additions do not take one cycle each, and that core cycles are unreliable.
    pub fn multiply_ratio(&self) -> Option<f64> {
        self.multiply_ratio_by(self.arithmetic())
    }

    /// Measures the ratio as [`multiply_ratio`](Self::multiply_ratio) does, by `ticks`.
    ///
    /// With a fine counter, each round has its own ratio, because the clock of a core changes within microseconds.
    pub fn multiply_ratio_by(&self, mut ticks: impl FnMut(Arithmetic, usize) -> u64) -> Option<f64> {
        const LONG_OF_COARSE: usize = 480;
        let blocks = self.blocks(SELF_TEST_STEPS);
        if blocks == 0 {
            let rounds = (0..ROUNDS).filter_map(|_| ratio_of_round(&mut ticks));
            return stats::half_sample_mode(stats::gather(&mut [0.0; ROUNDS], rounds));
        }
        let mut rate = |work, more: usize| {
            let long = LONG_OF_COARSE.max(SHORT + more);
            operations_per_tick(work, long, &mut ticks)
        };
        // A multiplication takes two cycles or more.
        Some(rate(Arithmetic::Additions, blocks)? / rate(Arithmetic::Multiplications, blocks / 2)?)
    }

    /// Returns the ratio of a time with multiplications to the time without them, and whether that shows that readings
    /// wait for earlier instructions.
    ///
    /// Both readings open a window: one that closes it may wait by itself, even if the fence does not.
    pub(super) fn fence(&self) -> (f64, bool) {
        let read = || self.stamp.start();
        self.fence_by(self.arithmetic(), |multiplies, delays| {
            spin(delays);
            let start = read();
            core::hint::black_box(multiplies.then(|| arch::dependent_multiplies(FENCED)));
            read().saturating_sub(start)
        })
    }

    /// Measures as `fence` does, by `ticks` for long runs; `pair` returns the ticks of an empty pair of
    /// readings, or with multiplications between them, after a number of delays.
    ///
    /// The multiplications need at least 384 cycles, which are few steps of a coarse counter, and fewer than a core can
    /// hold back: more of them would be seen even without a fence. So the mean over many pairs, at different phases of
    /// the counter, is compared with the rate of multiplications in long runs.
    pub fn fence_by(
        &self,
        mut ticks: impl FnMut(Arithmetic, usize) -> u64,
        mut pair: impl FnMut(bool, usize) -> u64,
    ) -> (f64, bool) {
        let coarse = self.is_coarse();
        let mut typical = |multiplies| {
            let mut samples = [0; 501];
            let mut delays = 0;
            let median = median_of(&mut samples, &mut || {
                delays = if coarse { next_delay(delays) } else { 0 };
                pair(multiplies, delays)
            });
            if coarse { calm_mean(&samples, median) } else { median.real() }
        };
        let (with, without) = (typical(true), typical(false));
        // The mean of nothing but zeros is at most one tick in all samples.
        let ratio = with / without.max(if coarse { 1e-3 } else { 1.0 });
        if !coarse {
            return (ratio, ratio >= FENCE_WAITS);
        }
        let long = SHORT + self.blocks(FENCE_STEPS) / 2;
        let rate = operations_per_tick(Arithmetic::Multiplications, long, &mut ticks);
        let shown = rate.map(|rate| (with - without) * rate / additions(FENCED).real());
        (ratio, shown.is_some_and(|shown| shown >= FENCE_SHOWS))
    }

    /// Returns the number of blocks of additions that span a number of steps on the fastest core; zero for a fine
    /// counter.
    fn blocks(&self, steps: u32) -> usize {
        (self.at_least(steps) * FASTEST_GIGAHERTZ / arch::CLOCK_BLOCK as f64) as usize
    }

    /// Returns a function that executes blocks of operations between two stamps.
    fn arithmetic(&self) -> impl FnMut(Arithmetic, usize) -> u64 {
        |work, blocks| {
            let routine = match work {
                Arithmetic::Additions => arch::dependent_adds,
                Arithmetic::Multiplications => arch::dependent_multiplies,
            };
            let start = self.stamp.start();
            let result = routine(blocks);
            let end = self.stamp.end().ticks;
            core::hint::black_box(result);
            end.saturating_sub(start)
        }
    }
}

/// Returns the number of operations of some blocks.
const fn additions(blocks: usize) -> u64 {
    blocks as u64 * arch::CLOCK_BLOCK
}

/// Returns the time of multiplications divided by the mean time of as many additions before and after them, each from the
/// difference of a short run and a long one; `None` if a long run did not take longer.
fn ratio_of_round(ticks: &mut dyn FnMut(Arithmetic, usize) -> u64) -> Option<f64> {
    let mut spent = |work| {
        // The first block brings the code into the caches.
        let [_, short, long] = [1, SHORT, LONG].map(|blocks| ticks(work, blocks));
        long.checked_sub(short).filter(|ticks| *ticks > 0).map(ToReal::real)
    };
    let before = spent(Arithmetic::Additions);
    let multiplications = spent(Arithmetic::Multiplications);
    let after = spent(Arithmetic::Additions);
    Some(2.0 * multiplications? / (before? + after?))
}

/// Returns the operations per tick, from the difference of a short run and of one of `long` blocks; each is the median
/// of some runs.
fn operations_per_tick(
    work: Arithmetic,
    long: usize,
    ticks: &mut impl FnMut(Arithmetic, usize) -> u64,
) -> Option<f64> {
    let mut typical = |blocks| {
        let median = median_of(&mut [0; 51], &mut || ticks(work, blocks));
        (additions(blocks), Ticks(median))
    };
    clock::cycles_per_tick(typical(SHORT), typical(long))
}

/// Fills the samples with ticks in ascending order, and returns their median.
pub(super) fn median_of(samples: &mut [u64], ticks: &mut dyn FnMut() -> u64) -> u64 {
    samples.fill_with(ticks);
    sort_by_key(samples, |sample| *sample);
    samples.get(samples.len() / 2).copied().unwrap_or(0)
}

/// Returns the mean of the ticks that no interruption made longer.
fn calm_mean(samples: &[u64], median: u64) -> f64 {
    let most = 2 * (median + 1);
    let calm = || samples.iter().filter(|sample| **sample <= most);
    calm().sum::<u64>().real() / calm().count().max(1).real()
}

/// Returns the next of the numbers of delays before readings. Readings at equal distances could be at the same phase of
/// a coarse counter each time, or differ by a multiple of their own cost only.
pub(super) const fn next_delay(delays: usize) -> usize {
    /// A prime number, so that all remainders occur.
    const DELAYS: usize = 251;
    (delays + 71) % DELAYS
}

/// Delays by a number of loops of one or a few cycles each.
pub(super) fn spin(delays: usize) {
    for delay in 0..delays {
        core::hint::black_box(delay);
    }
}
