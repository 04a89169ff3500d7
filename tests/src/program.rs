//! Where the built executable is, and where tests leave what they keep.
//!
//! Knows files, not processes.

use std::path::{Path, PathBuf};

/// Environment variable with the path of the executable under test.
pub const BINARY_VARIABLE: &str = "LATENCY_BENCH";

/// The root of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// A directory for what the tests download and write, kept between runs.
///
/// # Errors
///
/// When it is not there and cannot be created.
pub fn scratch() -> Result<PathBuf, String> {
    let path = workspace().join("target/emulator");
    std::fs::create_dir_all(&path).map_err(|error| format!("cannot create {}: {error}", path.display()))?;
    Ok(path)
}

/// The executable under test: `$LATENCY_BENCH` (relative paths start at the root
/// of the workspace), else `target/latency-bench`.
///
/// # Errors
///
/// A sentence that says which file is missing and how it is built.
pub fn try_binary() -> Result<PathBuf, String> {
    let chosen = std::env::var_os(BINARY_VARIABLE).map(PathBuf::from);
    let path = workspace().join(chosen.unwrap_or_else(|| PathBuf::from("target/latency-bench")));
    match path.canonicalize() {
        Ok(path) if path.is_file() => Ok(path),
        _ => Err(format!(
            "the executable {} is not there: build it with `make`, or set {BINARY_VARIABLE}",
            path.display()
        )),
    }
}

/// Process 1 of guests in which a condition is prepared.
///
/// # Errors
///
/// A sentence that says which file is missing and how it is built.
pub fn guest() -> Result<PathBuf, String> {
    let path = workspace().join("target/x86_64-unknown-linux-gnu/release/latency-guest");
    match path.is_file() {
        true => Ok(path),
        false => Err(format!("{} is not there: build it with `make guest`", path.display())),
    }
}

/// The executable under test.
///
/// # Panics
///
/// When it has not been built: a test of the program without the program has
/// failed, it has not been skipped.
pub fn binary() -> PathBuf {
    try_binary().unwrap_or_else(|reason| panic!("{reason}"))
}
