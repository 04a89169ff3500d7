//! The caches that a system reports, for comparison with the caches that a curve shows.

use latency_core::host::Ways;
use latency_core::{Bytes, arch, worded};

use latency_engine::machine::{Machine, Platform};

/// Largest number of levels that are kept.
pub const MAX_CLAIMS: usize = 4;

worded! {
    /// The source of the claim.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Source {
        /// The kernel.
        Sysfs = "sysfs",
        /// The processor, or the hypervisor in its place.
        Processor = arch::WORDS.claims_name,
        /// The file that a curve was read from.
        File = "the file",
    }
}

/// One reported cache that holds data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Claim {
    /// The level; 1 is next to the core.
    pub level: u32,
    /// The capacity.
    pub size: Bytes,
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
    /// Returns the caches that sysfs reports, and those that the processor reports for levels that sysfs lacks; returns
    /// none under an emulator.
    pub fn of(machine: &Machine) -> Claims {
        let mut claims = Claims::default();
        if machine.processor.platform == Platform::Emulated {
            // Under an emulator, the reported caches are not those that a program meets.
            return claims;
        }
        claims.ways = machine.host.ways;
        for cache in machine.host.caches.as_slice().iter().filter(|cache| cache.kind.holds_data()) {
            claims.add(Claim { level: cache.level, size: cache.size, source: Source::Sysfs });
        }
        for cache in machine.processor.caches.iter().flatten() {
            claims.add(Claim { level: cache.level.into(), size: cache.size, source: Source::Processor });
        }
        claims
    }

    /// Adds a claim, unless its level has one already or its size is zero.
    pub fn add(&mut self, claim: Claim) {
        let slot = (claim.level as usize).checked_sub(1).and_then(|index| self.claims.get_mut(index));
        if let Some(slot @ None) = slot {
            *slot = Some(claim).filter(|claim| claim.size.0 > 0);
        }
    }

    /// Returns the claims, nearest first.
    pub fn iter(&self) -> impl Iterator<Item = &Claim> {
        self.claims.iter().flatten()
    }

    /// Returns the claim for a level.
    pub fn level(&self, level: u32) -> Option<&Claim> {
        self.iter().find(|claim| claim.level == level)
    }
}
