# Chases with other instructions between their loads, which measure how far ahead the processor
# looks.
#
# Contract of every routine here (System V AMD64):
#   rdi  cursors   array with the address of a node for each lane; afterwards it
#                  holds the addresses of the nodes that the lanes have reached
#   rsi  hops      exact number of loads of each lane; zero is allowed
#   rax  returned  see each family
#   further arguments and destroyed registers: see each family

# ---------------------------------------------------------------------------
# Sixteen lanes with dependent work.
#
#   rax  returned  exclusive or of all loaded pointers, each after the work on it
#   destroys rcx, rdx, rsi, rdi, r8 and the flags; no stack
#
# For each lane in turn:
#   cursors[lane] = *(u64 *)cursors[lane]
#   digest ^= work == 0 ? cursors[lane] : (u32)cursors[lane] + work * (u32)0x9e3779b9
#
# A unit of work is one addition, which has two bytes and takes one cycle. Each
# addition depends on the one before it, and the first depends on the load. The work of
# a lane does not depend on other lanes: only the space for waiting instructions limits
# the number of lanes with loads in flight at the same time. All cursors are in the
# array, so that every lane has the same cost: with two lanes written out, five
# instructions and the work.
#
# There is a routine for each amount of work. A single routine would jump over the
# superfluous additions, and with little work these jumps cost time. Core cycles per
# load in the first-level cache, without work, on Golden Cove:
#   one routine, one lane written out   3.2    all lanes written out   2.4
#   these routines                      1.3
#
# The prefetching form prefetches the next node as soon as its address is known:
# one round of all lanes before its load, which then finds the node in the
# cache. A prefetch retires without waiting for its line, whereas a load waits.

.macro lb_window_hop place, work, prefetch
        mov     rdx, [rdi + r8 + \place * 8]
        mov     rdx, [rdx]
        mov     [rdi + r8 + \place * 8], rdx
        .if     \prefetch
        prefetcht0 [rdx]
        .endif
        .rept   \work
        add     edx, ecx
        .endr
        xor     rax, rdx
.endm

.macro lb_window_routine name, work, prefetch
        lb_begin \name, lb_chase, 5
        xor     eax, eax                # digest
        test    rsi, rsi
        jz      3f
        mov     ecx, 0x9e3779b9
        sub     rdi, -128               # the end of the array: the lane offset counts up to zero
1:      mov     r8, -128
        .p2align 5
2:      lb_window_hop 0, \work, \prefetch
        lb_window_hop 1, \work, \prefetch
        add     r8, 16
        jnz     2b
        dec     rsi
        jnz     1b
3:      ret
        lb_end  \name
.endm

# ---------------------------------------------------------------------------
# Two lanes with fillers between their loads: the direct test of the reorder buffer.
#
#   rdx  fillers   number of fillers between two loads, at most 768
#   rax  returned  zero
#   destroys rcx, rdx, rsi, r8 to r10, xmm0 and the flags; no stack
#
# While a load waits for memory, all later instructions wait to retire. If the
# other lane's load still fits in the reorder buffer after the fillers, the two
# misses overlap; with more fillers, one miss follows the other, and a hop takes
# twice as long.
#
# Fillers do not depend on a load. Their kind decides which resource runs out
# first:
#   nop    an entry of the reorder buffer, which some cores share among several
#   lea    an entry and an integer register
#   mixed  an entry and, in rotation, an integer register, flags or a vector register,
#          so that the reorder buffer runs out before any of the register files
#
# A jump into the run of 768 fillers skips the superfluous ones. The jump always
# has the same target and is predicted. One run serves both lanes, which change
# places after each load: in addition to the fillers, there are five
# instructions between two loads.

# One of three instructions of four bytes, in rotation.
.macro lb_reach_mixed
        .if     .Llb_reach_turn == 0
        lea     r10, [r11 + r11]
        .elseif .Llb_reach_turn == 1
        cmp     r11, 1
        .else
        paddd   xmm0, xmm1
        .endif
        .set    .Llb_reach_turn, (.Llb_reach_turn + 1) % 3
.endm

# `length`: bytes of one filler.
.macro lb_reach_routine name, length, filler:vararg
        lb_begin \name
        mov     rax, [rdi]
        mov     r8, [rdi + 8]
        add     rsi, rsi                # each turn makes one load of one lane
        jz      3f
        imul    rdx, rdx, \length
        lea     rcx, [rip + 2f]
        sub     rcx, rdx                # the jump target: this number of fillers before the end of the run
        .set    .Llb_reach_turn, 0
        .p2align 6
1:      mov     r9, [rax]
        mov     rax, r8
        mov     r8, r9
        jmp     rcx
        .rept   768
        \filler
        .endr
2:      dec     rsi
        jnz     1b
3:      mov     [rdi], rax
        mov     [rdi + 8], r8
        xor     eax, eax
        ret
        lb_end  \name
.endm

lb_reach_routine lb_chase_reach_nop, 1, nop
lb_reach_routine lb_chase_reach_integer, 4, lea r10, [r11 + r11]
lb_reach_routine lb_chase_reach_mixed, 4, lb_reach_mixed
