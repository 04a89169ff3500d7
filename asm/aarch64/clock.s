// Dependent arithmetic of known latency, for measuring the core clock.
//
// Contract of both routines (AAPCS64):
//   x0   blocks    number of blocks of 64 dependent operations, at least 1
//   x0   returned  a value that depends on every operation
//   destroys x1, x2 and the flags; no memory
//
// The additions use register operands: a core may eliminate additions of small
// constants at register renaming. The latency of a register addition is one cycle
// on the cores of the Cortex-A, Neoverse and Apple families. The block counter is
// always x0, and a block ends with its subtraction.

.macro lb_clock_routine name, operation:vararg
        lb_begin \name, lb_clock
        mov     x1, #1
        mov     x2, #3
        .p2align 6
1:      .rept   64
        \operation
        .endr
        subs    x0, x0, #1
        b.ne    1b
        mov     x0, x1
        ret
        lb_end  \name
.endm

// lb_clock_adds: 64 x blocks dependent additions, one cycle each.
lb_clock_routine lb_clock_adds, add x1, x1, x2

// lb_clock_multiplies: 64 x blocks dependent multiplications of 64 bits, two to
// five cycles each: three on most cores since Cortex-A76 and on those of Apple,
// four on Cortex-A53 and A57, five on Cortex-A72.
lb_clock_routine lb_clock_multiplies, mul x1, x1, x2
