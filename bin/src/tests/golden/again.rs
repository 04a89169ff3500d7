//! Documents of every scene, shown again: the same as their runs showed, in every format.

use std::format;
use std::string::String;

use super::scene::Scene;
use super::{findings, is_run, scenes};
use crate::describe::ROWS;
use crate::report::FORMATS;
use crate::report::shown::Shown;
use crate::report::stored::{Restored, restored};

fn in_format(scene: &Scene, format: &str) -> String {
    findings::written(&Scene { line: format!("{} --format={format}", scene.line), ..scene.clone() })
}

/// Returns the result in a document.
fn read(document: &str, what: &str) -> Shown {
    match restored(document.as_bytes(), ROWS.key) {
        Some(Restored::Whole(shown)) => shown,
        other => panic!("{what}: {other:?}"),
    }
}

/// Checks that a saved document is shown in every format as its run was.
pub fn check(scene: &Scene, document: &str, what: &str) {
    let shown = read(document, what);
    for format in &FORMATS {
        let line = format!("{} --format={}", scene.line, format.name);
        // A plan has no measured values.
        let is_of_plan = line.contains("--dry-run") && format.shows_values_alone();
        if is_of_plan || !findings::is_accepted(&line) {
            continue;
        }
        let run = findings::written(&Scene { line, ..scene.clone() });
        if run.contains("standard error: ") {
            continue;
        }
        // A run writes its own command line, which names the format.
        let own = |text: &str| text.replace(&format!("--format={}", format.name), "--format=json");
        let (run, again) = (own(&run), own(&findings::shown(scene, format, &shown)));
        let lines = run.lines().zip(again.lines()).find(|(one, other)| one != other);
        assert!(run == again, "{what} as {}: {lines:#?}", format.name);
    }
}

#[test]
fn a_document_is_shown_as_its_run_was() {
    let (mut count, mut fitted) = (0, 0);
    for (number, scene) in scenes::for_programs().into_iter().enumerate() {
        // A fit of a curve takes seconds without optimisation.
        let fits = ["curve", "report"].iter().any(|name| scene.line.starts_with(name));
        if !is_run(number, if fits { 5 } else { 2 }) {
            continue;
        }
        let document = in_format(&scene, "json");
        if document.starts_with('{') && !document.contains("standard error: ") {
            check(&scene, &document, &format!("{} on {}", scene.line, scene.machine));
            count += 1;
            fitted += usize::from(fits);
        }
    }
    assert!(count > 30 && fitted > 0, "{count}, {fitted}");
}

#[test]
fn an_edited_document_loses_its_sentences_and_a_reformatted_one_does_not() {
    let scene = scenes::plain(String::new(), "two-sockets", "matrix".into());
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
