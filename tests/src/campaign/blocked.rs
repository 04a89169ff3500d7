//! Streams without a reader or writer: a signal has to end a process that waits for one, and soon.
//!
//! The limit applies to the process's own time: the wall time without the time in which it waited for a CPU.

use super::case::format_of;
use super::{Case, DEAF, STATUS};
use crate::confine::Confine;
use std::io::{self, Read};
use std::os::fd::AsRawFd;
use std::os::unix::process::ExitStatusExt;
use std::process::Child;
use std::time::{Duration, Instant};
use std::{fs, thread};

/// Maximum of the process's own time between the signal and its end.
const SOON: Duration = Duration::from_secs(2);

/// Wall time after which a process is killed, whatever else used the CPU.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a signal to a process that waits for a stream.
pub fn run(case: &mut Case<'_>) {
    case.write("a.csv", &case.surroundings.corpus.curve);
    let pipe = case.path("pipe");
    make_pipe(&pipe).unwrap_or_else(|error| panic!("{}: {error}", pipe.display()));
    let small =
        ["--size=16K", "--trials=1", "--iters=200", "--warmup-iters=0", "--time-limit=0.02", "--spread=0"];
    let words: Vec<&str> = match case.index % 6 {
        0 => [&["matrix"][..], &small, &["--output=pipe"]].concat(),
        1 => vec!["report", "a.csv", "--format=html", "--output=pipe"],
        2 => [&["matrix", "--json"][..], &small].concat(),
        3 => vec!["report", "a.csv", "--format=html"],
        4 => vec!["fit", "pipe"],
        _ => vec!["system", "--json", "--output=pipe"],
    };
    let signal = *case.random.pick(&[libc::SIGTERM, libc::SIGINT, libc::SIGHUP]);
    let arguments: Vec<String> = words.into_iter().map(String::from).collect();
    let (reader, writer) = io::pipe().expect("a pipe");
    // SAFETY: the call takes numbers.
    let size = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, 4096) };
    assert!(size >= 4096, "{}", io::Error::last_os_error());
    // Less than a page of room, for documents that are short.
    fill(writer.as_raw_fd(), 4000);
    let mut command = case.command(&arguments);
    let mut child = command.hearing(signal).stdout(writer).spawn().unwrap_or_else(|error| panic!("{error}"));
    drop(command);
    wait_until_it_waits(&mut child);
    let found = end(&mut child, signal);
    drop(reader);
    let what = format!("signal {signal}, as {}", format_of(&arguments));
    match found {
        Err(seen) => case.note(DEAF, &arguments, &format!("{what}: {seen}")),
        Ok(status) => {
            case.statuses.push(status.code().unwrap_or(-1));
            // A process that only reads leaves nothing half written, and the signal itself may end it.
            let reads = arguments[0] == "fit" && status.signal() == Some(signal);
            if status.code() != Some(130) && !reads {
                let mut messages = String::new();
                // Its message explains the status, and nothing else depends on it.
                let _ = child.stderr.take().map(|mut stream| stream.read_to_string(&mut messages));
                case.note(STATUS, &arguments, &format!("{what}: {status}, not 130: {messages}"));
            }
        }
    }
}

fn fill(pipe: i32, bytes: usize) {
    let zeros = vec![b' '; bytes];
    // SAFETY: the bytes outlive the call, and their number is correct.
    let written = unsafe { libc::write(pipe, zeros.as_ptr().cast(), bytes) };
    assert_eq!(written, bytes as isize, "{}", io::Error::last_os_error());
}

fn make_pipe(path: &std::path::Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a text with a NUL that outlives the call, and a number.
    match unsafe { libc::mkfifo(path.as_ptr(), 0o644) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Waits until a process has slept for 50 ms on end, or has ended.
fn wait_until_it_waits(child: &mut Child) {
    let begin = Instant::now();
    let mut asleep = 0;
    while asleep < 10 && begin.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(5));
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        let state = stat.rsplit(") ").next().and_then(|rest| rest.chars().next());
        match state {
            Some('S') => asleep += 1,
            Some('R' | 'D') => asleep = 0,
            _ => return,
        }
    }
}

/// Returns the time for which a process was ready and had no CPU.
fn run_delay(process: u32) -> Duration {
    let text = fs::read_to_string(format!("/proc/{process}/schedstat")).unwrap_or_default();
    Duration::from_nanos(text.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap_or(0))
}

/// Sends the signal and waits for the end; if that does not come soon, kills the process.
fn end(child: &mut Child, signal: i32) -> Result<std::process::ExitStatus, String> {
    let process = child.id();
    let before = run_delay(process);
    let begin = Instant::now();
    // SAFETY: the call takes numbers; the process has not been waited for, so its number is still valid.
    unsafe { libc::kill(process as i32, signal) };
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return Ok(status);
        }
        let own = begin.elapsed().saturating_sub(run_delay(process).saturating_sub(before));
        if own > SOON || begin.elapsed() > PATIENCE {
            // It has not been waited for, so it still exists.
            let _ = child.kill();
            let _ = child.wait();
            return Err(format!("still there {:.1} s of its own time later", own.as_secs_f64()));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
