//! HTML: one self-contained page, which has no script and loads nothing.
//!
//! A page follows the questions of its reader: the verdict, figures and their reliability, a chart, the answers, the
//! machine, warnings and their remedies, pictures, tables, the method, the command, and the data for programs. The page is
//! also XML, so that any parser can read it. This module does not depend on any result.

mod points;
mod style;

use alloc::collections::BTreeMap;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::json::Layout;

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
        let mut counts: BTreeMap<(&str, &str), usize> = BTreeMap::new();
        for (role, words) in chapters.iter().flat_map(|chapter| sentences(chapter)) {
            if let Some(label) = shared_label(role) {
                *counts.entry((label, words)).or_default() += 1;
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
                    let count = shared_label(role).and_then(|label| counts.get_mut(&(label, words)));
                    place = match count {
                        Some(0) => None,
                        Some(count @ 2..) => {
                            *count = 0;
                            Some(true)
                        }
                        _ => Some(false),
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

    /// Returns the markup of each sentence for which `write` returns any.
    fn parts(&self, write: &mut dyn FnMut(Role, &str) -> Option<String>) -> Vec<String> {
        let mut parts = Vec::new();
        self.sentences.iter().for_each(|(role, words)| parts.extend(write(*role, words)));
        parts
    }

    /// Returns the markup of each sentence with one of some roles, but not of the verdict.
    fn but_verdict(&self, roles: &[Role], [before, behind]: [&str; 2]) -> Vec<String> {
        let (verdict, _) = self.verdict();
        let mut is_verdict = true;
        self.parts(&mut |role, words| {
            if Some(role) == verdict && core::mem::take(&mut is_verdict) || !roles.contains(&role) {
                return None;
            }
            Some(format!("{before}{}{behind}", InMarkup(words)))
        })
    }

    /// Returns the markup of warnings and of their remedies: of notes, or of the others.
    fn warnings(&self, of_notes: bool) -> Vec<String> {
        let mut is_written = false;
        self.parts(&mut |role, words| match role {
            Role::Page(PageRole::Warning(severity)) => {
                is_written = (severity == "note") == of_notes;
                is_written.then(|| format!("<dt class=\"{severity}\">{}</dt>\n", InMarkup(words)))
            }
            Role::Page(PageRole::Remedy) if is_written => Some(format!("<dd>{}</dd>\n", InMarkup(words))),
            _ => {
                is_written = false;
                None
            }
        })
    }

    /// Returns the markup of sentences with a label, for which `label` returns it.
    fn labelled(&self, label: &dyn Fn(Role) -> Option<&'static str>) -> Vec<String> {
        self.parts(&mut |role, words| {
            let label = Some(label(role)?).filter(|label| !label.is_empty()).unwrap_or("Note");
            Some(format!("<dt>{label}</dt>\n<dd>{}</dd>\n", InMarkup(words)))
        })
    }

    /// Returns the markup of the tables, of those for readers who want everything or of the others.
    fn tables(&self, long: bool) -> Vec<String> {
        let tables = self.entries.iter().filter_map(|entry| match entry {
            ShownPart::Table(table) if (table.level == Level::Verbose) == long && table.has_rows() => {
                Some(table)
            }
            _ => None,
        });
        tables.map(|one| table(one)).collect()
    }

    fn pictures(&self) -> impl Iterator<Item = &'s Picture> + use<'s> {
        self.entries.iter().filter_map(|entry| match entry {
            ShownPart::Picture(picture) | ShownPart::PagePicture(picture) => Some(&**picture),
            _ => None,
        })
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

struct Page<'p> {
    out: &'p mut dyn Write,
    /// The part before the first chapter, then the chapters.
    chapters: Vec<Chapter<'p>>,
    /// The number of pictures so far; each has a number of its own.
    pictures: u32,
}

impl<'p> Page<'p> {
    /// Writes parts within a frame; nothing without parts.
    fn framed(&mut self, before: &str, parts: &[String], behind: &str) -> fmt::Result {
        if parts.is_empty() {
            return Ok(());
        }
        self.out.write_str(before)?;
        parts.iter().try_for_each(|part| self.out.write_str(part))?;
        self.out.write_str(behind)
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
        let mut title = figure.unwrap_or_else(|| front.verdict().1.to_string());
        if let Some(cpu) = front.first(Role::Page(PageRole::Fact("CPU"))) {
            title = format!("{title} \u{b7} {cpu}");
        }
        title += " \u{b7} latency-bench";
        if let Some(experiment) = front.first(Role::Page(PageRole::Title)) {
            title = format!("{title} {experiment}");
        }
        let about = front.parts(&mut |role, words| match role {
            Role::Answer => Some(format!("{words} ")),
            Role::Trust => Some(format!("Trust: {words}. ")),
            Role::Page(PageRole::ChapterAnswer(question, _)) => Some(format!("{question}: {words} ")),
            _ => None,
        });
        let (title, about) = (InMarkup(&title).to_string(), InMarkup(&about.concat()).to_string());
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
        if !about.is_empty() {
            writeln!(
                self.out,
                "<meta name=\"description\" property=\"og:description\" content=\"{about}\"/>"
            )?;
        }
        write!(self.out, "<style>\n{}{}</style>\n</head>\n<body>\n", style::SHEET, svg::SHEET)
    }

    fn body(&mut self) -> fmt::Result {
        let front = self.front();
        let title =
            front.first(Role::Page(PageRole::Title)).map(|title| format!(" <b>{}</b>", InMarkup(title)));
        let origin =
            front.first(Role::Page(PageRole::Origin)).map(|origin| format!(" on {}", InMarkup(origin)));
        let verdict = InMarkup(front.verdict().1).to_string();
        writeln!(
            self.out,
            "<header>\n<p class=\"what\">latency-bench{}{}</p>\n<h1>{verdict}</h1>\n</header>",
            title.unwrap_or_default(),
            origin.unwrap_or_default()
        )?;
        let names = self.chapters.iter().map(|chapter| chapter.first(Role::Page(PageRole::Chapter)));
        let links: Vec<String> = (0..)
            .zip(names)
            .filter_map(|(number, name)| {
                Some(format!("<a href=\"#chapter-{number}\">{}</a>\n", InMarkup(name?)))
            })
            .collect();
        self.framed("<nav>\n", &links, "</nav>\n")?;
        self.out.write_str("<main>\n<div class=\"top\">\n<div>\n")?;
        self.conclusions(0)?;
        self.out.write_str("</div>\n")?;
        self.lead()?;
        let mut number = 0;
        let answers = self.front().parts(&mut |role, words| {
            let Role::Page(PageRole::ChapterAnswer(question, level)) = role else { return None };
            number += 1;
            Some(format!(
                "<div class=\"{level}\"><dt><a href=\"#chapter-{number}\">{question}</a> {}</dt>\n\
                 <dd>{}</dd></div>\n",
                badge(level),
                InMarkup(words)
            ))
        });
        self.framed("<dl class=\"answers\">\n", &answers, "</dl>\n")?;
        let facts = self.front().parts(&mut |role, words| match role {
            Role::Page(PageRole::Fact(label)) => {
                Some(format!("<tr><th scope=\"row\">{label}</th><td>{}</td></tr>\n", InMarkup(words)))
            }
            _ => None,
        });
        let frame = "<table class=\"facts\">\n<caption>System</caption>\n<tbody>\n";
        self.framed(frame, &facts, "</tbody>\n</table>\n")?;
        self.out.write_str("</div>\n")?;
        self.evidence(0)?;
        for number in 1..self.chapters.len() {
            let Some(chapter) = self.chapters.get(number) else { break };
            let name = chapter.first(Role::Page(PageRole::Chapter)).unwrap_or_default();
            let (name, verdict) = (InMarkup(name), InMarkup(chapter.verdict().1));
            writeln!(
                self.out,
                "<section id=\"chapter-{number}\">\n<h2>{name}</h2>\n<p class=\"finding\">{verdict}</p>"
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
        let chapter = &self.chapters[number];
        let figures = chapter.parts(&mut |role, words| match role {
            Role::Page(PageRole::Figure(label, level)) => Some(format!(
                "<div class=\"{level}\"><dt>{label} {}</dt>\n<dd><b>{}</dd></div>\n",
                badge(level),
                emphasised(words)
            )),
            _ => None,
        });
        let trust = chapter.parts(&mut |role, words| {
            let level = level_of(words);
            (role == Role::Trust).then(|| {
                let words = emphasised(words);
                format!("<p class=\"trust {level}\">Trust: <b>{} {words}</p>\n", symbol(level))
            })
        });
        let findings = chapter.but_verdict(&[Role::Answer, Role::Finding], ["<p>", "</p>\n"]);
        self.framed("<dl class=\"figures\">\n", &figures, "</dl>\n")?;
        self.framed("", &trust, "")?;
        self.framed("", &findings, "")
    }

    /// Writes the lines, warnings, pictures and tables.
    fn evidence(&mut self, number: usize) -> fmt::Result {
        let chapter = &self.chapters[number];
        let lines = chapter.but_verdict(&[Role::Line], ["<li>", "</li>\n"]);
        let warnings = chapter.warnings(false);
        let missing = chapter
            .parts(&mut |role, words| (role == Role::Missing).then(|| format!("<p>{}</p>\n", InMarkup(words))));
        let (pictures, tables) = (chapter.pictures(), chapter.tables(false));
        self.framed("<ul class=\"lines\">\n", &lines, "</ul>\n")?;
        self.framed(&(heading(number, "Warnings") + "<dl class=\"warnings\">\n"), &warnings, "</dl>\n")?;
        self.framed(&heading(number, "Not measured"), &missing, "")?;
        for picture in pictures {
            self.picture(picture)?;
        }
        self.framed("", &tables, "")
    }

    /// Writes the method, the command, notes, long tables and details.
    fn ending(&mut self, number: usize) -> fmt::Result {
        let chapter = &self.chapters[number];
        let method = chapter.labelled(&|role| match role {
            Role::Method(label) | Role::Provenance(label) => Some(label),
            _ => None,
        });
        let details = chapter.labelled(&|role| match role {
            Role::Detail(label) => Some(label),
            _ => None,
        });
        let (notes, tables) = (chapter.warnings(true), chapter.tables(true));
        let command =
            chapter.first(Role::Page(PageRole::Command)).map(|command| InMarkup(command).to_string());
        match number {
            0 => self.framed(&(heading(0, "Placement, health, method") + "<dl>\n"), &method, "</dl>\n")?,
            _ => {
                let own = "<details>\n<summary>Placement, health, method of this chapter</summary>\n<dl>\n";
                self.framed(own, &method, "</dl>\n</details>\n")?;
            }
        }
        let repeated = heading(number, "To repeat it") + "<pre class=\"command\">";
        self.framed(&repeated, command.as_slice(), "</pre>\n")?;
        self.framed("<details>\n<summary>Notes</summary>\n<dl>\n", &notes, "</dl>\n</details>\n")?;
        let everything = "<details>\n<summary>Everything measured</summary>\n";
        self.framed(everything, &tables, "</details>\n")?;
        self.framed("<details>\n<summary>Details</summary>\n<dl>\n", &details, "</dl>\n</details>\n")
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
                let title = InMarkup(&matrix.title);
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
        let (view, title) = (parts.next().unwrap_or_default(), InMarkup(title));
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
        let without = left_out.map(|words| format!(", {}", InMarkup(words))).unwrap_or_default();
        write!(self.out, "<details>\n<summary>The same as JSON{without}</summary>\n<pre>")?;
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

/// Returns a heading of the page, or of a chapter.
fn heading(number: usize, words: &str) -> String {
    let level = if number == 0 { 2 } else { 3 };
    format!("<h{level}>{words}</h{level}>\n")
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

/// Returns a level of trust with its symbol and colour.
fn badge(level: &str) -> String {
    format!("<b class=\"badge {level}\">{} {level}</b>", symbol(level))
}

/// Returns the markup of a sentence in which the end of an emphasis takes the place of the first comma or colon.
fn emphasised(words: &str) -> String {
    let (strong, rest) = words.split_once([',', ':']).unwrap_or((words, ""));
    format!("{}</b>{}", InMarkup(strong), InMarkup(rest))
}

/// Returns the markup of a table.
fn table(table: &ShownTable) -> String {
    let mut out = String::from("<div class=\"scroll\">\n<table>\n");
    if !table.caption.is_empty() {
        out += &format!("<caption>{}</caption>\n", InMarkup(&table.caption));
    }
    for (row, cells) in table.rows.iter().enumerate() {
        out += match row {
            0 => "<thead>\n<tr>",
            1 => "</tr>\n</thead>\n<tbody>\n<tr>",
            _ => "</tr>\n<tr>",
        };
        for (column, cell) in cells.iter().enumerate() {
            let (name, scope) = match (row, column) {
                (0, _) => ("th", " scope=\"col\""),
                (_, 0) => ("th", " scope=\"row\""),
                _ => ("td", ""),
            };
            let class = if column < table.words { " class=\"word\"" } else { "" };
            let cell = match cell.as_str() {
                level @ ("good" | "fair" | "poor") if row > 0 => badge(level),
                cell => InMarkup(cell).to_string(),
            };
            out += &format!("<{name}{scope}{class}>{cell}</{name}>");
        }
    }
    out + "</tr>\n</tbody>\n</table>\n</div>\n"
}

#[cfg(test)]
mod tests;
