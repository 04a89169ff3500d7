# The chase loops: one dependent load per hop, unrolled eight times; and the same loop with independent loads.
#
# Contract of every chase here (System V AMD64, but see "destroys"):
#   rdi  base      address of the first byte of the buffer
#   rsi  cursor    node at which the chase begins: an address or an index, see each routine
#   rdx  hops      exact number of loads to make; zero is allowed
#   rcx  length    one more than the largest index; only the checked loop uses it
#   rax  returned  node that the chase reaches after these hops
#   destroys rcx, rdx, r8 and the flags; no stack, no other memory, no calls
#
# The remainder runs before the unrolled part, so that the timed window ends with
# the unrolled loop, which the branch predictor has learned. The loop counter
# does not depend on the loads, so their latency hides it.
#
# All routines with names that begin with lb_chase are in one section: profilers
# and the emulator's latency model find the timed loads by this address range.

# `counter` counts the hops that do not fill a block; a hop may end the walk by a jump to 9.
.macro lb_chase_hops counter, hop
        mov     \counter, edx
        and     \counter, 7             # hops that do not fill a block of eight
        jz      2f
1:      \hop
        dec     \counter
        jnz     1b
2:      shr     rdx, 3                  # blocks of eight
        jz      9f
        .p2align 6
3:      .rept   8
        \hop
        .endr
        dec     rdx
        jnz     3b
9:
.endm

.macro lb_chase_routine name, counter, hop
        lb_begin \name
        mov     rax, rsi
        lb_chase_hops \counter, "\hop"
        ret
        lb_end  \name
.endm

# lb_chase_pointer: each node holds the address of the next node.
#   cursor = *(u64 *)cursor
lb_chase_routine lb_chase_pointer, ecx, "mov rax, [rax]"

# lb_chase_index: each node holds the next node's index in units of eight bytes.
#   cursor = ((u64 *)base)[cursor]
lb_chase_routine lb_chase_index, ecx, "mov rax, [rdi + rax * 8]"

# The other routines have the code that compilers generate for other data structures.
#
# lb_chase_index4: each node holds the next node's index in units of four bytes;
# writing eax clears the upper half of rax.
#   cursor = ((u32 *)base)[cursor]
lb_chase_routine lb_chase_index4, r8d, "mov eax, [rdi + rax * 4]"

# lb_chase_index_checked: as lb_chase_index, with a check of the index.
#   if cursor >= length: stop;  cursor = ((u64 *)base)[cursor]
# The compare and the branch are not on the dependent path: they need the
# cursor, but the next load does not wait for them as long as the branch is
# predicted. A cursor that is out of bounds ends the walk immediately, so that
# the proof rejects the walk.
lb_chase_routine lb_chase_index_checked, r8d, "cmp rax, rcx; jae 9f; mov rax, [rdi + rax * 8]"

# lb_chase_line_index: each node of 64 bytes begins with the number of the next
# node.
#   cursor = *(u64 *)(base + cursor * 64)
# An addressing mode can scale an index by at most eight: a node of 64 bytes
# needs a shift, which is part of the dependent path.
lb_chase_routine lb_chase_line_index, r8d, "shl rax, 6; mov rax, [rdi + rax]"

# lb_chase_line_index4: as lb_chase_line_index, with an index of four bytes.
#   cursor = *(u32 *)(base + cursor * 64)
lb_chase_routine lb_chase_line_index4, r8d, "shl rax, 6; mov eax, [rdi + rax]"

# lb_chase_strided: loads with addresses that are known in advance, the cost of a walk with independent loads.
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
        lb_begin lb_chase_strided
        xor     eax, eax
        lb_chase_hops ecx, "add rax, [rdi]; add rdi, rsi"
        ret
        lb_end  lb_chase_strided
