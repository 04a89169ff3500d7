//! The newest value of each host and point, the hosts whose results changed, and the changes of all hosts of a kind
//! that did not last. If there are many of a size, a host that changes by as much may have gone to another of the
//! states of its kind (placement of memory, neighbours that stay for weeks), and may come back.

use alloc::vec::Vec;

use latency_core::math::{exp, ln};
use latency_core::{Interval, ToReal, sort_by, sort_by_key};

use super::history::{FEWEST_RESULTS, HistoryScan, PastResult, SEEN, Undecided};
use super::names::Name;
use super::runs::Runs;
use super::values::{HostSeries, HostValue, Slowed, StoredValue};
use crate::analysis::comparison::significance::HALF;
use crate::analysis::norm::{Norm, Quantity};
use latency_report::chart::vector;

/// Number of newest results of a host that are searched for a change without a history.
const RECENT: usize = 32;

/// The values that are judged, and the changes of their hosts.
#[derive(Default)]
pub struct Settled {
    /// One value of each host and key, sorted by key.
    pub values: Vec<HostValue>,
    /// The hosts that became slower, or with a history also the hosts that became faster; sorted by host name.
    pub slowed: Vec<Slowed>,
    /// The points at which random loads became slower, but not memory without address translation.
    pub translation: Vec<Slowed>,
    /// With a history, one series of each host, by host name.
    pub series: Vec<HostSeries>,
    /// With a history, the hosts that became slower, sorted by name, as the other lists of hosts.
    pub slower: Vec<Name>,
    /// The hosts that became faster.
    pub faster: Vec<Name>,
    /// The hosts with too few results.
    pub few: Vec<Name>,
    /// The hosts with too few results for their correlation.
    pub correlated: Vec<Name>,
}

/// Keeps one value of each host and key: the newest, or the middle one of several that began in the same second. Finds
/// the hosts that became slower by more than `threshold`; or, with a threshold of the `history`, the hosts whose results
/// changed by more at any time.
pub fn settle(past: &mut [StoredValue], runs: &Runs<'_>, threshold: f64, history: Option<f64>) -> Settled {
    let Runs { names, boots, .. } = runs;
    sort_by_key(past, |value| runs.place(value));
    let all: Vec<_> = vector(past.chunk_by(|one, other| runs.of(one) == runs.of(other)));
    // Where there is memory, random loads are not judged.
    let is_judged = |of_host: &&&[StoredValue]| {
        let [key, _] = runs.kind(&of_host[0]);
        runs.is_of_memory(key) || runs.twin(key).is_none()
    };
    let judged = all.iter().filter(is_judged).count();
    let scan = history.map(|threshold| HistoryScan::new(threshold, judged.real() / boots.names.real()));
    let least = if history.is_some() { FEWEST_RESULTS } else { 1 };
    let mut settled = Settled::default();
    // The place plus 1 of the series of each name.
    let mut places = vec![0; names.len()];
    let mut passing = PassingChanges::default();
    for of_host in &all {
        let with_memory = with_memory(&all, of_host, runs);
        let newest = of_host.last().map_or(0, |newest| runs.run(newest).started);
        let (older, same) =
            of_host.split_at(of_host.partition_point(|value| runs.run(value).started < newest));
        let one = same[(same.len() - 1) / 2];
        let [name, host] = runs.of(&one);
        let key = runs.key(name);
        let is_of_memory = runs.is_of_memory(name);
        if is_of_memory && with_memory < least {
            continue;
        }
        if !key.is_mean() {
            settled.values.push(HostValue { has_twin: with_memory > 0, ..runs.of_host(&one) });
        }
        // Where memory is judged, random loads only show address translation.
        let by_memory = !is_of_memory && with_memory >= least;
        let Some(scan) = scan else {
            let list = if by_memory { &mut settled.translation } else { &mut settled.slowed };
            list.extend(change(older, &one, runs, key.quantity(), threshold));
            continue;
        };
        if passing.key != Some(name) {
            leave_usual(&mut settled, &places, runs, passing);
            passing = PassingChanges { key: Some(name), begun: settled.slowed.len(), ..Default::default() };
        }
        let list = if by_memory { &mut settled.translation } else { &mut settled.slowed };
        let found = search(of_host, runs, scan, list, &mut passing);
        if by_memory {
            continue;
        }
        let place = &mut places[host as usize];
        if *place == 0 {
            settled.series.push(found);
            *place = settled.series.len();
        } else if tells(&found, runs) > tells(&settled.series[*place - 1], runs) {
            settled.series[*place - 1] = found;
        }
    }
    leave_usual(&mut settled, &places, runs, passing);
    for list in [&mut settled.slowed, &mut settled.translation] {
        sort_by_key(list, |Slowed { value: HostValue { host, key, .. }, .. }| {
            (names.name(*host), !runs.key(*key).is_mean(), runs.order(*key))
        });
    }
    sort_by_key(&mut settled.series, |series| names.name(series.host));
    for Slowed { value, is_faster, .. } in settled.slowed.iter().filter(|_| history.is_some()) {
        let list = if *is_faster { &mut settled.faster } else { &mut settled.slower };
        if list.last() != Some(&value.host) {
            list.push(value.host);
        }
    }
    for found in &settled.series {
        match found.undecided {
            Some((Undecided::Few, _)) => settled.few.push(found.host),
            Some((Undecided::Correlated, _)) => settled.correlated.push(found.host),
            _ => {}
        }
    }
    settled
}

/// Removes the changes of a key whose sizes are usual for their kind of hosts; the hosts are not judged. Steps that are
/// found in the series of this kind are larger.
fn leave_usual(settled: &mut Settled, places: &[usize], runs: &Runs<'_>, mut passing: PassingChanges) {
    let least = passing.largest_usual();
    for found in settled.slowed.split_off(passing.begun) {
        let Slowed { value, states: [before, after], is_faster, since, .. } = found;
        let facts = |state| runs.boots.state(state)[1];
        let size = ln(found.ratio()).abs();
        if facts(before) != facts(after) || !passing.are_usual(size, usize::from(is_faster)) {
            settled.slowed.push(found);
        } else if let Some(place) = places[value.host as usize].checked_sub(1) {
            let series = &mut settled.series[place];
            (series.key, series.undecided) = (value.key, Some((Undecided::States, since)));
        }
    }
    for known in settled.series.iter_mut().filter(|known| least > 0.0 && Some(known.key) == passing.key) {
        known.detectable =
            known.detectable.filter(|_| known.undecided.is_none()).map(|step| step.max(exp(least) - 1.0));
    }
}

/// Returns the number of results of a host with memory without address translation at the point of these values, which
/// are random loads or memory; 0 if the newest result lacks it. All values are sorted by their keys and hosts.
fn with_memory(all: &[&[StoredValue]], of_host: &[StoredValue], runs: &Runs<'_>) -> usize {
    let [key, host] = runs.of(&of_host[0]);
    let Some(twin) = runs.twin(key) else { return 0 };
    let place = |values: &&[StoredValue]| runs.place_of_key(runs.of(&values[0]));
    let twins = all.binary_search_by_key(&runs.place_of_key([twin, host]), place);
    let Some(twins) = twins.ok().map(|place| all[place]) else { return 0 };
    let [memory, loads] = if runs.is_of_memory(twin) { [twins, of_host] } else { [of_host, twins] };
    let (newest, load) = (&memory[memory.len() - 1], &loads[loads.len() - 1]);
    match memory.iter().any(|value| value.run == load.run) {
        true => memory.iter().filter(|value| runs.are_alike(value, newest)).count(),
        false => 0,
    }
}

/// Returns a larger value for a series that tells more about a host: one with a step that is not judged, or else the mean
/// of all points.
fn tells(series: &HostSeries, runs: &Runs<'_>) -> impl Ord + use<> {
    let is_step = series.undecided.is_some_and(|(why, _)| why.is_step());
    (is_step, runs.key(series.key).is_mean(), series.results >= FEWEST_RESULTS)
}

/// Searches each series of a host and a key for its latest change: the results under one set of conditions, in the
/// order of their times. Results without a time are left out, and copies of a result count once. Returns the series
/// under the newest conditions.
fn search(
    of_host: &[StoredValue],
    runs: &Runs<'_>,
    begin: HistoryScan,
    slowed: &mut Vec<Slowed>,
    passing: &mut PassingChanges,
) -> HostSeries {
    let [key, host] = runs.of(&of_host[0]);
    let quantity = runs.key(key).quantity();
    let mut of_newest = None;
    let mut left: Vec<&StoredValue> = vector(of_host.iter().filter(|value| runs.run(value).started > 0));
    while let Some(newest) = left.last().copied() {
        let (mut scan, mut series) = (begin, Vec::<PastResult>::new());
        left.retain(|value| {
            let is_own = runs.are_alike(value, newest);
            let run = runs.run(value);
            if is_own && series.last().is_none_or(|before| before.started != run.started) {
                let [time, low, high] = value.times(quantity);
                let error = Interval { low, high }.relative_half_width(time) / HALF;
                let of_state = runs.boots.state(run.state);
                let (log, before) = (ln(time), scan.passed.0);
                series.push(PastResult { started: run.started, state: run.state, of_state, log, error });
                scan.add(&series);
                passing.results += 1;
                if scan.passed.0 > before {
                    passing.add(scan.passed.1);
                }
            }
            !is_own
        });
        let of = |place: usize| series.get(place).map_or((0, 0), |result| (result.started, result.state));
        let undecided = scan.undecided(&series).map(|(why, start)| (why, of(start).0.into()));
        of_newest.get_or_insert(HostSeries {
            host,
            key,
            results: series.len(),
            correlation: scan.correlation(),
            detectable: scan.detectable().filter(|_| undecided.is_none()),
            undecided,
        });
        let Some((change, [before, level, error])) = scan.found(&series) else { continue };
        // A step to a faster level without a reason is often the way back from a slower state.
        if change.direction < 0.0 && !change.has_changed_fact(&series) {
            passing.add(before - level);
        }
        // A bandwidth is the reciprocal of a time.
        let sign = if quantity == Quantity::Latency { 1.0 } else { -1.0 };
        let at = |errors: f64| exp(sign * level + errors * HALF * error);
        let value = HostValue {
            value: at(0.0),
            interval: Interval { low: at(-1.0), high: at(1.0) },
            ..runs.of_host(newest)
        };
        let (since, after) = of(change.start);
        slowed.push(Slowed {
            value,
            before: exp(sign * before),
            counts: [series.len() - change.start, change.start - change.before],
            since: since.into(),
            states: [of(change.start - 1).1, after],
            is_faster: change.direction < 0.0,
        });
    }
    let undecided = Some((Undecided::Few, 0));
    of_newest.unwrap_or(HostSeries { host, key, results: 0, correlation: 0.0, detectable: None, undecided })
}

/// Finds the longest series of newest results that are all slower than the results before it. A result is slower if its
/// whole interval lies above the median of the older results, by more than the threshold and four robust standard
/// deviations, and above the median of the upper ends of their intervals.
fn change(
    older: &[StoredValue],
    newest: &StoredValue,
    runs: &Runs<'_>,
    quantity: Quantity,
    threshold: f64,
) -> Option<Slowed> {
    let known =
        older.iter().rev().filter(|value| runs.run(value).started > 0 && runs.are_alike(value, newest));
    let all = core::iter::once(newest).chain(known).take(RECENT);
    // The results from the newest to the oldest.
    let all: Vec<(u32, [f64; 3])> = vector(all.map(|value| (runs.run(value).started, value.times(quantity))));
    (1..all.len()).rev().find_map(|new| {
        let (recent, before) = all.split_at(new);
        let norm = |part: usize| {
            let mut numbers: Vec<f64> = vector(before.iter().map(|(_, times)| times[part]));
            Norm::of(&mut numbers)
        };
        let (usual, ends) = (norm(0)?, norm(2)?);
        let bound = (usual.median + usual.allowed(threshold)).max(ends.median);
        recent.iter().all(|(_, [_, low, _])| *low > bound).then(|| Slowed {
            value: runs.of_host(newest),
            before: if quantity == Quantity::Latency { usual.median } else { 1.0 / usual.median },
            counts: [new, before.len()],
            since: recent[new - 1].0.into(),
            states: [runs.run(newest).state; 2],
            is_faster: false,
        })
    })
}

/// Least number of changes of a size that are usual.
const FEWEST: usize = 2;
/// Number of results in which one change is usual: false alarms are rarer.
const RESULTS: usize = 1000;

/// The changes that did not last, or were to a faster level, in all series of one key.
#[derive(Default)]
pub struct PassingChanges {
    /// The number of results of these series.
    pub results: usize,
    /// The key.
    pub key: Option<Name>,
    /// The number of changes that were listed before those of this key.
    pub begun: usize,
    /// The size of each change, as a logarithm.
    sizes: Vec<f64>,
}

impl PassingChanges {
    /// Adds a change.
    pub fn add(&mut self, size: f64) {
        self.sizes.push(size);
    }

    /// Returns whether changes of at least this size are usual; `own` is the number of added changes that do not count.
    pub fn are_usual(&self, size: f64, own: usize) -> bool {
        let count = self.sizes.iter().filter(|known| **known > SEEN * size).count();
        let count = count.saturating_sub(own);
        count >= FEWEST && count * RESULTS > self.results
    }

    /// Returns the size up to which changes are usual; 0 without any. Sorts the sizes.
    pub fn largest_usual(&mut self) -> f64 {
        sort_by(&mut self.sizes, |one, other| other.total_cmp(one));
        self.sizes.get((self.results / RESULTS).max(FEWEST - 1)).map_or(0.0, |size| size / SEEN)
    }
}
