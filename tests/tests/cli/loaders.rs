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
    const TEST: &str = "loaders::five_hundred_tables_are_joined_and_read_by_one_condition";
    let directory = Directory::new("loaders-joined");
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
    let files: Vec<String> =
        (0..HOSTS).map(|number| of_host(number, &tables[number % tables.len()])).collect();
    for (number, file) in files.iter().enumerate() {
        fs::write(directory.path().join(format!("n{number}.csv")), file).expect("a file");
    }
    let joined = files.concat();
    for (line, table) in SHORT.iter().zip(&tables) {
        let rows: Vec<Vec<&str>> = joined.lines().map(|line| line.split(',').collect()).collect();
        let wanted: Vec<_> = rows.iter().filter(|row| row[experiment] == line[0]).collect();
        let files = (0..HOSTS).filter(|number| SHORT[number % SHORT.len()][0] == line[0]).count();
        assert_eq!(wanted.len(), files * (table.lines().count() - 1), "{line:?}");
        assert!(wanted.iter().all(|row| row[ns].parse::<f64>().is_ok()), "{line:?}");
    }
    let lines: Vec<String> = lines_of_guide().into_iter().filter(|line| line.contains("joined")).collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    for line in lines {
        let Some(printed) = printed(TEST, &directory, &line).filter(|_| !line.contains('>')) else {
            continue;
        };
        // The first file and the last one in alphabetical order are of a matrix; tables are shortened in between.
        assert!(printed.contains("n0") && printed.contains("n99"), "{line}: {printed}");
        assert!(!printed.contains("n1,") && !printed.contains("host,ns\n"), "{line}: {printed}");
    }
}

/// Returns the lines of the guide that load results.
fn lines_of_guide() -> Vec<String> {
    let guide = fs::read_to_string(workspace().join("bin/README.md")).expect("bin/README.md");
    let section = guide.split("\n### ").find(|section| section.starts_with("One loader")).expect("a section");
    let code = section.split("```").nth(1).expect("code");
    code.lines().skip(1).map(String::from).collect()
}

/// Returns the output of a line of the guide, or `None` if a program of it is not installed.
fn printed(test: &str, directory: &Directory, line: &str) -> Option<String> {
    let probe = match line.split(' ').next() {
        Some("python3") => "python3 -c 'import pandas'",
        Some("duckdb") => "duckdb --version",
        Some("sqlite3") => "sqlite3 --version",
        Some("jq") => "jq --version",
        _ => "true",
    };
    let is_there = Command::new("sh").args(["-c", probe]).output().is_ok_and(|found| found.status.success());
    if !is_there {
        not_shown(test, &format!("{line} needs a program that is not installed"));
        return None;
    }
    let found = finish(Command::new("sh").args(["-c", line]).current_dir(directory.path()));
    assert!(found.status.success() && found.stderr.is_empty(), "{line}: {found}");
    Some(found.stdout)
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
fn the_one_liners_of_the_guide_read_real_results() {
    const TEST: &str = "loaders::the_one_liners_of_the_guide_read_real_results";
    let directory = Directory::new("loaders");
    for line in SHORT {
        for extension in ["json", "csv"] {
            let output = format!("--output={}.{extension}", line[0]);
            finish(&mut directory.command(&[line, &[&output, "--quiet"]].concat())).expect_status(0);
        }
    }
    let lines = lines_of_guide();
    assert!(lines.len() >= 9, "{lines:?}");
    for line in lines {
        let Some(printed) = printed(TEST, &directory, &line) else { continue };
        assert_eq!(printed.is_empty(), line.contains(" > "), "{line}: {printed}");
    }
    let rows = fs::read_to_string(directory.path().join("rows.jsonl")).unwrap_or_default();
    assert!(
        rows.lines().all(|row| serde_json::from_str::<Value>(row).is_ok_and(|row| row["ns"].is_number()))
    );
}
