# Loads of one line in each of many pages: the cost of translation, where every page is the same memory.
#
# Contract of both routines here (System V AMD64):
#   rdi  walk      ten words, of which the routine changes three:
#                   0  base        address of the line behind the last outer part: see below
#                   8  page        bytes from one page to the next
#                  16  time        state of the inner sequence                             changed
#                  24  step        odd addend of the inner sequence
#                  32  mask        number of inner pages, a power of two, less one
#                  40  multiplier  odd
#                  48  outer       bytes from the current outer part to base, negative    changed
#                  56  outer step  addend of the outer sequence, in bytes
#                  64  back        outer step less the bytes of all outer parts, negative
#                  72  value       word that the last load found, or all words, by OR      changed
#   rsi  loads     exact number of loads to make; zero is allowed
#   rax  returned  address of the last load, or base without any
#   destroys rcx, rdx, rsi, r8 to r11 and the flags; 40 bytes of stack
#
#   time += step;  x = time & mask
#   x ^= x >> 2;   x = x * multiplier & mask;   x ^= x >> 3
#   outer += outer < -outer step ? outer step : back
#   value = *(u64 *)(base + outer + x * page + value)
#
# The values are zero, but the processor does not know it: an address is complete
# when the load before has ended. Nothing else of an address waits for a load, so
# the seventeen other instructions run ahead: they need fewer cycles than a load
# that hits. lb_chase_span_free has no such dependence: its loads overlap as far
# as the processor can.
#
# The loop is not unrolled: with eight loads in it, each of them would see a fixed
# stride if the number of pages is eight times an odd one, and Zen 3 prefetches by
# that stride: each load of 40 pages took 10 ns, of 48 pages 7 ns.

.macro lb_span_load dependent
        add     rcx, rbx
        mov     rdx, rcx
        and     rdx, r9
        mov     r8, rdx
        shr     r8, 2
        xor     rdx, r8
        imul    rdx, r10
        and     rdx, r9
        mov     r8, rdx
        shr     r8, 3
        xor     rdx, r8
        imul    rdx, r13
        lea     r8, [r11 + r12]
        add     r11, rbp                # carries at the end of the outer parts
        cmovc   r11, r8
        add     rdx, r14
        add     rdx, r11
        .if     \dependent
        mov     rax, [rdx + rax]
        .else
        or      rax, [rdx]
        .endif
.endm

.macro lb_span_routine name, dependent
        lb_begin \name
        .irp    register, rbx, rbp, r12, r13, r14
        push    \register
        .endr
        mov     r14, [rdi]
        mov     r13, [rdi + 8]
        mov     rcx, [rdi + 16]
        mov     rbx, [rdi + 24]
        mov     r9, [rdi + 32]
        mov     r10, [rdi + 40]
        mov     r11, [rdi + 48]
        mov     rbp, [rdi + 56]
        mov     r12, [rdi + 64]
        xor     eax, eax
        mov     rdx, r14
        test    rsi, rsi
        jz      2f
        .p2align 6
1:      lb_span_load \dependent
        dec     rsi
        jnz     1b
2:      mov     [rdi + 16], rcx
        mov     [rdi + 48], r11
        mov     [rdi + 72], rax
        mov     rax, rdx
        .irp    register, r14, r13, r12, rbp, rbx
        pop     \register
        .endr
        ret
        lb_end  \name
.endm
