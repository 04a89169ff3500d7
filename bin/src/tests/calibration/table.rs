//! The table of the calibration.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::format;
use std::string::String;
use std::vec::Vec;

use super::judged::Verdict;
use super::machines::{Model, Wanted};
use latency_engine::result::Undisturbed;

/// Deviation from the truth, as a fraction, beyond which a value is off.
const OFF: f64 = 0.03;

/// Counts of the runs of one model.
pub struct Row {
    name: &'static str,
    wanted: Wanted,
    runs: usize,
    /// Runs that are good, fair and poor.
    pub levels: [usize; 3],
    /// Good runs that are off, and poor runs that are off or unverified.
    pub good_off: usize,
    poor_off: usize,
    /// All runs that are off.
    pub off: usize,
    /// Intervals that cover the mean, and those that cover the model's median over the window.
    held: usize,
    held_median: usize,
    /// Runs with a steady value, and those in which it is correct.
    claimed: usize,
    claimed_right: usize,
    /// Means over runs: half width, value over truth, rounds, seconds, and the share of doubled working sets.
    half_width: f64,
    ratio: f64,
    rounds: f64,
    seconds: f64,
    doubled: f64,
    /// Distance of the mean from the interval, in percent: at the 95th, 98th and 99th percentile of runs.
    misses: String,
    reasons: BTreeMap<&'static str, usize>,
    first_reasons_of_poor: BTreeMap<&'static str, usize>,
}

impl Row {
    pub fn of(model: &Model, verdicts: &[Verdict]) -> Row {
        let count = |is: &dyn Fn(&Verdict) -> bool| verdicts.iter().filter(|verdict| is(verdict)).count();
        let mean = |of: &dyn Fn(&Verdict) -> f64| {
            let values: Vec<f64> = verdicts.iter().map(of).filter(|value| value.is_finite()).collect();
            values.iter().sum::<f64>() / values.len() as f64
        };
        let ratio = |verdict: &Verdict| verdict.value_ns.map_or(f64::NAN, |value| value / verdict.typical_ns);
        let is_off = |verdict: &Verdict| (ratio(verdict) - 1.0).abs() > OFF;
        let is_unproven = |verdict: &Verdict| verdict.is_faulty || verdict.interval.is_none();
        let holds = |verdict: &Verdict, truth_ns: f64| {
            verdict.interval.is_some_and(|interval| interval.low <= truth_ns && truth_ns <= interval.high)
        };
        let claim = |verdict: &Verdict| match verdict.undisturbed {
            Some(Undisturbed::Seen { nanoseconds, .. }) => Some(nanoseconds / verdict.alone_ns),
            _ => None,
        };
        let is = |verdict: &Verdict, level: &str| verdict.level == level;
        let (mut reasons, mut first_reasons_of_poor) = (BTreeMap::new(), BTreeMap::new());
        for verdict in verdicts {
            for reason in &verdict.reasons {
                *reasons.entry(*reason).or_insert(0) += 1;
            }
            if let Some(first) = verdict.reasons.first().filter(|_| is(verdict, "poor")) {
                *first_reasons_of_poor.entry(*first).or_insert(0) += 1;
            }
        }
        let miss = |verdict: &Verdict| {
            verdict.interval.map_or(f64::NAN, |interval| {
                let truth_ns = verdict.typical_ns;
                ((truth_ns - interval.high) / truth_ns).max((interval.low - truth_ns) / truth_ns).max(0.0)
            })
        };
        let mut missed: Vec<f64> = verdicts.iter().map(miss).filter(|miss| miss.is_finite()).collect();
        missed.sort_by(f64::total_cmp);
        let at = |share: f64| {
            missed.get((missed.len() as f64 * share) as usize).map_or(f64::NAN, |miss| miss * 100.0)
        };
        let misses =
            format!("80th {:.2}, 90th {:.2}, 95th {:.2}, 99th {:.2}%", at(0.8), at(0.9), at(0.95), at(0.99));
        Row {
            misses,
            name: model.name,
            wanted: model.wanted,
            runs: verdicts.len(),
            levels: ["good", "fair", "poor"].map(|level| count(&|verdict| is(verdict, level))),
            good_off: count(&|verdict| is(verdict, "good") && is_off(verdict)),
            poor_off: count(&|verdict| is(verdict, "poor") && (is_off(verdict) || is_unproven(verdict))),
            off: count(&is_off),
            held: count(&|verdict| holds(verdict, verdict.typical_ns)),
            held_median: count(&|verdict| holds(verdict, verdict.median_ns)),
            claimed: count(&|verdict| claim(verdict).is_some()),
            claimed_right: count(&|verdict| claim(verdict).is_some_and(|ratio| (ratio - 1.0).abs() <= OFF)),
            half_width: mean(&|verdict| {
                verdict.interval.map_or(f64::NAN, |interval| {
                    (interval.high - interval.low) / 2.0 / verdict.value_ns.unwrap_or(f64::NAN)
                })
            }),
            ratio: mean(&ratio),
            rounds: mean(&|verdict| verdict.rounds as f64),
            seconds: mean(&|verdict| verdict.seconds),
            doubled: mean(&|verdict| f64::from(u8::from(verdict.size.0 > 256 << 20))),
            reasons,
            first_reasons_of_poor,
        }
    }

    fn share(&self, count: usize) -> f64 {
        part(count, self.runs)
    }

    /// Returns the requirements of the specification that are not met.
    pub fn missed(&self) -> Vec<String> {
        let [good, _, poor] = self.levels;
        let mut missed = Vec::new();
        let mut ask = |is_met: bool, what: &str| {
            if !is_met {
                missed.push(String::from(what));
            }
        };
        match self.wanted {
            Wanted::Good => ask(self.share(good) >= 0.95, "95% good"),
            Wanted::NotPoor => {
                ask(self.share(poor) <= 0.05, "at most 5% poor");
                ask(self.share(self.held) >= 0.93, "93% of intervals hold");
            }
            Wanted::Poor => ask(self.share(poor) >= 0.95, "95% poor"),
            Wanted::Unseen => {}
            Wanted::Undisturbed => ask(self.share(self.claimed_right) >= 0.9, "90% found steady and right"),
            Wanted::NeverUndisturbed => ask(self.claimed == 0, "none found steady"),
        }
        ask(good == 0 || part(self.good_off, good) <= 0.01, "at most 1% of good ones off");
        ask(poor == 0 || part(self.poor_off, poor) >= 0.8, "80% of poor ones off or unverified");
        missed
    }

    /// Returns all figures, in some lines.
    pub fn in_full(&self) -> String {
        let mut out = String::new();
        let [good, fair, poor] = self.levels;
        let percent = |count: usize, of: usize| part(count, of) * 100.0;
        let _ = writeln!(
            out,
            "{}: good {:.1} fair {:.1} poor {:.1} %; off {:.1} % (of good {:.1} %), of poor off or unverified {:.1}%",
            self.name,
            percent(good, self.runs),
            percent(fair, self.runs),
            percent(poor, self.runs),
            percent(self.off, self.runs),
            percent(self.good_off, good),
            percent(self.poor_off, poor),
        );
        let _ = writeln!(
            out,
            "    holds mean {:.1} median {:.1} %; +-{:.2} %; value/mean {:.3}; {:.0} rounds, {:.1} s, doubled {:.0} %; steady {:.1} % right {:.1}%",
            percent(self.held, self.runs),
            percent(self.held_median, self.runs),
            self.half_width * 100.0,
            self.ratio,
            self.rounds,
            self.seconds,
            self.doubled * 100.0,
            percent(self.claimed, self.runs),
            percent(self.claimed_right, self.runs),
        );
        let list = |out: &mut String, name: &str, reasons: &BTreeMap<&'static str, usize>| {
            let mut sorted: Vec<_> = reasons.iter().collect();
            sorted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
            let all = sorted.iter().map(|(code, count)| format!("{code} {:.1}", percent(**count, self.runs)));
            let _ = writeln!(out, "    {name}: {}", all.collect::<Vec<_>>().join(", "));
        };
        let _ = writeln!(out, "    misses: {}", self.misses);
        list(&mut out, "reasons, % of runs", &self.reasons);
        list(&mut out, "first of poor", &self.first_reasons_of_poor);
        for missed in self.missed() {
            let _ = writeln!(out, "    MISSED: {missed}");
        }
        out
    }
}

fn part(count: usize, of: usize) -> f64 {
    if of == 0 { f64::NAN } else { count as f64 / of as f64 }
}

/// Returns the table for bin/README.md.
pub fn markdown(rows: &[Row], count: u64, is_tuning: bool) -> String {
    let other = if is_tuning { "the" } else { "other seeds than the" };
    let mut out = format!(
        "{count} runs of each machine, with {other} seeds by which rules were chosen; in percent.\n\n\
         | machine | good | fair | poor | good ones off | poor ones off or unverified | intervals hold | steady |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n"
    );
    for row in rows {
        let [good, fair, poor] = row.levels;
        let shown = |count: usize, of: usize| match of {
            0 => String::from("–"),
            _ => format!("{:.1}", part(count, of) * 100.0),
        };
        let undisturbed = match row.claimed {
            0 => String::from("none"),
            claimed => format!("{}, right {}", shown(claimed, row.runs), shown(row.claimed_right, row.runs)),
        };
        // The truth of a machine with a fault is the truth without it, so no interval has to cover it.
        let holds = match row.wanted {
            Wanted::Poor => String::from("–"),
            _ => shown(row.held, row.runs),
        };
        let undisturbed = if row.wanted == Wanted::Poor { String::from("–") } else { undisturbed };
        let _ = writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {holds} | {undisturbed} |",
            row.name,
            shown(good, row.runs),
            shown(fair, row.runs),
            shown(poor, row.runs),
            shown(row.good_off, good),
            shown(row.poor_off, poor),
        );
    }
    out
}

/// The guide, and the heading of its section with the table.
pub const README: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/README.md");
const HEADING: &str = "## How often the verdicts are right";
const SENTENCE: &str = " runs of each machine, with ";

/// Returns the guide.
pub fn readme() -> String {
    std::fs::read_to_string(README).unwrap()
}

/// Returns the text before the table in the guide, the table with its sentence, and the text behind it.
pub fn parts(readme: &str) -> (&str, &str, &str) {
    let section = readme.find(&format!("\n{HEADING}\n")).expect("bin/README.md has the section");
    let ends = readme[section + 1..].find("\n## ").map_or(readme.len(), |at| section + 1 + at);
    let sentence = readme[section..ends].find(SENTENCE).map_or(ends, |at| section + at);
    let begins = readme[..sentence].rfind('\n').map_or(sentence, |at| at + 1);
    (&readme[..begins], &readme[begins..ends], &readme[ends..])
}

/// Returns the guide with the table in its place.
pub fn in_readme(readme: &str, table: &str) -> String {
    let (before, _, after) = parts(readme);
    let before = before.trim_end();
    format!("{before}\n\n{table}{after}")
}
