//! Usage lines and examples: each of them is a valid command line, wherever it is printed.

use latency_tests::confine::Confine;
use latency_tests::directory::Directory;
use latency_tests::everywhere::everywhere;
use latency_tests::program::workspace;
use latency_tests::run::{finish, run};
use std::fs;

/// A saved result; copies of it are the operands.
const SAVED: &str = "tests/fixtures/saved/curve.json";

/// Returns every word that selects a command, from the long help.
fn commands() -> Vec<String> {
    let help = run(&["--help"]).stdout;
    let list =
        help.split("Experiments:\n").nth(1).and_then(|rest| rest.split("\n\n").next()).expect("a list");
    let named = |line: &str| {
        line.strip_prefix("  ")?.split(' ').next().filter(|word| !word.is_empty()).map(String::from)
    };
    list.lines().filter_map(named).collect()
}

/// Returns the command lines of a text without the name of the program: usage, and examples, which are
/// indented.
fn typed(text: &str) -> impl Iterator<Item = String> + '_ {
    let command = |line: &str| {
        let usage = ["Usage: ", "usage: "].iter().find_map(|word| Some(line.split_once(word)?.1));
        let line = usage.or_else(|| line.strip_prefix("  "))?;
        // Two blanks separate an example from its explanation.
        let line = line.split("  ").next().unwrap_or(line);
        let rest =
            line.strip_prefix("latency-bench").filter(|rest| rest.is_empty() || rest.starts_with(' '))?;
        Some(rest.trim().to_string())
    };
    text.lines().filter_map(command)
}

/// Returns the synopsis and the examples of the manual page as plain text.
fn manual() -> String {
    let page = fs::read_to_string(workspace().join("tests/packaged/latency-bench.1")).expect("the page");
    let plain = page.replace("\\fB", "").replace("\\fR", "").replace("\\-", "-");
    let section = |name: &str| {
        let (_, rest) = plain.split_once(&format!(".SH {name}\n")).expect("a section");
        rest.split("\n.SH ").next().unwrap_or(rest).to_string()
    };
    let lines = section("SYNOPSIS") + "\n" + &section("EXAMPLES");
    lines.lines().map(|line| format!("  {line}\n")).collect()
}

/// Returns true for a command line that measures nothing.
fn reads(line: &str) -> bool {
    let names = ["fit", "expect", "compare", "fleet", "show", "reference", "system", "report *"];
    names.iter().any(|name| line.starts_with(name)) || line.contains("FILE")
}

/// Returns the words to type for a usage line or an example: names of operands become files, and nothing is
/// measured.
fn filled(line: &str) -> Vec<String> {
    let reads = reads(line);
    let option = if reads { "--quiet" } else { "--dry-run" };
    let mut words = Vec::new();
    for word in line.split(' ').filter(|word| !word.is_empty()) {
        match word {
            "[EXPERIMENT]" => words.push("curve"),
            "[OPTIONS]" => words.push(option),
            // There may be two CPUs.
            "2" | "3" => words.push("0"),
            "--cpu=0-3" => words.push("--cpu=0-1"),
            "A" | "FILE" | "[FILE]" => words.push("a.json"),
            "B" => words.push("b.json"),
            "A..." | "FILE..." | "[FILE...]" => words.extend(["a.json", "c.json"]),
            "[CPU...]" => words.push("zen"),
            "B..." => words.extend(["b.json", "d.json"]),
            "a*.json" | "*.json" => words.extend(["a.json", "c.json"]),
            "b*.json" => words.extend(["b.json", "d.json"]),
            "*.jsonl" => words.extend(["1.jsonl", "2.jsonl"]),
            word => words.push(word),
        }
    }
    let is_told = words.iter().any(|word| ["help", "version", option].contains(word));
    if !is_told {
        // Before `--`, according to the usage.
        words.insert(usize::from(!words.is_empty() && !words[0].starts_with('-')), option);
    }
    words.into_iter().map(String::from).collect()
}

#[test]
fn every_usage_line_and_example_can_be_typed() {
    let mut texts = vec![run(&["--help"]).stdout, run(&["-h"]).stdout, manual()];
    for command in commands() {
        texts.push(run(&["help", &command]).stdout);
        texts.push(run(&[&command, "--help"]).stdout);
        texts.push(run(&[&command, "-h"]).stdout);
        texts.push(run(&[&command, "", "--quiet"]).stderr);
    }
    let mut lines: Vec<String> = texts.iter().flat_map(|text| typed(text)).collect();
    lines.sort();
    lines.dedup();
    let directory = Directory::new("usage");
    for name in [
        "a.json",
        "b.json",
        "c.json",
        "d.json",
        "curve.json",
        "saved.json",
        "1.jsonl",
        "2.jsonl",
        "ok.jsonl",
        "other.txt",
    ] {
        fs::copy(workspace().join(SAVED), directory.path().join(name)).expect("a file");
    }
    // 17 commands with their usage, two examples or more of each, and the lines for all commands.
    assert!(lines.len() > 48, "{lines:?}");
    for line in lines {
        let found = finish(&mut directory.command(&filled(&line)));
        // A few hosts allow no verdict.
        let is_few = line.starts_with("fleet");
        let is_expected =
            |status| status == 0 || status == 3 && line.contains("--strict") || status == 6 && is_few;
        assert!(found.status.code().is_some_and(is_expected), "{line}: {found}");
    }
    // Those that measure nothing have written their files.
    for name in ["curve.svg", "report.html", "system.json"] {
        assert!(directory.names().contains(&name.to_string()), "{:?}", directory.names());
    }
}

#[test]
fn examples_that_measure_run_with_a_small_working_set() {
    let directory = Directory::new("usage-short");
    for (line, small) in [
        ("matrix -N 0 -m local --json", "--size=64K --time-limit=100ms --spread=0"),
        ("window --size=16K", "--trials=3 --iters=1000 --time-limit=50ms"),
        ("cores --pairs=0:1 --states", "--budget=500ms"),
        ("variants --max-size=1M", "--time-limit=50ms --trials=3 -o out.md"),
    ] {
        let name = line.split(' ').next().expect("a name");
        let help = run(&["help", name]).stdout;
        assert!(help.contains(&format!("  latency-bench {line}  ")), "the help lacks {line}: {help}");
        let words: Vec<&str> = line.split(' ').chain(small.split(' ')).collect();
        finish(&mut directory.command(&words)).expect_status(0);
    }
    assert_eq!(directory.names(), ["out.md"]);
}

#[test]
fn an_option_behind_the_mark_is_a_file_in_the_message() {
    let directory = Directory::new("usage-mark");
    for name in ["a.json", "b.json"] {
        fs::copy(workspace().join(SAVED), directory.path().join(name)).expect("a file");
    }
    let behind = finish(&mut directory.command(&["compare", "a.json", "--", "b.json", "--json"]));
    behind
        .expect_status(1)
        .expect_error("cannot read '--json': No such file or directory (ENOENT); options go before --");
    finish(&mut directory.command(&["compare", "--json", "a.json", "--", "b.json"])).expect_json(0);
}

#[test]
fn a_processor_is_found_by_the_names_that_people_type() {
    for (words, found) in [
        (&["icelake"][..], "Ice Lake-SP"),
        (&["zen4"], "Zen 4"),
        (&["spr"], "Sapphire Rapids"),
        (&["granit"], "Granite Rapids"),
        (&["zen", "4"], "Zen 4"),
    ] {
        let text = run(&[&["reference"], words].concat()).expect_status(0).stdout.clone();
        assert!(text.contains(found) && !text.contains("No reference"), "{words:?}: {text}");
    }
    for (words, near) in [
        (&["granitte"][..], "No reference matches 'granitte'. Near: Granite Rapids."),
        (&["zen", "9"], "No reference matches 'zen 9'. Near: Zen, "),
        (&["wombat"], "No reference matches 'wombat'. `latency-bench reference all`"),
    ] {
        let found = run(&[&["reference"], words].concat());
        let text = found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(near), "{words:?}: {text}");
    }
}

/// Returns the options in a text, but those of command lines in backticks.
fn options(text: &str) -> Vec<String> {
    let own = text.split('`').step_by(2).flat_map(|text| text.split("--").skip(1));
    let name = |text: &str| text.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
    own.map(name).filter(|name: &String| !name.is_empty()).collect()
}

/// Memory, descriptors and files that are too few, missing or damaged, in every experiment and command.
#[test]
fn errors_name_only_options_of_the_command() {
    let directory = Directory::new("usage-advice");
    for (name, text) in [("a.json", "{}"), ("sizes.txt", "1 1.0\n2 1.1\n4 1.2\n8 4\n16 5\n32 20\n")] {
        fs::write(directory.path().join(name), text).expect("a file");
    }
    let curve = workspace().join("tests/fixtures/saved/curve.json");
    fs::copy(curve, directory.path().join("curve.json")).expect("a file");
    let all = options(&run(&["--help"]).stdout);
    let names =
        ["matrix", "curve", "parallel", "window", "distribution", "order", "pages", "residency", "variants"];
    let names =
        names.into_iter().chain(["bandwidth", "cores", "loaded", "system", "fit", "expect", "compare"]);
    let names = names.chain(["fleet", "show", "reference", "report"]);
    let cases: Vec<_> = names
        .flat_map(|name| {
            let files: &[&str] = match name {
                "compare" => {
                    &["a.json a.json", "curve.json curve.json", "missing curve.json", "sizes.txt sizes.txt"]
                }
                "fit" | "expect" | "fleet" | "show" => &["a.json", "curve.json", "missing", "sizes.txt"],
                "report" => &["a.json", "curve.json", "sizes.txt", "--budget=3"],
                "reference" => &["all"],
                _ => &["", "--size=900T"],
            };
            // A run that has enough memory says nothing of it: one size of those is enough.
            let measures = !files.contains(&"curve.json") && name != "reference";
            let is_run = move |more: &str| measures || more.starts_with("--");
            let sizes = [0, 6, 8, 12, 24, 48, 96];
            let all = files.iter().flat_map(move |more| sizes.map(|mib| (name, *more, mib)));
            all.filter(move |(_, more, mib)| !is_run(more) || ![24, 96].contains(mib))
        })
        .collect();
    everywhere(&cases, |(name, more, mib)| {
        // Nothing is measured for long.
        let has_limit = !["fit", "expect", "compare", "fleet", "show", "reference", "report"].contains(name);
        let mut words: Vec<&str> =
            [*name].into_iter().chain(more.split(' ').filter(|word| !word.is_empty())).collect();
        if has_limit && *mib == 0 {
            return Ok(());
        }
        if *name != "system" && has_limit {
            words.extend(["--budget=1", "--time-limit=0.02"]);
        }
        let mut command = directory.command(&words);
        if *mib > 0 {
            command.limited(libc::RLIMIT_AS as i32, mib << 20);
        }
        let found = finish(&mut command);
        let own = options(&run(&["help", name]).stdout);
        let shared = options(&run(&["help", "options"]).stdout);
        let error =
            found.stderr.lines().find(|line| line.starts_with("latency-bench: ERROR:")).unwrap_or_default();
        // An option that was typed may be refused.
        let typed = options(&words.join(" "));
        let strange = |option: &String| {
            all.contains(option) && ![&own, &shared, &typed].iter().any(|set| set.contains(option))
        };
        match options(error).into_iter().find(strange) {
            Some(option) => Err(format!("{name} has no --{option}: {found}")),
            None => Ok(()),
        }
    });
}
