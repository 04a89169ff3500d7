//! The tool as process 1 of emulated machines: nodes, placement, page sizes and exit
//! statuses on hardware that is not at hand.
//!
//! No latency is asserted: the emulator has none to show.

use latency_tests::vm::{ready, Console, Machine, NodeSpec};
use serde_json::Value;

/// Small enough for an emulator, large enough for several huge pages.
const SMALL: [&str; 3] = ["--size=16M", "--iters=2000", "--trials=3"];
const WORKING_SET: u64 = 16 << 20;

const LOCAL: u8 = 10;
const REMOTE: u8 = 21;

fn options<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SMALL.into_iter().chain(more.iter().copied()).collect()
}

/// `nodes` nodes with one CPU and 256 MiB each, all equally far from each other.
fn uniform(nodes: usize) -> Machine {
    let rows: Vec<Vec<u8>> =
        (0..nodes).map(|i| (0..nodes).map(|j| if i == j { LOCAL } else { REMOTE }).collect()).collect();
    let rows: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    Machine::new(&vec![NodeSpec::new(1, 256); nodes]).distances(&rows)
}

/// Two nodes with CPUs, and a third one with memory alone.
fn with_memory_only_node() -> Machine {
    let nodes = [NodeSpec::new(1, 256), NodeSpec::new(1, 256), NodeSpec::memory_only(256)];
    Machine::new(&nodes).distances(&[&[10, 21, 31], &[21, 10, 41], &[31, 41, 10]])
}

/// A member of a JSON value by its path, such as `/node_pairs/0/ns`.
fn at<'a>(document: &'a Value, path: &str) -> &'a Value {
    document.pointer(path).unwrap_or_else(|| panic!("no {path} in\n{document:#}"))
}

fn number(document: &Value, path: &str) -> u64 {
    at(document, path).as_u64().unwrap_or_else(|| panic!("{path} is no whole number in\n{document:#}"))
}

fn array<'a>(document: &'a Value, path: &str) -> &'a [Value] {
    at(document, path).as_array().unwrap_or_else(|| panic!("{path} is no array in\n{document:#}"))
}

/// The pairs of a matrix, in the order of the document.
fn pairs(document: &Value) -> Vec<(u64, u64)> {
    array(document, "/node_pairs").iter().map(|pair| (number(pair, "/from"), number(pair, "/to"))).collect()
}

/// All combinations of initiators and targets, in the order of a matrix.
fn combinations(initiators: &[u64], targets: &[u64]) -> Vec<(u64, u64)> {
    initiators.iter().flat_map(|&from| targets.iter().map(move |&to| (from, to))).collect()
}

/// Every pair says that all of its pages were on its target node, before and after, and of
/// `page` bytes; `pages` is the word for that.
fn assert_placed(document: &Value, pages: &str, page: u64) {
    for pair in array(document, "/node_pairs") {
        let target = number(pair, "/to");
        assert_eq!(number(pair, "/working_set_bytes"), WORKING_SET);
        assert_eq!(at(pair, "/pages_obtained"), pages, "page size of\n{pair:#}");
        assert_eq!(at(pair, "/placement/verified"), &Value::Bool(true), "placement of\n{pair:#}");
        for moment in ["before", "after"] {
            let evidence = at(pair, &format!("/placement/{moment}"));
            assert_eq!(number(evidence, "/page_bytes"), page, "page size {moment} of\n{pair:#}");
            let counts = array(evidence, "/nodes");
            let nodes: Vec<u64> = counts.iter().map(|count| number(count, "/node")).collect();
            assert_eq!(nodes, [target], "nodes {moment} of\n{pair:#}");
            let pages = number(&counts[0], "/pages");
            assert_eq!(pages * page, WORKING_SET, "{pages} pages {moment} of\n{pair:#}");
        }
    }
}

/// A matrix on `machine`: these pairs, each placed on pages of 4 KiB.
fn assert_matrix(machine: &Machine, initiators: &[u64], targets: &[u64]) -> Value {
    let document = machine.boot(&options(&["--json", "--pages=4k"])).expect_json(0);
    assert_eq!(pairs(&document), combinations(initiators, targets));
    assert_placed(&document, "4k", 4096);
    for pair in array(&document, "/node_pairs") {
        for unit in ["/cycles", "/ns"] {
            assert!(at(pair, unit).as_f64().is_some_and(|value| value > 0.0), "{unit} of {pair}");
        }
    }
    document
}

/// The line of one pair: `Node 0 -> Node 1: 395 cycles (132 ns)`.
fn is_pair_line(line: &str, from: u64, to: u64) -> bool {
    let is_number = |text: &str| text.parse::<f64>().is_ok_and(|value| value > 0.0);
    line.strip_prefix(&format!("Node {from} -> Node {to}: "))
        .and_then(|rest| rest.strip_suffix(" ns)"))
        .and_then(|rest| rest.split_once(" cycles ("))
        .is_some_and(|(cycles, ns)| is_number(cycles) && is_number(ns))
}

fn assert_pair_lines(console: &Console, expected: &[(u64, u64)]) {
    let lines: Vec<&str> = console.lines().filter(|line| line.starts_with("Node ")).collect();
    let matched = lines.len() == expected.len()
        && lines.iter().zip(expected).all(|(line, &(from, to))| is_pair_line(line, from, to));
    assert!(matched, "pairs {expected:?} expected\n{}", console.framed());
}

#[test]
fn one_node() {
    if !ready("emulator::one_node") {
        return;
    }
    let document = assert_matrix(&Machine::new(&[NodeSpec::new(2, 512)]), &[0], &[0]);
    assert_eq!(array(&document, "/system/nodes").len(), 1);
    assert!(document.to_string().contains("emulated"), "not labelled emulated\n{document:#}");
}

#[test]
fn two_nodes() {
    if ready("emulator::two_nodes") {
        assert_matrix(&uniform(2), &[0, 1], &[0, 1]);
    }
}

#[test]
fn two_nodes_as_text() {
    if !ready("emulator::two_nodes_as_text") {
        return;
    }
    let console = uniform(2).boot(&options(&["--pages=4k"]));
    console.expect_status(0);
    assert_pair_lines(&console, &combinations(&[0, 1], &[0, 1]));
    assert!(console.text.contains("emulated"), "not labelled emulated\n{}", console.framed());
}

#[test]
fn four_nodes() {
    if ready("emulator::four_nodes") {
        assert_matrix(&uniform(4), &[0, 1, 2, 3], &[0, 1, 2, 3]);
    }
}

#[test]
fn a_memory_only_node_is_a_target() {
    if ready("emulator::a_memory_only_node_is_a_target") {
        assert_matrix(&with_memory_only_node(), &[0, 1], &[0, 1, 2]);
    }
}

#[test]
fn a_memory_only_node_is_no_initiator() {
    if !ready("emulator::a_memory_only_node_is_no_initiator") {
        return;
    }
    let console = with_memory_only_node().boot(&options(&["--cpunode=2", "--memnode=0"]));
    console.expect_status(2).expect_line("ERROR: ");
    assert_pair_lines(&console, &[]);
}

#[test]
fn a_node_without_memory_is_an_initiator() {
    if !ready("emulator::a_node_without_memory_is_an_initiator") {
        return;
    }
    let nodes = [NodeSpec::new(1, 512), NodeSpec::cpus_only(1)];
    let machine = Machine::new(&nodes).distances(&[&[10, 21], &[21, 10]]);
    assert_matrix(&machine, &[0, 1], &[0]);
}

#[test]
fn a_node_without_anything_is_left_out() {
    if !ready("emulator::a_node_without_anything_is_left_out") {
        return;
    }
    // The only CPU of node 1 stays offline, and the node itself is online all the same.
    let nodes = [NodeSpec::new(1, 512), NodeSpec::cpus_only(1)];
    let machine = Machine::new(&nodes).distances(&[&[10, 21], &[21, 10]]).kernel_parameter("maxcpus=1");
    assert_matrix(&machine, &[0], &[0]);
}

#[test]
fn offline_cpus_are_left_out() {
    if !ready("emulator::offline_cpus_are_left_out") {
        return;
    }
    // The kernel starts CPU 0 alone, so node 1 has memory and no CPU that is online.
    let machine = uniform(2).kernel_parameter("maxcpus=1");
    assert_matrix(&machine, &[0], &[0, 1]);
}

#[test]
fn huge_pages_come_from_the_target_nodes_pool() {
    if !ready("emulator::huge_pages_come_from_the_target_nodes_pool") {
        return;
    }
    let machine = uniform(2).huge_pages(&[(1, 16)]);
    let arguments = options(&["--json", "--pages=2m", "--cpunode=0", "--memnode=1"]);
    let document = machine.boot(&arguments).expect_json(0);
    assert_eq!(pairs(&document), [(0, 1)]);
    assert_placed(&document, "2m", 2 << 20);
}

#[test]
fn an_empty_pool_is_a_placement_failure() {
    if !ready("emulator::an_empty_pool_is_a_placement_failure") {
        return;
    }
    let machine = uniform(2).huge_pages(&[(1, 16)]);
    let console = machine.boot(&options(&["--pages=2m", "--cpunode=1", "--memnode=0"]));
    console.expect_status(2).expect_line("ERROR: ");
    assert_pair_lines(&console, &[]);
}

#[test]
fn a_processor_without_rdtscp() {
    if ready("emulator::a_processor_without_rdtscp") {
        assert_matrix(&uniform(2).cpu_model("qemu64"), &[0, 1], &[0, 1]);
    }
}

#[test]
fn an_invalid_node_is_an_invalid_argument() {
    if !ready("emulator::an_invalid_node_is_an_invalid_argument") {
        return;
    }
    let console = uniform(2).boot(&options(&["--cpunode=9"]));
    console.expect_status(1).expect_line("ERROR: invalid node id 9 (max node = 1)");
    assert_pair_lines(&console, &[]);
}
