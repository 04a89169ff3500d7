//! The hosts of the results, and the facts about them that may explain a difference: firmware, kernel, settings and
//! labels. No fact is a cause. A host name is one host, unless two kernels with this host name ran at the same time.

use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::{Text, sort_by, sort_by_key};

use super::dates::{self, ResultDate};
use super::names::{NONE, Name, Names, Numbered};
use super::values::ValueRun;
use crate::saved::Saved;
use crate::saved::conditions::{BRAND, CONDITIONS, HOST};
use crate::saved::host::SEPARATOR;
use latency_report::chart::vector;

/// Every boot of every host, and its states. A state is a boot with the facts of some of its results.
#[derive(Default)]
pub struct Boots {
    /// The host name and the boot ID of each boot.
    boots: Numbered<[Name; 2]>,
    /// For each boot: the start of its first and of its last result in seconds, both 0 if unknown; and its host.
    seen: Vec<(u32, u32, Name)>,
    facts: Numbered<Vec<HostFact>>,
    /// The boot and the facts of each state.
    states: Numbered<[Name; 2]>,
    /// The wrong dates, sorted by host name.
    pub dates: Vec<ResultDate>,
    /// Host names that several hosts share, sorted.
    pub shared: Vec<Name>,
    /// The number of different host names.
    pub names: usize,
}

impl Boots {
    /// Adds the state of a result and returns its number.
    pub fn add(&mut self, names: &mut Names, saved: &Saved) -> Name {
        let of = [saved.host(), saved.origin.boot.as_str()].map(|name| names.number(name));
        let boot = self.boots.number(&of);
        if self.seen.len() < self.boots.len() {
            self.seen.push((0, 0, of[0]));
        }
        let facts = self.facts.number(facts_of(names, saved).as_slice());
        self.states.number(&[boot, facts])
    }

    /// Returns the host name and the boot ID of a boot.
    fn boot(&self, boot: Name) -> [Name; 2] {
        self.boots.copied(boot)
    }

    /// Finds the wrong dates. Gives hosts that share a name, because their boots overlap by their other dates, separate
    /// names: the host name and the boot ID.
    pub fn settle(&mut self, names: &mut Names, runs: &mut [ValueRun]) {
        let date = |(run, of): (u32, &ValueRun)| {
            let [boot, _] = self.state(of.state);
            let [host, id] = self.boot(boot);
            let span = [of.started, of.started.saturating_add(of.seconds)];
            let boot = (id != NONE).then_some(boot);
            ResultDate { run, host, boot, span, place: of.document, is_ordered: true, wrong: None }
        };
        let dated = (0..).zip(runs.iter()).filter(|(_, of)| of.started > 0);
        let mut dates: Vec<_> = vector(dated.map(date));
        dates::check(&mut dates);
        for ResultDate { boot, span: [start, end], .. } in dates.iter().filter(|date| date.wrong.is_none()) {
            if let Some(boot) = boot {
                let (first, last, _) = &mut self.seen[*boot as usize];
                *first = if *first == 0 { *start } else { (*first).min(*start) };
                *last = (*last).max(*end);
            }
        }
        dates.retain(|date| date.wrong.is_some());
        sort_by_key(&mut dates, |date| (names.name(date.host), date.place, date.span));
        dates.iter().for_each(|date| runs[date.run as usize].started = 0);
        self.dates = dates;
        let mut all: Vec<_> = vector((0..self.boots.len() as Name).map(|boot| (boot, self.boot(boot))));
        sort_by_key(&mut all, |(_, of)| of.map(|name| names.name(name)));
        for boots in all.chunk_by(|(_, one), (_, other)| one[0] == other[0]) {
            self.names += 1;
            if !self.overlap(boots) {
                continue;
            }
            self.shared.push(boots[0].1[0]);
            for (boot, [host, id]) in boots.iter().filter(|(_, [_, id])| *id != NONE) {
                let short = Text::<8>::from_bytes(names.name(*id).as_bytes());
                let name = format!("{} (boot {short})", names.name(*host));
                self.seen[*boot as usize].2 = names.number(name.as_str());
            }
        }
    }

    /// Returns whether two boots under one host name ran at the same time. Then they belong to two hosts, because a
    /// host ends one kernel before it boots the next.
    fn overlap(&self, boots: &[(Name, [Name; 2])]) -> bool {
        let told = boots.iter().filter(|(_, [_, id])| *id != NONE);
        let spans = told.map(|(boot, _)| self.seen[*boot as usize]);
        let mut spans: Vec<_> = vector(spans.filter(|(first, ..)| *first > 0));
        sort_by(&mut spans, Ord::cmp);
        let mut end = 0;
        spans.iter().any(|(first, last, _)| {
            let overlaps = *first <= end;
            end = end.max(*last);
            overlaps
        })
    }

    /// Returns the boot and the facts of a state.
    pub fn state(&self, state: Name) -> [Name; 2] {
        self.states.copied(state)
    }

    /// Returns the facts of a state.
    pub fn facts(&self, state: Name) -> &[HostFact] {
        self.facts.get(self.state(state)[1]).map_or(&[], Vec::as_slice)
    }

    /// Returns the host name of a state; call [`settle`](Self::settle) first.
    pub fn host(&self, state: Name) -> Name {
        let [boot, _] = self.state(state);
        self.seen.get(boot as usize).map_or(boot, |(.., host)| *host)
    }

    /// Returns the names of the hosts that share a name.
    pub fn of<'n>(&'n self, names: &'n Names, shared: Name) -> impl Iterator<Item = &'n str> + Clone {
        let hosts = (0..).zip(self.seen.iter());
        let hosts = hosts.filter(move |(boot, (.., host))| self.boot(*boot)[0] == shared && *host != shared);
        hosts.map(|(_, (.., host))| names.name(*host))
    }
}

/// The number of conditions that are facts about a host, except its name and its CPU model.
const MOST: usize = 13;

/// The name and the value of a fact. The CPU model, which is the first one, has no name.
pub type HostFact = [Name; 2];

/// Returns the CPU model and every known fact of a result.
fn facts_of(names: &mut Names, saved: &Saved) -> Vec<HostFact> {
    let mut facts = vec![[NONE, names.number(saved.cpu())]];
    let mut add = |name: &str, value: &str| facts.push([name, value].map(|text| names.number(text)));
    let texts = CONDITIONS.iter().zip(&saved.conditions.texts).take(MOST).enumerate();
    for (index, ((_, words), text)) in texts {
        if !matches!(index, HOST | BRAND) && !text.is_empty() {
            add(words, text.as_str());
        }
    }
    for label in saved.origin.labels.as_str().split(SEPARATOR) {
        label.split_once('=').into_iter().for_each(|(name, value)| add(name, value));
    }
    facts
}

/// Returns the words of the known facts that differ between two states of a host, and whether it was booted between
/// them, with `first` before the first difference.
pub fn changed_facts<'f>(
    names: &'f Names,
    [before, after]: [&'f [HostFact]; 2],
    rebooted: bool,
    first: &'f str,
) -> impl Display + 'f {
    fmt::from_fn(move |out| {
        let mut separator = first;
        for &[name, new] in after.iter().filter(|[name, _]| *name != NONE) {
            let old = before.iter().find(|[other, _]| *other == name);
            if let Some(&[_, old]) = old.filter(|[_, old]| *old != new) {
                let [name, old, new] = [name, old, new].map(|text| names.name(text));
                write!(out, "{separator}{name} {old} -> {new}")?;
                separator = ", ";
            }
        }
        if rebooted { write!(out, "{separator}rebooted") } else { Ok(()) }
    })
}
