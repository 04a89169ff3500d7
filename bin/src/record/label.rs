//! The label of a point: the values of some columns, in words for people.

use core::fmt::{self, Display, Write};

use latency_core::traffic::Pattern;
use latency_core::{Pages, Worded};

use super::columns::*;
use super::row::{MEDIAN, ONE_WAY, Row};
use latency_engine::result::PageKind;

/// The states of a line, as coherence protocols write them.
const STATES: [&str; 3] = ["Modified", "Exclusive", "Shared"];

/// Returns the value of a column for people; nothing without a value.
pub fn shown(row: &Row, column: Column) -> impl Display + '_ {
    fmt::from_fn(move |out| show(row, column, out))
}

fn show(row: &Row, column: Column, out: &mut dyn Write) -> fmt::Result {
    let word = row.word(column);
    match column {
        _ if !row.tells(column) => Ok(()),
        CLASS if word == "own" => out.write_str("same CPU"),
        OP if word == "own" => out.write_str("atomic"),
        WORKING_SET => write!(out, "{}", row.size()),
        STRIDE => write!(out, "{}", row.stride()),
        PAGES_ASKED => match Pages::from_word(word.as_bytes()) {
            Some(pages) => write!(out, "{}", PageKind(pages)),
            None => out.write_str(word),
        },
        STATE => {
            let state = STATES.iter().find(|state| state.eq_ignore_ascii_case(word));
            out.write_str(state.unwrap_or(&word))
        }
        _ => out.write_str(&row.plain(column)),
    }
}

/// A label for a point that shows some of its columns.
pub struct Label<'r> {
    /// The point.
    pub row: &'r Row,
    /// The columns to show.
    pub shown: ColumnSet,
}

impl Display for Label<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row;
        let shows = |column: Column| self.shown.has(column) && row.tells(column);
        let mut is_first = true;
        for column in self.shown.points().filter(|column| row.tells(*column)) {
            // One direction is the default for pairs, and a stream is the default for traffic; neither is shown.
            let usual = row.is_word(PATTERN, Pattern::Stream.word()) && row.traffic().is_some();
            // The name of a variant begins with that of its kernel.
            let named = column == KERNEL && row.tells(VARIANT);
            if named || (column == OP && row.is_word(OP, ONE_WAY)) || (column == PATTERN && usual) {
                continue;
            }
            let is_one = row.is_word(column, "1");
            // The value replaces the asterisk.
            let around = match column {
                TARGET_NODE if shows(INITIATOR_NODE) => " -> *",
                INITIATOR_CPU => ", CPU *",
                TARGET_CPU if shows(INITIATOR_CPU) => " - CPU *",
                CLASS if shows(INITIATOR_CPU) => " (*)",
                OP if shows(CLASS) && !row.is_word(OP, MEDIAN) => ": *",
                STATE if row.is_word(STATE, "exclusive") => " on an * line",
                STATE => " on a * line",
                LEVEL => ", in *",
                PAGES_ASKED => ", * pages",
                CHAINS if is_one => ", * chain",
                CHAINS => ", * chains",
                CORES if is_one => ", * core",
                CORES => ", * cores",
                INITIATOR_NODE if shows(TARGET_NODE) => ", *",
                WORKING_SET | VARIANT | TRAFFIC | EXPERIMENT | CLASS | OP | LOAD => ", *",
                _ => "",
            };
            let (before, behind) = around.split_once('*').unwrap_or((", ", ""));
            let first = if is_first { before.trim_start_matches([',', ' ']) } else { before };
            out.write_str(first)?;
            if around.is_empty() {
                write!(out, "{} ", column.words())?;
            }
            show(row, column, out)?;
            out.write_str(behind)?;
            is_first = false;
        }
        Ok(())
    }
}
