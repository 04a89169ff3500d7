//! Several results in one file, and several files in one command: what is read alone is read together, in every format.

use super::case::{tail, words};
use super::formats::Judged;
use super::{Case, JOINED};

/// Reads two to five results alone, then together.
pub fn run(case: &mut Case<'_>) {
    let command = *case.random.pick(&["show", "show", "report", "fleet"]);
    let formats = &case.surroundings.help.of(command).formats;
    let count = 2 + case.random.below(4);
    let in_one_file = case.random.one_in(2);
    let (mut files, mut texts, mut names) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..40 {
        let (name, text) = case.random.pick(&case.surroundings.corpus.files);
        let document = serde_json::from_str::<serde_json::Value>(text);
        if in_one_file && !document.as_ref().is_ok_and(serde_json::Value::is_object) {
            continue;
        }
        let file = format!("f{}", files.len());
        case.write(&file, text);
        let is_read = |run: crate::run::Run| matches!(run.status.code(), Some(0 | 5 | 6));
        if case.run(&words(&[command, &file])).is_some_and(is_read) {
            files.push(file);
            names.push(name.as_str());
            texts.extend(document.ok().map(|document| document.to_string()));
        }
        if files.len() == count {
            break;
        }
    }
    if files.len() < 2 {
        return;
    }
    if in_one_file {
        case.write("all.jsonl", texts.join("\n") + "\n");
        files = vec!["all.jsonl".into()];
    }
    let mut arguments = words(&[command]);
    arguments.extend(files);
    // Metrics of several results have to differ in their labels.
    let third = case.random.pick(formats).as_str();
    for format in ["prometheus", "json", third] {
        // Some results have no picture, and a report of saved results has no metrics.
        let is_refused =
            format == "svg" || command == "report" && ["prometheus", "csv", "tap"].contains(&format);
        if is_refused || !formats.iter().any(|known| known == format) {
            continue;
        }
        arguments.push(format!("--format={format}"));
        let before = case.findings.len();
        // A table has no columns for levels of load.
        let refused: &[i32] = if format == "csv" { &[1] } else { &[] };
        let judged = Judged { width: false, numbers: true };
        let found = case.judged(&arguments, &[&[0, 5, 6], refused].concat(), judged);
        if let Some((1, run)) = found.filter(|_| refused.is_empty()) {
            case.note(JOINED, &arguments, &tail(&run.stderr));
        }
        for finding in &mut case.findings[before..] {
            finding.seen.push_str(&format!("\n      the results are {names:?}"));
        }
        arguments.pop();
    }
}
