//! Options that every measuring experiment has, options that a report passes on, and the announced time.

use latency_tests::confine::allowed_cpus;
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, number, stored_report, text};
use latency_tests::program::workspace;
use latency_tests::run::{command, finish, run};
use latency_tests::schema::assert_valid;
use latency_tests::terminal::under;
use serde_json::Value;
use std::fs;
use std::time::Instant;

#[test]
fn every_measuring_experiment_takes_labels_and_seeds() {
    let help = run(&["--help"]).stdout;
    let mut measuring = 0;
    for line in help.lines().take_while(|line| !line.starts_with("Placement")) {
        let Some(name) = line.strip_prefix("  ").and_then(|line| line.split(' ').next()) else { continue };
        if name.is_empty() || !run(&["help", name]).stdout.contains("--dry-run") {
            continue;
        }
        measuring += 1;
        let found = run(&[name, "--seed=7", "--label=rack=7", "--dry-run", "--json"]);
        let document = found.expect_json(0);
        assert_valid(&document);
        let points = array(&document, if name == "report" { "/sections/0/rows" } else { "/rows" });
        assert!(points.iter().all(|point| number(point, "/seed") == 7), "{found}");
    }
    assert_eq!(measuring, 13, "{help}");
}

#[test]
fn the_plan_of_a_report_contains_every_experiments_plan() {
    let cpu = *allowed_cpus().last().expect("a CPU");
    let cpus = format!("--cpu={cpu}");
    let asked = ["report", "--dry-run", "--format=json", &cpus, "--pages=4k", "--seed=7", "--size=1M"];
    let document = run(&asked).expect_json(0);
    assert_valid(&document);
    let sections = array(&document, "/sections");
    assert_eq!(sections.len() + array(&document, "/not_measured").len(), 10);
    let sum = |path: &str| {
        sections.iter().map(|section| at(section, path).as_f64().expect("a number")).sum::<f64>()
    };
    for path in ["/summary/points", "/summary/least_s", "/summary/most_s"] {
        let whole = at(&document, path).as_f64().expect("a number");
        assert!((whole - sum(path)).abs() < 1e-3, "{path}: {whole}");
    }
    for section in sections {
        let name = text(section, "/experiment");
        for point in array(section, "/rows") {
            assert_eq!(number(point, "/seed"), 7, "{name}");
            // The points of `cores` are pairs of any two CPUs.
            if name != "cores" {
                assert_eq!(
                    (number(point, "/initiator_cpu"), text(point, "/pages_asked")),
                    (cpu as u64, "4k"),
                    "{name}"
                );
            }
        }
    }
    let shown = run(&["report", "--dry-run", "--format=text", "--budget=20"]);
    shown.expect_status(0);
    assert!(shown.stdout.contains(" experiments, "), "{shown}");
    for name in ["matrix", "curve", "distribution"] {
        assert!(shown.stdout.lines().any(|line| line.trim_start().starts_with(name)), "{shown}");
    }
}

#[test]
fn a_report_refuses_missing_nodes_and_cpus_before_it_measures() {
    let directory = Directory::new("asked-absent");
    for (option, words) in [("--memnode=900", "invalid node id 900"), ("--cpu=8000", "invalid CPU 8000")] {
        let found = finish(&mut directory.command(&["report", option, "--output=page.html"]));
        found.expect_status(1).expect_error(words);
        assert!(directory.names().is_empty(), "{found}");
    }
}

#[test]
fn a_report_is_text_on_a_terminal_and_a_page_elsewhere() {
    let directory = Directory::new("asked-terminal");
    fs::write(directory.path().join("a.json"), stored_report().to_string()).expect("a file");
    let how = "Page: add -o report.html";
    let saved = under(&mut directory.command(&["report", "a.json"]), 100);
    assert!(saved.0.success() && saved.1.starts_with("8 saved results from 1 host."), "{saved:?}");
    assert!(saved.1.lines().last().is_some_and(|line| line.starts_with(how)), "{saved:?}");
    let plan = under(&mut directory.command(&["report", "--dry-run"]), 100);
    assert!(plan.0.success() && plan.1.contains(" experiments, "), "{plan:?}");
    let measured = under(&mut directory.command(&["report", "--size=64K", "--budget=3", "--quiet"]), 100);
    assert!(
        measured.0.success() && measured.1.contains("Memory latency") && !measured.1.contains('<'),
        "{measured:?}"
    );
    let page = "<!DOCTYPE html>";
    let asked = under(&mut directory.command(&["report", "a.json", "--format=html"]), 100);
    assert!(asked.1.starts_with(page), "{asked:?}");
    let piped = finish(&mut directory.command(&["report", "a.json"]));
    assert!(piped.expect_status(0).stdout.starts_with(page), "{piped}");
    // A file with another extension, or none, is written as before.
    let to_file = under(&mut directory.command(&["report", "a.json", "-o", "page"]), 100);
    assert_eq!((to_file.0.success(), to_file.1.as_str()), (true, ""));
    assert!(fs::read_to_string(directory.path().join("page")).expect("the page").starts_with(page));
}

#[test]
fn sentences_and_headlines_are_as_wide_as_the_terminal() {
    for columns in [40, 60] {
        for arguments in [
            &["curve", "--max-size=64K", "--trials=3", "--iters=2000", "--color=never"][..],
            &["fit", "tests/fixtures/saved/curve.json", "--color=never"],
            &["system"],
        ] {
            let (status, written) = under(command(arguments).current_dir(workspace()), columns);
            assert!(status.success(), "{written}");
            // Rows of tables begin with blanks, and a command has to be copied as a whole.
            let sentences =
                written.lines().filter(|line| !line.starts_with(' ') && !line.starts_with("echo "));
            for line in sentences {
                let one_word = !line.trim().contains(' ');
                assert!(line.chars().count() <= usize::from(columns) || one_word, "{columns}: {line}");
            }
        }
    }
}

#[test]
fn a_short_run_is_announced_as_short() {
    for (arguments, expected) in [
        ("matrix --size=1M --trials=20 --spread=0", "less than 1 s"),
        ("parallel --size=64K --time-limit=0.05", "up to "),
        ("order --size=64K --time-limit=0.5", "less than 1 s"),
        ("distribution --size=64K --time-limit=0.5", "up to 2 s"),
    ] {
        let words: Vec<&str> = arguments.split(' ').collect();
        let plan = run(&[&words[..], &["--dry-run"]].concat());
        assert!(plan.expect_status(0).stdout.contains(expected), "{plan}");
        let document = run(&[&words[..], &["--dry-run", "--json"]].concat()).expect_json(0);
        let least = at(&document, "/summary/least_s").as_f64().expect("a number");
        let begin = Instant::now();
        run(&words).expect_status(0);
        // Other work on the host makes a run longer, never shorter; a fast host needs a little less than estimated.
        let took = begin.elapsed().as_secs_f64();
        assert!(0.9 * least <= took, "{arguments}: at least {least} s were announced, and it took {took}");
    }
}

#[test]
fn a_report_passes_its_options_to_every_experiment() {
    let directory = Directory::new("asked-handed");
    let asked = ["report", "--size=64K", "--budget=20", "--seed=7", "--label=rack=7", "--json", "--quiet"];
    let document = finish(&mut directory.command(&asked)).expect_json(0);
    assert_valid(&document);
    assert_eq!(at(&document, "/host/labels/rack"), "7");
    for section in array(&document, "/sections") {
        assert_eq!(at(section, "/host/labels/rack"), "7");
        let said = |word: &Value| word == "--seed=7";
        assert!(array(section, "/command").iter().any(said), "{:#}", at(section, "/command"));
    }
}
