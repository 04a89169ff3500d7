//! Saved results in another format. Nothing is measured.
//!
//! A document of this program is shown as its run showed it. Of other files, and of several, every point is shown with
//! everything that the files have of it; they have no sentences.

use alloc::string::String;
use alloc::vec::Vec;

use super::report::pictures::picture;
use super::report::saved::{FILE, File, RESULTS, heading, read, read_into, rows, worst};
use super::{Command, CommandResult};
use crate::describe::anonymous::anonymous;
use crate::describe::verdicts::numbers;
use crate::describe::{self, columns, metrics, output, trust};
use crate::error::{Failure, SavedError};
use crate::options::{Descriptor, FlagId, FlagSet, MAX_OPERANDS, Operands, Options};
use crate::record::columns::{CLASS, ColumnSet, EXPERIMENT, TRAFFIC};
use crate::record::members::{FILE_CPU, FILE_EXPERIMENT, FILE_KERNEL, FILE_POINTS, FILE_TRUST, FILES};
use crate::record::row::differing;
use crate::saved::{self, Saved};
use latency_report::chart::vector;
use latency_report::document::{MetricLabel, fields};
use latency_report::lists::joined;
use latency_report::stored::{self, Restored};
use latency_report::{Level, Part, Purpose, Role, Shown, Value};

/// The `show` command.
pub const SHOW: Command = Command {
    descriptor: Descriptor {
        name: "show",
        summary: "saved results in another format",
        details: "A FILE saved with --json is shown as its run showed it, in any format. Tables, JSON lines, edited \
                  documents and several files have values alone. Only a measured document can be made anonymous.",
        flags: FlagSet::of(&[FlagId::Anonymous]),
        picture: true,
        attributes: true,
        tests: true,
        operands: Operands { names: "FILE...", least: 1, most: MAX_OPERANDS, sides: false },
    },
    columns: output::COLUMNS,
    run,
};

fields! {
    HOST "host_name" "Host name; null if the file does not name one.";
    STARTED "started" "Start of the run, in UTC; null if the file does not state it.";
}

/// Reads the named files, and presents their points.
fn run(options: &Options) -> Result<CommandResult, Failure> {
    let mut is_changed = false;
    let files = match options.operands() {
        [path] => {
            let contents = saved::contents(path)?;
            let document = saved::documents::unmarked(&contents).unwrap_or_default();
            match stored::restored(document, describe::ROWS.key) {
                Some(Restored::Whole(shown)) => {
                    let shown = match options.anonymous {
                        true => anonymous(shown).ok_or(SavedError::NotAnonymous)?,
                        false => shown,
                    };
                    return Ok(CommandResult { shown, is_whole: true, failure: None });
                }
                kept => is_changed = kept.is_some(),
            }
            let mut files = Vec::new();
            read_into(&mut files, path, &contents, false)?;
            files
        }
        several => read(several, false)?,
    };
    if options.anonymous {
        return Err(SavedError::NotAnonymous.into());
    }
    if options.writes(Purpose::Picture) && !files.iter().any(|file| picture(file.saved.rows, "").is_some()) {
        return Err(SavedError::NoPicture { drawn: "curves and matrices of several nodes are shown" }.into());
    }
    let shown = Shown::of(|document| {
        if is_changed {
            document.say(Role::Finding, CHANGED);
        }
        present(document, &files);
    });
    Ok(shown.into())
}

/// The reason why a document is not shown as its run showed it.
const CHANGED: &str = "Edited, or of another version: the document's sentences are left out.";

fn present(document: &mut Shown, files: &[File]) {
    describe::machine::saved_footer(document, &|index| files.get(index).map(|file| &file.saved));
    document.part(Part::Object(&describe::SUMMARY), |document| document.put(&RESULTS, files.len()));
    let levels = || files.iter().map(|file| file.saved.origin.trust.level());
    let level = worst(levels());
    let mut reasons: Vec<&str> = Vec::new();
    for file in files.iter().filter(|_| level == "poor") {
        file.saved.origin.trust.evidence().for_each(|code| {
            if !reasons.contains(&code) {
                reasons.push(code);
            }
        });
    }
    reasons.extend(levels().any(str::is_empty).then_some("not-stated"));
    trust::of_command(document, level, &reasons);
    rows(document, files);
    let key = |file: &File| format!("{}\n{}", file.name(), file.saved.named_host().unwrap_or_default());
    let keys: Vec<String> = vector(files.iter().map(key));
    let is_one_of_several = files.len() > 1;
    document.part(Part::List(&FILES), |document| {
        for (file, number) in files.iter().zip(numbers(&keys)) {
            document.part(Part::Item, |document| contents(document, file, is_one_of_several));
            samples(document, file, is_one_of_several, number);
        }
    });
}

/// Writes the trust that a file states, and its reasons.
pub(super) fn stated_trust(document: &mut Shown, saved: &Saved) {
    let trust = &saved.origin.trust;
    if !trust.said.is_empty() {
        let reasons = joined(": ", ", ", trust.evidence());
        document.sentence(Role::Trust, format_args!("{}{reasons}", trust.level()));
    }
}

/// Describes the conditions of a saved result.
pub(super) fn conditions(document: &mut Shown, saved: &Saved) {
    let of_host =
        [(&HOST, saved.named_host()), (&FILE_CPU, saved.named_cpu()), (&FILE_KERNEL, saved.named_kernel())];
    for (field, text) in of_host {
        document.put(field, text);
    }
    columns::start_of(document, &STARTED, saved);
    let level = saved.origin.trust.level();
    document.put(&FILE_TRUST, Some(level).filter(|level| !level.is_empty()));
}

fn contents(document: &mut Shown, file: &File, is_one_of_several: bool) {
    let (saved, name) = (&file.saved, file.name());
    let mut prefix = String::new();
    if is_one_of_several {
        heading(document, file);
        prefix = format!("{name}: ");
    }
    file.answer(document, &prefix);
    stated_trust(document, saved);
    file.contents(document, Level::Normal);
    document.put(&FILE, name.as_str());
    document.put(&FILE_EXPERIMENT, saved.experiment.as_str());
    document.put(&FILE_POINTS, saved.rows.len());
    conditions(document, saved);
}

/// Emits the value of every point. Labels name the file and the host of one of several results, and number what they do not
/// distinguish: a collector refuses two samples with the same labels. `result` is the number of a result among those of one
/// file and host.
fn samples(document: &mut Shown, file: &File, is_one_of_several: bool, result: Option<u64>) {
    let saved = &file.saved;
    let varied = differing(saved.rows.iter()) | ColumnSet::NODES | CLASS | TRAFFIC;
    let (mut all, mut keys) = (Vec::new(), Vec::new());
    for row in saved.rows {
        let named = row.word(EXPERIMENT);
        let experiment = if named.is_empty() { file.experiment() } else { named };
        let mut labels: Vec<MetricLabel> = Vec::from([(EXPERIMENT.name(), experiment.into())]);
        if is_one_of_several {
            labels.push(("file", file.name().as_str().into()));
            labels.extend(saved.named_host().map(|host| ("host", host.into())));
        }
        labels.extend(result.map(|result| ("result", Value::Count(result))));
        let (mut told, mut key) = (Vec::new(), String::from(named));
        for column in varied.without(EXPERIMENT.into()).points() {
            let word = row.plain(column);
            if !word.is_empty() {
                key += &format!(" {} {word}", column.name());
                told.push((column.name(), Value::from(word)));
            }
        }
        all.push((labels, told));
        keys.push(key);
    }
    for ((row, (mut labels, told)), number) in saved.rows.iter().zip(all).zip(numbers(&keys)) {
        labels.extend(number.map(|number| ("row", Value::Count(number))));
        labels.extend(told);
        metrics::of_saved(document, row, &labels);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::DESCRIPTORS;
    use crate::describe::CommandRun;
    use crate::options;
    use crate::record::columns::{Column, LOAD, PAGES_OBTAINED, POINTS, SEED, VERIFIED};
    use crate::record::row::Row;
    use latency_report::{FORMATS, Terminal};
    use std::boxed::Box;
    use std::format;
    use std::string::{String, ToString};
    use std::vec::Vec;

    /// Saved results of the tests, of each experiment that has points.
    const SAVED: [&str; 9] = [
        "curve.json",
        "matrix-a.json",
        "pages.json",
        "bandwidth-a.json",
        "loaded-a.json",
        "cores-a.json",
        "cores-states-a.json",
        "server-a.json",
        "curve-no-turbo.csv",
    ];

    fn place(name: &str) -> String {
        format!("{}/../tests/fixtures/saved/{name}", env!("CARGO_MANIFEST_DIR"))
    }

    /// Returns the output of the command for some arguments, or its failure.
    fn written(arguments: &[&str]) -> Result<String, String> {
        let arguments: Vec<&'static [u8]> =
            ["show"].iter().chain(arguments).map(|word| word.to_string().leak().as_bytes()).collect();
        let options = options::parse(arguments.into_iter(), &DESCRIPTORS, &FORMATS);
        let options: &Options = Box::leak(Box::new(options.map_err(|error| error.to_string())?));
        let terminal =
            Terminal { columns: 80, unicode: true, colour: false, audience: latency_report::Audience::Pipe };
        let mut out = String::new();
        let format = options.outputs()[0].format;
        let found = SHOW.perform(options, &|| CommandRun::of("show"));
        let (shown, failure) = found.map_err(|failure| failure.to_string())?;
        output::write(&mut out, format, options, terminal, SHOW.columns, &shown).unwrap();
        failure.map_or(Ok(out), |failure| Err(failure.to_string()))
    }

    fn rows(text: &[u8]) -> Vec<Row> {
        Saved::parse(text, None).map(|draft| draft.rows).unwrap()
    }

    #[test]
    fn a_table_keeps_every_field() {
        let path = format!("{}/../tests/fixtures/show/every-field.csv", env!("CARGO_MANIFEST_DIR"));
        let before = rows(&std::fs::read(&path).unwrap());
        // Tables have no level of load.
        let told = |column: &Column| before.iter().any(|row| row.tells(*column));
        let missing = POINTS.iter().copied().filter(|column| *column != LOAD).find(|column| !told(column));
        assert_eq!(missing, None);
        let after = rows(written(&[&path, "--csv"]).unwrap().as_bytes());
        assert_eq!(before.len(), after.len());
        assert!(
            before.iter().zip(&after).all(|(one, other)| one.is_same(other, ColumnSet::POINTS)),
            "{after:?}"
        );
    }

    /// Asserts that a number was written with enough digits.
    fn assert_close(one: f64, other: f64) {
        assert!((one / other - 1.0).abs() < 1e-6, "{one} {other}");
    }

    #[test]
    fn a_table_has_every_point_of_the_file() {
        // The table of latencies under load is refused.
        let names = SAVED.into_iter().chain(["matrix-memory-a.json"]);
        for name in names.filter(|name| !name.starts_with("loaded")) {
            let before = rows(&std::fs::read(place(name)).unwrap());
            let after = rows(written(&[&place(name), "--csv"]).unwrap().as_bytes());
            assert_eq!(before.len(), after.len(), "{name}");
            for (one, other) in before.iter().zip(&after) {
                assert!(one.is_same(other, ColumnSet::POINTS), "{name}: {one:?} {other:?}");
                assert_eq!(
                    (one.pair(), one.flag(VERIFIED), one.count(SEED)),
                    (other.pair(), other.flag(VERIFIED), other.count(SEED)),
                    "{name}"
                );
                assert_eq!(
                    (one.size(), one.word(PAGES_OBTAINED)),
                    (other.size(), other.word(PAGES_OBTAINED)),
                    "{name}"
                );
                assert_close(one.nanoseconds(), other.nanoseconds());
                assert_eq!(
                    (one.parts(), one.is_memory(), one.is_memory()),
                    (other.parts(), other.is_memory(), name == "matrix-memory-a.json"),
                    "{name}"
                );
                let ends = |row: &Row| row.interval().map(|interval| (interval.low, interval.high));
                assert_eq!(ends(one).is_some(), ends(other).is_some(), "{name}");
                if let (Some(one), Some(other)) = (ends(one), ends(other)) {
                    assert_close(one.0, other.0);
                    assert_close(one.1, other.1);
                }
            }
        }
    }

    #[test]
    fn every_format_shows_the_points_of_every_experiment() {
        for name in SAVED {
            let count = rows(&std::fs::read(place(name)).unwrap()).len();
            for format in ["text", "json", "jsonl", "csv", "md", "html", "prometheus", "tap"] {
                let text = written(&[&place(name), &format!("--format={format}")]).unwrap();
                let seen = match format {
                    "csv" => text.lines().count() - 1,
                    "json" | "jsonl" => text.matches("\"ns\":").count(),
                    "prometheus" => text
                        .lines()
                        .filter(|line| {
                            !line.starts_with('#') && !line.contains("ci95") && !line.contains("_info{")
                        })
                        .count(),
                    "tap" => text.lines().filter(|line| line.starts_with("  ns: ")).count(),
                    _ => usize::from(text.contains(&format!("{count} point"))) * count,
                };
                assert_eq!(seen, count, "{name} as {format}: {text}");
            }
        }
    }

    #[test]
    fn a_document_behind_a_byte_order_mark_is_shown_as_it_was() {
        let document = written(&[&place("curve.json"), "--json"]).unwrap();
        let path = std::env::temp_dir().join(format!("latency-bench-show-{}", std::process::id()));
        std::fs::write(&path, format!("\u{feff}{document}")).unwrap();
        let shown = written(&[path.to_str().unwrap(), "--json"]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(shown, Ok(document));
    }

    #[test]
    fn results_without_a_picture_are_refused_as_one() {
        assert!(written(&[&place("curve.json"), "--format=svg"]).unwrap().starts_with("<svg"));
        assert!(written(&[&place("matrix-a.json"), "--format=svg"]).unwrap().starts_with("<svg"));
        let error = written(&[&place("cores-states-a.json"), "--format=svg"]).unwrap_err();
        assert!(
            error.starts_with("only curves and matrices of several nodes are shown in a picture;"),
            "{error}"
        );
        let script = written(&[&place("curve.json"), "--format=hwloc"]).unwrap();
        assert!(script.contains("this result has no memory attributes"), "{script}");
    }

    #[test]
    fn several_files_are_told_apart() {
        let files = [place("curve.json"), place("bandwidth-a.json")];
        let table = written(&[&files[0], &files[1], "--csv"]).unwrap();
        assert!([",curve,", ",bandwidth,"].iter().all(|of| table.contains(of)), "{table}");
        let text = written(&[&files[0], &files[1]]).unwrap();
        assert!(files.iter().all(|file| text.contains(&format!("{file}: "))), "{text}");
    }
}
