//! Files for `fit` and `compare` that no tool wrote, or that never end: they are refused in bounded time and
//! memory, or read.

use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use latency_tests::lanes::of_everything;
use latency_tests::program::workspace;
use latency_tests::run::{finish, finish_within};
use std::ffi::CString;
use std::fs::{self, File};
use std::io::Write;
use std::os::fd::{FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

/// Maximum address space of the process in bytes: the file, its tree, its rows, and the conclusions.
const ADDRESSES: u64 = 160 << 20;
/// Limit of the CPU time in seconds; the slowest of these needs one or two.
const SECONDS: u64 = 15;
/// Maximum wall-clock time of a process that waits for nothing.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns a command that dies if a file costs too much memory or time.
pub fn bounded(directory: &Directory, arguments: &[&str]) -> Command {
    let mut command = directory.command(arguments);
    command
        .limited(libc::RLIMIT_AS as libc::c_int, ADDRESSES)
        .limited(libc::RLIMIT_CPU as libc::c_int, SECONDS);
    command
}

/// Asserts that `fit` refuses a file with a message that contains `words`.
pub fn refused(directory: &Directory, name: &str, words: &str) {
    for command in [&["fit", name][..], &["compare", name, name]] {
        let found = finish(&mut bounded(directory, command));
        found.expect_status(1).expect_error(words);
        assert_eq!(found.stdout, "", "{found}");
    }
}

/// Writes a file of a repeated part.
fn repeated(path: &Path, first: &str, part: &str, count: usize, last: &str) {
    let mut file = File::create(path).expect("a file");
    let block = part.repeat(1000);
    file.write_all(first.as_bytes()).expect("a part");
    for _ in 0..count / 1000 {
        file.write_all(block.as_bytes()).expect("a part");
    }
    file.write_all(last.as_bytes()).expect("a part");
}

#[test]
fn an_oversized_file_is_read_only_up_to_the_limit() {
    let directory = Directory::new("files-large");
    let path = |name: &str| directory.path().join(name);
    let point = "{\"ns\":1.5,\"working_set_bytes\":65536},";
    repeated(&path("100MB.json"), "{\"rows\":[", point, 2_800_000, "{}]}");
    assert!(fs::metadata(path("100MB.json")).expect("a file").len() > 100_000_000);
    // A hole occupies no space; a file system may allow no files of this size.
    let holes = File::create(path("1TiB")).expect("a file");
    let name = if holes.set_len(1 << 40).is_ok() { "1TiB" } else { "/dev/zero" };
    for name in ["100MB.json", name, "/dev/zero", "/dev/urandom"] {
        refused(&directory, name, "is larger than 16 MiB; expected a result saved");
    }
}

#[test]
fn an_endless_pipe_is_read_only_up_to_the_limit() {
    let directory = Directory::new("files-pipe");
    let mut endless = Command::new("yes").arg("65536 1.5").stdout(Stdio::piped()).spawn().expect("yes");
    let found = finish(bounded(&directory, &["fit", "-"]).stdin(endless.stdout.take().expect("a pipe")));
    // Its pipe is closed by now, so it has ended.
    endless.wait().expect("a child");
    found.expect_status(1).expect_error("'-' is larger than 16 MiB");
}

#[test]
fn a_file_of_the_largest_size_is_read_in_time() {
    let directory = Directory::new("files-odd");
    let path = |name: &str| directory.path().join(name);
    let files = [
        ("brackets.json", "", "[", 1_000_000, "", "'brackets.json', line 1: nested too deep"),
        ("deep.json", "{\"x\":", "[", 1_000_000, "", "line 1: nested too deep"),
        ("points.json", "{\"rows\":[", "{\"ns\":null},", 1_200_000, "{}]}", "no measured point"),
        ("digits.json", "{\"rows\":[{\"ns\":", "7", 16_000_000, "}]}", "line 1: number out of range"),
        ("string.json", "{\"command\":[\"", "a", 16_000_000, "\"]}", "no measured point"),
        (
            "members.json",
            "{\"system\":{",
            "\"a\":[],",
            2_000_000,
            "\"b\":1}}",
            "line 1: duplicate key in an object",
        ),
        ("commas.csv", "", ",", 16_000_000, "\n", "line 1: no latency column"),
        ("lines.csv", "", "#\n", 8_000_000, "", "no measured point"),
        ("rows.csv", "", "65536,1\n", 2_000_000, "", "line 4097: more than 4096 points"),
        ("spaces", "", " ", 16_000_000, "x", "line 1: no latency column"),
        ("zeros", "", "\0", 16_000_000, "", "line 1: no latency column"),
    ];
    for (name, first, part, count, last, words) in files.into_iter().step_by(of_everything(3, 1)) {
        repeated(&path(name), first, part, count, last);
        assert!(fs::metadata(path(name)).expect("a file").len() <= 16 << 20, "{name}");
        let found = finish(&mut bounded(&directory, &["fit", name]));
        found.expect_status(1).expect_error(words);
        fs::remove_file(path(name)).expect("the file");
    }
}

/// Every point is looked up among all others: any cost that grows with the square of their number has to be
/// low.
#[test]
fn results_with_the_most_points_are_read_in_time() {
    let directory = Directory::new("files-many");
    let write = |name: &str, row: &dyn Fn(usize) -> String| {
        let rows: String = (0..4096).map(row).collect();
        fs::write(directory.path().join(name), rows).expect("a file");
    };
    for (name, factor) in [("a.csv", 1.0), ("b.csv", 1.02)] {
        write(name, &|index| {
            let (from, to) = (index / 64, index % 64);
            let heading = if index == 0 { "initiator_node,target_node,ns,working_set_bytes\n" } else { "" };
            let scatter = (index * 7919 % 101) as f64 / 5000.0;
            let ns = if from == to { 100.0 } else { 160.0 } * factor * (1.0 + scatter);
            format!("{heading}{from},{to},{ns:.3},268435456\n")
        });
    }
    let found = finish(&mut bounded(&directory, &["compare", "-q", "a.csv", "b.csv"]));
    let answer = &found.expect_status(0).stdout;
    assert!(answer.starts_with("No regression of 5.7% or more: median B/A 1.020 over 4096"), "{found}");
    write("five sizes", &|index| format!("{} {}\n", 65536 * (1 + index % 5), 1 + index % 5));
    refused_by_fit(&directory, "five sizes", "is not a curve: it has fewer than 6 sizes of one kind");
    write("all sizes", &|index| format!("{} {}\n", 65536 + 64 * index, 1.0 + index as f64 / 4096.0));
    finish(&mut bounded(&directory, &["fit", "all sizes"])).expect_status(0);
    finish(&mut bounded(&directory, &["compare", "-q", "all sizes", "all sizes"])).expect_status(0);
}

/// The median of thousands of pairs is that of all of them.
#[test]
fn the_address_translation_of_every_point_counts() {
    let directory = Directory::new("files-translation");
    for (name, slow) in [("a.csv", 50), ("b.csv", 100)] {
        let row = |index: usize| {
            let translation = if index < 40 { 50 } else { slow };
            format!(
                "{},{},{},100,99,101,{translation},{},{}\n",
                index / 10,
                index % 10,
                100 + translation,
                translation - 1,
                translation + 1
            )
        };
        let heading = "initiator_node,target_node,ns,without_translation_ns,without_translation_ns_low,\
                       without_translation_ns_high,translation_ns,translation_ns_low,translation_ns_high\n";
        let rows: String = (0..100).map(row).collect();
        fs::write(directory.path().join(name), format!("{heading}{rows}")).expect("a file");
    }
    let found = finish(&mut bounded(&directory, &["compare", "a.csv", "b.csv"]));
    let words: Vec<&str> = found.expect_status(0).stdout.split_whitespace().collect();
    assert!(words.join(" ").contains("Address translation is slower: median B/A 2.00"), "{found}");
}

pub fn refused_by_fit(directory: &Directory, name: &str, words: &str) {
    let found = finish(&mut bounded(directory, &["fit", name]));
    found.expect_status(1).expect_error(words);
    assert_eq!(found.stdout, "", "{found}");
}

#[test]
fn a_path_that_is_not_a_file_is_named() {
    let directory = Directory::new("files-none");
    for (name, words) in [
        (".", "cannot read '.': Is a directory (EISDIR)"),
        ("/proc/self/mem", "cannot read '/proc/self/mem': Input/output error (EIO)"),
        ("absent", "cannot read 'absent': No such file or directory (ENOENT)"),
        ("absent/", "No such file or directory (ENOENT)"),
        ("latency-bench/x", "Not a directory (ENOTDIR)"),
        ("/dev/null", "'/dev/null', line 1: the file is empty"),
        // The executable itself.
        ("latency-bench", "'latency-bench', line 1: neither JSON nor UTF-8 text"),
    ] {
        refused(&directory, name, words);
    }
    let long = "x".repeat(5000);
    refused(&directory, &long, "File name too long (ENAMETOOLONG)");
}

/// Returns the master of a terminal whose other end wrote `text` and was closed: reading returns the text,
/// then EIO.
fn broken(text: &[u8]) -> OwnedFd {
    let (mut master, mut slave) = (-1, -1);
    let none = std::ptr::null_mut();
    // SAFETY: two descriptors are written, and nothing else is used.
    let made = unsafe { libc::openpty(&raw mut master, &raw mut slave, none, none.cast(), none.cast()) };
    assert_eq!(made, 0, "openpty: {}", std::io::Error::last_os_error());
    // SAFETY: both were just made, and have no other owner.
    let (master, mut slave) = unsafe { (OwnedFd::from_raw_fd(master), File::from_raw_fd(slave)) };
    slave.write_all(text).expect("a terminal");
    master
}

#[test]
fn a_partly_unreadable_file_is_refused() {
    let directory = Directory::new("files-broken");
    let rows: String = (0..24).map(|step| format!("{} {}\n", 16384_u64 << step, 1 + step / 8)).collect();
    let found = finish(bounded(&directory, &["fit", "-"]).stdin(broken(rows.as_bytes())));
    found.expect_status(1).expect_error("cannot read '-': Input/output error (EIO)");
    assert_eq!(found.stdout, "", "{found}");
}

#[test]
fn a_growing_file_is_read_to_its_current_end() {
    let directory = Directory::new("files-growing");
    let path = directory.path().join("growing");
    let mut file = File::create(&path).expect("a file");
    let enough = AtomicBool::new(false);
    let row = |step: u64| format!("{} {}\n", 16384 + 64 * (step % 4096), 1.0 + (step % 4096) as f64 / 4096.0);
    file.write_all((0..64).map(row).collect::<String>().as_bytes()).expect("a row");
    thread::scope(|scope| {
        scope.spawn(|| {
            // Bounded, in case the other side never ends.
            for step in (64..2_000_000).take_while(|_| !enough.load(Ordering::Relaxed)) {
                file.write_all(row(step).as_bytes()).expect("a row");
            }
        });
        let found = finish(&mut bounded(&directory, &["fit", "-q", "growing"]));
        enough.store(true, Ordering::Relaxed);
        assert!(matches!(found.status.code(), Some(0 | 1)), "{found}");
        assert_eq!(found.status.code() == Some(0), found.stderr.is_empty(), "{found}");
    });
}

fn fifo(path: &Path) {
    let path = CString::new(path.as_os_str().as_bytes()).expect("a path without NUL");
    // SAFETY: a string with a NUL that outlives the call.
    assert_eq!(unsafe { libc::mkfifo(path.as_ptr(), 0o600) }, 0, "{}", std::io::Error::last_os_error());
}

#[test]
fn a_named_pipe_is_awaited_and_read() {
    let directory = Directory::new("files-fifo");
    let path = directory.path().join("fifo");
    fifo(&path);
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let child = bounded(&directory, &["fit", "fifo"]).hearing(signal).spawn().expect("a process");
        // The process waits for a writer by now; if it does not yet, the signal still ends it.
        thread::sleep(Duration::from_millis(200));
        // SAFETY: the child has not been waited for, so its number is still valid.
        assert_eq!(unsafe { libc::kill(child.id() as libc::pid_t, signal) }, 0);
        let found = finish_within(child, PATIENCE);
        assert!(found.status.signal() == Some(signal) || found.status.code() == Some(130), "{found}");
        assert_eq!(found.stdout, "", "{found}");
    }
    // The form of a shell's <(…).
    let child = bounded(&directory, &["fit", "-q", "fifo"]).spawn().expect("a process");
    let stored = fs::read(workspace().join("tests/fixtures/saved/foreign.txt")).expect("a fixture");
    File::options().write(true).open(&path).expect("a reader").write_all(&stored).expect("a reader");
    let found = finish_within(child, PATIENCE);
    assert!(found.expect_status(0).stdout.starts_with("L1 "), "{found}");
}
