//! The processor's description of itself.
//!
//! The module makes no system calls. The reported values may differ from measured ones, above all under a hypervisor,
//! so reports show both. A hypervisor can hide an extension of the instruction set, but it cannot add one: extensions
//! tell generations of cores apart.

#[cfg(any(target_arch = "aarch64", test, feature = "tests"))]
pub mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

use latency_core::topology::{Files, files};
use latency_core::{Bytes, CpuSet, Hertz, Text, with_constant, worded};

#[cfg(target_arch = "aarch64")]
pub use aarch64::identify;
#[cfg(target_arch = "x86_64")]
pub use x86_64::identify;

/// A data or unified cache as the processor describes it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CacheClaim {
    /// The level: 1 is next to the core.
    pub level: u8,
    /// The capacity.
    pub size: Bytes,
    /// The associativity.
    pub ways: u32,
}

/// The kind of a core, if a processor has several kinds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CoreKind {
    /// A large core.
    Performance,
    /// A small core.
    Efficiency,
}

impl CoreKind {
    /// Returns the kind of a small core, or of a large one.
    pub const fn of(is_small: bool) -> CoreKind {
        if is_small { CoreKind::Efficiency } else { CoreKind::Performance }
    }

    /// Returns the word that reports use.
    pub const fn name(self) -> &'static str {
        match self {
            CoreKind::Performance => "performance core",
            CoreKind::Efficiency => "efficiency core",
        }
    }
}

/// Share of the largest capacity below which a core is an efficiency core.
const EFFICIENT: f64 = 0.75;

/// Returns the CPUs that are efficiency cores; `None` if the kernel does not report several kinds of cores. The kernel
/// lists the CPUs of each kind of an Intel processor, and reports the capacity of each CPU where these differ.
pub fn small_cores(files: &impl Files, online: &CpuSet) -> Option<CpuSet> {
    let of_kind = |kind| files::set(files, format_args!("/sys/devices/{kind}/cpus"));
    if let (Some(_), Some(small)) = (of_kind("cpu_core"), of_kind("cpu_atom")) {
        let lowest: CpuSet = of_kind("cpu_lowpower").unwrap_or_default();
        return Some(small.union(&lowest));
    }
    let capacity = |cpu: u32| -> Option<u32> {
        files::number(files, format_args!("/sys/devices/system/cpu/cpu{cpu}/cpu_capacity"))
    };
    // Kernels that do not report it for the first CPU report it for none.
    capacity(online.first()?)?;
    let all = || online.iter().filter_map(capacity);
    let most = all().max()?;
    let is_small = |cpu: &u32| capacity(*cpu).is_some_and(|own| f64::from(own) < EFFICIENT * f64::from(most));
    (all().min() < Some(most)).then(|| online.iter().filter(is_small).collect())
}

worded! {
    /// The kind of machine that executes the program.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum Platform {
        /// A real machine, as far as can be seen: it reports no hypervisor.
        Hardware = "hardware",
        /// A hypervisor that executes the instructions on a real processor.
        Virtual = "virtual machine",
        /// QEMU's translator: the timing is that of an emulation.
        Emulated = "emulated",
    }
}

with_constant! {
    /// The description of a processor, as read on one of its CPUs.
    #[derive(Clone, Copy, Debug)]
    pub struct Processor {
        /// The name of the maker, such as `GenuineIntel`.
        pub vendor: Text<16> = Text::EMPTY,
        /// The name of the processor or of the core.
        pub brand: Text<64> = Text::EMPTY,
        /// Family, model and stepping; or implementer, part and revision.
        pub signature: (u16, u16, u16) = (0, 0, 0),
        /// Hardware, virtual machine or emulator.
        pub platform: Platform = Platform::Hardware,
        /// The hypervisor's name; empty if there is none.
        pub hypervisor: Text<16> = Text::EMPTY,
        /// The encryption of memory: what a guest is told by its processor, or what the kernel says of hardware. Empty if
        /// none is known; firmware can encrypt without telling.
        pub encryption: Text<32> = Text::EMPTY,
        /// True if the counter runs at one rate in all power states.
        pub invariant_counter: bool = false,
        /// The counter's frequency, if the processor or the hypervisor declares one.
        pub declared_counter: Option<Hertz> = None,
        /// True if the fence of a stamp is documented to wait for earlier instructions.
        pub fence_promised: bool = false,
        /// True if a data-dependent prefetcher can be switched off, and therefore exists.
        pub data_dependent_prefetcher: bool = false,
        /// Extensions that tell generations of cores apart.
        pub extensions: Extensions = Extensions(0),
        /// Bytes of the widest vectors whose loads may be executed.
        pub vector_bytes: u32 = 16,
        /// The kind of this core, if the processor has several kinds.
        pub core: Option<CoreKind> = None,
        /// The data or unified cache of each level, from level 1 on.
        pub caches: [Option<CacheClaim>; 4] = [None; 4],
    }
    /// The description before the processor is identified.
    pub const UNKNOWN;
}

impl Processor {
    /// Returns the described cache of the highest level.
    pub fn last_level_cache(&self) -> Option<CacheClaim> {
        self.caches.iter().flatten().max_by_key(|cache| cache.level).copied()
    }
}

/// A set of extensions, one bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Extensions(pub u8);

/// The names of the extensions, in the order of their bits.
const NAMES: [&str; 8] = ["AVX2", "CLFLUSHOPT", "VAES", "AVX-512", "AVX-VNNI", "AMX", "AMX-FP16", "AVX10"];

impl Extensions {
    /// Wide integer vectors.
    pub const WIDE: Extensions = Extensions(1);
    /// Flushes of lines that are not in order.
    pub const FLUSH: Extensions = Extensions(1 << 1);
    /// Encryption with vectors.
    pub const ENCRYPTION: Extensions = Extensions(1 << 2);
    /// Vectors of 64 bytes.
    pub const VECTORS_OF_64: Extensions = Extensions(1 << 3);
    /// Dot products with vectors of 32 bytes.
    pub const DOT_PRODUCTS: Extensions = Extensions(1 << 4);
    /// Tiles for matrices.
    pub const TILES: Extensions = Extensions(1 << 5);
    /// Tiles with numbers of 16 bits.
    pub const HALF_TILES: Extensions = Extensions(1 << 6);
    /// The numbered versions of vector extensions.
    pub const NUMBERED: Extensions = Extensions(1 << 7);

    /// Returns the extensions that are in either set.
    pub const fn union(self, other: Extensions) -> Extensions {
        Extensions(self.0 | other.0)
    }

    /// Returns the set if `applies` is true, or else the empty one.
    pub const fn when(self, applies: bool) -> Extensions {
        if applies { self } else { Extensions(0) }
    }

    /// Returns the extensions that the other set lacks.
    pub const fn without(self, other: Extensions) -> Extensions {
        Extensions(self.0 & !other.0)
    }

    /// Returns the names of the extensions.
    pub fn names(self) -> impl Iterator<Item = &'static str> + Clone {
        NAMES.iter().enumerate().filter(move |(bit, _)| self.0 >> bit & 1 == 1).map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::CpuId;
    use latency_core::topology::Files;
    use latency_sys::SystemFiles;

    /// A few files, by their paths.
    #[derive(Debug)]
    pub struct Tree<'t>(pub &'t [(&'t str, &'t str)]);

    impl Files for Tree<'_> {
        fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
            let (_, content) = self.0.iter().find(|(name, _)| *name == path)?;
            let length = content.len().min(buffer.len());
            buffer[..length].copy_from_slice(&content.as_bytes()[..length]);
            Some(&buffer[..length])
        }
    }

    #[test]
    fn the_processor_under_the_test_describes_itself_without_contradiction() {
        let processor = identify(&SystemFiles, CpuId(0));
        assert!(!processor.vendor.is_empty());
        for (index, cache) in processor.caches.iter().enumerate() {
            if let Some(cache) = cache {
                assert_eq!(usize::from(cache.level), index + 1);
                assert!(cache.size >= Bytes(4096) && cache.ways > 0, "{cache:?}");
            }
        }
        assert_eq!(processor.platform == Platform::Hardware, processor.hypervisor.is_empty());
    }
}
