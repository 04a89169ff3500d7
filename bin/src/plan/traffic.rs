//! The points of `bandwidth`: the CPUs that generate, the memory that they access, and the number of generators at a
//! time.

use latency_core::traffic::{KINDS, Kind, Pattern, View};
use latency_core::{CpuId, CpuSet, LineSize, NodeId, ToReal, math};

use super::{EachPoint, Planning, Scope, generators, working_set};
use crate::error::{Failure, PlacementError};
use crate::machine::Machine;
use crate::options::{Kinds, Options, UsageError};
use crate::result::{Point, Traffic, Walk};
use crate::warning::Warning;

/// Seconds of a point, in enough rounds for an interval.
const POINT_S: f64 = 0.5;
/// Maximum share of a budget for the points.
const SHARE: f64 = 0.7;

/// Returns the kinds of traffic of a view: those that the user gave, or the view's own.
fn asked_kinds(options: &Options<'_>, machine: &Machine) -> Kinds {
    const ALL: &[&str] = &["read", "3:1", "2:1", "1:1", "nt-write", "copy-nt", "random", "write", "copy"];
    kinds(options, machine, if options.view == View::Mix { ALL } else { &["read"] })
}

/// Passes the points of a view to `each`. The latency of one chain comes before the traffic of a pair in memory: with
/// it, rates are converted to loads in flight.
///
/// # Errors
///
/// The errors of [`Scope::resolve`], [`check_kinds`], [`generators::check_cpus`] and [`generators::footprint`].
pub fn bandwidth<'a>(planning: &mut Planning<'_, 'a>, each: EachPoint<'_>) -> Result<(), Failure<'a>> {
    let scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    check_kinds(options, machine)?;
    let asked = generators::check_cpus(options, machine)?;
    let mut initiators = scope.initiators;
    if let Some(node) = asked.filter(|_| options.cpu.is_none()) {
        initiators = [node.0].into_iter().collect();
    }
    let nodes = options.view == View::Nodes;
    let pairs = initiators.len() * scope.targets.len();
    let kinds = asked_kinds(options, machine).iter().count();
    let affordable = math::whole(options.budget.0.real() / 1e12 * SHARE / POINT_S) as usize;
    // The full form has one, half and all of the cores for each kind, and a chain.
    let brief = nodes && pairs * (3 * kinds + 1) > affordable;
    let most_pairs = if nodes { (affordable / kinds.max(1)).max(1) } else { usize::MAX };
    if nodes && pairs > most_pairs {
        planning
            .warnings
            .push(Warning::PairsLeftOut { pairs: (pairs - most_pairs) as u32, of: pairs as u32 });
    }
    let line = machine.line;
    let (mut made, mut begun) = (0, 0);
    for from in initiators.iter().map(NodeId) {
        let own = scope.targets.contains(from.0).then_some(from.0);
        for to in
            scope.targets_of(from).iter().filter(|to| nodes || own.is_none_or(|own| own == *to)).map(NodeId)
        {
            if begun == most_pairs {
                break;
            }
            begun += 1;
            let pair = PairPlan { from, to, targets: scope.targets.len(), line, brief };
            pair.points(planning, &mut |point| {
                made += 1;
                each(point);
            })?;
            // The other views are of one pair, except the view of each core.
            if !nodes {
                break;
            }
        }
        if matches!(options.view, View::Mix | View::Scaling) {
            break;
        }
    }
    if made == 0 {
        return Err(Failure::NOTHING_TO_MEASURE);
    }
    Ok(())
}

/// Returns the kinds of traffic that the user gave, or those of `usual` whose counts are exact on this machine.
pub fn kinds(options: &Options<'_>, machine: &Machine, usual: &'static [&'static str]) -> Kinds {
    options.traffic.unwrap_or_else(|| {
        let line = machine.line;
        let named = KINDS.iter().enumerate().filter(|(_, kind)| kind.pattern() != Pattern::Permuted);
        let places = named.filter(|(_, kind)| usual.contains(&kind.name) && kind.is_exact_with(line));
        places.fold(Kinds::NONE, |kinds, (place, _)| kinds.with(place))
    })
}

/// Refuses kinds of traffic that the user gave and whose counts are not exact on this machine.
///
/// # Errors
///
/// [`UsageError::PartOfLine`].
pub fn check_kinds(options: &Options<'_>, machine: &Machine) -> Result<(), UsageError<'static>> {
    let line = machine.line;
    let inexact = |kind: &&Kind| !kind.is_exact_with(line);
    match options.traffic.and_then(|kinds| kinds.iter().find(inexact)) {
        Some(kind) => Err(UsageError::PartOfLine { kind: kind.name, line }),
        None => Ok(()),
    }
}

/// The common properties of the points of one pair of nodes.
struct PairPlan {
    from: NodeId,
    to: NodeId,
    targets: usize,
    /// The cache line of the machine.
    line: LineSize,
    /// True if there is only time for the brief form.
    brief: bool,
}

impl PairPlan {
    fn points<'a>(&self, planning: &mut Planning<'_, 'a>, each: EachPoint<'_>) -> Result<(), Failure<'a>> {
        let Planning { options, machine, .. } = *planning;
        let PairPlan { from, to, targets, brief, .. } = *self;
        let cpus = generators::measured(options, machine, from);
        let Some(cpu) = generators::first(options, machine, from) else { return Ok(()) };
        let like = Point::like(options, machine, [from, to], cpu, options.size.unwrap_or_default());
        if options.size.is_none() && options.view != View::Cores && !brief {
            each(Point { size: working_set(planning, to, targets)?, ..like });
        }
        let kinds = asked_kinds(options, machine);
        if options.view == View::Cores {
            for kind in kinds.iter() {
                for cpu in &cpus {
                    let alone: CpuSet = [cpu].into_iter().collect();
                    each(self.point(planning, &Point { cpu: CpuId(cpu), ..like }, &alone, kind, 1)?);
                }
            }
            return Ok(());
        }
        // A CPU that the user gave comes first.
        let most = generators::others(options, machine, &like, &self.traffic(&KINDS[0], 1)).len() as u32 + 1;
        generators::warn_of_few(machine, most, planning.warnings);
        for kind in kinds.iter() {
            for count in counts(options.view, most).filter(|count| !brief || *count == most) {
                each(self.point(planning, &like, &cpus, kind, count)?);
            }
        }
        Ok(())
    }

    fn traffic(&self, kind: &'static Kind, generators: u32) -> Traffic {
        let PairPlan { from, to: node, line, .. } = *self;
        Traffic { kind, generators, from, node, footprint: Default::default(), line, rate: None }
    }

    fn point(
        &self,
        planning: &mut Planning<'_, '_>,
        like: &Point,
        cpus: &CpuSet,
        kind: &'static Kind,
        count: u32,
    ) -> Result<Point, PlacementError<'static>> {
        let footprint = generators::footprint(planning, cpus, (self.to, self.targets), count)?;
        let traffic = Traffic { footprint, ..self.traffic(kind, count) };
        Ok(Point { size: footprint, walk: Walk::Traffic(traffic), ..*like })
    }
}

/// Returns the numbers of generators of a view, up to `most`: one, half and all of them; or one and every doubling.
fn counts(view: View, most: u32) -> impl Iterator<Item = u32> {
    let wanted = move |count: &u32| match view {
        View::Scaling => count.is_power_of_two() || *count == most,
        _ => *count == 1 || *count == most / 2 || *count == most,
    };
    (1..=most).filter(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    #[test]
    fn one_half_and_all_generators_are_planned() {
        let counts = |view, most| counts(view, most).collect::<Vec<_>>();
        assert_eq!(counts(View::Nodes, 1), [1]);
        assert_eq!(counts(View::Nodes, 2), [1, 2]);
        assert_eq!(counts(View::Mix, 23), [1, 11, 23]);
        assert_eq!(counts(View::Scaling, 12), [1, 2, 4, 8, 12]);
    }
}
