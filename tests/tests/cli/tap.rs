//! Test points for the harnesses of kernel CI: a strict reader reads them, and Perl's `prove` runs them.

use latency_tests::directory::Directory;
use latency_tests::program::{binary, workspace};
use latency_tests::run::{finish, run};
use latency_tests::skip::skip;
use latency_tests::tap::{Point, read};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Returns the stored texts.
fn goldens() -> Vec<PathBuf> {
    let files = fs::read_dir(workspace().join("tests/golden")).expect("the folder");
    let mut files: Vec<PathBuf> = files.map(|file| file.expect("a file").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "tap"));
    files
}

/// Returns a stored text without the messages of its run.
fn stored(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("the text");
    text.lines()
        .filter(|line| !line.starts_with("standard error: "))
        .map(|line| format!("{line}\n"))
        .collect()
}

fn points(name: &str) -> Vec<Point> {
    let text = stored(&workspace().join("tests/golden").join(name));
    read(&text).unwrap_or_else(|reason| panic!("{name}: {reason}"))
}

/// Returns the names of the points that failed.
fn failed(points: &[Point]) -> Vec<&str> {
    points.iter().filter(|point| !point.ok).map(|point| point.name.as_str()).collect()
}

#[test]
fn a_point_fails_only_if_somebody_should_act() {
    assert!(goldens().len() >= 7);
    for path in goldens() {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let points = points(name);
        assert!(points.last().is_some_and(|last| last.name.ends_with(" trust")), "{name}");
        let failed = failed(&points);
        match name {
            "matrix-unverified.tap" => {
                assert_eq!(failed, ["matrix 0 -> 0", "matrix trust"]);
                let warnings = points[1].values["warnings"].as_array().expect("warnings");
                let last = warnings.last().expect("a warning");
                assert_eq!(last["code"].as_str(), Some("placement-unverified"));
                assert!(last["remedy"].as_str().is_some_and(|remedy| remedy.starts_with("mount /proc")));
            }
            "compare-conditions.tap" => assert_eq!(failed, ["compare trust"]),
            "compare-matrix.tap" => assert!(failed.contains(&"compare 0 -> 1, matrix")),
            "fleet-apart.tap" => {
                assert!(failed.iter().all(|name| name.contains(" b10 ")) && failed.len() == 2)
            }
            "fleet.tap" => assert!(failed.iter().all(|name| name.contains(" a")) && failed.len() == 5),
            _ => assert_eq!(failed, [""; 0], "{name}"),
        }
    }
    let skipped = points("curve-interrupted.tap");
    let reasons: Vec<&str> = skipped.iter().filter_map(|point| point.skipped.as_deref()).collect();
    assert!(reasons.contains(&"interrupted") && skipped.iter().any(|point| point.skipped.is_none()));
}

#[test]
fn a_file_of_test_points_is_the_result_of_its_run() {
    let directory = Directory::new("tap");
    let measured = ["matrix", "--size=1M", "--trials=3", "--iters=2000", "--save=r.json", "-o", "r.tap"];
    finish(&mut directory.command(&measured)).expect_status(0);
    let text = fs::read_to_string(directory.path().join("r.tap")).expect("the points");
    let points = read(&text).unwrap();
    assert_eq!(points[0].name, "matrix 0 -> 0");
    assert!(points[0].values["ns"].as_f64() > Some(0.0), "{text}");
    let shown = finish(&mut directory.command(&["show", "r.json", "--format=tap"]));
    assert_eq!(shown.expect_status(0).stdout, text);
    // Names are those of other runs: they have no measured values.
    let again = ["matrix", "--size=1M", "--trials=4", "--iters=1000", "--seed=7", "--format=tap", "--quiet"];
    let again = finish(&mut directory.command(&again));
    let names = |points: Vec<Point>| points.into_iter().map(|point| point.name).collect::<Vec<_>>();
    assert_eq!(names(read(&again.expect_status(0).stdout).unwrap()), names(points));
    for name in ["system", "reference"] {
        let found = run(&[name, "--format=tap"]);
        found.expect_status(1).expect_error(&format!("{name} has no test points"));
    }
}

fn prove(directory: &Directory, arguments: &[&str]) -> Output {
    Command::new("prove").args(arguments).current_dir(directory.path()).output().expect("prove")
}

#[test]
fn prove_accepts_all_points() {
    if Command::new("prove").arg("--version").output().is_err() {
        return skip("cli::tap::prove_accepts_all_points", "no prove here, which is part of Perl");
    }
    let directory = Directory::new("tap-prove");
    for path in goldens() {
        let text = stored(&path);
        fs::write(directory.path().join("stored.tap"), &text).expect("a file");
        let output = prove(&directory, &["-e", "cat", "stored.tap"]);
        let said = String::from_utf8_lossy(&output.stdout);
        let points = read(&text).unwrap();
        assert_eq!(output.status.success(), failed(&points).is_empty(), "{said}");
        assert!(
            !said.contains("Parse errors") && said.contains(&format!("Tests={}", points.len())),
            "{said}"
        );
    }
    // A run within a harness.
    let run = format!("{} matrix --size=1M --trials=3 --iters=2000 --format=tap\n", binary().display());
    fs::write(directory.path().join("memory.t"), run).expect("a script");
    let output = prove(&directory, &["-e", "sh", "memory.t"]);
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("Tests=2") && !said.contains("Parse errors"), "{said}");
}
