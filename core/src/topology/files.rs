//! The only access to the files of a system, and the parsers of their fields.
//!
//! The parsers ask for paths and do not know whether a kernel or a test's fixture
//! answers. A fact that cannot be read or parsed is absent: it
//! is reported as unknown, and never stops a measurement.

use core::fmt;

use crate::cpulist::IdSet;
use crate::text::Text;
use crate::units::Bytes;

/// A tree of small text files, addressed by absolute path.
pub trait Files {
    /// Returns the content of the file at `path` (such as `/sys/devices/system/node/online`),
    /// read into `buffer` and cut off where that is full; `None` where the file is
    /// absent or cannot be read.
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]>;
}

/// A path of `/sys` or `/proc`: the longest one in use has some 90 characters.
pub(crate) type Path = Text<128>;

/// Formats a path. A path that does not fit becomes empty, which names no file.
pub(crate) fn path(parts: fmt::Arguments<'_>) -> Path {
    let mut path = Path::EMPTY;
    match fmt::write(&mut path, parts) {
        Ok(()) => path,
        Err(fmt::Error) => Path::EMPTY,
    }
}

/// Returns the whole file as one number, white space around it left out.
pub(crate) fn number<T: TryFrom<u64>>(files: &impl Files, path: &str) -> Option<T> {
    parse(files.read(path, &mut [0; 64])?)
}

/// Returns the whole file as one number that may be negative.
pub(crate) fn signed_number(files: &impl Files, path: &str) -> Option<i32> {
    signed(files.read(path, &mut [0; 64])?)
}

/// Returns the whole file as one short text; empty where there is none.
pub(crate) fn text<const N: usize>(files: &impl Files, path: &str) -> Text<N> {
    files.read(path, &mut [0; 256]).map_or(Text::EMPTY, Text::from_bytes)
}

/// Returns the whole file as a switch: `1`, `Y` or `true` against `0`, `N` or `false`.
pub(crate) fn switch(files: &impl Files, path: &str) -> Option<bool> {
    match files.read(path, &mut [0; 16])?.trim_ascii() {
        b"1" | b"Y" | b"true" => Some(true),
        b"0" | b"N" | b"false" => Some(false),
        _ => None,
    }
}

/// Returns the whole file as a list of numbers.
///
/// Some 1600 ranges fit the buffer. The last piece of a longer list may be cut
/// in two, and is left out.
pub(crate) fn set<const WORDS: usize>(files: &impl Files, path: &str) -> Option<IdSet<WORDS>> {
    let mut buffer = [0; 16 << 10];
    let size = buffer.len();
    let mut list = files.read(path, &mut buffer)?;
    if list.len() == size {
        list = list.get(..list.iter().rposition(|byte| *byte == b',')?)?;
    }
    IdSet::parse_kernel(list).ok()
}

/// Returns a number in `bytes`, white space around it left out.
pub(crate) fn parse<T: TryFrom<u64>>(bytes: &[u8]) -> Option<T> {
    T::try_from(integer(bytes.trim_ascii())?).ok()
}

fn signed(bytes: &[u8]) -> Option<i32> {
    match bytes.trim_ascii() {
        [b'-', digits @ ..] => Some(-i32::try_from(integer(digits)?).ok()?),
        digits => parse(digits),
    }
}

/// Returns the number that digits give. It is not generic, since dozens of facts are read with it.
fn integer(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0_u64, |number, byte| {
        let digit = Some(byte.wrapping_sub(b'0')).filter(|digit| *digit < 10)?;
        number.checked_mul(10)?.checked_add(digit.into())
    })
}

/// Returns the text after `name` and a colon at the start of a line, without white space
/// around it: the form of `/proc/self/status`, `/proc/meminfo`, `/proc/cpuinfo`.
pub(crate) fn field<'a>(content: &'a [u8], name: &str) -> Option<&'a [u8]> {
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

/// Returns [`number_after`] as an amount of memory in the kernel's `kB`, which are 1024 bytes.
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
        assert_eq!(signed(b"-1\n"), Some(-1));
        assert_eq!(signed(b"2\n"), Some(2));
        assert_eq!(signed(b"-99999999999"), None);
        assert_eq!(parse::<u32>(b"-1\n"), None);
        assert_eq!(parse::<u32>(b"4294967296"), None);
        for text in [&b""[..], b"-", b"--1", b"1 2", b"0x1", b"max", b"99999999999999999999"] {
            assert_eq!(parse::<u64>(text), None);
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
        let found: crate::cpulist::CpuSet = set(&One(list), "").unwrap();
        let last = found.last().unwrap();
        assert!(last.is_multiple_of(2) && last > 6000 && found.len() as u32 == last / 2 + 1, "{last}");
    }

    #[test]
    fn switches_are_read_in_all_spellings_of_the_kernel() {
        for (content, expected) in
            [("true\n", Some(true)), ("0\n", Some(false)), ("Y", Some(true)), ("2", None), ("", None)]
        {
            assert_eq!(switch(&One(String::from(content)), ""), expected);
        }
    }
}
