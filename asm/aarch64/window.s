// Chases with other instructions between their loads, which measure how far ahead the processor
// looks.
//
// Contract of every routine here (AAPCS64):
//   x0   cursors   array with the address of a node for each lane; afterwards it
//                  holds the addresses of the nodes that the lanes have reached
//   x1   hops      exact number of loads of each lane; zero is allowed
//   x0   returned  see each family
//   further arguments and destroyed registers: see each family

// ---------------------------------------------------------------------------
// Sixteen lanes with dependent work.
//
//   x0   returned  exclusive or of all loaded pointers, each after the work on it
//   destroys x1 to x6 and the flags; no stack
//
// For each lane in turn:
//   cursors[lane] = *(u64 *)cursors[lane]
//   digest ^= work == 0 ? cursors[lane] : (u32)cursors[lane] + work * (u32)0x9e3779b9
//
// A unit of work is one addition, which takes one cycle. Each addition depends on
// the one before it, and the first depends on the load. The work of a lane does not
// depend on other lanes: only the space for waiting instructions limits the number of
// lanes with loads in flight at the same time. All cursors are in the array, so that
// every lane has the same cost: with two lanes written out, five instructions and the
// work. There is a routine for each amount of work, since jumps over superfluous
// additions would cost time.
//
// The prefetching form prefetches the next node as soon as its address is known:
// one round of all lanes before its load, which then finds the node in the
// cache. A prefetch retires without waiting for its line, whereas a load waits.

// `end`: the register with the end of the array, or one word after it for the second lane of a pair. An address of
// two registers has no room for an offset.
.macro lb_window_hop end, work, prefetch
        ldr     x2, [\end, x5]
        ldr     x2, [x2]
        str     x2, [\end, x5]
        .if     \prefetch
        prfm    pldl1keep, [x2]
        .endif
        .rept   \work
        add     w2, w2, w3
        .endr
        eor     x4, x4, x2
.endm

.macro lb_window_routine name, work, prefetch
        lb_begin \name, lb_chase, 5
        mov     x4, #0                  // digest
        cbz     x1, 3f
        mov     w3, #0x79b9
        movk    w3, #0x9e37, lsl #16
        add     x0, x0, #128            // the end of the array: the lane offset counts up to zero
        add     x6, x0, #8
1:      mov     x5, #-128
        .p2align 5
2:      lb_window_hop x0, \work, \prefetch
        lb_window_hop x6, \work, \prefetch
        add     x5, x5, #16
        cbnz    x5, 2b
        subs    x1, x1, #1
        b.ne    1b
3:      mov     x0, x4
        ret
        lb_end  \name
.endm

// ---------------------------------------------------------------------------
// Two lanes with fillers between their loads: the direct test of the reorder buffer.
//
//   x2   fillers   number of fillers between two loads, at most 768
//   x0   returned  zero
//   destroys x1, x3 to x5, x9 to x11, v0, v1 and the flags; no stack
//
// While a load waits for memory, all later instructions wait to retire. If the
// other lane's load still fits in the reorder buffer after the fillers, the two
// misses overlap; with more fillers, one miss follows the other, and a hop takes
// twice as long.
//
// Fillers do not depend on a load, nor on each other. Their kind decides which
// resource runs out first:
//   nop      an entry of the reorder buffer, which some cores share among several
//   integer  an entry and an integer register, by an addition
//   mixed    an entry and, in rotation, an integer register, flags or a vector register,
//            so that the reorder buffer runs out before any of the register files
//
// A jump into the run of 768 fillers skips the superfluous ones. The jump always
// has the same target and is predicted. One run serves both lanes, which change
// places after each load: in addition to the fillers, there are five
// instructions between two loads.

.macro lb_reach_mixed
        .if     .Llb_reach_turn == 0
        add     x10, x11, x11
        .elseif .Llb_reach_turn == 1
        cmp     x11, #1
        .else
        add     v0.4s, v1.4s, v1.4s
        .endif
        .set    .Llb_reach_turn, (.Llb_reach_turn + 1) % 3
.endm

// Each filler has four bytes.
.macro lb_reach_routine name, filler:vararg
        lb_begin \name
        ldp     x3, x4, [x0]
        lsl     x1, x1, #1              // each turn makes one load of one lane
        cbz     x1, 3f
        adr     x5, 2f
        sub     x5, x5, x2, lsl #2      // the jump target: this number of fillers before the end of the run
        .set    .Llb_reach_turn, 0
        .p2align 6
1:      ldr     x9, [x3]
        mov     x3, x4
        mov     x4, x9
        br      x5
        .rept   768
        \filler
        .endr
2:      subs    x1, x1, #1
        b.ne    1b
3:      stp     x3, x4, [x0]
        mov     x0, #0
        ret
        lb_end  \name
.endm

lb_reach_routine lb_chase_reach_nop, nop
lb_reach_routine lb_chase_reach_integer, add x10, x11, x11
lb_reach_routine lb_chase_reach_mixed, lb_reach_mixed
