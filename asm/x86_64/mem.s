# The memory functions that compiled Rust calls by name, and that a C library
# would otherwise provide. They are in assembly, because a compiler may turn a
# copying loop into a call of memcpy, even inside memcpy.
#
# System V calling convention, Intel syntax, direction flag clear on entry. Only
# rax, rcx, rdx, rsi, rdi, r8 and r9 change. Timed code does not call these
# functions: they are short, correct for every length, and fast enough for
# formatting and for copying small records (without `rep` up to 32 bytes, since
# its start-up costs tens of cycles).

        .macro  lb_mem_begin name
        .pushsection .text.\name, "ax", @progbits
        .globl  \name
        .type   \name, @function
        .p2align 4
\name:
        .endm

        .macro  lb_mem_end name
        .size   \name, . - \name
        .popsection
        .endm

# void *memcpy(void *to = rdi, const void *from = rsi, size_t count = rdx)
# For short lengths, all loads precede the stores, so memmove uses this code too.
        lb_mem_begin memcpy
        mov     rax, rdi
        cmp     rdx, 16
        ja      4f
        cmp     edx, 8
        jae     3f
        cmp     edx, 4
        jae     2f
        test    edx, edx
        jz      1f
        movzx   ecx, byte ptr [rsi]             # 1 to 3 bytes: first, middle, last
        movzx   r8d, byte ptr [rsi + rdx - 1]
        mov     r9, rdx
        shr     r9, 1
        movzx   esi, byte ptr [rsi + r9]
        mov     byte ptr [rdi], cl
        mov     byte ptr [rdi + r9], sil
        mov     byte ptr [rdi + rdx - 1], r8b
1:      ret
2:      mov     ecx, dword ptr [rsi]            # 4 to 7: two words that may overlap
        mov     r8d, dword ptr [rsi + rdx - 4]
        mov     dword ptr [rdi], ecx
        mov     dword ptr [rdi + rdx - 4], r8d
        ret
3:      mov     rcx, qword ptr [rsi]            # 8 to 16
        mov     r8, qword ptr [rsi + rdx - 8]
        mov     qword ptr [rdi], rcx
        mov     qword ptr [rdi + rdx - 8], r8
        ret
4:      cmp     rdx, 32
        ja      5f
        movups  xmm0, xmmword ptr [rsi]         # 17 to 32
        movups  xmm1, xmmword ptr [rsi + rdx - 16]
        movups  xmmword ptr [rdi], xmm0
        movups  xmmword ptr [rdi + rdx - 16], xmm1
        ret
5:      mov     rcx, rdx
        rep movsb
        ret
        lb_mem_end memcpy

# void *memmove(void *to = rdi, const void *from = rsi, size_t count = rdx)
        lb_mem_begin memmove
        mov     rax, rdi
        sub     rax, rsi
        cmp     rax, rdx                        # unsigned: `to` inside [from, from + count)
        jb      1f
        jmp     memcpy
1:      cmp     rdx, 32
        jbe     memcpy                          # there, all loads precede the stores
        mov     rax, rdi
        mov     rcx, rdx
        lea     rdi, [rdi + rdx - 8]            # from the end, eight bytes at a time
        lea     rsi, [rsi + rdx - 8]
        shr     rcx, 3
        std
        rep movsq
        mov     ecx, edx
        and     ecx, 7
        add     rdi, 7                          # the remaining bytes are at the start
        add     rsi, 7
        rep movsb
        cld
        ret
        lb_mem_end memmove

# void *memset(void *to = rdi, int value = esi, size_t count = rdx)
        lb_mem_begin memset
        mov     r8, rdi
        mov     eax, esi
        mov     rcx, rdx
        rep stosb
        mov     rax, r8
        ret
        lb_mem_end memset

# int memcmp(const void *left = rdi, const void *right = rsi, size_t count = rdx)
# bcmp only tests for a difference, so it shares this code.
        .globl  bcmp
        .set    bcmp, memcmp
        lb_mem_begin memcmp
        xor     ecx, ecx
1:      lea     r8, [rcx + 8]
        cmp     r8, rdx
        ja      2f
        mov     rax, qword ptr [rdi + rcx]
        cmp     rax, qword ptr [rsi + rcx]
        jne     2f
        mov     rcx, r8
        jmp     1b
2:      cmp     rcx, rdx                        # bytes: the tail, or the word that differs
        je      3f
        movzx   eax, byte ptr [rdi + rcx]
        movzx   r8d, byte ptr [rsi + rcx]
        inc     rcx
        sub     eax, r8d
        jz      2b
        ret
3:      xor     eax, eax
        ret
        lb_mem_end memcmp

# size_t strlen(const char *text = rdi)
        lb_mem_begin strlen
        xor     eax, eax
1:      cmp     byte ptr [rdi + rax], 0
        je      2f
        inc     rax
        jmp     1b
2:      ret
        lb_mem_end strlen
