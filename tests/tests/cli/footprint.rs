//! The cost of the tool without the measurement: time to start, resident memory.

use latency_tests::attempts::retried;
use latency_tests::directory::Directory;
use latency_tests::run::command;
use std::fs;
use std::io::{Read, Write};
use std::os::fd::AsRawFd;
use std::process::Stdio;
use std::time::{Duration, Instant};

/// Limit from fork to the end of `--help`.
const START: Duration = Duration::from_millis(2);
/// Maximum resident memory in bytes, without the buffers.
const RESIDENT: u64 = 3 << 20;

#[test]
fn help_starts_quickly() {
    retried("footprint::help_starts_quickly", |_| {
        let elapsed = |_| {
            let begin = Instant::now();
            let status = command(&["--help"]).stdout(Stdio::null()).status().expect("a process");
            assert!(status.success());
            begin.elapsed()
        };
        // Only the fastest of many runs counts, because other work on the machine makes runs slower.
        let fastest = (0..100).map(elapsed).min().expect("a run");
        assert!(fastest < START, "{fastest:?}");
    });
}

#[test]
fn little_is_resident_beside_the_buffer() {
    retried("footprint::little_is_resident_beside_the_buffer", |_| {
        const PIPE: usize = 4096;
        let (mut reader, mut writer) = std::io::pipe().expect("a pipe");
        // SAFETY: takes numbers; the descriptor is open.
        let size = unsafe { libc::fcntl(writer.as_raw_fd(), libc::F_SETPIPE_SZ, PIPE) };
        writer.write_all(&vec![b'\n'; size as usize]).expect("room in the pipe");
        // With the pipe full, the process waits at the end of its work to write the result.
        let directory = Directory::new("resident");
        let arguments = ["--json", "--pages=4k", "--size=64M", "--trials=15", "--cpunode=0", "--memnode=0"];
        let mut child =
            directory.command(&arguments).stdout(writer).stderr(Stdio::null()).spawn().expect("a process");
        // A run also sleeps between its visits. The system call distinguishes the two: only the wait for the
        // pipe is a poll.
        let call = format!("/proc/{}/syscall", child.id());
        let waits = [libc::SYS_poll, libc::SYS_ppoll].map(|number| format!("{number} "));
        let path = format!("/proc/{}/status", child.id());
        let deadline = Instant::now() + Duration::from_secs(60);
        let status = loop {
            let status = fs::read_to_string(&path).expect("a running process");
            if fs::read_to_string(&call).is_ok_and(|call| waits.iter().any(|wait| call.starts_with(wait))) {
                break status;
            }
            assert!(Instant::now() < deadline, "it does not end: {status}");
            std::thread::sleep(Duration::from_millis(20));
        };
        let peak: u64 = status
            .lines()
            .find_map(|line| line.strip_prefix("VmHWM:")?.trim().strip_suffix(" kB")?.parse().ok())
            .expect("VmHWM");
        let mut printed = String::new();
        reader.read_to_string(&mut printed).expect("the result");
        assert!(child.wait().expect("its end").success());
        let result: serde_json::Value = serde_json::from_str(printed.trim_start()).expect("JSON");
        let buffer = result["points"][0]["placement"]["mapped_bytes"].as_u64().expect("bytes");
        // The buffers also include those of the second measurement and of the prefetch audit.
        let beside = (peak << 10).saturating_sub(3 * buffer);
        assert!(peak << 10 >= buffer, "{peak} kB resident, including the buffer of {buffer} B");
        assert!(beside < RESIDENT, "{beside} bytes are resident beside three buffers of {buffer}");
    });
}
