//! Writes one subject of a description as HTML, and ignores the rest.
//!
//! The heading of a subject is written together with the first of its parts, so that an empty subject has no heading.
//! This module depends neither on the order of subjects nor on a result.

use core::fmt::{self, Write};

use crate::report::document::{Document, DocumentTable, Level, PageRole, Picture, Role};
use crate::report::escape::{Escaping, InMarkup, markup};
use crate::report::svg;

/// A subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Want {
    /// The first sentence of a role.
    First(Role<'static>),
    /// The reliability of the result.
    Trust,
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

/// The frame of a subject: a heading, which may be empty, and the markup before and after the parts.
pub type Frame = [&'static str; 3];

/// The frame that adds nothing.
pub const BARE: Frame = ["", "", ""];

/// The place of a subject in a page.
#[derive(Clone, Copy, Debug)]
pub struct SubjectPlace {
    /// The chapter, from 1; 0 is the part before the first chapter.
    pub chapter: u32,
    /// The role whose first sentence is already written elsewhere.
    pub but_first: Option<Role<'static>>,
}

/// A document that writes one subject of a description.
pub struct Taking<'o> {
    out: &'o mut dyn Write,
    want: Want,
    frame: Frame,
    place: SubjectPlace,
    pictures: &'o mut u32,
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

/// The markup before and after a sentence.
type Around = (&'static str, &'static str);

/// The maximum number of cells of a matrix that a page draws: each cell needs 100 bytes, and with more cells the
/// letters would be too small to read.
const MOST_CELLS: usize = 1024;

const PLAIN: Around = ("", "");
const PARAGRAPH: Around = ("<p>", "</p>\n");

impl<'o> Taking<'o> {
    /// Makes a document that has written nothing yet.
    pub fn new(
        out: &'o mut dyn Write,
        want: Want,
        frame: Frame,
        place: SubjectPlace,
        pictures: &'o mut u32,
    ) -> Taking<'o> {
        let (chapter, passed, taken, warned, failed) = (0, 0, 0, false, Ok(()));
        Taking { out, want, frame, place, pictures, chapter, passed, taken, warned, failed }
    }

    /// Ends the subject, and returns the number of its parts.
    pub fn finish(self) -> Result<u32, fmt::Error> {
        self.failed?;
        if self.taken > 0 {
            self.out.write_str(self.frame[2])?;
        }
        Ok(self.taken)
    }

    /// Writes a part unless something failed before.
    fn keep(&mut self, write: impl FnOnce(&mut Self) -> fmt::Result) {
        if self.failed.is_ok() {
            self.taken += 1;
            self.failed = if self.taken == 1 { self.begin() } else { Ok(()) };
        }
        if self.failed.is_ok() {
            self.failed = write(self);
        }
    }

    /// Writes the heading and the markup before the first part.
    fn begin(&mut self) -> fmt::Result {
        let [heading, before, _] = self.frame;
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

    /// Returns the label of a sentence of this role and the markup around it; `None` if the sentence is not wanted.
    fn around(&mut self, role: Role<'_>) -> Option<(&'static str, Around)> {
        const TERM: Around = ("<dd>", "</dd>\n");
        let paragraph = Some(("", PARAGRAPH));
        let term = |label: &'static str| Some((if label.is_empty() { "Note" } else { label }, TERM));
        match (role, self.want) {
            (Role::Missing, Want::Missing) => paragraph,
            (_, Want::First(wanted)) if role == wanted => {
                self.passed += 1;
                (self.passed == 1).then_some(("", PLAIN))
            }
            (Role::Answer | Role::Finding, Want::Findings) => paragraph.filter(|_| !self.is_elsewhere(role)),
            (Role::Line, Want::Lines) => (!self.is_elsewhere(role)).then_some(("", ("<li>", "</li>\n"))),
            (Role::Method(&label) | Role::Provenance(&label), Want::Method)
            | (Role::Detail(&label), Want::Details) => term(label),
            (Role::Page(&PageRole::Warning(severity)), Want::Warnings | Want::Notes) => {
                self.warned = (severity == "note") == (self.want == Want::Notes);
                let around = match severity {
                    "poor" => ("<dt class=\"poor\">", "</dt>\n"),
                    "fair" => ("<dt class=\"fair\">", "</dt>\n"),
                    _ => ("<dt>", "</dt>\n"),
                };
                self.warned.then_some(("", around))
            }
            (Role::Page(&PageRole::Remedy), Want::Warnings | Want::Notes) => {
                self.warned.then_some(("", TERM))
            }
            _ => None,
        }
    }

    /// Returns whether a sentence is the first of its role and already written elsewhere.
    fn is_elsewhere(&mut self, role: Role<'_>) -> bool {
        self.passed += u32::from(self.place.but_first == Some(role));
        self.place.but_first == Some(role) && self.passed == 1
    }

    fn trust(&mut self, words: fmt::Arguments<'_>) -> fmt::Result {
        // The first letter of `good`, `fair` or `poor` chooses the colour.
        let mut first = FirstCharacter(None);
        let _ = first.write_fmt(words);
        let class = match first.0 {
            Some('g') => "good",
            Some('f') => "fair",
            _ => "poor",
        };
        write!(self.out, "<p class=\"trust {class}\">Trust: ")?;
        Escaping(self.out, markup).write_fmt(words)?;
        self.out.write_str("</p>\n")
    }
}

/// A writer that keeps the first character.
struct FirstCharacter(Option<char>);

impl Write for FirstCharacter {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.0 = self.0.or(part.chars().next());
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
        write!(Escaping(out, markup), "{cell}")?;
        write!(out, "</{name}>")
    })?;
    out.write_str("</tr>\n</tbody>\n</table>\n</div>\n")
}

impl Document for Taking<'_> {
    fn wants_pictures(&self) -> bool {
        true
    }

    fn sentence(&mut self, role: Role<'_>, words: fmt::Arguments<'_>) {
        if role == Role::Page(&PageRole::Chapter) {
            self.chapter += 1;
            if self.want == Want::Chapters {
                self.keep(|taking| {
                    write!(taking.out, "<li><a href=\"#chapter-{}\">", taking.chapter)?;
                    Escaping(taking.out, markup).write_fmt(words)?;
                    taking.out.write_str("</a></li>\n")
                });
            }
        }
        if self.is_of_another() {
            return;
        }
        if (role, self.want) == (Role::Trust, Want::Trust) {
            return self.keep(|taking| taking.trust(words));
        }
        let Some((label, (before, after))) = self.around(role) else { return };
        self.keep(|taking| {
            if !label.is_empty() {
                writeln!(taking.out, "<dt>{label}</dt>")?;
            }
            taking.out.write_str(before)?;
            Escaping(taking.out, markup).write_fmt(words)?;
            taking.out.write_str(after)
        });
    }

    fn table(&mut self, table: &DocumentTable<'_>) {
        let wanted = if table.level == Level::Verbose { Want::LongTables } else { Want::Tables };
        if self.want == wanted && !self.is_of_another() && table.has_rows() {
            self.keep(|taking| write_table(taking.out, table));
        }
    }

    fn picture(&mut self, picture: Picture<'_>) {
        if self.want == Want::Pictures && !self.is_of_another() {
            self.keep(|taking| {
                if let Picture::Matrix(matrix) = picture
                    && matrix.rows.len() * matrix.columns.len() > MOST_CELLS
                {
                    let title = InMarkup(matrix.title);
                    return writeln!(
                        taking.out,
                        "<p>{title}: too many cells for a page, not for --format=svg.</p>"
                    );
                }
                *taking.pictures += 1;
                taking.out.write_str("<figure>\n")?;
                svg::write(taking.out, picture, svg::FramePlace::Page(*taking.pictures))?;
                taking.out.write_str("</figure>\n")
            });
        }
    }
}
