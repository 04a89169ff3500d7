//! Test points for programs that run tests: one for each row, one for each section of a report that was not measured, and
//! one for the trust in the result.
//!
//! A point fails only if somebody should act: memory that is not verified on its node, a failed self-test, results that
//! cannot be compared, a regression, a slow host. Noise fails nothing: a wide interval lowers the trust to fair, and if
//! noise alone makes it poor, there is no verdict on it.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::sort_by_key;

use crate::record::columns::{
    CLASS, Column, ColumnSet, EXPERIMENT, HOST, INITIATOR_CPU, NOT_MEASURED, STARTED, TARGET_CPU, VERIFIED,
};
use crate::record::label::Label;
use crate::record::members::{
    CODE, NOT_MEASURED as LEFT_OUT, REASON, REASONS, ROWS, SUMMARY, TRUST, TRUST_LEVEL, UNTRUSTED, VERDICT,
    WARNINGS,
};
use crate::record::row::{Row, SINGLE_CORE, differing};
use latency_report::chart::vector;
use latency_report::shown::{children, container, within};
use latency_report::{Field, Shown, ShownPart, TestPoint, TestVerdict, Value};

/// The warnings with evidence that a value is wrong which noise alone can cause.
const NOISE: [&str; 7] = [
    "hop-mean-differs",
    "other-work",
    "partial",
    "points-not-precise",
    "precision-not-reached",
    "rate-not-delivered",
    "repeat-ratio",
];

/// Returns the word of a member among some parts; empty without one.
fn word<'e>(entries: &'e [ShownPart], member: &Field) -> &'e str {
    let found = entries.iter().find_map(|entry| match entry {
        ShownPart::Value(field, Value::Word(word)) if field.key == member.key => Some(word.as_str()),
        _ => None,
    });
    found.unwrap_or_default()
}

/// Returns the members of each item of a list.
fn items<'e>(entries: &'e [ShownPart], list: &Field) -> Vec<&'e [ShownPart]> {
    children(within(container(entries, list.key))).map(within).collect()
}

/// Returns the test points of a result.
pub fn points(shown: &Shown) -> Vec<TestPoint<'_>> {
    let all = shown.entries();
    let document = word(all, &EXPERIMENT);
    let is_judged = word(within(container(all, SUMMARY.key)), &VERDICT) != "none";
    let mut records = items(all, &ROWS);
    // The row of a pair has the verdict of its node.
    records.retain(|record| !row(record).is_word(CLASS, SINGLE_CORE));
    records.append(&mut items(all, &LEFT_OUT));
    let rows: Vec<Row> = records.iter().map(|record| row(record)).collect();
    let mut points = Vec::new();
    for ((record, row), name) in records.iter().zip(&rows).zip(names(&rows, document)) {
        points.push(TestPoint { name, verdict: of_row(record, row, is_judged), values: [*record, &[]] });
    }
    let trust = within(container(all, TRUST.key));
    let values = [trust, container(all, WARNINGS.key)];
    let reasons = within(container(trust, REASONS.key));
    let verdict = match of_trust(word(trust, &TRUST_LEVEL), reasons, &items(all, &WARNINGS)) {
        TestVerdict::Passed if !is_judged => TestVerdict::Skipped("no verdict"),
        verdict => verdict,
    };
    let is_missing = |entry: &ShownPart| matches!(entry, ShownPart::Value(field, Value::Count(1..)) if field.key == "missing_hosts");
    if within(container(all, SUMMARY.key)).iter().any(is_missing) {
        let (name, verdict) = (format!("{document} expected hosts"), TestVerdict::Failed);
        points.push(TestPoint { name, verdict, values: [&[], &[]] });
    }
    points.push(TestPoint { name: format!("{document} trust"), verdict, values });
    points
}

/// Returns the columns of a record.
fn row(record: &[ShownPart]) -> Row {
    let (mut row, mut near) = (Row::EMPTY, HOST);
    for entry in record {
        if let ShownPart::Value(field, value) = entry
            && let Some((column, 0)) = Column::named(field.key, near)
        {
            row.put(column, value.clone());
            near = column;
        }
    }
    row
}

/// Returns the verdict on a row: of a run, of a comparison, or of a host among others.
fn of_row<'r>(record: &'r [ShownPart], row: &Row, is_judged: bool) -> TestVerdict<'r> {
    let reason = [&*NOT_MEASURED, &REASON].map(|member| word(record, member));
    let [verdict, code] = [&VERDICT, &CODE].map(|member| word(record, member));
    match reason.into_iter().find(|reason| !reason.is_empty()) {
        Some(reason) => TestVerdict::Skipped(reason),
        None if row.flag(VERIFIED) == Some(false)
            || [verdict, code].iter().any(|word| word.ends_with("slower")) =>
        {
            TestVerdict::Failed
        }
        None if !is_judged => TestVerdict::Skipped("no verdict"),
        None if !["", "became-faster"].contains(&code) => TestVerdict::Skipped("not like most hosts"),
        None => TestVerdict::Passed,
    }
}

/// Returns the verdict on the trust in a result, by its level and its warnings, or by the codes of its reasons if it has no
/// warnings of its own.
fn of_trust(level: &str, reasons: &[ShownPart], warnings: &[&[ShownPart]]) -> TestVerdict<'static> {
    let is_noise = |entry: &ShownPart| matches!(entry, ShownPart::Value(_, Value::Word(code)) if NOISE.contains(&code.as_str()));
    let without_noise = reasons.is_empty() || !reasons.iter().all(is_noise);
    let is_untrusted = |entry: &ShownPart| matches!(entry, ShownPart::Value(field, Value::Flag(true)) if field.key == UNTRUSTED.key);
    let is_fault =
        |warning: &&[ShownPart]| warning.iter().any(is_untrusted) && !NOISE.contains(&word(warning, &CODE));
    match level {
        "poor" if warnings.is_empty() && without_noise => TestVerdict::Failed,
        "poor" if warnings.iter().any(is_fault) => TestVerdict::Failed,
        "poor" => TestVerdict::Skipped("unreliable; measure again"),
        _ => TestVerdict::Passed,
    }
}

/// Returns the name of each row: the result, the host in a verdict on hosts, and the columns that tell points
/// apart here. The CPU that measures for a node is left out, because a busy one is replaced, unless it alone tells points
/// apart.
fn names(rows: &[Row], document: &str) -> Vec<String> {
    let shown = differing(rows.iter()) | ColumnSet::NODES;
    let name = |row: &Row, shown: ColumnSet| {
        let own = if row.word(EXPERIMENT) == document { ColumnSet::EMPTY } else { EXPERIMENT.into() };
        let shown = shown.without(EXPERIMENT.into()) | own;
        // A row of many runs has no start.
        let host = if row.tells(STARTED) { "" } else { row.word(HOST) };
        let space = if host.is_empty() { "" } else { " " };
        format!("{document} {host}{space}{}", Label { row, shown })
    };
    let without_cpu = shown.without(INITIATOR_CPU.into());
    let mut names =
        vector(rows.iter().map(|row| name(row, if row.tells(TARGET_CPU) { shown } else { without_cpu })));
    let alike = numbers(&names);
    for ((own, row), number) in names.iter_mut().zip(rows).zip(alike) {
        if number.is_some() {
            *own = name(row, shown);
        }
    }
    let numbers = numbers(&names);
    for (name, number) in names.iter_mut().zip(numbers) {
        if let Some(number) = number {
            *name += &format!(" ({})", number + 1);
        }
    }
    names
}

/// Returns the number of each key among equal ones, from 0; `None` for one that is not repeated.
pub fn numbers(keys: &[String]) -> Vec<Option<u64>> {
    let mut order: Vec<usize> = (0..keys.len()).collect();
    sort_by_key(&mut order, |index| (&keys[*index], *index));
    let mut numbers = vec![None; keys.len()];
    for same in order.chunk_by(|one, other| keys[*one] == keys[*other]).filter(|same| same.len() > 1) {
        (0..).zip(same).for_each(|(number, index)| numbers[*index] = Some(number));
    }
    numbers
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::columns::{INITIATOR_NODE, NS, TARGET_NODE, WORKING_SET};
    use crate::record::members;
    use latency_report::Part;

    /// Returns the names and the verdicts of the points of a result, which `fill` describes.
    fn judged(fill: impl FnOnce(&mut Shown)) -> Vec<(String, String)> {
        let shown = Shown::of(|document| {
            document.put(&members::EXPERIMENT, "matrix");
            fill(document);
        });
        let found = points(&shown);
        found.into_iter().map(|point| (point.name, std::format!("{:?}", point.verdict))).collect()
    }

    #[test]
    fn trust_fails_if_a_fault_makes_it_poor() {
        for (level, codes, verdict) in [
            ("good", &[][..], "Passed"),
            ("fair", &[("disturbed", false)][..], "Passed"),
            ("poor", &[("repeat-ratio", true)][..], "Skipped(\"unreliable; measure again\")"),
            ("poor", &[("pages-moved", true)][..], "Failed"),
            ("poor", &[("repeat-ratio", true), ("l1-not-integer", true)][..], "Failed"),
            ("poor", &[][..], "Failed"),
        ] {
            let found = judged(|document| {
                document.part(Part::Object(&TRUST), |document| document.put(&TRUST_LEVEL, level));
                document.items(Part::List(&WARNINGS), codes, |document, (code, untrusted)| {
                    document.put(&CODE, *code);
                    document.put(&UNTRUSTED, *untrusted);
                });
            });
            assert_eq!(found, [("matrix trust".into(), verdict.into())], "{level} {codes:?}");
        }
    }

    #[test]
    fn each_code_of_noise_is_one_of_a_warning() {
        let all = include_str!("../../engine/src/warning/golden.txt");
        assert!(NOISE.iter().all(|code| all.contains(&std::format!("{code} "))), "{NOISE:?}");
    }

    #[test]
    fn a_name_has_the_columns_that_tell_points_apart() {
        let found = judged(|document| {
            document.items(Part::Records(&ROWS), 0..5_u64, |document, index| {
                document.put(&STARTED, "today");
                document.put(&EXPERIMENT, "matrix");
                document.put(&INITIATOR_NODE, index / 2);
                document.put(&TARGET_NODE, 1_u64);
                document.put(&INITIATOR_CPU, index / 2 * 32);
                document.put(&WORKING_SET, (1_u64 << 20) << (index % 2));
                document.put(&NS, index as f64);
                document.put(&VERIFIED, index != 2);
                document.put(&NOT_MEASURED, if index == 3 { "no pages" } else { "" });
            });
        });
        let found: Vec<String> =
            found.iter().map(|(name, verdict)| std::format!("{name}: {verdict}")).collect();
        assert_eq!(
            found,
            [
                "matrix 0 -> 1, 1 MiB: Passed",
                "matrix 0 -> 1, 2 MiB: Passed",
                "matrix 1 -> 1, 1 MiB: Failed",
                "matrix 1 -> 1, 2 MiB: Skipped(\"no pages\")",
                "matrix 2 -> 1, 1 MiB: Passed",
                "matrix trust: Passed",
            ]
        );
    }
}
