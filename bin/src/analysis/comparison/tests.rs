//! Rates of detected differences and of false ones, over many synthetic runs.

use super::*;
use crate::record::columns::{
    CLASS, ColumnSet, INITIATOR_CPU, INITIATOR_NODE, LINES, METHOD, NS, OP, PAGES_OBTAINED, POINTS,
    TARGET_CPU, TARGET_NODE, TRANSLATION, VERIFIED, WITHOUT_TRANSLATION, WORKING_SET,
};
use crate::record::row::{MEDIAN, ONE_WAY, Row};
use latency_core::{Bytes, Estimate};
use std::format;
use std::vec::Vec;

/// Normal variables by the central limit theorem, reproducible for a seed.
struct Chance(u64);

impl Chance {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut state = self.0;
        state = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        state = (state ^ (state >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((state ^ (state >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

/// The errors that a run adds to the truth: a drift of all points, an error of each point, and the stated intervals.
#[derive(Clone, Copy)]
struct Noise {
    drift: f64,
    scatter: f64,
    interval: f64,
}

const QUIET: Noise = Noise { drift: 0.0, scatter: 0.0, interval: 0.005 };

fn run(truth: &[Row], noise: Noise, slower: &dyn Fn(&Row) -> f64, chance: &mut Chance) -> Vec<Row> {
    let drift = 1.0 + noise.drift * chance.normal();
    let row = |row: &Row| {
        let nanoseconds = row.nanoseconds() * drift * slower(row) * (1.0 + noise.scatter * chance.normal());
        let interval = Interval {
            low: nanoseconds * (1.0 - noise.interval),
            high: nanoseconds * (1.0 + noise.interval),
        };
        row.clone().with(NS, Estimate { value: nanoseconds, interval: Some(interval) })
    };
    truth.iter().map(row).collect()
}

fn matrix(from: u32, to: u32) -> Vec<Row> {
    let pairs = (0..from).flat_map(|from| (0..to).map(move |to| (from, to)));
    let row = |(from, to)| {
        let row = Row::timed(if from == to { 100.0 } else { 180.0 }).with(WORKING_SET, Bytes(1 << 28));
        row.with(INITIATOR_NODE, from).with(TARGET_NODE, to)
    };
    pairs.map(row).collect()
}

fn curve(points: u32) -> Vec<Row> {
    let row = |index: u32| {
        let size = 16384.0 * 2f64.powf(f64::from(index) / 4.0);
        let nanoseconds = 1.0 + 100.0 * (size / 3e7).powi(2) / (1.0 + (size / 3e7).powi(2));
        let row = Row::timed(nanoseconds).with(WORKING_SET, size as u64);
        row.with(INITIATOR_NODE, 0_u32).with(TARGET_NODE, 0_u32)
    };
    (0..points).map(row).collect()
}

/// Returns all pairs of this number of CPUs, with neighbours on one core, and the classes of the pairs.
fn cores(cpus: u32) -> Vec<Row> {
    let of =
        |class: &str, op: &str, nanoseconds: f64| Row::timed(nanoseconds).with(CLASS, class).with(OP, op);
    let pairs = (0..cpus).flat_map(|a| (a + 1..cpus).map(move |b| (a, b)));
    let pairs = pairs.map(|(a, b)| {
        let (class, ns) = if a / 2 == b / 2 { ("same core", 8.0) } else { ("same L3", 50.0) };
        let row = of(class, ONE_WAY, ns).with(INITIATOR_CPU, a).with(TARGET_CPU, b);
        row.with(METHOD, "cas").with(LINES, 16_u32)
    });
    pairs.chain([of("same core", MEDIAN, 8.0), of("same L3", MEDIAN, 50.0)]).collect()
}

fn files<'f>(first: &'f [Vec<Row>], second: &'f [Vec<Row>]) -> Files<'f> {
    Files { rows: first.iter().chain(second).map(Vec::as_slice).collect(), ours: first.len() }
}

fn compared(first: &[Vec<Row>], second: &[Vec<Row>]) -> Comparison<'static> {
    let rows = first.iter().chain(second).map(|rows| &*rows.clone().leak());
    Comparison::new(&Files { rows: rows.collect(), ours: first.len() }, 0.03)
}

fn named(found: &Comparison<'_>) -> Vec<(PointGroup, usize, f64)> {
    let parts = found.parts(ComparisonVerdict::Slower, 6);
    parts.iter().map(|part| (part.group, part.points, part.by)).collect()
}

fn same(_: &Row) -> f64 {
    1.0
}

/// Returns how many of `runs` comparisons, with `files` files for each side, report something as slower.
fn slower(runs: u64, truth: &[Row], files: usize, noise: Noise, change: &dyn Fn(&Row) -> f64) -> usize {
    let found = |seed: &u64| {
        let mut chance = Chance(seed * 7919);
        let mut side = |change: &dyn Fn(&Row) -> f64| -> Vec<_> {
            (0..files).map(|_| run(truth, noise, change, &mut chance)).collect()
        };
        let (first, second) = (side(&same), side(change));
        compared(&first, &second).count(ComparisonVerdict::Slower) > 0
    };
    (0..runs).filter(found).count()
}

#[test]
fn a_slow_node_among_many_pairs_is_slower_and_named() {
    let truth = matrix(8, 10);
    let mut chance = Chance(1);
    let noise = Noise { scatter: 0.003, drift: 0.01, ..QUIET };
    let first = run(&truth, noise, &same, &mut chance);
    let second = run(&truth, noise, &|row| if row.pair().unwrap().1 == 9 { 1.5 } else { 1.0 }, &mut chance);
    let found = compared(&[first], &[second]);
    assert_eq!((found.count(ComparisonVerdict::Slower), found.count(ComparisonVerdict::Faster)), (8, 0));
    let [(group, points, by)] = named(&found)[..] else { panic!("{:?}", named(&found)) };
    assert!(matches!(group, PointGroup::Field(1, 9)) && points == 8, "{group:?}");
    assert!((by - 0.5).abs() < 0.02, "{by}");
    assert!((found.median_ratio().unwrap() - 1.0).abs() < 0.04);
}

#[test]
fn half_of_the_points_being_slower_makes_the_other_half_no_faster() {
    let truth = matrix(2, 2);
    let change = |row: &Row| if row.pair().is_some_and(|(_, to)| to == 1) { 1.12 } else { 1.0 };
    let mut chance = Chance(5);
    let found =
        compared(&[run(&truth, QUIET, &same, &mut chance)], &[run(&truth, QUIET, &change, &mut chance)]);
    assert_eq!((found.count(ComparisonVerdict::Slower), found.count(ComparisonVerdict::Faster)), (2, 0));
}

#[test]
fn one_slow_pair_of_sixteen_is_found_by_one_file_a_side() {
    let truth = matrix(4, 4);
    let slow = |row: &Row| if row.pair() == Some((0, 3)) { 1.08 } else { 1.0 };
    for (drift, scatter) in [(0.0, 0.005), (0.02, 0.005), (0.01, 0.008)] {
        let noise = Noise { drift, scatter, interval: 0.01 };
        let found = slower(200, &truth, 1, noise, &slow);
        assert!(found >= 190, "{found} of 200 with a drift of {drift} and a scatter of {scatter}");
    }
}

#[test]
fn unchanged_points_are_seldom_called_slower() {
    let noise = Noise { drift: 0.02, scatter: 0.01, interval: 0.01 };
    for (truth, what) in
        [(matrix(1, 1), "one pair"), (matrix(2, 2), "4"), (matrix(4, 4), "16"), (curve(48), "curve")]
    {
        for files in [1, 3] {
            let found = slower(100, &truth, files, noise, &same);
            assert!(found <= 5, "{found} of 100: {what}, {files} files a side");
        }
        // Several files show that runs lie farther apart than usual.
        let loud = Noise { drift: 0.05, ..noise };
        let found = slower(60, &truth, 3, loud, &same);
        assert!(found <= 3, "{found} of 60: {what}, loud");
    }
}

#[test]
fn slow_memory_shows_in_a_curve_as_a_run_of_sizes() {
    let truth = curve(48);
    let slow = |row: &Row| if row.size().0 > 20 << 20 { 1.1 } else { 1.0 };
    let noise = Noise { drift: 0.01, scatter: 0.005, interval: 0.01 };
    assert!(slower(100, &truth, 1, noise, &slow) >= 95);
    let slight = |row: &Row| if row.size().0 > 20 << 20 { 1.05 } else { 1.0 };
    assert!(slower(100, &truth, 3, noise, &slight) >= 90);
    let mut chance = Chance(3);
    let quiet = Noise { scatter: 0.002, ..noise };
    let (first, second) = (run(&truth, quiet, &same, &mut chance), run(&truth, quiet, &slow, &mut chance));
    let [(group, points, _)] = named(&compared(&[first], &[second]))[..] else { panic!() };
    let slow = truth.iter().filter(|row| slow(row) > 1.0).count();
    assert!(matches!(group, PointGroup::Run(..)) && points == slow, "{group:?} {points} {slow}");
}

#[test]
fn a_faster_whole_neither_hides_nor_blames_an_unchanged_part() {
    let truth = matrix(4, 4);
    let mut chance = Chance(5);
    let first = run(&truth, QUIET, &same, &mut chance);
    let change = |row: &Row| if row.pair() == Some((0, 3)) { 1.0 } else { 0.8 };
    let found = compared(core::slice::from_ref(&first), &[run(&truth, QUIET, &change, &mut chance)]);
    assert_eq!((found.count(ComparisonVerdict::Slower), found.count(ComparisonVerdict::Faster)), (0, 15));
    let change = |row: &Row| if row.pair() == Some((0, 3)) { 1.2 } else { 0.8 };
    let found = compared(&[first], &[run(&truth, QUIET, &change, &mut chance)]);
    assert_eq!((found.count(ComparisonVerdict::Slower), found.count(ComparisonVerdict::Faster)), (1, 15));
}

#[test]
fn a_field_constant_on_each_side_is_a_condition_and_does_not_join() {
    let first = matrix(2, 2);
    let mut second = first.clone();
    for row in &mut second {
        row.put(WORKING_SET, Bytes(1 << 29));
    }
    let (first, second) = ([first], [second]);
    let differing: Vec<_> = files(&first, &second).conditions().iter().map(|(field, _)| *field).collect();
    assert_eq!(differing, [WORKING_SET]);
    assert_eq!(compared(&first, &second).pairs().len(), 4);
    // The sizes distinguish the points of two curves.
    assert_eq!(join(&files(&[[].into()], &[[].into()]).conditions()), ColumnSet::POINTS);
    let (whole, part) = ([curve(20)], [curve(40).split_off(20)]);
    assert_eq!(files(&whole, &part).obstacle(), "working set");
}

#[test]
fn other_sizes_are_interpolated_between_the_points() {
    let rows = |points: &[(u64, f64)]| -> Vec<Row> {
        let row = |&(size, nanoseconds): &(u64, f64)| Row::timed(nanoseconds).with(WORKING_SET, size);
        points.iter().map(row).collect()
    };
    let first = rows(&[(128, 2.0), (512, 8.0), (4096, 9.0)]);
    let second = rows(&[(64, 1.0), (256, 4.0), (1024, 16.0)]);
    let found = compared(&[first], &[second]);
    assert_eq!(found.pairs().len(), 2);
    for pair in found.pairs() {
        assert!(pair.interpolated && (pair.ratio() - 1.0).abs() < 1e-9, "{pair:?}");
    }
}

#[test]
fn differing_pages_and_proof_are_reported() {
    let mut first = matrix(2, 2);
    for row in &mut first {
        row.put(PAGES_OBTAINED, "2m");
        row.put(VERIFIED, true);
    }
    let mut second = first.clone();
    second[1].put(PAGES_OBTAINED, "4k");
    second[2].put(VERIFIED, false);
    let found = compared(&[first], &[second]);
    let pages = found.pages.unwrap();
    assert_eq!(pages.map(|word| word == "2m"), [true, false]);
    assert_eq!(found.proof.unwrap(), [true, false]);
}

#[test]
fn a_slow_cpu_is_named_whether_it_begins_or_ends_its_pairs() {
    let truth = cores(12);
    for cpu in [0_u32, 5, 11] {
        let mut chance = Chance(u64::from(cpu) + 1);
        let is_of = |row: &Row| {
            [INITIATOR_CPU, TARGET_CPU].iter().any(|field| row.is_word(*field, &format!("{cpu}")))
        };
        let slow = |row: &Row| if is_of(row) { 1.3 } else { 1.0 };
        let (first, second) =
            (run(&truth, QUIET, &same, &mut chance), run(&truth, QUIET, &slow, &mut chance));
        let found = compared(&[first], &[second]);
        assert_eq!(found.pairs().len(), 66 + 2, "classes are points as well");
        let [(PointGroup::Cpu(field, point), 11, by)] = named(&found)[..] else {
            panic!("{:?}", named(&found))
        };
        assert!(truth[point].is_word(field, &format!("{cpu}")) && (by - 0.3).abs() < 0.02, "{field:?} {by}");
    }
}

#[test]
fn a_slow_class_is_one_part_with_its_median() {
    let truth = cores(12);
    let mut chance = Chance(4);
    let slow = |row: &Row| if row.is_word(CLASS, "same core") { 1.3 } else { 1.0 };
    let (first, second) = (run(&truth, QUIET, &same, &mut chance), run(&truth, QUIET, &slow, &mut chance));
    let [(group, points, _)] = named(&compared(&[first], &[second]))[..] else { panic!() };
    assert!(
        matches!(group, PointGroup::Field(place, _) if POINTS[place] == CLASS) && points == 6 + 1,
        "{group:?} {points}"
    );
}

#[test]
fn another_method_and_other_lines_are_conditions_and_pairs_of_one_side_join_nothing() {
    let first = cores(4);
    let mut second = first.clone();
    for row in second.iter_mut().filter(|row| row.tells(METHOD)) {
        row.put(METHOD, "flag");
        row.put(LINES, 4_u32);
    }
    second.remove(1);
    let (first, second) = ([first], [second]);
    let differing: Vec<_> = files(&first, &second).conditions().iter().map(|(field, _)| *field).collect();
    assert_eq!(differing, [METHOD, LINES]);
    assert_eq!(compared(&first, &second).pairs().len(), 5 + 2);
}

#[test]
fn the_one_point_of_memory_beside_a_curve_of_random_loads_is_judged() {
    let mut first = curve(20);
    for part in [WITHOUT_TRANSLATION, TRANSLATION] {
        first[19].put(part, Estimate::exact(1.0));
    }
    let mut second = first.clone();
    second[19].put(NS, Estimate { value: first[19].nanoseconds() * 1.3, interval: None });
    assert_eq!(compared(&[first], &[second]).count(ComparisonVerdict::Slower), 1);
}
