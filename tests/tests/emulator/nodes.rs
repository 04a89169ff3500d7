//! The choice of nodes: initiators, targets, and nodes that are neither.

use super::errors::assert_refused;
use super::*;
use latency_tests::document::{text, warnings};
use latency_tests::run::WARNING;

#[test]
fn one_node() {
    in_guests("emulator::one_node", || {
        let console = Machine::new(&[NodeSpec::new(2, 512)]).boot(&options(&MATRIX));
        let document = assert_matrix(&console, &[0], &[0]);
        assert_eq!(array(&document, "/system/nodes").len(), 1);
        assert_eq!(text(&document, "/system/platform"), "emulated");
        assert!(warnings(&document).contains(&"emulated"), "{document:#}");
    });
}

#[test]
fn two_nodes_as_text() {
    in_guests("emulator::two_nodes_as_text", || {
        let console = uniform(2).boot(&options(&["--pages=4k"]));
        console.expect_status(0).expect_line("emulated");
        assert_pair_lines(&console, &combinations(&[0, 1], &[0, 1]));
        // Programs read the console, where the pairs come before the answer and the trust.
        let (pairs, answer) = console.text.split_once(" local (").expect("the answer");
        let is_first = pairs.contains("Node 1 -> Node 1: ") && answer.contains("\nTrust: ");
        assert!(is_first, "{}", console.framed());
    });
}

#[test]
fn two_nodes() {
    in_guests("emulator::two_nodes", || {
        let [all, quiet] = uniform(2).boot_all([&options(&MATRIX), &options(&["--pages=4k", "--quiet"])]);
        assert_matrix(&all, &[0, 1], &[0, 1]);
        assert_pair_lines(quiet.expect_status(0), &combinations(&[0, 1], &[0, 1]));
        let results = quiet.printed().lines().filter(|line| !line.starts_with(WARNING)).count();
        assert_eq!(results, 4, "{}", quiet.framed());
    });
}

#[test]
fn four_nodes_and_a_selection_of_them() {
    in_guests("emulator::four_nodes", || {
        let [all, some] = uniform(4).boot_all([
            &options(&MATRIX),
            &options(&["--json", "--pages=4k", "--cpunode=1", "--memnode=0,2-3"]),
        ]);
        assert_matrix(&all, &[0, 1, 2, 3], &[0, 1, 2, 3]);
        let document = some.expect_json(0);
        assert_eq!(pairs(&document), [(1, 0), (1, 2), (1, 3)]);
        for pair in &points(&document) {
            assert_placed(pair, "4k", 4096);
            assert_eq!(number(pair, "/initiator_cpu"), 1);
        }
    });
}

#[test]
fn a_memory_only_node_is_only_a_target() {
    in_guests("emulator::a_memory_only_node", || {
        let [all, refused, system] = with_memory_only_node().huge_pages(&[(1, 3)]).boot_all([
            &options(&MATRIX),
            &options(&["--cpunode=2", "--memnode=0"]),
            &["system"],
        ]);
        let document = assert_matrix(&all, &[0, 1], &[0, 1, 2]);
        assert_eq!(at(&document, "/system/nodes/2/cpus"), "");
        assert_eq!(at(&document, "/system/nodes/1/distances"), &serde_json::json!([21, 10, 41]));
        assert_refused(&refused, 2, "node 2 has no CPUs");

        system.expect_status(0).expect_line("SLIT to 2").expect_line("3 of 3 free");
        // The table is wider than a console and continues below, so a node has two rows.
        let rows = |node: &str| {
            let rows = system.lines().map(|line| line.split_whitespace().collect::<Vec<_>>());
            rows.filter(|words| words.first() == Some(&node)).collect::<Vec<_>>()
        };
        assert!(rows("1").iter().any(|row| row.ends_with(&["21", "10", "41"])), "{}", system.framed());
        let of_memory = rows("2");
        assert!(!of_memory.is_empty(), "{}", system.framed());
        assert!(of_memory.iter().all(|row| row.get(1) == Some(&"none")), "{}", system.framed());
    });
}

#[test]
fn a_node_without_memory_is_only_an_initiator() {
    in_guests("emulator::a_node_without_memory", || {
        let [all, refused] =
            with_cpu_only_node().boot_all([&options(&MATRIX), &options(&["--cpunode=0", "--memnode=1"])]);
        assert_matrix(&all, &[0, 1], &[0]);
        assert_refused(&refused, 2, "node 1 has no memory");
    });
}

#[test]
fn an_empty_node_is_left_out() {
    in_guests("emulator::an_empty_node_is_left_out", || {
        // The only CPU of node 1 stays offline, but the node itself is online.
        let console = with_cpu_only_node().kernel_parameter("maxcpus=1").boot(&options(&MATRIX));
        assert_matrix(&console, &[0], &[0]);
    });
}

#[test]
fn cpus_that_are_switched_off_are_left_out() {
    in_guests("emulator::cpus_that_are_switched_off", || {
        // The kernel starts only CPU 0, so node 1 has memory and no CPU that is online.
        let [all, cpu, node] = uniform(2).kernel_parameter("maxcpus=1").boot_all([
            &options(&MATRIX),
            &options(&["--cpu=1"]),
            &options(&["--cpunode=1"]),
        ]);
        assert_matrix(&all, &[0], &[0, 1]);
        assert_refused(&cpu, 1, "CPU 1 is offline (online: 0)");
        assert_refused(&node, 2, "node 1 has no CPU");
    });
}

#[test]
fn a_processor_without_rdtscp() {
    in_guests("emulator::a_processor_without_rdtscp", || {
        assert_matrix(&uniform(2).cpu_model("qemu64").boot(&options(&MATRIX)), &[0, 1], &[0, 1]);
    });
}

#[test]
fn the_cores_of_each_last_level_cache_have_a_row() {
    in_guests("emulator::last_level_caches", || {
        // The emulator describes the caches of a die as Intel does.
        let dies = ["-smp", "4,sockets=1,dies=2,cores=2,threads=1"];
        let machine = Machine::new(&[NodeSpec::new(4, 768)]).cpu_model("max,vendor=GenuineIntel");
        let line = ["bandwidth", "--pages=4k", "--budget=10s", "--time-limit=0.1", "--json"];
        let document = machine.qemu_arguments(&dies).boot(&line).expect_json(0);
        let rows = array(&document, "/rows").iter();
        let rows = rows.filter(|row| row.get("class").is_some_and(|class| class == "same L3"));
        let found: Vec<_> = rows.map(|row| (text(row, "/cpus"), number(row, "/cores"))).collect();
        assert_eq!(found, [("0-1", 2), ("2-3", 2)], "{document:#}");
    });
}
