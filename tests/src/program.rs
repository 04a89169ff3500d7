//! Paths of the built executable and of the directory for the tests' files.
//!
//! It uses files, but no processes.

use std::path::{Path, PathBuf};

/// Environment variable with the path of the executable under test.
pub const BINARY_VARIABLE: &str = "LATENCY_BENCH";

/// Environment variable with the path of the one for aarch64.
pub const AARCH64_VARIABLE: &str = "LATENCY_BENCH_AARCH64";

/// Returns the root of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns a directory for the downloads and files of the tests, kept between runs.
///
/// # Errors
///
/// If it is missing and cannot be created.
pub fn scratch() -> Result<PathBuf, String> {
    let path = workspace().join("target/emulator");
    std::fs::create_dir_all(&path).map_err(|error| format!("cannot create {}: {error}", path.display()))?;
    Ok(path)
}

/// Returns the executable under test: `$LATENCY_BENCH`, otherwise `target/latency-bench`.
///
/// # Errors
///
/// The error of [`chosen`].
pub fn try_binary() -> Result<PathBuf, String> {
    chosen(BINARY_VARIABLE, "target/latency-bench", "make")
}

/// Returns the executable that an environment variable names, otherwise `path`, which `command` builds. Relative paths
/// start at the root of the workspace.
///
/// # Errors
///
/// A sentence that names the missing file, the command and the variable.
pub fn chosen(variable: &str, path: &str, command: &str) -> Result<PathBuf, String> {
    let chosen = std::env::var_os(variable).map(PathBuf::from);
    let path = workspace().join(chosen.unwrap_or_else(|| PathBuf::from(path)));
    match path.canonicalize() {
        Ok(path) if path.is_file() => Ok(path),
        _ => Err(format!(
            "the executable {} is not there: build it with `{command}`, or set {variable}",
            path.display()
        )),
    }
}

/// Returns a file that `command` builds, by its path from the root of the workspace.
///
/// # Errors
///
/// A sentence that names the missing file and the command.
pub fn built(path: &str, command: &str) -> Result<PathBuf, String> {
    let path = workspace().join(path);
    match path.is_file() {
        true => Ok(path),
        false => Err(format!("{} is not there: build it with `{command}`", path.display())),
    }
}

/// Returns the executable under test.
///
/// # Panics
///
/// If it has not been built: a test of the program without the program has failed, it has not been skipped.
pub fn binary() -> PathBuf {
    try_binary().unwrap_or_else(|reason| panic!("{reason}"))
}
