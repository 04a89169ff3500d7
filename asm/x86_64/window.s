# How far ahead the processor looks: chases with something else between their loads.
#
# Contract of every routine here (System V AMD64):
#   rdi  cursors   array of one address for each lane; each stands on a node, and
#                  holds afterwards where the lane stands
#   rsi  hops      how many loads each lane is to make, exactly; zero is allowed
#   rax  returned  see each family
#   further arguments and what is destroyed: see each family; no stack, no calls

# ---------------------------------------------------------------------------
# Sixteen lanes with dependent work.
#
#   rax  returned  exclusive or of what the work made of every pointer loaded
#   destroys rcx, rdx, rsi, xmm0 to xmm15 and the flags
#
# Each lane in its turn:
#   cursors[lane] = *(u64 *)cursors[lane]
#   digest ^= cursors[lane] + work * 0x9e3779b97f4a7c15
#
# The sum is made one addition of one cycle at a time, each of which waits for
# the one before it and the first for the load. Work on one lane depends on
# nothing of the others: only the room for instructions that wait limits how
# many lanes' loads are under way together. All cursors live in vector
# registers, so that every lane costs alike: four instructions and the work.
#
# The prefetching form asks for the next node as soon as its address is known:
# one lap over the lanes before its load, which then finds it in the cache. A
# prefetch retires without waiting for its line, a load does not.

.macro lb_window_lane vector, work, prefetch
        movq    rax, xmm\vector
        mov     rax, [rax]
        movq    xmm\vector, rax
        .if     \prefetch
        prefetcht0 [rax]
        .endif
        .rept   \work
        add     rax, rcx
        .endr
        xor     rdx, rax
.endm

.macro lb_window_routine name, work, prefetch
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        .irp    lane, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movq    xmm\lane, qword ptr [rdi + \lane * 8]
        .endr
        movabs  rcx, 0x9e3779b97f4a7c15
        xor     edx, edx
        test    rsi, rsi
        jz      2f
        .p2align 6
1:      .irp    lane, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        lb_window_lane \lane, \work, \prefetch
        .endr
        dec     rsi
        jnz     1b
2:      .irp    lane, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
        movq    qword ptr [rdi + \lane * 8], xmm\lane
        .endr
        mov     rax, rdx
        ret
        .size   \name, . - \name
.endm

# ---------------------------------------------------------------------------
# Two lanes with fillers between their loads: the direct test of the reorder buffer.
#
#   rdx  fillers   how many of them stand between two loads, at most 768
#   rax  returned  zero
#   destroys rcx, rdx, rsi, r8 to r11, xmm0 and the flags
#
# While a load waits for memory, everything after it waits to retire. Where the
# other lane's load still finds room behind the fillers, the two misses overlap;
# with more fillers they follow each other, and a hop takes twice as long.
#
# Fillers depend on no load. What runs out first depends on what they need:
#   nop    an entry of the reorder buffer, which some cores share among several
#   lea    that and an integer register each
#   mixed  that and, in turn, an integer register, flags or a vector register,
#          so that the reorder buffer runs out before any of the register files
#
# There is one run of 768 fillers after each load, and a jump into it leaves
# out those that are not wanted: any number of fillers with one routine. The
# jumps always go to the same place and are predicted; each is one instruction
# more between the loads, and at the end of a turn the loop's two instructions.

# One of three instructions of four bytes, by turns.
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
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        mov     rax, [rdi]
        mov     r8, [rdi + 8]
        test    rsi, rsi
        jz      4f
        imul    rdx, rdx, \length
        lea     rcx, [rip + 2f]
        sub     rcx, rdx                # so many fillers before the end of the first run
        lea     r9, [rip + 3f]
        sub     r9, rdx                 # and of the second
        .set    .Llb_reach_turn, 0
        .p2align 6
1:      mov     rax, [rax]
        jmp     rcx
        .rept   768
        \filler
        .endr
2:      mov     r8, [r8]
        jmp     r9
        .rept   768
        \filler
        .endr
3:      dec     rsi
        jnz     1b
4:      mov     [rdi], rax
        mov     [rdi + 8], r8
        xor     eax, eax
        ret
        .size   \name, . - \name
.endm

.pushsection .text.lb_chase, "ax", @progbits

.irp work, 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48
lb_window_routine lb_chase_window_\work, \work, 0
lb_window_routine lb_chase_window_\work\()_prefetch, \work, 1
.endr

lb_reach_routine lb_chase_reach_nop, 1, nop
lb_reach_routine lb_chase_reach_lea, 4, lea r10, [r11 + r11]
lb_reach_routine lb_chase_reach_mixed, 4, lb_reach_mixed

.popsection
.purgem lb_window_lane
.purgem lb_window_routine
.purgem lb_reach_mixed
.purgem lb_reach_routine
