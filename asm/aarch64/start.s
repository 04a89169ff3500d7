// The first instructions of the process.
//
// The kernel enters here without a return address, with sp pointing to `argc`, and
// with all other registers unspecified (Linux, arch/arm64/include/asm/processor.h).
//
// The stack that the kernel provides may be too small (`ulimit -s`, `ulimit -v`); a
// push would then end the process by a signal. So this code pushes nothing there:
// the program runs on a stack that it maps itself, so that a lack of memory is an
// error with a message.

        .equ    lb_stack_pages, 1024    // 4 MiB: the largest frames hold the facts of the machine and the slots of a sweep
        .equ    lb_guard_pages, 16      // 64 KiB below the stack, without access: a multiple of every base page

        .pushsection .text._start, "ax", @progbits
lb_no_stack:
        .ascii  "latency-bench: ERROR: mmap of 4 MiB for the stack failed; raise the memory limits: ulimit -v, ulimit -d\n"
lb_no_stack_end:

        .p2align 3
lb_refused_action:                      // the kernel's struct sigaction; its return is in the vDSO
        .xword  lb_refused, 0x40000004  // SA_NODEFER | SA_SIGINFO
        .xword  0, 0

        .p2align 2
        .globl  _start
        .type   _start, @function
_start:
        mov     x19, sp                 // argc, argv[], NULL, envp[], NULL, the auxiliary vector

        mov     x8, #134                // rt_sigaction(
        mov     x0, #31                 //   SIGSYS,
        adr     x1, lb_refused_action
        mov     x2, xzr                 //   no old action,
        mov     x3, #8                  //   the size of the mask); without it, that signal ends the process
        svc     #0

        mov     x8, #222                // mmap(
        mov     x0, xzr                 //   anywhere,
        mov     x1, #(lb_stack_pages + lb_guard_pages) << 12
        mov     x2, xzr                 //   PROT_NONE,
        mov     x3, #0x4022             //   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        mov     x4, #-1
        mov     x5, xzr                 //   -1, 0)
        svc     #0
        cmn     x0, #4095               // errors are -4095 to -1
        b.hs    1f

        add     x0, x0, #lb_guard_pages, lsl #12
        mov     x8, #222                // mmap(the same above the guard,
        mov     x1, #lb_stack_pages << 12
        mov     x2, #3                  //   PROT_READ | PROT_WRITE,
        mov     x3, #0x32               //   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
        svc     #0
        cmn     x0, #4095
        b.hs    1f

        add     x9, x0, #lb_stack_pages, lsl #12
        mov     sp, x9                  // aligned to a page, so to 16
        mov     x29, xzr                // the outermost frame ends every back trace
        mov     x0, x19
        bl      lb_start
        udf     #0                      // lb_start does not return

1:      mov     x8, #64                 // write(standard error, the message)
        mov     x0, #2
        adr     x1, lb_no_stack
        adr     x2, lb_no_stack_end
        sub     x2, x2, x1
        svc     #0
        mov     x8, #94                 // exit_group(2)
        mov     x0, #2
        svc     #0
        udf     #0                      // exit_group does not return
        .size   _start, . - _start
        .popsection

// void lb_refused(signal = w0, information = x1, context = x2)
//   context    ucontext_t: registers before the signal, x0 at byte 184
// Some filters of system calls answer with SIGSYS in place of an error number. The
// interrupted call then returns -ENOSYS, like one that the kernel does not have.
        .pushsection .text.lb_refused, "ax", @progbits
        .p2align 4
        .type   lb_refused, @function
lb_refused:
        mov     x9, #-38
        str     x9, [x2, #184]
        ret
        .size   lb_refused, . - lb_refused
        .popsection

// unsigned long getauxval(unsigned long type = x0)
//   returned   zero: no capability is known
// The compiler's helpers for atomic operations ask this function of the C library
// whether there is LSE. Without it they use pairs of exclusives, which every
// processor has. Timed code has atomic instructions of its own.
        .pushsection .text.getauxval, "ax", @progbits
        .p2align 2
        .globl  getauxval
        .type   getauxval, @function
getauxval:
        mov     x0, xzr
        ret
        .size   getauxval, . - getauxval
        .popsection
