// Loads of one line in each of many pages: the cost of translation, where every page is the same memory.
//
// Contract of both routines here (AAPCS64):
//   x0   walk      ten words, of which the routine changes three:
//                   0  base        address of the line behind the last outer part: see below
//                   8  page        bytes from one page to the next
//                  16  time        state of the inner sequence                             changed
//                  24  step        odd addend of the inner sequence
//                  32  mask        number of inner pages, a power of two, less one
//                  40  multiplier  odd
//                  48  outer       bytes from the current outer part to base, negative    changed
//                  56  outer step  addend of the outer sequence, in bytes
//                  64  back        outer step less the bytes of all outer parts, negative
//                  72  value       word that the last load found, or all words, by OR      changed
//   x1   loads     exact number of loads to make; zero is allowed
//   x0   returned  address of the last load, or base without any
//   destroys x1 to x13 and the flags; no stack, no calls
//
//   time += step;  x = time & mask
//   x ^= x >> 2;   x = x * multiplier & mask;   x ^= x >> 3
//   outer += outer < -outer step ? outer step : back
//   value = *(u64 *)(base + outer + x * page + value)
//
// The values are zero, but the processor does not know it: an address is complete
// when the load before has ended. Nothing else of an address waits for a load, so
// the other instructions run ahead. lb_chase_span_free has no such dependence: its
// loads overlap as far as the processor can. The loop is not unrolled, so that no
// load of it sees a fixed stride, which a prefetcher could follow.

.macro lb_span_load dependent
        add     x4, x4, x5
        and     x12, x4, x6
        eor     x12, x12, x12, lsr #2
        mul     x12, x12, x7
        and     x12, x12, x6
        eor     x12, x12, x12, lsr #3
        madd    x12, x12, x3, x2
        add     x13, x8, x10
        adds    x8, x8, x9              // carries at the end of the outer parts
        csel    x8, x13, x8, cs
        add     x12, x12, x8
        .if     \dependent
        ldr     x11, [x12, x11]
        .else
        ldr     x13, [x12]
        orr     x11, x11, x13
        .endif
.endm

.macro lb_span_routine name, dependent
        lb_begin \name
        ldp     x2, x3, [x0]
        ldp     x4, x5, [x0, #16]
        ldp     x6, x7, [x0, #32]
        ldp     x8, x9, [x0, #48]
        ldr     x10, [x0, #64]
        mov     x11, #0
        mov     x12, x2
        cbz     x1, 2f
        .p2align 6
1:      lb_span_load \dependent
        subs    x1, x1, #1
        b.ne    1b
2:      str     x4, [x0, #16]
        str     x8, [x0, #48]
        str     x11, [x0, #72]
        mov     x0, x12
        ret
        lb_end  \name
.endm
