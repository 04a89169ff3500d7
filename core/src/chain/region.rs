//! The order of nodes within one region of a local order.
//!
//! The order in which regions follow each other is not defined here.

use super::weyl::{Mixer, inverse_of_odd};
use crate::rng::Pcg32;

/// The order of nodes within the regions of a local order, which differs between regions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within {
    mixer: Mixer,
    step: u64,
    inverse_step: u64,
    key: u64,
    bits: u32,
}

impl Within {
    /// Returns an order for regions of `2^bits` nodes.
    pub(super) fn new(bits: u32, rng: &mut Pcg32) -> Within {
        let mixer = Mixer::new(bits, rng);
        let step = rng.next_u64() | 1;
        Within { mixer, step, inverse_step: inverse_of_odd(step), key: rng.next_u64(), bits }
    }

    /// Returns the number of the last turn in a region.
    pub(super) const fn last_turn(&self) -> u64 {
        self.mixer.mask
    }

    /// Splits a number of nodes into the number of whole regions and the rest.
    pub(super) const fn split(&self, nodes: u64) -> (u64, u64) {
        (nodes >> self.bits, nodes & self.mixer.mask)
    }

    fn region_key(&self, region: u64) -> u64 {
        (region ^ self.key).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32 & self.mixer.mask
    }

    /// Returns the node of `region` that is visited at `turn`.
    pub(super) fn node(&self, region: u64, turn: u64) -> u64 {
        let time = turn.wrapping_mul(self.step) & self.mixer.mask;
        region << self.bits | self.mixer.mix(time ^ self.region_key(region))
    }

    /// Returns the turn at which a node is visited in its region.
    pub(super) fn turn(&self, node: u64) -> u64 {
        let (region, place) = self.split(node);
        let time = self.mixer.unmix(place) ^ self.region_key(region);
        time.wrapping_mul(self.inverse_step) & self.mixer.mask
    }
}
