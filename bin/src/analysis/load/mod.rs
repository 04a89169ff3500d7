//! Loaded latency: the default levels of load, the knees of a curve of latency over bandwidth, its end, and whether
//! memory or the generators are the limit.
//!
//! The input is levels of load as plain data, without the generators of the load. At most [`MOST_LEVELS`] are examined,
//! in arrays on the stack.
//!
//! # References
//! R. E. Barlow et al., "Statistical Inference under Order Restrictions", 1972 (pool adjacent violators).

#[cfg(test)]
mod tests;

use core::cmp::Ordering;

use latency_core::{Estimate, Interval, LineSize, ToReal, math, sort_by, worded};

/// Largest number of levels of one curve; further ones are left out.
pub const MOST_LEVELS: usize = 64;
/// Latencies of the reported knees, as multiples of the lowest latency.
pub const KNEES: [f64; 2] = [1.25, 2.0];

/// Upper bound of bytes per second and of nanoseconds (30 years) for any memory: sums of larger numbers would not be
/// finite.
const ABSURD: f64 = 1e18;
/// Least relative loss of bandwidth that counts as a bend; two windows at one load differ by less.
const SOME_LOSS: f64 = 0.02;
/// Largest relative residual of a fit that describes the latencies.
const MOST_RESIDUAL: f64 = 0.05;
/// Least ratio at which idle memory counts as slower than loaded memory: medians of the same latency differ by up to
/// this.
const SOME_SLOWER: f64 = 1.02;
/// Fewest levels that are fitted: a curve with one parameter goes through any one level, and close to two.
const FEWEST_FITTED: usize = 3;

/// One level of load as it was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoadLevel {
    /// Offered bytes per second: 0 is idle, `None` the largest possible load.
    pub offered: Option<f64>,
    /// Delivered bytes per second.
    pub delivered: Estimate,
    /// Nanoseconds per load of the chase.
    pub latency: Estimate,
}

/// A bend of a curve: more load moves fewer bytes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bend {
    /// The level with the largest bandwidth.
    pub best: LoadLevel,
    /// The share of that bandwidth which the worst level with more load lost.
    pub lost: f64,
}

/// A fit of the latency by a queue: lowest + ns * rho / (1 - rho), with rho the used part of the limit. For an M/D/1
/// queue, ns is half of the service time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Queue {
    /// The factor in nanoseconds.
    pub ns: f64,
    /// The largest distance of a latency from the fit, as a share of the latency.
    pub residual: f64,
}

/// The levels of one curve, up to the one with the largest bandwidth.
#[derive(Clone, Copy, Debug)]
pub struct Curve {
    /// The latency without load.
    pub idle: Estimate,
    /// The latency at the lightest load of the monotone fit; its interval comes from the fits of the lower and the
    /// upper ends. Knees are multiples of this latency.
    pub lowest: Estimate,
    /// The number of levels at low load, idle memory first, that are slower than a level with more load.
    slow: usize,
    /// The fastest level, if idle memory is slower than it by more than the intervals allow.
    pub fastest: Option<LoadLevel>,
    levels: [LoadLevel; MOST_LEVELS],
    length: usize,
    /// The bend after the level with the largest bandwidth, if levels with more load moved fewer bytes.
    pub bend: Option<Bend>,
}

/// A point where a curve reaches a latency.
#[derive(Clone, Copy, Debug)]
struct Crossing {
    bandwidth: f64,
    /// Half of the distance to the point where a straight line between the levels reaches the latency.
    margin: f64,
    /// The bandwidths of the levels before and after the crossing.
    between: (f64, f64),
}

impl LoadLevel {
    /// A level without load and without values.
    pub const NONE: Self = Self {
        offered: Some(0.0),
        delivered: Estimate { value: 0.0, interval: None },
        latency: Estimate { value: 0.0, interval: None },
    };

    fn is_usable(&self) -> bool {
        let LoadLevel { offered, delivered, latency } = self;
        offered.is_none_or(|offered| offered >= 0.0)
            && (0.0..ABSURD).contains(&delivered.value)
            && (f64::MIN_POSITIVE..ABSURD).contains(&latency.value)
    }

    fn is_idle(&self) -> bool {
        self.offered == Some(0.0)
    }

    fn load(&self) -> f64 {
        self.offered.unwrap_or(f64::INFINITY)
    }
}

/// Returns the lower end, the value, or the upper end of an estimate.
fn end(estimate: &Estimate, side: Ordering) -> f64 {
    match side {
        Ordering::Less => ends(estimate).low,
        Ordering::Equal => estimate.value,
        Ordering::Greater => ends(estimate).high,
    }
}

/// Returns the ends of the interval of an estimate; the value twice if there is no interval that contains it.
fn ends(estimate: &Estimate) -> Interval {
    let value = estimate.value;
    let holds = |interval: &Interval| {
        0.0 <= interval.low && interval.low <= value && value <= interval.high && interval.high < ABSURD
    };
    estimate.interval.filter(holds).unwrap_or(Interval { low: value, high: value })
}

impl Curve {
    /// Arranges levels, which may be in any order; `None` if no level is idle. Levels that are not numbers are left
    /// out, and so are those behind a bend, where bandwidth does not determine the latency.
    pub fn of(levels: &[LoadLevel]) -> Option<Curve> {
        let usable = || levels.iter().filter(|level| level.is_usable());
        let idle = usable().find(|level| level.is_idle())?.latency;
        let levels = [LoadLevel::NONE; MOST_LEVELS];
        let mut curve = Curve { idle, lowest: idle, slow: 0, fastest: None, levels, length: 0, bend: None };
        let best = usable().max_by(|one, two| one.delivered.value.total_cmp(&two.delivered.value))?;
        curve.bend = bend(usable(), best);
        let most = curve.bend.map_or(f64::INFINITY, |_| best.load());
        for (place, level) in curve.levels.iter_mut().zip(usable().filter(|level| level.load() <= most)) {
            *place = *level;
            curve.length += 1;
        }
        sort_by(curve.levels.get_mut(..curve.length)?, |one, two| {
            let by_bandwidth = one.delivered.value.total_cmp(&two.delivered.value);
            by_bandwidth.then(one.latency.value.total_cmp(&two.latency.value))
        });
        let by_latency = |one: &&LoadLevel, two: &&LoadLevel| one.latency.value.total_cmp(&two.latency.value);
        let fastest = *curve.levels().iter().min_by(by_latency)?;
        let bound = ends(&fastest.latency).high;
        if idle.value > SOME_SLOWER * fastest.latency.value {
            let slower = |level: &&LoadLevel| ends(&level.latency).low > bound;
            curve.slow = curve.levels().iter().take_while(slower).count();
            curve.fastest = Some(fastest).filter(|_| curve.slow > 0);
        }
        let first = |side| curve.fit(side)[0];
        let interval = Some(Interval { low: first(Ordering::Greater), high: first(Ordering::Less) });
        curve.lowest = Estimate { value: first(Ordering::Equal), interval };
        Some(curve)
    }

    /// Returns the levels by rising bandwidth, without levels behind a bend.
    pub fn levels(&self) -> &[LoadLevel] {
        self.levels.get(..self.length).unwrap_or_default()
    }

    /// Returns the bandwidth at `ratio` times the lowest latency; `None` if the curve does not reach that latency. The
    /// interval is `None` if the curve ends before it is certain that the latency is reached.
    ///
    /// Latencies are first made monotone in bandwidth, without idle memory that is slower than loaded memory. The ends
    /// of the interval are the crossings of the upper ends and of the lower ends of the latencies, each moved outward
    /// by half of the distance between a queue and a straight line.
    pub fn knee(&self, ratio: f64) -> Option<Estimate> {
        let Crossing { bandwidth: value, margin, .. } = self.crossing(ratio, Ordering::Equal)?;
        let early = self.crossing(ratio, Ordering::Less);
        let interval = early.zip(self.crossing(ratio, Ordering::Greater)).map(|(early, late)| Interval {
            low: (early.bandwidth - early.margin).min(value - margin),
            // The level after the crossing has reached the latency already.
            high: (late.bandwidth + late.margin).max(value + margin).min(late.between.1).max(value),
        });
        Some(Estimate { value, interval })
    }

    /// Returns two bandwidths that divide the gap between the levels beside a knee into thirds; levels there make the
    /// knee more certain. `None` if there is no knee, or no gap.
    pub fn beside(&self, ratio: f64) -> Option<[f64; 2]> {
        let (before, after) = self.crossing(ratio, Ordering::Equal)?.between;
        let third = (after - before) / 3.0;
        (third > 0.0).then_some([before + third, after - third])
    }

    /// Returns the fit of a queue below the knee at twice the lowest latency; `None` if the fit misses a level, or if
    /// there are too few levels.
    pub fn queue(&self, limit: f64) -> Option<Queue> {
        let knee = self.crossing(2.0, Ordering::Equal).map_or(f64::INFINITY, |crossing| crossing.bandwidth);
        let used = || {
            let below = self.rising().iter().filter(move |level| level.delivered.value < knee.min(limit));
            below.filter(|level| !level.is_idle()).map(move |level| {
                let rho = level.delivered.value / limit;
                (rho / (1.0 - rho), level.latency.value)
            })
        };
        if used().count() < FEWEST_FITTED {
            return None;
        }
        let sum = |of: fn(f64, f64) -> f64| -> f64 {
            used().map(|(load, latency)| of(load, latency - self.lowest.value)).sum()
        };
        let ns = sum(|load, extra| load * extra) / sum(|load, _| load * load);
        let off = |(load, latency): (f64, f64)| ((self.lowest.value + ns * load) / latency - 1.0).abs();
        let residual = used().map(off).fold(0.0, f64::max);
        (ns > 0.0 && ns.is_finite() && residual < MOST_RESIDUAL).then_some(Queue { ns, residual })
    }

    /// Returns the levels from the one with the lowest latency on.
    fn rising(&self) -> &[LoadLevel] {
        self.levels().get(self.slow..).unwrap_or_default()
    }

    /// Returns the monotone fit of the latencies with which a crossing is sought. The upper ends of their intervals cross
    /// a latency early, so they are the fit for the lower side ([`Ordering::Less`]).
    fn fit(&self, side: Ordering) -> [f64; MOST_LEVELS] {
        let mut latencies = [0.0; MOST_LEVELS];
        for (latency, level) in latencies.iter_mut().zip(self.rising()) {
            *latency = end(&level.latency, side.reverse());
        }
        make_monotone(latencies.get_mut(..self.rising().len()).unwrap_or_default());
        latencies
    }

    /// Finds the point where the monotone fit of one side reaches `ratio` times the lowest latency.
    fn crossing(&self, ratio: f64, side: Ordering) -> Option<Crossing> {
        let lowest = end(&self.lowest, side);
        let most = end(&self.rising().last()?.delivered, side);
        let mut before = None::<(f64, f64)>;
        for (latency, level) in self.fit(side).into_iter().zip(self.rising()) {
            let here = (end(&level.delivered, side), latency);
            if latency >= ratio * lowest {
                let alone = Crossing { bandwidth: here.0, margin: 0.0, between: (here.0, here.0) };
                return Some(before.map_or(alone, |before| between(before, here, lowest, ratio, most)));
            }
            before = Some(here);
        }
        None
    }
}

/// Finds the point between two levels where a queue, `lowest` + ns * rho / (1 - rho), has `ratio` times the lowest
/// latency. The levels are bandwidths with their latencies.
///
/// The queue goes through `lowest` and both levels, which determines its limit. If the first level is not slower than
/// `lowest`, the limit is `most`, the largest bandwidth of all, and the result is the middle between queue and straight
/// line. Latencies that bend down do not fit a queue, and are joined by straight lines.
fn between(before: (f64, f64), after: (f64, f64), lowest: f64, ratio: f64, most: f64) -> Crossing {
    let span = after.0 - before.0;
    let part = (ratio * lowest - before.1) / (after.1 - before.1);
    let straight = before.0 + span * part;
    let extra = |(bandwidth, latency): (f64, f64)| (latency - lowest) / bandwidth;
    let known = before.0 > 0.0 && before.1 > lowest;
    let growth = extra(after) / extra(before);
    let queue = if span <= 0.0 || known && growth <= 1.0 {
        straight
    } else {
        let own = if known && growth > 1.0 { after.0 + span / (growth - 1.0) } else { after.0 };
        let limit = own.max(most);
        // The load rho / (1 - rho) at the crossing is multiplied by the part of the limit that the second level leaves
        // free, since that part may be zero.
        let left = limit - after.0;
        let load = before.0 / (limit - before.0) * left * (1.0 - part) + after.0 * part;
        limit * load / (left + load)
    };
    let margin = (queue - straight).abs() / 2.0;
    let bandwidth = if known { queue } else { straight + margin };
    Crossing { bandwidth, margin, between: (before.0, after.0) }
}

/// Returns the bend if levels with more load than the best level moved fewer bytes, by more than the intervals allow.
fn bend<'l>(levels: impl Iterator<Item = &'l LoadLevel>, best: &LoadLevel) -> Option<Bend> {
    let most = &best.delivered;
    let beyond = levels.filter(|level| level.load() > best.load());
    let apart = beyond.filter(|level| ends(&level.delivered).high < ends(most).low);
    let lost = apart.map(|level| 1.0 - level.delivered.value / most.value).fold(0.0, f64::max);
    (lost > SOME_LOSS).then_some(Bend { best: *best, lost })
}

/// Replaces values by the nearest non-decreasing ones in the sense of least squares: pool adjacent violators.
fn make_monotone(values: &mut [f64]) {
    // Sums and numbers of values in each pool.
    let mut pools = [(0.0, 0_usize); MOST_LEVELS];
    let mut count = 0_usize;
    for value in values.iter() {
        let mut last = (*value, 1);
        while let Some(&(sum, number)) = count.checked_sub(1).and_then(|index| pools.get(index)) {
            if sum / (number as f64) <= last.0 / (last.1 as f64) {
                break;
            }
            last = (sum + last.0, number + last.1);
            count -= 1;
        }
        if let Some(pool) = pools.get_mut(count) {
            *pool = last;
            count += 1;
        }
    }
    let mut values = values.iter_mut();
    for &(sum, number) in pools.iter().take(count) {
        values.by_ref().take(number).for_each(|value| *value = sum / number as f64);
    }
}

/// Shares of the limit for all levels but the last, which has the largest possible load.
const SHARES: [f64; 9] = [0.0, 0.05, 0.15, 0.3, 0.45, 0.6, 0.75, 0.87, 0.95];

/// Returns the load of the level with this index among `levels`, in order of rising load. The load is a share of the
/// limit, 0 for idle memory, or `None` for the largest possible load. Ten levels have the shares of the table; more or
/// fewer levels are spread along it, with the first idle and the last at the largest possible load.
pub fn share(index: usize, levels: usize) -> Option<f64> {
    let last = levels.checked_sub(2).filter(|last| index <= *last)?;
    // If there are two levels, the first is idle.
    let place = index.real() / last.max(1).real() * (SHARES.len() - 1).real();
    let whole = math::whole(place) as usize;
    let at = |index: usize| SHARES.get(index).copied();
    let below = at(whole).unwrap_or_default();
    Some(at(whole + 1).map_or(below, |above| below + (above - below) * (place - whole.real())))
}

/// Largest growth of the bandwidth for twice the cores at which memory, or the path to it, is the limit.
const GROWTH_AT_LIMIT: f64 = 1.25;
/// Largest share of the bandwidth of half of the cores at which all cores overload the memory.
const OVERLOADED: f64 = 0.9;
/// Growth of the bandwidth for twice the cores above which the cores are the limit: more of them would move more.
const GROWTH_OF_CORES: f64 = 1.6;
/// Share of the limit below which every offered rate can be delivered.
const DELIVERABLE: f64 = 0.8;
/// Least relative difference from the offered rate that counts; paced generators differ by less.
const SOME_MISSED: f64 = 0.01;

worded! {
    /// The cause of the limit of the largest bandwidth.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Verdict {
        /// One core alone does not show the limit of memory.
        OneGenerator = "one generator",
        /// Memory, or the path to it, is the limit.
        LimitReached = "limit reached",
        /// Memory, or the path to it, is the limit, and all cores together overload it: they move less than half of them.
        OverSaturated = "over-saturated",
        /// Neither limit is shown.
        NotShown = "not shown",
        /// The cores are the limit: memory could deliver more.
        GeneratorsExhausted = "generators exhausted",
    }
}

impl Verdict {
    /// Returns the verdict from two bandwidths: of all cores, and of half of them, rounded down.
    ///
    /// The bounds are for twice the cores. With an odd number, all cores are more than twice the half (3 cores are three
    /// times 1), so the growth is scaled: the time per line of a core is modelled as a constant part and a part that
    /// grows with the number of cores.
    pub fn of(cores: usize, all: f64, half: Option<f64>) -> Verdict {
        if cores < 2 {
            return Verdict::OneGenerator;
        }
        let Some(growth) = half.filter(|half| *half > 0.0).map(|half| all / half) else {
            return Verdict::NotShown;
        };
        let times = cores.real() / (cores / 2).real();
        let doubled = 1.0 + (growth - 1.0) / (times - 1.0);
        match growth {
            _ if growth < OVERLOADED => Verdict::OverSaturated,
            _ if doubled <= GROWTH_AT_LIMIT => Verdict::LimitReached,
            _ if doubled > GROWTH_OF_CORES => Verdict::GeneratorsExhausted,
            _ => Verdict::NotShown,
        }
    }

    /// Returns the verdict where no smaller number of cores delivers more beyond both intervals. It is the verdict of
    /// [`of`](Self::of), but never over-saturated: all cores that deliver less than half of them reach the limit if they
    /// do so with the upper end of their interval too; else neither limit is shown.
    pub fn of_all(cores: usize, all: &Estimate, half: Option<f64>) -> Verdict {
        match Verdict::of(cores, all.value, half) {
            Verdict::OverSaturated => match Verdict::of(cores, ends(all).high, half) {
                Verdict::OverSaturated | Verdict::LimitReached => Verdict::LimitReached,
                _ => Verdict::NotShown,
            },
            verdict => verdict,
        }
    }
}

/// Returns the lines that each core has in flight, by Little's law: arrivals per second, times the latency. `None` if
/// the result is not finite.
pub fn lines_in_flight(
    read_bytes_per_second: f64,
    latency_ns: f64,
    cores: usize,
    line: LineSize,
) -> Option<f64> {
    let lines = read_bytes_per_second * latency_ns / 1e9 / (line.bytes().0.real() * cores.real());
    lines.is_finite().then_some(lines)
}

/// Returns the level with the delivered rate that is furthest from the offered one, and the difference as a share of
/// the offered rate; `None` if all are within 1 %. Rates near the limit, which need not be delivered, are left out. A
/// difference within the interval does not count.
pub fn not_delivered(levels: &[LoadLevel], limit: f64) -> Option<(LoadLevel, f64)> {
    let mut worst = None::<(&LoadLevel, f64)>;
    for level in levels {
        let Some(offered) = level.offered.filter(|offered| *offered > 0.0 && *offered < DELIVERABLE * limit)
        else {
            continue;
        };
        let delivered = ends(&level.delivered);
        let short = (offered - delivered.high).max(delivered.low - offered) / offered;
        if short > SOME_MISSED && worst.is_none_or(|(_, most)| short >= most) {
            worst = Some((level, short));
        }
    }
    worst.map(|(level, short)| (*level, short))
}
