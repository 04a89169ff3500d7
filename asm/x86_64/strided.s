# Loads with addresses that are known in advance: the cost of a walk with independent loads.
#
# Contract (System V AMD64, but see "destroys"):
#   rdi  base      address of the first word
#   rsi  stride    bytes from one word to the next
#   rdx  loads     exact number of words of eight bytes to load; zero is allowed
#   rax  returned  wrapping sum of the words, which proves the loads
#   destroys rcx, rdx, rdi and the flags; no stack, no calls
#
#   for (i = 0; i < loads; i++)  sum += *(u64 *)(base + i * stride)
#
# The address is advanced after each load. With eight addresses computed at once
# from one base, the loads would be issued in any order, and the prefetchers
# would be less effective: on Zen 4, 256 MiB, a load would cost 2.2 ns instead
# of 1.9 on 2 MiB pages, and 3.7 instead of 3.1 on 4 KiB pages. The sum and the
# address each need one cycle per load, which limits the rate only in the
# first-level cache.

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
