//! Conditions that are prepared in the guest: memory full of file pages, limits, CPUs that are taken away.

use super::errors::assert_refused;
use super::*;
use latency_tests::document::{point, warnings};
use latency_tests::run::ERROR;

/// Adds a disk of this size that contains only zeroes.
fn with_disk(machine: Machine, size: &str) -> Machine {
    let drive = format!("driver=null-co,size={size},read-zeroes=on,if=none,id=disk");
    machine.qemu_arguments(&["-drive", &drive, "-device", "nvme,drive=disk,serial=disk"])
}

/// Memory that the kernel can reclaim is available for the measurement.
#[test]
fn memory_full_of_file_pages_measures_the_default_size() {
    in_guests("emulator::memory_full_of_file_pages_measures_the_default_size", || {
        let machine = with_disk(Machine::new(&[NodeSpec::new(1, 640)]), "700M");
        let [system, matrix] = machine.scene(&["file-pages=/dev/nvme0n1"]).boot_all([
            &["system", "--json"],
            &["--json", "--pages=4k", "--trials=3", "--iters=500", "--warmup-iters=1000"],
        ]);
        let free = number(&system.expect_json(0), "/system/nodes/0/free_bytes");
        assert!(free < 128 << 20, "the scene is not as it should be: {free} bytes are free");
        let document = matrix.expect_json(0);
        assert_eq!(number(&document, "/rows/0/working_set_bytes"), 256 << 20, "{document:#}");
    });
}

/// A system call also gives the node of a CPU.
#[test]
fn without_sys_the_kernel_gives_the_node_of_the_cpu() {
    in_guests("emulator::without_sys_the_kernel_gives_the_node_of_the_cpu", || {
        let machine = Machine::new(&[NodeSpec::new(1, 320), NodeSpec::new(1, 320)]);
        let [matrix] = machine.scene(&["no-sys=", "on-cpu=1"]).boot_all([&[
            "--json",
            "--pages=4k",
            "--size=4M",
            "--trials=3",
            "--iters=500",
            "--warmup-iters=1000",
        ]]);
        let document = matrix.expect_json(0);
        let pair = &point(&document, 0);
        assert_eq!(
            (number(pair, "/initiator_node"), number(pair, "/target_node"), number(pair, "/initiator_cpu")),
            (1, 0, 1),
            "{pair:#}"
        );
        assert_eq!(at(pair, "/verified"), true, "{pair:#}");
    });
}

/// The limit is below the working sets of all targets together.
#[test]
fn four_nodes_share_the_limit_of_a_control_group() {
    in_guests("emulator::four_nodes_share_the_limit_of_a_control_group", || {
        let machine = Machine::new(&[NodeSpec::new(1, 640); 4]).scene(&["memory-max=700M"]);
        let [console] =
            machine.boot_all([&["--json", "--pages=4k", "--trials=1", "--iters=500", "--warmup-iters=1000"]]);
        let document = console.expect_json(0);
        assert_eq!(pairs(&document).len(), 16, "{document:#}");
        assert!(warnings(&document).contains(&"size-clipped"), "{document:#}");
    });
}

/// The kernel moves the thread away and does not let it return: the CPU to be measured is not available any more.
#[test]
fn a_cpuset_that_loses_the_cpu_is_noticed() {
    in_guests("emulator::a_cpuset_that_loses_the_cpu_is_noticed", || {
        let machine = uniform(2).scene(&["cpus=0-1", "then-cpus=1"]);
        let [console] = machine.boot_all([&[
            "--json",
            "--size=4M",
            "--pages=4k",
            "--iters=2000",
            "--trials=30",
            "--cpunode=0",
            "--memnode=0",
            "--progress=always",
        ]]);
        console.expect_status(2).expect_line(&format!("{ERROR}CPU 0 became unavailable (cpuset or hotplug)"));
        assert!(console.json().is_none(), "{}", console.framed());
    });
}

#[test]
fn pages_that_are_split_are_noticed() {
    in_guests("emulator::pages_that_are_split_are_noticed", || {
        let machine = Machine::new(&[NodeSpec::new(1, 768)])
            .kernel_parameter("transparent_hugepage=madvise")
            .scene(&["then-split=yes"]);
        let [console] = machine.boot_all([&[
            "--json",
            "--size=8M",
            "--pages=thp",
            "--iters=2000",
            "--trials=30",
            "--progress=always",
            "--strict",
        ]]);
        let document = console.expect_json(3);
        assert_eq!(at(&document, "/rows/0/pages_obtained"), "thp", "{document:#}");
        assert!(warnings(&document).contains(&"huge-pages-changed"), "{document:#}");
        assert_eq!(at(&document, "/trust/level"), "poor", "{document:#}");
        console.expect_line(&format!("{ERROR}--strict: the result is unreliable (huge-pages-changed)"));
    });
}

/// A run of more than three rounds, during which a scene changes.
const ROUNDS: [&str; 6] =
    ["--json", "--size=4M", "--pages=4k", "--iters=2000", "--trials=30", "--progress=always"];

#[test]
fn an_offline_cpu_and_a_changed_clock_are_noticed() {
    in_guests("emulator::an_offline_cpu_and_a_changed_clock", || {
        let [mine, clock, back] = Machine::new(&[NodeSpec::new(2, 320)]).boot_all([
            &[&["then-offline=1"], &ROUNDS[..], &["--cpu=1"]].concat(),
            &[&["then-clock=86400"], &ROUNDS[..], &["--cpu=0"]].concat(),
            &[&["then-clock=-86400"], &ROUNDS[..], &["--cpu=0"]].concat(),
        ]);
        mine.expect_status(2).expect_line(&format!("{ERROR}CPU 1 became unavailable (cpuset or hotplug)"));
        assert!(mine.json().is_none(), "{}", mine.framed());
        for console in [clock, back] {
            let document = console.expect_json(0);
            let latency = at(&document, "/node_pairs/0/ns").as_f64();
            assert!(latency.is_some_and(|latency| latency > 0.0), "{document:#}");
            assert!(!warnings(&document).contains(&"timer-stepped-back"), "{document:#}");
            // The step of the clock does not appear in any duration.
            let took = at(&document, "/duration_s").as_f64();
            assert!(took.is_some_and(|seconds| (0.0..3600.0).contains(&seconds)), "{document:#}");
        }
    });
}

/// The pages are reserved for the mapping, but from all nodes together: at the first touch the node has none.
#[test]
fn a_pool_that_is_taken_before_the_first_touch_is_an_error() {
    in_guests("emulator::a_pool_that_is_taken_before_the_first_touch_is_an_error", || {
        let machine = uniform(2).huge_pages(&[(0, 8), (1, 8)]);
        let taken = ["--size=4M", "--trials=3", "--pages=2m", "--cpunode=0", "--memnode=1"];
        let auto = ["--size=4M", "--trials=3", "--json", "--cpunode=0", "--memnode=1"];
        let [asked, old, any, oldest] = machine.boot_all([
            &[&["pool-taken=1"], &taken[..]].concat(),
            &[&["pool-taken=1", "no-populate=yes"], &taken[..]].concat(),
            &[&["pool-taken=1"], &auto[..]].concat(),
            &[&["no-populate=yes"], &taken[..]].concat(),
        ]);
        for console in [asked, old] {
            assert_refused(&console, 2, "another process took the 2 MiB pages of node 1");
        }
        let document = any.expect_json(0);
        assert_placed(&point(&document, 0), "4k", 4096);
        // If no other program takes them, an old kernel provides them.
        oldest.expect_status(0);
    });
}

/// Exceeding the limit would kill the process without a message.
#[test]
fn a_small_control_group_does_not_kill_the_run() {
    in_guests("emulator::a_small_control_group_does_not_kill_the_run", || {
        let run = ["--json", "--pages=4k", "--trials=1", "--iters=500"];
        let [a, b, c] = Machine::new(&[NodeSpec::new(1, 640)]).boot_all([
            &[&["memory-max=8M"], &run[..]].concat(),
            &[&["memory-max=16M"], &run[..]].concat(),
            &[&["memory-max=64M"], &run[..]].concat(),
        ]);
        for (console, limit) in [(a, 8), (b, 16), (c, 64_u64)] {
            let document = console.expect_json(0);
            assert!(warnings(&document).contains(&"size-clipped"), "{document:#}");
            let size = number(&document, "/rows/0/working_set_bytes");
            assert!(size > 0 && size <= limit << 20, "{document:#}");
        }
    });
}
