//! The only timed code: walks between two stamps, and the check of the node where each ended; walks of several lanes;
//! and independent loads in address order, which give the inverse of a throughput.
//!
//! The stopwatch uses a buffer and a clock. Other modules place the buffer and evaluate the times.
//!
//! Lanes continue where they stopped. If they began at the same nodes again, they would find their own lines in a
//! cache: on a core with 14 loads in flight, the result was 29.

pub mod clock;
pub mod core_clock;
pub mod counters;
pub mod cpu_time;
mod single_hops;

use core::cell::Cell;

use latency_core::arch::{EndStamp, Line};
use latency_core::buffer::{Buffer, Cursor};
use latency_core::chain::Chain;
use latency_core::kernel::lanes::{self, MOST_LANES};
use latency_core::kernel::{Kernel, POINTER};
use latency_core::{Bytes, CpuId, ToReal, stats};

use crate::budget::FEWEST_ROUNDS;
use crate::error::{Attempt, MeasureError, TimingError};
use crate::placement;
use crate::result::{Counted, Counter, KernelClock, Point, Software, Strided, Timer, Walk, point};
use crate::seam::RUSHING_LANES;
use latency_sys::{cpu, signal, time};

pub use counters::Meter;
pub use cpu_time::{CpuTimes, MOST_LOST, ThreadClock};
pub use single_hops::Singles;

/// Returns the nanoseconds since `start` by the kernel's clock; NaN if the clock stepped back.
fn elapsed_ns(clock: &KernelClock, start: u64) -> f64 {
    let spent = time::monotonic_raw_ns().checked_sub(start);
    spent.and_then(|spent| spent.checked_sub(clock.overhead_ns)).map_or(f64::NAN, |spent| spent.real())
}

/// Returns the error of a walk that did not end at the expected node, or could not begin.
pub fn not_proven<E>(_: E) -> MeasureError {
    MeasureError::HOPS_NOT_PROVEN
}

/// Times walks on one CPU with one clock.
pub struct Stopwatch {
    /// The clock.
    pub timer: Timer,
    /// The hardware counters of this thread, if they are wanted and available.
    pub meter: Option<Meter>,
    /// The CPU to which the thread was pinned.
    home: Cell<Option<CpuId>>,
    moves: Cell<u64>,
    /// The processor number that the counter's reads return on that CPU, and whether a read has returned another number
    /// since.
    number: Cell<u32>,
    strayed: Cell<bool>,
    /// The CPU times of the run, to which the thread's stays on each CPU are added.
    pub times: Option<&'static CpuTimes>,
}

impl Stopwatch {
    /// Returns a stopwatch on `timer`, with hardware counters if they are wanted.
    pub const fn new(timer: Timer, meter: Option<Meter>) -> Self {
        let (number, strayed) = (Cell::new(0), Cell::new(false));
        Stopwatch { timer, meter, home: Cell::new(None), moves: Cell::new(0), number, strayed, times: None }
    }

    /// Pins the thread to `cpu`, where it must stay.
    ///
    /// # Errors
    ///
    /// The errors of [`placement::pin`].
    pub fn go_to(&self, cpu: CpuId) -> Attempt {
        self.brought_back()?;
        placement::pin(cpu)?;
        self.stay_on(cpu);
        Ok(())
    }

    /// Lets the thread go to any CPU until it is pinned again: the program itself moves it. A move before is counted.
    ///
    /// # Errors
    ///
    /// The errors of [`brought_back`](Self::brought_back).
    pub fn leave(&self) -> Attempt {
        self.brought_back()?;
        self.home.set(None);
        Ok(())
    }

    /// Records `cpu` as the CPU to which the thread was pinned and where it must stay.
    pub fn stay_on(&self, cpu: CpuId) {
        self.home.set(Some(cpu));
        if let Some(counter) = self.timer.counter() {
            self.number.set(counter.stamp.end().processor);
        }
        self.strayed.set(false);
        if let Some(times) = self.times {
            times.first_goes_to(cpu);
        }
    }

    /// Returns the nanoseconds from `start` to a stamp. A stamp of another CPU is recorded, because the thread may be
    /// back before the next check.
    pub fn ended(&self, counter: &Counter, start: u64, end: EndStamp) -> f64 {
        if end.processor != self.number.get() {
            self.strayed.set(true);
        }
        counter.elapsed_ns(start, end.ticks)
    }

    /// Pins the thread again if it was moved; returns true if so, or if a timed walk ended on another CPU.
    ///
    /// An administrator's taskset moves the thread, and so does a change of the cpuset.
    ///
    /// # Errors
    ///
    /// The errors of [`placement::pin`], if the thread may not return.
    pub fn brought_back(&self) -> Attempt<bool> {
        let Some(home) = self.home.get() else { return Ok(false) };
        let is_away = cpu::current().is_ok_and(|(cpu, _)| cpu != home);
        if is_away {
            placement::pin(home)?;
        }
        let moved = is_away | self.strayed.take();
        self.moves.set(self.moves.get() + u64::from(moved));
        Ok(moved)
    }

    /// Returns the number of times that the thread was found on another CPU.
    pub fn moves(&self) -> u64 {
        self.moves.get()
    }

    /// Runs `body`. Returns its value and its duration in nanoseconds; NaN if the clock stepped back.
    pub fn time<R>(&self, body: impl FnOnce() -> R) -> (R, f64) {
        match &self.timer {
            Timer::Counter(counter) => {
                let start = counter.stamp.start();
                let found = body();
                (found, self.ended(counter, start, counter.stamp.end()))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let found = body();
                (found, elapsed_ns(clock, start))
            }
        }
    }

    /// Walks once from stamp to stamp, verifies where the walk ended, and returns its nanoseconds.
    pub fn walk(&self, subject: &Subject<'_>, node: &mut u64, hops: u64) -> Attempt<f64> {
        if let Some(side) = subject.side {
            return self.walk_lanes(subject.buffer, side, hops);
        }
        let Subject { buffer, kernel, .. } = subject;
        let (ended, nanoseconds) = match &self.timer {
            Timer::Counter(counter) => {
                let walk = buffer.timed_walk(kernel, *node, hops as usize, counter.stamp);
                let walk = walk.map_err(not_proven)?;
                (walk.ended, self.ended(counter, walk.start, walk.end))
            }
            Timer::Kernel(clock) => {
                let start = time::monotonic_raw_ns();
                let ended = buffer.walk(kernel, *node, hops as usize).map_err(not_proven)?;
                (ended, elapsed_ns(clock, start))
            }
        };
        *node = buffer.prove(*node, hops, ended).map_err(not_proven)?;
        Ok(nanoseconds)
    }

    /// Returns the thread's context switches, migrations and faults so far.
    pub fn software(&self) -> Software {
        let usage = cpu::thread_usage().unwrap_or_default();
        Software {
            switches: (usage.voluntary_switches, usage.involuntary_switches),
            migrations: self.moves.get(),
            faults: (usage.minor_faults, usage.major_faults),
        }
    }
}

/// The chain or the lanes of a chase.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'b> {
    /// The chain in memory.
    pub buffer: &'b Buffer<'b>,
    /// The loop that walks the chain.
    pub kernel: &'static Kernel,
    /// The lanes, if more than one chain is walked.
    pub side: Option<&'b SideBySide>,
}

/// The node of each lane.
pub type Positions = [u64; MOST_LANES];

/// Lanes to be walked.
#[derive(Debug)]
pub struct SideBySide {
    /// The kind of walk; never [`Walk::Chain`], which has no lanes.
    pub walk: Walk,
    /// The node of each lane.
    pub positions: Cell<Positions>,
}

/// Initial estimate of the nanoseconds of a hop, used until one is measured (5,000 hops per piece).
pub const UNKNOWN_HOP_NS: f64 = 1e3;

/// Error of a walk without a time-stamp counter: loads with instructions between them are timed from stamp to stamp.
pub const NEEDS_COUNTER: TimingError =
    TimingError::NeedsCounter { what: "measurements of the out-of-order window", instead: "parallel" };

/// Returns nodes at equal distances on the cycle.
pub fn start(chain: &Chain, lanes: usize) -> Positions {
    let mut positions = [0; MOST_LANES];
    for (lane, position) in positions.iter_mut().enumerate().take(lanes) {
        *position = chain.start(lane as u64, lanes as u64);
    }
    positions
}

/// Lanes that walk a chain of addresses as fast as memory allows.
pub struct Rush {
    /// The current node of each lane.
    pub side: SideBySide,
    /// Nanoseconds of a hop of all lanes.
    pub hop_ns: f64,
}

impl Rush {
    /// Returns lanes at equal distances on the chain of this number; `None` if nodes hold no addresses.
    pub fn over(buffer: &Buffer<'_>, number: usize) -> Option<Rush> {
        let kernel = lanes::parallel(RUSHING_LANES).filter(|_| buffer.encoding() == POINTER.encoding)?;
        let chain = buffer.chain();
        let mut positions = start(chain, RUSHING_LANES);
        if let Some((first, nodes)) = chain.cycle(number).filter(|_| number > 0) {
            (0..).zip(&mut positions).take(RUSHING_LANES).for_each(|(lane, position)| {
                *position = first + nodes / RUSHING_LANES as u64 * lane;
            });
        }
        let positions = Cell::new(positions);
        Some(Rush { side: SideBySide { walk: Walk::Lanes(kernel), positions }, hop_ns: UNKNOWN_HOP_NS })
    }
}

impl Stopwatch {
    /// Walks every lane `hops` hops, verifies where each ended, and returns the nanoseconds of the walk.
    pub fn walk_lanes(&self, buffer: &Buffer<'_>, side: &SideBySide, hops: u64) -> Attempt<f64> {
        let mut nanoseconds = Ok(0.0);
        self.proven(buffer, side, hops, |starts, ends| {
            nanoseconds = self.timed_lanes(buffer, side.walk, (starts, ends), hops);
        })?;
        nanoseconds
    }

    /// Returns events per hop of every lane, from counted, untimed walks, one for each group of events.
    pub fn count_lanes(
        &self,
        meter: &Meter,
        buffer: &Buffer<'_>,
        side: &SideBySide,
        hops: u64,
    ) -> Attempt<Counted> {
        let mut all = Counted::default();
        for group in 0..counters::WALKS {
            let mut walked = Ok(0.0);
            self.proven(buffer, side, hops, |starts, ends| {
                let walk = || walked = self.timed_lanes(buffer, side.walk, (starts, ends), hops);
                all = all.and(&meter.count(group, hops, walk));
            })?;
            walked?;
        }
        Ok(all)
    }

    /// Calls `walk` with the lanes at their current nodes, and verifies where each ended.
    fn proven(
        &self,
        buffer: &Buffer<'_>,
        side: &SideBySide,
        hops: u64,
        walk: impl FnOnce(&[u64], &mut [Cursor]),
    ) -> Attempt {
        let mut positions = side.positions.get();
        let mut ends = [Cursor::default(); MOST_LANES];
        let lanes = side.walk.lanes();
        let (Some(starts), Some(ends)) = (positions.get_mut(..lanes), ends.get_mut(..lanes)) else {
            return Err(not_proven(()));
        };
        walk(starts, ends);
        buffer.prove_lanes(starts, hops, ends).map_err(not_proven)?;
        side.positions.set(positions);
        Ok(())
    }

    #[inline(always)]
    fn timed_lanes(
        &self,
        buffer: &Buffer<'_>,
        walk: Walk,
        (starts, ends): (&[u64], &mut [Cursor]),
        hops: u64,
    ) -> Attempt<f64> {
        Ok(match (&self.timer, walk) {
            (Timer::Counter(counter), walk) => {
                let timed = match walk {
                    Walk::Lanes(kernel) => {
                        buffer.timed_walk_lanes(kernel, starts, ends, hops as usize, counter.stamp)
                    }
                    Walk::Apart(gap) => {
                        let (starts, ends) = (starts.first_chunk(), ends.first_chunk_mut());
                        let (Some(starts), Some(ends)) = (starts, ends) else { return Err(not_proven(())) };
                        buffer.timed_walk_apart(gap, starts, ends, hops as usize, counter.stamp)
                    }
                    Walk::Chain | Walk::Traffic(_) | Walk::Loaded(_) | Walk::PingPong(_) | Walk::Owned(_) => {
                        return Err(not_proven(()));
                    }
                };
                let timed = timed.map_err(not_proven)?;
                self.ended(counter, timed.start, timed.end)
            }
            (Timer::Kernel(clock), Walk::Lanes(kernel)) => {
                let start = time::monotonic_raw_ns();
                buffer.walk_lanes(kernel, starts, ends, hops as usize).map_err(not_proven)?;
                elapsed_ns(clock, start)
            }
            (Timer::Kernel(_), _) => return Err(NEEDS_COUNTER.into()),
        })
    }
}

/// Bytes of memory over which independent loads are timed together: 60 microseconds at 30 GB/s.
const SLICE: Bytes = Bytes(2 << 20);
/// Maximum slices of a visit.
const SLICES: usize = 128;
/// Steps of a coarse counter that a slice spans.
const SLICE_STEPS: u32 = 500;
/// Maximum rate at which one core loads a slice, in bytes per nanosecond.
const FASTEST: f64 = 100.0;

/// Returns the bytes that are timed together: more if a coarse counter needs a longer time.
pub fn strided_slice(counter: &Counter) -> Bytes {
    let least = (counter.at_least(SLICE_STEPS) * FASTEST) as u64;
    Bytes(SLICE.0.max(least.next_power_of_two()))
}

/// The nanoseconds per independent load, for each visit.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loads {
    times: [f64; FEWEST_ROUNDS],
    made: usize,
}

impl Loads {
    /// Times loads of every node of `point` in `lines`, and records the dominant value over the slices of the memory.
    ///
    /// A slice is written past the caches and read at once, in a time that usually falls between two interruptions.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`], and the errors of [`Stopwatch::brought_back`].
    pub fn visit(
        &mut self,
        lines: &mut [Line],
        point: &Point,
        watch: &Stopwatch,
        counter: &Counter,
    ) -> Attempt {
        let mut slice = *point;
        slice.size = slice.size.min(strided_slice(counter));
        let chain = point::chain(&slice)?;
        let loads = chain.nodes() as usize;
        let mut times = [f64::NAN; SLICES];
        let mut made = 0;
        let slices = lines.chunks_exact_mut((slice.size.0 / 64).max(1) as usize);
        for lines in slices.take(SLICES) {
            if signal::interrupted() {
                return Err(MeasureError::Interrupted);
            }
            let Ok(buffer) = Buffer::build(lines, &chain, point.kernel.encoding) else { return Ok(()) };
            let Ok(timed) = buffer.timed_strided_loads(loads, counter.stamp) else { return Ok(()) };
            let spent_ns = watch.ended(counter, timed.start, timed.end);
            let is_timed = spent_ns.is_finite() && !watch.brought_back()?;
            // If the counter steps back during a slice, or the thread is moved, the next slice replaces it.
            if let Some(time) = times.get_mut(made).filter(|_| is_timed) {
                *time = spent_ns / loads.real();
                made += 1;
            }
        }
        let state = times.get_mut(..made).and_then(stats::state);
        if let (Some(slot), Some(state)) = (self.times.get_mut(self.made), state) {
            *slot = state.value;
            self.made += 1;
        }
        Ok(())
    }

    /// Returns the median over visits, also in core cycles if the core's clock is known; `None` without a visit.
    pub fn conclude(mut self, core_gigahertz: Option<f64>) -> Option<Strided> {
        let found = self.times.get_mut(..self.made).and_then(stats::summarise_series)?;
        let (nanoseconds, interval) = (found.median, found.interval);
        let core_cycles = core_gigahertz.map(|clock| clock * nanoseconds);
        Some(Strided { nanoseconds, interval, core_cycles, rounds: self.made })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::processor::identify;
    use crate::warning::Warnings;
    use latency_sys::SystemFiles;

    #[test]
    fn a_time_that_ends_on_another_cpu_counts_as_a_move_after_the_thread_returns() {
        let allowed = cpu::allowed().unwrap();
        let (here, there) = (CpuId(allowed.first().unwrap()), CpuId(allowed.last().unwrap()));
        let processor = identify(&SystemFiles, here);
        let watch = Stopwatch::new(Timer::choose(&processor, false, &mut Warnings::empty()).unwrap(), None);
        let number_on = |cpu| {
            cpu::pin_to(cpu).unwrap();
            watch.timer.counter().map(|counter| counter.stamp.end().processor)
        };
        if number_on(there) == number_on(here) {
            return std::eprintln!(
                "one CPU, or a counter that does not tell which: a move cannot be seen by it"
            );
        }
        watch.stay_on(here);
        let (_, nanoseconds) = watch.time(|| ());
        assert!(nanoseconds.is_finite() && !watch.brought_back().unwrap());
        let (_, _) = watch.time(|| cpu::pin_to(there).unwrap());
        cpu::pin_to(here).unwrap();
        assert_eq!(cpu::current().unwrap().0, here);
        assert!(watch.brought_back().unwrap() && watch.moves() == 1);
        assert!(!watch.brought_back().unwrap() && watch.moves() == 1);
        cpu::pin(&allowed).unwrap();
    }
}
