//! Every document that is saved in the repository: each command's output from it is valid, and steers no
//! terminal.

use super::fleet::set_latency;
use latency_tests::directory::Directory;
use latency_tests::document::{array, at};
use latency_tests::lanes::of_everything;
use latency_tests::program::workspace;
use latency_tests::prometheus::read as read_metrics;
use latency_tests::run::{ERROR, Run, command, finish, run};
use latency_tests::schema::{assert_valid, of_results, violations};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Commands that read saved results, by name.
const COMMANDS: [&str; 6] = ["report", "fit", "fleet", "compare", "show", "expect"];
/// Experiments that measure something, and `system`: their documents have a level of trust.
const EXPERIMENTS: [&str; 13] = [
    "matrix",
    "curve",
    "order",
    "distribution",
    "pages",
    "residency",
    "parallel",
    "window",
    "variants",
    "bandwidth",
    "loaded",
    "cores",
    "system",
];

/// Returns the sorted files of a directory of the tests with one of these extensions.
fn files(directory: &str, extensions: &[&str]) -> Vec<PathBuf> {
    let is_one = |path: &PathBuf| {
        extensions.is_empty()
            || extensions.iter().any(|known| path.extension().is_some_and(|own| own == *known))
    };
    let entries = fs::read_dir(workspace().join("tests").join(directory)).expect("a directory of the tests");
    let mut all: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).filter(is_one).collect();
    all.sort();
    all
}

/// Returns the first document of a golden file: for a command that fails, its message follows.
fn document(path: &PathBuf) -> Value {
    let text = fs::read_to_string(path).expect("a golden file");
    let mut documents = serde_json::Deserializer::from_str(&text).into_iter();
    documents.next().expect("a document").unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Calls `each` with every item, on as many threads as there are CPUs.
fn on_all_cpus<T: Sync>(items: &[T], each: &(dyn Fn(&T) + Sync)) {
    let next = AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    each(item);
                }
            });
        }
    });
}

/// A collector refuses a file with two samples of the same labels, or with one label twice.
#[test]
fn metrics_of_every_saved_result_are_accepted_by_a_collector() {
    let directory = Directory::new("documents-metrics");
    let path = |name: &str| workspace().join("tests/golden").join(name).display().to_string();
    let text = fs::read_to_string(path("matrix-two-nodes.json")).expect("a document");
    let mut document: Value = serde_json::from_str(&text).expect("JSON");
    let mut lines = String::new();
    for (host, factor) in [("a", 1.0), ("b", 1.1), ("a", 1.2)] {
        document["host"]["name"] = host.into();
        document["rows"][0]["ns_high"] = (200.0 * factor).into();
        lines += &(document.to_string() + "\n");
    }
    fs::write(directory.path().join("fleet.jsonl"), lines).expect("a file");
    let saved = [files("golden", &["json"]), files("fixtures/saved", &["json", "jsonl", "csv"])].concat();
    let mut paths: Vec<String> = saved.iter().map(|path| path.display().to_string()).collect();
    paths.push(directory.path().join("fleet.jsonl").display().to_string());
    let (broken, count) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    on_all_cpus(&paths, &|path| {
        let found = run(&["show", path, "--format=prometheus"]);
        if found.status.code() == Some(0) {
            count.fetch_add(1, Ordering::Relaxed);
            if let Err(why) = read_metrics(&found.stdout) {
                broken.lock().expect("a list").push(format!("{path}: {why}"));
            }
        }
    });
    let broken = broken.into_inner().expect("a list");
    assert!(broken.is_empty(), "{} of {paths:?}: {broken:#?}", broken.len());
    assert!(count.into_inner() > 60, "too few results");
}

#[test]
fn every_commands_output_from_saved_files_is_valid() {
    let saved = [files("golden", &["json", "csv"]), files("fixtures/saved", &[])].concat();
    // `expect` refuses most of them.
    let commands = || COMMANDS.into_iter().chain(["expect"]);
    let runs: Vec<_> = commands().flat_map(|name| saved.iter().map(move |path| (name, path))).collect();
    let (broken, documents) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    let every = of_everything(3, 1);
    let chosen: Vec<_> = runs.iter().step_by(every).collect();
    on_all_cpus(&chosen, &|(name, path)| {
        let path = path.to_str().expect("a path in UTF-8");
        let operands = if *name == "compare" { vec![path, path] } else { vec![path] };
        let found = run(&[&[*name, "--json"], &operands[..]].concat());
        // An unreadable file is refused with a message and without a document.
        if found.stdout.is_empty() {
            assert!(found.stderr.starts_with(ERROR), "{name} {path}: {found}");
            return;
        }
        documents.fetch_add(1, Ordering::Relaxed);
        let made =
            serde_json::from_str(&found.stdout).unwrap_or_else(|error| panic!("{name} {path}: {error}"));
        let found = violations(of_results(), &made);
        if !found.is_empty() {
            broken.lock().expect("a list").push(format!("{name} {path}: {}", found.join("\n")));
        }
    });
    let broken = broken.into_inner().expect("a list");
    assert!(broken.is_empty(), "{}", broken.join("\n"));
    let (runs, documents) = (runs.len(), documents.into_inner());
    assert!(runs >= 540 && documents >= 250 / every, "{documents} documents of {runs} runs");
}

/// Returns the paths that the guide's line with `jq` reads from every document.
fn paths_of_guide() -> Vec<String> {
    let readme = fs::read_to_string(workspace().join("bin/README.md")).expect("bin/README.md");
    let line = readme.lines().find(|line| line.starts_with("jq '")).expect("a line with jq");
    let program = line.split('\'').nth(1).expect("a program of jq");
    program.split(',').map(|path| path.trim().replace('.', "/")).collect()
}

#[test]
fn the_jq_line_of_the_guide_finds_values_in_every_document() {
    let paths = paths_of_guide();
    assert_eq!(paths, ["/summary", "/trust/level"]);
    let mut seen = BTreeSet::new();
    for file in files("golden", &["json"]) {
        let document = document(&file);
        let name = document["experiment"].as_str().expect("an experiment").to_string();
        let measured = EXPERIMENTS.contains(&name.as_str()) || document.get("sections").is_some();
        for path in paths.iter().filter(|path| measured || *path == "/summary") {
            let found = document.pointer(path);
            assert!(found.is_some_and(|found| !found.is_null()), "{path} of {}", file.display());
        }
        seen.insert(name);
    }
    // `reference` reads no saved result, and no document of `window` is short enough to be stored.
    assert_eq!(seen.len(), EXPERIMENTS.len() + COMMANDS.len(), "{seen:?}");
}

#[test]
fn the_schema_demands_a_summary_and_trust_of_every_document() {
    let kinds = of_results()["$defs"].as_object().expect("kinds of documents");
    let measured = EXPERIMENTS.into_iter().chain(["report_of_a_run"]).map(|name| (name, true));
    for (name, trusted) in measured.chain(COMMANDS.into_iter().map(|name| (name, false))) {
        let required = kinds[name]["required"].as_array().expect("what it has");
        assert!(required.contains(&"summary".into()), "{name}: {required:?}");
        for key in ["trust", "command", "system", "started"] {
            assert!(!trusted || required.contains(&key.into()), "{name} without {key}: {required:?}");
        }
    }
}

/// Returns every control character, and others that may not be shown raw, as escapes of JSON.
fn steering() -> String {
    let ranges =
        [0x00..=0x1f, 0x7f..=0x9f, 0x200b..=0x200f, 0x2028..=0x202e, 0x2066..=0x2069, 0xfeff..=0xfeff];
    ranges.into_iter().flatten().map(|code| format!("\\u{code:04x}")).collect()
}

/// Returns a character of a written text that may steer a terminal, except for line ends and the escapes of
/// colours.
fn steers(text: &str) -> Option<char> {
    let is_one = |found: &char| {
        matches!(u32::from(*found), 0x00..=0x09 | 0x0b..=0x1f | 0x7f..=0x9f | 0x200b..=0x200f | 0x2028..=0x202e
            | 0x2066..=0x2069 | 0xfeff)
    };
    text.chars().find(is_one)
}

/// Puts the characters into every string of a document except those that identify the document to a reader.
fn poisoned(value: &mut Value, key: &str, kept: &[&str]) {
    match value {
        Value::String(text) if !kept.contains(&key) => *text = format!("{text}STEER"),
        Value::Array(items) => items.iter_mut().for_each(|item| poisoned(item, key, kept)),
        Value::Object(members) => members.iter_mut().for_each(|(key, value)| poisoned(value, key, kept)),
        _ => {}
    }
}

#[test]
fn no_string_of_a_document_steers_a_terminal() {
    const FORMATS: [&str; 8] = ["text", "json", "jsonl", "csv", "md", "html", "prometheus", "tap"];
    // Strings that identify a document; a second pass alters them separately.
    const KEPT: [&str; 5] = ["experiment", "level", "traffic", "class", "started"];
    let directory = Directory::new("documents-steering");
    let steering = steering();
    let kinds: Vec<_> = [files("golden", &["json"]), files("fixtures/saved", &["json", "jsonl"])].concat();
    let mut seen = BTreeSet::new();
    let mut written = Vec::new();
    for (index, path) in kinds.iter().enumerate() {
        let original = document(path);
        let name = original.get("experiment").and_then(Value::as_str).unwrap_or("list").to_string();
        let of_fixture = path.to_string_lossy().contains("fixtures");
        if !seen.insert((name, of_fixture)) {
            continue;
        }
        for (pass, kept) in [&KEPT[..], &[]].into_iter().enumerate() {
            let mut altered = original.clone();
            poisoned(&mut altered, "", kept);
            let file = directory.path().join(format!("{index}-{pass}.json"));
            fs::write(&file, altered.to_string().replace("STEER", &steering)).expect("a scratch file");
            written.push(file);
        }
        // Alter only the name of the experiment, which commands on any kind of document show.
        let mut altered = original;
        if altered.is_object() {
            altered["experiment"] = "STEER".into();
        }
        let file = directory.path().join(format!("{index}-name.json"));
        fs::write(&file, altered.to_string().replace("STEER", &steering)).expect("a scratch file");
        written.push(file);
    }
    let every = of_everything(3, 1);
    let runs = written.iter().flat_map(|file| COMMANDS.map(|name| (name, file)));
    let runs: Vec<_> = runs.step_by(every).collect();
    let (shown, steered) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    on_all_cpus(&runs, &|(name, file)| {
        let path = file.to_str().expect("a path in UTF-8");
        let operands = if *name == "compare" { vec![path, path] } else { vec![path] };
        for format in FORMATS {
            let found = run(&[&[*name, "--verbose", &format!("--format={format}")], &operands[..]].concat());
            let Run { stdout, stderr, .. } = &found;
            if stdout.is_empty() && format == "text" {
                // A refused document has the same message in every format.
                if let Some(found) = steers(stderr) {
                    steered.lock().expect("a list").push(format!("{name} {path}: {found:?} in {stderr:?}"));
                }
                return;
            }
            shown.fetch_add(usize::from(!stdout.is_empty()), Ordering::Relaxed);
            if let Some(found) = steers(stdout).or_else(|| steers(stderr)) {
                steered.lock().expect("a list").push(format!("{name} --format={format} {path}: {found:?}"));
            }
        }
    });
    let steered = steered.into_inner().expect("a list");
    assert!(steered.is_empty(), "{} of {} runs\n{}", steered.len(), runs.len(), steered.join("\n"));
    assert!(shown.into_inner() > 300 / every, "few were shown");
}

#[test]
fn a_host_that_is_a_formula_is_data_in_a_csv() {
    const NAME: &str = "=HYPERLINK(\"http://evil\",\"x\")";
    let directory = Directory::new("documents-formula");
    let mut text = String::new();
    for host in 0..8 {
        let mut result = document(&workspace().join("tests/golden/matrix-two-nodes.json"));
        result["host"]["name"] = if host == 0 { NAME.into() } else { format!("n{host}").into() };
        result["trust"]["level"] = "good".into();
        set_latency(&mut result["rows"][1], if host == 0 { 300.0 } else { 154.0 });
        text += &(result.to_string() + "\n");
    }
    fs::write(directory.path().join("hosts.jsonl"), text).expect("a scratch file");
    let mut fleet = command(&["fleet", "--csv", "hosts.jsonl"]);
    let found = latency_tests::run::finish(fleet.current_dir(directory.path()));
    let quoted = format!("\"{}\"", NAME.replace('"', "\"\""));
    assert!(found.expect_status(5).stdout.lines().any(|line| line.contains(&quoted)), "{found}");
}

#[test]
fn metrics_of_several_hosts_name_each_host() {
    let found = run(&["show", "fixtures/saved/nodes.jsonl", "--format=prometheus"]);
    let samples = read_metrics(&found.expect_status(0).stdout).expect("metrics");
    let values = samples.iter().filter(|sample| sample.name == "latency_bench_latency_seconds");
    let hosts: BTreeSet<_> = values.map(|sample| sample.labels.get("host")).collect();
    assert!(hosts.len() > 1 && !hosts.contains(&None), "{hosts:?}");
}

/// Words and numbers of a column come out as they went in, and what the column cannot have is refused.
#[test]
fn values_that_a_column_cannot_have_are_not_passed_on() {
    let directory = Directory::new("documents-columns");
    let write = |text: &str| fs::write(directory.path().join("a.json"), text).expect("a file");
    let shown = |member: &str| {
        write(&format!("{{\"experiment\":\"parallel\",\n\"rows\":[{{\"ns\":10,\n{member}}}]}}\n"));
        finish(&mut directory.command(&["show", "a.json", "--json"]))
    };
    for member in
        ["\"kernel\":\"12\"", "\"variant\":\"true\"", "\"chains\":4", "\"prefetch\":true", "\"class\":\"7\""]
    {
        let found = shown(member);
        let broken = violations(of_results(), &found.expect_json(0));
        assert!(broken.is_empty() && found.stdout.contains(member), "{member}: {broken:?}: {found}");
    }
    for member in [
        "\"walk_order\":\"sorted\"",
        "\"pages_obtained\":\"4096\"",
        "\"chains\":\"many\"",
        "\"lines\":1.5",
        "\"kernel\":12",
        "\"verified\":\"yes\"",
    ] {
        shown(member).expect_status(1).expect_error("'a.json', line 3: ");
    }
}

#[test]
fn expect_measures_what_it_needs_without_a_file() {
    let document = run(&["expect", "--size=64K", "--chains=2", "--json"]).expect_json(0);
    assert_valid(&document);
    assert_eq!(document["summary"]["working_set_bytes"], 65536, "{document:#}");
    let rows = array(&document, "/rows");
    let times: Vec<f64> = rows.iter().filter_map(|row| row["ns"].as_f64()).collect();
    // Two loads at a time take less than one after the other.
    assert!(matches!(times[..], [one, two] if 0.0 < two && two < one), "{document:#}");
    let measured = at(&document, "/measured/file").as_str().expect("a name");
    assert!(
        measured.starts_with("latency-bench curve ") && measured.ends_with(" --max-size=64K --min-size=1K"),
        "{measured}"
    );
}
