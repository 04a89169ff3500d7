//! Where results go, and what becomes of them when they cannot.

use super::small;
use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use latency_tests::document::pairs;
use latency_tests::run::{command, finish, run, Run};
use std::fs;
use std::process::Stdio;

const FULL: &str = "No space left on device (ENOSPC)";

fn device(path: &str) -> Stdio {
    Stdio::from(fs::OpenOptions::new().write(true).open(path).expect("a device"))
}

#[test]
fn a_full_device_is_told() {
    for arguments in
        [&small(&[])[..], &small(&["--json"]), &["--help"], &["--version"], &["--dry-run"], &["system"]]
    {
        let found = finish(command(arguments).stdout(device("/dev/full")));
        found.expect_status(4).expect_error(&format!("cannot write to standard output: {FULL}"));
    }
    let found = run(&small(&["--output=/dev/full"]));
    assert_eq!(found.stdout, "");
    found.expect_status(4).expect_error(&format!("cannot write '/dev/full': {FULL}"));
}

#[test]
fn a_closed_standard_output_is_told() {
    for arguments in [&small(&[])[..], &["--help"]] {
        let found = finish(command(arguments).closed(1));
        found.expect_status(4).expect_error("cannot write to standard output: Bad file descriptor (EBADF)");
    }
}

#[test]
fn other_closed_descriptors_are_no_obstacle() {
    finish(command(&small(&["--quiet"])).closed(0)).expect_status(0);
    let found = finish(command(&small(&["--quiet"])).closed(2));
    assert_eq!(found.expect_status(0).stderr, "");
    // A file that got the number of a standard stream would have messages among its results.
    let directory = Directory::new("closed");
    let mut command = directory.command(&small(&["--json", "--output=result"]));
    finish(command.closed(0).closed(1).closed(2)).expect_status(0);
    let text = fs::read_to_string(directory.path().join("result")).expect("the result");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
}

#[test]
fn a_broken_pipe_is_told() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let found = finish(command(&small(&[])).stdout(writer));
    found.expect_status(4).expect_error("Broken pipe (EPIPE)");
}

#[test]
fn a_file_gets_all_of_the_result_and_standard_output_nothing() {
    let directory = Directory::new("file");
    let found = finish(&mut directory.command(&small(&["--json", "--output=result.json"])));
    assert_eq!(found.expect_status(0).stdout, "");
    assert_eq!(directory.names(), ["result.json"]);
    let text = fs::read_to_string(directory.path().join("result.json")).expect("the result");
    assert!(!pairs(&serde_json::from_str(&text).expect("JSON")).is_empty());
    // Shorter than what it replaces.
    finish(&mut directory.command(&small(&["--quiet", "--format=text", "-o", "result.json"])))
        .expect_status(0);
    let text = fs::read_to_string(directory.path().join("result.json")).expect("the result");
    assert!(text.starts_with("Node ") && text.ends_with(" ns)\n"), "{text}");
}

#[test]
fn a_dash_is_standard_output() {
    for target in ["--output=-", "--output=/dev/stdout"] {
        let directory = Directory::new("dash");
        let found = finish(&mut directory.command(&small(&["--json", target])));
        assert!(!pairs(&found.expect_json(0)).is_empty());
        assert_eq!(directory.names(), [""; 0]);
    }
}

#[test]
fn what_is_no_file_is_refused_before_anything_is_measured() {
    let directory = Directory::new("no-file");
    let begin = std::time::Instant::now();
    for target in [".", "/", "missing/result", "new/"] {
        // A day, if it were measured.
        let arguments = ["--trials=1000000", "--time-limit=86400", &format!("--output={target}")];
        let found = finish(&mut directory.command(&arguments));
        found.expect_status(4).expect_error("nothing was measured");
        assert_eq!(found.stdout, "");
    }
    assert!(begin.elapsed().as_secs() < 100);
    assert_eq!(directory.names(), [""; 0]);
}

/// The run has failed, and left the older result as it was and nothing else.
fn assert_untouched(directory: &Directory, found: &Run) {
    assert_eq!(directory.names(), ["result"], "{found}");
    assert_eq!(fs::read_to_string(directory.path().join("result")).expect("a file"), "older", "{found}");
}

#[test]
fn a_failure_leaves_an_older_result_as_it_was() {
    let directory = Directory::new("older");
    fs::write(directory.path().join("result"), "older").expect("a file");
    for (arguments, status) in [
        (&["--output=result", "--wombat"][..], 1),
        (&["--output=result", "--cpunode=4095"], 1),
        (&["--output=result", "--size=1024T", "--pages=4k"], 2),
        (&["--output=result", "--size=16777215T", "--pages=2m"], 2),
    ] {
        let found = finish(&mut directory.command(arguments));
        found.expect_status(status);
        assert_untouched(&directory, &found);
    }
}

#[test]
fn a_result_that_does_not_fit_leaves_nothing() {
    let directory = Directory::new("limit");
    fs::write(directory.path().join("result"), "older").expect("a file");
    let mut command = directory.command(&small(&["--json", "--output=result"]));
    let found = finish(command.limited(libc::RLIMIT_FSIZE as i32, 1000));
    found.expect_status(4).expect_error("cannot write 'result': File too large (EFBIG)");
    assert_untouched(&directory, &found);
}

#[test]
fn messages_do_not_mix_with_results() {
    // Too short for an interval, which is a warning.
    let found = run(&["--json", "--progress=always", "--size=16K", "--iters=4000000", "--time-limit=0.001"]);
    found.expect_json(0);
    assert!(found.stderr.contains("WARNING: "), "{found}");
    let quiet = run(&small(&["--json"]));
    assert!(!quiet.stderr.contains('\u{1b}'), "progress without a terminal: {quiet}");
}
