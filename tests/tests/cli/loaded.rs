//! Latency under load: the content of a curve, the choice of generators, and the need for a second CPU.

use latency_tests::attempts::retried;
use latency_tests::confine::{Confine, allowed_cpus};
use latency_tests::directory::Directory;
use latency_tests::document::{array, at, decimal, number, text, warnings};
use latency_tests::run::{Run, WARNING, command, finish, run};
use latency_tests::schema::assert_valid;
use latency_tests::skip::skip;

/// A few levels of one kind, which need a second.
const SHORT: [&str; 6] =
    ["loaded", "--traffic=read", "--budget=3", "--time-limit=0.2", "--size=16M", "--memnode=0"];

/// Returns the first two CPUs that this process may use.
fn two_cpus(test: &str) -> Option<[usize; 2]> {
    let cpus = allowed_cpus();
    if cpus.len() < 2 {
        skip(test, "one CPU measures, the others generate load: that needs two CPUs");
    }
    Some([*cpus.first()?, *cpus.get(1)?])
}

fn short<'a>(more: &[&'a str]) -> Vec<&'a str> {
    SHORT.into_iter().chain(more.iter().copied()).collect()
}

/// Runs the executable before other programs, since these may leave a generator no time at all.
fn before_others(more: &[&str]) -> Run {
    finish(command(&short(more)).with_priority())
}

#[test]
fn a_curve_goes_from_idle_to_the_limit() {
    if two_cpus("loaded::a_curve_goes_from_idle_to_the_limit").is_none() {
        return;
    }
    retried("loaded::a_curve_goes_from_idle_to_the_limit", |_| {
        let document = before_others(&["--json", "--rates=0,0.5,50%,max"]).expect_json(0);
        assert_valid(&document);
        let curve = at(&document, "/curves/0");
        assert_eq!((text(curve, "/traffic"), text(curve, "/pattern")), ("read", "permuted"));
        assert!(decimal(curve, "/peak_bandwidth/bytes_per_second") > 0.0, "{curve:#}");
        let half = at(curve, "/peak_bandwidth/half_bytes_per_second");
        assert_eq!(half.is_null(), number(curve, "/cores") == 1);
        let points = array(&document, "/rows");
        assert_eq!(decimal(&points[0], "/offered_bytes_per_second"), 0.0);
        assert_eq!(decimal(&points[0], "/ratio_to_idle"), 1.0);
        let offered: Vec<f64> =
            points.iter().filter_map(|point| at(point, "/offered_bytes_per_second").as_f64()).collect();
        assert_eq!(offered.len(), 3, "{offered:?}");
        assert!(offered.is_sorted() && offered.contains(&0.5e9), "{offered:?}");
        for point in points {
            assert!(decimal(point, "/ns") > 0.0 && decimal(point, "/bytes_per_second") >= 0.0, "{point:#}");
            assert_eq!(decimal(point, "/write_bytes_per_second"), 0.0, "{point:#}");
        }
    });
}

#[test]
fn rates_without_the_limit_report_no_limit() {
    if two_cpus("loaded::rates_without_the_limit_report_no_limit").is_none() {
        return;
    }
    let document = before_others(&["--json", "--rates=0.5"]).expect_json(0);
    assert_valid(&document);
    assert!(at(&document, "/curves/0/peak_bandwidth").is_null());
    assert!(array(&document, "/curves/0/knee").is_empty());
    assert_eq!(array(&document, "/rows").len(), 1);
    let found = before_others(&["--rates=0.5"]);
    let text = &found.expect_status(0).stdout;
    assert!(text.starts_with("Node 0 -> Node 0 (read): ") && !text.contains("Peak:"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn a_load_is_held_with_a_line_for_each_second() {
    if two_cpus("loaded::a_load_is_held_with_a_line_for_each_second").is_none() {
        return;
    }
    retried("loaded::a_load_is_held_with_a_line_for_each_second", |_| {
        let held = ["--json", "--rates=0.5", "--hold=2"];
        let found = before_others(&held);
        let document = found.expect_json(0);
        assert_valid(&document);
        let points = array(&document, "/rows");
        assert_eq!(points.len(), 2, "{points:#?}");
        assert_eq!(decimal(&points[0], "/offered_bytes_per_second"), 0.0);
        assert_eq!(
            (number(&points[1], "/rounds"), decimal(&points[1], "/offered_bytes_per_second")),
            (2, 0.5e9)
        );
        let lines: Vec<Vec<&str>> = found
            .stderr
            .lines()
            .skip_while(|line| !line.starts_with("time"))
            .take(3)
            .map(|line| line.split_whitespace().collect())
            .collect();
        assert_eq!(lines.len(), 3, "{}", found.stderr);
        for line in &lines[1..] {
            let [time, rate, nanoseconds, _, ..] = line[..] else { panic!("{line:?}") };
            assert!(time.len() == 20 && time.ends_with('Z'), "{time}");
            let known = |text: &str| text.parse::<f64>().unwrap_or_else(|_| panic!("{text} in {line:?}"));
            assert!(known(rate) > 0.0 && known(nanoseconds) > 0.0, "{line:?}");
        }
        let quiet = before_others(&[held.as_slice(), &["-q"]].concat());
        let messages = &quiet.expect_status(0).stderr;
        assert!(messages.lines().all(|line| line.starts_with(WARNING)), "{messages}");
    });
}

#[test]
fn one_cpu_is_refused_with_the_reason() {
    let directory = Directory::new("loaded-one");
    let cpu = allowed_cpus()[0];
    for more in [&[][..], &["--dry-run"]] {
        let found = finish(directory.command(&short(more)).on_cpu(cpu));
        assert_eq!(found.stdout, "");
        found
            .expect_status(2)
            .expect_error("loaded needs a second CPU: one CPU measures, the others generate load");
    }
}

#[test]
fn the_chase_keeps_away_from_generators() {
    let Some([first, _]) = two_cpus("loaded::the_chase_keeps_away_from_generators") else { return };
    let run_with = |more: &[&str]| before_others(more);
    let all: Vec<String> = allowed_cpus().iter().map(ToString::to_string).collect();
    let (one, all) = (format!("--load-cpus={first}"), format!("--load-cpus={}", all.join(",")));
    let document = run_with(&["--json", "--rates=0.5", &one]).expect_json(0);
    assert_eq!(text(&document, "/curves/0/cpus"), first.to_string());
    assert_eq!(number(&document, "/curves/0/cores"), 1);
    assert!(warnings(&document).contains(&"one-generator"), "{document:#}");
    run_with(&[&one, &format!("--cpu={first}")])
        .expect_status(2)
        .expect_error(&format!("CPU {first} measures latency and cannot also generate load"));
    run_with(&[&all]).expect_status(2).expect_error("cannot also generate load");
}

#[test]
fn an_invalid_load_node_is_refused() {
    run(&short(&["--load-node=8191"])).expect_status(1).expect_error("invalid node id 8191");
}

#[test]
fn a_plan_shows_threads_memory_and_time() {
    if two_cpus("loaded::a_plan_shows_threads_memory_and_time").is_none() {
        return;
    }
    let plan = run(&["loaded", "--dry-run", "--json"]).expect_json(0);
    assert_valid(&plan);
    assert!(
        number(&plan, "/summary/threads") >= 2 && number(&plan, "/summary/more_points") >= 10,
        "{plan:#}"
    );
    let bytes = number(&plan, "/summary/memory_bytes");
    let footprint = array(&plan, "/rows").iter().find_map(|point| point.get("footprint_bytes"));
    assert!(bytes > footprint.and_then(serde_json::Value::as_u64).expect("traffic"), "{plan:#}");
}

#[test]
fn streams_beside_a_chain_are_requested_by_name() {
    if two_cpus("loaded::streams_beside_a_chain_are_requested_by_name").is_none() {
        return;
    }
    let streams = SHORT.map(|word| if word == "--traffic=read" { "--traffic=read-stream,2:1" } else { word });
    let streams = [&streams[..], &["--json", "--rates=0.5"]].concat();
    let document = finish(command(&streams).with_priority()).expect_json(0);
    assert_valid(&document);
    for curve in array(&document, "/curves") {
        assert_eq!(text(curve, "/pattern"), "stream", "{curve:#}");
    }
    assert_eq!(text(&document, "/curves/1/traffic"), "read-stream");
}

#[test]
fn bandwidth_is_measured_only_on_the_requested_cpus() {
    let Some([first, second]) = two_cpus("loaded::bandwidth_is_measured_only_on_the_requested_cpus") else {
        return;
    };
    let cpus = |more: &str| -> Vec<String> {
        let arguments = ["bandwidth", "--json", "--size=64K", "--time-limit=0.1", "--memnode=0", more];
        let document = run(&arguments).expect_json(0);
        assert_valid(&document);
        let rows = array(&document, "/rows").iter();
        let records: Vec<_> = rows.filter(|row| row.get("traffic").is_some()).collect();
        assert!(records.iter().all(|record| text(record, "/pattern") == "stream"));
        records.iter().map(|record| text(record, "/cpus").to_owned()).collect()
    };
    assert_eq!(cpus(&format!("--cpu={second}")), [second.to_string()]);
    assert_eq!(cpus(&format!("--load-cpus={second}")), [second.to_string()]);
    let both = if second == first + 1 { format!("{first}-{second}") } else { format!("{first},{second}") };
    assert_eq!(cpus(&format!("--load-cpus={first},{second}")), [first.to_string(), both]);
}
