//! Saved results that an editor, a shell or a spreadsheet wrote again, and what this program writes of several: both are
//! read as what they were.

use latency_tests::directory::Directory;
use latency_tests::document::array;
use latency_tests::program::workspace;
use latency_tests::run::{Run, finish};
use serde_json::Value;
use std::fs;

fn path(name: &str) -> String {
    workspace().join("tests").join(name).display().to_string()
}

fn of(directory: &Directory, arguments: &[&str]) -> Run {
    finish(&mut directory.command(arguments))
}

/// Returns the same text as an editor or a shell may write it.
fn changed(text: &str, is_json: bool) -> Vec<(&'static str, String)> {
    let of_windows = text.replace('\n', "\r\n");
    let mut all = vec![
        ("Windows", of_windows.clone()),
        ("no last newline", text.trim_end().to_string()),
        ("spaces at the ends of lines", text.replace('\n', "  \n")),
        ("blank lines", format!("\n\n{text}\n \n\n")),
        ("a byte-order mark", format!("\u{feff}{text}")),
        ("a byte-order mark and Windows", format!("\u{feff}{of_windows}")),
    ];
    match is_json {
        true => all.push(("indented lines", format!("  {}", text.replace("\n{", "\n {")))),
        false => all.push(("old Macintosh", text.replace('\n', "\r"))),
    }
    all
}

/// Results of this program and of other tools.
const RESULTS: [&str; 12] = [
    "golden/matrix-two-nodes.json",
    "fixtures/saved/nodes.jsonl",
    "fixtures/saved/nodes-a.csv",
    "fixtures/saved/curve.csv",
    "fixtures/saved/cpu-benchmarks.json",
    "fixtures/saved/cpu-benchmarks.txt",
    "fixtures/saved/lat_mem_rd.txt",
    "fixtures/saved/tinymembench.txt",
    "fixtures/saved/memory_latency.csv",
    "fixtures/tables/mlc-matrix.txt",
    "fixtures/tables/core-to-core.txt",
    "fixtures/tables/core-to-core.csv",
];

#[test]
fn a_file_that_an_editor_wrote_again_is_read_as_before() {
    let directory = Directory::new("damaged");
    let write = |bytes: &[u8]| fs::write(directory.path().join("a"), bytes).expect("a file");
    for name in RESULTS {
        let text = fs::read_to_string(path(name)).expect("a fixture");
        let is_json = name.contains(".json");
        let is_own = is_json && !name.contains("cpu");
        let mut commands = vec!["show"];
        commands.extend(is_own.then_some("fleet"));
        for command in commands {
            write(text.as_bytes());
            let before = of(&directory, &[command, "a"]);
            assert!(matches!(before.status.code(), Some(0 | 6)), "{name}: {before}");
            for (change, text) in changed(&text, is_json) {
                write(text.as_bytes());
                let after = of(&directory, &[command, "a"]);
                assert_eq!(after.stdout, before.stdout, "{command} {name} with {change}: {}", after.stderr);
                assert_eq!(after.status.code(), before.status.code(), "{command} {name} with {change}");
            }
            let wide = format!("\u{feff}{}", text.replace('\n', "\r\n"));
            write(&wide.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>());
            let found = of(&directory, &[command, "a"]);
            found.expect_status(1).expect_error("'a', line 1: UTF-16 text");
            assert_eq!(found.stdout, "", "{command} {name}");
        }
    }
}

/// Returns the experiment, the host and the points of each result that a command tells of.
fn told(run: &Run) -> Vec<[Value; 3]> {
    let document = run.expect_json(0);
    // `report` has a name for a host without one.
    let named = |value: &Value| if value == "unnamed" { Value::Null } else { value.clone() };
    let files = array(&document, "/files").iter();
    files.map(|file| ["of", "host_name", "points"].map(|key| named(&file[key]))).collect()
}

#[test]
fn what_show_and_report_write_of_several_results_is_read_as_these_results() {
    let directory = Directory::new("damaged-several");
    let (hosts, curve, foreign) = (
        path("fixtures/saved/nodes.jsonl"),
        path("fixtures/saved/curve.json"),
        path("fixtures/saved/lat_mem_rd.txt"),
    );
    for files in [&[hosts.as_str()][..], &[&hosts, &curve, &foreign, &foreign]] {
        let before = told(&of(&directory, &[&["show", "--json"], files].concat()));
        for (command, format) in [("show", "json"), ("show", "jsonl"), ("report", "json"), ("show", "csv")] {
            // A table does not tell apart two results without a host and a start.
            let files = if format == "csv" { &files[..1] } else { files };
            let name = format!("again.{format}");
            let written = [&[command, "-o", &name], files].concat();
            of(&directory, &written).expect_status(0);
            let before = &before[..if format == "csv" { 3 } else { before.len() }];
            assert_eq!(told(&of(&directory, &["show", "--json", &name])), before, "{command} {format}");
            let found = of(&directory, &["report", "--json", &name]).expect_json(0);
            assert_eq!(array(&found, "/files").len(), before.len(), "{command} {format}");
            if format != "csv" {
                // The conditions of the hosts are not in it.
                let found = of(&directory, &["fleet", &name]);
                found.expect_status(1).expect_error("use the files that were read for them");
            }
        }
    }
    // Results of several commands in one file.
    of(&directory, &["show", "--format=jsonl", "-o", "a.jsonl", &hosts]).expect_status(0);
    let all = fs::read_to_string(directory.path().join("a.jsonl")).expect("a file")
        + &fs::read_to_string(&hosts).expect("a fixture");
    fs::write(directory.path().join("all.jsonl"), all).expect("a file");
    assert_eq!(told(&of(&directory, &["show", "--json", "all.jsonl"])).len(), 6);
}

#[test]
fn a_document_with_a_byte_order_mark_keeps_its_sentences() {
    let directory = Directory::new("damaged-sentences");
    of(&directory, &["show", &path("fixtures/saved/matrix-a.json"), "--json", "-o", "a.json"])
        .expect_status(0);
    let before = of(&directory, &["show", "a.json"]).stdout;
    let text = fs::read_to_string(directory.path().join("a.json")).expect("a document");
    fs::write(directory.path().join("a.json"), format!("\u{feff}{text}")).expect("a file");
    assert_eq!(of(&directory, &["show", "a.json"]).expect_status(0).stdout, before);
    assert!(before.contains("matrix-a.json"), "{before}");
}
