// The chase of chase.s for other data structures, with the code that compilers generate for
// them.
//
// Contract of every routine here (AAPCS64, but see "destroys"):
//   x0   base      address of the first byte of the buffer
//   x1   cursor    index of the node at which the chase begins
//   x2   hops      exact number of loads to make; zero is allowed
//   x3   length    one more than the largest index; only the checked loop uses it
//   x0   returned  index of the node that the chase reaches after these hops
//   destroys x2, x4 to x6 and the flags; no stack, no other memory, no calls
//
// The remainder runs first, as in chase.s. A hop of several instructions is a
// separate macro, since a macro argument ends with the statement.

.macro lb_variant_routine name, hop
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        mov     x4, x0
        mov     x0, x1
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
9:      ret
        .size   \name, . - \name
.endm

// The index has four bytes; writing w0 clears the upper half of x0.
.macro lb_variant_index4
        ldr     w0, [x4, x0, lsl #2]
.endm

// The compare and the branch are not on the dependent path: they need the
// cursor, but the next load does not wait for them as long as the branch is
// predicted. A cursor that is out of bounds ends the walk immediately, so that
// the proof rejects the walk.
.macro lb_variant_index_checked
        cmp     x0, x3
        b.hs    9f
        ldr     x0, [x4, x0, lsl #3]
.endm

// A load scales an index by its own width only: a node of 64 bytes needs an
// addition with a shift, which is part of the dependent path.
.macro lb_variant_line_index
        add     x6, x4, x0, lsl #6
        ldr     x0, [x6]
.endm

.macro lb_variant_line_index4
        add     x6, x4, x0, lsl #6
        ldr     w0, [x6]
.endm

.pushsection .text.lb_chase, "ax", @progbits

// lb_chase_index4: each node holds the next node's index in units of four bytes.
//   cursor = ((u32 *)base)[cursor]
lb_variant_routine lb_chase_index4, lb_variant_index4

// lb_chase_index_checked: as lb_chase_index, with a check of the index.
//   if cursor >= length: stop;  cursor = ((u64 *)base)[cursor]
lb_variant_routine lb_chase_index_checked, lb_variant_index_checked

// lb_chase_line_index: each node of 64 bytes begins with the number of the next
// node.
//   cursor = *(u64 *)(base + cursor * 64)
lb_variant_routine lb_chase_line_index, lb_variant_line_index

// lb_chase_line_index4: as lb_chase_line_index, with an index of four bytes.
//   cursor = *(u32 *)(base + cursor * 64)
lb_variant_routine lb_chase_line_index4, lb_variant_line_index4

.popsection
.purgem lb_variant_routine
.purgem lb_variant_index4
.purgem lb_variant_index_checked
.purgem lb_variant_line_index
.purgem lb_variant_line_index4
