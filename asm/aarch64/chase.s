// The chase loops: one dependent load per hop, unrolled eight times; and the same loop with independent loads.
//
// Contract of every chase here (AAPCS64, but see "destroys"):
//   x0   base      address of the first byte of the buffer
//   x1   cursor    node at which the chase begins: an address or an index, see each routine
//   x2   hops      exact number of loads to make; zero is allowed
//   x3   length    one more than the largest index; only the checked loop uses it
//   x0   returned  node that the chase reaches after these hops
//   destroys x2, x4 to x6 and the flags; no stack, no other memory, no calls
//
// The remainder runs before the unrolled part, so that the timed window ends with
// the unrolled loop, which the branch predictor has learned. The loop counter
// does not depend on the loads, so their latency hides it.
//
// All routines with names that begin with lb_chase are in one section: profilers
// and the emulator's latency model find the timed loads by this address range.

// A hop may end the walk by a jump to 9.
.macro lb_chase_hops hop
        ands    x5, x2, #7              // hops that do not fill a block of eight
        b.eq    2f
1:      \hop
        subs    x5, x5, #1
        b.ne    1b
2:      lsr     x2, x2, #3              // blocks of eight
        cbz     x2, 9f
        .p2align 6
3:      .rept   8
        \hop
        .endr
        subs    x2, x2, #1
        b.ne    3b
9:
.endm

.macro lb_chase_routine name, hop
        lb_begin \name
        mov     x4, x0
        mov     x0, x1
        lb_chase_hops "\hop"
        ret
        lb_end  \name
.endm

// lb_chase_pointer: each node holds the address of the next node.
//   cursor = *(u64 *)cursor
lb_chase_routine lb_chase_pointer, "ldr x0, [x0]"

// lb_chase_index: each node holds the next node's index in units of eight bytes.
//   cursor = ((u64 *)base)[cursor]
lb_chase_routine lb_chase_index, "ldr x0, [x4, x0, lsl #3]"

// The other routines have the code that compilers generate for other data structures.
//
// lb_chase_index4: each node holds the next node's index in units of four bytes;
// writing w0 clears the upper half of x0.
//   cursor = ((u32 *)base)[cursor]
lb_chase_routine lb_chase_index4, "ldr w0, [x4, x0, lsl #2]"

// lb_chase_index_checked: as lb_chase_index, with a check of the index.
//   if cursor >= length: stop;  cursor = ((u64 *)base)[cursor]
// The compare and the branch are not on the dependent path: they need the
// cursor, but the next load does not wait for them as long as the branch is
// predicted. A cursor that is out of bounds ends the walk immediately, so that
// the proof rejects the walk.
lb_chase_routine lb_chase_index_checked, "cmp x0, x3; b.hs 9f; ldr x0, [x4, x0, lsl #3]"

// lb_chase_line_index: each node of 64 bytes begins with the number of the next
// node.
//   cursor = *(u64 *)(base + cursor * 64)
// A load scales an index by its own width only: a node of 64 bytes needs an
// addition with a shift, which is part of the dependent path.
lb_chase_routine lb_chase_line_index, "add x6, x4, x0, lsl #6; ldr x0, [x6]"

// lb_chase_line_index4: as lb_chase_line_index, with an index of four bytes.
//   cursor = *(u32 *)(base + cursor * 64)
lb_chase_routine lb_chase_line_index4, "add x6, x4, x0, lsl #6; ldr w0, [x6]"

// lb_chase_strided: loads with addresses that are known in advance, the cost of a walk with independent loads.
//   x0   base      address of the first word
//   x1   stride    bytes from one word to the next
//   x2   loads     exact number of words of eight bytes to load; zero is allowed
//   x0   returned  wrapping sum of the words, which proves the loads
//   destroys x2 to x5 and the flags; no stack, no calls
//
//   for (i = 0; i < loads; i++)  sum += *(u64 *)(base + i * stride)
//
// The address is advanced after each load, so that the loads are issued in
// address order, which prefetchers follow. The sum and the address each need one
// cycle per load, which limits the rate only in the first-level cache.
        lb_begin lb_chase_strided
        mov     x3, #0
        lb_chase_hops "ldr x4, [x0]; add x3, x3, x4; add x0, x0, x1"
        mov     x0, x3
        ret
        lb_end  lb_chase_strided
