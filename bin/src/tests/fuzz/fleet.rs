//! Damaged results of many hosts: each line is used or reported, and no name contains terminal control sequences.

use std::fs;
use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::select;

use super::driver::{check, steers};
use super::mutation::{applied, mutations};
use crate::commands::fleet_tests::{Files, written};

/// Returns documents of some experiments, each on one line.
fn lines() -> Vec<u8> {
    let names =
        ["matrix-two-nodes", "cores-list", "bandwidth-in-cache", "loaded-one-rate", "system", "fit-foreign"];
    let mut lines = Vec::new();
    for name in names {
        let text = fs::read_to_string(std::format!("../tests/golden/{name}.json")).unwrap();
        for _ in 0..5 {
            lines.extend(text.split('\n').flat_map(str::bytes));
            lines.push(b'\n');
        }
        // Each text also occurs once unchanged.
        lines.extend(text.bytes());
    }
    lines
}

#[test]
fn damaged_results_of_many_hosts() {
    let lines = lines();
    let formats = select(&["text", "json", "jsonl", "csv", "md", "prometheus", "tap"][..]);
    let strategy = (mutations(), any::<prop::sample::Index>(), formats, any::<bool>());
    check("fleet", 300, &strategy, |(damage, start, format, force)| {
        // Only a part of the lines is damaged, so that the damage often hits content that is read.
        let start = start.index(lines.len());
        let part = lines.get(start..lines.len().min(start + 40_000)).unwrap_or_default();
        let mut files = Files::default();
        let path = files.add(&applied(part, &damage));
        let format: String = std::format!("--format={format}");
        let arguments = [path.as_str(), &format, "--verbose", "--force"];
        let (shown, failure) = written(arguments.get(..3 + usize::from(force)).unwrap_or_default());
        prop_assert!(matches!(failure, None | Some((1 | 5 | 6, _))), "{failure:?}");
        if let Some(why) = steers(&shown) {
            prop_assert!(false, "{why}");
        }
        Ok(())
    });
}
