//! A place outside of the tree for one test, which other users and other roots can reach.

use crate::program::binary;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

/// A directory under `/tmp` that every user may enter and write, with a copy of the executable; it is deleted
/// on drop.
#[derive(Debug)]
pub struct Directory(PathBuf);

impl Directory {
    /// Makes a new directory; `name` tells a reader of `/tmp` which test made it.
    ///
    /// # Panics
    ///
    /// If it cannot be made.
    pub fn new(name: &str) -> Self {
        use std::os::unix::fs::PermissionsExt;
        static MADE: AtomicU32 = AtomicU32::new(0);
        let (process, number) = (std::process::id(), MADE.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(format!("latency-bench-{name}-{process}-{number}"));
        let made = std::fs::create_dir_all(&path)
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o777)))
            .and_then(|()| copy(&path.join("latency-bench")))
            .and_then(|()| path.canonicalize());
        Directory(made.unwrap_or_else(|error| panic!("cannot make {}: {error}", path.display())))
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// Writes a program of the shell into a folder of it, or into the directory itself if `folder` is empty.
    ///
    /// # Panics
    ///
    /// If it cannot be written.
    pub fn script(&self, folder: &str, name: &str, body: &str) {
        use std::os::unix::fs::PermissionsExt;
        let path = self.0.join(folder).join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{body}\n"))
            .and_then(|()| std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)))
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
    }

    /// Returns a command that runs the copy of the executable with `arguments`.
    pub fn command<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Command {
        let mut command = Command::new(self.0.join("latency-bench"));
        command.args(arguments).current_dir(&self.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Returns the sorted names of its files except for the executable.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    pub fn names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.0).expect("the directory");
        let mut names: Vec<String> = entries
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.retain(|name| name != "latency-bench");
        names.sort();
        names
    }
}

/// Copies the executable by a separate process: a file that is open for writing in this process would also be
/// open in every child that another thread starts meanwhile, and could not be executed (ETXTBSY).
fn copy(to: &Path) -> std::io::Result<()> {
    let status = Command::new("cp").arg(binary()).arg(to).status()?;
    if status.success() { Ok(()) } else { Err(std::io::Error::other(format!("cp: {status}"))) }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // Left-overs in /tmp cost only space.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
