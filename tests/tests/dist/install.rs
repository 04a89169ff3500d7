//! `make install` and `make uninstall` into a temporary directory.

use super::run;
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

/// Returns the paths of all files below a directory.
fn files(directory: &Path) -> Vec<String> {
    let listed = run(Command::new("find").args([".", "-type", "f"]).current_dir(directory));
    let mut paths: Vec<String> = listed.lines().map(String::from).collect();
    paths.sort();
    paths
}

#[test]
fn install_copies_the_files_of_a_release_and_uninstall_removes_them() {
    let directory = Directory::new("dist-install");
    let written = make("install", directory.path());
    let prefix = directory.path().join("opt/a b");
    let expected = [
        "./bin/latency-bench",
        "./share/bash-completion/completions/latency-bench",
        "./share/fish/vendor_completions.d/latency-bench.fish",
        "./share/man/man1/latency-bench.1",
        "./share/zsh/site-functions/_latency-bench",
    ];
    assert_eq!(files(&prefix), expected);
    assert_eq!(written.lines().count(), expected.len(), "{written}");
    let version = run(Command::new(prefix.join("bin/latency-bench")).arg("--version"));
    assert!(version.starts_with("latency-bench "), "{version}");
    for path in &expected[1..] {
        let file = prefix.join(path);
        let text = fs::read_to_string(&file).expect("a text");
        assert!(text.contains("latency"), "{path}");
        assert_eq!(fs::metadata(&file).expect("a file").permissions().mode() & 0o777, 0o644, "{path}");
    }
    make("uninstall", directory.path());
    assert_eq!(files(&prefix), [""; 0]);
}
