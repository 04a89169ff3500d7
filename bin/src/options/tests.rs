//! The command line as a whole: every option in every form, every help text, no panic.

use super::UsageError;
use super::tokens::Escaped;
use super::*;

use crate::catalogue::DESCRIPTORS;
use latency_core::PageSize;
use latency_core::kernel::lanes::PARALLEL;
use latency_engine::tests::leaked;
use latency_engine::tests::plain::assert_plain;
use latency_report::{rows, stored, svg, table};
use proptest::prelude::*;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

const MEASURED: FlagSet = FlagSet::MEASURING
    .union(FlagSet::WORKING_SET)
    .union(FlagSet::CHAIN)
    .with(FlagId::Heatmap)
    .with(FlagId::Chains);

const TRAFFIC: FlagSet = FlagSet::LOAD.with(FlagId::View).with(FlagId::Budget).with(FlagId::Until);

/// Some formats of the program.
pub(crate) const FORMATS: &[Format] = &[table::TEXT, stored::JSON, rows::CSV, svg::SVG];

/// Descriptors similar to those of the program, so that every option belongs to an experiment.
pub(crate) const SAMPLE: &[&Descriptor] = &[
    &Descriptor {
        name: "matrix",
        summary: "idle latency of every initiator node to every target node",
        details: "One line a pair.\nThen the ratio of remote to local.",
        flags: MEASURED.union(TRAFFIC).union(FlagSet::EXCHANGE).with(FlagId::Cores).with(FlagId::Visits),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    &Descriptor {
        name: "curve",
        summary: "latency against working set",
        details: "A table and a plot.",
        flags: MEASURED.union(FlagSet::SIZES).with(FlagId::Reciprocal),
        ..Descriptor::OF_VALUES
    },
    &Descriptor {
        name: "compare",
        summary: "two saved results side by side",
        details: "Exit 5 where the second is slower.",
        flags: FlagSet::of(&[
            FlagId::Threshold,
            FlagId::Baseline,
            FlagId::Expect,
            FlagId::History,
            FlagId::Of,
            FlagId::Force,
            FlagId::Unit,
            FlagId::Probe,
        ]),
        operands: Operands { names: "A... -- B...", least: 2, most: 48, sides: true },
        ..Descriptor::OF_VALUES
    },
];

/// The text in front of each command line in a golden file.
const TYPED: &str = "$ latency-bench ";

/// Compares a text with a golden file, or writes the file if `UPDATE_GOLDEN` is set.
fn assert_golden(name: &str, text: &str) {
    let path = format!("{}/src/options/golden/{name}", env!("CARGO_MANIFEST_DIR"));
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(&path, text).unwrap();
    }
    assert_eq!(text, std::fs::read_to_string(&path).unwrap(), "{name}");
}

type IsSet = fn(&Options) -> bool;

fn parsed(arguments: &[&str]) -> Result<Options, UsageError> {
    parse(arguments.iter().map(|argument| leaked(argument.as_bytes())), SAMPLE, FORMATS)
}

fn message(line: &str) -> String {
    let arguments: Vec<&str> = line.split(' ').collect();
    parsed(&arguments).unwrap_err().to_string()
}

#[test]
fn without_arguments_the_first_experiment_runs_with_its_defaults() {
    let options = parsed(&[]).unwrap();
    assert_eq!(options.experiment, Selection { index: 0, descriptor: SAMPLE[0], named: false });
    assert_eq!((options.seed, options.stride, options.precision), (42, None, 0.01));
    assert_eq!(options.time_limit, Picoseconds(10_000_000_000_000));
    assert_eq!((options.pages, options.order, options.kernel), (Pages::AUTO, Order::Random, Kernel::Pointer));
    assert_eq!((outputs(&options), options.size), (String::from("text"), None));
    assert!(options.operands().is_empty() && !options.strict && options.given == FlagSet::EMPTY);
}

#[test]
fn counted_trials_are_spread_only_on_request() {
    let spread_ns = |arguments: &[&str]| parsed(arguments).unwrap().spread_ns();
    assert!(spread_ns(&[]) == 5e9 && spread_ns(&["--spread=2"]) == 2e9);
    assert!(spread_ns(&["--trials=9"]) == 0.0 && spread_ns(&["--trials=9", "--spread=2"]) == 2e9);
}

#[test]
fn pages_have_a_word_for_every_size_of_a_page() {
    for word in ["auto", "4k", "thp", "2m", "1g", "16k", "64k", "32m", "512m", "16g"] {
        assert_eq!(values::pages(word.as_bytes()).unwrap().to_string(), word);
    }
    assert_eq!(values::pages(b"base"), values::pages(b"4k"));
    for word in ["", "AUTO", "2M", "3m", "8", "8192", "2k", "32g", "thp-32m", "thp-2m"] {
        assert!(values::pages(word.as_bytes()).is_err(), "{word}");
    }
}

#[test]
fn every_option_is_set_in_both_forms() {
    let values: &[(&str, &str, IsSet)] = &[
        ("cpunode", "0,2-3", |o| o.cpunode.is_some_and(|nodes| nodes.iter().eq([0, 2, 3]))),
        ("memnode", "1", |o| o.memnode.is_some_and(|nodes| nodes.iter().eq([1])) && !o.local),
        ("cpu", "7", |o| o.cpu == Some(CpuId(7)) && o.cpus.is_none() && !o.first_cpu && !o.chooses_cpu()),
        ("pages", "1g", |o| o.pages == Pages::of_pool(PageSize::GIB_1)),
        ("size", "1.5G", |o| o.size == Some(Bytes(3 << 29))),
        ("min-size", "16K", |o| o.min_size == Some(Bytes(16 << 10))),
        ("max-size", "1G", |o| o.max_size == Some(Bytes(1 << 30))),
        ("points-per-octave", "8", |o| o.points_per_octave.is_some_and(|points| points.get() == 8)),
        ("order", "page-local", |o| o.order == Order::PageLocal),
        ("stride", "256", |o| o.stride == Some(Bytes(256))),
        ("kernel", "index", |o| o.kernel == Kernel::Index),
        ("chains", "1,4-16", |o| {
            let chosen = PARALLEL.iter().filter(|kernel| o.has_chains(kernel)).map(|kernel| kernel.lanes());
            chosen.eq([1, 4, 6, 8, 10, 12, 14, 16])
        }),
        ("cores", "16", |o| o.cores.is_some_and(|cores| cores.get() == 16)),
        ("seed", "0", |o| o.seed == 0),
        ("traffic", "2:1,read", |o| {
            o.traffic.is_some_and(|kinds| kinds.iter().map(|kind| kind.name).eq(["read", "2:1"]))
        }),
        ("view", "scaling", |o| o.view == View::Scaling),
        ("load-cpus", "1,3-4", |o| o.load_cpus.is_some_and(|cpus| cpus.iter().eq([1, 3, 4]))),
        ("load-threads", "all", |o| o.load_threads == Threads::All),
        ("load-from", "memnode", |o| o.load_from == LoadFrom::Target),
        ("load-node", "1", |o| o.load_node == Some(NodeId(1))),
        ("rates", "0,1.5,50%,max", |o| {
            let rates = [Rate::Idle, Rate::BytesPerSecond(1.5e9), Rate::OfLimit(0.5), Rate::Most];
            o.rates == rates
        }),
        ("levels", "6", |o| o.levels.get() == 6),
        ("pacing", "even", |o| o.pacing == Pacing::Even),
        ("burst", "4", |o| o.burst.is_some_and(|lines| lines.get() == 4)),
        ("pairs", "1:0,3:4", |o| {
            o.pairs == Pairs::These([(CpuId(0), CpuId(1)), (CpuId(3), CpuId(4))].to_vec())
        }),
        ("method", "read-cas", |o| o.method == Method::ReadCas),
        ("lines", "8", |o| o.lines.is_some_and(|lines| lines.get() == 8)),
        ("states", "", |o| o.states),
        ("iters", "10000000", |o| o.iters.is_some_and(|hops| hops.get() == 10_000_000)),
        ("trials", "15", |o| o.trials.is_some_and(|trials| trials.get() == 15)),
        ("precision", "0.5", |o| o.precision == 0.005),
        ("time-limit", "500ms", |o| o.time_limit == Picoseconds(500_000_000_000)),
        ("spread", "0", |o| o.spread == Picoseconds(0) && o.spread_ns() == 0.0),
        ("until", "quiet=2.5", |o| o.until_ns() == Some(2.5e9)),
        ("budget", "1.5m", |o| o.budget == Picoseconds(90_000_000_000_000)),
        ("warmup-iters", "0", |o| o.warmup_iters == Some(0)),
        ("counters", "", |o| o.counters),
        ("threshold", "0", |o| o.threshold == 0.0),
        ("baseline", "a b", |o| o.baseline == Some(b"a b")),
        ("of", "undisturbed", |o| o.of == Of::Undisturbed),
        ("expect", "40", |o| o.expected == Some(b"40")),
        ("history", "", |o| o.history),
        ("force", "", |o| o.force),
        ("unit", "KiB", |o| o.unit == Some(Bytes(1024))),
        ("strict", "", |o| o.strict),
        ("probe", "", |o| o.probe),
        ("dry-run", "", |o| o.dry_run),
        ("format", "json", |o| o.format.name == "json"),
        ("output", "a b", |o| outputs(o) == "text:a b"),
        ("save", "a b", |o| outputs(o) == "text json:a b"),
        ("label", "rack=7", |o| o.labels.iter().eq([("rack", &b"7"[..])])),
        ("anonymous", "", |o| o.anonymous),
        ("heatmap", "", |o| o.heatmap),
        ("reciprocal", "", |o| o.reciprocal),
        ("quiet", "", |o| o.quiet),
        ("verbose", "", |o| o.verbose),
        ("progress", "never", |o| o.progress == When::Never),
        ("color", "always", |o| o.color == When::Always),
        ("help", "", |o| o.help == Some(Help::Long)),
        ("version", "", |o| o.version),
        ("json", "", |o| o.format.name == "json"),
    ];
    for &(name, value, is_set) in values {
        let flag = FLAGS.iter().find(|flag| flag.name == name).unwrap();
        let experiment =
            SAMPLE.iter().find(|known| known.flags.union(FlagSet::ALWAYS).contains(flag.id)).unwrap();
        let operands = if experiment.operands.least == 2 { &["a", "b"][..] } else { &[] };
        let long = format!("--{name}");
        let joined = format!("--{name}={value}");
        let [short, attached, equal] = match flag.short.map(char::from) {
            Some(letter) => [format!("-{letter}"), format!("-{letter}{value}"), format!("-{letter}={value}")],
            None => [long.clone(), joined.clone(), joined.clone()],
        };
        let forms: &[&[&str]] = match flag.kind() {
            Some(_) => &[&[&joined], &[&long, value], &[&short, value], &[&attached], &[&equal]],
            None => &[&[&long], &[&short]],
        };
        for form in forms.iter().filter(|form| form[..] != ["-h"]) {
            let line = [&[experiment.name], operands, form].concat();
            let options = parsed(&line).unwrap();
            assert!(is_set(&options), "{line:?}");
            assert_eq!(options.given, FlagSet::of(&[flag.id]), "{line:?}");
        }
    }
    // The test below checks --csv with the other formats, and --hold and --visits need another option.
    assert_eq!(values.len() + 3, FLAGS.len());
    let visits = |line: &[&str]| parsed(line).map(|options| (options.order, options.visits)).ok();
    assert_eq!(visits(&["--order=grouped"]), Some((Order::Grouped, 4)));
    assert_eq!(visits(&["--visits=1", "--order=grouped", "--size=1M"]), Some((Order::Grouped, 1)));
}

#[test]
fn a_wait_for_quiet_neighbours_has_no_other_bound() {
    assert_eq!(parsed(&[]).unwrap().until_ns(), None);
    assert_eq!(parsed(&["--until=quiet"]).unwrap().until_ns(), Some(60e9));
    for (line, expected) in [
        (
            "--until=quiet --time-limit=5",
            "--time-limit and --until cannot be combined (--until=quiet=TIME is the time limit); remove \
             one of them",
        ),
        (
            "--trials=5 --until=quiet",
            "--trials and --until cannot be combined (a number of trials is no time to wait); remove one \
             of them",
        ),
        (
            "--until=noon",
            "invalid --until 'noon': no such choice; use quiet, or quiet=TIME such as quiet=120 or quiet=2m",
        ),
    ] {
        assert_eq!(message(line), expected);
    }
}

#[test]
fn each_part_of_a_list_of_chains_has_a_number_that_can_be_measured() {
    assert!(parsed(&["--chains=all"]).unwrap().chains.is_some() && parsed(&["--chains=5-7,64"]).is_ok());
    for wrong in ["5", "1,5", "65-70", "1,,2", ""] {
        let found = message(&format!("--chains={wrong}"));
        assert!(
            found.starts_with("invalid --chains") && found.contains("; use some of 1,2,3,4,6,"),
            "{found}"
        );
    }
}

#[test]
fn the_first_cpu_is_one_of_any_node() {
    let options = parsed(&["--cpu=first", "--cpunode=1"]).unwrap();
    assert!(options.first_cpu && options.cpu.is_none() && options.cpunode.is_some());
    assert_eq!(
        message("--cpu=3 --cpunode=1"),
        "--cpunode and --cpu cannot be combined (the CPU decides the node); remove one of them"
    );
    assert_eq!(
        message("--cpu=last"),
        "invalid --cpu 'last': not a number; use the number of one CPU, such as 4, or first (cores: a list \
         such as 0,2-3)"
    );
}

#[test]
fn several_cpus_are_for_pairs_of_cpus() {
    let options = parsed(&["matrix", "--cpu=0,2-3"]).unwrap();
    assert!(options.cpu.is_none() && options.cpus.is_some_and(|cpus| cpus.iter().eq([0, 2, 3])));
    assert_eq!(parsed(&["-Call"]).unwrap().cpus, Some(CpuSet::ALL));
    assert_eq!(
        message("curve --cpu=0-1"),
        "--cpu names several CPUs, but curve measures on one CPU; use one CPU"
    );
    assert_eq!(
        message("--cpu=0-1 --pairs=0:1"),
        "--cpu and --pairs cannot be combined (the pairs name their CPUs); remove one of them"
    );
    assert!(parsed(&["--cpu=0-1", "--pairs=all"]).is_ok());
}

#[test]
fn all_and_local_are_lists() {
    let options = parsed(&["-N", "all", "-m", "all", "--load-cpus=all"]).unwrap();
    assert_eq!((options.cpunode, options.memnode), (Some(NodeSet::ALL), Some(NodeSet::ALL)));
    assert!(options.load_cpus == Some(CpuSet::ALL) && !options.local);
    let options = parsed(&["--memnode=local"]).unwrap();
    assert!(options.local && options.memnode.is_none());
    assert!(message("--cpunode=local").starts_with("invalid --cpunode 'local': "));
}

#[test]
fn an_option_of_another_tool_is_answered_with_ours() {
    for (line, ours) in [
        ("--membind=1", "unknown option '--membind'; use --memnode (-m)"),
        ("-c0", "unknown option '-c'; use --cpunode (-N)"),
        ("curve --runtime=10", "unknown option '--runtime'; use --budget, or --time-limit"),
        ("--latency_matrix", "unknown option '--latency_matrix'; use `latency-bench matrix`"),
    ] {
        assert_eq!(message(line), ours);
    }
}

#[test]
fn one_load_can_be_held() {
    for line in [["--rates=5", "--hold=30"], ["--hold=30", "--rates=max"], ["--rates=50%", "--hold=30"]] {
        let options = parsed(&line).unwrap();
        assert_eq!(options.hold.map(|seconds| seconds.get()), Some(30), "{line:?}");
    }
    for line in [&["--hold=30"][..], &["--hold=30", "--rates=1,2"], &["--hold=30", "--rates=auto"]] {
        assert!(matches!(parsed(line), Err(UsageError::HoldsOneLoad)), "{line:?}");
    }
    let kinds = |kinds| parsed(&["--hold=30", "--rates=1", kinds]).map(|options| options.hold.is_some());
    assert!(matches!(kinds("--traffic=2:1"), Ok(true)));
    assert!(matches!(kinds("--traffic=read,2:1"), Err(UsageError::HoldsOneLoad)));
}

#[test]
fn levels_of_load_are_listed_or_counted() {
    assert!(parsed(&["--rates=auto", "--levels=6"]).is_ok());
    assert_eq!(
        message("--levels=6 --rates=0,max"),
        "--rates and --levels cannot be combined (the rates are the levels); remove one of them"
    );
}

#[test]
fn options_and_operands_may_stand_anywhere() {
    let options = parsed(&["--quiet", "compare", "old", "--threshold", "5%", "--", "--new"]).unwrap();
    assert_eq!(options.operands(), [&b"old"[..], b"--new"]);
    assert_eq!((options.threshold, options.quiet), (0.05, true));
    assert_eq!(options.sides(), (&[&b"old"[..]][..], &[&b"--new"[..]][..]));
    let options = parsed(&["-q", "-j", "-o", "a.txt"]).unwrap();
    assert_eq!((options.quiet, outputs(&options)), (true, String::from("json:a.txt")));
    assert!(parsed(&["-v"]).unwrap().verbose && parsed(&["-V"]).unwrap().version);
}

#[test]
fn too_many_files_can_be_joined_for_commands_that_read_joined_files() {
    for (command, most, remedy) in [
        ("compare", 48, "use fewer"),
        ("reference", 16, "use fewer"),
        ("fleet", MAX_OPERANDS, "join files: cat FILES"),
        ("report", MAX_OPERANDS, "join files: cat FILES"),
        ("show", MAX_OPERANDS, "join files: cat FILES"),
    ] {
        let mut arguments = [command].to_vec();
        arguments.resize(1 + most, "a.json");
        arguments.push("b.json");
        let refused =
            parse(arguments.iter().map(|word| leaked(word.as_bytes())), &DESCRIPTORS, FORMATS).unwrap_err();
        let expected = format!("more than {most} arguments, from 'b.json' on; {remedy}");
        assert_eq!(refused.to_string(), expected, "{command}");
    }
}

#[test]
fn two_dashes_separate_the_operands_of_two_sides() {
    let sides = |line: &str| {
        let words: Vec<_> = line.split(' ').collect();
        let counts = |options: Options| (options.sides().0.len(), options.sides().1.len());
        parsed(&words).map(counts).map_err(|error| error.to_string())
    };
    for (line, counts) in [
        ("compare a b", (1, 1)),
        ("compare -- a b", (1, 1)),
        ("compare a -- b", (1, 1)),
        ("compare a1 a2 a3 -- b1 b2", (3, 2)),
        ("compare a -- b1 b2", (1, 2)),
    ] {
        assert_eq!(sides(line).unwrap(), counts, "{line}");
    }
    for line in ["compare a b c", "compare -- a b c", "compare a b c --"] {
        assert_eq!(
            sides(line).unwrap_err(),
            "compare needs `--` between the results of both sides; usage: latency-bench compare [OPTIONS] \
             A... -- B..."
        );
    }
}

#[test]
fn formats_may_be_given_twice_if_they_agree() {
    assert_eq!(parsed(&["--csv"]).unwrap().format.name, "csv");
    assert_eq!(parsed(&["--json", "--format=json"]).unwrap().format.name, "json");
    for (line, first, second) in [
        ("--json --csv", "json", "csv"),
        ("--csv --format=svg", "csv", "format"),
        ("--format=csv --json", "format", "json"),
    ] {
        let expected =
            format!("--{first} and --{second} cannot be combined (there is one result); remove one of them");
        assert_eq!(message(line), expected);
    }
}

#[test]
fn the_extension_chooses_the_format_if_none_is_given() {
    for (arguments, format) in [
        (&["--output=r.json"][..], "json"),
        (&["-o", "r.SVG"], "svg"),
        (&["-o", "r.svg", "--csv"], "csv"),
        (&["-o", "r.json", "--format=text"], "text"),
        (&["-o", "r.data", "--json"], "json"),
        (&["-o", "data"], "text"),
        (&["-o", "-"], "text"),
    ] {
        assert_eq!(parsed(arguments).unwrap().outputs()[0].format.name, format, "{arguments:?}");
    }
    assert!(matches!(
        parsed(&["-o", "r.data"]),
        Err(UsageError::UnknownExtension { extension: Escaped(b"data"), .. })
    ));
    assert!(parsed(&["-o", "r.data", "--help"]).is_ok());
    assert!(parsed(&["curve", "-o", "r.svg"]).is_err(), "it has no picture");
}

#[test]
fn a_terminal_shows_the_answer_of_a_measurement_whose_results_are_files() {
    for (arguments, is_terminal, shown) in [
        (&["-o", "a.json", "-o", "b.svg"][..], true, "json:a.json svg:b.svg text"),
        (&["-o", "a.json"], false, "json:a.json"),
        (&["-o", "a.json", "--quiet"], true, "json:a.json"),
        (&["-o", "a.json", "-o", "-"], true, "json:a.json text"),
        (&["--json"], true, "json"),
        (&["compare", "a", "b", "-o", "c.json"], true, "json:c.json"),
    ] {
        let mut options = parsed(arguments).unwrap();
        options.answer_on(is_terminal);
        assert_eq!(outputs(&options), shown, "{arguments:?}");
    }
}

/// Returns the outputs of a run, such as `json:a.json text`.
fn outputs(options: &Options) -> String {
    let shown = |output: &Output| {
        let path = output.path.map_or(String::new(), |path| format!(":{}", path.escape_ascii()));
        format!("{}{path}", output.format.name)
    };
    options.outputs().iter().map(shown).collect::<Vec<_>>().join(" ")
}

#[test]
fn each_output_has_a_format() {
    for (line, expected) in [
        ("-o a.json -o b.svg", "json:a.json svg:b.svg"),
        ("-o a.json -o -", "json:a.json text"),
        ("-o a.json -o - --csv", "json:a.json csv"),
        ("-o a.json -o b --format=svg", "json:a.json svg:b"),
        ("-o a.json -o b.x --format=svg", "json:a.json svg:b.x"),
        ("-o a.json -o b.csv --json", "json:a.json csv:b.csv"),
        ("--save=a.txt", "text json:a.txt"),
        ("--csv --save=a", "csv json:a"),
        ("--save=a -o b.svg", "svg:b.svg json:a"),
        ("--save=a -o b --csv", "csv:b json:a"),
        ("--save=- -o b.svg", "svg:b.svg json"),
    ] {
        let words: Vec<_> = line.split(' ').collect();
        assert_eq!(outputs(&parsed(&words).unwrap()), expected, "{line}");
    }
    assert_eq!(
        message("-o a.json -o b.csv --format=svg"),
        "--format and --output cannot be combined (the extension of each file chooses its format); remove \
         one of them"
    );
    assert_eq!(message("-o a.json -o b.txt2 -o c"), message("-o b.txt2"));
    let many = |count: usize| "-o a ".repeat(count);
    assert!(parsed(&many(8).trim().split(' ').collect::<Vec<_>>()).is_ok());
    assert_eq!(message(&(many(8) + "--save=b")), "there are more than 8 outputs; write fewer at a time");
    assert!(parsed(&(many(9) + "--help").split(' ').collect::<Vec<_>>()).is_ok());
}

#[test]
fn a_plan_goes_to_standard_output_in_a_format_that_shows_it() {
    for (arguments, format) in [
        (&["-o", "r.json"][..], "text"),
        (&["-o", "r.svg", "--csv"], "csv"),
        (&["-o", "a.csv", "-o", "b.json", "--save=c"], "text"),
        (&["--json"], "json"),
        (&["--format=svg"], "text"),
    ] {
        let options = parsed(&[arguments, &["--dry-run"]].concat()).unwrap();
        assert_eq!(outputs(&options), format, "{arguments:?}");
    }
}

#[test]
fn every_experiment_accepts_the_output_options() {
    for experiment in SAMPLE {
        for flag in FLAGS.iter().filter(|flag| FlagSet::PRESENTATION.contains(flag.id)) {
            let value = match flag.id {
                FlagId::Format => "json",
                FlagId::Output => "file",
                _ => "auto",
            };
            let operands = if experiment.operands.least == 2 { &["a", "b"][..] } else { &[] };
            let long = format!("--{}", flag.name);
            let value = if flag.kind().is_some() { &[value][..] } else { &[] };
            let line = [&[experiment.name, &long], value, operands].concat();
            assert!(parsed(&line).is_ok(), "{line:?}");
        }
    }
}

#[test]
fn help_needs_nothing_else() {
    let help = |arguments: &[&str]| parsed(arguments).unwrap().help;
    assert_eq!(help(&["compare", "--help"]), Some(Help::Long));
    assert_eq!(help(&["compare", "-h"]), Some(Help::Short));
    assert_eq!(help(&["matrix", "--min-size=1K", "--quiet", "--verbose", "--help"]), Some(Help::Long));
    assert!(parsed(&["matrix", "--wrong", "--help"]).is_err());
    assert_eq!(help(&["help"]), Some(Help::Long));
    assert_eq!(help(&["help", "options"]), Some(Help::Shared));
    assert_eq!(help(&["help", "compare", "--format=text"]), Some(Help::Long));
    assert_eq!(help(&["compare", "a", "b", "--json", "--help"]), Some(Help::Long));
    assert_eq!(message("help --json"), "help cannot be written as json; remove the format");
    assert_eq!(message("options"), "unknown experiment 'options'; `latency-bench -h` lists the experiments");
    let options = parsed(&["help", "compare"]).unwrap();
    assert_eq!((options.help, options.experiment.descriptor.name), (Some(Help::Long), "compare"));
    assert!(parsed(&["version"]).unwrap().version);
    for (line, word) in [("help wombat", "wombat"), ("help help", "help"), ("version version", "version")] {
        assert!(message(line).starts_with(&format!("unknown experiment '{word}'")), "{line}");
    }
    // After an experiment, the words are operands.
    assert_eq!(parsed(&["compare", "help", "version"]).unwrap().operands(), [&b"help"[..], b"version"]);
}

#[test]
fn each_mistake_has_its_message() {
    let mut text = String::new();
    for line in include_str!("golden/messages.txt").lines().filter_map(|line| line.strip_prefix(TYPED)) {
        let found = message(line);
        assert!(found.len() <= 160, "{} bytes: {found}", found.len());
        assert_plain(&found);
        text += &format!("{TYPED}{line}\n{found}\n");
    }
    assert_golden("messages.txt", &text);
    let error = parse([&b"--size=\xff\x1b"[..]].into_iter(), SAMPLE, FORMATS).unwrap_err();
    assert_eq!(error.to_string(), "the argument '--size=\\xff\\u{1b}' is not UTF-8; retype it in UTF-8");
    assert_eq!(message("--memnode=3-2").split(": ").next(), Some("invalid --memnode '3-2'"));
    assert!(parse(core::iter::empty(), &[], FORMATS).is_err());
    assert!(parse(core::iter::empty(), SAMPLE, &[]).is_err());
}

#[test]
fn the_help_names_every_option_in_eighty_columns() {
    let mut general = String::new();
    write_help(&mut general, Help::Long, SAMPLE, FORMATS).unwrap();
    for flag in FLAGS {
        assert!(general.contains(&format!("{flag}")), "{flag}");
    }
    let mut shared = String::new();
    write_help(&mut shared, Help::Shared, SAMPLE, FORMATS).unwrap();
    let lists = |text: &str, flag: &Flag| {
        text.lines().any(|line| line.trim_start().split("  ").any(|part| part.ends_with(&format!("{flag}"))))
    };
    assert_golden("shared_help.txt", &shared);
    for flag in FLAGS {
        assert_eq!(lists(&shared, flag), FlagSet::ALWAYS.contains(flag.id), "{flag}");
    }
    for experiment in SAMPLE {
        let mut text = String::new();
        write_experiment_help(&mut text, Help::Long, experiment, FORMATS).unwrap();
        let (sections, examples) = text.split_once("\nExamples:\n").unwrap();
        assert!(examples.contains(experiment.name), "{examples}");
        for flag in FLAGS {
            assert_eq!(
                lists(sections, flag),
                experiment.flags.contains(flag.id),
                "{} {flag}",
                experiment.name
            );
        }
        for line in text.lines().chain(general.lines()).chain(shared.lines()) {
            assert!(line.len() <= 80 && line.trim_end() == line, "{line:?}");
        }
    }
}

#[test]
fn the_help_of_an_experiment_is_as_expected() {
    let mut text = String::new();
    write_experiment_help(&mut text, Help::Long, SAMPLE[2], FORMATS).unwrap();
    assert_golden("compare_help.txt", &text);
}

#[test]
fn the_long_help_of_an_experiment_is_as_expected() {
    let mut text = String::new();
    write_experiment_help(&mut text, Help::Long, SAMPLE[1], FORMATS).unwrap();
    assert_golden("curve_help.txt", &text);
}

#[test]
fn the_short_help_is_as_expected() {
    let mut text = String::new();
    write_help(&mut text, Help::Short, SAMPLE, FORMATS).unwrap();
    write_experiment_help(&mut text, Help::Short, SAMPLE[2], FORMATS).unwrap();
    assert_golden("short_help.txt", &text);
    assert!(text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn the_version_is_that_of_the_package() {
    let mut text = String::new();
    write_version(&mut text).unwrap();
    let begin = concat!("latency-bench ", env!("CARGO_PKG_VERSION"), " (");
    assert!(text.starts_with(begin) && text.ends_with("x86_64-linux)\n") && text.contains(COMMIT), "{text}");
}

proptest! {
    #[test]
    fn arbitrary_bytes_never_panic(
        arguments in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..12), 0..6),
    ) {
        if let Err(error) = parse(arguments.iter().map(|word| leaked(word)), SAMPLE, FORMATS) {
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
        match parse(arguments.iter().map(|word| leaked(word.as_bytes())), SAMPLE, FORMATS) {
            Ok(options) => prop_assert!(options.help.is_some() || options.version || options.given
                == options.given.intersection(options.experiment.descriptor.flags.union(FlagSet::ALWAYS))),
            Err(error) => {
                let text = error.to_string();
                prop_assert!(text.len() > 10 && !text.contains('\n') && !text.ends_with(' '), "{}", text);
            }
        }
    }

    #[test]
    fn escaped_text_is_one_printable_line(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
        prop_assert!(!Escaped(&bytes).to_string().chars().any(char::is_control));
    }
}

#[test]
fn options_of_every_experiment_are_in_one_set() {
    let measures = |descriptor: &Descriptor| descriptor.measures() || descriptor.name == "system";
    let all: Vec<_> = DESCRIPTORS.iter().filter(|descriptor| measures(descriptor)).collect();
    assert!(all.len() >= 13, "{}", all.len());
    for Descriptor { name, flags, .. } in all {
        for flag in [FlagId::Label, FlagId::Anonymous, FlagId::Strict] {
            assert!(flags.contains(flag), "{name} lacks {flag:?}");
        }
    }
}
