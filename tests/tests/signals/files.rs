//! An output file under faults: each of its system calls fails once, and so does each write.

use super::{OLDER, assert_untouched, place, result};
use latency_tests::confine::{Argument, Confine};
use latency_tests::directory::Directory;
use latency_tests::run::{Run, finish, finish_within, read_until};
use serde_json::Value;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::time::Duration;

/// The first descriptor after the standard streams. The descriptor of the output file is this one or a later one.
const FIRST: u32 = 3;
/// `__O_TMPFILE` of x86-64: libc's constant has the bit of O_DIRECTORY too.
const UNNAMED: Argument = Argument::Has(2, 0o20_000_000);

/// Returns a command with a quick result, to a file.
fn small(directory: &Directory) -> Command {
    directory.command(&["system", "--json", "--output=result"])
}

/// The same as [`small`], on a file system without unnamed files.
fn small_named(directory: &Directory) -> Command {
    let mut command = small(directory);
    command.denied_where(libc::SYS_openat, UNNAMED, libc::EOPNOTSUPP);
    command
}

fn assert_complete(directory: &Directory) {
    let text = result(directory).expect("the result");
    assert!(serde_json::from_str::<Value>(&text).is_ok(), "{text}");
    assert_eq!(directory.names(), ["result"]);
}

#[test]
fn a_call_that_fails_leaves_the_older_result_or_none() {
    let on_file = Argument::AtLeast(0, FIRST);
    let any = Argument::AtLeast(0, 0);
    let cases: [(i64, Argument, bool, &[i32]); 5] = [
        (libc::SYS_write, on_file, false, &[libc::EDQUOT, libc::EIO]),
        (libc::SYS_fsync, any, false, &[libc::EIO, libc::ENOSPC, libc::EDQUOT]),
        (libc::SYS_linkat, any, false, &[libc::ENOSPC, libc::EROFS, libc::EIO, libc::EPERM]),
        (libc::SYS_openat, any, false, &[libc::ENOSPC, libc::EROFS, libc::EIO]),
        (libc::SYS_renameat, any, true, &[libc::ENOSPC, libc::EROFS, libc::EIO]),
    ];
    for (call, argument, replaces, errnos) in cases {
        for (&errno, older) in errnos.iter().flat_map(|errno| [(errno, true), (errno, false)]) {
            if replaces && !older {
                continue;
            }
            let directory = place("fault", older);
            let found = finish(small(&directory).denied_where(call, argument, errno));
            found.expect_status(4).expect_error("'result'");
            assert_untouched(&directory, older, &found);
        }
    }
    // A file with a temporary name from the start, and a rename without an older result.
    for (call, argument) in [(libc::SYS_write, on_file), (libc::SYS_fsync, any), (libc::SYS_renameat, any)] {
        for older in [true, false] {
            let directory = place("fault-named", older);
            let found = finish(small_named(&directory).denied_where(call, argument, libc::EIO));
            found.expect_status(4).expect_error("cannot write 'result': Input/output error (EIO)");
            assert_untouched(&directory, older, &found);
        }
    }
    // A user who may not change the mode of the file still gets the content.
    let directory = place("fault-mode", true);
    finish(small(&directory).denied(&[libc::SYS_fchmod], libc::EPERM)).expect_status(0);
    assert_complete(&directory);
}

/// Returns a command whose result needs several writes.
fn long(directory: &Directory) -> Command {
    const SAVED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/pages.json");
    directory.command(&["compare", SAVED, SAVED, "--json", "--output=result"])
}

#[test]
fn a_write_that_does_not_fit_leaves_the_older_result_or_none() {
    /// Bytes of a write.
    const PIECE: u64 = 16 << 10;
    /// Bytes by which the lengths of two results may differ, since their duration has other digits.
    const DIGITS: u64 = 16;
    let whole = {
        let directory = place("fits", false);
        finish(&mut long(&directory)).expect_status(0);
        result(&directory).expect("the result").len() as u64
    };
    assert!(whole > PIECE, "{whole} bytes are one write");
    for (limit, older) in [
        (0, true),
        (1, false),
        (4095, true),
        (PIECE - 1, true),
        (PIECE, false),
        (PIECE + 1, true),
        (whole - DIGITS, true),
        (whole - DIGITS, false),
        (whole + DIGITS, true),
    ] {
        let directory = place("limit", older);
        let found = finish(long(&directory).limited(libc::RLIMIT_FSIZE as i32, limit));
        if limit < whole {
            found.expect_status(4).expect_error("cannot write 'result': File too large (EFBIG)");
            assert_untouched(&directory, older, &found);
        } else {
            found.expect_status(0);
            assert_complete(&directory);
        }
    }
}

#[test]
fn a_full_disk_leaves_the_older_result() {
    let directory = place("full", true);
    let full = Argument::AtLeast(0, FIRST);
    let found = finish(small(&directory).denied_where(libc::SYS_write, full, libc::ENOSPC));
    found.expect_status(4).expect_error("cannot write 'result': No space left on device (ENOSPC)");
    assert_untouched(&directory, true, &found);
}

#[test]
fn a_failed_sync_of_the_directory_is_reported() {
    let mut told = 0;
    for descriptor in FIRST..FIRST + 3 {
        let directory = place("sync", true);
        let this = Argument::Is(0, descriptor);
        let found = finish(small(&directory).denied_where(libc::SYS_fsync, this, libc::EIO));
        match found.status.code() {
            // No file has this descriptor.
            Some(0) => assert_complete(&directory),
            _ if result(&directory).as_deref() == Some(OLDER) => {
                found.expect_status(4).expect_error("no partial file was left");
            }
            _ => {
                found.expect_status(4).expect_error("cannot sync the directory of 'result'");
                assert_complete(&directory);
                told += 1;
            }
        }
    }
    assert_eq!(told, 1);
}

#[test]
fn unsupported_syncs_are_ignored() {
    for errno in [libc::EINVAL, libc::EROFS, libc::ENOSYS] {
        let directory = place("no-sync", true);
        finish(small(&directory).denied(&[libc::SYS_fsync], errno)).expect_status(0);
        assert_complete(&directory);
    }
}

#[test]
fn without_unnamed_files_a_temporary_one_is_used() {
    for errno in [libc::EOPNOTSUPP, libc::EISDIR, libc::EINVAL, libc::ENOENT, libc::ENOSYS] {
        for older in [true, false] {
            let directory = place("named", older);
            // It has a name from the start, so nothing is linked.
            let mut command = small(&directory);
            command.denied_where(libc::SYS_openat, UNNAMED, errno).denied(&[libc::SYS_linkat], errno);
            finish(&mut command).expect_status(0);
            assert_complete(&directory);
        }
    }
}

#[test]
fn an_unreadable_directory_gets_the_file() {
    use std::os::unix::fs::PermissionsExt;
    let directory = place("unreadable", false);
    let inner = directory.path().join("inner");
    std::fs::create_dir(&inner).expect("a directory");
    std::fs::set_permissions(&inner, std::fs::Permissions::from_mode(0o333)).expect("a mode");
    let mut command = directory.command(&["system", "--json", "--output=inner/result"]);
    if latency_tests::confine::is_root() {
        // Only root may read it anyway, so run as another user.
        command.as_nobody();
    }
    let found = finish(&mut command);
    found.expect_status(0);
    assert!(inner.join("result").is_file(), "{found}");
}

/// Some of the signals that end a process by default, and are not requests to stop.
const OTHERS: [i32; 5] = [libc::SIGQUIT, libc::SIGUSR1, libc::SIGALRM, libc::SIGVTALRM, libc::SIGPROF];

/// Starts a measurement that would last a day, and ends it with `signal` while it measures.
fn ended(directory: &Directory, signal: i32, named: bool) -> Run {
    let endless = ["--trials=1000000", "--time-limit=86400", "--size=1M", "--spread=0", "--progress=always"];
    let mut command = directory.command(&[&endless[..], &["--json", "--output=result"]].concat());
    // A core dump would be a file as well.
    if signal != libc::SIGKILL {
        command.hearing(signal);
    }
    command.limited(libc::RLIMIT_CORE as i32, 0);
    if named {
        command.denied_where(libc::SYS_openat, UNNAMED, libc::EOPNOTSUPP);
    }
    let mut child = command.spawn().expect("a process");
    read_until(child.stderr.as_mut().expect("a pipe"), "round 2");
    // SAFETY: takes numbers; the process has not been waited for, so its number is still valid.
    assert_eq!(unsafe { libc::kill(child.id() as i32, signal) }, 0);
    finish_within(child, Duration::from_secs(60))
}

#[test]
fn no_signal_leaves_a_file_behind() {
    for signal in OTHERS.into_iter().chain([libc::SIGKILL]) {
        let directory = place("signals", true);
        let found = ended(&directory, signal, false);
        assert_eq!(found.status.signal(), Some(signal), "{found}");
        assert_untouched(&directory, true, &found);
    }
}

#[test]
fn a_temporary_file_is_removed_by_any_signal() {
    for signal in OTHERS {
        let directory = place("signals-named", true);
        let found = ended(&directory, signal, true);
        found.expect_status(130).expect_error("interrupted");
        assert_complete(&directory);
        let document: Value = serde_json::from_str(&result(&directory).expect("the result")).expect("JSON");
        assert_eq!(document["partial"], true, "{document:#}");
    }
}
