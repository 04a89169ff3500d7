//! The newest value of each host and point, and the hosts whose results changed.

use alloc::vec::Vec;

use latency_core::math::{ToReal, exp, ln};
use latency_core::sort::sort_by_key;
use latency_core::stats::Interval;

use super::history::{FEWEST_RESULTS, HistoryScan, PastResult, Undecided};
use super::names::Name;
use super::passing::PassingChanges;
use super::runs::Runs;
use super::values::{HostSeries, HostValue, Slowed, StoredValue};
use crate::analysis::comparison::significance::HALF;
use crate::analysis::norm::{Norm, Quantity};

/// Number of newest results of a host that are searched for a change without a history.
const RECENT: usize = 32;

/// The values that are judged, and the changes of their hosts.
pub struct Settled {
    /// One value of each host and key, sorted by key.
    pub values: Vec<HostValue>,
    /// The hosts that became slower, or with a history also the hosts that became faster; sorted by host name.
    pub slowed: Vec<Slowed>,
    /// With a history, the hosts whose results changed, or are not judged.
    pub hosts: HistoryHosts,
    /// With a history, one series of each host, by host name.
    pub series: Vec<HostSeries>,
    /// The points at which random loads became slower, but not memory without address translation.
    pub translation: Vec<Slowed>,
}

/// The hosts that became slower, the hosts that became faster, the hosts with too few results, and the hosts with too few
/// results for their correlation; each part is sorted by name.
pub struct HistoryHosts {
    names: Vec<Name>,
    /// The start of the first part, and the end of each.
    ends: [usize; 5],
}

/// The part with the hosts that became slower.
pub const SLOWER: usize = 0;
/// The part with the hosts that became faster.
pub const FASTER: usize = 1;
/// The part with the hosts with too few results.
pub const FEW: usize = 2;
/// The part with the hosts with too few results for their correlation.
pub const CORRELATED: usize = 3;

impl HistoryHosts {
    /// Returns the hosts of a part.
    #[must_use]
    pub fn part(&self, part: usize) -> &[Name] {
        match self.ends.get(part..) {
            Some([start, end, ..]) => self.names.get(*start..*end).unwrap_or_default(),
            _ => &[],
        }
    }
}

/// Keeps one value of each host and key: the newest, or the middle one of several that began in the same second. Finds
/// the hosts that became slower by more than `threshold`; or, with a threshold of the `history`, the hosts whose results
/// changed by more at any time.
pub fn settle(past: &mut [StoredValue], runs: &Runs<'_>, threshold: f64, history: Option<f64>) -> Settled {
    let Runs { names, boots, .. } = runs;
    sort_by_key(past, |value| runs.place(value));
    let is_same = |one: &StoredValue, other: &StoredValue| runs.of(one) == runs.of(other);
    // Where there is memory, random loads are not judged.
    let is_judged = |of_host: &&[StoredValue]| {
        let key = of_host.first().map(|value| runs.of(value)[0]);
        key.is_some_and(|key| runs.is_of_memory(key) || runs.twin(key).is_none())
    };
    let judged = past.chunk_by(is_same).filter(is_judged).count();
    let (mut values, mut slowed, mut translation) = (Vec::new(), Vec::new(), Vec::new());
    // One series of each host, and its place plus 1 for each name.
    let mut series = Vec::new();
    let mut places = vec![0; names.len()];
    let scan = history.map(|threshold| HistoryScan::new(threshold, judged.real() / boots.names.real()));
    let least = if history.is_some() { FEWEST_RESULTS } else { 1 };
    let mut passing = PassingChanges::default();
    // The number of changes that were listed before those of this key.
    let mut begun = 0;
    let (mut start, end) = (0, past.len());
    while start < end {
        let rest = past.get(start..).unwrap_or_default();
        let Some(of_host) = rest.chunk_by(is_same).next() else { break };
        let with_memory = with_memory(past, of_host, runs);
        let range = start..start + of_host.len();
        start = range.end;
        let of_host = past.get_mut(range).unwrap_or_default();
        let newest = of_host.last().map_or(0, |newest| runs.run(newest).started);
        let (older, same) =
            of_host.split_at(of_host.partition_point(|value| runs.run(value).started < newest));
        let Some(one) = same.get((same.len() - 1) / 2).copied() else { break };
        let [name, host] = runs.of(&one);
        let key = runs.key(name);
        let is_of_memory = runs.is_of_memory(name);
        if is_of_memory && with_memory < least {
            continue;
        }
        if !key.is_mean() {
            values.push(HostValue { has_twin: with_memory > 0, ..runs.of_host(&one) });
        }
        // Where memory is judged, random loads only show address translation.
        let by_memory = !is_of_memory && with_memory >= least;
        if let Some(scan) = scan {
            if passing.key != Some(name) {
                leave_usual(&mut slowed, begun, &mut series, &places, runs, &mut passing);
                (passing.key, begun) = (Some(name), slowed.len());
            }
            let list = if by_memory { &mut translation } else { &mut slowed };
            let found = search(of_host, runs, scan, list, &mut passing);
            if by_memory {
                continue;
            }
            let Some(place) = places.get_mut(host as usize) else { continue };
            match series.get_mut((*place as usize).wrapping_sub(1)) {
                Some(known) => *known = better(*known, found, runs),
                None => {
                    series.push(found);
                    *place = series.len() as u32;
                }
            }
        } else if let Some(found) = change(older, &one, runs, key.quantity(), threshold) {
            if by_memory { &mut translation } else { &mut slowed }.push(found);
        }
    }
    leave_usual(&mut slowed, begun, &mut series, &places, runs, &mut passing);
    let place = |slowed: &Slowed| {
        let HostValue { host, key, .. } = slowed.value;
        (names.name(host), !runs.key(key).is_mean(), runs.order(key))
    };
    sort_by_key(&mut slowed, place);
    sort_by_key(&mut translation, place);
    sort_by_key(&mut series, |series| names.name(series.host));
    let mut hosts = HistoryHosts { names: Vec::new(), ends: [0; 5] };
    for part in [SLOWER, FASTER] {
        let mut last = None;
        for Slowed { value, is_faster, .. } in slowed.iter().filter(|_| history.is_some()) {
            if *is_faster == (part == FASTER) && last.replace(value.host) != Some(value.host) {
                hosts.names.push(value.host);
            }
        }
        hosts.ends[part + 1] = hosts.names.len();
    }
    for (part, reason) in [(FEW, Undecided::Few), (CORRELATED, Undecided::Correlated)] {
        for found in series.iter().filter(|found| found.undecided.is_some_and(|(why, _)| why == reason)) {
            hosts.names.push(found.host);
        }
        hosts.ends[part + 1] = hosts.names.len();
    }
    Settled { values, slowed, hosts, series, translation }
}

/// Removes the changes from `begun` on whose sizes are usual for their kind of hosts; the hosts are not judged. Steps that
/// are found in the series of this kind are larger.
fn leave_usual(
    slowed: &mut Vec<Slowed>,
    begun: usize,
    series: &mut [HostSeries],
    places: &[u32],
    runs: &Runs<'_>,
    passing: &mut PassingChanges,
) {
    let least = passing.largest_usual();
    for found in slowed.split_off(begun) {
        let Slowed { value, states: [before, after], is_faster, since, .. } = found;
        let facts = |state| runs.boots.state(state)[1];
        let size = ln(found.ratio()).abs();
        if facts(before) == facts(after) && passing.are_usual(size, usize::from(is_faster)) {
            let place = places.get(value.host as usize).map_or(0, |place| *place as usize);
            if let Some(series) = series.get_mut(place.wrapping_sub(1)) {
                (series.key, series.undecided) = (value.key, Some((Undecided::States, since)));
            }
        } else {
            slowed.push(found);
        }
    }
    for known in series.iter_mut().filter(|known| least > 0.0 && Some(known.key) == passing.key) {
        known.detectable =
            known.detectable.filter(|_| known.undecided.is_none()).map(|step| step.max(exp(least) - 1.0));
    }
    passing.clear();
}

/// Returns the number of results of a host with memory without address translation at the point of these values, which
/// are random loads or memory; 0 if the newest result lacks it.
fn with_memory(past: &[StoredValue], of_host: &[StoredValue], runs: &Runs<'_>) -> usize {
    let Some(newest) = of_host.last() else { return 0 };
    let [key, host] = runs.of(newest);
    let Some(twin) = runs.twin(key) else { return 0 };
    let place = runs.place_of_key([twin, host]);
    let is_of_twin = |value: &&StoredValue| runs.of(value) == [twin, host];
    let start = past.partition_point(|value| runs.place_of_key(runs.of(value)) < place);
    let rest = past.get(start..).unwrap_or_default();
    let twins = rest.get(..rest.iter().take_while(is_of_twin).count()).unwrap_or_default();
    let [memory, loads] = if runs.is_of_memory(twin) { [twins, of_host] } else { [of_host, twins] };
    let (Some(newest), Some(load)) = (memory.last(), loads.last()) else { return 0 };
    match memory.iter().any(|value| value.run() == load.run()) {
        true => memory.iter().filter(|value| runs.are_alike(value, newest)).count(),
        false => 0,
    }
}

/// Returns the series that tells more about a host: one with a step that is not judged, or else the mean of all points,
/// or else the first one.
fn better(known: HostSeries, other: HostSeries, runs: &Runs<'_>) -> HostSeries {
    let tells = |series: &HostSeries| {
        let is_step = series.undecided.is_some_and(|(why, _)| why.is_step());
        (is_step, runs.key(series.key).is_mean(), series.results >= FEWEST_RESULTS)
    };
    if tells(&other) > tells(&known) { other } else { known }
}

/// Searches each series of a host and a key for its latest change: the results under one set of conditions, in the
/// order of their times. Results without a time are left out, and copies of a result count once. Returns the series
/// under the newest conditions.
fn search(
    of_host: &mut [StoredValue],
    runs: &Runs<'_>,
    begin: HistoryScan,
    slowed: &mut Vec<Slowed>,
    passing: &mut PassingChanges,
) -> HostSeries {
    let (mut of_newest, mut series) = (None, Vec::<PastResult>::new());
    let is_left = |value: &&StoredValue| !value.is_searched() && runs.run(value).started > 0;
    while let Some(newest) = of_host.iter().rev().find(is_left).copied() {
        let [key, host] = runs.of(&newest);
        let quantity = runs.key(key).quantity();
        let mut scan = begin;
        series.clear();
        for value in of_host.iter_mut() {
            if !is_left(&&*value) || !runs.are_alike(value, &newest) {
                continue;
            }
            let run = runs.run(value);
            let past = value.past(run, runs.boots.state(run.state), quantity);
            value.set_searched();
            if series.last().is_none_or(|before| before.started != past.started) {
                series.push(past);
                let before = scan.passed.0;
                scan.add(&series);
                passing.results += 1;
                if scan.passed.0 > before {
                    passing.add(scan.passed.1);
                }
            }
        }
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
            ..runs.of_host(&newest)
        };
        let (since, after) = of(change.start);
        let states = [of(change.start - 1).1, after];
        let counts = [series.len() - change.start, change.start - change.before];
        let (before, since, is_faster) = (exp(sign * before), since.into(), change.direction < 0.0);
        slowed.push(Slowed { value, before, counts, since, states, is_faster });
    }
    let [key, host] = of_host.first().map_or([0; 2], |value| runs.of(value));
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
    // The results from the newest to the oldest.
    let mut all = [(0, [0.0; 3]); RECENT];
    let known =
        older.iter().rev().filter(|value| runs.run(value).started > 0 && runs.are_alike(value, newest));
    let mut count = 0;
    for (slot, value) in all.iter_mut().zip(core::iter::once(newest).chain(known)) {
        *slot = (runs.run(value).started, value.times(quantity));
        count += 1;
    }
    let all = all.get(..count).unwrap_or_default();
    (1..count).rev().find_map(|new| {
        let (recent, before) = all.split_at_checked(new)?;
        let mut numbers = [0.0; RECENT];
        let mut norm = |part: usize| {
            for (slot, (_, times)) in numbers.iter_mut().zip(before) {
                *slot = times.get(part).copied().unwrap_or(0.0);
            }
            Norm::of(numbers.get_mut(..before.len()).unwrap_or_default())
        };
        let (usual, ends) = (norm(0)?, norm(2)?);
        let bound = (usual.median + usual.allowed(threshold)).max(ends.median);
        let slower = recent.iter().all(|(_, [_, low, _])| *low > bound);
        let before = if quantity == Quantity::Latency { usual.median } else { 1.0 / usual.median };
        slower.then_some(Slowed {
            value: runs.of_host(newest),
            before,
            counts: [new, count - new],
            since: recent.last().map_or(0, |(started, _)| (*started).into()),
            states: [runs.run(newest).state; 2],
            is_faster: false,
        })
    })
}
