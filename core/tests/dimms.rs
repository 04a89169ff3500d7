//! Memory devices in the tables of real machines (`tests/fixtures/dimms`), in made tables, and by EDAC.

mod machine;

use latency_core::host::{Dimm, DimmSource, Dimms, node_at, read_edac, read_table};
use latency_core::topology::Files;
use latency_core::units::{Bytes, NodeId};
use machine::Machine;
use proptest::prelude::*;
use std::path::Path;

/// The last structure of a table.
const END: [u8; 6] = [127, 4, 0xff, 0xff, 0, 0];

/// Returns the table of a fixture: a line for each structure, its fields in hexadecimal and then its texts.
fn table(name: &str) -> Vec<u8> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/dimms");
    let fixture = std::fs::read_to_string(directory.join(name).with_extension("txt")).unwrap();
    let mut table = Vec::new();
    for line in fixture.lines().filter(|line| !line.starts_with('#')) {
        let mut parts = line.split('|');
        let fields = parts.next().unwrap();
        let byte = |at: usize| u8::from_str_radix(&fields[at..at + 2], 16).unwrap();
        structure(&mut table, &(0..fields.len()).step_by(2).map(byte).collect::<Vec<_>>(), parts);
    }
    table.extend(END);
    table
}

fn structure<'t>(table: &mut Vec<u8>, fields: &[u8], texts: impl Iterator<Item = &'t str>) {
    let end = table.len() + fields.len();
    table.extend(fields);
    for text in texts {
        table.extend(text.as_bytes());
        table.push(0);
    }
    table.resize(table.len().max(end + 1) + 1, 0);
}

/// Makes a device with 40 bytes of fields, on array 1.
fn device(handle: u16, size: u16, kind: u8, rates: [u16; 2], width: u16) -> Vec<u8> {
    let mut fields = vec![0; 40];
    (fields[0], fields[1]) = (17, 40);
    for (at, word) in
        [(2, handle), (4, 1), (8, width + 8), (0xa, width), (0xc, size), (0x15, rates[0]), (0x20, rates[1])]
    {
        fields[at..at + 2].copy_from_slice(&word.to_le_bytes());
    }
    (fields[0x10], fields[0x12], fields[0x1b]) = (1, kind, 2);
    fields
}

fn made(devices: &[Vec<u8>]) -> Vec<u8> {
    let mut table = Vec::new();
    devices.iter().for_each(|fields| structure(&mut table, fields, ["slot"].into_iter()));
    table.extend(END);
    table
}

/// Returns the slots and the devices of a table.
fn read(table: &[u8]) -> Option<(Option<u32>, Vec<Dimm>)> {
    let mut dimms = Vec::new();
    let slots = read_table(table, &|_| None, &mut |dimm| dimms.push(*dimm))?;
    Some((slots, dimms))
}

/// Returns what decides a bandwidth.
fn facts(dimm: &Dimm) -> (u64, &str, Option<u32>, Option<u32>, Option<u32>) {
    (dimm.size.map_or(0, |size| size.0 >> 30), dimm.kind, dimm.rate, dimm.width, dimm.ranks)
}

/// Returns the maximum of all devices in MB/s, and whether the channels of that number of processors differ.
fn judged(populated: &[Dimm], sockets: u32) -> (Option<u64>, bool) {
    let dimms = Dimms { source: DimmSource::Smbios, slots: None, populated };
    (dimms.most_bytes_per_second(None).map(|most| most / 1_000_000), dimms.are_unequal(sockets))
}

#[test]
fn tables_of_real_machines() {
    for (name, slots, populated, each, sockets, expected) in [
        (
            "supermicro-two-sockets",
            16,
            16,
            (4, "DDR3", Some(1333), Some(64), Some(1)),
            2,
            (Some(170_624), false),
        ),
        // Before SMBIOS 2.7 there is no configured rate, and the rated one is a clock here.
        ("opteron-four-sockets", 32, 32, (4, "DDR3", None, Some(64), Some(1)), 4, (None, false)),
        // Both devices belong to one processor, which their number does not show.
        ("dell-two-sockets", 24, 2, (16, "DDR4", Some(1866), Some(64), Some(2)), 2, (Some(29_856), false)),
        ("dell-eight-of-24", 24, 8, (16, "DDR4", Some(2133), Some(64), Some(2)), 2, (Some(136_512), false)),
        ("supermicro-one-dimm", 8, 1, (16, "DDR4", Some(1600), Some(64), Some(2)), 2, (Some(12_800), true)),
        ("asrock-ryzen", 4, 2, (32, "DDR4", Some(2400), Some(64), Some(2)), 1, (Some(38_400), false)),
        ("mini-pc-ddr5", 2, 1, (16, "DDR5", Some(4800), Some(64), Some(1)), 1, (Some(38_400), false)),
    ] {
        let (found, dimms) = read(&table(name)).unwrap();
        assert_eq!((found, dimms.len()), (Some(slots), populated), "{name}");
        for dimm in &dimms {
            assert_eq!(facts(dimm), each, "{name}");
        }
        assert_eq!(judged(&dimms, sockets), expected, "{name}");
    }
    let (_, dimms) = read(&table("asrock-ryzen")).unwrap();
    assert_eq!(dimms[1].locator, "DIMM 1");
}

/// The arrays of two processors, at the addresses of the table.
#[test]
fn devices_belong_to_the_node_of_their_addresses() {
    let table = table("supermicro-two-sockets");
    let nodes = |boundary: u64| {
        let mut found = Vec::new();
        let node_at = |address| Some(NodeId(u32::from(address >= boundary)));
        read_table(&table, &node_at, &mut |dimm| found.push(*dimm)).unwrap();
        found
    };
    let found = nodes(32 << 30);
    for (index, dimm) in found.iter().enumerate() {
        assert_eq!(dimm.node, Some(NodeId(u32::from(index >= 8))));
    }
    let dimms = Dimms { source: DimmSource::Smbios, slots: None, populated: &found };
    assert_eq!(dimms.most_bytes_per_second(Some(NodeId(1))), Some(8 * 8 * 1_333_000_000));
    // The kernel's boundary is higher than the firmware's, by the addresses of other things than memory: the second array
    // is on both nodes, and some devices at its start are on the first node.
    let found = nodes(34 << 30);
    assert!(found[..8].iter().all(|dimm| dimm.node == Some(NodeId(0))));
    assert_eq!((found[8].node, found[15].node), (None, Some(NodeId(1))));
    let dimms = Dimms { source: DimmSource::Smbios, slots: None, populated: &found };
    assert_eq!(dimms.most_bytes_per_second(Some(NodeId(0))), Some(9 * 8 * 1_333_000_000));
}

#[test]
fn addresses_belong_to_the_node_with_their_block() {
    let mut files = Machine::default();
    let nodes = || [NodeId(0), NodeId(1)].into_iter();
    files.set("/sys/devices/system/node/node1/memory9/state", "online\n");
    assert_eq!(node_at(&files, nodes(), 9 << 27), None);
    files.set("/sys/devices/system/memory/block_size_bytes", "8000000\n");
    assert_eq!(node_at(&files, nodes(), (10 << 27) - 1), Some(NodeId(1)));
    assert_eq!(node_at(&files, nodes(), 10 << 27), None);
    files.set("/sys/devices/system/memory/block_size_bytes", "0\n");
    assert_eq!(node_at(&files, nodes(), 9 << 27), None);
}

#[test]
fn a_rate_that_may_be_a_clock_is_unknown() {
    for (kind, rates, expected) in [
        (0x1a, [3200, 2933], Some(2933)),
        (0x1a, [3200, 1600], None),
        (0x1a, [1600, 1600], None),
        (0x1a, [2133, 1600], Some(1600)),
        (0x18, [1333, 667], None),
        (0x18, [667, 667], None),
        (0x18, [1333, 1333], Some(1333)),
        (0x22, [5600, 4800], Some(4800)),
        (0x22, [2400, 2400], None),
        (0x22, [4800, 0], None),
        (0x22, [0xffff, 0xffff], None),
    ] {
        let (_, dimms) = read(&made(&[device(9, 0x4000, kind, rates, 64)])).unwrap();
        assert_eq!(dimms[0].rate, expected, "{kind:#x} {rates:?}");
    }
    // Of an unknown kind, the number is shown, but no peak follows.
    let (_, dimms) = read(&made(&[device(9, 0x4000, 7, [3000, 3000], 64)])).unwrap();
    assert_eq!((dimms[0].rate, judged(&dimms, 1).0), (Some(3000), None));
}

#[test]
fn sizes_are_in_kilobytes_megabytes_or_the_longer_field() {
    for (size, longer, expected) in [
        (0x8200, 0, Some(Bytes(512 << 10))),
        (0x4000, 0, Some(Bytes(16 << 30))),
        (0x7fff, 128 << 10, Some(Bytes(128 << 30))),
        (0x7fff, 0, None),
        (0xffff, 0, None),
    ] {
        let mut fields = device(9, size, 0x22, [4800, 4800], 64);
        fields[0x1c..0x20].copy_from_slice(&u32::to_le_bytes(longer));
        assert_eq!(read(&made(&[fields])).unwrap().1[0].size, expected, "{size:#x}");
    }
    let empty = device(9, 0, 2, [0, 0], 0);
    assert_eq!(read(&made(&[empty])), Some((Some(1), vec![])));
}

#[test]
fn one_unknown_width_or_rate_makes_the_peak_unknown() {
    let known = device(9, 0x4000, 0x22, [4800, 4800], 64);
    let peak = |other: Vec<u8>| judged(&read(&made(&[known.clone(), other])).unwrap().1, 1).0;
    assert_eq!(peak(known.clone()), Some(76_800));
    assert_eq!(peak(device(10, 0x4000, 0x22, [4800, 0], 64)), None);
    assert_eq!(peak(device(10, 0x4000, 0x22, [4800, 4800], 0)), None);
}

#[test]
fn devices_of_other_arrays_are_left_out() {
    let array = |handle: u8, usage: u8, devices: u8| {
        [16, 15, handle, 0, 3, usage, 3, 0, 0, 0, 0, 0xfe, 0xff, devices, 0].to_vec()
    };
    let dimm = device(9, 0x4000, 0x22, [4800, 4800], 64);
    // Array 1 is a cache, or flash memory.
    assert_eq!(read(&made(&[array(1, 5, 1), dimm.clone()])), None);
    let slots = |arrays: &[Vec<u8>]| read(&made(&[arrays, std::slice::from_ref(&dimm)].concat())).unwrap().0;
    assert_eq!(slots(&[array(1, 3, 1)]), Some(1));
    assert_eq!(slots(&[array(2, 5, 1)]), Some(1));
    // An array that promises more slots than there are structures.
    assert_eq!(slots(&[array(1, 3, 4)]), None);
}

#[test]
fn only_a_certain_difference_of_channels_is_reported() {
    let sizes = |sizes: &[u64]| -> Vec<Dimm> {
        let dimm = read(&made(&[device(9, 0x4000, 0x22, [4800, 4800], 64)])).unwrap().1[0];
        sizes.iter().map(|size| Dimm { size: Some(Bytes::GIB.times(*size)), ..dimm }).collect()
    };
    for (list, sockets, unequal) in [
        (&[16][..], 1, false),
        (&[16; 2], 1, false),
        (&[16; 3], 1, false),
        (&[16; 4], 1, false),
        (&[16; 5], 1, true),
        (&[16; 6], 1, false),
        (&[16; 7], 1, true),
        (&[16; 9], 1, false),
        (&[16; 10], 1, true),
        (&[16; 12], 1, false),
        (&[16; 24], 2, false),
        (&[16; 3], 2, true),
        (&[16; 9], 2, true),
        (&[16; 10], 2, true),
        (&[16; 96], 8, false),
        (&[8, 16], 1, false),
        (&[8, 16], 2, true),
        (&[8, 8, 16, 16], 2, false),
        (&[16, 16, 16, 16, 16, 16, 16, 8], 1, true),
        (&[], 1, false),
    ] {
        assert_eq!(judged(&sizes(list), sockets).1, unequal, "{list:?} {sockets}");
    }
    let unknown = [sizes(&[16; 4]), vec![Dimm { size: None, ..sizes(&[16])[0] }]].concat();
    assert!(!judged(&unknown, 1).1);
}

#[test]
fn a_table_that_is_cut_is_not_used() {
    let whole = table("supermicro-one-dimm");
    let expected = read(&whole);
    assert!(expected.is_some());
    let end = whole.len() - END.len();
    let mut consistent = 0;
    for length in 0..end {
        // A table may end where it has the slots that its arrays promise: behind the first array, and behind both.
        if let Some((slots, _)) = read(&whole[..length]) {
            assert!(matches!(slots, Some(4 | 8)), "{length}: {slots:?}");
            consistent += 1;
        }
    }
    assert_eq!(consistent, 3);
    assert_eq!(read(&whole[..end]), expected, "without a last structure");
    assert_eq!(read(&[&whole[..end], &[0; 40][..]].concat()), expected, "filled up with zeros");
    assert_eq!(read(&[&whole[..], &[17; 40][..]].concat()), expected, "behind the last structure");
    assert_eq!(read(&[]), None);
    assert_eq!(read(&[17, 0, 0, 0, 0, 0]), None);
}

fn edac(devices: &[(&str, &str, &str)]) -> Machine {
    let mut files = Machine::default();
    for (path, label, size) in devices {
        let directory = format!("/sys/devices/system/edac/mc/{path}");
        let (controller, _) = directory.rsplit_once('/').unwrap();
        files.set(&format!("{controller}/mc_name"), "Skylake Socket#0 IMC#0\n");
        files.set(&format!("{directory}/dimm_label"), &format!("{label}\n"));
        files.set(&format!("{directory}/dimm_mem_type"), "Registered-DDR4\n");
        files.set(&format!("{directory}/size"), &format!("{size}\n"));
    }
    files
}

fn by_edac(files: &impl Files) -> Option<Vec<Dimm>> {
    let mut dimms = Vec::new();
    read_edac(files, &mut |dimm| dimms.push(*dimm)).map(|()| dimms)
}

#[test]
fn edac_reports_populated_slots_with_gaps() {
    let files =
        edac(&[("mc0/dimm0", "A1", "16384"), ("mc0/dimm3", "A2", "16384"), ("mc3/dimm20", "B1", "0")]);
    let dimms = by_edac(&files).unwrap();
    let labels: Vec<_> = dimms.iter().map(|dimm| dimm.locator.to_string()).collect();
    assert_eq!(labels, ["A1", "A2", "B1"]);
    assert_eq!((dimms[0].size, dimms[2].size), (Some(Bytes(16 << 30)), None));
    assert_eq!((dimms[0].kind, dimms[0].rate), ("DDR4", None));
    let dimms = Dimms { source: DimmSource::Edac, slots: None, populated: &dimms };
    assert_eq!((dimms.most_bytes_per_second(None), dimms.are_unequal(2)), (None, false));
}

#[test]
fn devices_of_the_last_controllers_of_eight_processors_are_found() {
    let dimms = by_edac(&edac(&[("mc0/dimm0", "A1", "16384"), ("mc95/dimm0", "H12", "16384")])).unwrap();
    assert_eq!(dimms.len(), 2);
}

#[test]
fn ranks_are_not_counted_as_devices() {
    assert_eq!(by_edac(&edac(&[("mc0/rank0", "mc#0csrow#0channel#0", "8192")])), None);
    assert_eq!(by_edac(&Machine::default()), None);
}

#[test]
fn files_that_exist_at_every_path_have_an_end() {
    struct Everywhere;
    impl Files for Everywhere {
        fn read<'b>(&self, _: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
            *buffer.first_mut()? = b'1';
            buffer.get(..1)
        }
    }
    assert_eq!(by_edac(&Everywhere), None);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>) {
        let _ = read(&bytes);
    }

    #[test]
    fn altered_tables_are_read_or_refused(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
        cut: prop::sample::Index,
    ) {
        let mut table = table("asrock-ryzen");
        for (at, byte) in changes {
            let at = at.index(table.len());
            table[at] = byte;
        }
        table.truncate(cut.index(table.len() + 1));
        if let Some((slots, dimms)) = read(&table) {
            prop_assert!(slots.is_none_or(|slots| dimms.len() <= slots as usize));
            let _ = judged(&dimms, 2);
        }
    }
}
