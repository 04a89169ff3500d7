//! The executable for aarch64 as process 1 of emulated machines.

use super::errors::assert_refused;
use super::*;
use latency_tests::document::{text, warnings};
use latency_tests::skip::skip;
use latency_tests::vm::{firmware_of_aarch64, is_ready, with_pages_of_16_kib};
use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

#[test]
fn two_nodes_of_a_device_tree() {
    in_guests_of(Architecture::Aarch64, "emulator::arm64::two_nodes_of_a_device_tree", || {
        let machine = Machine::new(&[NodeSpec::new(2, 256); 2]).distances(&[&[10, 23], &[23, 10]]);
        let machine = machine.architecture(Architecture::Aarch64).cpu_model("neoverse-n1");
        let document = assert_matrix(&machine.boot(&options(&MATRIX)), &[0, 1], &[0, 1]);
        assert_eq!(at(&document, "/system/nodes/1/distances"), &serde_json::json!([23, 10]));
        assert_eq!(text(&document, "/system/cpu/brand"), "Neoverse N1");
        assert_eq!(text(&document, "/clock/source"), "cntvct");
        // Its counters count cycles and no instructions.
        assert_eq!(text(&document, "/system/platform"), "emulated");
        assert!(warnings(&document).contains(&"emulated"), "{document:#}");
    });
}

#[test]
fn without_single_instructions_for_atomic_operations() {
    in_guests_of(
        Architecture::Aarch64,
        "emulator::arm64::without_single_instructions_for_atomic_operations",
        || {
            let machine = Machine::new(&[NodeSpec::new(2, 256)]);
            let machine = machine.architecture(Architecture::Aarch64).cpu_model("cortex-a72");
            let cores = machine.boot(&["cores", "--json", "--budget=4s"]);
            let document = cores.expect_json(0);
            assert_valid(&document);
            assert_eq!(text(&document, "/system/cpu/brand"), "Cortex-A72");
            assert!(decimal(&array(&document, "/rows")[0], "/ns") > 0.0, "{document:#}");
        },
    );
}

/// Boots guests of aarch64 with a file that has to be fetched, if both are there.
fn in_guests_with(test: &str, file: fn() -> Result<PathBuf, String>, body: impl Fn(PathBuf)) {
    in_guests_of(Architecture::Aarch64, test, || match file() {
        Ok(path) => body(path),
        Err(reason) => skip(test, &reason),
    });
}

#[test]
fn pages_of_16_kib() {
    in_guests_with("emulator::arm64::pages_of_16_kib", with_pages_of_16_kib, |kernel| {
        let machine = Machine::new(&[NodeSpec::new(2, 1024)]).architecture(Architecture::Aarch64);
        let machine = machine.kernel(&kernel).kernel_parameter("hugepagesz=32M hugepages=2");
        for base in ["--pages=4k", "--pages=base"] {
            let document = machine.boot(&options(&["--json", base])).expect_json(0);
            assert_valid(&document);
            assert_placed(&points(&document)[0], "16k", 16 << 10);
        }
        let told = machine.boot(&options(&["--pages=4k"]));
        told.expect_status(0).expect_line("16 KiB pages");
        let document = machine.boot(&options(&["--json", "--pages=32m"])).expect_json(0);
        let point = &points(&document)[0];
        assert_eq!(text(point, "/pages_obtained"), "32m", "{point:#}");
        for evidence in ["/placement/before", "/placement/after"].map(|moment| at(point, moment)) {
            assert_eq!(number(evidence, "/page_bytes"), 32 << 20, "{point:#}");
            assert_eq!(at(evidence, "/nodes"), &serde_json::json!([{ "node": 0, "pages": 1 }]), "{point:#}");
        }
        let refused = machine.boot(&options(&["--pages=64k"]));
        assert_refused(&refused, 2, "this kernel has no 64 KiB pages (huge pages: 2 MiB, 32 MiB, 1 GiB)");
        let system = machine.boot(&["system"]);
        system.expect_status(0).expect_line("hugepages-32768kB/nr_hugepages");
    });
}

/// QEMU's firmware describes the machine by ACPI: nodes by SRAT, distances by SLIT, latencies by HMAT.
#[test]
fn claims_of_the_firmware() {
    in_guests_with("emulator::arm64::claims_of_the_firmware", firmware_of_aarch64, |firmware| {
        let machine = Machine::new(&[NodeSpec::new(2, 512); 2]).distances(&[&[10, 23], &[23, 10]]);
        let machine = machine.architecture(Architecture::Aarch64).read_latencies(&[&[80, 120], &[120, 80]]);
        let machine = machine.qemu_arguments(&["-bios", firmware.to_str().expect("a path in UTF-8")]);
        let document = assert_matrix(&machine.boot(&options(&MATRIX)), &[0, 1], &[0, 1]);
        assert_eq!(at(&document, "/system/nodes/1/distances"), &serde_json::json!([23, 10]));
        for node in ["/system/nodes/0", "/system/nodes/1"] {
            assert_eq!(decimal(&document, &format!("{node}/firmware/read_ns")), 80.0, "{document:#}");
        }
        assert_eq!(text(&document, "/system/cpu/brand"), "QEMU max (QEMU Virtual Machine)");
    });
}

/// Runs the executable for aarch64 by user emulation.
fn in_user_emulation(arguments: &[&str]) -> Output {
    let program = latency_tests::program::workspace().join("target/aarch64/latency-bench");
    let output = Command::new("qemu-aarch64").arg(program).args(arguments).output();
    output.expect("qemu-aarch64, of Debian's qemu-user")
}

/// User emulation translates the addresses of a program and has no calls of NUMA, while /proc and /sys are the host's.
#[test]
fn user_emulation_measures_nothing_and_reads_results() {
    const TEST: &str = "emulator::arm64::user_emulation_measures_nothing_and_reads_results";
    if !is_ready(TEST, Architecture::Aarch64) {
        return;
    }
    let refused = in_user_emulation(&SMALL);
    let told = String::from_utf8_lossy(&refused.stderr);
    assert_eq!(refused.status.code(), Some(2), "{told}");
    assert!(told.contains("nothing here tells where pages are"), "{told}");
    let saved = latency_tests::program::workspace().join("tests/golden/matrix.json");
    let curve = latency_tests::program::workspace().join("tests/fixtures/saved/curve.json");
    let [saved, curve] = [&saved, &curve].map(|path| path.to_str().expect("a path in UTF-8"));
    for (arguments, status, word) in [
        (&["system"][..], 0, "emulated"),
        (&["--help"], 0, "Usage"),
        (&["fit", curve], 0, "L1"),
        (&["compare", saved, saved], 0, "No regression"),
        // One host cannot be judged.
        (&["fleet", saved, saved], 6, "Too few hosts"),
        (&["show", saved], 0, "0 -> 0"),
    ] {
        let output = in_user_emulation(arguments);
        let shown = String::from_utf8_lossy(&output.stdout);
        let wrong = String::from_utf8_lossy(&output.stderr);
        let ended = output.status.code() == Some(status);
        assert!(ended && shown.contains(word), "{arguments:?}: {shown}{wrong}");
    }
}

/// The system calls of a measurement on aarch64, without those that a filter which answers with a signal has to allow.
const CALLS: [(&str, u32); 40] = [
    ("fcntl", 25),
    ("ioctl", 29),
    ("unlinkat", 35),
    ("linkat", 37),
    ("renameat", 38),
    ("faccessat", 48),
    ("fchmod", 52),
    ("fchown", 55),
    ("openat", 56),
    ("close", 57),
    ("read", 63),
    ("ppoll", 73),
    ("readlinkat", 78),
    ("newfstatat", 79),
    ("fstat", 80),
    ("fsync", 82),
    ("exit", 93),
    ("futex", 98),
    ("nanosleep", 101),
    ("clock_gettime", 113),
    ("sched_setaffinity", 122),
    ("sched_getaffinity", 123),
    ("sched_yield", 124),
    ("rt_sigprocmask", 135),
    ("rt_sigpending", 136),
    ("uname", 160),
    ("getrusage", 165),
    ("prctl", 167),
    ("getcpu", 168),
    ("getpid", 172),
    ("gettid", 178),
    ("sysinfo", 179),
    ("munmap", 215),
    ("mmap", 222),
    ("madvise", 233),
    ("mbind", 235),
    ("get_mempolicy", 236),
    ("set_mempolicy", 237),
    ("move_pages", 239),
    ("prlimit64", 261),
];

/// Only a kernel answers so: user emulation has no filters.
#[test]
fn a_call_that_is_answered_with_a_signal_is_one_that_fails() {
    const TEST: &str = "emulator::arm64::a_call_that_is_answered_with_a_signal_is_one_that_fails";
    const MATRIX: [&str; 5] = ["matrix", "--size=16K", "--iters=200", "--trials=2", "--pages=base"];
    in_guests_of(Architecture::Aarch64, TEST, || {
        let words = CALLS.map(|(_, number)| format!("signal-for={number}"));
        let machine = Machine::new(&[NodeSpec::new(2, 256)]).architecture(Architecture::Aarch64);
        let machine = machine.cpu_model("neoverse-n1").timeout(Duration::from_secs(1200));
        for run in [&["system"][..], &MATRIX] {
            let runs = words.each_ref().map(|word| [&[word.as_str()], run].concat());
            let consoles = machine.boot_all(runs.each_ref().map(Vec::as_slice));
            for ((name, _), console) in CALLS.iter().zip(&consoles) {
                let said = console.printed();
                let names =
                    said.contains(name) || *name == "clock_gettime" && said.contains("no usable clock");
                let is_right = match console.exit_status() {
                    Some(0) => !said.trim().is_empty(),
                    Some(2..=4) => names,
                    _ => false,
                };
                assert!(is_right, "{name}: {run:?}: {}", console.framed());
            }
        }
    });
}
