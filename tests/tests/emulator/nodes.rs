//! Which nodes are initiators, which are targets, and which are neither.

use super::*;
use latency_tests::document::{text, warnings};
use latency_tests::vm::ready;

#[test]
fn one_node() {
    if !ready("emulator::one_node") {
        return;
    }
    let document = assert_matrix(&Machine::new(&[NodeSpec::new(2, 512)]), &[0], &[0]);
    assert_eq!(array(&document, "/system/nodes").len(), 1);
    assert_eq!(text(&document, "/system/platform"), "emulated");
    assert!(warnings(&document).contains(&"emulated"), "{document:#}");
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
    console.expect_status(0).expect_line("emulated");
    assert_pair_lines(&console, &combinations(&[0, 1], &[0, 1]));
    assert!(console.text.starts_with("Node 0 -> Node 0: "), "{}", console.framed());
}

#[test]
fn quiet_text_is_the_pairs_alone() {
    if !ready("emulator::quiet_text_is_the_pairs_alone") {
        return;
    }
    let console = uniform(2).boot(&options(&["--pages=4k", "--quiet"]));
    assert_pair_lines(console.expect_status(0), &combinations(&[0, 1], &[0, 1]));
    let results = console.printed().lines().filter(|line| !line.starts_with("WARNING: ")).count();
    assert_eq!(results, 4, "{}", console.framed());
}

#[test]
fn four_nodes() {
    if ready("emulator::four_nodes") {
        assert_matrix(&uniform(4), &[0, 1, 2, 3], &[0, 1, 2, 3]);
    }
}

#[test]
fn nodes_that_are_asked_for_are_the_only_ones() {
    if !ready("emulator::nodes_that_are_asked_for_are_the_only_ones") {
        return;
    }
    let arguments = options(&["--json", "--pages=4k", "--cpunode=1", "--memnode=0,2-3"]);
    let document = uniform(4).boot(&arguments).expect_json(0);
    assert_eq!(pairs(&document), [(1, 0), (1, 2), (1, 3)]);
    for pair in array(&document, "/node_pairs") {
        assert_placed(pair, "4k", 4096);
        assert_eq!(number(pair, "/cpu"), 1);
    }
}

#[test]
fn a_memory_only_node_is_a_target() {
    if ready("emulator::a_memory_only_node_is_a_target") {
        let document = assert_matrix(&with_memory_only_node(), &[0, 1], &[0, 1, 2]);
        assert_eq!(at(&document, "/system/nodes/2/cpus"), "");
        assert_eq!(at(&document, "/system/nodes/1/distances"), &serde_json::json!([21, 10, 41]));
    }
}

#[test]
fn a_node_without_memory_is_an_initiator() {
    if ready("emulator::a_node_without_memory_is_an_initiator") {
        assert_matrix(&with_cpu_only_node(), &[0, 1], &[0]);
    }
}

#[test]
fn a_node_without_anything_is_left_out() {
    if ready("emulator::a_node_without_anything_is_left_out") {
        // The only CPU of node 1 stays offline, and the node itself is online all the same.
        assert_matrix(&with_cpu_only_node().kernel_parameter("maxcpus=1"), &[0], &[0]);
    }
}

#[test]
fn offline_cpus_are_left_out() {
    if ready("emulator::offline_cpus_are_left_out") {
        // The kernel starts CPU 0 alone, so node 1 has memory and no CPU that is online.
        assert_matrix(&uniform(2).kernel_parameter("maxcpus=1"), &[0], &[0, 1]);
    }
}

#[test]
fn the_system_shows_every_node() {
    if !ready("emulator::the_system_shows_every_node") {
        return;
    }
    let console = with_memory_only_node().huge_pages(&[(1, 3)]).boot(&["system"]);
    console.expect_status(0).expect_line("SLIT to 2").expect_line("3 of 3 free");
    let row = |node: &str| {
        let rows = console.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
        rows.filter(|words| words.first() == Some(&node)).max_by_key(Vec::len).unwrap_or_default()
    };
    assert!(row("1").ends_with(&["21", "10", "41"]), "{}", console.framed());
    assert_eq!(row("2").get(1), Some(&"none"), "{}", console.framed());
}

#[test]
fn a_processor_without_rdtscp() {
    if ready("emulator::a_processor_without_rdtscp") {
        assert_matrix(&uniform(2).cpu_model("qemu64"), &[0, 1], &[0, 1]);
    }
}
