//! Tests of the amount of a node's memory that plans use: files that the kernel would evict, control groups that
//! several targets share, and plans that are refused before anything is mapped.

use std::boxed::Box;
use std::collections::BTreeSet;
use std::string::String;
use std::vec;
use std::vec::Vec;

use latency_core::host::{Allowance, Bound, MemoryLimit};
use latency_core::{Bytes, NodeId, PageSize, Pages};

use crate::experiment::tests::{fixture, machine, machine_of, options, planned};
use crate::plan;
use latency_engine::machine::{Machine, Sizing};
use latency_engine::pieces::fits;
use latency_engine::tests::leaked;

const MIB: Bytes = Bytes::MIB;

/// Returns a machine with one node of 16 GB. The arguments are the KiB that are free, in old files, in files in use and
/// in slabs.
fn with_files(free: u64, inactive: u64, active: u64, slabs: u64) -> Box<Machine> {
    let text = fixture("one-node");
    let from = text.find("Node 0 MemFree:").unwrap();
    let to = from + text[from..].find('\n').unwrap();
    let amounts = std::format!(
        "Node 0 MemFree: {free} kB\nNode 0 Active(file): {active} kB\nNode 0 Inactive(file): {inactive} kB\n\
         Node 0 SReclaimable: {slabs} kB"
    );
    let text = [&text[..from], &amounts, &text[to..]].concat();
    let from = text.find("MemAvailable:").unwrap();
    let to = from + text[from..].find('\n').unwrap();
    machine_of(&[&text[..from], "MemAvailable: 1 kB", &text[to..]].concat(), None)
}

fn limited(name: &str, headroom: Bytes) -> Box<Machine> {
    let mut machine = machine(name, None);
    machine.host.memory_limit = Some(MemoryLimit { limit: headroom, usage: Bytes(0), headroom });
    machine
}

fn size(machine: &Machine, line: &str) -> (Bytes, Vec<&'static str>) {
    let (points, _, codes) = planned(machine, line).unwrap();
    (points[0].size, codes)
}

fn refusal(machine: &Machine, line: &str) -> String {
    planned(machine, line).map(drop).unwrap_err()
}

#[test]
fn cached_files_count_as_memory_that_a_node_can_give() {
    // 20 MiB are free, and 2 GiB of files fill the rest.
    let full = with_files(20 << 10, 1 << 20, 2 << 20, 100 << 10);
    let supply = full.supply(NodeId(0)).unwrap();
    assert_eq!((supply.free, supply.reclaimable), (MIB.times(20), MIB.times(2148)));
    assert_eq!(size(&full, ""), (MIB.times(256), Vec::new()));
    assert_eq!(size(&full, "--size=1900M").0, MIB.times(1900));
    let message = refusal(&full, "--size=2G");
    assert!(
        message
            .starts_with("not enough memory on node 0: need 2 GiB, 20 MiB free and 2.1 GiB in cached files"),
        "{message}"
    );
}

#[test]
fn a_node_that_is_full_is_not_one_of_unknown_memory() {
    let full = with_files(0, 0, 0, 0);
    assert!(refusal(&full, "").contains("not enough memory on node 0: need "));
    assert!(refusal(&full, "--size=1M").contains("on node 0: need 1 MiB, 0 B free"));
    let mut unknown = machine("no-sysfs", None);
    unknown.topology = latency_core::topology::Topology::EMPTY;
    assert_eq!(unknown.supply(NodeId(0)), None);
    // If no file describes the memory, any amount is possible.
    let point = planned(&machine("one-node", None), "").unwrap().0[0];
    assert_eq!(unknown.most(&point, &[point]), MIB.times(1 << 20));
}

#[test]
fn one_node_can_give_what_the_machine_can() {
    // Memory that is initialised late is first counted for the machine, not for the node.
    let mut late = with_files(10_689_496, 0, 0, 0);
    assert!(refusal(&late, "--size=12G").contains("10.2 GiB free"));
    late.host.memory_available = Some(Bytes::GIB.times(22));
    assert_eq!(size(&late, "--size=12G").0, Bytes::GIB.times(12));
    // No node can provide more memory than the machine has.
    late.host.memory_total = Some(Bytes::GIB.times(23));
    assert_eq!(late.memory_of(&late.topology.nodes()[0]), Bytes::GIB.times(23));
    // With several nodes, the sum tells nothing about a single node.
    let two = machine("two-sockets", None);
    assert_eq!(two.supply(NodeId(0)).unwrap().reclaimable, Bytes(0));
}

#[test]
fn unavailable_memory_is_refused_before_anything_is_announced() {
    let one = machine("one-node", None);
    for line in [
        "--size=900T",
        "--size=900T --dry-run",
        "order --size=900T",
        "curve --max-size=900T",
        "bandwidth --size=900T",
    ] {
        assert!(refusal(&one, line).starts_with("not enough memory on node 0: need 900 TiB, "), "{line}");
    }
    // Pages of a pool do not count as free memory.
    assert!(planned(&one, "--size=900T --pages=2m").is_ok());
}

#[test]
fn targets_share_the_headroom_of_a_control_group() {
    let together = |machine: &Machine, line: &str| {
        let (points, budget, _) = planned(machine, line).unwrap();
        let one = |target| points.iter().copied().filter(move |point| point.target == target);
        (fits(machine, &mut points.iter().copied(), &budget), fits(machine, &mut one(NodeId(0)), &budget))
    };
    let four = limited("four-nodes", MIB.times(700));
    let cache = four.last_level_cache();
    // A share of 86 MiB would not reach memory. Half of the headroom does, with one target after another.
    assert!(cache.times(4) > MIB.times(86));
    let (default, codes) = size(&four, "");
    assert_eq!(default, cache.times(4).min(MIB.times(350)).min(MIB.times(256)));
    assert_eq!(codes.contains(&"size-clipped"), default < MIB.times(256));
    assert_eq!(together(&four, ""), (false, true));
    // If a share reaches memory, each target gets its share.
    let roomy = limited("four-nodes", cache.times(40));
    assert_eq!(size(&roomy, "").0, cache.times(5).min(MIB.times(256)));
    assert_eq!(together(&roomy, ""), (true, true));
    // A requested size is measured for one target after another, or refused.
    assert_eq!(together(&four, "--size=256M"), (false, true));
    assert_eq!(together(&four, "--size=128M"), (true, true));
    let message = refusal(&four, "--size=650M");
    assert!(message.contains("for node 0: need 650 MiB, 700 MiB left in the cgroup"), "{message}");
}

#[test]
fn generators_and_chains_leave_a_fifth_to_other_processes() {
    let taken = |machine: &Machine, line: &str| {
        let (points, ..) = planned(machine, line).unwrap();
        let chains = points.iter().map(|point| (point.target.0, point.size.0, false));
        let fields = points.iter().filter_map(|point| point.walk.traffic());
        let fields = fields.map(|traffic| (traffic.node.0, traffic.footprint.0, true));
        chains.chain(fields).collect::<BTreeSet<_>>().into_iter().map(|(_, size, _)| size).sum::<u64>()
    };
    for (name, headroom) in [
        ("one-node", 400),
        ("two-sockets", 700),
        ("four-nodes", 700),
        ("four-nodes", 9000),
        ("two-sockets", 60),
    ] {
        let machine = limited(name, MIB.times(headroom));
        let taken = taken(&machine, "loaded");
        assert!(taken <= MIB.times(headroom).0 / 5 * 4, "{name}: {taken} of {headroom} MiB");
    }
    let one = with_files(600 << 10, 0, 0, 0);
    assert!(taken(&one, "loaded") <= MIB.times(480).0);
    // The requested size is that of the chain; the generators need further memory, which may exceed the limit.
    assert!(refusal(&one, "loaded --size=500M").contains("not enough memory on node 0"));
}

#[test]
fn caches_of_an_impossible_size_are_ignored_with_a_warning() {
    let text = fixture("one-node");
    for (reported, absurd) in [
        ("size\n32K", "4"),
        ("size\n32K", "18446744073709551616"),
        ("size\n32768K", "1K"),
        ("size\n32768K", "17179869184K"),
    ] {
        assert!(text.contains(reported), "{reported}");
        let absurd = std::format!("size\n{absurd}");
        let machine = machine_of(&text.replace(reported, &absurd), None);
        for line in ["curve", "matrix", "parallel", "variants"] {
            let (points, ..) = planned(&machine, line).unwrap();
            let range = points
                .iter()
                .map(|point| point.size)
                .fold((Bytes(u64::MAX), Bytes(0)), |(least, most), size| (least.min(size), most.max(size)));
            assert!(range.0 >= Bytes(4 << 10) && range.1 >= MIB.times(4), "{line} {absurd}: {range:?}");
        }
        let mut warnings = latency_engine::warning::Warnings::empty();
        latency_engine::machine::detect::warn(&machine, &mut warnings);
        assert!(warnings.iter().any(|warning| warning.code() == "cache-size-implausible"), "{absurd}");
    }
}

/// Returns the fixture with the findings of a search; `size` limits the memory that the search could use.
fn looked_at(size: Bytes, clear: bool, cache: Option<Bytes>, in_cache: Option<Bytes>) -> Box<Machine> {
    let first = MIB.times(256).min(size);
    let sizing = Sizing {
        first,
        size,
        cold_ns: 100.0,
        warm_over_cold: 1.0,
        clear: Some(clear),
        cache,
        in_cache,
        cache_sought: true,
        seconds: 0.2,
    };
    Box::new(machine("one-node", None).with_sizing(sizing))
}

#[test]
fn plans_use_the_found_size_of_a_cache_smaller_than_reported() {
    let told = |cache: &str| machine_of(&fixture("one-node").replace("size\n32768K", cache), None);
    let guest = told("size\n307200K");
    assert_eq!(size(&guest, "").0, MIB.times(1200));
    let found = looked_at(MIB.times(256), true, Some(MIB.times(12)), Some(MIB.times(4)));
    let found = Machine { sizing: found.sizing, ..*guest };
    // The default working set is that of the report.
    for line in ["", "distribution", "window"] {
        let (points, _, codes) = planned(&found, line).unwrap();
        let largest = points.iter().map(|point| point.size).max().unwrap();
        assert_eq!((largest, codes.len()), (MIB.times(1200), 0), "{line} {codes:?}");
    }
    let sizes = |machine: &Machine, line: &str| -> BTreeSet<u64> {
        planned(machine, line).unwrap().0.iter().map(|point| point.size.0 >> 20).collect()
    };
    assert!(sizes(&guest, "parallel").contains(&100) && sizes(&guest, "variants").contains(&100));
    for line in ["parallel", "variants"] {
        assert!(sizes(&found, line).contains(&4) && !sizes(&found, line).contains(&100), "{line}");
    }
    // Without a cache that serves the core, the region for it is missing.
    let none = Machine { sizing: looked_at(MIB.times(256), true, Some(MIB), None).sizing, ..*guest };
    assert_eq!(sizes(&none, "parallel").len() + 1, sizes(&found, "parallel").len());
}

/// Neighbours may leave a larger part of a cache a second later.
#[test]
fn sizes_beyond_a_cache_use_its_whole_reported_size() {
    let told = machine_of(&fixture("one-node").replace("size\n32768K", "size\n49152K"), None);
    let found = looked_at(MIB.times(256), true, Some(MIB.times(8)), Some(MIB.times(3)));
    let shared = Machine { sizing: found.sizing, ..*told };
    assert_eq!((shared.last_level_cache(), shared.largest_cache()), (MIB.times(8), MIB.times(48)));
    let trail = |machine: &Machine| planned(machine, "parallel").unwrap().1.trail;
    assert_eq!((trail(&told), trail(&shared)), (72 << 14, 72 << 14));
    let largest = |line: &str| planned(&shared, line).unwrap().0.iter().map(|point| point.size).max();
    // A curve shows the plateau of memory for any share of the cache.
    assert_eq!(largest("curve"), Some(MIB.times(192)));
    assert_eq!(largest(""), Some(MIB.times(256)));
    assert_eq!(shared.least_in_memory(), MIB.times(16));
    // Generators walk over more than the whole cache.
    let text = fixture("one-node").replace("size\n32768K", "size\n102400K");
    let large = Machine { sizing: found.sizing, ..*machine_of(&text, None) };
    let (points, ..) = planned(&large, "bandwidth").unwrap();
    let footprint = points.iter().filter_map(|point| point.walk.traffic()).map(|traffic| traffic.footprint);
    assert!(footprint.min() >= Some(MIB.times(400)));
    // If the search was too noisy, the reported size is used.
    let undecided = |machine: &Machine| {
        let sizing = Sizing { clear: None, ..found.sizing.unwrap() };
        size(&Machine { sizing: Some(sizing), ..*machine }, "")
    };
    assert_eq!((undecided(&told), undecided(&large)), ((MIB.times(256), vec![]), (MIB.times(400), vec![])));
    // A cache that is found to be larger than reported counts as found.
    let larger = looked_at(MIB.times(512), true, Some(MIB.times(96)), None);
    assert_eq!(larger.largest_cache(), MIB.times(96));
}

#[test]
fn a_cache_that_is_larger_than_reported_is_warned_about_and_is_within_the_curve() {
    let found = looked_at(MIB.times(512), true, Some(MIB.times(96)), Some(MIB.times(32)));
    for (line, size, is_warned) in [("", 256, true), ("window", 256, true), ("curve", 512, false)] {
        let (points, _, codes) = planned(&found, line).unwrap();
        let largest = points.iter().map(|point| point.size).max().unwrap();
        assert_eq!(largest, MIB.times(size), "{line}");
        assert_eq!(codes.contains(&"cache-could-hold"), is_warned, "{line}");
    }
    assert_eq!(found.least_in_memory(), MIB.times(192));
}

/// Eight default runs of one machine had working sets of 256 MiB and of 1.88 GiB, by what each look found.
#[test]
fn every_look_at_one_machine_leaves_its_default_working_set() {
    for (reported, expected) in [("size\n32768K", 256), ("size\n491520K", 1920)] {
        let told = machine_of(&fixture("one-node").replace("size\n32768K", reported), None);
        assert_eq!(size(&told, "").0, MIB.times(expected));
        for (found, clear, cache) in [
            (256, Some(true), Some(12)),
            (256, None, None),
            (512, Some(true), Some(96)),
            (2048, Some(false), Some(700)),
        ] {
            let sizing = looked_at(MIB.times(found), true, cache.map(|cache| MIB.times(cache)), None).sizing;
            let sizing = sizing.map(|sizing| Sizing { clear, ..sizing });
            let looked = Machine { sizing, ..*told };
            assert_eq!(size(&looked, "").0, MIB.times(expected), "{reported}: {sizing:?}");
        }
    }
    // Where no cache is reported, the working set that was found is the default one.
    let mut unknown = machine("one-node", None);
    (unknown.host.caches, unknown.processor.caches) = Default::default();
    assert_eq!(size(&unknown, "").0, MIB.times(256));
    unknown.sizing = looked_at(MIB.times(512), true, Some(MIB.times(96)), None).sizing;
    assert_eq!(size(&unknown, "").0, MIB.times(512));
}

#[test]
fn measured_misses_override_the_reported_cache_and_measured_hits_do_not() {
    let small = limited("one-node", MIB.times(200));
    assert!(size(&small, "").1.contains(&"cache-could-hold"));
    let with = |clear| {
        let sizing = looked_at(MIB.times(100), clear, None, None).sizing;
        Machine { sizing, ..*small }
    };
    // The warning that memory did not suffice is given in any case.
    assert_eq!(size(&with(true), ""), (MIB.times(100), ["size-clipped"].to_vec()));
    assert_eq!(size(&with(false), ""), (MIB.times(100), ["size-clipped", "cache-could-hold"].to_vec()));
    // Observed hits count, even if the reported cache is small.
    let served = looked_at(MIB.times(256), false, None, None);
    assert!(served.last_level_cache().times(4) <= MIB.times(256));
    assert_eq!(size(&served, "").1, ["cache-could-hold"]);
    // The warning names neither a reported cache that is too small for these hits, nor a size smaller than this one.
    let mut warnings = latency_engine::warning::Warnings::empty();
    let mut planning =
        plan::Planning { options: &options(""), machine: &leaked(&[served])[0], warnings: &mut warnings };
    plan::working_set(&mut planning, NodeId(0), 1).unwrap();
    let told = warnings.groups().map(|group| std::format!("{group}")).collect::<Vec<_>>().join("\n");
    assert_eq!(told, "part of 256 MiB hit in a cache in a test before the run; use --size=512M or more");
}

#[test]
fn a_search_runs_only_if_the_program_chooses_the_size() {
    let one = machine("one-node", None);
    let looked = |line: &'static str| {
        let (points, ..) = planned(&one, line).unwrap();
        plan::point_of_search(&options(line), &one, &points)
    };
    for line in ["", "curve", "order", "pages", "parallel", "window", "variants", "distribution", "bandwidth"]
    {
        let like = looked(line).unwrap_or_else(|| panic!("{line}"));
        assert_eq!((like.walk.lanes(), like.stride, like.pages), (1, Bytes(64), Pages::AUTO), "{line}");
    }
    for line in ["--size=1M", "curve --max-size=1M", "system"] {
        assert!(looked(line).is_none(), "{line}");
    }
}

#[test]
fn generators_have_memory_beyond_all_caches_and_leave_most_of_the_node() {
    let footprints = |machine: &Machine, line: &str| -> Vec<(u32, Bytes)> {
        let (points, ..) = planned(machine, line).unwrap();
        let traffic = points.iter().filter_map(|point| point.walk.traffic().copied());
        traffic.map(|traffic| (traffic.generators, traffic.footprint)).collect()
    };
    let four = machine("four-nodes", None);
    let cache = four.last_level_cache();
    // A single core walks over as much memory as all cores together do, unless a size was requested.
    let own = footprints(&four, "bandwidth --cpunode=0 --memnode=0");
    assert_eq!(own.iter().map(|one| one.0).collect::<Vec<_>>(), [1, 12, 24]);
    assert!(
        own.iter().all(|one| one.1 == own[0].1 && one.1 >= cache.times(4) && one.1 >= MIB.times(24 * 16))
    );
    let each = footprints(&four, "bandwidth --cpunode=0 --memnode=0 --size=1M");
    assert_eq!(each, [(1, MIB), (12, MIB.times(12)), (24, MIB.times(24))]);
    let small = limited("four-nodes", MIB.times(100));
    let within = footprints(&small, "bandwidth --cpunode=0 --memnode=0");
    assert!(within.iter().all(|one| one.1 <= MIB.times(40)), "{within:?}");
    assert!(refusal(&small, "bandwidth --cpunode=0 --memnode=0 --size=10M").contains("need 120 MiB"));
}

#[test]
fn a_curve_is_of_one_pair_of_nodes() {
    let two = machine("two-sockets", None);
    let pair =
        |line: &str| planned(&two, line).map(|(points, ..)| (points[0].initiator.0, points[0].target.0));
    // Local memory if it is one of the targets, and the nearest memory otherwise.
    assert_eq!([pair("curve"), pair("curve --cpunode=1")], [Ok((0, 0)), Ok((1, 1))]);
    assert_eq!(pair("curve --cpunode=1 --memnode=0"), Ok((1, 0)));
    for line in ["curve --cpunode=0,1", "curve --memnode=0,1"] {
        assert!(refusal(&two, line).contains("measures one pair"), "{}", refusal(&two, line));
    }
}

#[test]
fn a_region_has_room_beside_the_largest_chain_where_memory_is_free() {
    let full = with_files(100 << 10, 0, 0, 0);
    let region = |size: Bytes, pages| latency_engine::regions::size_with_room(size, &full, NodeId(0), pages);
    // A quarter more than the size, in whole pages of 2 MiB or of the requested size.
    assert_eq!(region(MIB.times(32), Pages::AUTO), MIB.times(40));
    assert_eq!(region(Bytes(4096), Pages::base(PageSize::KIB_4)), MIB.times(2));
    assert_eq!(region(MIB.times(9), Pages::base(PageSize::KIB_4)), MIB.times(12));
    // At most three quarters of 100 MiB.
    assert_eq!(region(MIB.times(60), Pages::AUTO), MIB.times(60));
    let roomy = with_files(4 << 20, 0, 0, 0);
    let page = MIB.times(1024);
    assert_eq!(
        latency_engine::regions::size_with_room(
            MIB.times(900),
            &roomy,
            NodeId(0),
            Pages::of_pool(PageSize::GIB_1)
        ),
        page.times(2)
    );
}

#[test]
fn the_nodes_that_memory_is_bound_to_are_the_targets() {
    let targets = |bound: Option<&[u32]>| {
        let mut machine = machine("two-sockets", None);
        machine.bound_to = bound.map(|nodes| nodes.iter().copied().collect());
        let (points, _, codes) = planned(&machine, "matrix").unwrap();
        let targets: BTreeSet<u32> = points.iter().map(|point| point.target.0).collect();
        (Vec::from_iter(targets), codes.contains(&"inherited-policy"))
    };
    assert_eq!(targets(Some(&[1])), ([1].to_vec(), true));
    // A policy that allows all nodes restricts nothing. A policy that allows none of the nodes is ignored, because
    // nothing could be measured.
    for unbound in [None, Some(&[0, 1][..]), Some(&[7])] {
        assert_eq!(targets(unbound), ([0, 1].to_vec(), false), "{unbound:?}");
    }
}

#[test]
fn bandwidth_is_of_the_cpus_that_were_asked_for() {
    let generating = |machine: &Machine, line: &str| -> Vec<String> {
        let (options, (points, ..)) = (options(line), planned(machine, line).unwrap());
        let traffic = points.iter().filter_map(|point| Some((point, point.walk.traffic()?)));
        traffic
            .map(|(point, traffic)| {
                let cpus = plan::generators::generating(&options, machine, point, traffic);
                assert_eq!(cpus.len() as u32, traffic.generators, "{line}");
                std::format!("{} {cpus}", point.cpu)
            })
            .collect()
    };
    // CPUs 0 and 4 are the threads of one core of node 0, and 1 and 5 those of the other.
    let small = machine("two-small-sockets", None);
    for (more, expected) in [
        ("--cpunode=0", &["0 0", "0 0-1"][..]),
        ("--cpu=1", &["1 1"]),
        ("--cpu=1 --view=mix --traffic=read", &["1 1"]),
        ("--cpu=1 --view=cores", &["1 1"]),
        ("--cpu=5 --load-threads=one", &["5 5", "5 0,5"]),
        ("--cpu=1 --load-threads=all", &["1 1", "1 0-1", "1 0-1,4-5"]),
        ("--load-cpus=1,5", &["1 1", "1 1,5"]),
        ("--load-cpus=0-1,4 --cpu=1", &["1 1", "1 0-1,4"]),
        ("--load-cpus=0-1 --cpu=2 --memnode=1", &["2 2", "2 0-2"]),
    ] {
        let line = std::format!("bandwidth --memnode=0 {more}");
        let line = if more.contains("--memnode") { std::format!("bandwidth {more}") } else { line };
        assert_eq!(generating(&small, &line), expected, "{line}");
    }
}

#[test]
fn other_limits_of_memory_reduce_the_working_set_and_are_named() {
    for (by, left, words) in [
        (Bound::Commit, "left to commit (vm.overcommit_memory=2)", "raise vm.overcommit_ratio"),
        (Bound::AddressSpace, "left of the address space (RLIMIT_AS)", "raise ulimit -v"),
        (Bound::Data, "left of the data size (RLIMIT_DATA)", "raise ulimit -d"),
    ] {
        let mut one = machine("one-node", None);
        one.host.allowance = Some(Allowance { left: MIB.times(100), by });
        let (default, codes) = size(&one, "");
        assert_eq!((default, codes.contains(&"size-clipped")), (MIB.times(32), true), "{by:?}");
        let message = refusal(&one, "--size=99M");
        assert!(message.contains(&std::format!("need 99 MiB, 100 MiB {left}; use a smaller")), "{message}");
        assert!(message.ends_with(words), "{message}");
    }
}

#[test]
fn residency_has_a_form_for_any_control_group() {
    for headroom in [8, 64, 256] {
        let (points, ..) = planned(&limited("one-node", MIB.times(headroom)), "residency").unwrap();
        assert!(!points.is_empty(), "{headroom} MiB");
        assert!(points.iter().all(|point| point.size <= MIB.times(headroom / 2)), "{headroom} MiB");
    }
}
