//! Plans over results, outputs onto inputs, and the lines of usage with real files.

use super::case::tail;
use super::formats::Judged;
use super::options::few;
use super::{Case, EMPTY, INPUT, PLAN, STATUS, USAGE};

/// The extension of each format.
const EXTENSIONS: [(&str, &str); 10] = [
    ("text", "txt"),
    ("json", "json"),
    ("jsonl", "jsonl"),
    ("csv", "csv"),
    ("md", "md"),
    ("svg", "svg"),
    ("html", "html"),
    ("prometheus", "prom"),
    ("hwloc", "sh"),
    ("tap", "tap"),
];

const OLDER: &str = "an older result\n";

/// Plans an experiment in each format: over a result, into a new file, and to standard output.
pub fn plan(case: &mut Case<'_>) {
    let help = &case.surroundings.help;
    let experiment = help.pick(&mut case.random, |experiment| experiment.plans);
    let format = &experiment.formats[case.index as usize % experiment.formats.len()];
    let mut arguments = vec![experiment.name.clone()];
    arguments.extend(few(&mut case.random, experiment, true));
    arguments.push(format!("--format={format}"));
    let extension =
        EXTENSIONS.iter().find(|(name, _)| name == format).map_or("out", |(_, extension)| extension);
    let name = format!("result.{extension}");
    let kind = case.random.below(3);
    if kind == 0 {
        case.write(&name, OLDER);
    }
    if kind < 2 {
        arguments.push(format!("--output={name}"));
    }
    let judged = Judged { width: true, numbers: true };
    let Some((status, run)) = case.judged(&arguments, &[0, 1, 2], judged) else { return };
    let expected = (kind == 0).then(|| OLDER.as_bytes().to_vec());
    let found = case.read(&name);
    if found != expected {
        let seen = found.map_or("the file is gone".into(), |found| {
            format!(
                "{name} has {} bytes: {}",
                found.len(),
                String::from_utf8_lossy(&found[..found.len().min(100)])
            )
        });
        case.note(PLAN, &arguments, &seen);
    } else if status == 0 && run.stdout.trim().is_empty() {
        case.note(EMPTY, &arguments, "neither a file nor a line");
    }
}

/// Writes the output of a command to the file that it reads.
pub fn onto_an_input(case: &mut Case<'_>) {
    let (command, content, name) = [
        ("report", &case.surroundings.corpus.matrix, "a.json"),
        ("fit", &case.surroundings.corpus.curve, "a.csv"),
        ("fleet", &case.surroundings.corpus.fleet, "a.jsonl"),
        ("compare", &case.surroundings.corpus.matrix, "a.json"),
        ("baseline", &case.surroundings.corpus.fleet, "a.jsonl"),
    ][case.random.below(5)];
    case.write(name, content);
    let mut arguments = match command {
        "compare" => vec!["compare", name, name],
        "baseline" => {
            case.write("other.jsonl", content);
            vec!["fleet", "other.jsonl", "--baseline=a.jsonl"]
        }
        command => vec![command, name],
    };
    let link = case.path("link");
    let output = match case.random.below(4) {
        0 => name.to_string(),
        1 => format!("./{name}"),
        2 => {
            std::os::unix::fs::symlink(name, link).expect("a link");
            "link".into()
        }
        _ => {
            std::fs::hard_link(case.path(name), link).expect("a second name");
            "link".into()
        }
    };
    let output = format!("--output={output}");
    arguments.push(&output);
    let format = case.surroundings.help.of(arguments[0]).formats.clone();
    let format = format!("--format={}", case.random.pick(&format));
    arguments.push(&format);
    let arguments: Vec<String> = arguments.into_iter().map(String::from).collect();
    let Some((status, run)) = case.judged(&arguments, &[0, 1, 4, 5, 6], Judged::default()) else { return };
    if case.read(name).as_deref() != Some(content.as_bytes()) {
        case.note(INPUT, &arguments, &format!("status {status}, and {name} is not as it was"));
    } else if !output.contains("link") && ![1, 4].contains(&status) {
        case.note(
            STATUS,
            &arguments,
            &format!("status {status} of an output onto its input: {}", tail(&run.stderr)),
        );
    }
}

/// Runs a line of usage, with files for the words in capitals and an option for `[OPTIONS]`.
pub fn usage(case: &mut Case<'_>) {
    let help = &case.surroundings.help;
    let experiment = &help.0[case.index as usize % help.0.len()];
    let content = match &*experiment.name {
        "fleet" => &case.surroundings.corpus.fleet,
        _ => &case.surroundings.corpus.curve,
    };
    for name in ["a1", "a2", "b1", "b2"] {
        case.write(name, content);
    }
    let option = match experiment.plans && !experiment.reads() {
        true => "--dry-run",
        false => *case.random.pick(&["--json", "--quiet", "--format=html"]),
    };
    let several = case.random.one_in(2);
    let mut arguments: Vec<String> = Vec::new();
    for word in &experiment.usage {
        let words: &[&str] = match word.as_str() {
            "FILE" | "[FILE]" => &["a1"],
            "FILE..." | "[FILE...]" | "A..." if several => &["a1", "a2"],
            "FILE..." | "[FILE...]" | "A..." => &["a1"],
            "B..." if several => &["b1", "b2"],
            "B..." => &["b1"],
            "[OPTIONS]" => &[option],
            word => &[word],
        };
        arguments.extend(words.iter().map(|word| word.to_string()));
    }
    let usage = experiment.usage.join(" ");
    let Some((status, run)) = case.judged(&arguments, &[0, 1, 2, 5, 6], Judged::default()) else { return };
    if ![0, 5, 6].contains(&status) {
        case.note(USAGE, &arguments, &format!("Usage: {usage}\nstatus {status}: {}", tail(&run.stderr)));
    }
}
