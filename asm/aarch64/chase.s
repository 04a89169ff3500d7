// The chase loops: one dependent load per hop, unrolled eight times.
//
// Contract of every routine here (AAPCS64, but see "destroys"):
//   x0   base      address of the first byte of the buffer
//   x1   cursor    node at which the chase begins: an address or an index, see each routine
//   x2   hops      exact number of loads to make; zero is allowed
//   x0   returned  node that the chase reaches after these hops
//   destroys x2, x4, x5 and the flags; no stack, no other memory, no calls
//
// The remainder runs before the unrolled part, so that the timed window ends with
// the unrolled loop, which the branch predictor has learned. The loop counter
// does not depend on the loads, so their latency hides it.
//
// All routines with names that begin with lb_chase are in one section: profilers
// and the emulator's latency model find the timed loads by this address range.

.macro lb_chase_routine name, hop:vararg
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        mov     x4, x0
        mov     x0, x1
        ands    x5, x2, #7              // hops that do not fill a block of eight
        b.eq    2f
1:      \hop
        subs    x5, x5, #1
        b.ne    1b
2:      lsr     x2, x2, #3              // blocks of eight
        cbz     x2, 4f
        .p2align 6
3:      .rept   8
        \hop
        .endr
        subs    x2, x2, #1
        b.ne    3b
4:      ret
        .size   \name, . - \name
.endm

.pushsection .text.lb_chase, "ax", @progbits

// lb_chase_pointer: each node holds the address of the next node.
//   cursor = *(u64 *)cursor
lb_chase_routine lb_chase_pointer, ldr x0, [x0]

// lb_chase_index: each node holds the next node's index in units of eight bytes.
//   cursor = ((u64 *)base)[cursor]
lb_chase_routine lb_chase_index, ldr x0, [x4, x0, lsl #3]

.popsection
.purgem lb_chase_routine
