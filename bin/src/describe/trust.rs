//! The trust in a result, and its reasons: one line for people, codes for programs; and the words for an answer that is
//! not proven.

use alloc::string::String;
use alloc::vec::Vec;
use latency_report::chart::vector;
use latency_report::lists::joined;

use latency_core::{Estimate, Worded};

use super::rates::{confidence, headline, optional};
use super::{Report, reference};
use crate::analysis::reference::PublishedQuantity;
use crate::record::members::{
    CODE, EMULATED, OMITTED, REASONS, SEVERITY, TRUST, TRUST_LEVEL, UNTRUSTED, WARNINGS,
};
use latency_engine::warning::{Severity, Warning, WarningGroup, Warnings};
use latency_report::document::{fields, members};
use latency_report::{PageRole, Part, Role, Shown, ShownPart};

fields! {
    CPU "cpu" "CPU of the warning; only in warnings about one CPU.";
    NODE "node" "Node of the warning; only in warnings about a memory-side cache.";
    SIDE_BYTES "side_cache_bytes" "Capacity of the memory-side cache, in bytes.";
    SLOWED_BYTES "working_set_bytes" "Working set of the point in L1 during which the core was slowed, in bytes; only in `core-slowed`.";
    SLOWED_CYCLES "core_cycles" "Core cycles of this point, which are not a whole number; only in `core-slowed`.";
}

/// Maximum number of reasons in the line with the trust.
const MOST_REASONS: usize = 2;

/// Describes the trust in a result.
pub fn trust(document: &mut Shown, warnings: &Warnings) {
    document.part(Part::Object(&TRUST), |document| {
        document.put(&TRUST_LEVEL, level(warnings));
        document.values(&REASONS, reasons(warnings).map(|group| group.worst.code()));
        document.put(&EMULATED, is_emulated(warnings));
        document.put(&OMITTED, warnings.dropped());
    });
}

/// Describes the trust in the result of a command, by its level and the codes of its reasons.
pub fn of_command(document: &mut Shown, level: &str, reasons: &[&str]) {
    document.part(Part::Object(&TRUST), |document| {
        document.put(&TRUST_LEVEL, level);
        document.values(&REASONS, reasons.iter().copied());
    });
}

/// Describes every warning.
pub fn warnings(document: &mut Shown, warnings: &Warnings) {
    document.items(Part::List(&WARNINGS), warnings.iter(), |document, warning| {
        document.put(&CODE, warning.code());
        if let Some(cpu) = warning.cpu() {
            document.put(&CPU, cpu.0);
        }
        members! { document;
            "text" shown: *warning => "Finding, as a sentence.";
            "remedy" shown: warning.remedy() => "Remedy for the finding.";
            SEVERITY: warning.severity().word();
            UNTRUSTED: warning.untrusted();
        }
        if let Some((node, cache)) = warning.side_cache() {
            document.put(&NODE, node.0);
            document.put(&SIDE_BYTES, cache);
        }
        if let Some((size, cycles)) = warning.slowed_point() {
            document.put(&SLOWED_BYTES, size);
            document.put(&SLOWED_CYCLES, cycles);
        }
    });
}

/// Writes every warning, for a page.
pub fn sentences(document: &mut Shown, warnings: &Warnings) {
    for warning in warnings.iter() {
        let role = PageRole::Warning(warning.severity().word());
        document.sentence(Role::Page(role), format_args!("{warning}"));
        document.sentence(Role::Page(PageRole::Remedy), format_args!("{}", warning.remedy()));
    }
}

/// Writes whether the result is complete, and the trust in it, in one line.
pub fn line(document: &mut Shown, report: &Report<'_>) {
    // Nothing was measured that could be trusted.
    if !report.options.experiment.descriptor.measures() {
        return;
    }
    let warnings = report.warnings;
    if report.partial {
        document.say(Role::Answer, "Partial: interrupted before all points were complete.");
    }
    document.under(Role::Trust).write(format_args!(
        "{}{}{}",
        level(warnings),
        listed(warnings),
        label(is_emulated(warnings))
    ));
}

/// Writes the reasons that the line with the trust leaves out.
pub fn other_reasons(document: &mut Shown, warnings: &Warnings) {
    if let Some(others @ [_, ..]) = in_words(warnings).get(MOST_REASONS..) {
        document.say(Role::Provenance("Other reasons"), &listing(others));
    }
}

/// Writes a figure for the top of a page: an estimate with its interval (which replaces the number if it is wide), in a
/// unit that consists of `ones`, the trust in it, and the range that is published for its quantity.
pub fn figure(
    document: &mut Shown,
    report: &Report<'_>,
    &(label, unit, ones, quantity): &(&'static str, &str, f64, Option<PublishedQuantity>),
    estimate: Estimate,
) {
    let role = PageRole::Figure(label, level(report.warnings));
    let figure = headline(estimate, ones);
    let interval =
        optional(estimate.interval, |interval, out| write!(out, ", {}", confidence(interval, ones)));
    let usual = reference::beside(report, quantity);
    document.sentence(Role::Page(role), format_args!("{figure} {unit}{interval}{usual}"));
}

/// Returns the suffix after the reasons: the latencies of an emulator are right, but are not those of hardware.
pub const fn label(emulated: bool) -> &'static str {
    if emulated { "; emulated" } else { "" }
}

/// Returns whether the machine that was measured is emulated.
pub fn is_emulated(warnings: &Warnings) -> bool {
    warnings.iter().any(|warning| matches!(warning, Warning::Emulated { .. }))
}

/// Returns whether there is evidence that a result is wrong or unproven.
pub fn is_poor(warnings: &Warnings) -> bool {
    warnings.untrusted().is_some()
}

/// Returns the trust in a result, in one word.
pub fn level(warnings: &Warnings) -> &'static str {
    // If there are more warnings than fit, only the unreliable ones among the rest are known.
    if is_poor(warnings) {
        return "poor";
    }
    if reasons(warnings).next().is_some() { "fair" } else { "good" }
}

/// Returns the warnings that lower the trust, the worst first, one of each kind.
fn reasons(warnings: &Warnings) -> impl Iterator<Item = WarningGroup<'_>> {
    warnings.groups().filter(|group| group.worst.severity() > Severity::Note)
}

/// Returns the reasons after a colon.
fn listed(warnings: &Warnings) -> String {
    let all = in_words(warnings);
    let more = all.len().saturating_sub(MOST_REASONS) + warnings.dropped();
    let first = listing(all.get(..MOST_REASONS).unwrap_or(&all));
    match (all.is_empty(), more) {
        (true, 0) => String::new(),
        (_, 0) => format!(": {first}"),
        _ => format!(": {first}; and {more} more"),
    }
}

/// Returns reasons with a semicolon between them.
fn listing(reasons: &[String]) -> String {
    joined("", "; ", reasons.iter())
}

/// Returns the reasons in words, each with the number of its warnings.
fn in_words(warnings: &Warnings) -> Vec<String> {
    vector(reasons(warnings).map(|WarningGroup { worst, count }| match count {
        1 => format!("{}", worst.reason()),
        _ => format!("{} ({count} warnings of this kind)", worst.reason()),
    }))
}

/// Writes the answer. The first conclusion of an unreliable result begins with "Inconclusive".
pub fn answer(document: &mut Shown, report: &Report<'_>, answer: Shown) {
    let mut unproven = is_poor(report.warnings);
    for entry in answer.into_entries() {
        document.push(match entry {
            ShownPart::Sentence(role @ (Role::Answer | Role::Finding), words)
                if core::mem::take(&mut unproven) =>
            {
                ShownPart::Sentence(role, format!("Inconclusive: {words}"))
            }
            entry => entry,
        });
    }
}
