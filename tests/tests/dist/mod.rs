//! The files of a release other than the executable: manual page, completions, archive, image, bill of
//! materials.

mod archive;
mod image;
mod install;
mod pages;
mod shells;

use latency_tests::directory::Directory;
use latency_tests::program::binary;
use std::path::PathBuf;
use std::process::Command;

/// Returns the output of the program that makes these files.
fn made(arguments: &[&str]) -> String {
    run(Command::new(env!("CARGO_BIN_EXE_dist")).args(arguments))
}

/// Returns a command's standard output; the command has to succeed.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("a program of the tests");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The files of a release of the executable under test; they are deleted on drop.
struct Packed(Directory);

impl Packed {
    fn directory(&self) -> PathBuf {
        self.0.path().join("files")
    }

    /// Returns the path of the file with this ending.
    fn file(&self, ending: &str) -> PathBuf {
        self.directory().join(format!("latency-bench-{}-x86_64-linux{ending}", env!("CARGO_PKG_VERSION")))
    }
}

/// Packs the executable under test, in a time zone.
fn packed(name: &str, zone: &str) -> Packed {
    let packed = Packed(Directory::new(&format!("dist-{name}")));
    let mut command = Command::new(env!("CARGO_BIN_EXE_dist"));
    run(command.arg("pack").arg(binary()).arg(packed.directory()).env("TZ", zone));
    packed
}
