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

# Executes `operation` for each of the first `count` cursors in registers: `\register` has the cursor, and
# .Llb_parallel_lane is its number.
.macro lb_parallel_lanes count, operation
        .set    .Llb_parallel_lane, 0
        .irp    register, rbx, rcx, rdx, rbp, r8, r9, r10, r11, r12, r13, r14, r15, rdi, rax
        .if     .Llb_parallel_lane < \count
        \operation
        .endif
        .set    .Llb_parallel_lane, .Llb_parallel_lane + 1
        .endr
.endm

.macro lb_parallel_enter name
        lb_begin \name
        .irp    register, rbx, rbp, r12, r13, r14, r15
        push    \register
        .endr
.endm

.macro lb_parallel_leave name
        xor     eax, eax
        .irp    register, r15, r14, r13, r12, rbp, rbx
        pop     \register
        .endr
        ret
        lb_end  \name
.endm

# Up to fourteen lanes. A turn of the loop has `unroll` rounds, a power of two,
# with at least eight loads in total, as in chase.s; the rounds that do not fill
# a turn come first.
.macro lb_parallel_in_registers name, lanes, unroll
        lb_parallel_enter \name
        push    rdi
        push    rsi
        mov     rsi, rdi                # every other register will hold a cursor
        lb_parallel_lanes \lanes, "mov \register, [rsi + .Llb_parallel_lane * 8]"
        pop     rsi
        .if     \unroll > 1
        test    esi, \unroll - 1
        jz      2f
1:      lb_parallel_lanes \lanes, "mov \register, [\register]"
        dec     rsi
        test    esi, \unroll - 1
        jnz     1b
        .endif
2:      test    rsi, rsi
        jz      4f
        .p2align 6
3:      .rept   \unroll
        lb_parallel_lanes \lanes, "mov \register, [\register]"
        .endr
        sub     rsi, \unroll
        jnz     3b
4:      pop     rsi
        lb_parallel_lanes \lanes, "mov [rsi + .Llb_parallel_lane * 8], \register"
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
        lb_parallel_lanes 12, "mov \register, [rdi + .Llb_parallel_lane * 8]"
        test    rsi, rsi
        jz      3f
        sub     rdi, 1024
        .p2align 6
1:      lb_parallel_lanes 12, "mov \register, [\register]"
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
        lb_parallel_lanes 12, "mov [rdi + .Llb_parallel_lane * 8], \register"
        lb_parallel_leave \name
.endm
