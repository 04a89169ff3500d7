// Transfers of lines between two cores: exchanges, and walks that leave lines in a known state.
//
// All routines with names that begin with lb_cores are in one section: profilers
// and the emulator's model of coherence find the timed accesses by this address
// range.
//
// There are two sets of routines with atomic operations: exclusives (LDXR, STXR),
// which every processor has, and the instructions of LSE (CASAL, LDADD), which need
// HWCAP_ATOMICS. Routines without atomic operations belong to both sets.
//
// ---- Exchanges -------------------------------------------------------------
//
// Contract of lb_cores_{cas,read_cas,lse_cas,lse_read_cas,flag,message}_{first,second} (AAPCS64, but see "destroys"):
//   x0   mine      the line to which this side writes
//   x1   theirs    the line that this side polls; for the four with `cas`, the same line
//   x2   count     number of exchanges to make; zero is allowed
//   x3   stop      a word of four bytes: as soon as it is not zero, the sides stop waiting
//   x4   polls     number of polls without an answer after which the call returns, at least 1
//   x5   delays    for lb_cores_message: two words of eight bytes, the sum and the minimum, which are updated
//   x0   returned  number of exchanges made
//   destroys x6 to x8, x11 to x14 and the flags; no stack, no calls
//
// An exchange is a round trip: the first side sends a message and receives the
// answer. A call of the first side ends with the last answer, so the time of a call
// is the time of `count` round trips. Both sides have to make the same total number
// of exchanges, in any number of calls: after a call that gave up, the next call
// continues. For this, the first side stores in the third word of its line that it
// has sent a message and has not yet counted the answer. Initially, all lines are
// zero.
//
// There is no `yield` and no `wfe` between polls: a core that waits for an event
// detects the answer late, by a time that depends on the processor. The stop word
// is read only every 1024 polls, so that its line hardly disturbs the exchange.
//
// Loads and stores of other addresses may change their order, so each side sends
// by a release and polls by an acquire: whatever a side wrote before it sent is
// visible to the other side after it received.

// Polls until `poll` sets the zero flag; jumps to in_vain after the last poll, or if the
// stop word is not zero. The stop word orders nothing, so a plain load reads it.
.macro lb_cores_await poll, in_vain
        mov     x11, x4
7:      \poll
        b.eq    8f
        sub     x11, x11, #1
        tst     x11, #1023
        b.ne    7b
        ldr     w13, [x3]
        cbnz    w13, \in_vain
        cbnz    x11, 7b
        b       \in_vain
8:
.endm

// A load does not take ownership of the line from the side that writes it.
.macro lb_cores_poll
        ldar    x13, [x1]               // acquire: nothing after the answer is read before it
        cmp     x13, x7
.endm

.macro lb_cores_enter name
        lb_begin \name, lb_cores
        mov     x6, x2                  // exchanges that are left
        cbz     x2, 9f
.endm

// Jumps to the wait for the answer if the last call gave up after it had sent.
.macro lb_cores_resume sent
        ldr     x13, [x0, #16]
        cbz     x13, 2f
        str     xzr, [x0, #16]
        b       \sent
.endm

.macro lb_cores_leave name
9:      sub     x0, x2, x6
        ret
        lb_end  \name
.endm

// Both sides, each with four steps. start and next set x7 to the value of theirs after
// the other side has sent or answered; send and receive then transfer the
// messages.
.macro lb_cores_both name, start_first, start_second, next, send, receive
        lb_cores_enter \name\()_first
        \start_first
        lb_cores_resume 3f
        .p2align 4
2:      \next
        \send
3:      lb_cores_await lb_cores_poll, 5f
        \receive
        subs    x6, x6, #1
        b.ne    2b
        b       9f
5:      mov     x13, #1
        str     x13, [x0, #16]
        lb_cores_leave \name\()_first

        lb_cores_enter \name\()_second
        \start_second
        .p2align 4
2:      \next
        lb_cores_await lb_cores_poll, 9f
        \receive
        \send
        subs    x6, x6, #1
        b.ne    2b
        lb_cores_leave \name\()_second
.endm

// The compare and swap succeeds, since only this side changes the line in its
// turn. It both acquires and releases, like a lock that is handed over.
.macro lb_cores_lse_cas_send
        mov     x13, x7
        casal   x13, x8, [x0]           // acquire and release: the turn begins and ends here
.endm

// The store of a pair of exclusives fails if the line left the core after the load, or for
// no reason at all. A thousand failures in sequence end the call before it has sent, and
// the next call sends.
.macro lb_cores_cas_send
        mov     x12, #1000
6:      ldaxr   x13, [x0]               // acquire: the turn begins here
        cmp     x13, x7
        b.ne    6f                      // not this side's turn: the answer will not come
        stlxr   w14, x8, [x0]           // release: the turn ends here
        cbz     w14, 6f
        subs    x12, x12, #1
        b.ne    6b
        b       9f
6:
.endm

// The compare and swap as a poll. If the comparison fails, LSE may take ownership of the
// line nevertheless; a pair of exclusives stores nothing then.
.macro lb_cores_lse_cas_poll
        mov     x13, x7
        casal   x13, x8, [x1]           // acquire and release: the turn begins and ends here
        cmp     x13, x7
.endm

// A store that fails counts as a poll in vain.
.macro lb_cores_cas_poll
        ldaxr   x13, [x1]               // acquire: the turn begins here
        cmp     x13, x7
        b.ne    6f
        stlxr   w14, x8, [x1]           // release: the turn ends here
        cmp     w14, #0
6:
.endm

.macro lb_cores_flag_send
        stlr    x7, [x0]                // release: nothing before the message is written after it
.endm

// A message consists of its number and the time of sending. The counter is read
// without a barrier, since the barriers of the last receipt precede it: an earlier
// reading would only make the delay longer.
.macro lb_cores_message_send
        mrs     x12, cntvct_el0
        str     x12, [x0, #8]
        stlr    x7, [x0]                // release: a side that sees the number also sees the matching time
.endm

.macro lb_cores_message_receive
        dsb     nshld                   // the poll that saw the number is complete
        isb                             // the counter is not read before that: DSB alone does not prevent it
        mrs     x12, cntvct_el0
        ldr     x13, [x1, #8]           // the poll acquired, so this is the time of the number that it saw
        sub     x12, x12, x13
        ldp     x13, x14, [x5]
        add     x13, x13, x12
        cmp     x12, x14
        csel    x14, x12, x14, lt
        stp     x13, x14, [x5]
.endm

// lb_cores_cas: one line, which both sides change by a compare and swap without a load before it: a waiting side
// repeats the compare and swap. The first side polls with loads only for its last answer, since there is nothing to
// send after it.
//   first:   { while (!cas(line, 0, 1)); }  while (*line != 0);
//   second:  { while (!cas(line, 1, 0)); }
.macro lb_cores_cas_both name, send, poll
        lb_cores_enter \name\()_first
        mov     x7, #0
        mov     x8, #1
        lb_cores_resume 3f
2:      \send
3:      cmp     x6, #1
        b.eq    4f
        lb_cores_await \poll, 5f
        sub     x6, x6, #1
        b       3b
4:      lb_cores_await lb_cores_poll, 5f
        sub     x6, x6, #1
        b       9f
5:      mov     x13, #1
        str     x13, [x0, #16]
        lb_cores_leave \name\()_first

        lb_cores_enter \name\()_second
        mov     x7, #1
        mov     x8, #0
        .p2align 4
2:      lb_cores_await \poll, 9f
        subs    x6, x6, #1
        b.ne    2b
        lb_cores_leave \name\()_second
.endm

        .arch_extension lse             // executed only where the kernel reports the instructions

// The line holds 0 in the first side's turn, and 1 in the second's.
lb_cores_cas_both lb_cores_cas, lb_cores_cas_send, lb_cores_cas_poll
lb_cores_cas_both lb_cores_lse_cas, lb_cores_lse_cas_send, lb_cores_lse_cas_poll

// lb_cores_read_cas: the same after a load has seen that the compare and swap will succeed.
//   first:   { while (*line != 0); cas(line, 0, 1); while (*line != 0); }
//   second:  { while (*line != 1); cas(line, 1, 0); }
lb_cores_both lb_cores_read_cas, "mov x7, #0; mov x8, #1", "mov x7, #1; mov x8, #0", "", lb_cores_cas_send
lb_cores_both lb_cores_lse_read_cas, "mov x7, #0; mov x8, #1", "mov x7, #1; mov x8, #0", "", lb_cores_lse_cas_send

// lb_cores_flag: two lines, with loads and stores. Each line holds the number of its writer's last message.
//   first:   { *mine += 1; while (*theirs != *mine); }
//   second:  { while (*theirs != *mine + 1); *mine += 1; }
lb_cores_both lb_cores_flag, "ldr x7, [x0]", "ldr x7, [x0]", "add x7, x7, #1", lb_cores_flag_send

// lb_cores_message: as lb_cores_flag, with the sender's counter in the message. Each side sums the receiver's
// counter minus the sender's counter, as signed numbers.
lb_cores_both lb_cores_message, "ldr x7, [x0]", "ldr x7, [x0]", "add x7, x7, #1", lb_cores_message_send, lb_cores_message_receive

// ---- Walks -----------------------------------------------------------------
//
// The contract is that of chase.s, for a chain of addresses in aligned words: x1
// is the cursor, x2 the number of hops, x0 the cursor after the hops; the routines
// destroy x2, x5 to x7 and the flags. The content of memory does not change. Each
// hop is the transfer of a line, or a hit in the first-level cache for comparison,
// so its latency hides the loop counter even without unrolling. The hops need
// neither acquire nor release: the address of each is the result of the one before
// it, and a walk hands nothing over.

.macro lb_cores_walk name, hop
        lb_begin \name, lb_cores
        mov     x0, x1
        cbz     x2, 2f
        .p2align 4
1:      \hop
        subs    x2, x2, #1
        b.ne    1b
2:      ret
        lb_end  \name
.endm

// After a thousand failed stores in sequence, the walk goes on without the ownership
// of this line.
.macro lb_cores_hop_own
        mov     x7, #1000
6:      ldxr    x5, [x0]
        stxr    w6, x5, [x0]
        cbz     w6, 7f
        subs    x7, x7, #1
        b.ne    6b
7:      mov     x0, x5
.endm

// lb_cores_read: loads each word.
//   cursor = *(u64 *)cursor
lb_cores_walk lb_cores_read, "ldr x0, [x0]"

// lb_cores_own, lb_cores_lse_own: take exclusive ownership of each line, by adding zero. A processor may
// execute the addition of LSE at the interconnect instead.
//   cursor = atomic_fetch_add((u64 *)cursor, 0)
lb_cores_walk lb_cores_own, lb_cores_hop_own
lb_cores_walk lb_cores_lse_own, "ldadd xzr, x0, [x0]"

// lb_cores_store: makes each line modified, by writing back the word that it holds.
//   cursor = *(u64 *)cursor = *(u64 *)cursor
lb_cores_walk lb_cores_store, "ldr x5, [x0]; str x5, [x0]; mov x0, x5"

// lb_cores_flush: flushes lines from all caches, up to the point of coherency.
//   x0   first     address of the first line
//   x1   lines     number of lines; zero is allowed
//   destroys x0 to x2 and the flags; no stack, no calls
//
// The load is for an emulator: its model of coherence sees the addresses of
// loads, but not those of flushes.
        lb_begin lb_cores_flush, lb_cores
        cbz     x1, 2f
1:      ldrb    w2, [x0]
        dc      civac, x0
        add     x0, x0, #64
        subs    x1, x1, #1
        b.ne    1b
2:      dsb     ish                     // the flushes complete, for all cores, before all later accesses
        ret
        lb_end  lb_cores_flush

        .arch_extension nolse
