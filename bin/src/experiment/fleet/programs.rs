//! Many hosts for programs and for monitoring systems: every outlier, every group, and what was not judged.

use super::findings::Findings;
use super::runs::{unit, Key, Refused, Value as Found};
use super::view::View;
use crate::experiment::facts;
use crate::report::document::{fields, Document, Field, Metric, Part, Value};
use crate::saved;

fields! {
    OUTLIERS "outliers" "Values of hosts that are slower than is usual, the worst first.";
    HOST "host" "The host's name.";
    KEY "key" "The experiment and its point.";
    CPU_MODEL "cpu_model" "The name of the processor.";
    NODES "nodes" "NUMA nodes.";
    UNIT "unit" "`ns`, of which less is faster, or `bytes_per_second`.";
    VALUE "value" "The host's value; the median of several runs.";
    CI95 "ci95" "Its 95 % confidence interval within a run; the median of each end of several.";
    MEDIAN "median" "What is usual: the median over hosts, or over those of the baseline.";
    RATIO "ratio" "The value over that median.";
    Z "z" "How many robust standard deviations the value is slower; null where all hosts are the same.";
    GROUPS "groups" "Values that are comparable.";
    GROUP_HOSTS "hosts" "How many hosts have one.";
    MAD "mad" "The median absolute deviation over hosts.";
    ALLOWED "allowed" "How far from the median a value may be.";
    JUDGED "judged" "Whether hosts are judged by it: it is of 5 hosts or more, or of the baseline.";
    UNTRUSTED "untrusted" "Results that are unreliable, and not judged.";
    REASON "reason" "The first reason, as the code of a warning.";
    PROBLEMS "problems" "Lines that are no result, and were skipped; of the first 4096.";
    FILE "file" "The file.";
    LINE "line" "The line.";
    WHAT "what" "What is wrong with it.";
    SUMMARY "summary" "The conclusions as named numbers.";
    DOCUMENTS "documents" "Results that were read.";
    HOSTS "hosts" "Hosts that have a value.";
    JUDGED_HOSTS "judged_hosts" "Hosts that were compared with others, or with the baseline.";
    SLOW_HOSTS "slow_hosts" "Hosts with an outlier.";
    HEALTHY_HOSTS "healthy_hosts" "Judged hosts without one.";
    UNTRUSTED_RUNS "untrusted_results" "Results that were not judged.";
    SKIPPED "skipped_lines" "Lines that are no result.";
    THRESHOLD "threshold" "The difference that is allowed in any case, as a fraction of the median.";
    BASELINE "baseline" "The file that says what is usual; null where the hosts do.";
}

/// The columns of tabular formats.
pub static COLUMNS: [&Field; 10] =
    [&HOST, &KEY, &CPU_MODEL, &NODES, &UNIT, &VALUE, &CI95, &MEDIAN, &RATIO, &Z];

static METRIC_HOSTS: Metric = Metric { name: "fleet_hosts", about: "Hosts that have a value." };
static METRIC_HEALTHY: Metric =
    Metric { name: "fleet_healthy_hosts", about: "Hosts that were judged, and are as fast as others." };
static METRIC_SLOW: Metric = Metric { name: "fleet_slow_hosts", about: "Hosts that are slower than others." };
static METRIC_UNTRUSTED: Metric =
    Metric { name: "fleet_untrusted_results", about: "Results that are unreliable, and were not judged." };
static METRIC_RATIO: Metric =
    Metric { name: "fleet_outlier_ratio", about: "The value of a slow host over the median of its kind." };

impl View<'_> {
    /// Everything for programs.
    pub fn programs(&self, document: &mut dyn Document) {
        document.part(Part::Records(&OUTLIERS), |document| {
            for outlier in self.found.outliers.iter() {
                document.part(Part::Item, |document| {
                    let Found { host, value, interval, .. } = outlier.value;
                    document.put(&HOST, self.name(host));
                    of_key(document, &self.key(&outlier.value));
                    document.put(&VALUE, value);
                    document.put(&CI95, interval);
                    document.put(&MEDIAN, outlier.norm.median);
                    document.put(&RATIO, outlier.ratio());
                    document.put(&Z, outlier.z());
                });
            }
        });
        document.part(Part::List(&GROUPS), |document| {
            for group in self.found.groups.iter() {
                document.part(Part::Item, |document| {
                    of_key(document, &group.key(&self.runs.names));
                    document.put(&GROUP_HOSTS, group.values.len());
                    document.put(&MEDIAN, group.norm.median);
                    document.put(&MAD, group.norm.mad);
                    document.put(&ALLOWED, group.norm.allowed(self.threshold));
                    document.put(&JUDGED, group.is_judged);
                });
            }
        });
        document.part(Part::List(&UNTRUSTED), |document| {
            for [host, reason] in self.runs.untrusted() {
                document.part(Part::Item, |document| {
                    document.put(&HOST, self.name(*host));
                    document.put(&REASON, self.name(*reason));
                });
            }
        });
        document.part(Part::List(&PROBLEMS), |document| {
            for Refused { path, problem } in self.runs.refused() {
                document.part(Part::Item, |document| {
                    document.put(&FILE, saved::shown(path).as_str());
                    document.put(&LINE, problem.line);
                    document.put(&WHAT, problem.what);
                });
            }
        });
        document.part(Part::Object(&SUMMARY), |document| {
            let Findings { hosts, judged, slow, .. } = *self.found;
            document.put(&DOCUMENTS, self.runs.documents);
            document.put(&HOSTS, hosts);
            document.put(&JUDGED_HOSTS, judged);
            document.put(&SLOW_HOSTS, slow);
            document.put(&HEALTHY_HOSTS, judged - slow);
            document.put(&UNTRUSTED_RUNS, self.runs.untrusted_count);
            document.put(&SKIPPED, self.runs.refused_count);
        });
        document.put(&THRESHOLD, self.threshold);
        let path = self.options.baseline.map(saved::shown);
        document.put(&BASELINE, path.as_ref().map(|path| path.as_str()));
        facts::tool(document, "fleet", "");
    }

    /// The samples for monitoring systems.
    pub fn metrics(&self, document: &mut dyn Document) {
        let Findings { hosts, judged, slow, .. } = *self.found;
        for (metric, count) in [
            (&METRIC_HOSTS, hosts),
            (&METRIC_HEALTHY, judged - slow),
            (&METRIC_SLOW, slow),
            (&METRIC_UNTRUSTED, self.runs.untrusted_count),
        ] {
            document.sample(metric, &[], count.into());
        }
        for outlier in self.found.outliers.iter() {
            let key = self.key(&outlier.value);
            let labels = [
                ("host", Value::Word(self.name(outlier.value.host))),
                ("key", Value::Word(key.point)),
                ("cpu", Value::Word(key.cpu)),
                ("nodes", Value::Word(key.nodes)),
                ("unit", Value::Word(unit(key.quantity).0)),
            ];
            document.sample(&METRIC_RATIO, &labels, Value::Real(outlier.ratio()));
        }
    }
}

fn of_key(document: &mut dyn Document, key: &Key<'_>) {
    document.put(&KEY, key.point);
    document.put(&CPU_MODEL, key.cpu);
    document.put(&NODES, key.nodes.bytes().fold(0, |all, digit| all * 10 + u64::from(digit & 15)));
    document.put(&UNIT, unit(key.quantity).0);
}
