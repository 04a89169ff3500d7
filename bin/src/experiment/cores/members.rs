//! Pairs of CPUs for programs: a record for each pair.

use crate::analysis::cores::{class, conclude, left_out, pair};
use crate::describe::columns::{self, RowOrigin};
use crate::describe::{Report, point};
use crate::options::Pairs;
use crate::report::document::{Field, Part, field, fields, members};
use crate::report::shown::Shown;
use crate::result::{Outcome, Owned, PerLine, PingPong, Walk};
use latency_core::stats::Estimate;
use latency_core::topology::Shared;
use latency_core::words::Worded;

fields! {
    ATOMICS "atomics" "Atomic instructions of the exchanges: `locked`, `lse` or `exclusives`.";
    CLASSES "classes" "CPU pairs grouped by the hardware that both CPUs share.";
    LEFT_OUT "pairs_left_out" "Pairs left out because a sample represents their class; empty if all were measured, or if pairs were given.";
    LEFT_OUT_CPU "cpu" "CPU number.";
    LEFT_OUT_WITH "with_cpus" "CPUs with larger numbers whose pair with this CPU was left out, as ranges.";
    NEAREST "nearest_ns" "Smallest latency of a pair, in nanoseconds; null if no pair was measured.";
    FARTHEST "farthest_ns" "Largest latency of a pair, in nanoseconds; null if no pair was measured.";
    SPREAD "line_spread_ns" "Largest difference between two cache lines of one pair, in nanoseconds; null if unknown.";
}

/// The median of each class, in the order of [`Shared::ALL`].
static MEDIANS: [Field; Shared::ALL.len()] = [
    field!(
        "same_core_ns",
        "Median latency of CPU pairs on the same core, in nanoseconds; null if none was measured.",
    ),
    field!(
        "same_l2_ns",
        "Median latency of CPU pairs that share an L2, in nanoseconds; null if none was measured.",
    ),
    field!(
        "same_l3_ns",
        "Median latency of CPU pairs that share an L3, in nanoseconds; null if none was measured.",
    ),
    field!(
        "same_node_ns",
        "Median latency of CPU pairs on the same node, in nanoseconds; null if none was measured.",
    ),
    field!(
        "same_socket_ns",
        "Median latency of CPU pairs on the same socket, in nanoseconds; null if none was measured.",
    ),
    field!(
        "other_socket_ns",
        "Median latency of CPU pairs on two sockets, in nanoseconds; null if none was measured.",
    ),
];

/// Describes all pairs as rows, then lines in known states.
pub fn rows(document: &mut Shown, report: &Report<'_, '_>) {
    for outcome in in_order(report.outcomes) {
        RowOrigin::of(report).row(document, &mut |document| match &outcome.point.walk {
            Walk::PingPong(with) => pair_row(document, outcome, with),
            Walk::Owned(owned) => state_row(document, outcome, owned),
            _ => {}
        });
    }
}

/// Returns the points in the order of rows.
fn in_order<'r, 'a>(outcomes: &'r [Outcome<'a>]) -> impl Iterator<Item = &'r Outcome<'a>> {
    let pairs = outcomes.iter().filter(|outcome| outcome.point.walk.ping_pong().is_some());
    pairs.chain(outcomes.iter().filter(|outcome| outcome.point.walk.owned().is_some()))
}

/// Describes the pairs that were left out, and the classes.
pub fn data(document: &mut Shown, report: &Report<'_, '_>) {
    let mut outcomes = in_order(report.outcomes);
    point::evidence_of(document, &mut || outcomes.next());
    let machine = report.machine;
    let small = machine.small.as_ref();
    let found = &conclude(report.outcomes, small);
    document.put(&ATOMICS, machine.atomics.name());
    document.part(Part::List(&LEFT_OUT), |document| {
        if matches!(report.options.pairs, Pairs::Of(_)) {
            left_out(report.outcomes, &machine.cpus, &mut |a, others| {
                document.part(Part::Item, |document| {
                    document.put(&LEFT_OUT_CPU, a.0);
                    document.show(&LEFT_OUT_WITH, others);
                });
            });
        }
    });
    document.items(Part::List(&CLASSES), found.classes(), |document, class| {
        document.put(&columns::CLASS, class.shared.name());
        members! { document;
            "core_types": Some(class.kinds()).filter(|kinds| !kinds.is_empty()) => "Kinds of the cores of both CPUs, in words; null if the processor has one kind.";
            "pairs": class.pairs => "Number of measured pairs.";
            "of": class.most(&machine.cpus, &machine.sharing, small) => "Number of pairs of this class among the allowed CPUs.";
            "ns" interval: Estimate { value: class.median, interval: class.interval } => "Median latency of the pairs, in nanoseconds; its ends are the medians of the pairs' lower and upper ends.";
            "min_ns": class.range.0 => "Smallest latency of a pair, in nanoseconds.";
            "max_ns": class.range.1 => "Largest latency of a pair, in nanoseconds.";
        }
    });
}

/// Describes the conclusions.
pub fn summary(document: &mut Shown, report: &Report<'_, '_>) {
    let found = conclude(report.outcomes, None);
    document.put(&columns::METHOD, report.options.method.word());
    document.put(&NEAREST, found.nearest.map(|pair| pair.ns()));
    document.put(&FARTHEST, found.farthest.map(|pair| pair.ns()));
    for (field, shared) in MEDIANS.iter().zip(Shared::ALL) {
        document.put(field, class(report.outcomes, shared, None).map(|class| class.median));
    }
    document.put(&SPREAD, found.spread);
}

fn pair_row(document: &mut Shown, outcome: &Outcome<'_>, with: &PingPong) {
    let point = &outcome.point;
    document.put(&columns::INITIATOR_NODE, point.initiator.0);
    document.put(&columns::TARGET_NODE, with.homes[1].0);
    document.put(&columns::INITIATOR_CPU, point.cpu.0);
    document.put(&columns::TARGET_CPU, with.partner.0);
    document.put(&columns::CLASS, with.class.name());
    document.put(&columns::METHOD, with.method.word());
    document.put(&columns::HOME_NODE, with.homes[0].0);
    document.put(&columns::LINES, with.lines);
    point::value(document, outcome);
    let Some(measured) = pair(outcome).map(|pair| pair.measured) else { return };
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

fn state_row(document: &mut Shown, outcome: &Outcome<'_>, owned: &Owned) {
    let point = &outcome.point;
    point::route(document, point);
    document.put(&columns::TARGET_CPU, owned.owner.map(|(owner, _)| owner.0));
    document.put(&columns::THIRD_CPU, owned.third.map(|third| third.0));
    document.put(&columns::CLASS, owned.owner.map_or("own", |(_, class)| class.name()));
    document.put(&columns::OP, owned.access.name());
    document.put(&columns::STATE, owned.state.name());
    document.put(&columns::LEVEL, owned.level.name());
    document.put(&columns::HOME_NODE, point.target.0);
    document.put(&columns::LINES, point.size.0 / point.stride.0.max(1));
    point::value(document, outcome);
    if let Ok(measured) = &outcome.result {
        point::trials(document, point, measured);
    }
}
