//! HTML: one self-contained page, which has no script and loads nothing.
//!
//! A page follows the questions of its reader: the verdict, figures and their reliability, a chart, the answers, the
//! machine, warnings and their remedies, pictures, tables, the method, the command, and the data for programs. The result
//! is described once for each of these subjects, and `taking` picks the parts that belong to it. The page is also XML, so that any parser can read it. This module
//! does not depend on any result.

mod once;
mod points;
mod style;
mod taking;

use core::fmt::{self, Write};

use latency_core::json::Layout;

use super::document::{Describe, PageRole, Role};
use super::escape::{Escaping, markup_lines};
use super::format::{Format, Purpose};
use super::{json, svg};
use once::RepeatedSentences;
use taking::{BARE, Frame, Shared, SubjectPlace, Taking, Want, around, frame};

/// A self-contained page.
pub const HTML: Format = Format {
    name: "html",
    extension: "html",
    purpose: Purpose::Page,
    write: |out, _, describe| {
        let place = SubjectPlace { chapter: 0, but_first: None };
        let mut repeated = RepeatedSentences::new();
        describe(&mut repeated);
        let mut shared = Shared { pictures: 0, repeated };
        let mut page = Page { out, describe, shared: &mut shared, place };
        page.head()?;
        page.body()?;
        page.data()
    },
};

/// The experiment.
const TITLE: Want = Want::First(Role::Page(PageRole::Title));
/// The host and the time.
const ORIGIN: Want = Want::First(Role::Page(PageRole::Origin));
/// The processor.
const CPU: Want = Want::First(Role::Page(PageRole::Fact("CPU")));

/// The answers to the first question of a reader.
const FIGURES: Frame = around("<dl class=\"figures\">\n", "</dl>\n");
const ANSWERS: Frame = around("<dl class=\"answers\">\n", "</dl>\n");
const FACTS: Frame =
    around("<table class=\"facts\">\n<caption>System</caption>\n<tbody>\n", "</tbody>\n</table>\n");
const CONTENTS: Frame = around("<nav>\n", "</nav>\n");
/// The method in a chapter, without the sentences that other chapters share.
const OWN_METHOD: Frame = around(
    "<details>\n<summary>Placement, health, method of this chapter</summary>\n<dl>\n",
    "</dl>\n</details>\n",
);

/// The evidence of a page or chapter, in its order.
const EVIDENCE: [(Want, Frame); 5] = [
    (Want::Lines, around("<ul class=\"lines\">\n", "</ul>\n")),
    (Want::Warnings, frame("Warnings", "<dl class=\"warnings\">\n", "</dl>\n")),
    (Want::Missing, frame("Not measured", "", "")),
    (Want::Pictures, BARE),
    (Want::Tables, BARE),
];

/// The subjects at the end of a page or chapter, in their order.
const ENDING: [(Want, Frame); 5] = [
    (Want::Method, frame("Placement, health, method", "<dl>\n", "</dl>\n")),
    (
        Want::First(Role::Page(PageRole::Command)),
        frame("To repeat it", "<pre class=\"command\">", "</pre>\n"),
    ),
    (Want::Notes, around("<details>\n<summary>Notes</summary>\n<dl>\n", "</dl>\n</details>\n")),
    (Want::LongTables, around("<details>\n<summary>Everything measured</summary>\n", "</details>\n")),
    (Want::Details, around("<details>\n<summary>Details</summary>\n<dl>\n", "</dl>\n</details>\n")),
];

/// The icon of a page: 16 by 16 pixels of two colours, as PNG.
const ICON: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEUKWKb///9kIX5oAAAAKElEQVR42mNggAM2BgY5BgYLBgYFMEpgYD/AwN7AwMPAUMHAUABVBAA7RQM/6E3zPgAAAABJRU5ErkJggg==";

struct Page<'p> {
    out: &'p mut dyn Write,
    describe: Describe<'p>,
    shared: &'p mut Shared,
    place: SubjectPlace,
}

impl Page<'_> {
    /// Writes the parts of a description that belong to one subject within its frame, and returns their number.
    fn take(&mut self, want: Want, frame: Frame) -> Result<u32, fmt::Error> {
        let mut taking = Taking::new(self.out, want, frame, self.place, self.shared);
        (self.describe)(&mut taking);
        taking.finish()
    }

    fn head(&mut self) -> fmt::Result {
        write!(
            self.out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <link rel=\"icon\" href=\"data:image/png;base64,{ICON}\"/>\n\
             <meta property=\"og:type\" content=\"article\"/>\n"
        )?;
        for [before, behind] in
            [["<title>", "</title>\n"], ["<meta property=\"og:title\" content=\"", "\"/>\n"]]
        {
            self.out.write_str(before)?;
            if self.take(Want::Headline, BARE)? == 0 {
                self.verdict()?;
            }
            self.take(CPU, around(" · ", ""))?;
            self.out.write_str(" \u{b7} latency-bench")?;
            self.take(TITLE, around(" ", ""))?;
            self.out.write_str(behind)?;
        }
        self.take(
            Want::Description,
            around("<meta name=\"description\" property=\"og:description\" content=\"", "\"/>\n"),
        )?;
        write!(self.out, "<style>\n{}{}</style>\n</head>\n<body>\n", style::SHEET, svg::SHEET)
    }

    fn body(&mut self) -> fmt::Result {
        self.out.write_str("<header>\n<p class=\"what\">latency-bench")?;
        self.take(TITLE, around(" <b>", "</b>"))?;
        self.take(ORIGIN, around(" on ", ""))?;
        self.out.write_str("</p>\n<h1>")?;
        self.verdict()?;
        self.out.write_str("</h1>\n</header>\n")?;
        let chapters = self.take(Want::Chapters, CONTENTS)?;
        self.out.write_str("<main>\n<div class=\"top\">\n<div>\n")?;
        self.conclusions()?;
        self.out.write_str("</div>\n")?;
        self.take(Want::Lead, BARE)?;
        self.shared.pictures = 0;
        self.take(Want::Answers, ANSWERS)?;
        self.take(Want::Facts, FACTS)?;
        self.out.write_str("</div>\n")?;
        self.subjects(&EVIDENCE)?;
        for chapter in 1..=chapters {
            self.place = SubjectPlace { chapter, but_first: None };
            write!(self.out, "<section id=\"chapter-{chapter}\">\n<h2>")?;
            self.take(Want::First(Role::Page(PageRole::Chapter)), BARE)?;
            self.out.write_str("</h2>\n<p class=\"finding\">")?;
            self.verdict()?;
            self.out.write_str("</p>\n")?;
            self.conclusions()?;
            self.subjects(&EVIDENCE)?;
            self.take(Want::Method, OWN_METHOD)?;
            let [_, others @ ..] = ENDING;
            self.subjects(&others)?;
            self.out.write_str("</section>\n")?;
        }
        self.place = SubjectPlace { chapter: 0, but_first: None };
        self.subjects(&ENDING)
    }

    /// Writes the figures, the trust in them, and further findings.
    fn conclusions(&mut self) -> fmt::Result {
        self.subjects(&[(Want::Figures, FIGURES), (Want::Trust, BARE), (Want::Findings, BARE)])
    }

    fn subjects(&mut self, subjects: &[(Want, Frame)]) -> fmt::Result {
        subjects.iter().try_for_each(|(want, frame)| self.take(*want, *frame).map(drop))
    }

    /// Writes the answer. If there is none, writes the first finding if the result has several lines, and its line if
    /// it has one.
    fn verdict(&mut self) -> fmt::Result {
        let others = SubjectPlace { but_first: Some(Role::Line), ..self.place };
        let mut nowhere = Nowhere;
        let mut others = Taking::new(&mut nowhere, Want::Lines, BARE, others, self.shared);
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
        self.out.write_str("<details>\n<summary>The same as JSON")?;
        self.take(Want::First(Role::Page(PageRole::Data)), around(", ", ""))?;
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
