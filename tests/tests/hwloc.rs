//! The scripts for hwloc: hwloc runs them on made-up topologies, and the tests read the attributes back.

use latency_tests::directory::Directory;
use latency_tests::packages::Tree;
use latency_tests::program::workspace;
use latency_tests::run::run;
use latency_tests::skip::skip;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns hwloc; without it, skips the test.
fn hwloc(test: &str) -> Option<Tree> {
    Tree::with("lstopo", &["hwloc-nox", "libhwloc15"]).map_err(|reason| skip(test, &reason)).ok()
}

/// Returns the output of a command, which has to succeed.
fn said(command: &mut Command) -> String {
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the output of `lstopo --memattrs` after running a script on a topology.
fn read_back(hwloc: &Tree, directory: &Path, script: &Path, topology: &str) -> String {
    let (input, output) = (directory.join("in.xml"), directory.join("out.xml"));
    said(hwloc.command("lstopo").args(["-f", "--of", "xml", "-i", topology]).arg(&input));
    let path = std::env::var("PATH").unwrap_or_default();
    let path = format!("{}:{path}", hwloc.root().join("usr/bin").display());
    said(hwloc.command("sh").arg(script).arg(&output).arg(&input).env("PATH", path))
}

/// Returns the lines below the heading of an attribute.
fn values<'a>(text: &'a str, attribute: &str) -> Vec<&'a str> {
    let heading = format!("`{attribute}'");
    let lines = text.lines().skip_while(|line| !line.contains(&heading)).skip(1);
    lines.take_while(|line| line.starts_with("  ")).map(str::trim).collect()
}

#[test]
fn nodes_are_found_by_their_kernel_numbers() {
    let Some(hwloc) = hwloc("nodes_are_found_by_their_kernel_numbers") else { return };
    let directory = Directory::new("hwloc-gap");
    let script = workspace().join("tests/golden/matrix-hwloc.sh");
    let text = read_back(&hwloc, directory.path(), &script, "numa:3(indexes=0,1,4) core:2 pu:1");
    let found = values(&text, "ReadLatency");
    // Node 4 of the kernel is the third of hwloc.
    for line in [
        "L#0 = 98 from cpuset 0x00000003",
        "L#2 = 119 from cpuset 0x00000003",
        "L#2 = 169 from cpuset 0x0000000c",
    ] {
        assert!(found.iter().any(|known| known.contains(line)), "{line}: {found:?}");
    }
    assert_eq!(found.len(), 6, "{found:?}");
}

#[test]
fn bandwidths_are_in_mebibytes() {
    let Some(hwloc) = hwloc("bandwidths_are_in_mebibytes") else { return };
    let directory = Directory::new("hwloc-bandwidth");
    let script = workspace().join("tests/golden/bandwidth-hwloc.sh");
    let text = read_back(&hwloc, directory.path(), &script, "numa:2 core:2 pu:1");
    let found = values(&text, "ReadBandwidth");
    assert!(found.iter().any(|line| line.contains("L#1 = 108630 from cpuset 0x0000000c")), "{found:?}");
    assert_eq!((found.len(), values(&text, "WriteBandwidth").len()), (4, 4), "{text}");
}

#[test]
fn a_measurement_reaches_hwloc() {
    let Some(hwloc) = hwloc("a_measurement_reaches_hwloc") else { return };
    let directory = Directory::new("hwloc-real");
    let run =
        run(&["--cpunode=0", "--memnode=0", "--format=hwloc", "--size=4M", "--trials=3", "--iters=2000"]);
    let run = run.expect_status(0);
    let line = run.stdout.lines().find(|line| line.starts_with("attribute ")).expect("an attribute");
    let value = line.rsplit(' ').next().expect("a value").to_string();
    let script = directory.path().join("measured.sh");
    fs::write(&script, &run.stdout).expect("a file");
    let text = read_back(&hwloc, directory.path(), &script, "numa:1 core:2 pu:1");
    let found = values(&text, "ReadLatency");
    assert!(found.iter().any(|found| found.contains(&format!("L#0 = {value} from"))), "{line}: {found:?}");
}
