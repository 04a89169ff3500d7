//! What a release has besides the executable: manual page, completions, archive, image, bill of materials.

mod pages;
mod shells;

use std::process::Command;

/// What the program that makes them writes to standard output.
fn made(arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_dist")).args(arguments).output().expect("the program dist");
    assert!(output.status.success(), "dist {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}
