//! Hierarchies whose sizes are known, simulated without an emulator: what the fit makes of
//! the curve that a chain would show.

use latency_core::chain::{Chain, Order};
use latency_core::model::refine::Refinement;
use latency_core::model::{fit_hill, fit_laws, LevelCount, Point, Workspace};
use latency_core::units::Bytes;
use latency_lab_plugin::cache::{Cache, Generator, Replacement};

#[derive(Clone, Copy, Debug)]
struct Level(u64, u64, f64, bool);

struct Hierarchy<'a> {
    levels: &'a [Level],
    memory: f64,
    /// Share of a uniform noise on every point.
    noise: f64,
    /// Whether pages lie anywhere.
    shuffled: bool,
    tlb: Option<(u64, f64)>,
}

impl Hierarchy<'_> {
    fn latency(&self, size: u64, generator: &mut Generator) -> f64 {
        let nodes = size / 64;
        let mut caches: Vec<Cache> = self
            .levels
            .iter()
            .enumerate()
            .map(|(i, &Level(bytes, ways, _, random))| {
                let policy = if random { Replacement::Random } else { Replacement::LeastRecentlyUsed };
                Cache::new(bytes / 64 / ways, ways as usize, policy, i as u64 + size)
            })
            .collect();
        let mut tlb =
            self.tlb.map(|(entries, _)| Cache::new(1, entries as usize, Replacement::LeastRecentlyUsed, 0));
        let pages: Vec<u64> = if self.shuffled {
            (0..size.div_ceil(4096)).map(|_| generator.below(1 << 20) as u64).collect()
        } else {
            (0..size.div_ceil(4096)).collect()
        };
        let chain = Chain::new(Order::Random, Bytes(size), Bytes(64), 42).unwrap();
        let any_random = self.levels.iter().any(|level| level.3);
        let laps = if any_random { 6 } else { 3 };
        let (mut node, mut ticks, mut count) = (0, 0.0, 0_u64);
        for lap in 0..laps {
            for _ in 0..nodes {
                let address = pages[(node * 64 / 4096) as usize] * 4096 + node * 64 % 4096;
                let known = tlb.as_mut().is_none_or(|tlb| tlb.access(node * 64 / 4096));
                let walk = self.tlb.filter(|_| !known).map_or(0.0, |(_, cost)| cost);
                let hit = caches.iter_mut().position(|cache| cache.access(address / 64));
                if lap + 2 >= laps {
                    ticks += walk + hit.map_or(self.memory, |level| self.levels[level].2);
                    count += 1;
                }
                node = chain.next(node);
            }
        }
        let noise = generator.draw() as f64 / 2f64.powi(63) - 1.0;
        ticks / count as f64 * (1.0 + self.noise * noise + 1e-4 * noise)
    }

    fn curve(&self, least: u64, most: u64) -> Vec<Point> {
        let mut generator = Generator(7);
        let mut curve: Vec<(Bytes, f64)> = Vec::new();
        let mut measure = |size: u64| {
            let places = if self.shuffled { 5 } else { 1 };
            let mut all: Vec<f64> = (0..places).map(|_| self.latency(size, &mut generator)).collect();
            all.sort_by(f64::total_cmp);
            (Bytes(size), all[all.len() / 2])
        };
        let mut step = 0;
        loop {
            let size = (least as f64 * 2f64.powf(f64::from(step) / 4.0)) as u64 / 64 * 64;
            if size as f64 > most as f64 * 0.98 {
                curve.push(measure(most));
                break;
            }
            curve.push(measure(size));
            step += 1;
        }
        let rules = Refinement { budget: usize::MAX, ..Refinement::default() };
        for _ in 0..24 {
            let Some(size) = rules.next(&curve) else { break };
            let at = curve.partition_point(|(known, _)| *known < size);
            curve.insert(at, measure(size.0));
        }
        curve.iter().map(|&(size, latency)| Point::new(size.0 as f64, latency)).collect()
    }
}

#[test]
fn explore() {
    const K: u64 = 1 << 10;
    const M: u64 = 1 << 20;
    let l = |size, ways, ticks: f64, random| Level(size, ways, ticks, random);
    let sets: &[(&[Level], f64, u64)] = &[
        (&[l(32 * K, 8, 1000.0, false), l(512 * K, 8, 3000.0, false)], 10000.0, 4 * M),
        (&[l(32 * K, 4, 1000.0, false), l(128 * K, 4, 2000.0, false)], 4000.0, 2 * M),
        (&[l(32 * K, 4, 1000.0, true), l(128 * K, 4, 2000.0, true)], 4000.0, 2 * M),
        (&[l(32 * K, 16, 1000.0, true), l(512 * K, 16, 3000.0, true)], 10000.0, 2 * M),
        (&[l(32 * K, 16, 1000.0, false), l(512 * K, 16, 3000.0, true)], 18000.0, 2 * M),
        (
            &[l(32 * K, 8, 1000.0, false), l(256 * K, 8, 3000.0, false), l(2 * M, 16, 8000.0, true)],
            20000.0,
            8 * M,
        ),
        (
            &[l(32 * K, 8, 1000.0, true), l(256 * K, 8, 3000.0, true), l(2 * M, 16, 8000.0, true)],
            20000.0,
            8 * M,
        ),
        (
            &[
                l(32 * K, 8, 1000.0, false),
                l(128 * K, 8, 2000.0, false),
                l(512 * K, 8, 4000.0, false),
                l(2 * M, 16, 8000.0, false),
            ],
            16000.0,
            8 * M,
        ),
        (
            &[
                l(32 * K, 8, 1000.0, true),
                l(128 * K, 8, 2000.0, true),
                l(512 * K, 8, 4000.0, true),
                l(2 * M, 16, 8000.0, true),
            ],
            16000.0,
            8 * M,
        ),
        (&[l(32 * K, 8, 1000.0, false), l(M, 16, 6000.0, false)], 12000.0, 4 * M),
        (&[l(32 * K, 8, 1000.0, false), l(M, 12 * 4 / 3, 3000.0, true)], 6000.0, 4 * M),
    ];
    let mut workspace = Workspace::new();
    let mut bad = 0;
    for &(levels, memory, most) in sets {
        for (noise, shuffled, tlb) in [
            (0.0, false, None),
            (0.03, false, None),
            (0.0, true, None),
            (0.02, true, None),
            (0.0, false, Some((64, 500.0))),
        ] {
            let hierarchy = Hierarchy { levels, memory, noise, shuffled, tlb };
            let points = hierarchy.curve(16 * K, most);
            let reach = tlb.map(|(entries, _)| entries as f64 * 4096.0);
            let start = std::time::Instant::now();
            let laws = fit_laws(&points, reach, &mut workspace).unwrap();
            let spent = start.elapsed();
            let hill = fit_hill(&points, LevelCount::Chosen, reach, &mut workspace).unwrap();
            let spent2 = start.elapsed() - spent;
            println!("\n{levels:?} {memory} noise {noise} shuffled {shuffled} tlb {tlb:?}: {} points, {spent:?} {spent2:?}", points.len());
            println!(
                "  laws: bic {:.1} median {:.4} rms {:.4};  hill: bic {:.1} median {:.4} rms {:.4} levels {}",
                laws.bic,
                laws.median_residual,
                laws.rms_residual,
                hill.bic,
                hill.median_residual,
                hill.rms_residual,
                hill.levels().len()
            );
            let mut ok = laws.levels().len() == levels.len();
            for (i, level) in laws.levels().iter().enumerate() {
                let (size, ticks) = levels.get(i).map_or((f64::NAN, f64::NAN), |l| (l.0 as f64, l.2));
                let (ds, dl) = (level.capacity.value / size - 1.0, level.latency.value / ticks - 1.0);
                ok &= ds.abs() < 0.1 && dl.abs() < 0.03;
                println!(
                    "  {:.0} {:?} {:.1}  size {:+.1} %  latency {:+.1} %",
                    level.capacity.value,
                    level.law.unwrap(),
                    level.latency.value,
                    ds * 100.0,
                    dl * 100.0
                );
            }
            let dm = laws.memory.value / memory - 1.0;
            ok &= dm.abs() < 0.03;
            println!(
                "  memory {:.1} {:+.1} %  {}",
                laws.memory.value,
                dm * 100.0,
                if ok { "ok" } else { "BAD" }
            );
            if !ok && std::env::var("DUMP").is_ok() {
                for p in &points {
                    println!("    {:.0} {:.1} {:.1}", p.working_set, p.latency, laws.evaluate(p.working_set));
                }
            }
            bad += usize::from(!ok);
        }
    }
    println!("bad {bad}");
}
