// Loads with addresses that are known in advance: the cost of a walk with independent loads.
//
// Contract (AAPCS64, but see "destroys"):
//   x0   base      address of the first word
//   x1   stride    bytes from one word to the next
//   x2   loads     exact number of words of eight bytes to load; zero is allowed
//   x0   returned  wrapping sum of the words, which proves the loads
//   destroys x2 to x5 and the flags; no stack, no calls
//
//   for (i = 0; i < loads; i++)  sum += *(u64 *)(base + i * stride)
//
// The address is advanced after each load, so that the loads are issued in
// address order, which prefetchers follow. The sum and the address each need one
// cycle per load, which limits the rate only in the first-level cache.

.macro lb_strided_load
        ldr     x4, [x0]
        add     x3, x3, x4
        add     x0, x0, x1
.endm

.pushsection .text.lb_chase, "ax", @progbits

        .p2align 6
        .globl  lb_chase_strided
        .type   lb_chase_strided, @function
lb_chase_strided:
        mov     x3, #0
        ands    x5, x2, #7              // loads that do not fill a block of eight
        b.eq    2f
1:      lb_strided_load
        subs    x5, x5, #1
        b.ne    1b
2:      lsr     x2, x2, #3              // blocks of eight
        cbz     x2, 4f
        .p2align 6
3:      .rept   8
        lb_strided_load
        .endr
        subs    x2, x2, #1
        b.ne    3b
4:      mov     x0, x3
        ret
        .size   lb_chase_strided, . - lb_chase_strided

.popsection
.purgem lb_strided_load
