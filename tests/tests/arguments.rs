//! Arbitrary arguments: the executable ends by itself, with a documented status.
//!
//! The arguments are made from the options that `--help` names, from values that suit some option, and from
//! arbitrary bytes. The first arguments keep a run short: `--dry-run`, or a measurement of some milliseconds.
//! A repeated option is refused, so later arguments cannot make the run longer.

use latency_core::rng::Pcg32;
use latency_tests::confine::{Confine, is_root};
use latency_tests::directory::Directory;
use latency_tests::run::{self, ERROR, finish, run};
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::os::unix::process::CommandExt;

const RUNS: u64 = 600;

/// The exit statuses that `--help` documents, without 130, which follows only a signal.
const STATUSES: [i32; 7] = [0, 1, 2, 3, 4, 5, 6];

/// Arguments that keep a run short.
const SHORT: [&[&str]; 4] = [
    &["--dry-run"],
    &["--dry-run"],
    &["--dry-run"],
    &["--size=64K", "--iters=100", "--trials=1", "--warmup-iters=0"],
];

/// Values for one option or another, at the edges of the valid range and beyond.
const VALUES: [&str; 44] = [
    "",
    "0",
    "1",
    "-1",
    "+1",
    "00",
    "64",
    "4096",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
    "0x10",
    "1e9",
    "1e400",
    "nan",
    "inf",
    "0.5",
    ".5",
    "5.",
    "1.5G",
    "0.0001K",
    "128",
    "16777215T",
    "1K",
    "1M",
    "8E",
    "1TT",
    "0-1",
    "1-0",
    "0,0,0",
    "0-4294967295",
    "0-8191",
    "0,",
    ",",
    "-",
    "--",
    "auto",
    "thp",
    "random",
    "json",
    "always",
];

/// Experiments, and similar words.
const WORDS: [&str; 12] = [
    "matrix",
    "system",
    "curve",
    "order",
    "pages",
    "variants",
    "bandwidth",
    "loaded",
    "cores",
    "fit",
    "compare",
    "wombat",
];

/// Returns the long options in the help text.
fn options(help: &str) -> Vec<String> {
    let words = help.split(|character: char| !(character.is_ascii_lowercase() || character == '-'));
    let mut found: Vec<String> = words.filter(|word| word.starts_with("--")).map(String::from).collect();
    found.sort();
    found.dedup();
    found
}

struct Generator {
    random: Pcg32,
    options: Vec<String>,
}

impl Generator {
    fn pick<'a, T: ?Sized>(&mut self, from: &[&'a T]) -> &'a T {
        from[self.random.below(from.len() as u32) as usize]
    }

    /// Returns up to `most` bytes without the NUL, which no argument can contain.
    fn bytes(&mut self, most: u32) -> Vec<u8> {
        let length = self.random.below(most + 1);
        let printable = self.random.below(2) == 0;
        let (first, count) = if printable { (0x20, 0x5F) } else { (1, 255) };
        (0..length).map(|_| (first + self.random.below(count)) as u8).collect()
    }

    fn option(&mut self) -> Vec<u8> {
        let at = self.random.below(self.options.len() as u32) as usize;
        self.options[at].clone().into_bytes()
    }

    fn argument(&mut self) -> Vec<u8> {
        match self.random.below(8) {
            0 => self.bytes(12),
            1 => self.pick(&WORDS).into(),
            2 => self.pick(&VALUES).into(),
            3 => self.option(),
            4 => {
                // Change one byte of an option.
                let mut option = self.option();
                let at = self.random.below(option.len() as u32) as usize;
                option[at] = 1 + self.random.below(255) as u8;
                option
            }
            5 => [&self.option(), &b"="[..], &self.bytes(6)].concat(),
            _ => [&self.option(), &b"="[..], self.pick(&VALUES).as_bytes()].concat(),
        }
    }

    fn arguments(&mut self) -> Vec<OsString> {
        let count = self.random.below(5);
        let short = SHORT[self.random.below(SHORT.len() as u32) as usize];
        let short = short.iter().map(|argument| argument.as_bytes().to_vec());
        let others: Vec<Vec<u8>> = (0..count).map(|_| self.argument()).collect();
        short.chain(others).map(OsString::from_vec).collect()
    }
}

#[test]
fn every_command_line_ends_with_a_documented_status() {
    let help = run(&["--help"]);
    let options = options(&help.expect_status(0).stdout);
    assert!(options.len() > 20, "{options:?}");
    let mut generator = Generator { random: Pcg32::new(42, 1), options };
    // Files that `--output` names end up here. As the user nobody, the process can write to no other
    // directory.
    let directory = Directory::new("arguments");
    for _ in 0..RUNS {
        let arguments = generator.arguments();
        let mut command = directory.command(&arguments);
        if is_root() {
            command.as_nobody();
        }
        let found = finish(&mut command);
        let status = found.status.code();
        assert!(status.is_some_and(|status| STATUSES.contains(&status)), "{found}");
        let failed = found.stderr.contains(ERROR);
        assert_eq!(failed, status != Some(0), "{found}");
        assert!(!failed || found.stderr.ends_with('\n'), "{found}");
        // The message repeats the argument without characters that could control a terminal.
        let steering = |character: char| character.is_control() && character != '\n';
        assert!(!found.stderr.contains(steering), "{found}");
    }
}

#[test]
fn an_argument_of_any_length_is_answered() {
    for length in [1, 200, 201, 4096, 100_000] {
        for argument in [
            "x".repeat(length),
            format!("--{}", "x".repeat(length)),
            format!("--size={}", "9".repeat(length)),
        ] {
            let found = run(&["--dry-run", &argument]);
            found.expect_error("");
            assert!(matches!(found.status.code(), Some(1 | 2)), "{found}");
            assert!(found.stderr.len() < 1000, "{} bytes of message", found.stderr.len());
        }
    }
}

#[test]
fn many_arguments_are_answered() {
    let many: Vec<String> = (0..20_000).map(|number| format!("--seed={number}")).collect();
    run(&many).expect_status(1).expect_error("--seed given more than once");
}

#[test]
fn a_program_without_a_name_runs() {
    finish(run::command(&["--version"]).arg0("")).expect_status(0);
}
