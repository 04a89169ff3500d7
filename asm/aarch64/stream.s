// Traffic: walks over lines of 64 bytes with independent loads, to keep a memory busy.
//
// Contract of every routine here (AAPCS64):
//   x0   from      address of the first line, aligned to 64 bytes
//   x1   lines     exact number of lines to touch; zero is allowed
//   x2   to        address of the first line of the copy; the copies and lb_stream_permuted use it
//   x3   state     the value that the last call returned; see each family
//   x4   field     lines to choose from; lb_stream_whole16, lb_stream_random and lb_stream_permuted use it
//   x0   returned  the state after these lines
//   destroys x1 to x11, v0 to v5 and the flags; no stack, no calls
//
// Lines follow each other in ascending order, unless the description of a family differs. Every store changes
// the words that it overwrites, because some processors do not write back a line that a store has not changed.
// Only NEON is used, which every processor has. A call for one line, which pacing makes, skips the large loops.

// Reads and updates load 16 bytes from each half of every line. Memory transfers
// the whole line for any of these loads. Four loads would occupy entries of the
// load queue that loads of other lines could use, and with only one load the
// prefetchers are less active.

.macro lb_stream_load line
        ldr     q0, [x0, #\line * 64]
        ldr     q1, [x0, #\line * 64 + 32]
.endm

// ---------------------------------------------------------------------------
// Reads.
//
//   state  returned unchanged

        lb_begin lb_stream_read, lb_stream
        ands    x5, x1, #3              // lines that do not fill a block of four
        b.eq    2f
1:      lb_stream_load 0
        add     x0, x0, #64
        subs    x5, x5, #1
        b.ne    1b
2:      lsr     x1, x1, #2              // blocks of four
        cbz     x1, 4f
        .p2align 6
3:      lb_stream_load 0
        lb_stream_load 1
        lb_stream_load 2
        lb_stream_load 3
        add     x0, x0, #4 * 64
        subs    x1, x1, #1
        b.ne    3b
4:      mov     x0, x3
        ret
        lb_end  lb_stream_read

// ---------------------------------------------------------------------------
// Whole reads: every byte of each line. A cache delivers what is loaded: with 32
// bytes of each line it would seem to deliver more than it does. The walk over the
// field starts again within a call, since a pass over a small field lasts less than
// a call.
//
//   field  number of lines of the field, at least one
//   state  the place of the next line, below `field`
//
//   for each line:  load the line with the number `place`;  if (++place == field)  place = 0

.macro lb_stream_line_of line
        ldp     q0, q1, [x6, #\line * 64]
        ldp     q2, q3, [x6, #\line * 64 + 32]
.endm

        lb_begin lb_stream_whole16, lb_stream
        cbz     x1, 6f
1:      sub     x5, x4, x3
        cmp     x5, x1
        csel    x5, x5, x1, lo          // lines until the field or the call ends
        sub     x1, x1, x5
        add     x6, x0, x3, lsl #6
        add     x3, x3, x5
        cmp     x3, x4
        csel    x3, xzr, x3, eq
        ands    x7, x5, #3              // lines that do not fill a block of four
        b.eq    3f
2:      lb_stream_line_of 0
        add     x6, x6, #64
        subs    x7, x7, #1
        b.ne    2b
3:      lsr     x5, x5, #2              // blocks of four
        cbz     x5, 5f
        .p2align 6
4:      lb_stream_line_of 0
        lb_stream_line_of 1
        lb_stream_line_of 2
        lb_stream_line_of 3
        add     x6, x6, #4 * 64
        subs    x5, x5, #1
        b.ne    4b
5:      cbnz    x1, 1b
6:      mov     x0, x3
        ret
        lb_end  lb_stream_whole16

// ---------------------------------------------------------------------------
// Updates: every line is loaded, and one of every `every` lines is stored to.
//
//   state  number of lines since the last stored line, below `every`; zero at first
//
//   for each line:  value = the first two words of 8 bytes
//                   if (++state == every)  store value + 1 to each, state = 0
//
// The code processes groups of twelve lines, a multiple of each value of `every`,
// with fixed stores; it counts the lines before and after the groups.

.macro lb_stream_update name, every
        lb_begin \name, lb_stream
        movi    v4.2d, #0xffffffffffffffff      // -1 in each word
1:      cbnz    x3, 2f
        cmp     x1, #12
        b.hs    3f
2:      subs    x1, x1, #1
        b.lo    4f
        lb_stream_load 0
        add     x0, x0, #64
        add     x3, x3, #1
        cmp     x3, #\every
        b.ne    1b
        sub     v0.2d, v0.2d, v4.2d
        stur    q0, [x0, #-64]
        mov     x3, #0
        b       1b
        .p2align 6
3:      .set    .Llb_stream_line, 0
        .rept   12
        lb_stream_load .Llb_stream_line
        .set    .Llb_stream_line, .Llb_stream_line + 1
        .if     .Llb_stream_line % \every == 0
        sub     v0.2d, v0.2d, v4.2d
        str     q0, [x0, #.Llb_stream_line * 64 - 64]
        .endif
        .endr
        add     x0, x0, #12 * 64
        sub     x1, x1, #12
        cmp     x1, #12
        b.hs    3b
        b       2b
4:      mov     x0, x3
        ret
        lb_end  \name
.endm

// ---------------------------------------------------------------------------
// Writes: all 64 bytes of each line are written, by ordinary stores or by stores
// with the hint that the line is not needed soon (STNP), which the processor may
// ignore.
//
//   state  a number, one more after each line
//
//   for each line:  all eight words = state++
//
// DMB ISHST, after the stores with the hint: other cores see the lines of a call before
// any store that follows the call, above all the caller's count of lines. Without the
// hint, stores wait in the core's own caches, and their count does not tell the traffic
// of memory anyway.

.macro lb_stream_stores name, store, fence:vararg
        lb_begin \name, lb_stream
        dup     v0.2d, x3
        movi    v4.2d, #0xffffffffffffffff      // -1 in each word
        add     x3, x3, x1
        cbz     x1, 2f
        .p2align 4
1:      \store  q0, q0, [x0]
        \store  q0, q0, [x0, #32]
        sub     v0.2d, v0.2d, v4.2d
        add     x0, x0, #64
        subs    x1, x1, #1
        b.ne    1b
2:      \fence                          // no later store overtakes the lines, above all the count of lines
        mov     x0, x3
        ret
        lb_end  \name
.endm

lb_stream_stores lb_stream_write, stp
lb_stream_stores lb_stream_ntwrite, stnp, dmb ishst

// ---------------------------------------------------------------------------
// Copies: each line of `from` is loaded and stored to its place in `to`. The
// state is added to each word, because the source never changes, but each store
// has to change the copy. The barrier is that of the writes.
//
//   state  a number, one more after each line
//
//   for each line:  each word of `to` = the word of `from` + state;  state++

.macro lb_stream_copies name, store, fence:vararg
        lb_begin \name, lb_stream
        dup     v4.2d, x3
        movi    v5.2d, #0xffffffffffffffff      // -1 in each word
        add     x3, x3, x1
        cbz     x1, 2f
        .p2align 4
1:      ldp     q0, q1, [x0]
        ldp     q2, q3, [x0, #32]
        add     v0.2d, v0.2d, v4.2d
        add     v1.2d, v1.2d, v4.2d
        add     v2.2d, v2.2d, v4.2d
        add     v3.2d, v3.2d, v4.2d
        \store  q0, q1, [x2]
        \store  q2, q3, [x2, #32]
        sub     v4.2d, v4.2d, v5.2d
        add     x0, x0, #64
        add     x2, x2, #64
        subs    x1, x1, #1
        b.ne    1b
2:      \fence                          // as for the writes
        mov     x0, x3
        ret
        lb_end  \name
.endm

lb_stream_copies lb_stream_copy, stp
lb_stream_copies lb_stream_copynt, stnp, dmb ishst

// ---------------------------------------------------------------------------
// Random reads: 8 bytes of a line anywhere in the field. The addresses depend
// only on the state, so the loads are independent.
//
//   state  the state of the linear congruential generator of D. Knuth's MMIX
//
//   for each line:  state = state * 6364136223846793005 + 1442695040888963407
//                   load the line with the number  (state * field) >> 64

.macro lb_stream_constant register, third, second, first, zeroth
        mov     \register, #\zeroth
        movk    \register, #\first, lsl #16
        movk    \register, #\second, lsl #32
        movk    \register, #\third, lsl #48
.endm

        lb_begin lb_stream_random, lb_stream
        cbz     x1, 2f
        lb_stream_constant x5, 0x5851, 0xf42d, 0x4c95, 0x7f2d
        lb_stream_constant x6, 0x1405, 0x7b7e, 0xf767, 0x814f
        .p2align 4
1:      madd    x3, x3, x5, x6
        umulh   x7, x3, x4
        add     x7, x0, x7, lsl #6
        ldr     x7, [x7]
        subs    x1, x1, #1
        b.ne    1b
2:      mov     x0, x3
        ret
        lb_end  lb_stream_random

// --------------------------------------------------------------------------- Permuted
// reads: 8 bytes of each line of a block, in an order that prefetchers do not follow.
// In a stream, prefetchers would fetch lines ahead of the loads, in bursts that disturb
// the pacing. The order is a function of only the place in the block, so the loads are
// independent, and a walk can stop at any place and continue there later. After `field`
// places, starting at a multiple of `field`, every line has been loaded once.
//
//   field  number of lines of the block, a power of two, at most 32,768
//   to     the block that contains the lines 192 places ahead
//   state  the place: the low bits, modulo `field`, count the lines of this block;
//          bits from 40 on choose the place in the order at which blocks start
//
//   for each line:  x = (place + (state >> 40) * 0x2e4d) * 0x5a95 mod field
//                   x = x ^ x >> half of field's bits;  x = x * 0x64e5 mod field
//                   load the line with the number  x ^ x >> half of field's bits
//                   place++
//
// Each step is a permutation of the numbers below `field`, because both
// multipliers are odd. The shifts mix high bits into low bits: without the
// shifts, the lowest bits of the line numbers would repeat after a few lines,
// and successive lines would have a constant stride.
//
// With each load, the line 192 places ahead is prefetched. A load that waits for memory
// occupies an entry of the reorder buffer and a miss buffer of the first level; there are
// too few of these to keep a memory busy, and a prefetch into the second level does not
// occupy them. So memory receives exactly one request for each counted line, at the time at
// which it is due.
.macro lb_stream_line ahead
        add     w10, w3, w5
        .if     \ahead
        add     w10, w10, #\ahead
        .endif
        mul     w10, w10, w7
        and     w10, w10, w4
        lsr     w11, w10, w6
        eor     w10, w10, w11
        mul     w10, w10, w8
        and     w10, w10, w4
        lsr     w11, w10, w6
        eor     w10, w10, w11
.endm

        lb_begin lb_stream_permuted, lb_stream
        cbz     x1, 2f
        lsr     x5, x3, #40
        mov     w6, #0x2e4d
        mul     w5, w5, w6              // the place at which blocks start
        clz     x6, x4
        mov     w7, #64
        sub     w6, w7, w6
        lsr     w6, w6, #1              // half of field's bits
        sub     w4, w4, #1              // mask of field's bits
        mov     w7, #0x5a95
        mov     w8, #0x64e5
        .p2align 4
1:      lb_stream_line 192
        add     x10, x2, x10, lsl #6
        prfm    pldl2keep, [x10]
        lb_stream_line 0
        add     x10, x0, x10, lsl #6
        ldr     x10, [x10]
        add     x3, x3, #1
        subs    x1, x1, #1
        b.ne    1b
2:      mov     x0, x3
        ret
        lb_end  lb_stream_permuted
