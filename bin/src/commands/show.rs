//! Saved results in another format: their points with everything that the files have of them. Nothing is measured.
//!
//! A saved result has the values and the conditions of its points, but not the sentences of its run. Those are left
//! out.

use core::fmt;

use latency_core::text::{Text, joined};

use super::report::pictures::is_drawn;
use super::report::saved::{FILE, FILES, File, OF, RESULTS, heading, read};
use super::{Command, Write};
use crate::analysis::traffic::bytes_per_line;
use crate::describe::rates::GIGA;
use crate::describe::{self, metrics, point, undisturbed};
use crate::error::{Failure, SavedError};
use crate::options::{Descriptor, FlagSet, MAX_OPERANDS, Operands, Options};
use crate::report::document::{Document, Field, Level, Part, Role, Value, fields};
use crate::report::format::Purpose;
use crate::result::row::{
    CLASS, FIELDS, FROM, Row, SIZE, STRIDE, TO, TRAFFIC, WORDS, differing, fields_that,
};
use crate::result::sample::collect;
use crate::sys::errno::Errno;
use crate::sys::table::List;

/// The `show` command.
pub const SHOW: Command = Command {
    descriptor: Descriptor {
        name: "show",
        summary: "saved results in another format",
        details: "Each FILE is a result saved with --json or --csv, a saved report, or another tool's table; `-` reads \
                  standard input. Every point is shown with its interval, and each result with its host and its trust. \
                  Curves and matrices are also drawn. Nothing is measured.\n\
                  A file has the values of a run, but neither its conclusions nor its warnings.",
        flags: FlagSet::EMPTY,
        picture: true,
        operands: Operands { names: "FILE...", least: 1, most: MAX_OPERANDS, sides: false },
        ..Descriptor::OF_VALUES
    },
    run,
};

fields! {
    HOST "hostname" "The host; null where the file does not name one.";
    CPU "cpu" "The processor; null where the file does not name one.";
    KERNEL "kernel" "The kernel; null where the file does not name one.";
    STARTED "started" "The start of the run, in UTC; null where the file does not say.";
    TRUST "trust" "The trust by the present limits: good, fair or poor; null where the file does not state it.";
    RATE "bytes_per_second" "The bandwidth of traffic; null for latencies.";
}

/// The fields that distinguish points.
static KEYS: [Field; FIELDS.len()] = {
    let mut all = [const { Field::new("", "") }; FIELDS.len()];
    let mut index = 0;
    while index < all.len() {
        all[index] = Field::new(FIELDS[index].0, "A field that tells this point from others.");
        index += 1;
    }
    all
};

/// The values of a point, each with its field. The lower end of the undisturbed latency precedes the upper end.
const VALUES: usize = 11;

/// Returns the values of a point, each with its field.
#[inline(never)] // it is called in several places
fn values(row: &Row) -> [(&'static Field, Value<'_>); VALUES] {
    let rate = row.traffic().map(|kind| bytes_per_line(kind) / row.sample.nanoseconds * GIGA);
    let quiet = row.undisturbed;
    [
        (&point::NS, row.sample.nanoseconds.into()),
        (&RATE, rate.into()),
        (&point::CI95_NS, row.sample.interval.into()),
        (&point::CORE_CYCLES, row.sample.core_cycles.into()),
        (&point::PAGES_OBTAINED, Some(row.pages.as_str()).filter(|pages| !pages.is_empty()).into()),
        (&point::VERIFIED, row.verified.into()),
        (&point::CORE_GHZ, row.gigahertz.into()),
        (&point::SEED, row.seed.into()),
        (&undisturbed::NS, quiet.map(|(ns, _)| ns).into()),
        (&undisturbed::LOW, quiet.map(|(_, interval)| interval.low).into()),
        (&undisturbed::HIGH, quiet.map(|(_, interval)| interval.high).into()),
    ]
}

/// Returns a field of a point.
#[inline(never)] // it is called in several places
fn key(row: &Row, field: usize) -> Value<'_> {
    match (field, row.pair) {
        (FROM, Some((from, _))) => from.into(),
        (TO, Some((_, to))) => to.into(),
        (SIZE, _) => row.sample.size.into(),
        (STRIDE, _) => row.sample.stride.into(),
        _ => {
            let word = row.words.get(field.wrapping_sub(WORDS)).map_or("", Text::as_str);
            word.parse::<u64>().map_or(Value::Word(word), Value::Count)
        }
    }
}

/// Returns the fields that a result has, one bit for each. Only chains have a stride; the reader assumes one for other
/// points.
fn told(file: &File<'_>) -> u32 {
    let rows = file.saved.rows;
    let chains = fields_that(|field| rows.iter().any(|row| row.tells(field)));
    let is_chain = |row: &Row| row.tells(SIZE) && row.traffic().is_none();
    let is_named = |row: &Row| row.sample.stride != Row::EMPTY.sample.stride;
    let has_stride =
        !file.saved.experiment.is_empty() && rows.iter().all(is_chain) || rows.iter().any(is_named);
    if has_stride { chains } else { chains & !(1 << STRIDE) }
}

/// Reads the named files, and writes their points.
fn run<'a>(options: &'a Options<'a>, write: Write<'_>) -> Result<Option<Failure<'a>>, Failure<'a>> {
    let files = read(options.operands(), false)?;
    if options.writes(Purpose::Picture) && !files.iter().any(|file| is_drawn(file.saved.rows)) {
        return Err(SavedError::NoPicture { drawn: "curves and matrices of several nodes are shown" }.into());
    }
    write(columns(&files)?, &mut |document| present(document, &files));
    Ok(None)
}

/// Returns the columns that the files have, for the rest of the process.
fn columns(files: &[File<'_>]) -> Result<&'static [&'static Field], Errno> {
    let rows = || files.iter().flat_map(|file| file.saved.rows);
    let shown = files.iter().fold(0, |all, file| all | told(file));
    let mut columns = List::new(2 + FIELDS.len() + VALUES)?;
    if files.len() > 1 {
        columns.push(&FILE);
        columns.push(&OF);
    }
    for (_, field) in KEYS.iter().enumerate().filter(|(index, _)| shown >> index & 1 == 1) {
        columns.push(field);
    }
    for (index, (field, _)) in values(&Row::EMPTY).into_iter().enumerate() {
        let is_told = |row: &Row| !matches!(values(row).get(index), None | Some((_, Value::None)));
        if rows().any(is_told) {
            columns.push(field);
        }
    }
    Ok(columns.leak())
}

fn present(document: &mut dyn Document, files: &[File<'_>]) {
    describe::tool(document, "show", "");
    document.part(Part::Object(&describe::SUMMARY), |document| document.put(&RESULTS, files.len()));
    document.part(Part::List(&FILES), |document| {
        for file in files {
            document.part(Part::Item, |document| contents(document, file, files.len() > 1));
        }
    });
}

fn contents(document: &mut dyn Document, file: &File<'_>, is_one_of_several: bool) {
    let (saved, name) = (&file.saved, file.name());
    let trust = &saved.origin.trust;
    let prefix =
        fmt::from_fn(|out| if is_one_of_several { write!(out, "{}: ", name.as_str()) } else { Ok(()) });
    if is_one_of_several {
        heading(document, file);
    }
    file.answer(document, &prefix);
    if !trust.said.is_empty() {
        let reasons = joined(": ", ", ", trust.evidence());
        document.sentence(Role::Trust, format_args!("{}{reasons}", trust.level()));
    }
    file.contents(document, Level::Normal);
    document.put(&FILE, name.as_str());
    document.put(&OF, saved.experiment.as_str());
    let of_host = [(&HOST, saved.named_host()), (&CPU, saved.named_cpu()), (&KERNEL, file.kernel())];
    for (field, text) in of_host {
        document.put(field, text);
    }
    match saved.origin.started {
        0 => document.put(&STARTED, None::<bool>),
        started => document.show(&STARTED, &describe::Utc(started)),
    }
    document.put(&TRUST, Some(trust.level()).filter(|level| !level.is_empty()));
    let shown = told(file);
    document.items(Part::Records(&point::POINTS), saved.rows, |document, row| {
        if is_one_of_several {
            document.put(&FILE, name.as_str());
            document.put(&OF, saved.experiment.as_str());
        }
        for (field, key_field) in KEYS.iter().enumerate().filter(|(field, _)| shown >> field & 1 == 1) {
            if row.tells(field) {
                document.value(key_field, key(row, field));
            }
        }
        for (field, value) in values(row) {
            document.value(field, value);
        }
    });
    let varied = differing(saved.rows.iter()) & shown | 1 << FROM | 1 << TO | 1 << CLASS | 1 << TRAFFIC;
    for row in saved.rows {
        let mut labels = [("", Value::None); FIELDS.len() + 2];
        let own = [("experiment", Value::Word(file.experiment())), ("file", Value::Word(name.as_str()))];
        let names =
            FIELDS.iter().enumerate().filter(|(field, _)| varied >> field & 1 == 1 && row.tells(*field));
        let names = names.map(|(field, (name, _))| {
            let name = match field {
                FROM => "initiator",
                TO => "target",
                _ => *name,
            };
            (name, key(row, field))
        });
        let own = own.into_iter().take(1 + usize::from(is_one_of_several));
        metrics::of_saved(document, row, collect(&mut labels, own.chain(names)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::DESCRIPTORS;
    use crate::describe::output;
    use crate::options;
    use crate::report::FORMATS;
    use crate::report::terminal::Terminal;
    use crate::saved::{MAX_ROWS, Saved};
    use std::boxed::Box;
    use std::format;
    use std::string::{String, ToString};
    use std::vec;
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
        let options: &Options<'_> = Box::leak(Box::new(options.map_err(|error| error.to_string())?));
        let terminal = Terminal { columns: 80, unicode: true, colour: false, screen: false };
        let mut out = String::new();
        let format = options.outputs()[0].format;
        let failure = run(options, &mut |columns, describe| {
            output::write(&mut out, format, options, terminal, [columns, &[], &[]], describe).unwrap();
        });
        match failure.unwrap_or_else(Some) {
            None => Ok(out),
            Some(failure) => Err(failure.to_string()),
        }
    }

    fn rows(text: &[u8]) -> Vec<Row> {
        let mut room = vec![Row::EMPTY; MAX_ROWS];
        Saved::parse(text, None, &mut room).map(|draft| draft.rows().to_vec()).unwrap()
    }

    #[test]
    fn a_table_keeps_every_field() {
        let path = format!("{}/../tests/fixtures/show/every-field.csv", env!("CARGO_MANIFEST_DIR"));
        let before = rows(&std::fs::read(&path).unwrap());
        assert!((0..FIELDS.len()).all(|field| before.iter().all(|row| row.tells(field))));
        let after = rows(written(&[&path, "--csv"]).unwrap().as_bytes());
        assert_eq!(before.len(), after.len());
        assert!(before.iter().zip(&after).all(|(one, other)| one.is_same(other, u32::MAX)), "{after:?}");
    }

    /// Asserts that a number was written with enough digits.
    fn assert_close(one: f64, other: f64) {
        assert!((one / other - 1.0).abs() < 1e-6, "{one} {other}");
    }

    #[test]
    fn a_table_has_every_point_of_the_file() {
        for name in SAVED {
            let before = rows(&std::fs::read(place(name)).unwrap());
            let after = rows(written(&[&place(name), "--csv"]).unwrap().as_bytes());
            assert_eq!(before.len(), after.len(), "{name}");
            for (one, other) in before.iter().zip(&after) {
                assert!(one.is_same(other, u32::MAX), "{name}: {one:?} {other:?}");
                assert_eq!(
                    (one.pair, one.verified, one.seed),
                    (other.pair, other.verified, other.seed),
                    "{name}"
                );
                assert_eq!((one.sample.size, one.pages), (other.sample.size, other.pages), "{name}");
                assert_close(one.sample.nanoseconds, other.sample.nanoseconds);
                let ends = |row: &Row| row.sample.interval.map(|interval| (interval.low, interval.high));
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
            for format in ["text", "json", "jsonl", "csv", "md", "html", "prometheus"] {
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
                    _ => usize::from(text.contains(&format!("{count} point"))) * count,
                };
                assert_eq!(seen, count, "{name} as {format}: {text}");
            }
        }
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
        assert!(written(&[&place("curve.json"), "--format=hwloc"]).is_err());
    }

    #[test]
    fn several_files_are_told_apart() {
        let files = [place("curve.json"), place("bandwidth-a.json")];
        let table = written(&[&files[0], &files[1], "--csv"]).unwrap();
        assert!(table.starts_with("file,of,from,to,working_set_bytes,"), "{table}");
        let text = written(&[&files[0], &files[1]]).unwrap();
        assert!(files.iter().all(|file| text.contains(&format!("{file}: "))), "{text}");
    }
}
