# The start and the end of a thread.
#
# The kernel returns from clone(2) twice, the second time on another stack.
# Compiled code cannot handle this, because its return address is on the first
# stack. System V calling convention, Intel syntax.

# isize lb_thread_clone(flags = rdi, stack = rsi, tid = rdx, routine = rcx)
#   stack      the upper end of the thread's stack, a multiple of 16; all memory below it is free;
#              also the argument of the routine
#   tid        the word to which the kernel writes the thread's number, and zero when the thread has ended
#   routine    extern "C" fn(stack); the thread ends when it returns
#   returned   the number of the thread, or a negated error code code
#   destroys   rcx, r8 to r11 and the flags; the thread starts with the registers of its creator
        .pushsection .text.lb_thread, "ax", @progbits
        .p2align 4
        .globl  lb_thread_clone
        .type   lb_thread_clone, @function
lb_thread_clone:
        mov     r9, rcx                 # the system call preserves all registers but rax, rcx and r11, for both threads
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
        mov     eax, 60                 # exit(0): ends only this thread
        xor     edi, edi
        syscall
        mov     dword ptr [rsp], 0      # exit returns only if a seccomp filter forbids it: the number of the thread is
        mov     rdi, rsp                #   at the top of its stack; from here on, the stack may be unmapped
        mov     esi, 1                  # futex(number, FUTEX_WAKE, 1)
        mov     edx, 1
        mov     eax, 202
        syscall
2:      xor     edi, edi                # ppoll(nothing, without an end): it sleeps until the process ends
        xor     esi, esi
        xor     edx, edx
        xor     r10d, r10d
        mov     eax, 271
        syscall
        jmp     2b
        .size   lb_thread_clone, . - lb_thread_clone
        .popsection
