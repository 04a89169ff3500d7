//! Writes one subject of a description as HTML, and ignores the rest.
//!
//! The heading of a subject is written together with the first of its parts, so that an empty subject has no heading.
//! This module depends neither on the order of subjects nor on a result.

use core::fmt::{self, Write};

use latency_core::text::Text;

use super::once::{Occurrence, RepeatedSentences};
use super::points;
use crate::report::document::{Document, DocumentTable, Level, PageRole, Picture, Role};
use crate::report::escape::{Escaping, InMarkup, markup};
use crate::report::svg;

/// A subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The first sentence of a role.
    First(Role),
    /// The first figure, without its note.
    Headline,
    /// The answers and the trust, as plain text.
    Description,
    /// The reliability of the result.
    Trust,
    /// The figures.
    Figures,
    /// The answers of the chapters, each with the trust in it and a link.
    Answers,
    /// The facts about the machine.
    Facts,
    /// The first chart of all chapters, once more.
    Lead,
    /// Answers and further findings.
    Findings,
    /// The lines that scripts look for.
    Lines,
    /// Warnings that lower the reliability, with remedies.
    Warnings,
    /// Warnings that do not lower the reliability.
    Notes,
    /// Parts that were not measured.
    Missing,
    /// Pictures.
    Pictures,
    /// Tables for every reader.
    Tables,
    /// Tables for readers who want everything.
    LongTables,
    /// The method.
    Method,
    /// Details for readers who want everything.
    Details,
    /// The names of chapters, as links to them.
    Chapters,
}

/// The frame of a subject.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The heading, which may be empty.
    heading: &'static str,
    /// The markup before the first part.
    before: &'static str,
    /// The markup after the last part.
    after: &'static str,
}

/// Returns a frame with a heading.
pub const fn frame(heading: &'static str, before: &'static str, after: &'static str) -> Frame {
    Frame { heading, before, after }
}

/// Returns a frame without a heading.
pub const fn around(before: &'static str, after: &'static str) -> Frame {
    frame("", before, after)
}

/// The frame that adds nothing.
pub const BARE: Frame = around("", "");

/// The place of a subject in a page.
#[derive(Clone, Copy, Debug)]
pub struct SubjectPlace {
    /// The chapter, from 1; 0 is the part before the first chapter.
    pub chapter: u32,
    /// The role whose first sentence is already written elsewhere.
    pub but_first: Option<Role>,
}

/// Everything that the subjects of a page share.
pub struct Shared {
    /// The number of pictures so far; each has a number of its own.
    pub pictures: u32,
    /// The sentences that chapters may share.
    pub repeated: RepeatedSentences,
}

/// A document that writes one subject of a description.
pub struct Taking<'o> {
    out: &'o mut dyn Write,
    want: Want,
    frame: Frame,
    place: SubjectPlace,
    shared: &'o mut Shared,
    /// The chapter that is being described.
    chapter: u32,
    /// The number of sentences of the wanted role so far, written or not.
    passed: u32,
    /// The number of written parts.
    taken: u32,
    /// True if the last warning was written, so that its remedy is wanted too.
    warned: bool,
    failed: fmt::Result,
}

/// The minimum number of cells of a matrix that a page draws: a single number is a figure.
const FEWEST_CELLS: usize = 2;
/// The maximum number of cells of a matrix that a page draws: each cell needs 100 bytes, and with more cells the
/// letters would be too small to read.
const MOST_CELLS: usize = 1024;

impl<'o> Taking<'o> {
    /// Makes a document that has written nothing yet.
    pub fn new(
        out: &'o mut dyn Write,
        want: Want,
        frame: Frame,
        place: SubjectPlace,
        shared: &'o mut Shared,
    ) -> Taking<'o> {
        let (chapter, passed, taken, warned, failed) = (0, 0, 0, false, Ok(()));
        Taking { out, want, frame, place, shared, chapter, passed, taken, warned, failed }
    }

    /// Ends the subject, and returns the number of its parts.
    pub fn finish(self) -> Result<u32, fmt::Error> {
        self.failed?;
        if self.taken > 0 {
            self.out.write_str(self.frame.after)?;
        }
        Ok(self.taken)
    }

    /// Writes a part unless something failed before.
    fn keep(&mut self, write: &dyn Fn(&mut Self) -> fmt::Result) {
        if self.failed.is_ok() {
            self.taken += 1;
            self.failed = if self.taken == 1 { self.begin() } else { Ok(()) };
        }
        if self.failed.is_ok() {
            self.failed = write(self);
        }
    }

    /// Writes a sentence between two pieces of markup. If a third one is given, it ends the emphasis of the words before
    /// the first comma or colon.
    fn part(
        &mut self,
        before: fmt::Arguments<'_>,
        words: fmt::Arguments<'_>,
        emphasis: Option<&'static str>,
        behind: &'static str,
    ) {
        self.keep(&|taking| {
            taking.out.write_fmt(before)?;
            let mut marked = Marked { out: taking.out, end: emphasis };
            marked.write_fmt(words)?;
            let end = marked.end.unwrap_or_default();
            taking.out.write_str(end)?;
            taking.out.write_str(behind)
        });
    }

    /// Writes the heading and the markup before the first part.
    fn begin(&mut self) -> fmt::Result {
        let Frame { heading, before, .. } = self.frame;
        let level = if self.place.chapter == 0 { 2 } else { 3 };
        if !heading.is_empty() {
            writeln!(self.out, "<h{level}>{heading}</h{level}>")?;
        }
        self.out.write_str(before)
    }

    /// Returns whether the present part of the description belongs to another chapter.
    fn is_of_another(&self) -> bool {
        self.chapter != self.place.chapter
    }

    /// Returns whether a sentence is the first of its role and already written elsewhere.
    fn is_elsewhere(&mut self, role: Role) -> bool {
        self.passed += u32::from(self.place.but_first == Some(role));
        self.place.but_first == Some(role) && self.passed == 1
    }

    /// Returns whether a sentence belongs here. One that several chapters share belongs to the page, and only once.
    fn belongs(&mut self, role: Role, words: fmt::Arguments<'_>) -> bool {
        if let (Role::Page(PageRole::Remedy), Want::Warnings | Want::Notes) = (role, self.want) {
            return self.warned;
        }
        self.warned = false;
        let is_here = !self.is_of_another();
        let may_repeat = matches!(
            (role, self.want),
            (Role::Method(_) | Role::Provenance(_), Want::Method)
                | (Role::Page(PageRole::Warning(_)), Want::Notes)
        );
        if self.chapter == 0 || !may_repeat {
            return is_here;
        }
        match self.shared.repeated.get(role, words) {
            Some(occurrence @ Occurrence::Several) if self.place.chapter == 0 => {
                *occurrence = Occurrence::Written;
                true
            }
            Some(Occurrence::Single) | None => is_here,
            Some(_) => false,
        }
    }

    /// Writes a sentence if it is wanted.
    fn choose(&mut self, role: Role, words: fmt::Arguments<'_>) {
        let chapter = self.taken + 1;
        match (role, self.want) {
            (_, Want::First(wanted)) if role == wanted && self.taken == 0 => {
                self.part(format_args!(""), words, None, "");
            }
            (Role::Page(PageRole::Figure(_, level)), Want::Headline) if self.taken == 0 => {
                let figure = Text::<96>::of(words);
                let figure = figure.as_str();
                let comma = figure.bytes().position(|byte| byte == b',').unwrap_or(figure.len());
                let figure = figure.get(..comma).unwrap_or_default();
                let poor = if level == "poor" { " (poor)" } else { "" };
                self.part(format_args!(""), format_args!("{figure}{poor}"), None, "");
            }
            (Role::Answer, Want::Description) => self.part(format_args!(""), words, None, " "),
            (Role::Trust, Want::Description) => self.part(format_args!("Trust: "), words, None, ". "),
            (Role::Page(PageRole::ChapterAnswer(question, _)), Want::Description) => {
                self.part(format_args!("{question}: "), words, None, " ");
            }
            (Role::Trust, Want::Trust) => {
                let level = level_of(words);
                let before = format_args!("<p class=\"trust {level}\">Trust: <b>{} ", symbol(level));
                self.part(before, words, Some("</b>"), "</p>\n");
            }
            (Role::Page(PageRole::Figure(label, level)), Want::Figures) => {
                let before =
                    format_args!("<div class=\"{level}\"><dt>{label} {}</dt>\n<dd><b>", Badge(level));
                self.part(before, words, Some("</b>"), "</dd></div>\n");
            }
            (Role::Page(PageRole::ChapterAnswer(question, level)), Want::Answers) => {
                let before = format_args!(
                    "<div class=\"{level}\"><dt><a href=\"#chapter-{chapter}\">{question}</a> {}</dt>\n<dd>",
                    Badge(level)
                );
                self.part(before, words, None, "</dd></div>\n");
            }
            (Role::Page(PageRole::Fact(label)), Want::Facts) => {
                let before = format_args!("<tr><th scope=\"row\">{label}</th><td>");
                self.part(before, words, None, "</td></tr>\n");
            }
            (Role::Answer | Role::Finding, Want::Findings) if self.is_elsewhere(role) => {}
            (Role::Answer | Role::Finding, Want::Findings) | (Role::Missing, Want::Missing) => {
                self.part(format_args!("<p>"), words, None, "</p>\n");
            }
            (Role::Line, Want::Lines) if !self.is_elsewhere(role) => {
                self.part(format_args!("<li>"), words, None, "</li>\n");
            }
            (Role::Method(label) | Role::Provenance(label), Want::Method)
            | (Role::Detail(label), Want::Details) => {
                let label = if label.is_empty() { "Note" } else { label };
                self.part(format_args!("<dt>{label}</dt>\n<dd>"), words, None, "</dd>\n");
            }
            (Role::Page(PageRole::Warning(severity)), Want::Warnings | Want::Notes) => {
                self.warned = (severity == "note") == (self.want == Want::Notes);
                if self.warned {
                    self.part(format_args!("<dt class=\"{severity}\">"), words, None, "</dt>\n");
                }
            }
            (Role::Page(PageRole::Remedy), Want::Warnings | Want::Notes) => {
                self.part(format_args!("<dd>"), words, None, "</dd>\n");
            }
            _ => {}
        }
    }

    /// Writes the first chart of all chapters as a link to its chapter. It is drawn in the chapter, and here shown once
    /// more.
    fn lead(&mut self, picture: Picture<'_>) {
        let Some(number) = self.numbered(&picture) else { return };
        let Picture::Chart(chart) = picture else { return };
        self.passed += 1;
        if self.passed > 1 || self.chapter == 0 {
            return;
        }
        self.keep(&|taking| {
            let mut beginning = Beginning(Text::EMPTY);
            svg::write(&mut beginning, picture, svg::FramePlace::Page(number))?;
            let mut parts = beginning.0.as_str().split('"');
            let _ = parts.find(|part| part.ends_with("viewBox="));
            let (view, title) = (parts.next().unwrap_or_default(), InMarkup(chart.title));
            writeln!(
                taking.out,
                "<figure class=\"lead\"><a href=\"#chapter-{}\"><svg role=\"img\" \
                 aria-labelledby=\"lead\" viewBox=\"{view}\"><title id=\"lead\">{title}</title><use \
                 href=\"#chart-{number}\"/></svg></a></figure>",
                taking.chapter
            )
        });
    }

    /// Returns the number of a picture, or `None` if a page does not draw it.
    fn numbered(&mut self, picture: &Picture<'_>) -> Option<u32> {
        let cells = match picture {
            Picture::Matrix(matrix) => matrix.rows.len() * matrix.columns.len(),
            Picture::Chart(_) => FEWEST_CELLS,
        };
        if !(FEWEST_CELLS..=MOST_CELLS).contains(&cells) {
            return None;
        }
        self.shared.pictures += 1;
        Some(self.shared.pictures)
    }
}

/// Returns the level of trust at the beginning of a sentence; its first letter is enough.
fn level_of(words: fmt::Arguments<'_>) -> &'static str {
    let mut beginning = Beginning(Text::EMPTY);
    // Keeping cannot fail.
    let _ = beginning.write_fmt(words);
    match beginning.0.as_str().as_bytes().first() {
        Some(b'g') => "good",
        Some(b'f') => "fair",
        _ => "poor",
    }
}

/// Returns the symbol of a level of trust, for readers who do not see its colour.
fn symbol(level: &str) -> &'static str {
    match level {
        "good" => "\u{2713}",
        "fair" => "!",
        _ => "\u{2717}",
    }
}

/// A level of trust with its symbol and colour.
struct Badge<'l>(&'l str);

impl fmt::Display for Badge<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "<b class=\"badge {}\">{} {0}</b>", self.0, symbol(self.0))
    }
}

/// A writer of a sentence, in which the markup that ends an emphasis takes the place of the first comma or colon.
struct Marked<'o> {
    out: &'o mut dyn Write,
    end: Option<&'static str>,
}

impl Write for Marked<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        part.chars().try_for_each(|character| match self.end {
            Some(end) if matches!(character, ',' | ':') => {
                self.end = None;
                self.out.write_str(end)
            }
            _ => markup(self.out, character),
        })
    }
}

/// A writer that keeps the beginning of a text.
struct Beginning(Text<256>);

impl Write for Beginning {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        let _ = part.chars().all(|character| self.0.push(character));
        Ok(())
    }
}

fn write_table(out: &mut dyn Write, table: &DocumentTable<'_>) -> fmt::Result {
    out.write_str("<div class=\"scroll\">\n<table>\n")?;
    if !table.caption.is_empty() {
        writeln!(out, "<caption>{}</caption>", InMarkup(table.caption))?;
    }
    out.write_str("<thead>\n<tr>")?;
    table.each(&mut |row, column, cell| {
        if column == 0 && row > 0 {
            out.write_str(if row == 1 { "</tr>\n</thead>\n<tbody>\n<tr>" } else { "</tr>\n<tr>" })?;
        }
        let (name, scope) = match (row, column) {
            (0, _) => ("th", " scope=\"col\""),
            (_, 0) => ("th", " scope=\"row\""),
            _ => ("td", ""),
        };
        let class = if column < table.words { " class=\"word\"" } else { "" };
        write!(out, "<{name}{scope}{class}>")?;
        let mut word = Text::<8>::EMPTY;
        let fits = write!(word, "{cell}").is_ok();
        match word.as_str() {
            level @ ("good" | "fair" | "poor") if fits && row > 0 => write!(out, "{}", Badge(level))?,
            _ => write!(Escaping(out, markup), "{cell}")?,
        }
        write!(out, "</{name}>")
    })?;
    out.write_str("</tr>\n</tbody>\n</table>\n</div>\n")
}

impl Document for Taking<'_> {
    fn wants_pictures(&self) -> bool {
        true
    }

    fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        if role == Role::Page(PageRole::Chapter) {
            self.chapter += 1;
            if self.want == Want::Chapters {
                let chapter = self.chapter;
                let before = format_args!("<a href=\"#chapter-{chapter}\">");
                return self.part(before, words, None, "</a>\n");
            }
        }
        if self.belongs(role, words) {
            self.choose(role, words);
        }
    }

    fn table(&mut self, table: &DocumentTable<'_>) {
        let wanted = if table.level == Level::Verbose { Want::LongTables } else { Want::Tables };
        if self.want == wanted && !self.is_of_another() && table.has_rows() {
            self.keep(&|taking| write_table(taking.out, table));
        }
    }

    fn picture(&mut self, picture: Picture<'_>) {
        if self.want == Want::Lead {
            return self.lead(picture);
        }
        if self.want != Want::Pictures || self.is_of_another() {
            return;
        }
        match (self.numbered(&picture), picture) {
            (Some(number), _) => self.keep(&|taking| {
                taking.out.write_str("<figure>\n")?;
                svg::write(taking.out, picture, svg::FramePlace::Page(number))?;
                points::link(taking.out, picture, number)?;
                taking.out.write_str("</figure>\n")
            }),
            (None, Picture::Matrix(matrix)) if matrix.rows.len() > 1 => self.keep(&|taking| {
                let title = InMarkup(matrix.title);
                writeln!(taking.out, "<p>{title}: too many cells for a page, not for --format=svg.</p>")
            }),
            (None, _) => {}
        }
    }
}
