# Several independent chases side by side, with one load in flight for each lane.
#
# Contract of every routine here (System V AMD64):
#   rdi  cursors   array with the address of a node for each lane; afterwards it
#                  holds the addresses of the nodes that the lanes have reached
#   rsi  hops      exact number of loads of each lane; zero is allowed
#   rdx  more      number of lanes in addition to the twelve in registers, at most 52; only the last routine uses it
#   rax  returned  zero
#   destroys rcx, rdx, rsi, rdi, r8 to r11 and the flags; 72 bytes of stack
#
# For each lane, independently:  cursors[lane] = *(u64 *)cursors[lane]
#
# Up to fourteen cursors are in general registers, which adds no cost. From
# sixteen lanes on, only twelve cursors are in registers; the others stay in the
# array, where the load of a cursor depends on its store. With twelve other
# lanes this delay is hidden, and vector registers are not faster. Core cycles
# per load for sixteen lanes on Zen 4, with twelve in general registers:
#                                second level   third level   memory
#   four in the array                 1.99          4.03       36.5
#   four in vector registers          2.05          4.38       37.5
# The two moves between the register files take seven cycles, and an access to
# the first-level cache five.

# Applies `operation` to each of the first `count` cursors in registers: its register, the array and its
# offset there.
.macro lb_parallel_lanes operation, count, array
        .set    .Llb_parallel_lane, 0
        .irp    register, rbx, rcx, rdx, rbp, r8, r9, r10, r11, r12, r13, r14, r15, rdi, rax
        .if     .Llb_parallel_lane < \count
        \operation \register, \array, .Llb_parallel_lane * 8
        .endif
        .set    .Llb_parallel_lane, .Llb_parallel_lane + 1
        .endr
.endm

.macro lb_parallel_fetch register, array, offset
        mov     \register, [\array + \offset]
.endm

.macro lb_parallel_hop register, array, offset
        mov     \register, [\register]
.endm

.macro lb_parallel_keep register, array, offset
        mov     [\array + \offset], \register
.endm

.macro lb_parallel_enter name
        .p2align 6
        .globl  \name
        .type   \name, @function
\name:
        push    rbx
        push    rbp
        push    r12
        push    r13
        push    r14
        push    r15
.endm

.macro lb_parallel_leave name
        xor     eax, eax
        pop     r15
        pop     r14
        pop     r13
        pop     r12
        pop     rbp
        pop     rbx
        ret
        .size   \name, . - \name
.endm

# Up to fourteen lanes. A turn of the loop has `unroll` rounds, a power of two,
# with at least eight loads in total, as in chase.s; the rounds that do not fill
# a turn come first.
.macro lb_parallel_in_registers name, lanes, unroll
        lb_parallel_enter \name
        push    rdi
        push    rsi
        mov     rsi, rdi                # every other register will hold a cursor
        lb_parallel_lanes lb_parallel_fetch, \lanes, rsi
        pop     rsi
        .if     \unroll > 1
        test    esi, \unroll - 1
        jz      2f
1:      lb_parallel_lanes lb_parallel_hop, \lanes, none
        dec     rsi
        test    esi, \unroll - 1
        jnz     1b
        .endif
2:      test    rsi, rsi
        jz      4f
        .p2align 6
3:      .rept   \unroll
        lb_parallel_lanes lb_parallel_hop, \lanes, none
        .endr
        sub     rsi, \unroll
        jnz     3b
4:      pop     rsi
        lb_parallel_lanes lb_parallel_keep, \lanes, rsi
        lb_parallel_leave \name
.endm

# Thirteen lanes and more: the lanes without a register use rax in turn. A jump
# to the first lane that is needed skips the others. The jump always has the
# same target and is predicted. The base is moved by an offset that does not fit
# in a byte, so that the instructions of each of these lanes have 17 bytes.
.macro lb_parallel_in_memory name, most
        lb_parallel_enter \name
        lea     rax, [rip + 2f]
        imul    rdx, rdx, 17
        sub     rax, rdx                # the jump target: this number of lanes before the end of the run
        push    rax                     # every register except rsp will be in use
        lb_parallel_lanes lb_parallel_fetch, 12, rdi
        test    rsi, rsi
        jz      3f
        sub     rdi, 1024
        .p2align 6
1:      lb_parallel_lanes lb_parallel_hop, 12, none
        jmp     [rsp]
        .set    .Llb_parallel_lane, \most
        .rept   \most - 12
        .set    .Llb_parallel_lane, .Llb_parallel_lane - 1
        mov     rax, [rdi + 1024 + .Llb_parallel_lane * 8]
        mov     rax, [rax]
        mov     [rdi + 1024 + .Llb_parallel_lane * 8], rax
        .endr
2:      dec     rsi
        jnz     1b
        add     rdi, 1024
3:      pop     rax
        lb_parallel_lanes lb_parallel_keep, 12, rdi
        lb_parallel_leave \name
.endm

.pushsection .text.lb_chase, "ax", @progbits

lb_parallel_in_registers lb_chase_parallel_1, 1, 8
lb_parallel_in_registers lb_chase_parallel_2, 2, 4
lb_parallel_in_registers lb_chase_parallel_3, 3, 4
lb_parallel_in_registers lb_chase_parallel_4, 4, 2
lb_parallel_in_registers lb_chase_parallel_6, 6, 2
lb_parallel_in_registers lb_chase_parallel_8, 8, 1
lb_parallel_in_registers lb_chase_parallel_10, 10, 1
lb_parallel_in_registers lb_chase_parallel_12, 12, 1
lb_parallel_in_registers lb_chase_parallel_14, 14, 1
lb_parallel_in_memory lb_chase_parallel_more, 64

.popsection
.purgem lb_parallel_lanes
.purgem lb_parallel_fetch
.purgem lb_parallel_hop
.purgem lb_parallel_keep
.purgem lb_parallel_enter
.purgem lb_parallel_leave
.purgem lb_parallel_in_registers
.purgem lb_parallel_in_memory
