//! Everything that the program writes, for fixed findings, compared with stored texts that a person has read.
//!
//! Each scene has a file in tests/golden; `make golden` rewrites them, and the difference is reviewed like any other.
//! Long texts are shortened (`stored`); if the output of a scene differs, its full text is in target/golden. This file
//! lists the scenes and compares; only `findings` knows the types of results.

mod again;
mod browser;
mod causes;
mod claims;
mod findings;
mod json;
mod lines;
mod loads;
mod numbers;
mod pages;
mod readable;
mod residency;
mod rows;
mod scene;
mod scenes;
mod schema;
mod seen;
mod spans;
mod stored;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::string::String;
use std::vec::Vec;
use std::{env, fs, thread};

use crate::catalogue::EXPERIMENTS;
use latency_report::{Audience, FORMATS};

use scene::Scene;
use stored::{stored, without_shown};

/// Returns whether a case is among those of this run: one in `step`, or all in `make test-all`.
fn is_run(case: usize, step: usize) -> bool {
    case.is_multiple_of(step) || env::var_os("LATENCY_BENCH_TESTS").is_some_and(|value| value == "all")
}

fn directory() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/golden")
}

/// Compares the output of a scene with the stored text: returns the name of the stored file, and the first line that
/// differs. With `update`, stores the new text.
fn compared(scene: &Scene, update: bool) -> (String, Option<String>) {
    let mut whole = findings::written(scene);
    without_shown(&mut whole);
    let (name, text) = stored(&scene.file, &whole);
    let path = directory().join(&name);
    let kept = fs::read_to_string(&path).unwrap_or_default();
    if kept == text {
        return (name, None);
    }
    if update {
        fs::write(&path, &*text).unwrap();
        return (name, None);
    }
    let full = directory().join("../../target/golden");
    let _ = fs::create_dir_all(&full).and_then(|()| fs::write(full.join(&scene.file), &whole));
    let line = kept.lines().zip(text.lines()).position(|(one, other)| one != other);
    let line = line.unwrap_or(kept.lines().count().min(text.lines().count()));
    let at = |text: &str| String::from(text.lines().nth(line).unwrap_or("(end)"));
    let difference = std::format!("{name}:{}\n  - {}\n  + {}", line + 1, at(&kept), at(&text));
    (name, Some(difference))
}

#[test]
fn output_matches_the_golden_files() {
    let update = env::var_os("UPDATE_GOLDEN").is_some();
    let scenes = scenes::all();
    let files: BTreeSet<&str> = scenes.iter().map(|scene| scene.file.as_str()).collect();
    assert_eq!(files.len(), scenes.len(), "two scenes with one file");
    // Fitting takes seconds without optimisation.
    let (even, odd): (Vec<_>, Vec<_>) = scenes.iter().enumerate().partition(|(index, _)| index % 2 == 0);
    let compare = |half: Vec<(usize, &Scene)>| -> Vec<(String, Option<String>)> {
        half.into_iter().map(|(_, scene)| compared(scene, update)).collect()
    };
    let all = thread::scope(|scope| {
        let other = scope.spawn(|| compare(odd));
        let mut all = compare(even);
        all.extend(other.join().unwrap());
        all
    });
    let known: BTreeSet<String> = all.iter().map(|(name, _)| name.clone()).collect();
    let mut differing: Vec<String> = all.into_iter().filter_map(|(_, difference)| difference).collect();
    for entry in fs::read_dir(directory()).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if known.contains(&name) {
            continue;
        }
        if update {
            fs::remove_file(entry.path()).unwrap();
        } else {
            differing.push(std::format!("{name}: of no scene"));
        }
    }
    assert!(
        differing.is_empty(),
        "differs from tests/golden (in full: target/golden); `make golden` writes the new text:\n{}",
        differing.join("\n")
    );
}

#[test]
fn no_form_of_an_anonymous_result_names_its_host_or_files() {
    let secret = str::from_utf8(findings::SECRET).unwrap();
    let mut formats = BTreeSet::new();
    let experiments = EXPERIMENTS.iter().map(|experiment| experiment.descriptor.name).chain(["report"]);
    for (row, experiment) in experiments.enumerate() {
        // Fitting takes seconds without optimisation.
        let fits = matches!(experiment, "curve" | "report");
        let all = FORMATS.iter().map(|format| format.name).enumerate();
        for (column, format) in all.filter(|(_, format)| !fits || *format == "html") {
            let files = std::format!("-o {secret} -o{secret}.md --output=/{secret}/a --save {secret}.json");
            let line = std::format!("{experiment} --anonymous --verbose --format={format} {files}");
            // A report has a curve in it.
            let step = if fits { 12 } else { 3 };
            if (experiment == "report" || is_run(row + column, step)) && findings::is_accepted(&line) {
                let text = findings::written(&scenes::plain("two-sockets", line.as_str()));
                assert!(text.len() > 100 && !text.contains(secret), "{line}: {text}");
                formats.insert(format);
            }
        }
    }
    assert_eq!(formats.len(), FORMATS.len());
}

#[test]
fn a_wider_terminal_does_not_change_short_lines() {
    for line in ["matrix --heatmap", "distribution", "parallel"] {
        let [usual, wide] = [100, 240].map(|columns| {
            let scene = Scene { columns, ..scenes::plain("four-nodes", line) };
            findings::written(&scene)
        });
        assert_eq!(usual, wide, "{line}");
    }
}

#[test]
fn the_first_screen_has_eight_lines_beside_those_that_scripts_search_for() {
    for (machine, columns, line) in
        scenes::LINES.iter().flat_map(|line| [("one-node", 80, line), ("two-sockets", 100, line)])
    {
        let scene = Scene { columns, ..scenes::plain(machine, *line) };
        let text = findings::written(&scene);
        let (front, _) = text.split_once(" -v\n").unwrap_or_else(|| panic!("{line}: {text}"));
        let is_words = |line: &&str| {
            !line.trim().is_empty() && !line.starts_with("Node ") && !line.contains(" one way (")
        };
        let front: Vec<&str> = front.lines().filter(is_words).collect();
        assert!(front.len() <= 8, "{line} on {machine}: {}", front.join("\n"));
    }
}

#[test]
fn texts_name_the_pages_and_lines_of_the_machine() {
    // Lines end anywhere.
    let written = |machine, line: &str| {
        let text = findings::written(&Scene { audience: Audience::File, ..scenes::plain(machine, line) });
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    for (machine, base) in [("arm-m1", "16 KiB"), ("arm-altra", "64 KiB")] {
        for experiment in EXPERIMENTS.iter().map(|experiment| experiment.descriptor.name) {
            let text = written(machine, &std::format!("{experiment} --verbose"));
            assert!(!text.contains(" 4 KiB page"), "{experiment} of {machine}: {text}");
        }
        for line in ["matrix --pages=4k", "matrix --pages=base", "curve --pages=4k"] {
            let text = written(machine, line);
            assert!(text.contains(&std::format!("in {base} pages")), "{line}: {text}");
        }
        let pages = written(machine, "pages");
        assert!(pages.contains(&std::format!("{base} ns")) && pages.contains("THP ns"), "{pages}");
    }
    for line in ["matrix --pages=32m", "matrix --pages=thp"] {
        let text = written("arm-m1", line);
        assert!(text.contains("32 MiB pages"), "{text}");
    }
    let system = written("arm-m1", "system");
    for part in [
        "no 512 MiB of free 32 MiB huge pages",
        "echo 16 > /sys/devices/system/node/node0/hugepages/hugepages-32768kB/nr_hugepages",
        "2 MiB pages 32 MiB pages 1 GiB pages",
        "base pages of 16 KiB, huge pages of 32 MiB",
        "lines of 128 B",
    ] {
        assert!(system.contains(part), "{part}: {system}");
    }
}

/// Returns true for lines that may be longer than the terminal: lines that scripts search for, lines that are copied as
/// a whole, and cells with the name of a file.
fn may_be_long(line: &str) -> bool {
    ["Node ", "echo ", "standard error: "].iter().any(|begin| line.trim_start().starts_with(begin))
        || line.contains("../tests/fixtures/")
}

#[test]
fn text_fits_a_terminal_of_80_columns() {
    let mut wide = Vec::new();
    let texts = scenes::all().into_iter().filter(|scene| scene.file.ends_with(".txt") && !scene.colour);
    for (_, scene) in texts.enumerate().filter(|(case, _)| is_run(*case, 6)) {
        let quiet = scene.line.contains("--quiet") || scene.line.contains("--verbose");
        for more in if quiet { &[""][..] } else { &["", " --verbose"] } {
            let scene = Scene { columns: 80, line: scene.line.clone() + more, ..scene.clone() };
            let text = findings::written(&scene);
            let long = text.lines().filter(|line| line.chars().count() > 80 && !may_be_long(line));
            wide.extend(long.map(|line| std::format!("{}: {line}", scene.line)));
        }
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn text_fits_narrow_terminals() {
    let lines =
        ["matrix --heatmap", "curve --points-per-octave=2", "parallel", "window", "distribution", "order"];
    let more = [
        "pages",
        "residency",
        "variants",
        "bandwidth",
        "cores --states",
        "loaded",
        "matrix --memnode=0 --cpunode=0",
    ];
    let mut wide = Vec::new();
    for (columns, line) in [40, 60]
        .into_iter()
        .flat_map(|columns| lines.into_iter().chain(more).map(move |line| (columns, line)))
    {
        let scene = Scene { columns, ..scenes::plain("two-small-sockets", line) };
        let text = findings::written(&scene);
        let long = text.lines().filter(|line| line.chars().count() > columns && !may_be_long(line));
        wide.extend(long.map(|long| std::format!("{line}: {long}")));
    }
    assert!(wide.is_empty(), "{}", wide.join("\n"));
}

#[test]
fn the_schema_matches_all_descriptions() {
    let mut documents = schema::Documents::default();
    for scene in scenes::for_programs() {
        if let Some(seen) = findings::seen(&scene) {
            documents.add(&seen);
        }
    }
    let schema = documents.schema().unwrap_or_else(|missing| {
        panic!("no scene shows enough of:\n  {}", missing.join("\n  "));
    });
    let path = directory().join("../schema/latency-bench.schema.json");
    if env::var_os("UPDATE_GOLDEN").is_some() {
        return fs::write(path, schema).unwrap();
    }
    let stored = fs::read_to_string(path).unwrap_or_default();
    assert!(stored == schema, "tests/schema differs; `make golden` writes the new one");
}

/// Returns the output of a scene in another format.
fn in_format(scene: &Scene, format: &str) -> String {
    findings::written(&Scene { line: std::format!("{} --format={format}", scene.line), ..scene.clone() })
}

/// Returns the experiments, each with its small scene on one node.
fn of_each_experiment() -> impl Iterator<Item = (&'static str, Scene)> {
    crate::catalogue::EXPERIMENTS.iter().map(|experiment| {
        let name = experiment.descriptor.name;
        (name, scenes::plain("two-sockets", name))
    })
}

#[test]
fn tables_of_all_experiments_can_be_joined_end_to_end() {
    let tables: Vec<_> = of_each_experiment().map(|(name, scene)| (name, in_format(&scene, "csv"))).collect();
    let (header, _) = tables[0].1.split_once('\n').unwrap();
    let place = header.split(',').position(|column| column == "experiment").unwrap();
    let joined: String = tables.iter().map(|(_, table)| table.as_str()).collect();
    for (name, table) in &tables {
        // The cells before that of the experiment have no comma.
        let of_it = joined.lines().filter(|line| line.split(',').nth(place) == Some(name));
        assert!(table.starts_with(header), "{name}");
        assert!(of_it.eq(table.lines().skip(1)), "{name}");
    }
}

#[test]
fn rows_are_flat_and_have_the_columns_of_tables() {
    let columns: BTreeSet<&str> = crate::describe::columns::COLUMNS.iter().map(|field| field.key).collect();
    for (name, scene) in of_each_experiment() {
        let Some(seen::Seen::Object(members)) = findings::seen(&scene) else {
            panic!("{name} has no result")
        };
        let rows = members.iter().find(|(key, ..)| *key == "rows");
        let Some((.., seen::Seen::List(rows))) = rows else { panic!("{name} has no rows") };
        assert!(!rows.is_empty() || name == "system", "{name}");
        for row in rows {
            let seen::Seen::Object(cells) = row else { panic!("a row of {name} is not an object") };
            for (key, _, cell) in cells {
                let key = ["_low", "_high"].iter().find_map(|end| key.strip_suffix(end)).unwrap_or(key);
                assert!(matches!(cell, seen::Seen::Value(..)), "{name}: {key}");
                assert!(columns.contains(key), "{name}: {key}");
            }
        }
    }
}

#[test]
fn monitoring_gets_few_samples_but_every_pair_of_nodes() {
    let count = |text: String| text.lines().filter(|line| !line.starts_with('#')).count();
    for (name, scene) in of_each_experiment() {
        let few = count(in_format(&scene, "prometheus"));
        assert!(few <= 60 || matches!(name, "matrix" | "bandwidth"), "{name}: {few}");
    }
    let many = |line: &str| {
        let scene = scenes::plain("four-nodes", line);
        count(in_format(&scene, "prometheus"))
    };
    assert!(many("matrix") > 16 * 3 && many("bandwidth") > 60);
    assert!(many("pages --verbose") > 60);
}
