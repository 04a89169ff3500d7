//! Text for people: the answer first, sentences that wrap at spaces, tables whose columns are as wide as their cells.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};
use core::ops::Range;

use super::chart::vector;
use super::document::{Level, PageRole, Role};
use super::figures::width;
use super::format::{Format, Purpose, Style};
use super::shown::{Picture, ShownPart, ShownTable};
use super::terminal::{Ascii, Audience, Terminal, ascii};
use super::wrap::{self, Wrap};
use super::{heatmap, plot};

/// Text for a terminal.
pub const TEXT: Format = Format {
    name: "text",
    extension: "txt",
    purpose: Purpose::Terminal,
    write: |out, style, shown| {
        let mut out = Ascii { out, unicode: style.terminal.unicode };
        let mut text = Text { out: &mut out, style, section: None, is_summed_up: None, brevity: None };
        in_order(shown.entries(), style).into_iter().try_for_each(|entry| match entry {
            ShownPart::Sentence(role, words) => text.sentence(*role, words),
            ShownPart::Table(table) => text.table(table),
            ShownPart::Picture(picture) => text.picture(picture),
            _ => Ok(()),
        })
    },
};

/// Returns the parts in the order of a terminal. A person who reads it now finds the answer and the trust in it before the
/// lines that scripts search for, if there are several.
fn in_order<'s>(entries: &'s [ShownPart], style: &Style) -> Vec<&'s ShownPart> {
    let mut ordered: Vec<&ShownPart> = Vec::new();
    let is_screen = style.terminal.audience == Audience::Person && style.level > Level::Quiet;
    let is = |entry: &ShownPart, wanted| matches!(entry, ShownPart::Sentence(role, _) if *role == wanted);
    let is_chapter = |entry: &ShownPart| is(entry, Role::Page(PageRole::Chapter));
    for chapter in entries.chunk_by(|_, next| !is_chapter(next)) {
        let is_line = |entry: &&ShownPart| is(entry, Role::Line);
        let end = |entry: &ShownPart| matches!(entry, ShownPart::Sentence(Role::Trust | Role::Brief(_), _));
        let (front, rest) = chapter.split_at(chapter.iter().rposition(end).map_or(0, |end| end + 1));
        let lines: Vec<&ShownPart> = vector(front.iter().filter(is_line));
        if is_screen && lines.len() > 1 {
            ordered.extend(front.iter().filter(|entry| !is_line(entry)).chain(lines).chain(rest));
        } else {
            ordered.extend(chapter);
        }
    }
    ordered
}

/// The maximum length of lines; longer ones are hard to read even in a wide terminal.
const LONGEST_LINE: usize = 100;
/// The width up to which tables are not split, even if the terminal is narrower.
const LEAST_LINE: usize = 40;
/// The number of blanks between columns.
const GAP: usize = 2;

/// The width that wrapped words leave to a value or its interval, with the blanks before them.
const VALUE: usize = 20;

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
    /// The parts behind the line that refers to the details, once it has been written.
    brevity: Option<Brevity>,
}

/// The parts that follow the line that refers to the details.
#[derive(Default)]
struct Brevity {
    has_table: bool,
    has_picture: bool,
}

impl Text<'_> {
    /// Begins a part, with a blank line between sections.
    fn begin(&mut self, section: PartKind) -> fmt::Result {
        let last = self.section.replace(section);
        // Every table and picture stands by itself.
        let apart = last
            .is_some_and(|last| last != section || matches!(section, PartKind::Table | PartKind::Picture));
        if apart { self.out.write_char('\n') } else { Ok(()) }
    }

    /// Returns whether a part is left out because it is in a chapter, and the reader has not asked for everything: a
    /// terminal has only room for the part before the chapters.
    fn is_left_out(&self) -> bool {
        self.is_summed_up == Some(true) && self.style.level < Level::Verbose
    }

    /// Returns whether a table or a picture is one of the details: after the line that refers to them, only the first
    /// table and the first picture follow.
    fn is_detail(&mut self, part: fn(&mut Brevity) -> &mut bool) -> bool {
        self.brevity.as_mut().is_some_and(|brevity| core::mem::replace(part(brevity), true))
    }

    fn columns(&self) -> usize {
        self.style.terminal.columns.min(LONGEST_LINE)
    }

    /// Writes a paragraph, after its label if it has one.
    fn paragraph(&mut self, label: &str, in_list: bool, words: &str) -> fmt::Result {
        let width = self.columns();
        let mut column = 0;
        if !label.is_empty() {
            write!(self.out, "{label}: ")?;
            column = label.len() + 2;
        }
        let indent = if in_list || column > 0 { 2 } else { 0 };
        let mut wrap = Wrap::new(self.out, width, indent, column);
        // Words are replaced before they are wrapped: in ASCII they are longer.
        Ascii { out: &mut wrap, unicode: self.style.terminal.unicode }.write_str(words)?;
        wrap.finish()
    }

    fn sentence(&mut self, role: Role, words: &str) -> fmt::Result {
        if role == Role::Page(PageRole::Chapter) {
            let is_begun = self.section.is_some();
            self.is_summed_up.get_or_insert(is_begun);
        }
        // A brief line before it replaces the provenance.
        let may_be_brief = self.brevity.is_some() || !matches!(role, Role::Provenance(_));
        let are_brief = may_be_brief
            && self.style.terminal.audience != Audience::File
            && self.style.level < Level::Verbose;
        let Some((level, label)) = role.in_text(are_brief) else { return Ok(()) };
        if self.style.level < level || self.is_left_out() {
            return Ok(());
        }
        let section = match role {
            Role::Line => PartKind::Lines,
            Role::Answer | Role::Trust | Role::Finding | Role::Aside => PartKind::Answer,
            Role::Missing => PartKind::Missing,
            _ => PartKind::Method,
        };
        if let Role::Brief(_) = role {
            self.brevity = Some(Brevity::default());
        }
        self.begin(section)?;
        match role {
            Role::Line => writeln!(self.out, "{words}"),
            _ => self.paragraph(label, section == PartKind::Method, words),
        }
    }

    fn table(&mut self, table: &ShownTable) -> fmt::Result {
        if self.style.level < table.level || self.is_left_out() || !table.has_rows() {
            return Ok(());
        }
        let is_detail = self.is_detail(|brevity| &mut brevity.has_table);
        if is_detail && table.level > Level::Quiet {
            return Ok(());
        }
        self.begin(PartKind::Table)?;
        let Terminal { columns, unicode, .. } = self.style.terminal;
        write_table(self.out, table, columns.max(LEAST_LINE), unicode)
    }

    fn picture(&mut self, picture: &Picture) -> fmt::Result {
        if self.style.level < Level::Normal || self.is_left_out() {
            return Ok(());
        }
        if self.is_detail(|brevity| &mut brevity.has_picture) {
            return Ok(());
        }
        self.begin(PartKind::Picture)?;
        let terminal = Terminal { columns: self.columns(), ..self.style.terminal };
        match picture {
            Picture::Chart(chart) => plot::write(self.out, chart, terminal),
            Picture::Matrix(matrix) => heatmap::write(self.out, matrix, terminal),
        }
    }
}

/// Writes a table. If it is wider than `limit`, it is split into parts, and each part begins with the columns of
/// words. Later parts are without the rows that have nothing but these words there, and a part without rows is left out.
fn write_table(out: &mut dyn Write, table: &ShownTable, limit: usize, unicode: bool) -> fmt::Result {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for row in &table.rows {
        let mut cells = Vec::new();
        row.iter().for_each(|cell| cells.push(format!("{}", ascii(cell, unicode))));
        rows.push(cells);
    }
    let columns = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut widths = vec![0; columns];
    for row in &rows {
        for (wide, cell) in widths.iter_mut().zip(row) {
            *wide = width(cell).max(*wide);
        }
    }
    wrap::line(out, &table.caption, limit)?;
    let sum = |widths: &[usize]| -> usize { widths.iter().map(|wide| GAP + wide).sum() };
    // Words that leave no room for values, or for the first column before them, are wrapped.
    let mut first = 0;
    for (column, wide) in widths.iter_mut().enumerate().take(table.words) {
        let longest = |row: &Vec<String>| row.get(column)?.split(' ').map(str::len).max();
        if first + *wide + VALUE > limit {
            let longest = table.rows.iter().filter_map(longest).max().unwrap_or(0);
            *wide = longest.max(limit / 2 - GAP).min(*wide);
        }
        first = if column == 0 { GAP + *wide } else { first };
    }
    let together = |columns: Range<usize>| sum(widths.get(columns).unwrap_or_default());
    // The columns of words identify the rows, so each part repeats them; the first one alone if all leave too little
    // room for the rest.
    let words = together(0..table.words);
    let mut from = 0;
    while from < columns {
        let all = 2 * words <= limit || words + together(from..columns) <= limit;
        let kept = if all { table.words } else { 1 }.min(from);
        let (mut to, mut used) = (from, together(0..kept));
        while to < columns && (to == from || used + together(to..to + 1) <= limit) {
            used += together(to..to + 1);
            to += 1;
        }
        let is_filled = |cells: &&Vec<String>| {
            from == 0 || cells.get(from..to).unwrap_or_default().iter().any(|cell| !cell.is_empty())
        };
        let below: Vec<_> = vector(rows.iter().skip(1).filter(is_filled));
        if from == 0 || !below.is_empty() {
            out.write_str(if from > 0 { "\n" } else { "" })?;
            for cells in rows.iter().take(1).filter(is_filled).chain(below) {
                let shown = cells.iter().zip(&widths).enumerate();
                let shown = shown.filter(|(column, _)| *column < kept || (from..to).contains(column));
                let mut lines = Vec::new();
                for (column, (cell, &wide)) in shown {
                    let mut wrapped = String::new();
                    let is_word = column < table.words;
                    wrap::line(&mut wrapped, cell, if is_word { wide } else { usize::MAX })?;
                    lines.push((wrapped, wide, is_word));
                }
                let height = lines.iter().map(|(cell, ..)| cell.lines().count()).max().unwrap_or(0).max(1);
                for index in 0..height {
                    let part = lines.iter().map(|(text, wide, is_word)| {
                        (text.lines().nth(index).unwrap_or_default(), *wide, *is_word)
                    });
                    line(out, part)?;
                }
            }
        }
        from = to;
    }
    Ok(())
}

/// Writes cells with the widths of their columns; those of words begin at the left.
fn line<'c>(out: &mut dyn Write, cells: impl Iterator<Item = (&'c str, usize, bool)>) -> fmt::Result {
    let mut blanks = GAP;
    for (cell, wide, is_word) in cells {
        let taken = width(&cell);
        if taken == 0 {
            blanks += GAP + wide;
            continue;
        }
        // Blanks are written together with the next cell, so that no line ends with blanks.
        let rest = wide.saturating_sub(taken);
        let (before, behind) = if is_word { (0, rest) } else { (rest, 0) };
        let before = blanks + before;
        blanks = GAP + behind;
        write!(out, "{:before$}{cell}", "")?;
    }
    out.write_char('\n')
}
