//! The memory devices (DIMMs) of a machine, as its firmware describes them in SMBIOS, or else as the kernel's drivers
//! for memory errors (EDAC) do, and the errors that these drivers have counted.
//!
//! Names of slots follow no convention, so devices are counted, and no channel is derived from a name. A table is a
//! text of the firmware's maker: its lengths and handles may be wrong, and a table that contradicts itself is not used.
//!
//! # References
//! DMTF DSP0134 (SMBIOS 3.7), structures 16, 17, 19 and 20; Linux `Documentation/ABI/testing/sysfs-firmware-dmi-tables`,
//! `Documentation/admin-guide/RAS/main.rst` and `Documentation/ABI/testing/sysfs-devices-edac` (EDAC).

use crate::text::Text;
use crate::topology::Files;
use crate::topology::files::{self, hexadecimal};
use crate::units::{Bytes, NodeId};

/// The table of structures; only root can read it.
pub const TABLE: &str = "/sys/firmware/dmi/tables/DMI";

/// Type of a structure that describes a group of slots.
const ARRAY: u8 = 16;
/// Type of a structure that describes one slot and the device in it.
const DEVICE: u8 = 17;
/// Minimum length of a structure for a device: later fields are unknown in tables of old versions.
const DEVICE_LENGTH: usize = 0x15;
/// Type of a structure with the addresses of an array, and the offset of its 64-bit addresses.
const ADDRESSES_OF_ARRAY: (u8, usize) = (19, 0x0f);
/// Type of a structure with the addresses of a device, and the offset of its 64-bit addresses.
const ADDRESSES_OF_DEVICE: (u8, usize) = (20, 0x13);
/// Type of the last structure.
const END: u8 = 127;
/// The use of an array that is the memory of the machine.
const SYSTEM_MEMORY: u64 = 3;

/// The kinds of memory by their codes, each with the largest number of megahertz that its clock has: firmware may
/// report the clock in place of the transfer rate, which is twice as large.
const KINDS: [(u8, &str, u32); 9] = [
    (0x12, "DDR", 200),
    (0x13, "DDR2", 400),
    (0x18, "DDR3", 933),
    (0x1a, "DDR4", 1600),
    (0x1d, "LPDDR3", 1067),
    (0x1e, "LPDDR4", 2133),
    (0x22, "DDR5", 4400),
    (0x23, "LPDDR5", 4267),
    (0x1f, "non-volatile", 0),
];

/// A multiple of all numbers up to 512 without factors but 2 and 3.
const SMOOTH: u32 = 6_u32.pow(9);

/// A populated memory device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dimm {
    /// The name of its slot, in the words of the firmware.
    pub locator: Text<64>,
    /// The kind of memory, such as `DDR4`; empty if unknown.
    pub kind: &'static str,
    /// Its capacity; `None` if unknown.
    pub size: Option<Bytes>,
    /// The configured rate in millions of transfers per second; `None` if unknown, or if the number may be a clock.
    pub rate: Option<u32>,
    /// The width of its data in bits, without check bits; `None` if unknown.
    pub width: Option<u32>,
    /// Its ranks; `None` if unknown.
    pub ranks: Option<u32>,
    /// The node of all its addresses; `None` if they are unknown, or may be on several nodes.
    pub node: Option<NodeId>,
}

/// The origin of a description.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DimmSource {
    /// The firmware's tables.
    Smbios,
    /// The kernel's drivers for memory errors, which know only populated slots.
    Edac,
}

/// The memory devices of a machine.
#[derive(Clone, Copy, Debug)]
pub struct Dimms<'d> {
    /// The origin.
    pub source: DimmSource,
    /// The number of slots, populated or not; `None` if unknown.
    pub slots: Option<u32>,
    /// The devices.
    pub populated: &'d [Dimm],
}

impl Dimms<'_> {
    /// Returns the maximum number of bytes per second of the devices that may be on a node (`None`: of all devices), if
    /// each has its own channel.
    ///
    /// It is an upper bound: devices of one channel share its rate. `None` if no device is known to be on the node, or if
    /// the width or the rate of a device is unknown.
    pub fn most_bytes_per_second(&self, node: Option<NodeId>) -> Option<u64> {
        let (mut sum, mut any) = (0_u64, false);
        for dimm in self.populated {
            let is_here = node.is_none() || dimm.node == node;
            if is_here || dimm.node.is_none() {
                any |= is_here;
                // The rate of an unknown kind may be a clock.
                let rate = dimm.rate.filter(|_| !dimm.kind.is_empty())?;
                sum = sum.saturating_add(u64::from(dimm.width? / 8) * u64::from(rate) * 1_000_000);
            }
        }
        any.then_some(sum)
    }

    /// Returns true if the devices of `sockets` processors are too many, or their sizes too different, for channels that
    /// are all alike.
    ///
    /// A channel has at most four devices, and the number of channels of a processor has no factors but 2 and 3: there are
    /// processors with 1, 2, 3, 4, 6, 8, 12 and 16. Only devices of DDR3 to DDR5 are judged.
    pub fn are_unequal(&self, sockets: u32) -> bool {
        let all = self.populated;
        let count = all.len() as u32;
        for channels in 1..=count {
            let each = sockets.saturating_mul(channels);
            let are_alike = |dimm: &Dimm| {
                let same = all.iter().filter(|other| other.size == dimm.size).count() as u32;
                same.is_multiple_of(each)
            };
            if SMOOTH.is_multiple_of(channels) && count <= each.saturating_mul(4) && all.iter().all(are_alike)
            {
                return false;
            }
        }
        let judged = |dimm: &Dimm| ("DDR3"..="DDR5").contains(&dimm.kind) && dimm.size.is_some();
        count > 0 && self.source == DimmSource::Smbios && all.iter().all(judged)
    }
}

/// Passes the populated devices of a table to `each`, and returns the number of slots. `node_at` returns the node of an
/// address; `None` if it is unknown.
///
/// `None` if the table is damaged or describes no device; then the devices that were passed are meaningless. If the
/// numbers of slots contradict each other, there is none of them.
pub fn read_table(
    table: &[u8],
    node_at: &dyn Fn(u64) -> Option<NodeId>,
    each: &mut dyn FnMut(&Dimm),
) -> Option<Option<u32>> {
    let (mut slots, mut promised) = (0, 0);
    let mut rest = table;
    while let Some(structure) = Structure::next(&mut rest)? {
        match structure.kind() {
            ARRAY if structure.field(0x05, 1) == SYSTEM_MEMORY => promised += structure.field(0x0d, 2),
            DEVICE => {
                let array = find(table, (ARRAY, 0x02), structure.field(0x04, 2)).last();
                if array.is_none_or(|array| array.field(0x05, 1) == SYSTEM_MEMORY) {
                    slots += 1;
                    structure.device(table, node_at, each)?;
                }
            }
            _ => {}
        }
    }
    let agree = promised == 0 || promised == slots;
    // Without a last structure, others may be missing too.
    let is_whole = agree || rest.first() == Some(&END);
    (slots > 0 && is_whole).then(|| Some(slots as u32).filter(|_| agree))
}

/// Passes the populated devices that EDAC knows to `each`. Returns `None` if it knows none, or only parts of devices.
pub fn read_edac(files: &impl Files, each: &mut dyn FnMut(&Dimm)) -> Option<()> {
    let (mut any, mut whole) = (false, true);
    visit_edac(files, &mut |directory, size, is_rank| {
        (any, whole) = (true, whole && !is_rank);
        let kind = files::text::<64>(files, format_args!("{directory}/dimm_mem_type"));
        let kind = KINDS.iter().find(|known| kind.as_str().ends_with(known.1));
        each(&Dimm {
            locator: files::text(files, format_args!("{directory}/dimm_label")),
            kind: kind.map_or("", |kind| kind.1),
            size: (size > 0).then(|| Bytes::MIB.times(size)),
            ..Dimm::default()
        });
    });
    (any && whole).then_some(())
}

/// Returns the node of an address among `nodes`; `None` if the kernel does not report the addresses of nodes.
pub fn node_at(files: &impl Files, mut nodes: impl Iterator<Item = NodeId>, address: u64) -> Option<NodeId> {
    let mut buffer = [0; 32];
    let size = files.read("/sys/devices/system/memory/block_size_bytes", &mut buffer)?;
    let block = address.checked_div(hexadecimal(size)?)?;
    nodes.find(|node| {
        let state = format_args!("/sys/devices/system/node/node{node}/memory{block}/state");
        files::read(files, state, &mut [0; 16]).is_some()
    })
}

/// Returns the node of the ends of all address ranges of an array or a device.
fn node_of(
    table: &[u8],
    (kind, extended): (u8, usize),
    handle: u64,
    node_at: &dyn Fn(u64) -> Option<NodeId>,
) -> Option<NodeId> {
    let mut node = None;
    for address in find(table, (kind, 0x0c), handle).flat_map(|range| range.ends(extended)) {
        let its = node_at(address)?;
        if *node.get_or_insert(its) != its {
            return None;
        }
    }
    node
}

/// Returns the structures of one type that have `handle` at an offset.
fn find<'t>(
    table: &'t [u8],
    (kind, offset): (u8, usize),
    handle: u64,
) -> impl Iterator<Item = Structure<'t>> {
    let mut rest = table;
    core::iter::from_fn(move || Structure::next(&mut rest)?)
        .filter(move |structure| structure.kind() == kind && structure.field(offset, 2) == handle)
}

/// One structure of the table.
struct Structure<'t> {
    /// The fields, from the type on.
    fields: &'t [u8],
    /// The texts, each with a NUL behind it.
    texts: &'t [u8],
}

impl<'t> Structure<'t> {
    /// Removes the first structure from the table: `Some(None)` at its end, `None` if the table is damaged.
    fn next(rest: &mut &'t [u8]) -> Option<Option<Self>> {
        // Some tables end without a last structure, and some are filled up with zeros.
        if rest.iter().all(|byte| *byte == 0) {
            return Some(None);
        }
        let length = usize::from(*rest.get(1)?);
        let (fields, behind) = rest.split_at_checked(length).filter(|_| length >= 4)?;
        if fields.first() == Some(&END) {
            return Some(None);
        }
        let end = behind.windows(2).position(|pair| pair == [0, 0])? + 2;
        let texts;
        (texts, *rest) = behind.split_at_checked(end)?;
        Some(Some(Self { fields, texts }))
    }

    fn kind(&self) -> u8 {
        self.field(0, 1) as u8
    }

    /// Returns a field of that many bytes, or zero if the structure is too short for it.
    fn field(&self, offset: usize, bytes: usize) -> u64 {
        let field = self.fields.get(offset..offset + bytes).unwrap_or_default();
        field.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Returns a field of two bytes, or the longer field for values that do not fit in it.
    fn rate(&self, offset: usize, extended: usize) -> u32 {
        let rate = self.field(offset, 2);
        (if rate == 0xffff { self.field(extended, 4) } else { rate }) as u32
    }

    /// Returns the first and the last address of a range, which is in KiB, or in bytes at offset `extended`. Addresses of an
    /// empty range are the largest ones.
    fn ends(&self, extended: usize) -> [u64; 2] {
        let is_long = self.field(0x04, 4) == 0xffff_ffff;
        let (at, size, shift) = if is_long { (extended, 8, 0) } else { (0x04, 4, 10) };
        let ends = [at, at + size].map(|at| self.field(at, size) << shift);
        if ends[0] < ends[1] { ends } else { [u64::MAX; 2] }
    }

    /// Returns the text with this number, counted from one; empty if there is none.
    fn text(&self, field: usize) -> &'t [u8] {
        let number = self.field(field, 1) as usize;
        // Nothing is before the first text.
        let mut texts = self.texts.split(|byte| *byte == 0);
        if number == 0 { &[] } else { texts.nth(number - 1).unwrap_or_default() }
    }

    /// Passes the device in a slot to `each`, if there is one; returns `None` if the structure is too short.
    fn device(
        &self,
        table: &[u8],
        node_at: &dyn Fn(u64) -> Option<NodeId>,
        each: &mut dyn FnMut(&Dimm),
    ) -> Option<()> {
        self.fields.get(..DEVICE_LENGTH)?;
        let size = self.field(0x0c, 2);
        if size == 0 {
            return Some(());
        }
        let kibibytes = match size {
            0xffff => 0,
            0x7fff => (self.field(0x1c, 4) & 0x7fff_ffff) << 10,
            0x8000.. => size & 0x7fff,
            _ => size << 10,
        };
        let code = self.field(0x12, 1) as u8;
        let (_, kind, clock) = KINDS.iter().find(|kind| kind.0 == code).copied().unwrap_or((0, "", 0));
        let (rated, configured) = (self.rate(0x15, 0x54), self.rate(0x20, 0x58));
        // A clock is half of the rated value, apart from rounding, or both values are clocks.
        let is_rate =
            configured.saturating_mul(2) > rated.saturating_add(rated / 32) && configured.max(rated) > clock;
        let width = self.field(0x0a, 2) as u32;
        let ranks = self.field(0x1b, 1) as u32 & 0xf;
        let node = node_of(table, ADDRESSES_OF_ARRAY, self.field(0x04, 2), node_at);
        each(&Dimm {
            locator: Text::from_bytes(self.text(0x10)),
            kind,
            size: (kibibytes > 0).then(|| Bytes::KIB.times(kibibytes)),
            rate: is_rate.then_some(configured),
            width: (!matches!(width, 0 | 0xffff)).then_some(width),
            ranks: (ranks > 0).then_some(ranks),
            node: node.or_else(|| node_of(table, ADDRESSES_OF_DEVICE, self.field(0x02, 2), node_at)),
        });
        Some(())
    }
}

/// Maximum number of memory controllers, and of devices of each: a processor has up to twelve controllers, and only
/// populated slots have a directory, so their numbers have gaps.
const MOST: [u32; 2] = [128, 128];

/// Passes the directory of each device to `each`, its capacity in MiB, and true if it is only a rank of a device.
fn visit_edac(files: &impl Files, each: &mut dyn FnMut(Text<64>, u64, bool)) {
    for controller in 0..MOST[0] {
        let own: Text<64> = Text::of(format_args!("/sys/devices/system/edac/mc/mc{controller}"));
        if files::read(files, format_args!("{own}/mc_name"), &mut [0; 64]).is_none() {
            continue;
        }
        for device in 0..2 * MOST[1] {
            let (is_rank, device) = (device >= MOST[1], device % MOST[1]);
            let name = if is_rank { "rank" } else { "dimm" };
            let directory = Text::of(format_args!("{own}/{name}{device}"));
            if let Some(size) = files::number(files, format_args!("{directory}/size")) {
                each(directory, size, is_rank);
            }
        }
    }
}

/// The errors of a device, or of a rank of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorCounts {
    /// Its name, in the words of the firmware or of the driver.
    pub locator: Text<64>,
    /// The directory of its counters, which distinguishes devices of one name.
    pub directory: Text<64>,
    /// The corrected and the uncorrected errors since the kernel started, and both since an earlier reading; `None` if
    /// unknown.
    pub counts: [Option<u64>; 4],
}

impl ErrorCounts {
    /// Passes the counts of each device since the kernel started to `each`.
    pub fn read(files: &impl Files, each: &mut dyn FnMut(&ErrorCounts)) {
        visit_edac(files, &mut |directory, _, _| {
            let count = |kind| files::number(files, format_args!("{directory}/dimm_{kind}_count"));
            each(&ErrorCounts {
                locator: files::text(files, format_args!("{directory}/dimm_label")),
                directory,
                counts: [count("ce"), count("ue"), None, None],
            });
        });
    }

    /// Returns true if both are counts of one device.
    pub fn is_of(&self, other: &ErrorCounts) -> bool {
        (&self.directory, &self.locator) == (&other.directory, &other.locator)
    }
}
