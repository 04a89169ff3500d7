//! Idle latency from every initiator node to every target node.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::arch::{Cycles, WORDS};
use latency_core::chain::Order;
use latency_core::traffic::View;
use latency_core::{Estimate, NodeId, NodeSet};

use super::Experiment;
use super::own_cores::{self, UNLIKE_CORES};
use crate::analysis::matrix::{
    self, Class, ClassMeans, DistanceGroup, MatrixConclusion, Pair, compared, conclude,
};
use crate::analysis::reference::quantity;
use crate::describe::rates::{headline, is_wide, times};
use crate::describe::{
    self, Report, ReportParts, attributes, columns, method, point, reference, split, trust, undisturbed,
};
use crate::options::{Descriptor, FlagId, FlagSet};
use crate::plan::own_cores as planned_cores;
use crate::plan::{self, Scope, budget};
use crate::record::row::SINGLE_CORE;
use latency_engine::error::PlacementError;
use latency_engine::machine::Machine;
use latency_engine::result::{Exclusion, OrderWords, Outcome, PageWords, Point};
use latency_engine::run;
use latency_engine::warning::Warnings;
use latency_engine::words::words;
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::figures::Figure;
use latency_report::lists::joined;
use latency_report::{
    Axis, Chart, ChartPoint, Data, Digits, Field, Level, Mark, Matrix, Part, Picture, Role, Scale, Series,
    Shown, Unit,
};

/// The experiment that runs if none is named.
pub const MATRIX: Experiment = Experiment {
    descriptor: Descriptor {
        name: "matrix",
        summary: "idle latency from node to node",
        details: match WORDS.cycles_are {
            Cycles::Counter => {
                "One line for each pair of nodes: the latency of a dependent load, in TSC cycles and \
                  nanoseconds. Then the ratio of remote to local latency, the page size, and the check \
                  that the memory was on its node. --view=cores measures every core with the memory of its own node."
            }
            Cycles::Core => {
                "One line for each pair of nodes: the latency of a dependent load, in core cycles and \
                  nanoseconds. Then the ratio of remote to local latency, the page size, and the check \
                  that the memory was on its node. --view=cores measures every core with the memory of its own node."
            }
        },
        flags: FlagSet::MEASURING
            .union(FlagSet::WORKING_SET)
            .union(FlagSet::CHAIN)
            .with(FlagId::View)
            .with(FlagId::Visits)
            .with(FlagId::Until)
            .with(FlagId::Heatmap),
        picture: true,
        attributes: true,
        ..Descriptor::OF_VALUES
    },
    plan: |planning| {
        let scope = Scope::resolve(planning)?;
        let mut points = plan::matrix(planning, &scope)?;
        planned_cores::add(planning.options, planning.machine, &mut points);
        Ok(points)
    },
    budget: budget::of_matrix,
    measure: |_, session, points, budget| {
        let mut findings = run::measure(session, points, budget)?;
        findings.beside = points.len() - planned_cores::pairs(points);
        Ok(findings)
    },
    conclude: |session, findings| {
        let pairs = findings.outcomes.len() - findings.beside;
        check(session.machine, findings.outcomes.get(..pairs).unwrap_or_default(), session.warnings);
        None
    },
    present,
};

/// Warns about firmware claims that differ from the measurements.
pub fn check(machine: &Machine, outcomes: &[Outcome], warnings: &mut Warnings) {
    matrix::check_firmware(machine.topology.nodes(), &compared(outcomes, &machine.topology), warnings);
}

fields! {
    NODE_PAIRS "node_pairs" "Every pair of nodes, with keys that do not change between versions.";
    NS "ns" "Latency in nanoseconds; null if not measured.";
    CLASSES "classes" "Node pairs grouped by shared package and by firmware distance.";
    FASTEST "fastest" "Pair with the smallest latency by `latencies_of`; null if none was measured.";
    SLOWEST "slowest" "Pair with the largest latency by `latencies_of`; null with fewer than two pairs.";
}

members! {
    fn node_pair(report: &Report<'_>, outcome: &Outcome);
    "from": outcome.point.initiator.0 => "NUMA node of the CPU that made the loads.";
    "to": outcome.point.target.0 => "NUMA node of the memory.";
    "cycles": point::cycles(report, outcome) => "Latency in cycles of the clock that `cycles_of` names; null if not measured or without a counter.";
    NS: outcome.nanoseconds();
}

members! {
    fn chains(report: &Report<'_>, hops: Option<u64>);
    "iters": hops.or(report.options.iters.map(u64::from)).unwrap_or(0) => "Largest number of loads per trial.";
    "seed": report.options.seed => "Seed of the random order.";
    "freq_ghz": report.clock.counter().map(|counter| counter.frequency.gigahertz()) => "Frequency of the counter, in GHz; null without a counter.";
}

members! {
    fn means(found: &MatrixConclusion);
    "local_ns": found.loads.local.map(|mean| mean.value) => "Mean latency of random loads from local memory, in nanoseconds, address translation included; null if none was measured.";
    "remote_ns": found.loads.remote().map(|mean| mean.value) => "Mean latency of random loads from memory of other packages, in nanoseconds, address translation included; without these, of other nodes; null without other nodes.";
    "latencies_of": if found.of_memory { "memory" } else { "load" } => "Latency by which pairs are compared: `memory` (without address translation, where every pair has both parts) or `load` (a random load).";
    "memory_ns" interval: found.means.local.or(found.means.remote()).filter(|_| found.of_memory) => "Mean latency of local memory without address translation, in nanoseconds, or of remote memory if no local one was measured; null if not told apart for every pair.";
    "remote_over_local": found.means.remote_over_local() => "Remote latency divided by local latency, both by `latencies_of`; null if either is null.";
    "same_package_ns": of_class(found, Class::SamePackage) => "Mean latency to other nodes of the same package, in nanoseconds; null if there are none.";
    "memory_only_ns": of_class(found, Class::MemoryOnly) => "Mean latency to nodes without CPUs, in nanoseconds; null if there are none.";
}

/// Returns the mean latency of random loads of a class.
fn of_class(found: &MatrixConclusion, of: Class) -> Option<f64> {
    found.loads.far.iter().find(|(class, _)| *class == of).map(|(_, mean)| mean.value)
}

members! {
    fn class(group: &DistanceGroup);
    "class": group.class.name() => "`local`, `same package`, `other package`, or `memory only`: a node without CPUs.";
    "distance": group.distance.map(u32::from) => "Distance in the firmware's table (SLIT), not measured; null if unknown.";
    "pairs": group.pairs => "Number of node pairs of this class.";
    "ns": group.mean.value => "Mean latency of the pairs by `latencies_of`, in nanoseconds.";
    "min_ns": group.range.low => "Smallest latency of a pair by `latencies_of`, in nanoseconds.";
    "max_ns": group.range.high => "Largest latency of a pair by `latencies_of`, in nanoseconds.";
}

members! {
    fn pair(pair: Pair);
    columns::INITIATOR_NODE: pair.from.0;
    columns::TARGET_NODE: pair.to.0;
    NS: pair.ns;
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let found = &conclude(report.outcomes, &report.machine.topology);
    means(&mut parts.summary, found);
    parts.summary.items(Part::List(&CLASSES), &found.groups, class);
    let ends: [(&'static Field, _); 2] = [(&FASTEST, found.fastest), (&SLOWEST, found.slowest)];
    ends.into_iter().for_each(|(field, end)| parts.summary.object(field, end, pair));
    let each = report.options.view == View::Cores;
    let unlike = matrix::unlike(report.all, report.machine, each);
    parts.summary.values(&UNLIKE_CORES, unlike.iter().map(|core| core.cpu.0));
    let whole = &Report { outcomes: report.all, ..*report };
    point::rows_with(&mut parts.rows, whole, &|row, index, _| {
        if index >= report.outcomes.len() {
            row.put(&columns::CLASS, SINGLE_CORE);
        }
    });
    lines(&mut parts.answer, report);
    answer(&mut parts.answer, report, found);
    own_cores::answer(&mut parts.answer, report, &unlike, each);
    let (evidence, nodes) = (&mut parts.evidence, Grid::of(report.outcomes));
    if nodes.targets.len() > 1 || nodes.initiators.len() > 1 {
        grid(evidence, found, &nodes);
    }
    attributes::table(evidence, report.machine, &|node| matrix::measured_nearest(&found.pairs, node));
    let level = if each { Level::Normal } else { Level::Verbose };
    point::table(evidence, whole, (level, if each { "core" } else { "pair" }), &|index, outcome| {
        let Point { initiator, target, cpu, .. } = outcome.point;
        match index < report.outcomes.len() && !each {
            true => format!("{initiator} -> {target}"),
            false => own_cores::name(report, cpu),
        }
    });
    picture(evidence, report, found, &nodes);
    method::walks(evidence, report);
    let data = &mut parts.data;
    data.items(Part::List(&NODE_PAIRS), report.outcomes, |data, outcome| node_pair(data, report, outcome));
    chains(
        data,
        report,
        report.outcomes.iter().filter_map(|outcome| Some(outcome.result.as_ref().ok()?.hops)).max(),
    );
    point::evidence(data, report);
}

/// Returns the beginning of the line of a pair.
fn from_to(point: &Point) -> String {
    format!("Node {} -> Node {}", point.initiator, point.target)
}

/// Writes a line for each pair, which scripts search for. If several pairs need the same remedy, only the first of their
/// lines has it.
pub(super) fn lines(document: &mut Shown, report: &Report<'_>) {
    let mut given: Vec<String> = Vec::new();
    for Outcome { point, result } in report.outcomes {
        let from_to = from_to(point);
        let measured = match result {
            Ok(measured) => measured,
            Err(exclusion) => {
                let text = format!("{exclusion}");
                let cause = match text.rsplit_once(';') {
                    Some((cause, remedy)) if given.iter().any(|known| known == remedy) => cause,
                    other => {
                        given.extend(other.map(|(_, remedy)| remedy.into()));
                        text.as_str()
                    }
                };
                describe::missing(document, Role::Line, &from_to, &cause);
                continue;
            }
        };
        let nanoseconds = measured.series.nanoseconds.median;
        let cycles = report.cycles(&measured.series, nanoseconds);
        document.line(format_args!(
            "{from_to}: {} cycles ({} ns)",
            cycles.map_or("?".into(), |cycles| format!("{}", Figure(cycles))),
            Figure(nanoseconds)
        ));
    }
}

/// Writes the answer: the latency of remote memory, or of the only node.
fn answer(document: &mut Shown, report: &Report<'_>, found: &MatrixConclusion) {
    let ClassMeans { local, .. } = found.means;
    let order = order(report);
    let is_random = order == Order::Random;
    let published = if local.is_some() { quantity::LOCAL } else { quantity::REMOTE };
    if let Some(figure) = local.or(found.means.remote()) {
        // The interval of a mean of pairs only decides whether it is one number.
        let interval = figure.interval.filter(|_| report.outcomes.len() == 1 || is_wide(figure.interval));
        let figure = Estimate { interval, ..figure };
        let label = match order {
            _ if found.of_memory => "Memory latency",
            Order::Random => "Random load",
            _ => "Load in another order",
        };
        trust::figure(document, report, &(label, "ns", 1.0, Some(published).filter(|_| is_random)), figure);
    }
    if let Some(load) = found.loads.local.filter(|_| found.of_memory) {
        trust::figure(
            document,
            report,
            &("Random load", "ns", 1.0, None),
            Estimate { interval: None, ..load },
        );
    }
    // The local group comes first, if there is one.
    if let [local @ DistanceGroup { class: Class::Local, .. }, far @ ..] = &found.groups[..] {
        far.iter().for_each(|far| far_memory(document, local, far));
    }
    if let (Some(fastest), Some(slowest)) = (&found.fastest, &found.slowest) {
        document.aside(format_args!(
            "Fastest pair: {} -> {}, {} ns. Slowest pair: {} -> {}, {} ns.",
            fastest.from,
            fastest.to,
            headline(fastest.estimate(), 1.0),
            slowest.from,
            slowest.to,
            headline(slowest.estimate(), 1.0)
        ));
    }
    if let [outcome @ Outcome { point, result: Ok(measured) }] = report.outcomes {
        let series = &measured.series;
        let through = method::through(report.warnings.side_cache(point.target));
        let within = undisturbed::within(series);
        let fastest = Digits(series.minimum_ns);
        match split::of_one(document, report, outcome) {
            true => document.aside(format_args!("Random loads{through}: {within}fastest trial {fastest}.")),
            false if !is_random => document.finding(format_args!(
                "Loads in {}{through}: {} ns ({within}fastest trial {fastest}). This is not a latency of memory.",
                OrderWords(order),
                headline(series.nanoseconds.into(), 1.0),
            )),
            false => document.finding(format_args!(
                "{}{through} {} ns, address translation included ({within}fastest trial {fastest}).",
                if split::is_memory(report.machine, outcome) { "Memory latency" } else { "Latency" },
                headline(series.nanoseconds.into(), 1.0),
            )),
        }
        undisturbed::of_one(document, measured);
    } else {
        match found.of_memory {
            true => random_loads(document, &found.loads),
            false if is_random => {
                document
                    .finding(format_args!("Latencies are of random loads, address translation included."));
            }
            false => {}
        }
        undisturbed::of_several(document, report);
    }
    if let Some(mean) = local.or(found.means.remote()).filter(|_| is_random) {
        reference::published(document, report, published, Some(mean.value));
    }
    clocks(document, report);
}

/// Returns the order of the loads.
fn order(report: &Report<'_>) -> Order {
    report.outcomes.first().map_or(Order::Random, |outcome| outcome.point.order)
}

/// Says that pairs are compared by memory alone, and writes the latencies of random loads.
fn random_loads(document: &mut Shown, loads: &ClassMeans) {
    let means = [("local", loads.local), ("remote", loads.remote())].into_iter();
    let means = means.filter_map(|(name, mean)| Some(format!("{name} {} ns", headline(mean?, 1.0))));
    document.say(Role::Finding, "These latencies are of memory, without address translation.");
    document.aside(format_args!("Random loads:{}.", joined(" ", ", ", means)));
}

/// Writes the ratio of the latency of memory elsewhere to local latency.
fn far_memory(document: &mut Shown, local: &DistanceGroup, far: &DistanceGroup) {
    let [subject, verb] = far.class.words();
    document.finding(format_args!(
        "{subject}{}{verb} {} local ({} ns{} vs {} ns{}).",
        method::optional(far.distance.filter(|_| far.divided), |distance, out| {
            write!(out, " at distance {distance}")
        }),
        times(far.mean, local.mean),
        headline(far.mean, 1.0),
        range(far, ","),
        headline(local.mean, 1.0),
        range(local, "")
    ));
}

/// Returns the smallest and the largest latency of pairs that differ, and then `behind`; nothing if the mean is shown as a
/// range itself.
fn range(group: &DistanceGroup, behind: &str) -> String {
    match group.differs() && !is_wide(group.mean.interval) {
        true => format!(", {} to {}{behind}", Digits(group.range.low), Digits(group.range.high)),
        false => String::new(),
    }
}

/// Writes the latency of the first measured pair in core cycles, and in cycles of the counter, or in nanoseconds with the
/// counter's step.
fn clocks(document: &mut Shown, report: &Report<'_>) {
    let measured = report.outcomes.iter().find_map(|outcome| outcome.result.as_ref().ok());
    let (Some(measured), Some(counter)) = (measured, report.clock.counter()) else { return };
    let series = &measured.series;
    let (Some(cycles), Some(clock)) = (series.core_cycles, series.core_gigahertz) else { return };
    if report.cycles_are() == Cycles::Core {
        return document.aside(format_args!(
            "{} ns = {} core cycles at {:.2} GHz; the {} steps by {:.1} ns.",
            Figure(series.nanoseconds.median),
            Figure(cycles.median),
            clock.median,
            words().counter_name,
            counter.nanoseconds(counter.step)
        ));
    }
    let Some(ticks) = report.clock.ticks(series.nanoseconds.median) else { return };
    document.aside(format_args!(
        "{} {} cycles at {:.2} GHz = {} core cycles at {:.2} GHz.",
        Figure(ticks),
        words().counter_name,
        counter.frequency.gigahertz(),
        Figure(cycles.median),
        clock.median
    ));
}

/// The nodes of a matrix.
pub(super) struct Grid {
    pub(super) initiators: NodeSet,
    pub(super) targets: NodeSet,
}

impl Grid {
    pub(super) fn of(outcomes: &[Outcome]) -> Grid {
        let points = || outcomes.iter().map(|outcome| &outcome.point);
        Grid {
            initiators: points().map(|point| point.initiator.0).collect(),
            targets: points().map(|point| point.target.0).collect(),
        }
    }

    /// Shows an estimate for each pair, or the reason why it is missing, with a title and a subtitle, a quantity and a unit.
    /// A terminal shows it only if `in_text` is true.
    pub(super) fn picture(
        &self,
        document: &mut Shown,
        [title, subtitle]: [String; 2],
        [quantity, unit]: [&'static str; 2],
        cell: &dyn Fn(NodeId, NodeId) -> Result<Estimate, &'static str>,
        in_text: bool,
    ) {
        let [rows, columns] = [self.initiators, self.targets].map(|nodes| vector(nodes.iter()));
        if let ([from], [to]) = (&rows[..], &columns[..])
            && let Ok(only) = cell(NodeId(*from), NodeId(*to))
        {
            let name = format!("node {from} to node {to}");
            return single(document, [title, subtitle], [quantity, unit], name, only);
        }
        let matrix =
            Matrix { title, subtitle, unit, noun: "node", rows, columns, groups: None, cells: Vec::new() };
        let cell = |row, column| cell(NodeId(row), NodeId(column)).map(|found| found.value);
        document.draw(Picture::Matrix(matrix.filled(&cell)), in_text);
    }
}

/// Shows a single estimate and its interval on an axis that starts at zero. A terminal shows it only as text.
pub(super) fn single(
    document: &mut Shown,
    [title, subtitle]: [String; 2],
    [quantity, unit]: [&'static str; 2],
    name: String,
    Estimate { value, interval }: Estimate,
) {
    let between =
        method::optional(interval, |at, out| write!(out, " ({} to {})", Digits(at.low), Digits(at.high)));
    let mark = Mark::line(value, format_args!("{} {unit}{between}", Digits(value)));
    let whiskers = interval.map(|interval| (interval.low, interval.high));
    let point = ChartPoint { whiskers, ..ChartPoint::new(value, 0.0) };
    let x_axis = Axis { title: quantity, unit: Unit::Plain(unit), scale: Scale::Linear };
    let y_axis = Axis { title: "", unit: Unit::Names([name].into()), scale: Scale::Linear };
    let series = [Series { name: String::new(), data: Data::Scatter([point].into()) }].into();
    let chart = Chart { title, subtitle, x_axis, y_axis, series, marks: [mark].into() };
    document.draw(Picture::Chart(chart), false);
}

/// Shows the latencies with initiators as rows and targets as columns, then each initiator's ratio of remote to local
/// latency, and the ratio that the firmware claims.
fn grid(document: &mut Shown, found: &MatrixConclusion, nodes: &Grid) {
    document.tabulate("", Level::Normal, 1, &|table| {
        table.text(if found.of_memory { "memory, ns" } else { "ns" });
        table.each(nodes.targets.iter().map(|node| format!("to {node}")));
        table.texts(&["remote/local", "firmware (SLIT)"]);
        for from in &nodes.initiators {
            let own: Vec<Pair> = vector(found.pairs.iter().copied().filter(|pair| pair.from.0 == from));
            table.row().cell(format_args!("from {from}"));
            for to in &nodes.targets {
                table.number(own.iter().find(|pair| pair.to.0 == to).map(|pair| pair.ns));
            }
            // The firmware's distances of the same pairs, 10 for local ones.
            let distances = own.iter().filter_map(|pair| Some(Pair { ns: pair.distance?.into(), ..*pair }));
            let distances: Vec<Pair> = vector(distances);
            for (pairs, decimals) in [(own, 2), (distances, 1)] {
                let ratio = ClassMeans::of(&pairs).remote_over_local();
                table.known(ratio.map(|ratio| format!("{ratio:.decimals$}")));
            }
        }
    });
}

fn picture(document: &mut Shown, report: &Report<'_>, found: &MatrixConclusion, nodes: &Grid) {
    let of_memory = found.of_memory;
    let cell = |row, column| {
        let mut outcomes = report.outcomes.iter();
        let found = outcomes.find(|outcome| (outcome.point.initiator, outcome.point.target) == (row, column));
        found.map_or(Err("not requested"), |outcome| value(outcome, of_memory))
    };
    let subtitle = report.outcomes.first().map(|Outcome { point, result }| {
        let pages = result.as_ref().map_or(point.pages, |measured| measured.placed.pages);
        format!(
            "{}; {} in {}, {}, {} spacing, seed {}",
            match point.order {
                _ if of_memory => "memory without address translation",
                Order::Random => "random loads",
                _ => "loads",
            },
            point.size,
            PageWords(report.machine.pages_or_base(pages)),
            OrderWords(point.order),
            point.stride,
            point.seed
        )
    });
    let title = match (found.means.local, found.means.remote()) {
        (Some(local), Some(remote)) => format!(
            "Remote memory: {} ns vs {} ns local ({})",
            headline(remote, 1.0),
            headline(local, 1.0),
            times(remote, local)
        ),
        (Some(local), None) if of_memory => format!("Memory latency: {} ns", headline(local, 1.0)),
        (Some(local), None) if order(report) == Order::Random => {
            format!("Random loads from memory: {} ns", headline(local, 1.0))
        }
        (Some(local), None) => {
            format!("Loads in {}: {} ns", OrderWords(order(report)), headline(local, 1.0))
        }
        _ => "Memory latency".into(),
    };
    let texts = [title, subtitle.unwrap_or_default()];
    nodes.picture(document, texts, ["latency", "ns"], &cell, report.options.heatmap);
}

fn value(outcome: &Outcome, of_memory: bool) -> Result<Estimate, &'static str> {
    match &outcome.result {
        Ok(_) => matrix::latency(outcome, of_memory).ok_or("not told apart"),
        Err(Exclusion::Interrupted) => Err("interrupted"),
        Err(Exclusion::Starved | Exclusion::Placement(PlacementError::BudgetOver)) => Err("no time left"),
        Err(Exclusion::Placement(PlacementError::NotReachable { .. })) => {
            Err("memory policies are forbidden here")
        }
        Err(Exclusion::Placement(PlacementError::MovedDuringRun { .. })) => Err("pages moved during the run"),
        Err(Exclusion::Placement(_)) => Err("memory not obtained or not verified"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::matrix::groups;
    use crate::experiment::tests::machine;
    use Class::{Local, MemoryOnly, OtherPackage, SamePackage};
    use std::vec::Vec;

    /// Returns all pairs of a fixture's nodes, with latencies in nanoseconds by distance.
    fn pairs_of(fixture: &str, ns: impl Fn(u8) -> f64) -> Vec<Pair> {
        let machine = machine(fixture, None);
        let nodes = || machine.topology.nodes().iter();
        let initiators = nodes().filter(|node| !node.cpus.is_empty());
        let all = initiators.flat_map(|from| nodes().map(|to| (from.id, to.id)));
        all.map(|(from, to)| {
            let distance = machine.topology.distance(from, to);
            let ns = ns(distance.unwrap());
            Pair { from, to, class: Class::of(&machine.topology, from, to), distance, ns, interval: None }
        })
        .collect()
    }

    /// Returns class, distance, number, smallest and largest latency of each group, and whether other groups have its
    /// class.
    fn grouped(pairs: &[Pair]) -> Vec<(Class, Option<u8>, usize, f64, f64, bool)> {
        let far = groups(pairs).into_iter().filter(|group| group.class != Local);
        far.map(|DistanceGroup { class, distance, divided, pairs, mean, range }| {
            assert!(range.low <= mean.value && mean.value <= range.high);
            (class, distance, pairs, range.low, range.high, divided)
        })
        .collect()
    }

    #[test]
    fn one_and_two_hops_are_two_groups() {
        let four = pairs_of("four-nodes", |distance| f64::from(distance) * 7.0);
        assert_eq!(
            grouped(&four),
            [
                (OtherPackage, Some(21), 8, 147.0, 147.0, true),
                (OtherPackage, Some(31), 4, 217.0, 217.0, true)
            ]
        );
        // "Remote" still covers the class as a whole.
        let remote = ClassMeans::of(&four).remote().unwrap().value;
        assert!((remote - (8.0 * 147.0 + 4.0 * 217.0) / 12.0).abs() < 1e-9, "{remote}");
    }

    #[test]
    fn memory_behind_the_near_and_the_far_socket_is_not_lumped() {
        let ns = |distance| match distance {
            10 => 100.0,
            14 => 200.0,
            24 => 350.0,
            _ => 160.0,
        };
        assert_eq!(
            grouped(&pairs_of("cxl-memory", ns)),
            [
                (OtherPackage, Some(21), 2, 160.0, 160.0, false),
                (MemoryOnly, Some(14), 1, 200.0, 200.0, true),
                (MemoryOnly, Some(24), 1, 350.0, 350.0, true)
            ]
        );
    }

    #[test]
    fn clusters_of_one_package_and_of_the_other_have_a_group_each() {
        let groups = grouped(&pairs_of("sub-numa-clusters", f64::from));
        let expected =
            [(OtherPackage, Some(21), 8, 21.0, 21.0, false), (SamePackage, Some(12), 4, 12.0, 12.0, false)];
        assert_eq!(groups, expected);
    }
}
