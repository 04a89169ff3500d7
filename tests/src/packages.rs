//! Programs of Debian packages that tests call, from the system or unpacked below `target/emulator`.
//!
//! Nothing is installed. Unpacked packages are kept.

use crate::program::scratch;
use crate::vm::debian;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Related packages, as a tree that looks like a root directory.
#[derive(Debug)]
pub struct Tree(Option<PathBuf>);

impl Tree {
    /// Returns the system itself if it has `program`, otherwise the unpacked packages.
    ///
    /// # Errors
    ///
    /// The failed step, with the last output of the program that failed.
    pub fn with(program: &str, packages: &[&str]) -> Result<Self, String> {
        if installed(program) {
            return Ok(Tree(None));
        }
        // All threads of a process share one directory, so they take turns.
        static UNPACKING: Mutex<()> = Mutex::new(());
        let _alone = UNPACKING.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = scratch()?.join(format!("packages-{program}"));
        if !kept.is_dir() {
            // Another process sees either the whole tree or nothing.
            let fresh = scratch()?.join(format!("packages-{program}-{}", std::process::id()));
            let unpacked = debian::packages(packages, &fresh)
                .and_then(|tree| fs::rename(tree, &kept).map_err(|error| error.to_string()));
            // Left-overs in `target` cost only space.
            let _ = fs::remove_dir_all(&fresh);
            if !kept.is_dir() {
                unpacked?;
            }
        }
        Ok(Tree(Some(kept)))
    }

    /// Returns a command for one of its programs, with its libraries.
    pub fn command(&self, program: &str) -> Command {
        let Some(root) = &self.0 else { return Command::new(program) };
        let places = ["usr/bin", "bin"].map(|place| root.join(place).join(program));
        let mut command = Command::new(
            places.iter().find(|path| path.is_file()).map_or(Path::new(program), PathBuf::as_path),
        );
        command.env("LD_LIBRARY_PATH", root.join("usr/lib/x86_64-linux-gnu"));
        command
    }

    /// Returns its root directory; the system's is `/`.
    pub fn root(&self) -> &Path {
        self.0.as_deref().unwrap_or(Path::new("/"))
    }
}

/// Returns true if a program is on the path.
fn installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|directory| directory.join(program).is_file())
}
