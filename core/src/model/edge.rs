//! The exact size and associativity of the first-level cache, from the edge of its plateau.
//!
//! A cyclic chain over contiguous lines, in a cache indexed by virtual address with LRU
//! replacement, misses in a set on every access as soon as the set holds one line too many.
//! With C bytes in W ways and C < S < C + C/W, a number (S - C)/line of sets has W + 1 lines:
//!
//! ```text
//! miss(S) = (W + 1) (S - C) / S
//! ```
//!
//! so `S * miss(S)` is a straight line that crosses zero at C with the slope W + 1. The
//! search measures hit and miss plateaus, bisects for the foot and the head of the ramp,
//! measures along it and fits that line; the few lines that the program itself keeps in the
//! cache blur the foot, but hardly move the line. Measured so: 32 KiB in 8 ways (Zen 4),
//! 48 KiB in 12 ways (Golden Cove).
//!
//! A state machine: it says which size to measure, the caller measures. Caches with another
//! replacement or index give a capacity without ways.

use super::math::{ln, sqrt};
use crate::units::Bytes;

/// Sizes measured along the ramp after it has been found.
const RAMP_POINTS: u64 = 12;
/// Two plateaus, two bisections of up to 64 halvings, and the ramp.
const MAX_MEASUREMENTS: usize = 2 + 2 * 64 + RAMP_POINTS as usize;
/// The shares of misses that the bisections look for; outside, noise and blur are large.
const FOOT: f64 = 0.15;
const HEAD: f64 = 0.85;
/// A miss plateau that is not this much higher is no edge.
const LEAST_RISE: f64 = 1.2;
/// No first-level cache has had more ways.
const MOST_WAYS: u32 = 64;
/// How far, relatively, the fitted ramp may lie from the geometry that it is taken for.
const GEOMETRY_TOLERANCE: f64 = 0.03;
const WAYS_TOLERANCE: f64 = 0.15;

/// How far, as a share of the accesses, the ramp's points may lie from a straight line.
const STRAIGHTNESS: f64 = 0.03;
/// Sizes are cut to a TiB, so that no product of them overflows.
const LARGEST: u64 = 1 << 40;

/// What the edge of a plateau says of the cache.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The size of the cache: of the geometry where there is one, else where the ramp
    /// begins, to a line.
    pub capacity: Bytes,
    /// The number of ways, if the ramp follows the law for LRU and sets that are a power of
    /// two in number.
    pub ways: Option<u32>,
    /// Where the fitted ramp begins, before it was matched with a geometry.
    pub ramp_start: f64,
    /// The ways that the fitted ramp stands for, before they were rounded.
    pub ramp_ways: f64,
    /// The latency on the plateau, in the unit of the measurements.
    pub hit: f64,
    /// The latency of a miss.
    pub miss: f64,
}

/// Why there is no edge to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EdgeError {
    /// The search still wants measurements.
    Unfinished,
    /// Latencies that are not positive and finite.
    InvalidLatency,
    /// The larger size is no slower: the cache is larger, smaller than the resident size, or
    /// there is none (as under an emulator).
    NoEdge,
    /// The latency rises within less than two lines or without a straight part.
    NoRamp,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    Hit,
    Miss,
    /// Between these numbers of lines the miss share passes [`FOOT`].
    Foot(u64, u64),
    /// Between these it passes [`HEAD`].
    Head(u64, u64),
    /// So many of the ramp's points are measured.
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
/// // 32 KiB in 8 ways, 4 cycles, 14 behind it.
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
    /// A search between a working set that surely fits and one that surely misses in every
    /// access but fits the next level: half of what is expected and twice as much.
    ///
    /// `line` is the size of a cache line; both sizes are rounded down to lines.
    #[must_use]
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

    /// The working set to measure next; `None` when the search has ended.
    ///
    /// The chain is to be in random order over that many contiguous bytes from a page's
    /// start, walked often enough to settle.
    #[must_use]
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

    /// Takes the latency at [`Self::next_size`], best a median of core cycles. Without effect
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
                if share < FOOT {
                    self.bisect_foot(middle, high)
                } else {
                    self.bisect_foot(low, middle)
                }
            }
            Phase::Head(low, high) => {
                let middle = low + (high - low) / 2;
                if share < HEAD {
                    self.bisect_head(middle, high)
                } else {
                    self.bisect_head(low, middle)
                }
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

    /// The middles of equal parts of the ramp between foot and head.
    fn ramp_lines(&self, index: u64) -> u64 {
        self.foot + ((self.head - self.foot) * (2 * index + 1) + RAMP_POINTS) / (2 * RAMP_POINTS)
    }

    /// The result of the search.
    ///
    /// # Errors
    ///
    /// That it has not ended, or found no edge or no ramp.
    pub fn edge(&self) -> Result<Edge, EdgeError> {
        match self.phase {
            Phase::Done => {}
            Phase::Failed(error) => return Err(error),
            _ => return Err(EdgeError::Unfinished),
        }
        let (ramp_start, ramp_ways) = self.ramp().ok_or(EdgeError::NoRamp)?;
        let line = self.line as f64;
        let is_straight = self.bend(ramp_start, ramp_ways) <= STRAIGHTNESS;
        let geometry = geometry(ramp_start, ramp_ways, line).filter(|_| is_straight);
        let capacity = geometry.map_or_else(
            || Bytes((ramp_start / line + 0.5) as u64 * self.line),
            |(ways, sets)| Bytes(u64::from(ways) * sets * self.line),
        );
        Ok(Edge {
            capacity,
            ways: geometry.map(|(ways, _)| ways),
            ramp_start,
            ramp_ways,
            hit: self.hit,
            miss: self.miss,
        })
    }

    /// What was measured between foot and head: (size, share that misses).
    fn on_ramp(&self) -> impl Iterator<Item = (f64, f64)> + '_ {
        let rise = self.miss - self.hit;
        let shares = self.measured[..self.count]
            .iter()
            .map(move |&(size, latency)| (size, (latency - self.hit) / rise));
        shares.filter(|(_, share)| (FOOT * 0.8..=HEAD).contains(share))
    }

    /// The root mean square distance of the ramp from the law, as a share of the accesses.
    fn bend(&self, start: f64, ways: f64) -> f64 {
        let (mut count, mut sum) = (0.0, 0.0);
        for (size, share) in self.on_ramp() {
            let off = share - (ways + 1.0) * (size - start) / size;
            count += 1.0;
            sum += off * off;
        }
        sqrt(sum / f64::max(count, 1.0))
    }

    /// Fits `S miss(S) = (W + 1) (S - C)` to what was measured between foot and head;
    /// returns C in bytes and W.
    fn ramp(&self) -> Option<(f64, f64)> {
        let (mut count, mut sum_x, mut sum_y, mut sum_xx, mut sum_xy) = (0.0, 0.0, 0.0, 0.0, 0.0);
        // Relative to the foot, so that the sums of squares keep their digits.
        let origin = self.foot as f64 * self.line as f64;
        for (size, share) in self.on_ramp() {
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
        let inside = start > 0.0 && start <= self.missing as f64 * self.line as f64;
        (slope > 1.0 && inside).then_some((start, slope - 1.0))
    }
}

/// The ways, and sets as a power of two, that come closest to a ramp's start and slope.
fn geometry(start: f64, ways: f64, line: f64) -> Option<(u32, u64)> {
    let mut best: Option<(f64, (u32, u64))> = None;
    for candidate in 1..=MOST_WAYS {
        let ways_off = (f64::from(candidate) + 1.0) / (ways + 1.0) - 1.0;
        if ways_off.abs() > WAYS_TOLERANCE {
            continue;
        }
        for power in 0..32 {
            let sets = 1u64 << power;
            let capacity_off = ln(f64::from(candidate) * sets as f64 * line / start);
            if capacity_off.abs() > GEOMETRY_TOLERANCE {
                continue;
            }
            // Each deviation in units of what it may be.
            let size = capacity_off / GEOMETRY_TOLERANCE;
            let slope = ways_off / WAYS_TOLERANCE;
            let distance = size * size + slope * slope;
            if best.is_none_or(|(least, _)| distance < least) {
                best = Some((distance, (candidate, sets)));
            }
        }
    }
    best.map(|(_, found)| found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(from: u64, to: u64, measure: impl Fn(f64) -> f64) -> Result<Edge, EdgeError> {
        let mut search = EdgeSearch::new(Bytes(64), Bytes(from), Bytes(to));
        let mut steps = 0;
        while let Some(size) = search.next_size() {
            search.record(measure(size.0 as f64));
            steps += 1;
            assert!(steps <= MAX_MEASUREMENTS);
        }
        search.edge()
    }

    /// The law, with about 1 % of noise made from the size.
    fn lru(capacity: f64, ways: f64, hit: f64, miss: f64) -> impl Fn(f64) -> f64 {
        move |size| {
            let share = ((ways + 1.0) * (size - capacity) / size).clamp(0.0, 1.0);
            let noise = ((size / 64.0 * 12.9898).sin() * 43_758.547).fract() * 0.01;
            (hit + (miss - hit) * share) * (1.0 + noise)
        }
    }

    #[test]
    fn finds_size_and_ways_of_common_caches() {
        for (kib, ways) in
            [(16, 4), (32, 8), (48, 12), (64, 4), (64, 2), (64, 16), (128, 8), (24, 6), (192, 6)]
        {
            for factor in [2, 3] {
                let size = kib << 10;
                let edge =
                    search(size / factor, size * factor, lru(size as f64, ways as f64, 4.0, 14.0)).unwrap();
                assert_eq!((edge.capacity, edge.ways), (Bytes(size), Some(ways)), "{edge:?}");
            }
        }
    }

    /// Core cycles of a chase on an AMD Zen 4 guest, 4 KiB pages: 32 KiB, 8 ways.
    #[test]
    fn reads_a_measured_32_kib_edge() {
        const MEASURED: [(f64, f64); 20] = [
            (30.0, 4.004),
            (32.0, 4.576),
            (32.25, 5.030),
            (32.5, 5.729),
            (32.75, 6.315),
            (33.0, 6.965),
            (33.25, 7.684),
            (33.5, 8.092),
            (33.75, 8.671),
            (34.0, 9.141),
            (34.25, 10.018),
            (34.5, 10.524),
            (34.75, 11.376),
            (35.0, 11.887),
            (35.25, 12.537),
            (35.5, 13.074),
            (35.75, 13.535),
            (36.0, 14.200),
            (38.0, 14.040),
            (64.0, 14.007),
        ];
        let edge = search(16 << 10, 64 << 10, |size| interpolate(&MEASURED, size / 1024.0)).unwrap();
        assert_eq!((edge.capacity, edge.ways), (Bytes(32 << 10), Some(8)), "{edge:?}");
    }

    /// Core cycles of an Intel Emerald Rapids guest: 48 KiB, 12 ways.
    #[test]
    fn reads_a_measured_48_kib_edge() {
        const MEASURED: [(f64, f64); 8] = [
            (24.0, 5.04),
            (48.0, 5.1),
            (48.25, 5.71),
            (49.0, 7.74),
            (50.0, 10.76),
            (51.0, 13.46),
            (52.0, 15.80),
            (96.0, 16.0),
        ];
        let edge = search(24 << 10, 96 << 10, |size| interpolate(&MEASURED, size / 1024.0)).unwrap();
        assert_eq!((edge.capacity, edge.ways), (Bytes(48 << 10), Some(12)), "{edge:?}");
    }

    fn interpolate(table: &[(f64, f64)], at: f64) -> f64 {
        let above = table.partition_point(|(x, _)| *x < at).clamp(1, table.len() - 1);
        let ((x0, y0), (x1, y1)) = (table[above - 1], table[above]);
        y0 + (y1 - y0) * ((at - x0) / (x1 - x0)).clamp(0.0, 1.0)
    }

    #[test]
    fn random_replacement_has_no_ways() {
        // m = 1 - exp(-m x): slower than any law of sets, and bent.
        let random = |size: f64| {
            let mut share = 1.0;
            for _ in 0..500 {
                share = 1.0 - f64::exp(-share * size / 32768.0);
            }
            4.0 + 10.0 * share
        };
        for far in [128, 256, 512] {
            let edge = search(16 << 10, far << 10, random).unwrap();
            assert_eq!(edge.ways, None, "{edge:?}");
            let kib = edge.capacity.0 as f64 / 1024.0;
            assert!((24.0..40.0).contains(&kib), "{edge:?}");
        }
    }

    #[test]
    fn says_why_there_is_no_edge() {
        assert_eq!(search(16 << 10, 64 << 10, |_| 4.0), Err(EdgeError::NoEdge));
        assert_eq!(search(64 << 10, 16 << 10, |_| 4.0), Err(EdgeError::NoEdge));
        assert_eq!(search(0, 0, |_| 4.0), Err(EdgeError::NoEdge));
        assert_eq!(search(16 << 10, 64 << 10, |_| f64::NAN), Err(EdgeError::InvalidLatency));
        let cliff = |size: f64| if size <= 32768.0 { 4.0 } else { 14.0 };
        assert_eq!(search(16 << 10, 64 << 10, cliff), Err(EdgeError::NoRamp));
        let unfinished = EdgeSearch::new(Bytes(64), Bytes(1 << 10), Bytes(1 << 20));
        assert_eq!(unfinished.edge(), Err(EdgeError::Unfinished));
    }

    #[test]
    fn ends_whatever_it_is_told() {
        let mut state = 1u64;
        for round in 0..200u64 {
            let mut search =
                EdgeSearch::new(Bytes(round % 3), Bytes(round * 7), Bytes(u64::MAX >> (round % 64)));
            let mut steps = 0;
            while search.next_size().is_some() {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                search.record(1.0 + (state >> 60) as f64);
                steps += 1;
                assert!(steps <= MAX_MEASUREMENTS);
            }
            assert_ne!(search.edge(), Err(EdgeError::Unfinished));
        }
    }
}
