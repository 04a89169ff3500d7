//! The runs that `expect` needs if it has no file: a curve that reaches the working set, and those of chains and cores.
//!
//! The caller measures; the results are read as if each had been saved.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::Write;

use crate::commands::report::saved::{File, read_into};
use crate::describe::output;
use crate::error::{Failure, Typed};
use crate::machine::Machine;
use crate::options::{FlagId, Options};
use crate::plan::CACHES;
use crate::plan::curve::first_level_cache;
use crate::report::json::JSON_LINES;
use crate::report::{Level, Shown, Style, Terminal};
use crate::sys::arguments::Arguments;

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
    let usual = [first_level_cache(machine).0 / 2, machine.largest_cache().times(CACHES).0];
    for (index, line) in lines.iter_mut().enumerate() {
        // Texts take everything.
        let _ = match options.size {
            Some(size) if index > 0 => write!(line, "--size={}\0", Typed(size)),
            Some(size) if size.0 < usual[0] => write!(line, "--min-size={}\0", Typed(size)),
            Some(size) if size.0 > usual[1] => write!(line, "--max-size={}\0", Typed(size)),
            _ => Ok(()),
        };
        if options.given.contains(FlagId::Pages) {
            let _ = write!(line, "--pages={}\0", options.pages);
        }
    }
    lines.into_iter().map(|line| Arguments::packed(line.leak().as_bytes())).collect()
}

/// Keeps the result of a run as if it had been read from a file. Its name is the command line.
///
/// # Errors
///
/// None: this program reads what it writes.
pub fn keep(files: &mut Vec<File<'static>>, line: Arguments, shown: &Shown) -> Result<(), Failure<'static>> {
    let terminal = Terminal { columns: 80, unicode: false, colour: false, screen: false };
    let style = Style { terminal, level: Level::Normal, columns: output::COLUMNS };
    let (mut text, mut name) = (String::new(), String::from("latency-bench"));
    // Texts take everything.
    let _ = (JSON_LINES.write)(&mut text, &style, shown);
    for word in line {
        let _ = write!(name, " {}", word.escape_ascii());
    }
    read_into(files, name.leak().as_bytes(), text.as_bytes(), false)
}
