//! HTML: one self-contained page, which has no script and loads nothing.
//!
//! A page follows the questions of its reader: the verdict, figures and their reliability, a chart, the answers, the
//! machine, warnings and their remedies, pictures, tables, the method, the command, and the data for programs. The page is
//! also XML, so that any parser can read it. This module does not depend on any result.

mod points;
mod style;

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::json::Layout;
use latency_core::sort::sort_by;

use super::document::{Level, PageRole, Part, Role};
use super::escape::{Escaping, InMarkup, markup_lines};
use super::format::{Format, Purpose};
use super::shown::{Picture, Shown, ShownPart, ShownTable, sentences};
use super::{json, svg};

/// A self-contained page.
pub const HTML: Format = Format {
    name: "html",
    extension: "html",
    purpose: Purpose::Page,
    write: |out, _, shown| {
        let mut page = Page { out, chapters: Chapter::all(shown.entries()), pictures: 0 };
        page.head()?;
        page.body()?;
        page.data(shown)
    },
};

/// The minimum number of cells of a matrix that a page draws: a single number is a figure.
const FEWEST_CELLS: usize = 2;
/// The maximum number of cells of a matrix that a page draws: each cell needs 100 bytes, and with more cells the
/// letters would be too small to read.
const MOST_CELLS: usize = 1024;

/// The icon of a page: 16 by 16 pixels of two colours, as PNG.
const ICON: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEUKWKb///9kIX5oAAAAKElEQVR42mNggAM2BgY5BgYLBgYFMEpgYD/AwN7AwMPAUMHAUABVBAA7RQM/6E3zPgAAAABJRU5ErkJggg==";

/// A part of a page: the part before the first chapter, or a chapter.
struct Chapter<'s> {
    /// The sentences that belong to it.
    sentences: Vec<(Role, &'s str)>,
    /// All its parts.
    entries: &'s [ShownPart],
}

impl<'s> Chapter<'s> {
    /// Returns the part before the first chapter, then the chapters. Sentences of the method, and notes with their remedies,
    /// that several chapters have belong to the part before.
    fn all(entries: &'s [ShownPart]) -> Vec<Chapter<'s>> {
        let is_chapter =
            |entry: &ShownPart| matches!(entry, ShownPart::Sentence(Role::Page(PageRole::Chapter), _));
        let first = entries.iter().position(is_chapter).unwrap_or(entries.len());
        let (before, chapters) = entries.split_at(first);
        let chapters: Vec<&[ShownPart]> = chapters.chunk_by(|_, next| !is_chapter(next)).collect();
        let mut told: Vec<(&str, &str)> = Vec::new();
        for (role, words) in chapters.iter().flat_map(|chapter| sentences(chapter)) {
            told.extend(shared_label(role).map(|label| (label, words)));
        }
        sort_by(&mut told, Ord::cmp);
        // The sentences of several chapters, each with whether it has its place.
        let mut repeated: Vec<((&str, &str), bool)> = Vec::new();
        for same in told.chunk_by(|one, other| one == other) {
            if let [first, _, ..] = same {
                repeated.push((*first, false));
            }
        }
        let mut all = Vec::from([Chapter { sentences: sentences(before).collect(), entries: before }]);
        let mut shared = Vec::new();
        for entries in chapters {
            let mut own = Vec::new();
            // A remedy belongs to the warning before it.
            let mut place = Some(false);
            for (role, words) in sentences(entries) {
                if role != Role::Page(PageRole::Remedy) {
                    let label = shared_label(role).unwrap_or_default();
                    let known = repeated.binary_search_by_key(&(label, words), |(known, _)| *known);
                    place = match known.ok().and_then(|index| repeated.get_mut(index)) {
                        None => Some(false),
                        Some((_, has_place)) => (!core::mem::replace(has_place, true)).then_some(true),
                    };
                }
                match place {
                    Some(true) => shared.push((role, words)),
                    Some(false) => own.push((role, words)),
                    None => {}
                }
            }
            all.push(Chapter { sentences: own, entries });
        }
        if let Some(page) = all.first_mut() {
            page.sentences.append(&mut shared);
        }
        all
    }

    /// Returns the first sentence of a role.
    fn first(&self, wanted: Role) -> Option<&'s str> {
        self.sentences.iter().find(|(role, _)| *role == wanted).map(|(_, words)| *words)
    }

    /// Returns the role of the sentence that is the verdict, and its words: the answer; if there is none, the first finding if
    /// the result has several lines, and its line if it has one.
    fn verdict(&self) -> (Option<Role>, &'s str) {
        let lines = self.sentences.iter().filter(|(role, _)| *role == Role::Line).count();
        let other = if lines > 1 { Role::Finding } else { Role::Line };
        let found = [Role::Answer, other].into_iter().find_map(|role| Some((Some(role), self.first(role)?)));
        found.unwrap_or((None, self.first(Role::Page(PageRole::Title)).unwrap_or("Result")))
    }

    /// Returns the name of a chapter.
    fn name(&self) -> &'s str {
        self.first(Role::Page(PageRole::Chapter)).unwrap_or_default()
    }

    fn pictures(&self) -> impl Iterator<Item = &'s Picture> + use<'s> {
        self.entries.iter().filter_map(ShownPart::picture)
    }
}

/// Returns the label of a sentence that a page has once, however many chapters have it.
fn shared_label(role: Role) -> Option<&'static str> {
    match role {
        Role::Method(label) | Role::Provenance(label) => Some(label),
        Role::Page(PageRole::Warning(label @ "note")) => Some(label),
        _ => None,
    }
}

/// A writer that writes the beginning of a frame before its first part.
struct Framed<'o> {
    out: &'o mut dyn Write,
    before: Option<&'o str>,
}

impl Write for Framed<'_> {
    fn write_str(&mut self, part: &str) -> fmt::Result {
        self.before.take().map_or(Ok(()), |before| self.out.write_str(before))?;
        self.out.write_str(part)
    }
}

/// A function that writes a sentence if it is one of its subject.
type WriteSentence<'w> = &'w mut dyn FnMut(&mut dyn Write, Role, &str) -> fmt::Result;

struct Page<'p> {
    out: &'p mut dyn Write,
    /// The part before the first chapter, then the chapters.
    chapters: Vec<Chapter<'p>>,
    /// The number of pictures so far; each has a number of its own.
    pictures: u32,
}

impl<'p> Page<'p> {
    /// Writes the sentences of a chapter that belong to a subject within a frame; nothing without any.
    fn list(&mut self, number: usize, [before, behind]: [&str; 2], write: WriteSentence<'_>) -> fmt::Result {
        let mut framed = Framed { out: self.out, before: Some(before) };
        for (role, words) in self.chapters.get(number).iter().flat_map(|chapter| &chapter.sentences) {
            write(&mut framed, *role, words)?;
        }
        if framed.before.is_none() { self.out.write_str(behind) } else { Ok(()) }
    }

    fn front(&self) -> &Chapter<'p> {
        // There is a part before the chapters, even if it is empty.
        &self.chapters[0]
    }

    fn head(&mut self) -> fmt::Result {
        let front = self.front();
        let figure = front.sentences.iter().find_map(|(role, words)| match role {
            Role::Page(PageRole::Figure(_, level)) => {
                let figure = words.split(',').next().unwrap_or_default();
                Some(format!("{figure}{}", if *level == "poor" { " (poor)" } else { "" }))
            }
            _ => None,
        });
        let mut title = figure.unwrap_or_else(|| front.verdict().1.into());
        if let Some(cpu) = front.first(Role::Page(PageRole::Fact("CPU"))) {
            title = format!("{title} \u{b7} {cpu}");
        }
        let experiment = front.first(Role::Page(PageRole::Title));
        let before = if experiment.is_some() { " " } else { "" };
        title = format!("{title} \u{b7} latency-bench{before}{}", experiment.unwrap_or_default());
        let title = InMarkup(title.as_str());
        write!(
            self.out,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
             <meta http-equiv=\"Content-Security-Policy\" \
             content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
             <link rel=\"icon\" href=\"data:image/png;base64,{ICON}\"/>\n\
             <meta property=\"og:type\" content=\"article\"/>\n\
             <title>{title}</title>\n<meta property=\"og:title\" content=\"{title}\"/>\n"
        )?;
        let frame = ["<meta name=\"description\" property=\"og:description\" content=\"", "\"/>\n"];
        self.list(0, frame, &mut |out, role, words| {
            let words = InMarkup(words);
            match role {
                Role::Answer => write!(out, "{words} "),
                Role::Trust => write!(out, "Trust: {words}. "),
                Role::Page(PageRole::ChapterAnswer(question, _)) => write!(out, "{question}: {words} "),
                _ => Ok(()),
            }
        })?;
        write!(self.out, "<style>\n{}{}</style>\n</head>\n<body>\n", style::SHEET, svg::SHEET)
    }

    fn body(&mut self) -> fmt::Result {
        self.out.write_str("<header>\n<p class=\"what\">latency-bench")?;
        let front = self.front();
        let verdict = front.verdict().1;
        let [title, origin] = [PageRole::Title, PageRole::Origin].map(|role| front.first(Role::Page(role)));
        if let Some(title) = title {
            write!(self.out, " <b>{}</b>", InMarkup(title))?;
        }
        if let Some(origin) = origin {
            write!(self.out, " on {}", InMarkup(origin))?;
        }
        write!(self.out, "</p>\n<h1>{}</h1>\n</header>\n", InMarkup(verdict))?;
        let mut links = Framed { out: self.out, before: Some("<nav>\n") };
        for (number, chapter) in self.chapters.iter().enumerate().skip(1) {
            writeln!(links, "<a href=\"#chapter-{number}\">{}</a>", InMarkup(chapter.name()))?;
        }
        if links.before.is_none() {
            self.out.write_str("</nav>\n")?;
        }
        self.out.write_str("<main>\n<div class=\"top\">\n<div>\n")?;
        self.conclusions(0)?;
        self.out.write_str("</div>\n")?;
        self.lead()?;
        let mut number = 0;
        self.list(0, ["<dl class=\"answers\">\n", "</dl>\n"], &mut |out, role, words| {
            let Role::Page(PageRole::ChapterAnswer(question, level)) = role else { return Ok(()) };
            number += 1;
            write!(
                out,
                "<div class=\"{level}\"><dt><a href=\"#chapter-{number}\">{question}</a> {}</dt>\n\
                 <dd>{}</dd></div>\n",
                Badge(level),
                InMarkup(words)
            )
        })?;
        let frame = ["<table class=\"facts\">\n<caption>System</caption>\n<tbody>\n", "</tbody>\n</table>\n"];
        self.list(0, frame, &mut |out, role, words| match role {
            Role::Page(PageRole::Fact(label)) => {
                writeln!(out, "<tr><th scope=\"row\">{label}</th><td>{}</td></tr>", InMarkup(words))
            }
            _ => Ok(()),
        })?;
        self.out.write_str("</div>\n")?;
        self.evidence(0)?;
        for number in 1..self.chapters.len() {
            let Some(chapter) = self.chapters.get(number) else { break };
            writeln!(
                self.out,
                "<section id=\"chapter-{number}\">\n<h2>{}</h2>\n<p class=\"finding\">{}</p>",
                InMarkup(chapter.name()),
                InMarkup(chapter.verdict().1)
            )?;
            self.conclusions(number)?;
            self.evidence(number)?;
            self.ending(number)?;
            self.out.write_str("</section>\n")?;
        }
        self.ending(0)
    }

    /// Writes the figures, the trust in them, and further findings.
    fn conclusions(&mut self, number: usize) -> fmt::Result {
        self.list(number, ["<dl class=\"figures\">\n", "</dl>\n"], &mut |out, role, words| match role {
            Role::Page(PageRole::Figure(label, level)) => writeln!(
                out,
                "<div class=\"{level}\"><dt>{label} {}</dt>\n<dd><b>{}</dd></div>",
                Badge(level),
                Emphasised(words)
            ),
            _ => Ok(()),
        })?;
        self.list(number, [""; 2], &mut |out, role, words| match (role, level_of(words)) {
            (Role::Trust, level) => writeln!(
                out,
                "<p class=\"trust {level}\">Trust: <b>{} {}</p>",
                symbol(level),
                Emphasised(words)
            ),
            _ => Ok(()),
        })?;
        self.but_verdict(number, [""; 2], &[Role::Answer, Role::Finding], "p")
    }

    /// Writes the sentences with one of some roles as elements, but not the verdict.
    fn but_verdict(&mut self, number: usize, frame: [&str; 2], roles: &[Role], element: &str) -> fmt::Result {
        let mut verdict = self.chapters.get(number).and_then(|chapter| chapter.verdict().0);
        self.list(number, frame, &mut |out, role, words| {
            if verdict == Some(role) {
                verdict = None;
                return Ok(());
            }
            match roles.contains(&role) {
                true => writeln!(out, "<{element}>{}</{element}>", InMarkup(words)),
                false => Ok(()),
            }
        })
    }

    /// Writes warnings and their remedies: the notes, or the others.
    fn warnings(&mut self, number: usize, frame: [&str; 2], of_notes: bool) -> fmt::Result {
        let mut is_written = false;
        self.list(number, frame, &mut |out, role, words| match role {
            Role::Page(PageRole::Remedy) if is_written => writeln!(out, "<dd>{}</dd>", InMarkup(words)),
            Role::Page(PageRole::Warning(severity)) if (severity == "note") == of_notes => {
                is_written = true;
                writeln!(out, "<dt class=\"{severity}\">{}</dt>", InMarkup(words))
            }
            _ => {
                is_written = false;
                Ok(())
            }
        })
    }

    /// Writes the tables: those for readers who want everything, or the others.
    fn tables(&mut self, number: usize, [before, behind]: [&str; 2], long: bool) -> fmt::Result {
        let mut framed = Framed { out: self.out, before: Some(before) };
        for entry in self.chapters.get(number).map_or(&[][..], |chapter| chapter.entries) {
            match entry {
                ShownPart::Table(table) if (table.level == Level::Verbose) == long && table.has_rows() => {
                    write_table(&mut framed, table)?;
                }
                _ => {}
            }
        }
        if framed.before.is_none() { self.out.write_str(behind) } else { Ok(()) }
    }

    /// Writes the lines, warnings, pictures and tables.
    fn evidence(&mut self, number: usize) -> fmt::Result {
        self.but_verdict(number, ["<ul class=\"lines\">\n", "</ul>\n"], &[Role::Line], "li")?;
        let heading = heading(number, "Warnings", "<dl class=\"warnings\">\n");
        self.warnings(number, [&heading, "</dl>\n"], false)?;
        let heading = self::heading(number, "Not measured", "");
        self.list(number, [&heading, ""], &mut |out, role, words| match role {
            Role::Missing => writeln!(out, "<p>{}</p>", InMarkup(words)),
            _ => Ok(()),
        })?;
        let Some(pictures) = self.chapters.get(number).map(Chapter::pictures) else { return Ok(()) };
        for picture in pictures {
            self.picture(picture)?;
        }
        self.tables(number, [""; 2], false)
    }

    /// Writes the method, the command, notes, long tables and details.
    fn ending(&mut self, number: usize) -> fmt::Result {
        let method = match number {
            0 => [&heading(0, "Placement, health, method", "<dl>\n"), "</dl>\n"],
            _ => [
                "<details>\n<summary>Placement, health, method of this chapter</summary>\n<dl>\n",
                "</dl>\n</details>\n",
            ],
        };
        self.list(number, method, &mut |out, role, words| match role {
            Role::Method(label) | Role::Provenance(label) => labelled(out, label, words),
            _ => Ok(()),
        })?;
        let command = heading(number, "To repeat it", "<pre class=\"command\">");
        self.list(number, [&command, "</pre>\n"], &mut |out, role, words| match role {
            Role::Page(PageRole::Command) => write!(out, "{}", InMarkup(words)),
            _ => Ok(()),
        })?;
        let notes = ["<details>\n<summary>Notes</summary>\n<dl>\n", "</dl>\n</details>\n"];
        self.warnings(number, notes, true)?;
        let everything = ["<details>\n<summary>Everything measured</summary>\n", "</details>\n"];
        self.tables(number, everything, true)?;
        let details = ["<details>\n<summary>Details</summary>\n<dl>\n", "</dl>\n</details>\n"];
        self.list(number, details, &mut |out, role, words| match role {
            Role::Detail(label) => labelled(out, label, words),
            _ => Ok(()),
        })
    }

    fn picture(&mut self, picture: &Picture) -> fmt::Result {
        if is_drawn(picture) {
            self.pictures += 1;
            self.out.write_str("<figure>\n")?;
            svg::write(self.out, picture, svg::FramePlace::Page(self.pictures))?;
            points::link(self.out, picture, self.pictures)?;
            return self.out.write_str("</figure>\n");
        }
        match picture {
            Picture::Matrix(matrix) if matrix.rows.len() > 1 => {
                let title = InMarkup(matrix.title.as_str());
                writeln!(self.out, "<p>{title}: too many cells for a page, not for --format=svg.</p>")
            }
            _ => Ok(()),
        }
    }

    /// Writes the first chart as a link to its chapter, where it is drawn; here it is shown once more.
    fn lead(&mut self) -> fmt::Result {
        let pictures = self.chapters.iter().enumerate();
        let pictures = pictures.flat_map(|(number, chapter)| {
            chapter.pictures().filter(|picture| is_drawn(picture)).map(move |picture| (number, picture))
        });
        let first = (1..).zip(pictures).find_map(|(number, (chapter, picture))| match picture {
            Picture::Chart(chart) => Some((number, chapter, picture, &chart.title)),
            Picture::Matrix(_) => None,
        });
        let Some((number, chapter @ 1.., picture, title)) = first else { return Ok(()) };
        let mut drawn = String::new();
        svg::write(&mut drawn, picture, svg::FramePlace::Page(number))?;
        let mut parts = drawn.split('"');
        let _ = parts.find(|part| part.ends_with("viewBox="));
        let (view, title) = (parts.next().unwrap_or_default(), InMarkup(title.as_str()));
        writeln!(
            self.out,
            "<figure class=\"lead\"><a href=\"#chapter-{chapter}\"><svg role=\"img\" \
             aria-labelledby=\"lead\" viewBox=\"{view}\"><title id=\"lead\">{title}</title><use \
             href=\"#chart-{number}\"/></svg></a></figure>"
        )
    }

    /// Writes the document for programs, and the end of the page.
    fn data(&mut self, shown: &Shown) -> fmt::Result {
        let left_out = self.front().first(Role::Page(PageRole::Data));
        self.out.write_str("<details>\n<summary>The same as JSON")?;
        if let Some(words) = left_out {
            write!(self.out, ", {}", InMarkup(words))?;
        }
        self.out.write_str("</summary>\n<pre>")?;
        let out = &mut Escaping(self.out, markup_lines);
        match left_out {
            Some(_) => json::write(out, Layout::Lines, without_points(shown.entries()))?,
            None => json::write(out, Layout::Lines, shown.entries())?,
        }
        self.out.write_str("</pre>\n</details>\n</main>\n</body>\n</html>\n")
    }
}

/// Returns everything but the lists of points.
fn without_points(entries: &[ShownPart]) -> impl Iterator<Item = &ShownPart> {
    // The depth within a list of points; 0 outside.
    let mut depth = 0_usize;
    entries.iter().filter(move |entry| {
        let is_list = match entry {
            ShownPart::Begin(Part::Records(_)) => true,
            ShownPart::Begin(Part::List(field)) => {
                matches!(field.key, "node_pairs" | "points" | "distributions")
            }
            _ => false,
        };
        let is_inside = depth > 0 || is_list;
        match entry {
            ShownPart::Begin(_) if is_inside => depth += 1,
            ShownPart::End if is_inside => depth -= 1,
            _ => {}
        }
        !is_inside
    })
}

/// Returns whether a page draws a picture.
fn is_drawn(picture: &Picture) -> bool {
    match picture {
        Picture::Matrix(matrix) => {
            (FEWEST_CELLS..=MOST_CELLS).contains(&(matrix.rows.len() * matrix.columns.len()))
        }
        Picture::Chart(_) => true,
    }
}

/// Returns a heading of the page, or of a chapter, and what follows it.
fn heading(number: usize, words: &str, behind: &str) -> String {
    let level = if number == 0 { 2 } else { 3 };
    format!("<h{level}>{words}</h{level}>\n{behind}")
}

/// Writes a sentence with its label.
fn labelled(out: &mut dyn Write, label: &str, words: &str) -> fmt::Result {
    let label = if label.is_empty() { "Note" } else { label };
    writeln!(out, "<dt>{label}</dt>\n<dd>{}</dd>", InMarkup(words))
}

/// Returns the level of trust at the beginning of a sentence; its first letter is enough.
fn level_of(words: &str) -> &'static str {
    match words.as_bytes().first() {
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

/// A sentence in which the end of an emphasis takes the place of the first comma or colon.
struct Emphasised<'w>(&'w str);

impl fmt::Display for Emphasised<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (strong, rest) = self.0.split_once([',', ':']).unwrap_or((self.0, ""));
        write!(out, "{}</b>{}", InMarkup(strong), InMarkup(rest))
    }
}

fn write_table(out: &mut dyn Write, table: &ShownTable) -> fmt::Result {
    out.write_str("<div class=\"scroll\">\n<table>\n")?;
    if !table.caption.is_empty() {
        writeln!(out, "<caption>{}</caption>", InMarkup(table.caption.as_str()))?;
    }
    for (row, cells) in table.rows.iter().enumerate() {
        out.write_str(match row {
            0 => "<thead>\n<tr>",
            1 => "</tr>\n</thead>\n<tbody>\n<tr>",
            _ => "</tr>\n<tr>",
        })?;
        for (column, cell) in cells.iter().enumerate() {
            let (name, scope) = match (row, column) {
                (0, _) => ("th", " scope=\"col\""),
                (_, 0) => ("th", " scope=\"row\""),
                _ => ("td", ""),
            };
            let class = if column < table.words { " class=\"word\"" } else { "" };
            write!(out, "<{name}{scope}{class}>")?;
            match cell.as_str() {
                level @ ("good" | "fair" | "poor") if row > 0 => write!(out, "{}", Badge(level))?,
                cell => write!(out, "{}", InMarkup(cell))?,
            }
            write!(out, "</{name}>")?;
        }
    }
    out.write_str("</tr>\n</tbody>\n</table>\n</div>\n")
}

#[cfg(test)]
mod tests;
