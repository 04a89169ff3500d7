//! `make install` and `make uninstall` into a temporary directory.

use super::{files, run, unpacked};
use latency_tests::directory::Directory;
use latency_tests::program::workspace;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

/// Runs a target of the Makefile for a directory.
fn make(target: &str, directory: &Path) -> String {
    let place = format!("DESTDIR={}", directory.display());
    run(Command::new("make").args(["--silent", target, "PREFIX=/opt/a b", &place]).current_dir(workspace()))
}

#[test]
fn install_copies_the_files_of_a_release_and_uninstall_removes_them() {
    let directory = Directory::new("dist-install");
    let written = make("install", directory.path());
    let prefix = directory.path().join("opt/a b");
    // The bill of materials and the licences of others are made by the program that makes a release.
    let release = directory.path().join("release");
    unpacked("x86_64", &release);
    let mut expected = files(&release);
    expected.retain(|path| !path.contains("/licences/") && !path.ends_with(".cdx.json"));
    assert_eq!(files(&prefix), expected);
    assert_eq!(written.lines().count(), expected.len(), "{written}");
    let version = run(Command::new(prefix.join("bin/latency-bench")).arg("--version"));
    assert!(version.starts_with("latency-bench "), "{version}");
    for path in &expected {
        let [one, other] = [&prefix, &release].map(|place| {
            let mode = fs::metadata(place.join(path)).expect("a file").permissions().mode() & 0o777;
            (mode, fs::read(place.join(path)).expect("a file"))
        });
        assert!(one == other, "{path}");
    }
    make("uninstall", directory.path());
    assert_eq!(files(&prefix), [""; 0]);
    assert!(!prefix.join("share/latency-bench").exists(), "a directory of this program alone");
}
