//! Curves with planted, hence known, levels.

use latency_core::model::{Fit, Point};

pub const KIB: f64 = 1024.0;
pub const MIB: f64 = 1024.0 * 1024.0;

/// PCG32, the smallest generator that passes the usual tests.
pub struct Pcg(u64);

impl Pcg {
    pub fn new(seed: u64) -> Self {
        let mut generator = Pcg(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678));
        generator.next();
        generator.next();
        generator
    }

    pub fn next(&mut self) -> u32 {
        let old = self.0;
        self.0 = old.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((((old >> 18) ^ old) >> 27) as u32).rotate_right((old >> 59) as u32)
    }

    pub fn uniform(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * f64::from(self.next()) / 4_294_967_296.0
    }

    pub fn log_uniform(&mut self, low: f64, high: f64) -> f64 {
        self.uniform(low.ln(), high.ln()).exp()
    }

    pub fn gaussian(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.uniform(0.0, 1.0)).ln()).sqrt();
        radius * self.uniform(0.0, std::f64::consts::TAU).cos()
    }
}

/// A hierarchy: capacities, shapes (none: the classic mixture) and one latency more.
#[derive(Clone, Debug)]
pub struct Truth {
    pub capacities: Vec<f64>,
    pub shapes: Option<Vec<f64>>,
    pub latencies: Vec<f64>,
}

impl Truth {
    pub fn draw(random: &mut Pcg, levels: usize, hill: bool) -> Self {
        let mut capacities = vec![random.log_uniform(16e3, 64e3)];
        let mut latencies = vec![random.uniform(1.0, 2.0)];
        let ratios = if levels < 4 { (12.0, 40.0) } else { (8.0, 16.0) };
        for _ in 1..levels {
            capacities.push(capacities.last().unwrap() * random.log_uniform(ratios.0, ratios.1));
        }
        for _ in 0..levels {
            latencies.push(latencies.last().unwrap() * random.log_uniform(2.5, 6.0));
        }
        let shapes = hill.then(|| (0..levels).map(|_| random.log_uniform(4.0, 60.0)).collect());
        Truth { capacities, shapes, latencies }
    }

    pub fn latency(&self, size: f64) -> f64 {
        let mut sum = self.latencies[0];
        for (k, capacity) in self.capacities.iter().enumerate() {
            let missing = match &self.shapes {
                None => (1.0 - capacity / size).max(0.0),
                Some(shapes) => 1.0 / (1.0 + (capacity / size).powf(shapes[k])),
            };
            sum += (self.latencies[k + 1] - self.latencies[k]) * missing;
        }
        sum
    }

    /// Returns eight points an octave from a quarter of the first level to sixteen times the last.
    pub fn points(&self, random: &mut Pcg, noise: f64, outliers: f64) -> Vec<Point> {
        let (from, to) = (self.capacities[0] / 4.0, self.capacities.last().unwrap() * 16.0);
        let count = ((to / from).log2() * 8.0) as u32;
        (0..=count)
            .map(|i| {
                let size = from * 2f64.powf(f64::from(i) / 8.0);
                let mut latency = self.latency(size) * (1.0 + noise * random.gaussian());
                if random.uniform(0.0, 1.0) < outliers {
                    latency *= 1.5;
                }
                Point::new(size, latency)
            })
            .collect()
    }

    pub fn misfit(&self, fit: &Fit) -> Option<String> {
        if fit.levels().len() != self.capacities.len() {
            return Some(format!("{} levels", fit.levels().len()));
        }
        let off = |found: f64, expected: f64| (found / expected - 1.0).abs();
        for (level, (capacity, latency)) in
            fit.levels().iter().zip(self.capacities.iter().zip(&self.latencies))
        {
            // Half of the accesses miss at the capacity of a Hill curve, which no other step has a capacity to match.
            let size = if self.shapes.is_some() { level.half } else { level.capacity.value };
            if off(size, *capacity) > 0.1 {
                return Some(format!("size {size} for {capacity}"));
            }
            if off(level.latency.value, *latency) > 0.03 {
                return Some(format!("latency {} for {latency}", level.latency.value));
            }
        }
        let memory = *self.latencies.last().unwrap();
        (off(fit.memory.value, memory) > 0.03).then(|| format!("memory {} for {memory}", fit.memory.value))
    }
}

/// Returns the laptop of the Julia course.
pub fn laptop() -> Truth {
    Truth {
        capacities: vec![48.0 * KIB, 1.25 * MIB, 8.0 * MIB],
        shapes: None,
        latencies: vec![1.0, 4.0, 16.0, 116.0],
    }
}
