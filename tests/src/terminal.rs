//! A terminal to run a command under, and the text that it finally shows.

use std::fs::File;
use std::io::Read;
use std::os::fd::FromRawFd;
use std::process::{Command, ExitStatus};

/// Returns the cursor to the start of the line, and clears the line (ECMA-48 EL). Each line of progress begins with it.
const CLEAR_LINE: &str = "\r\x1b[K";

/// Returns the text without lines that were cleared, and without the carriage returns of a serial line.
pub fn shown(written: &str) -> String {
    let lines: Vec<&str> =
        written.split('\n').map(|line| line.rsplit(CLEAR_LINE).next().unwrap_or(line)).collect();
    lines.join("\n").replace('\r', "")
}

/// Runs `command` with a terminal of `columns` columns as its standard output. Returns its exit status and
/// its output without the carriage returns of the line.
///
/// # Panics
///
/// If there is no terminal, or the process cannot be started.
pub fn under(command: &mut Command, columns: u16) -> (ExitStatus, String) {
    let (mut master, mut slave) = (-1, -1);
    let none = std::ptr::null_mut();
    let size = libc::winsize { ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
    // SAFETY: two descriptors are written, the size is read, and nothing else is used.
    let made = unsafe {
        libc::openpty(&raw mut master, &raw mut slave, none, none.cast(), (&raw const size).cast_mut())
    };
    assert_eq!(made, 0, "openpty: {}", std::io::Error::last_os_error());
    // SAFETY: both were just made, and have no other owner.
    let (mut master, slave) = unsafe { (File::from_raw_fd(master), File::from_raw_fd(slave)) };
    let mut child = command.stdout(slave).spawn().expect("a process");
    // The command has a copy of the other end, which keeps it open.
    command.stdout(std::process::Stdio::null());
    let (mut written, mut part) = (Vec::new(), [0; 4096]);
    // Reading fails once all copies of the other end are closed.
    while let Ok(count @ 1..) = master.read(&mut part) {
        written.extend_from_slice(&part[..count]);
    }
    let status = child.wait().expect("a child");
    (status, String::from_utf8_lossy(&written).replace('\r', ""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_that_was_cleared_is_not_shown() {
        assert_eq!(shown("\r\x1b[Kplacing\r\x1b[Kround 1\r\x1b[KNode 0\r\nrest\r\x1b[K"), "Node 0\n");
    }
}
