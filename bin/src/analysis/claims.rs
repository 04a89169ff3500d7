//! The caches that a system reports, to be set beside those that a curve shows.

use latency_core::arch::CLAIMS_NAME;
use latency_core::compact::Compact;
use latency_core::host::Ways;
use latency_core::units::Bytes;

use crate::machine::processor::Platform;
use crate::machine::Machine;

/// The most levels that are kept.
pub const MAX_CLAIMS: usize = 4;

/// The source of the claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The kernel.
    Sysfs,
    /// The processor, or the hypervisor in its place.
    Processor,
    /// The file that a curve was read from.
    File,
}

impl Source {
    /// Returns the word for reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Source::Sysfs => "sysfs",
            Source::Processor => CLAIMS_NAME,
            Source::File => "the file",
        }
    }
}

/// One reported cache that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// 1 is next to the core.
    pub level: u32,
    /// The capacity.
    pub size: Bytes,
    /// The associativity; 0 if it is not known.
    pub ways: u32,
    /// The source of the claim.
    pub source: Source,
}

/// Reported caches, nearest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Claims {
    claims: [Option<Claim>; MAX_CLAIMS],
    /// The part of the third level that resctrl lets this process fill.
    pub ways: Option<Ways>,
}

impl Claims {
    /// Nothing is reported.
    pub const NONE: Claims = Claims { claims: [None; MAX_CLAIMS], ways: None };

    /// Returns the caches that sysfs reports, and CPUID for levels that sysfs lacks; none under an emulator.
    #[must_use]
    pub fn of(machine: &Machine) -> Claims {
        let mut claims = Claims::default();
        if machine.processor.platform == Platform::Emulated {
            // Nothing that a program meets there is what is reported.
            return claims;
        }
        claims.ways = machine.host.ways;
        for cache in machine.host.caches.as_slice().iter().filter(|cache| cache.kind.holds_data()) {
            claims.add(Claim {
                level: cache.level,
                size: cache.size,
                ways: cache.ways,
                source: Source::Sysfs,
            });
        }
        for cache in machine.processor.caches.iter().flatten() {
            claims.add(Claim {
                level: cache.level.into(),
                size: cache.size,
                ways: cache.ways,
                source: Source::Processor,
            });
        }
        claims
    }

    /// Adds a claim, unless there is one for its level or it is without size.
    pub fn add(&mut self, claim: Claim) {
        let slot = (claim.level as usize).checked_sub(1).and_then(|index| self.claims.get_mut(index));
        if let Some(slot @ None) = slot {
            *slot = Some(claim).filter(|claim| claim.size.0 > 0);
        }
    }

    /// Returns the claims, nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &Claim> {
        Compact(self.claims.iter().flatten())
    }

    /// Returns the claim for a level.
    #[must_use]
    pub fn level(&self, level: u32) -> Option<&Claim> {
        self.iter().find(|claim| claim.level == level)
    }
}
