//! Cores: the time of a cache line from one CPU to another.

mod view;

use alloc::vec::Vec;

use latency_core::topology::Shared;
use latency_core::{CpuId, CpuSet, Estimate, Worded};

use self::view::CoresView;
use super::Experiment;
use crate::analysis::cores::{CoresConclusion, CpuPair, SharingClass, conclude, doubtful, left_out};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::{Report, ReportParts, metrics, point};
use crate::options::{Descriptor, FlagId, FlagSet, Pairs};
use crate::plan::{budget, cores};
use crate::record::members::{ATOMICS, CLASSES, CORE_TYPES};
use latency_engine::result::{Outcome, Owned, PerLine, PingPong, Walk};
use latency_engine::warning::Warning;
use latency_engine::with_partners::measure_with_partners;
use latency_report::chart::vector;
use latency_report::document::{fields, members};
use latency_report::{Part, Shown};

/// The exchange of a line between two CPUs, for every pair.
pub const CORES: Experiment = Experiment {
    descriptor: Descriptor {
        name: "cores",
        summary: "core-to-core latency of a cache line",
        details: "One-way latency of a cache line from one CPU to another: half of a round trip between two threads. \
                  Pairs are grouped by what they share: a core, a cache, a node, a socket. --states adds the \
                  latency of loads and atomics by coherence state.",
        flags: FlagSet::EXCHANGE.union(FlagSet::WINDOWS).union(FlagSet::of(&[
            FlagId::Cpu,
            FlagId::MemNode,
            FlagId::Pages,
            FlagId::Seed,
            FlagId::Heatmap,
        ])),
        picture: true,
        ..Descriptor::OF_VALUES
    },
    plan: cores::cores,
    budget: budget::of_cores,
    measure: |_, session, points, budget| measure_with_partners(session, points, budget),
    conclude: |session, findings| {
        let unknown = cores::core_unknown(session.machine);
        if let Some(pair) = doubtful(&findings.outcomes).filter(|_| unknown) {
            let CpuPair { a, with, .. } = pair;
            session.warnings.push(Warning::TopologyDoubtful { a, b: with.partner, ns: pair.ns() });
        }
        None
    },
    present,
};

fields! {
    LEFT_OUT "pairs_left_out" "Pairs left out because a sample represents their class; empty if all were measured, or if pairs were given.";
}

members! {
    fn summary(report: &Report<'_>, found: &CoresConclusion<'_>);
    columns::METHOD: report.options.method.word();
    "nearest_ns": found.nearest.map(|pair| pair.ns()) => "Smallest latency of a pair, in nanoseconds; null if no pair was measured.";
    "farthest_ns": found.farthest.map(|pair| pair.ns()) => "Largest latency of a pair, in nanoseconds; null if no pair was measured.";
    "same_core_ns": found.median(Shared::Core) => "Median latency of CPU pairs on the same core, in nanoseconds; null if none was measured.";
    "same_l2_ns": found.median(Shared::L2) => "Median latency of CPU pairs that share an L2, in nanoseconds; null if none was measured.";
    "same_l3_ns": found.median(Shared::L3) => "Median latency of CPU pairs that share an L3, in nanoseconds; null if none was measured.";
    "same_node_ns": found.median(Shared::Node) => "Median latency of CPU pairs on the same node, in nanoseconds; null if none was measured.";
    "same_socket_ns": found.median(Shared::Package) => "Median latency of CPU pairs on the same socket, in nanoseconds; null if none was measured.";
    "other_socket_ns": found.median(Shared::Machine) => "Median latency of CPU pairs on two sockets, in nanoseconds; null if none was measured.";
    "line_spread_ns": found.spread => "Largest difference between two cache lines of one pair, in nanoseconds; null if unknown.";
}

members! {
    fn atomics(report: &Report<'_>);
    ATOMICS: report.machine.atomics.name();
}

members! {
    fn class(class: &SharingClass, of: usize);
    columns::CLASS: class.shared.word();
    CORE_TYPES: Some(class.kinds()).filter(|kinds| !kinds.is_empty());
    "pairs": class.pairs => "Number of measured pairs.";
    "of": of => "Number of pairs of this class among the allowed CPUs.";
    "ns" interval: class.median => "Median latency of the pairs, in nanoseconds; its ends are the medians of the pairs' lower and upper ends.";
    "min_ns": class.range.low => "Smallest latency of a pair, in nanoseconds.";
    "max_ns": class.range.high => "Largest latency of a pair, in nanoseconds.";
}

members! {
    fn not_chosen(cpu: CpuId, others: &CpuSet);
    "cpu": cpu.0 => "CPU number.";
    "with_cpus" shown: others => "CPUs with larger numbers whose pair with this CPU was left out, as ranges.";
}

fn present(parts: &mut ReportParts, report: &Report<'_>) {
    let machine = report.machine;
    let small = machine.small.as_ref();
    let found = conclude(report.outcomes, small);
    let possible = |class: &SharingClass| class.possible(&machine.cpus, &machine.sharing, small);
    let pairs = || report.outcomes.iter().filter(|outcome| outcome.point.walk.ping_pong().is_some());
    let partners = || report.outcomes.iter().filter_map(|outcome| outcome.point.walk.ping_pong());
    let cpus = report.outcomes.iter().map(|outcome| outcome.point.cpu.0);
    let view = &CoresView {
        of: vector(found.classes.iter().map(possible)),
        left_out: match report.options.pairs {
            Pairs::Of(_) => left_out(report.outcomes, &machine.cpus),
            _ => Vec::new(),
        },
        cpus: cpus.chain(partners().map(|with| with.partner.0)).collect(),
        lines: partners().next().map_or(0, |with| with.lines),
        planned: partners().count(),
        found,
    };
    metrics::cores(&mut parts.metrics, report, &view.found);
    summary(&mut parts.summary, report, &view.found);
    // Pairs come first, then lines in known states.
    let owned = || report.outcomes.iter().filter(|outcome| outcome.point.walk.owned().is_some());
    for outcome in pairs().chain(owned()) {
        RowOrigin::of(report).row(&mut parts.rows, &mut |document| match &outcome.point.walk {
            Walk::PingPong(with) => pair_row(document, outcome, with),
            Walk::Owned(owned) => state_row(document, outcome, owned),
            _ => {}
        });
    }
    view::answers(&mut parts.answer, report, view);
    view::evidence(&mut parts.evidence, report, view);
    point::evidence_of(&mut parts.data, &vector(pairs().chain(owned())));
    atomics(&mut parts.data, report);
    parts.data.items(Part::List(&LEFT_OUT), &view.left_out, |document, (cpu, others)| {
        not_chosen(document, *cpu, others);
    });
    let classes = view.found.classes.iter().zip(&view.of);
    parts
        .data
        .items(Part::List(&CLASSES), classes, |document, (of_class, of)| class(document, of_class, *of));
}

fn pair_row(document: &mut Shown, outcome: &Outcome, with: &PingPong) {
    let point = &outcome.point;
    document.put(&columns::INITIATOR_NODE, point.initiator.0);
    document.put(&columns::TARGET_NODE, with.homes[1].0);
    document.put(&columns::INITIATOR_CPU, point.cpu.0);
    document.put(&columns::TARGET_CPU, with.partner.0);
    document.put(&columns::CLASS, with.class.word());
    document.put(&columns::METHOD, with.method.word());
    document.put(&columns::HOME_NODE, with.homes[0].0);
    document.put(&columns::LINES, with.lines);
    point::value(document, outcome);
    let Ok(measured) = &outcome.result else { return };
    if let Some(PerLine { fastest, slowest, messages }) = measured.lines {
        document.put(&columns::MIN_LINE, fastest.value);
        document.put(&columns::MAX_LINE, slowest.value);
        document.put(&columns::SLOWEST_LINE, slowest.line);
        let apart =
            messages.map(|messages| Estimate { value: messages.apart_ns, interval: messages.interval });
        document.put(&columns::OFFSET, apart);
        document.put(&columns::IN_ORDER, messages.map(|messages| messages.in_order));
    }
    point::trials(document, point, measured);
}

fn state_row(document: &mut Shown, outcome: &Outcome, owned: &Owned) {
    let point = &outcome.point;
    point::route(document, point);
    document.put(&columns::TARGET_CPU, owned.owner.map(|(owner, _)| owner.0));
    document.put(&columns::THIRD_CPU, owned.third.map(|third| third.0));
    document.put(&columns::CLASS, owned.owner.map_or("own", |(_, class)| class.word()));
    document.put(&columns::OP, owned.access.word());
    document.put(&columns::STATE, owned.state.word());
    document.put(&columns::LEVEL, owned.level.name());
    document.put(&columns::HOME_NODE, point.target.0);
    document.put(&columns::LINES, point.size.0 / point.stride.0.max(1));
    point::value(document, outcome);
    if let Ok(measured) = &outcome.result {
        point::trials(document, point, measured);
    }
}
