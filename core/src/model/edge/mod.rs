//! The exact size and associativity of the first-level cache, from the edge of its plateau.
//!
//! In a cache indexed by virtual address with LRU replacement, a cyclic chain over contiguous lines
//! misses on every access to a set that has one line too many. With C bytes in W ways and C < S < C
//! + C/W, (S - C)/line sets have W + 1 lines:
//!
//! ```text
//! miss(S) = (W + 1) (S - C) / S
//! ```
//!
//! so `S * miss(S)` is a straight line that crosses zero at C with the slope W + 1. The search
//! measures the hit and the miss plateau, bisects for the foot and the head of the ramp, measures
//! along the ramp and fits this line. The few cache lines that the program itself uses blur the
//! foot, but hardly move the fitted line. This method has found 32 KiB in 8 ways (Zen 4) and 48 KiB
//! in 12 ways (Golden Cove).
//!
//! The search is a state machine: it chooses the size, and the caller measures. For caches with
//! another replacement policy or index, it gives a capacity without ways.

#[cfg(test)]
mod ramp_tests;
#[cfg(test)]
mod tests;

use crate::math::{self, ToReal, ln, sqrt};
use crate::units::Bytes;

/// Number of sizes measured along the ramp after it has been found.
const RAMP_POINTS: u64 = 12;
/// Maximum number of measurements: two plateaus, two bisections of up to 64 steps each, and the ramp.
const MAX_MEASUREMENTS: usize = 2 + 2 * 64 + RAMP_POINTS as usize;
/// Shares of misses that the bisections search for; outside this range, noise and blur are large.
const FOOT: f64 = 0.15;
const HEAD: f64 = 0.85;
/// Minimum ratio of the miss plateau to the hit plateau for an edge.
const LEAST_RISE: f64 = 1.2;

/// Maximum size in bytes: 1 TiB, so that products of sizes do not overflow.
const LARGEST: u64 = 1 << 40;

/// The properties of a cache, derived from the edge of its plateau.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The size of the cache: that of the matching geometry if there is one, otherwise the start of
    /// the ramp, rounded to a line.
    pub capacity: Bytes,
    /// The number of ways, if the ramp follows the law for LRU and a number of sets that is a power
    /// of two.
    pub ways: Option<u32>,
    /// The start of the fitted ramp in bytes, before it was matched with a geometry.
    pub ramp_start: f64,
    /// The number of ways from the fitted ramp, before rounding.
    pub ramp_ways: f64,
    /// The latency of a hit, in the unit of the measurements.
    pub hit: f64,
    /// The latency of a miss, in the unit of the measurements.
    pub miss: f64,
}

/// The reason why there is no edge to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeError {
    /// The search needs more measurements.
    Unfinished,
    /// A latency is not positive and finite.
    InvalidLatency,
    /// The larger size is not slower: the cache is larger than this size, the cache is smaller than the resident
    /// size, or there is no cache (as under an emulator).
    NoEdge,
    /// The latency rises within less than two lines or without a straight part.
    NoRamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hit,
    Miss,
    /// The share of misses passes [`FOOT`] between these numbers of lines.
    Foot(u64, u64),
    /// The share of misses passes [`HEAD`] between these numbers of lines.
    Head(u64, u64),
    /// This many points of the ramp have been measured.
    Ramp(u64),
    Done,
    Failed(EdgeError),
}

/// The search for the edge of the first-level cache.
///
/// ```
/// use latency_core::model::edge::EdgeSearch;
/// use latency_core::units::Bytes;
///
/// // 32 KiB in 8 ways: 4 cycles for a hit, 14 for a miss.
/// let measure = |size: Bytes| {
///     let beyond = (size.0 as f64 - 32768.0).max(0.0);
///     4.0 + 10.0 * (9.0 * beyond / size.0 as f64).min(1.0)
/// };
/// let mut search = EdgeSearch::new(Bytes(64), Bytes(8 << 10), Bytes(128 << 10));
/// while let Some(size) = search.next_size() {
///     search.record(measure(size));
/// }
/// let edge = search.edge().unwrap();
/// assert_eq!((edge.capacity, edge.ways), (Bytes(32 << 10), Some(8)));
/// ```
#[derive(Clone, Debug)]
pub struct EdgeSearch {
    line: u64,
    resident: u64,
    missing: u64,
    phase: Phase,
    hit: f64,
    miss: f64,
    foot: u64,
    head: u64,
    measured: [(f64, f64); MAX_MEASUREMENTS],
    count: usize,
}

impl EdgeSearch {
    /// Returns a search between two working sets: `resident` certainly fits in the cache, and
    /// `missing` certainly misses on every access but fits in the next level. Good values are half
    /// of the expected size and twice the expected size.
    ///
    /// `line` is the size of a cache line; both sizes are rounded down to lines.
    pub fn new(line: Bytes, resident: Bytes, missing: Bytes) -> Self {
        let line = line.0.clamp(1, LARGEST);
        let (resident, missing) = ((resident.0 / line).max(1), missing.0.min(LARGEST) / line);
        let phase = if missing > resident { Phase::Hit } else { Phase::Failed(EdgeError::NoEdge) };
        Self {
            line,
            resident,
            missing,
            phase,
            hit: 0.0,
            miss: 0.0,
            foot: 0,
            head: 0,
            measured: [(0.0, 0.0); MAX_MEASUREMENTS],
            count: 0,
        }
    }

    /// Returns the working set to measure next; `None` when the search has ended.
    ///
    /// The caller measures a chain in random order over this number of contiguous bytes from the
    /// start of a page, after enough laps to reach a steady state.
    pub fn next_size(&self) -> Option<Bytes> {
        let lines = match self.phase {
            Phase::Hit => self.resident,
            Phase::Miss => self.missing,
            Phase::Foot(low, high) | Phase::Head(low, high) => low + (high - low) / 2,
            Phase::Ramp(index) => self.ramp_lines(index),
            Phase::Done | Phase::Failed(_) => return None,
        };
        Some(Bytes(lines.saturating_mul(self.line)))
    }

    /// Records the latency at [`Self::next_size`], ideally a median of core cycles. Does nothing
    /// when the search has ended.
    pub fn record(&mut self, latency: f64) {
        let Some(size) = self.next_size() else { return };
        if latency <= 0.0 || !latency.is_finite() {
            self.phase = Phase::Failed(EdgeError::InvalidLatency);
            return;
        }
        if let Some(slot) = self.measured.get_mut(self.count) {
            *slot = (size.0 as f64, latency);
            self.count += 1;
        }
        let share = (latency - self.hit) / (self.miss - self.hit);
        self.phase = match self.phase {
            Phase::Hit => {
                self.hit = latency;
                Phase::Miss
            }
            Phase::Miss if latency < self.hit * LEAST_RISE => Phase::Failed(EdgeError::NoEdge),
            Phase::Miss => {
                self.miss = latency;
                self.bisect_foot(self.resident, self.missing)
            }
            Phase::Foot(low, high) => {
                let middle = low + (high - low) / 2;
                if share < FOOT { self.bisect_foot(middle, high) } else { self.bisect_foot(low, middle) }
            }
            Phase::Head(low, high) => {
                let middle = low + (high - low) / 2;
                if share < HEAD { self.bisect_head(middle, high) } else { self.bisect_head(low, middle) }
            }
            Phase::Ramp(index) if index + 1 < RAMP_POINTS => Phase::Ramp(index + 1),
            Phase::Ramp(_) => Phase::Done,
            ended @ (Phase::Done | Phase::Failed(_)) => ended,
        };
    }

    fn bisect_foot(&mut self, low: u64, high: u64) -> Phase {
        if high - low > 1 {
            return Phase::Foot(low, high);
        }
        self.foot = low;
        self.bisect_head(low, self.missing)
    }

    fn bisect_head(&mut self, low: u64, high: u64) -> Phase {
        if high - low > 1 {
            return Phase::Head(low, high);
        }
        self.head = high;
        Phase::Ramp(0)
    }

    /// Returns the number of lines in the middle of one of the equal parts of the ramp between foot and head.
    fn ramp_lines(&self, index: u64) -> u64 {
        self.foot + ((self.head - self.foot) * (2 * index + 1) + RAMP_POINTS) / (2 * RAMP_POINTS)
    }

    /// Returns the result of the search.
    ///
    /// # Errors
    ///
    /// [`EdgeError::Unfinished`], [`EdgeError::InvalidLatency`], [`EdgeError::NoEdge`] or [`EdgeError::NoRamp`].
    pub fn edge(&self) -> Result<Edge, EdgeError> {
        match self.phase {
            Phase::Done => {}
            Phase::Failed(error) => return Err(error),
            _ => return Err(EdgeError::Unfinished),
        }
        let ramp = Ramp::fit(self.on_ramp())
            .filter(|ramp| ramp.start <= self.missing as f64 * self.line as f64)
            .ok_or(EdgeError::NoRamp)?;
        let line = self.line as f64;
        let geometry = ramp.geometry(line);
        let capacity = geometry.map_or_else(
            || Bytes(math::whole(ramp.start / line + 0.5) * self.line),
            |(ways, sets)| Bytes(u64::from(ways) * sets * self.line),
        );
        Ok(Edge {
            capacity,
            ways: geometry.map(|(ways, _)| ways),
            ramp_start: ramp.start,
            ramp_ways: ramp.ways,
            hit: self.hit,
            miss: self.miss,
        })
    }

    /// Returns the measurements between foot and head as pairs (size in bytes, share of misses).
    fn on_ramp(&self) -> impl Iterator<Item = (f64, f64)> + Clone + '_ {
        let (hit, rise) = (self.hit, self.miss - self.hit);
        let measured = self.measured.iter().take(self.count);
        measured
            .map(move |&(size, latency)| (size, (latency - hit) / rise))
            .filter(|(_, share)| (FOOT * 0.8..=HEAD).contains(share))
    }
}

/// Maximum number of ways: there has been no first-level cache with more.
const MOST_WAYS: u32 = 64;
/// Maximum distances of the fitted ramp from a geometry, in size and in ways, as fractions.
const GEOMETRY_TOLERANCE: f64 = 0.03;
const WAYS_TOLERANCE: f64 = 0.15;
/// Maximum root mean square distance of the ramp's points from the law, as a share of the accesses.
const STRAIGHTNESS: f64 = 0.03;

/// The line `S miss(S) = (W + 1) (S - C)`, fitted by least squares.
#[derive(Clone, Copy, Debug)]
struct Ramp {
    /// The size at which misses begin: C, in bytes.
    start: f64,
    /// The slope minus one: W.
    ways: f64,
    /// The root mean square distance of the points from the law, as a share of the accesses.
    bend: f64,
}

impl Ramp {
    /// Fits the law to pairs of a size in bytes and its share of misses; returns `None` for fewer
    /// than three sizes, or if the misses do not rise with the size.
    fn fit(points: impl Iterator<Item = (f64, f64)> + Clone) -> Option<Self> {
        // Sizes are relative to the first size, so that the sums of squares do not lose precision.
        let (origin, _) = points.clone().next()?;
        let (mut count, mut sum_x, mut sum_y, mut sum_xx, mut sum_xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        for (size, share) in points.clone() {
            let (x, y) = (size - origin, size * share);
            count += 1.0;
            sum_x += x;
            sum_y += y;
            sum_xx += x * x;
            sum_xy += x * y;
        }
        let determinant = count * sum_xx - sum_x * sum_x;
        if count < 3.0 || determinant <= 0.0 {
            return None;
        }
        let slope = (count * sum_xy - sum_x * sum_y) / determinant;
        let start = origin + (slope * sum_x - sum_y) / (slope * count);
        if slope <= 1.0 || start <= 0.0 || !start.is_finite() {
            return None;
        }
        let squares = points.map(|(size, share)| {
            let off = share - slope * (size - start) / size;
            off * off
        });
        Some(Self { start, ways: slope - 1.0, bend: sqrt(squares.sum::<f64>() / count) })
    }

    /// Returns the number of ways and of sets, a power of two, of the nearest cache geometry; `None` if the ramp is
    /// not straight or if there is no geometry near it.
    fn geometry(&self, line: f64) -> Option<(u32, u64)> {
        if self.bend > STRAIGHTNESS {
            return None;
        }
        let mut best: Option<(f64, (u32, u64))> = None;
        for ways in 1..=MOST_WAYS {
            let slope_off = (f64::from(ways) + 1.0) / (self.ways + 1.0) - 1.0;
            if slope_off.abs() > WAYS_TOLERANCE {
                continue;
            }
            for power in 0..32 {
                let sets = 1u64 << power;
                let size_off = ln(f64::from(ways) * sets.real() * line / self.start);
                if size_off.abs() > GEOMETRY_TOLERANCE {
                    continue;
                }
                // Each deviation is scaled by its tolerance.
                let (size, slope) = (size_off / GEOMETRY_TOLERANCE, slope_off / WAYS_TOLERANCE);
                let distance = size * size + slope * slope;
                if best.is_none_or(|(least, _)| distance < least) {
                    best = Some((distance, (ways, sets)));
                }
            }
        }
        best.map(|(_, found)| found)
    }
}
