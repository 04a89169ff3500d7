//! One generator on a thread of its own, and the words by which it is commanded and read.
//!
//! Between runs it sleeps, so that idle CPUs are idle. Within a run it makes no system call: it touches lines, counts
//! them in a cache line of its own, and looks at one word that changes when the run ends. It maps nothing, binds
//! nothing and prints nothing.

use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use latency_core::arch::{unserialised_ticks, Stamp};
use latency_core::traffic::pace::{Pacer, Pacing};
use latency_core::traffic::{Field, Kind, Part, Place, KINDS};
use latency_core::units::CpuId;

use crate::engine::cpu_time::ThreadClock;
use crate::engine::memory::pieces::Sites;
use crate::sys::{cpu, thread};

/// Commands.
const REST: u32 = 0;
const RUN: u32 = 1;
const QUIT: u32 = 2;

/// Lines between two looks at the command, and two stores of the count: some microseconds of memory's time.
pub const CHUNK: usize = 64;
/// The same in a part that caches hold, where a call of the routine would cost as much as the lines.
pub const LARGE_CHUNK: usize = 1024;

/// What all generators share.
pub struct Shared<'s> {
    /// A word for each generator with a thread.
    pub boxes: &'s [Mailbox],
    /// The memory.
    pub fields: &'s Sites<Field<'s>>,
    /// The counter that paces them, if there is one, and the ticks of an interrupt that they catch up with.
    pub clock: Option<(Stamp, u64)>,
}

/// When a generator touches its next lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// How gaps are drawn.
    pub pacing: Pacing,
    /// Ticks from burst to burst on average, with as many fractional bits as [`Pacer`] has.
    pub gap: u64,
    /// Lines of a burst.
    pub burst: u32,
}

/// What one generator is to do.
#[derive(Clone, Copy, Debug)]
pub struct Orders {
    /// The CPU to run on.
    pub cpu: CpuId,
    /// The memory, by its place among the fields.
    pub field: usize,
    /// The part of it, and the number of parts.
    pub part: (usize, usize),
    /// The kind of traffic.
    pub kind: &'static Kind,
    /// As fast as it can, or at times of its own.
    pub pace: Option<Pace>,
    /// Another number for every run: the gaps that are drawn.
    pub seed: u64,
}

/// The count of a generator, on a line that nobody else writes.
#[repr(C, align(128))]
struct Count(AtomicU64);

/// The words between a generator and the first thread.
#[repr(C, align(128))]
pub struct Mailbox {
    /// Its CPU time.
    pub clock: ThreadClock,
    command: AtomicU32,
    /// What the generator does.
    answer: AtomicU32,
    /// Whether it may not run on its CPU.
    kept_out: AtomicU32,
    /// Runs at the end of which it was on another CPU than its own.
    moves: AtomicU32,
    cpu: AtomicU32,
    field: AtomicU32,
    part: AtomicU32,
    parts: AtomicU32,
    kind: AtomicU32,
    burst: AtomicU32,
    even: AtomicU32,
    /// Zero for no pace.
    gap: AtomicU64,
    seed: AtomicU64,
    count: Count,
}

impl Mailbox {
    /// A generator that rests.
    #[must_use]
    pub const fn new() -> Mailbox {
        Mailbox {
            clock: ThreadClock::new(),
            command: AtomicU32::new(REST),
            answer: AtomicU32::new(REST),
            kept_out: AtomicU32::new(0),
            moves: AtomicU32::new(0),
            cpu: AtomicU32::new(0),
            field: AtomicU32::new(0),
            part: AtomicU32::new(0),
            parts: AtomicU32::new(0),
            kind: AtomicU32::new(0),
            burst: AtomicU32::new(0),
            even: AtomicU32::new(0),
            gap: AtomicU64::new(0),
            seed: AtomicU64::new(0),
            count: Count(AtomicU64::new(0)),
        }
    }

    /// The lines that it has touched in all its runs.
    pub fn lines(&self) -> u64 {
        self.count.0.load(Ordering::Relaxed)
    }

    /// Whether it runs.
    pub fn runs(&self) -> bool {
        self.answer.load(Ordering::Acquire) == RUN
    }

    /// The CPU of its orders, where it may not run there.
    pub fn kept_out(&self) -> Option<CpuId> {
        let kept_out = self.kept_out.load(Ordering::Relaxed) != 0;
        kept_out.then(|| self.cpu())
    }

    /// Runs that ended on another CPU.
    pub fn moves(&self) -> u32 {
        self.moves.load(Ordering::Relaxed)
    }

    /// The CPU of its last orders.
    pub fn cpu(&self) -> CpuId {
        CpuId(self.cpu.load(Ordering::Relaxed))
    }

    /// Has a generator that rests run.
    pub fn run(&self, orders: &Orders) {
        let Orders { cpu, field, part, kind, pace, seed } = *orders;
        let kind = KINDS.iter().position(|known| core::ptr::eq(known, kind)).unwrap_or(0);
        let words = [
            (&self.cpu, cpu.0),
            (&self.field, field as u32),
            (&self.part, part.0 as u32),
            (&self.parts, part.1 as u32),
            (&self.kind, kind as u32),
            (&self.burst, pace.map_or(0, |pace| pace.burst)),
            (&self.even, u32::from(pace.is_some_and(|pace| pace.pacing == Pacing::Even))),
            (&self.kept_out, 0),
        ];
        for (word, value) in words {
            word.store(value, Ordering::Relaxed);
        }
        self.gap.store(pace.map_or(0, |pace| pace.gap), Ordering::Relaxed);
        self.seed.store(seed, Ordering::Relaxed);
        self.tell(RUN);
    }

    /// Has it rest, sooner or later.
    pub fn rest(&self) {
        self.tell(REST);
    }

    /// Has it end.
    pub fn quit(&self) {
        self.tell(QUIT);
    }

    fn tell(&self, command: u32) {
        self.command.store(command, Ordering::Release);
        thread::wake(&self.command);
    }

    fn is_to(&self, command: u32) -> bool {
        self.command.load(Ordering::Relaxed) == command
    }

    /// The orders, as the first thread left them.
    fn orders(&self) -> Option<Orders> {
        let word = |word: &AtomicU32| word.load(Ordering::Relaxed) as usize;
        let gap = self.gap.load(Ordering::Relaxed);
        let pacing = if word(&self.even) == 0 { Pacing::Poisson } else { Pacing::Even };
        let pace = Pace { pacing, gap, burst: self.burst.load(Ordering::Relaxed) };
        Some(Orders {
            cpu: self.cpu(),
            field: word(&self.field),
            part: (word(&self.part), word(&self.parts)),
            kind: KINDS.get(word(&self.kind))?,
            pace: (gap > 0).then_some(pace),
            seed: self.seed.load(Ordering::Relaxed),
        })
    }

    /// Makes one run, which goes on where the one before stopped: caches may hold the lines of that.
    fn obey(&self, shared: &Shared<'_>, place: &mut Place) {
        let Some(orders) = self.orders() else { return };
        let field = shared.fields.get(orders.field);
        let part = field.and_then(|field| field.holds.part(orders.part.0, orders.part.1));
        match (cpu::pin_to(orders.cpu), part) {
            (Ok(()), Some(part)) => {
                self.answer.store(RUN, Ordering::Release);
                *place = self.generate(part.numbered(orders.seed).resumed(*place), &orders, shared.clock);
                if cpu::current().is_ok_and(|(cpu, _)| cpu != orders.cpu) {
                    self.moves.fetch_add(1, Ordering::Relaxed);
                }
            }
            _ => {
                self.kept_out.store(1, Ordering::Relaxed);
                self.answer.store(RUN, Ordering::Release);
                thread::wait(&self.command, RUN);
            }
        }
    }

    /// Touches lines until the command changes; the place of the next one.
    fn generate(&self, mut part: Part<'_>, orders: &Orders, clock: Option<(Stamp, u64)>) -> Place {
        let before = self.lines();
        let kind = orders.kind;
        let count = |steps: u64| self.count.0.store(before + steps, Ordering::Relaxed);
        let (Some(Pace { pacing, gap, burst }), Some((stamp, patience))) = (orders.pace, clock) else {
            let chunk = chunk(&part);
            while self.is_to(RUN) {
                count(part.touch(kind, chunk));
            }
            return part.place();
        };
        let now = unserialised_ticks(stamp);
        let mut pacer = Pacer::new(pacing, gap, orders.seed, now).patient(patience);
        while self.is_to(RUN) {
            let now = unserialised_ticks(stamp);
            if pacer.due(now) {
                count(part.touch(kind, burst as usize));
                pacer.advance(now);
            }
        }
        part.place()
    }
}

/// Lines that are touched at a time.
pub fn chunk(part: &Part<'_>) -> usize {
    /// 16 MiB: what is larger is not in the caches of one core.
    const LARGE: usize = 1 << 18;
    if part.lines() < LARGE {
        LARGE_CHUNK
    } else {
        CHUNK
    }
}

/// The work of the thread with that index, until it is told to quit.
pub fn work(shared: &Shared<'_>, index: usize) {
    let Some(own) = shared.boxes.get(index) else { return };
    thread::name(c"generator");
    own.clock.is_of_this_thread();
    let mut place = Place::FIRST;
    loop {
        match own.command.load(Ordering::Acquire) {
            QUIT => return,
            RUN => own.obey(shared, &mut place),
            _ => {}
        }
        own.answer.store(REST, Ordering::Release);
        thread::wait(&own.command, REST);
    }
}

/// Has all generators end.
pub fn dismiss(shared: &Shared<'_>) {
    shared.boxes.iter().for_each(Mailbox::quit);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::pieces::made_up;
    use latency_core::arch::Line;
    use latency_core::traffic::pace::FRACTION_BITS;
    use latency_core::traffic::PERMUTED_LINES;
    use std::thread;
    use std::vec;

    /// Lines that were written by two runs, and how many of each still have what it wrote: all, unless the second wrote
    /// to lines of the first. The kinds and numbers of parts are those of either.
    fn written(runs: [(&str, usize); 2]) -> ([u64; 2], [u64; 2]) {
        // The bursts of a run are so far apart that it has few of them.
        let pace = Some(Pace { pacing: Pacing::Even, gap: (20 << 20) << FRACTION_BITS, burst: 1000 });
        let cpu = crate::sys::cpu::allowed().unwrap().first().map(CpuId).unwrap();
        let mut memory = vec![Line([0; 8]); 4 * PERMUTED_LINES];
        let boxes = [Mailbox::new()];
        let fields = made_up(&mut memory);
        let shared = Shared { boxes: &boxes, fields: &fields, clock: Some((Stamp::detect().unwrap(), 0)) };
        let [mailbox] = &boxes;
        let run = |number: u64, (name, parts)| {
            let (before, kind) = (mailbox.lines(), Kind::parse(name).unwrap());
            mailbox.run(&Orders { cpu, field: 0, part: (0, parts), kind, pace, seed: number << 32 });
            while mailbox.lines() < before + 1000 {
                thread::yield_now();
            }
            mailbox.rest();
            while mailbox.runs() {
                thread::yield_now();
            }
            mailbox.lines() - before
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

    /// Lines that a run left in a cache would serve the next one, and a low rate would not reach memory.
    #[test]
    fn a_run_does_not_touch_the_lines_of_the_run_before() {
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
