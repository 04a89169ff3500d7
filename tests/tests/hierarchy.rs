//! Hierarchies whose sizes and latencies are known, simulated without an emulator: what the
//! laws of replacement make of the curve that a cyclic chain shows on them.
//!
//! The caches are those of the lab's plugin, the chain and the choice of sizes those of the
//! tool. Nothing is timed.

use latency_core::chain::{Chain, Order};
use latency_core::model::refine::Refinement;
use latency_core::model::{fit_laws, Point, Workspace};
use latency_core::units::Bytes;
use latency_lab_plugin::cache::{Cache, Generator, Replacement};

const K: u64 = 1 << 10;

/// Sizes are found to this share, and latencies to that.
const SIZE_TOLERANCE: f64 = 0.1;
const LATENCY_TOLERANCE: f64 = 0.03;

#[derive(Clone, Copy, Debug)]
struct Level {
    size: u64,
    ways: u64,
    ticks: f64,
    random: bool,
}

const fn lru(size: u64, ways: u64, ticks: f64) -> Level {
    Level { size, ways, ticks, random: false }
}

const fn random(size: u64, ways: u64, ticks: f64) -> Level {
    Level { size, ways, ticks, random: true }
}

struct Hierarchy<'a> {
    levels: &'a [Level],
    memory: f64,
    /// How far a point may be off, as a share.
    noise: f64,
    /// Entries of a translation buffer, and the ticks of a miss.
    tlb: Option<(u64, f64)>,
}

impl Hierarchy<'_> {
    /// The mean ticks of a hop of a steady walk.
    fn latency(&self, size: u64, generator: &mut Generator) -> f64 {
        let cache = |level: &Level| {
            let policy = if level.random { Replacement::Random } else { Replacement::LeastRecentlyUsed };
            Cache::new(level.size / 64 / level.ways, level.ways as usize, policy, level.size ^ size)
        };
        let mut caches: Vec<Cache> = self.levels.iter().map(cache).collect();
        let mut tlb =
            self.tlb.map(|(entries, _)| Cache::new(1, entries as usize, Replacement::LeastRecentlyUsed, 0));
        let chain = Chain::new(Order::Random, Bytes(size), Bytes(64), 42).unwrap();
        // Random victims let a working set in over many laps.
        let laps = if self.levels.iter().any(|level| level.random) { 12 } else { 3 };
        let (mut node, mut ticks) = (0, 0.0);
        for lap in 0..laps {
            for _ in 0..chain.nodes() {
                let known = tlb.as_mut().is_none_or(|tlb| tlb.access(node / 64));
                let hit = caches.iter_mut().position(|cache| cache.access(node));
                if lap + 1 == laps {
                    ticks += self.tlb.filter(|_| !known).map_or(0.0, |(_, cost)| cost);
                    ticks += hit.map_or(self.memory, |level| self.levels[level].ticks);
                }
                node = chain.next(node);
            }
        }
        let uniform = generator.draw() as f64 / 2f64.powi(63) - 1.0;
        // Nothing repeats to more than four places.
        ticks / chain.nodes() as f64 * (1.0 + self.noise.max(1e-4) * uniform)
    }

    /// A curve from half of the first level to four times the last, refined as the tool does it.
    fn curve(&self) -> Vec<Point> {
        let mut generator = Generator(7);
        let mut measure = |size: u64| (Bytes(size), self.latency(size, &mut generator));
        let (least, most) = (self.levels[0].size / 2, self.levels[self.levels.len() - 1].size * 4);
        let steps = 4.0 * (most as f64 / least as f64).log2();
        let mut curve: Vec<(Bytes, f64)> = (0..=steps as u32)
            .map(|step| (least as f64 * 2f64.powf(f64::from(step) / 4.0)) as u64 / 64 * 64)
            .map(&mut measure)
            .collect();
        let rules = Refinement { budget: curve.len() + 24, ..Refinement::default() };
        while let Some(size) = rules.next(&curve) {
            let at = curve.partition_point(|(known, _)| *known < size);
            curve.insert(at, measure(size.0));
        }
        curve.iter().map(|&(size, latency)| Point::new(size.0 as f64, latency)).collect()
    }

    /// Fits the curve and compares.
    fn check(&self) {
        let reach = self.tlb.map(|(entries, _)| entries as f64 * 4096.0);
        let points = self.curve();
        let fit = fit_laws(&points, reach, &mut Workspace::new()).unwrap();
        let found: Vec<(f64, f64)> =
            fit.levels().iter().map(|level| (level.capacity.value, level.latency.value)).collect();
        let context = format!(
            "{:?}, memory {}, noise {}: found {found:?}, memory {}",
            self.levels, self.memory, self.noise, fit.memory.value
        );
        let near = |found: f64, truth: f64, tolerance: f64| (found / truth - 1.0).abs() < tolerance;
        assert_eq!(found.len(), self.levels.len(), "{context}");
        for ((size, ticks), level) in found.iter().zip(self.levels) {
            assert!(near(*size, level.size as f64, SIZE_TOLERANCE), "size: {context}");
            assert!(near(*ticks, level.ticks, LATENCY_TOLERANCE), "latency: {context}");
        }
        assert!(near(fit.memory.value, self.memory, LATENCY_TOLERANCE), "memory: {context}");
    }
}

fn check(levels: &[Level], memory: f64, noise: f64) {
    Hierarchy { levels, memory, noise, tlb: None }.check();
}

#[test]
fn two_levels() {
    check(&[lru(4 * K, 8, 1000.0), lru(64 * K, 8, 3000.0)], 10_000.0, 0.0);
    check(&[lru(4 * K, 4, 1000.0), lru(16 * K, 4, 2000.0)], 4000.0, 0.02);
    check(&[lru(12 * K, 12, 1000.0), lru(384 * K, 16, 6000.0)], 12_000.0, 0.02);
}

#[test]
fn two_levels_with_random_victims() {
    check(&[random(4 * K, 4, 1000.0), random(16 * K, 4, 2000.0)], 4000.0, 0.0);
    check(&[random(4 * K, 16, 1000.0), random(64 * K, 16, 3000.0)], 10_000.0, 0.02);
    check(&[lru(4 * K, 8, 1000.0), random(128 * K, 16, 3000.0)], 6000.0, 0.02);
}

#[test]
fn three_levels() {
    check(&[lru(4 * K, 8, 1000.0), lru(32 * K, 8, 3000.0), random(128 * K, 16, 8000.0)], 20_000.0, 0.0);
    check(
        &[random(4 * K, 8, 1000.0), random(32 * K, 8, 3000.0), random(128 * K, 16, 6000.0)],
        12_000.0,
        0.02,
    );
}

#[test]
fn four_levels() {
    let level = |index: u32, random| Level {
        size: (4 * K) << (2 * index),
        ways: 8,
        ticks: 1000.0 * 2f64.powi(index as i32),
        random,
    };
    check(&[0, 1, 2, 3].map(|index| level(index, false)), 16_000.0, 0.02);
    check(&[0, 1, 2, 3].map(|index| level(index, true)), 16_000.0, 0.0);
}

#[test]
fn a_translation_buffer_of_known_reach_is_no_level() {
    let levels = [lru(8 * K, 8, 1000.0), lru(256 * K, 8, 3000.0)];
    Hierarchy { levels: &levels, memory: 9000.0, noise: 0.0, tlb: Some((16, 700.0)) }.check();
}
