//! The generators of a run: chosen, commanded and counted by the first thread.

use core::cell::Cell;

use latency_core::host::{Throttle, Uncore};
use latency_core::math::sqrt;
use latency_core::traffic::pace::{self, Pacing};
use latency_core::traffic::{Field, Kind, Part, Place};
use latency_core::{CpuSet, LINE, NodeId, ToReal};

use crate::error::{Attempt, MeasureError, PlacementError};
use crate::placement::{Site, Witness};
use crate::regions::{MOST, PlannedRegion};
use crate::result::{Point, Timer, Traffic};
use crate::stopwatch::CpuTimes;
use crate::threads::generators::generator::{Generator, GeneratorTask, Pace, SharedByGenerators};
use crate::warning::{SeenCause, Warning, Warnings};
use latency_sys::thread::wait_until;
use latency_sys::{SystemFiles, signal, time};

/// Nanoseconds of one measurement of the rate, which is repeated until two in a row agree, and maximum measurements:
/// clocks of cores and of the uncore follow the load within milliseconds.
const SETTLING_NS: f64 = 5e6;
const MOST_LOOKS: usize = 20;
/// Maximum difference of rates that agree, as a fraction.
const SETTLED: f64 = 0.02;
/// Standard deviations within which counts of lines differ by chance: counts are Poisson, so differences up to 3 sqrt(n) are
/// noise.
const CHANCE: f64 = 3.0;

/// The choice and the pacing of generators, the same for all points of a run.
#[derive(Clone, Copy)]
pub struct GeneratorStyle<'s> {
    /// Returns the CPUs that generators may use in addition to that of a point.
    pub cpus: &'s dyn Fn(&Point, &Traffic) -> CpuSet,
    /// The distribution of gaps.
    pub pacing: Pacing,
    /// Lines of a burst, if requested.
    pub burst: Option<u32>,
    /// True if the user fixed the CPUs (`--load-cpus`): points cannot have fewer generators.
    pub is_fixed: bool,
    /// True if the user fixed the memory of each generator: fewer generators have less in total.
    pub is_sized: bool,
}

/// Generators, most of them on threads of their own.
pub struct Generators<'g> {
    shared: &'g SharedByGenerators<'g>,
    /// The node that last walked each field; `None` before the first walk.
    walked_by: [Cell<Option<NodeId>>; MOST],
    /// The uncores that have a readable clock, and their nodes.
    uncores: &'g [(NodeId, Uncore)],
    style: GeneratorStyle<'g>,
    timer: Timer,
    /// The number of threads.
    threads: usize,
    /// The CPU times of the run.
    times: Option<&'static CpuTimes>,
    /// The number of generators that are running, and of lines that each of their steps moves.
    active: Cell<usize>,
    step: Cell<u64>,
    /// Number of runs so far, so that no run repeats the gaps and the random numbers of another.
    runs: Cell<u64>,
    /// The position at which this thread's next run continues, if it generates too.
    pub own: Cell<Place>,
    /// Number of runs before which the rate did not settle, and whether it settled before the current one.
    unsettled: Cell<u64>,
    is_steady: Cell<bool>,
    /// The quota of CPU time, if there is one, and the number of runs during which it was used up.
    throttle: Option<&'g Throttle>,
    throttled: Cell<u64>,
}

impl<'g> Generators<'g> {
    /// Returns resting generators, under a quota of CPU time.
    pub const fn new(
        shared: &'g SharedByGenerators<'g>,
        uncores: &'g [(NodeId, Uncore)],
        style: GeneratorStyle<'g>,
        timer: Timer,
        (threads, throttle): (usize, Option<&'g Throttle>),
        times: Option<&'static CpuTimes>,
    ) -> Self {
        Generators {
            shared,
            walked_by: [const { Cell::new(None) }; MOST],
            uncores,
            style,
            timer,
            threads,
            times,
            active: Cell::new(0),
            step: Cell::new(1),
            runs: Cell::new(0),
            own: Cell::new(Place::FIRST),
            unsettled: Cell::new(0),
            is_steady: Cell::new(true),
            throttle,
            throttled: Cell::new(0),
        }
    }

    /// Returns the clock of the uncore that serves the memory of a node; NaN if it is unknown.
    pub fn uncore_gigahertz(&self, node: NodeId) -> f64 {
        let own = self.uncores.iter().find(|(other, _)| *other == node);
        own.and_then(|(_, uncore)| uncore.gigahertz(&SystemFiles)).unwrap_or(f64::NAN)
    }

    /// Returns the number of times that the quota of CPU time stopped the generators, if it is known.
    pub fn stops(&self) -> Option<u64> {
        self.throttle?.count(&SystemFiles)
    }

    /// Returns whether the rate became steady before the window.
    pub const fn is_steady(&self) -> bool {
        self.is_steady.get()
    }

    /// Begins a window during which all generators must run throughout.
    pub fn begin_window(&self) {
        self.active().iter().for_each(|generator| generator.clock.begin_window());
    }

    /// Returns true if other work took a CPU from a generator since the window began.
    pub fn has_lost(&self) -> bool {
        self.active().iter().any(|generator| generator.clock.has_lost())
    }

    /// Returns the lines of 64 bytes so far and the ticks of the counter: the rate is the difference of two readings.
    /// Returns `None` without a counter.
    pub fn read(&self) -> Option<[u64; 2]> {
        let (stamp, _) = self.shared.clock?;
        Some([self.lines(), stamp.start()])
    }

    /// Returns lines per nanosecond since an earlier reading; NaN without one.
    pub fn rate_since(&self, before: Option<[u64; 2]>) -> f64 {
        let (Some([before, begun]), Some([after, ended]), Timer::Counter(counter)) =
            (before, self.read(), &self.timer)
        else {
            return f64::NAN;
        };
        (after - before).real() / counter.elapsed_ns(begun, ended)
    }

    /// Returns the part of this thread, if it generates too, at the position where its last run stopped.
    ///
    /// # Errors
    ///
    /// [`MeasureError::NOTHING_TO_MEASURE`] if there is no memory for the part.
    pub fn own_part(&self, point: &Point, traffic: &Traffic) -> Attempt<Part<'g>> {
        let field = self.find(point);
        let part = field.and_then(|(_, field)| field.holds.sized(0, part_lines(traffic)));
        let part = part.map(|part| part.numbered(self.runs.get()).resumed(self.own.get()));
        part.ok_or(MeasureError::NOTHING_TO_MEASURE)
    }

    /// Returns the witness of the memory of a point's traffic.
    pub fn witness(&self, point: &Point) -> Option<Witness> {
        Some(self.find(point)?.1.witness)
    }

    /// Returns the memory of a point's traffic, and its index.
    fn find(&self, point: &Point) -> Option<(usize, &'g Site<Field<'g>>)> {
        let [_, region] = PlannedRegion::of(point);
        let index = self.shared.fields.index(&region?)?;
        Some((index, self.shared.fields.get(index)?))
    }

    /// Runs the generators of a point, except this thread, during `body`.
    ///
    /// # Errors
    ///
    /// The errors of `body`; [`MeasureError::Interrupted`]; a CPU that a generator may not use.
    pub fn drive(&self, point: &Point, traffic: &Traffic, body: &mut dyn FnMut() -> Attempt) -> Attempt {
        self.write_again(point, traffic)?;
        let before = self.stops();
        let driven = self.start(point, traffic).and_then(|()| {
            self.active().iter().for_each(|generator| generator.clock.begin_run());
            body()
        });
        let throttled = self.stops() > before;
        for generator in self.active() {
            generator.clock.end_run(self.times, generator.cpu(), throttled);
        }
        self.rest();
        self.throttled.set(self.throttled.get() + u64::from(throttled));
        driven
    }

    /// Writes the memory of some traffic past the caches, from this CPU, if another node walked it last: a load of a
    /// line that another node has read may be served by that node's cache, or wait for a reply from it.
    fn write_again(&self, point: &Point, traffic: &Traffic) -> Attempt {
        /// Lines written between two checks for an interrupt: 4 MiB, a millisecond.
        const PIECE: usize = 1 << 16;
        let Some((index, field)) = self.find(point) else { return Ok(()) };
        let walked_by = self.walked_by.get(index).and_then(|by| by.replace(Some(traffic.from)));
        let kind = Kind::parse("nt-write").filter(|_| walked_by.is_some_and(|by| by != traffic.from));
        let (Some(kind), Some(mut all)) = (kind, field.holds.part(0, 1)) else { return Ok(()) };
        let mut left = all.lines();
        while left > 0 {
            if signal::interrupted() {
                return Err(MeasureError::Interrupted);
            }
            all.touch(kind, left.min(PIECE));
            left -= left.min(PIECE);
        }
        Ok(())
    }

    fn start(&self, point: &Point, traffic: &Traffic) -> Attempt {
        let others = point.walk.other_generators() as usize;
        let own = traffic.generators as usize - others;
        let (field, _) = self.find(point).ok_or(MeasureError::NOTHING_TO_MEASURE)?;
        let lines = part_lines(traffic);
        let cpus = (self.style.cpus)(point, traffic);
        let all = self.shared.generators.get(..others.min(self.threads));
        let all = all.ok_or(MeasureError::NOTHING_TO_MEASURE)?;
        if all.len() < others || cpus.len() < others {
            return Err(MeasureError::NOTHING_TO_MEASURE);
        }
        self.runs.set(self.runs.get() + 1);
        let pace = traffic.rate.and_then(|rate| self.pace(traffic, rate));
        for (index, generator) in all.iter().enumerate() {
            let Some(cpu) = super::spread(&cpus, index, others) else { break };
            let seed = self.runs.get() << 16 | (index + own) as u64;
            let (part, kind) = ((index + own, lines), traffic.kind);
            generator.run(GeneratorTask { cpu, field, part, kind, pace, seed });
        }
        self.active.set(others);
        self.step.set(traffic.lines_per_step());
        if !wait_until(&|| all.iter().all(Generator::has_begun), &signal::interrupted) {
            return Err(MeasureError::Interrupted);
        }
        match all.iter().find_map(Generator::kept_out) {
            Some(cpu) => Err(PlacementError::CpuTaken { cpu }.into()),
            None => Ok(()),
        }
    }

    /// Makes all generators rest, and waits until they do.
    fn rest(&self) {
        let active = self.active();
        active.iter().for_each(|generator| generator.mailbox.stop());
        // They always end within a few lines, so an interrupt is handled afterwards.
        wait_until(&|| active.iter().all(|generator| generator.mailbox.is_obeyed()), &|| false);
        self.active.set(0);
    }

    fn active(&self) -> &'g [Generator] {
        self.shared.generators.get(..self.active.get()).unwrap_or_default()
    }

    /// Returns the number of lines of 64 bytes that all running generators have moved.
    pub fn lines(&self) -> u64 {
        self.active().iter().map(Generator::lines).sum::<u64>() * self.step.get()
    }

    /// Waits until the rate is steady, without generating on this thread.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`].
    pub fn settle(&self) -> Attempt {
        self.steady(&mut |nanoseconds| {
            let (before, begun_ns) = (self.read(), time::now_ns());
            while time::now_ns() < begun_ns + nanoseconds {
                if signal::interrupted() {
                    return Err(MeasureError::Interrupted);
                }
            }
            Ok(self.rate_since(before))
        })
    }

    /// Calls `rate`, which measures the rate over some nanoseconds, until it is steady. A window then begins with the
    /// clocks that its load causes.
    ///
    /// # Errors
    ///
    /// The errors of `rate`.
    pub fn steady(&self, rate: &mut dyn FnMut(f64) -> Attempt<f64>) -> Attempt {
        let mut last = f64::NAN;
        self.is_steady.set(true);
        for _ in 0..MOST_LOOKS {
            let rate = rate(SETTLING_NS)?;
            let chance = CHANCE / sqrt((rate * SETTLING_NS).max(1.0));
            if !rate.is_finite() || (rate / last - 1.0).abs() <= SETTLED.max(chance) {
                return Ok(());
            }
            last = rate;
        }
        self.unsettled.set(self.unsettled.get() + 1);
        self.is_steady.set(false);
        Ok(())
    }

    /// Returns the pace of each generator of some traffic, from the total rate.
    fn pace(&self, traffic: &Traffic, rate: f64) -> Option<Pace> {
        let Timer::Counter(counter) = &self.timer else { return None };
        let (line_ticks, burst) = traffic.bursts(counter, rate, self.style.burst);
        Some(Pace { pacing: self.style.pacing, gap: pace::gap(line_ticks * f64::from(burst)), burst })
    }

    /// Warns about events during the runs of generators.
    pub fn tell(&self, warnings: &mut Warnings) {
        let moves = self.shared.generators.iter().map(|one| u64::from(one.moves())).sum();
        warnings.push_if(moves > 0, Warning::GeneratorMoved { times: moves });
        let of = self.runs.get();
        let windows = self.unsettled.get();
        warnings.push_if(windows > 0, Warning::NotSettled { windows, of, cause: SeenCause::Unseen });
        let windows = self.throttled.get();
        warnings.push_if(windows > 0, Warning::Throttled { windows, of });
    }
}

/// Returns the lines of the part of one generator: the memory may be larger, if other traffic has more in total or if the
/// pages are larger than the memory that was asked for.
fn part_lines(traffic: &Traffic) -> usize {
    (traffic.footprint.0 / u64::from(traffic.generators.max(1)) / LINE.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::made_up;
    use crate::result::{TrafficSubject, Walk};
    use crate::tests::outcome::POINT;
    use latency_core::arch::Line;
    use latency_core::traffic::BLOCK;
    use latency_core::{Bytes, LineSize, PageSize, Pages};
    use std::vec;

    #[test]
    fn the_first_threads_part_continues_where_it_stopped() {
        const LINES: usize = 4096;
        let mut memory = vec![Line([0; 8]); LINES];
        let fields = made_up(&mut memory);
        let shared = SharedByGenerators { generators: &[], fields: &fields, clock: None };
        let footprint = Bytes(LINES as u64 * 64);
        let style = GeneratorStyle {
            cpus: &|_, _| CpuSet::EMPTY,
            pacing: Pacing::Poisson,
            burst: None,
            is_fixed: false,
            is_sized: false,
        };
        let timer = Timer::Kernel(crate::result::KernelClock { step_ns: 1, overhead_ns: 1 });
        let generators = Generators::new(&shared, &[], style, timer, (0, None), None);
        let (node, kind) = (NodeId(0), Kind::parse("write").unwrap());
        let traffic = Traffic {
            kind,
            generators: 1,
            subject: TrafficSubject::Node,
            from: node,
            node,
            footprint,
            line: LineSize::LEAST,
            rate: None,
        };
        let point = Point {
            initiator: node,
            target: node,
            size: footprint,
            pages: Pages::base(PageSize::LEAST),
            walk: Walk::Traffic(traffic),
            ..POINT
        };
        for run in 1..=2 {
            let mut part = generators.own_part(&point, &traffic).unwrap().numbered(run << 32);
            part.touch(kind, 1000);
            generators.own.set(part.place());
        }
        let of = |run| memory.iter().filter(|line| line.0[0] >> 32 == run).count();
        assert_eq!((of(1), of(2)), (1000, 1000));
    }

    /// A huge page holds many small working sets: a walk over all of it would miss the caches that hold one.
    #[test]
    fn a_part_has_the_size_that_was_asked_for_in_a_larger_page() {
        let mut memory = vec![Line([0; 8]); 32 * BLOCK];
        let field = Field::new(&mut memory);
        let footprint = LINE.times(2 * BLOCK as u64);
        let generators = 2;
        let node = NodeId(0);
        let (kind, subject) = (Kind::parse("read").unwrap(), TrafficSubject::Node);
        let traffic = Traffic {
            kind,
            generators,
            subject,
            from: node,
            node,
            footprint,
            line: LineSize::LEAST,
            rate: None,
        };
        assert_eq!(field.sized(1, part_lines(&traffic)).map(|part| part.lines()), Some(BLOCK));
    }
}
