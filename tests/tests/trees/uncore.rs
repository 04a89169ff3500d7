//! The clock of the uncore, read from Linux's files of machines that are not available: reported at every level of
//! load, or at none.

use super::body::{Root, checked, place};
use super::tree::{Entry, Tree};
use latency_tests::confine::{Confine, allowed_cpus};
use latency_tests::document::array;
use latency_tests::everywhere::everywhere;
use latency_tests::skip::skip;
use serde_json::Value;

/// Idle, a rate and the limit, and a constant load, in caches.
const LOADED: &[&str] = &[
    "loaded",
    "--json",
    "--size=64K",
    "--traffic=read",
    "--rates=0.1,max",
    "--budget=3",
    "--time-limit=0.1",
];
const HELD: &[&str] =
    &["loaded", "--json", "--size=64K", "--traffic=read", "--rates=0.1", "--hold=1", "--time-limit=0.1"];
/// Maximum memory in bytes for a chain that is larger than every cache of the tree, and for generators.
const MOST_MEMORY: u64 = 1 << 30;
const CLOCKS: &str = "/sys/devices/system/cpu/intel_uncore_frequency";

/// A case: the files below that directory, true if only root may read them and another user runs the tool, and the
/// expected clock.
type Told = (&'static [(&'static str, &'static str)], bool, Option<f64>);

const TOLD: [Told; 4] = [
    (&[("package_00_die_00/current_freq_khz", "2400000\n")], false, Some(2.4)),
    (
        &[
            ("package_00_die_00/max_freq_khz", "2500000\n"),
            ("uncore00/package_id", "0\n"),
            ("uncore00/agent_types", "core cache memory\n"),
            ("uncore00/current_freq_khz", "1800000\n"),
            ("uncore01/package_id", "0\n"),
            ("uncore01/agent_types", "io\n"),
            ("uncore01/current_freq_khz", "800000\n"),
        ],
        false,
        Some(1.8),
    ),
    (&[("package_00_die_00/current_freq_khz", "2400000\n")], true, None),
    (&[("package_00_die_00/current_freq_khz", "99999999999999999999\n")], false, None),
];

fn check(root: &Root, nobody: bool, clock: Option<f64>) -> Result<(), String> {
    let run = |arguments| {
        let mut command = root.command_within(arguments, MOST_MEMORY);
        command.with_priority();
        if nobody {
            command.as_nobody();
        }
        let run = checked(&mut command)?;
        match run.status.code() {
            Some(0) => Ok(run),
            _ => Err(run.to_string()),
        }
    };
    let told = |document: &Value| {
        let points = array(document, "/rows");
        // Where this process has no priority, other programs may leave a load no CPU time.
        let left_out = |point: &Value| point["not_measured"] == "the load had no CPU time";
        points.len() > 1
            && points.iter().any(|point| !left_out(point))
            && points.iter().all(|point| left_out(point) || point["uncore_ghz"].as_f64() == clock)
    };
    for (arguments, columns) in [(LOADED, None), (HELD, Some(4 + usize::from(clock.is_some())))] {
        let run = run(arguments)?;
        let document: Value = serde_json::from_str(&run.stdout).map_err(|error| error.to_string())?;
        let mut lines = run.stderr.lines().skip_while(|line| !line.starts_with("time"));
        let found = lines.nth(1).map(|line| line.split_whitespace().count());
        if !told(&document) || found != columns {
            return Err(format!("expected {clock:?} and {columns:?} columns: {run}"));
        }
    }
    Ok(())
}

#[test]
fn the_clock_of_the_uncore_is_reported_at_every_level_or_none() {
    let test = "trees::the_clock_of_the_uncore";
    let Some(place) = place(test) else { return };
    if !allowed_cpus().starts_with(&[0, 1]) {
        return skip(test, "it takes the two CPUs of the tree");
    }
    everywhere(&TOLD, |(files, nobody, clock)| {
        let mut tree = Tree::of("one-node");
        for (path, content) in *files {
            let content = content.as_bytes().to_vec();
            let entry = if *nobody { Entry::Secret(content) } else { Entry::File(content) };
            tree.put(&format!("{CLOCKS}/{path}"), entry);
        }
        check(&Root::new(&place, &tree), *nobody, *clock).map_err(|reason| format!("{files:?}: {reason}"))
    });
}
