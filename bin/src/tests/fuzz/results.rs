//! Whole files through `fit` and `compare`, in every format: checks their output and their exit status.

use std::format;
use std::path::PathBuf;
use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

use super::driver::{check, steers};
use super::mutation::{applied, damaged};
use super::saved::{files, is_measured, read};
use crate::catalogue::{DESCRIPTORS, command};
use crate::describe::{CommandRun, output};
use crate::options;
use crate::record::row::Row;
use latency_engine::tests::leaked;
use latency_report::tree::JsonTree;
use latency_report::{FORMATS, Purpose, Terminal};

/// The outcome of a command: its exit status, its output, and its message.
struct Ended {
    status: u8,
    output: String,
    message: String,
}

/// Runs a command on saved results, without the process around it.
fn run(arguments: &[&str], columns: usize) -> Ended {
    let arguments = arguments.iter().map(|argument| leaked(argument.as_bytes()));
    let options = options::parse(arguments, &DESCRIPTORS, &FORMATS).unwrap();
    let command = command(options.experiment.index).unwrap();
    let terminal = Terminal {
        columns,
        unicode: columns.is_multiple_of(2),
        colour: false,
        audience: latency_report::Audience::Pipe,
    };
    let mut output = String::new();
    let failure = match command.perform(&options, &|| CommandRun::of(command.descriptor.name)) {
        Ok((shown, failure)) => {
            let format = options.outputs()[0].format;
            output::write(&mut output, format, &options, terminal, command.columns, &shown).unwrap();
            failure
        }
        Err(failure) => Some(failure),
    };
    let status = failure.as_ref().map_or(0, |failure| failure.exit_code());
    Ended { status, output, message: failure.map_or(String::new(), |failure| failure.to_string()) }
}

/// A file for one target, which is deleted on drop.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        let memory = PathBuf::from("/dev/shm");
        let directory = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Place(directory.join(format!("latency-bench-fuzz-{name}-{}", std::process::id())))
    }

    fn write(&self, text: &[u8]) -> &str {
        std::fs::write(&self.0, text).unwrap();
        self.0.to_str().unwrap()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // Left-overs cost only space.
        let _ = std::fs::remove_file(&self.0);
    }
}

/// Checks the rules for every outcome of a command.
fn well_ended(ended: &Ended, format: &str) -> TestCaseResult {
    let Ended { status, output, message } = ended;
    prop_assert!(matches!(status, 0 | 1 | 5 | 6), "status {status}: {message}");
    prop_assert_eq!(*status == 0, message.is_empty());
    prop_assert_eq!(steers(message), None);
    prop_assert_eq!(steers(output), None);
    prop_assert_eq!(*status == 1, output.is_empty(), "status {}: {}", status, message);
    if format == "json" && !output.is_empty() {
        prop_assert_eq!(JsonTree::of(output.as_bytes()).err(), None, "{}", output);
    }
    Ok(())
}

fn formats() -> impl Strategy<Value = (&'static str, usize)> {
    let names: Vec<&'static str> = FORMATS
        .iter()
        .filter(|format| !matches!(format.purpose, Purpose::Attributes | Purpose::Tests))
        .map(|format| format.name)
        .collect();
    (select(names), 1..200_usize)
}

#[test]
fn fitted_curves_can_be_read_again() {
    let files = files(usize::MAX);
    let place = Place::new("fit");
    check("fit", 60, &(damaged(files.len()), formats()), |((which, mutations), (format, columns))| {
        let text = applied(&files[which], &mutations);
        let path = place.write(&text);
        let chosen = format!("--format={format}");
        let ended = run(&["fit", path, &chosen], columns);
        well_ended(&ended, format)?;
        if let ("json", Ended { status: 0, output, .. }) = (format, &ended) {
            let points = output.matches("\"working_set_bytes\":").count();
            // A file of more rows than these targets keep may still have a short curve.
            if let (true, Ok(before)) = (points <= 60, read(&text, None)) {
                let found = read(output.as_bytes(), None).unwrap();
                prop_assert!(found.iter().all(is_measured), "{output}");
                for row in found {
                    let is_known = |known: &Row| {
                        let ratio = known.nanoseconds() / row.nanoseconds();
                        known.size() == row.size() && (ratio - 1.0).abs() < 1e-5
                    };
                    prop_assert!(before.iter().any(is_known), "{row:?}");
                }
            }
        }
        Ok(())
    });
}

#[test]
fn every_comparison_has_an_answer() {
    let files = files(usize::MAX);
    let places = [Place::new("compare-a"), Place::new("compare-b")];
    let strategy = (damaged(files.len()), damaged(files.len()), any::<bool>(), formats(), any::<bool>());
    check("compare", 60, &strategy, |(one, other, alike, (format, columns), force)| {
        if format == "svg" {
            return Ok(());
        }
        // Most pairs of unlike files have nothing in common.
        let other = if alike { (one.0, other.1) } else { other };
        let texts = [one, other].map(|(which, mutations)| applied(&files[which], &mutations));
        let [a, b] = [places[0].write(&texts[0]), places[1].write(&texts[1])];
        let chosen = format!("--format={format}");
        let mut arguments = std::vec!["compare", a, b, &chosen];
        arguments.extend(force.then_some("--force"));
        well_ended(&run(&arguments, columns), format)
    });
}

#[test]
fn every_report_is_a_document() {
    let files = files(usize::MAX);
    let place = Place::new("report");
    check("report", 60, &(damaged(files.len()), formats()), |((which, mutations), (format, columns))| {
        if matches!(format, "svg" | "csv" | "prometheus" | "tap") {
            return Ok(());
        }
        let path = place.write(&applied(&files[which], &mutations));
        well_ended(&run(&["report", path, &format!("--format={format}")], columns), format)
    });
}
