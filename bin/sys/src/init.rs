//! The beginning and the end of the process, also as the first process of a machine.
//!
//! When it runs as `/init` of an initramfs, the program has no /proc, no /sys and perhaps no open descriptors. It gets
//! its arguments from the kernel's command line, and must not end, because the kernel panics when its first process
//! ends. None of that applies to process 1 of a container. The module knows neither options nor results.
//!
//! # Safety
//!
//! Descriptors 0 to 2 are borrowed by number for the only operation that is allowed on a closed descriptor: the test
//! whether it is open. One call gets the address of a local record.

use super::arguments::Arguments;
use super::file::read_into;
use super::out::Messages;
use super::raw::{exit, process_id, syscall6};
use super::table::Table;
use super::terminal::{Stream, be_console};
use core::cell::Cell;
use core::ffi::CStr;
use core::fmt::Write;
use linux_raw_sys::general::{__NR_prlimit64, RLIMIT_CPU};
use rustix::fd::{BorrowedFd, IntoRawFd};
use rustix::fs::{Access, CWD, Mode, OFlags, access, mkdir, open, readlinkat_raw, sync};
use rustix::io::fcntl_getfd;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};

/// Prepares the environment of the program, and returns the effective arguments: those `passed` by the kernel or, as a
/// machine's first process, those after `--` on the kernel's command line.
pub fn begin(passed: Arguments) -> Arguments {
    let first = is_first_process();
    if first {
        mount_if_absent(c"/sys", c"/sys/kernel", c"sysfs");
        mount_if_absent(c"/dev", c"/dev/null", c"devtmpfs");
    }
    open_standard_descriptors(first);
    hear_the_end_of_cpu_time();
    if first {
        be_console();
        // Without the command line, the kernel's own arguments are the best substitute.
        return command_line_arguments().unwrap_or(passed);
    }
    passed
}

/// Lowers the soft limit of CPU time (`ulimit -t`), so that the kernel sends SIGXCPU a second before the end: at the
/// hard limit it sends SIGKILL, which leaves no time for a result.
fn hear_the_end_of_cpu_time() {
    let call = |new: usize, old: usize| {
        // SAFETY: each address is null or the address of a record of two words, one to be read and one to be written.
        unsafe { syscall6(__NR_prlimit64, [0, RLIMIT_CPU as usize, new, old, 0, 0]) }
    };
    // All ones if there is no limit, zeros if the call is forbidden.
    let mut limit = [0_u64; 2];
    let _ = call(0, &raw mut limit as usize);
    let [soft, hard] = limit;
    if hard > 1 && hard < u64::MAX && soft >= hard {
        let lower = [hard - 1, hard];
        // If the limit cannot be lowered, the end comes without SIGXCPU.
        let _ = call(&raw const lower as usize, 0);
    }
}

/// Ends the process with the exit status `status`; as a machine's first process, prints the status and turns the
/// machine off.
///
/// Any thread may call this function, and a panic does: the other threads end with the process, or with the machine.
pub fn end(status: i32) -> ! {
    if !is_first_process() {
        exit(status);
    }
    // A failed write cannot be reported anywhere.
    let _ = writeln!(Messages::on(Stream::Output), "latency-bench: exit status {status}");
    sync();
    for command in [RebootCommand::PowerOff, RebootCommand::Halt] {
        // Returns only if the permission is missing, which a machine's first process has.
        let _ = reboot(command);
    }
    exit(status)
}

/// Returns true if this is the first process of a machine, rather than of a container.
///
/// Mounts /proc if it is needed for the answer.
fn is_first_process() -> bool {
    if process_id() != 1 {
        return false;
    }
    mount_if_absent(c"/proc", c"/proc/self", c"proc");
    let mut link = [0; 32];
    match readlinkat_raw(CWD, c"/proc/self/ns/pid", &mut link) {
        // `PROC_PID_INIT_INO`: the initial namespace of the kernel has a fixed number.
        Ok(length) => link.get(..length) == Some(b"pid:[4026531836]"),
        // A kernel without namespaces has no containers.
        Err(_) => true,
    }
}

/// Mounts a file system of the kernel on `directory`, unless the file `witness` is there already.
fn mount_if_absent(directory: &CStr, witness: &CStr, kind: &CStr) {
    if access(witness, Access::EXISTS).is_err() {
        // The directory may exist; code that needs the file system reports its absence.
        let _ = mkdir(directory, Mode::from_raw_mode(0o755));
        let _ = mount(kind, directory, kind, MountFlags::empty(), None);
    }
}

/// Opens those of the descriptors 0 to 2 that are closed; otherwise the next opened file would become one of them.
///
/// Opens the console if the process owns it; otherwise a file on which every write fails with EBADF.
fn open_standard_descriptors(console: bool) {
    for number in 0..3 {
        // SAFETY: the borrow ends with this call, which only looks up the number.
        let descriptor = unsafe { BorrowedFd::borrow_raw(number) };
        if fcntl_getfd(descriptor).is_err() {
            let (path, flags) =
                if console { (c"/dev/console", OFlags::RDWR) } else { (c"/dev/null", OFlags::RDONLY) };
            // The lowest free number is the closed descriptor. It stays open for the rest of the process.
            if let Ok(descriptor) = open(path, flags | OFlags::NOCTTY, Mode::empty()) {
                let _ = descriptor.into_raw_fd();
            }
        }
    }
}

/// Returns the words after `--` on the kernel's command line; `None` if it cannot be read.
fn command_line_arguments() -> Option<Arguments> {
    // Both instruction sets allow 2048 bytes (COMMAND_LINE_SIZE), and a boot configuration may add to them.
    let text = Table::zeroed(16 << 10).ok()?.leak();
    let length = read_into(b"/proc/cmdline", text).ok()?.len();
    let packed = pack_arguments(text.get_mut(..length)?);
    Some(Arguments::packed(text.get(..packed)?))
}

/// Moves the words after `--` to the start of `text`, terminates each with a NUL, and returns their length.
///
/// White space separates words, except between double quotes, which are removed. A word of the boot loader is left out.
pub fn pack_arguments(text: &mut [u8]) -> usize {
    // Reading and writing use the same buffer: the write position stays behind the read position, because the words
    // before the `--`, and the `--` itself, are not kept.
    const INITRD: &[u8; 7] = b"initrd=";
    let text = Cell::from_mut(text).as_slice_of_cells();
    let mut kept = 0; // length of the kept words
    let mut end = 0; // end of the current word
    let (mut in_word, mut quoted, mut keeping) = (false, false, false);
    for byte in text.iter().map(Cell::get).chain([b'\n']) {
        match byte {
            b'"' => (in_word, quoted) = (true, !quoted),
            b' ' | b'\t' | b'\n' if !quoted || byte == b'\n' => {
                // Some UEFI loaders append the file of the initramfs to the command line.
                let of_loader = || {
                    let word = text.get(kept..end).unwrap_or_default();
                    word.iter().map(Cell::get).take(INITRD.len()).eq(*INITRD)
                };
                if in_word && keeping && !of_loader() {
                    put(text, &mut end, 0);
                    kept = end;
                }
                keeping |= text.get(..end).is_some_and(|word| word.iter().map(Cell::get).eq(*b"--"));
                (in_word, end) = (false, kept);
            }
            byte => {
                in_word = true;
                put(text, &mut end, byte);
            }
        }
    }
    kept
}

/// Sets the byte at position `at`, if it exists, and advances `at`.
fn put(text: &[Cell<u8>], at: &mut usize, byte: u8) {
    if let Some(place) = text.get(*at) {
        place.set(byte);
        *at += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    /// Returns the words kept, joined by bars.
    fn packed(text: &str) -> String {
        let mut text = text.as_bytes().to_vec();
        let length = pack_arguments(&mut text);
        text[..length].iter().map(|&byte| if byte == 0 { '|' } else { char::from(byte) }).collect()
    }

    #[test]
    fn words_after_the_dashes_are_kept() {
        assert_eq!(packed("console=ttyS0 quiet -- matrix --size=64M\n"), "matrix|--size=64M|");
        assert_eq!(packed("-- a"), "a|");
        assert_eq!(packed("a --  b\tc  "), "b|c|");
        assert_eq!(packed("a -- b -- c"), "b|--|c|");
    }

    #[test]
    fn a_word_of_the_boot_loader_is_left_out() {
        assert_eq!(packed("quiet -- matrix --size=64M initrd=initrd\n"), "matrix|--size=64M|");
        assert_eq!(packed("-- initrd=\\boot\\initrd.img a initrd"), "a|initrd|");
    }

    #[test]
    fn without_dashes_there_are_no_arguments() {
        for text in ["", "\n", "console=ttyS0", "a --b --- -", "a --", "a -- \n", "\"a -- b"] {
            assert_eq!(packed(text), "", "{text}");
        }
    }

    #[test]
    fn quotes_join_words() {
        assert_eq!(packed("a=\"x -- y\" -- --output=\"a b\" \"\" \"c\nd"), "--output=a b||c|d|");
    }

    #[test]
    fn packing_never_writes_past_the_text() {
        proptest::proptest!(|(bytes: Vec<u8>)| {
            let mut text = b"-- ".to_vec();
            text.extend(bytes);
            let length = pack_arguments(&mut text);
            assert!(length <= text.len());
        });
    }

    #[test]
    fn a_test_is_not_the_first_process() {
        // In a container the test may be process 1, but never the first process of a machine.
        assert!(!is_first_process());
        let passed = Arguments::packed(b"a\0b\0");
        assert_eq!(begin(passed).collect::<Vec<_>>(), [b"a", b"b"]);
    }
}
