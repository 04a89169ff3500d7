//! The recipes that watch hosts and judge by exit statuses: each is run with results that are good, slow and poor, and its
//! names of metrics are those that the program writes.

use super::recipes::{recipe, text, yaml};
use latency_tests::directory::Directory;
use latency_tests::packages::Tree;
use latency_tests::program::{binary, workspace};
use latency_tests::run::{Run, finish, run};
use latency_tests::skip::skip;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// The lines of fixtures/saved/fleet-memory.jsonl that are results of a good host, of a host with slow address translation,
/// and of one with slow memory; the others are the baseline.
const GOOD: usize = 0;
const TRANSLATION: usize = 2;
const SLOW: usize = 4;

/// A directory with results, and a program that answers measurements with them. It takes only options that the real one
/// takes.
struct Scene(Directory);

impl Scene {
    /// Makes one in which the first measurements have these results; without one, a measurement fails.
    fn new(results: &[&str]) -> Self {
        let scene = Scene(Directory::new("recipe-watch"));
        let directory = scene.path();
        let saved = fs::read_to_string(workspace().join("tests/fixtures/saved/fleet-memory.jsonl"))
            .expect("a fixture");
        let lines: Vec<&str> = saved.lines().collect();
        let baseline =
            lines.iter().enumerate().filter(|(index, _)| ![GOOD, TRANSLATION, SLOW].contains(index));
        let baseline: String = baseline.map(|(_, line)| format!("{line}\n")).collect();
        fs::write(directory.join("baseline.jsonl"), baseline).expect("a file");
        for (name, line) in [("good", GOOD), ("translation", TRANSLATION), ("slow", SLOW)] {
            fs::write(directory.join(format!("{name}.jsonl")), format!("{}\n", lines[line])).expect("a file");
        }
        let mut poor: Value = serde_json::from_str(lines[SLOW]).expect("JSON");
        poor["trust"] = serde_json::json!({ "level": "poor", "reasons": ["other-work"], "emulated": false, "omitted": 0 });
        fs::write(directory.join("poor.jsonl"), format!("{poor}\n")).expect("a file");
        fs::write(directory.join("results"), results.join("\n") + "\n").expect("a file");
        fs::create_dir(directory.join("programs")).expect("a directory");
        scene.0.script("programs", "scontrol", &format!("echo \"$*\" >>{}/drained", directory.display()));
        let body = format!(
            "case $1 in fleet|compare|show) exec {binary} \"$@\" ;; esac\n\
             {binary} \"$@\" --dry-run >/dev/null || exit 9\n\
             cd {directory}; name=$(sed 1q results); sed -i 1d results; to=/dev/stdout\n\
             for word; do case $word in --output=*) to=${{word#--output=}} ;; esac; done\n\
             [ -e \"$name.jsonl\" ] || exit 2\ncat \"$name.jsonl\" >\"$to\"",
            binary = binary().display(),
            directory = directory.display()
        );
        scene.0.script("programs", "latency-bench", &body);
        scene
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Returns a command whose programs are those of the directory and `latency-check`, and which does not wait.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let path = std::env::var("PATH").unwrap_or_default();
        let (own, check) = (self.path().join("programs"), recipe("check"));
        command.env("PATH", format!("{}:{}:{path}", own.display(), check.display()));
        command.env("PAUSE", "0").current_dir(self.path());
        command
    }

    /// Runs a recipe with the baseline.
    fn script(&self, name: &str, variables: &[(&str, &str)]) -> Run {
        let mut command = self.command("sh");
        command.arg(recipe(name)).arg("baseline.jsonl").envs(variables.iter().copied());
        finish(&mut command)
    }
}

/// Returns the one line of a check.
fn line(found: &Run) -> &str {
    let line = found.stdout.strip_suffix('\n').unwrap_or_else(|| panic!("{found}"));
    assert!(!line.contains('\n') && line.len() <= 80, "{found}");
    line
}

#[test]
fn a_host_is_slow_if_its_memory_is_at_two_looks() {
    const TWICE: &str = "slow at two looks: matrix 0 -> 0 memory 1.30x the baseline";
    for (results, status, begin) in [
        (&["good"][..], 0, "memory is not slow"),
        (&["translation"], 0, "memory is not slow"),
        (&["slow", "slow"], 5, TWICE),
        (&["slow", "good"], 0, "memory was slow at the first look"),
        (&["slow", "poor"], 6, "no verdict:"),
        (&["slow", "none"], 1, "not measured:"),
        (&["poor"], 6, "no verdict:"),
        (&["none"], 1, "not measured:"),
    ] {
        let found = Scene::new(results).script("check/latency-check", &[]);
        assert_eq!(found.status.code(), Some(status), "{results:?}: {found}");
        assert!(line(&found).starts_with(begin), "{results:?}: {found}");
    }
    // A saved result is the first look; only a recent one counts.
    for (results, saved, status) in [
        (&["none"][..], "good", 0),
        (&["none"], "poor", 6),
        (&["none"], "absent", 6),
        (&["none"], "slow", 1),
        (&["slow"], "slow", 5),
        (&["good"], "slow", 0),
    ] {
        let scene = Scene::new(results);
        let check = || scene.script("check/latency-check", &[("RESULT", &format!("{saved}.jsonl"))]);
        let found = check();
        assert_eq!(found.status.code(), Some(status), "{results:?}, saved {saved}: {found}");
        line(&found);
        run_in(&scene, "touch", &["-d", "3 days ago", &format!("{saved}.jsonl")]);
        check().expect_status(6);
    }
    let scene = Scene::new(&["slow", "slow"]);
    scene.script("check/latency-check", &[("THRESHOLD", "50%")]).expect_status(0);
    assert_eq!(
        Scene::new(&["good"]).script("check/latency-check", &[("BUDGET", "x")]).status.code(),
        Some(1)
    );
}

fn run_in(scene: &Scene, program: &str, arguments: &[&str]) {
    assert!(scene.command(program).args(arguments).status().expect("a program").success());
}

#[test]
fn slurm_drains_a_node_that_is_slow_at_two_looks() {
    for (results, status, is_drained) in [
        (&["good"][..], 0, false),
        (&["slow", "slow"], 0, true),
        (&["slow", "poor"], 6, false),
        (&["none"], 1, false),
    ] {
        let scene = Scene::new(results);
        scene.script("slurm/health-check.sh", &[]).expect_status(status);
        let drained = fs::read_to_string(scene.path().join("drained")).unwrap_or_default();
        let is_it =
            drained.contains("State=DRAIN") && drained.contains("NodeName=") && drained.contains("1.30x");
        assert_eq!((is_it, drained.is_empty()), (is_drained, !is_drained), "{results:?}: {drained}");
    }
}

#[test]
fn node_problem_detector_gets_its_statuses_and_a_valid_configuration() {
    for (results, status) in [(&["good"][..], 0), (&["slow", "slow"], 1), (&["poor"], 2), (&["none"], 2)] {
        let found = Scene::new(results).script("node-problem-detector/latency-problem", &[]);
        assert_eq!(found.status.code(), Some(status), "{results:?}: {found}");
        line(&found);
    }
    // Its own checks at its start: times that parse, rules no longer than the whole, a default of each condition.
    let known: Value = serde_json::from_str(&text("node-problem-detector/slow-memory.json")).expect("JSON");
    let seconds = |time: &Value| {
        let text = time.as_str().expect("a time");
        let (number, unit) = text.split_at(text.len() - 1);
        number.parse::<u64>().expect("a number")
            * [("s", 1), ("m", 60), ("h", 3600)].iter().find(|known| known.0 == unit).expect("a unit").1
    };
    let settings = &known["pluginConfig"];
    assert_eq!((&known["plugin"], &settings["max_output_length"]), (&"custom".into(), &80.into()));
    assert!(seconds(&settings["invoke_interval"]) > seconds(&settings["timeout"]));
    let rule = &known["rules"][0];
    assert!(seconds(&rule["timeout"]) <= seconds(&settings["timeout"]) && seconds(&rule["timeout"]) >= 60);
    assert_eq!(known["conditions"][0]["type"], rule["condition"]);
    assert!(rule["path"].as_str().is_some_and(|path| path.ends_with("/latency-problem")));
}

#[test]
fn node_feature_discovery_gets_a_label_that_expires() {
    for (results, verdict) in
        [(&["good"][..], "ok"), (&["slow", "slow"], "slow"), (&["poor"], "unknown"), (&["none"], "unknown")]
    {
        let scene = Scene::new(results);
        fs::create_dir(scene.path().join("features.d")).expect("a directory");
        scene
            .script("node-feature-discovery/latency-features", &[("FEATURES", "features.d")])
            .expect_status(0);
        let names: Vec<_> =
            fs::read_dir(scene.path().join("features.d")).expect("a directory").flatten().collect();
        assert!(names.len() == 1 && names[0].file_name() == "latency-bench", "{names:?}");
        let file = fs::read_to_string(names[0].path()).expect("the file");
        let label = format!("feature.node.kubernetes.io/latency-bench.memory={verdict}");
        assert_eq!(file.lines().filter(|line| !line.starts_with('#')).collect::<Vec<_>>(), [label]);
        // A time of RFC 3339, in the future.
        let expiry = file.lines().find_map(|line| line.strip_prefix("# +expiry-time=")).expect("a time");
        let now = finish(Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"])).stdout;
        assert!(expiry.len() == now.trim().len() && *expiry > *now.trim(), "{expiry}");
    }
}

#[test]
fn nhc_fails_a_node_that_is_slow() {
    // The functions of NHC that the check calls, as NHC has them in its own shell.
    let call = format!(
        "function die() {{ echo \"$@\" >died; }}\nfunction dbg() {{ :; }}\nfunction log() {{ echo \"$@\" >logged; }}\nsource '{}'\ncheck_latency_bench \"$@\"",
        recipe("nhc/latency_bench.nhc").display()
    );
    for (results, saved, is_slow) in [
        (&["none"][..], "good", false),
        (&["slow"], "slow", true),
        (&["poor"], "slow", false),
        (&["none"], "absent", false),
    ] {
        let scene = Scene::new(results);
        let mut check = scene.command("bash");
        check.args(["-c", &call, "nhc", &format!("{saved}.jsonl"), "baseline.jsonl"]);
        finish(&mut check).expect_status(i32::from(is_slow));
        let died = fs::read_to_string(scene.path().join("died")).unwrap_or_default();
        assert_eq!(
            died.starts_with("1 check_latency_bench:  slow at two looks: "),
            is_slow,
            "{saved}: {died}"
        );
        let logged = fs::read_to_string(scene.path().join("logged")).unwrap_or_default();
        assert_eq!(logged.contains("no verdict: "), !is_slow && saved != "good", "{saved}: {logged}");
    }
}

#[test]
fn github_shows_the_result_and_fails_on_a_regression() {
    let workflow = yaml("github/memory.yaml");
    let steps = workflow["jobs"]["memory"]["steps"].as_vec().expect("a list");
    let scripts: Vec<&str> = steps.iter().filter_map(|step| step["run"].as_str()).collect();
    assert_eq!(scripts.len(), 2);
    for (result, status, says, summary) in [
        ("good", 0, "", "**No regression of 6.1% or more"),
        ("slow", 5, "::error::", "**REGRESSION: all 2 points slower by 31"),
        ("poor", 0, "::warning::", "**No verdict: A is not poor, B is poor (other-work)"),
        ("none", 2, "", ""),
    ] {
        let scene = Scene::new(&[result]);
        fs::create_dir(scene.path().join(".github")).expect("a directory");
        fs::copy(scene.path().join("good.jsonl"), scene.path().join(".github/memory.json"))
            .expect("a baseline");
        let mut told = String::new();
        let mut last = 0;
        for script in &scripts {
            // As GitHub's runners start a step.
            let mut step = scene.command("bash");
            step.args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
                .env("GITHUB_STEP_SUMMARY", "summary.md");
            let found = finish(&mut step);
            told += &found.stdout;
            last = found.status.code().expect("a status");
            if last != 0 {
                break;
            }
        }
        assert_eq!((last, told.starts_with(says)), (status, true), "{result}: {told}");
        let shown = fs::read_to_string(scene.path().join("summary.md")).unwrap_or_default();
        assert!(shown.contains(summary), "{result}: {shown}");
        assert_eq!(shown.contains("| to node 0 | "), result != "none", "{shown}");
    }
}

/// Returns the metrics that a text names.
fn metrics(text: &str) -> BTreeSet<&str> {
    let words = text.split(|letter: char| {
        !letter.is_ascii_lowercase() && !letter.is_ascii_digit() && !"_:".contains(letter)
    });
    words.filter(|word| word.starts_with("latency_bench_")).collect()
}

#[test]
fn rules_and_dashboard_have_metrics_that_are_written() {
    let mut written = String::new();
    for entry in fs::read_dir(workspace().join("tests/golden")).expect("the goldens").flatten() {
        if entry.file_name().to_string_lossy().contains(".prom") {
            written += &fs::read_to_string(entry.path()).expect("a golden");
        }
    }
    let fleet = workspace().join("tests/fixtures/saved/fleet-memory.jsonl").display().to_string();
    written += &run(&["fleet", "--expect=9", "--format=prometheus", &fleet]).stdout;
    let known = metrics(&written);
    let dashboard = text("grafana/latency-bench.json");
    let parsed: Value = serde_json::from_str(&dashboard).expect("JSON");
    let mut expressions = Vec::new();
    for panel in parsed["panels"].as_array().expect("panels") {
        assert!(panel["title"].is_string() && panel["gridPos"]["w"].is_u64(), "{panel}");
        for target in panel["targets"].as_array().expect("targets") {
            expressions.push(target["expr"].as_str().expect("an expression").replace("$instance", ".*"));
        }
    }
    let rules = yaml("prometheus/latency-bench.rules.yaml");
    for rule in rules["groups"][0]["rules"].as_vec().expect("rules") {
        expressions.push(rule["expr"].as_str().expect("an expression").into());
    }
    assert!(expressions.len() >= 16, "{expressions:?}");
    for expression in &expressions {
        let named = metrics(expression);
        assert!(expression.contains("latency_bench:") || !named.is_empty(), "{expression}");
        assert!(named.is_subset(&known), "{:?} is not written: {expression}", &named - &known);
    }
    let test = "rules_and_dashboard_have_metrics_that_are_written";
    let promtool = match Tree::with("promtool", &["prometheus"]) {
        Ok(tree) => tree,
        Err(reason) => return skip(test, &reason),
    };
    // Alerts at hours of twelve days of four hosts; and the expressions of the dashboard, as rules.
    let directory = Directory::new("recipe-promtool");
    let rules = expressions.iter().map(|expression| {
        format!("      - {{record: checked, expr: {}}}\n", Value::from(expression.as_str()))
    });
    let all = format!("groups:\n  - name: all\n    rules:\n{}", rules.collect::<String>());
    fs::write(directory.path().join("all.yaml"), all).expect("a file");
    for arguments in
        [["test", "rules", "latency-bench.test.yaml"], ["check", "rules", "latency-bench.rules.yaml"]]
    {
        finish(promtool.command("promtool").args(arguments).current_dir(recipe("prometheus")))
            .expect_status(0);
    }
    let mut check = promtool.command("promtool");
    finish(check.args(["check", "rules", "--lint=none", "all.yaml"]).current_dir(directory.path()))
        .expect_status(0);
}

#[test]
fn shellcheck_has_no_complaints() {
    if Command::new("shellcheck").arg("--version").output().is_err() {
        return skip("shellcheck_has_no_complaints", "there is no shellcheck");
    }
    let listed = finish(Command::new("grep").args(["-rl", "^#!/bin/sh"]).arg(recipe(""))).stdout;
    let scripts: Vec<&str> = listed.lines().collect();
    assert!(scripts.len() >= 5, "{scripts:?}");
    finish(Command::new("shellcheck").arg("--severity=warning").args(scripts)).expect_status(0);
    let nhc = recipe("nhc/latency_bench.nhc");
    finish(Command::new("shellcheck").args(["--severity=warning", "--shell=bash"]).arg(nhc)).expect_status(0);
}
