//! A random campaign against the executable: valid options, plans, altered documents, tables of other tools,
//! results of many hosts, streams without a reader, refused system calls. A seed and a number make a case; each wrong behaviour is a finding of a class.
//!
//! It uses only the information that a user has: `help`, the exit statuses, the formats.

mod blocked;
mod case;
mod commands;
mod dialect;
mod documents;
mod files;
mod foreign;
mod formats;
mod hosts;
mod joined;
mod json;
mod markup;
mod members;
mod options;
mod random;
mod tables;
mod trapped;

pub use case::{Case, Finding};

use crate::directory::Directory;
use commands::Help;
use documents::Corpus;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// A process that a signal ended, or that did not end.
pub const DEATH: &str = "no end of its own";
/// An exit status that this case cannot have.
pub const STATUS: &str = "an exit status that is not documented for the case";
/// A status other than 0 without exactly one message, or success with one.
pub const MESSAGE: &str = "not one line ERROR where one belongs";
/// Options that `help` lists, refused for a reason that help does not give.
pub const REFUSED: &str = "valid options refused";
/// A raw control character in text for people, or a message.
pub const CONTROL: &str = "a raw control character";
/// The same within a string of JSON.
pub const STEERING: &str = "a raw control character within JSON";
/// Success, and no output.
pub const EMPTY: &str = "success without any output";
/// An output that a reader of its format cannot read.
pub const MALFORMED: &str = "malformed output";
/// A document that violates its own schema.
pub const SCHEMA: &str = "JSON against its schema";
/// A null where its own schema has a number.
pub const NULL: &str = "a null against its schema";
/// A sentence wider than a terminal.
pub const WIDE: &str = "a sentence wider than 80 columns";
/// A row of a table wider than a terminal.
pub const WIDE_TABLE: &str = "a table wider than 80 columns";
/// A number with absurdly many digits.
pub const NUMBER: &str = "an absurd number";
/// A plural of one thing.
pub const PLURAL: &str = "a plural of one thing";
/// An option in an error that the command does not have.
pub const ADVICE: &str = "an option that the command lacks, in an error";
/// A plan that was written over a result, or into a file.
pub const PLAN: &str = "a plan in a file";
/// An input that was replaced by the output.
pub const INPUT: &str = "an output in place of its input";
/// A process that waits for a stream and does not react to a signal.
pub const DEAF: &str = "a signal not heard while a stream waits";
/// The line `Usage:` of help, refused.
pub const USAGE: &str = "a line of usage refused";
/// A document of a later schema, read like one of today.
pub const LATER: &str = "a later schema taken as today's";
/// An interval that contradicts its value, accepted.
pub const CONTRADICTION: &str = "an interval beside its value taken";
/// Numbers with quotes, decimal commas or thousands, misread.
pub const WRITTEN: &str = "wrong latencies: quotes, decimal commas, thousands";
/// A unit of time, misread.
pub const TIME: &str = "wrong latencies: unit of time";
/// A column of another quantity than time, or a size of an unknown unit, accepted.
pub const QUANTITY: &str = "wrong latencies: another quantity";
/// Rows or columns of something else, misread.
pub const OTHER_ROWS: &str = "wrong latencies: rows or columns of something else";
/// A plain table, misread.
pub const PLAIN: &str = "wrong latencies: a plain table";
/// A plain table, refused.
pub const UNREAD: &str = "a plain table refused";

/// Rows of another tool that are lost, mistaken or refused.
pub const KEYS: &str = "rows of another tool lost, mistaken or refused";
/// A slower value in a table of another tool, not found.
pub const SLOWER: &str = "a slower value of another tool not found";
/// A level of a curve outside of the sizes that were measured.
pub const LEVELS: &str = "a level outside of the measured sizes";
/// A host of another identity, judged with the others.
pub const APART: &str = "a host of another identity judged";
/// A condition that differs between two results, not named.
pub const UNSAID: &str = "a difference that compare does not name";
/// A slow host among its like, not found, or another one in its place.
pub const PLANTED: &str = "a slow host not found, or a usual one named";
/// A member that cannot be, accepted.
pub const MEMBER: &str = "a member that cannot be taken";
/// A trapped system call that the error does not name.
pub const UNNAMED: &str = "a refused system call not named";
/// Results that are read alone, refused together.
pub const JOINED: &str = "results refused together";
/// A result of the executable that it does not read.
pub const AGAIN: &str = "a result of its own refused";

/// A kind of case.
struct Family {
    name: &'static str,
    /// Its number of cases among those of all families.
    share: u64,
    run: fn(&mut Case<'_>),
}

const FAMILIES: [Family; 15] = [
    Family { name: "options", share: 66, run: options::run },
    Family { name: "plans", share: 16, run: files::plan },
    Family { name: "outputs onto inputs", share: 8, run: files::onto_an_input },
    Family { name: "lines of usage", share: 4, run: files::usage },
    Family { name: "documents as they are", share: 25, run: documents::whole },
    Family { name: "altered documents", share: 30, run: documents::altered },
    Family { name: "contradictions and later schemas", share: 10, run: documents::contradictory },
    Family { name: "tables of other tools", share: 40, run: tables::run },
    Family { name: "streams that wait", share: 1, run: blocked::run },
    Family { name: "tables of pairs and sizes of other tools", share: 24, run: foreign::run },
    Family { name: "hosts of another identity", share: 14, run: hosts::apart },
    Family { name: "slow hosts among others", share: 12, run: hosts::planted },
    Family { name: "members that cannot be", share: 20, run: members::run },
    Family { name: "trapped system calls", share: 20, run: trapped::run },
    Family { name: "joined results", share: 12, run: joined::run },
];

/// Data shared by all cases, read once.
pub struct Surroundings {
    help: Help,
    corpus: Corpus,
}

/// The findings of a class.
#[derive(Debug, Default)]
pub struct Class {
    /// The number of findings.
    pub count: u64,
    /// The first findings, with the number of their case.
    pub first: Vec<(u64, String)>,
}

/// Number of examples of a class that are kept.
const EXAMPLES: usize = 3;

/// A campaign that has ended.
#[derive(Debug, Default)]
pub struct Tally {
    /// The number of cases of each family.
    pub families: BTreeMap<&'static str, u64>,
    /// The number of processes by exit status; -1 for those that a signal ended.
    pub statuses: BTreeMap<i32, u64>,
    /// The findings by class.
    pub classes: BTreeMap<&'static str, Class>,
}

impl Tally {
    fn add(&mut self, case: Case<'_>) {
        *self.families.entry(case.family).or_default() += 1;
        for status in &case.statuses {
            *self.statuses.entry(*status).or_default() += 1;
        }
        for Finding { class, seen } in case.findings {
            let class = self.classes.entry(class).or_default();
            class.count += 1;
            class.first.push((case.number, seen));
            class.first.sort();
            class.first.truncate(EXAMPLES);
        }
    }
}

/// Runs the cases with these numbers on two threads. With `kept`, the files of a case stay in that directory.
pub fn campaign(seed: u64, numbers: std::ops::Range<u64>, kept: Option<&Path>) -> Tally {
    let surroundings = Surroundings { help: Help::read(), corpus: Corpus::read() };
    let next = AtomicU64::new(numbers.start);
    let tally = Mutex::new(Tally::default());
    thread::scope(|scope| {
        for worker in 0..2 {
            let (next, tally, surroundings, end) = (&next, &tally, &surroundings, numbers.end);
            scope.spawn(move || {
                let own = kept.is_none().then(|| Directory::new(&format!("campaign-{seed}-{worker}")));
                let place = own.as_ref().map_or_else(|| kept.expect("a place"), Directory::path);
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= end {
                        break;
                    }
                    let case = one(seed, number, surroundings, place);
                    tally.lock().unwrap_or_else(PoisonError::into_inner).add(case);
                }
            });
        }
    });
    tally.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Runs one case in a new directory below `place`.
fn one<'s>(seed: u64, number: u64, surroundings: &'s Surroundings, place: &Path) -> Case<'s> {
    let total: u64 = FAMILIES.iter().map(|family| family.share).sum();
    // Neighbours are of different families, so that a few cases include all of them.
    let mut turn = number.wrapping_mul(73) % total;
    let mut families = FAMILIES.iter();
    let family = loop {
        let family = families.next().expect("shares that add up");
        match turn.checked_sub(family.share) {
            Some(rest) => turn = rest,
            None => break family,
        }
    };
    let index = number / total * family.share + turn;
    let mut case = Case::new(seed, number, family.name, index, surroundings, place.join("case"));
    (family.run)(&mut case);
    case
}
