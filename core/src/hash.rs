//! FNV-1a of 64 bits, a hash that is the same on every machine: <http://www.isthe.com/chongo/tech/comp/fnv/>.

use core::fmt::{self, Write};
use core::hash::Hasher;

/// The hash of some bytes, behind which more can follow.
pub struct Fnv(pub u64);

impl Fnv {
    /// The hash of nothing.
    pub const EMPTY: Fnv = Fnv(0xcbf2_9ce4_8422_2325);
}

impl Hasher for Fnv {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

impl Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.write(text.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_that_of_its_authors() {
        // From their table of test vectors.
        for (text, expected) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            let mut hash = Fnv::EMPTY;
            hash.write(text.as_bytes());
            assert_eq!(hash.finish(), expected, "{text}");
        }
    }
}
