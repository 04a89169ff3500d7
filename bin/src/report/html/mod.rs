//! HTML: one self-contained page, which has no script and loads nothing.
//!
//! A page follows the questions of its reader: the verdict and its reliability, warnings and their remedies, pictures,
//! tables, the method, the command, and the data for programs. The result is described once for each of these subjects,
//! and `taking` picks the parts that belong to it. The page is also XML, so that any parser can read it. This module
//! does not depend on any result.

mod style;
mod taking;

use core::fmt::{self, Write};

use latency_core::json::Layout;

use super::document::{Describe, PageRole, Role};
use super::escape::{Escaping, markup_lines};
use super::format::{Format, Purpose};
use super::{json, svg};
use taking::{BARE, Frame, SubjectPlace, Taking, Want};

/// A self-contained page.
pub const HTML: Format = Format {
    name: "html",
    extension: "html",
    purpose: Purpose::Page,
    write: |out, _, describe| {
        let place = SubjectPlace { chapter: 0, but_first: None };
        let mut page = Page { out, describe, pictures: 0, place };
        page.head()?;
        page.body()?;
        page.data()
    },
};

/// The experiment.
const TITLE: Want = Want::First(Role::Page(&PageRole::Title));
/// The machine and the time.
const ORIGIN: Want = Want::First(Role::Page(&PageRole::Origin));

/// The subjects of a page or chapter after its verdict, in their order.
const SUBJECTS: [(Want, Frame); 11] = [
    (Want::Findings, BARE),
    (Want::Lines, ["", "<ul class=\"lines\">\n", "</ul>\n"]),
    (Want::Warnings, ["Warnings", "<dl class=\"warnings\">\n", "</dl>\n"]),
    (Want::Missing, ["Not measured", "", ""]),
    (Want::Pictures, BARE),
    (Want::Tables, BARE),
    (Want::Method, ["Placement, health, method", "<dl>\n", "</dl>\n"]),
    (Want::First(Role::Page(&PageRole::Command)), ["To repeat it", "<pre class=\"command\">", "</pre>\n"]),
    (Want::Notes, ["", "<details>\n<summary>Notes</summary>\n<dl>\n", "</dl>\n</details>\n"]),
    (Want::LongTables, ["", "<details>\n<summary>Everything measured</summary>\n", "</details>\n"]),
    (Want::Details, ["", "<details>\n<summary>Details</summary>\n<dl>\n", "</dl>\n</details>\n"]),
];

struct Page<'p> {
    out: &'p mut dyn Write,
    describe: Describe<'p>,
    /// The pictures so far; each has a number of its own.
    pictures: u32,
    place: SubjectPlace,
}

impl Page<'_> {
    /// Writes the parts of a description that belong to one subject within its frame, and returns their number.
    fn take(&mut self, want: Want, frame: Frame) -> Result<u32, fmt::Error> {
        let mut taking = Taking::new(self.out, want, frame, self.place, &mut self.pictures);
        (self.describe)(&mut taking);
        taking.finish()
    }

    fn head(&mut self) -> fmt::Result {
        self.out.write_str(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n<title>latency-bench",
        )?;
        self.take(TITLE, ["", " ", ""])?;
        self.take(ORIGIN, ["", " on ", ""])?;
        write!(self.out, "</title>\n<style>\n{}{}</style>\n</head>\n<body>\n", style::SHEET, svg::SHEET)
    }

    fn body(&mut self) -> fmt::Result {
        self.out.write_str("<header>\n<p class=\"what\">latency-bench")?;
        self.take(TITLE, ["", " <b>", "</b>"])?;
        self.take(ORIGIN, ["", " on ", ""])?;
        self.out.write_str("</p>\n<h1>")?;
        self.verdict()?;
        self.out.write_str("</h1>\n")?;
        self.take(Want::Trust, BARE)?;
        self.out.write_str("</header>\n<main>\n")?;
        self.subjects()?;
        let contents = ["Contents", "<ol class=\"contents\">\n", "</ol>\n"];
        for chapter in 1..=self.take(Want::Chapters, contents)? {
            self.place = SubjectPlace { chapter, but_first: None };
            write!(self.out, "<section id=\"chapter-{chapter}\">\n<p class=\"what\">")?;
            self.take(TITLE, ["", "<b>", "</b>"])?;
            self.out.write_str("</p>\n<h2>")?;
            self.verdict()?;
            self.out.write_str("</h2>\n")?;
            self.take(Want::Trust, BARE)?;
            self.subjects()?;
            self.out.write_str("</section>\n")?;
        }
        Ok(())
    }

    fn subjects(&mut self) -> fmt::Result {
        SUBJECTS.iter().try_for_each(|(want, frame)| self.take(*want, *frame).map(drop))
    }

    /// Writes the answer. If there is none, writes the first finding if the result has several lines, and its line if
    /// it has one.
    fn verdict(&mut self) -> fmt::Result {
        let others = SubjectPlace { but_first: Some(Role::Line), ..self.place };
        let mut nowhere = Nowhere;
        let mut others = Taking::new(&mut nowhere, Want::Lines, BARE, others, &mut self.pictures);
        (self.describe)(&mut others);
        let several = others.finish()? > 0;
        let order = if several { [Role::Answer, Role::Finding] } else { [Role::Answer, Role::Line] };
        for role in order {
            if self.take(Want::First(role), BARE)? > 0 {
                self.place.but_first = Some(role);
                return Ok(());
            }
        }
        if self.take(TITLE, BARE)? == 0 {
            self.out.write_str("Result")?;
        }
        Ok(())
    }

    /// Writes the document for programs, and the end of the page.
    fn data(&mut self) -> fmt::Result {
        self.place = SubjectPlace { chapter: 0, but_first: None };
        self.out.write_str("<details>\n<summary>The same as JSON")?;
        self.take(Want::First(Role::Page(&PageRole::Data)), ["", ", ", ""])?;
        self.out.write_str("</summary>\n<pre>")?;
        json::write(&mut Escaping(self.out, markup_lines), Layout::Lines, true, self.describe)?;
        self.out.write_str("</pre>\n</details>\n</main>\n</body>\n</html>\n")
    }
}

/// A writer that discards everything, for parts that are only counted.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
