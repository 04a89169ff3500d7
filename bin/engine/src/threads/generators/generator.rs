//! One generator on a thread of its own: its task, and the counts that are read while it runs.
//!
//! Between runs it sleeps, so that idle CPUs stay idle. Within a run it makes no system call: it touches lines, counts
//! them in a cache line of its own, and reads one word that changes when the run ends. It maps nothing, binds nothing
//! and prints nothing.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use latency_core::CpuId;
use latency_core::arch::{Stamp, unserialised_ticks};
use latency_core::traffic::pace::{Pacer, Pacing};
use latency_core::traffic::{Field, Kind, Part, Place};

use crate::placement::Sites;
use crate::stopwatch::ThreadClock;
use latency_sys::mailbox::{Mailbox, Wait};
use latency_sys::{cpu, thread};

/// Lines between two reads of the word that ends a run, and two stores of the count: some microseconds of memory's
/// time.
pub const CHUNK: usize = 64;
/// Lines of a chunk in a part that caches hold; with small chunks, a call of the routine would cost as much as the
/// lines.
pub const LARGE_CHUNK: usize = 1024;

/// The state that all generators share.
pub struct SharedByGenerators<'s> {
    /// The generators with threads of their own.
    pub generators: &'s [Generator],
    /// The memory.
    pub fields: &'s Sites<Field<'s>>,
    /// The counter that paces the generators, if there is one, and the maximum ticks of a stall that they make up for.
    pub clock: Option<(Stamp, u64)>,
}

/// The pace at which a generator touches lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// The distribution of gaps.
    pub pacing: Pacing,
    /// Mean ticks from burst to burst, with as many fractional bits as [`Pacer`] has.
    pub gap: u64,
    /// Lines of a burst.
    pub burst: u32,
}

/// The task of a generator in one run.
#[derive(Clone, Copy, Debug)]
pub struct GeneratorTask {
    /// The CPU to run on.
    pub cpu: CpuId,
    /// The memory, as an index of the fields.
    pub field: usize,
    /// The index of the part of the field, and the lines of a part.
    pub part: (usize, usize),
    /// The kind of traffic.
    pub kind: &'static Kind,
    /// The pace; without one, lines follow each other at the maximum rate.
    pub pace: Option<Pace>,
    /// The seed of the gaps, which differs in every run.
    pub seed: u64,
}

/// The line count of a generator, on a cache line that no other thread writes.
#[repr(C, align(128))]
struct Count(AtomicU64);

/// The states of a run.
const BEGINS: u32 = 0;
const RUNS: u32 = 1;
const KEPT_OUT: u32 = 2;

/// A generator, as the first thread sees it: its task, and the values that can be read while it runs.
#[repr(C, align(128))]
pub struct Generator {
    /// Its CPU time.
    pub clock: ThreadClock,
    /// Its tasks.
    pub mailbox: Mailbox<GeneratorTask, ()>,
    /// The state of the run under its last task.
    run: AtomicU32,
    /// Number of runs that ended on another CPU than the generator's.
    moves: AtomicU32,
    /// The CPU of its last task.
    cpu: AtomicU32,
    count: Count,
}

impl Generator {
    /// Returns a generator that rests.
    pub const fn idle() -> Generator {
        Generator {
            clock: ThreadClock::new(),
            mailbox: Mailbox::empty(),
            run: AtomicU32::new(BEGINS),
            moves: AtomicU32::new(0),
            cpu: AtomicU32::new(0),
            count: Count(AtomicU64::new(0)),
        }
    }

    /// Returns the lines that it has touched in all its runs.
    pub fn lines(&self) -> u64 {
        // Relaxed: a count that is late by a chunk is noise, and nothing else is read by it.
        self.count.0.load(Ordering::Relaxed)
    }

    /// Returns true if a run has begun, or cannot begin.
    pub fn has_begun(&self) -> bool {
        // Acquire: the number of the generator's clock was written before.
        self.run.load(Ordering::Acquire) != BEGINS
    }

    /// Returns the CPU of the task if the generator may not run there.
    pub fn kept_out(&self) -> Option<CpuId> {
        // Relaxed: the state alone is read, which does not change back after `has_begun`.
        (self.run.load(Ordering::Relaxed) == KEPT_OUT).then(|| self.cpu())
    }

    /// Returns the number of runs that ended on another CPU.
    pub fn moves(&self) -> u32 {
        // Relaxed: the end of the run publishes it.
        self.moves.load(Ordering::Relaxed)
    }

    /// Returns the CPU of its last task.
    pub fn cpu(&self) -> CpuId {
        // Relaxed: only the first thread accesses it.
        CpuId(self.cpu.load(Ordering::Relaxed))
    }

    /// Starts a run of a resting generator.
    pub fn run(&self, task: GeneratorTask) {
        // Relaxed: the task publishes both, and the end of the last run came before.
        self.run.store(BEGINS, Ordering::Relaxed);
        self.cpu.store(task.cpu.0, Ordering::Relaxed);
        self.mailbox.give(task);
    }

    fn goes_on(&self) -> bool {
        // Relaxed: the word says only that the run ends.
        self.mailbox.stop_word().load(Ordering::Relaxed) == 0
    }

    /// Makes one run, which continues where the previous one stopped, because caches may hold the lines of the previous
    /// run.
    fn obey(&self, task: &GeneratorTask, shared: &SharedByGenerators<'_>, place: &mut Place) {
        let field = shared.fields.get(task.field);
        let part = field.and_then(|field| field.holds.sized(task.part.0, task.part.1));
        let (Ok(()), Some(part)) = (cpu::pin_to(task.cpu), part) else {
            // Release: as below.
            return self.run.store(KEPT_OUT, Ordering::Release);
        };
        // Release: the number of this thread's clock is visible to a thread that sees the run.
        self.run.store(RUNS, Ordering::Release);
        *place = self.generate(part.numbered(task.seed).resumed(*place), task, shared.clock);
        if cpu::current().is_ok_and(|(cpu, _)| cpu != task.cpu) {
            // Relaxed: only this thread writes it, and the end of the run publishes it.
            self.moves.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Touches lines until the run ends. Returns the position of the next one.
    fn generate(&self, mut part: Part<'_>, task: &GeneratorTask, clock: Option<(Stamp, u64)>) -> Place {
        let before = self.lines();
        let kind = task.kind;
        // Relaxed: see `lines`.
        let count = |steps: u64| self.count.0.store(before + steps, Ordering::Relaxed);
        let (Some(Pace { pacing, gap, burst }), Some((stamp, patience))) = (task.pace, clock) else {
            let chunk = chunk(&part);
            while self.goes_on() {
                count(part.touch(kind, chunk));
            }
            return part.place();
        };
        let now = unserialised_ticks(stamp);
        let mut pacer = Pacer::new(pacing, gap, task.seed, now).patient(patience);
        while self.goes_on() {
            let now = unserialised_ticks(stamp);
            if pacer.due(now) {
                count(part.touch(kind, burst as usize));
                pacer.advance(now);
            }
        }
        part.place()
    }
}

/// Returns the number of lines that are touched at a time.
pub fn chunk(part: &Part<'_>) -> usize {
    /// Lines of a chunk in a part that a core's own caches hold: a call costs as much as 100 lines of the L1.
    const LARGEST_CHUNK: usize = 1 << 14;
    /// Lines that the caches of one core may hold: 16 MiB.
    const LARGE: usize = 1 << 18;
    /// Lines that a core's own caches may hold: 1 MiB.
    const SMALL: usize = 1 << 14;
    match part.lines() {
        ..SMALL => LARGEST_CHUNK,
        SMALL..LARGE => LARGE_CHUNK,
        _ => CHUNK,
    }
}

/// Works as generator number `index` until it is dismissed.
pub fn work(shared: &SharedByGenerators<'_>, index: usize) {
    let Some(own) = shared.generators.get(index) else { return };
    thread::name(c"generator");
    own.clock.is_of_this_thread();
    let mut place = Place::FIRST;
    own.mailbox.serve(|task| {
        own.obey(&task, shared, &mut place);
        ((), Wait::Asleep)
    });
}

/// Ends all generators.
pub fn dismiss(shared: &SharedByGenerators<'_>) {
    shared.generators.iter().for_each(|generator| generator.mailbox.dismiss());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::made_up;
    use latency_core::arch::Line;
    use latency_core::traffic::PERMUTED_LINES;
    use latency_core::traffic::pace::FRACTION_BITS;
    use std::{thread, vec};

    /// Returns the number of lines that each of two runs wrote, and the number that still have its value: all, unless
    /// the second run wrote to lines of the first. `runs` are the kind and the number of parts of each.
    fn written(runs: [(&str, usize); 2]) -> ([u64; 2], [u64; 2]) {
        // The gap between bursts is long, so a run has few of them.
        let pace = Some(Pace { pacing: Pacing::Even, gap: (20 << 20) << FRACTION_BITS, burst: 1000 });
        let cpu = latency_sys::cpu::allowed().unwrap().first().map(CpuId).unwrap();
        let mut memory = vec![Line([0; 8]); 4 * PERMUTED_LINES];
        let generators = [Generator::idle()];
        let fields = made_up(&mut memory);
        let shared = SharedByGenerators {
            generators: &generators,
            fields: &fields,
            clock: Some((Stamp::detect().unwrap(), 0)),
        };
        let [generator] = &generators;
        let run = |number: u64, (name, parts)| {
            let (before, kind) = (generator.lines(), Kind::parse(name).unwrap());
            let part = (0, 4 * PERMUTED_LINES / parts);
            generator.run(GeneratorTask { cpu, field: 0, part, kind, pace, seed: number << 32 });
            while generator.lines() < before + 1000 {
                thread::yield_now();
            }
            generator.mailbox.stop();
            while !generator.mailbox.is_obeyed() {
                thread::yield_now();
            }
            generator.lines() - before
        };
        let counted = thread::scope(|scope| {
            scope.spawn(|| work(&shared, 0));
            let counted = [run(1, runs[0]), run(2, runs[1])];
            dismiss(&shared);
            counted
        });
        let kept = [1, 2].map(|run| memory.iter().filter(|line| line.0[0] >> 32 == run).count() as u64);
        (counted, kept)
    }

    /// A run must not touch lines that the previous run left in a cache: a low rate would not reach memory.
    #[test]
    fn a_run_does_not_touch_lines_of_the_previous_run() {
        for runs in [
            [("write", 1), ("write", 1)],
            [("nt-write", 1), ("write", 1)],
            [("write", 2), ("write", 1)],
            [("write", 1), ("nt-write", 2)],
        ] {
            let (counted, kept) = written(runs);
            assert_eq!(kept, counted, "{runs:?}");
        }
    }
}
