//! Pairs of CPUs for programs: a record for each pair.

use crate::analysis::cores::{CoresConclusion, conclude, left_out, of_classes, pair};
use crate::describe::{Report, SUMMARY, point};
use crate::options::Pairs;
use crate::report::document::{Document, Field, Part, fields};
use crate::result::{Outcome, Owned, PerLine, PingPong};
use latency_core::topology::Shared;
use latency_core::words::Worded;

fields! {
    METHOD "method" "How a CPU tells that it is its turn.";
    PAIRS "pairs" "What a line takes between two CPUs.";
    A "a" "The CPU that begins.";
    B "b" "The CPU that answers.";
    CLASS "class" "The nearest thing that both share.";
    PAIR_NS "ns" "One way: half of a round trip. The median over windows of the median over lines.";
    PAIR_CI95 "ci95_ns" "Its 95 % confidence interval within this run.";
    MIN_LINE "min_line_ns" "The fastest line's median over windows.";
    MAX_LINE "max_line_ns" "The slowest line's.";
    SLOWEST "slowest_line" "Which line is the slowest, from zero.";
    LINES "lines" "Lines at places of their own.";
    HOMES "homes" "The nodes that they are on, in turn.";
    WINDOWS "windows" "Windows, each over all lines.";
    DISTURBED "disturbed_windows" "Those in which something else ran.";
    APART "offset_or_asymmetry_ns" "Half of the difference between messages there and back by the CPUs' clocks: clock offset and asymmetry together; null without messages.";
    APART_CI95 "offset_or_asymmetry_ci95_ns" "Its 95 % confidence interval within this run.";
    IN_ORDER "no_message_before_it_was_sent" "Whether each message arrived after it was sent, by these counters; null without messages.";
    STATES "states" "Dependent accesses to lines that a core has in a known state.";
    READER "cpu" "The CPU that accesses them.";
    OWNER "owner" "The CPU that has them in its caches; null where that is the same.";
    THIRD "third" "The CPU that shares them; null unless they are shared.";
    OP "op" "What is done to a line: it is read, or taken for this CPU alone by an atomic addition of zero.";
    STATE "state" "The line's state in the owner's caches.";
    LEVEL "level" "The nearest of these caches that has room for all lines.";
    HOME "home" "The node that the lines are on.";
    STATE_NS "ns" "Median over rounds of the time of an access that waits for the one before.";
    STATE_CI95 "ci95_ns" "Its 95 % confidence interval within this run.";
    STATE_LINES "lines" "The lines.";
    CLASSES "classes" "Pairs that share the same.";
    CLASS_PAIRS "pairs" "How many were measured.";
    CLASS_OF "of" "How many there are of the CPUs of this process.";
    CLASS_NS "ns" "The median of the pairs.";
    CLASS_CI95 "ci95_ns" "From the median of the lower ends of their intervals to that of the upper ends.";
    CLASS_MIN "min_ns" "The smallest value of a pair.";
    CLASS_MAX "max_ns" "The largest.";
    LEFT_OUT "pairs_left_out" "Pairs that were not chosen, where a few stand for all of their class; empty where all were, or some asked for by name.";
    LEFT_OUT_A "a" "A CPU.";
    LEFT_OUT_B "b" "CPUs with larger numbers that it was not measured with, as ranges.";
    NEAREST "nearest_ns" "The smallest value of a pair; null where none was measured.";
    FARTHEST "farthest_ns" "The largest value of a pair; null where none was measured.";
    SPREAD "line_spread_ns" "The largest difference between two lines of one pair; null where it is not known.";
}

/// The median of each class, in the order of [`Shared::ALL`].
static MEDIANS: [Field; Shared::ALL.len()] = [
    Field::new("same_core_ns", "The median of pairs of one core; null where none was measured."),
    Field::new("same_l2_ns", "The same of pairs with one L2."),
    Field::new("same_l3_ns", "The same of pairs with one L3."),
    Field::new("same_node_ns", "The same of pairs of one node."),
    Field::new("same_socket_ns", "The same of pairs of one socket."),
    Field::new("other_socket_ns", "The same of pairs of two sockets."),
];

/// The columns of a table of pairs.
pub static COLUMNS: [&Field; 18] = [
    &A,
    &B,
    &CLASS,
    &METHOD,
    &PAIR_NS,
    &PAIR_CI95,
    &MIN_LINE,
    &MAX_LINE,
    &SLOWEST,
    &LINES,
    &WINDOWS,
    &DISTURBED,
    &APART,
    &APART_CI95,
    &IN_ORDER,
    &point::PAGES_OBTAINED,
    &point::VERIFIED,
    &point::NOT_MEASURED,
];

/// Describes all pairs, their classes, and the conclusions.
pub fn data(document: &mut dyn Document, report: &Report<'_, '_>) {
    let found = &conclude(report.outcomes);
    document.put(&METHOD, report.options.method.word());
    let outcomes = report.outcomes.iter();
    let pairs = outcomes.clone().filter_map(|outcome| Some((outcome, outcome.point.walk.ping_pong()?)));
    document.items(Part::Records(&PAIRS), pairs, |document, (outcome, with)| record(document, outcome, with));
    if report.options.states {
        let owned = outcomes.filter_map(|outcome| Some((outcome, outcome.point.walk.owned()?)));
        document
            .items(Part::List(&STATES), owned, |document, (outcome, owned)| state(document, outcome, owned));
    }
    let machine = report.machine;
    document.part(Part::List(&LEFT_OUT), |document| {
        if matches!(report.options.pairs, Pairs::Of(_)) {
            left_out(report.outcomes, &machine.cpus, &mut |a, others| {
                document.part(Part::Item, |document| {
                    document.put(&LEFT_OUT_A, a.0);
                    document.show(&LEFT_OUT_B, others);
                });
            });
        }
    });
    let all = of_classes(&machine.cpus, &machine.sharing);
    document.items(Part::List(&CLASSES), found.classes(), |document, class| {
        document.put(&CLASS, class.shared.name());
        document.put(&CLASS_PAIRS, class.pairs);
        document.put(&CLASS_OF, all.get(class.shared as usize).copied());
        document.put(&CLASS_NS, class.median);
        document.put(&CLASS_CI95, class.interval);
        document.put(&CLASS_MIN, class.range.0);
        document.put(&CLASS_MAX, class.range.1);
    });
    summary(document, found);
}

/// Describes the conclusions.
fn summary(document: &mut dyn Document, found: &CoresConclusion<'_>) {
    document.part(Part::Object(&SUMMARY), |document| {
        document.put(&NEAREST, found.nearest.map(|pair| pair.ns()));
        document.put(&FARTHEST, found.farthest.map(|pair| pair.ns()));
        for (field, shared) in MEDIANS.iter().zip(Shared::ALL) {
            let class = found.classes().find(|class| class.shared == shared);
            document.put(field, class.map(|class| class.median));
        }
        document.put(&SPREAD, found.spread);
    });
}

fn record(document: &mut dyn Document, outcome: &Outcome<'_>, with: &PingPong) {
    document.put(&A, outcome.point.cpu.0);
    document.put(&B, with.partner.0);
    document.put(&CLASS, with.class.name());
    document.put(&METHOD, with.method.word());
    document.put(&LINES, with.lines);
    document.part(Part::List(&HOMES), |document| {
        let [first, second] = with.homes;
        document.put(&HOMES, first.0);
        if second != first {
            document.put(&HOMES, second.0);
        }
    });
    if let Err(exclusion) = &outcome.result {
        document.show(&point::NOT_MEASURED, exclusion);
    }
    let pair = pair(outcome);
    document.put(&PAIR_NS, pair.map(|pair| pair.ns()));
    document.put(&PAIR_CI95, pair.and_then(|pair| pair.measured.series.nanoseconds.interval));
    let Some(measured) = pair.map(|pair| pair.measured) else { return };
    if let Some(PerLine { fastest, slowest, messages }) = measured.lines {
        document.put(&MIN_LINE, fastest.value);
        document.put(&MAX_LINE, slowest.value);
        document.put(&SLOWEST, slowest.line);
        document.put(&APART, messages.map(|messages| messages.apart_ns));
        document.put(&APART_CI95, messages.and_then(|messages| messages.interval));
        document.put(&IN_ORDER, messages.map(|messages| messages.in_order));
    }
    document.put(&WINDOWS, measured.rounds);
    document.put(&DISTURBED, measured.series.disturbed);
    point::memory(document, &outcome.point, measured);
}

fn state(document: &mut dyn Document, outcome: &Outcome<'_>, owned: &Owned) {
    let point = &outcome.point;
    document.put(&READER, point.cpu.0);
    document.put(&OWNER, owned.owner.map(|(owner, _)| owner.0));
    document.put(&THIRD, owned.third.map(|third| third.0));
    document.put(&CLASS, owned.owner.map_or("own", |(_, class)| class.name()));
    document.put(&OP, owned.access.name());
    document.put(&STATE, owned.state.name());
    document.put(&LEVEL, owned.level.name());
    document.put(&HOME, point.target.0);
    document.put(&STATE_LINES, point.size.0 / point.stride.0.max(1));
    match &outcome.result {
        Ok(measured) => {
            let found = measured.series.nanoseconds;
            document.put(&STATE_NS, found.median);
            document.put(&STATE_CI95, found.interval);
            document.put(&WINDOWS, measured.rounds);
            document.put(&DISTURBED, measured.series.disturbed);
            point::memory(document, point, measured);
        }
        Err(exclusion) => document.show(&point::NOT_MEASURED, exclusion),
    }
}
