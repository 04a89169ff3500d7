//! The identity of a processor in saved results: the name alone does not tell processors apart.

use latency_tests::directory::Directory;
use latency_tests::run::finish;
use serde_json::{Value, json};
use std::fs;

/// Returns a document of a matrix with one pair, and with everything that identifies its host.
fn host(name: &str, ns: f64) -> Value {
    json!({
        "experiment": "matrix",
        "host": {"name": name, "boot_id": "", "cpu_model": "Intel(R) Xeon(R) Processor", "labels": {}},
        "system": {
            "cpu": {"vendor": "GenuineIntel", "family": 6, "model": 207, "stepping": 2, "core_type": null,
                    "model_masked": false},
            "machine": {"vendor": "Imaginary Inc."},
            "platform": "virtual machine", "hypervisor": "KVM",
            "nodes": [{"id": 0}],
            "caches": [{"level": 1, "type": "Data", "bytes": 48 << 10}, {"level": 2, "type": "Unified", "bytes": 2 << 20},
                       {"level": 3, "type": "Unified", "bytes": 32 << 20}],
        },
        "trust": {"level": "good", "reasons": [], "emulated": false, "omitted": 0},
        "rows": [{"initiator_node": 0, "target_node": 0, "ns": ns, "ns_low": ns - 0.2, "ns_high": ns + 0.2,
                  "working_set_bytes": 268_435_456, "pages_obtained": "2m"}],
    })
}

/// A member of a document, its value on another host, the code, and the words for the difference.
type Other = (&'static str, Value, &'static str, &'static str);

/// Returns the members that identify a processor or its hypervisor.
fn processors() -> Vec<Other> {
    vec![
        ("/system/cpu/family", json!(25), "cpu-family", "CPU family 25 (7 hosts have 6)"),
        ("/system/cpu/model", json!(106), "cpu-model", "CPU model number 106 (7 hosts have 207)"),
        ("/system/cpu/stepping", json!(0), "cpu-stepping", "CPU stepping 0 (7 hosts have 2)"),
        (
            "/system/cpu/core_type",
            json!("efficiency core"),
            "core-type",
            "efficiency core (7 hosts have one core type)",
        ),
        ("/system/cpu/model_masked", json!(true), "cpu-masked", "a masked CPU model (7 hosts have no)"),
        (
            "/system/cpu/vendor",
            json!("AuthenticAMD"),
            "cpu-vendor",
            "CPU vendor AuthenticAMD (7 hosts have GenuineIntel)",
        ),
        (
            "/system/platform",
            json!("hardware"),
            "platform",
            "platform hardware (7 hosts have virtual machine)",
        ),
        ("/trust/emulated", json!(true), "platform", "platform emulated (7 hosts have virtual machine)"),
        ("/system/hypervisor", json!("VMware"), "hypervisor", "hypervisor VMware (7 hosts have KVM)"),
        ("/system/hypervisor", json!(""), "hypervisor", "hypervisor none (7 hosts have KVM)"),
        ("/system/hypervisor", json!("Jailhouse"), "hypervisor", "hypervisor other (7 hosts have KVM)"),
        ("/system/caches/0/bytes", json!(32 << 10), "l1-size", "32 KiB of L1 cache (7 hosts have 48 KiB)"),
        ("/system/caches/1/bytes", json!(1 << 20), "l2-size", "1 MiB of L2 cache (7 hosts have 2 MiB)"),
        ("/system/caches/2/bytes", json!(64 << 20), "l3-size", "64 MiB of L3 cache (7 hosts have 32 MiB)"),
    ]
}

/// Returns a document with another value of a member; without the member if the value is null.
fn with(mut document: Value, pointer: &str, value: &Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = document.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object");
    parent.insert(key.into(), value.clone());
    parent.retain(|_, value| !value.is_null());
    document
}

/// Writes seven hosts of one processor and `last`, for `fleet`.
fn fleet(directory: &Directory, last: &Value) {
    let like = (0..7).map(|index| host(&format!("n{index}"), 100.0 + f64::from(index) * 0.1));
    let lines: Vec<_> = like.chain([last.clone()]).map(|host| host.to_string()).collect();
    fs::write(directory.path().join("fleet.jsonl"), lines.join("\n")).expect("a file");
}

/// Returns the output of a command with its exit status, on one line.
fn shown(directory: &Directory, arguments: &[&str], status: i32) -> String {
    let found = finish(&mut directory.command(arguments));
    found.expect_status(status).stdout.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn hosts_with_another_processor_of_the_same_name_are_listed_apart_with_the_reason() {
    let directory = Directory::new("identity-fleet");
    let measured = [
        ("/rows/0/pages_obtained", json!("4k"), "pages", "4 KiB pages (7 hosts have 2 MiB)"),
        ("/rows/0/working_set_bytes", json!(1 << 30), "size", "1 GiB working set (7 hosts have 256 MiB)"),
        ("/system/nodes", json!([{"id": 0}, {"id": 1}]), "nodes", "2 NUMA nodes (7 hosts have 1)"),
    ];
    for (pointer, value, code, words) in processors().into_iter().chain(measured) {
        fleet(&directory, &with(host("other", 120.0), pointer, &value));
        let shown = shown(&directory, &["fleet", "fleet.jsonl"], 0);
        assert!(shown.contains(&format!("other: not comparable: {words} [{code}].")), "{code}: {shown}");
    }
    fleet(&directory, &host("slow", 120.0));
    let shown = shown(&directory, &["fleet", "fleet.jsonl"], 5);
    assert!(shown.contains("1 of 8 hosts is slow: slow ("), "{shown}");
}

#[test]
fn an_identity_that_an_older_document_lacks_is_unknown() {
    let directory = Directory::new("identity-unknown");
    let parts =
        ["/system/cpu", "/system/caches", "/system/platform", "/system/hypervisor", "/trust/emulated"];
    for pointer in processors().iter().map(|other| other.0).chain(parts) {
        fleet(&directory, &with(host("old", 120.0), pointer, &Value::Null));
        let found = finish(&mut directory.command(&["fleet", "fleet.jsonl", "--csv"]));
        assert!(found.expect_status(5).stdout.contains("old,"), "{pointer}: {}", found.stdout);
    }
}

#[test]
fn a_comparison_names_another_processor_first_and_judges() {
    let directory = Directory::new("identity-compare");
    let write = |name: &str, host: &Value| {
        fs::write(directory.path().join(name), host.to_string()).expect("a file");
    };
    write("a.json", &host("a", 100.0));
    for (pointer, value, code, _) in processors() {
        write("b.json", &with(host("b", 120.0), pointer, &value));
        let shown = shown(&directory, &["compare", "a.json", "b.json"], 5);
        let differs = shown.find("Differs:").unwrap_or_else(|| panic!("{code}: {shown}"));
        assert!(shown.find("REGRESSION").is_some_and(|verdict| differs < verdict), "{code}: {shown}");
    }
    write("b.json", &with(host("b", 120.0), "/system/cpu/model", &json!(106)));
    let shown = shown(&directory, &["compare", "a.json", "b.json"], 5);
    assert!(shown.contains("CPU model number 207 -> 106"), "{shown}");
    for (pointer, word, words) in [
        ("/system/hypervisor", "VMware", "hypervisor KVM -> VMware"),
        ("/system/cpu/vendor", "AuthenticAMD", "CPU vendor GenuineIntel -> AuthenticAMD"),
        ("/system/platform", "hardware", "platform virtual machine -> hardware"),
    ] {
        write("b.json", &with(host("b", 120.0), pointer, &json!(word)));
        let shown = self::shown(&directory, &["compare", "a.json", "b.json"], 5);
        assert_eq!(shown.matches(words).count(), 1, "{shown}");
    }
}

#[test]
fn each_kind_of_processors_of_one_name_is_judged_among_itself() {
    let directory = Directory::new("identity-kinds");
    let other = |name: String, ns| {
        let other = with(host(&name, ns), "/system/cpu/model", &json!(106));
        with(other, "/system/caches/1/bytes", &json!(1 << 20))
    };
    let ns = |index: u32, usual: f64| usual + f64::from(index) * 0.1;
    let write = |name: &str, hosts: &[Value]| {
        let lines: Vec<_> = hosts.iter().map(Value::to_string).collect();
        fs::write(directory.path().join(name), lines.join("\n")).expect("a file");
    };
    // As fast as the slow host of one kind is a usual host of the other.
    let mut all: Vec<_> = (0..7).map(|index| host(&format!("n{index}"), ns(index, 100.0))).collect();
    all.extend((0..5).map(|index| other(format!("m{index}"), ns(index, 130.0))));
    let third = with(host("third", 160.0), "/system/cpu/stepping", &json!(9));
    write("usual.jsonl", &all);
    all.extend([host("slow-n", 130.0), other("slow-m".into(), 170.0), third]);
    write("fleet.jsonl", &all);
    let text = shown(&directory, &["fleet", "fleet.jsonl"], 5);
    for words in [
        "2 of 14 hosts are slow: slow-m, slow-n (",
        "slow-m: compared with 6 hosts of its kind: CPU model number 106, 1 MiB of L2 cache.",
        "slow-n: compared with 8 hosts of its kind: CPU model number 207, 2 MiB of L2 cache.",
        "third: not comparable: CPU stepping 9 (8 hosts have 2) [cpu-stepping].",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let against = ["fleet", "fleet.jsonl", "--baseline=usual.jsonl"];
    assert!(shown(&directory, &against, 5).contains("2 of 14 hosts are slow: slow-m, slow-n ("));
    let document = finish(&mut directory.command(&["fleet", "fleet.jsonl", "--json"])).expect_json(5);
    assert_eq!(document["rows"][0]["host"], "slow-m");
    assert_eq!(document["rows"][0]["kind"], "CPU model number 106, 1 MiB of L2 cache");
    let groups = document["groups"].as_array().expect("groups");
    let hosts: Vec<_> = groups.iter().map(|group| (&group["kind"], &group["hosts"])).collect();
    assert_eq!(
        hosts,
        [
            (&json!("CPU model number 207, 2 MiB of L2 cache"), &json!(8)),
            (&json!("CPU model number 106, 1 MiB of L2 cache"), &json!(6)),
        ]
    );
    // Four hosts are too few for a kind of their own.
    all.retain(|host| host["host"]["name"] != "slow-m" && host["host"]["name"] != "m0");
    write("few.jsonl", &all);
    let text = shown(&directory, &["fleet", "few.jsonl"], 5);
    assert!(
        text.contains("m1: not comparable: CPU model number 106 (9 hosts have 207) [cpu-model]."),
        "{text}"
    );
}
