//! The runs that `expect` needs if it has no file: a curve that reaches the working set, and those of chains and cores.
//!
//! The caller measures; the results are read as if each had been saved.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use latency_core::units::Bytes;

use crate::commands::report::saved::{File, read_into};
use crate::error::{Failure, Typed};
use crate::options::{FlagId, Options};
use crate::plan::curve::first_level_cache;
use latency_engine::machine::Machine;
use latency_sys::arguments::Arguments;

/// The ratio of the ends of the shortest curve: six octaves, more than a knee needs on either side.
const SPAN: u64 = 64;
/// The unit of the smallest size of a curve: several lines of any processor.
const LEAST: u64 = 1 << 10;

/// Returns the command lines of the runs that a question needs on a machine.
pub fn runs(options: &Options, machine: &Machine) -> Vec<Arguments> {
    let mut curve = String::from("curve\0--points-per-octave=3\0--budget=20\0");
    let (mut size, mut pages) = (String::new(), String::new());
    if let Some(asked) = options.size {
        size = format!("--size={}\0", Typed(asked));
        curve += &format!("--max-size={}\0", Typed(asked));
        // A curve that begins at half of the first-level cache would be too short for a small size.
        let least = Bytes((asked.0 / SPAN).next_multiple_of(LEAST));
        if least.0 < first_level_cache(machine).0 / 2 {
            curve += &format!("--min-size={}\0", Typed(least));
        }
    }
    if options.given.contains(FlagId::Pages) {
        pages = format!("--pages={}\0", options.pages);
    }
    let mut lines = Vec::from([format!("{curve}{pages}")]);
    if let Some(mut chains) = options.chains {
        // The latency of one chain is what the others are compared with.
        chains.insert(1);
        lines.push(format!("parallel\0--chains={chains}\0{size}{pages}"));
    }
    if options.cores.is_some() {
        lines.push(format!("bandwidth\0--traffic=random\0--view=scaling\0{size}{pages}"));
    }
    lines.into_iter().map(|line| Arguments::packed(line.leak().as_bytes())).collect()
}

/// Keeps the document of a run as if it had been read from a file. Its name is the command line.
///
/// # Errors
///
/// None: this program reads what it writes.
pub fn keep(files: &mut Vec<File>, line: Arguments, document: &str) -> Result<(), Failure> {
    let mut name = String::from("latency-bench");
    for word in line {
        // Texts take everything.
        let _ = write!(name, " {}", word.escape_ascii());
    }
    read_into(files, name.leak().as_bytes(), document.as_bytes(), false)
}
