# Several independent chases side by side: as many loads in flight as there are lanes.
#
# Contract of every routine here (System V AMD64):
#   rdi  cursors   array of one address for each lane, of a node; afterwards it
#                  holds the nodes that the lanes have reached
#   rsi  hops      exact number of loads of each lane; zero is allowed
#   rdx  more      number of lanes beside the twelve in registers, at most 52; only the last routine uses it
#   rax  returned  zero
#   destroys rcx, rdx, rsi, rdi, r8 to r11 and the flags; 72 bytes of stack
#
# Each lane by itself:  cursors[lane] = *(u64 *)cursors[lane]
#
# Up to fourteen cursors live in general registers and cost nothing. From
# sixteen lanes on only twelve do; the others stay in the array, where the load
# of a cursor has to wait for its store. With twelve other lanes this does
# not show, and vector registers are not better. Sixteen lanes on Zen 4, where
# twelve are in general registers, core cycles a load:
#                                second level   third level   memory
#   four in the array                 1.99          4.03       36.5
#   four in vector registers          2.05          4.38       37.5
# The two moves between register files take seven cycles, the first level five.

# For each of the first `count` cursors that live in registers: operation, register, its place in the array.
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

# Up to fourteen lanes. `unroll` rounds a turn, a power of two, make at least
# eight loads, as in chase.s; the rounds that do not fill a turn come first.
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

# Thirteen lanes and more: the lanes without a register use rax one after
# another. A jump to the first lane that is wanted skips the others.
# It always goes to the same place and is predicted. The base is moved by more
# than a byte holds, so that each of these lanes has 17 bytes of instructions.
.macro lb_parallel_in_memory name, most
        lb_parallel_enter \name
        lea     rax, [rip + 2f]
        imul    rdx, rdx, 17
        sub     rax, rdx                # this number of lanes before the end of the run
        push    rax                     # every register but rsp will be in use
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
