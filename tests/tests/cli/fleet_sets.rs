//! Made-up sets of hosts: checks which hosts are slow or unlike the others, the messages, and the exit
//! status.

use latency_tests::directory::Directory;
use latency_tests::document::at;
use latency_tests::run::{Run, run};
use latency_tests::schema::assert_valid;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};

/// Makes a result of a host of two nodes on a day, whose points have this latency.
pub fn result(name: &str, day: usize, ns: f64) -> Value {
    let point = |to: usize| {
        json!({
            "initiator_node": 0, "target_node": to, "ns": ns, "working_set_bytes": 256 << 20, "stride_bytes": 64, "walk_order": "random",
            "kernel": "pointer", "pages_asked": "auto", "pages_obtained": "2m", "verified": true,
            "ns_low": ns * 0.995, "ns_high": ns * 1.005
        })
    };
    json!({
        "rows": [point(0), point(1)], "schema": 2, "experiment": "matrix",
        "started": format!("2026-11-{day:02}T01:20:00Z"), "duration_s": 5.0, "partial": false,
        "host": {"name": name, "boot_id": "11111111-0000", "cpu_model": "Imaginary 8000", "labels": {}},
        "system": {"nodes": [{"id": 0}, {"id": 1}]},
        "trust": {"level": "good", "reasons": [], "omitted": 0}, "warnings": []
    })
}

/// Makes results of `count` like hosts, h1 and so on.
pub fn like(count: usize) -> Vec<Value> {
    (1..=count).map(|host| result(&format!("h{host}"), 1, 98.0 + 0.3 * (host % 4) as f64)).collect()
}

/// Sets a field of both points.
pub fn set(result: &mut Value, field: &str, value: &Value) {
    for point in result["rows"].as_array_mut().expect("points") {
        point[field] = value.clone();
    }
}

/// Sets the interval of both points.
fn interval(result: &mut Value, [low, high]: [f64; 2]) {
    set(result, "ns_low", &json!(low));
    set(result, "ns_high", &json!(high));
}

/// Makes a result poor for this reason, in the form of documents.
fn poor(result: &mut Value, reason: &str) {
    result["trust"] = json!({"level": "poor", "reasons": [reason], "omitted": 0});
    result["warnings"] = json!([{"code": reason, "severity": "poor", "untrusted": true}]);
}

pub struct Found {
    pub text: Run,
    pub document: Value,
    pub csv: String,
    pub strict: Option<i32>,
}

impl Found {
    /// Returns the hosts that are slow, or those that are not like the others, and their codes.
    pub fn rows(&self, slow: bool) -> Vec<(String, String)> {
        let mut all = self.of("rows", "code");
        all.retain(|(_, code)| (code == "slower") == slow);
        all
    }

    /// Returns the hosts of a list and their codes.
    pub fn of(&self, list: &str, code: &str) -> Vec<(String, String)> {
        let all = self.document[list].as_array().expect("a list").iter();
        let word = |item: &Value, key: &str| item[key].as_str().unwrap_or_default().to_string();
        all.map(|item| (word(item, "host"), word(item, code))).collect()
    }

    #[track_caller]
    pub fn says(&self, words: &str) {
        // Lines are broken for a terminal of 80 columns.
        let shown: Vec<&str> = self.text.stdout.split_ascii_whitespace().collect();
        assert!(shown.join(" ").contains(words), "{words}\n{}", self.text);
    }
}

/// Runs the command on a set, and asserts its exit status.
#[track_caller]
pub fn judged(results: &[Value], status: i32, more: &[&str]) -> Found {
    // Tests run side by side in one process.
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let directory = Directory::new(&format!("fleet-sets-{}", NUMBER.fetch_add(1, Ordering::Relaxed)));
    let path = directory.path().join("all.jsonl");
    let lines = results.iter().fold(String::new(), |mut all, line| {
        writeln!(all, "{line}").expect("a string");
        all
    });
    fs::write(&path, lines).expect("a file");
    let path = path.to_str().expect("UTF-8");
    let given = |option: &[&str]| run(&[&["fleet", path], option, more].concat());
    let text = given(&[]);
    text.expect_status(status);
    let document = given(&["--json"]).expect_json(status);
    assert_valid(&document);
    let csv = given(&["--csv"]);
    csv.expect_status(status);
    Found { text, document, csv: csv.stdout, strict: given(&["--strict"]).status.code() }
}

/// Asserts that one host of eight is apart with this code and these words, and does not change the findings
/// about the others.
#[track_caller]
fn one_apart(results: &[Value], code: &str, words: &str) {
    let found = judged(results, 0, &[]);
    found.says("None of 7 hosts is slow (");
    found.says(&format!("h8: not comparable: {words} [{code}]."));
    assert_eq!(found.rows(false), [("h8".into(), code.into())], "{:#}", found.document);
    assert_eq!(at(&found.document, "/rows/0/points"), 2);
    assert_eq!(at(&found.document, "/summary/judged_hosts"), 7);
    assert_eq!(at(&found.document, "/summary/apart_hosts"), 1);
    let rows: Vec<&str> = found.csv.lines().skip(1).collect();
    assert!(
        rows.len() == 1 && rows[0].starts_with("h8,") && rows[0].contains(&format!(",{code},")),
        "{}",
        found.csv
    );
    assert_eq!(found.strict, Some(3));
}

#[test]
fn a_host_that_was_not_measured_like_the_others_is_apart() {
    for (field, value, ns, code, words) in [
        ("pages_obtained", json!("4k"), 150.0, "pages", "4 KiB pages (7 hosts have 2 MiB)"),
        ("working_set_bytes", json!(1u64 << 30), 120.0, "size", "1 GiB working set (7 hosts have 256 MiB)"),
        ("working_set_bytes", json!(24 << 20), 30.0, "size", "24 MiB working set (7 hosts have 256 MiB)"),
        ("walk_order", json!("sequential"), 10.0, "order", "order sequential (7 hosts have random)"),
        ("stride_bytes", json!(4096), 130.0, "stride", "stride 4 KiB (7 hosts have 64 B)"),
        ("verified", json!(false), 160.0, "unverified", "placement not verified (7 hosts are verified)"),
    ] {
        let mut hosts = like(7);
        let mut other = result("h8", 1, ns);
        set(&mut other, field, &value);
        hosts.push(other);
        one_apart(&hosts, code, words);
    }
}

#[test]
fn a_fast_host_is_pointed_out() {
    let mut hosts = like(7);
    hosts.push(result("h8", 1, 30.0));
    one_apart(&hosts, "faster", "30.0 ns, the median is 98.6 ns; check that it measures memory");
}

#[test]
fn unproven_and_interrupted_results_are_marked_by_their_conditions() {
    let mut hosts = like(7);
    let mut other = result("h8", 1, 160.0);
    set(&mut other, "verified", &json!(false));
    poor(&mut other, "placement-unverified");
    hosts.push(other);
    one_apart(&hosts, "unverified", "placement not verified (7 hosts are verified)");
    hosts.pop();
    let mut other = result("h8", 1, 160.0);
    other["partial"] = true.into();
    poor(&mut other, "partial");
    hosts.push(other);
    one_apart(&hosts, "partial", "interrupted (7 hosts are complete)");
    let forced = judged(&hosts, 5, &["--force"]);
    assert_eq!(forced.rows(true)[0].0, "h8");
    assert!(forced.rows(false).is_empty());
}

#[test]
fn other_nodes_are_apart_and_other_processors_are_not_compared() {
    let mut hosts = like(7);
    hosts.push(result("h8", 1, 150.0));
    hosts[7]["system"]["nodes"] = json!([{"id": 0}, {"id": 1}, {"id": 2}, {"id": 3}]);
    one_apart(&hosts, "nodes", "4 NUMA nodes (7 hosts have 2)");
    hosts[7] = result("h8", 1, 150.0);
    hosts[7]["system"]["nodes"] = json!([{"id": 0, "memory_side_cache": {"bytes": 1u64 << 34}}, {"id": 1}]);
    for host in &mut hosts[..7] {
        host["system"]["nodes"][0]["memory_side_cache"] = Value::Null;
    }
    one_apart(&hosts, "side-cache", "a memory-side cache (7 hosts have no)");
    hosts[7]["host"]["cpu_model"] = "Imaginary 9000".into();
    let found = judged(&hosts, 0, &[]);
    assert!(found.rows(false).is_empty());
    found.says("Not judged: 1 host: h8 (fewer than 5 hosts of its kind).");
}

#[test]
fn another_pattern_of_traffic_is_apart() {
    let bandwidth = |host: usize, pattern: &str, ns: f64| {
        let mut result = result(&format!("h{host}"), 1, ns);
        let point = |to: usize| {
            json!({"initiator_node": 0, "target_node": to, "traffic": "read", "pattern": pattern, "cores": 8, "ns": ns,
                "ns_low": ns * 0.995, "ns_high": ns * 1.005})
        };
        let all = result.as_object_mut().expect("an object");
        all.insert("rows".into(), json!([point(0), point(1)]));
        all.insert("experiment".into(), "bandwidth".into());
        result
    };
    let mut hosts: Vec<Value> = (1..8).map(|host| bandwidth(host, "permuted", 0.6)).collect();
    hosts.push(bandwidth(8, "stream", 1.2));
    one_apart(&hosts, "pattern", "pattern stream (7 hosts have permuted)");
}

#[test]
fn a_host_that_became_slower_is_named_and_its_newest_result_counts() {
    let mut hosts = like(7);
    for day in 1..=10 {
        hosts.push(result("h8", day, if day > 6 { 147.0 } else { 98.0 }));
    }
    // Their order does not matter.
    hosts.reverse();
    let found = judged(&hosts, 5, &[]);
    found.says("1 of 8 hosts is slow: h8 (");
    found.says(
        "h8: became slower: matrix 0 -> 0 147 ns in its newest 4 results, 98.0 ns in the 6 before \
         (since 2026-11-07T01:20:00Z).",
    );
    assert_eq!(found.of("slowed", "since")[1], ("h8".into(), "2026-11-07T01:20:00Z".into()));
    assert_eq!(at(&found.document, "/slowed/0/newest_results"), 4);
    assert_eq!(at(&found.document, "/slowed/0/older_results"), 6);
    // It may be slower than before and as fast as the others: that is reported, and not a failure.
    let faster: Vec<Value> =
        (1..=10).map(|day| result("h8", day, if day > 6 { 98.0 } else { 65.0 })).chain(like(7)).collect();
    let found = judged(&faster, 0, &[]);
    assert_eq!(found.of("slowed", "host").len(), 2);
    assert_eq!(found.strict, Some(0));
    // A repaired host is neither.
    let repaired: Vec<Value> =
        (1..=10).map(|day| result("h8", day, if day < 7 { 147.0 } else { 98.0 })).chain(like(7)).collect();
    let found = judged(&repaired, 0, &[]);
    assert!(found.of("slowed", "host").is_empty());
}

#[test]
fn hosts_with_one_name_are_separate_and_a_rebooted_host_is_one() {
    let of_boot = |boot: &str, day: usize, ns: f64| {
        let mut result = result("h8", day, ns);
        result["host"]["boot_id"] = boot.into();
        result
    };
    let mut hosts = like(7);
    hosts.extend(
        [("aaaaaaaa-1", 1, 98.0), ("bbbbbbbb-2", 2, 150.0), ("aaaaaaaa-1", 3, 98.0)]
            .map(|(boot, day, ns)| of_boot(boot, day, ns)),
    );
    let found = judged(&hosts, 5, &[]);
    found.says("1 of 9 hosts is slow: h8 (boot bbbbbbbb) (");
    found.says(
        "2 hosts share the name h8: they ran at the same time with different boot IDs, and are judged separately.",
    );
    assert_eq!(at(&found.document, "/same_name/0/host"), "h8");
    assert_eq!(
        at(&found.document, "/same_name/0/names"),
        &json!(["h8 (boot aaaaaaaa)", "h8 (boot bbbbbbbb)"])
    );
    assert!(found.of("slowed", "host").is_empty());
    hosts.truncate(7);
    hosts.extend(
        [("aaaaaaaa-1", 1, 150.0), ("aaaaaaaa-1", 2, 150.0), ("bbbbbbbb-2", 3, 98.0)]
            .map(|(boot, day, ns)| of_boot(boot, day, ns)),
    );
    let found = judged(&hosts, 0, &[]);
    found.says("None of 8 hosts is slow (");
    assert!(found.of("same_name", "host").is_empty());
}

#[test]
fn fair_results_are_judged_by_their_intervals() {
    let mut hosts = like(8);
    for host in &mut hosts {
        host["trust"] = json!({"level": "fair", "reasons": ["neighbours", "stolen-time"], "omitted": 0});
    }
    let found = judged(&hosts, 0, &[]);
    found.says("None of 8 hosts is slow (");
    assert_eq!(found.strict, Some(0));
    set(&mut hosts[7], "ns", &json!(150.0));
    interval(&mut hosts[7], [90.0, 210.0]);
    judged(&hosts, 0, &[]).says("None of 8 hosts is slow (");
    interval(&mut hosts[7], [140.0, 160.0]);
    judged(&hosts, 5, &[]).says("1 of 8 hosts is slow: h8 (");
}

#[test]
fn documents_of_older_versions_are_judged_by_their_reasons() {
    let mut hosts = like(9);
    // Older versions called these poor for uncertainty, which is not evidence against the value.
    poor(&mut hosts[0], "disturbed");
    poor(&mut hosts[1], "precision-not-reached");
    poor(&mut hosts[2], "other-work");
    hosts[2]["conditions"] =
        json!({"other_processes_share": 0.2, "cpus": [{"cpu": 0, "other_processes_share": 0.2}]});
    let found = judged(&hosts, 0, &[]);
    found.says("None of 9 hosts is slow (");
    // With evidence the host is not judged, and the reason is reported.
    hosts[2]["conditions"]["cpus"][0]["other_processes_share"] = 0.4.into();
    poor(&mut hosts[8], "looks-cached");
    set(&mut hosts[8], "ns", &json!(200.0));
    interval(&mut hosts[8], [199.0, 201.0]);
    set(&mut hosts[1], "ns_low", &Value::Null);
    set(&mut hosts[1], "ns_high", &Value::Null);
    let found = judged(&hosts, 0, &[]);
    found.says("None of 6 hosts is slow (");
    found.says("Excluded as unreliable (--force includes them): h2 (precision-not-reached), h3 (other-work), h9 (looks-cached).");
    assert_eq!(found.of("untrusted", "reason")[2], ("h9".into(), "looks-cached".into()));
}

#[test]
fn the_steady_value_is_judged_on_request() {
    let mut hosts = like(8);
    for (index, host) in hosts.iter_mut().enumerate() {
        let ns = if index == 5 { 120.0 } else { 90.0 };
        set(host, "undisturbed_ns", &json!(ns));
        set(host, "undisturbed_ns_low", &json!(ns - 1.0));
        set(host, "undisturbed_ns_high", &json!(ns + 1.0));
    }
    hosts.push(result("h9", 1, 300.0));
    set(&mut hosts[8], "undisturbed_ns", &Value::Null);
    set(&mut hosts[8], "undisturbed_at_most_ns", &json!(300.0));
    judged(&hosts, 5, &[]).says("1 of 9 hosts is slow: h9 (");
    let found = judged(&hosts, 5, &["--of=steady"]);
    found.says("1 of 8 hosts is slow: h6 (");
    found.says("h9: not comparable: no steady value; run with --until=quiet [undisturbed].");
    assert_eq!(at(&found.document, "/of"), "undisturbed");
}

/// Gives both points of a result memory without address translation.
fn with_memory(mut result: Value, memory: f64) -> Value {
    for (key, ns) in [("memory_ns", memory), ("without_translation_ns", memory), ("translation_ns", 18.0)] {
        for (end, factor) in [("", 1.0), ("_low", 0.995), ("_high", 1.005)] {
            set(&mut result, &format!("{key}{end}"), &json!(ns * factor));
        }
    }
    result
}

#[test]
fn slow_translation_is_listed_and_slow_memory_is_judged() {
    let mut hosts: Vec<Value> = like(7).into_iter().map(|host| with_memory(host, 80.0)).collect();
    hosts.push(with_memory(result("h8", 1, 150.0), 80.0));
    let words = "Slow address translation: 1 of 8 hosts: h8 (";
    let found = judged(&hosts, 0, &[]);
    found.says("None of 8 hosts is slow (");
    found.says(words);
    assert_eq!(at(&found.document, "/slow_translation/1/host"), "h8");
    assert_eq!(found.strict, Some(0));
    judged(&hosts, 5, &["--of=load"]).says("1 of 8 hosts is slow: h8 (");
    // A host without memory is judged by its random loads, beside those of all others.
    hosts.push(result("h9", 1, 150.0));
    let found = judged(&hosts, 5, &[]);
    found.says("1 of 9 hosts is slow: h9 (");
    found.says("Slow address translation: 1 of 9 hosts: h8 (");
    hosts[8] = result("h9", 1, 98.0);
    judged(&hosts, 0, &[]).says("None of 9 hosts is slow (");
    // Too few hosts with memory: random loads are judged, as before.
    let few: Vec<Value> = like(7).into_iter().chain([with_memory(result("h8", 1, 150.0), 80.0)]).collect();
    let found = judged(&few, 5, &[]);
    found.says("1 of 8 hosts is slow: h8 (");
    assert!(at(&found.document, "/slow_translation").as_array().expect("a list").is_empty());
    hosts[7] = with_memory(result("h8", 1, 150.0), 132.0);
    let found = judged(&hosts, 5, &[]);
    found.says("1 of 9 hosts is slow: h8 (");
    assert!(at(&found.document, "/slow_translation").as_array().expect("a list").is_empty());
    // The newest result counts, also if it has no memory.
    hosts.push(result("h8", 2, 98.0));
    judged(&hosts, 0, &[]).says("None of 9 hosts is slow (");
}

#[test]
fn a_history_of_memory_is_judged_before_that_of_random_loads() {
    let days = |count: usize, memory: Option<f64>| -> Vec<Value> {
        let result = |day: usize| {
            let scatter = 1.0 + 0.004 * ((day * 7 % 5) as f64 - 2.0);
            let of_day = result("h1", day, scatter * if day > 20 { 120.0 } else { 98.0 });
            let step = if day > 20 { memory.unwrap_or(1.0) } else { 1.0 };
            if day + count > 24 { with_memory(of_day, 80.0 * scatter * step) } else { of_day }
        };
        (1..=24).map(result).collect()
    };
    let found = judged(&days(24, None), 0, &["--history"]);
    found.says("Became slower: 0 of 1 hosts.");
    found.says("Address translation became slower: 1 of 1 hosts: h1 (");
    let found = judged(&days(24, Some(1.2)), 5, &["--history"]);
    found.says("Became slower: 1 of 1 hosts: h1.");
    assert!(!found.text.stdout.contains("ddress translation became"), "{}", found.text);
    judged(&days(24, None), 5, &["--history", "--of=load"]).says("Became slower: 1 of 1 hosts: h1.");
    // Memory has too short a history, or none.
    for count in [4, 0] {
        judged(&days(count, None), 5, &["--history"]).says("Became slower: 1 of 1 hosts: h1.");
    }
}

#[test]
fn compare_names_its_overrides_and_judges_the_requested_value() {
    let directory = Directory::new("fleet-sets-compare");
    let saved = |name: &str, result: &Value| {
        let path = directory.path().join(name);
        fs::write(&path, result.to_string()).expect("a file");
        path.to_str().expect("UTF-8").to_string()
    };
    let (mut one, mut other) = (result("h1", 1, 98.0), result("h1", 2, 150.0));
    let quiet = |result: &mut Value, ns: f64| {
        set(result, "undisturbed_ns", &json!(ns));
        set(result, "undisturbed_ns_low", &json!(ns - 0.2));
        set(result, "undisturbed_ns_high", &json!(ns + 0.2));
    };
    let a = saved("a.json", &one);
    let b = saved("b.json", &other);
    run(&["compare", &a, &b]).expect_status(5);
    run(&["compare", &a, &b, "--of=undisturbed"])
        .expect_status(1)
        .expect_error("a result has no steady value; use `latency-bench matrix --until=quiet`");
    quiet(&mut one, 90.0);
    quiet(&mut other, 90.1);
    let (a, b) = (saved("a.json", &one), saved("b.json", &other));
    let document = run(&["compare", &a, &b, "--of=undisturbed", "--json"]).expect_json(0);
    assert_eq!(
        (at(&document, "/of"), at(&document, "/summary/verdict")),
        (&json!("undisturbed"), &json!("same"))
    );
    set(&mut other, "pages_obtained", &json!("4k"));
    poor(&mut other, "looks-cached");
    let b = saved("b.json", &other);
    let found = run(&["compare", &a, &b]);
    found.expect_status(6);
    assert!(found.stdout.contains("Not comparable: pages 2 MiB -> 4 KiB; trust not poor -> poor"), "{found}");
    assert!(found.stdout.contains("(looks-cached)"), "{found}");
    let found = run(&["compare", &a, &b, "--force"]);
    found.expect_status(5);
    assert!(found.stdout.contains("Not comparable (overridden by --force): pages"), "{found}");
    assert_eq!(at(&run(&["compare", &a, &b, "--force", "--json"]).expect_json(5), "/forced"), true);
}

#[test]
fn expected_hosts_without_a_result_are_named_and_fail() {
    let mut hosts = like(6);
    let directory = Directory::new("fleet-expect");
    let path = directory.path().join("names");
    let by_name = format!("--expect={}", path.display());
    fs::write(&path, "# the fleet\nh1\r\n  h2\n\nh3\nh4\nh5\nh6\n").expect("a file");
    judged(&hosts, 0, &[&by_name]);
    let found = judged(&hosts, 0, &["--expect=6"]);
    assert_eq!(at(&found.document, "/summary/missing_hosts"), 0);
    // A host of the baseline alone has not reported.
    let baseline = directory.path().join("baseline.jsonl");
    fs::write(&baseline, result("h9", 1, 98.0).to_string()).expect("a file");
    let baseline = format!("--baseline={}", baseline.display());
    fs::write(&path, "h1\nh8\nh9\nh8\n").expect("a file");
    let found = judged(&hosts, 6, &[&by_name, &baseline]);
    found.says("Missing: 2 of 4 expected hosts: h8, h9. None of 6 hosts is slow");
    assert_eq!(found.document["missing"], json!(["h8", "h9"]));
    assert_eq!(at(&found.document, "/summary/expected_hosts"), 4);
    let found = judged(&hosts, 6, &["--expect=40"]);
    found.says("Missing: 34 of 40 expected hosts. None of 6");
    assert!(found.text.stderr.contains("no verdict: 34 of 40 expected hosts are missing"), "{}", found.text);
    // A slow host is the stronger finding; both are said.
    hosts.push(result("h7", 1, 200.0));
    let found = judged(&hosts, 5, &["--expect=8"]);
    found.says("Missing: 1 of 8 expected hosts. 1 of 7 hosts is slow: h7");
    assert!(
        found.text.stderr.contains("1 of 7 hosts is slow (threshold 10%); 1 of 8 expected hosts is missing"),
        "{}",
        found.text
    );
    fs::write(&path, "# nothing\n").expect("a file");
    for path in [path.display().to_string(), "/does/not/exist".into()] {
        let fleet = ["fleet", env!("CARGO_MANIFEST_DIR"), &format!("--expect={path}")];
        let file = format!("{}/fixtures/saved/fleet.jsonl", fleet[1]);
        let found = run(&[fleet[0], &file, fleet[2]]);
        found.expect_status(1).expect_error("a file with one host name a line");
    }
}

#[test]
fn a_history_without_a_judged_host_has_no_verdict() {
    judged(&like(3), 6, &["--history"]);
    // The history of one host may judge it.
    let days = |days: usize| (1..=days).map(|day| result("h1", day, 98.0 + 0.3 * (day * 7 % 4) as f64));
    judged(&days(28).collect::<Vec<_>>(), 0, &["--history"]);
    judged(&days(4).collect::<Vec<_>>(), 6, &["--history"]);
}
