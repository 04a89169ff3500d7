//! Expected times from planted curves.

use super::between::MeasuredCurve;
use super::mixture::{Mixture, Term};
use super::*;
use crate::record::columns::{
    CHAINS, CORES, Column, EXPERIMENT, INITIATOR_NODE, NS, ORDER, PAGES_OBTAINED, PREFETCH, STRIDE,
    TARGET_NODE, TRAFFIC, TRANSLATION, WITHOUT_TRANSLATION, WORKING_SET,
};
use latency_core::Interval;
use latency_engine::spans::tlb::TlbEnd;
use latency_report::Value;
use std::vec;
use std::vec::Vec;

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Returns the latency of levels of 1, 4 and 100 ns, whose loads miss half of the time at 32 KiB and 8 MiB.
fn planted(size: u64) -> f64 {
    1.0 + 3.0 * missing(size, 32 * KIB) + 96.0 * missing(size, 8 * MIB)
}

/// Returns the share of misses of a level: a logistic step.
fn missing(size: u64, capacity: u64) -> f64 {
    let power = (size as f64 / capacity as f64).powi(5);
    power / (1.0 + power)
}

/// Returns a point with an interval of 1 %.
fn sample(size: u64, nanoseconds: f64) -> Sample {
    let interval = Some(Interval { low: nanoseconds * 0.995, high: nanoseconds * 1.005 });
    Sample { size: Bytes(size), nanoseconds, interval, ..Sample::EMPTY }
}

/// Returns a point of a curve in pages with this word.
fn row(size: u64, nanoseconds: f64, pages: &str) -> Row {
    let Sample { nanoseconds: value, interval, .. } = sample(size, nanoseconds);
    let row = Row::EMPTY.with(NS, Estimate { value, interval }).with(WORKING_SET, size);
    let row = row.with(INITIATOR_NODE, 0_u32).with(TARGET_NODE, 0_u32);
    row.with(ORDER, "random").with(PAGES_OBTAINED, pages)
}

/// Returns the sizes from 4 KiB to 1 GiB, two in each octave.
fn sizes() -> impl Iterator<Item = u64> {
    (0..37).map(|step| if step % 2 == 0 { (4 * KIB) << (step / 2) } else { (6 * KIB) << (step / 2) })
}

/// Returns a planted curve in pages with this word, and `factor` times as slow.
fn rows(pages: &str, factor: f64) -> Vec<Row> {
    sizes().map(|size| row(size, factor * planted(size), pages)).collect()
}

/// Returns the times of 1 and 8 chains over sizes, by a speedup of 4 in the caches and of 5 in memory.
fn parallel() -> Vec<Row> {
    let times = |size: u64| {
        let speedup = if size > 8 * MIB { 5.0 } else { 4.0 };
        [1_u32, 8].map(|chains| {
            let nanoseconds = if chains == 1 { planted(size) } else { planted(size) / speedup };
            row(size, nanoseconds, "4k").with(CHAINS, chains)
        })
    };
    [MIB, 256 * MIB].into_iter().flat_map(times).collect()
}

/// Returns the time of a line of 1, 4 and 8 cores that load at random.
fn random() -> Vec<Row> {
    [(1_u32, 10.0), (4, 3.0), (8, 2.5)]
        .map(|(cores, ns)| row(256 * MIB, ns, "4k").with(TRAFFIC, "random").with(CORES, cores))
        .to_vec()
}

fn curve(samples: &[Sample]) -> MeasuredCurve {
    MeasuredCurve::of(samples)
}

fn result<'r>(experiment: &'r str, rows: &'r [Row]) -> ResultRows<'r> {
    ResultRows { experiment, host: "", started: 0, rows }
}

/// Answers a question from results.
fn answer<'r>(results: &[ResultRows<'r>], question: &Question) -> Result<Expectation<'r>, Unanswered> {
    ask(results, &|_, _| [None; 2], question)
}

const PLAIN: Question = Question { size: None, pages: Pages::AUTO, chains: None, cores: None };

fn of_size(size: u64) -> Question {
    Question { size: Some(Bytes(size)), ..PLAIN }
}

fn of_chains(size: u64, chains: &[u32]) -> Question {
    let mut set = IdSet::default();
    assert!(chains.iter().all(|chains| set.insert(*chains)));
    Question { chains: Some(set), ..of_size(size) }
}

fn is_near(found: f64, truth: f64, part: f64) -> bool {
    (found / truth - 1.0).abs() < part
}

#[test]
fn a_measured_size_has_its_value_and_at_least_its_interval() {
    let samples: Vec<Sample> = sizes().map(|size| sample(size, planted(size))).collect();
    let found = curve(&samples).at(Bytes(MIB)).unwrap();
    assert_eq!(found.expected.value, planted(MIB));
    let (interval, own) = (found.expected.interval.unwrap(), samples[16].interval.unwrap());
    assert!(interval.low <= own.low && own.high <= interval.high && interval.high < 1.02 * planted(MIB));
    assert_eq!(found.neighbours.map(|point| point.size), [Bytes(MIB); 2]);
}

#[test]
fn the_interval_is_narrow_on_a_plateau_and_spans_a_step() {
    let step = |size: u64| if size <= MIB { 4.0 } else { 40.0 };
    let samples: Vec<Sample> = sizes().map(|size| sample(size, step(size))).collect();
    let curve = curve(&samples);
    for size in [5 * KIB, 700 * KIB, 3 * MIB, 900 * MIB] {
        let interval = curve.at(Bytes(size)).unwrap().expected.interval.unwrap();
        assert!(
            interval.low > 0.98 * step(size) && interval.high < 1.02 * step(size),
            "{size}: {interval:?}"
        );
    }
    // The step may lie anywhere between both sizes.
    let found = curve.at(Bytes(MIB + 64 * KIB)).unwrap().expected;
    let interval = found.interval.unwrap();
    assert!(interval.low <= 4.0 && interval.high >= 40.0 && found.value < 10.0, "{found:?}");
}

#[test]
fn the_value_is_between_its_neighbours_and_follows_a_smooth_curve() {
    let samples: Vec<Sample> = sizes().map(|size| sample(size, planted(size))).collect();
    let curve = curve(&samples);
    let mut last = 0.0;
    for size in (4 * KIB..MIB * 1024).step_by(MIB as usize / 3) {
        let Between { expected: Estimate { value, interval }, .. } = curve.at(Bytes(size)).unwrap();
        let interval = interval.unwrap();
        assert!(interval.low <= value && value <= interval.high, "{size}");
        assert!(interval.low <= planted(size) && planted(size) <= interval.high, "{size}");
        assert!(value > last * 0.999_999, "{size}: {last} then {value}");
        last = value;
    }
    assert!(is_near(curve.at(Bytes(200 * MIB)).unwrap().expected.value, planted(200 * MIB), 0.01));
}

#[test]
fn scatter_widens_the_intervals_of_its_neighbourhood() {
    let noisy = |(index, size): (usize, u64)| {
        let off = if size > 64 * MIB && index % 2 == 0 { 1.1 } else { 1.0 };
        Sample { interval: None, ..sample(size, off * planted(size)) }
    };
    let samples: Vec<Sample> = sizes().enumerate().map(noisy).collect();
    let curve = curve(&samples);
    let width = |size: u64| {
        let found = curve.at(Bytes(size)).unwrap().expected;
        found.interval.map(|interval| (interval.high - interval.low) / found.value).unwrap()
    };
    assert!(width(700 * MIB) > 0.2, "{}", width(700 * MIB));
    // A point without an interval is not taken to be more precise than 3 %.
    assert!((0.059..0.065).contains(&width(5 * KIB)), "{}", width(5 * KIB));
}

#[test]
fn a_size_that_was_measured_twice_has_the_interval_of_both() {
    let samples = [10.0, 10.0, 10.0, 12.0, 12.0].map(|nanoseconds| sample(MIB, nanoseconds));
    let found = curve(&samples).at(Bytes(MIB)).unwrap().expected;
    let interval = found.interval.unwrap();
    assert!(interval.low < 9.96 && interval.high > 12.05 && (10.0..12.0).contains(&found.value), "{found:?}");
}

#[test]
fn sizes_outside_of_the_measured_ones_have_no_value() {
    let samples: Vec<Sample> = sizes().map(|size| sample(size, planted(size))).collect();
    let found = curve(&samples);
    for size in [KIB, 4 * KIB - 1, 1024 * MIB + 1, u64::MAX >> 1] {
        assert!(found.at(Bytes(size)).is_none(), "{size}");
    }
    assert_eq!(found.range(), Some([Bytes(4 * KIB), Bytes(1024 * MIB)]));
    assert!(curve(&[]).at(Bytes(MIB)).is_none() && curve(&[]).range().is_none());
}

fn mixture(tlb: TlbLevels, planted: &dyn Fn(u64) -> f64) -> Mixture {
    let samples: Vec<Sample> = sizes().map(|size| sample(size, planted(size))).collect();
    Mixture::of(&samples, tlb).unwrap()
}

fn terms(mixture: &Mixture, size: u64) -> (Vec<Term>, f64) {
    let terms = mixture.terms(Bytes(size));
    let sum = terms.iter().map(Term::adds).sum();
    (terms, sum)
}

#[test]
fn terms_are_the_shares_of_the_levels_times_their_latencies() {
    let mixture = mixture([None; 2], &planted);
    for size in [16 * KIB, MIB, 64 * MIB, 1024 * MIB] {
        let (terms, sum) = terms(&mixture, size);
        let shares: f64 = terms.iter().map(|term| term.share).sum();
        assert!((shares - 1.0).abs() < 1e-9 && is_near(sum, planted(size), 0.02), "{terms:?}");
    }
    let (terms, _) = terms(&mixture, 12 * MIB);
    let [.., l2, memory] = terms[..] else { panic!("{terms:?}") };
    let missing = missing(12 * MIB, 8 * MIB);
    assert!(is_near(l2.share, 1.0 - missing, 0.05) && is_near(l2.nanoseconds, 4.0, 0.02), "{terms:?}");
    assert!(is_near(memory.share, missing, 0.02) && is_near(memory.nanoseconds, 100.0, 0.02), "{terms:?}");
    assert!(memory.part == "memory" && l2.part == "level");
    assert_eq!([8 * MIB, 12 * MIB].map(|size| mixture.is_in_memory(Bytes(size))), [false, true]);
}

#[test]
fn a_step_of_a_known_tlb_is_translation_and_no_level() {
    let with_misses = |size: u64| planted(size) + 2.0 * missing(size, 256 * KIB);
    let entries = Estimate::exact(64.0);
    let level = TlbEnd { entries, page: Bytes(4096), miss_ns: 2.0 };
    for (tlb, is_known) in [([Some(level), None], true), ([None; 2], false)] {
        let (found, sum) = terms(&mixture(tlb, &with_misses), 64 * MIB);
        assert!(is_near(sum, with_misses(64 * MIB), 0.02), "{found:?}");
        let last = found.last().unwrap();
        assert_eq!(last.part == "translation", is_known, "{found:?}");
        let memory = found.iter().find(|term| term.part == "memory").unwrap();
        assert!(is_near(memory.nanoseconds, if is_known { 100.0 } else { 102.0 }, 0.01), "{found:?}");
        assert!(!is_known || is_near(last.adds(), 2.0, 0.1), "{found:?}");
    }
}

#[test]
fn a_question_without_a_size_is_about_the_largest_one() {
    let rows = rows("4k", 1.0);
    let found = answer(&[result("curve", &rows)], &PLAIN).unwrap();
    assert_eq!((found.size, found.times.len()), (Bytes(1024 * MIB), 1));
    assert_eq!(found.times[0].pages, Pages::from_word(b"4k"));
}

#[test]
fn memory_apart_from_translation_is_that_of_the_nearest_size_within_an_octave() {
    let apart = |row: Row| match row.size().0 {
        size @ (MIB | 0x400_0000) => {
            let without_translation = Estimate::exact(size as f64);
            row.with(WITHOUT_TRANSLATION, without_translation).with(TRANSLATION, Estimate::exact(1.0))
        }
        _ => row,
    };
    let rows: Vec<Row> = rows("4k", 1.0).into_iter().map(apart).collect();
    let results = [result("curve", &rows)];
    for (size, found) in [(48, Some(64)), (128, Some(64)), (129, None), (2, Some(1)), (16, None)] {
        let parts = answer(&results, &of_size(size * MIB)).unwrap().parts;
        assert_eq!(parts.map(|(size, _)| size), found.map(|size| Bytes(size * MIB)), "{size}");
        assert!(parts.is_none_or(|(size, parts)| parts.without_translation.value == size.0 as f64));
    }
}

#[test]
fn sizes_beyond_the_curve_are_refused() {
    let rows = rows("4k", 1.0);
    let refused =
        |size| answer(&[result("curve", &rows)], &of_size(size)).map(|found| found.size).unwrap_err();
    let (size, least, most) = (Bytes(KIB), Bytes(4 * KIB), Bytes(1024 * MIB));
    assert_eq!(refused(KIB), Unanswered::TooSmall { size, least });
    assert_eq!(refused(2048 * MIB), Unanswered::TooLarge { size: Bytes(2048 * MIB), most });
    let few = &rows[..FEWEST_POINTS - 1];
    for of in [result("curve", few), result("matrix", &rows), result("curve", &[])] {
        assert_eq!(answer(&[of], &of_size(MIB)).err(), Some(Unanswered::NoCurve));
    }
}

#[test]
fn other_pages_stand_beside_the_curve_and_can_be_asked_for() {
    let (huge, small) = (rows("thp", 1.0), rows("4k", 1.5));
    let results = [result("pages", &small), result("curve", &huge)];
    let found = answer(&results, &of_size(MIB)).unwrap();
    let times: Vec<_> = found.times.iter().map(|time| (time.pages, time.time.value)).collect();
    let kind = |word: &[u8]| Pages::from_word(word);
    assert_eq!(times, [(kind(b"thp"), planted(MIB)), (kind(b"4k"), 1.5 * planted(MIB))]);
    let asked = |word: &[u8]| {
        let question = Question { pages: Pages::from_word(word).unwrap(), ..of_size(MIB) };
        answer(&results, &question).map(|found| (found.times[0].pages, found.times.len()))
    };
    assert_eq!(asked(b"4k").unwrap(), (kind(b"4k"), 1));
    // Pages of 2 MiB may be transparent ones.
    assert_eq!(asked(b"2m").unwrap(), (kind(b"thp"), 1));
    let pages = Pages::from_word(b"1g").unwrap();
    let known = |words: &[&[u8]]| {
        let mut kinds = Few::NONE;
        words.iter().for_each(|word| kinds.add(kind(word).unwrap()));
        kinds
    };
    let both = known(&[b"4k", b"thp"]);
    assert_eq!(asked(b"1g"), Err(Unanswered::OtherPages { pages, known: both }));
    // A machine has one size of base pages.
    let other = Pages::from_word(b"64k").unwrap();
    assert_eq!(asked(b"64k"), Err(Unanswered::OtherPages { pages: other, known: both }));
    // A table without pages answers only a question without pages.
    let table = rows("", 1.0);
    let question = Question { pages, ..of_size(MIB) };
    assert!(answer(&[result("", &table)], &of_size(MIB)).is_ok());
    let refused = Unanswered::OtherPages { pages, known: Few::NONE };
    assert_eq!(answer(&[result("", &table)], &question).err(), Some(refused));
}

#[test]
fn only_random_loads_of_one_chain_are_a_curve() {
    let changed: [(Column, Value); 4] = [
        (ORDER, "sequential".into()),
        (CHAINS, 4_u32.into()),
        (TRAFFIC, "read".into()),
        (PREFETCH, true.into()),
    ];
    for (column, value) in changed {
        let rows: Vec<Row> = rows("4k", 1.0).into_iter().map(|row| row.with(column, value.clone())).collect();
        assert_eq!(
            answer(&[result("curve", &rows)], &of_size(MIB)).err(),
            Some(Unanswered::NoCurve),
            "{value:?}"
        );
    }
    let spaced = |row: Row| row.with(STRIDE, Bytes(4096));
    let rows: Vec<Row> = rows("4k", 1.0).into_iter().map(spaced).collect();
    assert_eq!(answer(&[result("curve", &rows)], &of_size(MIB)).err(), Some(Unanswered::NoCurve));
}

#[test]
fn chains_are_those_of_the_size_or_of_memory() {
    let (single, several) = (rows("4k", 1.0), parallel());
    let results = [result("curve", &single), result("parallel", &several)];
    let with_8 = |size| {
        let found = answer(&results, &of_chains(size, &[1, 8]))?;
        let [_, last] = found.times[..] else { panic!("{:?}", found.times) };
        assert_eq!(last.chains, 8);
        Ok(last.time)
    };
    assert_eq!(with_8(MIB).unwrap().value, planted(MIB) / 4.0);
    let memory = with_8(800 * MIB).unwrap();
    assert!(is_near(memory.value, planted(800 * MIB) / 5.0, 0.01), "{memory:?}");
    let half = memory.half().unwrap();
    assert!((0.01..0.03).contains(&half), "{half}");
    let elsewhere = |size| Unanswered::ChainsElsewhere { chains: 8, size: Bytes(size) };
    for size in [64 * KIB, 8 * MIB] {
        assert_eq!(with_8(size), Err(elsewhere(size)));
    }
    let refused = |results: &[ResultRows<'_>], chains| answer(results, &of_chains(MIB, &[chains])).err();
    assert_eq!(refused(&results, 16), Some(Unanswered::NoChains { chains: 16, most: 8 }));
    assert_eq!(refused(&results[..1], 8), Some(Unanswered::NoChains { chains: 8, most: 0 }));
    // Chains in other pages do not count.
    let huge = rows("thp", 1.0);
    let refused = refused(&[result("curve", &huge), result("parallel", &several)], 8);
    assert_eq!(refused, Some(Unanswered::NoChains { chains: 8, most: 0 }));
}

#[test]
fn cores_share_the_random_bandwidth_of_memory() {
    let (single, several) = (rows("4k", 1.0), random());
    let results = [result("curve", &single), result("bandwidth", &several)];
    let refused = |results: &[ResultRows<'_>], size, cores| {
        answer(results, &Question { cores: Some(cores), ..of_size(size) }).err()
    };
    let with = |cores| {
        let found = answer(&results, &Question { cores: Some(cores), ..of_size(512 * MIB) }).unwrap();
        found.times.last().map(|time| (time.cores, time.time)).unwrap()
    };
    assert_eq!(with(8).0, Some(8));
    assert_eq!((with(4).1.value, with(8).1.value), (12.0, 20.0));
    let Estimate { value, interval } = with(6).1;
    let interval = interval.unwrap();
    assert!((12.0..20.0).contains(&value) && interval.low <= 12.0 && interval.high >= 20.0, "{value}");
    assert_eq!(refused(&results, 512 * MIB, 16), Some(Unanswered::NoCores { cores: 16, most: 8 }));
    assert_eq!(refused(&results[..1], 512 * MIB, 4), Some(Unanswered::NoCores { cores: 4, most: 0 }));
    let size = Bytes(MIB);
    assert_eq!(refused(&results, MIB, 4), Some(Unanswered::CoresElsewhere { size }));
}

#[test]
fn every_number_of_chains_cores_and_sizes_counts() {
    let single = rows("4k", 1.0);
    let numbers: Vec<u32> = PARALLEL.iter().map(|kernel| kernel.lanes() as u32).collect();
    let several =
        numbers.iter().map(|chains| row(MIB, 50.0 / f64::from(*chains), "4k").with(CHAINS, *chains));
    let cores = (1..=100_u32).map(|cores| {
        row(256 * MIB, 10.0 - f64::from(cores) / 20.0, "4k").with(TRAFFIC, "random").with(CORES, cores)
    });
    let (several, cores): (Vec<Row>, Vec<Row>) = (several.collect(), cores.collect());
    let results = [result("curve", &single), result("parallel", &several), result("bandwidth", &cores)];
    // 1-64 are the numbers that `parallel` measures.
    let found = answer(&results, &of_chains(MIB, &(1..=64).collect::<Vec<_>>())).unwrap();
    assert_eq!(found.times.iter().map(|time| time.chains).collect::<Vec<_>>(), numbers);
    let found = answer(&results, &Question { cores: Some(100), ..of_size(512 * MIB) }).unwrap();
    assert_eq!(found.times.last().map(|time| (time.cores, time.time.value)), Some((Some(100), 500.0)));
    let samples: Vec<Sample> = (1..=1000).map(|step| sample(step * MIB, 100.0)).collect();
    assert_eq!(curve(&samples).range(), Some([Bytes(MIB), Bytes(1000 * MIB)]));
    // As many results as fit into a file.
    let mut many = vec![result("matrix", &several); 3000];
    many.push(results[0]);
    assert_eq!(answer(&many, &of_size(MIB)).unwrap().sources, [3000]);
}

#[test]
fn cores_without_an_interval_have_an_expected_time_without_one() {
    let (single, mut several) = (rows("4k", 1.0), random());
    let alone = Estimate { value: several[1].nanoseconds(), interval: None };
    several[1].put(NS, alone);
    let results = [result("curve", &single), result("bandwidth", &several)];
    for (cores, is_known) in [(1, true), (4, false), (6, false), (8, true)] {
        let question = Question { cores: Some(cores), ..of_size(512 * MIB) };
        let found = answer(&results, &question).unwrap();
        assert_eq!(found.times.last().unwrap().time.interval.is_some(), is_known, "{cores}");
    }
}

#[test]
fn joined_tables_name_the_experiment_of_each_point() {
    let all: Vec<Row> = rows("4k", 1.0)
        .into_iter()
        .map(|row| row.with(EXPERIMENT, "curve"))
        .chain(parallel().into_iter().map(|row| row.with(EXPERIMENT, "parallel")))
        .collect();
    let found = answer(&[result("report", &all)], &of_chains(MIB, &[8])).unwrap();
    assert_eq!(found.times.len(), 2);
    assert_eq!(vec![found.times[1].time.value], [planted(MIB) / 4.0]);
}

#[test]
fn the_curve_that_comes_closest_tells_what_was_measured() {
    let (short, long) = (rows("thp", 1.0), rows("4k", 1.0));
    let results = [result("curve", &short[..20]), result("pages", &long)];
    let (size, most) = (Bytes(2048 * MIB), Bytes(1024 * MIB));
    let refused = answer(&results, &of_size(2048 * MIB)).err();
    assert_eq!(refused, Some(Unanswered::TooLarge { size, most }));
    // A size that both have is answered by the curve.
    assert_eq!(answer(&results, &of_size(MIB)).unwrap().result, 0);
}

#[test]
fn curves_that_differ_are_refused_and_alike_ones_are_counted() {
    let (fast, slow) = (rows("4k", 1.0), rows("4k", 3.0));
    let of = |host: &'static str, started| ResultRows { host, started, ..result("curve", &fast) };
    let refused = |results: &[ResultRows<'_>]| answer(results, &of_size(MIB)).map(|found| found.alike);
    let several = |count, differences| Err(Unanswered::SeveralCurves { count, differences });
    let none = Few::NONE;
    let by = |word| {
        let mut differences = none;
        differences.add(word);
        differences
    };
    assert_eq!(refused(&[of("a", 1), of("a", 1)]), Ok(2));
    assert_eq!(refused(&[of("a", 1)]), Ok(1));
    let hosts = by("host");
    assert_eq!(refused(&[of("a", 1), of("b", 1), of("b", 2)]), several(3, hosts));
    assert_eq!(refused(&[of("a", 1), of("a", 2)]), several(2, by("start")));
    // Nothing but the values tells them apart.
    assert_eq!(refused(&[result("curve", &fast), result("curve", &slow)]), several(2, none));
    let both: Vec<Row> =
        fast.iter().cloned().chain(slow.iter().map(|row| row.clone().with(TARGET_NODE, 1_u32))).collect();
    let nodes = by("to node");
    assert_eq!(refused(&[result("curve", &both)]), several(2, nodes));
    // Another host with other pages is another host.
    let huge = rows("thp", 1.0);
    let other = ResultRows { rows: &huge, ..of("b", 1) };
    assert_eq!(refused(&[of("a", 1), other]), several(2, hosts));
    // Other pages of one host stand beside the curve.
    assert_eq!(refused(&[of("a", 1), ResultRows { rows: &huge, ..of("a", 2) }]), Ok(1));
}

#[test]
fn every_result_that_gave_a_value_is_a_source() {
    let (single, several, cores) = (rows("4k", 1.0), parallel(), random());
    let results = [
        result("matrix", &single),
        result("curve", &single),
        result("parallel", &several),
        result("bandwidth", &cores),
    ];
    let sources = |question: &Question| {
        let mut sources = answer(&results, question).unwrap().sources;
        sources.sort_unstable();
        sources.dedup();
        sources
    };
    assert_eq!(sources(&of_size(512 * MIB)), [1]);
    assert_eq!(sources(&of_chains(512 * MIB, &[8])), [1, 2]);
    assert_eq!(sources(&Question { cores: Some(4), ..of_size(512 * MIB) }), [1, 3]);
}
