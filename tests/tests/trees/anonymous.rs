//! `--anonymous` on a host with a made-up name: nothing that identifies it is in any format.

use super::body::{MATRIX, Root, SYSTEM, place};
use super::tree::Tree;
use latency_tests::run::Run;

const SECRET: &str = "made-up-name";
/// Files of the kernel that identify the host.
const FILES: [&str; 6] = [
    "/proc/sys/kernel/hostname",
    "/proc/sys/kernel/random/boot_id",
    "/etc/machine-id",
    "/sys/class/dmi/id/product_serial",
    "/sys/class/dmi/id/product_uuid",
    "/sys/class/dmi/id/chassis_asset_tag",
];
const FORMATS: [&str; 10] =
    ["text", "json", "jsonl", "csv", "md", "svg", "html", "prometheus", "hwloc", "tap"];

fn run(root: &Root, arguments: &[&str]) -> Result<Run, String> {
    let run = root.run(arguments)?;
    if run.status.code() == Some(0) && !run.stdout.is_empty() { Ok(run) } else { Err(run.to_string()) }
}

fn check(root: &Root) -> Result<(), String> {
    for arguments in [MATRIX, SYSTEM] {
        // Otherwise the search below would find nothing in any case.
        let named = run(root, arguments)?;
        if named.stdout.matches(SECRET).count() < 2 {
            return Err(format!("a result without its host: {named}"));
        }
    }
    // The first argument of both is `--json`, or the name of the experiment.
    let [matrix, system] = [&MATRIX[1..], &["system"][..]];
    for (format, arguments) in
        FORMATS.iter().map(|format| (*format, matrix)).chain([("text", system), ("json", system)])
    {
        let format = format!("--format={format}");
        let files = format!("--save=/{SECRET}.json");
        let more = ["--anonymous", "--verbose", &format, "-o-", &files];
        let found = run(root, &[arguments, &more].concat())?;
        let saved = root.text(&format!("{SECRET}.json"));
        if [&found.stdout, &found.stderr, &saved].iter().any(|text| text.contains(SECRET)) || saved.is_empty()
        {
            return Err(format!("the host is named: {found}\n{saved}"));
        }
    }
    Ok(())
}

#[test]
fn an_anonymous_result_does_not_identify_its_host() {
    let Some(place) = place("trees::an_anonymous_result") else { return };
    let mut tree = Tree::of("one-node");
    for path in FILES {
        tree.file(path, format!("{SECRET}\n"));
    }
    check(&Root::new(&place, &tree)).unwrap_or_else(|reason| panic!("{reason}"));
}
