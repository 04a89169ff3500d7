//! Tests with imaginary hosts: a planted association is named, and chance is not.

use std::format;
use std::string::String;

use latency_core::Pcg32;

use super::tests::{Files, written};

/// Returns the result of a host with these facts.
fn line(host: usize, ns: f64, bios: &str, kernel: &str, label: &str) -> String {
    format!(
        r#"{{"rows":[{{"initiator_node":0,"target_node":0,"ns":{ns},"ns_low":{},"ns_high":{}}}],"experiment":"matrix","host":{{"name":"n{host:03}","cpu_model":"X","labels":{{"rack":"{label}"}}}},"system":{{"machine":{{"bios_version":"{bios}"}},"kernel":"{kernel}"}}}}"#,
        ns - 0.3,
        ns + 0.3
    ) + "\n"
}

/// Returns the latency of a host of 100, if six are slow.
fn latency(host: usize, is_slow: bool) -> f64 {
    (if is_slow { 140.0 } else { 98.0 }) + 0.1 * (host % 7) as f64
}

/// Returns the sentences about associations.
fn named(lines: &str) -> (String, usize) {
    let mut files = Files::default();
    let path = files.add(lines.as_bytes());
    let (shown, failure) = written(&[&path]);
    assert_eq!(failure.map(|(code, _)| code), Some(5), "{shown}");
    let shown = shown.split_ascii_whitespace().fold(String::new(), |all, word| all + word + " ");
    let count = shown.matches("(an association, not a cause)").count();
    (shown, count)
}

#[test]
fn a_planted_association_is_named_with_its_shares() {
    let lines = |bios: &dyn Fn(usize) -> &'static str, label: &dyn Fn(usize) -> &'static str| {
        (0..100).fold(String::new(), |all, host| {
            all + &line(host, latency(host, host < 6), bios(host), ["6.8", "6.9"][host % 2], label(host))
        })
    };
    let (shown, count) =
        named(&lines(&|host| if host < 5 { "2.1" } else { "2.0" }, &|host| ["a", "b", "c"][host % 3]));
    assert!(shown.contains("5 of 6 slow hosts have BIOS 2.1, 0 of 94 others"), "{shown}");
    assert_eq!(count, 1, "{shown}");
    let (shown, count) = named(&lines(&|_| "2.0", &|host| if host < 7 { "b7" } else { "b8" }));
    assert!(shown.contains("6 of 6 slow hosts have label rack b7, 1 of 94 others"), "{shown}");
    assert_eq!(count, 1, "{shown}");
    // All hosts have the same, or each its own.
    let each: [&str; 100] = core::array::from_fn(|host| &*format!("{host}").leak());
    let (shown, count) = named(&lines(&|_| "2.0", &|host| each[host]));
    assert_eq!(count, 0, "{shown}");
}

#[test]
fn associations_are_sought_among_hosts_with_one_cpu_model() {
    let lines = (0..60).fold(String::new(), |all, host| {
        let is_slow = host < 6;
        let line = line(host, latency(host, is_slow), if host < 20 { "2.1" } else { "2.0" }, "6.8", "a");
        all + &if host < 20 { line } else { line.replace("\"X\"", "\"Y\"") }
    });
    let (shown, count) = named(&lines);
    assert_eq!(count, 0, "{shown}");
}

#[test]
fn chance_is_named_in_at_most_one_of_twenty_fleets() {
    let mut with_names = 0;
    for seed in 0..200 {
        let mut random = Pcg32::new(seed, 5);
        let mut below = |most: u32| random.next_u32() as usize % most as usize;
        let slow: [usize; 6] = core::array::from_fn(|_| below(40));
        let lines = (0..40).fold(String::new(), |all, host| {
            let kernel = ["6.8", "6.9", "6.10"][below(3)];
            let (bios, label) = (["2.0", "2.1"][below(2)], ["a", "b", "c", "d", "e"][below(5)]);
            all + &line(host, latency(host, slow.contains(&host)), bios, kernel, label)
        });
        with_names += usize::from(named(&lines).1 > 0);
    }
    assert!(with_names <= 10, "{with_names} of 200");
}
