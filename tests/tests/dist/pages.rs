//! The texts that are made from the table of options, and the check of the manual page by mandoc.

use super::made;
use latency_tests::packages::Tree;
use latency_tests::program::workspace;
use latency_tests::skip::skip;
use std::fs;
use std::io::Write;
use std::process::Stdio;

/// The files in tests/packaged, with the arguments that make each.
const GOLDENS: [(&str, &[&str]); 4] = [
    ("latency-bench.1", &["man"]),
    ("latency-bench.bash", &["completions", "bash"]),
    ("_latency-bench", &["completions", "zsh"]),
    ("latency-bench.fish", &["completions", "fish"]),
];

#[test]
fn packaged_texts_match_their_goldens() {
    for (name, arguments) in GOLDENS {
        let text = made(arguments);
        let path = workspace().join("tests/packaged").join(name);
        if std::env::var_os("UPDATE_GOLDEN").is_some() {
            fs::write(&path, text).expect("a golden file");
        } else {
            let golden = fs::read_to_string(&path).unwrap_or_default();
            assert!(golden == text, "{name} differs from {}: `make golden` rewrites it", path.display());
        }
    }
}

#[test]
fn mandoc_has_no_complaints() {
    let mandoc = match Tree::with("mandoc", &["mandoc"]) {
        Ok(tree) => tree,
        Err(reason) => return skip("mandoc_has_no_complaints", &reason),
    };
    let read = |arguments: &[&str]| {
        let mut child = mandoc
            .command("mandoc")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("mandoc");
        let page = made(&["man"]);
        child.stdin.take().expect("a pipe").write_all(page.as_bytes()).expect("mandoc reads");
        let output = child.wait_with_output().expect("mandoc");
        assert!(output.status.success(), "mandoc: {}", String::from_utf8_lossy(&output.stdout));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    assert_eq!(read(&["-Tlint"]), "");
    let text = read(&["-Tascii", "-Owidth=78"]);
    for line in ["CAVEATS", "EXIT STATUS"] {
        assert!(text.lines().any(|found| found.replace('\u{8}', "").contains(&bold(line))), "{line}");
    }
}

/// Returns text in bold face as terminals show it without their backspaces: every letter twice.
fn bold(text: &str) -> String {
    text.chars().flat_map(|letter| if letter == ' ' { vec![' '] } else { vec![letter; 2] }).collect()
}
