//! The README files: their length, their links, and every command that the first one shows.

use latency_tests::directory::Directory;
use latency_tests::program::workspace;
use latency_tests::run::{finish, run};
use latency_tests::vm;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Every document that people read on the project's pages.
const DOCUMENTS: [&str; 8] = [
    "README.md",
    "asm/README.md",
    "bin/README.md",
    "bin/dist/README.md",
    "bin/dist/packaging/README.md",
    "core/README.md",
    "tests/README.md",
    "tests/recipes/README.md",
];

/// Options of other programs, which stand alone in the text.
const ELSEWHERE: [&str; 2] = ["--cap-add", "--c2c_latency"];

fn read(name: &str) -> String {
    fs::read_to_string(workspace().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Returns the lines of the blocks of a Markdown text that are fenced with this word, continued lines joined.
fn fenced(markdown: &str, word: &str) -> Vec<String> {
    let joined = markdown.replace("\\\n", " ");
    let mut inside = false;
    let mut found = Vec::new();
    for line in joined.lines() {
        match line.strip_prefix("```") {
            Some(kind) => inside = !inside && kind == word,
            None if inside && !line.is_empty() => found.push(line.to_string()),
            None => {}
        }
    }
    found
}

/// Returns the commands in the second column of the table of questions.
fn answers(markdown: &str) -> Vec<String> {
    let section =
        markdown.split("\n## ").find(|section| section.starts_with("Which command")).expect("a section");
    let rows = section.lines().filter(|line| line.starts_with("| ") && line.contains('`'));
    rows.map(|row| row.split('`').nth(1).expect("a command").replace("\\|", "|")).collect()
}

/// Returns the targets of the links and pictures of a Markdown text.
fn links(markdown: &str) -> BTreeSet<String> {
    let inline =
        markdown.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target);
    let listed =
        markdown.lines().filter(|line| line.starts_with('[')).filter_map(|line| line.split_once("]: "));
    inline.chain(listed.map(|(_, target)| target)).map(String::from).collect()
}

/// Returns the anchors of a Markdown text: those of its headings, as the pages of a repository make them.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let headings = markdown.lines().filter_map(|line| line.strip_prefix('#'));
    let words = headings.map(|heading| heading.trim_start_matches('#').trim().to_lowercase());
    words
        .map(|heading| {
            let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
            kept.map(|letter| if letter == ' ' { '-' } else { letter }).collect()
        })
        .collect()
}

#[test]
fn the_first_readme_has_at_most_180_lines() {
    let lines = read("README.md").lines().count();
    assert!(lines <= 180, "{lines} lines");
}

/// The guide explains words and methods; help explains options.
#[test]
fn the_guide_has_at_most_400_lines() {
    let lines = read("bin/README.md").lines().count();
    assert!(lines <= 400, "{lines} lines");
}

/// The report of a minute that the guide shows is the fixture of `expect`.
#[test]
fn the_guide_shows_the_answer_of_expect() {
    let guide = read("bin/README.md");
    let shown = guide.split("```").find_map(|block| block.split_once("$ latency-bench expect "));
    let (asked, answer) = shown.and_then(|(_, rest)| rest.split_once('\n')).expect("an answer of expect");
    let report = workspace().join("tests/fixtures/expect/report.json").display().to_string();
    let asked = asked.replace("report.json", &report);
    let found = run(&["expect"].into_iter().chain(asked.split(' ')).collect::<Vec<_>>());
    found.expect_status(0);
    for line in answer.lines().filter(|line| *line != "...") {
        assert!(found.stdout.lines().any(|known| known == line), "{line}\n{found}");
    }
}

#[test]
fn every_link_of_the_readmes_resolves() {
    let mut broken = Vec::new();
    let mut seen = 0;
    for name in DOCUMENTS {
        let markdown = read(name);
        let directory = Path::new(name).parent().expect("a directory");
        for link in links(&markdown).iter().filter(|link| !link.starts_with("https://")) {
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => workspace().join(name),
                path => workspace().join(directory).join(path),
            };
            seen += 1;
            let text = fs::read_to_string(&target).ok();
            let exists = target.is_dir() || text.is_some();
            if !exists || !anchor.is_empty() && !anchors(&text.unwrap_or_default()).contains(anchor) {
                broken.push(format!("{name}: {link}"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    assert!(seen >= 25, "{seen} links");
}

/// A document that promises an option which the program refuses is worse than one without it.
#[test]
fn every_option_of_the_readmes_exists() {
    let help = run(&["--help"]).stdout;
    let known: BTreeSet<&str> =
        help.split(|letter: char| !letter.is_ascii_lowercase() && letter != '-').collect();
    let mut seen = 0;
    for name in DOCUMENTS {
        let text = read(name);
        // Only quoted lines of the program: other programs have options of their own.
        let quoted = text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|code| code.starts_with("--") || code.starts_with("latency-bench "));
        for option in quoted.flat_map(str::split_whitespace).filter(|word| word.starts_with("--")) {
            let option = option.split(['=', '[']).next().unwrap_or(option);
            if ELSEWHERE.contains(&option) || option == "--" {
                continue;
            }
            assert!(known.contains(option), "{name}: {option} is not an option");
            seen += 1;
        }
    }
    assert!(seen >= 30, "{seen} options");
}

#[test]
fn no_sentence_stands_in_two_readmes() {
    let mut seen = BTreeSet::new();
    let mut twice = Vec::new();
    for name in DOCUMENTS {
        let text = read(name).lines().filter(|line| !line.starts_with('|')).collect::<Vec<_>>().join(" ");
        // A list of what is printed, or a short remark, may stand twice.
        for sentence in text.split(". ").map(str::trim).filter(|sentence| sentence.len() > 60) {
            if !seen.insert(sentence.to_string()) {
                twice.push(format!("{name}: {sentence}"));
            }
        }
    }
    assert!(twice.is_empty(), "{twice:#?}");
}

/// Makes a directory in which the README's commands find what they name. Measurements only print their plan, and `expect`
/// without a file measures a smaller program.
fn place(name: &str) -> (Directory, PathBuf) {
    let directory = Directory::new(name);
    let saved = workspace().join("tests/fixtures/saved");
    for (from, to) in [
        ("matrix-a.json", "old.json"),
        ("matrix-a.json", "new.json"),
        ("matrix-a.json", "baseline.json"),
        ("matrix-a.json", "today.json"),
        ("lat_mem_rd.txt", "lat_mem_rd.txt"),
        ("curve.json", "curve.json"),
        ("nodes.jsonl", "latency-all.jsonl"),
    ] {
        fs::copy(saved.join(from), directory.path().join(to))
            .unwrap_or_else(|error| panic!("{from}: {error}"));
    }
    let programs = directory.path().join("programs");
    fs::create_dir(&programs).expect("a directory");
    let executable = latency_tests::program::binary();
    directory.script(
        "programs",
        "latency-bench",
        &format!(
            "echo \"$1\" >> {}/ran\n[ \"$*\" != 'expect --size=3G' ] || set -- expect --size=64K\ncase $1 in compare|expect|fleet|fit|reference|system|help) ;; *) \
             set -- \"$@\" --dry-run;; esac\nexec {} \"$@\"",
            directory.path().display(),
            executable.display()
        ),
    );
    directory.script("programs", "srun", "while [ \"${1#--}\" != \"$1\" ]; do shift; done\nexec \"$@\"");
    (directory, programs)
}

/// Executes a line of the shell there.
fn shell(directory: &Directory, programs: &Path, line: &str) -> latency_tests::run::Run {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut shell = Command::new("sh");
    shell.args(["-e", "-c", line]).current_dir(directory.path());
    finish(shell.env("PATH", format!("{}:{path}", programs.display())))
}

#[test]
fn every_command_of_the_readme_runs() {
    let markdown = read("README.md");
    let (directory, programs) = place("readme-commands");
    let shown =
        fenced(&markdown, "text").into_iter().filter_map(|line| line.strip_prefix("$ ").map(String::from));
    let lines = fenced(&markdown, "sh").into_iter().chain(shown).chain(answers(&markdown));
    let mut ran = 0;
    for line in lines.filter(|line| line.contains("latency-bench") && !line.starts_with("make")) {
        // The commands of the emulator have a test of their own.
        if line.contains("target/") || line.contains("qemu") {
            continue;
        }
        let found = shell(&directory, &programs, &line);
        // A few hosts allow no verdict.
        assert!(matches!(found.status.code(), Some(0 | 6)), "{line}\n{found}");
        ran += 1;
    }
    assert!(ran >= 20, "{ran} commands");
    let names = fs::read_to_string(directory.path().join("ran")).expect("the commands that ran");
    assert!(names.lines().count() >= ran, "{names}");
    let written = directory.names();
    assert!(!written.contains(&"host.html".to_string()), "a plan wrote a file: {written:?}");
}

#[test]
fn the_exit_statuses_of_the_readme_are_those_of_the_help() {
    let help = run(&["--help"]);
    let markdown = read("README.md");
    let rows = markdown.lines().filter_map(|line| line.strip_prefix("| ")?.split_once(" | "));
    let statuses: Vec<&str> =
        rows.map(|(status, _)| status).filter(|word| word.parse::<u8>().is_ok()).collect();
    assert_eq!(statuses, ["0", "1", "2", "3", "4", "5", "6", "130"]);
    for status in statuses {
        assert!(help.stdout.lines().any(|line| line.trim_start().starts_with(status)), "{status}: {help}");
    }
}

#[test]
fn the_readme_boots_a_kernel_under_test() {
    if !vm::ready("readme::the_readme_boots_a_kernel_under_test") {
        return;
    }
    let (directory, programs) = place("readme-initramfs");
    let kernel = vm::available(vm::Architecture::X86_64).expect("a kernel");
    fs::copy(kernel, directory.path().join("bzImage")).expect("the kernel");
    fs::create_dir(directory.path().join("target")).expect("a directory");
    fs::copy(latency_tests::program::binary(), directory.path().join("target/latency-bench"))
        .expect("the executable");
    // A whole curve would take minutes in an emulator without hardware support.
    directory.script(
        "programs",
        "qemu-system-x86_64",
        "for last; do :; done\nexec env PATH=\"${PATH#*:}\" qemu-system-x86_64 \"$@\" -append \"$last --dry-run\"",
    );
    let lines = fenced(&read("README.md"), "sh");
    let first = lines.iter().position(|line| line.contains("cpio")).expect("a line with cpio") - 1;
    let found = shell(&directory, &programs, &lines[first..first + 3].join("\n"));
    assert!(found.status.success(), "{found}");
    assert!(found.stdout.contains("latency-bench: exit status 0"), "{found}");
    assert!(found.stdout.contains("64 MiB"), "the option after -- was not used: {found}");
}
