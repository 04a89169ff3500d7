//! Environments that withhold something: privileges, file systems, system calls, memory, CPUs, the time-stamp
//! counter.

use super::small;
use latency_tests::confine::{CONTAINER, Confine, allowed_cpus, is_root};
use latency_tests::directory::Directory;
use latency_tests::document::{at, decimal, number, points, text, warnings};
use latency_tests::run::{Run, command, finish};
use latency_tests::schema::assert_valid;
use latency_tests::skip::skip;
use serde_json::Value;

/// Returns the measured pairs, after checking that all pages of each are on the target.
fn measured(document: &Value) -> Vec<Value> {
    assert_valid(document);
    let pairs = points(document);
    for pair in &pairs {
        assert!(decimal(pair, "/ns") > 0.0, "{pair:#}");
    }
    pairs
}

fn root_or_skip(test: &str) -> bool {
    if !is_root() {
        skip(test, "only root may change its user and its root directory");
    }
    is_root()
}

/// Prepares a directory with only the executable, which becomes the root of the command.
fn jailed(directory: &Directory, arguments: &[&str]) -> std::process::Command {
    use std::process::{Command, Stdio};
    let mut command = Command::new("/latency-bench");
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.rooted(directory.path());
    command
}

#[test]
fn an_ordinary_user_gets_the_same_result() {
    if !root_or_skip("confined::an_ordinary_user_gets_the_same_result") {
        return;
    }
    let directory = Directory::new("nobody");
    let document = finish(directory.command(&small(&["--json"])).as_nobody()).expect_json(0);
    for pair in &measured(&document) {
        assert_eq!(at(pair, "/verified"), true, "{pair:#}");
    }
    finish(directory.command(&["system"]).as_nobody()).expect_status(0);
    let found = finish(directory.command(&small(&["--output=/result"])).as_nobody());
    found.expect_status(4).expect_error("cannot create '/result': Permission denied (EACCES)");
}

#[test]
fn without_proc_and_sys() {
    if !root_or_skip("confined::without_proc_and_sys") {
        return;
    }
    let directory = Directory::new("jail");
    let found = finish(&mut jailed(&directory, &small(&["--json"])));
    let document = found.expect_json(0);
    for code in ["no-proc", "no-sys", "page-size-unverified"] {
        assert!(warnings(&document).contains(&code), "no warning {code}: {found}");
    }
    assert!(!warnings(&document).contains(&"placement-unverified"), "{found}");
    for pair in &measured(&document) {
        assert_eq!(at(pair, "/verified"), true, "{pair:#}");
        assert_eq!(at(pair, "/placement/pages_verified"), false, "{pair:#}");
        // The page query needs no file, and it does not report page sizes.
        assert_eq!(text(pair, "/placement/before/source"), "page query", "{pair:#}");
        assert_eq!(at(pair, "/placement/before/page_bytes"), &Value::Null, "{pair:#}");
    }
    // What is known is the node; no size of pages is claimed.
    let found = finish(&mut jailed(&directory, &small(&["--verbose"])));
    let text = found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("(page size not verified); all of it verified there"), "{found}");
    assert!(!text.contains("pages (4 KiB) verified") && !text.contains("memory is on node"), "{found}");
    finish(&mut jailed(&directory, &["system"])).expect_status(0);
    finish(&mut jailed(&directory, &["--help"])).expect_status(0);
    finish(&mut jailed(&directory, &["--cpunode=9"])).expect_status(1).expect_error("invalid node id 9");
}

/// Runs the tool with memory policies refused with `errno`, and checks how its memory was placed.
fn contained(errno: i32) -> Run {
    let found = finish(command(&small(&["--json"])).denied(&CONTAINER, errno));
    for pair in &measured(&found.expect_json(0)) {
        assert_ne!(text(pair, "/placement/means"), "bind", "{pair:#}");
        assert_eq!(text(pair, "/placement/after/source"), "numa_maps", "{pair:#}");
        assert_eq!(at(pair, "/verified"), true, "{pair:#}");
    }
    found
}

#[test]
fn placement_is_proven_in_a_container() {
    // The errors of Docker's and of Podman's profile.
    contained(libc::EPERM);
    contained(libc::ENOSYS);
    let found = finish(command(&["system"]).denied(&CONTAINER, libc::EPERM));
    assert!(found.expect_status(0).stdout.contains("--cap-add=SYS_NICE"), "{found}");
}

#[test]
fn unprovable_placement_is_not_claimed() {
    if !root_or_skip("confined::unprovable_placement_is_not_claimed") {
        return;
    }
    let directory = Directory::new("blind");
    let found = finish(jailed(&directory, &small(&["--json"])).denied(&CONTAINER, libc::EPERM));
    // Nodes that are not described may exist, and so there is no number.
    found.expect_status(2).expect_error("could not verify that the memory is on node 0");
}

#[test]
fn on_one_cpu() {
    let cpu = *allowed_cpus().last().expect("a CPU");
    let document = finish(command(&small(&["--json"])).on_cpu(cpu)).expect_json(0);
    for pair in &measured(&document) {
        assert_eq!(number(pair, "/initiator_cpu"), cpu as u64, "{pair:#}");
    }
    let Some(other) = allowed_cpus().into_iter().find(|&other| other != cpu) else { return };
    assert!(warnings(&document).contains(&"cpuset-partial"), "{document:#}");
    let asked = format!("--cpu={other}");
    let refused = [libc::SYS_sched_setaffinity];
    let found = finish(command(&small(&[&asked])).on_cpu(cpu).denied(&refused, libc::EINVAL));
    found
        .expect_status(2)
        .expect_error(&format!("CPU {other} is not allowed for this process (allowed: {cpu})"));
    // The kernel allows it, as it allows isolated CPUs, which an inherited mask lacks as well.
    let document = finish(command(&small(&["--json", &asked])).on_cpu(cpu)).expect_json(0);
    assert_eq!(number(&document, "/rows/0/initiator_cpu"), other as u64);
}

#[test]
fn without_memory() {
    // The kernel itself ends a process that has no room for the executable: some 1400 KiB with the stack that
    // it provides.
    for (kilobytes, words) in [
        (1472, "mmap of 4 MiB for the stack failed"),
        (4096, "mmap of 4 MiB for the stack failed"),
        (6144, "Cannot allocate memory (ENOMEM)"),
        (16_384, "left of the address space (RLIMIT_AS)"),
    ] {
        let arguments = ["--size=64M", "--trials=1", "--quiet"];
        let found = finish(command(&arguments).env_clear().limited(libc::RLIMIT_AS as i32, kilobytes << 10));
        assert_eq!(found.stdout, "");
        found.expect_status(2).expect_error(words);
    }
    finish(command(&small(&[])).limited(libc::RLIMIT_AS as i32, 32 << 20)).expect_status(0);
}

#[test]
fn with_a_small_stack() {
    // With less beside arguments and environment, the kernel itself ends some processes while it starts them.
    for kilobytes in [12, 16, 64, 256] {
        let mut command = command(&small(&["--quiet"]));
        let found = finish(command.env_clear().limited(libc::RLIMIT_STACK as i32, kilobytes << 10));
        found.expect_status(0);
    }
}

#[test]
fn without_the_counter() {
    let document = finish(command(&small(&["--json"])).without_counter()).expect_json(0);
    assert_eq!(text(&document, "/clock/source"), "clock_gettime");
    assert_eq!(at(&document, "/freq_ghz"), &Value::Null);
    assert!(warnings(&document).contains(&"no-tsc"), "{document:#}");
    for pair in &measured(&document) {
        assert_eq!(at(pair, "/cycles"), &Value::Null, "{pair:#}");
    }
}

#[test]
fn without_a_clock() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        let mut command = command(&small(&[]));
        let found = finish(command.denied(&[libc::SYS_clock_gettime, libc::SYS_prctl], errno));
        assert_eq!(found.stdout, "");
        found.expect_status(3).expect_error("no usable clock");
    }
}

#[test]
fn without_optional_calls() {
    let calls = [libc::SYS_prctl, libc::SYS_getrusage, libc::SYS_rt_sigpending, libc::SYS_rt_sigprocmask];
    let document = finish(command(&small(&["--json"])).denied(&calls, libc::EPERM)).expect_json(0);
    measured(&document);
}

#[test]
fn without_affinity() {
    let found = finish(command(&small(&[])).denied(&[libc::SYS_sched_setaffinity], libc::EPERM));
    assert_eq!(found.stdout, "");
    found.expect_status(2).expect_error("sched_setaffinity failed: Operation not permitted (EPERM)");
}
