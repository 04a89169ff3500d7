//! Pairs of results whose difference has a known cause: `compare` names it, or nothing where no rule fits, and nothing
//! where only the seed differs. `fleet` names it for one of several hosts, or nothing.
//!
//! The cause is a parameter of the lab, so that no document is edited. A missing name may be the host's effect, and some
//! are allowed; a wrong name is not.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::{fs, thread};

use latency_tests::lab::load::Loaded;
use latency_tests::lab::{Boot, Model, architecture, ready};
use latency_tests::program::workspace;
use latency_tests::run::run;
use serde_json::Value;

/// The experiments in which a cause is a parameter, each with the parameters that do not change.
const CURVE: &str = "experiment=curve max-size=512K trials=9 warmup-iters=8K";
const MATRIX: &str = "nodes=2 kernel=index";
const ORDER: &str = "experiment=order latency=0:0:3000 level=32K:8:1000 size=4M iters=500 trials=210";
const PAGES: &str = "experiment=pages level=32K:8:2000 size=4M pool=8M trials=20 warmup-iters=2K";
const SINGLE: &str = "experiment=distribution latency=0:0:40000 trials=15 pages=2m";
const RATE: &str = "cpus=2 memory=128M level=4K:8:300 latency=0:0:4000 outstanding=2048";

/// The machines: a name, the parameters that do not change, and those that do.
const MACHINES: [(&str, &str, &str); 28] = [
    ("curve", CURVE, "level=8K:8:1000 level=32K:8:2000 level=128K:16:3500 latency=0:0:7000"),
    ("curve-clock", CURVE, "level=8K:8:1250 level=32K:8:2500 level=128K:16:4375 latency=0:0:8750 cycle=5"),
    ("curve-core", CURVE, "level=8K:8:1250 level=32K:8:2500 level=128K:16:3500 latency=0:0:7000 cycle=5"),
    ("curve-memory", CURVE, "level=8K:8:1000 level=32K:8:2000 level=128K:16:3500 latency=0:0:9100"),
    ("curve-memory-less", CURVE, "level=8K:8:1000 level=32K:8:2000 level=128K:16:3500 latency=0:0:8400"),
    ("curve-l2", CURVE, "level=8K:8:1000 level=32K:8:2600 level=128K:16:3500 latency=0:0:7000"),
    ("curve-uncore", CURVE, "level=8K:8:1000 level=32K:8:2000 level=128K:16:4550 latency=0:0:9100"),
    ("curve-all", CURVE, "level=8K:8:1250 level=32K:8:2500 level=128K:16:4375 latency=0:0:8750"),
    ("matrix", MATRIX, "latency=0:0:7000,0:1:13000,1:0:13000,1:1:7000"),
    ("matrix-remote", MATRIX, "latency=0:0:7000,0:1:18000,1:0:18000,1:1:7000"),
    ("matrix-near", MATRIX, "latency=0:0:7000,0:1:10500,1:0:10500,1:1:7000"),
    ("matrix-remote-less", MATRIX, "latency=0:0:7000,0:1:14800,1:0:14800,1:1:7000"),
    ("matrix-node", MATRIX, "latency=0:0:7000,0:1:18000,1:0:13000,1:1:9500"),
    ("matrix-all", MATRIX, "latency=0:0:9100,0:1:16900,1:0:16900,1:1:9100"),
    ("nodes", "", "cpus=2 memory=512M latency=0:0:7000"),
    ("nodes-two", "", "nodes=2 cpus=1 memory=256M latency=0:0:7000,0:1:9000,1:0:9000,1:1:7000"),
    ("nodes-more", "", "cpus=2 memory=512M memory-only=1 latency=0:0:7000,0:1:20000"),
    ("order", ORDER, "prefetch=8"),
    ("order-alone", ORDER, ""),
    ("pages", PAGES, "latency=0:0:6000 tlb=64:3000:4k tlb=64:3000:2m"),
    ("pages-walks", PAGES, "latency=0:0:6000 tlb=64:6000:4k tlb=64:6000:2m"),
    ("pages-small", PAGES, "latency=0:0:6000 tlb=64:6000:4k tlb=64:3000:2m"),
    ("pages-data", PAGES, "latency=0:0:9000 tlb=64:3000:4k tlb=64:3000:2m"),
    ("single", SINGLE, "tail=50:30000"),
    ("single-tail", SINGLE, "tail=50:30000 tail=110:200000"),
    ("single-all", SINGLE, "tail=2:30000"),
    ("rate", RATE, "server=0:8000"),
    ("rate-lower", RATE, "server=0:13000"),
];

/// Pairs of machines, and the cause; empty if there is no rule for it.
const PAIRS: [(&str, &str, &str); 26] = [
    ("curve", "curve-clock", "core-clock"),
    ("curve-clock", "curve", "core-clock"),
    ("curve", "curve-core", "core-clock"),
    ("curve", "curve-memory", "memory"),
    ("curve-memory", "curve", "memory"),
    ("curve", "curve-memory-less", "memory"),
    ("matrix", "matrix-remote", "remote"),
    ("matrix", "matrix-remote-less", "remote"),
    ("matrix-remote", "matrix", "remote"),
    ("matrix", "matrix-near", "remote"),
    ("nodes", "nodes-two", "node-count"),
    ("nodes-two", "nodes", "node-count"),
    ("order", "order-alone", "prefetchers"),
    ("order-alone", "order", "prefetchers"),
    ("pages", "pages-walks", "translation"),
    ("pages", "pages-small", "small-pages"),
    ("pages-walks", "pages-small", ""),
    ("single", "single-tail", "tail"),
    ("curve", "curve-l2", ""),
    ("curve", "curve-uncore", ""),
    ("curve", "curve-all", ""),
    ("matrix", "matrix-node", ""),
    ("matrix", "matrix-all", ""),
    ("nodes", "nodes-more", ""),
    ("single", "single-all", ""),
    ("rate", "rate-lower", ""),
];

/// The machines that are measured three times, which makes three pairs without a cause each.
const AGAIN: [&str; 7] = ["curve", "matrix", "nodes-two", "order", "pages", "single", "rate"];
/// Numbers of the measurements of one of these machines.
const TIMES: [u64; 3] = [1, 2, 3];
/// Least number of the odd hosts whose cause `fleet` names.
const ODD_NAMED: usize = 4;
/// Number of pairs with a cause that may stay without a name.
const MISSING: usize = 2;

/// Returns the folder of the documents, which stay there so that a wrong name can be examined.
fn folder() -> PathBuf {
    let folder = workspace().join("target/lab-causes");
    fs::create_dir_all(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    folder
}

/// Measures a machine, and returns the file with the result.
fn measured(name: &str, line: &str, time: u64) -> Result<PathBuf, String> {
    let seed = 40 + time;
    let result = if line.contains("server=") {
        let model: Model = line.parse()?;
        let model = Model { architecture: architecture(), ..model };
        let options =
            format!("bandwidth --json --progress=never --size=2M --pages=4k --budget=4 --seed={seed}");
        Loaded::boot(&model, [options.as_str()])?.consoles[0].json()
    } else {
        let model: Model = format!("{line} seed={seed}").parse()?;
        let model = Model { architecture: architecture(), ..model };
        let boot = Boot::new(&model)?;
        boot.console.json()
    };
    let result = result.ok_or_else(|| format!("{name}: no result"))?;
    let path = folder().join(format!("{name}-{time}.json"));
    fs::write(&path, result.to_string()).map_err(|error| format!("{}: {error}", path.display()))?;
    Ok(path)
}

/// Measures all machines, two at a time.
fn documents() -> BTreeMap<(&'static str, u64), PathBuf> {
    let mut waiting: Vec<(&str, String, u64)> = Vec::new();
    let mut made = BTreeMap::new();
    let chosen = std::env::var("LATENCY_LAB_CAUSES").ok();
    for (name, same, own) in MACHINES {
        for time in if AGAIN.contains(&name) { &TIMES[..] } else { &TIMES[..1] } {
            let file = format!("{name}-{time}");
            match &chosen {
                Some(chosen) if chosen.split(',').all(|one| one != file) => {
                    made.insert((name, *time), folder().join(file + ".json"));
                }
                _ => waiting.push((name, format!("{same} {own}"), *time)),
            }
        }
    }
    let (waiting, made) = (Mutex::new(waiting), Mutex::new(made));
    let work = || {
        loop {
            let next = waiting.lock().unwrap().pop();
            let Some((name, line, time)) = next else { return };
            // A machine without a result is missing in the end, and the others are measured first.
            match measured(name, &line, time) {
                Ok(path) => drop(made.lock().unwrap().insert((name, time), path)),
                Err(reason) => println!("{name} {time}: {reason}"),
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
    made.into_inner().unwrap()
}

/// Returns the name that `compare` gives to the cause of a difference; empty if it names none.
fn named(one: &Path, other: &Path) -> String {
    let run =
        run(&["compare".as_ref(), one.as_os_str(), other.as_os_str(), "--json".as_ref(), "--force".as_ref()]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
    document["likely_cause"]["name"].as_str().unwrap_or_default().to_owned()
}

/// Returns the name that `fleet` gives to the cause of the difference of a host from others that have the same machine
/// measured several times; empty if it names none.
fn named_of_host(usual: [&PathBuf; TIMES.len()], odd: &Path) -> String {
    let result = |path: &Path, host: &str| {
        let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let mut document: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}"));
        document["host"]["name"] = host.into();
        document["host"]["boot_id"] = host.into();
        document.to_string() + "\n"
    };
    let hosts = usual.iter().chain(&usual).enumerate();
    let mut all: String = hosts.map(|(host, path)| result(path, &format!("h{host}"))).collect();
    all += &result(odd, "odd");
    let path = folder().join("hosts.jsonl");
    fs::write(&path, all).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let run = run(&["fleet".as_ref(), path.as_os_str(), "--json".as_ref()]);
    let document: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"));
    let causes = document["likely_causes"].as_array().unwrap_or_else(|| panic!("{run}"));
    match causes.as_slice() {
        [] => String::new(),
        [cause] if cause["host"] == "odd" => cause["name"].as_str().unwrap_or_default().to_owned(),
        _ => format!("{causes:?}"),
    }
}

#[test]
fn causes_are_named_by_their_signature() {
    const TEST: &str = "causes of differences";
    if !ready(TEST) {
        return;
    }
    let made = documents();
    let (mut wrong, mut missing, mut table) = (0, 0, String::new());
    let mut judge = |one: (&'static str, u64), other: (&'static str, u64), cause: &str| {
        let found = named(&made[&one], &made[&other]);
        let mark = match found.as_str() {
            found if found == cause => "",
            "" => "  MISSING",
            _ => "  WRONG",
        };
        wrong += usize::from(mark.contains("WRONG"));
        missing += usize::from(mark.contains("MISSING"));
        table +=
            &format!("  {} {} -> {} {}: {found:?}, cause {cause:?}{mark}\n", one.0, one.1, other.0, other.1);
    };
    for (one, other, cause) in PAIRS {
        judge((one, 1), (other, 1), cause);
    }
    for name in AGAIN {
        for (one, other) in [(1, 2), (2, 3), (3, 1)] {
            judge((name, one), (name, other), "");
        }
    }
    let mut odd_named = 0;
    for (one, other, cause) in PAIRS.into_iter().filter(|(one, ..)| AGAIN.contains(one)) {
        let found = named_of_host(TIMES.map(|time| &made[&(one, time)]), &made[&(other, 1)]);
        let is_wrong = !found.is_empty() && found != cause;
        wrong += usize::from(is_wrong);
        odd_named += usize::from(!found.is_empty() && !is_wrong);
        let mark = if is_wrong { "  WRONG" } else { "" };
        table += &format!("  fleet of {one}, odd host {other}: {found:?}, cause {cause:?}{mark}\n");
    }
    println!("\n{TEST}\n{table}");
    assert!(odd_named >= ODD_NAMED, "{odd_named} odd hosts named\n{table}");
    assert!(wrong == 0 && missing <= MISSING, "{wrong} wrong, {missing} missing\n{table}");
}
