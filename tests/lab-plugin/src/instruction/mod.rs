//! Decodes the few instructions that matter: the hops of a loop, and the marks of windows and blocks.
//!
//! A chase loop is called as a function, so its end loads the saved registers and, on x86-64, the return
//! address. On a real machine these loads are not part of the chain; here they must not be slowed down as if
//! they were. The return also marks the end of a call.
//!
//! Outside of the loops, the stamps mark the beginning and the end of a timed window, and the decrement of
//! their counter marks the progress of routines of known arithmetic.

mod aarch64;
mod x86_64;

/// Maximum length of an instruction in bytes: that of x86-64.
pub const LONGEST: usize = 15;

/// The meaning of an instruction to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Reads the counter at the beginning of a timed window.
    OpensWindow,
    /// Reads the counter at the end of a timed window.
    ClosesWindow,
    /// Counts a block of known arithmetic.
    EndsBlock,
    /// Returns from a routine.
    Return,
    /// Accesses only the stack.
    Stack,
    /// Stores past the caches.
    StorePast,
    /// Loads and stores at once, provided that it accesses memory.
    Exchange,
    /// Evicts a line from all caches.
    Flush,
    /// Anything else; if it accesses memory, its load may be a hop.
    Other,
}

/// Returns the meaning of the instruction with these bytes.
pub type Decoder = fn(&[u8]) -> Kind;

/// Returns the decoder of the instruction set that QEMU calls `target`.
#[must_use]
pub fn decoder(target: &str) -> Option<Decoder> {
    match target {
        "x86_64" => Some(x86_64::kind),
        "aarch64" => Some(aarch64::kind),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_instruction_set_has_its_own_decoder() {
        let kinds = |target| decoder(target).map(|kind| [kind(&[0xc3]), kind(&[0xc0, 0x03, 0x5f, 0xd6])]);
        assert_eq!(kinds("x86_64"), Some([Kind::Return, Kind::Other]));
        assert_eq!(kinds("aarch64"), Some([Kind::Other, Kind::Return]));
        assert_eq!(kinds("riscv64"), None);
    }
}
