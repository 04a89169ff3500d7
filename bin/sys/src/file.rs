//! Reading: small files of /proc and /sys, long ones line by line, saved results as a whole.
//!
//! The module does not interpret the contents.

use super::errno::{Errno, patiently};
use super::path::Path;
use super::table::Table;
use super::terminal::Stream;
use core::cell::Cell;
use latency_core::Bytes;
use latency_core::topology::Files;
use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{FileType, Mode, OFlags, fstat, open as open_file, stat};

/// Flag for files of the system, which never block; without it, a pipe in place of one would block for ever.
const AT_ONCE: OFlags = OFlags::NONBLOCK;
/// Maximum bytes of a file that is read by lines, more than any file of /proc: 65530 mappings with a line of numa_maps
/// each need half of it.
const LONGEST: usize = 64 << 20;

/// Opens `path` for reading, with additional flags `more`.
fn open(path: &[u8], more: OFlags) -> Result<OwnedFd, Errno> {
    let path = Path::new(path)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | more;
    patiently(|| open_file(path.as_c_str(), flags, Mode::empty()))
}

/// Makes one read; returns 0 at the end of the file.
fn read_some(file: impl AsFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    patiently(|| rustix::io::read(file.as_fd(), &mut *buffer))
}

/// The device and the inode number of a regular file, which do not depend on its name.
pub type Identity = (u64, u64);

/// Returns the identity of `path`, or of `stream` without a path; `None` if that is not a regular file.
pub fn identity(path: Option<&[u8]>, stream: Stream) -> Option<Identity> {
    let found = match path {
        Some(path) => stat(Path::new(path).ok()?.as_c_str()),
        None => fstat(stream.descriptor()),
    };
    let found = found.ok()?;
    (FileType::from_raw_mode(found.st_mode) == FileType::RegularFile).then_some((found.st_dev, found.st_ino))
}

/// Reads to the end of the file or of `buffer`, whichever comes first; one read of a file of /proc may return only a
/// part of it.
fn read_all(file: impl AsFd, buffer: &mut [u8]) -> Result<usize, Errno> {
    let mut length = 0;
    while let Some(rest) = buffer.get_mut(length..).filter(|rest| !rest.is_empty()) {
        match read_some(file.as_fd(), rest)? {
            0 => break,
            count => length += count,
        }
    }
    Ok(length)
}

/// Reads `path` into `buffer` and returns the bytes read: the whole file, or as much as fits in the buffer.
///
/// # Errors
/// The errors of `open(2)` and `read(2)`; `EINVAL` and `ENAMETOOLONG` if the bytes are not a valid path.
pub fn read_into<'b>(path: &[u8], buffer: &'b mut [u8]) -> Result<&'b [u8], Errno> {
    let length = read_all(open(path, AT_ONCE)?, buffer)?;
    Ok(buffer.get(..length).unwrap_or_default())
}

/// The files of the system that the program runs on.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemFiles;

impl Files for SystemFiles {
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        read_into(path.as_bytes(), buffer).ok()
    }
}

/// Bytes of one read from a file that may have long lines: larger reads would touch more of the buffer without need.
const PIECE: usize = 64 << 10;

/// Passes every line of `path`, or of standard input without a path, to `each`, however long the line is; otherwise
/// like [`for_each_line`]. Waits for a pipe. Reads at most `left` bytes, which `each` raises as long as the lines are worth
/// reading: some files do not end.
///
/// # Errors
/// The errors of [`for_each_line`].
pub fn for_each_line_of(
    path: Option<&[u8]>,
    buffer: &mut [u8],
    left: &Cell<usize>,
    mut each: impl FnMut(&[u8]) -> bool,
) -> Result<(), Errno> {
    let file = path.map(|path| open(path, OFlags::empty())).transpose()?;
    lines(file.as_ref().map_or(Stream::Input.descriptor(), AsFd::as_fd), buffer, left, &mut each)
}

/// Passes every line of `path` without its newline to `each`, until `each` returns false.
///
/// The file may be of any length and is read through `buffer`. If a line does not fit in the buffer, its beginning is
/// passed and the rest is skipped.
///
/// # Errors
/// The errors of [`read_into`]; `EINVAL` for an empty buffer, `EFBIG` for a file that does not end.
pub fn for_each_line(
    path: &[u8],
    buffer: &mut [u8],
    mut each: impl FnMut(&[u8]) -> bool,
) -> Result<(), Errno> {
    lines(open(path, AT_ONCE)?.as_fd(), buffer, &Cell::new(LONGEST), &mut each)
}

/// Passes every line of a file to `each`, and takes the bytes read from those that are `left`.
fn lines(
    from: BorrowedFd<'_>,
    buffer: &mut [u8],
    left: &Cell<usize>,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), Errno> {
    let mut read = |rest: &mut [u8]| {
        let length = rest.len().min(PIECE);
        let count = read_some(from, rest.get_mut(..length).unwrap_or_default())?;
        left.set(left.get().checked_sub(count).ok_or(Errno::EFBIG)?);
        Ok(count)
    };
    split_lines(buffer, &mut read, each)
}

/// Splits the text that `read` delivers piece by piece into lines.
fn split_lines(
    buffer: &mut [u8],
    read: &mut dyn FnMut(&mut [u8]) -> Result<usize, Errno>,
    each: &mut dyn FnMut(&[u8]) -> bool,
) -> Result<(), Errno> {
    if buffer.is_empty() {
        return Err(Errno::EINVAL);
    }
    let mut held = 0; // bytes at the start of the buffer that begin an unfinished line
    let mut skipping = false; // the bytes belong to a line whose beginning was passed
    loop {
        let count = read(buffer.get_mut(held..).unwrap_or_default())?;
        let end = held + count;
        let mut start = 0;
        // The bytes kept from the last read have no newline.
        let mut looked = held;
        while let Some(length) = line_length(buffer.get(looked..end)) {
            let line = buffer.get(start..looked + length).unwrap_or_default();
            start = looked + length + 1;
            looked = start;
            if !core::mem::take(&mut skipping) && !each(line) {
                return Ok(());
            }
        }
        let unfinished = buffer.get(start..end).unwrap_or_default();
        let overlong = unfinished.len() == buffer.len();
        if (overlong || count == 0) && !unfinished.is_empty() && !skipping && !each(unfinished) {
            return Ok(());
        }
        if count == 0 {
            return Ok(());
        }
        skipping |= overlong;
        held = if skipping { 0 } else { end - start };
        buffer.copy_within(start..start + held, 0);
    }
}

/// Returns the length of the first line of `text`, without its newline, if the line is complete.
fn line_length(text: Option<&[u8]>) -> Option<usize> {
    /// Bytes that the library searches for a newline at a time, which is several times as fast as one by one.
    const AT_ONCE: usize = 512;
    let is_end = |byte: &u8| *byte == b'\n';
    let place = text?.chunks(AT_ONCE).position(|part| part.contains(&b'\n'))? * AT_ONCE;
    Some(place + text?.get(place..)?.iter().position(is_end)?)
}

/// Reads the whole of `path`, which may also be a pipe, or of standard input without a path, up to `limit` bytes.
///
/// The contents are copied, because a mapped file could shrink or change while it is read.
///
/// # Errors
/// `EFBIG` above the limit, `EISDIR` for a directory; otherwise the errors of [`read_into`].
pub fn load(path: Option<&[u8]>, limit: Bytes) -> Result<Table<u8>, Errno> {
    let file = path.map(|path| open(path, OFlags::empty())).transpose()?;
    let from = file.as_ref().map_or(Stream::Input.descriptor(), AsFd::as_fd);
    let limit = usize::try_from(limit.0).unwrap_or(usize::MAX);
    // Only pages that are written use memory, and one byte more than the limit reveals a file that is too long.
    let mut bytes = Table::zeroed(limit.saturating_add(1))?;
    let length = read_all(from, &mut bytes)?;
    if length > limit {
        return Err(Errno::EFBIG);
    }
    bytes.truncate(length);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// Splits `text` into lines, in reads of `piece` bytes and with a buffer of `room` bytes.
    fn lines(text: &str, piece: usize, room: usize) -> Vec<String> {
        let (mut rest, mut found) = (text.as_bytes(), Vec::new());
        let mut read = |buffer: &mut [u8]| {
            let count = piece.min(rest.len()).min(buffer.len());
            buffer[..count].copy_from_slice(&rest[..count]);
            rest = &rest[count..];
            Ok(count)
        };
        let mut each = |line: &[u8]| {
            found.push(String::from_utf8_lossy(line).into_owned());
            true
        };
        split_lines(&mut std::vec![0; room], &mut read, &mut each).unwrap();
        found
    }

    #[test]
    fn lines_do_not_depend_on_how_they_are_read() {
        let text = "one\n\nthree four\na line without an end";
        let whole: Vec<_> = text.lines().map(ToString::to_string).collect();
        for piece in 1..50 {
            for room in 22..60 {
                assert_eq!(lines(text, piece, room), whole, "{piece} {room}");
            }
        }
    }

    #[test]
    fn the_beginning_of_a_long_line_is_passed_once() {
        for piece in 1..20 {
            assert_eq!(
                lines("0123456789abcdefghij\nnext\nlong at the end", piece, 8),
                ["01234567", "next", "long at "]
            );
            assert_eq!(lines("12345678\n1234567\n\n", piece, 8), ["12345678", "1234567", ""]);
        }
    }

    #[test]
    fn reading_stops_on_request() {
        let mut count = 0;
        for_each_line(b"/proc/self/status", &mut [0; 64], |_| {
            count += 1;
            count < 3
        })
        .unwrap();
        assert_eq!(count, 3);
        assert_eq!(for_each_line(b"/proc/self/status", &mut [], |_| true), Err(Errno::EINVAL));
    }

    #[test]
    fn proc_files_are_read_to_their_end_or_the_buffers_end() {
        let mut buffer = [0; 64];
        assert_eq!(SystemFiles.read("/proc/self/comm", &mut buffer).unwrap().last(), Some(&b'\n'));
        assert_eq!(read_into(b"/proc/self/status", &mut buffer).unwrap().len(), 64);
        assert_eq!(SystemFiles.read("/does/not/exist", &mut buffer), None);
        assert_eq!(read_into(b"/does/not/exist", &mut buffer), Err(Errno::ENOENT));
        assert_eq!(read_into(b"/tmp", &mut buffer), Err(Errno::EISDIR));
    }

    #[test]
    fn whole_files_are_loaded_up_to_the_limit() {
        let file = std::env::temp_dir().join(std::format!("latency-bench-load-{}", std::process::id()));
        std::fs::write(&file, std::vec![b'x'; 10_000]).unwrap();
        let path = file.to_str().unwrap().as_bytes();
        assert_eq!(*load(Some(path), Bytes(10_000)).unwrap(), [b'x'; 10_000]);
        assert_eq!(load(Some(path), Bytes(9_999)).err(), Some(Errno::EFBIG));
        assert_eq!(load(Some(b"/dev/zero"), Bytes(9_999)).err(), Some(Errno::EFBIG));
        assert_eq!(load(Some(b"/tmp"), Bytes(10)).err(), Some(Errno::EISDIR));
        std::fs::remove_file(file).unwrap();
    }
}
