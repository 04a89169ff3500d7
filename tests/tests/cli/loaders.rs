//! Results in the hands of other programs: one loader reads all experiments, and tables can be joined end to end.

use latency_tests::directory::Directory;
use latency_tests::document::array;
use latency_tests::program::workspace;
use latency_tests::run::{finish, run};
use latency_tests::schema::assert_valid;
use latency_tests::skip::not_shown;
use serde_json::Value;
use std::fs;
use std::process::Command;

/// The shortest run of three experiments with different columns.
const SHORT: [&[&str]; 3] = [
    &["matrix", "--size=64K", "--trials=2", "--iters=200"],
    &["variants", "--size=16K", "--trials=2", "--iters=200"],
    &["parallel", "--size=16K", "--trials=2", "--iters=200"],
];

/// The number of hosts whose files are joined.
const HOSTS: usize = 500;

#[test]
fn five_hundred_tables_are_joined_and_read_by_one_condition() {
    let tables = SHORT.map(|line| run(&[line, &["--csv", "--quiet"]].concat()).stdout);
    let column = |name: &str| {
        let names = tables[0].lines().next().unwrap_or_default();
        names.split(',').position(|column| column == name).expect("a column")
    };
    let (host, experiment, ns) = (column("host"), column("experiment"), column("ns"));
    let of_host = |number: usize, table: &str| -> String {
        let line = |line: &str| {
            let mut cells: Vec<&str> = line.split(',').collect();
            let name = format!("n{number}");
            if cells[host] != "host" {
                cells[host] = &name;
            }
            cells.join(",") + "\n"
        };
        table.lines().map(line).collect()
    };
    let joined: String = (0..HOSTS).map(|number| of_host(number, &tables[number % tables.len()])).collect();
    for (line, table) in SHORT.iter().zip(&tables) {
        let rows: Vec<Vec<&str>> = joined.lines().map(|line| line.split(',').collect()).collect();
        let wanted: Vec<_> = rows.iter().filter(|row| row[experiment] == line[0]).collect();
        let files = (0..HOSTS).filter(|number| SHORT[number % SHORT.len()][0] == line[0]).count();
        assert_eq!(wanted.len(), files * (table.lines().count() - 1), "{line:?}");
        assert!(wanted.iter().all(|row| row[ns].parse::<f64>().is_ok()), "{line:?}");
    }
}

#[test]
fn rows_of_all_documents_are_flat_and_say_their_experiment() {
    for line in SHORT {
        let document = run(&[line, &["--json", "--quiet"]].concat()).expect_json(0);
        assert_valid(&document);
        for row in array(&document, "/rows") {
            let members = row.as_object().expect("a row is an object");
            let is_flat = members.values().all(|value| !value.is_object() && !value.is_array());
            assert!(is_flat && members["experiment"] == line[0], "{row:#}");
        }
    }
}

#[test]
fn the_one_liners_of_the_readme_read_real_results() {
    const TEST: &str = "loaders::the_one_liners_of_the_readme_read_real_results";
    let directory = Directory::new("loaders");
    for line in SHORT {
        for extension in ["json", "csv"] {
            let output = format!("--output={}.{extension}", line[0]);
            finish(&mut directory.command(&[line, &[&output, "--quiet"]].concat())).expect_status(0);
        }
    }
    let readme = fs::read_to_string(workspace().join("README.md")).expect("README.md");
    let section =
        readme.split("\n### ").find(|section| section.starts_with("One loader")).expect("a section");
    let lines = section.split("```").nth(1).expect("code").lines().skip(1);
    let is_there = |line: &str| {
        let probe = match line.split(' ').next() {
            Some("python3") => "python3 -c 'import pandas'",
            Some("duckdb") => "duckdb --version",
            Some("jq") => "jq --version",
            _ => "true",
        };
        Command::new("sh").args(["-c", probe]).output().is_ok_and(|found| found.status.success())
    };
    let mut count = 0;
    for line in lines {
        count += 1;
        if !is_there(line) {
            not_shown(TEST, &format!("{line} needs a program that is not installed"));
            continue;
        }
        let mut shell = Command::new("sh");
        let found = finish(shell.args(["-c", line]).current_dir(directory.path()));
        assert!(found.status.success() && found.stderr.is_empty(), "{line}: {found}");
        assert!(
            line.contains(" > ") || found.stdout.contains("matrix") || found.stdout.contains("ns"),
            "{found}"
        );
    }
    assert!(count >= 6, "{section}");
    let rows = fs::read_to_string(directory.path().join("rows.jsonl")).unwrap_or_default();
    assert!(
        rows.lines().all(|row| serde_json::from_str::<Value>(row).is_ok_and(|row| row["ns"].is_number()))
    );
}
