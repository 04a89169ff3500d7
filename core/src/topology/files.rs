//! The interface to the files of a system, and the parsers of their fields.
//!
//! The parsers read paths through [`Files`], so the content may come from a kernel or from a test's
//! fixture. A fact that cannot be read or parsed is absent: it is reported as unknown, and never
//! stops a measurement.

use core::fmt;
use core::str::{self, FromStr};

use crate::cpulist::IdSet;
use crate::text::Text;
use crate::units::Bytes;

/// A tree of small text files, addressed by absolute path.
pub trait Files {
    /// Returns the content of the file at `path` (such as `/sys/devices/system/node/online`), read
    /// into `buffer` and truncated to its size; `None` if the file is absent or cannot be read.
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]>;
}

/// Maximum length of a path, which is needed for files of control groups; paths in `/sys` have some 90 characters.
pub(crate) const LONGEST_PATH: usize = 1024;

/// Reads the file at a formatted path; returns `None` also if the path is too long.
pub(crate) fn read<'b>(
    files: &impl Files,
    path: fmt::Arguments<'_>,
    buffer: &'b mut [u8],
) -> Option<&'b [u8]> {
    let mut text = Text::<LONGEST_PATH>::EMPTY;
    fmt::write(&mut text, path).ok()?;
    files.read(text.as_str(), buffer)
}

/// Parses the whole file as one number, with optional white space around it.
pub fn number<T: FromStr>(files: &impl Files, path: fmt::Arguments<'_>) -> Option<T> {
    parse(read(files, path, &mut [0; 64])?)
}

/// Returns the whole file as one short text; an empty text if there is no file.
pub fn text<const N: usize>(files: &impl Files, path: fmt::Arguments<'_>) -> Text<N> {
    read(files, path, &mut [0; 256]).map_or(Text::EMPTY, Text::from_bytes)
}

/// Parses the whole file as a list of numbers.
///
/// Some 1600 ranges fit in the buffer. The last range of a longer list may be incomplete, and is
/// left out.
pub fn set<const WORDS: usize>(files: &impl Files, path: fmt::Arguments<'_>) -> Option<IdSet<WORDS>> {
    let mut buffer = [0; 16 << 10];
    let size = buffer.len();
    let mut list = read(files, path, &mut buffer)?;
    if list.len() == size {
        list = list.get(..list.iter().rposition(|byte| *byte == b',')?)?;
    }
    IdSet::parse_kernel(list).ok()
}

/// Parses a number, with optional white space around it.
pub fn parse<T: FromStr>(bytes: &[u8]) -> Option<T> {
    str::from_utf8(bytes.trim_ascii()).ok()?.parse().ok()
}

/// Parses an unsigned hexadecimal number, with optional white space around it.
pub fn hexadecimal(bytes: &[u8]) -> Option<u64> {
    u64::from_str_radix(str::from_utf8(bytes.trim_ascii()).ok()?, 16).ok()
}

/// Returns the text after `name` and a colon at the start of a line, without white space
/// around it: the form of `/proc/self/status`, `/proc/meminfo`, `/proc/cpuinfo`.
pub fn field<'a>(content: &'a [u8], name: &str) -> Option<&'a [u8]> {
    lines(content).find_map(|line| {
        let value = line.strip_prefix(name.as_bytes())?.trim_ascii_start();
        Some(value.strip_prefix(b":")?.trim_ascii())
    })
}

/// Returns the number after the word `name` anywhere on a line: the form of
/// `nodeN/meminfo` (`Node 0 MemTotal: 5728460 kB`) and of `memory.stat`.
pub(crate) fn number_after(content: &[u8], name: &str) -> Option<u64> {
    lines(content).find_map(|line| {
        let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
        words.find(|word| *word == name.as_bytes())?;
        parse(words.next()?)
    })
}

/// Returns [`number_after`] as an amount of memory; the kernel's `kB` are 1024 bytes.
pub(crate) fn kilobytes_after(content: &[u8], name: &str) -> Option<Bytes> {
    number_after(content, name).map(|count| Bytes::KIB.times(count))
}

fn lines(content: &[u8]) -> impl Iterator<Item = &[u8]> {
    content.split(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    struct One(String);

    impl Files for One {
        fn read<'b>(&self, _: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
            let length = self.0.len().min(buffer.len());
            buffer[..length].copy_from_slice(&self.0.as_bytes()[..length]);
            Some(&buffer[..length])
        }
    }

    #[test]
    fn fields_are_found_by_their_whole_name() {
        let status = b"Cpus_allowed:\t3\nCpus_allowed_list:\t0-1\nSeccomp:\t2\nSeccomp_filters:\t1\n";
        assert_eq!(field(status, "Cpus_allowed_list"), Some(&b"0-1"[..]));
        assert_eq!(field(status, "Seccomp"), Some(&b"2"[..]));
        assert_eq!(field(status, "Cpus"), None);
        assert_eq!(field(b"model name\t: AMD EPYC\n", "model name"), Some(&b"AMD EPYC"[..]));
    }

    #[test]
    fn numbers_fit_their_type_or_are_unknown() {
        assert_eq!(parse::<u64>(b" 9223372036854771712\n"), Some(9_223_372_036_854_771_712));
        assert_eq!(parse::<i32>(b"-1\n"), Some(-1));
        assert_eq!(parse::<i32>(b"2\n"), Some(2));
        assert_eq!(parse::<i32>(b"-99999999999"), None);
        assert_eq!(parse::<u32>(b"-1\n"), None);
        assert_eq!(parse::<u32>(b"4294967296"), None);
        for text in [&b""[..], b"-", b"--1", b"1 2", b"0x1", b"max", b"99999999999999999999"] {
            assert_eq!(parse::<u64>(text), None);
        }
        assert_eq!(parse::<u64>(&[b'9'; 60]), None);
        assert_eq!(hexadecimal(b"00fFffffffffffffff\n"), Some(u64::MAX));
        for text in [&b""[..], b"-1", b"0x1", b"g", b"10000000000000000"] {
            assert_eq!(hexadecimal(text), None);
        }
    }

    #[test]
    fn amounts_are_found_after_their_word() {
        let meminfo = b"Node 0 MemTotal:        5728460 kB\nNode 0 MemFree:  12 kB\n";
        assert_eq!(kilobytes_after(meminfo, "MemFree:"), Some(Bytes(12 << 10)));
        assert_eq!(kilobytes_after(meminfo, "MemUsed:"), None);
        assert_eq!(number_after(b"inactive_file x\n", "inactive_file"), None);
        let huge = b"Node 0 MemTotal: 18446744073709551615 kB";
        assert_eq!(kilobytes_after(huge, "MemTotal:"), Some(Bytes(u64::MAX)));
    }

    #[test]
    fn a_list_that_was_cut_off_loses_only_its_last_piece() {
        let mut list: String = (0..4000).map(|id| std::format!("{},", id * 2)).collect();
        list.push_str("8190");
        let found: crate::cpulist::CpuSet = set(&One(list), format_args!("")).unwrap();
        let last = found.last().unwrap();
        assert!(last.is_multiple_of(2) && last > 6000 && found.len() as u32 == last / 2 + 1, "{last}");
    }
}
