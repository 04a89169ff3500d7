//! Walks of traffic: a batch is a number of lines of all generators together, including this thread.

use latency_core::ToReal;
use latency_core::traffic::Part;

use crate::budget::TRAFFIC_WINDOW_NS;
use crate::error::{Attempt, MeasureError};
use crate::result::{Counted, Software, Traffic};
use crate::seam::{Batch, Walkable, Walked};
use crate::stopwatch::{MOST_LOST, Stopwatch, counters};
use crate::threads::generators::Generators;
use crate::threads::generators::generator::chunk;
use latency_sys::{signal, time};

/// Maximum lines between two checks for an interrupt: 4 MiB, a millisecond.
const PIECE: u64 = 1 << 16;
/// Maximum nanoseconds of a piece if memory is slow, as in an emulator.
const PIECE_NS: f64 = 1e6;

/// The traffic of generators as a walk.
pub struct TrafficWalk<'s> {
    watch: &'s Stopwatch,
    generators: &'s Generators<'s>,
    traffic: Traffic,
    part: Part<'s>,
}

impl<'s> TrafficWalk<'s> {
    /// Returns the traffic of running generators, with this thread's in `part`, once its rate is steady.
    ///
    /// # Errors
    ///
    /// [`MeasureError::Interrupted`].
    pub fn settled(
        watch: &'s Stopwatch,
        generators: &'s Generators<'s>,
        traffic: Traffic,
        part: Part<'s>,
    ) -> Attempt<Self> {
        let mut stream = TrafficWalk { watch, generators, traffic, part };
        generators.steady(&mut |nanoseconds| stream.rate(nanoseconds))?;
        Ok(stream)
    }

    /// Returns lines per nanosecond, measured over `nanoseconds`.
    fn rate(&mut self, nanoseconds: f64) -> Attempt<f64> {
        let until_ns = self.now_ns() + nanoseconds;
        let (made, spent_ns) = self.watch.time(|| self.generate(u64::MAX, until_ns));
        Ok(made?.real() / spent_ns)
    }

    /// Generates on this thread until all generators together have moved `lines` more lines of 64 bytes, or time is up.
    fn generate(&mut self, lines: u64, until_ns: f64) -> Attempt<u64> {
        let TrafficWalk { generators, traffic, part, .. } = self;
        let (kind, steps) = (traffic.kind, chunk(part));
        let chunk = steps as u64 * traffic.lines_per_step();
        let before = generators.lines();
        let (mut own, mut made, mut piece) = (0, 0, chunk);
        let mut begun_ns = time::now_ns();
        while made < lines {
            if signal::interrupted() {
                return Err(MeasureError::Interrupted);
            }
            let share = ((lines - made) / u64::from(traffic.generators.max(1))).clamp(chunk, piece);
            for _ in 0..share.div_ceil(chunk) {
                part.touch(kind, steps);
                own += chunk;
            }
            made = own + (generators.lines() - before);
            let ended_ns = time::now_ns();
            if ended_ns >= until_ns {
                break;
            }
            if ended_ns - begun_ns < PIECE_NS {
                piece = (2 * piece).min(PIECE.max(chunk));
            }
            begun_ns = ended_ns;
        }
        Ok(made)
    }

    /// Makes one window of `lines` lines of all generators.
    fn window(&mut self, lines: u64, until_ns: f64) -> Attempt<Batch> {
        self.generators.begin_window();
        let before = time::thread_ran_ns();
        let (made, nanoseconds) = self.walk(lines, until_ns)?;
        let ran = before.and_then(|before| Some((time::thread_ran_ns()? - before).real()));
        let lost = ran.is_some_and(|ran| ran < nanoseconds * (1.0 - MOST_LOST)) || self.generators.has_lost();
        let moved = self.watch.brought_back()?;
        Ok(Batch {
            nanoseconds: nanoseconds / made.max(1).real(),
            preempted: moved || lost,
            // Excess lines do not count.
            hops: made.min(lines),
            ..Batch::NONE
        })
    }
}

impl Drop for TrafficWalk<'_> {
    fn drop(&mut self) {
        self.generators.own.set(self.part.place());
    }
}

impl Walkable for TrafficWalk<'_> {
    fn nodes(&self) -> u64 {
        self.traffic.footprint.0 / 64
    }

    /// Returns the number of generators, because the time per line is not a latency.
    fn lanes(&self) -> Option<usize> {
        Some(self.traffic.generators as usize)
    }

    fn walk(&mut self, hops: u64, until_ns: f64) -> Attempt<Walked> {
        let watch = self.watch;
        let (made, nanoseconds) = watch.time(|| self.generate(hops, until_ns));
        Ok((made?, nanoseconds))
    }

    /// Makes a window, and repeats it once if it was interrupted, because a round has only one.
    fn batch(&mut self, hops: u64, until_ns: f64) -> Attempt<Batch> {
        let first = self.window(hops, until_ns)?;
        if first.preempted { self.window(hops, until_ns) } else { Ok(first) }
    }

    fn batch_ns(&self) -> f64 {
        TRAFFIC_WINDOW_NS
    }

    fn software(&mut self) -> Software {
        self.watch.software()
    }

    /// Counts the events of this thread, while the other generators go on.
    fn count(&mut self, _: u64) -> Attempt<Counted> {
        let TrafficWalk { watch, traffic, part, .. } = self;
        let Some(meter) = &watch.meter else { return Ok(Counted::default()) };
        let chunk = chunk(part);
        let times = counters::MOST_COUNTED.div_ceil(chunk as u64);
        Ok(meter.count_all(times * chunk as u64 * traffic.lines_per_step(), || {
            for _ in 0..times {
                part.touch(traffic.kind, chunk);
            }
        }))
    }

    fn uncore_gigahertz(&self) -> f64 {
        self.generators.uncore_gigahertz(self.traffic.node)
    }
}
