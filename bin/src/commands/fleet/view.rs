//! The view of many hosts: the slow ones, the usual values, and the values without a verdict.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use latency_report::chart::vector;

use latency_core::{Interval, Trimmed, Worded, plural};

use super::association::Association;
use super::boots;
use super::causes::HostCauses;
use super::dates::WrongDate;
use super::expected::Expected;
use super::findings::{self, Apart, FleetFindings, HostGroup};
use super::history::{DETECTED_IN, Undecided};
use super::names::Name;
use super::runs::{Refused, Runs};
use super::settled::Settled;
use super::values::{HostValue, Key, Slowed, unit};
use crate::analysis::norm::{FEWEST, Quantity};
use crate::describe::time::utc;
use crate::options::Options;
use crate::saved::{self, alike};
use latency_report::lists::listed;
use latency_report::{Digits, Level, Role, Shown};

/// Maximum number of names in a sentence or list.
const NAMED: usize = 8;
/// Maximum number of table rows without `--verbose`.
const ROWS: usize = 40;

/// The data that `fleet` shows about many hosts.
pub struct FleetView<'v, 'a> {
    /// The options.
    pub options: &'v Options,
    /// The results that were read.
    pub runs: &'v Runs<'a>,
    /// The findings.
    pub found: &'v FleetFindings<'v>,
    /// The hosts whose results changed, or are not judged.
    pub settled: &'v Settled,
    /// The facts that slow hosts have significantly more often than others.
    pub associations: &'v [Association<'v>],
    /// The likely causes of the differences of hosts.
    pub causes: &'v HostCauses,
    /// The expected hosts without a result.
    pub expected: &'v Expected,
    /// The allowed excess over the usual value.
    pub threshold: f64,
    /// The number of documents of the baseline.
    pub of_baseline: usize,
}

impl FleetView<'_, '_> {
    /// Shows all findings.
    pub fn present(&self, document: &mut Shown) {
        self.answer(document);
        self.translation(document);
        self.causes(document);
        if self.found.judged > 0 {
            self.outliers(document);
        } else {
            self.values(document);
        }
        self.groups(document);
        for association in self.associations.iter().take(NAMED) {
            document.missing(format_args!("{association} (an association, not a cause)."));
        }
        more(document, "Associations", "facts", self.associations.len());
        self.slowed(document);
        self.undecided(document);
        self.apart(document);
        self.shared(document);
        self.misdated(document);
        self.left_out(document);
        self.method(document);
        self.programs(document);
        self.metrics(document);
    }

    /// Returns a name by its number.
    pub fn name(&self, name: Name) -> &str {
        self.runs.names.name(name)
    }

    /// Returns the key of a value.
    pub fn key(&self, value: &HostValue) -> Key {
        self.runs.key(value.key)
    }

    /// Returns hosts, each once, but not those of another list.
    fn distinct(&self, hosts: &mut dyn Iterator<Item = Name>, others: &[Name]) -> Vec<Name> {
        let mut seen = vec![false; self.runs.names.len()];
        let mut is_new =
            |host: Name| seen.get_mut(host as usize).is_some_and(|seen| !core::mem::replace(seen, true));
        for host in others {
            is_new(*host);
        }
        vector(hosts.filter(|host| is_new(*host)))
    }

    /// Returns the slow hosts, each once, the worst first.
    fn slow(&self) -> Vec<Name> {
        self.distinct(&mut self.found.outliers.iter().map(|outlier| outlier.value.host), &[])
    }

    /// Returns the number of judged hosts that are neither slow nor became slower.
    pub fn healthy(&self) -> usize {
        let mut others = self.slow();
        others.extend(&self.settled.slower);
        self.distinct(&mut self.found.judged_hosts.iter().map(|judged| judged.host), &others).len()
    }

    /// Lists the hosts whose address translation alone is slow, or became slower according to the history.
    fn translation(&self, document: &mut Shown) {
        let mut outliers = self.found.translation.iter().map(|outlier| outlier.value.host);
        let mut slowed = self.slower_translation().map(|slowed| slowed.value.host);
        for (words, hosts) in [
            ("Slow address translation", self.distinct(&mut outliers, &self.slow())),
            ("Address translation became slower", self.distinct(&mut slowed, &self.settled.slower)),
        ] {
            if !hosts.is_empty() {
                document.finding(format_args!(
                    "{words}: {} of {} hosts: {} (random loads, not memory; --of=load judges them).",
                    hosts.len(),
                    self.found.hosts,
                    self.names(&hosts)
                ));
            }
        }
    }

    /// Returns the points of the history at which random loads became slower, but not memory.
    pub fn slower_translation(&self) -> impl Iterator<Item = &Slowed> + Clone {
        self.settled.translation.iter().filter(|slowed| self.options.history && !slowed.is_faster)
    }

    fn answer(&self, document: &mut Shown) {
        let FleetFindings { hosts, judged, only_apart, slow, .. } = *self.found;
        let Expected { names, missing } = self.expected;
        if missing.hosts > 0 {
            let colon = if names.is_empty() { "" } else { ": " };
            document.answer(format_args!(
                "Missing: {} of {} expected hosts{colon}{}.",
                missing.hosts,
                missing.of,
                self.names(names)
            ));
        }
        if self.options.history {
            for (changed, word) in [(&self.settled.slower, "slower"), (&self.settled.faster, "faster")] {
                let (count, names) = (changed.len(), self.listed(changed));
                document.answer(format_args!("Became {word}: {count} of {hosts}{names}."));
            }
        }
        match (judged, slow) {
            (0, _) if self.options.baseline.is_some() => document.answer(format_args!(
                "None of {hosts} host{s} has a point in common with the baseline.",
                s = plural(hosts as u64)
            )),
            (0, _) => document.answer(format_args!(
                "Too few hosts: {hosts} host{s}, fewer than {fewest} of each kind. Add hosts, or give \
                     known-good results with --baseline.",
                s = plural(hosts as u64),
                fewest = FEWEST
            )),
            (_, 0) => document.answer(format_args!("None of {judged} hosts is slow ({}).", self.others())),
            _ => {
                document.answer(format_args!(
                    "{slow} of {judged} hosts {} slow: {} ({}).",
                    if slow == 1 { "is" } else { "are" },
                    self.names(&self.slow()),
                    self.others()
                ));
            }
        }
        self.kinds(document);
        if judged > 0 {
            document.finding(format_args!("Healthy: {} of {judged} hosts.", self.healthy()));
        }
        let hosts = hosts - only_apart;
        if judged > 0 && hosts > judged {
            document.missing(format_args!(
                "Not judged: {hosts} host{s}: {named} ({why}).",
                hosts = hosts - judged,
                named = self.names(&self.found.not_judged),
                s = plural((hosts - judged) as u64),
                why = match (self.options.baseline, hosts - judged) {
                    (Some(_), _) => "not of a kind in the baseline",
                    (None, 1) => "fewer than 5 hosts of its kind",
                    (None, _) => "fewer than 5 hosts of their kind",
                }
            ));
        }
    }

    /// Names the kind of each slow host whose CPU model has several.
    fn kinds(&self, document: &mut Shown) {
        let outliers = &self.found.outliers;
        for host in self.slow().into_iter().take(NAMED) {
            let own = outliers.iter().find(|outlier| outlier.value.host == host);
            let group = own.map(|own| &self.found.groups[own.group]);
            if let Some(HostGroup { kind, like, .. }) = group.filter(|group| group.kind.is_one_of_several()) {
                let name = self.name(host);
                document.finding(format_args!("{name}: compared with {like} hosts of its kind: {kind}."));
            }
        }
    }

    /// States the likely causes.
    fn causes(&self, document: &mut Shown) {
        for (host, cause) in self.causes.named() {
            document.finding(format_args!("{}: {cause}.", self.name(host)));
        }
        if self.causes.is_unreadable {
            document.say(
                Role::Missing,
                "Likely causes: not sought, because a pipe cannot be read a second time; name files.",
            );
        }
    }

    const fn others(&self) -> &'static str {
        match self.options.baseline {
            Some(_) => "compared with the baseline",
            None => "compared with hosts of the same CPU model",
        }
    }

    /// Shows a row for each outlier.
    fn outliers(&self, document: &mut Shown) {
        let outliers = &self.found.outliers;
        let shown = if self.options.verbose { outliers.len() } else { ROWS };
        document.tabulate("", Level::Quiet, 2, &|table| {
            table.texts(&["host", "point", "value", "median", "ratio", "deviations"]);
            for outlier in outliers.iter().take(shown) {
                let value = &outlier.value;
                let shown = |value| amount(outlier.quantity, value);
                table.row().show(&self.name(value.host)).show(&self.name(self.key(value).point));
                table.show(&shown(value.value)).show(&shown(outlier.norm.median));
                table.cell(format_args!("{:.2}", outlier.ratio())).number(outlier.z());
            }
        });
        if outliers.len() > shown {
            document.missing(format_args!(
                "{more} more values are slow; --verbose lists all.",
                more = outliers.len() - ROWS
            ));
        }
    }

    /// Shows a row for each value, if there are too few for a verdict.
    fn values(&self, document: &mut Shown) {
        let values = || self.found.groups.iter().flat_map(HostGroup::shown);
        let shown = if self.options.verbose { usize::MAX } else { ROWS };
        document.tabulate("", Level::Quiet, 2, &|table| {
            table.texts(&["host", "point", "value", "95% CI"]);
            for value in values().take(shown) {
                let key = self.key(value);
                let unit = unit(key.quantity()).1;
                let Interval { low, high } = value.interval;
                let amount = amount(key.quantity(), value.value);
                table.row().show(&self.name(value.host)).show(&self.name(key.point)).show(&amount);
                table.range(Some(Interval { low: low / unit, high: high / unit }), "");
            }
        });
    }

    /// Shows a row for each group.
    fn groups(&self, document: &mut Shown) {
        document.tabulate("", Level::Verbose, 2, &|table| {
            table.texts(&["kind", "point", "hosts", "median", "allowed ±"]);
            for group in self.found.shown_groups() {
                let key = self.runs.key(group.key);
                let nodes = group.nodes();
                let comma = if group.kind.is_one_of_several() { ", " } else { "" };
                let cpu = format!("{}, {nodes} node{}", self.name(key.cpu), plural(nodes as usize));
                let shown = |value| amount(key.quantity(), value);
                table
                    .row()
                    .cell(format_args!("{cpu}{comma}{}", group.kind))
                    .show(&self.name(key.point))
                    .show(&group.like);
                table.show(&shown(group.norm.median)).show(&shown(group.norm.allowed(self.threshold)));
            }
        });
    }

    /// Returns the word for hosts, and the names of some hosts behind a colon.
    fn listed(&self, hosts: &[Name]) -> String {
        format!(" hosts{}{}", if hosts.is_empty() { "" } else { ": " }, self.names(hosts))
    }

    /// Returns the names of some hosts.
    fn names<'h>(&'h self, hosts: &'h [Name]) -> impl fmt::Display + 'h {
        listed(NAMED, hosts.len(), hosts.iter().map(|host| self.name(*host)))
    }

    /// Returns the facts about a host that changed at the same time, with `first` before them.
    pub fn facts<'f>(&'f self, slowed: &Slowed, first: &'f str) -> impl fmt::Display + 'f {
        let boots = &self.runs.boots;
        let [boot, new_boot] = slowed.states.map(|state| boots.state(state)[0]);
        let facts = slowed.states.map(|state| boots.facts(state));
        boots::changed_facts(&self.runs.names, facts, boot != new_boot, first)
    }

    /// States which hosts became slower or faster.
    fn slowed(&self, document: &mut Shown) {
        // Of a host with a history only the first point is shown, which is the mean of all points if that changed.
        let mut before = None;
        let is_first = |slowed: &&Slowed| {
            before.replace(slowed.value.host) != Some(slowed.value.host) || !self.options.history
        };
        for slowed in self.settled.slowed.iter().filter(is_first).take(NAMED) {
            let key = self.key(&slowed.value);
            let [new, before] = slowed.counts;
            document.missing(format_args!(
                "{}: became {}: {} {} in its newest {new} result{}, {} in the {before} before (since {}{}).",
                self.name(slowed.value.host),
                if slowed.is_faster { "faster" } else { "slower" },
                self.name(key.point),
                amount(key.quantity(), slowed.value.value),
                plural(new),
                amount(key.quantity(), slowed.before),
                utc(slowed.since),
                self.facts(slowed, "; at that time: "),
            ));
        }
        let Settled { slowed, slower, faster, .. } = self.settled;
        match self.options.history {
            true => more(document, "Changed", "hosts", slower.len() + faster.len()),
            false => more(document, "Became slower", "points", slowed.len()),
        }
    }

    /// States which hosts have a history that is not judged, and why.
    fn undecided(&self, document: &mut Shown) {
        let steps = || {
            let all = self.settled.series.iter();
            all.filter_map(|series| {
                series.undecided.filter(|(why, _)| why.is_step()).map(|step| (series, step))
            })
        };
        for (series, (why, since)) in steps().take(NAMED) {
            let (host, point) = (self.name(series.host), self.name(self.runs.key(series.key).point));
            document.missing(format_args!(
                "{host}: not judged: {point} {} since {} [{}].",
                match why {
                    Undecided::Boot => {
                        "has another level after a reboot alone, which may be another placement of memory until \
                         further reboots confirm it,"
                    }
                    Undecided::States => {
                        "has another level, as hosts of its kind often had for a while,"
                    }
                    _ => "is back at a level of older results",
                },
                utc(since),
                why.word()
            ));
        }
        more(document, "Not judged", "hosts", steps().count());
        let parts = [
            (&self.settled.few, "Too few results for a history (about 20 are needed)"),
            (
                &self.settled.correlated,
                "Too few results for a history, because each resembles the one before",
            ),
        ];
        for (hosts, words) in parts {
            if !hosts.is_empty() {
                let (count, names) = (hosts.len(), self.listed(hosts));
                document.missing(format_args!("{words}: {count} of {}{names}.", self.found.hosts));
            }
        }
    }

    /// States which hosts differ from the others, and the differences.
    fn apart(&self, document: &mut Shown) {
        let all = &self.found.apart;
        let shown = if self.options.verbose { all.len() } else { NAMED };
        for apart in all.iter().take(shown) {
            document.missing(format_args!(
                "{}: not comparable: {apart} [{}].",
                self.name(apart.outlier.value.host),
                apart.code()
            ));
        }
        if !self.options.verbose {
            more(document, "Not comparable", "entries", all.len());
        }
    }

    /// States which hosts share a name.
    fn shared(&self, document: &mut Shown) {
        let shared = &self.runs.boots.shared;
        for name in shared.iter().take(NAMED) {
            let hosts = self.runs.boots.of(&self.runs.names, *name);
            document.missing(format_args!(
                "{} hosts share the name {}: they ran at the same time with different boot IDs, and \
                     are judged separately.",
                hosts.count(),
                self.name(*name)
            ));
        }
        more(document, "Shared names", "names", shared.len());
    }

    /// States which results have wrong dates.
    fn misdated(&self, document: &mut Shown) {
        let dates = &self.runs.boots.dates;
        let named = dates.iter().map(|date| {
            let code = date.wrong.map_or("", WrongDate::word);
            format!("{} ({}, {code})", self.name(date.host), utc(date.span[0].into()))
        });
        if !dates.is_empty() {
            document.missing(format_args!(
                "Wrong dates, which contradict the boot IDs or the order of the results, and do not count: {}.",
                listed(NAMED, dates.len(), named)
            ));
        }
    }

    /// States which values have no verdict, and which lines were not understood.
    fn left_out(&self, document: &mut Shown) {
        let runs = self.runs;
        if !runs.untrusted.is_empty() {
            let name = |[host, reason]: &[Name; 2]| format!("{} ({})", self.name(*host), self.name(*reason));
            let named = runs.untrusted.iter().map(name);
            document.missing(format_args!(
                "Excluded as unreliable (--force includes them): {}.",
                listed(NAMED, runs.untrusted.len(), named)
            ));
        }
        for Refused { path, problem } in runs.refused.iter().take(NAMED) {
            document.missing(format_args!(
                "Skipped: '{}', line {}: {}.",
                saved::shown(path),
                problem.line,
                problem.what
            ));
        }
        more(document, "Skipped", "lines", runs.skipped);
        if runs.without_value > 0 {
            document.missing(format_args!(
                "Skipped: {results} result{s} without a latency or bandwidth.",
                results = runs.without_value,
                s = plural(runs.without_value as u64)
            ));
        }
    }

    /// Shows the steps that are found soon: of the host with the smallest one, and of the host with the largest one.
    fn power(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = || self.settled.series.iter().filter_map(|series| series.detectable);
        let (least, most) = (all().fold(f64::MAX, f64::min), all().fold(0.0, f64::max));
        if least > most {
            return Ok(());
        }
        out.write_str("; a step of ")?;
        if most - least > 0.001 {
            write!(out, "{:.1}% (the steadiest host) to ", 100.0 * least)?;
        }
        write!(out, "{:.1}% is found within {DETECTED_IN} results in 9 of 10 cases", 100.0 * most)
    }

    fn method(&self, document: &mut Shown) {
        let (documents, hosts) = (self.runs.documents, self.found.hosts);
        document.under(Role::Method("Hosts")).write(format_args!(
            "{hosts}, with {documents} result{} (the newest of each host is judged)",
            plural(documents)
        ));
        if let Some(path) = self.options.baseline {
            let count = self.of_baseline;
            document.under(Role::Method("Baseline")).write(format_args!(
                "{}, {count} result{}",
                saved::shown(path),
                plural(count)
            ));
        }
        if self.options.history {
            let threshold = Trimmed(self.options.threshold * 100.0);
            let power = fmt::from_fn(|out| self.power(out));
            document.under(Role::Method("History")).write(format_args!(
                    "changes by more than {threshold}% of the level of earlier results, by a robust cumulative sum{power}"
                ));
        }
        if self.found.judged == 0 {
            return;
        }
        document.under(Role::Method("Slow")).write(format_args!(
            "the whole 95% interval is beyond the median of the hosts by more than {threshold}% and \
                 by more than 4 of their deviations (robust standard deviation, 1.4826 MAD)",
            threshold = Trimmed(self.threshold * 100.0)
        ));
    }
}

/// States the number of items that are not named.
fn more(document: &mut Shown, what: &str, of: &str, count: usize) {
    if count > NAMED {
        document.missing(format_args!("{what}: {} more {of}; --format=json lists them.", count - NAMED));
    }
}

/// Shows an unusual condition of a host, and the usual one.
impl fmt::Display for Apart {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Apart { outlier, condition, usual: (usual, hosts), .. } = *self;
        let own = outlier.value.under.get(condition);
        if condition == findings::FASTER {
            return write!(
                out,
                "{}, the median is {}; check that it measures memory",
                amount(outlier.quantity, outlier.value.value),
                amount(outlier.quantity, outlier.norm.median)
            );
        }
        let shown = alike::shown(condition, own, true);
        if condition == alike::DISTURBED {
            return out.write_str(&shown);
        }
        let verb = match (condition, hosts) {
            (alike::WHOLE | alike::VERIFIED, 1) => "is",
            (alike::WHOLE | alike::VERIFIED, _) => "are",
            (_, 1) => "has",
            _ => "have",
        };
        let usual = alike::shown(condition, usual, false);
        write!(out, "{shown} ({hosts} host{} {verb} {usual})", plural(hosts))
    }
}

/// Returns a latency or a bandwidth for people.
fn amount(quantity: Quantity, value: f64) -> String {
    let words = match quantity {
        Quantity::Latency => "ns",
        Quantity::Bandwidth => "GB/s",
    };
    format!("{} {words}", Digits(value / unit(quantity).1))
}
