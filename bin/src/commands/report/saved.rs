//! Saved results as one document: their hosts and experiments, then a chapter for each file.
//!
//! A chapter shows the contents of a file: latencies by working set as lines, latencies of pairs of nodes as a matrix,
//! and every point with its interval. Nothing is measured, and no conclusions are added to those of the files.

use alloc::string::String;
use alloc::vec::Vec;
use core::{fmt, slice};

use latency_core::{Estimate, Text, plural};

use super::pictures::{self, SEVERAL, unit, value};
use crate::analysis::cause::LikelyCause;
use crate::commands::CommandResult;
use crate::commands::compare::{cause, load};
use crate::describe::rates::headline;
use crate::describe::{self, columns, split, trust};
use crate::error::Failure;
use crate::options::{FlagId, Options, Output};
use crate::record::columns::{CLASS, ColumnSet, PAGES_OBTAINED, WORKING_SET};
use crate::record::label::Label;
use crate::record::members::{FILE_EXPERIMENT, FILE_POINTS, FILES};
use crate::record::row::{Row, differing};
use crate::saved::{self, Saved};
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::lists::joined;
use latency_report::{Digits, Level, PageRole, Part, Purpose, Role, Shown};

fields! {
    pub RESULTS "results" "Number of saved results; a saved report has several.";
    pub FILE "file" "Path of the file.";
}

/// Number of points above which their table needs `--verbose`.
const FEW_POINTS: usize = 64;

/// A file that was read.
#[derive(Clone, Copy)]
pub struct File {
    /// Its path.
    pub path: &'static [u8],
    /// Its contents.
    pub saved: Saved,
    /// The smallest value, the median and the largest value.
    values: [f64; 3],
}

/// Reads the named files, and presents their contents.
pub fn run(options: &Options) -> Result<CommandResult, Failure> {
    let files = read(options.operands(), true)?;
    let cause = likely(options);
    let shown = Shown::of(|document| {
        describe::machine::saved_footer(document, &|index| files.get(index).map(|file| &file.saved));
        present(document, options, &files, cause.as_ref());
    });
    Ok(shown.into())
}

/// Returns the likely cause of the difference between two files with a result each. A pipe cannot be read again.
fn likely(options: &Options) -> Option<LikelyCause> {
    let paths = options.operands();
    if paths.len() != 2 || !paths.iter().all(|path| saved::is_repeatable(path)) {
        return None;
    }
    let mut all = Vec::new();
    // A file with several results is not one side of a comparison.
    load(paths, options, &mut all).ok()?;
    cause::between(all.split_at(1).into())
}

/// Reads files. With `in_brief`, only the classes of pairs of CPUs are read.
pub fn read(paths: &[&'static [u8]], in_brief: bool) -> Result<Vec<File>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        let contents = saved::contents(path)?;
        read_into(&mut files, path, &contents, in_brief)?;
    }
    Ok(files)
}

/// Reads the contents of a file.
pub fn read_into(
    files: &mut Vec<File>,
    path: &'static [u8],
    contents: &[u8],
    in_brief: bool,
) -> Result<(), Failure> {
    for saved in Saved::read_each(path, contents, in_brief)? {
        files.push(File { path, saved, values: spread(saved.rows) });
    }
    Ok(())
}

/// Returns the smallest value, the median and the largest; NaN if the values cannot be compared.
fn spread(rows: &[Row]) -> [f64; 3] {
    if unit(rows) == SEVERAL {
        return [f64::NAN; 3];
    }
    let mut values: Vec<f64> = rows.iter().map(value).collect();
    values.sort_unstable_by(f64::total_cmp);
    let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
    [at(0), at(values.len() / 2), at(values.len().wrapping_sub(1))]
}

impl File {
    /// Returns its name, which cannot control a terminal.
    pub fn name(&self) -> Text<256> {
        saved::shown(self.path)
    }

    /// Returns the host and the CPU as text, or the name of the file without a host. The names of equal hosts are told
    /// apart by their files, and by their places in one file.
    fn series<'f>(&'f self, files: &'f [File]) -> impl fmt::Display + use<'f> {
        fmt::from_fn(move |out| {
            let name = self.name();
            let host = self.saved.named_host();
            out.write_str(host.unwrap_or(name.as_str()))?;
            if let Some(cpu) = self.saved.named_cpu() {
                write!(out, ", {cpu}")?;
            }
            let (mut elsewhere, mut here, mut place) = (false, 0, 0);
            for other in files {
                let is_same = other.experiment() == self.experiment()
                    && other.is_of_host_of(self)
                    && other.saved.cpu() == self.saved.cpu();
                elsewhere |= is_same && other.path != self.path;
                here += usize::from(is_same && other.path == self.path);
                place = if core::ptr::eq(other, self) { here } else { place };
            }
            if elsewhere && host.is_some() {
                write!(out, ", {name}")?;
            }
            if here > 1 { write!(out, " ({place})") } else { Ok(()) }
        })
    }

    /// Returns whether both files are of the same host. Results without a host name count as results of one host if
    /// they are in the same file.
    fn is_of_host_of(&self, other: &File) -> bool {
        match (self.saved.named_host(), other.saved.named_host()) {
            (None, None) => self.path == other.path,
            (one, two) => one == two,
        }
    }

    /// Returns the name of the experiment, or of the tool that wrote the table.
    pub fn experiment(&self) -> &str {
        match self.saved.experiment.as_str() {
            "" => "table",
            named => named,
        }
    }

    fn trust(&self) -> &'static str {
        match (self.saved.conditions.poor, self.saved.conditions.partial) {
            (true, _) => "poor",
            (false, true) => "partial",
            (false, false) => "",
        }
    }
}

fn present(document: &mut Shown, options: &Options, files: &[File], likely: Option<&LikelyCause>) {
    let is_first = |(index, file): &(usize, &File)| {
        !files.get(..*index).unwrap_or_default().iter().any(|other| other.is_of_host_of(file))
    };
    let hosts = files.iter().enumerate().filter(is_first).count();
    document.answer(format_args!(
        "{files} saved result{s} from {hosts} host{of_hosts}.",
        files = files.len(),
        s = plural(files.len() as u64),
        of_hosts = plural(hosts as u64)
    ));
    cause::answer(document, likely);
    side_by_side(document, files);
    overlay(document, files);
    how_to_get_the_page(document, options);
    document.part(Part::Object(&describe::SUMMARY), |document| {
        document.put(&RESULTS, files.len());
        members! { document;
            "hosts": hosts => "Number of hosts in all results.";
        }
    });
    let trusts = vector(files.iter().map(File::trust).filter(|trust| !trust.is_empty()));
    let level = worst(trusts.iter().copied());
    trust::of_command(document, level, &trusts);
    document.say(Role::Page(PageRole::Data), "without the points; --json includes them");
    rows(document, files);
    document.part(Part::List(&FILES), |document| {
        for file in files {
            chapter(document, file);
        }
    });
    cause::programs(document, likely);
}

/// Describes every point of the files as a row.
pub fn rows(document: &mut Shown, files: &[File]) {
    document.part(Part::Records(&describe::ROWS), |document| {
        for file in files {
            columns::saved_rows(document, &file.saved, file.saved.rows);
        }
    });
}

/// Returns the worst of the levels of results. A result that states none is fair, or partial.
pub fn worst<'l>(levels: impl Iterator<Item = &'l str>) -> &'static str {
    levels.fold("good", |worst, level| match (worst, level) {
        ("poor", _) | (_, "poor") => "poor",
        ("good", "good") => "good",
        _ => "fair",
    })
}

/// Shows a table with a row for each file.
fn side_by_side(document: &mut Shown, files: &[File]) {
    document.tabulate("", Level::Quiet, 5, &|table| {
        table.texts(&["file", "host", "CPU", "experiment", "trust", "points", "min", "median", "max"]);
        for file in files {
            let Saved { rows, .. } = file.saved;
            let [least, median, most] = file.values;
            table.row().show(&file.name().as_str()).show(&file.saved.host()).show(&file.saved.cpu());
            table.show(&file.experiment()).show(&file.trust()).show(&rows.len()).number(least).number(median);
            table.known((!most.is_nan()).then(|| format!("{} {}", Digits(most), unit(rows))));
        }
    });
}

/// Draws all curves in one chart.
fn overlay(document: &mut Shown, files: &[File]) {
    let curves = files.iter().filter(|file| matches!(file.saved.experiment.as_str(), "" | "curve"));
    pictures::overlay(document, curves.map(|file| (file.saved.rows, format!("{}", file.series(files)))));
}

fn chapter(document: &mut Shown, file: &File) {
    let (name, rows) = (file.name(), file.saved.rows);
    heading(document, file);
    file.answer(document, "");
    match file.trust() {
        "" => {}
        trust => document.sentence(Role::Trust, format_args!("{trust} (stated in the file)")),
    }
    file.contents(document, if rows.len() > FEW_POINTS { Level::Verbose } else { Level::Normal });
    let [least, median, most] = file.values;
    document.part(Part::Item, |document| {
        document.put(&FILE, name.as_str());
        document.put(&FILE_EXPERIMENT, file.saved.experiment.as_str());
        members! { document;
            "host_name": file.saved.host() => "Host name; `unnamed` if the file does not name one.";
        }
        document.put(&FILE_POINTS, rows.len());
        members! { document;
            "least": least => "Smallest value: nanoseconds, or GB/s for bandwidth; null if points have several units.";
            "median": median => "Median of all values: nanoseconds, or GB/s for bandwidth; null if points have several units.";
            "most": most => "Largest value: nanoseconds, or GB/s for bandwidth; null if points have several units.";
        }
    });
}

/// Begins the chapter of a file, which names its host: a file may have the results of several.
pub fn heading(document: &mut Shown, file: &File) {
    let (name, host) = (file.name(), file.saved.named_host());
    let host = joined(", ", "", host.into_iter());
    let experiment = file.experiment();
    document.sentence(Role::Page(PageRole::Chapter), format_args!("{}{host}: {experiment}", name.as_str()));
    document.sentence(Role::Page(PageRole::Title), format_args!("{}", file.experiment()));
}

impl File {
    /// States the number of its points and the range of their values, after a prefix.
    pub fn answer(&self, document: &mut Shown, prefix: &str) {
        let rows = self.saved.rows;
        let [least, _, most] = self.values;
        let interval = rows.first().and_then(Row::interval).filter(|_| unit(rows) == "ns");
        let only = Estimate { value: most, interval };
        let range = match rows {
            _ if least.is_nan() => String::new(),
            [_] => format!(", {} {}", headline(only, 1.0), unit(rows)),
            _ => format!(", {} to {} {}", Digits(least), Digits(most), unit(rows)),
        };
        document.answer(format_args!(
            "{prefix}{}: {} point{}{range}.",
            self.experiment(),
            rows.len(),
            plural(rows.len())
        ));
        split::of_saved(document, rows);
    }

    /// Shows its host, as far as the file names it.
    pub fn origin(&self, document: &mut Shown) {
        for (label, found) in [
            ("Host", self.saved.named_host()),
            ("CPU", self.saved.named_cpu()),
            ("Kernel", self.saved.named_kernel()),
        ] {
            if let Some(found) = found {
                document.sentence(Role::Method(label), format_args!("{found}"));
            }
        }
    }

    /// Shows its host, its points as a picture, and its points as a table for readers of a level.
    pub fn contents(&self, document: &mut Shown, level: Level) {
        self.origin(document);
        if let Some(picture) = pictures::picture(self.saved.rows, self.name().as_str()) {
            document.picture(picture);
        }
        points(document, self.saved.rows, level);
    }
}

/// Shows every point with its distinguishing fields.
fn points(document: &mut Shown, rows: &[Row], level: Level) {
    let unit_of_all = unit(rows);
    let has_parts = rows.iter().any(|row| row.parts().is_some());
    // A single point differs from no other, and is labelled by its nodes and its size.
    let shown = match rows {
        [_] => ColumnSet::NODES | WORKING_SET | CLASS,
        _ => differing(rows.iter()) | CLASS,
    };
    document.tabulate("", level, 1, &|table| {
        table.texts(&["point", unit_of_all, "95% CI"]);
        if has_parts {
            table.texts(&["without translation", "translation"]);
        }
        table.texts(&["core cycles", "pages"]);
        for row in rows {
            table.row().show(&Label { row, shown });
            match unit_of_all {
                SEVERAL => table.cell(format_args!("{} {}", Digits(value(row)), unit(slice::from_ref(row)))),
                _ => table.number(value(row)),
            };
            // The interval of a rate is left out, because it is the interval of the time for a line.
            table.range(row.interval().filter(|_| row.traffic().is_none()), "");
            if has_parts {
                split::cells(table, row.parts());
            }
            match row.core_cycles() {
                Some(cycles) => table.number(cycles),
                None => table.text(""),
            };
            table.text(row.word(PAGES_OBTAINED));
        }
    });
}

/// States how to get the page, if the output is text on a terminal and the user chose no format.
pub fn how_to_get_the_page(document: &mut Shown, options: &Options) {
    let is_text = |output: &Output| output.path.is_none() && output.format.purpose == Purpose::Terminal;
    let is_shown = options.outputs().iter().any(is_text) && !options.writes(Purpose::Page);
    if is_shown && !options.given.contains(FlagId::Format) {
        document
            .say(Role::Method("Page"), "add -o report.html for a page with every chapter, picture and table");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::{String, ToString};

    fn file(path: &'static str, host: &str, cpu: &str) -> File {
        let mut saved = Saved::default();
        (saved.origin.name, saved.origin.cpu) =
            (Text::from_bytes(host.as_bytes()), Text::from_bytes(cpu.as_bytes()));
        File { path: path.as_bytes(), saved, values: [0.0; 3] }
    }

    #[test]
    fn chapters_of_one_file_name_their_hosts() {
        let named = |file: &File| {
            let shown = Shown::of(|document| heading(document, file));
            shown.sentences().map(|(_, words)| words.to_string()).next().unwrap()
        };
        let names = ["n1", "n2", ""].map(|host| named(&file("a.jsonl", host, "")));
        assert_eq!(names, ["a.jsonl, n1: table", "a.jsonl, n2: table", "a.jsonl: table"]);
    }

    #[test]
    fn curves_of_equal_hosts_are_told_apart() {
        let files = [
            file("a.json", "n1", "Xeon"),
            file("b.json", "n1", "Xeon"),
            file("c.json", "n2", "Xeon"),
            file("d.jsonl", "n3", "EPYC"),
            file("d.jsonl", "n3", "EPYC"),
            file("e.json", "", "Xeon"),
            file("f.txt", "", ""),
        ];
        let names = files.each_ref().map(|file| file.series(&files).to_string());
        let expected = [
            "n1, Xeon, a.json",
            "n1, Xeon, b.json",
            "n2, Xeon",
            "n3, EPYC (1)",
            "n3, EPYC (2)",
            "e.json, Xeon",
            "f.txt",
        ];
        assert_eq!(names, expected.map(String::from));
    }
}
