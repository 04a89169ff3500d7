//! Pages of every size, from the pool of the right node.

use super::*;
use latency_tests::document::warnings;
use latency_tests::vm::ready;

#[test]
fn huge_pages_come_from_the_target_nodes_pool() {
    if !ready("emulator::huge_pages_come_from_the_target_nodes_pool") {
        return;
    }
    let machine = uniform(2).huge_pages(&[(1, 16)]);
    let arguments = options(&["--json", "--pages=2m", "--cpunode=0", "--memnode=1"]);
    let document = machine.boot(&arguments).expect_json(0);
    assert_eq!(pairs(&document), [(0, 1)]);
    assert_placed(at(&document, "/node_pairs/0"), "2m", 2 << 20);
    assert_eq!(number(&document, "/system/nodes/0/page_pools/0/total"), 0);
    assert_eq!(number(&document, "/system/nodes/1/page_pools/0/free"), 16);
}

#[test]
fn an_empty_pool_is_a_placement_failure() {
    if !ready("emulator::an_empty_pool_is_a_placement_failure") {
        return;
    }
    let machine = uniform(2).huge_pages(&[(1, 16)]);
    let console = machine.boot(&options(&["--pages=2m", "--cpunode=1", "--memnode=0"]));
    console.expect_status(2).expect_line("ERROR: 8 pages of 2 MiB wanted on node 0, 0 free");
    assert_pair_lines(&console, &[]);
}

#[test]
fn a_pool_that_is_too_small_is_a_placement_failure() {
    if !ready("emulator::a_pool_that_is_too_small_is_a_placement_failure") {
        return;
    }
    let machine = uniform(2).huge_pages(&[(0, 16), (1, 7)]);
    let console = machine.boot(&options(&["--pages=2m", "--cpunode=0", "--memnode=1"]));
    console.expect_status(2).expect_line("ERROR: 8 pages of 2 MiB wanted on node 1, 7 free");
    console.expect_line("echo 8 > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
}

#[test]
fn the_largest_pages_that_can_be_had_are_taken() {
    if !ready("emulator::the_largest_pages_that_can_be_had_are_taken") {
        return;
    }
    let machine = uniform(2).huge_pages(&[(1, 16)]).kernel_parameter("transparent_hugepage=never");
    let document = machine.boot(&options(&["--json", "--cpunode=0"])).expect_json(0);
    assert_eq!(pairs(&document), [(0, 0), (0, 1)]);
    assert_placed(at(&document, "/node_pairs/0"), "4k", 4096);
    assert_placed(at(&document, "/node_pairs/1"), "2m", 2 << 20);
    assert!(warnings(&document).contains(&"pages-fell-back"), "{document:#}");
}

#[test]
fn transparent_huge_pages_are_counted() {
    if !ready("emulator::transparent_huge_pages_are_counted") {
        return;
    }
    // Below 512 MiB the kernel switches them off, whatever it is told (mm/huge_memory.c).
    let machine = Machine::new(&[NodeSpec::new(1, 512); 2])
        .distances(&TWO)
        .kernel_parameter("transparent_hugepage=madvise");
    let document = machine.boot(&options(&["--json", "--pages=thp", "--cpunode=0"])).expect_json(0);
    for pair in array(&document, "/node_pairs") {
        assert_placed(pair, "thp", 4096);
        let mapped = number(pair, "/placement/mapped_bytes");
        assert_eq!(number(pair, "/placement/before/transparent_huge_bytes"), mapped, "{pair:#}");
    }
}

#[test]
fn transparent_huge_pages_that_are_switched_off_are_a_placement_failure() {
    if !ready("emulator::transparent_huge_pages_that_are_switched_off_are_a_placement_failure") {
        return;
    }
    let machine = uniform(2).kernel_parameter("transparent_hugepage=never");
    let console = machine.boot(&options(&["--pages=thp", "--cpunode=0", "--memnode=0"]));
    console.expect_status(2).expect_line("ERROR: transparent huge pages are switched off");
    assert_pair_lines(&console, &[]);
}

#[test]
fn gigantic_pages_of_one_node() {
    if !ready("emulator::gigantic_pages_of_one_node") {
        return;
    }
    // A page of 1 GiB must lie within the memory of one node, above what firmware and kernel use.
    let machine = Machine::new(&[NodeSpec::new(1, 512), NodeSpec::new(1, 3072)])
        .distances(&TWO)
        .kernel_parameter("hugepagesz=1G hugepages=1:1");
    let document =
        machine.boot(&options(&["--json", "--pages=1g", "--cpunode=0", "--memnode=1"])).expect_json(0);
    let pair = at(&document, "/node_pairs/0");
    assert_eq!(at(pair, "/pages_obtained"), "1g", "{pair:#}");
    assert_eq!(number(pair, "/placement/after/page_bytes"), 1 << 30, "{pair:#}");
    assert_eq!(at(pair, "/placement/after/nodes"), &serde_json::json!([{"node": 1, "pages": 1}]));
    assert_eq!(at(pair, "/placement/verified"), &Value::Bool(true));
}
