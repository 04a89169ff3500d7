//! Writing: results through a buffer that keeps its first error, messages line by line.
//!
//! The module handles bytes and targets, not formats. `output_file` makes an output file appear either complete or not
//! at all.

use super::errno::{Errno, patiently};
use super::output_file::OutputFile;
pub use super::output_file::Unfinished;
use super::signal;
use super::table::Table;
use super::terminal::Stream;
use core::fmt;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::fd::BorrowedFd;
use rustix::fs::{FileType, fstat};

/// Bytes that are collected before a write: a `write!` has many fragments, and a system call for each would be slow.
const BUFFER: usize = 16 << 10;

/// Writes all of `bytes`, despite interruptions and partial writes.
///
/// # Errors
/// The errors of `write(2)`; `ECANCELED` if a signal has come and the stream accepts no bytes.
pub(super) fn write_all(to: BorrowedFd<'_>, mut bytes: &[u8]) -> Result<(), Errno> {
    let at_once = takes_at_once(to);
    while !bytes.is_empty() {
        wait_for_room(to)?;
        let piece = bytes.get(..at_once).unwrap_or(bytes);
        match patiently(|| rustix::io::write(to, piece)) {
            Ok(0) => return Err(Errno::EIO),
            Ok(count) => bytes = bytes.get(count..).unwrap_or_default(),
            // The pipe is non-blocking: by this program, or by another process.
            Err(Errno::EAGAIN) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Returns the number of bytes that a stream with some room accepts without blocking.
fn takes_at_once(to: BorrowedFd<'_>) -> usize {
    match fstat(to).map(|found| FileType::from_raw_mode(found.st_mode)) {
        Ok(FileType::RegularFile) => usize::MAX,
        // A terminal has room in units of 256 bytes, and a newline may need two bytes.
        Ok(FileType::CharacterDevice) => 128,
        // A pipe that has room has room for at least a page.
        _ => 4096,
    }
}

/// Waits until a stream has room. Signals are blocked meanwhile, so the wait is divided into short parts with a check
/// for signals after each.
fn wait_for_room(to: BorrowedFd<'_>) -> Result<(), Errno> {
    loop {
        // If polling is forbidden, the write itself blocks.
        match patiently(|| poll(&mut [PollFd::new(&to, PollFlags::OUT)], Some(&signal::pause()))) {
            Ok(0) if signal::gives_up() => return Err(Errno::ECANCELED),
            Ok(0) => {}
            _ => return Ok(()),
        }
    }
}

/// The stream for results. Output without a call of [`Sink::finish`] is lost.
pub struct Sink {
    /// The output file; `None` for standard output.
    file: Option<OutputFile>,
    buffer: Table<u8>,
    error: Option<Errno>,
}

impl Sink {
    /// Returns a sink for the file `path`, which appears complete when the sink is finished, or not at all; for
    /// standard output without a path.
    ///
    /// A path that leads to standard output (`/dev/stdout`) means standard output. A target that is not a regular file
    /// (a device, a pipe) is written directly.
    ///
    /// # Errors
    /// The errors of `open(2)`, `EISDIR` for a directory, `ENOENT` for the empty path; `ENOMEM` if there is no memory
    /// for the buffer.
    pub fn create(path: Option<&[u8]>) -> Result<Sink, Errno> {
        let file = path.map_or(Ok(None), OutputFile::create)?;
        Ok(Sink { file, buffer: Table::new(BUFFER)?, error: None })
    }

    /// Makes an output file readable for all users, whatever the process's umask is, because a service of another user
    /// reads it.
    pub fn let_everybody_read(&self) {
        if let Some(file) = &self.file {
            file.let_everybody_read();
        }
    }

    /// Returns whether both write the same file, or both standard output.
    pub fn is_same(&self, other: &Sink) -> bool {
        match (&self.file, &other.file) {
            (Some(one), Some(other)) => one.is_same(other),
            (one, other) => one.is_none() && other.is_none(),
        }
    }

    /// Adds bytes unchanged. After an error nothing more is written.
    pub fn put(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            if self.buffer.push(byte).is_none() {
                // `finish` returns the error, which is kept.
                let _ = self.flush();
                self.buffer.push(byte);
            }
        }
    }

    /// Writes the collected bytes.
    ///
    /// # Errors
    /// The first error of this or any earlier write.
    pub fn flush(&mut self) -> Result<(), Errno> {
        if self.error.is_none() {
            let target = self.file.as_ref().map_or(Stream::Output.descriptor(), OutputFile::descriptor);
            self.error = write_all(target, &self.buffer).err();
        }
        self.buffer.truncate(0);
        self.error.map_or(Ok(()), Err)
    }

    /// Writes the collected bytes and puts an output file in its place.
    ///
    /// # Errors
    /// The first error of all writes, or the error of putting an output file in its place.
    pub fn finish(mut self) -> Result<(), Unfinished> {
        self.flush()?;
        self.file.map_or(Ok(()), OutputFile::commit)
    }
}

impl fmt::Write for Sink {
    /// Fails once a write has failed, so that formatting code can stop; [`Sink::finish`] returns the reason.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes());
        self.error.map_or(Ok(()), |_| Err(fmt::Error))
    }
}

/// A stream written line by line. Errors are dropped: they cannot be reported anywhere.
pub struct Messages {
    stream: Stream,
    buffer: [u8; 1024],
    used: usize,
}

impl Messages {
    /// Returns messages on `stream`.
    pub const fn on(stream: Stream) -> Messages {
        Messages { stream, buffer: [0; 1024], used: 0 }
    }

    /// Writes the collected bytes, for a line that does not end yet.
    pub fn flush(&mut self) {
        let collected = self.buffer.get(..self.used).unwrap_or_default();
        let _ = write_all(self.stream.descriptor(), collected);
        self.used = 0;
    }
}

impl fmt::Write for Messages {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if let Some(place) = self.buffer.get_mut(self.used) {
                *place = byte;
                self.used += 1;
            }
            if byte == b'\n' || self.used == self.buffer.len() {
                self.flush();
            }
        }
        Ok(())
    }
}

impl Drop for Messages {
    fn drop(&mut self) {
        self.flush();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::fmt::Write;
    use std::fs;
    use std::io::Read;
    use std::vec::Vec;

    #[test]
    fn a_full_device_is_reported_at_the_end() {
        let mut sink = Sink::create(Some(b"/dev/full")).unwrap();
        sink.write_str("short enough for the buffer").unwrap();
        assert_eq!(sink.finish(), Err(Unfinished::NotWritten(Errno::ENOSPC)));
    }

    #[test]
    fn a_full_device_stops_formatting() {
        let mut sink = Sink::create(Some(b"/dev/full")).unwrap();
        let written = (0..100_000).take_while(|number| write!(sink, "{number} ").is_ok()).count();
        assert!(written < 10_000, "{written}");
        assert_eq!(sink.flush(), Err(Errno::ENOSPC));
        assert_eq!(sink.finish(), Err(Unfinished::NotWritten(Errno::ENOSPC)));
    }

    #[test]
    fn everything_arrives_in_order_through_the_buffer() {
        let path = std::env::temp_dir().join(std::format!("latency-bench-sink-{}", std::process::id()));
        let mut sink = Sink::create(Some(path.to_str().unwrap().as_bytes())).unwrap();
        for number in 0..20_000 {
            writeln!(sink, "{number}").unwrap();
        }
        sink.put(&[b'x'; 3 * BUFFER]);
        sink.finish().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.lines().take(20_000).map(|line| line.parse()).eq((0..20_000).map(Ok::<i32, _>)));
        assert!(text.ends_with(&"x".repeat(3 * BUFFER)));
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn a_non_blocking_pipe_gets_everything() {
        let (mut reader, writer) = std::io::pipe().unwrap();
        let number = std::os::fd::AsRawFd::as_raw_fd(&writer);
        let path = std::format!("/proc/self/fd/{number}");
        let copy = rustix::fs::open(
            path.as_str(),
            rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::NONBLOCK,
            rustix::fs::Mode::empty(),
        )
        .unwrap();
        let reading = std::thread::spawn(move || {
            let mut all = Vec::new();
            std::thread::sleep(std::time::Duration::from_millis(20));
            reader.read_to_end(&mut all).unwrap();
            all.len()
        });
        write_all(rustix::fd::AsFd::as_fd(&copy), &[b'x'; 1 << 20]).unwrap();
        drop((copy, writer));
        assert_eq!(reading.join().unwrap(), 1 << 20);
    }
}
