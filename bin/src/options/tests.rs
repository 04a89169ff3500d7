//! The command line as a whole: every option in every form, every help text, no panic.

use super::tokens::Escaped;
use super::UsageError;
use super::*;
use proptest::prelude::*;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

const MEASURED: FlagSet = FlagSet::PLACEMENT
    .union(FlagSet::SAMPLING)
    .union(FlagSet::PRESENTATION)
    .union(FlagSet::of(&[FlagId::Size, FlagId::Order, FlagId::Stride, FlagId::Kernel, FlagId::Seed]))
    .with(FlagId::Counters)
    .with(FlagId::Heatmap);

/// Experiments such as the program has, so that every option belongs to one.
pub(crate) const SAMPLE: &[Descriptor] = &[
    Descriptor {
        name: "matrix",
        summary: "idle latency of every initiator node to every target node",
        details: "One line a pair.\nThen the ratio of remote to local.",
        flags: MEASURED,
        formats: &[Format::Text, Format::Json, Format::Csv, Format::Svg],
        operands: Operands::NONE,
    },
    Descriptor {
        name: "curve",
        summary: "latency against working set",
        details: "A table and a plot.",
        flags: MEASURED.union(FlagSet::of(&[
            FlagId::MinSize,
            FlagId::MaxSize,
            FlagId::PointsPerOctave,
            FlagId::Reciprocal,
        ])),
        formats: &[Format::Text, Format::Json],
        operands: Operands::NONE,
    },
    Descriptor {
        name: "compare",
        summary: "two saved results side by side",
        details: "Exit 5 where the second is slower.",
        flags: FlagSet::PRESENTATION.with(FlagId::Threshold),
        formats: &[Format::Text],
        operands: Operands { names: "A B", least: 2, most: 2 },
    },
];

type IsSet = fn(&Options<'_>) -> bool;

fn parsed<'a>(arguments: &[&'a str]) -> Result<Options<'a>, UsageError<'a>> {
    parse(arguments.iter().map(|argument| argument.as_bytes()), SAMPLE)
}

fn message(line: &str) -> String {
    let arguments: Vec<&str> = line.split(' ').collect();
    let text = parsed(&arguments).unwrap_err().to_string();
    text
}

#[test]
fn without_arguments_the_first_experiment_runs_with_its_defaults() {
    let options = parsed(&[]).unwrap();
    assert_eq!(options.experiment, Selection { index: 0, descriptor: &SAMPLE[0], named: false });
    assert_eq!((options.seed, options.stride, options.precision), (42, Bytes(64), 0.01));
    assert_eq!(options.time_limit, Picoseconds(10_000_000_000_000));
    assert_eq!((options.pages, options.order, options.kernel), (Pages::Auto, Order::Random, Kernel::Pointer));
    assert_eq!((options.format, options.output, options.size), (Format::Text, None, None));
    assert!(options.operands().is_empty() && !options.strict && options.given == FlagSet::EMPTY);
}

#[test]
fn every_option_is_set_in_both_forms() {
    let values: [(&str, &str, IsSet); 32] = [
        ("cpunode", "0,2-3", |o| o.cpunode.is_some_and(|nodes| nodes.iter().eq([0, 2, 3]))),
        ("memnode", "1", |o| o.memnode.is_some_and(|nodes| nodes.iter().eq([1]))),
        ("cpu", "7", |o| o.cpu == Some(CpuId(7))),
        ("pages", "1g", |o| o.pages == Pages::Huge1g),
        ("size", "1.5G", |o| o.size == Some(Bytes(3 << 29))),
        ("min-size", "16K", |o| o.min_size == Some(Bytes(16 << 10))),
        ("max-size", "1G", |o| o.max_size == Some(Bytes(1 << 30))),
        ("points-per-octave", "8", |o| o.points_per_octave.is_some_and(|points| points.get() == 8)),
        ("order", "page-local", |o| o.order == Order::PageLocal),
        ("stride", "256", |o| o.stride == Bytes(256)),
        ("kernel", "index", |o| o.kernel == Kernel::Index),
        ("seed", "0", |o| o.seed == 0),
        ("iters", "10000000", |o| o.iters.is_some_and(|hops| hops.get() == 10_000_000)),
        ("trials", "15", |o| o.trials.is_some_and(|trials| trials.get() == 15)),
        ("precision", "0.5", |o| o.precision == 0.005),
        ("time-limit", "0.5", |o| o.time_limit == Picoseconds(500_000_000_000)),
        ("warmup-iters", "0", |o| o.warmup_iters == Some(0)),
        ("counters", "", |o| o.counters),
        ("threshold", "0", |o| o.threshold == 0.0),
        ("strict", "", |o| o.strict),
        ("dry-run", "", |o| o.dry_run),
        ("format", "json", |o| o.format == Format::Json),
        ("output", "a b", |o| o.output == Some(b"a b")),
        ("heatmap", "", |o| o.heatmap),
        ("reciprocal", "", |o| o.reciprocal),
        ("quiet", "", |o| o.quiet),
        ("verbose", "", |o| o.verbose),
        ("progress", "never", |o| o.progress == When::Never),
        ("color", "always", |o| o.color == When::Always),
        ("help", "", |o| o.help),
        ("version", "", |o| o.version),
        ("json", "", |o| o.format == Format::Json),
    ];
    for (name, value, is_set) in values {
        let flag = FLAGS.iter().find(|flag| flag.name == name).unwrap();
        let experiment =
            SAMPLE.iter().find(|known| known.flags.union(FlagSet::ALWAYS).contains(flag.id)).unwrap();
        let operands = if experiment.operands.least == 2 { &["a", "b"][..] } else { &[] };
        let long = format!("--{name}");
        let joined = format!("--{name}={value}");
        let forms: &[&[&str]] =
            if flag.kind().is_some() { &[&[&joined], &[&long, value]] } else { &[&[&long]] };
        for form in forms {
            let line = [&[experiment.name], operands, form].concat();
            let options = parsed(&line).unwrap();
            assert!(is_set(&options), "{line:?}");
            assert_eq!(options.given, FlagSet::of(&[flag.id]), "{line:?}");
        }
    }
    // All but --csv, which stands below with the other formats.
    assert_eq!(values.len() + 1, FLAGS.len());
}

#[test]
fn options_and_operands_may_stand_anywhere() {
    let options = parsed(&["--quiet", "compare", "old", "--threshold", "5%", "--", "--new"]).unwrap();
    assert_eq!(options.operands(), [&b"old"[..], b"--new"]);
    assert_eq!((options.threshold, options.quiet), (0.05, true));
    assert_eq!(parsed(&["--output", "-"]).unwrap().output, None);
    assert!(parsed(&["-h"]).unwrap().help && parsed(&["-V"]).unwrap().version);
}

#[test]
fn formats_may_be_given_twice_if_they_agree() {
    assert_eq!(parsed(&["--csv"]).unwrap().format, Format::Csv);
    assert_eq!(parsed(&["--json", "--format=json"]).unwrap().format, Format::Json);
    for (line, first, second) in [
        ("--json --csv", "json", "csv"),
        ("--csv --format=svg", "csv", "format"),
        ("--format=csv --json", "format", "json"),
    ] {
        let expected = format!(
            "--{first} and --{second} exclude each other (there is one result); leave one of them out"
        );
        assert_eq!(message(line), expected);
    }
}

#[test]
fn help_is_had_whatever_else_is_missing() {
    assert!(parsed(&["compare", "--help"]).unwrap().help);
    assert!(parsed(&["matrix", "--min-size=1K", "--quiet", "--verbose", "--help"]).unwrap().help);
    assert!(parsed(&["matrix", "--wrong", "--help"]).is_err());
}

#[test]
fn each_mistake_has_its_message() {
    let mut lines = include_str!("golden/messages.txt").lines();
    while let (Some(command), Some(expected)) = (lines.next(), lines.next()) {
        let line = command.strip_prefix("$ latency-bench ").unwrap();
        assert_eq!(message(line), expected, "{line}");
    }
    let error = parse([&b"--size=\xff\x1b"[..]].into_iter(), SAMPLE).unwrap_err();
    assert_eq!(error.to_string(), "the argument '--size=\\xff\\u{1b}' is not UTF-8; type it again");
    assert_eq!(message("--memnode=3-2").split(": ").next(), Some("invalid value '3-2' for --memnode"));
    assert!(parse(core::iter::empty(), &[]).is_err());
}

#[test]
fn the_help_names_every_option_in_eighty_columns() {
    let mut general = String::new();
    write_help(&mut general, SAMPLE).unwrap();
    for flag in FLAGS {
        assert!(general.contains(&format!("{flag}")), "{flag}");
    }
    for experiment in SAMPLE {
        let mut text = String::new();
        write_experiment_help(&mut text, experiment).unwrap();
        for flag in FLAGS {
            let accepted = experiment.flags.union(FlagSet::ALWAYS).contains(flag.id);
            let line =
                |line: &str| line.trim_start().split("  ").any(|part| part.ends_with(&format!("{flag}")));
            assert_eq!(text.lines().any(line), accepted, "{} {flag}", experiment.name);
        }
        for line in text.lines().chain(general.lines()) {
            assert!(line.len() <= 80 && line.trim_end() == line, "{line:?}");
        }
    }
}

#[test]
fn the_help_of_an_experiment_is_as_expected() {
    let mut text = String::new();
    write_experiment_help(&mut text, &SAMPLE[2]).unwrap();
    assert_eq!(text, include_str!("golden/compare_help.txt"));
}

#[test]
fn the_markdown_table_has_one_row_for_each_option() {
    let mut table = String::new();
    write_markdown_table(&mut table, SAMPLE).unwrap();
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), FLAGS.len() + 2);
    for row in &rows {
        assert_eq!(row.replace("\\|", "").matches('|').count(), 5, "{row}");
    }
    for row in [
        "| `--seed=N` | seed of the chain | 42 | all but `compare` |",
        "| `--min-size=SIZE` | the smallest working set | half of the L1 data cache: \
         there every hop is an L1 hit | `curve` |",
        "| `--kernel=pointer\\|index` | what a node holds of the next: address or index | pointer: \
         it adds no address arithmetic to the load | all but `compare` |",
        "| `--csv` | short for --format=csv | off | all |",
    ] {
        assert!(rows.contains(&row), "{row}\n{table}");
    }
}

#[test]
fn the_version_is_that_of_the_package() {
    let mut text = String::new();
    write_version(&mut text).unwrap();
    assert_eq!(text, "latency-bench 0.1.0\n");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        arguments in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 0..6),
    ) {
        if let Err(error) = parse(arguments.iter().map(Vec::as_slice), SAMPLE) {
            let text = error.to_string();
            prop_assert!(text.len() > 10 && !text.chars().any(char::is_control), "{:?}", text);
        }
    }

    #[test]
    fn shuffled_arguments_never_panic(
        choices in proptest::collection::vec(
            (0..FLAGS.len(), 0usize..8, "[0-9]{0,20}[KMG%.,-]?[0-9a-z]{0,4}"),
            0..8,
        ),
    ) {
        let mut arguments: Vec<String> = Vec::new();
        for (index, form, value) in choices {
            let name = FLAGS[index].name;
            match form {
                0 => arguments.push(format!("--{name}={value}")),
                1 => arguments.extend([format!("--{name}"), value]),
                2 => arguments.push(format!("--{name}")),
                3 => arguments.push(value),
                4 => arguments.push(SAMPLE[index % SAMPLE.len()].name.to_string()),
                5 => arguments.push("--".to_string()),
                6 => arguments.push(format!("--{name}x")),
                _ => arguments.push(format!("-{value}")),
            }
        }
        match parse(arguments.iter().map(String::as_bytes), SAMPLE) {
            Ok(options) => prop_assert!(options.help || options.version || options.given
                == options.given.intersection(options.experiment.descriptor.flags)),
            Err(error) => {
                let text = error.to_string();
                prop_assert!(text.len() > 10 && !text.contains('\n') && !text.ends_with(' '), "{}", text);
            }
        }
    }

    #[test]
    fn what_is_escaped_is_one_printable_line(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(!Escaped(&bytes).to_string().chars().any(char::is_control));
    }
}
