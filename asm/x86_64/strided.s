# Loads whose addresses are known in advance: what a walk costs when no load waits for another.
#
# Contract (System V AMD64, but see "destroys"):
#   rdi  base      address of the first word
#   rsi  stride    bytes from one word to the next
#   rdx  loads     how many words of eight bytes are to be loaded, exactly; zero is allowed
#   rax  returned  their sum, wrapping
#   destroys rcx, rdx, rdi, r8 to r10 and the flags; no stack, no calls
#
#   for (i = 0; i < loads; i++)  sum += *(u64 *)(base + i * stride)
#
# The sum proves the loads. It is made in two halves: a single one would be a
# chain of dependent additions, one load a cycle.

.pushsection .text.lb_chase, "ax", @progbits

        .p2align 6
        .globl  lb_chase_strided
        .type   lb_chase_strided, @function
lb_chase_strided:
        xor     eax, eax
        xor     r10d, r10d
        mov     ecx, edx
        and     ecx, 7                  # loads that do not fill a block of eight
        jz      2f
1:      add     rax, [rdi]
        add     rdi, rsi
        dec     ecx
        jnz     1b
2:      shr     rdx, 3                  # blocks of eight
        jz      4f
        lea     rcx, [rsi + rsi * 2]    # three strides
        lea     r8, [rsi + rsi * 4]     # five
        lea     r9, [rcx + rsi * 4]     # seven
        .p2align 6
3:      add     rax, [rdi]
        add     r10, [rdi + rsi]
        add     rax, [rdi + rsi * 2]
        add     r10, [rdi + rcx]
        add     rax, [rdi + rsi * 4]
        add     r10, [rdi + r8]
        add     rax, [rdi + rcx * 2]
        add     r10, [rdi + r9]
        lea     rdi, [rdi + rsi * 8]
        dec     rdx
        jnz     3b
4:      add     rax, r10
        ret
        .size   lb_chase_strided, . - lb_chase_strided

.popsection
