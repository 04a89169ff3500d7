// The routines that every instruction set makes of its macros in the same way.

// Chains side by side: the number of lanes, and the hops that each makes in one pass of the loop. The last routine is
// for all larger numbers of lanes, up to its own.
lb_parallel_in_registers lb_chase_parallel_1, 1, 8
lb_parallel_in_registers lb_chase_parallel_2, 2, 4
lb_parallel_in_registers lb_chase_parallel_3, 3, 4
lb_parallel_in_registers lb_chase_parallel_4, 4, 2
lb_parallel_in_registers lb_chase_parallel_6, 6, 2
lb_parallel_in_registers lb_chase_parallel_8, 8, 1
lb_parallel_in_registers lb_chase_parallel_10, 10, 1
lb_parallel_in_registers lb_chase_parallel_12, 12, 1
lb_parallel_in_registers lb_chase_parallel_14, 14, 1
lb_parallel_in_memory lb_chase_parallel_more, 64

// Sixteen lanes with this number of units of work, without a prefetch and with it.
.irp work, 0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48
lb_window_routine lb_chase_window_\work, \work, 0
lb_window_routine lb_chase_window_\work\()_prefetch, \work, 1
.endr

// Loads of one line in each of many pages: dependent, and independent.
lb_span_routine lb_chase_span, 1
lb_span_routine lb_chase_span_free, 0

// Reads of every line, with a store to every third line, to every second, and to each.
lb_stream_update lb_stream_update3, 3
lb_stream_update lb_stream_update2, 2
lb_stream_update lb_stream_update1, 1
