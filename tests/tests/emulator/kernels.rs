//! Old and new kernels, and kernels without NUMA, without huge pages, or with five levels of page tables.

use super::errors::assert_refused;
use super::*;
use latency_tests::document::text;
use latency_tests::skip::not_shown;
use latency_tests::vm::{Age, Architecture, at_the_end, available, release};
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// Time limit of unusual kernels. Without any output until then, a kernel counts as one that does not boot; usual
/// kernels need 5 s.
const FURTHER_LIMIT: Duration = Duration::from_secs(120);

const SYSTEM: [&str; 2] = ["system", "--json"];

/// Asserts the nodes that `system` shows, and its text on transparent huge pages: the kernel switches them
/// off in a machine of less than 512 MiB.
fn assert_system(console: &Console, nodes: u64, huge: &str) -> Value {
    let document = console.expect_json(0);
    assert_valid(&document);
    let found: Vec<u64> = array(&document, "/system/nodes").iter().map(|node| number(node, "/id")).collect();
    assert_eq!(found, (0..nodes).collect::<Vec<_>>(), "{document:#}");
    assert_eq!(text(&document, "/system/transparent_huge_pages"), huge);
    document
}

/// Returns true if the kernel uses five levels of page tables: otherwise it hides the flag.
fn has_five_levels(console: &Console) -> bool {
    let flags = console.lines().find(|line| line.starts_with("flags"));
    flags.unwrap_or_else(|| panic!("no flags\n{}", console.framed())).split(' ').any(|flag| flag == "la57")
}

/// Prints the kernels that a passing test has booted; the output bypasses the capture.
fn say(words: &str) {
    // If standard error is closed, there is no other place to report it.
    let _ = writeln!(std::io::stderr(), "\n{words}");
}

/// Returns the arguments of the shortest possible run.
fn on_node_0<'a>(experiment: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    let words = [experiment, "--json", "--trials=3", "--cpunode=0", "--memnode=0"];
    words.into_iter().chain(more.iter().copied()).collect()
}

/// Runs every experiment with a kernel. Returns false if the kernel does not come up on this emulator.
fn every_experiment_runs(image: &Path) -> bool {
    let machine = Machine::new(&[NodeSpec::new(1, 512); 2])
        .distances(&TWO)
        .kernel(image)
        .timeout(FURTHER_LIMIT)
        .kernel_parameter("transparent_hugepage=madvise")
        // Kernels before 5.15 detect no nodes here, and spread the pages.
        .kernel_parameter("hugepages=32")
        .scene(&["show=/proc/cpuinfo"]);
    let booted = machine.try_boot_all([
        &SYSTEM,
        &options(&MATRIX),
        &options(&["--json", "--pages=thp"]),
        &options(&["--json", "--pages=2m"]),
        &on_node_0("curve", &["--min-size=64K", "--max-size=256K", "--iters=500"]),
        &on_node_0("order", &["--size=1M", "--iters=500"]),
        &on_node_0("variants", &["--size=1M", "--iters=500"]),
        &on_node_0("pages", &["--size=1M", "--iters=500"]),
        &on_node_0("parallel", &["--size=1M"]),
        &on_node_0("window", &["--size=1M"]),
        &on_node_0("distribution", &["--size=1M"]),
    ]);
    let Some([system, small, transparent, pool, others @ ..]) = booted.unwrap_or_else(|why| panic!("{why}"))
    else {
        let bare = uniform(1).kernel(image).boot_once(&["--help"]);
        let comes_up = bare.is_ok_and(|boot| !boot.console.is_silent());
        assert!(!comes_up, "{} comes up, and not as this machine", release(image));
        return false;
    };
    let document = assert_system(&system, 2, "madvise");
    assert_eq!(text(&document, "/system/kernel"), release(image));
    assert_matrix(&small, &[0, 1], &[0, 1]);
    for (console, pages, bytes) in [(transparent, "thp", 4096), (pool, "2m", 2 << 20)] {
        let document = console.expect_json(0);
        assert_eq!(pairs(&document), combinations(&[0, 1], &[0, 1]));
        for pair in &points(&document) {
            assert_placed(pair, pages, bytes);
        }
    }
    for console in others {
        let document = console.expect_json(0);
        assert_valid(&document);
        let measured = array(&document, "/rows").iter().filter(|point| !at(point, "/ns").is_null());
        let proven = measured.map(|point| at(point, "/verified")).collect::<Vec<_>>();
        assert!(!proven.is_empty() && proven.iter().all(|&proven| proven == true), "{document:#}");
    }
    true
}

/// Runs every experiment with the oldest or the newest kernel. A kernel that cannot be fetched, or that this
/// emulator cannot boot, shows nothing: this is reported, and the test does not fail, since every other test
/// boots the kernel of this system's release.
fn with_kernel_of(test: &str, age: Age) {
    let usual = available(Architecture::X86_64).map(release).unwrap_or_default();
    match at_the_end(age) {
        Err(reason) => not_shown(test, &format!("the {age:?} kernel cannot be fetched: {reason}")),
        Ok(image) if every_experiment_runs(&image) => {
            say(&format!("KERNELS {age:?}: {}; beside {usual}", release(&image)));
        }
        Ok(image) => not_shown(test, &format!("{} does not boot on this emulator", release(&image))),
    }
}

#[test]
fn every_experiment_runs_with_the_oldest_kernel() {
    const TEST: &str = "emulator::every_experiment_runs_with_the_oldest_kernel";
    in_guests(TEST, || with_kernel_of(TEST, Age::Oldest));
}

#[test]
fn every_experiment_runs_with_the_newest_kernel() {
    const TEST: &str = "emulator::every_experiment_runs_with_the_newest_kernel";
    in_guests(TEST, || with_kernel_of(TEST, Age::Newest));
}

#[test]
fn numa_switched_off() {
    in_guests("emulator::numa_switched_off", || {
        let [system, matrix, other] = uniform(2).kernel_parameter("numa=off").boot_all([
            &SYSTEM,
            &options(&MATRIX),
            &options(&["--memnode=1"]),
        ]);
        let document = assert_system(&system, 1, "never");
        assert_eq!(text(&document, "/system/nodes/0/cpus"), "0-1");
        assert_matrix(&matrix, &[0], &[0]);
        assert_refused(&other, 1, "invalid node id 1 (max node = 0)");
    });
}

#[test]
fn firmware_that_declares_no_nodes_and_no_huge_pages() {
    in_guests("emulator::firmware_that_declares_no_nodes_and_no_huge_pages", || {
        let machine = Machine::new(&[NodeSpec::new(2, 512)])
            .kernel_parameter("transparent_hugepage=never")
            .kernel_parameter("no5lvl")
            .scene(&["show=/proc/cpuinfo"]);
        let [system, matrix, pages] = machine.boot_all([
            &SYSTEM,
            &options(&["--json"]),
            &["pages", "--json", "--size=4M", "--trials=3", "--iters=500"],
        ]);
        assert!(!has_five_levels(&system));
        assert_system(&system, 1, "never");
        assert_matrix(&matrix, &[0], &[0]);
        let document = pages.expect_json(0);
        assert_valid(&document);
    });
}

#[test]
fn five_levels_of_page_tables() {
    in_guests("emulator::five_levels_of_page_tables", || {
        let machine = uniform(2).cpu_model("max,+la57").scene(&["show=/proc/cpuinfo"]);
        let [system, matrix] = machine.boot_all([&SYSTEM, &options(&MATRIX)]);
        assert!(has_five_levels(&system), "{}", system.framed());
        assert_system(&system, 2, "never");
        assert_matrix(&matrix, &[0, 1], &[0, 1]);
    });
}

#[test]
fn eight_nodes() {
    in_guests("emulator::eight_nodes", || {
        let nodes: Vec<u64> = (0..8).collect();
        let [system, matrix] = uniform(8).boot_all([&SYSTEM, &options(&MATRIX)]);
        assert_system(&system, 8, "always");
        assert_matrix(&matrix, &nodes, &nodes);
    });
}
