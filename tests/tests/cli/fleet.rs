//! Results of many hosts: read from files and pipes of any length, in little memory, whatever their content.

use latency_tests::directory::Directory;
use latency_tests::document::at;
use latency_tests::program::workspace;
use latency_tests::prometheus::read;
use latency_tests::run::{Run, command, finish, finish_within};
use latency_tests::schema::assert_valid;
use std::fs;
use std::io::Write;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Maximum wall-clock time of a run. A busy host may give it little CPU time.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Returns a result on one line, in the program's form, of a host of this name whose second pair has this
/// latency.
fn line(name: &str, ns: f64) -> String {
    let path = workspace().join("tests/golden/matrix-two-nodes.json");
    let mut document: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(path).expect("a document")).expect("JSON");
    document["host"]["name"] = name.into();
    document["trust"]["level"] = "good".into();
    set_latency(&mut document["rows"][1], ns);
    document.to_string() + "\n"
}

/// Sets the latency of a row: the random load, and memory without address translation.
pub fn set_latency(row: &mut serde_json::Value, ns: f64) {
    for key in ["ns", "memory_ns", "without_translation_ns"] {
        for (end, factor) in [("", 1.0), ("_low", 0.99), ("_high", 1.01)] {
            row[format!("{key}{end}")] = (ns * factor).into();
        }
    }
}

/// Runs the program with a text as its standard input.
fn piped(text: &[u8], more: &[&str]) -> Run {
    let mut child =
        command(&[&["fleet", "-"], more].concat()).stdin(Stdio::piped()).spawn().expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    let text = text.to_vec();
    let writer = std::thread::spawn(move || input.write_all(&text));
    let found = finish_within(child, PATIENCE);
    writer.join().expect("a thread").expect("the program reads all of it");
    found
}

/// Returns the largest resident memory so far of a program, in KiB, once it waits for more input.
pub fn peak_kb_once_it_waits(child: &Child) -> u64 {
    let path = format!("/proc/{}/status", child.id());
    let deadline = Instant::now() + PATIENCE;
    let status = loop {
        let status = fs::read_to_string(&path).expect("a running process");
        if status.lines().any(|line| line.starts_with("State:\tS")) {
            break status;
        }
        assert!(Instant::now() < deadline, "it does not wait: {status}");
        std::thread::sleep(Duration::from_millis(20));
    };
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok());
    peak.expect("VmHWM")
}

/// Maximum resident memory.
const RESIDENT_KB: u64 = 64 << 10;

#[test]
fn thousands_of_results_take_little_memory() {
    let mut child = command(&["fleet", "-", "--json"]).stdin(Stdio::piped()).spawn().expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    let one = line("@", 154.0);
    for host in 0..2000 {
        let line =
            if host == 77 { line("n77", 200.0) } else { one.replacen("\"@\"", &format!("\"n{host}\""), 1) };
        input.write_all(line.as_bytes()).expect("a reader");
    }
    // It has read everything once it waits for more.
    let peak = peak_kb_once_it_waits(&child);
    drop(input);
    let document = finish_within(child, PATIENCE).expect_json(5);
    assert!(peak < RESIDENT_KB, "{peak} kB");
    assert_valid(&document);
    assert_eq!(at(&document, "/summary/hosts"), 2000);
    assert_eq!(at(&document, "/rows/0/host"), "n77");
}

#[test]
fn a_pipe_is_read_to_its_end() {
    let mut text: String =
        (0..9).map(|host| line(&format!("n{host}"), if host == 3 { 220.0 } else { 154.0 })).collect();
    text += "{\"cut\":[\nnot a result\n";
    let found = piped(text.as_bytes(), &[]);
    found.expect_status(5);
    assert!(found.stdout.starts_with("1 of 9 hosts is slow: n3 ("), "{found}");
    assert!(found.stdout.contains("Skipped: '-', line 10: the document is cut off."), "{found}");
    assert!(
        found.stderr.contains("latency-bench: slow hosts: 1 of 9 hosts is slow (threshold 10%)"),
        "{found}"
    );
    let found = piped(text.as_bytes(), &["--strict"]);
    found.expect_status(1).expect_error("'-', line 10: the document is cut off");
    assert_eq!(found.stdout, "", "a document is not refused after it was written");
    piped(b"", &[]).expect_status(1).expect_error("'-', line 1: the file is empty");
    piped(b"nothing\n", &[]).expect_status(1).expect_error("'-', line 1: not JSON, or not a result");
    finish(&mut command(&["fleet", "/does/not/exist"]))
        .expect_status(1)
        .expect_error("cannot read '/does/not/exist'");
    finish(&mut command(&["fleet", "/"])).expect_status(1).expect_error("cannot read '/'");
}

#[test]
fn an_empty_file_among_others_is_named() {
    let directory = Directory::new("fleet-empty");
    fs::write(directory.path().join("n1.jsonl"), line("n1", 154.0)).expect("a file");
    fs::write(directory.path().join("n2.jsonl"), "").expect("a file");
    let files = ["fleet", "n1.jsonl", "n2.jsonl"];
    let found = finish(&mut directory.command(&files));
    let words = "Skipped: 'n2.jsonl', line 1: the file is empty.";
    assert!(found.expect_status(6).stdout.contains(words), "{found}");
    finish(&mut directory.command(&[&files[..], &["--strict"]].concat())).expect_status(1);
}

#[test]
fn a_long_line_is_skipped_and_an_endless_one_refused_in_little_memory() {
    let directory = Directory::new("fleet-endless");
    for (length, error) in [(30_000_000, "line 1: "), (100_000_000, "'-' is larger than 16 MiB")] {
        let line = format!(
            "(printf '{{\"a\":\"'; head -c {length} /dev/zero | tr '\\0' x; printf '\\n{{}}\\n') \
             | (ulimit -v 262144; ./latency-bench fleet -)"
        );
        let mut shell = std::process::Command::new("sh");
        let found = finish(shell.args(["-c", &line]).current_dir(directory.path()));
        found.expect_status(1).expect_error(error);
    }
}

#[test]
fn hostile_names_do_not_break_the_format_of_collectors() {
    let hostile = ["a\"} 1\n# HELP x", "\\", "\u{1b}]0;x\u{7}", "{}", "<img src=x>", ",="];
    let mut text: String = (0..30).map(|host| line(&format!("n{host}"), 154.0)).collect();
    hostile.iter().for_each(|name| text += &line(name, 300.0));
    let found = piped(text.as_bytes(), &["--format=prometheus"]);
    let samples = read(&found.expect_status(5).stdout).unwrap_or_else(|why| panic!("{why}: {found}"));
    let ratios = samples.iter().filter(|sample| sample.name == "latency_bench_fleet_outlier_ratio");
    assert_eq!(ratios.count(), hostile.len(), "{found}");
}

/// Files that do not end are refused like files that are too large, by every command that reads results.
#[test]
fn files_that_do_not_end_are_refused() {
    for path in ["/dev/zero", "/dev/urandom"] {
        for arguments in [&["fleet", path][..], &["show", path], &["fit", path], &["compare", path, path]] {
            let found = finish_within(command(arguments).spawn().expect("a process"), PATIENCE);
            found.expect_status(1).expect_error(&format!("'{path}' is larger than 16 MiB"));
        }
    }
    // Empty lines in a pipe are not results either.
    let mut child = command(&["fleet", "-"]).stdin(Stdio::piped()).spawn().expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    let written = std::thread::spawn(move || {
        let lines = [b'\n'; 1 << 16];
        (0..1 << 12).take_while(|_| input.write_all(&lines).is_ok()).count()
    });
    let found = child.wait_with_output().expect("a run");
    assert_eq!(found.status.code(), Some(1), "{found:?}");
    assert!(written.join().expect("a thread") < 1 << 12, "all was read");
}
