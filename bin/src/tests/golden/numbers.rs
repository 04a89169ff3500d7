//! The numbers of an imaginary machine: latencies by formula, with a noise that repeats.
//!
//! Only plain arithmetic is used, so that every machine computes the same digits: additions, multiplications
//! and divisions are exact to the last bit by IEEE 754, powers and logarithms of a C library are not.

/// The core clock in gigahertz.
pub const CORE_GIGAHERTZ: f64 = 3.7;
/// Number of rounds of a point.
pub const ROUNDS: usize = 15;

/// The order of a walk, as prefetchers see it.
#[derive(Clone, Copy, PartialEq)]
pub enum Way {
    /// Random order, without a pattern.
    Random,
    /// Random within 4 KiB.
    PageLocal,
    /// Random within a larger region.
    Regional,
    /// Ascending.
    Forward,
    /// Descending.
    Backward,
}

/// Everything that determines the latency of a load.
#[derive(Clone, Copy)]
pub struct Load {
    pub bytes: u64,
    pub stride: u64,
    pub page: u64,
    /// Cycles of a walk of the page tables.
    pub walk_cycles: f64,
    /// The distance of the firmware's table: 10 is local.
    pub distance: u64,
    pub way: Way,
    /// Cycles that the loop adds to a load.
    pub extra_cycles: f64,
}

/// Chains side by side.
#[derive(Clone, Copy)]
pub struct Beside {
    pub lanes: usize,
    /// Instructions between two loads.
    pub between: usize,
    /// True if they depend on the load.
    pub dependent: bool,
    pub prefetch: bool,
    /// Number of instructions that fit into the window.
    pub window: usize,
}

/// Returns the nanoseconds of a load that the next one waits for.
pub fn latency(load: &Load) -> f64 {
    let lines = load.bytes / load.stride.max(64);
    let held = (lines * 64) as f64;
    let first = (9.0 * (held - 32_768.0).max(0.0) / held).min(1.0);
    let cycles = 4.0
        + load.extra_cycles
        + 10.0 * first
        + 36.0 * ramp(held / 1_300_000.0, 3)
        + 7.0 * missed(lines, load, 64.0)
        + load.walk_cycles * missed(lines, load, 2048.0);
    let distance = load.distance as f64 / 10.0;
    let memory = 84.0 * (0.4 + 0.6 * distance) * ramp(held / 30_000_000.0, 2);
    let helped = match load.way {
        Way::Random => 1.0,
        Way::PageLocal => 0.31,
        Way::Regional => 0.88,
        Way::Forward => 0.045,
        Way::Backward => 0.052,
    };
    let hit = (4.0 + load.extra_cycles) / CORE_GIGAHERTZ;
    hit.max((cycles / CORE_GIGAHERTZ + memory) * helped)
}

/// Returns the nanoseconds for each load of several chains.
pub fn throughput(load: &Load, beside: &Beside) -> f64 {
    let alone = latency(load);
    let issue = beside.between as f64 / 4.0 / CORE_GIGAHERTZ;
    let most: f64 = if beside.prefetch { 15.0 } else { 12.0 };
    if !beside.dependent {
        let overlapped = beside.between < beside.window;
        return if overlapped { alone / 2.0 + issue * 0.02 } else { alone + issue };
    }
    let reached = (beside.window as f64 / (beside.between as f64 + 5.0)).max(1.0);
    let parallel = if beside.prefetch { most } else { most.min(reached) }.min(beside.lanes as f64);
    (alone / parallel).max(issue).max(0.5 / CORE_GIGAHERTZ)
}

/// Cores that transfer lines at the same time.
#[derive(Clone, Copy)]
pub struct Cores<'k> {
    /// Kind of their traffic.
    pub kind: &'k str,
    /// Their number.
    pub count: u32,
    /// The memory of each core.
    pub bytes: u64,
    /// The distance of the firmware's table: 10 is local.
    pub distance: u64,
}

/// Returns the bytes in a second of all cores together.
pub fn bandwidth(cores: &Cores<'_>) -> f64 {
    let weight = match cores.kind {
        "read" => 1.0,
        "3:1" => 0.93,
        "2:1" => 0.91,
        "1:1" => 0.88,
        "nt-write" => 0.63,
        "copy-nt" => 0.76,
        "random" => 0.58,
        "write" => 0.46,
        _ => 0.62,
    };
    // The bandwidth of one core, and of the resources that cores share.
    let (one, all) = match cores.bytes {
        ..=32_768 => (205e9, f64::INFINITY),
        32_769..=1_300_000 => (88e9, f64::INFINITY),
        1_300_001..=4_000_000 => (31e9, 640e9),
        _ => (12.4e9, 114e9),
    };
    let far = if cores.distance > 10 { (0.72, 0.45) } else { (1.0, 1.0) };
    let (alone, limit) = (one * far.0 * weight * f64::from(cores.count), all * far.1 * weight);
    // The fourth root: square roots are exact to the last bit.
    let fourth = |ratio: f64| ratio * ratio * ratio * ratio;
    alone / (1.0 + fourth(alone / limit)).sqrt().sqrt()
}

/// Returns a value as rounds would find it: each off by at most a share of `spread`.
pub fn rounds(value: f64, spread: f64, seed: u64) -> [f64; ROUNDS] {
    core::array::from_fn(|round| value * (1.0 + spread * noise(seed * 64 + round as u64)))
}

/// Returns a number from -1 to 1 that is always the same for a seed.
pub fn noise(seed: u64) -> f64 {
    (scrambled(seed) >> 40) as f64 / f64::from(1 << 23) - 1.0
}

/// Returns a pseudo-random number (splitmix64).
pub fn scrambled(seed: u64) -> u64 {
    let mut state = seed.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    state ^ (state >> 31)
}

/// Returns a ramp from 0 to 1 around 1; the more `squarings`, the steeper.
fn ramp(ratio: f64, squarings: u32) -> f64 {
    let power = (0..squarings).fold(ratio.min(1e3), |power, _| power * power);
    power / (1.0 + power)
}

/// Returns the share of loads that miss a TLB of `entries` entries.
fn missed(lines: u64, load: &Load, entries: f64) -> f64 {
    let pages = (load.bytes as f64 / load.page as f64).min(lines as f64);
    (1.0 - entries / pages).max(0.0)
}
