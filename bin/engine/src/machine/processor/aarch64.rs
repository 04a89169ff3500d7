//! The description of an aarch64 processor, from sysfs, the firmware's names and the device tree.
//!
//! Registers of identification belong to the kernel. It shows one of them, MIDR_EL1, for each CPU, and lets programs read
//! it. No register names a hypervisor.

use latency_core::topology::{Files, files};
use latency_core::{CpuId, Text};

use super::{CoreKind, Extensions, Platform, Processor, small_cores};
use latency_sys::perf::{self, Event};
use latency_sys::{Errno, auxv};

/// Implementers (MIDR_EL1\[31:24\]) and their names.
const IMPLEMENTERS: [(u32, &str); 8] = [
    (0x41, "ARM"),
    (0x43, "Cavium"),
    (0x46, "Fujitsu"),
    (0x48, "HiSilicon"),
    (0x51, "Qualcomm"),
    (0x61, "Apple"),
    (0x6d, "Microsoft"),
    (0xc0, "Ampere"),
];

/// The implementer and the part (MIDR_EL1\[15:4\]) of cores, and their names.
///
/// # References
///
/// Linux, `arch/arm64/include/asm/cputype.h`; the technical reference manuals of the cores, "MIDR_EL1".
const CORES: [(u32, u32, &str); 42] = [
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd40, "Neoverse V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse N2"),
    (0x41, 0xd4a, "Neoverse E1"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd83, "Neoverse V3AE"),
    (0x41, 0xd84, "Neoverse V3"),
    (0x41, 0xd8e, "Neoverse N3"),
    (0x43, 0x0af, "ThunderX2"),
    (0x46, 0x001, "A64FX"),
    (0x48, 0xd01, "Kunpeng 920"),
    (0x51, 0x001, "Oryon"),
    (0x61, 0x022, "Apple M1 Icestorm"),
    (0x61, 0x023, "Apple M1 Firestorm"),
    (0x61, 0x024, "Apple M1 Pro Icestorm"),
    (0x61, 0x025, "Apple M1 Pro Firestorm"),
    (0x61, 0x028, "Apple M1 Max Icestorm"),
    (0x61, 0x029, "Apple M1 Max Firestorm"),
    (0x61, 0x032, "Apple M2 Blizzard"),
    (0x61, 0x033, "Apple M2 Avalanche"),
    (0x6d, 0xd49, "Azure Cobalt 100"),
    (0xc0, 0xac3, "AmpereOne"),
    (0xc0, 0xac4, "AmpereOne A"),
    (0xc0, 0xac5, "AmpereOne B"),
];

/// The implementer of QEMU's processor `max`.
const OF_AN_EMULATOR: u32 = 0;

/// Names of makers or products in the firmware's tables that only virtual machines have, and the hypervisor.
const VIRTUAL: [(&str, &str); 6] = [
    ("QEMU", "QEMU"),
    ("Google", "KVM"),
    ("VMware", "VMware"),
    ("Alibaba Cloud", "KVM"),
    ("Virtual Machine", "Hyper-V"),
    ("Parallels", "Parallels"),
];

/// Opens a hardware counter and closes it again.
type TryEvent = fn(Event) -> Result<(), Errno>;

/// The sources of a description that are not files.
#[derive(Clone, Copy)]
pub struct Answers {
    /// Returns MIDR_EL1 of the CPU that asks, if a program may read it.
    pub identification: fn() -> Option<u32>,
    /// Tries to count an event.
    pub try_event: TryEvent,
}

#[cfg(any(test, feature = "tests"))]
impl Answers {
    /// A kernel that counts every event.
    pub const COUNTS: Answers = Answers { identification: || None, try_event: |_| Ok(()) };
    /// A guest that QEMU translates: it counts cycles alone.
    pub const TRANSLATED: Answers = Answers {
        identification: || None,
        try_event: |event| if event == Event::Cycles { Ok(()) } else { Err(Errno::ENOENT) },
    };
}

/// Reads the description of the processor that executes the call.
pub fn identify(files: &impl Files, cpu: CpuId) -> Processor {
    let identification = || latency_core::arch::identification(auxv::hardware_capabilities());
    described(files, cpu, Answers { identification, try_event: perf::try_event })
}

/// Returns the description of a processor.
pub fn described(files: &impl Files, cpu: CpuId, answers: Answers) -> Processor {
    let midr = identification(files, cpu).or_else(answers.identification);
    let (platform, hypervisor) = match is_translated(midr, answers.try_event) {
        true => (Platform::Emulated, Text::from_bytes(b"QEMU TCG")),
        false => platform(files),
    };
    Processor {
        vendor: midr.map_or(Text::EMPTY, |midr| implementer(midr >> 24)),
        brand: midr.map_or(Text::EMPTY, |midr| name(files, midr)),
        signature: midr.map_or((0, 0, 0), |midr| {
            ((midr >> 24) as u16, (midr >> 4 & 0xfff) as u16, ((midr >> 16 & 0xf0) | midr & 0xf) as u16)
        }),
        platform,
        hypervisor,
        // No file or register tells a program.
        encryption: Text::EMPTY,
        // The architecture promises these, and CNTFRQ_EL0 declares the frequency: see `arch::Counter`.
        invariant_counter: true,
        declared_counter: None,
        fence_promised: true,
        data_dependent_prefetcher: false,
        extensions: Extensions(0),
        vector_bytes: latency_core::arch::vector_bytes(),
        core: kind(files, cpu),
        caches: [None; 4],
    }
}

/// Returns MIDR_EL1 of a CPU.
fn identification(files: &impl Files, cpu: CpuId) -> Option<u32> {
    let path = format_args!("/sys/devices/system/cpu/cpu{cpu}/regs/identification/midr_el1");
    let text: Text<32> = files::text(files, path);
    u32::try_from(files::hexadecimal(text.as_str().strip_prefix("0x")?.as_bytes())?).ok()
}

/// Returns the name of an implementer, or its number.
fn implementer(number: u32) -> Text<16> {
    match IMPLEMENTERS.iter().find(|(known, _)| *known == number) {
        Some((_, name)) => Text::from_bytes(name.as_bytes()),
        None => Text::of(format_args!("{number:#04x}")),
    }
}

/// Returns the name of a core, or its numbers, and the product that has it: cores of one name are in processors of many
/// makers, with caches of other sizes.
fn name(files: &impl Files, midr: u32) -> Text<64> {
    let (implementer, part) = (midr >> 24, midr >> 4 & 0xfff);
    let core: Text<32> = match CORES.iter().find(|(maker, known, _)| (*maker, *known) == (implementer, part))
    {
        Some((.., name)) => Text::from_bytes(name.as_bytes()),
        None if implementer == OF_AN_EMULATOR => Text::from_bytes(b"QEMU max"),
        None => Text::of(format_args!("implementer {implementer:#04x} part {part:#05x}")),
    };
    let [maker, product] = of_firmware(files);
    match (maker.as_str(), product.as_str()) {
        (_, "") => Text::of(format_args!("{core}")),
        (maker, product) if product.starts_with(maker) => Text::of(format_args!("{core} ({product})")),
        (maker, product) => Text::of(format_args!("{core} ({maker} {product})")),
    }
}

/// Returns the maker and the product according to the firmware.
fn of_firmware(files: &impl Files) -> [Text<64>; 2] {
    ["sys_vendor", "product_name"].map(|field| files::text(files, format_args!("/sys/class/dmi/id/{field}")))
}

/// Returns the kind of a core, if the processor has several kinds.
fn kind(files: &impl Files, cpu: CpuId) -> Option<CoreKind> {
    let online = files::set(files, format_args!("/sys/devices/system/cpu/online"))?;
    Some(CoreKind::of(small_cores(files, &online)?.contains(cpu.0)))
}

/// Returns true if QEMU translates the instructions: its processor `max` has an implementer of its own, and its counters
/// of other processors count cycles but not instructions, which every real counter of PMUv3 does.
fn is_translated(midr: Option<u32>, try_event: TryEvent) -> bool {
    midr.is_some_and(|midr| midr >> 24 == OF_AN_EMULATOR)
        || try_event(Event::Cycles).is_ok() && try_event(Event::Instructions) == Err(Errno::ENOENT)
}

/// Returns what executes the program, from the first of these that tells: the names of the firmware, the hypervisor in
/// sysfs, and the device tree.
fn platform(files: &impl Files) -> (Platform, Text<16>) {
    let virtual_machine = |by: &str| (Platform::Virtual, Text::from_bytes(by.as_bytes()));
    let [maker, product] = of_firmware(files);
    // Amazon's machines without a hypervisor have this in their product's name.
    if maker.as_str() == "Amazon EC2" && !product.as_str().contains("metal") {
        return virtual_machine("KVM");
    }
    let named = |text: &Text<64>| VIRTUAL.iter().find(|(part, _)| text.as_str().starts_with(part));
    if let Some((_, by)) = named(&maker).or_else(|| named(&product)) {
        return virtual_machine(by);
    }
    let hypervisor: Text<16> = files::text(files, format_args!("/sys/hypervisor/type"));
    if !hypervisor.is_empty() {
        return (Platform::Virtual, hypervisor);
    }
    // Names, each terminated by a NUL.
    let mut buffer = [0; 256];
    let compatible = files.read("/sys/firmware/devicetree/base/compatible", &mut buffer).unwrap_or_default();
    match compatible.split(|byte| *byte == 0).any(|name| name == b"linux,dummy-virt") {
        true => virtual_machine("QEMU"),
        false => (Platform::Hardware, Text::EMPTY),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::processor::tests::Tree;

    /// Counts nothing, as in most virtual machines.
    const WITHOUT_COUNTERS: TryEvent = |_| Err(Errno::ENOENT);
    const MIDR: &str = "/sys/devices/system/cpu/cpu0/regs/identification/midr_el1";

    fn asked(files: &Tree<'_>, try_event: TryEvent) -> Processor {
        described(files, CpuId(0), Answers { identification: || None, try_event })
    }

    fn of(files: &Tree<'_>) -> Processor {
        asked(files, WITHOUT_COUNTERS)
    }

    #[test]
    fn counters_of_cycles_alone_are_an_emulators() {
        let n1 = [(MIDR, "0x00000000413fd0c1\n"), ("/sys/class/dmi/id/sys_vendor", "QEMU\n")];
        let cycles_alone = |event| if event == Event::Cycles { Ok(()) } else { Err(Errno::ENOENT) };
        let forbidden = |event| if event == Event::Cycles { Ok(()) } else { Err(Errno::EACCES) };
        let cases: [(TryEvent, Platform); 4] = [
            (cycles_alone, Platform::Emulated),
            (forbidden, Platform::Virtual),
            (|_| Ok(()), Platform::Virtual),
            (WITHOUT_COUNTERS, Platform::Virtual),
        ];
        for (index, (try_event, platform)) in cases.into_iter().enumerate() {
            assert_eq!(asked(&Tree(&n1), try_event).platform, platform, "case {index}");
        }
    }

    #[test]
    fn cores_have_the_names_of_their_makers_or_their_numbers() {
        for (midr, vendor, name, signature) in [
            ("0x00000000413fd0c1\n", "ARM", "Neoverse N1", (0x41, 0xd0c, 0x31)),
            ("0x00000000411fd401\n", "ARM", "Neoverse V1", (0x41, 0xd40, 0x11)),
            ("0x00000000611f0231\n", "Apple", "Apple M1 Firestorm", (0x61, 0x023, 0x11)),
            ("0x00000000412fffff\n", "ARM", "implementer 0x41 part 0xfff", (0x41, 0xfff, 0x2f)),
            ("0x00000000990fd0c1\n", "0x99", "implementer 0x99 part 0xd0c", (0x99, 0xd0c, 0x01)),
        ] {
            let processor = of(&Tree(&[(MIDR, midr)]));
            assert_eq!(identify(&Tree(&[(MIDR, midr)]), CpuId(0)).signature, signature);
            assert_eq!((processor.vendor.as_str(), processor.brand.as_str()), (vendor, name));
            assert_eq!(processor.signature, signature, "{name}");
            assert_eq!(processor.platform, Platform::Hardware, "no hypervisor shows itself");
        }
        assert!(of(&Tree(&[])).brand.is_empty(), "the kernel does not tell");
        let answers = Answers { identification: || Some(0x410f_d4f1), try_event: WITHOUT_COUNTERS };
        assert_eq!(described(&Tree(&[]), CpuId(0), answers).brand.as_str(), "Neoverse V2", "no /sys");
        assert_eq!(
            described(&Tree(&[(MIDR, "0x00000000413fd0c1\n")]), CpuId(0), answers).brand.as_str(),
            "Neoverse N1"
        );
        for nothing in ["", "0x", "413fd0c1", "0x1ffffffff"] {
            let processor = of(&Tree(&[(MIDR, nothing)]));
            assert!(processor.vendor.is_empty() && processor.brand.is_empty(), "{nothing}");
        }
    }

    #[test]
    fn a_virtual_machine_shows_itself_in_one_of_several_places() {
        let n1 = (MIDR, "0x00000000413fd0c1\n");
        let maker = |name| ("/sys/class/dmi/id/sys_vendor", name);
        let product = |name| ("/sys/class/dmi/id/product_name", name);
        for (files, platform, by) in [
            (&[n1][..], Platform::Hardware, ""),
            (&[(MIDR, "0x00000000000f0510\n")], Platform::Emulated, "QEMU TCG"),
            (&[n1, maker("Amazon EC2\n"), product("c7g.4xlarge\n")], Platform::Virtual, "KVM"),
            (&[n1, maker("Amazon EC2\n"), product("c7g.metal\n")], Platform::Hardware, ""),
            (&[n1, maker("QEMU\n"), product("QEMU Virtual Machine\n")], Platform::Virtual, "QEMU"),
            (
                &[n1, maker("Microsoft Corporation\n"), product("Virtual Machine\n")],
                Platform::Virtual,
                "Hyper-V",
            ),
            (&[n1, maker("Microsoft Corporation\n"), product("Surface Pro 11\n")], Platform::Hardware, ""),
            (&[n1, ("/sys/hypervisor/type", "xen\n")], Platform::Virtual, "xen"),
            (
                &[n1, ("/sys/firmware/devicetree/base/compatible", "linux,dummy-virt\0")],
                Platform::Virtual,
                "QEMU",
            ),
            (
                &[n1, ("/sys/firmware/devicetree/base/compatible", "raspberrypi,5-model-b\0brcm,bcm2712\0")],
                Platform::Hardware,
                "",
            ),
        ] {
            let processor = of(&Tree(files));
            assert_eq!((processor.platform, processor.hypervisor.as_str()), (platform, by), "{files:?}");
        }
    }

    #[test]
    fn cores_are_of_two_kinds_if_their_capacities_differ() {
        let online = ("/sys/devices/system/cpu/online", "0-2\n");
        let capacity = |of_first| {
            [
                online,
                ("/sys/devices/system/cpu/cpu0/cpu_capacity", of_first),
                ("/sys/devices/system/cpu/cpu1/cpu_capacity", "1024\n"),
                ("/sys/devices/system/cpu/cpu2/cpu_capacity", "1024\n"),
            ]
        };
        for (of_first, kind) in
            [("1024\n", None), ("446\n", Some(CoreKind::Efficiency)), ("900\n", Some(CoreKind::Performance))]
        {
            assert_eq!(of(&Tree(&capacity(of_first))).core, kind, "{of_first}");
        }
        assert_eq!(of(&Tree(&[online])).core, None, "the kernel does not tell");
    }
}
