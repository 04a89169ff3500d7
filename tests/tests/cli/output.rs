//! Destinations of results, and the handling of failures to write them.

use super::small;
use latency_tests::confine::{Confine, is_root};
use latency_tests::directory::Directory;
use latency_tests::document::pairs;
use latency_tests::run::{Run, WARNING, command, finish, run};
use latency_tests::skip::skip;
use std::fs;
use std::process::Stdio;

const FULL: &str = "No space left on device (ENOSPC)";

fn device(path: &str) -> Stdio {
    Stdio::from(fs::OpenOptions::new().write(true).open(path).expect("a device"))
}

#[test]
fn a_full_device_is_reported() {
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
fn a_closed_standard_output_is_reported() {
    for arguments in [&small(&[])[..], &["--help"]] {
        let found = finish(command(arguments).closed(1));
        found.expect_status(4).expect_error("cannot write to standard output: Bad file descriptor (EBADF)");
    }
}

#[test]
fn other_closed_descriptors_do_not_matter() {
    finish(command(&small(&["--quiet"])).closed(0)).expect_status(0);
    let found = finish(command(&small(&["--quiet"])).closed(2));
    assert_eq!(found.expect_status(0).stderr, "");
    // A file that got the number of a standard stream would mix messages with its results.
    let directory = Directory::new("closed");
    let mut command = directory.command(&small(&["--json", "--output=result"]));
    finish(command.closed(0).closed(1).closed(2)).expect_status(0);
    let text = fs::read_to_string(directory.path().join("result")).expect("the result");
    assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok(), "{text}");
}

#[test]
fn a_broken_pipe_is_reported() {
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
    // Shorter than the file that it replaces.
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
fn an_output_that_is_not_a_file_is_refused_before_measuring() {
    let directory = Directory::new("no-file");
    let begin = std::time::Instant::now();
    for target in [".", "/", "missing/result", "new/"] {
        // This would last a day if it were measured.
        let arguments = ["--trials=1000000", "--time-limit=86400", &format!("--output={target}")];
        let found = finish(&mut directory.command(&arguments));
        found.expect_status(4).expect_error("nothing was measured");
        assert_eq!(found.stdout, "");
    }
    assert!(begin.elapsed().as_secs() < 100);
    assert_eq!(directory.names(), [""; 0]);
}

/// A measured result must not be replaced by a plan.
#[test]
fn a_plan_goes_to_standard_output_and_replaces_no_file() {
    let directory = Directory::new("plan");
    let plan = |arguments: &[&str]| {
        let found = finish(&mut directory.command(&[&["matrix", "--dry-run"], arguments].concat()));
        found.expect_status(0).stdout.clone()
    };
    for name in ["today.json", "today.svg", "today.prom", "today.html", "today.sh", "today.tap", "today"] {
        fs::write(directory.path().join(name), "older").expect("a file");
        assert!(plan(&["-o", name]).starts_with("1 point"), "{name}");
        assert_eq!(fs::read_to_string(directory.path().join(name)).expect("the file"), "older");
    }
    plan(&["-o", "new.json"]);
    plan(&["-o", "new.json", "--save=new", "-o", "today.json"]);
    assert_eq!(directory.names().len(), 7, "{:?}", directory.names());
    let document = plan(&["-o", "today.json", "--json"]);
    let document: serde_json::Value = serde_json::from_str(&document).expect("JSON");
    assert!(document["summary"]["points"].as_u64() > Some(0), "{document:#}");
    // These formats have no content before a measurement.
    for format in ["svg", "hwloc", "prometheus", "tap"] {
        assert!(plan(&["--format", format]).starts_with("1 point"), "{format}");
    }
}

#[test]
fn an_extension_without_a_format_is_refused() {
    let directory = Directory::new("extension");
    for name in ["x.yaml", "./deep.d/x.log", "x.JSONL2"] {
        let found = finish(&mut directory.command(&small(&["-o", name])));
        found.expect_status(1).expect_error("add --format, or use one of txt, json, csv");
        assert_eq!(found.stdout, "", "{found}");
    }
    finish(&mut directory.command(&["system", "-o", "x.yaml", "--json"])).expect_status(0);
    for name in ["s.JSON", "plain", "a.", ".hidden", "notes.TXT"] {
        finish(&mut directory.command(&["system", "-q", "-o", name])).expect_status(0);
        let text = fs::read_to_string(directory.path().join(name)).expect("the result");
        assert_eq!(text.starts_with('{'), name == "s.JSON", "{name}: {text}");
    }
    finish(&mut directory.command(&["system", "-o", "/dev/null"])).expect_status(0);
    assert_eq!(directory.names(), [".hidden", "a.", "notes.TXT", "plain", "s.JSON", "x.yaml"]);
}

fn json(directory: &Directory, name: &str) -> serde_json::Value {
    let text = fs::read_to_string(directory.path().join(name)).expect("the result");
    serde_json::from_str(&text).expect("JSON")
}

#[test]
fn one_run_is_written_in_several_formats() {
    let directory = Directory::new("several");
    let found = finish(&mut directory.command(&small(&["--quiet", "--save=r.json"])));
    let text = found.expect_status(0).stdout.clone();
    assert!(text.starts_with("Node ") && text.ends_with(" ns)\n"), "{text}");
    assert_eq!(pairs(&json(&directory, "r.json")).len(), text.lines().count());
    let arguments = ["-o", "a.csv", "-o", "b.html", "-o", "c", "-o", "-", "--format=md", "--save=d"];
    let found = finish(&mut directory.command(&small(&arguments)));
    assert!(found.expect_status(0).stdout.contains("\n*Trust:* "), "{found}");
    assert_eq!(directory.names(), ["a.csv", "b.html", "c", "d", "r.json"]);
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("the result");
    assert!(read("b.html").starts_with("<!"));
    assert_eq!(read("c"), found.stdout);
    let pairs = pairs(&json(&directory, "d")).len();
    assert_eq!(read("a.csv").lines().count(), 1 + pairs);
}

/// One of them would replace the other.
#[test]
fn two_outputs_to_one_file_are_refused_before_measuring() {
    let directory = Directory::new("twice");
    std::os::unix::fs::symlink("a.json", directory.path().join("link.json")).expect("a link");
    for (arguments, place) in [
        (&["-o", "a.json", "--save=./a.json"][..], "'./a.json'"),
        (&["-o", "a.json", "-o", "link.json"], "'link.json'"),
        (&["-o", "-", "-o", "/dev/stdout"], "'/dev/stdout'"),
        (&["--save=-"], "standard output"),
    ] {
        let long = ["--trials=1000000", "--time-limit=86400"];
        let found = finish(&mut directory.command(&[&long, arguments].concat()));
        found
            .expect_status(1)
            .expect_error(&format!("two outputs go to {place}; write each to a file of its own"));
        assert_eq!((found.stdout.as_str(), directory.names()), ("", vec!["link.json".into()]), "{found}");
    }
}

#[test]
fn an_output_that_fails_does_not_spoil_the_others() {
    let directory = Directory::new("one-fails");
    for name in ["long.json", "short.txt"] {
        fs::write(directory.path().join(name), "older").expect("a file");
    }
    let arguments = small(&["--quiet", "--save=long.json", "-o", "short.txt", "-o", "/dev/full"]);
    let mut command = directory.command(&arguments);
    let found = finish(command.limited(libc::RLIMIT_FSIZE as i32, 1000));
    found.expect_status(4).expect_error(&format!("cannot write '/dev/full': {FULL}"));
    let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("a file");
    assert_eq!(directory.names(), ["long.json", "short.txt"]);
    assert_eq!(read("long.json"), "older");
    assert!(read("short.txt").starts_with("Node "), "{found}");
}

const CURVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/curve.json");

/// The same file under any name is refused, because a lost measurement costs more than writing the output again.
#[test]
fn an_output_that_is_an_input_is_refused_and_keeps_it() {
    let directory = Directory::new("own-input");
    let path = |name: &str| directory.path().join(name);
    let saved = fs::read(CURVE).expect("a fixture");
    fs::write(path("a.json"), &saved).expect("a file");
    fs::write(path("b.json"), &saved).expect("a file");
    std::os::unix::fs::symlink("a.json", path("link.json")).expect("a link");
    fs::hard_link(path("a.json"), path("hard.json")).expect("a link");
    let refused = |command: &mut std::process::Command, words: &str| {
        let found = finish(command);
        found.expect_status(1).expect_error(words);
        assert_eq!(found.stdout, "", "{found}");
        assert!(fs::read(path("a.json")).expect("the file") == saved, "{found}");
        assert_eq!(directory.names(), ["a.json", "b.json", "hard.json", "link.json"], "{found}");
    };
    for name in ["a.json", "./a.json", "link.json", "hard.json"] {
        for arguments in [
            &["fit", "a.json"][..],
            &["compare", "b.json", "a.json"],
            &["report", "a.json"],
            &["fleet", "b.json", "--baseline=a.json"],
            &["fleet", "b.json", "--expect=a.json"],
        ] {
            let words = format!("the output '{name}' is also the input 'a.json' and would replace it");
            refused(&mut directory.command(&[arguments, &["-o", name]].concat()), &words);
        }
    }
    let words = "the output 'link.json' is also the input 'a.json'";
    refused(&mut directory.command(&["fit", "a.json", "-o", "new.txt", "--save=link.json"]), words);
    let input = || fs::File::open(path("a.json")).expect("the file");
    let words = "the output 'hard.json' is also the input '-'";
    refused(directory.command(&["fit", "-", "-o", "hard.json"]).stdin(input()), words);
    let appended = fs::OpenOptions::new().append(true).open(path("a.json")).expect("the file");
    let words = "standard output is also the input 'link.json'";
    refused(directory.command(&["report", "link.json"]).stdout(appended), words);
    // Nothing is lost with these outputs.
    finish(directory.command(&["fit", "a.json", "-o", "/dev/null"]).stdin(input())).expect_status(0);
    finish(directory.command(&["fit", "-", "-o", "new.txt"]).stdin(input())).expect_status(0);
}

#[test]
fn a_file_of_another_user_keeps_its_owner_and_mode() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
    if !is_root() {
        return skip("output::a_file_of_another_user_keeps_its_owner_and_mode", "needs root");
    }
    let directory = Directory::new("owner");
    let path = directory.path().join("result");
    fs::write(&path, "older").expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).expect("a mode");
    chown(&path, Some(1234), Some(2345)).expect("an owner");
    finish(&mut directory.command(&["system", "--output=result"])).expect_status(0);
    let found = fs::metadata(&path).expect("the file");
    assert!(found.len() > 5);
    assert_eq!((found.uid(), found.gid(), found.mode() & 0o777), (1234, 2345, 0o444));
}

/// Asserts that the run has failed, and has left only the unchanged older result.
fn assert_untouched(directory: &Directory, found: &Run) {
    assert_eq!(directory.names(), ["result"], "{found}");
    assert_eq!(fs::read_to_string(directory.path().join("result")).expect("a file"), "older", "{found}");
}

#[test]
fn a_failure_leaves_the_older_result_unchanged() {
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
    assert!(found.stderr.contains(WARNING), "{found}");
    let quiet = run(&small(&["--json"]));
    assert!(!quiet.stderr.contains('\u{1b}'), "progress without a terminal: {quiet}");
}
