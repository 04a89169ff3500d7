//! How far a result can be trusted, and why: one line for people, codes for programs.

use core::fmt::{self, Display};

use crate::report::document::{fields, Document, PageRole, Part, Role};
use crate::warning::{Group, Severity, Warnings};

fields! {
    TRUST "trust" "How far the result can be trusted.";
    TRUST_LEVEL "level" "`good`, `fair` (less certain than asked for) or `poor` (the numbers may be wrong).";
    REASONS "reasons" "Why, as the codes of the warnings that weigh.";
    OMITTED "omitted" "Warnings for which there was no room; they count in the level.";
    WARNINGS "warnings" "What a reader must know.";
    CPU "cpu" "The CPU that it is about; only in warnings of one CPU.";
    CODE "code" "A word for programs; it does not change between versions.";
    TEXT "text" "What was found.";
    REMEDY "remedy" "What to do about it.";
    NODE "node" "The node whose memory it is about; of a side cache alone.";
    SIDE_BYTES "side_cache_bytes" "The cache in front of that memory.";
    UNTRUSTED "untrusted" "Whether the numbers may be wrong, so that --strict fails.";
    SEVERITY "severity" "`note` (a fact), `fair` or `poor` (what it makes of the trust).";
}

/// Describes every warning, and what they make of the result.
pub fn warnings(document: &mut dyn Document, warnings: &Warnings) {
    document.part(Part::Object(&TRUST), |document| {
        document.put(&TRUST_LEVEL, level(warnings));
        document.part(Part::List(&REASONS), |document| {
            for group in reasons(warnings) {
                document.put(&REASONS, group.worst.code());
            }
        });
        document.put(&OMITTED, warnings.dropped());
    });
    document.part(Part::List(&WARNINGS), |document| {
        for warning in warnings.iter() {
            document.part(Part::Item, |document| {
                document.put(&CODE, warning.code());
                if let Some(cpu) = warning.cpu() {
                    document.put(&CPU, cpu.0);
                }
                document.show(&TEXT, warning);
                document.show(&REMEDY, &warning.remedy());
                document.put(&SEVERITY, warning.severity().name());
                document.put(&UNTRUSTED, warning.untrusted());
                if let Some((node, cache)) = warning.side_cache() {
                    document.put(&NODE, node.0);
                    document.put(&SIDE_BYTES, cache);
                }
            });
            let role = PageRole::Warning(warning.severity().name());
            document.sentence(Role::Page(role), format_args!("{warning}"));
            document.sentence(Role::Page(PageRole::Remedy), format_args!("{}", warning.remedy()));
        }
    });
}

/// Says how far the result can be trusted, in one line.
pub fn line(document: &mut dyn Document, warnings: &Warnings) {
    document.sentence(Role::Trust, format_args!("{}{}", level(warnings), Reasons(warnings)));
}

/// Returns how far a result can be trusted, in one word.
#[must_use]
pub fn level(warnings: &Warnings) -> &'static str {
    // Of warnings for which there was no room, only the unreliable ones are known.
    if warnings.untrusted().is_some() {
        return "poor";
    }
    if reasons(warnings).next().is_some() {
        "fair"
    } else {
        "good"
    }
}

/// What weighs, the worst first, and one of each kind.
fn reasons(warnings: &Warnings) -> impl Iterator<Item = Group<'_>> {
    warnings.groups().filter(|group| group.worst.severity() > Severity::Note)
}

/// The reasons behind a colon.
struct Reasons<'w>(&'w Warnings);

impl Display for Reasons<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// More are in the warnings.
        const MOST: usize = 4;
        let mut before = ": ";
        for Group { worst, count } in reasons(self.0).take(MOST) {
            write!(out, "{before}{}", worst.reason())?;
            if count > 1 {
                write!(out, " (and {} more such)", count - 1)?;
            }
            before = "; ";
        }
        match reasons(self.0).count().saturating_sub(MOST) + self.0.dropped() {
            0 => Ok(()),
            more => write!(out, "{}and {more} more", if before == "; " { before } else { ": " }),
        }
    }
}
