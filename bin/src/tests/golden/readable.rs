//! Results of every experiment with random troubles, read again in each form in which they are saved: the writer never
//! writes what the reader refuses.

use std::collections::BTreeSet;
use std::string::String;
use std::vec::Vec;
use std::{env, format, fs, process};

use latency_core::Pcg32;

use super::scene::{Scene, Trouble};
use super::seen::Seen;
use super::{again, findings, in_format, is_run, scenes};
use crate::commands::fleet_tests::{self, Files};
use crate::record::columns::{PAGES_OBTAINED, POINTS, SEED, VERIFIED};
use crate::record::row::Row;
use crate::saved::Saved;

/// Further command lines whose results are saved.
const LINES: [&str; 4] =
    ["matrix --counters", "bandwidth --view=mix", "loaded --counters", "cores --pairs=all"];
/// Machines of one to four nodes.
const MACHINES: [&str; 5] =
    ["one-node", "two-small-sockets", "four-nodes", "cxl-memory", "kernel-without-numa"];
/// Number of results; `make test` reads one in four.
const RESULTS: usize = 160;

/// Returns a random scene; each trouble is in one of a few.
fn random_scene(random: &mut Pcg32, number: usize) -> Scene {
    let pick = |random: &mut Pcg32, count: usize| random.below(count as u32) as usize;
    let count = pick(random, 4);
    let all = [&Trouble::ALL[..], &[Trouble::Odd; 9]].concat();
    let troubles: Vec<Trouble> = (0..count).map(|_| all[pick(random, all.len())]).collect();
    let lines = [&scenes::LINES[..], &LINES[..]].concat();
    let line = lines[number % lines.len()];
    // A fit of a curve takes seconds without optimisation, and all pairs of many CPUs are more than a reader accepts.
    let few = line.starts_with("curve") || line.ends_with("all");
    let machine = MACHINES[pick(random, if few { 2 } else { MACHINES.len() })];
    Scene { troubles: troubles.leak(), ..scenes::plain(machine, line) }
}

/// Returns each row that is read, in a fixed order: its fields, its value and its interval.
fn read(text: &str, what: &str) -> Vec<String> {
    let draft = Saved::parse(text.as_bytes(), None);
    let draft = draft.unwrap_or_else(|problem| {
        panic!(
            "{what}: {problem:?}\n{}\n{text}",
            text.lines().nth(problem.line as usize - 1).unwrap_or_default()
        )
    });
    let row = |row: &Row| {
        // A document has the highest rate of a load without the evidence for it.
        let evidence = [PAGES_OBTAINED, VERIFIED, SEED].into_iter().filter(|_| !what.contains(": loaded"));
        let columns = POINTS.into_iter().chain(evidence);
        let fields: Vec<String> = columns.map(|column| row.plain(column)).collect();
        let interval = row.interval().map(|ends| [ends.low, ends.high].map(|end| format!("{end:.6e}")));
        format!("{} {:.6e} {interval:?}", fields.join(","), row.nanoseconds())
    };
    let mut rows: Vec<String> = draft.rows.iter().map(row).collect();
    rows.sort();
    rows
}

/// Returns the number of rows of a result that have a value of their own, and that of other rows with a value.
fn with_values(scene: &Scene) -> (usize, usize) {
    let Some(Seen::Object(members)) = findings::seen(scene) else { return (0, 0) };
    let rows = members.into_iter().find_map(|(key, _, seen)| match (key, seen) {
        ("rows", Seen::List(rows)) => Some(rows),
        _ => None,
    });
    // Rows of single cores beside those of pairs of nodes are not read.
    let is_single = |row: &Seen| {
        let Seen::Object(cells) = row else { return false };
        let has = |name| cells.iter().any(|(key, ..)| *key == name);
        has("class") && has("walk_order")
    };
    let rows = rows.into_iter().flatten().filter(|row| !is_single(row));
    let cells = rows.map(|row| match row {
        Seen::Object(cells) => {
            let numbers =
                cells.iter().filter(|(.., cell)| matches!(cell, Seen::Value("number" | "integer", _)));
            numbers.map(|(key, ..)| *key).collect::<BTreeSet<_>>()
        }
        _ => BTreeSet::new(),
    });
    let of_points = |cells: &BTreeSet<&str>| {
        cells.contains("ns") && !cells.contains("percentile") && !cells.contains("bytes_per_second")
    };
    let (own, others): (Vec<_>, Vec<_>) = cells.partition(of_points);
    (
        own.len(),
        others.iter().filter(|cells| cells.contains("ns") || cells.contains("bytes_per_second")).count(),
    )
}

/// Checks that a result is read in every form, each time with the same rows.
fn check(scene: &Scene, what: &str, file: &str, number: usize) {
    let json = in_format(scene, "json");
    again::check(scene, &json, what, number);
    let (own, others) = with_values(scene);
    if own + others == 0 {
        return;
    }
    let rows = read(&json, what);
    if !scene.line.starts_with("bandwidth") && !scene.line.starts_with("loaded") {
        assert_eq!(rows.len(), own, "{what}\n{json}");
    }
    fs::write(file, &json).unwrap();
    for format in ["jsonl", "csv"] {
        assert_eq!(read(&in_format(scene, format), what), rows, "{what} as {format}");
    }
    for command in
        [format!("show {file}"), format!("report {file}"), format!("compare {file} {file} --force")]
    {
        let ended = scenes::plain("one-node", command.as_str());
        let text = in_format(&ended, "json");
        assert!(!text.contains("(exit 1)"), "{what}: {command}: {text}\n{json}");
        // A report of saved results has the classes of pairs of CPUs and not the pairs.
        match command.split(' ').next() {
            Some("show") => {
                assert_eq!(read(&text, what).len(), rows.len(), "{what}: {command}: {text}\n{json}")
            }
            Some("report") if !scene.line.starts_with("loaded") => assert!(!read(&text, what).is_empty()),
            _ => {}
        }
    }
}

#[test]
fn every_result_that_is_written_can_be_read() {
    let file = env::temp_dir().join(format!("latency-bench-readable-{}", process::id()));
    let file = file.to_str().unwrap();
    for number in (0..RESULTS).filter(|number| is_run(*number, 4)) {
        let scene = random_scene(&mut Pcg32::new(42, number as u64), number);
        let troubles: Vec<_> = scene.troubles.iter().map(|trouble| *trouble as usize).collect();
        let what = format!("{number}: {} on {}, troubles {troubles:?}", scene.line, scene.machine);
        check(&scene, &what, file, number);
    }
    // It is removed only if all is well; the next run overwrites it.
    let _ = fs::remove_file(file);
}

#[test]
fn fleets_compare_values_of_results_that_are_not_points() {
    let mut files = Files::default();
    for (machine, line, points) in [
        ("two-sockets", "loaded --traffic=read", &["loaded 0 -> 1\"", "loaded 0 -> 1, read, "][..]),
        ("two-small-sockets", "cores", &["cores same L3"]),
        ("one-node", "curve --min-size=1M --max-size=2M --points-per-octave=1", &["curve 0 -> 0, 1 MiB"]),
        ("one-node", "variants --min-size=1M --max-size=1M", &["variants 0 -> 0, "]),
        ("one-node", "parallel --chains=1,4 --size=1M", &["4 chains"]),
    ] {
        let path = files.add(in_format(&scenes::plain(machine, line), "json").as_bytes());
        let (json, failure) = fleet_tests::written(&[&path, "--json"]);
        for point in points {
            assert!(json.contains(point), "{line}: {point}\n{json}");
        }
        assert!(json.contains("\"skipped_lines\":0"), "{line}");
        assert!(matches!(failure, Some((6, _))), "one host is not judged: {line}");
    }
}
