//! The results of many hosts for programs and for monitoring systems: every outlier, every group, and the values
//! without a verdict.

use alloc::string::String;

use super::dates::WrongDate;
use super::findings::{Apart, FleetFindings, Outlier};
use super::history::Undecided;
use super::names::Name;
use super::runs::Refused;
use super::values::{HostSeries, HostValue, Slowed, unit};
use super::view::FleetView;
use crate::commands::compare::cause;
use crate::describe::time::utc;
use crate::describe::{self, columns, trust};
use crate::record::row::Row;
use crate::saved::{self, alike};
use latency_core::{Estimate, Worded, decimal};
use latency_report::document::{fields, members};
use latency_report::{Field, Metric, Part, Shown, Value};

fields! {
    POINT "point" "Experiment and point, in words.";
    CPU_MODEL "cpu_model" "Model name of the processor.";
    NODES "nodes" "Number of NUMA nodes.";
    KIND "kind" "Conditions of the host in which the compared hosts differ from other judged hosts of the same CPU model; empty if all are of one kind.";
    UNIT "unit" "`ns` (lower is faster) or `bytes_per_second`.";
    VALUE "value" interval "Value of the host in its newest result, in `unit`.";
    MEDIAN "median" "Median over hosts, or over the hosts of the baseline, in `unit`.";
    RATIO "ratio" "Value divided by the median.";
    Z "z_score" "Number of robust standard deviations by which the value is slower; null if all hosts have the same value.";
    CODE "code" "`slower`, or the condition in which the host differs from most: `pages`, `size`, `unverified`, `partial`, `order`, `stride`, `pattern`, `nodes`, `side-cache`, `kernel`, `cpu-family`, `cpu-model`, `cpu-stepping`, `core-type`, `cpu-masked`, `platform`, `hypervisor`, `cpu-vendor`, `l1-size`, `l2-size`, `l3-size`, `faster` or `undisturbed` (it has no steady value); with `--history` also `became-slower` or `became-faster`.";
    OWN "own" "Condition of this host that differs from most hosts; empty if the host is only slower or faster.";
    USUAL "usual" "Condition of most hosts; empty if the host is only slower or faster.";
    USUAL_HOSTS "usual_hosts" "Number of hosts with the usual condition; null for `slower`.";
    POINTS "points" "Number of points of this host with the same `code`; the first one is given; null for `slower`.";
    SLOWED "slowed" "Points of hosts whose newest results are slower than their older ones; they do not affect the verdict on other hosts.";
    TRANSLATION "slow_translation" "Random loads that are slow although memory without address translation is not, or became slower with `--history`; they do not affect the exit status.";
    BEFORE "older_median" "Median of the older results, in `unit`.";
    CHANGE "change_ratio" "Value divided by the median of the older results.";
    NEWEST "newest_results" "Number of newest results that are slower, or faster.";
    OLDER "older_results" "Number of older results; without `--history`, at most the newest 32 count.";
    SINCE "since" "Start of the first slower or faster run, in UTC.";
    CHANGED "changed_facts" "Facts about the host that changed at that time, in words.";
    LIKELY "likely_cause" "Name of the likely cause, as in `likely_causes`; null if none is known.";
    CAUSES "likely_causes" "Likely causes of the differences of hosts from typical hosts, or from their own older results; empty if no host has the signature of exactly one cause, or if an input cannot be read a second time.";
    FEW "few_results" "Hosts with too few results for `--history`.";
    SERIES "history" "With `--history`, one series of each host with enough results: the mean of all points if there is one, but a series with a step that is not judged comes first.";
    MISDATED "wrong_dates" "Results whose date contradicts other results of the host; they count as results without a date.";
    ASSOCIATIONS "associations" "Facts that slow hosts have significantly more often than other judged hosts; no fact is a cause.";
    MISSING "missing" "Names of expected hosts without a result; empty if `--expect` is a number.";
    SHARED "same_name" "Host names that belong to several hosts, according to boot IDs.";
    NAMES "names" "Names that distinguish these hosts in this document.";
    GROUPS "groups" "Groups of comparable values.";
    UNTRUSTED "untrusted" "Unreliable results, which are not judged.";
    PROBLEMS "problems" "Skipped lines, which are not results; at most the first 4096.";
}

/// The columns that only fleets have.
pub static COLUMNS: [Field; 22] = [
    columns::FIELDS[columns::HOST.place()],
    POINT,
    CPU_MODEL,
    NODES,
    UNIT,
    VALUE,
    MEDIAN,
    RATIO,
    Z,
    CODE,
    OWN,
    USUAL,
    USUAL_HOSTS,
    POINTS,
    BEFORE,
    CHANGE,
    NEWEST,
    OLDER,
    SINCE,
    CHANGED,
    LIKELY,
    KIND,
];

/// The metrics for monitoring systems.
static METRICS: [Metric; 7] = [
    Metric { name: "fleet_hosts", about: "Hosts that have a value." },
    Metric { name: "fleet_healthy_hosts", about: "Judged hosts that are neither slow nor became slower." },
    Metric { name: "fleet_slow_hosts", about: "Hosts that are slow." },
    Metric { name: "fleet_apart_hosts", about: "Hosts that are not comparable with the others." },
    Metric { name: "fleet_slowed_points", about: "Points of hosts that became slower." },
    Metric { name: "fleet_untrusted_results", about: "Results that were excluded as unreliable." },
    Metric { name: "fleet_missing_hosts", about: "Expected hosts without a result." },
];
static METRIC_RATIO: Metric =
    Metric { name: "fleet_outlier_ratio", about: "Value of a slow host divided by the median of its kind." };

impl FleetView<'_, '_> {
    /// Describes all findings for programs.
    pub fn programs(&self, document: &mut Shown) {
        let history = self.options.history;
        document.part(Part::Object(&describe::SUMMARY), |document| {
            let FleetFindings { hosts, judged, slow, .. } = *self.found;
            members! { document;
                "documents": self.runs.documents => "Number of results read.";
                "hosts": hosts => "Number of hosts with a value.";
                "judged_hosts": judged => "Number of hosts that were compared with other hosts or with the baseline.";
                "slow_hosts": slow => "Number of slow hosts.";
                "healthy_hosts": self.healthy() => "Number of judged hosts that are neither slow nor became slower.";
                "apart_hosts": self.found.apart_hosts => "Number of hosts that differ from the others in a condition.";
                "slowed_points": self.settled.slowed.len() => "Number of points that became slower than before.";
            }
            let missing = self.options.expected.map(|_| self.expected.missing);
            members! { document;
                "expected_hosts": missing.map(|missing| missing.of) => "Number of hosts that `--expect` asks for; null without it.";
                "missing_hosts": missing.map(|missing| missing.hosts) => "Number of expected hosts without a result; null without `--expect`.";
                "untrusted_results": self.runs.untrusted.len() => "Number of results that were not judged because they are unreliable.";
                "skipped_lines": self.runs.skipped => "Number of lines that are not results.";
            }
        });
        let reason = (!self.runs.untrusted.is_empty()).then_some("untrusted-results");
        trust::of_command(document, if reason.is_some() { "fair" } else { "good" }, reason.as_slice());
        document.part(Part::Records(&describe::ROWS), |document| {
            self.found.outliers.iter().for_each(|outlier| self.row(document, outlier, None));
            self.found.apart.iter().for_each(|apart| self.row(document, &apart.outlier, Some(apart)));
            for slowed in self.settled.slowed.iter().filter(|_| history) {
                document.part(Part::Item, |document| self.slowed_row(document, slowed));
            }
        });
        let slowed = self.settled.slowed.iter().filter(|_| !history);
        document.items(Part::List(&SLOWED), slowed, |document, slowed| self.slowed_row(document, slowed));
        if history {
            document.values(&FEW, self.settled.few.iter().map(|host| self.name(*host)));
        }
        let is_few =
            |series: &&HostSeries| series.undecided.is_some_and(|(why, _)| matches!(why, Undecided::Few));
        let long = self.settled.series.iter().filter(|series| !is_few(series));
        document.items(Part::List(&SERIES), long, |document, series| {
            document.put(&columns::HOST, self.name(series.host));
            document.put(&POINT, self.name(self.runs.key(series.key).point));
            members! { document;
                "results": series.results => "Number of results of the series.";
                "correlation": series.correlation => "Correlation of a result with the next one; 0 if it is not significant.";
                "detectable_step": series.detectable => "Smallest step that is found within 5 results in 9 of 10 cases, as a fraction of the level; null if the newest results are not judged, or too few since a change.";
                "undecided": series.undecided.map(|(why, _)| why.word()) => "Reason why the newest results are not judged: `correlated` (each resembles the one before, so that more are needed), `boot` (another level after a reboot without another changed fact, which further reboots have to confirm), `earlier-level` (back at a level of older results) or `states` (a step of a size at which hosts of its kind often step and come back); null if they are judged.";
                "undecided_since": series.undecided.map(|(_, since)| Value::shown(&utc(since))) => "Start of the first run that is not judged, in UTC; null if all are judged.";
            }
        });
        document.items(Part::List(&ASSOCIATIONS), self.associations.iter(), |document, found| {
            document.put(&CPU_MODEL, found.cpu);
            let [slow_with, slow, others_with, others] = found.counts;
            members! { document;
                "fact": found.fact.0 => "Name of the fact.";
                "fact_value": found.fact.1 => "Value of the fact.";
                "slow_hosts_with": slow_with => "Number of slow hosts with this value.";
                "slow_hosts": slow => "Number of slow hosts whose fact is known.";
                "other_hosts_with": others_with => "Number of other hosts with this value.";
                "other_hosts": others => "Number of other hosts whose fact is known.";
                "chance": found.probability => "Probability of these shares by chance, adjusted for the number of facts (Fisher, Holm).";
            }
        });
        document.items(Part::List(&CAUSES), self.causes.named(), |document, (host, likely)| {
            document.put(&columns::HOST, self.name(host));
            cause::of_programs(document, likely);
        });
        document.values(&MISSING, self.expected.names.iter().map(|host| self.name(*host)));
        document.items(Part::List(&SHARED), self.runs.boots.shared.iter(), |document, name| {
            document.put(&columns::HOST, self.name(*name));
            document.values(&NAMES, self.runs.boots.of(&self.runs.names, *name));
        });
        document.items(Part::List(&MISDATED), self.runs.boots.dates.iter(), |document, date| {
            document.put(&columns::HOST, self.name(date.host));
            members! { document;
                "started" shown: utc(date.span[0].into()) => "Wrong date, in UTC.";
                "contradiction": date.wrong.map_or("", WrongDate::word) => "`boot-order` (another boot ran between this date and the other results of its boot) or `result-order` (far from the other results, and not in order).";
            }
        });
        document.part(Part::List(&TRANSLATION), |document| {
            let mut item = |value: &HostValue, usual: f64, since: Option<u64>| {
                document.part(Part::Item, |document| {
                    self.of_value(document, value);
                    document.put(&MEDIAN, usual);
                    document.put(&RATIO, value.value / usual);
                    document.put(&SINCE, since.map(|since| Value::shown(&utc(since))));
                });
            };
            self.found.translation.iter().for_each(|outlier| item(&outlier.value, outlier.norm.median, None));
            self.slower_translation()
                .for_each(|slowed| item(&slowed.value, slowed.before, Some(slowed.since)));
        });
        document.items(Part::List(&GROUPS), self.found.shown_groups(), |document, group| {
            self.of_key(document, group.key, group.nodes());
            document.show(&KIND, &group.kind);
            members! { document;
                "hosts": group.like => "Number of hosts in the group.";
                MEDIAN: group.norm.median;
                "mad": group.norm.mad => "Median absolute deviation over hosts, in `unit`.";
                "allowed": group.norm.allowed(self.threshold) => "Allowed difference of a value from the median, in `unit`.";
                "judged": group.is_judged => "True if hosts are judged by this group: it has 5 hosts or more, or a baseline.";
            }
        });
        document.items(Part::List(&UNTRUSTED), self.runs.untrusted.iter(), |document, [host, reason]| {
            document.put(&columns::HOST, self.name(*host));
            members! { document;
                "reason": self.name(*reason) => "Code of the first warning that makes the result unreliable.";
            }
        });
        document.items(
            Part::List(&PROBLEMS),
            self.runs.refused.iter(),
            |document, Refused { path, problem }| {
                members! { document;
                    "file": saved::shown(path).as_str() => "Path of the file.";
                    "line": problem.line => "Line number.";
                    "what": problem.what => "Reason why the line was skipped.";
                }
            },
        );
        let path = self.options.baseline.map(saved::shown);
        members! { document;
            "threshold": self.threshold => "Difference that is always allowed, as a fraction of the median.";
            "of": self.options.of.word() => "Judged value: `typical` (whole run; memory without address translation where results have it), `load` (random loads) or `undisturbed` (steady: rounds in separate seconds agree on it).";
            "baseline": path.as_ref().map(|path| path.as_str()) => "Path of the baseline; null if hosts are compared with each other.";
        }
    }

    /// Describes a point that became slower or faster.
    fn slowed_row(&self, document: &mut Shown, slowed: &Slowed) {
        self.of_value(document, &slowed.value);
        document.put(&BEFORE, slowed.before);
        document.put(&CHANGE, slowed.ratio());
        document.put(&NEWEST, slowed.counts[0]);
        document.put(&OLDER, slowed.counts[1]);
        document.show(&SINCE, &utc(slowed.since));
        if self.options.history {
            document.put(&CODE, if slowed.is_faster { "became-faster" } else { "became-slower" });
            document.show(&CHANGED, &self.facts(slowed, ""));
            document.put(&LIKELY, self.causes.of(slowed.value.host));
        }
    }

    /// Describes a value of a slow host, or of one that is not like the others, as a row.
    fn row(&self, document: &mut Shown, outlier: &Outlier, apart: Option<&Apart>) {
        // The name of being faster is empty, because it is not a condition.
        let shown = |value: fn(&Apart) -> u64, whole| {
            apart.map_or(String::new(), |apart| alike::shown(apart.condition, value(apart), whole))
        };
        document.part(Part::Item, |document| {
            self.of_value(document, &outlier.value);
            document.put(&MEDIAN, outlier.norm.median);
            document.put(&RATIO, outlier.ratio());
            document.put(&Z, outlier.z());
            document.put(&CODE, apart.map_or("slower", Apart::code));
            document.put(&OWN, shown(|apart| apart.outlier.value.under.get(apart.condition), true));
            document.put(&USUAL, shown(|apart| apart.usual.0, false));
            document.put(&USUAL_HOSTS, apart.map(|apart| apart.usual.1));
            document.put(&POINTS, apart.map(|apart| apart.points));
            document.put(&LIKELY, self.causes.of(outlier.value.host));
            document.show(&KIND, &self.found.groups[outlier.group].kind);
        });
    }

    /// Describes a value, its host and its point.
    fn of_value(&self, document: &mut Shown, of: &HostValue) {
        let HostValue { host, value, interval, .. } = *of;
        document.put(&columns::HOST, self.name(host));
        self.of_key(document, of.key, of.nodes());
        document.put(&VALUE, Estimate { value, interval: Some(interval) });
    }

    fn of_key(&self, document: &mut Shown, key: Name, nodes: u64) {
        let key = self.runs.key(key);
        let mut row = Row::EMPTY;
        for (column, text) in columns::POINTS.into_iter().zip(key.fields) {
            let text = self.name(text);
            // The text was a value of this column.
            let _ = row.read(column, 0, text, decimal::read(text.as_bytes()));
        }
        row.put(columns::EXPERIMENT, self.name(key.experiment));
        columns::saved(document, "", &row);
        document.put(&POINT, self.name(key.point));
        document.put(&CPU_MODEL, self.name(key.cpu));
        document.put(&NODES, nodes);
        document.put(&UNIT, unit(key.quantity()).0);
    }

    /// Writes the samples for monitoring systems.
    pub fn metrics(&self, document: &mut Shown) {
        let FleetFindings { hosts, slow, apart_hosts, .. } = *self.found;
        let others = [self.settled.slowed.len(), self.runs.untrusted.len(), self.expected.missing.hosts];
        let counts = [hosts, self.healthy(), slow, apart_hosts].into_iter().chain(others);
        let shown = METRICS.len() - usize::from(self.options.expected.is_none());
        for (metric, count) in METRICS.iter().zip(counts).take(shown) {
            document.sample(metric, &[], count.into());
        }
        for outlier in self.found.outliers.iter() {
            let key = self.key(&outlier.value);
            let labels = [
                ("host", self.name(outlier.value.host).into()),
                ("key", self.name(key.point).into()),
                ("cpu", self.name(key.cpu).into()),
                ("nodes", Value::Count(outlier.value.nodes())),
                ("unit", unit(key.quantity()).0.into()),
            ];
            document.sample(&METRIC_RATIO, &labels, Value::Real(outlier.ratio()));
        }
    }
}
