# The chase of chase.s for other data structures, with the code that compilers generate for
# them.
#
# Contract of every routine here (System V AMD64, but see "destroys"):
#   rdi  base      address of the first byte of the buffer
#   rsi  cursor    index of the node at which the chase begins
#   rdx  hops      exact number of loads to make; zero is allowed
#   rcx  length    one more than the largest index; only the checked loop uses it
#   rax  returned  index of the node that the chase reaches after these hops
#   destroys rdx, r8 and the flags; no stack, no other memory, no calls
#
# The remainder runs first, as in chase.s. A hop of several instructions is a
# separate macro, since a macro argument ends with the statement.

.macro lb_variant_routine name, hop
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        mov     rax, rsi
        mov     r8d, edx
        and     r8d, 7                  # hops that do not fill a block of eight
        jz      2f
1:      \hop
        dec     r8d
        jnz     1b
2:      shr     rdx, 3                  # blocks of eight
        jz      9f
        .p2align 6
3:      .rept   8
        \hop
        .endr
        dec     rdx
        jnz     3b
9:      ret
        .size   \name, . - \name
.endm

# The index has four bytes; writing eax clears the upper half of rax.
.macro lb_variant_index4
        mov     eax, [rdi + rax * 4]
.endm

# The compare and the branch are not on the dependent path: they need the
# cursor, but the next load does not wait for them as long as the branch is
# predicted. A cursor that is out of bounds ends the walk immediately, so that
# the proof rejects the walk.
.macro lb_variant_index_checked
        cmp     rax, rcx
        jae     9f
        mov     rax, [rdi + rax * 8]
.endm

# An addressing mode can scale an index by at most eight: a node of 64 bytes
# needs a shift, which is part of the dependent path.
.macro lb_variant_line_index
        shl     rax, 6
        mov     rax, [rdi + rax]
.endm

.macro lb_variant_line_index4
        shl     rax, 6
        mov     eax, [rdi + rax]
.endm

.pushsection .text.lb_chase, "ax", @progbits

# lb_chase_index4: each node holds the next node's index in units of four bytes.
#   cursor = ((u32 *)base)[cursor]
lb_variant_routine lb_chase_index4, lb_variant_index4

# lb_chase_index_checked: as lb_chase_index, with a check of the index.
#   if cursor >= length: stop;  cursor = ((u64 *)base)[cursor]
lb_variant_routine lb_chase_index_checked, lb_variant_index_checked

# lb_chase_line_index: each node of 64 bytes begins with the number of the next
# node.
#   cursor = *(u64 *)(base + cursor * 64)
lb_variant_routine lb_chase_line_index, lb_variant_line_index

# lb_chase_line_index4: as lb_chase_line_index, with an index of four bytes.
#   cursor = *(u32 *)(base + cursor * 64)
lb_variant_routine lb_chase_line_index4, lb_variant_line_index4

.popsection
.purgem lb_variant_routine
.purgem lb_variant_index4
.purgem lb_variant_index_checked
.purgem lb_variant_line_index
.purgem lb_variant_line_index4
