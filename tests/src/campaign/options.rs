//! Valid options of every experiment and command, in random combinations, in every format.

use super::case::words;
use super::commands::{Choice, Experiment};
use super::formats::{self, Judged};
use super::random::Random;
use super::{AGAIN, Case, REFUSED};

/// Sizes as people write them, all of them small.
const SIZES: [&str; 7] = ["4K", "16K", "32K", "65536", "100000", "192k", "1M"];

/// The reasons for which a combination of valid options is refused.
const REASONS: [&str; 8] = [
    "cannot be combined",
    "has no steady value",
    "only curves are compared in a picture",
    "--hold needs exactly one load level",
    "a report of saved results cannot be written as",
    "--visits needs --order=grouped",
    "; run `latency-bench ",
    "; use a larger --size",
];

/// Runs one experiment or command with random options.
pub fn run(case: &mut Case<'_>) {
    let help = &case.surroundings.help;
    let experiment = &help.0[case.index as usize % help.0.len()];
    // An experiment without a time limit for a point would run too long, so it is only planned.
    let short = is_short(experiment);
    let dry = experiment.plans
        && !(short && case.random.one_in(5))
        && !(experiment.reads() && case.random.one_in(2));
    let files = if experiment.reads() && !dry { files(case, &experiment.name) } else { &[] };
    let mut arguments = vec![experiment.name.clone()];
    arguments.extend(files.iter().map(|file| file.to_string()));
    let mut few = few(&mut case.random, experiment, dry);
    if !files.is_empty() && also_measures(experiment) {
        // Commands that read files accept only the output options of an experiment.
        few.retain(|word| {
            ["--quiet", "--verbose", "--progress", "--color"].iter().any(|one| word.starts_with(one))
        });
    }
    arguments.append(&mut few);
    let format = case.random.pick(&experiment.formats);
    if format != "text" || case.random.one_in(2) {
        arguments.push(format!("--format={format}"));
    }
    let mut statuses = vec![0, 1];
    let measures = !dry && files.is_empty() && experiment.name != "system";
    if experiment.plans && files.is_empty() {
        statuses.push(2);
    }
    if measures || arguments.iter().any(|word| word == "--strict") {
        statuses.push(3);
    }
    if ["compare", "fleet"].contains(&&*experiment.name) {
        statuses.extend([5, 6]);
    }
    let judged = Judged { width: true, numbers: true };
    let Some((status, run)) = case.judged(&arguments, &statuses, judged) else { return };
    if status == 1 && !REASONS.iter().any(|reason| run.stderr.contains(reason)) {
        case.note(REFUSED, &arguments, &run.stderr);
    }
    if let Some(saved) = case.read("saved.json") {
        for finding in formats::check("json", &String::from_utf8_lossy(&saved), judged) {
            case.note(finding.class, &arguments, &format!("in saved.json: {}", finding.seen));
        }
    }
    let is_saved = ["json", "jsonl", "csv"].iter().any(|saved| format == saved);
    if is_saved && measures && experiment.plans && [0, 3].contains(&status) && !run.stdout.is_empty() {
        case.write("own", &run.stdout);
        read_again(case, &arguments);
    }
}

/// Reads a result of the executable again; a result without any value has nothing to read.
fn read_again(case: &mut Case<'_>, arguments: &[String]) {
    let judged = Judged { width: true, numbers: true };
    for command in [&["show", "own", "--json"][..], &["show", "own"], &["compare", "own", "own"]] {
        let found = case.judged(&words(command), &[0, 1, 6], judged);
        if let Some((1, run)) = found.filter(|(_, run)| !run.stderr.contains("no measured point")) {
            case.note(AGAIN, arguments, &format!("{command:?}: {}", run.stderr));
        }
    }
}

/// Returns true if an experiment has a time limit for each of its points, which keeps it short.
pub fn is_short(experiment: &Experiment) -> bool {
    experiment.options.iter().any(|option| option.name == "--time-limit")
}

/// Returns true if a command that reads files can also measure.
fn also_measures(experiment: &Experiment) -> bool {
    experiment.options.iter().any(|option| option.name == "--budget")
}

/// Writes saved results for a command that reads them, and returns their names.
fn files(case: &Case<'_>, command: &str) -> &'static [&'static str] {
    case.write("a.csv", &case.surroundings.corpus.curve);
    case.write("b.jsonl", &case.surroundings.corpus.fleet);
    match command {
        "compare" => &["a.csv", "a.csv"],
        "fleet" => &["b.jsonl"],
        _ => &["a.csv"],
    }
}

/// Returns some of the options of an experiment, with those that keep it short.
pub fn few(random: &mut Random, experiment: &Experiment, dry: bool) -> Vec<String> {
    let mut chosen: Vec<String> = Vec::new();
    let share = random.below(5) + 2;
    for option in &experiment.options {
        if option.name == "--probe" {
            continue;
        }
        let needed = !dry
            && ["--size", "--max-size", "--min-size", "--trials", "--iters", "--time-limit", "--budget"]
                .contains(&&*option.name);
        if needed || random.one_in(share) {
            chosen.extend(written(random, option, dry));
        }
    }
    if dry {
        chosen.push("--dry-run".into());
    }
    // One of the two asks for less, the other for more.
    if chosen.contains(&"--quiet".into()) {
        chosen.retain(|word| word != "--verbose");
    }
    chosen
}

fn written(random: &mut Random, option: &Choice, dry: bool) -> Option<String> {
    let name = &*option.name;
    let Some(shape) = &option.value else { return Some(name.into()) };
    let value = value(random, name, shape, dry)?;
    Some(format!("{name}={value}"))
}

/// Returns a value of an option; `None` if it would make the run long.
fn value(random: &mut Random, name: &str, shape: &str, dry: bool) -> Option<String> {
    let few: &[&str] = match name {
        "--cpunode" | "--memnode" | "--load-node" => &["0"],
        "--cpu" if shape.contains("first") => &["0", "first"],
        "--cpu" => &["0"],
        "--size" if dry => &SIZES,
        "--size" => &SIZES[..4],
        "--min-size" => &["4K", "8192", "16K"],
        "--max-size" => &["32K", "64K", "100000"],
        "--chains" => &["1", "1,2", "4-8", "all"],
        "--points-per-octave" => &["1", "2", "4"],
        "--stride" => &["8", "16", "32", "64", "128", "256"],
        "--seed" => &["0", "1", "42", "18446744073709551615"],
        "--unit" => &["B", "K", "KiB", "M"],
        "--traffic" => &["read", "write", "copy", "3:1,2:1", "1:1", "nt-write", "copy-nt,read"],
        "--load-cpus" => &["0", "1", "0,1", "0-1"],
        "--rates" => &["auto", "0,max", "1,2", "50%"],
        "--levels" => &["2", "3", "8"],
        "--burst" => &["1", "4", "16"],
        "--hold" => return dry.then(|| "2".into()),
        "--pairs" => &["auto", "all", "classes", "0:1"],
        "--lines" => &["1", "2", "32"],
        "--iters" => &["100", "200", "1000"],
        "--trials" => &["1", "2", "3"],
        "--precision" => &["1", "0.5", "20"],
        "--time-limit" => &["0.01", "0.02", "0.05"],
        "--spread" => &["0", "0.01"],
        "--until" => return dry.then(|| (*random.pick(&["quiet", "quiet=10"])).into()),
        "--budget" if dry => &["40", "60", "120"],
        "--budget" => &["0.2", "0.3", "2"],
        "--warmup-iters" => &["0", "100"],
        "--threshold" => &["0.1", "3", "50"],
        "--baseline" => &["b.jsonl"],
        "--expect" => &["3", "40", "b.jsonl"],
        "--save" => &["saved.json"],
        "--cores" => &["1", "2", "1000"],
        "--label" => &["site=a", "rack=12", "home=env:HOME"],
        _ if shape.contains('|') => {
            // Grouped chains need matrix and a large working set.
            let words: Vec<&str> = shape.split('|').filter(|word| *word != "grouped").collect();
            return Some((*random.pick(&words)).into());
        }
        _ => panic!("the campaign has no value of {name}={shape}"),
    };
    Some((*random.pick(few)).into())
}
