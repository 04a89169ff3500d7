//! One walk in nine variants: the same chain in the data structures that programs use.
//!
//! A variant is a kernel, the distance between its nodes, and their kind of pages. It
//! determines neither the order of the walk, nor the working set, nor the measured quantity.

use super::{INDEX, INDEX_CHECKED, INDEX4, Kernel, LINE_INDEX, LINE_INDEX4, POINTER};
use crate::units::{Bytes, LINE, LineSize};

/// A data structure for a chain, and the loop that walks it.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name that is printed.
    pub name: &'static str,
    /// The chase loop.
    pub kernel: &'static Kernel,
    /// The distance between nodes: the size of a node, or [`LINE`] if nodes are padded to a cache line.
    pub stride: Bytes,
    /// True if it is intended for huge pages.
    pub huge: bool,
}

/// Returns a variant.
///
/// If nodes are packed, each fetched line contains several nodes: the chain has more nodes in the
/// same number of bytes, and a hop finds its line in a cache more often.
const fn variant(name: &'static str, kernel: &'static Kernel, stride: Bytes, huge: bool) -> Variant {
    Variant { name, kernel, stride, huge }
}

impl Variant {
    /// Returns the distance between nodes on a machine with cache lines of this size.
    pub fn stride_with(&self, line: LineSize) -> Bytes {
        if self.stride == LINE { line.bytes() } else { self.stride }
    }
}

/// The nine variants, in the order in which they are shown; a padded node has its own line.
pub static VARIANTS: [Variant; 9] = [
    variant("index4-packed", &INDEX4, Bytes(4), false),
    variant("index8-checked", &INDEX_CHECKED, Bytes(8), false),
    variant("index8-packed", &INDEX, Bytes(8), false),
    variant("index8-padded", &LINE_INDEX, LINE, false),
    variant("index4-padded", &LINE_INDEX4, LINE, false),
    variant("pointer-packed", &POINTER, Bytes(8), false),
    variant("pointer-padded", &POINTER, LINE, false),
    variant("index8-padded-2m", &LINE_INDEX, LINE, true),
    variant("pointer-padded-2m", &POINTER, LINE, true),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_variant_can_be_built() {
        for variant in &VARIANTS {
            assert!(variant.kernel.encoding.reaches(Bytes::GIB, variant.stride), "{}", variant.name);
        }
    }

    #[test]
    fn padded_nodes_have_a_line_of_the_machine() {
        let strides = VARIANTS.map(|variant| variant.stride_with(LineSize::of(Bytes(128)).unwrap()).0);
        assert_eq!(strides, [4, 8, 8, 128, 128, 8, 128, 128, 128]);
        assert!(VARIANTS.iter().all(|variant| variant.stride_with(LineSize::LEAST) == variant.stride));
    }

    #[test]
    fn the_last_two_variants_differ_only_in_their_pages() {
        let same = |small: &Variant, huge: &Variant| {
            core::ptr::eq(small.kernel, huge.kernel) && small.stride == huge.stride && small.huge != huge.huge
        };
        assert!(same(&VARIANTS[3], &VARIANTS[7]));
        assert!(same(&VARIANTS[6], &VARIANTS[8]));
    }
}
