//! Command lines, typed and from the kernel: each is refused with a message, or gives options for which a plan can be
//! made.

use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

use super::driver::{check, steers};
use super::mutation::{Mutation, applied, mutations};
use crate::catalogue::{DESCRIPTORS, EXPERIMENTS};
use crate::experiment::tests::{machine, planned_with};
use crate::options::{self, FLAGS, Options};
use latency_engine::tests::leaked;
use latency_report::FORMATS;
use latency_sys::init::pack_arguments;

/// Values for various options, at the edges of the valid range and beyond.
const VALUES: [&str; 43] = [
    "",
    "0",
    "1",
    "-1",
    "64",
    "4096",
    "4097",
    "4294967296",
    "18446744073709551615",
    "18446744073709551616",
    "1e9",
    "0.5",
    "1e400",
    "nan",
    "inf",
    "1K",
    "64K",
    "1M",
    "1.5G",
    "900T",
    "16777215T",
    "8E",
    "1TT",
    "0.0001K",
    "0-1",
    "1-0",
    "0-1023",
    "0-4294967295",
    "0,2-3,",
    "auto",
    "4k",
    "64k",
    "base",
    "thp",
    "1g",
    "random",
    "page-local",
    "grouped",
    "pointer",
    "json",
    "svg",
    "always",
    "never",
];

/// Makes a command line: possible first words, options with and without values, and arbitrary words.
fn lines() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let names: Vec<&'static str> = DESCRIPTORS.iter().map(|descriptor| descriptor.name).collect();
    let flags: Vec<&'static str> = FLAGS.iter().map(|flag| flag.name).collect();
    let option = (select(flags), select(&VALUES[..]), any::<bool>());
    let text = |words: String| words.into_bytes();
    let one = prop_oneof![
        6 => option.clone().prop_map(move |(flag, value, _)| text(std::format!("--{flag}={value}"))),
        2 => option.prop_map(move |(flag, value, dashes)| text(if dashes { std::format!("--{flag}") } else { value.into() })),
        2 => select(names.clone()).prop_map(move |name| text(name.into())),
        1 => select(&["help", "version", "-h", "-q", "-v", "-o", "--", "-", "--json", "--csv", "--dry-run"][..])
            .prop_map(move |word| text(word.into())),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    let rest = prop::collection::vec((one, prop_oneof![4 => Just(Vec::new()), 1 => mutations()]), 0..6);
    (prop::option::of(select(names)), rest).prop_map(|(name, rest): (_, Vec<(Vec<u8>, Vec<Mutation>)>)| {
        let rest = rest.into_iter().map(|(word, mutations)| applied(&word, &mutations));
        name.map(|name| name.as_bytes().to_vec()).into_iter().chain(rest).collect()
    })
}

/// Checks the rules for options that were accepted.
fn legal(options: &Options) -> TestCaseResult {
    let positive = |value: f64| value.is_finite() && value >= 0.0;
    prop_assert!(options.precision.is_finite() && options.precision > 0.0);
    prop_assert!(positive(options.threshold) && positive(options.spread_ns()));
    prop_assert!(
        options.size.is_none_or(|size| size.0 > 0) && options.stride.is_none_or(|stride| stride.0 > 0)
    );
    for set in [options.cpunode, options.memnode].into_iter().flatten() {
        prop_assert!(!set.is_empty());
    }
    Ok(())
}

#[test]
fn command_lines() {
    let machines = ["one-node", "cxl-memory", "cpu-only-node"].map(|name| machine(name, None));
    let strategy = (lines(), 0..machines.len());
    check("arguments", 2500, &strategy, |(words, which)| {
        let words = || words.iter().map(|word| leaked(word));
        let first = options::parse(words(), &DESCRIPTORS, &FORMATS);
        match (first, options::parse(words(), &DESCRIPTORS, &FORMATS)) {
            (Ok(options), Ok(again)) => {
                prop_assert_eq!(options.given, again.given);
                prop_assert_eq!(options.experiment.index, again.experiment.index);
                legal(&options)?;
                if options.experiment.index < EXPERIMENTS.len() && options.help.is_none() {
                    planned(&options, &machines[which])?;
                }
            }
            (Err(one), Err(other)) => {
                let message = one.to_string();
                prop_assert_eq!(&message, &other.to_string());
                prop_assert_eq!(steers(&message), None);
                // The message does not repeat a long word as a whole.
                prop_assert!(!message.is_empty() && message.len() < 2000, "{} bytes", message.len());
            }
            _ => prop_assert!(false, "once accepted, once refused"),
        }
        Ok(())
    });
}

/// Checks that a plan has finite and few points, or is refused with a message.
pub fn planned(options: &Options, machine: &latency_engine::machine::Machine) -> TestCaseResult {
    match planned_with(machine, options) {
        Ok((points, budget, _)) => {
            prop_assert!(points.len() <= 1 << 16, "{} points", points.len());
            prop_assert!(points.iter().all(|point| point.size.0 > 0), "{points:?}");
            let takes = crate::plan::duration::estimate(machine, &points, &budget);
            prop_assert!(takes.0 >= 0.0 && takes.0 <= takes.1 && takes.1.is_finite(), "{takes:?}");
        }
        Err(message) => prop_assert!(!message.is_empty() && steers(&message).is_none(), "{message:?}"),
    }
    Ok(())
}

/// Returns the words after `--`, by a simple implementation of the rule.
fn expected(text: &[u8]) -> Vec<Vec<u8>> {
    let mut words: Vec<Vec<u8>> = Vec::new();
    let (mut word, mut quoted) = (None::<Vec<u8>>, false);
    for &byte in text.iter().chain(b"\n") {
        match byte {
            b'"' => {
                quoted = !quoted;
                word.get_or_insert_default();
            }
            b' ' | b'\t' if quoted => word.get_or_insert_default().push(byte),
            b' ' | b'\t' | b'\n' => words.extend(word.take()),
            byte => word.get_or_insert_default().push(byte),
        }
    }
    let dashes = words.iter().position(|word| word == b"--");
    dashes.map_or(Vec::new(), |at| words.split_off(at + 1))
}

#[test]
fn the_kernels_command_line() {
    let seed =
        b"console=ttyS0 quiet root=\"a b\" panic=-1 -- matrix --size=64M --output=\"a b\" \"\" --json\n";
    const PARTS: [&[u8]; 10] = [b"-- ", b"\"", b" ", b"\t", b"\n", b"a", b"--", b"--seed=1", b"\xff", b"="];
    let part = select(&PARTS[..]);
    let strategy = (mutations(), prop::collection::vec(part, 0..40), any::<bool>());
    check("kernel command line", 4000, &strategy, |(mutations, parts, damaged)| {
        let text = if damaged { applied(seed, &mutations) } else { parts.concat() };
        // The kernel's text has no NUL; it would end a word.
        let text: Vec<u8> = text.into_iter().filter(|byte| *byte != 0).collect();
        let mut packed = text.clone();
        let length = pack_arguments(&mut packed);
        let words: Vec<&[u8]> = packed[..length].split_inclusive(|byte| *byte == 0).collect();
        prop_assert!(words.iter().all(|word| word.ends_with(b"\0")));
        let words: Vec<&[u8]> = words.iter().map(|word| &word[..word.len() - 1]).collect();
        prop_assert_eq!(&words, &expected(&text));
        let _ = options::parse(words.into_iter().map(leaked), &DESCRIPTORS, &FORMATS);
        Ok(())
    });
}
