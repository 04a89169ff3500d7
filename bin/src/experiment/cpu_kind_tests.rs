//! Tests the packages and the kinds of cores of whole machines.

use latency_core::CpuId;
use latency_core::topology::Shared;

use super::tests::{files_of, fixture, machine, surveyed};
use latency_engine::machine::detect::{sharing, warn};
use latency_engine::machine::{CoreKind, Platform};
use latency_engine::warning::{Warning, Warnings};

#[test]
fn a_node_of_two_packages_may_have_remote_memory() {
    let files = files_of(&fixture("node-interleaving"));
    let mut machine = surveyed(&files, None);
    let codes = |machine: &_| {
        let mut warnings = Warnings::empty();
        warn(machine, &mut warnings);
        warnings.iter().map(Warning::code).collect::<std::vec::Vec<_>>()
    };
    let has = |machine: &_, code| codes(machine).contains(&code);
    assert_eq!(machine.packages(), 2);
    assert!(has(&machine, "node-spans-packages") && !has(&machine, "one-node"));
    assert_eq!(machine.sharing.between(0, 2), Shared::Machine);
    // A hypervisor draws packages within a node as it likes: nothing lies in another socket.
    machine.processor.platform = Platform::Virtual;
    sharing(&mut machine, &files).unwrap();
    assert_eq!(machine.sharing.between(0, 2), Shared::Node);
    assert!(has(&machine, "one-node") && !has(&machine, "node-spans-packages"));
    // Packages that are nodes are believed.
    let files = files_of(&fixture("two-small-sockets"));
    let mut machine = surveyed(&files, None);
    machine.processor.platform = Platform::Virtual;
    sharing(&mut machine, &files).unwrap();
    assert_eq!(machine.sharing.between(0, 2), Shared::Machine);
}

#[test]
fn the_kernel_tells_kinds_of_cores_apart() {
    use CoreKind::{Efficiency, Performance};
    for (name, [first, last]) in [
        ("hybrid", [Some(Performance), Some(Efficiency)]),
        ("arm-m1", [Some(Efficiency), Some(Performance)]),
        ("two-small-sockets", [None; 2]),
        ("arm-graviton3", [None; 2]),
    ] {
        let machine = machine(name, None);
        assert_eq!([0, 7].map(|cpu| machine.kind_of(CpuId(cpu))), [first, last], "{name}");
    }
}
