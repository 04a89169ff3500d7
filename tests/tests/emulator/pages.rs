//! Pages of every size, from the pool of the right node.

use super::errors::assert_refused;
use super::*;
use latency_tests::document::{point, warnings};
use latency_tests::run::ERROR;

#[test]
fn huge_pages_come_from_the_target_nodes_pool() {
    in_guests("emulator::huge_pages_come_from_the_target_nodes_pool", || {
        let machine = uniform(2).huge_pages(&[(1, 16)]).kernel_parameter("transparent_hugepage=never");
        let [pool, empty, largest, transparent] = machine.boot_all([
            &options(&["--json", "--pages=2m", "--cpunode=0", "--memnode=1"]),
            &options(&["--pages=2m", "--cpunode=1", "--memnode=0"]),
            &options(&["--json", "--cpunode=0"]),
            &options(&["--pages=thp", "--cpunode=0", "--memnode=0"]),
        ]);
        let document = pool.expect_json(0);
        assert_eq!(pairs(&document), [(0, 1)]);
        assert_placed(&point(&document, 0), "2m", 2 << 20);
        assert_eq!(number(&document, "/system/nodes/0/page_pools/0/total"), 0);
        assert_eq!(number(&document, "/system/nodes/1/page_pools/0/free"), 16);

        assert_refused(&empty, 2, "need 2 free 2 MiB pages on node 0, found 0");

        let document = largest.expect_json(0);
        assert_eq!(pairs(&document), [(0, 0), (0, 1)]);
        assert_placed(&point(&document, 0), "4k", 4096);
        assert_placed(&point(&document, 1), "2m", 2 << 20);
        assert!(warnings(&document).contains(&"pages-fell-back"), "{document:#}");

        assert_refused(&transparent, 2, "transparent huge pages are disabled");
    });
}

#[test]
fn a_pool_that_is_too_small_is_a_placement_failure() {
    in_guests("emulator::a_pool_that_is_too_small_is_a_placement_failure", || {
        let machine = uniform(2).huge_pages(&[(0, 16), (1, 1)]);
        let console = machine.boot(&options(&["--pages=2m", "--cpunode=0", "--memnode=1"]));
        console.expect_status(2).expect_line(&format!("{ERROR}need 2 free 2 MiB pages on node 1, found 1"));
        console
            .expect_line("echo 2 > /sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
    });
}

#[test]
fn transparent_huge_pages_are_counted() {
    in_guests("emulator::transparent_huge_pages_are_counted", || {
        // Below 512 MiB the kernel switches them off, whatever its settings (mm/huge_memory.c).
        let machine = Machine::new(&[NodeSpec::new(1, 512); 2])
            .distances(&TWO)
            .kernel_parameter("transparent_hugepage=madvise");
        let document = machine.boot(&options(&["--json", "--pages=thp", "--cpunode=0"])).expect_json(0);
        for pair in &points(&document) {
            assert_placed(pair, "thp", 4096);
            let mapped = number(pair, "/placement/mapped_bytes");
            assert_eq!(number(pair, "/placement/before/transparent_huge_bytes"), mapped, "{pair:#}");
        }
    });
}

#[test]
fn gigantic_pages_of_one_node() {
    in_guests("emulator::gigantic_pages_of_one_node", || {
        // A page of 1 GiB must lie within the memory of one node, above the memory that firmware and kernel
        // use.
        let machine = Machine::new(&[NodeSpec::new(1, 512), NodeSpec::new(1, 3072)])
            .distances(&TWO)
            .kernel_parameter("hugepagesz=1G hugepages=1:1");
        let document =
            machine.boot(&options(&["--json", "--pages=1g", "--cpunode=0", "--memnode=1"])).expect_json(0);
        let pair = &point(&document, 0);
        assert_eq!(at(pair, "/pages_obtained"), "1g", "{pair:#}");
        assert_eq!(number(pair, "/placement/after/page_bytes"), 1 << 30, "{pair:#}");
        assert_eq!(at(pair, "/placement/after/nodes"), &serde_json::json!([{"node": 1, "pages": 1}]));
        assert_eq!(at(pair, "/verified"), &Value::Bool(true));
    });
}

/// Spans of addresses need no memory but page tables, and end where the kernel gives them memory, has no call to populate
/// them, or limits the memory of the process.
#[test]
fn spans_of_addresses_end_where_the_kernel_or_a_control_group_ends_them() {
    in_guests("emulator::spans_of_addresses_end_where_the_kernel_or_a_control_group_ends_them", || {
        let machine = Machine::new(&[NodeSpec::new(1, 768)])
            .huge_pages(&[(0, 2)])
            .kernel_parameter("transparent_hugepage=madvise");
        let run = ["pages", "--json", "--size=1M", "--trials=3", "--iters=500", "--max-size=256M"];
        let [whole, old, without, little] = machine.boot_all([
            &[&["zero-page=1"], &run[..]].concat(),
            &[&["no-populate=yes"], &run[..]].concat(),
            &[&["zero-page=0"], &run[..]].concat(),
            &[&["zero-page=1", "memory-max=64M"], &run[..]].concat(),
        ]);
        let kinds = |console: &Console| {
            let document = console.expect_json(0);
            assert_valid(&document);
            array(&document, "/translation").to_vec()
        };
        let span = |kind: &Value| number(kind, "/largest_span_bytes");
        let names = |kinds: &[Value]| -> Vec<String> {
            kinds.iter().map(|kind| at(kind, "/pages_asked").as_str().unwrap_or_default().into()).collect()
        };
        for console in [&whole, &old] {
            let kinds = kinds(console);
            // The pool has pages of the size of transparent ones, which the TLB does not tell from them.
            assert_eq!(names(&kinds), ["4k", "thp"], "{}", console.framed());
            assert!(kinds.iter().all(|kind| span(kind) >= 64 << 20), "{kinds:#?}");
            let on_node = kinds.iter().filter_map(|kind| at(kind, "/page_tables_on_node").as_f64());
            assert!(on_node.clone().all(|share| share == 1.0), "{kinds:#?}");
        }
        let found = kinds(&without);
        assert_eq!(names(&found), ["4k", "thp", "2m"]);
        let memory = "the kernel gives memory in place of its page of zeros (use_zero_page)";
        assert_eq!((span(&found[1]), at(&found[1], "/end").as_str()), (0, Some(memory)), "{found:#?}");
        // One page of the pool is behind all addresses.
        assert!(span(&found[0]) >= 64 << 20 && span(&found[2]) == 256 << 20, "{found:#?}");
        for kind in kinds(&little).iter().filter(|kind| span(kind) > 0) {
            assert!(number(kind, "/page_table_bytes") <= 24 << 20, "{kind:#}");
        }
    });
}
