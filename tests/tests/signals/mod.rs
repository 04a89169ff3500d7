//! Early ends: signals at any moment, and output files that are either complete or missing.
//!
//! The limits apply to CPU time and to the process's own waiting, which a busy host does not change.

mod blocked;
mod bounds;
mod ends;
mod files;
mod moments;
mod waiting;

use latency_tests::directory::Directory;
use latency_tests::run::Run;
use std::fs;

/// The older result that a run has to replace or to keep.
const OLDER: &str = "older";

/// Makes a directory, with an older result in it if `older`.
fn place(name: &str, older: bool) -> Directory {
    let directory = Directory::new(name);
    if older {
        fs::write(directory.path().join("result"), OLDER).expect("a file");
    }
    directory
}

/// Returns the content of the file `result`, if it exists.
fn result(directory: &Directory) -> Option<String> {
    fs::read_to_string(directory.path().join("result")).ok()
}

/// Asserts that the run has left an older result unchanged, or none, and no other file.
fn assert_untouched(directory: &Directory, older: bool, found: &Run) {
    assert_eq!(result(directory).as_deref(), older.then_some(OLDER), "{found}");
    assert_eq!(directory.names().len(), usize::from(older), "{:?} {found}", directory.names());
}
