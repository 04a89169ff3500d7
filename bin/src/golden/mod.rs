//! Everything that the program writes, for fixed findings, beside what it wrote when somebody last read it.
//!
//! One file a scene in tests/golden; `make golden` writes them anew, and the difference is read like any other.
//! This file lists the scenes and compares; which types results have is the business of `findings` alone.

mod findings;
mod numbers;
mod scenes;

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;

/// What went wrong in a scene.
#[derive(Clone, Copy, PartialEq)]
pub enum Trouble {
    /// Some points could not be placed.
    Excluded,
    /// Some points have wide intervals.
    Imprecise,
    /// Some points were interrupted often.
    Disturbed,
    /// A third of the points is missing.
    Interrupted,
    /// Pages left their node.
    Moved,
    /// The kernel does not tell where pages are.
    Unverified,
    /// Memory policies are forbidden.
    FirstTouch,
    /// There is no time-stamp counter.
    KernelClock,
    /// Hardware counters are forbidden.
    NoCounters,
    /// It is a virtual machine.
    Virtual,
    /// There is much to warn of.
    ManyWarnings,
}

/// One run.
pub struct Scene {
    /// The file that holds what it writes.
    pub file: String,
    /// The fixture of tests/fixtures/machines.
    pub machine: &'static str,
    /// The arguments, separated by single spaces.
    pub line: String,
    /// The width of the terminal.
    pub columns: usize,
    /// It shows more than ASCII.
    pub unicode: bool,
    /// It shows colours.
    pub colour: bool,
    /// What went wrong.
    pub troubles: &'static [Trouble],
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

#[test]
fn what_is_written_is_what_was_read() {
    let update = env::var_os("UPDATE_GOLDEN").is_some();
    let mut differing = Vec::new();
    let mut known = BTreeSet::new();
    for scene in scenes::all() {
        assert!(known.insert(scene.file.clone()), "{} twice", scene.file);
        let text = findings::written(&scene);
        let path = directory().join(&scene.file);
        let stored = fs::read_to_string(&path).unwrap_or_default();
        if stored == text {
            continue;
        }
        if update {
            fs::write(&path, text).unwrap();
            continue;
        }
        let line = stored.lines().zip(text.lines()).position(|(one, other)| one != other);
        let line = line.unwrap_or(stored.lines().count().min(text.lines().count()));
        let at = |text: &str| String::from(text.lines().nth(line).unwrap_or("(end)"));
        differing.push(std::format!("{}:{}\n  - {}\n  + {}", scene.file, line + 1, at(&stored), at(&text)));
    }
    for entry in fs::read_dir(directory()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if known.contains(&name) {
            continue;
        }
        if update {
            fs::remove_file(entry.path()).unwrap();
        } else {
            differing.push(std::format!("{name}: of no scene"));
        }
    }
    assert!(
        differing.is_empty(),
        "differs from tests/golden; `make golden` writes the new text:\n{}",
        differing.join("\n")
    );
}
