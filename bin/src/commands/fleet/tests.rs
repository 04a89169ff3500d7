//! Tests with imaginary hosts: slow hosts are found, and other contents of their files are handled.

use std::boxed::Box;
use std::path::PathBuf;
use std::string::{String, ToString};
use std::sync::atomic::{AtomicU32, Ordering};
use std::vec::Vec;
use std::{format, fs};

use latency_core::Pcg32;
use proptest::prelude::*;

use super::FLEET;
use crate::catalogue::DESCRIPTORS;
use crate::describe::{CommandRun, output};
use crate::options;
use latency_report::{FORMATS, Terminal};
use latency_sys::arguments::Arguments;

/// Temporary files that are removed when the test ends.
#[derive(Default)]
pub struct Files(Vec<PathBuf>);

impl Files {
    /// Writes a file with this content, and returns its path.
    pub fn add(&mut self, text: &[u8]) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("latency-bench-fleet-{}-{number}", std::process::id()));
        fs::write(&path, text).unwrap();
        let shown = path.to_str().unwrap().into();
        self.0.push(path);
        shown
    }
}

impl Drop for Files {
    fn drop(&mut self) {
        for path in &self.0 {
            let _ = fs::remove_file(path);
        }
    }
}

/// Returns the output of the command for some arguments, and its failure.
pub fn written(arguments: &[&str]) -> (String, Option<(u8, String)>) {
    let line = ["fleet"].iter().chain(arguments).fold(String::new(), |line, word| line + word + "\0");
    let arguments = Arguments::packed(Box::leak(line.into_bytes().into()));
    let options = Box::leak(Box::new(options::parse(arguments, &DESCRIPTORS, &FORMATS).unwrap()));
    let mut out = String::new();
    let terminal =
        Terminal { columns: 100, unicode: true, colour: false, audience: latency_report::Audience::Pipe };
    let failure = match FLEET.perform(options, &|| CommandRun::of("fleet")) {
        Ok((shown, failure)) => {
            let format = options.outputs()[0].format;
            output::write(&mut out, format, options, terminal, FLEET.columns, &shown).unwrap();
            failure
        }
        Err(failure) => Some(failure),
    };
    (out, failure.map(|failure| (failure.exit_code(), failure.to_string())))
}

/// A result of one host.
#[derive(Clone)]
struct Host {
    name: String,
    cpu: &'static str,
    nodes: usize,
    trust: &'static str,
    /// The nanoseconds of each pair, and half the widths of their intervals.
    pairs: Vec<(f64, f64)>,
}

impl Host {
    fn new(name: &str, ns: f64) -> Host {
        Host { name: name.into(), cpu: "Imaginary 8000", nodes: 2, trust: "good", pairs: [(ns, 0.5)].into() }
    }

    fn line(&self) -> String {
        let pairs = self.pairs.iter().enumerate().map(|(to, (ns, half))| {
            format!(
                r#"{{"initiator_node":0,"target_node":{to},"ns":{ns},"working_set_bytes":268435456,"ns_low":{},"ns_high":{}}}"#,
                ns - half,
                ns + half
            )
        });
        let pairs: Vec<_> = pairs.collect();
        let nodes = ["{\"id\":0}"].repeat(self.nodes).join(",");
        let name = self.name.replace('\\', "\\\\").replace('"', "\\\"");
        format!(
            r#"{{"rows":[{}],"experiment":"matrix","host":{{"name":"{name}","boot_id":"","cpu_model":"{}","labels":{{}}}},"system":{{"nodes":[{nodes}]}},"trust":{{"level":"{}","reasons":["other-work"]}}}}"#,
            pairs.join(","),
            self.cpu,
            self.trust
        )
    }
}

fn text(hosts: &[Host]) -> String {
    hosts.iter().fold(String::new(), |text, host| text + &host.line() + "\n")
}

/// Returns the slow hosts in CSV output: the host and the point of each row.
fn slow(csv: &str) -> Vec<(String, String)> {
    let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    let slow = csv.lines().skip(1).filter(|line| line.contains(",slower,"));
    slow.map(|line| (cells(line)[0].clone(), cells(line)[1].clone())).collect()
}

/// Returns the hosts that differ from the others, from CSV output: the host and the code of each row.
fn apart(hosts: &[Host], more: &[&str]) -> Vec<(String, String)> {
    let mut files = Files::default();
    let path = files.add(text(hosts).as_bytes());
    let (csv, _) = written(&[&[path.as_str(), "--csv"], more].concat());
    let cells = |line: &str| line.split(',').map(String::from).collect::<Vec<_>>();
    let apart = csv.lines().skip(1).filter(|line| !line.contains(",slower,"));
    apart.map(|line| (cells(line)[0].clone(), cells(line)[11].clone())).collect()
}

fn found(hosts: &[Host], more: &[&str]) -> (Vec<(String, String)>, Option<u8>) {
    let mut files = Files::default();
    let path = files.add(text(hosts).as_bytes());
    let (csv, failure) = written(&[&[path.as_str(), "--csv"], more].concat());
    (slow(&csv), failure.map(|(code, _)| code))
}

/// Returns noise that resembles the noise between runs and between hosts: nearly normal, with standard deviation 1.
fn noise(random: &mut Pcg32) -> f64 {
    (0..12).map(|_| f64::from(random.next_u32()) / f64::from(u32::MAX)).sum::<f64>() - 6.0
}

/// Returns `count` similar hosts, each with four pairs.
fn like(count: usize, random: &mut Pcg32) -> Vec<Host> {
    (0..count)
        .map(|number| {
            let pairs = (0..4).map(|pair| {
                let ns = if pair % 3 == 0 { 98.0 } else { 154.0 };
                (ns * (1.0 + 0.015 * noise(random)), 0.6)
            });
            Host { pairs: pairs.collect(), ..Host::new(&format!("n{number:04}"), 0.0) }
        })
        .collect()
}

#[test]
fn twelve_slow_hosts_of_a_thousand_are_found() {
    for seed in 0..8 {
        let mut random = Pcg32::new(seed, 0);
        let mut hosts = like(1000, &mut random);
        for host in hosts.iter_mut().skip(seed as usize).step_by(83).take(12) {
            host.pairs[1].0 *= 1.15;
            host.name += "-slow";
        }
        let (found, code) = found(&hosts, &[]);
        let planted =
            found.iter().filter(|(host, point)| host.ends_with("-slow") && point == "matrix 0 -> 1");
        let planted = planted.count();
        assert!(planted == 12 && found.len() <= 14 && code == Some(5), "{seed}: {planted} of {found:?}");
    }
}

#[test]
fn a_wide_interval_other_models_missing_points_and_fast_hosts_are_not_outliers() {
    let mut hosts = like(20, &mut Pcg32::new(1, 0));
    assert_eq!(found(&hosts, &[]), (Vec::new(), None));
    hosts[0].pairs[0] = (130.0, 30.0);
    hosts[1].pairs.truncate(1);
    hosts[2].pairs[2].0 *= 0.5;
    for host in &mut hosts[3..6] {
        host.cpu = "Imaginary 9000";
        host.pairs[0].0 *= 2.0;
    }
    for host in &mut hosts[6..9] {
        host.nodes = 4;
        host.pairs[0].0 *= 2.0;
    }
    hosts[9].trust = "poor";
    hosts[9].pairs[0].0 *= 2.0;
    assert_eq!(found(&hosts, &[]), (Vec::new(), None));
    hosts[10].pairs[0].0 *= 1.9;
    let slow = |host: usize| (hosts[host].name.clone(), String::from("matrix 0 -> 0"));
    assert_eq!(found(&hosts, &[]), ([slow(10)].into(), Some(5)));
    let forced = found(&hosts, &["--force"]);
    assert_eq!(forced.0.len(), 2, "{forced:?}");
    assert_eq!(found(&hosts, &["--threshold=100"]), (Vec::new(), None));
    let expected = [(2, "faster"), (6, "nodes"), (7, "nodes"), (8, "nodes")];
    assert_eq!(
        apart(&hosts, &[]),
        expected.map(|(host, code): (usize, &str)| (hosts[host].name.clone(), code.to_string()))
    );
}

#[test]
fn the_middle_of_several_runs_at_one_time_counts() {
    let mut hosts = like(9, &mut Pcg32::new(2, 0));
    let run = |ns: f64| Host { pairs: [(ns, 0.5), (154.0, 0.5)].into(), ..Host::new("n0003", 0.0) };
    hosts.extend([run(200.0), run(98.0)]);
    assert_eq!(found(&hosts, &[]).1, None, "one slow run of three");
    hosts.extend([run(199.0), run(201.0)]);
    assert_eq!(found(&hosts, &[]).0.len(), 1, "three slow runs of five");
}

#[test]
fn the_newest_run_of_a_host_counts() {
    let at = |host: &Host, day: usize| {
        host.line().replacen("\"host\":", &format!("\"started\":\"2026-11-{day:02}T01:20:00Z\",\"host\":"), 1)
            + "\n"
    };
    let hosts = like(9, &mut Pcg32::new(2, 0));
    let run = |ns: f64| Host { pairs: [(ns, 0.5), (154.0, 0.5)].into(), ..Host::new("n0003", 0.0) };
    let slow_hosts = |values: &[f64]| {
        let mut lines: Vec<String> = hosts.iter().map(|host| at(host, 1)).collect();
        lines.extend(values.iter().zip(2..).map(|(ns, day)| at(&run(*ns), day)));
        lines.reverse();
        let mut files = Files::default();
        let path = files.add(lines.concat().as_bytes());
        let (csv, failure) = written(&[&path, "--csv"]);
        let (json, _) = written(&[&path, "--json"]);
        (slow(&csv).len(), failure.map(|(code, _)| code), json.contains("\"newest_results\":"))
    };
    assert_eq!(slow_hosts(&[200.0, 200.0, 98.0]), (0, None, false));
    assert_eq!(slow_hosts(&[98.0, 98.5, 200.0]), (1, Some(5), true), "slower than others, and than before");
    assert_eq!(slow_hosts(&[98.0, 98.5, 97.0]), (0, None, false));
}

#[test]
fn fewer_than_five_hosts_need_a_baseline_for_a_verdict() {
    let mut hosts = like(4, &mut Pcg32::new(3, 0));
    let mut files = Files::default();
    let good = files.add(text(&hosts[..1]).as_bytes());
    hosts[2].pairs[3].0 *= 1.3;
    assert_eq!(found(&hosts, &[]), (Vec::new(), Some(6)));
    let with = found(&hosts, &[&format!("--baseline={good}")]);
    assert_eq!(with, ([("n0002".into(), "matrix 0 -> 3".into())].into(), Some(5)));
    let path = files.add(text(&hosts).as_bytes());
    let (shown, _) = written(&[&path]);
    assert!(shown.starts_with("Too few hosts: 4 hosts, fewer than 5 of each kind."), "{shown}");
    assert!(shown.contains("n0002  matrix 0 -> 3   129 ns"), "{shown}");
    hosts.iter_mut().for_each(|host| host.nodes = 1);
    let other = files.add(text(&hosts).as_bytes());
    let (shown, failure) = written(&[&other, &format!("--baseline={good}")]);
    assert!(
        shown.starts_with("None of 4 hosts has a point in common with the baseline.")
            && matches!(failure, Some((6, _))),
        "{shown}"
    );
}

#[test]
fn results_without_a_host_are_told_apart_by_the_ends_of_long_paths() {
    let mut files = Files::default();
    for number in 0..6 {
        let name = format!("{}-{}-{number}", "long".repeat(30), std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::write(&path, Host::new("", 90.0).line()).unwrap();
        files.0.push(path);
    }
    let paths: Vec<&str> = files.0.iter().map(|path| path.to_str().unwrap()).chain(["--json"]).collect();
    let (json, _) = written(&paths);
    assert!(json.contains("\"hosts\":6"), "{json}");
}

#[test]
fn names_of_expected_hosts_may_stand_behind_a_byte_order_mark() {
    let hosts = like(6, &mut Pcg32::new(5, 0));
    let mut files = Files::default();
    let path = files.add(text(&hosts).as_bytes());
    let names = files.add("\u{feff}n0000\r\nn0005\r\n".as_bytes());
    assert_eq!(written(&[&path, &format!("--expect={names}")]).1, None);
    let wide = files.add(b"\xff\xfen\x000\x00");
    let (_, failure) = written(&[&path, &format!("--expect={wide}")]);
    assert!(failure.is_some_and(|(code, why)| code == 1 && why.contains("UTF-16 text")));
}

#[test]
fn a_line_that_is_not_a_result_is_named_and_the_rest_is_used() {
    let mut hosts = like(12, &mut Pcg32::new(4, 0));
    hosts[7].pairs[0].0 *= 1.5;
    let lines = text(&hosts);
    let mut files = Files::default();
    for (garbage, what) in [
        ("not JSON at all", "not JSON, or not a result"),
        ("{\"rows\":[{\"initiator_node\":0,", "the document is cut off"),
        ("{\"rows\":[{\"fro", "the document is cut off"),
        ("{\"rows\":[]}", "the document names no experiment"),
        ("[1,2]", "not JSON, or not a result"),
        ("{\"experiment\":\"matrix\"} {}", "text after the end of the document"),
        (
            "{\"experiment\":\"matrix\",\"rows\":[{\"initiator_node\":-1,\"target_node\":0,\"ns\":1}]}",
            "not a whole number",
        ),
        ("\u{1b}[2J\0", "not JSON, or not a result"),
    ] {
        let (before, after) = lines.split_at(lines.match_indices('\n').nth(4).unwrap().0 + 1);
        let path = files.add(format!("{before}{garbage}\n{after}").as_bytes());
        let (shown, failure) = written(&[&path]);
        assert!(shown.contains(&format!("line 6: {what}")), "{garbage}: {shown}");
        assert!(shown.starts_with("1 of 12 hosts is slow: n0007 ("), "{shown}");
        assert_eq!(failure.map(|(code, _)| code), Some(5));
        let (_, failure) = written(&[&path, "--strict"]);
        let (code, message) = failure.unwrap();
        assert!(code == 1 && message.contains("line 6: ") && message.contains(what), "{message}");
    }
}

#[test]
fn documents_may_be_on_one_line_or_on_many_and_in_any_number_of_files() {
    let mut hosts = like(8, &mut Pcg32::new(5, 0));
    hosts[3].pairs[2].0 *= 1.4;
    let expected = [("n0003".to_string(), "matrix 0 -> 2".to_string())];
    let spread = |line: &str| line.replace("[{", "[\n  {\n").replace("},", "\n},\n").replace("}]", "\n}\n]");
    let mut files = Files::default();
    let mut mixed = String::from("\u{feff}");
    for (index, host) in hosts.iter().enumerate() {
        mixed += &if index % 2 == 0 { spread(&host.line()) + "\r\n\n" } else { host.line() + "\n" };
    }
    let mixed = files.add(mixed.as_bytes());
    assert_eq!(slow(&written(&[&mixed, "--csv"]).0), expected);
    let each: Vec<String> = hosts.iter().map(|host| files.add(spread(&host.line()).as_bytes())).collect();
    let mut arguments: Vec<&str> = each.iter().map(String::as_str).collect();
    arguments.push("--csv");
    let (csv, failure) = written(&arguments);
    assert_eq!((slow(&csv), failure.map(|(code, _)| code)), (expected.into(), Some(5)));
    let cut = spread(&hosts[0].line());
    let cut = files.add(format!("{}\n{}", &cut[..cut.len() / 2], text(&hosts)).as_bytes());
    let (shown, _) = written(&[&cut]);
    assert!(
        shown.contains("line 1: the document is cut off") && shown.contains("Hosts: 8, with 8 results"),
        "{shown}"
    );
}

#[test]
fn lower_bandwidths_are_slower() {
    let host = |name: usize, rate: f64| {
        let ns = 64.0 / rate;
        format!(
            "{{\"rows\":[{{\"initiator_node\":0,\"target_node\":0,\"traffic\":\"read\",\"cores\":8,\"ns\":{ns},\
             \"ns_low\":{},\"ns_high\":{}}}],\"experiment\":\"bandwidth\",\"host\":{{\"name\":\"n{name}\"}},\"system\":{{\
             \"cpu\":{{\"brand\":\"X\"}},\"nodes\":[{{}}]}}}}\n",
            ns * 0.99,
            ns * 1.01
        )
    };
    let mut files = Files::default();
    let rates = [110.0, 111.0, 109.0, 80.0, 112.0, 150.0, 110.0];
    let all = rates.iter().enumerate().fold(String::new(), |all, (name, rate)| all + &host(name, *rate));
    let path = files.add(all.as_bytes());
    let (csv, _) = written(&[&path, "--csv"]);
    let row = csv.lines().nth(1).unwrap_or_default();
    assert!(row.starts_with("n3,\"bandwidth 0 -> 0, read, 8 cores\",X,1,bytes_per_second,800000"), "{csv}");
    let fast = csv.lines().nth(2).unwrap_or_default();
    assert!(fast.starts_with("n5,") && fast.contains(",faster,"), "{csv}");
    assert_eq!(csv.lines().count(), 3, "{csv}");
    let (shown, _) = written(&[&path]);
    assert!(shown.contains("80.0 GB/s  110 GB/s   0.73"), "{shown}");
}

/// Host names that would be markup or commands elsewhere.
const HOSTILE: [&str; 9] = [
    "<script>alert(1)</script>",
    "a,b\\\"c",
    "| x | y |",
    "\\u001b[2J\\u0007",
    "{instance=\\\"x\\\"} 1",
    "\\n# HELP a",
    "=cmd()",
    "\\u202e",
    "`$(reboot)`",
];

#[test]
fn no_host_name_changes_the_structure_of_an_output() {
    let mut hosts = like(30, &mut Pcg32::new(6, 0));
    for (host, name) in hosts.iter_mut().zip(HOSTILE) {
        host.pairs[0].0 *= 1.5;
        host.name = name.into();
    }
    let mut files = Files::default();
    // The names are valid JSON strings without escapes.
    let lines: String = hosts
        .iter()
        .zip(0..)
        .map(|(host, index)| {
            let plain = Host { name: format!("@{index}@"), ..host.clone() };
            plain.line().replace(&format!("@{index}@"), &host.name) + "\n"
        })
        .collect();
    let path = files.add(lines.as_bytes());
    for format in ["text", "json", "jsonl", "csv", "md", "prometheus", "tap"] {
        let (shown, failure) = written(&[&path, &format!("--format={format}"), "--verbose"]);
        assert_eq!(failure.map(|(code, _)| code), Some(5), "{format}");
        assert!(!shown.chars().any(|c| c.is_control() && c != '\n'), "{format}: {shown}");
        let lines = shown.lines().count();
        match format {
            "jsonl" => assert_eq!(lines, 1),
            "csv" => assert_eq!(lines, 1 + HOSTILE.len(), "{shown}"),
            "md" => assert!(!shown.replace("\\<", "").contains('<'), "{shown}"),
            _ => assert!(lines > HOSTILE.len(), "{format}: {shown}"),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_of_files_and_lines_does_not_matter(
        seed in any::<u64>(),
        cut in 1..40_usize,
        shuffled in Just((0..40_usize).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let mut random = Pcg32::new(seed, 0);
        let mut hosts = like(36, &mut random);
        for index in 0..4 {
            hosts[index].pairs[index].0 *= 1.3;
            hosts[index + 4].trust = "poor";
            hosts[index + 8].cpu = "Imaginary 9000";
            let again = hosts[index + 12].clone();
            hosts.push(Host { pairs: [(120.0, 1.0), (170.0, 2.0)].into(), ..again });
        }
        let mut files = Files::default();
        let one = files.add(text(&hosts).as_bytes());
        let mixed: Vec<Host> = shuffled.iter().map(|index| hosts[*index].clone()).collect();
        let [first, second] = [&mixed[..cut], &mixed[cut..]].map(|part| files.add(text(part).as_bytes()));
        for format in ["--format=text", "--json"] {
            let (expected, failure) = written(&[&one, format, "--verbose"]);
            let (other, other_failure) = written(&[&second, &first, format, "--verbose"]);
            prop_assert_eq!(expected, other);
            prop_assert_eq!(failure, other_failure);
        }
    }
}

#[test]
fn a_host_that_became_slower_is_not_healthy() {
    let all = fs::read_to_string("../tests/fixtures/saved/fleet-history.jsonl").unwrap();
    let own = |line: &&str| line.contains("\"c22\"");
    let lines: String = all.lines().filter(own).flat_map(|line| [line, "\n"]).collect();
    let mut files = Files::default();
    // The newest result of the host is usual for the host itself.
    let path = files.add(lines.as_bytes());
    let (shown, _) = written(&["--history", &path, &format!("--baseline={path}")]);
    assert!(shown.contains("Became slower: 1 of 1 hosts: c22."), "{shown}");
    assert!(shown.contains("Healthy: 0 of 1 hosts."), "{shown}");
}

#[test]
fn a_host_that_is_slow_at_one_point_and_became_slower_counts_once() {
    let mut lines = String::new();
    for (day, name) in (1..25).flat_map(|day| (0..8).map(move |name| (day, name))) {
        let mut host = Host::new(&format!("h{name}"), 100.0 + f64::from((day * 5 + name * 3) % 7) / 20.0);
        host.pairs.push((host.pairs[0].0 * 1.5, 0.5));
        if name == 7 && day > 16 {
            host.pairs[0].0 *= 1.3;
        }
        let started = format!("{{\"started\":\"2026-10-{day:02}T01:20:00Z\",");
        lines += &(host.line().replacen('{', &started, 1) + "\n");
    }
    let mut files = Files::default();
    let (shown, _) = written(&["--history", &files.add(lines.as_bytes())]);
    assert!(shown.contains("Became slower: 1 of 8 hosts: h7."), "{shown}");
    assert!(shown.contains("1 of 8 hosts is slow: h7"), "{shown}");
    assert!(shown.contains("Healthy: 7 of 8 hosts."), "{shown}");
}
