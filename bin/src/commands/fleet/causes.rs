//! The likely causes of the differences of hosts, by the same rules as those of `compare`.
//!
//! Only a few values of each document are kept. So the documents of some hosts that were found, and of hosts that are
//! typical of the others, are read a second time. Causes depend on nothing else.

use alloc::vec::Vec;

use super::findings::{FASTER, FleetFindings, HostKind, Outlier};
use super::names::Name;
use super::runs::Runs;
use super::values::{HostValue, Slowed, StoredValue};
use crate::analysis::cause::LikelyCause;
use crate::commands::compare::cause::between;
use crate::saved::{self, MAX_ROWS, Saved, documents};
use latency_report::chart::vector;

/// Maximum number of differences whose causes are sought: more hosts than sentences name.
const MOST: usize = 16;
/// Maximum number of results of a side: the number that shows the influence of neighbours.
const EACH: usize = 3;
/// Maximum number of rows of the documents that are read a second time. Documents for which there is no room are left
/// out.
const MOST_ROWS: usize = 4 * MAX_ROWS;

/// The likely causes of the differences of hosts.
pub struct HostCauses {
    /// Each host with a likely cause; `None` if its experiments have different causes.
    pub list: Vec<(Name, Option<LikelyCause>)>,
    /// True if an input is a pipe that would have to be read a second time.
    pub is_unreadable: bool,
}

impl HostCauses {
    /// Returns the hosts with one likely cause.
    pub fn named(&self) -> impl Iterator<Item = (Name, &LikelyCause)> + Clone {
        self.list.iter().filter_map(|(host, cause)| Some((*host, cause.as_ref()?)))
    }

    /// Returns the likely cause of the difference of a host.
    pub fn of(&self, host: Name) -> Option<&'static str> {
        self.named().find(|(known, _)| *known == host).map(|(_, cause)| cause.name())
    }
}

/// A difference whose cause is sought.
struct CauseQuestion {
    host: Name,
    /// The key of the value that differs.
    key: Name,
    /// The numbers of the documents of the first side, and of those of the host.
    documents: [Vec<u32>; 2],
}

/// The differences whose causes are sought, and the values of all results.
struct CauseSearch<'s, 'a> {
    runs: &'s Runs<'a>,
    past: &'s [StoredValue],
    questions: Vec<CauseQuestion>,
}

impl CauseSearch<'_, '_> {
    /// Adds the difference of a value from the results in `documents`, unless one of the same host and experiment was
    /// added before. `side` returns the side of each result of the host, from the newest one on, and `None` behind the last
    /// one that counts.
    fn add(
        &mut self,
        like: &HostValue,
        mut documents: [Vec<u32>; 2],
        side: &dyn Fn(&StoredValue) -> Option<usize>,
    ) {
        let CauseSearch { runs, past, questions } = self;
        let experiment = |key| runs.key(key).experiment;
        let is_same =
            |known: &CauseQuestion| known.host == like.host && experiment(known.key) == experiment(like.key);
        // Thousands of hosts may differ, and each search goes through all values.
        if questions.len() == MOST || questions.iter().any(is_same) {
            return;
        }
        let mut newest = None;
        for value in past.iter().rev().filter(|value| runs.of(value)[0] == like.key) {
            let is_first = newest.is_none() && runs.under(value).0 == like.under;
            if runs.of(value)[1] != like.host || newest.is_none() && !is_first {
                continue;
            }
            if !runs.are_alike(value, newest.get_or_insert(*value)) {
                continue;
            }
            let Some(side) = side(value) else { break };
            if documents[side].len() < EACH {
                documents[side].push(runs.run(value).document);
            }
        }
        questions.push(CauseQuestion { host: like.host, key: like.key, documents });
    }

    /// Adds the difference of a host from the hosts nearest to the usual value. The results of the host count as far
    /// back as they differ.
    fn add_outlier(&mut self, outlier: &Outlier, kind: HostKind, others: &[HostValue], threshold: f64) {
        let Outlier { value, norm, quantity, .. } = outlier;
        let is_like =
            |other: &&HostValue| other.key == value.key && other.apart == 0 && kind.has(other.under);
        let (mut distances, mut documents) = (Vec::new(), [Vec::new(), Vec::new()]);
        for other in others.iter().filter(is_like) {
            let distance = (other.value - norm.median).abs();
            let place = distances.partition_point(|nearer: &f64| *nearer <= distance);
            if place < EACH && distance < norm.allowed(threshold) {
                distances.insert(place, distance);
                documents[0].insert(place, other.document);
            }
        }
        documents[0].truncate(EACH);
        self.add(value, documents, &|value| {
            let interval = value.interval();
            let differs = norm.is_slower(*quantity, interval, threshold)
                || norm.is_faster(*quantity, interval, threshold);
            differs.then_some(1)
        });
    }
}

/// Finds the likely causes of the differences of hosts: of those that changed, between their older and newer results;
/// of those that are slower or faster, between hosts nearest to the usual value (of the baseline, if there is one) and
/// them.
pub fn find(
    runs: &Runs<'_>,
    past: &[StoredValue],
    slowed: &[Slowed],
    found: &FleetFindings<'_>,
    baseline: Option<&[HostValue]>,
    threshold: f64,
) -> HostCauses {
    let mut causes = HostCauses { list: Vec::new(), is_unreadable: false };
    let mut search = CauseSearch { runs, past, questions: Vec::new() };
    for changed in slowed {
        search.add(&changed.value, Default::default(), &|value| {
            Some(usize::from(u64::from(runs.run(value).started) >= changed.since))
        });
    }
    let faster = found.apart.iter().filter(|apart| apart.condition == FASTER).map(|apart| &apart.outlier);
    for outlier in found.outliers.iter().chain(faster) {
        if search.questions.len() == MOST {
            break;
        }
        let group = &found.groups[outlier.group];
        search.add_outlier(outlier, group.kind, baseline.unwrap_or(group.values), threshold);
    }
    let CauseSearch { questions, .. } = search;
    if !questions.is_empty() {
        answer(runs, &questions, &mut causes);
    }
    causes
}

/// Reads the documents of all questions, and finds the causes.
fn answer(runs: &Runs<'_>, questions: &[CauseQuestion], causes: &mut HostCauses) {
    let Runs { options, given, .. } = runs;
    let paths = || options.baseline.into_iter().chain(options.operands().iter().copied());
    causes.is_unreadable = paths().any(|path| !saved::is_repeatable(path));
    if causes.is_unreadable {
        return;
    }
    let mut kept = Vec::new();
    let (mut number, mut left) = (0, MOST_ROWS);
    let mut take = |text: &[u8]| {
        let own = number;
        number += 1;
        if questions.iter().any(|question| question.documents.iter().flatten().any(|of| *of == own)) {
            let draft = Saved::parse(text, None)?;
            left = left.saturating_sub(draft.rows.len());
            if left > 0 {
                kept.push((own, draft.finish()));
            }
        }
        Ok(())
    };
    for path in paths() {
        // A file that can no longer be read has no more documents.
        let _ = documents::each(path, &mut take, &mut |_| ());
    }
    // Files that were changed meanwhile have other documents at these places.
    for question in questions.iter().filter(|_| number == *given) {
        let side = |documents: &Vec<u32>| {
            let is_own = |(number, _): &&(u32, Saved)| documents.contains(number);
            vector(kept.iter().filter(is_own).map(|(_, saved)| *saved))
        };
        let [first, second] = question.documents.each_ref().map(side);
        // Each side has a document.
        let is_known = !first.is_empty() && !second.is_empty();
        let Some(cause) = is_known.then(|| between([&first, &second])).flatten() else { continue };
        match causes.list.iter_mut().find(|(host, _)| *host == question.host) {
            Some((_, known)) => *known = known.filter(|known| known.name() == cause.name()),
            None => causes.list.push((question.host, Some(cause))),
        }
    }
}
