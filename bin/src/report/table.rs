//! Text for people: the answer first, sentences that wrap at spaces, tables whose columns are as wide as their cells.

use core::fmt::{self, Write};

use super::ascii::{Ascii, ascii};
use super::document::{Document, DocumentTable, Level, PageRole, Picture, Role, Style};
use super::figures::width;
use super::format::{Format, Purpose};
use super::terminal::Terminal;
use super::wrap::{self, Wrap};
use super::{heatmap, plot};

/// Text for a terminal.
pub const TEXT: Format = Format {
    name: "text",
    extension: "txt",
    purpose: Purpose::Terminal,
    write: |out, style, describe| {
        let mut out = Ascii { out, unicode: style.terminal.unicode };
        let mut text = Text { out: &mut out, style, section: None, chapter: false, failed: Ok(()) };
        describe(&mut text);
        text.failed
    },
};

/// The maximum length of lines; longer ones are hard to read even in a wide terminal.
const LONGEST_LINE: usize = 100;
/// The width up to which tables are not split, even if the terminal is narrower.
const LEAST_LINE: usize = 40;
/// The number of blanks between columns.
const GAP: usize = 2;

/// A kind of parts that follow each other without a blank line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum PartKind {
    Lines,
    Answer,
    Table,
    Picture,
    Missing,
    Method,
}

struct Text<'o> {
    out: &'o mut dyn Write,
    style: &'o Style,
    section: Option<PartKind>,
    /// The first chapter has begun.
    chapter: bool,
    failed: fmt::Result,
}

impl Text<'_> {
    /// Writes a part, unless an earlier write failed, with a blank line between sections.
    fn keep(&mut self, section: PartKind, write: impl FnOnce(&mut Self) -> fmt::Result) {
        let last = self.section.replace(section);
        // Every table and picture stands by itself.
        let apart = last
            .is_some_and(|last| last != section || matches!(section, PartKind::Table | PartKind::Picture));
        if self.failed.is_ok() && apart {
            self.failed = self.out.write_char('\n');
        }
        if self.failed.is_ok() {
            self.failed = write(self);
        }
    }

    /// Returns whether a part is left out because it is in a chapter, and the reader has not asked for everything: a
    /// terminal has only room for the part before the chapters.
    fn is_left_out(&self) -> bool {
        self.chapter && self.style.level < Level::Verbose
    }

    fn columns(&self) -> usize {
        self.style.terminal.columns.min(LONGEST_LINE)
    }

    /// Writes a paragraph, after its label if it has one.
    fn paragraph(&mut self, label: &str, words: fmt::Arguments<'_>) -> fmt::Result {
        let width = self.columns();
        let mut column = 0;
        let mut indent = 0;
        if !label.is_empty() {
            write!(self.out, "{label}: ")?;
            column = label.len() + 2;
            indent = 2;
        }
        let mut wrap = Wrap::new(self.out, width, indent, column);
        // Words are replaced before they are wrapped: in ASCII they are longer.
        Ascii { out: &mut wrap, unicode: self.style.terminal.unicode }.write_fmt(words)?;
        wrap.finish()
    }
}

/// The maximum number of columns whose widths are stored.
const MOST_COLUMNS: usize = 64;

/// Writes a table. If it is wider than `limit`, it is split into parts, and each part begins with the columns of
/// words.
fn write_table(out: &mut dyn Write, table: &DocumentTable<'_>, limit: usize, unicode: bool) -> fmt::Result {
    let (mut widths, mut columns) = ([0; MOST_COLUMNS], 0);
    table.each(&mut |_, column, cell| {
        if let Some(wide) = widths.get_mut(column) {
            *wide = width(&ascii(cell, unicode)).max(*wide);
            columns = columns.max(column + 1);
        }
        Ok(())
    })?;
    wrap::line(out, table.caption, limit)?;
    let wide = |column: usize| GAP + widths.get(column).copied().unwrap_or(0);
    // The columns of words identify the rows, so each part repeats them, unless they leave too little room for the
    // rest.
    let words: usize = (0..table.words).map(wide).sum();
    let (kept, words) = if 2 * words <= limit { (table.words, words) } else { (1, wide(0)) };
    let mut from = kept;
    loop {
        let (mut to, mut used) = (from, words);
        while to < columns && (to == from || used + wide(to) <= limit) {
            used += wide(to);
            to += 1;
        }
        part(out, table, (&widths, unicode), &|column| column < kept || (from..to).contains(&column))?;
        if to >= columns {
            return Ok(());
        }
        out.write_char('\n')?;
        from = to;
    }
}

/// Writes the `shown` columns of a table.
fn part(
    out: &mut dyn Write,
    table: &DocumentTable<'_>,
    (widths, unicode): (&[usize], bool),
    shown: &dyn Fn(usize) -> bool,
) -> fmt::Result {
    let mut blanks = GAP;
    table.each(&mut |row, column, cell| {
        if column == 0 {
            blanks = GAP;
            if row > 0 {
                out.write_char('\n')?;
            }
        }
        let Some(wide) = widths.get(column).filter(|_| shown(column)) else { return Ok(()) };
        let taken = width(&ascii(cell, unicode));
        if taken == 0 {
            blanks += GAP + wide;
            return Ok(());
        }
        // Blanks are written together with the next cell, so that no line ends with blanks.
        let rest = wide.saturating_sub(taken);
        let (before, behind) = if column < table.words { (0, rest) } else { (rest, 0) };
        let before = blanks + before;
        blanks = GAP + behind;
        write!(out, "{:before$}{cell}", "")
    })?;
    out.write_char('\n')
}

impl Document for Text<'_> {
    fn sentence(&mut self, role: Role<'_>, words: fmt::Arguments<'_>) {
        let brief = self.style.terminal.screen && self.style.level < Level::Verbose;
        let (section, label, level) = match role {
            Role::Line => (PartKind::Lines, "", Level::Quiet),
            Role::Answer => (PartKind::Answer, "", Level::Quiet),
            Role::Trust => (PartKind::Answer, "Trust", Level::Normal),
            Role::Finding => (PartKind::Answer, "", Level::Normal),
            Role::Missing => (PartKind::Missing, "", Level::Normal),
            Role::Method(&label) => (PartKind::Method, label, Level::Normal),
            Role::Provenance(&label) if !brief => (PartKind::Method, label, Level::Normal),
            Role::Brief(&label) if brief => (PartKind::Method, label, Level::Normal),
            Role::Provenance(_) | Role::Brief(_) => return,
            Role::Detail(&label) => (PartKind::Method, label, Level::Verbose),
            Role::Page(&PageRole::Chapter) => {
                self.chapter = true;
                return;
            }
            Role::Page(_) => return,
        };
        if self.style.level < level || self.is_left_out() {
            return;
        }
        self.keep(section, |text| match role {
            Role::Line => writeln!(text.out, "{words}"),
            _ => text.paragraph(label, words),
        });
    }

    fn table(&mut self, table: &DocumentTable<'_>) {
        if self.style.level >= table.level && !self.is_left_out() && table.has_rows() {
            let Terminal { columns, unicode, .. } = self.style.terminal;
            let limit = columns.max(LEAST_LINE);
            self.keep(PartKind::Table, |text| write_table(text.out, table, limit, unicode));
        }
    }

    fn picture(&mut self, picture: Picture<'_>) {
        if self.style.level < Level::Normal || self.is_left_out() {
            return;
        }
        let terminal = Terminal { columns: self.columns(), ..self.style.terminal };
        self.keep(PartKind::Picture, |text| match picture {
            Picture::Chart(chart) => plot::write(text.out, chart, terminal),
            Picture::Matrix(matrix) => heatmap::write(text.out, matrix, terminal),
        });
    }
}
