//! Standard streams: each of them good, closed, full, or a pipe without another end.

use super::body::{end, judge_document, smallest};
use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use latency_tests::everywhere::everywhere;
use latency_tests::run::ERROR;
use std::fs::{OpenOptions, read_to_string};
use std::process::{Command, Stdio};

/// The state of a standard stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Empty, or read by the test.
    Good,
    Closed,
    /// A device that accepts nothing, and returns endless zeroes.
    Full,
    /// A pipe whose other end is closed.
    Gone,
}

const STATES: [State; 4] = [State::Good, State::Closed, State::Full, State::Gone];

impl State {
    /// Returns the stream; a child reads or writes one end of it.
    fn stream(self, reads: bool) -> Stdio {
        match self {
            State::Good if reads => Stdio::null(),
            State::Good => Stdio::piped(),
            State::Closed => Stdio::null(),
            State::Full => {
                Stdio::from(OpenOptions::new().read(true).write(true).open("/dev/full").expect("a device"))
            }
            State::Gone => {
                let (reader, writer) = std::io::pipe().expect("a pipe");
                if reads { Stdio::from(reader) } else { Stdio::from(writer) }
            }
        }
    }
}

/// Sets the states of a command's standard streams.
fn set(command: &mut Command, states: [State; 3]) {
    let [input, output, error] = states;
    command.stdin(input.stream(true)).stdout(output.stream(false)).stderr(error.stream(false));
    for (descriptor, state) in (0..).zip(states) {
        if state == State::Closed {
            command.closed(descriptor);
        }
    }
}

#[test]
fn every_combination_of_streams() {
    let mut places = Vec::new();
    for input in STATES {
        for output in STATES {
            for error in STATES {
                places.push([input, output, error]);
            }
        }
    }
    let directory = Directory::new("streams");
    // The request, true if its result goes to standard output, and true if that is JSON.
    let to_output = smallest(&[]);
    let tasks: [(&[&str], bool); 3] = [(&to_output, true), (&["--help"], false), (&["system"], false)];
    everywhere(&places, |&states| {
        for (task, json) in tasks {
            let mut command = directory.command(task);
            set(&mut command, states);
            let found = end(&mut command)?;
            let good = states[1] == State::Good;
            if found.status.code() != Some(if good { 0 } else { 4 }) {
                return Err(format!("{states:?}: {found}"));
            }
            if !good && states[2] == State::Good && found.stderr.matches(ERROR).count() != 1 {
                return Err(format!("{states:?}: not one error: {found}"));
            }
            if good && json {
                judge_document(&found.stdout, 0).map_err(|reason| format!("{states:?}: {reason}"))?;
            }
        }
        Ok(())
    });
}

/// The result goes to a file, so no stream is needed, and the file must not get the number of one.
#[test]
fn a_file_needs_no_stream() {
    let directory = Directory::new("streams-file");
    let places: Vec<_> = STATES.into_iter().flat_map(|output| STATES.map(|error| (output, error))).collect();
    everywhere(&places, |&(output, error)| {
        let name = format!("{output:?}-{error:?}.json");
        let mut command = directory.command(&smallest(&["--output", &name]));
        set(&mut command, [State::Closed, output, error]);
        let found = end(&mut command)?;
        let written = read_to_string(directory.path().join(&name)).map_err(|none| format!("{none}: {found}"));
        judge_document(&written?, 0).map_err(|reason| format!("{name}: {reason}"))?;
        match found.status.success() && found.stdout.is_empty() {
            true => Ok(()),
            false => Err(format!("{name}: {found}")),
        }
    });
    assert_eq!(directory.names().len(), places.len(), "{:?}", directory.names());
}

/// A saved result from an empty or missing stream is an error about the stream, and never a hang.
#[test]
fn a_missing_saved_result_is_an_error() {
    for input in STATES {
        let mut command = latency_tests::run::command(&["fit", "-"]);
        set(&mut command, [input, State::Good, State::Good]);
        let found = end(&mut command).unwrap_or_else(|reason| panic!("{input:?}: {reason}"));
        assert_eq!(found.stdout, "", "{input:?}");
        found.expect_status(1).expect_error("");
    }
}
