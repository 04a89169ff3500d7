//! The points of `bandwidth`: the CPUs that generate, the memory that they access, and the number of generators at a
//! time.

use alloc::vec::Vec;

use latency_core::traffic::{KINDS, Kind, Pattern, View};
use latency_core::{Bytes, CpuId, CpuSet, LineSize, NodeId, ToReal, math};

use super::sizes::check;
use super::{PlannedPoints, Planning, Scope, curve, generators, not_empty, working_set};
use crate::error::Failure;
use crate::options::{FlagId, Kinds, Options, UsageError};
use latency_engine::error::PlacementError;
use latency_engine::machine::Machine;
use latency_engine::result::{Point, Traffic, TrafficSubject, Walk};
use latency_engine::warning::Warning;

/// Seconds of a point, in enough rounds for an interval.
const POINT_S: f64 = 0.5;
/// Maximum share of a budget for the points.
const SHARE: f64 = 0.7;

/// Returns the kinds of traffic of a view: those that the user gave, or the view's own.
fn asked_kinds(options: &Options, machine: &Machine) -> Kinds {
    const ALL: &[&str] = &["read", "3:1", "2:1", "1:1", "nt-write", "copy-nt", "random", "write", "copy"];
    kinds(options, machine, if options.view == View::Mix { ALL } else { &["read"] })
}

/// Plans the points of a view. The latency of one chain comes before the traffic of a pair in memory: with
/// it, rates are converted to loads in flight.
///
/// # Errors
///
/// The errors of [`Scope::resolve`], [`check_kinds`], [`generators::check_cpus`] and [`generators::footprint`].
pub fn bandwidth(planning: &mut Planning<'_>) -> PlannedPoints {
    let mut scope = Scope::resolve(planning)?;
    let Planning { options, machine, .. } = *planning;
    check_kinds(options, machine)?;
    let asked = generators::check_cpus(options, machine)?;
    if let Some(node) = asked.filter(|_| options.cpu.is_none()) {
        scope.initiators = [node.0].into_iter().collect();
    }
    let initiators = scope.initiators;
    if options.view == View::Caches && machine.cache(3).is_none() {
        return Err(PlacementError::NoSharedCache.into());
    }
    if options.view == View::Size {
        return by_size(planning, &scope);
    }
    let nodes = matches!(options.view, View::Nodes | View::Caches);
    let pairs = initiators.len() * scope.targets.len();
    let kinds = asked_kinds(options, machine).iter().count();
    let affordable = math::whole(options.budget.0.real() / 1e12 * SHARE / POINT_S) as usize;
    // The full form has one, half and all of the cores for each kind, and a chain.
    let full = pairs * (3 * kinds + 1);
    let brief = nodes && full > affordable;
    let caches = |from| generators::last_level_caches(options, machine, NodeId(from)).len();
    let of_caches = initiators.iter().map(caches).sum::<usize>() * scope.targets.len() * kinds;
    // Without a request, last-level caches are measured where nodes have several, if there is time.
    let by_cache = match options.view {
        View::Nodes if options.given.contains(FlagId::View) || options.size.is_some() => false,
        View::Nodes if full + of_caches > affordable => false,
        View::Nodes => {
            initiators.iter().any(|from| generators::have_several_caches(options, machine, NodeId(from)))
        }
        view => view == View::Caches,
    };
    let most_pairs = if nodes { (affordable / kinds.max(1)).max(1) } else { usize::MAX };
    if nodes && pairs > most_pairs {
        planning
            .warnings
            .push(Warning::PairsLeftOut { pairs: (pairs - most_pairs) as u32, of: pairs as u32 });
    }
    let line = machine.line;
    let (mut points, mut begun) = (Vec::new(), 0);
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
            if options.view == View::Cores {
                let cpus = generators::measured(options, machine, from);
                pair.of_each(planning, &cpus, TrafficSubject::Cpu, &mut points)?;
            } else {
                pair.points(planning, &mut points)?;
            }
            if by_cache {
                let firsts = generators::last_level_caches(options, machine, from);
                pair.of_each(planning, &firsts, TrafficSubject::LastLevelCache, &mut points)?;
            }
            // The other views are of one pair, except the view of each core.
            if !nodes {
                break;
            }
        }
        if matches!(options.view, View::Mix | View::Scaling) {
            break;
        }
    }
    not_empty(points)
}

/// Plans the points of one pair of nodes by working set: for each size of the memory of a core, one core and
/// all cores. All cores together have less memory than as many single ones where memory is short.
///
/// # Errors
///
/// The errors of [`Scope::pair`], [`curve::ends`], [`curve::sizes`] and [`generators::footprint_in_memory`].
fn by_size(planning: &mut Planning<'_>, scope: &Scope) -> PlannedPoints {
    let Planning { options, machine, .. } = *planning;
    let (from, to) = scope.pair(options, machine)?;
    let pair = PairPlan { from, to, targets: 1, line: machine.line, brief: false };
    let cpu = generators::first(options, machine, from).ok_or(Failure::NOTHING_TO_MEASURE)?;
    let like = super::chain(options, machine, [from, to], cpu, Bytes(0));
    let cores = pair.most(planning, &like);
    let (least, most) = match options.size {
        Some(size) => {
            check(options, machine, to, size)?;
            (size, size)
        }
        None => curve::ends(planning, to)?,
    };
    // Powers of two are easily compared with other programs.
    let least = if options.min_size.or(options.size).is_some() { least } else { Bytes(1 << least.0.ilog2()) };
    let of_all = match options.size.or(options.max_size) {
        Some(_) => generators::two_fifths(machine, (to, 1), most.times(u64::from(cores))),
        None => {
            let all = generators::measured(options, machine, from);
            generators::footprint_in_memory(planning, &all, (to, 1))?
        }
    };
    let kinds = asked_kinds(options, machine);
    let mut points = Vec::new();
    for size in curve::sizes(options, machine, (least, most), 1)? {
        let fits = |generators: &u32| *generators == 1 || size.times(u64::from(*generators)) <= of_all;
        for kind in kinds.iter().map(|kind| kind.whole(machine.processor.vector_bytes)) {
            for generators in counts(View::Size, cores).filter(fits) {
                let (subject, footprint) =
                    (TrafficSubject::WorkingSet(size), size.times(u64::from(generators)));
                let traffic = Traffic { footprint, subject, ..pair.traffic(kind, generators) };
                points.push(Point { size: footprint, walk: Walk::Traffic(traffic), ..like });
            }
        }
    }
    Ok(points)
}

/// Returns the kinds of traffic that the user gave, or those of `usual` whose counts are exact on this machine.
pub fn kinds(options: &Options, machine: &Machine, usual: &'static [&'static str]) -> Kinds {
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
pub fn check_kinds(options: &Options, machine: &Machine) -> Result<(), UsageError> {
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
    /// Adds the points of the cores of a node together.
    fn points(&self, planning: &mut Planning<'_>, points: &mut Vec<Point>) -> Result<(), Failure> {
        let Planning { options, machine, .. } = *planning;
        let PairPlan { from, to, targets, brief, .. } = *self;
        let Some(cpu) = generators::first(options, machine, from) else { return Ok(()) };
        let like = super::chain(options, machine, [from, to], cpu, options.size.unwrap_or_default());
        if options.size.is_none() && !brief {
            points.push(Point { size: working_set(planning, to, targets)?, ..like });
        }
        let most = self.most(planning, &like);
        for kind in asked_kinds(options, machine).iter() {
            for count in counts(options.view, most).filter(|count| !brief || *count == most) {
                points.push(self.point(planning, &like, self.traffic(kind, count))?);
            }
        }
        Ok(())
    }

    fn traffic(&self, kind: &'static Kind, generators: u32) -> Traffic {
        let PairPlan { from, to: node, line, .. } = *self;
        let subject = TrafficSubject::Node;
        Traffic { kind, generators, subject, from, node, footprint: Default::default(), line, rate: None }
    }

    /// Returns the maximum number of generators, and warns if there are few. A CPU that the user gave is the first.
    fn most(&self, planning: &mut Planning<'_>, like: &Point) -> u32 {
        let Planning { options, machine, .. } = *planning;
        let others = generators::others(options, machine, like, &self.traffic(&KINDS[0], 1));
        let most = others.len() as u32 + 1;
        generators::warn_of_few(machine, most, planning.warnings);
        most
    }

    /// Adds the points of each subject, given the first CPUs of all.
    fn of_each(
        &self,
        planning: &mut Planning<'_>,
        firsts: &CpuSet,
        subject: fn(CpuId) -> TrafficSubject,
        points: &mut Vec<Point>,
    ) -> Result<(), Failure> {
        let Planning { options, machine, .. } = *planning;
        for kind in asked_kinds(options, machine).iter() {
            for cpu in firsts.iter().map(CpuId) {
                let like = super::chain(options, machine, [self.from, self.to], cpu, Bytes(0));
                let mut traffic = Traffic { subject: subject(cpu), ..self.traffic(kind, 1) };
                traffic.generators += generators::others(options, machine, &like, &traffic).len() as u32;
                points.push(self.point(planning, &like, traffic)?);
            }
        }
        Ok(())
    }

    fn point(
        &self,
        planning: &mut Planning<'_>,
        like: &Point,
        mut traffic: Traffic,
    ) -> Result<Point, PlacementError> {
        let Planning { options, machine, .. } = *planning;
        let cpus = generators::measured_of(options, machine, &traffic);
        let footprint = generators::footprint(planning, &cpus, (self.to, self.targets), traffic.generators)?;
        traffic.footprint = footprint;
        if options.size.is_some_and(|size| !machine.reaches_memory(size)) {
            traffic.kind = traffic.kind.whole(machine.processor.vector_bytes);
        }
        Ok(Point { size: footprint, walk: Walk::Traffic(traffic), ..*like })
    }
}

/// Returns the numbers of generators of a view, up to `most`: one, half and all of them; one and every doubling; or one and
/// all.
fn counts(view: View, most: u32) -> impl Iterator<Item = u32> {
    let wanted = move |count: &u32| match view {
        View::Scaling => count.is_power_of_two() || *count == most,
        View::Size => *count == 1 || *count == most,
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
        assert_eq!(counts(View::Size, 12), [1, 12]);
    }
}
