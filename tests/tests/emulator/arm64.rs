//! The executable for aarch64 as process 1 of emulated machines.

use super::*;
use latency_tests::document::{text, warnings};

#[test]
fn two_nodes_of_a_device_tree() {
    in_guests_of(Architecture::Aarch64, "emulator::arm64::two_nodes_of_a_device_tree", || {
        let machine = Machine::new(&[NodeSpec::new(2, 256); 2]).distances(&[&[10, 23], &[23, 10]]);
        let machine = machine.architecture(Architecture::Aarch64).cpu_model("neoverse-n1");
        let document = assert_matrix(&machine.boot(&options(&MATRIX)), &[0, 1], &[0, 1]);
        assert_eq!(at(&document, "/system/nodes/1/distances"), &serde_json::json!([23, 10]));
        assert_eq!(text(&document, "/system/cpu/brand"), "Neoverse N1");
        assert_eq!(text(&document, "/clock/source"), "cntvct");
        // Its counters count cycles and no instructions.
        assert_eq!(text(&document, "/system/platform"), "emulated");
        assert!(warnings(&document).contains(&"emulated"), "{document:#}");
    });
}

#[test]
fn without_single_instructions_for_atomic_operations() {
    in_guests_of(
        Architecture::Aarch64,
        "emulator::arm64::without_single_instructions_for_atomic_operations",
        || {
            let machine = Machine::new(&[NodeSpec::new(2, 256)]);
            let machine = machine.architecture(Architecture::Aarch64).cpu_model("cortex-a72");
            let cores = machine.boot(&["cores", "--json", "--budget=4s"]);
            let document = cores.expect_json(0);
            assert_valid(&document);
            assert_eq!(text(&document, "/system/cpu/brand"), "Cortex-A72");
            assert!(decimal(&array(&document, "/rows")[0], "/ns") > 0.0, "{document:#}");
        },
    );
}
