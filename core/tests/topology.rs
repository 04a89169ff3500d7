//! The topologies of whole machines, read from fixtures.

mod machine;

use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::topology::{Files, MAX_NODES, Node, NodeKind, PagePool, SideCache, Source, Topology};
use latency_core::units::{Bytes, CpuId, NodeId, PageSize, Picoseconds};
use machine::Machine;
use proptest::prelude::*;

fn read(files: &impl Files, allowed: &str) -> Box<Topology> {
    let mut topology = Box::new(Topology::EMPTY);
    topology.read(files, &cpus(allowed));
    topology
}

fn topology(name: &str) -> Box<Topology> {
    read(&Machine::load(name), "0")
}

fn cpus(list: &str) -> CpuSet {
    CpuSet::parse_kernel(list.as_bytes()).unwrap()
}

fn node(topology: &Topology, id: u32) -> &Node {
    topology.node(NodeId(id)).unwrap()
}

fn kib(count: u64) -> Bytes {
    Bytes(count << 10)
}

/// Returns the matrix of distances, row by row.
fn distances(topology: &Topology) -> Vec<Vec<Option<u8>>> {
    let ids = || topology.nodes().iter().map(|node| node.id);
    ids().map(|from| ids().map(|to| topology.distance(from, to)).collect()).collect()
}

fn known(rows: &[&[u8]]) -> Vec<Vec<Option<u8>>> {
    rows.iter().map(|row| row.iter().copied().map(Some).collect()).collect()
}

#[test]
fn one_node() {
    let topology = topology("one-node");
    assert_eq!(topology.source, Source::Sysfs);
    assert_eq!((topology.ids().to_string().as_str(), topology.max_node()), ("0", NodeId(0)));
    let node = node(&topology, 0);
    assert_eq!(node.kind(), NodeKind::Full);
    assert_eq!(node.cpus, cpus("0-1"));
    assert_eq!((node.memory_total, node.memory_free), (kib(16_384_000), kib(15_204_352)));
    assert_eq!((node.package, node.attributes.claim()), (Some(0), None));
    assert_eq!(node.page_pool(PageSize::MIB_2), Some(PagePool { total: 0, free: 0 }));
    assert_eq!(node.page_pool(PageSize::KIB_4), None);
    assert_eq!(distances(&topology), known(&[&[10]]));
}

#[test]
fn two_sockets() {
    let topology = topology("two-sockets");
    assert_eq!(node(&topology, 0).cpus, cpus("0-31,64-95"));
    assert_eq!(node(&topology, 1).cpus, cpus("32-63,96-127"));
    assert_eq!(topology.online_cpus.len(), 128);
    assert_eq!(topology.node_of_cpu(CpuId(95)), Some(NodeId(0)));
    assert_eq!(topology.node_of_cpu(CpuId(96)), Some(NodeId(1)));
    assert_eq!(topology.node_of_cpu(CpuId(128)), None);
    assert_eq!(distances(&topology), known(&[&[10, 21], &[21, 10]]));
    assert!(!topology.same_package(NodeId(0), NodeId(1)));
    assert_eq!(node(&topology, 0).page_pool(PageSize::MIB_2), Some(PagePool { total: 1024, free: 512 }));
    assert_eq!(node(&topology, 1).page_pool(PageSize::GIB_1), Some(PagePool { total: 4, free: 4 }));
}

#[test]
fn four_nodes() {
    let topology = topology("four-nodes");
    assert_eq!(topology.ids().to_string(), "0-3");
    let square: [&[u8]; 4] = [&[10, 21, 21, 31], &[21, 10, 31, 21], &[21, 31, 10, 21], &[31, 21, 21, 10]];
    assert_eq!(distances(&topology), known(&square));
    let packages: Vec<_> = topology.nodes().iter().map(|node| node.package).collect();
    assert_eq!(packages, [Some(0), Some(1), Some(2), Some(3)]);
}

#[test]
fn sub_numa_clusters_share_a_package() {
    let topology = topology("sub-numa-clusters");
    for (one, other, shared) in [(0, 1, true), (2, 3, true), (1, 2, false), (0, 3, false), (2, 2, true)] {
        assert_eq!(topology.same_package(NodeId(one), NodeId(other)), shared, "{one} {other}");
    }
    assert_eq!(topology.distance(NodeId(2), NodeId(3)), Some(12));
    assert_eq!(topology.distance(NodeId(2), NodeId(1)), Some(21));
}

#[test]
fn the_largest_of_several_memory_side_caches_counts() {
    let mut machine = Machine::load("cxl-memory");
    let mut at = |index, size| {
        machine.set(
            &format!("/sys/devices/system/node/node0/memory_side_cache/index{index}/size"),
            &format!("{size}\n"),
        );
        node(&read(&machine, "0-8191"), 0).attributes.side_cache
    };
    assert_eq!(at(2, 1 << 30), Some(SideCache { size: Bytes(16 << 30), line: Bytes(64) }));
    // The file of its lines' size is absent.
    assert_eq!(at(2, 64u64 << 30), Some(SideCache { size: Bytes(64 << 30), line: Bytes(0) }));
    assert_eq!(at(3, 0), Some(SideCache { size: Bytes(64 << 30), line: Bytes(0) }));
}

#[test]
fn memory_only_node_behind_a_gap() {
    let topology = topology("cxl-memory");
    assert_eq!((topology.ids().to_string().as_str(), topology.max_node()), ("0-1,4", NodeId(4)));
    assert!(topology.node(NodeId(2)).is_none());
    let expander = node(&topology, 4);
    assert_eq!(expander.kind(), NodeKind::MemoryOnly);
    assert_eq!((expander.package, expander.memory_total), (None, Bytes::GIB.times(128)));
    assert_eq!(expander.page_pool(PageSize::MIB_2), Some(PagePool { total: 64, free: 64 }));
    assert_eq!(expander.page_pool(PageSize::GIB_1), None);
    let claim = expander.attributes.claim().unwrap();
    assert_eq!((claim.read, claim.initiators.to_string().as_str()), (Picoseconds(200_000), "0"));
    assert_eq!((claim.write, claim.read_bandwidth), (Picoseconds(0), 28_000 << 20));
    assert_eq!((expander.attributes.tier, expander.attributes.weight), (Some(7), Some(1)));
    assert_eq!(expander.attributes.side_cache, None);
    let near = node(&topology, 0).attributes;
    // Access 1, of CPUs, goes before access 0; a figure of zero means unknown.
    assert_eq!(near.claim().unwrap().read, Picoseconds(85_000));
    assert_eq!(near.claim().unwrap().write_bandwidth, 0);
    assert_eq!(near.access[0].unwrap().read, Picoseconds(80_000));
    assert_eq!(near.side_cache, Some(SideCache { size: Bytes(16 << 30), line: Bytes(64) }));
    assert_eq!((near.tier, near.weight), (Some(4), Some(3)));
    assert_eq!(node(&topology, 1).attributes.claim().unwrap().initiators, NodeSet::from_iter([1]));
    assert_eq!(distances(&topology), known(&[&[10, 21, 14], &[21, 10, 24], &[14, 24, 10]]));
    assert_eq!(topology.distance(NodeId(0), NodeId(4)), Some(14));
    assert_eq!(topology.distance(NodeId(0), NodeId(2)), None);
    assert!(!topology.same_package(NodeId(4), NodeId(4)));
}

#[test]
fn node_without_memory() {
    let topology = topology("cpu-only-node");
    assert_eq!(node(&topology, 0).kind(), NodeKind::Full);
    let bare = node(&topology, 1);
    assert_eq!((bare.kind(), bare.memory_total), (NodeKind::CpuOnly, Bytes(0)));
    assert_eq!(bare.cpus, cpus("8-15"));
}

#[test]
fn has_memory_is_inferred_where_the_kernel_does_not_list_it() {
    let mut machine = Machine::load("cpu-only-node");
    machine.0.remove("/sys/devices/system/node/has_memory");
    let topology = read(&machine, "0-15");
    assert_eq!(node(&topology, 0).kind(), NodeKind::Full);
    assert_eq!(node(&topology, 1).kind(), NodeKind::CpuOnly);
}

#[test]
fn offline_cpus_belong_to_no_node() {
    let topology = topology("offline-cpus");
    assert_eq!(node(&topology, 0).cpus, cpus("0-2"));
    assert_eq!(node(&topology, 1).cpus, cpus("4-5"));
    assert_eq!(topology.node_of_cpu(CpuId(3)), None);
    assert_eq!(topology.online_cpus, cpus("0-2,4-5"));
    assert_eq!(node(&topology, 1).package, None);
    assert!(!topology.same_package(NodeId(1), NodeId(1)));
}

#[test]
fn a_node_whose_cpus_are_all_offline_is_memory_only() {
    let mut machine = Machine::load("offline-cpus");
    machine.set("/sys/devices/system/cpu/online", "0-3");
    assert_eq!(node(&read(&machine, ""), 1).kind(), NodeKind::MemoryOnly);
}

#[test]
fn without_sysfs_one_node_is_assumed() {
    let topology = read(&Machine::load("no-sysfs"), "2-5");
    assert_eq!(topology.source, Source::Assumed);
    assert_eq!(topology.ids().to_string(), "0");
    let node = node(&topology, 0);
    assert_eq!((node.cpus, node.kind(), node.package), (cpus("2-5"), NodeKind::Full, None));
    assert_eq!((node.memory_total, node.memory_free), (kib(32_505_856), kib(20_971_520)));
    assert_eq!(node.page_pool(PageSize::MIB_2), Some(PagePool { total: 16, free: 12 }));
    assert_eq!(node.page_pool(PageSize::GIB_1), None);
    assert_eq!(topology.distance(NodeId(0), NodeId(0)), None);
}

#[test]
fn a_kernel_without_numa_has_one_node_of_the_allowed_cpus() {
    let topology = read(&Machine::load("kernel-without-numa"), "1-3");
    assert_eq!(topology.source, Source::Assumed);
    let node = node(&topology, 0);
    assert_eq!((node.cpus, node.package), (cpus("1-3"), Some(0)));
    assert_eq!(node.page_pool(PageSize::MIB_2), Some(PagePool { total: 8, free: 6 }));
}

#[test]
fn a_cpuset_does_not_change_the_machine() {
    let part = read(&Machine::load("cpuset-part"), "32-35");
    assert_eq!(node(&part, 0).cpus, cpus("0-31,64-95"));
    assert_eq!(node(&part, 1).cpus, cpus("32-63,96-127"));
}

/// A container may have a file of online CPUs of its own.
#[test]
fn cpus_that_the_process_may_use_are_online_whatever_the_file_says() {
    let mut machine = Machine::load("offline-cpus");
    machine.set("/sys/devices/system/cpu/online", "0");
    let topology = read(&machine, "1,5");
    assert_eq!(topology.online_cpus, cpus("0-1,5"));
    assert_eq!((node(&topology, 0).cpus, node(&topology, 1).cpus), (cpus("0-1"), cpus("5")));
}

#[test]
fn without_any_file_there_is_one_node_with_the_allowed_cpus() {
    let topology = read(&Machine::default(), "0");
    assert_eq!((topology.nodes().len(), topology.source), (1, Source::Assumed));
    let node = node(&topology, 0);
    assert_eq!((node.kind(), node.memory_total), (NodeKind::Full, Bytes(0)));
}

#[test]
fn reading_again_replaces_everything() {
    let mut topology = topology("four-nodes");
    topology.read(&Machine::load("no-sysfs"), &cpus("2"));
    assert_eq!(topology.ids().to_string(), "0");
    assert_eq!(topology.distance(NodeId(0), NodeId(0)), None);
    assert_eq!(topology.online_cpus, cpus("2"));
    topology.read(&Machine::load("two-sockets"), &cpus("0"));
    assert_eq!((topology.source, topology.ids().to_string().as_str()), (Source::Sysfs, "0-1"));
}

#[test]
fn more_nodes_than_can_be_kept_are_counted() {
    let mut machine = Machine::default();
    machine.set("/sys/devices/system/node/online", "0-199");
    machine.set("/sys/devices/system/node/node127/cpulist", "9");
    let row: String = (0..200).map(|_| "20 ").collect();
    machine.set("/sys/devices/system/node/node127/distance", &row);
    let topology = read(&machine, "0");
    assert_eq!((topology.nodes().len(), topology.omitted), (MAX_NODES, 200 - MAX_NODES));
    assert_eq!(topology.distance(NodeId(127), NodeId(127)), Some(20));
    assert_eq!(topology.node_of_cpu(CpuId(9)), Some(NodeId(127)));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(300) })]

    #[test]
    fn damaged_files_never_cause_a_panic(
        damage in prop::collection::vec((any::<prop::sample::Index>(), prop::collection::vec(any::<u8>(), 0..80)), 1..8),
    ) {
        let mut machine = Machine::load("cxl-memory");
        let paths: Vec<_> = machine.0.keys().cloned().collect();
        for (index, content) in damage {
            machine.0.insert(index.get(&paths).clone(), content);
        }
        let topology = read(&machine, "0-3");
        prop_assert!(!topology.nodes().is_empty());
        let ids = topology.ids();
        prop_assert!(topology.nodes().iter().zip(&ids).all(|(node, id)| node.id.0 == id));
        prop_assert_eq!(ids.last(), Some(topology.max_node().0));
    }
}

#[test]
fn failed_pages_of_a_node_are_counted_or_unknown() {
    let mut machine = Machine::load("four-nodes");
    let count = |machine: &Machine, id| node(&read(machine, "0-8191"), id).failed_pages;
    assert_eq!(count(&machine, 1), None);
    for (content, found) in [("3\n", Some(3)), ("0\n", Some(0)), ("-1\n", None), ("none\n", None), ("", None)]
    {
        machine.set("/sys/devices/system/node/node1/memory_failure/total", content);
        assert_eq!((count(&machine, 1), count(&machine, 0)), (found, None), "{content}");
    }
}
