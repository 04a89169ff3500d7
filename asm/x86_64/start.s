# The first instruction of the process.
#
# The kernel enters here with no return address, rsp on `argc` and everything
# else unspecified (System V ABI, AMD64 supplement, 3.4.1). Intel syntax.

        .pushsection .text._start, "ax", @progbits
        .globl  _start
        .type   _start, @function
_start:
        xor     ebp, ebp                # the outermost frame ends every back trace
        mov     rdi, rsp                # argc, argv[], NULL, envp[], NULL
        and     rsp, -16                # the ABI's alignment before a call
        call    lb_start
        ud2                             # lb_start does not return
        .size   _start, . - _start
        .popsection
