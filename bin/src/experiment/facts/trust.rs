//! How far a result can be trusted, and why: one line for people, codes for programs.

use core::fmt::{self, Display, Write};

use latency_core::text::Text;

use crate::report::document::{fields, Document, Part, Role};
use crate::warning::{Severity, Warning, Warnings};

fields! {
    TRUST "trust" "How far the result can be trusted.";
    TRUST_LEVEL "level" "`good`, `fair` (less certain than asked for) or `poor` (the numbers may be wrong).";
    REASONS "reasons" "Why, as the codes of the warnings that weigh.";
    WARNINGS "warnings" "What a reader must know.";
    CODE "code" "A word for programs; it does not change between versions.";
    TEXT "text" "What was found.";
    REMEDY "remedy" "What to do about it.";
    UNTRUSTED "untrusted" "Whether the numbers may be wrong, so that --strict fails.";
    SEVERITY "severity" "`note` (a fact), `fair` or `poor` (what it makes of the trust).";
}

/// Describes every warning, and what they make of the result.
pub fn warnings(document: &mut dyn Document, warnings: &Warnings) {
    document.part(Part::Object(&TRUST), |document| {
        document.put(&TRUST_LEVEL, level(warnings));
        document.part(Part::List(&REASONS), |document| {
            for warning in reasons(warnings) {
                document.put(&REASONS, warning.code());
            }
        });
    });
    document.part(Part::List(&WARNINGS), |document| {
        for warning in warnings.iter() {
            document.part(Part::Item, |document| {
                document.put(&CODE, warning.code());
                document.show(&TEXT, warning);
                document.show(&REMEDY, &warning.remedy());
                document.put(&SEVERITY, warning.severity().name());
                document.put(&UNTRUSTED, warning.untrusted());
            });
        }
    });
}

/// Says how far the result can be trusted, in one line.
pub fn line(document: &mut dyn Document, warnings: &Warnings) {
    document.sentence(Role::Trust, format_args!("{}{}", level(warnings), Reasons(warnings)));
}

fn level(warnings: &Warnings) -> &'static str {
    match reasons(warnings).map(Warning::severity).max() {
        Some(Severity::Poor) => "poor",
        Some(Severity::Fair) => "fair",
        Some(Severity::Note) | None => "good",
    }
}

/// What weighs, the worst first.
fn reasons(warnings: &Warnings) -> impl Iterator<Item = &Warning> {
    let of = |severity| warnings.iter().filter(move |warning| warning.severity() == severity);
    of(Severity::Poor).chain(of(Severity::Fair))
}

/// The reasons behind a colon.
struct Reasons<'w>(&'w Warnings);

impl Display for Reasons<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More are in the warnings.
        const MOST: usize = 4;
        let alike =
            |warning: &Warning| reasons(self.0).filter(|other| other.code() == warning.code()).count();
        let words = |warning: &Warning| {
            let mut words = Text::<96>::EMPTY;
            // What does not fit is not compared.
            let _ = write!(words, "{}", warning.reason());
            words
        };
        // One of each kind, with how many there are. Two kinds may say the same: a size that fits a cache by the
        // numbers, and by its latency.
        let kinds = || {
            reasons(self.0).enumerate().filter_map(|(index, warning)| {
                let same = |other: &Warning| {
                    other.code() == warning.code() || words(other).as_str() == words(warning).as_str()
                };
                reasons(self.0).take(index).all(|other| !same(other)).then_some(warning)
            })
        };
        let mut before = ": ";
        for warning in kinds().take(MOST) {
            write!(out, "{before}{}", warning.reason())?;
            match alike(warning) {
                1 => {}
                count => write!(out, " (and {} more such)", count - 1)?,
            }
            before = "; ";
        }
        match kinds().count().saturating_sub(MOST) {
            0 => Ok(()),
            more => write!(out, "; and {more} more"),
        }
    }
}
