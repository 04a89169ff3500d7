//! The machine as a whole: tests of small machines whose every latency is known.

use super::*;
use crate::memory::{Latency, Region};
use crate::page::Page;

const LINE: u64 = 64;

fn level(lines: u64, ticks: u64, scope: Scope) -> Level {
    Level { sets: lines / 4, ways: 4, ticks, replacement: Replacement::LeastRecentlyUsed, scope }
}

/// Makes two nodes of 1 MiB with a CPU on each; local 1000, remote 2000.
fn machine(description: Description) -> Machine {
    let regions =
        vec![Region { node: 0, start: 0, size: 1 << 20 }, Region { node: 1, start: 1 << 20, size: 1 << 20 }];
    let latencies = [(0, 0, 1000), (0, 1, 2000), (1, 0, 2000), (1, 1, 1000)]
        .map(|(from, to, ticks)| Latency { from: Some(from), to: Some(to), ticks });
    Machine::new(description, Memory::new(regions, &latencies, &[0, 1]).unwrap(), &[0, 1])
}

/// Returns the mean ticks of the last of three laps over `lines` lines, by CPU `cpu`.
fn lap(machine: &Machine, cpu: usize, first: u64, lines: u64) -> u64 {
    let mut ticks = 0;
    for _ in 0..3 {
        ticks = (0..lines)
            .map(|line| first + line * LINE)
            .map(|address| machine.load(cpu, address, address, 0).unwrap().ticks)
            .sum();
    }
    ticks / lines
}

#[test]
fn each_working_set_costs_its_level() {
    let levels = vec![level(16, 5, Scope::Cpu), level(64, 50, Scope::Cpu), level(256, 300, Scope::All)];
    for (lines, expected) in [(16, 5), (32, 50), (64, 50), (128, 300), (256, 300), (512, 1000)] {
        let machine = machine(Description { levels: levels.clone(), ..Description::default() });
        assert_eq!(lap(&machine, 0, 0, lines), expected, "{lines} lines");
    }
}

#[test]
fn memory_latency_depends_on_the_pair_of_nodes() {
    let machine = machine(Description::default());
    let load = |cpu, address| machine.load(cpu, address, address, 0).unwrap();
    assert_eq!(
        load(0, 0),
        Outcome {
            ticks: 1000,
            tail: 0,
            translation: 0,
            misses: 0,
            pause: 0,
            source: Source::Memory(0),
            pair: Some(0),
            paid: false,
            prefetched: 0
        }
    );
    assert_eq!((load(0, 1 << 20).ticks, load(1, 1 << 20).ticks, load(1, 0).ticks), (2000, 1000, 2000));
    assert_eq!(
        load(0, 2 << 20),
        Outcome {
            ticks: 0,
            tail: 0,
            translation: 0,
            misses: 0,
            pause: 0,
            source: Source::Unclaimed,
            pair: None,
            paid: false,
            prefetched: 0
        }
    );
    assert_eq!(machine.load(2, 0, 0, 0), None);
    assert_eq!(machine.pair(0, 1 << 20), Some(Pair { from: 0, to: 1, ticks: 2000 }));
    assert_eq!((machine.pair(2, 0), machine.pair(0, 2 << 20)), (None, None));
    let counts = machine.counts();
    assert_eq!((counts.loads, counts.unclaimed, counts.ticks), (5, 1, 6000));
    assert_eq!(counts.pairs, [1, 1, 1, 1]);
}

#[test]
fn private_levels_are_separate_and_shared_levels_are_common() {
    let machine = machine(Description {
        levels: vec![level(16, 5, Scope::Cpu), level(64, 50, Scope::All)],
        ..Description::default()
    });
    let load = |cpu| machine.load(cpu, 0, 0, 0).unwrap().source;
    assert_eq!(load(0), Source::Memory(0));
    assert_eq!(load(1), Source::Level(1));
    assert_eq!((load(0), load(1)), (Source::Level(0), Source::Level(0)));
    assert_eq!(machine.counts().hits, [2, 1]);
}

#[test]
fn tails_and_pauses_are_periodic() {
    let periodic = |every, ticks| Periodic { every, ticks };
    let machine = machine(Description {
        tails: vec![periodic(10, 500), periodic(100, 9000)],
        pauses: vec![periodic(250, 1_000_000)],
        ..Description::default()
    });
    let loads: Vec<_> = (0..1000).map(|_| machine.load(0, 0, 0, 0).unwrap()).collect();
    let with = |ticks| loads.iter().filter(|load| load.ticks == ticks).count();
    assert_eq!((with(1000), with(1500), with(10_500)), (900, 90, 10));
    assert_eq!(loads.iter().filter(|load| load.pause == 1_000_000).count(), 4);
    let counts = machine.counts();
    assert_eq!((counts.tails, counts.pauses), (110, 4));
    assert_eq!(counts.ticks, 1000 * 1000 + 100 * 500 + 10 * 9000 + 4 * 1_000_000);
}

#[test]
fn translation_is_added_to_a_hit_in_any_level() {
    let tlb = TlbLevel { entries: 2, miss_ticks: 70, ways: 2, only: None };
    let machine = machine(Description {
        levels: vec![level(16, 5, Scope::Cpu)],
        tlb: vec![tlb],
        page: PageRule::Always(Page::Small),
        ..Description::default()
    });
    // Three pages with one line each, in different sets: the line always hits, the translation never does.
    let lap = |machine: &Machine| -> Vec<u64> {
        (0..3).map(|page| machine.load(0, page * (4096 + LINE), page * LINE, 0).unwrap().ticks).collect()
    };
    assert_eq!(lap(&machine), [1070, 1070, 1070]);
    assert_eq!(lap(&machine), [75, 75, 75]);
    assert_eq!(machine.counts().tlb_misses, [6]);
}

#[test]
fn the_prefetcher_serves_only_walks_in_order() {
    let description =
        || Description { levels: vec![level(16, 5, Scope::Cpu)], prefetch: 2, ..Description::default() };
    let ordered = machine(description());
    // Of the 64 lines of each 4 KiB, two are needed to find the direction.
    assert_eq!(lap(&ordered, 0, 0, 640), (2 * 1000 + 62 * 5) / 64);
    assert_eq!(ordered.counts().pairs[0], 3 * 10 * 2);
    let strided = machine(description());
    for step in 0..640 {
        assert_eq!(strided.load(0, 0, step * 128, 0).unwrap().source, Source::Memory(0));
    }
}

#[test]
fn noise_stays_for_its_loads_and_within_its_bounds() {
    let description =
        |seed| Description { noise: Some(Noise { share: 0.1, every: 50 }), seed, ..Description::default() };
    let loads = |seed| -> Vec<u64> {
        let machine = machine(description(seed));
        (0..50_000).map(|_| machine.load(0, 0, 0, 0).unwrap().ticks).collect()
    };
    let ticks = loads(1);
    let blocks: Vec<u64> = ticks.chunks(50).map(|block| block[0]).collect();
    assert!(ticks.chunks(50).all(|block| block.iter().all(|&one| one == block[0])));
    assert!(blocks.iter().all(|one| (900..=1100).contains(one)), "{blocks:?}");
    assert!(blocks.iter().any(|&one| one < 910) && blocks.iter().any(|&one| one > 1090), "{blocks:?}");
    // Five standard deviations of the mean of 1000 uniform blocks: 100 / sqrt(3) / sqrt(1000) each.
    let mean = ticks.iter().sum::<u64>() as f64 / ticks.len() as f64;
    assert!((mean - 1000.0).abs() < 9.2, "{mean}");
    assert!(loads(1) == ticks && loads(2) != ticks, "equal seeds alone give equal noise");
}

/// Makes two nodes whose levels of 64 lines serve each other; the memory behind them is cached for all.
fn with_levels_of_nodes() -> Machine {
    let levels = vec![level(16, 5, Scope::Cpu), level(64, 50, Scope::Node), level(256, 300, Scope::All)];
    machine(Description { levels, other: Some(90), ..Description::default() })
}

#[test]
fn a_line_comes_from_the_own_node_the_other_node_or_memory() {
    let machine = with_levels_of_nodes();
    let load = |cpu| machine.load(cpu, 0, 0, 0).unwrap();
    assert_eq!((load(0).source, load(1).source), (Source::Memory(0), Source::Other));
    assert_eq!((load(1).source, machine.counts().other), (Source::Level(0), 1));
    for line in 1..=20 {
        machine.load(1, 0, line * LINE, 0);
    }
    assert_eq!((load(1).source, load(1).ticks), (Source::Level(1), 5));
}

#[test]
fn a_store_past_the_caches_evicts_the_line_everywhere() {
    let machine = with_levels_of_nodes();
    let load = |cpu| machine.load(cpu, 0, 0, 0).unwrap().source;
    assert_eq!((load(0), load(1)), (Source::Memory(0), Source::Other));
    machine.stream(32);
    assert_eq!((load(1), load(0)), (Source::Memory(2), Source::Other));
    assert!(machine.minds_stores());
}

#[test]
fn drift_and_bursts_follow_the_time_of_a_load() {
    let drift = Some(Drift { share: 0.1, period: 400 });
    let burst = Some(Burst { every: 1 << 20, length: 50, share: 0.5 });
    let machine = machine(Description { drift, burst, ..Description::default() });
    let ticks = [0, 100, 300, 1 << 20].map(|now| machine.load(0, 0, 0, now).unwrap().ticks);
    assert_eq!(ticks[..3], [1500, 1100, 900]);
}

#[test]
fn memory_remembers_that_another_node_read_a_line() {
    let machine = machine(Description { directory_bit: 700, ..Description::default() });
    let load = |cpu, address| machine.load(cpu, address, address, 0).unwrap();
    assert_eq!([load(0, 0).ticks, load(1, 0).ticks, load(1, 0).ticks], [1000, 2000, 2000]);
    let (first, second) = (load(0, 0), load(0, 0));
    assert_eq!((first.ticks, first.paid, second.ticks, second.paid), (1700, true, 1000, false));
    // Node 1 owns these lines.
    load(0, 1 << 20);
    assert_eq!((load(1, 1 << 20).ticks, load(1, LINE).ticks), (1700, 2000));
    machine.stream(LINE);
    assert_eq!(load(0, LINE).ticks, 1000, "a line that is written whole was read by no node");
    assert_eq!(machine.counts().paid, [1, 0, 0, 1]);
    assert!(machine.minds_stores());
}

#[test]
fn a_cache_hit_changes_no_directory_bit() {
    let levels = vec![level(16, 5, Scope::Cpu)];
    let machine = machine(Description { levels, directory_bit: 700, ..Description::default() });
    let load = |cpu| machine.load(cpu, 0, 0, 0).unwrap().ticks;
    assert_eq!([load(0), load(1), load(0), load(1)], [1000, 2000, 5, 5]);
    (1..=20).for_each(|line| _ = machine.load(0, 0, line * LINE, 0));
    assert_eq!(load(0), 1700);
}

#[test]
fn a_miss_brings_the_other_line_of_its_pair() {
    let levels = vec![level(16, 5, Scope::Cpu), level(64, 50, Scope::All)];
    let machine = machine(Description { levels, adjacent: true, ..Description::default() });
    let load = |line| machine.load(0, 0, line * LINE, 0).unwrap();
    assert_eq!((load(7).source, load(7).prefetched), (Source::Memory(0), 0));
    assert_eq!((load(6).source, load(5).prefetched), (Source::Level(0), 1));
    // Both lines are in the shared level: nothing comes from memory.
    assert_eq!(machine.touch(1, 5 * LINE, 0), Some(Touched { from_memory: false, prefetched: 0 }));
}

#[test]
fn generators_use_the_levels_and_their_prefetcher() {
    let levels = vec![level(16, 5, Scope::Cpu), level(256, 50, Scope::All)];
    let machine = machine(Description { levels, prefetch: 20, ..Description::default() });
    let touch = |cpu, line| machine.touch(cpu, line * LINE, 0).unwrap();
    let touched = |from_memory, prefetched| Touched { from_memory, prefetched };
    assert_eq!(
        [touch(0, 0), touch(0, 1), touch(0, 2)],
        [touched(true, 0), touched(true, 20), touched(false, 1)]
    );
    assert_eq!([touch(1, 2), touch(1, 60)], [touched(false, 0), touched(true, 0)]);
    assert_eq!(machine.load(0, 0, 60 * LINE, 0).unwrap().source, Source::Level(1));
    assert_eq!((machine.touch(2, 0, 0), machine.counts().loads), (None, 1));
}

#[test]
fn without_a_level_prefetchers_bring_nothing() {
    let machine = machine(Description { prefetch: 8, adjacent: true, ..Description::default() });
    let brought: Vec<u64> =
        (0..9).map(|line| machine.load(0, 0, line * LINE, 0).unwrap().prefetched).collect();
    assert_eq!(brought, [0; 9]);
}

#[test]
fn a_neighbour_uses_only_common_levels() {
    let levels = vec![level(16, 5, Scope::Cpu), level(64, 50, Scope::Node), level(1024, 300, Scope::All)];
    let machine = machine(Description { levels, neighbour: 256, ..Description::default() });
    let load = |cpu, now| machine.load(cpu, 0, 0, now).unwrap().source;
    assert_eq!([load(0, 0), load(1, 0)], [Source::Memory(0), Source::Level(2)]);
    let period = 1 << 20;
    // 256 lines take all of a node's level, and a quarter of the common one: few of its sets lose all of their lines.
    for line in 1..=16 {
        machine.load(0, 0, line * LINE, period);
    }
    assert_eq!(load(0, period), Source::Level(2));
    (1..=16).for_each(|line| _ = machine.load(0, 0, line * LINE, 40 * period));
    assert_eq!((load(0, 40 * period), load(1, 40 * period)), (Source::Memory(0), Source::Level(0)));
}
