//! The things that CPUs share, read from made trees and from fixtures of whole machines.

mod machine;

use latency_core::cpulist::CpuSet;
use latency_core::topology::{Files, Groups, Shared, Sharing, Topology};
use machine::Machine;
use proptest::prelude::*;
use std::cell::Cell;

const CPUS: &str = "/sys/devices/system/cpu";
const NODES: &str = "/sys/devices/system/node";

fn cpus(list: &str) -> CpuSet {
    CpuSet::parse_kernel(list.as_bytes()).unwrap()
}

/// A tree under construction.
#[derive(Default)]
struct Tree(Machine);

impl Tree {
    fn list(mut self, file: &str, lists: &[&str]) -> Self {
        for list in lists {
            for cpu in &cpus(list) {
                self.0.set(&format!("{CPUS}/cpu{cpu}/{file}"), &format!("{list}\n"));
            }
        }
        self
    }

    fn cores(self, lists: &[&str]) -> Self {
        self.list("topology/thread_siblings_list", lists)
    }

    fn packages(self, lists: &[&str]) -> Self {
        self.list("topology/core_siblings_list", lists)
    }

    /// Adds a cache of a level at an index, with those before it.
    fn cache(mut self, index: usize, level: usize, lists: &[&str]) -> Self {
        for cpu in lists.iter().flat_map(|list| cpus(list).iter().collect::<Vec<_>>()) {
            for (before, level) in [(0, 1), (1, 1), (2, 2)].into_iter().take(index).chain([(index, level)]) {
                self.0.set(&format!("{CPUS}/cpu{cpu}/cache/index{before}/level"), &format!("{level}\n"));
            }
        }
        self.list(&format!("cache/index{index}/shared_cpu_list"), lists)
    }

    fn nodes(mut self, lists: &[&str]) -> Self {
        self.0.set(&format!("{NODES}/online"), &format!("0-{}\n", lists.len() - 1));
        for (node, list) in lists.iter().enumerate() {
            self.0.set(&format!("{NODES}/node{node}/cpulist"), &format!("{list}\n"));
        }
        self
    }
}

/// Reads the things that the CPUs of a list share, and passes them to `check`.
fn with(files: &impl Files, allowed: &str, check: impl FnOnce(&Sharing<'_>)) {
    let allowed = cpus(allowed);
    let mut topology = Box::new(Topology::EMPTY);
    topology.read(files, &allowed);
    let mut places = vec![Groups::EMPTY; Sharing::places(&allowed)];
    check(&Sharing::read(files, &topology, &allowed, true, &mut places));
}

/// Returns two sockets, each with two caches for two cores of two threads.
fn server() -> Tree {
    let cores = ["0,8", "1,9", "2,10", "3,11", "4,12", "5,13", "6,14", "7,15"];
    Tree::default()
        .nodes(&["0-3,8-11", "4-7,12-15"])
        .cores(&cores)
        .packages(&["0-3,8-11", "4-7,12-15"])
        .cache(2, 2, &cores)
        .cache(3, 3, &["0-1,8-9", "2-3,10-11", "4-5,12-13", "6-7,14-15"])
}

#[test]
fn the_nearest_thing_that_two_cpus_share_decides() {
    with(&server().0, "0-15", |sharing| {
        assert_eq!(sharing.between(0, 8), Shared::Core);
        assert_eq!(sharing.between(0, 0), Shared::Core);
        assert_eq!(sharing.between(0, 9), Shared::L3);
        assert_eq!(sharing.between(0, 10), Shared::Node);
        assert_eq!(sharing.between(0, 4), Shared::Machine);
        assert_eq!((sharing.core_of(11), sharing.core_of(3)), (3, 3));
        assert_eq!((sharing.lowest(Shared::L3, 15), sharing.lowest(Shared::Package, 15)), (6, 4));
        for one in 0..16 {
            assert!(sharing.tells_core_of(one));
            for other in 0..16 {
                assert_eq!(sharing.between(one, other), sharing.between(other, one));
            }
        }
    });
}

#[test]
fn far_siblings_are_found() {
    let cores: Vec<String> = (0..64).map(|core| format!("{core},{}", core + 64)).collect();
    let cores: Vec<&str> = cores.iter().map(String::as_str).collect();
    with(&Tree::default().cores(&cores).0, "0-127", |sharing| {
        assert_eq!(sharing.core_of(64), 0);
        assert_eq!(sharing.cores_of(&cpus("0-127")), cpus("0-63"));
    });
}

#[test]
fn one_thread_of_each_core_is_the_lowest_in_the_set() {
    with(&server().0, "0-15", |sharing| {
        assert_eq!(sharing.cores_of(&cpus("0-15")), cpus("0-7"));
        assert_eq!(sharing.cores_of(&cpus("3,8-11")), cpus("3,8-10"));
        assert_eq!(sharing.cores_of(&CpuSet::EMPTY), CpuSet::EMPTY);
    });
}

#[test]
fn the_first_thread_of_a_core_may_be_a_forbidden_cpu() {
    with(&server().0, "8-11", |sharing| {
        assert_eq!(sharing.core_of(9), 1);
        assert_eq!(sharing.cores_of(&cpus("8-11")), cpus("8-11"));
        // A CPU that was not read shares nothing.
        assert_eq!(sharing.core_of(15), 15);
        assert_eq!(sharing.between(14, 15), Shared::Machine);
    });
}

#[test]
fn clusters_share_their_second_level() {
    let tree = Tree::default()
        .nodes(&["0-7"])
        .cores(&["0", "1", "2", "3", "4", "5", "6", "7"])
        .packages(&["0-7"])
        .cache(2, 2, &["0-3", "4-7"])
        .cache(3, 3, &["0-7"]);
    with(&tree.0, "0-7", |sharing| {
        assert_eq!((sharing.between(0, 3), sharing.between(0, 4)), (Shared::L2, Shared::L3));
    });
}

#[test]
fn a_cache_is_found_at_any_index() {
    let tree = Tree::default().nodes(&["0-3"]).cache(1, 2, &["0-1", "2-3"]);
    with(&tree.0, "0-3", |sharing| assert_eq!(sharing.between(2, 3), Shared::L2));
}

#[test]
fn packages_are_separated_within_one_node_and_joined_across_nodes() {
    // The kernel was started with numa=off.
    let tree = Tree::default().nodes(&["0-3"]).packages(&["0-1", "2-3"]);
    with(&tree.0, "0-3", |sharing| {
        assert_eq!((sharing.between(0, 1), sharing.between(1, 2)), (Shared::Node, Shared::Machine));
    });
    let tree = Tree::default().nodes(&["0-1", "2-3"]).packages(&["0-3"]);
    with(&tree.0, "0-3", |sharing| assert_eq!(sharing.between(1, 2), Shared::Package));
}

#[test]
fn without_files_each_cpu_is_a_core_and_nodes_follow_the_topology() {
    with(&Machine::load("sub-numa-clusters"), "0-31", |sharing| {
        assert_eq!(sharing.between(0, 1), Shared::Node);
        // The package of each node decides.
        assert_eq!((sharing.between(0, 8), sharing.between(8, 16)), (Shared::Package, Shared::Machine));
        assert!(!sharing.tells_core_of(0));
    });
    with(&Machine::default(), "2-5", |sharing| {
        assert_eq!(sharing.between(2, 5), Shared::Node);
        assert_eq!(sharing.cores_of(&cpus("2-5")), cpus("2-5"));
    });
    assert_eq!(Sharing::EMPTY.cores_of(&cpus("0-3")), cpus("0-3"));
}

#[test]
fn offline_cpus_are_in_no_group() {
    let tree = Tree::default().nodes(&["0-1,3"]).cores(&["0,3", "1"]).packages(&["0-1,3"]);
    with(&tree.0, "0-1,3", |sharing| {
        assert_eq!((sharing.core_of(2), sharing.core_of(3)), (2, 0));
        assert_eq!(sharing.between(2, 0), Shared::Machine);
    });
}

#[test]
fn a_list_without_its_own_cpu_is_ignored() {
    let mut tree = server();
    tree.0.set(&format!("{CPUS}/cpu0/topology/thread_siblings_list"), "4-6\n");
    with(&tree.0, "0-15", |sharing| {
        assert_eq!((sharing.core_of(0), sharing.core_of(5)), (0, 5));
        // The list of the other thread names it.
        assert_eq!(sharing.core_of(8), 0);
    });
}

/// A machine that counts the files read.
struct Counted<'a>(&'a Machine, Cell<usize>);

impl Files for Counted<'_> {
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        self.1.set(self.1.get() + 1);
        self.0.read(path, buffer)
    }
}

#[test]
fn each_list_is_read_once_for_all_that_it_names() {
    const CORES: u32 = 288;
    let threads: Vec<String> = (0..CORES).map(|core| format!("{core},{}", core + CORES)).collect();
    let threads: Vec<&str> = threads.iter().map(String::as_str).collect();
    let all = "0-575";
    let tree = Tree::default().cores(&threads).packages(&[all]).cache(2, 2, &threads).cache(3, 3, &[all]);
    let counted = Counted(&tree.0, Cell::new(0));
    let allowed = cpus(all);
    let mut places = vec![Groups::EMPTY; Sharing::places(&allowed)];
    let sharing = Sharing::read(&counted, &Topology::EMPTY, &allowed, true, &mut places);
    assert_eq!(sharing.cores_of(&allowed).len() as u32, CORES);
    // The threads, level and list of each core, and once the three of the third level and of the package.
    assert_eq!(counted.1.get() as u32, 3 * CORES + 3);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn damaged_files_still_give_consistent_groups(
        damage in prop::collection::vec((any::<prop::sample::Index>(), "[0-9,x-]{0,12}"), 1..12),
    ) {
        let mut tree = server();
        let paths: Vec<_> = tree.0.0.keys().cloned().collect();
        for (index, content) in damage {
            tree.0.set(index.get::<String>(&paths), &content);
        }
        with(&tree.0, "0-15", |sharing| {
            for cpu in 0..20 {
                assert_eq!(sharing.between(cpu, cpu), Shared::Core);
            }
            let cores = sharing.cores_of(&cpus("0-15"));
            assert!(!cores.is_empty() && cores.difference(&cpus("0-15")).is_empty());
        });
    }
}
