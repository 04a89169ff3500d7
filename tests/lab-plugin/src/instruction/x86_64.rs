//! The instructions of x86-64.

use super::Kind;

/// Returns the meaning of an instruction.
pub fn kind(bytes: &[u8]) -> Kind {
    match bytes {
        // rdtsc
        [0x0f, 0x31, ..] => Kind::OpensWindow,
        // rdtscp
        [0x0f, 0x01, 0xf9, ..] => Kind::ClosesWindow,
        // dec rdi, by which a routine of known arithmetic counts its blocks
        [0x48, 0xff, 0xcf, ..] => Kind::EndsBlock,
        // ret in its forms
        [0xc3, ..] | [0xc2, ..] | [0xf2 | 0xf3, 0xc3 | 0xc2, ..] => Kind::Return,
        // push and pop of a register; leave
        [0x50..=0x5f, ..] | [0x41, 0x50..=0x5f, ..] | [0xc9, ..] => Kind::Stack,
        _ if streams(bytes) => Kind::StorePast,
        _ if exchanges(bytes) => Kind::Exchange,
        _ if flushes(bytes) => Kind::Flush,
        _ => Kind::Other,
    }
}

/// Returns true for `movntdq` and `movntps` of a vector (66 0F E7, 0F 2B), and `movnti` of a register (0F
/// C3), with a REX prefix or without.
fn streams(bytes: &[u8]) -> bool {
    let bytes = bytes.strip_prefix(&[0x66]).unwrap_or(bytes);
    let bytes = match bytes {
        [0x40..=0x4f, rest @ ..] => rest,
        _ => bytes,
    };
    matches!(bytes, [0x0f, 0xe7 | 0x2b | 0xc3, ..])
}

/// Returns true for any instruction with the prefix `lock` (F0), and for `xchg` (86, 87), which needs none.
fn exchanges(bytes: &[u8]) -> bool {
    let is_prefix = |byte: &u8| matches!(byte, 0x26 | 0x2e | 0x36 | 0x3e | 0x64..=0x67 | 0xf2 | 0xf3);
    let mut rest =
        bytes.iter().skip_while(|byte| is_prefix(byte)).skip_while(|byte| matches!(byte, 0x40..=0x4f));
    matches!(rest.next(), Some(0xf0 | 0x86 | 0x87))
}

/// Returns true for `clflush` (0F AE /7) and `clflushopt` (66 before it). With these bytes and two registers
/// it is `sfence`.
fn flushes(bytes: &[u8]) -> bool {
    match bytes.strip_prefix(&[0x66]).unwrap_or(bytes) {
        [0x40..=0x4f, 0x0f, 0xae, operands, ..] | [0x0f, 0xae, operands, ..] => {
            operands >> 3 & 7 == 7 && operands >> 6 != 3
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn instructions_have_their_meaning() {
        for (bytes, expected) in [
            (&[0x0f, 0x31][..], Kind::OpensWindow),                   // rdtsc
            (&[0x0f, 0x01, 0xf9], Kind::ClosesWindow),                // rdtscp
            (&[0x0f, 0xae, 0xe8], Kind::Other),                       // lfence
            (&[0x48, 0xff, 0xcf], Kind::EndsBlock),                   // dec rdi
            (&[0x48, 0xff, 0xca], Kind::Other),                       // dec rdx
            (&[0x48, 0x01, 0xd0], Kind::Other),                       // add rax, rdx
            (&[0xc3], Kind::Return),                                  // ret
            (&[0xf3, 0xc3], Kind::Return),                            // repz ret
            (&[0xc2, 0x08, 0x00], Kind::Return),                      // ret 8
            (&[0x5b], Kind::Stack),                                   // pop rbx
            (&[0x53], Kind::Stack),                                   // push rbx
            (&[0x41, 0x57], Kind::Stack),                             // push r15
            (&[0x41, 0x5f], Kind::Stack),                             // pop r15
            (&[0xc9], Kind::Stack),                                   // leave
            (&[0x48, 0x8b, 0x3f], Kind::Other),                       // mov rdi, [rdi]
            (&[0x8b, 0x04, 0x87], Kind::Other),                       // mov eax, [rdi + rax*4]
            (&[0x4d, 0x8b, 0x1b], Kind::Other),                       // mov r11, [r11]
            (&[0x48, 0x8b, 0x44, 0x24, 0x08], Kind::Other),           // mov rax, [rsp + 8]
            (&[0x48, 0x89, 0x07], Kind::Other),                       // mov [rdi], rax
            (&[0x66, 0x0f, 0x7f, 0x07], Kind::Other),                 // movdqa [rdi], xmm0
            (&[0x66, 0x0f, 0xe7, 0x07], Kind::StorePast),             // movntdq [rdi], xmm0
            (&[0x66, 0x41, 0x0f, 0xe7, 0x40, 0x10], Kind::StorePast), // movntdq [r8 + 16], xmm0
            (&[0x0f, 0x2b, 0x07], Kind::StorePast),                   // movntps [rdi], xmm0
            (&[0x48, 0x0f, 0xc3, 0x07], Kind::StorePast),             // movnti [rdi], rax
            (&[0xf0, 0x48, 0x0f, 0xc1, 0x07], Kind::Exchange),        // lock xadd [rdi], rax
            (&[0xf0, 0x48, 0x0f, 0xb1, 0x17], Kind::Exchange),        // lock cmpxchg [rdi], rdx
            (&[0x3e, 0xf0, 0x41, 0x0f, 0xc1, 0x00], Kind::Exchange),  // lock xadd [r8], eax
            (&[0x48, 0x87, 0x07], Kind::Exchange),                    // xchg [rdi], rax
            (&[0x0f, 0xae, 0x3f], Kind::Flush),                       // clflush [rdi]
            (&[0x66, 0x41, 0x0f, 0xae, 0x38], Kind::Flush),           // clflushopt [r8]
            (&[0x41, 0x0f, 0xae, 0x78, 0x40], Kind::Flush),           // clflush [r8 + 64]
            (&[0x0f, 0xae, 0xf8], Kind::Other),                       // sfence
            (&[0x0f, 0xae, 0x07], Kind::Other),                       // fxsave [rdi]
            (&[], Kind::Other),
        ] {
            assert_eq!(kind(bytes), expected, "{bytes:x?}");
        }
    }
}
