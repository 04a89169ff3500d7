//! Calls that never succeed: a forbidden exit, endless interruptions.

use super::{assert_untouched, place};
use latency_tests::confine::{Argument, Confine};
use latency_tests::run::{Run, command, finish_within};
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

/// Maximum wall-clock time of a run. An endless loop would use all of it.
const PATIENCE: Duration = Duration::from_secs(60);

fn end(command: &mut Command) -> Run {
    finish_within(command.spawn().expect("a process"), PATIENCE)
}

#[test]
fn the_process_ends_without_exit_group() {
    for errno in [libc::EPERM, libc::ENOSYS] {
        let found = end(command(&["--version"]).denied(&[libc::SYS_exit_group], errno));
        assert!(found.expect_status(0).stdout.starts_with("latency-bench "), "{found}");
        end(command(&["--wombat"]).denied(&[libc::SYS_exit_group], errno)).expect_status(1);
        let mut forbidden = command(&["--version"]);
        forbidden.denied(&[libc::SYS_exit_group, libc::SYS_exit], errno);
        let found = end(forbidden.limited(libc::RLIMIT_CORE as i32, 0));
        assert_eq!(found.status.signal(), Some(libc::SIGILL), "{found}");
    }
}

const ALWAYS: &str = "Interrupted system call (EINTR)";

#[test]
fn a_call_that_is_always_interrupted_is_an_error() {
    let saved = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/curve.csv");
    for call in [libc::SYS_open, libc::SYS_read] {
        let found = end(command(&["fit", saved]).denied(&[call], libc::EINTR));
        found.expect_status(1).expect_error(ALWAYS);
    }
    let mut piped = command(&["fit", "-"]);
    let mut child =
        piped.denied(&[libc::SYS_read], libc::EINTR).stdin(Stdio::piped()).spawn().expect("a process");
    // The process may have ended by now.
    let _ = child.stdin.take().expect("a pipe").write_all(b"size_bytes,ns\n");
    finish_within(child, PATIENCE).expect_status(1).expect_error(ALWAYS);

    let output = Argument::Is(0, 1);
    for arguments in [&["--help"][..], &["system"]] {
        let found = end(command(arguments).denied_where(libc::SYS_write, output, libc::EINTR));
        found.expect_status(4).expect_error(&format!("cannot write to standard output: {ALWAYS}"));
    }
    let populate = Argument::Is(2, libc::MADV_POPULATE_WRITE as u32);
    let mut placing = command(&["--size=1M", "--pages=4k"]);
    let found = end(placing.denied_where(libc::SYS_madvise, populate, libc::EINTR));
    found.expect_status(2).expect_error(ALWAYS);
    // All information about the system is missing, and reported as missing.
    end(command(&["system"]).denied(&[libc::SYS_read, libc::SYS_open], libc::EINTR)).expect_status(0);
}

#[test]
fn interrupted_writes_leave_the_older_result() {
    let on_file = Argument::AtLeast(0, 3);
    for (call, argument) in
        [(libc::SYS_write, on_file), (libc::SYS_fsync, on_file), (libc::SYS_openat, Argument::AtLeast(0, 0))]
    {
        for older in [true, false] {
            let directory = place("interrupted", older);
            let mut command = directory.command(&["system", "--json", "--output=result"]);
            let found = end(command.denied_where(call, argument, libc::EINTR));
            found.expect_status(4).expect_error(ALWAYS);
            assert_untouched(&directory, older, &found);
        }
    }
}

/// A pipe with little room, so that each write is split.
#[test]
fn a_pipe_that_is_read_slowly_gets_everything() {
    let (mut pipe, end) = std::io::pipe().expect("a pipe");
    // SAFETY: takes numbers; the descriptor is open.
    let flags = unsafe { libc::fcntl(pipe.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
    assert!(flags >= 4096, "{flags}");
    // The command, which has an end of the pipe, is gone after this line.
    let child = command(&["pages", "--dry-run", "--json"]).stdout(end).spawn().expect("a process");
    let mut all = Vec::new();
    let mut part = [0; 512];
    loop {
        let count = pipe.read(&mut part).expect("a readable pipe");
        if count == 0 {
            break;
        }
        all.extend_from_slice(&part[..count]);
    }
    finish_within(child, PATIENCE).expect_status(0);
    assert!(all.len() > 4096 && serde_json::from_slice::<serde_json::Value>(&all).is_ok());
}
