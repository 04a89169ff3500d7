// The start and the end of a thread.
//
// The kernel returns from clone(2) twice, the second time on another stack.
// Compiled code cannot handle this, because it may keep its return address on the
// first stack. Calling convention AAPCS64.

// isize lb_thread_clone(flags = x0, stack = x1, tid = x2, routine = x3)
//   stack      the upper end of the thread's stack, a multiple of 16; all memory below it is free;
//              also the argument of the routine
//   tid        the word to which the kernel writes the thread's number, and zero when the thread has ended
//   routine    extern "C" fn(stack); the thread ends when it returns
//   returned   the number of the thread, or a negated error code
//   destroys   x3, x4, x8 and x9; the thread starts with the registers of its creator
        .pushsection .text.lb_thread, "ax", @progbits
        .p2align 4
        .globl  lb_thread_clone
        .type   lb_thread_clone, @function
lb_thread_clone:
        mov     x9, x3                  // the system call preserves all registers but x0, for both threads
        mov     x4, x2                  // clone(flags, stack, tid set at the start,
        mov     x3, xzr                 //   no thread-local storage, tid cleared at the end): not the order of x86-64
        mov     x8, #220
        svc     #0
        cbz     x0, 1f
        ret

1:      mov     x29, xzr                // the outermost frame ends every back trace
        mov     x0, sp
        blr     x9
        mov     x8, #93                 // exit(0): ends only this thread
        mov     x0, xzr
        svc     #0
        mov     x0, sp                  // exit returns only if a seccomp filter forbids it: the number of the thread is
        stlr    wzr, [x0]               //   at the top of its stack; from here on, the stack may be unmapped
        mov     x1, #1                  // futex(number, FUTEX_WAKE, 1)
        mov     x2, #1
        mov     x8, #98
        svc     #0
2:      mov     x0, xzr                 // ppoll(nothing, without an end): it sleeps until the process ends
        mov     x1, xzr
        mov     x2, xzr
        mov     x3, xzr
        mov     x8, #73
        svc     #0
        b       2b
        .size   lb_thread_clone, . - lb_thread_clone
        .popsection
