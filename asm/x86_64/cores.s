# Transfers of lines between two cores: exchanges, and walks that leave lines in a known state.
#
# All routines with names that begin with lb_cores are in one section: profilers
# and the emulator's model of coherence find the timed accesses by this address
# range.
#
# ---- Exchanges -------------------------------------------------------------
#
# Contract of lb_cores_{cas,read_cas,flag,message}_{first,second} (System V AMD64, but see "destroys"):
#   rdi  mine      the line to which this side writes
#   rsi  theirs    the line that this side polls; for lb_cores_cas and lb_cores_read_cas, the same line
#   rdx  count     number of exchanges to make; zero is allowed
#   rcx  stop      a word of four bytes: as soon as it is not zero, the sides stop waiting
#   r8   polls     number of polls without an answer after which the call returns, at least 1
#   r9   delays    for lb_cores_message: two words of eight bytes, the sum and the minimum, which are updated
#   rax  returned  number of exchanges made
#   destroys rdx, r10, r11 and the flags; rbx is saved on the stack; no calls
#
# An exchange is a round trip: the first side sends a message and receives the
# answer. A call of the first side ends with the last answer, so the time of a call
# is the time of `count` round trips. Both sides have to make the same total number
# of exchanges, in any number of calls: after a call that gave up, the next call
# continues. For this, the first side stores in the third word of its line that it
# has sent a message and has not yet counted the answer. Initially, all lines are
# zero.
#
# There is no `pause` between polls: it lasts 40 cycles on Zen 2 and later and 140 since
# Skylake, and the answer would be detected late by half of this time on average. The
# stop word is read only every 1024 polls, so that its line hardly disturbs the
# exchange.

# Polls until theirs holds r10; jumps to in_vain after the last poll, or if the stop
# word is not zero.
.macro lb_cores_await poll, in_vain
        mov     r11, r8
7:      \poll
        je      8f
        dec     r11
        test    r11d, 1023
        jnz     7b
        cmp     dword ptr [rcx], 0
        jne     \in_vain
        test    r11, r11
        jnz     7b
        jmp     \in_vain
8:
.endm

.macro lb_cores_enter name
        lb_begin \name, lb_cores
        push    rbx
        push    rdx
        mov     rbx, rdx                # exchanges that are left
        test    rdx, rdx
        jz      9f
.endm

# Jumps to the wait for the answer if the last call gave up after it had sent.
.macro lb_cores_resume sent
        cmp     qword ptr [rdi + 16], 0
        je      2f
        mov     qword ptr [rdi + 16], 0
        jmp     \sent
.endm

.macro lb_cores_leave name
9:      pop     rax
        sub     rax, rbx
        pop     rbx
        ret
        lb_end  \name
.endm

# Both sides, each with four steps. start and next set r10 to the value of theirs after
# the other side has sent or answered; send and receive then transfer the
# messages. The poll is a plain load, which does not take ownership of the line from the
# side that writes it.
.macro lb_cores_both name, start_first, start_second, next, send, receive
        lb_cores_enter \name\()_first
        \start_first
        lb_cores_resume 3f
        .p2align 4
2:      \next
        \send
3:      lb_cores_await "cmp [rsi], r10", 5f
        \receive
        dec     rbx
        jnz     2b
        jmp     9f
5:      mov     qword ptr [rdi + 16], 1
        lb_cores_leave \name\()_first

        lb_cores_enter \name\()_second
        \start_second
        .p2align 4
2:      \next
        lb_cores_await "cmp [rsi], r10", 9f
        \receive
        \send
        dec     rbx
        jnz     2b
        lb_cores_leave \name\()_second
.endm

# The compare and swap succeeds, since only this side changes the line in its
# turn.
.macro lb_cores_cas_send
        mov     rax, r10
        lock cmpxchg [rdi], rdx         # locked: both sides change the line
.endm

# The compare and swap as a poll: it takes ownership of the line even if the
# comparison fails.
.macro lb_cores_cas_poll
        mov     rax, r10
        lock cmpxchg [rsi], rdx         # locked: both sides change the line
.endm

# A message consists of its number and the time of sending. Stores become
# visible in order, so a side that sees the number also sees the matching time.
.macro lb_cores_message_send
        rdtsc
        shl     rdx, 32
        or      rax, rdx
        mov     [rdi + 8], rax
        mov     [rdi], r10
.endm

.macro lb_cores_message_receive
        lfence                          # the counter is not read before the poll that saw the number
        rdtsc
        shl     rdx, 32
        or      rax, rdx
        sub     rax, [rsi + 8]
        add     [r9], rax
        cmp     rax, [r9 + 8]
        jge     6f
        mov     [r9 + 8], rax
6:
.endm

# lb_cores_read_cas: one line, which both sides change by a locked compare and
# swap after a load.
#   first:   { while (*line != 0); cas(line, 0, 1); while (*line != 0); }
#   second:  { while (*line != 1); cas(line, 1, 0); }
# The line holds 0 in the first side's turn, and 1 in the second's.
lb_cores_both lb_cores_read_cas, "xor r10d, r10d; mov edx, 1", "mov r10d, 1; xor edx, edx", "", lb_cores_cas_send

# lb_cores_cas: the same without a load before it: a waiting side repeats the compare and swap, and takes ownership
# of the line each time. The first side polls with loads only for its last answer, since there is nothing to send
# after it.
#   first:   { while (!cas(line, 0, 1)); }  while (*line != 0);
#   second:  { while (!cas(line, 1, 0)); }
        lb_cores_enter lb_cores_cas_first
        xor     r10d, r10d
        mov     edx, 1
        lb_cores_resume 3f
2:      lb_cores_cas_send
3:      cmp     rbx, 1
        je      4f
        lb_cores_await lb_cores_cas_poll, 5f
        dec     rbx
        jmp     3b
4:      lb_cores_await "cmp [rsi], r10", 5f
        dec     rbx
        jmp     9f
5:      mov     qword ptr [rdi + 16], 1
        lb_cores_leave lb_cores_cas_first

        lb_cores_enter lb_cores_cas_second
        mov     r10d, 1
        xor     edx, edx
        .p2align 4
2:      lb_cores_await lb_cores_cas_poll, 9f
        dec     rbx
        jnz     2b
        lb_cores_leave lb_cores_cas_second

# lb_cores_flag: two lines, with plain loads and stores. Each line holds the number of its writer's last message.
#   first:   { *mine += 1; while (*theirs != *mine); }
#   second:  { while (*theirs != *mine + 1); *mine += 1; }
lb_cores_both lb_cores_flag, "mov r10, [rdi]", "mov r10, [rdi]", "inc r10", "mov [rdi], r10"

# lb_cores_message: as lb_cores_flag, with the sender's time-stamp counter in the message. Each side
# sums the receiver's counter minus the sender's counter, as signed numbers.
lb_cores_both lb_cores_message, "mov r10, [rdi]", "mov r10, [rdi]", "inc r10", lb_cores_message_send, lb_cores_message_receive

# ---- Walks -----------------------------------------------------------------
#
# The contract is that of chase.s, for a chain of addresses in aligned words:
# rsi is the cursor, rdx the number of hops, rax the cursor after the hops; the
# routines destroy rcx, rdx and the flags. The content of memory does not
# change. Each hop is the transfer of a line, or a hit in the first-level cache
# for comparison, so its latency hides the loop counter even without unrolling.

.macro lb_cores_walk name, hop
        lb_begin \name, lb_cores
        mov     rax, rsi
        test    rdx, rdx
        jz      2f
        .p2align 4
1:      \hop
        dec     rdx
        jnz     1b
2:      ret
        lb_end  \name
.endm

# lb_cores_read: loads each word.
#   cursor = *(u64 *)cursor
lb_cores_walk lb_cores_read, "mov rax, [rax]"

# lb_cores_own: takes exclusive ownership of each line, by adding zero; the addition is locked, since the core has to
# own the line.
#   cursor = atomic_fetch_add((u64 *)cursor, 0)
lb_cores_walk lb_cores_own, "xor ecx, ecx; lock xadd [rax], rcx; mov rax, rcx"

# lb_cores_store: makes each line modified, by writing back the word that it holds.
#   cursor = *(u64 *)cursor = *(u64 *)cursor
lb_cores_walk lb_cores_store, "mov rcx, [rax]; mov [rax], rcx; mov rax, rcx"

# lb_cores_flush: flushes lines from all caches.
#   rdi  first     address of the first line
#   rsi  lines     number of lines; zero is allowed
#   destroys rdi, rsi and the flags; no stack, no calls
#
# The load is for an emulator: its model of coherence sees the addresses of
# loads, but not those of flushes.
        lb_begin lb_cores_flush, lb_cores
        test    rsi, rsi
        jz      2f
1:      cmp     byte ptr [rdi], 0
        clflush [rdi]
        add     rdi, 64
        dec     rsi
        jnz     1b
2:      mfence                          # the flushes complete before all later accesses
        ret
        lb_end  lb_cores_flush
