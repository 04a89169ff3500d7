//! Programs of Debian packages that tests call, from the system or unpacked below `target/emulator`.
//!
//! Nothing is installed. What is unpacked once is kept.

use crate::program::scratch;
use crate::vm::debian;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Packages that belong together, as a tree that looks like a root directory.
#[derive(Debug)]
pub struct Tree(Option<PathBuf>);

impl Tree {
    /// The system itself where it has `program`, else the packages, unpacked.
    ///
    /// # Errors
    ///
    /// What could not be done, with the last words of the program that failed.
    pub fn with(program: &str, packages: &[&str]) -> Result<Self, String> {
        if installed(program) {
            return Ok(Tree(None));
        }
        // One directory of a process: its threads come one after the other.
        static UNPACKING: Mutex<()> = Mutex::new(());
        let _alone = UNPACKING.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = scratch()?.join(format!("packages-{program}"));
        if !kept.is_dir() {
            // Another process sees the whole tree or none.
            let fresh = scratch()?.join(format!("packages-{program}-{}", std::process::id()));
            let unpacked = debian::packages(packages, &fresh)
                .and_then(|tree| fs::rename(tree, &kept).map_err(|error| error.to_string()));
            // Left-overs in `target` cost space and nothing else.
            let _ = fs::remove_dir_all(&fresh);
            if !kept.is_dir() {
                unpacked?;
            }
        }
        Ok(Tree(Some(kept)))
    }

    /// A program of it, with its libraries.
    pub fn command(&self, program: &str) -> Command {
        let Some(root) = &self.0 else { return Command::new(program) };
        let places = ["usr/bin", "bin"].map(|place| root.join(place).join(program));
        let mut command = Command::new(
            places.iter().find(|path| path.is_file()).map_or(Path::new(program), PathBuf::as_path),
        );
        command.env("LD_LIBRARY_PATH", root.join("usr/lib/x86_64-linux-gnu"));
        command
    }

    /// Its own directory; the system's is `/`.
    pub fn root(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new("/"))
    }
}

/// Whether a program is on the path.
fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
