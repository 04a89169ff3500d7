//! The description of an x86-64 processor, from CPUID.

use core::fmt::Write;

use latency_core::host::plausible;
use latency_core::topology::{Files, files};
use latency_core::{Bytes, CpuId, Hertz, Text};
use raw_cpuid::{CacheType, CpuIdReaderNative, Hypervisor};

use super::{CacheClaim, CoreKind, Extensions, Platform, Processor};

/// Reads the description of the processor on which the caller runs, which has to be `cpu`; only the encryption of
/// hardware is read from a file.
pub fn identify(files: &impl Files, _: CpuId) -> Processor {
    let cpuid = raw_cpuid::CpuId::new();
    let vendor = cpuid.get_vendor_info();
    let vendor = Text::from_bytes(vendor.as_ref().map_or("", |vendor| vendor.as_str()).as_bytes());
    let brand = cpuid.get_processor_brand_string();
    let brand = Text::from_bytes(brand.as_ref().map_or("", |brand| brand.as_str()).as_bytes());
    let features = cpuid.get_feature_info();
    let signature = features.as_ref().map_or((0, 0, 0), |info| {
        (info.family_id().into(), info.model_id().into(), info.stepping_id().into())
    });
    let (platform, hypervisor) = hypervisor(&cpuid);
    Processor {
        vendor,
        brand,
        signature,
        platform,
        hypervisor,
        encryption: encryption(files, platform),
        // CPUID 8000_0007h EDX[8].
        invariant_counter: cpuid.get_advanced_power_mgmt_info().is_some_and(|info| info.has_invariant_tsc()),
        declared_counter: declared_counter(&cpuid),
        fence_promised: vendor.as_str() == "GenuineIntel" || amd_fence_promised(),
        data_dependent_prefetcher: data_dependent_prefetcher(&cpuid),
        extensions: extensions(&cpuid),
        vector_bytes: latency_core::arch::vector_bytes(),
        core: core_kind(&cpuid),
        caches: caches(&cpuid),
    }
}

/// Returns the first part of a leaf, if the processor or the hypervisor has it.
fn leaf(number: u32) -> Option<raw_cpuid::CpuIdResult> {
    (raw_cpuid::cpuid!(number & 0xf000_0000).eax >= number).then(|| raw_cpuid::cpuid!(number, 0u32))
}

/// Returns the kind of core from leaf 1Ah of an Intel hybrid (EAX\[31:24\]: 20h Atom, 40h Core).
const fn of_intel(eax: u32) -> Option<CoreKind> {
    match eax >> 24 {
        0x20 => Some(CoreKind::Efficiency),
        0x40 => Some(CoreKind::Performance),
        _ => None,
    }
}

/// Returns the kind of core from leaf 8000_0026h of AMD: EAX\[30\] is set if cores differ, EBX\[31:28\] is the kind of
/// this core.
const fn of_amd(eax: u32, ebx: u32) -> Option<CoreKind> {
    match (eax >> 30 & 1, ebx >> 28) {
        (1, 0) => Some(CoreKind::Performance),
        (1, 1) => Some(CoreKind::Efficiency),
        _ => None,
    }
}

fn hypervisor(cpuid: &raw_cpuid::CpuId<CpuIdReaderNative>) -> (Platform, Text<16>) {
    let Some(hypervisor) = cpuid.get_hypervisor_info() else {
        // The hypervisor's feature bit without its leaf still means that there is a hypervisor.
        let hidden = cpuid.get_feature_info().is_some_and(|info| info.has_hypervisor());
        return if hidden {
            (Platform::Virtual, Text::from_bytes(b"unknown"))
        } else {
            (Platform::Hardware, Text::EMPTY)
        };
    };
    let (platform, known) = match hypervisor.identify() {
        Hypervisor::QEMU => (Platform::Emulated, "QEMU TCG"),
        Hypervisor::KVM => (Platform::Virtual, "KVM"),
        Hypervisor::Xen => (Platform::Virtual, "Xen"),
        Hypervisor::VMware => (Platform::Virtual, "VMware"),
        Hypervisor::HyperV => (Platform::Virtual, "Hyper-V"),
        Hypervisor::Bhyve => (Platform::Virtual, "bhyve"),
        Hypervisor::QNX => (Platform::Virtual, "QNX"),
        Hypervisor::ACRN => (Platform::Virtual, "ACRN"),
        Hypervisor::Unknown(..) => (Platform::Virtual, "unknown"),
    };
    (platform, Text::from_bytes(known.as_bytes()))
}

/// Returns the encryption of memory.
///
/// CPUID tells it to guests: 8000_001Fh EAX\[1\] (SEV), \[3\] (SEV-ES) and \[4\] (SEV-SNP), which hypervisors set for
/// encrypted guests, and 21h, whose signature is that of TDX. On hardware CPUID tells what is possible, and the kernel
/// clears its flags of what firmware has not enabled.
///
/// # References
/// Linux `Documentation/arch/x86/amd-memory-encryption.rst`, `Documentation/arch/x86/tdx.rst`; Intel TDX Module Base
/// Architecture Specification, "Guest TD Run Time Environment Enumeration".
fn encryption(files: &impl Files, platform: Platform) -> Text<32> {
    const AMD: u32 = 0x8000_001f;
    const TDX: u32 = 0x21;
    match platform {
        Platform::Emulated => Text::EMPTY,
        Platform::Virtual => {
            let bits = leaf(AMD).map_or(0, |leaf| leaf.eax);
            let signature = leaf(TDX).map(|leaf| [leaf.ebx, leaf.edx, leaf.ecx]);
            Text::from_bytes(of_guest(bits, signature).as_bytes())
        }
        Platform::Hardware => {
            let mut buffer = [0; 8 << 10];
            of_flags(files.read("/proc/cpuinfo", &mut buffer).unwrap_or_default())
        }
    }
}

/// Returns the encryption of a guest from EAX of 8000_001Fh and the signature in 21h.
fn of_guest(bits: u32, signature: Option<[u32; 3]>) -> &'static str {
    const IS_TDX: [u32; 3] =
        [u32::from_le_bytes(*b"Inte"), u32::from_le_bytes(*b"lTDX"), u32::from_le_bytes(*b"    ")];
    match () {
        () if signature == Some(IS_TDX) => "TDX",
        () if bits & 1 << 4 != 0 => "SEV-SNP",
        () if bits & 1 << 3 != 0 => "SEV-ES",
        () if bits & 1 << 1 != 0 => "SEV",
        () => "",
    }
}

/// Returns the encryption of hardware from the flags in /proc/cpuinfo. `sev_snp` and `tdx_host_platform` are there if
/// encrypted guests are possible; then the processor checks the owner of memory at accesses of the host, too.
fn of_flags(cpuinfo: &[u8]) -> Text<32> {
    const FLAGS: [(&str, &str); 4] =
        [("sme", "SME"), ("tme", "TME"), ("sev_snp", "SEV-SNP"), ("tdx_host_platform", "TDX")];
    let flags = files::field(cpuinfo, "flags").unwrap_or_default();
    let mut found = Text::EMPTY;
    for (flag, name) in FLAGS {
        if flags.split(|byte| *byte == b' ').any(|known| known == flag.as_bytes()) {
            // All names together are shorter than the text.
            let _ = found.write_str(if found.is_empty() { "" } else { ", " });
            let _ = found.write_str(name);
        }
    }
    found
}

/// Returns the frequency of the counter from CPUID 15h if that gives the crystal, or else from the hypervisor (leaf
/// 4000_0010h, kHz).
fn declared_counter(cpuid: &raw_cpuid::CpuId<CpuIdReaderNative>) -> Option<Hertz> {
    if let Some(hertz) = cpuid.get_tsc_info().and_then(|info| info.tsc_frequency()) {
        return Some(Hertz(hertz));
    }
    const TIMING_LEAF: u32 = 0x4000_0010;
    cpuid.get_hypervisor_info()?;
    let kilohertz = leaf(TIMING_LEAF)?.eax;
    (kilohertz > 0).then(|| Hertz(u64::from(kilohertz) * 1000))
}

/// Returns true if LFENCE is documented to wait on AMD: leaf 8000_0021h EAX\[2\].
fn amd_fence_promised() -> bool {
    const LEAF: u32 = 0x8000_0021;
    leaf(LEAF).is_some_and(|leaf| leaf.eax & (1 << 2) != 0)
}

/// Returns the kind of this core. Leaf 7 EDX\[15\] is set if an Intel processor is a hybrid.
fn core_kind(cpuid: &raw_cpuid::CpuId<CpuIdReaderNative>) -> Option<CoreKind> {
    const INTEL: u32 = 0x1a;
    const AMD: u32 = 0x8000_0026;
    let is_hybrid =
        cpuid.get_extended_feature_info().is_some() && raw_cpuid::cpuid!(7u32, 0u32).edx & (1 << 15) != 0;
    match leaf(INTEL).filter(|_| is_hybrid) {
        Some(leaf) => of_intel(leaf.eax),
        None => leaf(AMD).and_then(|leaf| of_amd(leaf.eax, leaf.ebx)),
    }
}

/// Returns true if a data-dependent prefetcher can be switched off, from leaf 7.2 EDX\[3\] (DDPD_U).
fn data_dependent_prefetcher(cpuid: &raw_cpuid::CpuId<CpuIdReaderNative>) -> bool {
    cpuid.get_extended_feature_info().is_some()
        && raw_cpuid::cpuid!(7u32, 0u32).eax >= 2
        && raw_cpuid::cpuid!(7u32, 2u32).edx & (1 << 3) != 0
}

/// Returns the extensions, from leaf 7.0 EBX\[5\] (AVX2), \[16\] (AVX-512F), \[23\] (CLFLUSHOPT), ECX\[9\] (VAES),
/// EDX\[24\] (AMX-TILE), and leaf 7.1 EAX\[4\] (AVX-VNNI), \[21\] (AMX-FP16), EDX\[19\] (AVX10).
fn extensions(cpuid: &raw_cpuid::CpuId<CpuIdReaderNative>) -> Extensions {
    if cpuid.get_extended_feature_info().is_none() {
        return Extensions(0);
    }
    let first = raw_cpuid::cpuid!(7u32, 0u32);
    // A subleaf that does not exist may have the content of another.
    let second = (first.eax > 0).then(|| raw_cpuid::cpuid!(7u32, 1u32));
    let (more, numbered) = second.map_or((0, 0), |second| (second.eax, second.edx));
    [
        (first.ebx, 5, Extensions::WIDE),
        (first.ebx, 23, Extensions::FLUSH),
        (first.ecx, 9, Extensions::ENCRYPTION),
        (first.ebx, 16, Extensions::VECTORS_OF_64),
        (more, 4, Extensions::DOT_PRODUCTS),
        (first.edx, 24, Extensions::TILES),
        (more, 21, Extensions::HALF_TILES),
        (numbered, 19, Extensions::NUMBERED),
    ]
    .into_iter()
    .fold(Extensions(0), |all, (register, bit, one)| all.union(one.when(register >> bit & 1 == 1)))
}

/// Returns the caches from leaf 4, or from 8000_001Dh on AMD. The iterator stops at a type of zero, which is the first
/// in QEMU's empty leaf.
fn caches(cpuid: &raw_cpuid::CpuId<CpuIdReaderNative>) -> [Option<CacheClaim>; 4] {
    let mut claims = [None; 4];
    for cache in cpuid.get_cache_parameters().into_iter().flatten() {
        let slot = claims.get_mut(usize::from(cache.level()).wrapping_sub(1));
        if let (Some(slot), CacheType::Data | CacheType::Unified) = (slot, cache.cache_type()) {
            let (ways, sets) = (cache.associativity(), cache.sets());
            let size = ways * cache.physical_line_partitions() * cache.coherency_line_size() * sets;
            let claim = CacheClaim { level: cache.level(), size: Bytes(size as u64), ways: ways as u32 };
            *slot = Some(claim).filter(|claim| plausible(claim.level.into(), claim.size));
        }
    }
    claims
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guests_are_told_their_encryption_by_cpuid() {
        let signature = |text: &[u8; 12]| {
            let (parts, _) = text.as_chunks::<4>();
            Some([u32::from_le_bytes(parts[0]), u32::from_le_bytes(parts[1]), u32::from_le_bytes(parts[2])])
        };
        assert_eq!(of_guest(0, signature(b"IntelTDX    ")), "TDX");
        assert_eq!(of_guest(0, signature(b"IntelTDX 2.0")), "");
        assert_eq!(of_guest(0, Some([0; 3])), "");
        // SME alone says nothing about a guest.
        for (bits, name) in [(0, ""), (1, ""), (0b10, "SEV"), (0b1010, "SEV-ES"), (0b1_1010, "SEV-SNP")] {
            assert_eq!(of_guest(bits, None), name);
        }
    }

    #[test]
    fn the_kernels_flags_tell_the_encryption_of_hardware() {
        for (cpuinfo, found) in [
            ("flags\t\t: fpu sme sev sev_es sev_snp\nbugs\t\t:\n", "SME, SEV-SNP"),
            ("model name\t: x\nflags\t\t: fpu tme tdx_host_platform\n", "TME, TDX"),
            ("flags\t\t: fpu sev smep tmex\n", ""),
            ("bugs\t\t: sme\n", ""),
            ("flags", ""),
            ("", ""),
        ] {
            assert_eq!(of_flags(cpuinfo.as_bytes()), found, "{cpuinfo}");
        }
        assert_eq!(of_flags(&[0xff; 9000]), "");
    }

    #[test]
    fn hybrid_cores_report_their_kind() {
        // Alder Lake's P-core and E-core; a processor without the leaf gives zero.
        assert_eq!(of_intel(0x4000_0001), Some(CoreKind::Performance));
        assert_eq!(of_intel(0x2000_0001), Some(CoreKind::Efficiency));
        assert_eq!(of_intel(0), None);
        assert_eq!(of_amd(1 << 30, 0), Some(CoreKind::Performance));
        assert_eq!(of_amd(1 << 30, 1 << 28), Some(CoreKind::Efficiency));
        assert_eq!(of_amd(0, 1 << 28), None);
    }
}
