//! Decodes the few instructions that matter: the hops of a loop, and the marks of windows and blocks.
//!
//! A chase loop is called as a function, so its end loads the saved registers and the return address. On a
//! real machine these loads are not part of the chain; here they must not be slowed down as if they were. The
//! return also marks the end of a call.
//!
//! Outside of the loops, the stamps mark the beginning and the end of a timed window, and the decrement of
//! their counter marks the progress of routines of known arithmetic.

/// The purpose of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// Data: possibly a hop.
    Data,
    /// A transfer from the stack or to it.
    Stack,
    /// A load of the return address.
    Return,
}

/// The end of a timed window that a reading of the time-stamp counter marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stamp {
    /// `rdtsc`.
    Open,
    /// `rdtscp`.
    Close,
}

/// Returns the end of a timed window that the x86-64 instruction with these bytes marks, if any.
#[must_use]
pub fn stamp(bytes: &[u8]) -> Option<Stamp> {
    match bytes {
        [0x0f, 0x31, ..] => Some(Stamp::Open),
        [0x0f, 0x01, 0xf9, ..] => Some(Stamp::Close),
        _ => None,
    }
}

/// Returns the purpose of the x86-64 instruction with these bytes, if it loads at all. Recognised are `ret`
/// in its forms (C3, C2, with any of the prefixes F2 and F3), `push` and `pop` of a register (50 to 5F, 41
/// before it for r8 to r15) and `leave` (C9).
#[must_use]
pub fn purpose(bytes: &[u8]) -> Purpose {
    match bytes {
        [0xc3, ..] | [0xc2, ..] | [0xf2 | 0xf3, 0xc3 | 0xc2, ..] => Purpose::Return,
        [0x50..=0x5f, ..] | [0x41, 0x50..=0x5f, ..] | [0xc9, ..] => Purpose::Stack,
        _ => Purpose::Data,
    }
}

/// Returns true if the x86-64 instruction with these bytes stores past the caches: `movntdq` and `movntps` of
/// a vector (66 0F E7, 0F 2B), `movnti` of a register (0F C3), with a REX prefix or without.
#[must_use]
pub fn streams(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(&[0x66]).unwrap_or(bytes);
    let bytes = match bytes {
        [0x40..=0x4f, rest @ ..] => rest,
        _ => bytes,
    };
    matches!(bytes, [0x0f, 0xe7 | 0x2b | 0xc3, ..])
}

/// Returns true if the x86-64 instruction with these bytes loads and stores at once, provided that it touches
/// memory: any instruction with the prefix `lock` (F0), and `xchg` (86, 87), which needs none.
#[must_use]
pub fn exchanges(bytes: &[u8]) -> bool {
    let is_prefix = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf2 | 0xf3);
    let mut rest =
        bytes.iter().skip_while(|byte| is_prefix(byte)).skip_while(|byte| matches!(byte, 0x40..=0x4f));
    matches!(rest.next(), Some(0xf0 | 0x86 | 0x87))
}

/// Returns true if the x86-64 instruction with these bytes is `clflush` (0F AE /7) or `clflushopt` (66 before
/// it). With these bytes and two registers it is `sfence`.
#[must_use]
pub fn flushes(bytes: &[u8]) -> bool {
    match bytes.strip_prefix(&[0x66]).unwrap_or(bytes) {
        [0x40..=0x4f, 0x0f, 0xae, operands, ..] | [0x0f, 0xae, operands, ..] => {
            operands >> 3 & 7 == 7 && operands >> 6 != 3
        }
        _ => false,
    }
}

/// Returns true if the x86-64 instruction with these bytes is `dec rdi`, by which a routine of known
/// arithmetic counts its blocks.
#[must_use]
pub fn ends_block(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x48, 0xff, 0xcf])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_ends_where_the_counter_is_decremented() {
        assert!(ends_block(&[0x48, 0xff, 0xcf]));
        assert!(!ends_block(&[0x48, 0xff, 0xca]) && !ends_block(&[0x48, 0x01, 0xd0]));
        // rdx; add rax, rdx
    }

    #[test]
    fn streaming_stores_are_recognised() {
        for bytes in [
            &[0x66, 0x0f, 0xe7, 0x07][..],         // movntdq [rdi], xmm0
            &[0x66, 0x41, 0x0f, 0xe7, 0x40, 0x10], // movntdq [r8 + 16], xmm0
            &[0x0f, 0x2b, 0x07],                   // movntps [rdi], xmm0
            &[0x48, 0x0f, 0xc3, 0x07],             // movnti [rdi], rax
        ] {
            assert!(streams(bytes), "{bytes:x?}");
        }
        assert!(!streams(&[0x48, 0x89, 0x07])); // mov [rdi], rax
        assert!(!streams(&[0x66, 0x0f, 0x7f, 0x07])); // movdqa [rdi], xmm0
    }

    #[test]
    fn exchanges_and_flushes_are_recognised() {
        for bytes in [
            &[0xf0, 0x48, 0x0f, 0xc1, 0x07][..],   // lock xadd [rdi], rax
            &[0xf0, 0x48, 0x0f, 0xb1, 0x17],       // lock cmpxchg [rdi], rdx
            &[0x3e, 0xf0, 0x41, 0x0f, 0xc1, 0x00], // lock xadd [r8], eax
            &[0x48, 0x87, 0x07],                   // xchg [rdi], rax
        ] {
            assert!(exchanges(bytes), "{bytes:x?}");
        }
        assert!(!exchanges(&[0x48, 0x8b, 0x07]) && !exchanges(&[0x48, 0x89, 0x07])); // mov, both ways
        for bytes in [
            &[0x0f, 0xae, 0x3f][..],         // clflush [rdi]
            &[0x66, 0x41, 0x0f, 0xae, 0x38], // clflushopt [r8]
            &[0x41, 0x0f, 0xae, 0x78, 0x40], // clflush [r8 + 64]
        ] {
            assert!(flushes(bytes), "{bytes:x?}");
        }
        assert!(!flushes(&[0x0f, 0xae, 0xf8]) && !flushes(&[0x0f, 0xae, 0xe8])); // sfence, lfence
        assert!(!flushes(&[0x0f, 0xae, 0x07])); // fxsave [rdi]
    }

    #[test]
    fn stamps_open_and_close() {
        assert_eq!(stamp(&[0x0f, 0x31]), Some(Stamp::Open));
        assert_eq!(stamp(&[0x0f, 0x01, 0xf9]), Some(Stamp::Close));
        assert_eq!(stamp(&[0x0f, 0xae, 0xe8]), None); // lfence
    }

    #[test]
    fn stack_accesses_are_not_hops() {
        for (bytes, expected) in [
            (&[0x48, 0x8b, 0x3f][..], Purpose::Data),         // mov rdi, [rdi]
            (&[0x8b, 0x04, 0x87], Purpose::Data),             // mov eax, [rdi + rax*4]
            (&[0x4d, 0x8b, 0x1b], Purpose::Data),             // mov r11, [r11]
            (&[0x48, 0x8b, 0x44, 0x24, 0x08], Purpose::Data), // mov rax, [rsp + 8]
            (&[0xc3], Purpose::Return),
            (&[0xf3, 0xc3], Purpose::Return),
            (&[0xc2, 0x08, 0x00], Purpose::Return),
            (&[0x5b], Purpose::Stack),       // pop rbx
            (&[0x53], Purpose::Stack),       // push rbx
            (&[0x41, 0x57], Purpose::Stack), // push r15
            (&[0x41, 0x5f], Purpose::Stack), // pop r15
            (&[0xc9], Purpose::Stack),       // leave
            (&[], Purpose::Data),
        ] {
            assert_eq!(purpose(bytes), expected, "{bytes:x?}");
        }
    }
}
