// Several independent chases side by side, with one load in flight for each lane.
//
// Contract of every routine here (AAPCS64):
//   x0   cursors   array with the address of a node for each lane; afterwards it
//                  holds the addresses of the nodes that the lanes have reached
//   x1   hops      exact number of loads of each lane; zero is allowed
//   x2   more      number of lanes in addition to the twelve in registers, at most 52; only the last routine uses it
//   x0   returned  zero
//   destroys x1 to x4, x9 to x17 and the flags; 48 bytes of stack
//
// For each lane, independently:  cursors[lane] = *(u64 *)cursors[lane]
//
// Up to fourteen cursors are in general registers, which adds no cost. From
// sixteen lanes on, only twelve cursors are in registers; the others stay in the
// array, where the load of a cursor depends on its store. With twelve other
// lanes this delay is hidden. The numbers are the same for every instruction
// set, so that results can be compared. Register x18 belongs to the platform.

// Executes `operation` for each of the first `count` cursors in registers: `\register` has the cursor, and
// .Llb_parallel_lane is its number.
.macro lb_parallel_lanes count, operation
        .set    .Llb_parallel_lane, 0
        .irp    register, x9, x10, x11, x12, x13, x14, x15, x16, x17, x19, x20, x21, x22, x23
        .if     .Llb_parallel_lane < \count
        \operation
        .endif
        .set    .Llb_parallel_lane, .Llb_parallel_lane + 1
        .endr
.endm

.macro lb_parallel_enter name
        lb_begin \name
        stp     x19, x20, [sp, #-48]!
        stp     x21, x22, [sp, #16]
        stp     x23, x24, [sp, #32]
.endm

.macro lb_parallel_leave name
        mov     x0, #0
        ldp     x23, x24, [sp, #32]
        ldp     x21, x22, [sp, #16]
        ldp     x19, x20, [sp], #48
        ret
        lb_end  \name
.endm

// Up to fourteen lanes. A turn of the loop has `unroll` rounds, a power of two,
// with at least eight loads in total, as in chase.s; the rounds that do not fill
// a turn come first.
.macro lb_parallel_in_registers name, lanes, unroll
        lb_parallel_enter \name
        lb_parallel_lanes \lanes, "ldr \register, [x0, #.Llb_parallel_lane * 8]"
        .if     \unroll > 1
        tst     x1, #\unroll - 1
        b.eq    2f
1:      lb_parallel_lanes \lanes, "ldr \register, [\register]"
        sub     x1, x1, #1
        tst     x1, #\unroll - 1
        b.ne    1b
        .endif
2:      cbz     x1, 4f
        .p2align 6
3:      .rept   \unroll
        lb_parallel_lanes \lanes, "ldr \register, [\register]"
        .endr
        subs    x1, x1, #\unroll
        b.ne    3b
4:      lb_parallel_lanes \lanes, "str \register, [x0, #.Llb_parallel_lane * 8]"
        lb_parallel_leave \name
.endm

// Thirteen lanes and more: the lanes without a register use x4 in turn. A jump
// to the first lane that is needed skips the others. The jump always has the
// same target and is predicted. The three instructions of each of these lanes
// have 12 bytes.
.macro lb_parallel_in_memory name, most
        lb_parallel_enter \name
        adr     x3, 2f
        add     x2, x2, x2, lsl #1
        sub     x3, x3, x2, lsl #2      // the jump target: this number of lanes before the end of the run
        lb_parallel_lanes 12, "ldr \register, [x0, #.Llb_parallel_lane * 8]"
        cbz     x1, 3f
        .p2align 6
1:      lb_parallel_lanes 12, "ldr \register, [\register]"
        br      x3
        .set    .Llb_parallel_lane, \most
        .rept   \most - 12
        .set    .Llb_parallel_lane, .Llb_parallel_lane - 1
        ldr     x4, [x0, #.Llb_parallel_lane * 8]
        ldr     x4, [x4]
        str     x4, [x0, #.Llb_parallel_lane * 8]
        .endr
2:      subs    x1, x1, #1
        b.ne    1b
3:      lb_parallel_lanes 12, "str \register, [x0, #.Llb_parallel_lane * 8]"
        lb_parallel_leave \name
.endm
