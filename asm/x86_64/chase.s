# The chase loops: one dependent load per hop, unrolled eight times.
#
# Contract of every routine here (System V AMD64, but see "destroys"):
#   rdi  base      address of the first byte of the buffer
#   rsi  cursor    node at which the chase begins: an address or an index, see each routine
#   rdx  hops      exact number of loads to make; zero is allowed
#   rax  returned  node that the chase reaches after these hops
#   destroys rdx, rcx and the flags; no stack, no other memory, no calls
#
# The remainder runs before the unrolled part, so that the timed window ends with
# the unrolled loop, which the branch predictor has learned. The loop counter
# does not depend on the loads, so their latency hides it.
#
# All routines with names that begin with lb_chase are in one section: profilers
# and the emulator's latency model find the timed loads by this address range.

.macro lb_chase_routine name, hop:vararg
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        mov     rax, rsi
        mov     ecx, edx
        and     ecx, 7                  # hops that do not fill a block of eight
        jz      2f
1:      \hop
        dec     ecx
        jnz     1b
2:      shr     rdx, 3                  # blocks of eight
        jz      4f
        .p2align 6
3:      .rept   8
        \hop
        .endr
        dec     rdx
        jnz     3b
4:      ret
        .size   \name, . - \name
.endm

.pushsection .text.lb_chase, "ax", @progbits

# lb_chase_pointer: each node holds the address of the next node.
#   cursor = *(u64 *)cursor
lb_chase_routine lb_chase_pointer, mov rax, [rax]

# lb_chase_index: each node holds the next node's index in units of eight bytes.
#   cursor = ((u64 *)base)[cursor]
lb_chase_routine lb_chase_index, mov rax, [rdi + rax * 8]

.popsection
.purgem lb_chase_routine
