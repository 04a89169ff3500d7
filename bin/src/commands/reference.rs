//! Published figures of processors, with their sources. Nothing is measured.
use alloc::vec::Vec;

use latency_core::plural;

use super::{Command, CommandResult};
use crate::analysis::reference::{PublishedRow, contradiction, figures, is_called, is_of};
use crate::describe::{self, trust};
use crate::error::Failure;
use crate::options::nearest::nearest;
use crate::options::tokens::Escaped;
use crate::options::{Descriptor, Operands, Options};
use latency_engine::machine::detect;
use latency_report::chart::vector;
use latency_report::document::fields;
use latency_report::lists::joined;
use latency_report::{Field, Part, Role, Shown};

/// The maximum number of words to search for.
const MOST_WORDS: usize = 16;

/// The `reference` command.
pub const REFERENCE: Command = Command {
    descriptor: Descriptor {
        name: "reference",
        summary: "published figures of processors",
        details: "Latencies and sizes of a core, and ranges of a server platform, with their sources. Without CPU, the \
             figures of this processor; with words, those whose names contain all of them; `all` shows everything. \
             Nothing is measured.",
        operands: Operands { names: "[CPU...]", least: 0, most: MOST_WORDS, sides: false },
        tests: false,
        ..Descriptor::OF_VALUES
    },
    columns: [&COLUMNS, &[]],
    run,
};

fields! {
    FIGURES "figures" "Number of figures.";
    PROCESSOR "processor" "Core or platform.";
    QUANTITY "quantity" "Published quantity.";
    LEAST "least" "Smallest figure.";
    MOST "most" "Largest figure.";
    UNIT "unit" "Unit.";
    STATED "stated" "Stated conditions.";
    SOURCES "sources" "Sources.";
}

/// The columns of tabular formats.
static COLUMNS: [Field; 7] = [PROCESSOR, QUANTITY, LEAST, MOST, UNIT, STATED, SOURCES];

/// Returns the names that are near some words: those with one of them, or with a word of few typing errors.
fn near(words: &[&[u8]]) -> Vec<&'static str> {
    let mut all: Vec<&str> = Vec::new();
    for (name, _) in figures(&|_| true) {
        if !all.contains(&name) {
            all.push(name);
        }
    }
    let parts = |name: &'static str| name.split([' ', '-']);
    let is_near = |name: &&'static str| {
        words.iter().any(|word| {
            let typed = nearest(word, &mut all.iter().copied().flat_map(parts));
            is_called(name.as_bytes(), word)
                || typed.is_some_and(|typed| parts(name).any(|part| part == typed))
        })
    };
    vector(all.iter().copied().filter(is_near))
}

/// Presents the figures of the processors that the operands select.
fn run(options: &Options) -> Result<CommandResult, Failure> {
    let words = options.operands();
    let own = detect::processor();
    let is_wanted = |row: &PublishedRow| match words {
        [] => is_of(row, &own),
        [b"all"] => true,
        words => words.iter().all(|word| is_called(row.name.as_bytes(), word)),
    };
    let count = figures(&is_wanted).count();
    let shown = Shown::of(|document| {
        document.part(Part::Object(&describe::SUMMARY), |document| document.put(&FIGURES, count));
        trust::of_command(document, "good", &[]);
        let masked = contradiction(&own).filter(|_| words.is_empty());
        match count {
            0 if let Some(masked) = masked => document.answer(format_args!(
                "No reference: {masked}. `latency-bench reference all` lists what is known."
            )),
            0 if !words.is_empty() => {
                let typed = joined("", " ", words.iter().map(|word| Escaped(word)));
                let near = near(words);
                let end = if near.is_empty() { "" } else { "." };
                let near = joined(" Near: ", ", ", near.iter());
                document.answer(format_args!(
                    "No reference matches '{typed}'.{near}{end} `latency-bench reference all` lists all."
                ));
            }
            0 => document.say(
                Role::Answer,
                "No reference for this processor. `latency-bench reference all` lists those that are known, by \
                     code names such as Zen 3 and Milan.",
            ),
            count => document.answer(format_args!("{count} published figure{}.", plural(count))),
        }
        document.part(Part::Records(&describe::ROWS), |document| {
            for (name, usual) in figures(&is_wanted) {
                document.part(Part::Item, |document| {
                    let [least, most] = usual.ends;
                    document.put(&PROCESSOR, name);
                    document.put(&QUANTITY, usual.quantity.name());
                    document.put(&LEAST, least);
                    document.put(&MOST, most);
                    document.put(&UNIT, usual.quantity.unit());
                    document.show(&STATED, &usual.stated.conditions());
                    document.show(&SOURCES, &usual.stated.addresses());
                });
                document.finding(format_args!("{name}: {usual} [{}].", usual.stated.addresses()));
            }
        });
    });
    Ok(shown.into())
}
