//! Hostile places: each with its effect and the test that shows it.
//!
//! tests/README.md has the table as Markdown; `tests/tests/places.rs` compares the two. For a new test of a hostile
//! place add a row here, then run `make golden`.

use std::fmt::Write;

/// The line of tests/README.md above the table.
pub const HEADING: &str = "## Hostile places";

/// An environment that withholds something or changes during the run.
#[derive(Clone, Copy, Debug)]
pub struct Place {
    /// The environment, in the words of a user who is in it.
    pub place: &'static str,
    /// A short sentence with the visible effect and the exit status.
    pub happens: &'static str,
    /// `suite::module::function` below `tests/tests`; a suite of one file has no module. A test of the program's library
    /// has its path in it, behind `latency_bench`.
    pub test: &'static str,
}

const fn row(place: &'static str, happens: &'static str, test: &'static str) -> Place {
    Place { place, happens, test }
}

/// All places, grouped by the missing resource.
pub const PLACES: &[Place] = &[
    // File systems and privileges.
    row(
        "an ordinary user",
        "The same result, verified page by page, exit 0.",
        "cli::confined::an_ordinary_user_gets_the_same_result",
    ),
    row(
        "no `/proc` and no `/sys`",
        "A result with the warnings `no-proc` and `no-sys`, exit 0; the page query proves the pages.",
        "cli::confined::without_proc_and_sys",
    ),
    row(
        "a kernel without NUMA (WSL2, Android, small boards): no nodes in `/sys`, no `numa_maps`, no calls for policies",
        "The same result, exit 0, also with `--strict`: all memory is one node, and there is nothing to verify; the note \
         `no-numa`.",
        "trees::odd::a_kernel_without_numa_needs_no_proof",
    ),
    row(
        "an empty `/proc`",
        "Every experiment has a result with the warning `no-proc`, exit 0.",
        "hostile::files::without_proc",
    ),
    row(
        "an empty `/sys`",
        "Every experiment has a result with the warning `no-sys`, exit 0.",
        "hostile::files::without_sys",
    ),
    row(
        "both empty",
        "Every experiment has a result with both warnings, exit 0.",
        "hostile::files::without_proc_and_sys",
    ),
    row(
        "everything mounted read-only",
        "The same result, exit 0; `--output` is refused before anything is measured, exit 4.",
        "hostile::files::without_a_writable_file_system",
    ),
    row(
        "an ordinary user, in every experiment",
        "Every point is verified, exit 0.",
        "hostile::files::an_ordinary_user",
    ),
    row(
        "no `/sys` on a machine of two nodes",
        "The node of this CPU is measured, as the kernel names it, exit 0.",
        "emulator::scenes::without_sys_the_kernel_gives_the_node_of_the_cpu",
    ),
    row(
        "process 1 of a machine, without anything mounted",
        "It mounts what it needs, measures, says the exit status and switches the machine off.",
        "emulator::nodes::one_node",
    ),
    // System calls.
    row(
        "a container that forbids memory policies, the page query and counters",
        "Memory is placed by first touch and verified by `numa_maps`, exit 0.",
        "cli::confined::placement_is_proven_in_a_container",
    ),
    row(
        "the same container without `/proc`",
        "An error and no number, exit 2: nothing shows where the memory is.",
        "cli::confined::unprovable_placement_is_not_claimed",
    ),
    row(
        "Docker's default profile: EPERM for what it does not list",
        "Memory is placed without a policy and verified, in every experiment, exit 0.",
        "hostile::calls::in_docker",
    ),
    row(
        "Podman's default profile: ENOSYS for what it does not list",
        "Memory is bound and verified, in every experiment, exit 0.",
        "hostile::calls::in_podman",
    ),
    row(
        "any one system call that the tool makes forbidden (EPERM, ENOSYS, EINVAL)",
        "A valid result, or one error and no result, exit 0, 2, 3 or 4; 1 where a given file cannot be read.",
        "hostile::calls::each_call_may_be_forbidden_in_each_experiment",
    ),
    row(
        "a filter that answers any one system call with SIGSYS (Android, systemd's `SystemCallFilter=`)",
        "The call fails with ENOSYS: a result, or an error that names it, exit 0, 2, 3 or 4; no death by the signal.",
        "hostile::calls::a_call_that_is_answered_with_a_signal_is_one_that_fails",
    ),
    row(
        "the same on aarch64, in a guest",
        "The same.",
        "emulator::arm64::a_call_that_is_answered_with_a_signal_is_one_that_fails",
    ),
    row(
        "the same, at `exit` or `sched_getaffinity` in an experiment with threads",
        "The result, exit 0: threads sleep until the process ends, and /proc lists its CPUs.",
        "hostile::calls::a_run_with_threads_needs_neither_the_end_of_a_thread_nor_the_call_for_its_cpus",
    ),
    row(
        "a filter that ends the process at any one system call (systemd's `SystemCallFilter=`, sandboxes)",
        "The end by SIGSYS; `system --probe` names the call, exit 2.",
        "hostile::calls::a_call_that_ends_the_process_is_named_by_the_probe",
    ),
    row(
        "the same, at calls that only a measurement needs",
        "Help, saved results and references are shown, exit 0.",
        "hostile::calls::a_call_that_the_answer_does_not_need_is_not_made",
    ),
    row(
        "a system call that the tool is not known to make",
        "It makes no other: the list of calls is complete.",
        "hostile::calls::no_other_call_is_made",
    ),
    row(
        "everything forbidden but memory and messages",
        "An error and no result, exit 2 or 3.",
        "hostile::calls::when_every_request_fails_there_is_an_error",
    ),
    row(
        "`sched_setaffinity` forbidden",
        "An error that names the call, exit 2.",
        "cli::confined::without_affinity",
    ),
    row(
        "`prctl`, `getrusage` and signal masks forbidden",
        "The same result, exit 0.",
        "cli::confined::without_optional_calls",
    ),
    row(
        "`clock_gettime` forbidden",
        "The error `no usable clock`, exit 3.",
        "cli::confined::without_a_clock",
    ),
    row(
        "hardware counters not available, `--counters` given",
        "A result with the warning `counters-unavailable`, exit 0.",
        "cli::counters::counters_count_or_the_reason_is_reported",
    ),
    // The system's description of itself.
    row(
        "4096 CPUs, ids up to 8191, 1024 nodes, node ids with gaps, none of them this machine's",
        "A result for what this process may use, exit 0, or exit 2 where that is nothing.",
        "trees::odd::machines_that_are_not_at_hand",
    ),
    row(
        "`/sys` and `/proc` of directories, links in a circle, pipes, terabytes of zeros, lines of 1 MiB",
        "A result as without them: the warnings `no-sys` and `no-proc`, exit 0.",
        "trees::odd::paths_that_are_not_files",
    ),
    row(
        "numbers of 400 digits, ranges of 2^64 and backwards, caches by the hundred, distances of a wrong number",
        "What cannot be is unknown, exit 0.",
        "trees::odd::malformed_numbers",
    ),
    row(
        "no `MemAvailable`, nothing free, control groups that are full, contradictory or garbage",
        "A result, exit 0, or an error with the amounts, exit 2.",
        "trees::odd::amounts_and_control_groups",
    ),
    row(
        "a `/proc/self` that is another program's, names with escape sequences",
        "What contradicts the kernel proves nothing, and no control character is printed, exit 0.",
        "trees::odd::the_description_of_this_process",
    ),
    row(
        "every read fails with EIO, or `/sys` and `/proc` are for root alone",
        "A result with the warning `no-sys`, exit 0.",
        "trees::odd::unreadable_files_are_treated_as_missing",
    ),
    row(
        "the firmware's table of memory devices (DMI) or the counters of their errors (EDAC) absent, for root alone, \
         or damaged",
        "What cannot be read is unknown, and not zero; EDAC serves in place of the table, exit 0.",
        "trees::devices::memory_devices_and_their_errors_are_known_or_unknown",
    ),
    row(
        "caches of 4 bytes, 1 KiB, 16 TiB, 2^64 reported",
        "They are ignored with the warning `cache-size-implausible`, exit 0.",
        "trees::caches::absurd_sizes_are_ignored_and_reported",
    ),
    row(
        "200 machines with parts that are removed, exchanged or overwritten at random",
        "A result, exit 0, or one error, exit 2.",
        "trees::mutated::damaged_trees_are_measured_or_refused_with_a_message",
    ),
    // Processor.
    row(
        "the time-stamp counter forbidden",
        "Times by `clock_gettime`, no cycles, the warning `no-tsc`, exit 0.",
        "cli::confined::without_the_counter",
    ),
    row(
        "a processor without `rdtscp`",
        "The same result, exit 0.",
        "emulator::nodes::a_processor_without_rdtscp",
    ),
    row(
        "one CPU allowed",
        "That CPU is measured, with the warning `cpuset-partial`, exit 0; another `--cpu` is measured if the kernel lets \
         the process run there, and refused, exit 2, if not.",
        "cli::confined::on_one_cpu",
    ),
    row(
        "`/sys/devices/system/cpu/online` of a container (lxcfs) without the CPUs that it may use",
        "They are online, and measured, exit 0.",
        "trees::odd::cpus_that_the_kernel_allows_are_online",
    ),
    row(
        "isolated CPUs (`isolcpus=`, cpuset partitions)",
        "They are not measured, with the note `cpus-isolated`, unless they are named, exit 0; `system` lists them.",
        "trees::odd::isolated_cpus_are_pointed_out",
    ),
    row(
        "`default_hugepagesz=1G`",
        "`system` advises the pool of 2 MiB pages of each node, never the default size, exit 0.",
        "trees::odd::the_advice_for_huge_pages_names_the_pool_of_their_size",
    ),
    row(
        "a guest whose hypervisor draws a package for each CPU",
        "CPUs of one node are in no other socket, whatever the packages, exit 0.",
        "trees::cpus::packages_of_a_hypervisor_do_not_count_as_sockets",
    ),
    row(
        "a processor with several kinds of cores (hybrids, big.LITTLE)",
        "The kind of the measured core is said, and `cores` has classes for each kind, exit 0.",
        "trees::cpus::kinds_of_cores_are_told_apart",
    ),
    row(
        "one CPU allowed, in every experiment",
        "All points are measured on it, exit 0; `loaded` and `cores` need two and are refused, exit 2.",
        "hostile::start::on_one_cpu_of_the_machine",
    ),
    row(
        "CPUs that are offline",
        "They are left out, exit 0; asked for by number, they are refused, exit 1 or 2.",
        "emulator::nodes::cpus_that_are_switched_off_are_left_out",
    ),
    row(
        "a node without memory",
        "It is measured from and not measured, exit 0; `--memnode` of it is refused, exit 2.",
        "emulator::nodes::a_node_without_memory_is_only_an_initiator",
    ),
    row(
        "a node without CPUs",
        "It is measured and not measured from, exit 0; `--cpunode` of it is refused, exit 2.",
        "emulator::nodes::a_memory_only_node_is_only_a_target",
    ),
    row(
        "a node with neither CPU nor memory",
        "It is left out, exit 0.",
        "emulator::nodes::an_empty_node_is_left_out",
    ),
    row("eight nodes", "All 64 pairs, each verified, exit 0.", "emulator::kernels::eight_nodes"),
    row(
        "NUMA switched off on a machine of two nodes (`numa=off`)",
        "One node with all CPUs is measured, exit 0; another is refused, exit 1.",
        "emulator::kernels::numa_switched_off",
    ),
    row(
        "firmware that declares no nodes, and five levels of page tables switched off (`no5lvl`)",
        "The same result of one node, exit 0.",
        "emulator::kernels::firmware_that_declares_no_nodes_and_no_huge_pages",
    ),
    row(
        "five levels of page tables",
        "The same result, exit 0.",
        "emulator::kernels::five_levels_of_page_tables",
    ),
    // Kernels.
    row(
        "the oldest kernel of Debian's archive (5.10 when this was written)",
        "Every experiment's result, each point verified, exit 0.",
        "emulator::kernels::every_experiment_runs_with_the_oldest_kernel",
    ),
    row(
        "the newest kernel of Debian's archive (7.3 when this was written)",
        "Every experiment's result, each point verified, exit 0.",
        "emulator::kernels::every_experiment_runs_with_the_newest_kernel",
    ),
    // Memory.
    row(
        "`vm.overcommit_memory=2`, or a limit of address space (`ulimit -v`, RLIMIT_AS) or data (`ulimit -d`, RLIMIT_DATA) \
         below what the default needs",
        "The default working set is smaller, with the warning `size-clipped`, exit 0; a larger `--size` is refused with the \
         name of the limit, exit 2.",
        "trees::odd::limits_of_memory_reduce_the_default_and_are_named",
    ),
    row(
        "CPUs of two packages in one node (NPS0, node interleaving, `numa=off`)",
        "The note `node-spans-packages`, and no published figure of memory, exit 0; `system` lists both packages.",
        "trees::cpus::packages_within_a_node_are_listed",
    ),
    row(
        "address space of 1 to 16 MiB (`ulimit -v`)",
        "An error that names the limit or the failed call, exit 2; below 1 MiB the kernel itself may not start the executable.",
        "cli::confined::without_memory",
    ),
    row(
        "a stack of 12 KiB beside arguments and environment (`ulimit -s`)",
        "The same result, exit 0; below, the kernel itself may not start the executable.",
        "cli::confined::with_a_small_stack",
    ),
    row(
        "limits of address space, data, descriptors, file size, locked memory or processes, from next to nothing up",
        "A valid result, or one error and no result, exit 0 to 4.",
        "hostile::limits::each_limit_in_each_experiment",
    ),
    row(
        "CPU time that ends during the run (`ulimit -t`, from 2 s on)",
        "A partial result a second before it ends, exit 130; a limit of 1 s is the kernel's, which kills.",
        "hostile::limits::the_result_is_partial_at_the_cpu_time_limit",
    ),
    row(
        "CPU time that suffices",
        "The same result, exit 0.",
        "hostile::limits::sufficient_cpu_time_changes_nothing",
    ),
    row(
        "more memory asked for than a node has",
        "An error with what is free, exit 2.",
        "emulator::errors::requests_that_two_nodes_cannot_meet",
    ),
    row(
        "memory full of cached files",
        "They count as free, and the usual size is measured, exit 0.",
        "emulator::scenes::memory_full_of_file_pages_measures_the_default_size",
    ),
    row(
        "a memory control group smaller than all working sets",
        "Smaller working sets with the warning `size-clipped`, exit 0.",
        "emulator::scenes::four_nodes_share_the_limit_of_a_control_group",
    ),
    row(
        "a pool of huge pages that is empty or too small",
        "An error with the command that fills the pool, exit 2.",
        "emulator::pages::a_pool_that_is_too_small_is_a_placement_failure",
    ),
    row(
        "transparent huge pages switched off, `--pages=thp` given",
        "An error with the command that switches them on, exit 2.",
        "emulator::pages::huge_pages_come_from_the_target_nodes_pool",
    ),
    row(
        "transparent huge pages switched off, no `--pages`",
        "A result on pages of 4 KiB, exit 0.",
        "emulator::kernels::firmware_that_declares_no_nodes_and_no_huge_pages",
    ),
    row(
        "transparent huge pages split during the run",
        "A result with the warning `huge-pages-changed`, exit 0.",
        "emulator::scenes::pages_that_are_split_are_noticed",
    ),
    row(
        "another program takes the huge pages between the mapping and the first touch",
        "No SIGBUS: the error `another process took the 2 MiB pages of node 1`, exit 2; `--pages=auto` takes others.",
        "emulator::scenes::a_pool_that_is_taken_before_the_first_touch_is_an_error",
    ),
    row(
        "6 to 11 MiB of address space (`ulimit -v`), in every experiment",
        "A result, exit 0, or an error and no document, exit 2.",
        "hostile::limits::a_result_without_a_value_is_an_error",
    ),
    row(
        "memory control groups of 8 to 64 MiB",
        "The working set is reduced, with the warning `size-clipped`, exit 0; no process is killed.",
        "emulator::scenes::a_small_control_group_does_not_kill_the_run",
    ),
    // Threads.
    row(
        "`clone` forbidden (EPERM, ENOSYS)",
        "`bandwidth` of several CPUs ends with an error that says what to allow, exit 2; of one CPU it works, exit 0. `loaded` and `cores` end with the same error, exit 2.",
        "hostile::threads::without_threads_one_cpu_is_measured",
    ),
    row(
        "a control group that may have one process (`pids.max`)",
        "`bandwidth` measures one core, with the warning `threads-refused`, exit 0; `loaded` and `cores` end with an error that names the limits, exit 2.",
        "hostile::threads::one_core_is_measured_if_a_group_may_have_one_process",
    ),
    row(
        "a user who may have one process (`ulimit -u`)",
        "The same, exit 0 or 2.",
        "hostile::threads::one_core_is_measured_if_a_user_may_have_one_process",
    ),
    row(
        "one CPU (`taskset`)",
        "`bandwidth` measures one core, exit 0; `--load-cpus` with others is refused, and so are `loaded` and `cores`, exit 2.",
        "hostile::threads::on_one_cpu_one_core_is_measured",
    ),
    row(
        "half of a CPU's time (`cpu.max`)",
        "`bandwidth` and `loaded` have the warning `throttled`, exit 0, or 3 with `--strict`.",
        "hostile::threads::an_exhausted_cpu_time_quota_is_reported",
    ),
    // Other programs.
    row(
        "another program busy on the same CPU",
        "`Trust: poor` with the reason `other-work`, exit 0, or 3 with `--strict`.",
        "cli::trust::a_busy_loop_on_the_same_cpu_makes_a_result_poor",
    ),
    row(
        "the thread moved to another CPU from outside",
        "It goes back, with the warning `thread-moved`, exit 0.",
        "cli::trust::a_moved_thread_returns_and_is_reported",
    ),
    row(
        "a cpuset that loses the CPU during the run",
        "An error and no result, exit 2.",
        "emulator::scenes::a_cpuset_that_loses_the_cpu_is_noticed",
    ),
    row(
        "somebody moves the thread to another CPU again and again, in each experiment",
        "It goes back, leaves those trials out, and counts them in the warning `thread-moved`, exit 0.",
        "meanwhile::a_moved_thread_returns_and_the_result_says_so",
    ),
    row(
        "the CPU goes offline, or the clock of the day is set by a day, during the run",
        "The error `CPU 1 became unavailable`, exit 2; the clock changes nothing, exit 0.",
        "emulator::scenes::an_offline_cpu_and_a_changed_clock_are_noticed",
    ),
    row(
        "SIGSTOP and SIGCONT in the rounds of each experiment",
        "What was interrupted is left out, exit 0.",
        "meanwhile::a_stopped_process_continues_with_correct_results",
    ),
    row(
        "stopped for longer than `--budget`",
        "It ends with what it has and the warning `budget-over`, and names what it left out, exit 0.",
        "meanwhile::a_process_stopped_beyond_its_budget_ends_and_names_the_rest",
    ),
    row(
        "stopped for longer than `--time-limit`",
        "It ends with what it has and the warning `precision-not-reached`, exit 0.",
        "meanwhile::a_process_stopped_beyond_its_time_limit_ends",
    ),
    // Signals.
    row(
        "SIGINT, SIGTERM or SIGHUP during the run",
        "A result of what was finished, marked as partial, exit 130.",
        "cli::interrupt::finished_results_are_printed_as_partial",
    ),
    row(
        "SIGINT before anything is finished",
        "No number, no file, exit 130.",
        "cli::interrupt::an_early_interrupt_prints_no_result",
    ),
    row(
        "SIGHUP under `nohup`",
        "It stays ignored, exit 0.",
        "cli::interrupt::an_ignored_hangup_stays_ignored",
    ),
    row(
        "a signal while `fit -` waits for its input",
        "The end by that signal, and no file.",
        "cli::interrupt::waiting_for_a_saved_result_can_be_interrupted",
    ),
    // Streams and files.
    row(
        "a full device as standard output or output file",
        "The error `No space left on device`, exit 4.",
        "cli::output::a_full_device_is_reported",
    ),
    row(
        "standard output closed",
        "The error `Bad file descriptor`, exit 4.",
        "cli::output::a_closed_standard_output_is_reported",
    ),
    row(
        "all standard streams closed, `--output` given",
        "The file has the result and no message, exit 0.",
        "cli::output::other_closed_descriptors_do_not_matter",
    ),
    row(
        "a pipe whose reader is gone",
        "The error `Broken pipe`, exit 4.",
        "cli::output::a_broken_pipe_is_reported",
    ),
    row(
        "each standard stream good, closed, full or gone, in all 64 combinations",
        "Exit 0 where standard output takes the result, else 4 with one error, if that can be read.",
        "hostile::streams::every_combination_of_streams",
    ),
    row(
        "standard output and error closed, full or gone, `--output` given",
        "The file has the result, exit 0.",
        "hostile::streams::a_file_needs_no_stream",
    ),
    row(
        "`fit -` with standard input empty, closed, endless or gone",
        "An error about the input, exit 1.",
        "hostile::streams::a_missing_saved_result_is_an_error",
    ),
    row(
        "files limited in size (`ulimit -f`)",
        "The error `File too large`, exit 4; an older result stays as it was.",
        "cli::output::a_result_that_does_not_fit_leaves_nothing",
    ),
    row(
        "`--output` that cannot be a file",
        "Refused before anything is measured, exit 4.",
        "cli::output::an_output_that_is_not_a_file_is_refused_before_measuring",
    ),
    row(
        "a disk that is full when the output file is written",
        "The error `No space left on device`, exit 4; an older result stays as it was.",
        "signals::files::a_full_disk_leaves_the_older_result",
    ),
    row(
        "a disk that fails when the output file is written, synced, linked or renamed",
        "The error, exit 4; an older result stays as it was, and no part of the new one is left.",
        "signals::files::a_call_that_fails_leaves_the_older_result_or_none",
    ),
    row(
        "a disk that fails when the output file's directory is synced",
        "The file is complete; the error says that it may not outlast a crash, exit 4.",
        "signals::files::a_failed_sync_of_the_directory_is_reported",
    ),
    row(
        "a file system without `O_TMPFILE`",
        "The file has a temporary name until it is complete, exit 0.",
        "signals::files::without_unnamed_files_a_temporary_one_is_used",
    ),
    row(
        "a file system without `fsync`",
        "The same result, exit 0.",
        "signals::files::unsupported_syncs_are_ignored",
    ),
    row(
        "a directory that may be written and not read",
        "It gets the output file, exit 0.",
        "signals::files::an_unreadable_directory_gets_the_file",
    ),
    row(
        "`--dry-run` with `--output`",
        "The plan goes to standard output, exit 0; no file is made or replaced.",
        "cli::output::a_plan_goes_to_standard_output_and_replaces_no_file",
    ),
    row(
        "`--output` with an unknown extension and no `--format`",
        "Refused with the extensions that there are, exit 1.",
        "cli::output::an_extension_without_a_format_is_refused",
    ),
    row(
        "an output that is one of the inputs, by any name, link or redirection",
        "Refused before anything is read, exit 1; the input stays as it was.",
        "cli::output::an_output_that_is_an_input_is_refused_and_keeps_it",
    ),
    row(
        "`--output` over a file of another user, or of mode 0444, as root",
        "A new file with the same owner and mode takes its name, exit 0.",
        "cli::output::a_file_of_another_user_keeps_its_owner_and_mode",
    ),
    row(
        "a signal while `--output` is a FIFO without a reader, or while standard output or error is full",
        "The end within 200 ms of its own waiting, exit 130; no part of a file is left.",
        "signals::blocked::a_signal_ends_a_process_that_waits_for_a_reader",
    ),
    row(
        "SIGINT at any moment of any experiment",
        "The end within 200 ms of CPU time and of its own waiting, with what was measured, exit 130; before anything is measured, without a file.",
        "signals::moments::an_interrupt_ends_every_phase_of_every_experiment",
    ),
    row(
        "`--iters` or `--warmup-iters` that would take years",
        "The run ends at `--time-limit`, exit 0.",
        "signals::bounds::trials_and_warm_ups_end_at_the_time_limit",
    ),
    row(
        "SIGQUIT, SIGUSR1, SIGALRM or SIGKILL during the run",
        "The end by that signal; an older result stays as it was, and no other file is left.",
        "signals::files::no_signal_leaves_a_file_behind",
    ),
    row(
        "the same without `O_TMPFILE`, but for SIGKILL",
        "The points measured so far are written as a partial result, exit 130; no temporary file is left.",
        "signals::files::a_temporary_file_is_removed_by_any_signal",
    ),
    row(
        "`exit_group` forbidden",
        "The same exit status, by `exit`; with both forbidden, the end by SIGILL.",
        "signals::ends::the_process_ends_without_exit_group",
    ),
    row(
        "`open`, `read`, `write` or `madvise` that is always interrupted",
        "The error `Interrupted system call` after 100 attempts, with the exit status of that error.",
        "signals::ends::a_call_that_is_always_interrupted_is_an_error",
    ),
    // Files.
    row(
        "a file of 100 MB, a hole of 1 TiB, `/dev/zero` or `/dev/urandom` as a saved result",
        "An error that names the limit of 16 MiB, exit 1.",
        "cli::files::an_oversized_file_is_read_only_up_to_the_limit",
    ),
    row(
        "a pipe into `fit` that never ends",
        "The same error, exit 1.",
        "cli::files::an_endless_pipe_is_read_only_up_to_the_limit",
    ),
    row(
        "a million brackets, 16 MB of digits, or another file that costs a reader most",
        "An error with the line, exit 1, in less than 64 MiB and 15 s of CPU time.",
        "cli::files::a_file_of_the_largest_size_is_read_in_time",
    ),
    row(
        "saved results of 4096 points",
        "A verdict or the levels, exit 0, in the same bounds.",
        "cli::files::results_with_the_most_points_are_read_in_time",
    ),
    row(
        "several processors of one name in a fleet (model, stepping, masked model, caches, hypervisor, nodes)",
        "Each kind with at least five hosts is judged by its own kind, others are listed with the reason, exit 0 or 5.",
        "cli::identity::each_kind_of_processors_of_one_name_is_judged_among_itself",
    ),
    row(
        "a directory, `/proc/self/mem` or the executable as a saved result",
        "An error that names it and the reason, exit 1.",
        "cli::files::a_path_that_is_not_a_file_is_named",
    ),
    row(
        "a saved result whose reading fails in the middle",
        "The error `Input/output error`, exit 1, and no levels of what was read.",
        "cli::files::a_partly_unreadable_file_is_refused",
    ),
    row(
        "a saved result that grows while it is read",
        "It is read as far as it is, exit 0, or refused, exit 1.",
        "cli::files::a_growing_file_is_read_to_its_current_end",
    ),
    row(
        "a FIFO without a writer as a saved result",
        "It waits; a signal ends it at once.",
        "cli::files::a_named_pipe_is_awaited_and_read",
    ),
    row(
        "a table without a point, or in UTF-16",
        "An error, exit 1.",
        "cli::tables::a_result_without_a_point_is_an_error",
    ),
    row(
        "a table of numbers that do not form a curve",
        "An error that says how uncertain a model of them is, exit 1.",
        "cli::tables::numbers_that_are_not_a_curve_get_no_levels",
    ),
    row(
        "a file name with terminal escapes",
        "It is shown escaped, in every format and message.",
        "cli::tables::a_name_cannot_steer_the_terminal",
    ),
    row(
        "`--size=900T`",
        "One error before anything is announced, exit 2.",
        "cli::tables::impossible_requests_are_refused_before_any_announcement",
    ),
    // Tables and identities that look like others.
    row(
        "latencies between CPUs from another tool (core-to-core-latency, c2clat), one pair ten times slower",
        "`compare` has every pair with both CPUs, and the slow one is a regression, exit 5.",
        "cli::tables::a_slower_pair_of_cpus_in_another_tools_table_is_found",
    ),
    row(
        "one host in a fleet with another processor of the same name (model, stepping, core type, caches)",
        "It is listed apart with the reason, exit 0; `compare` names the difference first and judges, exit 5.",
        "cli::identity::hosts_with_another_processor_of_the_same_name_are_listed_apart_with_the_reason",
    ),
    row(
        "a hypervisor that reports the model of a processor without its features (AVX-512, AMX, size of the L2)",
        "No published figure is applied, and the text names the feature that contradicts the model.",
        "latency_bench::analysis::reference::tests::a_guest_with_features_that_its_model_does_not_have_has_no_reference",
    ),
    row(
        "tables of tinymembench, which leave out the L1 and may end before memory",
        "Levels are named from the rows that are there, with `memory not reached`, exit 0.",
        "cli::tables::the_levels_of_tinymembench_have_their_own_names",
    ),
    row(
        "a curve with steps that are sharper than its grid",
        "The size of a level lies between the two neighbouring points, without a middle.",
        "latency_bench::analysis::curve::tests::the_size_of_a_sharp_step_lies_between_its_neighbours",
    ),
    row(
        "a first CPU of a node that is idle, or that other processes keep busy",
        "A page names the chosen CPU, and the reason if another one was chosen.",
        "latency_bench::tests::golden::claims::the_page_tells_the_chosen_cpu_and_the_reason",
    ),
    row(
        "logs of Intel MLC 3.0 to 3.9 as people paste them: quoted, with blank lines, without the first line",
        "`compare` reads the latencies and says which lines of bandwidths are left out, exit 0 or 5.",
        "cli::tables::logs_of_mlc_are_read_as_people_paste_them",
    ),
    row(
        "`reference` with a name of no processor",
        "`No reference matches` with the nearest names, exit 0.",
        "cli::usage::a_processor_is_found_by_the_names_that_people_type",
    ),
    // Arguments.
    row(
        "thousands of arguments, or one of any length",
        "An error about the first that makes no sense, exit 1.",
        "arguments::many_arguments_are_answered",
    ),
    row(
        "`execve` without any argument, nor an environment",
        "The default experiment.",
        "hostile::start::without_any_argument_not_even_the_name",
    ),
    row("no environment", "The same result, exit 0.", "hostile::start::without_an_environment"),
    row(
        "an environment of a megabyte, with names and values that mean nothing",
        "The same result, exit 0.",
        "hostile::start::with_an_environment_of_a_megabyte",
    ),
    row(
        "no program name in the arguments",
        "The same result, exit 0.",
        "arguments::a_program_without_a_name_runs",
    ),
];

/// Returns the table as Markdown.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from("| place | what happens | test |\n| --- | --- | --- |\n");
    for Place { place, happens, test } in PLACES {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "| {place} | {happens} | `{test}` |");
    }
    text
}
