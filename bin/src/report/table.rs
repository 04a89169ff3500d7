//! Text for people: the answer first, sentences that wrap at spaces, tables whose columns are as wide as their cells.

use core::fmt::{self, Write};
use core::ops::Range;

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
        let mut text = Text { out: &mut out, style, section: None, is_summed_up: None, failed: Ok(()) };
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
    /// Once the first chapter has begun: true if a part precedes the chapters and sums them up.
    is_summed_up: Option<bool>,
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
        self.is_summed_up == Some(true) && self.style.level < Level::Verbose
    }

    fn columns(&self) -> usize {
        self.style.terminal.columns.min(LONGEST_LINE)
    }

    /// Writes a paragraph, after its label if it has one.
    fn paragraph(&mut self, label: &str, in_list: bool, words: fmt::Arguments<'_>) -> fmt::Result {
        let width = self.columns();
        let mut column = 0;
        if !label.is_empty() {
            write!(self.out, "{label}: ")?;
            column = label.len() + 2;
        }
        let indent = if in_list || column > 0 { 2 } else { 0 };
        let mut wrap = Wrap::new(self.out, width, indent, column);
        // Words are replaced before they are wrapped: in ASCII they are longer.
        Ascii { out: &mut wrap, unicode: self.style.terminal.unicode }.write_fmt(words)?;
        wrap.finish()
    }
}

/// The maximum number of columns whose widths are stored.
const MOST_COLUMNS: usize = 64;

/// The number of rows that a part may leave out where they are empty; later rows are in every part.
const SPARSE_ROWS: usize = 4096;

/// Writes a table. If it is wider than `limit`, it is split into parts, and each part begins with the columns of
/// words. Later parts are without the rows that have nothing but these words there, and a part without rows is left out.
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
    let together = |columns: Range<usize>| columns.map(wide).sum::<usize>();
    // The columns of words identify the rows, so each part repeats them; the first one alone if all leave too little
    // room for the rest.
    let words = together(0..table.words);
    let mut from = 0;
    while from < columns {
        let all = 2 * words <= limit || words + together(from..columns) <= limit;
        let kept = if all { table.words } else { 1 }.min(from);
        let (mut to, mut used) = (from, together(0..kept));
        while to < columns && (to == from || used + wide(to) <= limit) {
            used += wide(to);
            to += 1;
        }
        let mut filled = [from == 0; SPARSE_ROWS];
        if from > 0 {
            let mut has_rows = false;
            table.each(&mut |row, column, cell| {
                if (from..to).contains(&column) && width(&ascii(cell, unicode)) > 0 {
                    has_rows |= row > 0;
                    filled.iter_mut().skip(row).take(1).for_each(|filled| *filled = true);
                }
                Ok(())
            })?;
            if !has_rows {
                from = to;
                continue;
            }
            out.write_char('\n')?;
        }
        part(out, table, (&widths, unicode), &|row, column| {
            (column < kept || (from..to).contains(&column)) && filled.get(row).is_none_or(|filled| *filled)
        })?;
        from = to;
    }
    Ok(())
}

/// Writes the cells of a table that are `shown`, by row and column.
fn part(
    out: &mut dyn Write,
    table: &DocumentTable<'_>,
    (widths, unicode): (&[usize], bool),
    shown: &dyn Fn(usize, usize) -> bool,
) -> fmt::Result {
    let (mut blanks, mut last) = (GAP, None);
    table.each(&mut |row, column, cell| {
        let Some(wide) = widths.get(column).filter(|_| shown(row, column)) else { return Ok(()) };
        if last != Some(row) {
            blanks = GAP;
            if last.replace(row).is_some() {
                out.write_char('\n')?;
            }
        }
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
    fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        let brief = self.style.terminal.screen && self.style.level < Level::Verbose;
        let (section, label, level) = match role {
            Role::Line => (PartKind::Lines, "", Level::Quiet),
            Role::Answer => (PartKind::Answer, "", Level::Quiet),
            Role::Trust => (PartKind::Answer, "Trust", Level::Normal),
            Role::Finding => (PartKind::Answer, "", Level::Normal),
            Role::Missing => (PartKind::Missing, "", Level::Normal),
            Role::Method(label) => (PartKind::Method, label, Level::Normal),
            Role::Provenance(label) if !brief => (PartKind::Method, label, Level::Normal),
            Role::Brief(label) if brief => (PartKind::Method, label, Level::Normal),
            Role::Provenance(_) | Role::Brief(_) => return,
            Role::Detail(label) => (PartKind::Method, label, Level::Verbose),
            Role::Page(PageRole::Chapter) => {
                let is_begun = self.section.is_some();
                self.is_summed_up.get_or_insert(is_begun);
                return;
            }
            Role::Page(_) => return,
        };
        if self.style.level < level || self.is_left_out() {
            return;
        }
        self.keep(section, |text| match role {
            Role::Line => writeln!(text.out, "{words}"),
            _ => text.paragraph(label, section == PartKind::Method, words),
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

    fn is_on_screen(&self) -> bool {
        self.style.terminal.screen && self.style.level > Level::Quiet
    }
}
