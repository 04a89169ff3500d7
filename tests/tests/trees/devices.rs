//! The firmware's table of memory devices and the kernel's counters of their errors: absent, for root alone, and
//! damaged. What cannot be read is unknown, and never zero.

use super::body::{MATRIX, Root, SYSTEM, WORDS, checked, place};
use super::tree::{Entry, Tree};
use latency_tests::confine::Confine;
use latency_tests::everywhere::everywhere;
use serde_json::{Value, json};
use std::process::Command;

const TABLE: &str = "/sys/firmware/dmi/tables/DMI";
const CONTROLLER: &str = "/sys/devices/system/edac/mc/mc0";
const FAILURES: &str = "/sys/devices/system/node/node0/memory_failure/total";

/// A case: the change of the tree, true if another user than root runs the tool, the source of the devices, and the
/// devices with errors or with unknown counts.
struct Case {
    name: &'static str,
    alter: fn(&mut Tree),
    is_nobody: bool,
    source: Option<&'static str>,
    devices: fn() -> Value,
}

/// Returns a table with one array and one DIMM of 16 GiB.
fn table() -> Vec<u8> {
    let mut device = vec![0; 40];
    (device[0], device[1], device[0x0a], device[0x0d], device[0x12]) = (17, 40, 64, 0x40, 0x22);
    let mut array = vec![0; 23];
    (array[0], array[1], array[4], array[5], array[0x0d]) = (16, 23, 3, 3, 1);
    [array, vec![0, 0], device, vec![0, 0], vec![127, 4, 0, 0, 0, 0]].concat()
}

/// Adds a device of EDAC with its counts.
fn edac(tree: &mut Tree, counts: [&str; 2]) {
    for (file, content) in [
        ("mc_name", "i10nm\n"),
        ("dimm0/size", "16384\n"),
        ("dimm0/dimm_label", "A1\n"),
        ("dimm0/dimm_ce_count", counts[0]),
        ("dimm0/dimm_ue_count", counts[1]),
    ] {
        tree.file(&format!("{CONTROLLER}/{file}"), content);
    }
}

/// Makes every file below a directory readable by root alone.
fn hide(tree: &mut Tree, directory: &str) {
    for (path, entry) in &mut tree.0 {
        if let Entry::File(content) = entry
            && path.starts_with(directory)
        {
            *entry = Entry::Secret(content.clone());
        }
    }
}

const CASES: [Case; 8] = [
    Case {
        name: "neither table nor counters",
        alter: |_| {},
        is_nobody: false,
        source: None,
        devices: || Value::Null,
    },
    Case {
        name: "both, read by root",
        alter: |tree| {
            tree.file(TABLE, table());
            edac(tree, ["7\n", "0\n"]);
        },
        is_nobody: false,
        source: Some("smbios"),
        devices: || {
            json!([{"locator": "A1", "corrected": 7, "uncorrected": 0,
            "corrected_during_run": 0, "uncorrected_during_run": 0}])
        },
    },
    Case {
        name: "a table for root alone",
        alter: |tree| {
            tree.put(TABLE, Entry::Secret(table()));
            edac(tree, ["0\n", "0\n"]);
        },
        is_nobody: true,
        source: Some("edac"),
        devices: || json!([]),
    },
    Case {
        name: "table and counters for root alone",
        alter: |tree| {
            tree.file(TABLE, table());
            edac(tree, ["7\n", "0\n"]);
            hide(tree, TABLE);
            hide(tree, CONTROLLER);
        },
        is_nobody: true,
        source: None,
        devices: || Value::Null,
    },
    Case {
        name: "a table that ends in the middle",
        alter: |tree| tree.file(TABLE, &table()[..30]),
        is_nobody: false,
        source: None,
        devices: || Value::Null,
    },
    Case {
        name: "a table of other bytes",
        alter: |tree| {
            tree.file(TABLE, vec![0xff; 4096]);
            edac(tree, ["0\n", "0\n"]);
        },
        is_nobody: false,
        source: Some("edac"),
        devices: || json!([]),
    },
    Case {
        name: "a table of a terabyte, a directory instead of counters",
        alter: |tree| {
            tree.put(TABLE, Entry::Holes(1 << 40));
            tree.put(CONTROLLER, Entry::Directory);
        },
        is_nobody: false,
        source: None,
        devices: || Value::Null,
    },
    Case {
        name: "counts that are no numbers",
        alter: |tree| {
            edac(tree, ["many\n", "-1\n"]);
            tree.file(FAILURES, "99999999999999999999999\n");
        },
        is_nobody: false,
        source: Some("edac"),
        devices: || {
            json!([{"locator": "A1", "corrected": null, "uncorrected": null,
            "corrected_during_run": null, "uncorrected_during_run": null}])
        },
    },
];

fn check(case: &Case, root: &Root) -> Result<(), String> {
    let command = |arguments| -> Command {
        let mut command = root.command(arguments);
        if case.is_nobody {
            command.as_nobody();
        }
        command
    };
    let document = |arguments| -> Result<Value, String> {
        let run = checked(&mut command(arguments))?;
        serde_json::from_str(&run.stdout).map_err(|error| format!("{error}: {run}"))
    };
    checked(&mut command(WORDS))?;
    let system = document(SYSTEM)?;
    let source = system["system"]["dimms"]["source"].as_str();
    let failed = &system["system"]["nodes"][0]["failed_pages"];
    let matrix = document(MATRIX)?;
    let errors = &matrix["conditions"]["hardware_errors"];
    let unknown = ["machine_checks_during_run", "failed_pages_during_run", "dimm_celsius"];
    let is_told = source == case.source
        && failed.is_null()
        && errors["memory_devices"] == (case.devices)()
        && unknown.iter().all(|key| errors.get(key).is_some_and(Value::is_null));
    if is_told { Ok(()) } else { Err(format!("{source:?}, {failed}, {errors}")) }
}

#[test]
fn memory_devices_and_their_errors_are_known_or_unknown() {
    let Some(place) = place("trees::memory_devices_and_their_errors") else { return };
    everywhere(&CASES, |case| {
        let mut tree = Tree::of("one-node");
        (case.alter)(&mut tree);
        check(case, &Root::new(&place, &tree)).map_err(|reason| format!("{}: {reason}", case.name))
    });
}
