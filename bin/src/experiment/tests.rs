//! Plans for whole machines, from the same fixtures as the tests of the topology.

use std::borrow::ToOwned;
use std::boxed::Box;
use std::collections::BTreeMap;
use std::format;
use std::path::Path;
use std::string::{String, ToString};
use std::vec::Vec;

use latency_core::arch::Atomics;
use latency_core::host::{Host, Uncore};
use latency_core::topology::{Files, Node, Sharing, Topology};

use latency_core::{Bytes, CpuId, CpuSet, LineSize, NodeId, NodeSet, PageSize};

use crate::catalogue::{DESCRIPTORS, EXPERIMENTS};
use crate::error::Failure;
use crate::experiment::run_experiment;
use crate::options::{self, FlagSet, Options};
use crate::plan::{Plan, Planning, Scope, duration, matrix, working_set};
use latency_engine::budget::Budget;
use latency_engine::machine::detect::{dimms, line, sharing};
use latency_engine::machine::processor::{identify, small_cores};
use latency_engine::machine::{Machine, Platform};
use latency_engine::placement::node_of;
use latency_engine::result::Point;
use latency_engine::tests::leaked;
use latency_engine::tests::plain::assert_plain;
use latency_engine::warning::{Warning, Warnings};
use latency_report::FORMATS;

pub(crate) struct Fixture(BTreeMap<String, String>);

impl Files for Fixture {
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let content = self.0.get(path)?.as_bytes();
        let length = content.len().min(buffer.len());
        buffer[..length].copy_from_slice(&content[..length]);
        Some(&buffer[..length])
    }
}

/// Returns the files of a fixture as text.
pub(crate) fn fixture(name: &str) -> String {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/machines");
    std::fs::read_to_string(directory.join(name).with_extension("txt")).unwrap()
}

/// Returns the machine of a fixture, with all of its CPUs or those of a list.
pub(crate) fn machine(name: &str, cpus: Option<&str>) -> Box<Machine> {
    machine_of(&fixture(name), cpus)
}

pub(crate) fn machine_of(text: &str, cpus: Option<&str>) -> Box<Machine> {
    surveyed(&files_of(text), cpus)
}

pub(crate) fn files_of(text: &str) -> Fixture {
    let files = text.split("=== ").skip(1).filter_map(|part| part.split_once('\n'));
    Fixture(files.map(|(path, content)| (path.to_owned(), content.to_owned())).collect())
}

/// Returns the clock of the uncore of a fixture's node in gigahertz.
pub(crate) fn uncore_gigahertz(name: &str, node: &Node) -> Option<f64> {
    let files = files_of(&fixture(name));
    Uncore::find(&files, &node.cpus)?.gigahertz(&files)
}

/// Returns the base page of a machine, which a fixture with other pages than 4 KiB has in a file of its process.
fn base_page(files: &impl Files) -> PageSize {
    let mut buffer = [0; 256];
    let smaps = files.read("/proc/self/smaps", &mut buffer).unwrap_or_default();
    let smaps = std::str::from_utf8(smaps).unwrap_or_default();
    let kilobytes =
        |line: &str| line.strip_prefix("KernelPageSize:")?.strip_suffix(" kB")?.trim().parse().ok();
    let size = smaps.lines().find_map(kilobytes).and_then(|size| PageSize::of(Bytes::KIB.times(size)));
    size.unwrap_or(PageSize::KIB_4)
}

/// Returns the machine that the given files describe.
pub(crate) fn surveyed(files: &impl Files, cpus: Option<&str>) -> Box<Machine> {
    let mut processor = identify(files, CpuId(0));
    processor.caches = [None; 4];
    // Guests have other packages, and this machine may be one.
    processor.platform = Platform::Hardware;
    let mut machine = Box::new(Machine {
        topology: Topology::EMPTY,
        host: Host::default(),
        page: base_page(files),
        line: LineSize::LEAST,
        processor,
        atomics: Atomics::BASELINE,
        nodes: NodeSet::EMPTY,
        cpus: CpuSet::EMPTY,
        memory_nodes: NodeSet::EMPTY,
        bound_to: None,
        policy_allowed: true,
        has_numa: true,
        has_proc: true,
        sharing: Sharing::EMPTY,
        dimms: None,
        sizing: None,
        instead: &[],
        isolated: CpuSet::EMPTY,
        small: None,
    });
    let everything = || (0..CpuSet::CAPACITY).collect();
    let online = latency_core::topology::files::set(files, format_args!("/sys/devices/system/cpu/online"));
    machine.topology.read(files, &online.unwrap_or_else(everything));
    machine.host.read(files, CpuId(0));
    machine.dimms = dimms(files, &machine.topology);
    machine.line = line(&machine.host);
    machine.nodes = machine.topology.ids();
    let given = cpus.map(|list| CpuSet::parse_list(list.as_bytes()).unwrap());
    machine.cpus = given.unwrap_or(machine.topology.online_cpus);
    machine.small = small_cores(files, &machine.topology.online_cpus);
    sharing(&mut machine, files).unwrap();
    let allowed = machine.host.process.mems_allowed;
    machine.memory_nodes = if allowed.is_empty() { machine.nodes } else { allowed };
    machine
}

pub(crate) fn options(line: &str) -> Options {
    options::parse(line.split_whitespace().map(|word| leaked(word.as_bytes())), &DESCRIPTORS, &FORMATS)
        .unwrap()
}

/// Returns the pairs of a plan as `from>to@cpu`, or the message of its refusal and the exit code.
pub(crate) fn pairs(machine: &Machine, line: &str) -> Result<String, (String, u8)> {
    let options = options(line);
    let mut warnings = Warnings::empty();
    let mut pairs = Vec::new();
    let refused = |failure: Failure| (failure.to_string(), failure.exit_code());
    let mut planning =
        Planning { options: &options, machine: &leaked(&[*machine])[0], warnings: &mut warnings };
    let scope = Scope::resolve(&mut planning).map_err(refused)?;
    for point in matrix(&mut planning, &scope).map_err(refused)? {
        pairs.push(format!("{}>{}@{}", point.initiator, point.target, point.cpu));
    }
    assert_eq!(pairs.len(), scope.initiators.len() * scope.targets.len());
    Ok(pairs.join(" "))
}

/// Returns the codes of the warnings about a plan.
pub(crate) fn codes(machine: &Machine, line: &str) -> Vec<&'static str> {
    let options = options(line);
    let mut warnings = Warnings::empty();
    let mut planning =
        Planning { options: &options, machine: &leaked(&[*machine])[0], warnings: &mut warnings };
    let scope = Scope::resolve(&mut planning).unwrap();
    matrix(&mut planning, &scope).unwrap();
    warnings.iter().map(Warning::code).collect()
}

#[test]
fn every_initiator_meets_every_target() {
    assert_eq!(pairs(&machine("one-node", None), ""), Ok("0>0@0".into()));
    let two = machine("two-sockets", None);
    assert_eq!(pairs(&two, ""), Ok("0>0@0 0>1@0 1>0@32 1>1@32".into()));
    assert_eq!(pairs(&two, "--cpunode=1 --memnode=0"), Ok("1>0@32".into()));
    assert_eq!(pairs(&two, "--cpu=97 --memnode=0-1"), Ok("1>0@97 1>1@97".into()));
    assert_eq!(pairs(&machine("four-nodes", None), "").unwrap().split(' ').count(), 16);
}

#[test]
fn nodes_without_cpus_are_targets_and_nodes_without_memory_initiators() {
    let expander = machine("cxl-memory", None);
    assert_eq!(pairs(&expander, ""), Ok("0>0@0 0>1@0 0>4@0 1>0@8 1>1@8 1>4@8".into()));
    let (message, code) = pairs(&expander, "--cpunode=4").unwrap_err();
    assert!(message.starts_with("node 4 has no CPUs") && code == 2, "{message}");
    let empty = machine("cpu-only-node", None);
    let memoryless = empty.topology.nodes().iter().find(|node| !node.has_memory).unwrap().id;
    let (message, code) = pairs(&empty, &format!("--memnode={memoryless}")).unwrap_err();
    assert!(message.contains("has no memory") && code == 2, "{message}");
    assert!(!pairs(&empty, "").unwrap().contains(&format!(">{memoryless}@")));
    assert!(pairs(&empty, "").unwrap().contains(&format!("{memoryless}>")));
}

#[test]
fn ids_that_are_not_there_are_mistakes_of_usage() {
    let two = machine("two-sockets", None);
    assert_eq!(pairs(&two, "--cpunode=9"), Err(("invalid node id 9 (max node = 1)".into(), 1)));
    assert_eq!(pairs(&two, "--memnode=0,5"), Err(("invalid node id 5 (max node = 1)".into(), 1)));
    let gap = machine("cxl-memory", None);
    assert_eq!(pairs(&gap, "--memnode=2"), Err(("invalid node id 2 (nodes: 0-1,4)".into(), 1)));
    let (message, code) = pairs(&two, "--cpu=4000").unwrap_err();
    assert!(message.starts_with("invalid CPU 4000") && code == 1, "{message}");
}

#[test]
fn taskset_and_cpuset_are_obeyed() {
    let two = machine("two-sockets", Some("40-41"));
    assert_eq!(pairs(&two, ""), Ok("1>0@40 1>1@40".into()));
    let (message, code) = pairs(&two, "--cpunode=0").unwrap_err();
    assert!(message.contains("no CPU of node 0 is allowed") && code == 2, "{message}");
    let (message, code) = pairs(&two, "--cpu=0").unwrap_err();
    assert!(message.contains("CPU 0 is not allowed") && code == 2, "{message}");
    let part = machine("cpuset-part", None);
    assert!(part.memory_nodes.len() < part.nodes.len());
    assert!(codes(&part, "").contains(&"node-left-out"));
    let outside = part.nodes.difference(&part.memory_nodes).first().unwrap();
    let (message, code) = pairs(&part, &format!("--memnode={outside}")).unwrap_err();
    assert!(message.contains(" is not allowed for this process (Mems_allowed") && code == 2, "{message}");
}

#[test]
fn a_policy_that_was_inherited_chooses_the_default_targets() {
    let mut two = machine("two-sockets", None);
    two.bound_to = Some([1].into_iter().collect());
    assert_eq!(pairs(&two, ""), Ok("0>1@0 1>1@32".into()));
    assert!(codes(&two, "").contains(&"inherited-policy"));
    assert_eq!(pairs(&two, "--memnode=0 --cpunode=0"), Ok("0>0@0".into()));
}

#[test]
fn offline_cpus_do_not_represent_their_node() {
    let machine = machine("offline-cpus", None);
    let online = machine.topology.online_cpus;
    for pair in pairs(&machine, "").unwrap().split(' ') {
        let cpu = pair.split('@').nth(1).unwrap().parse().unwrap();
        assert!(online.contains(cpu), "{pair}");
    }
    let offline = (0..256).find(|cpu| machine.topology.present_cpus.contains(*cpu) && !online.contains(*cpu));
    if let Some(cpu) = offline {
        let (message, code) = pairs(&machine, &format!("--cpu={cpu}")).unwrap_err();
        assert!(message.contains("offline") && code == 1, "{message}");
    }
}

#[test]
fn working_sets_reach_memory_and_leave_half_of_it() {
    let size = |machine: &Machine, line: &str| {
        let mut warnings = Warnings::empty();
        let target = NodeId(machine.targets().first().unwrap());
        let mut planning =
            Planning { options: &options(line), machine: &leaked(&[*machine])[0], warnings: &mut warnings };
        let size = working_set(&mut planning, target, 1).unwrap();
        (size, warnings.iter().map(Warning::code).collect::<Vec<_>>())
    };
    let mut two = machine("two-sockets", None);
    let cache = two.reported_cache().unwrap();
    assert_eq!(size(&two, ""), (cache.times(4).max(Bytes::MIB.times(256)), Vec::new()));
    // A requested size that fits in a cache gives the latency of that cache; larger ones may be partly cached.
    assert_eq!(size(&two, "--size=1M"), (Bytes::MIB, ["cache-latency"].to_vec()));
    let some = Bytes(cache.0 + (2 << 20));
    let found = size(&two, &format!("--size={}", some.0));
    assert_eq!(found, (some, ["cache-could-hold"].to_vec()));
    // A control group leaves less memory than the working set.
    two.host.memory_limit = Some(latency_core::host::MemoryLimit {
        limit: Bytes::MIB.times(200),
        usage: Bytes(0),
        headroom: Bytes::MIB.times(101),
    });
    assert_eq!(size(&two, ""), (Bytes::MIB.times(50), ["size-clipped", "cache-could-hold"].to_vec()));
    two.host.memory_limit = None;
    assert_eq!(size(&machine("no-sysfs", None), "").1.len(), 0);
}

#[test]
fn impossible_chains_are_refused_before_anything_is_mapped() {
    let one = machine("one-node", None);
    assert_eq!(pairs(&one, "--size=1M --order=page-local"), Ok("0>0@0".into()));
    assert!(codes(&one, "--order=sequential").contains(&"prefetch-assisted"));
    assert!(codes(&one, "--order=grouped --visits=2").contains(&"grouped-order"));
}

/// The points of a plan, their budget, and the codes of its warnings; or the message of its refusal.
type PlannedPoints = Result<(Vec<Point>, Budget, Vec<&'static str>), String>;

pub(crate) fn planned(machine: &Machine, line: &str) -> PlannedPoints {
    planned_with(machine, &options(line))
}

pub(crate) fn planned_with(machine: &Machine, options: &Options) -> PlannedPoints {
    let experiment = EXPERIMENTS[options.experiment.index];
    let planned = run_experiment::planned(options, &leaked(&[*machine])[0], experiment);
    let Plan { points, budget, warnings } = planned.map_err(|failure| failure.to_string())?;
    Ok((points.to_vec(), budget, warnings.iter().map(Warning::code).collect()))
}

/// Returns the forecast duration of an experiment in nanoseconds.
fn takes(machine: &Machine, line: &str) -> duration::Range {
    let (points, budget, _) = planned(machine, line).unwrap();
    duration::estimate(machine, &points, &budget)
}

#[test]
fn experiments_on_one_core_take_at_most_two_minutes_for_any_cache() {
    let large = fixture("one-node").replace("32768K", "307200K");
    let (small, large) = (machine("one-node", None), machine_of(&large, None));
    assert_eq!(large.last_level_cache(), Bytes::MIB.times(300));
    for machine in [small, large] {
        let all = ["order", "variants", "pages", "parallel", "window"].map(|name| takes(&machine, name));
        assert!(all.iter().all(|range| range.0 > 1e9 && range.0 < range.1), "{all:?}");
        assert!(all.iter().map(|range| range.1).sum::<f64>() < 120e9, "{all:?}");
    }
}

#[test]
fn a_run_with_a_time_limit_fits_it_or_is_refused_with_the_shortest_time() {
    for (fixture, line) in ["one-node", "two-sockets", "four-nodes", "cxl-memory"]
        .iter()
        .flat_map(|fixture| DESCRIPTORS.iter().map(move |experiment| (fixture, experiment.name)))
        .filter(|(_, name)| EXPERIMENTS.iter().any(|experiment| experiment.descriptor.name == *name))
    {
        let machine = machine(fixture, None);
        let points = planned(&machine, line).unwrap().0.len();
        if points == 0 {
            continue;
        }
        let mut refusals = 0;
        for seconds in [0.01, 0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 60.0, 1e4] {
            let line = format!("{line} --budget={seconds}");
            let longest = |line: &str| {
                let (points, budget, _) = planned(&machine, line)?;
                let takes = duration::expected(&options(line), &machine, &points, &budget);
                assert!(0.0 < takes.0 && takes.0 <= takes.1, "{line}: {takes:?}");
                Ok::<f64, String>(takes.1)
            };
            match longest(&line) {
                Ok(takes) => assert!(takes <= seconds * 1e9, "{fixture}, {line}: {takes}"),
                Err(message) => {
                    refusals += 1;
                    let plain = line.split(" --budget").next().unwrap();
                    // With more time there may be more points, which need more time again.
                    let (mut message, mut steps) = (message, 0);
                    loop {
                        let needs = message.split("use --budget=").nth(1).unwrap().split(',').next().unwrap();
                        assert!(needs.parse::<f64>().unwrap() > seconds, "{line}: {message}");
                        let Err(next) = longest(&format!("{plain} --budget={needs}")) else { break };
                        message = next;
                        steps += 1;
                        assert!(
                            steps <= 4 && ["bandwidth", "loaded"].contains(&plain),
                            "{fixture}, {line}: {message}"
                        );
                    }
                }
            }
        }
        assert!((1..=7).contains(&refusals), "{fixture}, {line}: {refusals}");
        // A limit that is long enough changes nothing but the points that it leaves time for.
        let [usual, ample] = ["", " --budget=10000"].map(|limit| {
            let (points, budget, _) = planned(&machine, &format!("{line}{limit}")).unwrap();
            // Some experiments divide their limit among the points; others have the same one always. A given limit
            // also holds where memory is placed slowly.
            let shares = ["bandwidth", "loaded", "cores"].contains(&line);
            let share_ns = if shares { 0.0 } else { budget.share_ns };
            (points.len(), Budget { share_ns, least_ns: 0.0, ..budget })
        });
        assert!(usual.0 < ample.0 || usual.1 == ample.1, "{fixture}, {line}: {usual:?} {ample:?}");
    }
}

#[test]
fn smaller_plans_have_shorter_forecasts() {
    let machine = machine("one-node", None);
    for name in ["matrix", "curve", "distribution", "order", "variants", "pages", "parallel", "window"] {
        let (all, few) = (takes(&machine, name), takes(&machine, &format!("{name} --trials=2 --iters=1000")));
        assert!(few.0 < all.0 && few.1 < all.1, "{name}: {few:?} {all:?}");
    }
    assert_eq!(duration::Range(0.2e9, 0.4e9).to_string(), "less than 1 s");
    assert_eq!(duration::Range(0.7e9, 1.1e9).to_string(), "up to 2 s");
    assert_eq!(duration::Range(4.9e9, 8.1e9).to_string(), "about 4 to 9 s");
}

#[test]
fn the_program_describes_its_experiments_in_plain_english() {
    let mut text = String::new();
    options::write_help(&mut text, options::Help::Long, &DESCRIPTORS, &FORMATS).unwrap();
    for experiment in &DESCRIPTORS {
        let (summary, details) = (experiment.summary.to_string(), experiment.details.to_string());
        assert_plain(&summary);
        assert_plain(&details);
        assert!(!summary.ends_with('.') && details.ends_with('.'), "{}", experiment.name);
        options::write_experiment_help(&mut text, options::Help::Long, experiment, &FORMATS).unwrap();
    }
    options::write_help(&mut text, options::Help::Shared, &DESCRIPTORS, &FORMATS).unwrap();
    for line in text.lines() {
        assert!(line.len() <= 80 && line.trim_end() == line, "{line:?}");
        assert_plain(line);
    }
}

#[test]
fn the_short_help_is_one_screen() {
    let mut text = String::new();
    options::write_help(&mut text, options::Help::Short, &DESCRIPTORS, &FORMATS).unwrap();
    assert!(text.lines().count() <= 40 && text.lines().all(|line| line.len() <= 80), "{text}");
}

#[test]
fn every_experiment_has_examples_that_can_be_typed() {
    for (line, effect) in options::EXAMPLES {
        let words = line.split(' ').map(str::as_bytes);
        let parsed = options::parse(words, &DESCRIPTORS, &FORMATS);
        let error = parsed.as_ref().err().map(ToString::to_string);
        assert!(error.is_none(), "{line}: {error:?}");
        assert!(
            parsed.is_ok_and(|options| options.experiment.named
                && (options.given != FlagSet::EMPTY || !options.operands().is_empty())),
            "{line}"
        );
        assert!(!effect.is_empty() && effect.len() <= 28 && line.len() <= 34, "{line}: {effect}");
    }
    for experiment in &DESCRIPTORS {
        let name = format!("{} ", experiment.name);
        let count = options::EXAMPLES.iter().filter(|(line, _)| line.starts_with(&name)).count();
        assert!((2..=3).contains(&count), "{count} examples of {name}");
    }
}

#[test]
fn all_nodes_and_the_own_node_can_be_requested() {
    let machine = machine("two-sockets", None);
    let nodes = |line: &str| {
        let planned = planned(&machine, line).map_err(|error| error.to_string());
        planned.map(|(points, ..)| {
            points.iter().map(|point| (point.initiator.0, point.target.0)).collect::<Vec<_>>()
        })
    };
    let all = [(0, 0), (0, 1), (1, 0), (1, 1)];
    for (line, expected) in [
        ("matrix --cpunode=all --memnode=all --view=nodes", &all[..]),
        ("matrix --memnode=local --view=nodes", &[(0, 0), (1, 1)]),
        ("matrix --cpunode=1 --memnode=local --view=nodes", &[(1, 1)]),
        ("matrix --cpunode=1 --memnode=all --view=nodes", &all[2..]),
        ("distribution --cpunode=all --memnode=all", &all),
        ("distribution --cpunode=all --memnode=local", &[(0, 0), (1, 1)]),
    ] {
        assert_eq!(nodes(line).unwrap(), expected, "{line}");
    }
    assert!(nodes("loaded --cpunode=1 --memnode=local").unwrap().iter().all(|pair| *pair == (1, 1)));
    assert!(nodes("bandwidth --memnode=local").unwrap().iter().all(|(from, to)| from == to));
    assert_eq!(
        nodes("curve --memnode=all").unwrap_err(),
        "--memnode lists 2 nodes, but this experiment measures one pair; run it once per node"
    );
    let alone = self::machine("cpu-only-node", None);
    let from = alone.topology.nodes().iter().find(|node| !node.has_memory).unwrap().id;
    assert!(planned(&alone, &format!("matrix --cpunode={from} --memnode=local")).is_err());
}

#[test]
fn chains_and_sizes_can_be_limited() {
    let machine = machine("two-sockets", None);
    let (points, ..) = planned(&machine, "parallel --size=1M --chains=1,5-8").unwrap();
    assert!(points.iter().map(|point| point.walk.lanes()).eq([1, 6, 8]));
    let sizes = |line: &str| {
        let (points, ..) = planned(&machine, line).unwrap();
        let mut sizes: Vec<u64> = points.iter().map(|point| point.size.0 >> 10).collect();
        assert_eq!(sizes.len() % 9, 0, "every variant has every size");
        assert_eq!(sizes[..sizes.len() / 9], sizes[sizes.len() / 9 * 8..]);
        sizes.truncate(sizes.len() / 9);
        sizes
    };
    assert_eq!(sizes("variants --min-size=16K --max-size=128K"), [16, 32, 64, 128]);
    assert_eq!(sizes("variants --min-size=16K --max-size=32K --points-per-octave=2"), [16, 22, 32]);
    assert_eq!(sizes("variants --max-size=64K").last(), Some(&64));
    assert!(sizes("variants --min-size=1M").last() > Some(&100_000));
}

#[test]
fn a_curve_has_all_sizes_of_its_range_or_is_refused() {
    let machine = machine("two-sockets", None);
    let range = "curve --min-size=16K --max-size=1G";
    let with = |points: u32| planned(&machine, &format!("{range} --points-per-octave={points}"));
    assert_eq!(with(24).unwrap().0.len(), 16 * 24 + 1);
    assert_eq!(
        with(64).unwrap_err(),
        "--points-per-octave=64 is too many from 16 KiB to 1 GiB; use 24 or fewer, or a narrower range \
         (--min-size, --max-size)"
    );
}

#[test]
fn pairs_can_be_limited_to_some_cpus() {
    let machine = machine("two-sockets", None);
    let (points, ..) = planned(&machine, "cores --cpu=0-2").unwrap();
    let pairs: Vec<_> =
        points.iter().map(|point| (point.cpu.0, point.walk.ping_pong().unwrap().partner.0)).collect();
    assert_eq!(pairs.len(), 3, "{pairs:?}");
    assert!(pairs.iter().all(|(a, b)| *a < 3 && *b < 3), "{pairs:?}");
    assert!(planned(&machine, "cores --cpu=1").is_err() && planned(&machine, "cores --cpu=0,8000").is_err());
    assert_eq!(
        planned(&machine, "cores --cpu=all").unwrap().0.len(),
        planned(&machine, "cores").unwrap().0.len()
    );
    let generators = |line: &str| {
        let point = planned(&machine, line).unwrap().0[1];
        match point.walk {
            latency_engine::result::Walk::Traffic(traffic) => traffic.generators as usize,
            _ => 0,
        }
    };
    assert_eq!(generators("bandwidth --view=scaling --load-cpus=0-2 --size=1M"), 2);
    assert!(
        planned(&machine, "loaded --load-cpus=all").is_ok()
            && planned(&machine, "loaded --load-cpus=0-8000").is_err()
    );
}

#[test]
fn the_kernel_names_the_node_of_a_cpu_if_no_file_describes_the_nodes() {
    let node = |name: &str, found: u32| {
        let machine = machine(name, None);
        let (points, ..) = planned(&machine, "matrix").unwrap();
        node_of(&machine.topology, &points[0], NodeId(found)).map_err(|error| error.to_string())
    };
    assert_eq!(node("two-sockets", 0), Ok(NodeId(0)));
    let message = node("two-sockets", 1).unwrap_err();
    assert!(message.starts_with("kernel and /sys disagree: CPU 0 is on node 1"), "{message}");
    // Without /sys, all memory belongs to node 0, but the CPU may be on another node.
    assert_eq!((node("no-sysfs", 0), node("no-sysfs", 1)), (Ok(NodeId(0)), Ok(NodeId(1))));
}

#[test]
fn plans_tell_where_a_changing_core_clock_weighs() {
    let machine = machine("two-sockets", None);
    let second_level = machine.cache(2).unwrap();
    for (line, core) in [
        ("matrix", false),
        ("matrix --size=16K", true),
        ("matrix --order=sequential", true),
        ("distribution", false),
        ("distribution --size=16K", true),
        ("curve", true),
        ("curve --min-size=64M --max-size=256M --stride=128", false),
        ("variants", true),
        ("window", true),
        ("cores", true),
        ("order", true),
        ("pages", true),
        ("parallel", true),
        ("loaded", false),
        ("bandwidth", false),
        ("bandwidth --size=32K", true),
    ] {
        let (points, _, _) = planned(&machine, line).unwrap();
        assert_eq!(
            points.iter().any(|point| latency_engine::checks::conditions::in_core(point) <= second_level),
            core,
            "{line}"
        );
    }
}
