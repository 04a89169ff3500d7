//! Memory devices of whole machines: by firmware, by the kernel, and what follows from them.

use std::collections::BTreeMap;
use std::string::String;
use std::vec::Vec;

use latency_core::host::{DimmSource, TABLE, Text, Ways};
use latency_core::topology::Files;
use latency_core::{CpuId, NodeId};

use super::tests::{files_of, fixture, surveyed};
use crate::describe::conditions::unusual;
use crate::describe::machine::lost_memory;
use latency_engine::machine::detect::warn;
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::{Conditions, HardwareErrors};
use latency_engine::warning::{Warning, Warnings};

/// A fixture with further files.
struct With<F>(F, BTreeMap<String, Vec<u8>>);

impl<F: Files> Files for With<F> {
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let Some(content) = self.1.get(path) else { return self.0.read(path, buffer) };
        let length = content.len().min(buffer.len());
        buffer[..length].copy_from_slice(&content[..length]);
        Some(&buffer[..length])
    }
}

/// Returns a table of two arrays with DDR5 devices of 16 GiB: the first array has addresses from 0 on, the second ones
/// behind them.
fn table(devices: [u32; 2]) -> Vec<u8> {
    let (mut table, mut start) = (Vec::new(), 0);
    for (array, devices) in devices.into_iter().enumerate() {
        let mut addresses = std::vec![0; 31];
        (addresses[0], addresses[1], addresses[0x0c]) = (19, 31, array as u8);
        let end = start + (devices << 24) - 1;
        addresses[4..8].copy_from_slice(&u32::to_le_bytes(start));
        addresses[8..12].copy_from_slice(&u32::to_le_bytes(end));
        start = end + 1;
        table.extend(addresses);
        table.extend([0, 0]);
        for _ in 0..devices {
            let mut fields = std::vec![0; 40];
            (fields[0], fields[1], fields[4], fields[0x0a], fields[0x0d], fields[0x12]) =
                (17, 40, array as u8, 64, 0x40, 0x22);
            fields[0x15..0x17].copy_from_slice(&4800_u16.to_le_bytes());
            fields[0x20..0x22].copy_from_slice(&4800_u16.to_le_bytes());
            table.extend(fields);
            table.extend([0, 0]);
        }
    }
    table.extend([127, 4, 0, 0, 0, 0]);
    table
}

/// Surveys a machine of a fixture that is hardware, with a table.
fn machine(name: &str, table: Vec<u8>, others: &[(&str, &str)]) -> std::boxed::Box<Machine> {
    let mut more: BTreeMap<_, _> =
        others.iter().map(|(path, content)| (String::from(*path), content.as_bytes().to_vec())).collect();
    if !table.is_empty() {
        more.insert(TABLE.into(), table);
    }
    let mut machine = surveyed(&With(files_of(&fixture(name)), more), None);
    machine.processor.platform = Platform::Hardware;
    machine
}

fn unequal(machine: &Machine) -> Option<Warning> {
    let mut warnings = Warnings::empty();
    warn(machine, &mut warnings);
    warnings.iter().find(|warning| matches!(warning, Warning::ChannelsUnequal { .. })).copied()
}

const BLOCK: (&str, &str) = ("/sys/devices/system/memory/block_size_bytes", "400000000\n");
/// Each node has the addresses of four devices, in blocks of 16 GiB.
const BLOCKS: [(&str, &str); 5] = [
    ("/sys/devices/system/node/node0/memory0/state", "online\n"),
    ("/sys/devices/system/node/node0/memory3/state", "online\n"),
    ("/sys/devices/system/node/node1/memory4/state", "online\n"),
    ("/sys/devices/system/node/node1/memory7/state", "online\n"),
    BLOCK,
];

#[test]
fn the_peak_of_a_node_is_of_the_devices_at_its_addresses() {
    let both = machine("two-sockets", table([4, 4]), &BLOCKS);
    let dimms = both.dimms.unwrap();
    assert_eq!((dimms.source, dimms.slots, dimms.populated.len()), (DimmSource::Smbios, Some(8), 8));
    for node in [NodeId(0), NodeId(1)] {
        assert_eq!(both.most_bytes_per_second(Some(node)), Some(153_600_000_000));
    }
    assert_eq!(both.most_bytes_per_second(None), Some(307_200_000_000));
    assert_eq!(unequal(&both), None);
    // Without addresses nothing is known of a node.
    let unknown = machine("two-sockets", table([4, 4]), &[]);
    assert_eq!(unknown.most_bytes_per_second(Some(NodeId(0))), None);
    assert_eq!(unknown.most_bytes_per_second(None), Some(307_200_000_000));
    // All devices are on the only node.
    let one = machine("one-node", table([4, 0]), &[]);
    assert_eq!(one.most_bytes_per_second(Some(NodeId(0))), Some(153_600_000_000));
}

#[test]
fn a_hypervisor_gives_neither_a_peak_nor_a_warning() {
    let mut machine = machine("two-sockets", table([3, 4]), &BLOCKS);
    assert_eq!(unequal(&machine), Some(Warning::ChannelsUnequal { dimms: 7, sockets: 2 }));
    for platform in [Platform::Virtual, Platform::Emulated] {
        machine.processor.platform = platform;
        assert_eq!((unequal(&machine), machine.most_bytes_per_second(None)), (None, None));
        assert!(machine.dimms.is_some());
    }
}

#[test]
fn lost_memory_is_told_by_amount_and_node() {
    const FAILURES: &str = "/sys/devices/system/node/node1/memory_failure/total";
    const MEMINFO: &str = "MemTotal: 9 kB\nHardwareCorrupted:    12 kB\n";
    let lost = |files: &[(&str, &str)]| {
        let machine = machine("two-sockets", Vec::new(), files);
        lost_memory(&machine)
    };
    assert_eq!(lost(&[]), "");
    assert_eq!(lost(&[(FAILURES, "0\n")]), "");
    assert_eq!(lost(&[(FAILURES, "unknown\n")]), "");
    assert_eq!(lost(&[(FAILURES, "1\n")]), "failed pages of node 1: 1");
    let both = lost(&[(FAILURES, "3\n"), ("/proc/meminfo", MEMINFO)]);
    assert_eq!(both, "12 KiB given up because of errors; failed pages of node 1: 3");
}

#[test]
fn conditions_that_may_explain_a_figure_are_listed_in_one_place() {
    let words = |change: &dyn Fn(&mut Machine), warnings: &[Warning], heat| {
        let mut machine = machine("sub-numa-clusters", Vec::new(), &[]);
        change(&mut machine);
        let mut all = Warnings::empty();
        warnings.iter().for_each(|warning| all.push(*warning));
        let errors = Some(HardwareErrors { dimm_heat: heat, ..HardwareErrors::default() });
        let found = Conditions { errors, ..Conditions::default() };
        String::from(unusual(&machine, &all, &[], Some(&found), false).as_str())
    };
    let clusters = "several nodes per socket (SNC, NPS)";
    assert_eq!(words(&|_| {}, &[], Some(84_999)), clusters);
    let stolen = Warning::Stolen { cpu: CpuId(1), share: 0.2 };
    let change = |machine: &mut Machine| {
        machine.processor.encryption = Text::from_bytes(b"SEV-SNP");
        machine.host.power.profile = Text::from_bytes(b"quiet");
        machine.host.ways = Some(Ways { allowed: 0x00f, code: None, all: 0xfff });
    };
    assert_eq!(
        words(&change, &[Warning::OneNode, stolen], Some(85_000)),
        std::format!(
            "memory encryption, {clusters}, a part of the L3 (resctrl), power settings, hot DIMMs, stolen time"
        )
    );
}

#[test]
fn edac_describes_the_devices_if_the_table_cannot_be_read_or_is_damaged() {
    const EDAC: [(&str, &str); 3] = [
        ("/sys/devices/system/edac/mc/mc0/mc_name", "i10nm\n"),
        ("/sys/devices/system/edac/mc/mc0/dimm2/size", "16384\n"),
        ("/sys/devices/system/edac/mc/mc0/dimm2/dimm_label", "A1\n"),
    ];
    let mut cut = table([4, 4]);
    cut.truncate(200);
    for table in [Vec::new(), cut, std::vec![0xff; 1 << 20]] {
        let dimms = machine("two-sockets", table.clone(), &EDAC).dimms.unwrap();
        assert_eq!((dimms.source, dimms.slots, dimms.populated.len()), (DimmSource::Edac, None, 1));
        assert_eq!(dimms.populated[0].locator, "A1");
        assert!(machine("two-sockets", table, &[]).dimms.is_none());
    }
}
