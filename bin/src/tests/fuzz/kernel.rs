//! Damaged files of the kernel: whole machines with damaged files, and single lines.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use latency_core::host::{DimmSource, Dimms, read_table};
use latency_core::topology::Files;
use latency_core::{CpuSet, NodeId, NodeSet};
use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::arguments::planned;
use super::driver::{check, steers};
use super::mutation::{applied, damaged, mutations};
use crate::experiment::tests::{fixture, options, surveyed};
use latency_engine::result::conditions::{CpuTime, ran_and_waited};
use latency_engine::result::placed::{numa_maps_line, smaps_opens, smaps_transparent_huge};

/// The files of a machine, with arbitrary bytes.
#[derive(Clone)]
struct Tree(BTreeMap<String, Vec<u8>>);

impl Tree {
    fn of(name: &str) -> Tree {
        let text = fixture(name);
        let files = text.split("=== ").skip(1).filter_map(|part| part.split_once('\n'));
        Tree(files.map(|(path, content)| (path.to_owned(), content.as_bytes().to_vec())).collect())
    }
}

impl Files for Tree {
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let content = self.0.get(path)?;
        let length = content.len().min(buffer.len());
        buffer[..length].copy_from_slice(&content[..length]);
        Some(&buffer[..length])
    }
}

const MACHINES: [&str; 6] =
    ["one-node", "four-nodes", "cxl-memory", "cpu-only-node", "cpuset-part", "kernel-without-numa"];
const PLANS: [&str; 9] = [
    "matrix",
    "curve",
    "order",
    "pages",
    "variants",
    "parallel",
    "window",
    "distribution",
    "matrix --size=64M --pages=2m",
];

#[test]
fn machines_with_damaged_files() {
    let trees = MACHINES.map(Tree::of);
    let damage = prop::collection::vec((any::<Index>(), mutations(), any::<bool>()), 1..6);
    let strategy = (0..trees.len(), damage, select(&PLANS[..]));
    check("machines", 250, &strategy, |(which, damage, line)| {
        let mut tree = trees[which].clone();
        let paths: Vec<String> = tree.0.keys().cloned().collect();
        for (file, mutations, is_gone) in damage {
            let path = file.get(&paths);
            let content = tree.0.remove(path).unwrap_or_default();
            if !is_gone || !mutations.is_empty() {
                tree.0.insert(path.clone(), applied(&content, &mutations));
            }
        }
        let machine = surveyed(&tree, None);
        for node in machine.topology.nodes() {
            prop_assert!(machine.topology.ids().contains(node.id.0));
            prop_assert!(node.cpus.iter().all(|cpu| machine.topology.online_cpus.contains(cpu)));
        }
        let host = &machine.host;
        prop_assert!(host.memory_limit.is_none_or(|limit| limit.headroom <= limit.limit));
        for text in [host.kernel.as_str(), &host.cpu_model.to_string(), &host.clock_source.to_string()] {
            prop_assert_eq!(steers(text), None);
        }
        planned(&options(line), &machine)
    });
}

#[test]
fn lists_of_numbers() {
    let part = select(
        &["0", "1", "63", "64", "8191", "8192", "1023", "4294967296", "-", ",", " ", "\n", "0-3", "7-5", "x"]
            [..],
    );
    let strategy = prop::collection::vec(part, 0..12);
    check("lists", 4000, &strategy, |parts| {
        let text = parts.concat();
        for read in [CpuSet::parse_list, CpuSet::parse_kernel] {
            if let Ok(set) = read(text.as_bytes()) {
                prop_assert_eq!(set.iter().count(), set.len());
                prop_assert!(set.last().is_none_or(|last| last < CpuSet::CAPACITY));
                let written = format!("{set}");
                prop_assert_eq!(CpuSet::parse_kernel(written.as_bytes()).ok(), Some(set), "{}", written);
            }
        }
        if let Err(error) = NodeSet::parse_list(text.as_bytes()) {
            prop_assert_eq!(steers(&format!("{error:?}")), None);
        }
        Ok(())
    });
}

const LINES: [&str; 7] = [
    "7f5a00000000 bind:1 anon=524288 dirty=524288 active=0 N0=12 N1=524288 kernelpagesize_kB=4",
    "7f5a00000000 default file=/a\\040b huge anon=8 dirty=8 N0=6 N2=2 kernelpagesize_kB=2048\n",
    "7f5a00000000-7f5a20000000 rw-p 00000000 00:00 0 [heap]",
    "AnonHugePages:    524288 kB",
    "cpu0 4705 356 584 3699176 23060 0 277 12 0 0",
    "cpu  4705 356 584 3699176",
    "5827193847 182736 4472",
];

#[test]
fn lines_of_proc() {
    check("lines", 8000, &(damaged(LINES.len()), any::<u64>()), |((which, mutations), address)| {
        let line = applied(LINES[which].as_bytes(), &mutations);
        for address in [address, 0x7f5a_0000_0000] {
            if let Some((counts, page)) = numa_maps_line(&line, address) {
                let sum = counts.nodes().iter().fold(0_u64, |sum, (_, pages)| sum.saturating_add(*pages));
                prop_assert!(counts.total() >= sum && page.is_none_or(|page| page.0 % 1024 == 0));
            }
            let _ = smaps_opens(&line, address);
        }
        prop_assert!(smaps_transparent_huge(&line).is_none_or(|bytes| bytes.0 % 1024 == 0));
        if let Some((_, time)) = CpuTime::of_line(&line) {
            let twice = time.and(&time);
            prop_assert_eq!(twice.since(&twice).total, 0);
        }
        prop_assert_eq!(ran_and_waited(&line), ran_and_waited(&line));
        Ok(())
    });
}

/// Boxed for its size: each case has its own machine.
#[test]
fn a_machine_without_files_is_surveyed() {
    let machine: Box<_> = surveyed(&Tree(BTreeMap::new()), None);
    assert!(planned(&options("matrix"), &machine).is_ok());
}

/// Memory devices: five kinds of structures with arbitrary fields, of any length, damaged as a whole.
#[test]
fn tables_of_memory_devices() {
    let kind = select(&[16_u8, 17, 17, 17, 19, 20, 126][..]);
    let structure = (kind, prop::collection::vec(any::<u8>(), 0..92), any::<Option<u8>>(), 0..3_usize);
    let strategy = (prop::collection::vec(structure, 0..12), mutations(), any::<u16>());
    check("dimms", 4000, &strategy, |(structures, mutations, node)| {
        let mut table = Vec::new();
        for (kind, fields, length, texts) in structures {
            table.extend([kind, length.unwrap_or(fields.len() as u8 + 2)]);
            table.extend(&fields);
            table.extend(b"DIMM\x1b[1m\0".repeat(texts));
            table.extend([0; 2]);
        }
        let table = applied(&table, &mutations);
        let mut dimms = Vec::new();
        let node_at = |address: u64| (!address.is_multiple_of(3)).then_some(NodeId(u32::from(node)));
        let slots = read_table(&table, &node_at, &mut |dimm| dimms.push(*dimm));
        for dimm in &dimms {
            prop_assert_eq!(steers(dimm.locator.as_str()), None);
            prop_assert!(dimm.size.is_none_or(|size| size.0 > 0) && dimm.rate != Some(0));
            prop_assert!(dimm.node.is_none_or(|its| its == NodeId(u32::from(node))));
        }
        let populated = dimms.len();
        prop_assert!(slots.flatten().is_none_or(|slots| populated <= slots as usize));
        let dimms = Dimms { source: DimmSource::Smbios, slots: slots.flatten(), populated: &dimms };
        let all = dimms.most_bytes_per_second(None);
        let of_node = dimms.most_bytes_per_second(Some(NodeId(0)));
        prop_assert!(all.is_none_or(|all| of_node.is_none_or(|of_node| of_node <= all)));
        let _ = dimms.are_unequal(2);
        Ok(())
    });
}
