//! The host of a document, and its labels from --label.

use super::small;
use latency_tests::document::at;
use latency_tests::run::{command, finish, run};
use latency_tests::schema::assert_valid;
use serde_json::json;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

const SECRET: &str = "nobody-asked-for-this";

#[test]
fn labels_are_the_typed_ones_and_the_named_variables() {
    let arguments = small(&[
        "--format=jsonl",
        "--label=rack=7",
        "--label=note=\"}\\\n\u{1b}[2J\u{2028}</script>",
        "--label=env:JOB",
        "--label=env:BYTES",
        "--label=empty=",
    ]);
    let mut with = command(&arguments);
    with.env("JOB", "12,\"34").env("BYTES", OsStr::from_bytes(b"\xff\"")).env("OTHER", SECRET);
    let found = finish(&mut with);
    assert_eq!(found.stdout.lines().count(), 1, "{found}");
    assert!(!found.stdout.contains(SECRET) && !found.stdout.contains('\u{1b}'), "{found}");
    let document = found.expect_json(0);
    assert_valid(&document);
    assert_eq!(
        at(&document, "/host/labels"),
        &json!({
            "rack": "7",
            "note": "\"}\\\n\u{1b}[2J\u{2028}</script>",
            "JOB": "12,\"34",
            "BYTES": "\u{fffd}\"",
            "empty": "",
        })
    );
}

#[test]
fn a_host_is_identified_by_its_names_and_no_secrets() {
    let document = run(&["system", "--json"]).expect_json(0);
    assert_valid(&document);
    let host = at(&document, "/host").as_object().expect("an object");
    assert_eq!(
        host.keys().map(String::as_str).collect::<Vec<_>>(),
        ["boot_id", "cpu_model", "labels", "name"]
    );
    assert_eq!(host["labels"], json!({}));
    let kernel = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(host["name"], kernel("/proc/sys/kernel/hostname").trim());
    assert_eq!(host["boot_id"], kernel("/proc/sys/kernel/random/boot_id").trim());
    assert_eq!(host["cpu_model"], document["system"]["cpu"]["brand"]);
    let machine = kernel("/etc/machine-id");
    assert!(machine.trim().is_empty() || !document.to_string().contains(machine.trim()));
}

#[test]
fn invalid_labels_are_refused() {
    for (arguments, words) in [
        (&["--label=rack"][..], "invalid --label 'rack': not a key and its value; use up to 16"),
        (&["--label=a b=c"], "not a key and its value"),
        (&["--label=a=1", "--label=a=2"], "another label has this key"),
        (
            &["--label=env:LATENCY_BENCH_MISSING"],
            "the environment variable LATENCY_BENCH_MISSING is not set; set it, or remove",
        ),
        (&["fit", "-", "--label=a=1"], "fit has no --label"),
    ] {
        run(arguments).expect_status(1).expect_error(words);
    }
    run(&["--help", "--label=env:LATENCY_BENCH_MISSING"]).expect_status(0);
}
