//! The tool as process 1 of emulated machines: nodes, placement, page sizes and exit statuses on hardware that is not
//! available.
//!
//! No latency is asserted, because the emulator has no realistic one. Tests share a boot if they can: a guest needs
//! seconds of CPU time to boot, and the executable less than one.

mod arm64;
mod dimms;
mod errors;
mod firmware;
mod kernels;
mod nodes;
mod pages;
mod scenes;

use latency_tests::attempts::retried;
use latency_tests::document::{array, at, decimal, is_pair_line, number, pairs, points};
use latency_tests::schema::assert_valid;
use latency_tests::vm::{Architecture, Console, Machine, NodeSpec, is_ready};
use serde_json::Value;

/// Small enough for an emulator, large enough for several huge pages.
const SMALL: [&str; 3] = ["--size=4M", "--iters=500", "--trials=3"];
const WORKING_SET: u64 = 4 << 20;

/// The options for [`assert_matrix`].
const MATRIX: [&str; 2] = ["--json", "--pages=4k"];

const LOCAL: u8 = 10;
const REMOTE: u8 = 21;

/// Distances between two nodes.
const TWO: [&[u8]; 2] = [&[LOCAL, REMOTE], &[REMOTE, LOCAL]];

/// Runs `body`, which boots guests, if guests can be booted; retries it after a failure, since a busy host
/// may have disturbed it.
fn in_guests(test: &str, body: impl Fn()) {
    in_guests_of(Architecture::X86_64, test, body);
}

/// Does the same as [`in_guests`] with guests of an architecture.
fn in_guests_of(architecture: Architecture, test: &str, body: impl Fn()) {
    if is_ready(test, architecture) {
        retried(test, |_| body());
    }
}

fn options<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.into_iter().chain(more.iter().copied()).collect()
}

/// Makes `nodes` nodes with one CPU and 256 MiB each, all equally far from each other.
fn uniform(nodes: usize) -> Machine {
    let rows: Vec<Vec<u8>> =
        (0..nodes).map(|i| (0..nodes).map(|j| if i == j { LOCAL } else { REMOTE }).collect()).collect();
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    Machine::new(&vec![NodeSpec::new(1, 256); nodes]).distances(&rows)
}

/// Makes two nodes with CPUs, and a third one with only memory.
fn with_memory_only_node() -> Machine {
    let nodes = [NodeSpec::new(1, 256), NodeSpec::new(1, 256), NodeSpec::memory_only(256)];
    Machine::new(&nodes).distances(&[&[10, 21, 31], &[21, 10, 41], &[31, 41, 10]])
}

/// Makes a complete node, and one with only a CPU.
fn with_cpu_only_node() -> Machine {
    Machine::new(&[NodeSpec::new(1, 512), NodeSpec::cpus_only(1)]).distances(&TWO)
}

/// Returns all combinations of initiators and targets, in the order of a matrix.
fn combinations(initiators: &[u64], targets: &[u64]) -> Vec<(u64, u64)> {
    initiators.iter().flat_map(|&from| targets.iter().map(move |&to| (from, to))).collect()
}

/// Asserts that the pair's pages were all on its target node, before and after, and of `page` bytes; `pages`
/// is the word for that.
fn assert_placed(pair: &Value, pages: &str, page: u64) {
    let target = number(pair, "/target_node");
    assert_eq!(number(pair, "/working_set_bytes"), WORKING_SET);
    assert_eq!(at(pair, "/pages_obtained"), pages, "page size of\n{pair:#}");
    assert_eq!(at(pair, "/verified"), &Value::Bool(true), "placement of\n{pair:#}");
    for moment in ["before", "after"] {
        let evidence = at(pair, &format!("/placement/{moment}"));
        assert_eq!(number(evidence, "/page_bytes"), page, "page size {moment} of\n{pair:#}");
        let counts = array(evidence, "/nodes");
        let nodes: Vec<u64> = counts.iter().map(|count| number(count, "/node")).collect();
        assert_eq!(nodes, [target], "nodes {moment} of\n{pair:#}");
        // The working set, and with it the room to place its chain elsewhere in it.
        let mapped = number(pair, "/placement/mapped_bytes");
        assert_eq!(number(&counts[0], "/pages") * page, mapped, "pages {moment} of\n{pair:#}");
        assert!((WORKING_SET..=WORKING_SET / 2 * 3).contains(&mapped), "mapped {moment} of\n{pair:#}");
    }
}

/// Asserts a matrix with these pairs, each placed on pages of 4 KiB, and returns its document.
fn assert_matrix(console: &Console, initiators: &[u64], targets: &[u64]) -> Value {
    let document = console.expect_json(0);
    assert_valid(&document);
    assert_eq!(pairs(&document), combinations(initiators, targets));
    for pair in &points(&document) {
        assert_placed(pair, "4k", 4096);
        assert!(decimal(pair, "/cycles") > 0.0 && decimal(pair, "/ns") > 0.0, "{pair:#}");
    }
    document
}

fn assert_pair_lines(console: &Console, expected: &[(u64, u64)]) {
    let lines: Vec<&str> = console.lines().filter(|line| line.contains(" -> Node ")).collect();
    let matched = lines.len() == expected.len()
        && lines.iter().zip(expected).all(|(line, &(from, to))| is_pair_line(line, from, to));
    assert!(matched, "pairs {expected:?} expected\n{}", console.framed());
}
