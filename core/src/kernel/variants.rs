//! One walk in nine variants: the same chain in the data structures that programs use.
//!
//! A variant is a kernel, the distance between its nodes, and the size of their pages. It
//! determines neither the order of the walk, nor the working set, nor the measured quantity.

use super::{INDEX, INDEX_CHECKED, INDEX4, Kernel, LINE_INDEX, LINE_INDEX4, POINTER};
use crate::units::{Bytes, PageSize};

/// A data structure for a chain, and the loop that walks it.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name that is printed.
    pub name: &'static str,
    /// The chase loop.
    pub kernel: &'static Kernel,
    /// The distance between nodes: the size of a node, or of a cache line if nodes are padded.
    pub stride: Bytes,
    /// The page size for which it is intended.
    pub pages: PageSize,
}

/// Returns a variant.
///
/// If nodes are packed, each fetched line contains several nodes: the chain has more nodes in the
/// same number of bytes, and a hop finds its line in a cache more often.
const fn variant(name: &'static str, kernel: &'static Kernel, stride: u64, pages: PageSize) -> Variant {
    Variant { name, kernel, stride: Bytes(stride), pages }
}

use PageSize::{Huge2M, Small};

/// The nine variants, in the order in which they are shown; a padded node has its own line.
pub static VARIANTS: [Variant; 9] = [
    variant("index4-packed", &INDEX4, 4, Small),
    variant("index8-checked", &INDEX_CHECKED, 8, Small),
    variant("index8-packed", &INDEX, 8, Small),
    variant("index8-padded", &LINE_INDEX, 64, Small),
    variant("index4-padded", &LINE_INDEX4, 64, Small),
    variant("pointer-packed", &POINTER, 8, Small),
    variant("pointer-padded", &POINTER, 64, Small),
    variant("index8-padded-2m", &LINE_INDEX, 64, Huge2M),
    variant("pointer-padded-2m", &POINTER, 64, Huge2M),
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
    fn the_last_two_variants_differ_only_in_their_pages() {
        let same = |small: &Variant, huge: &Variant| {
            core::ptr::eq(small.kernel, huge.kernel)
                && small.stride == huge.stride
                && small.pages != huge.pages
        };
        assert!(same(&VARIANTS[3], &VARIANTS[7]));
        assert!(same(&VARIANTS[6], &VARIANTS[8]));
    }
}
