# Dependent arithmetic of known latency, for measuring the core clock.
#
# Contract of both routines:
#   rdi  blocks    number of blocks of 64 dependent operations, at least 1
#   rax  returned  a value that depends on every operation
#   destroys rdi, rdx and the flags; no memory
#
# lb_clock_adds uses register operands. Golden Cove eliminates additions of small
# constants at register renaming (0.18 cycles each), so the measured clock would
# be 5.5 times too high; the latency of a register add is one cycle on every
# x86-64 core. (Anton Ertl, "Zero-cycle constant adds",
# complang.tuwien.ac.at/anton/additions)

.macro lb_clock_routine name, operation:vararg
        lb_begin \name, lb_clock
        mov     eax, 1
        mov     edx, 3
        .p2align 6
1:      .rept   64
        \operation
        .endr
        dec     rdi
        jnz     1b
        ret
        lb_end  \name
.endm

# lb_clock_adds: 64 x blocks dependent additions, one cycle each.
lb_clock_routine lb_clock_adds, add rax, rdx

# lb_clock_multiplies: 64 x blocks dependent multiplications, three cycles each
# on Intel since Nehalem and on AMD since Zen, four on some older cores.
lb_clock_routine lb_clock_multiplies, imul rax, rdx
