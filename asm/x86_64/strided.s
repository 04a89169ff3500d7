# Loads whose addresses are known in advance: the cost of a walk in which no load waits for another.
#
# Contract (System V AMD64, but see "destroys"):
#   rdi  base      address of the first word
#   rsi  stride    bytes from one word to the next
#   rdx  loads     exact number of words of eight bytes to load; zero is allowed
#   rax  returned  their sum, wrapping, which proves them
#   destroys rcx, rdx, rdi and the flags; no stack, no calls
#
#   for (i = 0; i < loads; i++)  sum += *(u64 *)(base + i * stride)
#
# The address is advanced after each load. With eight addresses computed at once
# from one base the loads would be issued in any order, and the
# prefetchers would do worse: 256 MiB, Zen 4, ns a load 2.2 against 1.9 on 2 MiB
# pages and 3.7 against 3.1 on 4 KiB ones. Sum and address advance by one
# cycle a load, which shows in the first-level cache alone.

.macro lb_strided_load
        add     rax, [rdi]
        add     rdi, rsi
.endm

.pushsection .text.lb_chase, "ax", @progbits

        .p2align 6
        .globl  lb_chase_strided
        .type   lb_chase_strided, @function
lb_chase_strided:
        xor     eax, eax
        mov     ecx, edx
        and     ecx, 7                  # loads that do not fill a block of eight
        jz      2f
1:      lb_strided_load
        dec     ecx
        jnz     1b
2:      shr     rdx, 3                  # blocks of eight
        jz      4f
        .p2align 6
3:      .rept   8
        lb_strided_load
        .endr
        dec     rdx
        jnz     3b
4:      ret
        .size   lb_chase_strided, . - lb_chase_strided

.popsection
.purgem lb_strided_load
