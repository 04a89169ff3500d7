//! Events that counters recorded, as plain data: hardware events per hop, and kernel events per thread.
//!
//! This module only names the events; other modules count them.

/// Number of hardware events.
pub const EVENTS: usize = 6;

/// Events of one walk, per hop; NaN for events that were not counted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Counted {
    /// Core cycles, instructions, L1D misses, last-level misses, data-TLB misses, cycles of page walks.
    pub per_hop: [f64; EVENTS],
    /// The smallest share of a walk in which the event group was on the hardware; below 1, the kernel's counts are
    /// scaled up.
    pub running: f64,
}

impl Default for Counted {
    fn default() -> Self {
        Counted { per_hop: [f64::NAN; EVENTS], running: f64::NAN }
    }
}

/// Events that the kernel counts for every thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Software {
    /// Context switches, voluntary and involuntary.
    pub switches: (u64, u64),
    /// Migrations to another CPU.
    pub migrations: u64,
    /// Page faults without a disk access, and with one.
    pub faults: (u64, u64),
}

impl Software {
    /// Returns the events between `earlier` and this count.
    #[must_use]
    pub fn since(&self, earlier: &Software) -> Software {
        self.with(earlier, u64::saturating_sub)
    }

    /// Returns the sum of both counts.
    #[must_use]
    pub fn and(&self, other: &Software) -> Software {
        self.with(other, |mine, other| mine + other)
    }

    fn with(&self, other: &Software, of: fn(u64, u64) -> u64) -> Software {
        let both = |mine: (u64, u64), other: (u64, u64)| (of(mine.0, other.0), of(mine.1, other.1));
        Software {
            switches: both(self.switches, other.switches),
            migrations: of(self.migrations, other.migrations),
            faults: both(self.faults, other.faults),
        }
    }
}

impl Counted {
    /// Returns these events together with those of another group.
    #[must_use]
    pub fn and(mut self, other: &Counted) -> Counted {
        for (mine, other) in self.per_hop.iter_mut().zip(other.per_hop) {
            if mine.is_nan() {
                *mine = other;
            }
        }
        self.running = self.running.min(other.running);
        self
    }
}

/// Events that hardware counters recorded, as medians over rounds.
#[derive(Clone, Copy, Debug)]
pub struct Counters {
    /// Events per hop, in the order of [`Counted::per_hop`]; `None` if the event could not be counted.
    pub per_hop: [Option<f64>; EVENTS],
    /// The smallest share of a walk in which the events were on the hardware; below 1, the kernel has scaled the
    /// counts.
    pub running: f64,
}

impl Counters {
    /// Returns the instructions of a core cycle, if both were counted.
    pub fn instructions_per_cycle(&self) -> Option<f64> {
        let [cycles, instructions, ..] = self.per_hop;
        Some(instructions? / cycles.filter(|cycles| *cycles > 0.0)?)
    }
}
