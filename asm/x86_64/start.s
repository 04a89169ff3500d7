# The first instructions of the process.
#
# The kernel enters here without a return address, with rsp pointing to `argc`,
# and with all other registers unspecified (System V ABI, AMD64 supplement, 3.4.1).
# Intel syntax.
#
# The stack that the kernel provides may be too small (`ulimit -s`, `ulimit -v`); a
# push would then end the process by a signal. So this code pushes nothing there:
# the program runs on a stack that it maps itself, so that a lack of memory is an
# error with a message.

        .equ    lb_stack_bytes, 4 << 20 # the largest frames hold the facts of the machine and the slots of a sweep
        .equ    lb_stack_guard, 4096    # below the stack, without access

        .pushsection .text._start, "ax", @progbits
lb_no_stack:
        .ascii  "latency-bench: ERROR: mmap of 4 MiB for the stack failed; raise the memory limits: ulimit -v, ulimit -d\n"
lb_no_stack_end:

        .p2align 3
lb_refused_action:                      # the kernel's struct sigaction
        .quad   lb_refused, 0x44000004  # SA_NODEFER | SA_RESTORER | SA_SIGINFO
        .quad   lb_refused_return, 0

        .globl  _start
        .type   _start, @function
_start:
        mov     rbx, rsp                # argc, argv[], NULL, envp[], NULL

        mov     eax, 13                 # rt_sigaction(
        mov     edi, 31                 #   SIGSYS,
        lea     rsi, [rip + lb_refused_action]
        xor     edx, edx                #   no old action,
        mov     r10d, 8                 #   the size of the mask); without it, that signal ends the process
        syscall

        mov     eax, 9                  # mmap(
        xor     edi, edi                #   anywhere,
        mov     esi, lb_stack_bytes + lb_stack_guard
        xor     edx, edx                #   PROT_NONE,
        mov     r10d, 0x4022            #   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
        mov     r8, -1
        xor     r9d, r9d                #   -1, 0)
        syscall
        cmp     rax, -4096              # errors are -4095 to -1
        ja      1f

        lea     rdi, [rax + lb_stack_guard]
        mov     eax, 9                  # mmap(the same above the guard,
        mov     esi, lb_stack_bytes
        mov     edx, 3                  #   PROT_READ | PROT_WRITE,
        mov     r10d, 0x32              #   MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0)
        syscall
        cmp     rax, -4096
        ja      1f

        lea     rsp, [rax + lb_stack_bytes] # aligned to a page, so to 16 before the call
        xor     ebp, ebp                # the outermost frame ends every back trace
        mov     rdi, rbx
        call    lb_start
        ud2                             # lb_start does not return

1:      mov     eax, 1                  # write(standard error, the message)
        mov     edi, 2
        lea     rsi, [rip + lb_no_stack]
        lea     rdx, [rip + lb_no_stack_end]
        sub     edx, esi
        syscall
        mov     eax, 231                # exit_group(2)
        mov     edi, 2
        syscall
        ud2                             # exit_group does not return
        .size   _start, . - _start
        .popsection

# void lb_refused(signal = edi, information = rsi, context = rdx)
#   context    ucontext_t: registers before the signal, rax at byte 144
# Some filters of system calls answer with SIGSYS in place of an error number. The
# interrupted call then returns -ENOSYS, like one that the kernel does not have.
        .pushsection .text.lb_refused, "ax", @progbits
        .p2align 4
        .type   lb_refused, @function
lb_refused:
        mov     qword ptr [rdx + 144], -38
        ret
        .size   lb_refused, . - lb_refused

        .type   lb_refused_return, @function
lb_refused_return:
        mov     eax, 15                 # rt_sigreturn()
        syscall
        .size   lb_refused_return, . - lb_refused_return
        .popsection
