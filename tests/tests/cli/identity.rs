//! The identity of a processor in saved results: the name alone does not tell processors apart.

use latency_tests::directory::Directory;
use latency_tests::run::finish;
use serde_json::{Value, json};
use std::fs;

/// Returns a document of a matrix with one pair, and with the members of `system` that identify the processor.
fn host(name: &str, ns: f64, cpu: &Value, caches: &[(u32, u64)]) -> String {
    let caches: Vec<_> = caches
        .iter()
        .map(|(level, bytes)| json!({"level": level, "type": if *level == 1 { "Data" } else { "Unified" }, "bytes": bytes}))
        .collect();
    json!({
        "experiment": "matrix",
        "host": {"name": name, "boot_id": "", "cpu_model": "Intel(R) Xeon(R) Processor", "labels": {}},
        "system": {"cpu": cpu, "nodes": [{"id": 0}], "caches": caches},
        "rows": [{"initiator_node": 0, "target_node": 0, "ns": ns, "ns_low": ns - 0.2, "ns_high": ns + 0.2,
                  "working_set_bytes": 268_435_456}],
    })
    .to_string()
}

fn cpu(family: u32, model: u32, stepping: u32, core_type: Option<&str>) -> Value {
    json!({"family": family, "model": model, "stepping": stepping, "core_type": core_type})
}

const MIB: u64 = 1 << 20;
const KIB48: u64 = 48 << 10;
const CACHES: [(u32, u64); 3] = [(1, KIB48), (2, 2 * MIB), (3, 32 * MIB)];

/// The processor, the caches, the code and the words of a host.
type OtherProcessor = (Value, [(u32, u64); 3], &'static str, &'static str);

/// Returns other processors of the same name, each with its code, and with the words for its difference.
fn others() -> Vec<OtherProcessor> {
    let usual = cpu(6, 207, 2, None);
    vec![
        (cpu(25, 207, 2, None), CACHES, "cpu-family", "CPU family 25 (7 hosts have 6)"),
        (cpu(6, 106, 2, None), CACHES, "cpu-model", "CPU model number 106 (7 hosts have 207)"),
        (cpu(6, 207, 0, None), CACHES, "cpu-stepping", "CPU stepping 0 (7 hosts have 2)"),
        (
            cpu(6, 207, 2, Some("efficiency core")),
            CACHES,
            "core-type",
            "efficiency core (7 hosts have one core type)",
        ),
        (
            usual.clone(),
            [(1, KIB48), (2, MIB), (3, 32 * MIB)],
            "l2-size",
            "1 MiB of L2 cache (7 hosts have 2 MiB)",
        ),
        (
            usual.clone(),
            [(1, 32 << 10), (2, 2 * MIB), (3, 32 * MIB)],
            "l1-size",
            "32 KiB of L1 cache (7 hosts have 48 KiB)",
        ),
        (
            usual,
            [(1, KIB48), (2, 2 * MIB), (3, 64 * MIB)],
            "l3-size",
            "64 MiB of L3 cache (7 hosts have 32 MiB)",
        ),
    ]
}

/// Writes seven hosts of one processor and `last`, for `fleet`.
fn fleet(directory: &Directory, last: &str) {
    let usual = cpu(6, 207, 2, None);
    let mut lines: Vec<_> = (0..7)
        .map(|index| host(&format!("n{index}"), 100.0 + f64::from(index) * 0.1, &usual, &CACHES))
        .collect();
    lines.push(last.into());
    fs::write(directory.path().join("fleet.jsonl"), lines.join("\n")).expect("a file");
}

#[test]
fn hosts_with_another_processor_of_the_same_name_are_listed_apart_with_the_reason() {
    let directory = Directory::new("identity-fleet");
    for (cpu, caches, code, words) in others() {
        fleet(&directory, &host("other", 120.0, &cpu, &caches));
        let found = finish(&mut directory.command(&["fleet", "fleet.jsonl"]));
        let shown = &found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(shown.contains(&format!("other: not comparable: {words} [{code}].")), "{code}: {shown}");
    }
}

#[test]
fn an_identity_that_an_older_document_lacks_is_unknown() {
    let directory = Directory::new("identity-unknown");
    for cpu in [json!({}), json!({"family": 6}), json!({"family": null, "model": null, "stepping": null})] {
        fleet(&directory, &host("old", 120.0, &cpu, &[]));
        let found = finish(&mut directory.command(&["fleet", "fleet.jsonl", "--csv"]));
        assert!(found.expect_status(5).stdout.contains("old,"), "{cpu}: {}", found.stdout);
    }
}

#[test]
fn a_comparison_names_another_processor_first_and_judges() {
    let directory = Directory::new("identity-compare");
    let write = |name: &str, text: String| fs::write(directory.path().join(name), text).expect("a file");
    write("a.json", host("a", 100.0, &cpu(6, 207, 2, None), &CACHES));
    for (cpu, caches, code, _) in others() {
        write("b.json", host("b", 120.0, &cpu, &caches));
        let found = finish(&mut directory.command(&["compare", "a.json", "b.json"]));
        let text = &found.expect_status(5).stdout;
        let shown = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let differs = shown.find("Differs:").unwrap_or_else(|| panic!("{code}: {text}"));
        assert!(shown.find("REGRESSION").is_some_and(|verdict| differs < verdict), "{code}: {text}");
    }
    write("b.json", host("b", 120.0, &cpu(6, 106, 6, None), &CACHES));
    let found = finish(&mut directory.command(&["compare", "a.json", "b.json"]));
    let text = found.expect_status(5).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("CPU model number 207 -> 106"), "{text}");
}
