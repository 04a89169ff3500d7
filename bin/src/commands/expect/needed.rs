//! The runs that `expect` needs if it has no file: a curve that reaches the working set, and those of chains and cores.
//!
//! The caller measures; the results are read as if each had been saved.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use latency_core::units::Bytes;

use crate::commands::report::saved::{File, read_into};
use crate::error::{Failure, Typed};
use crate::machine::Machine;
use crate::options::{FlagId, Options};
use crate::plan::curve::first_level_cache;
use crate::sys::arguments::Arguments;

/// The ratio of the ends of the shortest curve: six octaves, more than a knee needs on either side.
const SPAN: u64 = 64;
/// The smallest working set that makes a chain of several lines, of any processor's length.
const LEAST: u64 = 1 << 10;

/// Returns the command lines of the runs that a question needs on a machine.
pub fn runs(options: &Options<'_>, machine: &Machine) -> Vec<Arguments> {
    let mut lines = Vec::from([String::from("curve\0--points-per-octave=3\0--budget=20\0")]);
    let mut ask = |words: core::fmt::Arguments<'_>| lines.push(format!("{words}"));
    if let Some(mut chains) = options.chains {
        // The latency of one chain is what the others are compared with.
        chains.insert(1);
        ask(format_args!("parallel\0--chains={chains}\0"));
    }
    if options.cores.is_some() {
        ask(format_args!("bandwidth\0--traffic=random\0--view=scaling\0"));
    }
    for (index, line) in lines.iter_mut().enumerate() {
        // Texts take everything.
        let _ = match options.size {
            Some(size) if index > 0 => write!(line, "--size={}\0", Typed(size)),
            Some(size) => write!(line, "--max-size={}\0", Typed(size)),
            None => Ok(()),
        };
        // A curve that begins at half of the first-level cache would be too short for a small size.
        let least = options.size.map(|size| Bytes((size.0 / SPAN).next_multiple_of(LEAST)));
        if let Some(least) = least.filter(|least| index == 0 && least.0 < first_level_cache(machine).0 / 2) {
            let _ = write!(line, "--min-size={}\0", Typed(least));
        }
        if options.given.contains(FlagId::Pages) {
            let _ = write!(line, "--pages={}\0", options.pages);
        }
    }
    lines.into_iter().map(|line| Arguments::packed(line.leak().as_bytes())).collect()
}

/// Keeps the document of a run as if it had been read from a file. Its name is the command line.
///
/// # Errors
///
/// None: this program reads what it writes.
pub fn keep(files: &mut Vec<File<'static>>, line: Arguments, document: &str) -> Result<(), Failure<'static>> {
    let mut name = String::from("latency-bench");
    for word in line {
        // Texts take everything.
        let _ = write!(name, " {}", word.escape_ascii());
    }
    read_into(files, name.leak().as_bytes(), document.as_bytes(), false)
}
