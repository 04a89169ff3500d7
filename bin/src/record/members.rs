//! Members of documents that one part of the program writes and another reads back: each is declared once.
//!
//! The columns of points have their own table. Members that are never read back are declared where they are written.

use latency_report::document::fields;

// The document, and the run.
fields! {
    pub SCHEMA "schema" "Version of this document format; a new version changes or removes keys.";
    pub TOOL "tool" "Program that wrote this document.";
    pub TOOL_NAME "name" "Name of the program.";
    pub VERSION "version" "Version of the program.";
    pub EXPERIMENT "experiment" "Experiment or command.";
    pub COMMAND "command" "Command line arguments.";
    pub STARTED "started" "Start of the run, in UTC.";
    pub DURATION "duration_s" "Duration of the run, in seconds.";
    pub PARTIAL "partial" "True if the run was interrupted, so that only finished parts are present.";
    pub SUMMARY "summary" "Conclusions as named numbers.";
    pub ROWS "rows" "Values: flat objects with the same names in all experiments and in CSV.";
}

// The host.
fields! {
    pub HOST "host" "Identity of the measured host.";
    pub HOST_NAME "name" "Host name; empty with --anonymous.";
    pub BOOT_ID "boot_id" "Boot ID: a random number of each kernel start, which distinguishes hosts of one name and reboots; empty with --anonymous.";
    pub CPU_MODEL "cpu_model" "Model name of the processor.";
    pub LABELS "labels" "Labels given by --label.";
}

// Its hardware and its kernel.
fields! {
    pub SYSTEM "system" "Hardware, kernel and settings of the host.";
    pub MACHINE "machine" "Machine model by sysfs (DMI); empty in many virtual machines.";
    pub MACHINE_PRODUCT "product" "Product name of the machine.";
    pub BIOS_VERSION "bios_version" "Firmware version of the machine.";
    pub CPU "cpu" "Processor, by its own registers.";
    pub MICROCODE "microcode" "Microcode revision of the processor.";
    pub CPU_VENDOR "vendor" "Vendor of the processor.";
    pub CPU_BRAND "brand" "Model name of the processor.";
    pub CPU_FAMILY "family" "Family of the processor.";
    pub CPU_MODEL_NUMBER "model" "Model number of the processor.";
    pub CPU_STEPPING "stepping" "Stepping of the processor.";
    pub CPU_MASKED "model_masked" "True if extensions or sizes of private caches are not of the reported model: a hypervisor hides the real one.";
    pub CORE_TYPE "core_type" "Core type of the measuring CPU on hybrid processors; null otherwise.";
    pub KERNEL_RELEASE "kernel" "Kernel release.";
    pub PLATFORM "platform" "Bare metal, a virtual machine, or an emulator.";
    pub HYPERVISOR "hypervisor" "Name of the hypervisor; empty without one.";
    pub CLOCK_SOURCE "clock_source" "Clock source of the kernel.";
    pub GOVERNOR "governor" "CPU frequency governor.";
    pub MEMORY_ENCRYPTION "memory_encryption" "Memory encryption: `SEV`, `SEV-ES`, `SEV-SNP` or `TDX` of a guest, by its processor; `SME`, `TME`, `SEV-SNP` and `TDX` that are enabled on hardware, by the kernel. Empty if none is known: firmware can encrypt without telling.";
    pub HUGE_PAGES "transparent_huge_pages" "Setting of transparent huge pages: `always`, `madvise` or `never`; empty if unsupported.";
    pub CACHES "caches" "Reported caches of the measuring CPU.";
    pub CACHE_LEVEL "level" "Cache level, counted from the core.";
    pub CACHE_TYPE "type" "Cache type: data, instruction or unified.";
    pub CACHE_BYTES "bytes" "Capacity of the cache, in bytes.";
    pub NODES "nodes" "NUMA nodes.";
    pub NODE_CPUS "cpus" "CPUs of the node.";
    pub SIDE_CACHE "memory_side_cache" "Memory-side cache of this node; null if it has none.";
    pub DIMMS "dimms" "Memory devices, by firmware (SMBIOS, root only) or kernel (EDAC); left out if neither describes them. In a virtual machine the hypervisor makes the table.";
    pub DIMM_SLOTS "slots" "Number of slots for memory devices, populated or not; null if unknown.";
    pub DIMM_DEVICES "devices" "Populated slots.";
    pub DIMM_BYTES "bytes" "Capacity, in bytes; null if unknown.";
    pub DIMM_RATE "mt_per_s" "Configured rate in millions of transfers per second; null if unknown.";
    pub CLOCK "clock" "Clock that times trials.";
    pub COUNTER "source" "`tsc` (time-stamp counter), `cntvct` (system counter) or `clock_gettime` (clock of the kernel).";
}

// Other work, and errors of the memory.
fields! {
    pub CONDITIONS "conditions" "Activity on the machine between the first and the last trial; null if nothing was timed.";
    pub CPUS "cpus" "Activity on each CPU on which a thread of this run worked.";
    pub OTHER_PROCESSES "other_processes_share" "Share of time in which other processes ran on this CPU while this process was ready (0 to 1).";
    pub ERRORS "hardware_errors" "Errors that the kernel counts; left out if they were not read.";
    pub MEMORY_DEVICES "memory_devices" "Memory devices with errors since boot or with unknown counts; null if no driver (EDAC) counts them.";
    pub CORRECTED "corrected" "Number of corrected errors since boot; null if unknown.";
    pub UNCORRECTED "uncorrected" "Number of uncorrected errors since boot; null if unknown.";
}

// The trust in the result, and the checks behind it.
fields! {
    pub TRUST "trust" "Trust in the result, and the reasons for it.";
    pub TRUST_LEVEL "level" "`good`, `fair` (correct within its interval, but less certain or less clean than requested) or `poor` (there is evidence that a value is wrong or not verified).";
    pub REASONS "reasons" "Codes of the warnings that lower the trust.";
    pub EMULATED "emulated" "True if the machine is emulated; latencies of an emulator do not apply to hardware.";
    pub OMITTED "omitted" "Number of warnings that did not fit in the list; they count in the level.";
    pub WARNINGS "warnings" "Warnings about the result.";
    pub CODE "code" "Code of the warning, which does not change between versions.";
    pub UNTRUSTED "untrusted" "True if there is evidence that a value is wrong or not verified, so that --strict fails.";
    pub SEVERITY "severity" "`note` (no effect on trust), `fair` or `poor` (lowers the trust to this level).";
    pub HEALTH "health" "Self-tests of the program.";
    pub L1_CYCLES "l1_core_cycles" "Core cycles of an L1 hit; a whole number if the clock is right; null if unknown.";
    pub PAGES_AS_SMALL "pages_behave_as_small" "True if the TLB treats huge pages as base pages; null if unknown.";
    pub REPEAT "repeat" "Second measurement of the first point at the end, in new memory (A/A); null if it was not made.";
    pub REPEAT_RATIO "ratio" "Second measurement divided by the first.";
}

// The levels of a curve, and of the TLB.
fields! {
    pub MODEL "model" "Cache levels that the curve shows, and the fitted models.";
    pub MODEL_GHZ "core_ghz" "Core clock that converts cycles to nanoseconds, in GHz; null if unknown.";
    pub LEVELS "levels" "Cache levels as a program sees them, nearest first.";
    pub LEVEL_NS "ns" interval "Latency, in nanoseconds.";
    pub LEVEL_CYCLES "core_cycles" "Latency in core cycles; null if the core clock is unknown.";
    pub MEMORY "memory" "Memory behind the last cache level.";
    pub TLB "tlb" "First TLB level, in the pages of the curve; null if unknown.";
    pub L2_TLB "l2_tlb" "Second TLB level, in the pages of the curve; null if unknown.";
    pub TRANSLATION "translation" "Cost of address translation by span of addresses, in pages without memory of their own, for each page size.";
    pub TLB_LEVELS "tlb" "First and second TLB level, if the spans reach their ends.";
    pub TLB_PAGES "pages" interval "Number of pages up to which most loads find an entry; its bounds are those up to which nearly all do, and from which few do.";
    pub TLB_PAGE "page_bytes" "Page size of a TLB entry, in bytes.";
    pub TLB_MISS "miss_ns" "Extra time of a miss over a hit of the first level, in nanoseconds.";
}

// Curves under load, and classes of pairs of CPUs.
fields! {
    pub CURVES "curves" "Latency by bandwidth: one curve per node pair and kind of traffic.";
    pub PEAK_BANDWIDTH "peak_bandwidth" "Largest unthrottled rate; null if it was not requested.";
    pub CLASSES "classes" "CPU pairs grouped by the hardware that both CPUs share.";
    pub CORE_TYPES "core_types" "Kinds of the cores of both CPUs, in words; null if the processor has one kind.";
    pub ATOMICS "atomics" "Atomic instructions of the exchanges: `locked`, `lse` or `exclusives`.";
}

// The results within a report, and within a document of saved results.
fields! {
    pub SECTIONS_OF "sections" "Results of all experiments.";
    pub FILES "files" "Saved results.";
    pub FILE_EXPERIMENT "of" "Experiment of the result; empty if the file does not state it.";
    pub FILE_POINTS "points" "Number of points of the result.";
    pub FILE_CPU "cpu" "Model name of the processor; null if the file does not name one.";
    pub FILE_KERNEL "kernel" "Kernel release; null if the file does not name one.";
    pub FILE_TRUST "trust" "Trust by the present limits: good, fair or poor; null if the file does not state it.";
}

// Verdicts, and the parts without one.
fields! {
    pub VERDICT "verdict" "`slower` or `faster` beyond threshold and uncertainty, or `same`.";
    pub NOT_MEASURED "not_measured" "Sections that could not be measured here.";
    pub REASON "reason" "Reason why the section was not measured.";
}

// Conclusions of experiments, from which the cause of a difference is read.
fields! {
    pub SMALL_PAGES "small_pages_ns" interval "Latency over `working_set_bytes` in base pages, in nanoseconds.";
    pub LARGEST_PAGES "largest_pages_ns" interval "Latency in the largest pages, in nanoseconds.";
    pub PAGE_LOCAL "page_local_ns" interval "Latency in base pages in page-local order, in nanoseconds; null if not measured.";
    pub SMALL_TRANSLATION "small_pages_translation_ns" interval "Cost of translation of a random load over that span in base pages, in nanoseconds.";
    pub HUGE_TRANSLATION "huge_pages_translation_ns" interval "Cost of translation of a random load over that span in huge pages, in nanoseconds; null if not measured.";
    pub RANDOM "random_ns" interval "Latency of a dependent load in random order, in nanoseconds.";
    pub SEQUENTIAL "sequential_ns" interval "Latency of a dependent load in address order, in nanoseconds.";
    pub BACKWARD "backward_ns" interval "Latency of a dependent load in backward order, in nanoseconds.";
    pub MEDIAN "p50_ns" interval "Median latency of single loads, in nanoseconds.";
    pub TAIL "p99_9_ns" interval "99.9th percentile of the latency of single loads, in nanoseconds.";
    pub REORDER_BUFFER "reorder_buffer_instructions" interval "Capacity of the reorder buffer in instructions; null if not found, or larger than the test.";
    pub READ_BANDWIDTH "read_bytes_per_second" interval "Largest read rate of a pair of nodes, in bytes per second.";
    pub IDLE "idle_ns" interval "Idle latency, in nanoseconds; null if it was not measured.";
}
