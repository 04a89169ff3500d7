# The start of a second thread, and its end.
#
# The kernel returns from clone(2) twice, the second time on another stack, which
# compiled code cannot do: its return address is on the stack of the first.
# System V calling convention, Intel syntax.

# isize lb_thread_clone(flags = rdi, stack = rsi, tid = rdx, routine = rcx)
#   stack      the end of the thread's stack, a multiple of 16, with nothing in use below it;
#              also the argument of the routine
#   tid        the place for the number of the thread, and for a zero when it has ended
#   routine    extern "C" fn(stack); the thread ends when it returns
#   returned   the number of the thread, or a negated error
#   destroys   rcx, r8 to r11 and the flags; the thread begins with the registers of its creator
        .pushsection .text.lb_thread, "ax", @progbits
        .p2align 4
        .globl  lb_thread_clone
        .type   lb_thread_clone, @function
lb_thread_clone:
        mov     r9, rcx                 # the system call leaves all but rax, rcx and r11 to both threads
        mov     r10, rdx                # clone(flags, stack, tid set at the start, tid cleared at the end,
        xor     r8d, r8d                #   no thread-local storage)
        mov     eax, 56
        syscall
        test    rax, rax
        jz      1f
        ret

1:      xor     ebp, ebp                # the outermost frame ends every back trace
        mov     rdi, rsp
        call    r9
        mov     eax, 60                 # exit(0): this thread alone
        xor     edi, edi
        syscall
        ud2                             # it does not return, unless a filter forbids it: there is no way back
        .size   lb_thread_clone, . - lb_thread_clone
        .popsection
