//! Documents of every scene, shown again: the same as their runs showed, in every format. Their tables have the cells of
//! their rows.

use std::string::String;
use std::vec::Vec;
use std::{format, vec};

use super::scene::Scene;
use super::{findings, in_format, is_run, scenes, without_shown};
use crate::describe::ROWS;
use crate::describe::anonymous::anonymous;
use latency_core::Pcg32;
use latency_core::json::Event;
use latency_core::text::steers;
use latency_report::stored::{self, JSON, Restored, restored};
use latency_report::tree::JsonTree;
use latency_report::{FORMATS, Format, Shown};

/// Returns the result in a document.
fn read(document: &str, what: &str) -> Shown {
    match restored(document.as_bytes(), ROWS.key) {
        Some(Restored::Whole(shown)) => shown,
        other => panic!("{what}: {other:?}"),
    }
}

/// Returns the cells of a table with quotes where a cell needs them (RFC 4180), line by line.
fn cells(table: &str) -> Vec<Vec<String>> {
    let mut rows = vec![vec![String::new()]];
    let parts: Vec<&str> = table.split('"').collect();
    for (index, part) in parts.iter().enumerate() {
        let last =
            |rows: &mut Vec<Vec<String>>, more: &str| *rows.last_mut().unwrap().last_mut().unwrap() += more;
        match index % 2 {
            1 => last(&mut rows, part),
            // Two quotes in a cell are one.
            _ if part.is_empty() && index > 0 && index + 1 < parts.len() => last(&mut rows, "\""),
            _ => {
                for (line, text) in part.split('\n').enumerate() {
                    if line > 0 {
                        rows.push(vec![String::new()]);
                    }
                    for (cell, text) in text.split(',').enumerate() {
                        if cell > 0 {
                            rows.last_mut().unwrap().push(String::new());
                        }
                        last(&mut rows, text);
                    }
                }
            }
        }
    }
    rows.pop();
    rows
}

/// Checks that a table has the rows of a document, cell by cell.
fn check_table(table: &str, document: &str, what: &str) {
    let tree = JsonTree::of(document.as_bytes()).unwrap();
    let Some(rows) = tree.root().member("rows") else { return };
    let table = cells(table);
    let (header, lines) = table.split_first().unwrap();
    assert_eq!(lines.len(), rows.items().count(), "{what} as a table");
    for (line, row) in lines.iter().zip(rows.items()) {
        assert_eq!(line.len(), header.len(), "{what}: {line:?}");
        for (key, cell) in header.iter().zip(line) {
            let is_alike = match row.at(key).event() {
                Event::Null => cell.is_empty(),
                Event::Bool(flag) => *cell == format!("{flag}"),
                Event::Number(number) => cell.parse() == Ok(number),
                Event::String(text) => text.chars().eq(cell.chars()),
                _ => false,
            };
            assert!(is_alike, "{what}: {key} is {cell} in {line:?}");
        }
    }
}

#[test]
fn a_result_made_anonymous_later_is_that_of_an_anonymous_run() {
    let secret = str::from_utf8(findings::SECRET).unwrap();
    for (index, line) in scenes::LINES.iter().enumerate().filter(|(_, line)| !line.contains("curve")) {
        let machine = ["one-node", "two-sockets"][index % 2];
        let run = |more: &str| {
            let line = format!("{line}{more} --format=json -o {secret} --save={secret}.json");
            findings::written(&scenes::plain(machine, line))
        };
        let (named, unnamed) = (run(" --label=rack=r7"), run(" --anonymous"));
        assert!(named.contains(secret) && !unnamed.contains(secret), "{line}");
        let scene = scenes::plain(machine, format!("{line} --format=json"));
        let later = findings::shown(&scene, &JSON, &anonymous(read(&named, line)).unwrap());
        // The command lines, and with them the checksum, differ by the option.
        let common = |document: &str| {
            let mut document = document.replace("\"--anonymous\",\n", "");
            without_shown(&mut document);
            document
        };
        assert!(common(&later) == common(&unnamed), "{line}: {later}");
        assert!(!later.contains(secret) && !later.contains("rack"), "{line}");
    }
}

/// Checks that a saved document is shown in every format as its run was, and that its table and its line have its values.
/// One format of each scene in turn is that of a run of its own.
pub fn check(scene: &Scene, document: &str, what: &str, number: usize) {
    let shown = read(document, what);
    let as_line =
        |format: &Format| Scene { line: format!("{} --format={}", scene.line, format.name), ..scene.clone() };
    let is_shown = |format: &&Format| {
        // A plan has no measured values.
        let is_of_plan = scene.line.contains("--dry-run") && format.shows_values_alone();
        !is_of_plan && findings::is_accepted(&as_line(format).line)
    };
    let formats: Vec<&Format> = FORMATS.iter().filter(is_shown).collect();
    let Some(runs) = findings::written_in(&as_line(&JSON), &formats) else { return };
    let assert_alike = |one: &str, other: &str, format: &Format| {
        let lines = one.lines().zip(other.lines()).find(|(one, other)| one != other);
        assert!(one == other, "{what} as {}: {lines:#?}", format.name);
    };
    for (index, (format, run)) in formats.into_iter().zip(&runs).enumerate() {
        assert_alike(run, &findings::shown(scene, format, &shown), format);
        if is_run(number + index, FORMATS.len()) {
            // A run writes its own command line, which names the format.
            let [own, json] = [format, &JSON].map(|format| format!("--format={}", format.name));
            let alone = findings::written(&as_line(format)).replace(&own, &json);
            // `show` and `compare` refuse a picture of a result that has none.
            if !(format.name == "svg" && alone.contains(" in a picture; use ")) {
                assert_alike(run, &alone, format);
            }
        }
        match format.name {
            "csv" => check_table(run, document, what),
            "jsonl" => {
                let mut values = String::from(document);
                without_shown(&mut values);
                assert!(run.trim_end() == values.replace('\n', ""), "{what} on one line");
            }
            _ => {}
        }
    }
}

#[test]
fn a_document_is_shown_as_its_run_was() {
    let (mut count, mut fitted) = (0, 0);
    for (number, scene) in scenes::for_programs().into_iter().enumerate() {
        // A fit of a curve takes seconds without optimisation. Scenes without a file are each experiment with each trouble.
        let fits = ["curve", "report"].iter().any(|name| scene.line.starts_with(name));
        let step = match (fits, scene.file.is_empty()) {
            (true, _) => 5,
            (_, true) => 7,
            (_, false) => 2,
        };
        if !is_run(number, step) {
            continue;
        }
        let document = in_format(&scene, "json");
        if document.starts_with('{') && !document.contains("standard error: ") {
            check(&scene, &document, &format!("{} on {}", scene.line, scene.machine), number);
            count += 1;
            fitted += usize::from(fits);
        }
    }
    assert!(count > 30 && fitted > 0, "{count}, {fitted}");
}

#[test]
fn an_edited_document_loses_its_sentences_and_a_reformatted_one_does_not() {
    let scene = scenes::plain("two-sockets", "matrix");
    let document = in_format(&scene, "json");
    let edited = document.replacen("\"local_ns\":", "\"local_ns\":1", 1);
    assert!(edited != document);
    let said = document.replacen("\"Line\",\"", "\"Line\",\"Not ", 1);
    assert!(said != document);
    for edited in [edited, said] {
        assert!(matches!(restored(edited.as_bytes(), ROWS.key), Some(Restored::Changed)));
    }
    let reformatted = document.replace("\n", " ").replace(":{", ": {");
    assert!(matches!(restored(reformatted.as_bytes(), ROWS.key), Some(Restored::Whole(_))));
    for other in
        ["", "{}", "[1]", "{\"shown\":1}", "{\"shown\":[]}", "{\"shown\":[\"cbf29ce484222325\",[1]]}"]
    {
        assert!(!matches!(restored(other.as_bytes(), ROWS.key), Some(Restored::Whole(_))), "{other}");
    }
    assert!(restored(in_format(&scene, "jsonl").as_bytes(), ROWS.key).is_none());
}

#[test]
fn a_forged_document_controls_no_terminal_page_or_collector() {
    const FORGED: [&str; 9] = [
        r"\u001b[31m",
        r"a\nb",
        r"a\nlatency_bench_trust 1\n",
        "</p></td></tr></table><script>",
        r#"\" onload=\"x"#,
        "a} 1",
        r"\u202e",
        "",
        "LONG",
    ];
    let long = "x".repeat(70_000);
    let random = &mut Pcg32::new(42, 7);
    let mut shown_in = 0;
    for line in ["matrix --heatmap", "cores --states", "loaded", "system"] {
        let scene = scenes::plain("two-small-sockets", line);
        let document = in_format(&scene, "json");
        let (values, parts) = document.split_once(",\n\"shown\":[").unwrap();
        let texts: Vec<&str> = parts.split('"').collect();
        for _ in (0..60).filter(|round| is_run(*round, 3)) {
            let mut texts = texts.clone();
            for _ in 0..3 {
                let place = 1 + 2 * random.below(texts.len() as u32 / 2 - 1) as usize;
                let forged = FORGED[random.below(FORGED.len() as u32) as usize];
                texts[place] = if forged == "LONG" { &long } else { forged };
            }
            let forged = format!("{values},\"shown\":[{}", texts.join("\""));
            let Some((shown, _)) = stored::read(forged.as_bytes(), ROWS.key) else { continue };
            shown_in += 1;
            for format in &FORMATS {
                let text = findings::shown(&scene, format, &shown);
                let bad = text.chars().find(|character| *character != '\n' && steers(*character));
                assert_eq!(bad, None, "{line} as {}", format.name);
                let is_markup = ["html", "svg"].contains(&format.name);
                assert!(!is_markup || !text.contains("<script"), "{line} as {}", format.name);
                let is_of_metrics = |line: &str| line.starts_with('#') || line.starts_with("latency_bench_");
                assert!(format.name != "prometheus" || text.lines().all(is_of_metrics), "{text}");
            }
        }
    }
    assert!(shown_in > 40, "{shown_in}");
}
