//! The caches of one CPU as sysfs describes them.
//!
//! This is the reported geometry: in a virtual machine or with a partitioned cache, a program may
//! get much less.

use crate::cpulist::CpuSet;
use crate::topology::{Files, files};
use crate::units::{Bytes, CpuId, LineSize};
use crate::worded;
use crate::words::Worded;

/// Maximum number of caches of one CPU: two of the first level, one for each further level, and
/// some to spare.
const MAX_CACHES: usize = 8;

/// The caches of one CPU in the kernel's order: nearest first.
#[derive(Clone, Copy, Debug, Default)]
pub struct Caches {
    length: usize,
    caches: [Cache; MAX_CACHES],
    /// Level and size of the first reported cache that was left out because its size is not plausible.
    pub implausible: Option<(u32, Bytes)>,
}

/// One cache.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cache {
    /// The level, 1 for the nearest to the core.
    pub level: u32,
    /// The content of the cache.
    pub kind: CacheKind,
    /// The capacity.
    pub size: Bytes,
    /// The number of lines in a set; 0 if unknown.
    pub ways: u32,
    /// The size of a line; 0 if unknown.
    pub line: Bytes,
    /// The CPUs that share the cache.
    pub shared_by: CpuSet,
}

worded! {
    /// The content of a cache.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum CacheKind {
        /// Data and instructions.
        #[default]
        Unified = "Unified",
        /// Data only.
        Data = "Data",
        /// Instructions only.
        Instruction = "Instruction",
    }
}

impl Caches {
    /// Reads the caches of `cpu`, and replaces the previous content.
    pub fn read(&mut self, files: &impl Files, cpu: CpuId) {
        (self.length, self.implausible) = (0, None);
        // A cache that cannot be parsed is skipped; the caches after it are still read.
        for index in 0..MAX_CACHES {
            let Some(cache) = Cache::read(files, cpu, index) else { continue };
            if !plausible(cache.level, cache.size) {
                self.implausible = self.implausible.or(Some((cache.level, cache.size)));
                continue;
            }
            if let Some(place) = self.caches.get_mut(self.length) {
                *place = cache;
                self.length += 1;
            }
        }
    }

    /// Returns the caches, nearest first.
    pub fn as_slice(&self) -> &[Cache] {
        self.caches.get(..self.length).unwrap_or_default()
    }

    /// Returns the cache of this level that holds data.
    pub fn data(&self, level: u32) -> Option<&Cache> {
        self.as_slice().iter().find(|cache| cache.level == level && cache.kind.holds_data())
    }

    /// Returns the size of the longest line of the caches that hold data, which is the unit of transfers between
    /// caches; `shortest` if no longer one is reported.
    pub fn line(&self, shortest: LineSize) -> LineSize {
        let caches = self.as_slice().iter().filter(|cache| cache.kind.holds_data());
        caches.filter_map(|cache| LineSize::of(cache.line)).fold(shortest, LineSize::max)
    }

    /// Returns the cache of the highest level that holds data.
    pub fn last_level(&self) -> Option<&Cache> {
        self.as_slice().iter().filter(|cache| cache.kind.holds_data()).max_by_key(|cache| cache.level)
    }
}

/// Returns true if `size` is plausible for a cache of this level.
///
/// First-level caches of this century have 8 KiB to 192 KiB, second-level caches 64 KiB to 64 MiB; the largest
/// last-level cache that one core can use has 1.1 GiB.
pub const fn plausible(level: u32, size: Bytes) -> bool {
    let (least, most) = match level {
        0 | 1 => (Bytes::KIB.times(4), Bytes::MIB.times(4)),
        _ => (Bytes::KIB.times(32), Bytes::GIB.times(4)),
    };
    size.0 >= least.0 && size.0 <= most.0
}

impl CacheKind {
    /// Returns true if loads of data go through a cache of this kind.
    pub const fn holds_data(self) -> bool {
        !matches!(self, Self::Instruction)
    }
}

impl Cache {
    /// Reads one cache; returns `None` if its level, kind or size is missing.
    fn read(files: &impl Files, cpu: CpuId, index: usize) -> Option<Self> {
        let of = format_args!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}");
        let word = |name| files::text::<32>(files, format_args!("{of}/{name}"));
        Some(Self {
            level: files::number(files, format_args!("{of}/level"))?,
            kind: CacheKind::from_word(word("type").as_str().as_bytes())?,
            size: size(word("size").as_str().as_bytes())?,
            ways: files::number(files, format_args!("{of}/ways_of_associativity")).unwrap_or_default(),
            line: Bytes(files::number(files, format_args!("{of}/coherency_line_size")).unwrap_or_default()),
            shared_by: files::set(files, format_args!("{of}/shared_cpu_list")).unwrap_or_default(),
        })
    }
}

/// Returns the size of a cache. The kernel writes every size in kibibytes, as in `32K`.
fn size(text: &[u8]) -> Option<Bytes> {
    let text = text.trim_ascii();
    let (digits, unit) = match text.split_last()? {
        (b'K', digits) => (digits, Bytes::KIB),
        (b'M', digits) => (digits, Bytes::MIB),
        _ => (text, Bytes(1)),
    };
    let count = match digits.iter().all(u8::is_ascii_digit) && !digits.is_empty() {
        true => files::parse(digits).unwrap_or(u64::MAX),
        false => return None,
    };
    Some(unit.times(count)).filter(|size| *size > Bytes(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_the_units_of_the_kernel() {
        for (text, expected) in [
            (&b"32K\n"[..], Some(Bytes(32 << 10))),
            (b"32768K\n", Some(Bytes(32 << 20))),
            (b"2M", Some(Bytes(2 << 20))),
            (b"512", Some(Bytes(512))),
            (b"18446744073709551616", Some(Bytes(u64::MAX))),
            (b"0K", None),
            (b"K", None),
            (b"", None),
        ] {
            assert_eq!(size(text), expected);
        }
    }

    #[test]
    fn impossible_sizes_are_recognised() {
        for (level, size) in [(1, 8 << 10), (1, 192 << 10), (2, 256 << 10), (3, 2 << 20), (3, 1152 << 20)] {
            assert!(plausible(level, Bytes(size)), "L{level} {size}");
        }
        for (level, size) in [(1, 4), (1, 1 << 30), (2, 1 << 10), (3, 1 << 10), (3, 16 << 40), (3, u64::MAX)]
        {
            assert!(!plausible(level, Bytes(size)), "L{level} {size}");
        }
    }
}
