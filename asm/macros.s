// Macros of the routines of every instruction set. The library assembles the files of a folder as one text, and this file
// comes first: the name of a macro is unique in the folder.

// The head of a function, in the section of its family: its address is a multiple of 2 to the power `alignment`.
.macro lb_begin name, section=lb_chase, alignment=6
        .pushsection .text.\section, "ax", @progbits
        .p2align \alignment
        .globl  \name
        .type   \name, @function
\name:
.endm

// The end of a function.
.macro lb_end name
        .size   \name, . - \name
        .popsection
.endm
