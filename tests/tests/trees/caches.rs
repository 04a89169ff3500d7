//! Impossible cache sizes: the tool ignores and reports them wherever it uses sizes of caches.

use super::body::{Root, place};
use super::tree::Tree;
use latency_tests::document::{array, number, warnings};
use latency_tests::everywhere::everywhere;
use serde_json::Value;

/// The plan of every experiment that depends on sizes of caches.
const PLANS: [&[&str]; 8] = [
    &["curve", "--dry-run", "--json"],
    &["matrix", "--dry-run", "--json"],
    &["order", "--dry-run", "--json"],
    &["variants", "--dry-run", "--json"],
    &["pages", "--dry-run", "--json"],
    &["parallel", "--dry-run", "--json"],
    &["window", "--dry-run", "--json"],
    &["distribution", "--dry-run", "--json"],
];
/// A curve of a fifth of a second, from the reported caches up to 256 KiB.
const CURVE: &[&str] =
    &["curve", "--json", "--max-size=256K", "--points-per-octave=1", "--trials=1", "--iters=500"];

/// Sizes that are impossible or malformed.
const SIZES: [&str; 15] = [
    "4",
    "1K",
    "3K",
    "0",
    "0K",
    "-1",
    "16384G",
    "16T",
    "17179869184K",
    "18446744073709551615",
    "18446744073709551616K",
    "99999999999999999999999999",
    "K",
    "lots",
    // A first-level cache beyond the --max-size of the curve.
    "4096K",
];
/// The number of sizes in the list that are well-formed but impossible.
const ABSURD: usize = 3;

/// Makes a machine whose data caches all have the reported size `size`.
fn with(size: &str) -> Tree {
    let mut tree = Tree::of("one-node");
    for index in 0..4 {
        tree.file(&format!("/sys/devices/system/cpu/cpu0/cache/index{index}/size"), size);
    }
    tree
}

/// Checks that the sizes of a plan make sense: no smaller than a line, no larger than the free memory, and
/// ascending in a curve.
fn check_plan(document: &Value) -> Result<(), String> {
    let sizes: Vec<u64> =
        array(document, "/rows").iter().map(|point| number(point, "/working_set_bytes")).collect();
    match sizes.iter().all(|size| (64..=64 << 30).contains(size)) && !sizes.is_empty() {
        true => Ok(()),
        false => Err(format!("{sizes:?} in {document:#}")),
    }
}

#[test]
fn absurd_sizes_are_ignored_and_reported() {
    let Some(place) = place("trees::absurd_sizes") else { return };
    everywhere(&SIZES, |size| {
        let root = Root::new(&place, &with(size));
        let named = |reason: String| format!("{size}: {reason}");
        for arguments in PLANS.into_iter().chain([CURVE]) {
            let run = root.run(arguments).map_err(named)?;
            if run.status.code() != Some(0) {
                return Err(named(run.to_string()));
            }
            let document: Value = serde_json::from_str(&run.stdout).map_err(|error| error.to_string())?;

            if arguments == CURVE {
                let absurd = SIZES.iter().take(ABSURD).any(|absurd| absurd == size);
                let said = warnings(&document).contains(&"cache-size-implausible");
                if absurd && !said {
                    return Err(named(format!("not a word: {run}")));
                }
            } else {
                check_plan(&document).map_err(named)?;
            }
        }
        Ok(())
    });
}
