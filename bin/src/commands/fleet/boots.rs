//! The hosts of the results. A host name is one host, unless two kernels with this host name ran at the same time.

use alloc::vec::Vec;

use latency_core::sort::{sort_by, sort_by_key};
use latency_core::text::Text;

use super::dates::{self, ResultDate};
use super::facts;
use super::names::{MOST, Name, Names};
use super::values::ValueRun;
use crate::saved::Saved;
use crate::saved::host::SEPARATOR;
use crate::sys::errno::Errno;
use crate::sys::table::Table;

/// Every boot of every host: the times of its first and last result, its host, and its states. A state is a boot with
/// the [facts] of some of its results.
pub struct Boots {
    /// For the name number of each boot: the start of its first and of its last result in seconds, both 0 if unknown;
    /// and the name number of its host plus 1.
    seen: Table<[u64; 3]>,
    /// For the name number of each state: the name numbers of its boot and of its facts.
    states: Table<[Name; 2]>,
    /// The wrong dates, sorted by host name.
    pub dates: Vec<ResultDate>,
    /// Host names that several hosts share, sorted.
    pub shared: Vec<Name>,
    /// The number of different host names.
    pub names: usize,
}

impl Boots {
    /// Makes an empty collection.
    ///
    /// # Errors
    ///
    /// No memory for the tables.
    pub fn new() -> Result<Boots, Errno> {
        Ok(Boots {
            seen: Table::zeroed(MOST)?,
            states: Table::zeroed(MOST)?,
            dates: Vec::new(),
            shared: Vec::new(),
            names: 0,
        })
    }

    /// Adds the state of a result and returns its number; `None` if the table is full.
    pub fn add(&mut self, names: &mut Names, saved: &Saved) -> Option<Name> {
        let mut name = Text::<160>::EMPTY;
        // Both parts fit: a host name has at most 96 bytes, and a boot ID at most 40.
        let _ = write!(name, "{}{SEPARATOR}{}", saved.host(), saved.origin.boot.as_str());
        let number = names.number(name.as_str())?;
        let own = names.number(saved.host())?;
        let [.., host] = self.seen.get_mut(number as usize)?;
        *host = u64::from(own) + 1;
        let facts = names.number(facts::of(saved).as_str())?;
        let mut name = Text::<32>::EMPTY;
        let _ = write!(name, "{number}{SEPARATOR}{facts}");
        let state = names.number(name.as_str())?;
        *self.states.get_mut(state as usize)? = [number, facts];
        Some(state)
    }

    /// Finds the wrong dates. Gives hosts that share a name, because their boots overlap by their other dates, separate
    /// names: the host name and the boot ID.
    pub fn settle(&mut self, names: &mut Names, runs: &mut [ValueRun]) {
        let date = |(run, of): (u32, &ValueRun)| {
            let [boot, _] = self.state(of.state);
            let (host, is_named) = (self.host(of.state), !id(names.name(boot)).is_empty());
            let span = [of.started, of.started.saturating_add(of.seconds)];
            let boot = is_named.then_some(boot);
            ResultDate { run, host, boot, span, place: of.document, is_ordered: true, wrong: None }
        };
        let dated = (0..).zip(runs.iter()).filter(|(_, of)| of.started > 0);
        let mut dates: Vec<_> = dated.map(date).collect();
        dates::check(&mut dates);
        for ResultDate { boot, span: [start, end], .. } in dates.iter().filter(|date| date.wrong.is_none()) {
            let seen = boot.and_then(|boot| self.seen.get_mut(boot as usize));
            if let Some([first, last, _]) = seen {
                *first = if *first == 0 { (*start).into() } else { (*first).min((*start).into()) };
                *last = (*last).max((*end).into());
            }
        }
        dates.retain(|date| date.wrong.is_some());
        self.dates = dates;
        sort_by(&mut self.dates, |one, other| {
            let place = |date: &ResultDate| (names.name(date.host), date.place, date.span);
            place(one).cmp(&place(other))
        });
        for date in self.dates.iter() {
            runs.get_mut(date.run as usize).into_iter().for_each(|run| run.started = 0);
        }
        let known = (0..).zip(self.seen.iter()).filter(|(_, [.., host])| *host > 0);
        let mut all: Vec<_> = known.map(|(boot, [.., host])| (boot, (*host - 1) as Name)).collect();
        sort_by_key(&mut all, |(boot, _)| names.name(*boot));
        for boots in all.chunk_by(|(_, one), (_, other)| one == other) {
            self.names += 1;
            let Some((_, host)) = boots.first().filter(|_| boots.len() > 1) else { continue };
            if !self.overlap(names, boots) {
                continue;
            }
            self.shared.push(*host);
            for (boot, host) in boots {
                let short = Text::<8>::from_bytes(id(names.name(*boot)).as_bytes());
                if short.is_empty() {
                    continue;
                }
                let mut name = Text::<160>::EMPTY;
                let _ = write!(name, "{} (boot {short})", names.name(*host));
                let number = names.number(name.as_str()).unwrap_or(*host);
                if let Some([.., slot]) = self.seen.get_mut(*boot as usize) {
                    *slot = u64::from(number) + 1;
                }
            }
        }
    }

    /// Returns whether two boots under one host name ran at the same time. Then they belong to two hosts, because a
    /// host ends one kernel before it boots the next.
    fn overlap(&self, names: &Names, boots: &[(Name, Name)]) -> bool {
        let told = boots.iter().filter(|(boot, _)| !id(names.name(*boot)).is_empty());
        let spans = told.filter_map(|(boot, _)| self.seen.get(*boot as usize).copied());
        let mut spans: Vec<_> = spans.filter(|[first, ..]| *first > 0).collect();
        sort_by(&mut spans, Ord::cmp);
        let mut end = 0;
        spans.iter().any(|[first, last, _]| {
            let overlaps = *first <= end;
            end = end.max(*last);
            overlaps
        })
    }

    /// Returns the boot and the facts of a state.
    #[must_use]
    pub fn state(&self, state: Name) -> [Name; 2] {
        self.states.get(state as usize).copied().unwrap_or_default()
    }

    /// Returns the host name of a state; call [`settle`](Self::settle) first.
    #[must_use]
    pub fn host(&self, state: Name) -> Name {
        let [boot, _] = self.state(state);
        self.seen.get(boot as usize).map_or(boot, |[.., host]| host.saturating_sub(1) as Name)
    }

    /// Returns the names of the hosts that share a name.
    pub fn of<'n>(&'n self, names: &'n Names, shared: Name) -> impl Iterator<Item = &'n str> + Clone {
        let hosts = self.seen.iter().filter(|[.., host]| *host > 0).map(|[.., host]| (*host - 1) as Name);
        let begins = move |name: &&str| {
            name.strip_prefix(names.name(shared)).is_some_and(|rest| rest.starts_with(" (boot "))
        };
        hosts.map(|host| names.name(host)).filter(begins)
    }
}

/// Returns the boot ID in a combined name; empty if the result has none.
fn id(name: &str) -> &str {
    name.split_once(SEPARATOR).map_or("", |(_, boot)| boot)
}
