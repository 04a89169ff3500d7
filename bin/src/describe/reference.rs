//! The sentence that compares a result with published figures of the processor.
//!
//! It is information only: no trust and no verdict depends on it.

use core::fmt;
use core::ops::RangeInclusive;

use latency_core::plural;

use super::conditions;
use super::rates::optional;
use super::report::Report;
use crate::analysis::reference::quantity::{BETWEEN_SOCKETS, READ_OF_SOCKET, REORDER_BUFFER, WITHIN_SOCKET};
use crate::analysis::reference::{self, PublishedQuantity, Usual, contradiction};
use latency_report::Shown;

/// The shares of a published reorder buffer that are about half of it.
const HALF: RangeInclusive<f64> = 0.42..=0.56;
/// The ratios to a published figure that are shown as one.
const EQUAL: RangeInclusive<f64> = 0.995..=1.005;
/// The families of processors of this instruction set are below it; each of their cores has two threads.
const FAMILIES: u16 = 0x40;

/// The relation of a value to a published range.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Relation {
    /// The value is in the range.
    Inside,
    /// The value is about half of what a core has for both of its threads.
    Half,
    /// The ratio of the value to the nearer end.
    Ratio(f64),
}

/// Returns the relation of a value to the range of a quantity, on a processor of a family.
fn relation(quantity: PublishedQuantity, family: u16, [low, high]: [f64; 2], value: f64) -> Relation {
    let ratio = value / value.max(low).min(high);
    match () {
        () if quantity == REORDER_BUFFER && family < FAMILIES && HALF.contains(&ratio) => Relation::Half,
        () if EQUAL.contains(&ratio) => Relation::Inside,
        () => Relation::Ratio(ratio),
    }
}

/// Writes how a result compares with the published figures of the processor, if there are any. Without a value, only the
/// figures are shown.
pub fn published(document: &mut Shown, report: &Report<'_>, quantity: PublishedQuantity, value: Option<f64>) {
    let processor = &report.machine.processor;
    let Some((name, usual)) = usual(report, quantity) else {
        // These are the second quantities of their results.
        if matches!(quantity, BETWEEN_SOCKETS | READ_OF_SOCKET) {
            return;
        }
        if let Some(masked) = contradiction(processor) {
            document.finding(format_args!("No published figure: {masked}."));
        } else if let (Some((node, packages)), Some(_)) =
            (report.machine.node_of_packages(), reference::usual(processor, quantity))
        {
            document.finding(format_args!("No published figure: node {node} spans {packages} packages."));
        }
        return;
    };
    let of_value = optional(value, |value, out| {
        match relation(quantity, processor.signature.0, usual.ends, value) {
            Relation::Inside => out.write_str("; this agrees"),
            Relation::Half => fmt::Display::fmt(
                &"; this is about half, as when the sibling thread of the core is active",
                out,
            ),
            Relation::Ratio(ratio) => {
                write!(out, "; this is {ratio:.2}x that")?;
                // The lines of exchanges between cores are few, and on small pages by design.
                let by_pages = !matches!(quantity, WITHIN_SOCKET | BETWEEN_SOCKETS);
                let found = conditions::unusual_of_report(report, by_pages, usual.stated.is_virtual());
                match quantity.depends_on_machine() && !found.is_empty() {
                    true => write!(out, ": {found}"),
                    false => Ok(()),
                }
            }
        }
    });
    let sources = usual.stated.sources();
    let s = plural(sources as usize);
    document.finding(format_args!("Published for {name}: {usual}, {sources} source{s}{of_value}."));
}

/// Returns what is published for a quantity of the processor. Figures of memory are those of one package.
fn usual(report: &Report<'_>, quantity: PublishedQuantity) -> Option<(&'static str, Usual)> {
    let of_memory = quantity.depends_on_machine() && !matches!(quantity, WITHIN_SOCKET | BETWEEN_SOCKETS);
    match report.machine.node_of_packages() {
        Some(_) if of_memory => None,
        _ => reference::usual(&report.machine.processor, quantity),
    }
}

/// Returns the words of the published figure for a quantity of the processor, for a place behind the measured figure.
pub fn beside(report: &Report<'_>, quantity: Option<PublishedQuantity>) -> impl fmt::Display {
    let usual = quantity.and_then(|quantity| usual(report, quantity));
    optional(usual, |(_, usual), out| write!(out, ", published {usual}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::reference::quantity::LOCAL;

    #[test]
    fn half_a_reorder_buffer_means_that_the_sibling_thread_is_active() {
        let of = |quantity, family, value| relation(quantity, family, [352.0; 2], value);
        // Seen on a busy guest: 175 of the 352 instructions of Ice Lake.
        assert_eq!(of(REORDER_BUFFER, 6, 175.0), Relation::Half);
        assert_eq!(of(REORDER_BUFFER, 0x19, 175.0), Relation::Half);
        assert_eq!(of(REORDER_BUFFER, 0x41, 175.0), Relation::Ratio(175.0 / 352.0), "one thread a core");
        assert_eq!(of(LOCAL, 6, 176.0), Relation::Ratio(0.5), "a latency is not divided");
        for value in [120.0, 240.0] {
            assert_eq!(of(REORDER_BUFFER, 6, value), Relation::Ratio(value / 352.0));
        }
    }

    #[test]
    fn a_value_in_the_range_or_equal_to_its_end_agrees() {
        let of = |value| relation(LOCAL, 6, [113.0, 134.0], value);
        for value in [113.0, 120.0, 134.0, 134.4, 112.6] {
            assert_eq!(of(value), Relation::Inside, "{value}");
        }
        assert_eq!((of(56.5), of(268.0)), (Relation::Ratio(0.5), Relation::Ratio(2.0)));
    }
}
