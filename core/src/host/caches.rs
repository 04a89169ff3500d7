//! The caches of one CPU as sysfs describes them, and the ways of the last one that resctrl lets this process fill.
//!
//! This is the reported geometry: in a virtual machine or with a partitioned cache, a program may
//! get much less. A program can fill no more of the cache than its ways, even if the reported size is larger.
//!
//! # References
//! Linux documentation, `resctrl.rst`.

use core::fmt;

use crate::cpulist::CpuSet;
use crate::topology::files::{self, field, hexadecimal};
use crate::topology::{Files, cache_index};
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

const ROOT: &str = "/sys/fs/resctrl";

/// Masks with one bit for each part of the cache, as resctrl defines them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ways {
    /// The parts that data may fill.
    pub allowed: u64,
    /// The parts that instructions may fill, if there is a separate mask for instructions.
    pub code: Option<u64>,
    /// All parts of the cache.
    pub all: u64,
}

impl Ways {
    /// Reads the masks of the third-level cache of `cpu` for the resctrl group of this process; returns `None` if
    /// resctrl is not mounted, or if its files cannot be parsed.
    pub fn read(files: &impl Files, cpu: CpuId) -> Option<Self> {
        let separate = full(files, "L3DATA");
        let all = separate.or_else(|| full(files, "L3"))?;
        let mut buffer = [0; 512];
        let groups = files.read("/proc/self/cpu_resctrl_groups", &mut buffer).unwrap_or_default();
        // The default group is `/`.
        let group = field(groups, "res").map(|group| group.strip_prefix(b"/").unwrap_or(group));
        let group = core::str::from_utf8(group.unwrap_or_default()).ok()?;
        let separator = if group.is_empty() { "" } else { "/" };
        let mut buffer = [0; 4 << 10];
        let size = buffer.len();
        let mut masks = files::read(files, format_args!("{ROOT}{separator}{group}/schemata"), &mut buffer)?;
        if masks.len() == size {
            // The last piece may be incomplete.
            masks = masks.get(..masks.iter().rposition(|byte| matches!(byte, b';' | b'\n'))?)?;
        }
        let index = cache_index(files, cpu.0, 3)?;
        let cache =
            files::number(files, format_args!("/sys/devices/system/cpu/cpu{cpu}/cache/index{index}/id"))?;
        let of = |name: &str| mask(masks, name, cache).filter(|mask| *mask > 0 && mask & !all == 0);
        let name = if separate.is_some() { "L3DATA" } else { "L3" };
        Some(Self { allowed: of(name)?, code: separate.and_then(|_| of("L3CODE")), all })
    }

    /// Returns the share of the cache that data may fill.
    pub fn share(&self) -> f64 {
        f64::from(self.allowed.count_ones()) / f64::from(self.all.count_ones())
    }

    /// Returns true if data may not fill the whole cache.
    pub const fn is_partial(&self) -> bool {
        self.allowed != self.all
    }
}

impl fmt::Display for Ways {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:#x} of {:#x}", self.allowed, self.all)?;
        match self.code {
            Some(code) => write!(out, " for data, {code:#x} for instructions"),
            None => Ok(()),
        }
    }
}

/// Returns the mask of all parts of a resource.
fn full(files: &impl Files, name: &str) -> Option<u64> {
    let mut buffer = [0; 64];
    let mask = files::read(files, format_args!("{ROOT}/info/{name}/cbm_mask"), &mut buffer)?;
    hexadecimal(mask).filter(|mask| *mask > 0)
}

/// Returns the mask of the cache numbered `cache` from a line such as `L3:0=7ff;1=fff`.
fn mask(schemata: &[u8], name: &str, cache: u64) -> Option<u64> {
    let mut lines = schemata.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_start);
    let masks = lines.find_map(|line| line.strip_prefix(name.as_bytes())?.strip_prefix(b":"))?;
    masks.split(|byte| *byte == b';').find_map(|piece| {
        let (id, mask) = piece.split_at_checked(piece.iter().position(|byte| *byte == b'=')?)?;
        hexadecimal(mask.get(1..)?).filter(|_| files::parse(id) == Some(cache))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

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

    struct Tree<'t>(&'t [(&'t str, &'t str)]);

    impl Files for Tree<'_> {
        fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
            let (_, content) = self.0.iter().find(|(name, _)| *name == path)?;
            let length = content.len().min(buffer.len());
            buffer[..length].copy_from_slice(&content.as_bytes()[..length]);
            Some(&buffer[..length])
        }
    }

    const LEVEL: (&str, &str) = ("/sys/devices/system/cpu/cpu4/cache/index3/level", "3\n");
    const ID: (&str, &str) = ("/sys/devices/system/cpu/cpu4/cache/index3/id", "1\n");
    const FULL: (&str, &str) = ("/sys/fs/resctrl/info/L3/cbm_mask", "fff\n");

    fn read(files: &[(&str, &str)]) -> Option<Ways> {
        Ways::read(&Tree(files), CpuId(4))
    }

    fn default_group(schemata: &str) -> Option<Ways> {
        read(&[LEVEL, ID, FULL, ("/sys/fs/resctrl/schemata", schemata)])
    }

    #[test]
    fn the_mask_belongs_to_the_cache_of_the_cpu() {
        let found = default_group("    MB:0=100;1=100\n    L3:0=fff;1=7ff\n").unwrap();
        assert_eq!(found, Ways { allowed: 0x7ff, code: None, all: 0xfff });
        assert!(found.is_partial());
        assert_eq!(found.to_string(), "0x7ff of 0xfff");
        assert!(!default_group("L3:0=00f;1=fff\n").unwrap().is_partial());
    }

    #[test]
    fn the_mask_is_that_of_the_group_of_this_process() {
        let files = [
            LEVEL,
            ID,
            FULL,
            ("/proc/self/cpu_resctrl_groups", "res:p1\nmon:\n"),
            ("/sys/fs/resctrl/schemata", "L3:0=fff;1=fff\n"),
            ("/sys/fs/resctrl/p1/schemata", "L3:0=fff;1=00f\n"),
        ];
        assert_eq!(read(&files).unwrap().allowed, 0xf);
        let mut root = files;
        root[3].1 = "res:/\nmon:\n";
        assert_eq!(read(&root).unwrap().allowed, 0xfff);
    }

    #[test]
    fn data_and_instructions_may_have_separate_masks() {
        let found = read(&[
            LEVEL,
            ID,
            ("/sys/fs/resctrl/info/L3DATA/cbm_mask", "fffff\n"),
            ("/sys/fs/resctrl/info/L3CODE/cbm_mask", "fffff\n"),
            ("/sys/fs/resctrl/schemata", "L3DATA:0=fffff;1=000ff\nL3CODE:0=fffff;1=00003\n"),
        ])
        .unwrap();
        assert_eq!(found, Ways { allowed: 0xff, code: Some(3), all: 0xfffff });
        assert_eq!(found.to_string(), "0xff of 0xfffff for data, 0x3 for instructions");
    }

    #[test]
    fn without_the_number_of_the_cache_no_mask_is_taken() {
        assert_eq!(read(&[FULL, ("/sys/fs/resctrl/schemata", "L3:0=7ff;1=7ff\n")]), None);
    }

    #[test]
    fn files_that_cannot_be_parsed_give_no_masks() {
        assert_eq!(read(&[]), None);
        assert_eq!(read(&[LEVEL, ID, FULL]), None);
        let huge: String = (0..4000).map(|id| std::format!("{id}=fff;")).collect();
        let huge = std::format!("L3:7000=f;{huge}");
        assert_eq!(default_group(&huge).map(|ways| ways.allowed), Some(0xfff));
        let endless = "f".repeat(100_000);
        for masks in [
            "",
            "\n",
            "L3",
            "L3:",
            "L3:\n",
            "L3:1\n",
            "L3:1=\n",
            "L3:1=xyz\n",
            "L3:=fff\n",
            "L3:1=0\n",
            "L3:2=fff\n",
            "L3:1=1000\n",
            "L3:1=-1\n",
            "L3:1=ffffffffffffffffff\n",
            "L2:1=fff\n",
            &endless,
            "\0\0;;==",
        ] {
            assert_eq!(default_group(masks), None, "{masks:.40}");
        }
        for full in ["", "0\n", "full", &endless] {
            let files = [
                LEVEL,
                ID,
                ("/sys/fs/resctrl/info/L3/cbm_mask", full),
                ("/sys/fs/resctrl/schemata", "L3:1=f\n"),
            ];
            assert_eq!(read(&files), None, "{full:.40}");
        }
        let group = std::format!("res:{endless}\n");
        let schemata = ("/sys/fs/resctrl/schemata", "L3:1=f\n");
        assert_eq!(read(&[LEVEL, ID, FULL, ("/proc/self/cpu_resctrl_groups", &group), schemata]), None);
    }
}
