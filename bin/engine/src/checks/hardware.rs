//! Errors of the hardware that the kernel counts, read before the first trial and after the last.
//!
//! A count that falls, or that one of the two readings lacks, is unknown: drivers may be reloaded, and devices replaced.
//!
//! # References
//! Linux `Documentation/admin-guide/RAS/main.rst` (EDAC), `Documentation/filesystems/proc.rst` (`HardwareCorrupted`,
//! `/proc/interrupts`), `Documentation/ABI/testing/sysfs-devices-system-cpu` (`thermal_throttle`) and
//! `Documentation/ABI/stable/sysfs-devices-node` (`memory_failure`).

use latency_core::host::{ErrorCounts, from_meminfo, hottest_dimm};
use latency_core::topology::{Files, failed_pages, files};
use latency_core::{Bytes, CpuId, NodeId, NodeSet};

use crate::result::HardwareErrors;
use crate::warning::{Warning, Warnings};
use latency_sys::Table;

/// Maximum bytes of /proc/interrupts that are read: some hundred lines, each with a column for each CPU.
const MOST_READ: usize = 2 << 20;
/// Maximum number of devices: a device is counted in up to four ranks.
const MOST_DEVICES: usize = 1024;

/// One reading of all counts.
#[derive(Debug)]
pub struct HardwareCounts {
    devices: Table<ErrorCounts>,
    /// Machine checks, bytes of corrupted memory, times that the CPU of the run was too hot, and pages with errors.
    counts: [Option<u64>; 4],
    dimm_heat: Option<i32>,
}

impl HardwareCounts {
    /// Reads the counts; those of heat are of `cpu`.
    pub fn read(files: &impl Files, cpu: CpuId) -> Option<HardwareCounts> {
        let mut devices = Table::new(MOST_DEVICES).ok()?;
        ErrorCounts::read(files, &mut |device| _ = devices.push(*device));
        let heat = |part| {
            let count =
                format_args!("/sys/devices/system/cpu/cpu{cpu}/thermal_throttle/{part}_throttle_count");
            files::number::<u64>(files, count)
        };
        let corrupted = from_meminfo(files, "HardwareCorrupted:").map(|bytes| bytes.0);
        let heat = heat("core").max(heat("package"));
        let counts = [machine_checks(files), corrupted, heat, pages_with_errors(files)];
        Some(HardwareCounts { devices, counts, dimm_heat: hottest_dimm(files) })
    }

    /// Returns the errors until a later reading.
    pub fn until(&self, mut after: HardwareCounts) -> HardwareErrors {
        for device in after.devices.iter_mut() {
            let before = self.devices.iter().find(|before| before.is_of(device));
            let [corrected, uncorrected, during @ ..] = &mut device.counts;
            if let Some(before) = before {
                increases(&before.counts, &[*corrected, *uncorrected], during);
            }
        }
        for device in self.devices.iter() {
            if !after.devices.iter().any(|after| after.is_of(device)) {
                after.devices.push(ErrorCounts { counts: [None; 4], ..*device });
            }
        }
        let mut found = HardwareErrors { dimm_heat: after.dimm_heat, ..HardwareErrors::default() };
        increases(&self.counts, &after.counts, &mut found.during);
        found.devices = (!after.devices.is_empty()).then_some(after.devices.leak());
        found
    }
}

/// Fills in the increases of counts; `None` of one that is unknown or falls.
fn increases(before: &[Option<u64>], after: &[Option<u64>], found: &mut [Option<u64>]) {
    for (found, (before, after)) in found.iter_mut().zip(before.iter().zip(after)) {
        *found = before.and_then(|before| after.as_ref()?.checked_sub(before));
    }
}

/// Returns the pages with errors of all nodes; `None` if the kernel does not count those of some node.
fn pages_with_errors(files: &impl Files) -> Option<u64> {
    let nodes: NodeSet = files::set(files, format_args!("/sys/devices/system/node/online"))?;
    let mut counts = nodes.iter().map(|node| failed_pages(files, NodeId(node)));
    let first = counts.next()??;
    counts.try_fold(first, |sum, count| Some(sum.saturating_add(count?)))
}

/// Returns the machine checks of all CPUs; `None` if this kernel does not count them.
fn machine_checks(files: &impl Files) -> Option<u64> {
    let mut buffer = Table::zeroed(MOST_READ).ok()?;
    let text = files.read("/proc/interrupts", &mut buffer)?;
    let line =
        text.split(|byte| *byte == b'\n').find_map(|line| line.trim_ascii_start().strip_prefix(b"MCE:"))?;
    // A count for each CPU, and then words.
    let counts = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let counts = counts.map_while(files::parse::<u64>);
    Some(counts.fold(0, u64::saturating_add))
}

/// Warns about errors during the run.
pub fn warn(warnings: &mut Warnings, found: &HardwareErrors) {
    for ErrorCounts { locator, counts: [corrected, uncorrected, during @ ..], .. } in
        found.devices.unwrap_or_default()
    {
        for (corrected, total, count) in [(true, corrected, during[0]), (false, uncorrected, during[1])] {
            if let (Some(total), Some(count @ 1..)) = (*total, count) {
                let warning = Warning::MemoryErrors { locator: *locator, count, total, corrected };
                warnings.push_worst_first(warning, 1);
            }
        }
    }
    let [checks, corrupted, overheated, pages] = found.during.map(Option::unwrap_or_default);
    // A page has 4 KiB or more.
    let corrupted = corrupted.max(pages.saturating_mul(4 << 10));
    if checks > 0 || corrupted > 0 {
        warnings.push(Warning::HardwareErrors { checks, corrupted: Bytes(corrupted) });
    }
    warnings.push_if(overheated > 0, Warning::Overheated { times: overheated });
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::Worded;
    use std::collections::BTreeMap;
    use std::string::{String, ToString};
    use std::vec::Vec;

    #[derive(Clone, Default)]
    struct Tree(BTreeMap<String, String>);

    impl Tree {
        fn set(&mut self, path: &str, content: &str) {
            self.0.insert(path.into(), content.into());
        }

        /// Adds a device with its counts of errors.
        fn device(mut self, place: &str, label: &str, counts: [&str; 2]) -> Tree {
            let directory = std::format!("/sys/devices/system/edac/mc/{place}");
            let (controller, _) = directory.rsplit_once('/').unwrap();
            self.set(&std::format!("{controller}/mc_name"), "i10nm\n");
            self.set(&std::format!("{directory}/size"), "32768\n");
            self.set(&std::format!("{directory}/dimm_label"), label);
            self.set(&std::format!("{directory}/dimm_ce_count"), counts[0]);
            self.set(&std::format!("{directory}/dimm_ue_count"), counts[1]);
            self
        }
    }

    impl Files for Tree {
        fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
            let content = self.0.get(path)?.as_bytes();
            let length = content.len().min(buffer.len());
            buffer[..length].copy_from_slice(&content[..length]);
            Some(&buffer[..length])
        }
    }

    fn between(before: &Tree, after: &Tree) -> HardwareErrors {
        let read = |tree| HardwareCounts::read(tree, CpuId(1)).unwrap();
        read(before).until(read(after))
    }

    /// The name of a device, and its corrected and uncorrected errors since boot and during the run.
    type Device = (String, [Option<u64>; 2], [Option<u64>; 2]);

    fn devices(found: &HardwareErrors) -> Vec<Device> {
        let all = found.devices.unwrap_or_default().iter();
        all.map(|ErrorCounts { locator, counts: [one, other, during @ ..], .. }| {
            (locator.to_string(), [*one, *other], *during)
        })
        .collect()
    }

    fn warnings(found: &HardwareErrors) -> Vec<(&'static str, &'static str, String)> {
        let mut warnings = Warnings::empty();
        warn(&mut warnings, found);
        let told = |warning: &Warning| (warning.code(), warning.severity().word(), warning.to_string());
        warnings.iter().map(told).collect()
    }

    #[test]
    fn corrected_errors_during_the_run_lower_the_trust() {
        let tree = |one, other| {
            Tree::default().device("mc0/dimm0", "A1\n", [one, "0\n"]).device(
                "mc1/dimm2",
                "B3\n",
                [other, "0\n"],
            )
        };
        let found = between(&tree("1201\n", "7\n"), &tree("1204\n", "7\n"));
        assert_eq!(
            devices(&found),
            [
                ("A1".into(), [Some(1204), Some(0)], [Some(3), Some(0)]),
                ("B3".into(), [Some(7), Some(0)], [Some(0), Some(0)]),
            ]
        );
        let text = "1204 corrected memory errors since boot, 3 during this run, on DIMM A1";
        assert_eq!(warnings(&found), [("memory-errors", "fair", text.into())]);
        assert_eq!(warnings(&between(&tree("5", "7"), &tree("5", "7"))), []);
    }

    #[test]
    fn an_uncorrected_error_weighs_more_than_corrected_ones() {
        let tree = |counts| Tree::default().device("mc0/rank0", "A1", counts);
        let found = between(&tree(["0", "0"]), &tree(["5000", "1"]));
        let [(code, severity, text)] = &warnings(&found)[..] else { panic!("one warning") };
        assert_eq!((*code, *severity), ("memory-errors", "poor"));
        assert!(text.starts_with("1 uncorrected memory errors since boot, 1 during"), "{text}");
    }

    #[test]
    fn counts_of_trees_that_change_are_unknown() {
        let one = |count| Tree::default().device("mc0/dimm0", "A1", [count, "0"]);
        let known = [Some(2), Some(0)];
        for (before, after, expected) in [
            // A count falls.
            (one("9"), one("2"), std::vec![("A1", known, [None, Some(0)])]),
            // A device vanishes, appears, or has another name.
            (one("2"), Tree::default(), std::vec![("A1", [None; 2], [None; 2])]),
            (Tree::default(), one("2"), std::vec![("A1", known, [None; 2])]),
            (
                one("2"),
                Tree::default().device("mc0/dimm0", "A2", ["2", "0"]),
                std::vec![("A2", known, [None; 2]), ("A1", [None; 2], [None; 2])],
            ),
            // A count cannot be read.
            (one("x"), one("2"), std::vec![("A1", known, [None, Some(0)])]),
            (one("2"), one("-1"), std::vec![("A1", [None, Some(0)], [None, Some(0)])]),
        ] {
            let found = between(&before, &after);
            let expected: Vec<_> =
                expected.into_iter().map(|(name, total, during)| (name.to_string(), total, during)).collect();
            assert_eq!(devices(&found), expected);
            assert_eq!(warnings(&found), []);
        }
        let nothing = between(&Tree::default(), &Tree::default());
        assert_eq!(nothing, HardwareErrors::default());
    }

    #[test]
    fn machine_checks_lost_memory_and_heat_are_counted() {
        let tree = |checks: &str, corrupted: &str, heat: [&str; 2], pages: [&str; 2]| {
            let mut tree = Tree::default();
            let interrupts = "            CPU0       CPU1\n   0:    46    0  IO-APIC\n MCE:  CHECKS  Machine check exceptions\n \
                 MCP:  87  88   Machine check polls\n";
            tree.set("/proc/interrupts", &interrupts.replace("CHECKS", checks));
            tree.set("/proc/meminfo", &std::format!("MemTotal: 9 kB\nHardwareCorrupted: {corrupted} kB\n"));
            tree.set("/sys/devices/system/node/online", "0,2\n");
            for (node, count) in [0, 2].into_iter().zip(pages) {
                tree.set(&std::format!("/sys/devices/system/node/node{node}/memory_failure/total"), count);
            }
            for (part, count) in ["core", "package"].into_iter().zip(heat) {
                let path = "/sys/devices/system/cpu/cpu1/thermal_throttle";
                tree.set(&std::format!("{path}/{part}_throttle_count"), count);
            }
            tree
        };
        let before = tree("3 4", "0", ["2", "9"], ["0", "5"]);
        assert_eq!(between(&before, &before).during, [Some(0); 4]);
        let found = between(&before, &tree("3 5", "8", ["2", "11"], ["1", "6"]));
        assert_eq!(found.during, [Some(1), Some(8 << 10), Some(2), Some(2)]);
        let codes: Vec<_> =
            warnings(&found).into_iter().map(|(code, severity, _)| (code, severity)).collect();
        assert_eq!(codes, [("hardware-errors", "poor"), ("overheated", "fair")]);
        // Counts fall, or there are none.
        let found = between(&before, &tree("3", "x", ["1", ""], ["0", "4"]));
        assert_eq!((found.during, warnings(&found)), ([None; 4], Vec::new()));
    }

    #[test]
    fn pages_with_errors_are_known_if_every_node_counts_them() {
        let tree = |online: &str, counts: [&str; 2]| {
            let mut tree = Tree::default();
            tree.set("/sys/devices/system/node/online", online);
            for (node, count) in [0, 1].into_iter().zip(counts) {
                tree.set(&std::format!("/sys/devices/system/node/node{node}/memory_failure/total"), count);
            }
            tree
        };
        let before = tree("0-1", ["4", "0"]);
        for (online, counts, during) in [
            ("0-1", ["4", "0"], Some(0)),
            ("0-1", ["5", "2"], Some(3)),
            ("0-1", ["3", "0"], None),
            ("0-1", ["18446744073709551615", "9"], Some(u64::MAX - 4)),
            ("0-1", ["4", "many"], None),
            ("0-1", ["-1", "0"], None),
            ("0-2", ["4", "0"], None),
            ("\n", ["4", "0"], None),
        ] {
            let found = between(&before, &tree(online, counts));
            assert_eq!(found.during, [None, None, None, during], "{online} {counts:?}");
            let told = during.is_some_and(|pages| pages > 0);
            assert_eq!(!warnings(&found).is_empty(), told, "{online} {counts:?}");
        }
        assert_eq!(between(&before, &Tree::default()).during, [None; 4]);
    }

    #[test]
    fn the_hottest_device_counts_after_the_run() {
        let tree = |sensors: &[(&str, &str)]| {
            let mut tree = Tree::default();
            for (index, (driver, degrees)) in sensors.iter().enumerate() {
                // Numbers of sensors have gaps.
                let directory = std::format!("/sys/class/hwmon/hwmon{}", 2 * index);
                tree.set(&std::format!("{directory}/name"), driver);
                tree.set(&std::format!("{directory}/temp1_input"), degrees);
            }
            tree
        };
        let before = tree(&[("spd5118\n", "90000\n")]);
        for (sensors, hottest) in [
            (&[("spd5118\n", "41250\n"), ("coretemp\n", "99000\n"), ("jc42\n", "43000\n")][..], Some(43_000)),
            (&[("jc42\n", "-5000\n")], Some(-5000)),
            (&[("jc42\n", "999999\n")], None),
            (&[("jc42\n", "hot\n"), ("spd5118\n", "")], None),
            (&[("nvme\n", "60000\n")], None),
            (&[], None),
        ] {
            assert_eq!(between(&before, &tree(sensors)).dimm_heat, hottest, "{sensors:?}");
        }
    }
}
