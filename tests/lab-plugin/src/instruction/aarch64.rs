//! The instructions of 64-bit ARM, four bytes each.
//!
//! # References
//!
//! Arm ARM, DDI 0487, "A64 instruction set encoding": fixed bits of each class, below as mask and value.

use super::Kind;

/// Fixed bits of instructions, and their values.
struct Form(u32, u32);

impl Form {
    const fn has(&self, word: u32) -> bool {
        word & self.0 == self.1
    }
}

/// MRS of CNTVCT_EL0 to the register in the lowest bits.
const COUNTER: Form = Form(!31, 0xd53b_e040);
/// Registers of the reads that open and close a window; other reads of the counter use others.
const OPENING: u32 = 9;
const CLOSING: u32 = 10;

/// `subs x0, x0, #1`, by which a routine of known arithmetic counts its blocks.
const COUNT_DOWN: Form = Form(!0, 0xf100_0400);
/// RET to the address in any register: it loads nothing.
const RET: Form = Form(0xffff_fc1f, 0xd65f_0000);
/// DC CIVAC, which evicts a line up to the point of coherency.
const DC_CIVAC: Form = Form(!31, 0xd50b_7e20);

/// All loads and stores.
const LOADS_AND_STORES: Form = Form(0x0a00_0000, 0x0800_0000);
/// Loads of a literal, which have no base register.
const LITERAL: Form = Form(0x3b00_0000, 0x1800_0000);
/// STNP of two registers of any kind.
const STNP: Form = Form(0x3bc0_0000, 0x2800_0000);

/// Stores of a pair of exclusives: STXR, STLXR and those of two registers.
const STORE_EXCLUSIVE: [Form; 2] = [Form(0x3fe0_0000, 0x0800_0000), Form(0xbfe0_0000, 0x8820_0000)];
/// Instructions of LSE: CAS; CASP; LDADD and its kind; SWP.
const ATOMIC: [Form; 4] = [
    Form(0x3fa0_7c00, 0x08a0_7c00),
    Form(0xbfa0_7c00, 0x0820_7c00),
    Form(0x3f20_8c00, 0x3820_0000),
    Form(0x3f20_fc00, 0x3820_8000),
];

/// Returns the meaning of an instruction.
pub fn kind(bytes: &[u8]) -> Kind {
    let Some(word) = bytes.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) else { return Kind::Other };
    match word & 31 {
        OPENING if COUNTER.has(word) => return Kind::OpensWindow,
        CLOSING if COUNTER.has(word) => return Kind::ClosesWindow,
        _ => {}
    }
    if COUNT_DOWN.has(word) {
        Kind::EndsBlock
    } else if RET.has(word) {
        Kind::Return
    } else if DC_CIVAC.has(word) {
        Kind::Flush
    } else if !LOADS_AND_STORES.has(word) {
        Kind::Other
    } else if is_of_stack(word) {
        Kind::Stack
    } else if STNP.has(word) {
        Kind::StorePast
    } else if STORE_EXCLUSIVE.iter().chain(&ATOMIC).any(|form| form.has(word)) {
        Kind::Exchange
    } else {
        Kind::Other
    }
}

/// Returns true if the base register of a load or store is 31, the stack pointer.
const fn is_of_stack(word: u32) -> bool {
    word >> 5 & 31 == 31 && !LITERAL.has(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Words of an assembler: each instruction of the kernels, and its neighbours in the encoding.
    #[test]
    fn instructions_have_their_meaning() {
        for (word, expected) in [
            (0xd53b_e049, Kind::OpensWindow),  // mrs x9, cntvct_el0
            (0xd53b_e04a, Kind::ClosesWindow), // mrs x10, cntvct_el0
            (0xf100_0400, Kind::EndsBlock),    // subs x0, x0, #1
            (0xd65f_03c0, Kind::Return),       // ret
            (0xd65f_0020, Kind::Return),       // ret x1
            (0xa9bd_53f3, Kind::Stack),        // stp x19, x20, [sp, #-48]!
            (0xa901_5bf5, Kind::Stack),        // stp x21, x22, [sp, #16]
            (0xa941_5bf5, Kind::Stack),        // ldp x21, x22, [sp, #16]
            (0xa8c3_53f3, Kind::Stack),        // ldp x19, x20, [sp], #48
            (0xf940_07e0, Kind::Stack),        // ldr x0, [sp, #8]
            (0x3dc0_03e0, Kind::Stack),        // ldr q0, [sp]
            (0x4c40_7fe0, Kind::Stack),        // ld1 { v0.2d }, [sp]
            (0xac00_0000, Kind::StorePast),    // stnp q0, q0, [x0]
            (0xac01_0440, Kind::StorePast),    // stnp q0, q1, [x2, #32]
            (0xa800_0440, Kind::StorePast),    // stnp x0, x1, [x2]
            (0x2800_0440, Kind::StorePast),    // stnp w0, w1, [x2]
            (0xc8ed_fc08, Kind::Exchange),     // casal x13, x8, [x0]
            (0xc8ad_7c08, Kind::Exchange),     // cas x13, x8, [x0]
            (0x08e0_fc41, Kind::Exchange),     // casalb w0, w1, [x2]
            (0x4820_7c82, Kind::Exchange),     // casp x0, x1, x2, x3, [x4]
            (0x4860_fc82, Kind::Exchange),     // caspal x0, x1, x2, x3, [x4]
            (0xf83f_0000, Kind::Exchange),     // ldadd xzr, x0, [x0]
            (0xf8e1_0062, Kind::Exchange),     // ldaddal x1, x2, [x3]
            (0xb821_1062, Kind::Exchange),     // ldclr w1, w2, [x3]
            (0x3821_6062, Kind::Exchange),     // ldumaxb w1, w2, [x3]
            (0xf8e1_8062, Kind::Exchange),     // swpal x1, x2, [x3]
            (0xb821_8062, Kind::Exchange),     // swp w1, w2, [x3]
            (0xc806_7c05, Kind::Exchange),     // stxr w6, x5, [x0]
            (0xc80e_fc08, Kind::Exchange),     // stlxr w14, x8, [x0]
            (0xc821_0c82, Kind::Exchange),     // stxp w1, x2, x3, [x4]
            (0x4801_fc62, Kind::Exchange),     // stlxrh w1, w2, [x3]
            (0xd50b_7e20, Kind::Flush),        // dc civac, x0
            (0xd50b_7e2f, Kind::Flush),        // dc civac, x15
            (0xd53b_e04b, Kind::Other),        // mrs x11, cntvct_el0
            (0xd53b_e04c, Kind::Other),        // mrs x12, cntvct_el0
            (0xd53b_e029, Kind::Other),        // mrs x9, cntpct_el0
            (0xd53b_e009, Kind::Other),        // mrs x9, cntfrq_el0
            (0xf100_0442, Kind::Other),        // subs x2, x2, #1
            (0x7100_0400, Kind::Other),        // subs w0, w0, #1
            (0xf100_0800, Kind::Other),        // subs x0, x0, #2
            (0xd100_0400, Kind::Other),        // sub x0, x0, #1
            (0xd61f_03c0, Kind::Other),        // br x30
            (0xd63f_03c0, Kind::Other),        // blr x30
            (0xf940_0000, Kind::Other),        // ldr x0, [x0]
            (0xf860_7880, Kind::Other),        // ldr x0, [x4, x0, lsl #3]
            (0xb860_7880, Kind::Other),        // ldr w0, [x4, x0, lsl #2]
            (0x3940_0002, Kind::Other),        // ldrb w2, [x0]
            (0xa940_38ad, Kind::Other),        // ldp x13, x14, [x5]
            (0xad00_0000, Kind::Other),        // stp q0, q0, [x0]
            (0x3c9c_0000, Kind::Other),        // stur q0, [x0, #-64]
            (0xac40_0440, Kind::Other),        // ldnp q0, q1, [x2]
            (0xc85f_7c05, Kind::Other),        // ldxr x5, [x0]
            (0xc85f_fc0d, Kind::Other),        // ldaxr x13, [x0]
            (0xc87f_0861, Kind::Other),        // ldxp x1, x2, [x3]
            (0xc8df_fc2d, Kind::Other),        // ldar x13, [x1]
            (0xc89f_fc07, Kind::Other),        // stlr x7, [x0]
            (0xc8df_7c41, Kind::Other),        // ldlar x1, [x2]
            (0xc89f_7c41, Kind::Other),        // stllr x1, [x2]
            (0xf8bf_c041, Kind::Other),        // ldapr x1, [x2]
            (0xf83f_d1a0, Kind::Other),        // ld64b x0, [x13]
            (0xd50b_7a20, Kind::Other),        // dc cvac, x0
            (0xd50b_7420, Kind::Other),        // dc zva, x0
            (0xf980_0040, Kind::Other),        // prfm pldl1keep, [x2]
            (0xd503_359f, Kind::Other),        // dsb nshld
            (0x9100_43e0, Kind::Other),        // add x0, sp, #16
            (0xaa1f_03e0, Kind::Other),        // mov x0, xzr
            (0xaa1f_003f, Kind::Other),        // orr xzr, x1, xzr
            (0x5800_1f1f, Kind::Other),        // ldr xzr, a literal whose distance has the bits of sp
        ] {
            assert_eq!(kind(&u32::to_le_bytes(word)), expected, "{word:#010x}");
        }
        assert_eq!(kind(&[0xc0, 0x03, 0x5f]), Kind::Other, "an instruction that is cut off");
    }
}
