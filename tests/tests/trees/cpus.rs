//! Kinds of cores, and packages that a hypervisor draws.

use super::body::{MATRIX, Root, place};
use super::tree::Tree;
use latency_tests::confine::allowed_cpus;
use latency_tests::document::warnings;
use serde_json::Value;

const CPUS: &str = "/sys/devices/system/cpu";
const CORES: [&str; 5] = ["cores", "--json", "--budget=2", "--quiet", "--lines=1"];

/// Returns the tree of a machine with the CPUs that this process may use, and two of them.
fn of_two() -> Option<(Tree, [usize; 2])> {
    let [first, .., last] = allowed_cpus()[..] else { return None };
    let mut tree = Tree::of("one-node");
    for path in [&format!("{CPUS}/online"), "/sys/devices/system/node/node0/cpulist"] {
        tree.file(path, format!("{first},{last}\n"));
    }
    for cpu in [first, last] {
        tree.file(&format!("{CPUS}/cpu{cpu}/cache/index2/shared_cpu_list"), format!("{cpu}\n"));
        tree.file(&format!("{CPUS}/cpu{cpu}/cache/index3/shared_cpu_list"), format!("{cpu}\n"));
    }
    Some((tree, [first, last]))
}

fn document(root: &Root, arguments: &[&str]) -> Value {
    root.run(arguments).unwrap_or_else(|error| panic!("{error}")).expect_json(0)
}

#[test]
fn packages_of_a_hypervisor_do_not_count_as_sockets() {
    let Some(place) = place("trees::cpus::packages_of_a_hypervisor_do_not_count_as_sockets") else { return };
    let Some((mut tree, cpus)) = of_two() else { return };
    for cpu in cpus {
        tree.file(&format!("{CPUS}/cpu{cpu}/topology/physical_package_id"), format!("{cpu}\n"));
        tree.file(&format!("{CPUS}/cpu{cpu}/topology/core_siblings_list"), format!("{cpu}\n"));
    }
    let document = document(&Root::new(&place, &tree), &CORES);
    let class = if document["system"]["platform"] == "hardware" { "other socket" } else { "same node" };
    assert_eq!(document["rows"][0]["class"], class, "{document:#}");
}

#[test]
fn packages_within_a_node_are_listed() {
    let Some(place) = place("trees::cpus::packages_within_a_node_are_listed") else { return };
    let root = Root::new(&place, &Tree::of("node-interleaving"));
    let found = root.run(&["system"]).unwrap_or_else(|error| panic!("{error}"));
    let rows = found.expect_status(0).stdout.lines().skip_while(|line| !line.contains("package"));
    assert!(rows.clone().nth(1).is_some_and(|row| row.ends_with("0-1")), "{found}");
    let document = document(&root, MATRIX);
    let spans = warnings(&document).contains(&"node-spans-packages");
    assert_eq!(spans, document["system"]["platform"] == "hardware", "{document:#}");
}

#[test]
fn kinds_of_cores_are_told_apart() {
    let Some(place) = place("trees::cpus::kinds_of_cores_are_told_apart") else { return };
    let Some((tree, cpus)) = of_two() else { return };
    let mut counters = tree.clone();
    counters.file("/sys/devices/cpu_core/cpus", format!("{}\n", cpus[0]));
    counters.file("/sys/devices/cpu_atom/cpus", format!("{}\n", cpus[1]));
    let mut capacities = tree;
    capacities.file(&format!("{CPUS}/cpu{}/cpu_capacity", cpus[0]), "1024\n");
    capacities.file(&format!("{CPUS}/cpu{}/cpu_capacity", cpus[1]), "446\n");
    for tree in [counters, capacities] {
        let root = Root::new(&place, &tree);
        for (cpu, kind) in cpus.into_iter().zip(["performance core", "efficiency core"]) {
            let given = format!("--cpu={cpu}");
            let found = document(&root, &[MATRIX, &[&given]].concat());
            assert_eq!(found["system"]["cpu"]["core_type"], kind, "{found:#}");
        }
        let found = document(&root, &CORES);
        assert_eq!(found["classes"][0]["core_types"], "performance and efficiency core", "{found:#}");
    }
}
