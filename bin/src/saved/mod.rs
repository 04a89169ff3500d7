//! Saved results, read from JSON, from CSV, or from the output of another tool.
//!
//! A file may be anything: edited, cut short, huge or malicious. Text that is not understood is refused with its line
//! number, and every number is checked.

pub mod alike;
pub mod conditions;
mod csv;
pub mod documents;
mod fields;
mod foreign;
#[cfg(test)]
mod foreign_tests;
pub mod host;
mod json;
mod origin;
mod point;
mod results;
mod rows;
#[cfg(test)]
mod several_tests;
pub mod shape;
mod summaries;
#[cfg(test)]
mod tests;
pub mod tlb;

pub use rows::{MAX_ROWS, Problem, Saved, Tool};

use alloc::vec::Vec;

use conditions::escaped;
use documents::LARGEST_FILE;
use latency_core::{Bytes, Text};
use latency_report::tree::{JsonTree, JsonValue};
use rows::Draft;

use crate::analysis::curve::Analysis;
use crate::error::{Failure, SavedError};
use crate::options::tokens::Escaped;
use crate::record::members::{ROWS, SECTIONS_OF};
use crate::record::row::Row;
use latency_engine::result::Sample;
use latency_sys::terminal::Stream;
use latency_sys::{Errno, Table, file};

/// The defect of saved results in place of the result of a host: they have no conditions.
const COLLECTION: Problem =
    Problem::new(1, "saved results without their conditions; use the files that were read for them");

impl Saved {
    /// Reads a result from a file, or from standard input if its name is `-`. `unit` is the number of bytes in the unit
    /// of sizes that have none of their own, if the user gave it.
    ///
    /// # Errors
    ///
    /// [`SavedError::Unreadable`], [`SavedError::TooLarge`], [`SavedError::Malformed`] and [`SavedError::NoUnit`].
    pub fn load(path: &'static [u8], unit: Option<Bytes>) -> Result<Saved, Failure> {
        let contents = contents(path)?;
        let draft = Saved::parse(&contents, unit).map_err(|problem| malformed(path, problem))?;
        let found = Some(draft).filter(Draft::has_unit).map(Draft::finish);
        found.ok_or_else(|| SavedError::NoUnit { path: Escaped(path) }.into())
    }

    /// Reads every result in the contents of a file, and each experiment of a report, as [`load`](Self::load) does. With
    /// `in_brief` it reads only the classes of pairs of CPUs.
    ///
    /// # Errors
    ///
    /// The errors of [`load`](Self::load).
    pub fn read_each(path: &'static [u8], contents: &[u8], in_brief: bool) -> Result<Vec<Saved>, Failure> {
        let (mut all, mut has_unit) = (Vec::new(), true);
        let mut take = |text: &[u8]| {
            let mut draft = Draft { in_brief, ..Draft::default() };
            let tree = understood(text, None, &mut draft)?;
            let found = draft.has_rows();
            let report = match tree.as_ref().map(JsonTree::root) {
                // Tables of several experiments that were joined have rows, but no sections.
                Some(report) if found.is_err() && shape::has_sections(draft.saved.experiment.as_str()) => {
                    report
                }
                Some(_) if !draft.is_collection => return found.map(|()| all.push(draft.finish())),
                document => {
                    has_unit &= draft.has_unit();
                    return found.and_then(|()| results::each(draft, document, &mut all));
                }
            };
            for section in shape::sections_of(report) {
                let mut draft = Draft { in_brief, ..Draft::default() };
                json::read(section, &mut draft)?;
                // A result without a measured point is left out, because it has nothing to show.
                if draft.has_rows().is_ok() {
                    all.push(draft.finish());
                }
            }
            report.accepted()
        };
        documents::each_in(contents, &mut take).map_err(|problem| malformed(path, problem))?;
        if has_unit { Ok(all) } else { Err(SavedError::NoUnit { path: Escaped(path) }.into()) }
    }

    /// Returns the levels that some of the points show; `like` is one of them.
    pub fn analysis(&self, samples: &[Sample], like: &Row) -> Analysis {
        Analysis::new(samples, tlb::of_row(&self.tlb, like), self.claims, None, &|| false)
    }

    /// Parses the text of a result. The rows of a report are those of all of its experiments.
    pub(crate) fn parse(text: &[u8], unit: Option<Bytes>) -> Result<Draft, Problem> {
        let mut draft = Draft::default();
        let tree = understood(text, unit, &mut draft)?;
        let document = tree.as_ref().map(JsonTree::root);
        if let Some(document) = document.filter(|_| draft.is_collection) {
            draft.is_collection = results::lengths(&draft.rows, Some(document)).len() > 1;
            draft.has_no_contradiction().map_err(|what| document.at(ROWS.key).problem(what))?;
        }
        if let Some(report) = document.filter(|_| shape::has_sections(draft.saved.experiment.as_str())) {
            shape::sections_of(report)
                .try_for_each(|section| draft.pool(|part| json::read(section, part)))?;
            report.accepted()?;
        }
        draft.has_rows()?;
        Ok(draft)
    }

    /// Reads a document of one of many hosts. A document without rows is accepted.
    pub(crate) fn of_host(document: JsonValue<'_>) -> Result<Draft, Problem> {
        let mut draft = Draft { in_brief: true, of_hosts: true, ..Draft::default() };
        json::read(document, &mut draft)?;
        match draft.saved.experiment.as_str() {
            "" => Err(Problem::new(1, "the document names no experiment")),
            shape::SHOW => Err(COLLECTION),
            name if shape::has_sections(name) && document.member(SECTIONS_OF.key).is_none() => {
                Err(COLLECTION)
            }
            _ => Ok(draft),
        }
    }
}

/// Returns whether a file can be read a second time: pipes and standard input cannot.
pub fn is_repeatable(path: &[u8]) -> bool {
    path != b"-" && file::identity(Some(path), Stream::Input).is_some()
}

/// Returns the text of a file, or of standard input.
///
/// # Errors
///
/// The errors of [`file::load`].
pub fn loaded(path: &[u8]) -> Result<Table<u8>, Errno> {
    file::load(Some(path).filter(|path| *path != b"-"), LARGEST_FILE)
}

/// Returns the contents of a file.
///
/// # Errors
///
/// [`SavedError::Unreadable`] and [`SavedError::TooLarge`].
pub fn contents(path: &'static [u8]) -> Result<Table<u8>, Failure> {
    loaded(path).map_err(|errno| documents::unreadable(path, errno).into())
}

/// Reads a text of any format; returns the tree of a document.
fn understood<'t>(
    text: &'t [u8],
    unit: Option<Bytes>,
    draft: &mut Draft,
) -> Result<Option<JsonTree<'t>>, Problem> {
    let text = documents::unmarked(text)?;
    match text.trim_ascii_start().first() {
        None => Err(documents::EMPTY),
        Some(b'{' | b'[') => {
            let tree = JsonTree::of(text)?;
            json::read(tree.root(), draft)?;
            Ok(Some(tree))
        }
        Some(b'<') => Err(Problem::new(1, "HTML pages cannot be read; save the result with --json too")),
        Some(_) => csv::read(text, unit.map(|unit| unit.0 as f64), draft).map(|()| None),
    }
}

fn malformed(path: &'static [u8], problem: Problem) -> Failure {
    SavedError::Malformed { path: Escaped(path), problem }.into()
}

/// Returns the name of a file for output, without characters that control a terminal.
pub fn shown(path: &[u8]) -> Text<256> {
    escaped(path)
}
