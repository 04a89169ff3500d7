//! The end that comes early: signals at any moment, and files that are complete or not there.
//!
//! Measured times are CPU time and the process's own waiting, which a busy host does not change.

mod blocked;
mod bounds;
mod ends;
mod files;
mod moments;
mod waiting;

use latency_tests::directory::Directory;
use latency_tests::run::Run;
use std::fs;

/// The older result that a run is to replace, or to leave as it was.
const OLDER: &str = "older";

/// A directory, with an older result in it if `older`.
fn place(name: &str, older: bool) -> Directory {
    let directory = Directory::new(name);
    if older {
        fs::write(directory.path().join("result"), OLDER).expect("a file");
    }
    directory
}

/// What the file `result` holds, if it is there.
fn result(directory: &Directory) -> Option<String> {
    fs::read_to_string(directory.path().join("result")).ok()
}

/// The run has left an older result as it was, or none, and nothing else.
fn assert_untouched(directory: &Directory, older: bool, found: &Run) {
    assert_eq!(result(directory).as_deref(), older.then_some(OLDER), "{found}");
    assert_eq!(directory.names().len(), usize::from(older), "{:?} {found}", directory.names());
}
