# Traffic: walks over cache lines with independent loads, to keep a memory busy.
#
# Contract of every routine here (System V AMD64):
#   rdi  from      address of the first line, aligned to 64 bytes
#   rsi  lines     exact number of lines to touch; zero is allowed
#   rdx  to        address of the first line of the copy; the copies and lb_stream_permuted use it
#   rcx  state     the value that the last call returned; see each family
#   r8   field     lines to choose from; lb_stream_whole, lb_stream_random and lb_stream_permuted use it
#   rax  returned  the state after these lines
#   destroys rcx, rdx, rsi, rdi, r8 to r11, vectors 0 to 4 and the flags; no stack, no calls
#
# Lines follow each other in ascending order, unless the description of a family differs. Every store changes
# the words that it overwrites, because some processors do not write back a line that a store has not changed.
# Only SSE2 is used, because wider vectors lower the core's clock; whole reads alone use the widest vectors. A
# call for one line, which pacing makes, skips the large loops.

# Reads and updates load 16 bytes from each half of every line. Memory transfers
# the whole line for any of these loads. Four loads would occupy entries of the
# load queue that loads of other lines could use, and with only one load the
# prefetchers are less active. GB/s of one core, Zen 3:
#                        one load     two    four    two of 256 bits
#   read, 256 MiB            13.4    18.5    17.0         18.7
#   read, 4 MiB              60.5    60.3    54.0         59.8
#   read, 256 KiB            79.5    78.9    68.8         79.8
#   update 3:1, 192 MiB      14.6    21.4

.macro lb_stream_load line
        movdqa  xmm0, [rdi + \line * 64]
        movdqa  xmm1, [rdi + \line * 64 + 32]
.endm

# ---------------------------------------------------------------------------
# Reads.
#
#   state  returned unchanged

        lb_begin lb_stream_read, lb_stream
        mov     rax, rcx
        mov     ecx, esi
        and     ecx, 3                  # lines that do not fill a block of four
        jz      2f
1:      lb_stream_load 0
        add     rdi, 64
        dec     ecx
        jnz     1b
2:      shr     rsi, 2                  # blocks of four
        jz      4f
        .p2align 6
3:      lb_stream_load 0
        lb_stream_load 1
        lb_stream_load 2
        lb_stream_load 3
        add     rdi, 4 * 64
        dec     rsi
        jnz     3b
4:      ret
        lb_end  lb_stream_read

# ---------------------------------------------------------------------------
# Whole reads: every byte of each line, by vectors of 16, 32 or 64 bytes. A cache
# delivers what is loaded: with 32 bytes of each line it would seem to deliver more
# than it does, and with narrow vectors it delivers less than it can. The walk over
# the field starts again within a call, since a pass over a small field lasts less
# than a call.
#
#   field  number of lines of the field, at least one
#   state  the place of the next line, below `field`
#
#   for each line:  load the line with the number `place`;  if (++place == field)  place = 0

.macro lb_stream_whole bytes, load, vector, cleanup:vararg
        lb_begin lb_stream_whole\bytes, lb_stream
        mov     rax, rcx
        test    rsi, rsi
        jz      6f
1:      mov     r9, r8
        sub     r9, rax
        cmp     r9, rsi
        cmova   r9, rsi                 # lines until the field or the call ends
        sub     rsi, r9
        mov     r10, rax
        shl     r10, 6
        add     r10, rdi
        add     rax, r9
        mov     ecx, 0
        cmp     rax, r8
        cmove   rax, rcx
        mov     ecx, r9d
        and     ecx, 3                  # lines that do not fill a block of four
        jz      3f
2:      lb_stream_line_of 0, \bytes, \load, \vector
        add     r10, 64
        dec     ecx
        jnz     2b
3:      shr     r9, 2                   # blocks of four
        jz      5f
        .p2align 6
4:      lb_stream_line_of 0, \bytes, \load, \vector
        lb_stream_line_of 1, \bytes, \load, \vector
        lb_stream_line_of 2, \bytes, \load, \vector
        lb_stream_line_of 3, \bytes, \load, \vector
        add     r10, 4 * 64
        dec     r9
        jnz     4b
5:      test    rsi, rsi
        jnz     1b
        \cleanup
6:      ret
        lb_end  lb_stream_whole\bytes
.endm

.macro lb_stream_line_of line, bytes, load, vector
        .set    .Llb_stream_byte, 0
        .rept   64 / \bytes
        \load   \vector, [r10 + \line * 64 + .Llb_stream_byte]
        .set    .Llb_stream_byte, .Llb_stream_byte + \bytes
        .endr
.endm

# Upper halves of registers that stay in use would slow SSE instructions down later.
lb_stream_whole 16, movdqa, xmm0
lb_stream_whole 32, vmovdqa, ymm0, vzeroupper
lb_stream_whole 64, vmovdqa64, zmm0, vzeroupper

# ---------------------------------------------------------------------------
# Updates: every line is loaded, and one of every `every` lines is stored to.
#
#   state  number of lines since the last stored line, below `every`; zero at first
#
#   for each line:  value = the first two words of 8 bytes
#                   if (++state == every)  store value + 1 to each, state = 0
#
# The code processes groups of twelve lines, a multiple of each value of `every`,
# with fixed stores; it counts the lines before and after the groups.

.macro lb_stream_update name, every
        lb_begin \name, lb_stream
        pcmpeqd xmm4, xmm4              # -1 in each word
        mov     rax, rcx
1:      test    eax, eax
        jnz     2f
        cmp     rsi, 12
        jae     3f
2:      sub     rsi, 1
        jb      4f
        lb_stream_load 0
        add     rdi, 64
        inc     eax
        cmp     eax, \every
        jne     1b
        psubq   xmm0, xmm4
        movdqa  [rdi - 64], xmm0
        xor     eax, eax
        jmp     1b
        .p2align 6
3:      .set    .Llb_stream_line, 0
        .rept   12
        lb_stream_load .Llb_stream_line
        .set    .Llb_stream_line, .Llb_stream_line + 1
        .if     .Llb_stream_line % \every == 0
        psubq   xmm0, xmm4
        movdqa  [rdi + .Llb_stream_line * 64 - 64], xmm0
        .endif
        .endr
        add     rdi, 12 * 64
        sub     rsi, 12
        cmp     rsi, 12
        jae     3b
        jmp     2b
4:      ret
        lb_end  \name
.endm

# ---------------------------------------------------------------------------
# Writes: all 64 bytes of each line are written, by stores that leave the line
# in the caches or by stores that bypass the caches. A fence follows the second
# kind, so that the stores of a call are complete when it returns.
#
#   state  a number, one more after each line
#
#   for each line:  all eight words = state++

.macro lb_stream_stores name, store, fence:vararg
        lb_begin \name, lb_stream
        lea     rax, [rcx + rsi]
        pcmpeqd xmm4, xmm4              # -1 in each word
        movq    xmm0, rcx
        punpcklqdq xmm0, xmm0
        test    rsi, rsi
        jz      2f
        .p2align 4
1:      \store  [rdi], xmm0
        \store  [rdi + 16], xmm0
        \store  [rdi + 32], xmm0
        \store  [rdi + 48], xmm0
        psubq   xmm0, xmm4
        add     rdi, 64
        dec     rsi
        jnz     1b
2:      \fence                          # no later store overtakes the lines, above all the count of lines
        ret
        lb_end  \name
.endm

lb_stream_stores lb_stream_write, movdqa
lb_stream_stores lb_stream_ntwrite, movntdq, sfence

# ---------------------------------------------------------------------------
# Copies: each line of `from` is loaded and stored to its place in `to`. The
# state is added to each word, because the source never changes, but each store
# has to change the copy.
#
#   state  a number, one more after each line
#
#   for each line:  each word of `to` = the word of `from` + state;  state++

.macro lb_stream_copies name, store, fence:vararg
        lb_begin \name, lb_stream
        lea     rax, [rcx + rsi]
        movq    xmm4, rcx
        punpcklqdq xmm4, xmm4
        sub     rdx, rdi                # only one address is advanced, for both lines
        test    rsi, rsi
        jz      2f
        .p2align 4
1:      movdqa  xmm0, [rdi]
        movdqa  xmm1, [rdi + 16]
        movdqa  xmm2, [rdi + 32]
        movdqa  xmm3, [rdi + 48]
        paddq   xmm0, xmm4
        paddq   xmm1, xmm4
        paddq   xmm2, xmm4
        paddq   xmm3, xmm4
        \store  [rdi + rdx], xmm0
        \store  [rdi + rdx + 16], xmm1
        \store  [rdi + rdx + 32], xmm2
        \store  [rdi + rdx + 48], xmm3
        pcmpeqd xmm0, xmm0              # -1 in each word
        psubq   xmm4, xmm0
        add     rdi, 64
        dec     rsi
        jnz     1b
2:      \fence                          # as for the writes
        ret
        lb_end  \name
.endm

lb_stream_copies lb_stream_copy, movdqa
lb_stream_copies lb_stream_copynt, movntdq, sfence

# ---------------------------------------------------------------------------
# Random reads: 8 bytes of a line anywhere in the field. The addresses depend
# only on the state, so the loads are independent.
#
#   state  the state of the linear congruential generator of D. Knuth's MMIX
#
#   for each line:  state = state * 6364136223846793005 + 1442695040888963407
#                   load the line with the number  (state * field) >> 64

        lb_begin lb_stream_random, lb_stream
        test    rsi, rsi
        jz      2f
        movabs  r9, 6364136223846793005
        .p2align 4
1:      imul    rcx, r9
        movabs  rax, 1442695040888963407
        add     rcx, rax
        mov     rax, rcx
        mul     r8
        shl     rdx, 6
        mov     rax, [rdi + rdx]
        dec     rsi
        jnz     1b
2:      mov     rax, rcx
        ret
        lb_end  lb_stream_random

# --------------------------------------------------------------------------- Permuted
# reads: 8 bytes of each line of a block, in an order that prefetchers do not follow.
# In a stream, prefetchers would fetch lines ahead of the loads, in bursts that disturb
# the pacing. The order is a function of only the place in the block, so the loads are
# independent, and a walk can stop at any place and continue there later. After `field`
# places, starting at a multiple of `field`, every line has been loaded once.
#
#   field  number of lines of the block, a power of two, at most 32,768
#   to     the block that contains the lines 192 places ahead
#   state  the place: the low bits, modulo `field`, count the lines of this block;
#          bits from 40 on choose the place in the order at which blocks start
#
#   for each line:  x = (place + (state >> 40) * 0x2e4d) * 0x5a95 mod field
#                   x = x ^ x >> half of field's bits;  x = x * 0x64e5 mod field
#                   load the line with the number  x ^ x >> half of field's bits
#                   place++
#
# Each step is a permutation of the numbers below `field`, because both
# multipliers are odd. The shifts mix high bits into low bits: without the
# shifts, the lowest bits of the line numbers would repeat after a few lines,
# and successive lines would have a constant stride.
#
# With each load, the line 192 places ahead is prefetched. A load that waits for memory
# occupies an entry of the reorder buffer and a miss buffer of the first level; there are
# too few of these to keep a memory busy, and a prefetch into the second level does not
# occupy them. So memory receives exactly one request for each counted line, at the time at
# which it is due. GB/s of one core, by lines per call and places ahead (EPYC, 256 MiB,
# where a stream reads 36 GB/s):
#
#                        96   128   192
#   1 line               19    23    24         loads alone, 256 lines   4.7
#   64 lines             20    25    31
.macro lb_stream_line ahead
        lea     r9d, [rax + r11 + \ahead]
        imul    r9d, r9d, 0x5a95
        and     r9d, r8d
        mov     r10d, r9d
        shr     r10d, cl
        xor     r9d, r10d
        imul    r9d, r9d, 0x64e5
        and     r9d, r8d
        mov     r10d, r9d
        shr     r10d, cl
        xor     r9d, r10d
        shl     r9d, 6
.endm

        lb_begin lb_stream_permuted, lb_stream
        mov     rax, rcx
        test    rsi, rsi
        jz      2f
        mov     r11, rcx
        shr     r11, 40
        imul    r11d, r11d, 0x2e4d      # the place at which blocks start
        bsr     rcx, r8
        inc     ecx
        shr     ecx, 1                  # half of field's bits
        dec     r8d                     # mask of field's bits
        .p2align 4
1:      lb_stream_line 192
        prefetcht1 [rdx + r9]
        lb_stream_line 0
        mov     r9, [rdi + r9]
        inc     rax
        dec     rsi
        jnz     1b
2:      ret
        lb_end  lb_stream_permuted
