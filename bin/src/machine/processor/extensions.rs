//! Extensions of the instruction set that tell generations of cores apart. A hypervisor can hide an extension, but it
//! cannot add one.

/// A set of extensions, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions(pub u8);

/// The names, in the order of their bits.
const NAMES: [&str; 8] = ["AVX2", "CLFLUSHOPT", "VAES", "AVX-512", "AVX-VNNI", "AMX", "AMX-FP16", "AVX10"];

impl Extensions {
    /// Wide integer vectors.
    pub const WIDE: Extensions = Extensions(1);
    /// Flushes of lines that are not in order.
    pub const FLUSH: Extensions = Extensions(1 << 1);
    /// Encryption with vectors.
    pub const ENCRYPTION: Extensions = Extensions(1 << 2);
    /// Vectors of 64 bytes.
    pub const VECTORS_OF_64: Extensions = Extensions(1 << 3);
    /// Dot products with vectors of 32 bytes.
    pub const DOT_PRODUCTS: Extensions = Extensions(1 << 4);
    /// Tiles for matrices.
    pub const TILES: Extensions = Extensions(1 << 5);
    /// Tiles with numbers of 16 bits.
    pub const HALF_TILES: Extensions = Extensions(1 << 6);
    /// The numbered versions of vector extensions.
    pub const NUMBERED: Extensions = Extensions(1 << 7);

    /// Returns all extensions of both.
    #[must_use]
    pub const fn and(self, other: Extensions) -> Extensions {
        Extensions(self.0 | other.0)
    }

    /// Returns the set if `applies` is true, or else the empty one.
    #[must_use]
    pub const fn when(self, applies: bool) -> Extensions {
        if applies { self } else { Extensions(0) }
    }

    /// Returns the extensions that the other set lacks.
    #[must_use]
    pub const fn without(self, other: Extensions) -> Extensions {
        Extensions(self.0 & !other.0)
    }

    /// Returns the names of the extensions.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        NAMES.iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| *name)
    }
}
