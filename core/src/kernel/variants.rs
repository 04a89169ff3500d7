//! One walk in nine variants: the same chain in the data structures that programs use.
//!
//! A variant is a kernel, the distance between its nodes, and the size of their
//! pages. It does not know the order of the walk, its size or the quantity measured.

use super::{INDEX, INDEX_CHECKED, INDEX4, Kernel, LINE_INDEX, LINE_INDEX4, POINTER};
use crate::units::{Bytes, PageSize};

/// One way to store and walk a chain.
#[derive(Clone, Copy, Debug)]
pub struct Variant {
    /// The name by which it is known.
    pub name: &'static str,
    /// The loop.
    pub kernel: &'static Kernel,
    /// The distance between nodes: the size of one, or of a cache line where it is padded.
    pub stride: Bytes,
    /// The pages it is meant for.
    pub pages: PageSize,
}

/// Makes a variant.
///
/// If nodes are packed, a fetched line contains several of them: the
/// chain has more nodes in the same bytes, and a hop finds its line in a cache more often.
const fn variant(name: &'static str, kernel: &'static Kernel, stride: u64, pages: PageSize) -> Variant {
    Variant { name, kernel, stride: Bytes(stride), pages }
}

use PageSize::{Huge2M, Small};

/// The nine ways, in the order in which they are shown; a padded node has a line for itself.
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
