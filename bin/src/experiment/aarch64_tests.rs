//! Machines whose files are fixtures: their processors, lines, pages and nodes.

use std::boxed::Box;
use std::string::ToString;

use latency_core::{Bytes, CpuId, NodeId};

use super::tests::{codes, files_of, fixture, pairs, surveyed};
use latency_engine::machine::processor::aarch64::{Answers, described};
use latency_engine::machine::{CoreKind, Machine, Platform};

const COUNTS: Answers = Answers::COUNTS;
const TRANSLATED: Answers = Answers::TRANSLATED;

/// Returns a fixture's machine, as a program on one of its CPUs sees it.
fn machine(text: &str, cpu: u32, answers: Answers) -> Box<Machine> {
    // In a device tree a NUL ends a name.
    let files = files_of(&text.replace("dummy-virt\n", "dummy-virt\0"));
    let mut machine = surveyed(&files, None);
    machine.host.read(&files, CpuId(cpu));
    machine.processor = described(&files, CpuId(cpu), answers);
    machine
}

#[test]
fn machines_are_who_they_are() {
    use CoreKind::{Efficiency, Performance};
    use Platform::{Emulated, Hardware, Virtual};
    let n1 = "Neoverse N1 (GIGABYTE R272-P30-JG)";
    let v1 = "Neoverse V1 (Amazon EC2 c7g.16xlarge)";
    for (name, cpu, answers, core, kind, line, page, (platform, by)) in [
        ("arm-altra", 0, COUNTS, n1, None, 64, "64 KiB", (Hardware, "")),
        ("arm-altra", 80, COUNTS, n1, None, 64, "64 KiB", (Hardware, "")),
        ("arm-graviton3", 0, COUNTS, v1, None, 64, "4 KiB", (Virtual, "KVM")),
        ("arm-grace", 0, COUNTS, "Neoverse V2 (NVIDIA GH200)", None, 64, "64 KiB", (Hardware, "")),
        ("arm-pi5", 0, COUNTS, "Cortex-A76", None, 64, "16 KiB", (Hardware, "")),
        ("arm-m1", 0, COUNTS, "Apple M1 Icestorm", Some(Efficiency), 128, "16 KiB", (Hardware, "")),
        ("arm-m1", 4, COUNTS, "Apple M1 Firestorm", Some(Performance), 128, "16 KiB", (Hardware, "")),
        ("arm-tcg", 0, TRANSLATED, "Neoverse N1", None, 64, "4 KiB", (Emulated, "QEMU TCG")),
        ("arm-tcg", 0, COUNTS, "Neoverse N1", None, 64, "4 KiB", (Virtual, "QEMU")),
    ] {
        let machine = machine(&fixture(name), cpu, answers);
        let processor = &machine.processor;
        assert_eq!((processor.brand.as_str(), processor.core), (core, kind), "{name}, CPU {cpu}");
        assert_eq!((processor.platform, processor.hypervisor.as_str()), (platform, by), "{name}");
        assert_eq!((machine.line.bytes(), machine.page.to_string().as_str()), (Bytes(line), page), "{name}");
        assert!(processor.caches.iter().all(Option::is_none), "{name}: registers claim no caches");
    }
}

#[test]
fn their_nodes_are_those_of_the_kernel() {
    for (name, expected) in [
        ("arm-altra", "0>0@0 0>1@0 1>0@80 1>1@80"),
        ("arm-graviton3", "0>0@0"),
        // The memory of the GPU has no CPU.
        ("arm-grace", "0>0@0 0>1@0"),
        ("arm-pi5", "0>0@0"),
        ("arm-m1", "0>0@0"),
        ("arm-tcg", "0>0@0 0>1@0 1>0@2 1>1@2"),
    ] {
        let machine = machine(&fixture(name), 0, COUNTS);
        assert_eq!(pairs(&machine, ""), Ok(expected.into()), "{name}");
    }
    let grace = machine(&fixture("arm-grace"), 0, COUNTS);
    let distance = |to| grace.topology.distance(NodeId(0), NodeId(to));
    assert_eq!([0, 1].map(distance), [Some(10), Some(80)]);
}

#[test]
fn warnings_name_what_their_kernels_do_not_report() {
    for (name, expected) in [
        ("arm-altra", &[] as &[&str]),
        ("arm-graviton3", &[]),
        ("arm-grace", &[]),
        ("arm-pi5", &[]),
        ("arm-m1", &[]),
        // Half a gigabyte a node, and caches of unknown sizes.
        ("arm-tcg", &["size-clipped", "cache-could-hold"]),
    ] {
        let machine = machine(&fixture(name), 0, COUNTS);
        assert_eq!(codes(&machine, ""), expected, "{name}");
    }
}
