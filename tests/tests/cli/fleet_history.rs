//! Results of hosts over months: the hosts that changed are named, with the time and with what changed beside.

use super::fleet::{PATIENCE, peak_kb_once_it_waits};
use super::fleet_sets::{Found, judged, like, result, set};
use latency_tests::document::at;
use latency_tests::run::{command, finish_within};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Stdio;

/// Makes results of a host on some days, with a little scatter around the latency of each day.
fn days(name: &str, days: std::ops::RangeInclusive<usize>, ns: impl Fn(usize) -> f64) -> Vec<Value> {
    days.map(|day| result(name, day, ns(day) * (1.0 + 0.004 * ((day * 7 % 5) as f64 - 2.0)))).collect()
}

/// Returns the codes of the rows of a host.
fn codes(found: &Found, host: &str) -> Vec<String> {
    let rows = found.of("rows", "code");
    rows.into_iter()
        .filter(|(name, code)| name == host && code.starts_with("became"))
        .map(|(_, code)| code)
        .collect()
}

#[test]
fn a_host_that_became_slower_is_named_with_the_time_and_the_facts() {
    let mut hosts = like(7);
    for (day, mut result) in (1..).zip(days("h8", 1..=24, |day| if day > 20 { 104.0 } else { 98.0 })) {
        let new = day > 20;
        result["host"]["boot_id"] = if new { "22222222-0000" } else { "11111111-0000" }.into();
        result["system"]["machine"] = json!({"bios_version": if new { "2.2" } else { "2.1" }});
        result["system"]["kernel"] = "6.8.0".into();
        hosts.push(result);
    }
    // It is like the others now, so that only its history shows the change.
    judged(&hosts, 0, &[]).says("None of 8 hosts is slow (");
    let found = judged(&hosts, 5, &["--history"]);
    found.says("Became slower: 1 of 8 hosts: h8.");
    found.says("Became faster: 0 of 8 hosts.");
    found.says("None of 8 hosts is slow (");
    found.says(
        "h8: became slower: matrix, mean of 2 points 104 ns in its newest 4 results, 98.0 ns in the 20 before (since \
         2026-11-21T01:20:00Z; at that time: BIOS 2.1 -> 2.2, rebooted).",
    );
    found.says("Too few results for a history (about 20 are needed): 7 of 8 hosts: h1, h2,");
    assert!(
        found.text.stderr.contains("slow hosts: 1 became slower; 0 of 8 hosts are slow"),
        "{}",
        found.text
    );
    assert_eq!(codes(&found, "h8"), ["became-slower"; 3]);
    let row = at(&found.document, "/rows/0");
    assert_eq!((at(row, "/since"), at(row, "/newest_results")), (&json!("2026-11-21T01:20:00Z"), &json!(4)));
    assert_eq!(at(row, "/changed_facts"), "BIOS 2.1 -> 2.2, rebooted");
    assert!((at(row, "/change_ratio").as_f64().expect("a number") - 1.061).abs() < 0.005, "{row}");
    assert_eq!(at(&found.document, "/few_results").as_array().expect("a list").len(), 7);
    assert!(
        found.csv.contains("became-slower") && found.csv.contains("\"BIOS 2.1 -> 2.2, rebooted\""),
        "{}",
        found.csv
    );
    assert_eq!(found.strict, Some(5));
}

/// Returns a host that was rebooted after 18 of 24 days and became slower two days later, with a wrong date of one result.
fn with_a_wrong_date(place: usize, started: &str) -> Vec<Value> {
    let mut hosts = like(7);
    hosts.extend(days("h8", 1..=24, |day| if day > 20 { 108.0 } else { 98.0 }));
    for (day, result) in (1..).zip(&mut hosts[7..]) {
        result["host"]["boot_id"] = if day > 18 { "22222222-0000" } else { "11111111-0000" }.into();
    }
    hosts[7 + place]["started"] = started.into();
    hosts
}

#[test]
fn a_wrong_clock_is_listed_and_takes_no_judgement_away() {
    for (place, started, why) in [
        (18, "2000-01-01T00:00:20Z", "boot-order"),
        (19, "2000-01-01T00:00:20Z", "boot-order"),
        (11, "2031-05-01T00:00:00Z", "boot-order"),
        (5, "2031-05-01T00:00:00Z", "boot-order"),
    ] {
        let found = judged(&with_a_wrong_date(place, started), 5, &["--history"]);
        found.says("Became slower: 1 of 8 hosts: h8.");
        found.says(&format!(
            "Wrong dates, which contradict the boot IDs or the order of the results, and do not count: h8 ({started}, \
             {why})."
        ));
        assert!(found.of("same_name", "host").is_empty(), "{}", found.text);
        assert_eq!(codes(&found, "h8"), ["became-slower"; 3]);
        assert_eq!(found.of("wrong_dates", "contradiction"), [("h8".into(), why.into())]);
        assert_eq!(at(&found.document, "/wrong_dates/0/started"), started);
    }
}

#[test]
fn a_step_at_a_reboot_alone_is_listed_and_not_named() {
    let mut hosts = like(7);
    hosts.extend(days("h8", 1..=24, |day| if day > 20 { 108.0 } else { 98.0 }));
    for (day, result) in (1..).zip(&mut hosts[7..]) {
        result["host"]["boot_id"] = if day > 20 { "22222222-0000" } else { "11111111-0000" }.into();
    }
    let found = judged(&hosts, 0, &["--history"]);
    found.says("Became slower: 0 of 8 hosts.");
    found.says(
        "h8: not judged: matrix, mean of 2 points has another level after a reboot alone, which may be another placement \
         of memory until further reboots confirm it, since 2026-11-21T01:20:00Z [boot].",
    );
    assert_eq!(found.of("history", "undecided"), [("h8".into(), "boot".into())]);
}

#[test]
fn a_step_to_a_usual_state_of_the_kind_is_listed_and_a_larger_one_is_named() {
    let visit = |day: usize| if (13..21).contains(&day) { 106.0 } else { 98.0 };
    let step = |day: usize| if day > 20 { 106.0 } else { 98.0 };
    let mut hosts: Vec<Value> = ["h1", "h2"].iter().flat_map(|name| days(name, 1..=28, visit)).collect();
    let alone = days("h3", 1..=28, step);
    judged(&alone, 5, &["--history"]).says("Became slower: 1 of 1 hosts: h3.");
    hosts.extend(alone);
    let found = judged(&hosts, 6, &["--history"]);
    found.says("Became slower: 0 of 3 hosts.");
    found.says(
        "h3: not judged: matrix, mean of 2 points has another level, as hosts of its kind often had for a while, since \
         2026-11-21T01:20:00Z [states].",
    );
    assert!(found.of("history", "undecided").contains(&("h3".into(), "states".into())), "{}", found.text);
    hosts.extend(days("h4", 1..=28, |day| if day > 20 { 130.0 } else { 98.0 }));
    judged(&hosts, 5, &["--history"]).says("Became slower: 1 of 4 hosts: h4.");
    // A changed fact explains a step of any size.
    for (day, result) in (1..).zip(&mut hosts[56..84]) {
        result["system"]["machine"] = json!({"bios_version": if day > 20 { "2.2" } else { "2.1" }});
    }
    judged(&hosts, 5, &["--history"]).says("Became slower: 2 of 4 hosts: h3, h4.");
}

#[test]
fn the_step_that_is_found_soon_is_said() {
    let found = judged(&days("h1", 1..=28, |_| 98.0), 0, &["--history"]);
    found.says("robust cumulative sum; a step of ");
    found.says("% is found within 5 results in 9 of 10 cases");
    let step = at(&found.document, "/history/0/detectable_step").as_f64().expect("a number");
    assert!((0.03..0.06).contains(&step), "{step}");
    assert_eq!(at(&found.document, "/history/0/undecided"), &Value::Null);
}

#[test]
fn correlated_results_are_listed_and_not_named() {
    let wave = |day: usize| 98.0 + 8.0 * (day as f64 / 4.0).sin();
    let found = judged(&days("h1", 1..=28, wave), 6, &["--history"]);
    found.says("Too few results for a history, because each resembles the one before: 1 of 1 hosts: h1.");
    assert_eq!(found.of("history", "undecided"), [("h1".into(), "correlated".into())]);
}

#[test]
fn a_host_that_became_faster_is_named_with_status_0() {
    let mut hosts = like(7);
    hosts.extend(days("h8", 1..=24, |day| if day > 12 { 98.0 } else { 104.0 }));
    let found = judged(&hosts, 0, &["--history"]);
    found.says("Became faster: 1 of 8 hosts: h8.");
    assert_eq!(codes(&found, "h8"), ["became-faster"; 3]);
    // Changes up to the threshold are not named.
    let found = judged(&hosts, 0, &["--history", "--threshold=10%"]);
    found.says("Became faster: 0 of 8 hosts.");
}

#[test]
fn one_host_alone_has_a_history() {
    let found = judged(&days("h1", 1..=20, |day| if day > 15 { 120.0 } else { 98.0 }), 5, &["--history"]);
    found.says("Became slower: 1 of 1 hosts: h1.");
}

#[test]
fn the_order_of_lines_and_copies_of_lines_do_not_matter() {
    let mut hosts = like(7);
    hosts.extend(days("h8", 1..=24, |day| if day > 20 { 104.0 } else { 98.0 }));
    let expected = judged(&hosts, 5, &["--history"]).document["rows"].clone();
    hosts.reverse();
    hosts.rotate_left(11);
    assert_eq!(judged(&hosts, 5, &["--history"]).document["rows"], expected);
    let copies = hosts.clone();
    hosts.extend(copies);
    assert_eq!(judged(&hosts, 5, &["--history"]).document["rows"], expected);
    // Copies of one slow result are one result.
    let mut once = days("h8", 1..=20, |_| 98.0);
    for _ in 0..6 {
        once.push(result("h8", 21, 150.0));
    }
    judged(&once, 0, &["--history"]).says("Became slower: 0 of 1 hosts.");
}

#[test]
fn results_of_different_conditions_are_separate_series() {
    let set_all = |results: &mut Vec<Value>, from: usize, change: &dyn Fn(&mut Value)| {
        results.iter_mut().skip(from).for_each(change);
    };
    let changes: [&dyn Fn(&mut Value); 4] = [
        &|result| set(result, "pages_obtained", &json!("4k")),
        &|result| set(result, "working_set_bytes", &json!(1u64 << 30)),
        &|result| result["system"]["nodes"] = json!([{"id": 0}]),
        &|result| result["schema"] = Value::Null,
    ];
    for change in changes {
        let mut hosts = days("h1", 1..=28, |day| if day > 14 { 150.0 } else { 98.0 });
        set_all(&mut hosts, 14, change);
        let found = judged(&hosts, 0, &["--history"]);
        assert!(codes(&found, "h1").is_empty(), "{:#}", found.document["rows"]);
    }
    // A change in the series of older conditions is found as well.
    let mut hosts = days("h1", 1..=28, |day| if day > 10 { 150.0 } else { 98.0 });
    set_all(&mut hosts, 20, changes[0]);
    assert_eq!(codes(&judged(&hosts, 5, &["--history"]), "h1").len(), 3);
}

#[test]
fn results_without_a_time_have_no_history() {
    let mut hosts = days("h1", 1..=28, |day| if day > 14 { 150.0 } else { 98.0 });
    hosts.iter_mut().for_each(|result| drop(result.as_object_mut().expect("an object").remove("started")));
    judged(&hosts, 6, &["--history"])
        .says("Too few results for a history (about 20 are needed): 1 of 1 hosts: h1.");
}

/// Maximum resident memory.
const RESIDENT_KB: u64 = 16 << 10;

#[test]
fn a_hundred_thousand_results_take_little_memory() {
    let mut child =
        command(&["fleet", "-", "--history", "--json"]).stdin(Stdio::piped()).spawn().expect("a process");
    let mut input = child.stdin.take().expect("a pipe");
    let mut one = result("@", 1, 98.0);
    let point = one["rows"][0].clone();
    let points = one["rows"].as_array_mut().expect("points");
    *points = vec![point; 4];
    points.iter_mut().enumerate().for_each(|(to, point)| point["target_node"] = to.into());
    for (field, mark) in [("ns", "%"), ("ns_low", "$"), ("ns_high", "&")] {
        set(&mut one, field, &mark.into());
    }
    one["started"] = "#".into();
    let one = one.to_string() + "\n";
    for run in 0..200 {
        let mut lines = String::new();
        for host in 0..500 {
            let ns =
                if host == 77 && run > 150 { 108.0 } else { 98.0 } + 0.5 * f64::from((run * 7 + host) % 5);
            let started =
                format!("2026-{:02}-{:02}T01:{:02}:{:02}Z", 1 + run / 28, 1 + run % 28, host / 60, host % 60);
            lines += &one
                .replacen("\"@\"", &format!("\"n{host}\""), 1)
                .replacen("\"#\"", &format!("\"{started}\""), 1)
                .replace("\"%\"", &ns.to_string())
                .replace("\"$\"", &(ns - 0.5).to_string())
                .replace("\"&\"", &(ns + 0.5).to_string());
        }
        input.write_all(lines.as_bytes()).expect("a reader");
    }
    // It has read everything once it waits for more.
    let peak = peak_kb_once_it_waits(&child);
    drop(input);
    let document = finish_within(child, PATIENCE).expect_json(5);
    assert!(peak < RESIDENT_KB, "{peak} kB");
    assert_eq!(at(&document, "/summary/documents"), 100_000);
    // The mean of the points, and each of them.
    let rows = at(&document, "/rows").as_array().expect("rows");
    assert_eq!(rows.iter().map(|row| at(row, "/host")).collect::<Vec<_>>(), ["n77"; 5]);
}
