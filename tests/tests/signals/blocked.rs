//! Signals while the process waits for a reader: it ends, and leaves nothing half-written.
//!
//! The limit applies to the process's own waiting: wall time less the time in which it was ready and had no
//! CPU. `SIGNALS=100` repeats every case 100 times.

use super::place;
use super::waiting::{LIMIT, ended, send, waited};
use latency_tests::attempts::ATTEMPTS;
use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use std::ffi::CString;
use std::fs::File;
use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const CURVE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/saved/curve.json");
/// Repetitions of each case, unless `SIGNALS` is set.
const REPEATS: u32 = 1;
/// Limit for the process to begin to wait, on a busy host.
const PATIENCE: Duration = Duration::from_secs(60);

/// The place that accepts nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Blocked {
    /// `--output` names a FIFO that has no reader.
    Fifo,
    /// Standard output is a pipe of 4 KiB that is full.
    Output,
    /// Standard error is a full pipe.
    Error,
    /// Both are full pipes.
    Both,
}

/// Makes a full pipe of one page.
fn full_pipe() -> (impl Read, File) {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    let mut writer = File::from(std::os::fd::OwnedFd::from(writer));
    // SAFETY: these take numbers; the descriptor is open.
    let set = |flags: i32| unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETFL, flags) };
    // SAFETY: as above.
    assert!(unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) } >= 4096);
    assert_eq!(set(libc::O_NONBLOCK), 0);
    loop {
        match (&writer).write(&[b'.'; 4096]) {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(set(0), 0);
    writer.flush().expect("a pipe");
    (reader, writer)
}

fn fifo(directory: &Directory) {
    let path = directory.path().join("fifo");
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path without NUL");
    // SAFETY: a string with a NUL that outlives the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0, "{}", std::io::Error::last_os_error());
}

/// Waits until the process sleeps: it makes no progress without another process.
fn wait_until_it_waits(child: &Child) {
    let begun = Instant::now();
    let mut asleep = 0;
    // A measurement sleeps in between, but for a shorter time.
    while asleep < 20 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", child.id())).expect("its state");
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        assert!(state != Some('Z'), "it has ended: nothing was blocked");
        assert!(begun.elapsed() < PATIENCE, "it never waits");
        asleep = if state == Some('S') { asleep + 1 } else { 0 };
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Sends a signal to a waiting process, and returns its own waiting until the end.
fn end(arguments: &[&str], blocked: Blocked, signal: i32) -> Duration {
    // The process found an error before, so it ends with that.
    let expected = if arguments.contains(&"absent") { 1 } else { 130 };
    let directory = place("blocked", false);
    fifo(&directory);
    let mut all = arguments.to_vec();
    if blocked == Blocked::Fifo {
        all.push("--output=fifo");
    }
    let mut command: Command = directory.command(&all);
    command.hearing(signal).stdout(Stdio::null()).stderr(Stdio::null());
    // The readers stay open until the end.
    let (output, error) = (full_pipe(), full_pipe());
    if matches!(blocked, Blocked::Output | Blocked::Both) {
        command.stdout(output.1);
    }
    if matches!(blocked, Blocked::Error | Blocked::Both) {
        command.stderr(error.1);
    }
    let mut child = command.spawn().expect("a process");
    wait_until_it_waits(&child);
    let (begun, before) = (Instant::now(), waited(child.id()));
    send(&child, signal);
    let status = ended(&mut child, begun, before);
    let what = format!("{all:?}, {blocked:?}, signal {signal}");
    let (status, own) = status.unwrap_or_else(|| panic!("{what}: it goes on"));
    assert_eq!(status.code(), Some(expected), "{what}: {status}");
    assert_eq!(directory.names(), ["fifo"], "{what}");
    own
}

#[test]
fn a_signal_ends_a_process_that_waits_for_a_reader() {
    let repeats = std::env::var("SIGNALS").map_or(REPEATS, |text| text.parse().expect("SIGNALS is a number"));
    let measuring: &[&str] = &["matrix", "--size=64K", "--time-limit=0.01", "--spread=0", "--json"];
    let noisy: &[&str] = &["matrix", "--size=64K", "--time-limit=0.01", "--spread=0", "--progress=always"];
    let mut most = Duration::ZERO;
    for (arguments, blocked) in [
        (measuring, Blocked::Fifo),
        (measuring, Blocked::Output),
        (noisy, Blocked::Error),
        (noisy, Blocked::Both),
        (&["system", "--json"], Blocked::Output),
        (&["--help"], Blocked::Output),
        (&["pages", "--dry-run", "--json"], Blocked::Output),
        (&["fit", CURVE, "--json"], Blocked::Fifo),
        (&["report", CURVE, "--format=html"], Blocked::Output),
        (&["compare", CURVE, CURVE, "--json"], Blocked::Output),
        (&["fit", "absent"], Blocked::Error),
    ] {
        for signal in [libc::SIGTERM, libc::SIGINT, libc::SIGHUP] {
            for _ in 0..repeats {
                let own = (0..ATTEMPTS).map(|_| end(arguments, blocked, signal)).find(|own| *own <= LIMIT);
                let own = own.unwrap_or_else(|| panic!("{arguments:?}, {blocked:?}: more than {LIMIT:?}"));
                most = most.max(own);
            }
        }
    }
    println!("at most {:.1} ms of its own waiting", most.as_secs_f64() * 1e3);
}
