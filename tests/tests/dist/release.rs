//! The rule that a release is for all instruction sets, or is not made.

use super::shared;
use latency_tests::directory::Directory;
use latency_tests::program::workspace;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Packs these executables into the directory `again`.
fn pack(directory: &Directory, machines: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_dist"));
    command.arg("pack").arg(directory.path().join("again"));
    command
        .args(machines.iter().map(|machine| shared().executable(machine)))
        .output()
        .expect("a program of the tests")
}

#[test]
fn a_release_has_one_executable_for_each_instruction_set() {
    let directory = Directory::new("dist-both");
    let again = directory.path().join("again");
    for (machines, message) in [
        (&["x86_64"][..], "one executable for aarch64, not 0"),
        (&["aarch64"], "one executable for x86_64, not 0"),
        (&["x86_64", "x86_64", "aarch64"], "one executable for x86_64, not 2"),
        (&["x86_64", "aarch64", "none"], "none: No such file"),
        (&["x86_64", "aarch64", "files/SHA256SUMS"], "is not an executable of a release"),
    ] {
        let told = pack(&directory, machines);
        let errors = String::from_utf8_lossy(&told.stderr).into_owned();
        assert!(!told.status.success() && errors.contains(message), "{machines:?}: {errors}");
        assert!(!again.exists(), "{machines:?}");
    }
    // The files themselves state their targets, so their order does not matter.
    assert!(pack(&directory, &["aarch64", "x86_64"]).status.success());
    let sums = |folder: &Path| fs::read_to_string(folder.join("SHA256SUMS")).expect("the checksums");
    assert_eq!(sums(&again), sums(&shared().directory()));
}

/// Without the target of one instruction set `make dist` builds nothing, so that a release is never published by halves.
#[test]
fn without_a_target_no_release_is_made() {
    let directory = Directory::new("dist-target");
    // The compiler has every target but one, and nothing adds it.
    let compiler = "case \"$*\" in *--target*aarch64*) exit 1;; esac; PATH=${PATH#*:}; exec rustc \"$@\"";
    fs::create_dir(directory.path().join("programs")).expect("a directory");
    directory.script("programs", "rustc", compiler);
    directory.script("programs", "rustup", "exit 1");
    let released = directory.path().join("released");
    fs::create_dir(&released).expect("a directory");
    fs::write(released.join("older"), "").expect("a file");
    let path = std::env::var("PATH").unwrap_or_default();
    let told = Command::new(workspace().join("bin/dist/build"))
        .arg(&released)
        .env("PATH", format!("{}:{path}", directory.path().join("programs").display()))
        .output()
        .expect("bin/dist/build");
    let errors = String::from_utf8_lossy(&told.stderr).into_owned();
    assert!(!told.status.success(), "{errors}");
    for message in ["no release was made, because it would be without aarch64;", "aarch64-unknown-linux-musl"]
    {
        assert!(errors.contains(message), "{errors}");
    }
    let left: Vec<_> = fs::read_dir(&released).expect("the directory").flatten().collect();
    assert!(left.len() == 1 && left[0].file_name() == "older", "{left:?}");
}
