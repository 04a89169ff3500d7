// The memory functions that compiled Rust calls by name, and that a C library
// would otherwise provide. They are in assembly, because a compiler may turn a
// copying loop into a call of memcpy, even inside memcpy.
//
// Calling convention AAPCS64. Only x0 to x7, q0, q1 and the flags change. Timed code
// does not call these functions: they are short, correct for every length, and fast
// enough for formatting and for copying small records. Accesses need no alignment:
// this is ordinary memory.

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

// void *memcpy(void *to = x0, const void *from = x1, size_t count = x2)
// For short lengths, all loads precede the stores, so memmove uses this code too. For others,
// the target may begin before the source: bytes are read before they are written.
        lb_mem_begin memcpy
        cmp     x2, #16
        b.hi    4f
        cmp     x2, #8
        b.hs    3f
        cmp     x2, #4
        b.hs    2f
        cbz     x2, 1f
        lsr     x3, x2, #1                      // 1 to 3 bytes: first, middle, last
        sub     x4, x2, #1
        ldrb    w5, [x1]
        ldrb    w6, [x1, x3]
        ldrb    w7, [x1, x4]
        strb    w5, [x0]
        strb    w6, [x0, x3]
        strb    w7, [x0, x4]
1:      ret
2:      sub     x4, x2, #4                      // 4 to 7: two words that may overlap
        ldr     w5, [x1]
        ldr     w6, [x1, x4]
        str     w5, [x0]
        str     w6, [x0, x4]
        ret
3:      sub     x4, x2, #8                      // 8 to 16
        ldr     x5, [x1]
        ldr     x6, [x1, x4]
        str     x5, [x0]
        str     x6, [x0, x4]
        ret
4:      sub     x4, x2, #16                     // 17 and more: the last 16 bytes are stored at the end
        ldr     q1, [x1, x4]
        add     x4, x0, x4
        mov     x3, x0
5:      ldr     q0, [x1], #16
        str     q0, [x3], #16
        cmp     x3, x4
        b.lo    5b
        str     q1, [x4]
        ret
        lb_mem_end memcpy

// void *memmove(void *to = x0, const void *from = x1, size_t count = x2)
        lb_mem_begin memmove
        sub     x3, x0, x1
        cmp     x3, x2                          // unsigned: `to` inside [from, from + count)
        b.lo    1f
        b       memcpy
1:      cmp     x2, #16
        b.hi    2f
        b       memcpy                          // there, all loads precede the stores
2:      ldr     q1, [x1]                        // from the end; the first 16 bytes are stored last
        add     x3, x0, x2
        add     x4, x1, x2
        add     x5, x0, #16
3:      ldr     q0, [x4, #-16]!
        str     q0, [x3, #-16]!
        cmp     x3, x5
        b.hi    3b
        str     q1, [x0]
        ret
        lb_mem_end memmove

// void *memset(void *to = x0, int value = w1, size_t count = x2)
        lb_mem_begin memset
        mov     x3, x0
        cmp     x2, #16
        b.lo    2f
        dup     v0.16b, w1
        sub     x4, x2, #16                     // the last 16 bytes are stored at the end
        add     x4, x0, x4
1:      str     q0, [x3], #16
        cmp     x3, x4
        b.lo    1b
        str     q0, [x4]
        ret
2:      cbz     x2, 3f
        strb    w1, [x3], #1
        sub     x2, x2, #1
        b       2b
3:      ret
        lb_mem_end memset

// int memcmp(const void *left = x0, const void *right = x1, size_t count = x2)
// bcmp only tests for a difference, so it shares this code.
        .globl  bcmp
        .set    bcmp, memcmp
        lb_mem_begin memcmp
        mov     x3, xzr
1:      add     x4, x3, #8
        cmp     x4, x2
        b.hi    2f
        ldr     x5, [x0, x3]
        ldr     x6, [x1, x3]
        cmp     x5, x6
        b.ne    2f
        mov     x3, x4
        b       1b
2:      cmp     x3, x2                          // bytes: the tail, or the word that differs
        b.eq    3f
        ldrb    w5, [x0, x3]
        ldrb    w6, [x1, x3]
        add     x3, x3, #1
        subs    w4, w5, w6
        b.eq    2b
        mov     w0, w4
        ret
3:      mov     w0, wzr
        ret
        lb_mem_end memcmp

// size_t strlen(const char *text = x0)
        lb_mem_begin strlen
        mov     x1, x0
1:      ldrb    w2, [x1], #1
        cbnz    w2, 1b
        sub     x0, x1, x0
        sub     x0, x0, #1
        ret
        lb_mem_end strlen
