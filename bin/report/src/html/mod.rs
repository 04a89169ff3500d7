//! HTML: one self-contained page, which has no script and loads nothing.
//!
//! A page follows the questions of its reader: the verdict, figures and their reliability, a chart, the answers, the
//! machine, warnings and their remedies, pictures, tables, the method, the command, and the data for programs. The page is
//! also XML, so that any parser can read it. This module does not depend on any result.

mod points;
mod style;

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::json::Layout;
use latency_core::sort_by;

use super::chart::{Data, Series};
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
        let (front, chapters) = Chapter::all(shown.entries());
        head(out, &front)?;
        Page { out, pictures: 0 }.body(&front, &chapters)?;
        data(out, &front, shown)
    },
};

/// The minimum number of cells or points of a picture of a page: a single number is a figure.
const FEWEST: usize = 2;
/// The maximum number of cells of a matrix that a page draws: each cell needs 100 bytes, and with more cells the
/// letters would be too small to read.
const MOST_CELLS: usize = 1024;

/// The icon of a page: 16 by 16 pixels of two colours, as PNG.
const ICON: &str = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQAQMAAAAlPW0iAAAABlBMVEUKWKb///9kIX5oAAAAKElEQVR42mNggAM2BgY5BgYLBgYFMEpgYD/AwN7AwMPAUMHAUABVBAA7RQM/6E3zPgAAAABJRU5ErkJggg==";

/// The lists of sentences of a chapter, each with the sentences of some roles.
#[derive(Clone, Copy)]
enum PageList {
    Answers,
    Facts,
    Figures,
    Trust,
    Findings,
    Lines,
    Warnings,
    Missing,
    Method,
    Command,
    Notes,
    Details,
}

/// Number of lists.
const LISTS: usize = PageList::Details as usize + 1;

/// A part of a page: the part before the first chapter, or a chapter.
struct Chapter<'s> {
    /// The number of the chapter; 0 for the part before the first one.
    number: usize,
    /// The sentences that belong to it.
    sentences: Vec<(Role, &'s str)>,
    /// All its parts.
    entries: &'s [ShownPart],
    /// The verdict: the answer; if there is none, the first finding, and if there is none either, the first line.
    verdict: &'s str,
    /// The markup of each list, without the verdict.
    lists: [String; LISTS],
}

impl<'s> Chapter<'s> {
    /// Returns the part before the first chapter, and the chapters. Sentences of the method, and notes with their remedies,
    /// that several chapters have belong to the part before.
    fn all(entries: &'s [ShownPart]) -> (Chapter<'s>, Vec<Chapter<'s>>) {
        let is_chapter =
            |entry: &ShownPart| matches!(entry, ShownPart::Sentence(Role::Page(PageRole::Chapter), _));
        let first = entries.iter().position(is_chapter).unwrap_or(entries.len());
        let (before, entries) = entries.split_at(first);
        let parts = || entries.chunk_by(|_, next| !is_chapter(next));
        let mut told: Vec<(&str, &str)> = Vec::new();
        for (role, words) in parts().flat_map(sentences) {
            if let Some(label) = shared_label(role) {
                told.push((label, words));
            }
        }
        sort_by(&mut told, Ord::cmp);
        let is_repeated = |key: &(&str, &str)| {
            let first = told.partition_point(|other| other < key);
            told.get(first + 1) == Some(key)
        };
        let (mut chapters, mut placed) = (Vec::new(), Vec::new());
        let mut front = Vec::new();
        sentences(before).for_each(|sentence| front.push(sentence));
        for (number, entries) in (1..).zip(parts()) {
            let mut own = Vec::new();
            // A remedy belongs to the warning before it. `None` is a sentence that has its place.
            let mut is_shared = Some(false);
            for (role, words) in sentences(entries) {
                if role != Role::Page(PageRole::Remedy) {
                    let key = (shared_label(role).unwrap_or_default(), words);
                    is_shared = Some(is_repeated(&key)).filter(|_| !placed.contains(&key));
                    if is_shared == Some(true) {
                        placed.push(key);
                    }
                }
                match is_shared {
                    Some(true) => front.push((role, words)),
                    Some(false) => own.push((role, words)),
                    None => {}
                }
            }
            chapters.push(Chapter::of(number, own, entries));
        }
        (Chapter::of(0, front, before), chapters)
    }

    fn of(number: usize, sentences: Vec<(Role, &'s str)>, entries: &'s [ShownPart]) -> Chapter<'s> {
        let mut chapter = Chapter {
            number,
            sentences,
            entries,
            verdict: "Result",
            lists: [const { String::new() }; LISTS],
        };
        let roles = [Role::Answer, Role::Finding, Role::Line];
        let mut verdict = roles.into_iter().find(|role| chapter.first(*role).is_some());
        if let Some(words) = chapter.first(verdict.unwrap_or(Role::Page(PageRole::Title))) {
            chapter.verdict = words;
        }
        let (mut answers, mut warned) = (0, None);
        for &(role, words) in &chapter.sentences {
            if verdict == Some(role) {
                (verdict, warned) = (None, None);
                continue;
            }
            let found = match role {
                // A remedy belongs to the warning before it.
                Role::Page(PageRole::Remedy) => {
                    warned.map(|list| (list, format!("<dd>{}</dd>\n", InMarkup(words))))
                }
                Role::Page(PageRole::ChapterAnswer(question, level)) => {
                    answers += 1;
                    let place = format!("<a href=\"#chapter-{answers}\">{question}</a> {}", badge(level));
                    let words = InMarkup(words);
                    let markup = format!("<div class=\"{level}\"><dt>{place}</dt>\n<dd>{words}</dd></div>\n");
                    Some((PageList::Answers, markup))
                }
                role => element(role, words),
            };
            warned = found.as_ref().map(|(list, _)| *list);
            warned = warned.filter(|list| matches!(list, PageList::Warnings | PageList::Notes));
            if let Some((list, markup)) = found
                && let Some(known) = chapter.lists.get_mut(list as usize)
            {
                *known += &markup;
            }
        }
        chapter
    }

    /// Returns the first sentence of a role.
    fn first(&self, wanted: Role) -> Option<&'s str> {
        self.sentences.iter().find(|(role, _)| *role == wanted).map(|(_, words)| *words)
    }

    /// Returns the name of a chapter.
    fn name(&self) -> InMarkup<&'s str> {
        InMarkup(self.first(Role::Page(PageRole::Chapter)).unwrap_or_default())
    }

    /// Returns the markup of a list.
    fn list(&self, list: PageList) -> &str {
        self.lists.get(list as usize).map_or("", String::as_str)
    }

    fn pictures(&self) -> impl Iterator<Item = &'s Picture> + use<'s> {
        self.entries.iter().filter_map(ShownPart::picture)
    }

    /// Writes its tables within a frame: those for readers who want everything, or the others; nothing without any.
    fn tables(&self, out: &mut dyn Write, [before, behind]: [&str; 2], long: bool) -> fmt::Result {
        let is_one = |table: &ShownTable| (table.level == Level::Verbose) == long && table.has_rows();
        let mut is_begun = false;
        for entry in self.entries {
            match entry {
                ShownPart::Table(table) if is_one(table) => {
                    out.write_str(if is_begun { "" } else { before })?;
                    is_begun = true;
                    write_table(out, table)?;
                }
                _ => {}
            }
        }
        out.write_str(if is_begun { behind } else { "" })
    }
}

/// Returns the list of a sentence, and its markup there.
fn element(role: Role, words: &str) -> Option<(PageList, String)> {
    let text = InMarkup(words);
    Some(match role {
        Role::Page(PageRole::Fact(label)) => {
            (PageList::Facts, format!("<tr><th scope=\"row\">{label}</th><td>{text}</td></tr>\n"))
        }
        Role::Page(PageRole::Figure(label, level)) => {
            let (badge, words) = (badge(level), emphasised(words));
            let markup =
                format!("<div class=\"{level}\"><dt>{label} {badge}</dt>\n<dd><b>{words}</dd></div>\n");
            (PageList::Figures, markup)
        }
        Role::Trust => {
            let (level, words) = (level_of(words), emphasised(words));
            let symbol = symbol(level);
            (PageList::Trust, format!("<p class=\"trust {level}\">Trust: <b>{symbol} {words}</p>\n"))
        }
        Role::Answer | Role::Finding | Role::Aside => (PageList::Findings, format!("<p>{text}</p>\n")),
        Role::Missing => (PageList::Missing, format!("<p>{text}</p>\n")),
        Role::Line => (PageList::Lines, format!("<li>{text}</li>\n")),
        Role::Page(PageRole::Warning(severity)) => {
            let list = if severity == "note" { PageList::Notes } else { PageList::Warnings };
            (list, format!("<dt class=\"{severity}\">{text}</dt>\n"))
        }
        Role::Method(label) | Role::Provenance(label) => (PageList::Method, labelled(label, words)),
        Role::Detail(label) => (PageList::Details, labelled(label, words)),
        Role::Page(PageRole::Command) => (PageList::Command, format!("{text}")),
        _ => return None,
    })
}

/// Returns the label of a sentence that a page has once, however many chapters have it.
fn shared_label(role: Role) -> Option<&'static str> {
    match role {
        Role::Method(label) | Role::Provenance(label) => Some(label),
        Role::Page(PageRole::Warning(label @ "note")) => Some(label),
        _ => None,
    }
}

fn head(out: &mut dyn Write, front: &Chapter<'_>) -> fmt::Result {
    let figure = front.sentences.iter().find_map(|(role, words)| match role {
        Role::Page(PageRole::Figure(_, level)) => {
            let figure = words.split(',').next().unwrap_or_default();
            Some(format!("{figure}{}", if *level == "poor" { " (poor)" } else { "" }))
        }
        _ => None,
    });
    let mut title = figure.unwrap_or_else(|| front.verdict.into());
    if let Some(cpu) = front.first(Role::Page(PageRole::Fact("CPU"))) {
        title = format!("{title} \u{b7} {cpu}");
    }
    let experiment = front.first(Role::Page(PageRole::Title));
    let before = if experiment.is_some() { " " } else { "" };
    title = format!("{title} \u{b7} latency-bench{before}{}", experiment.unwrap_or_default());
    let title = InMarkup(title.as_str());
    let mut about = String::new();
    for (role, words) in &front.sentences {
        match role {
            Role::Answer => about += &format!("{words} "),
            Role::Trust => about += &format!("Trust: {words}. "),
            Role::Page(PageRole::ChapterAnswer(question, _)) => about += &format!("{question}: {words} "),
            _ => {}
        }
    }
    write!(
        out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n\
         <meta http-equiv=\"Content-Security-Policy\" \
         content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\"/>\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n\
         <link rel=\"icon\" href=\"data:image/png;base64,{ICON}\"/>\n\
         <meta property=\"og:type\" content=\"article\"/>\n\
         <title>{title}</title>\n<meta property=\"og:title\" content=\"{title}\"/>\n"
    )?;
    let frame = ["<meta name=\"description\" property=\"og:description\" content=\"", "\"/>\n"];
    framed(out, frame, &format!("{}", InMarkup(about.as_str())))?;
    write!(out, "<style>\n{}{}</style>\n</head>\n<body>\n", style::SHEET, svg::SHEET)
}

/// Writes a list within a frame; nothing without a part of it.
fn framed(out: &mut dyn Write, [before, behind]: [&str; 2], list: &str) -> fmt::Result {
    if list.is_empty() { Ok(()) } else { write!(out, "{before}{list}{behind}") }
}

struct Page<'p> {
    out: &'p mut dyn Write,
    /// The number of pictures so far; each has a number of its own.
    pictures: u32,
}

impl Page<'_> {
    fn framed(&mut self, frame: [&str; 2], list: &str) -> fmt::Result {
        framed(self.out, frame, list)
    }

    fn body(&mut self, front: &Chapter<'_>, chapters: &[Chapter<'_>]) -> fmt::Result {
        self.out.write_str("<header>\n<p class=\"what\">latency-bench")?;
        for (role, before, behind) in [(PageRole::Title, " <b>", "</b>"), (PageRole::Origin, " on ", "")] {
            if let Some(words) = front.first(Role::Page(role)) {
                write!(self.out, "{before}{}{behind}", InMarkup(words))?;
            }
        }
        write!(self.out, "</p>\n<h1>{}</h1>\n</header>\n", InMarkup(front.verdict))?;
        let mut links = String::new();
        for chapter in chapters {
            links += &format!("<a href=\"#chapter-{}\">{}</a>\n", chapter.number, chapter.name());
        }
        self.framed(["<nav>\n", "</nav>\n"], &links)?;
        self.out.write_str("<main>\n<div class=\"top\">\n<div>\n")?;
        self.conclusions(front)?;
        // A page with answers has all figures and the first pictures on its first screen.
        let is_report = !front.list(PageList::Answers).is_empty();
        if is_report {
            front.tables(self.out, [""; 2], false)?;
        }
        self.out.write_str("</div>\n")?;
        if is_report {
            self.lead(chapters)?;
        }
        self.framed(["<dl class=\"answers\">\n", "</dl>\n"], front.list(PageList::Answers))?;
        let facts = ["<table class=\"facts\">\n<caption>System</caption>\n<tbody>\n", "</tbody>\n</table>\n"];
        self.framed(facts, front.list(PageList::Facts))?;
        self.out.write_str("</div>\n")?;
        self.evidence(front, !is_report)?;
        for chapter in chapters {
            let (number, name, verdict) = (chapter.number, chapter.name(), InMarkup(chapter.verdict));
            writeln!(
                self.out,
                "<section id=\"chapter-{number}\">\n<h2>{name}</h2>\n<p class=\"finding\">{verdict}</p>"
            )?;
            self.conclusions(chapter)?;
            self.evidence(chapter, true)?;
            self.ending(chapter)?;
            self.out.write_str("</section>\n")?;
        }
        self.ending(front)
    }

    /// Writes the figures, the trust in them, and further findings.
    fn conclusions(&mut self, of: &Chapter<'_>) -> fmt::Result {
        self.framed(["<dl class=\"figures\">\n", "</dl>\n"], of.list(PageList::Figures))?;
        self.out.write_str(of.list(PageList::Trust))?;
        self.out.write_str(of.list(PageList::Findings))
    }

    /// Writes the lines, pictures, tables if wanted, and warnings.
    fn evidence(&mut self, of: &Chapter<'_>, has_tables: bool) -> fmt::Result {
        self.framed(["<ul class=\"lines\">\n", "</ul>\n"], of.list(PageList::Lines))?;
        of.pictures().try_for_each(|picture| self.picture(picture))?;
        if has_tables {
            of.tables(self.out, [""; 2], false)?;
        }
        // The trust in a chapter has the worst reasons already.
        let warnings = match of.number {
            0 => ["<h2>Warnings</h2>\n<dl class=\"warnings\">\n", "</dl>\n"],
            _ => [
                "<details class=\"noted\">\n<summary>Warnings</summary>\n<dl class=\"warnings\">\n",
                "</dl>\n</details>\n",
            ],
        };
        self.framed(warnings, of.list(PageList::Warnings))?;
        self.framed([&heading(of.number, "Not measured", ""), ""], of.list(PageList::Missing))
    }

    /// Writes the method, the command, notes, long tables and details.
    fn ending(&mut self, of: &Chapter<'_>) -> fmt::Result {
        let whole = heading(0, "Placement, health, method", "<dl>\n");
        let folded = |summary| format!("<details>\n<summary>{summary}</summary>\n<dl>\n");
        let method = match of.number {
            0 => [whole.as_str(), "</dl>\n"],
            _ => [&folded("Placement, health, method of this chapter"), "</dl>\n</details>\n"],
        };
        self.framed(method, of.list(PageList::Method))?;
        let command = heading(of.number, "To repeat it", "<pre class=\"command\">");
        self.framed([&command, "</pre>\n"], of.list(PageList::Command))?;
        self.framed([&folded("Notes"), "</dl>\n</details>\n"], of.list(PageList::Notes))?;
        let everything = ["<details>\n<summary>Everything measured</summary>\n", "</details>\n"];
        of.tables(self.out, everything, true)?;
        self.framed([&folded("Details"), "</dl>\n</details>\n"], of.list(PageList::Details))
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

    /// Writes the first chart with a line, and a matrix before it, as links to their chapters, where they are drawn; here
    /// they are shown once more.
    fn lead(&mut self, chapters: &[Chapter<'_>]) -> fmt::Result {
        let drawn = chapters.iter().flat_map(|chapter| {
            chapter.pictures().filter(|picture| is_drawn(picture)).map(|picture| (chapter.number, picture))
        });
        let is_line = |series: &Series| matches!(series.data, Data::Points(_));
        let (mut matrix, mut links) = (String::new(), String::new());
        for (number, (chapter, picture)) in (self.pictures + 1..).zip(drawn) {
            let (title, list) = match picture {
                Picture::Chart(chart) if chart.series.iter().any(is_line) => (&chart.title, &mut links),
                Picture::Matrix(found) if matrix.is_empty() => (&found.title, &mut matrix),
                _ => continue,
            };
            let mut drawn = String::new();
            svg::write(&mut drawn, picture, svg::FramePlace::Page(number))?;
            let mut parts = drawn.split('"');
            let _ = parts.find(|part| part.ends_with(" width="));
            let width = parts.next().unwrap_or_default();
            let view = parts.find(|part| part.starts_with("0 0 ")).unwrap_or_default();
            let title = InMarkup(title.as_str());
            *list = format!(
                "<a href=\"#chapter-{chapter}\"><svg role=\"img\" aria-labelledby=\"lead-{number}\" \
                 width=\"{width}\" viewBox=\"{view}\"><title id=\"lead-{number}\">{title}</title><use \
                 href=\"#chart-{number}\"/></svg></a>\n"
            );
            if matches!(picture, Picture::Chart(_)) {
                break;
            }
        }
        links += &matrix;
        self.framed(["<figure class=\"lead\">\n", "</figure>\n"], &links)
    }
}

/// Writes the document for programs, and the end of the page.
fn data(out: &mut dyn Write, front: &Chapter<'_>, shown: &Shown) -> fmt::Result {
    let left_out = front.first(Role::Page(PageRole::Data));
    out.write_str("<details>\n<summary>The same as JSON")?;
    if let Some(words) = left_out {
        write!(out, ", {}", InMarkup(words))?;
    }
    out.write_str("</summary>\n<pre>")?;
    let text = &mut Escaping(out, markup_lines);
    match left_out {
        Some(_) => json::write(text, Layout::Lines, &mut without_points(shown.entries()))?,
        None => json::write(text, Layout::Lines, &mut shown.entries().iter())?,
    }
    out.write_str("</pre>\n</details>\n</main>\n</body>\n</html>\n")
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
            (FEWEST..=MOST_CELLS).contains(&(matrix.rows.len() * matrix.columns.len()))
        }
        Picture::Chart(chart) => {
            let points = |series: &Series| {
                let (Data::Points(points) | Data::Scatter(points) | Data::Curve(points)) = &series.data;
                points.len()
            };
            chart.series.iter().map(points).sum::<usize>() >= FEWEST
        }
    }
}

/// Returns a heading of the page, or of a chapter, and what follows it.
fn heading(number: usize, words: &str, behind: &str) -> String {
    let level = if number == 0 { 2 } else { 3 };
    format!("<h{level}>{words}</h{level}>\n{behind}")
}

/// Returns a sentence with its label.
fn labelled(label: &str, words: &str) -> String {
    let label = if label.is_empty() { "Note" } else { label };
    format!("<dt>{label}</dt>\n<dd>{}</dd>\n", InMarkup(words))
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

/// Returns a level of trust as text, with its symbol and colour.
fn badge(level: &str) -> impl fmt::Display {
    fmt::from_fn(move |out| write!(out, "<b class=\"badge {level}\">{} {level}</b>", symbol(level)))
}

/// Returns a sentence in which the end of an emphasis takes the place of the first comma or colon.
fn emphasised(words: &str) -> impl fmt::Display {
    let (strong, rest) = words.split_once([',', ':']).unwrap_or((words, ""));
    fmt::from_fn(move |out| write!(out, "{}</b>{}", InMarkup(strong), InMarkup(rest)))
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
                level @ ("good" | "fair" | "poor") if row > 0 => write!(out, "{}", badge(level))?,
                cell => write!(out, "{}", InMarkup(cell))?,
            }
            write!(out, "</{name}>")?;
        }
    }
    out.write_str("</tr>\n</tbody>\n</table>\n</div>\n")
}

#[cfg(test)]
mod tests;
