//! Walks that do not count: before a chase is timed, what it is to find in the caches, TLBs and clocks has to be there.

use latency_core::buffer::Buffer;
use latency_core::stats;

use super::lanes::{FILLING_LAPS, LONGEST_FILL_NS};
use super::{Stopwatch, FEWEST_HOPS, LONGEST_WALK, MOST_BATCHES};
use crate::engine::subject::Subject;
use crate::error::Failure;
use crate::result::WarmUp;
use crate::sys::{signal, time};

impl Stopwatch<'_> {
    /// Walks before anything counts: `asked` hops, or one lap, a million hops or two seconds, whatever ends first.
    ///
    /// The first pass is timed by itself. Freshly streamed memory is in no cache, so a steady state that is faster
    /// than the first pass is a cache's. It also fills the TLBs and lets the core's clock settle.
    ///
    /// # Errors
    ///
    /// [`Failure::Interrupted`], and [`TimingError::HopsNotProven`] where a walk did not end where it had to.
    pub fn warm_up(
        &mut self,
        subject: &Subject<'_>,
        node: &mut u64,
        asked: Option<u64>,
    ) -> Result<WarmUp, Failure<'static>> {
        const MOST_HOPS: u64 = 1 << 20;
        const MOST_NS: f64 = 2e9;
        const ENOUGH_TO_JUDGE: u64 = 1 << 12;
        let nodes = subject.buffer.chain().nodes();
        let wanted = asked.unwrap_or(nodes.min(MOST_HOPS));
        let mut hops = 0;
        let mut spent_ns = 0.0;
        let mut part = FEWEST_HOPS;
        let (mut cold_parts, mut cold_hops) = (0, 0);
        while hops < wanted && (asked.is_some() || spent_ns < MOST_NS) {
            let count = part.min(wanted - hops);
            let part_ns = self.walk(subject, node, count)?;
            spent_ns += part_ns;
            hops += count;
            // Only what is met for the first time is cold. Later parts take the places of the first.
            if let (true, Some(slot)) = (hops <= nodes, self.scratch.get_mut(cold_parts % MOST_BATCHES)) {
                *slot = part_ns / count as f64;
                cold_parts += 1;
                cold_hops = hops;
            }
            // Short enough for most parts to fall between two interruptions, however slow memory is.
            if part_ns < self.timer.batch_ns() / 4.0 {
                part = (part * 2).min(LONGEST_WALK / 64);
            }
        }
        // As of a round, so that the two compare: what is interrupted says nothing of memory.
        let first_pass = self.scratch.get_mut(..cold_parts.min(MOST_BATCHES));
        let cold_ns = first_pass.and_then(stats::half_sample_mode).filter(|_| cold_hops >= ENOUGH_TO_JUDGE);
        Ok(WarmUp { hops, cold_ns, estimate_ns: self.estimate(subject, node)? })
    }

    /// Walks as far as a visit to another point may have spoilt: one lap, or 20 ms.
    ///
    /// # Errors
    ///
    /// As [`warm_up`](Self::warm_up).
    pub fn refresh(&self, subject: &Subject<'_>, node: &mut u64) -> Result<(), Failure<'static>> {
        const MOST_NS: f64 = 20e6;
        self.walk_for(subject, node, subject.buffer.chain().nodes(), MOST_NS).map(drop)
    }

    /// Touches a working set, which a lap is to follow, until caches that take lines in slowly hold it: the loads made.
    ///
    /// # Errors
    ///
    /// [`Failure::Interrupted`].
    pub fn touch(&self, buffer: &Buffer<'_>) -> Result<u64, Failure<'static>> {
        let begun = time::monotonic_raw_ns();
        let mut touched = 0;
        for _ in 0..FILLING_LAPS {
            if signal::interrupted() {
                return Err(Failure::Interrupted);
            }
            buffer.touch();
            touched += buffer.chain().nodes();
            if time::monotonic_raw_ns().saturating_sub(begun) as f64 > LONGEST_FILL_NS {
                break;
            }
        }
        Ok(touched)
    }

    /// Walks laps that do not count, until one is not faster than the one before, or there were `most` of them:
    /// the hops made.
    ///
    /// A cache with random victims keeps ever more of a working set of about its size: of the lines that a cyclic
    /// walk visits, two in so many laps are missed in each.
    ///
    /// # Errors
    ///
    /// As [`warm_up`](Self::warm_up).
    pub fn walk_until_steady(
        &self,
        subject: &Subject<'_>,
        node: &mut u64,
        most: u32,
    ) -> Result<u64, Failure<'static>> {
        const FASTER: f64 = 0.985;
        // Of very short laps several, so that a clock can tell.
        let hops = subject.buffer.chain().nodes().max(FEWEST_HOPS * 32);
        let (mut all, mut last) = (0, f64::INFINITY);
        for _ in 0..most {
            let (made, spent_ns) = self.walk_for(subject, node, hops, f64::INFINITY)?;
            all += made;
            if spent_ns > last * FASTER {
                break;
            }
            last = spent_ns;
        }
        Ok(all)
    }

    /// Walks `hops` hops, or `most_ns`: the hops made, and the nanoseconds that they took, whatever interrupted them.
    ///
    /// # Errors
    ///
    /// As [`warm_up`](Self::warm_up).
    pub fn walk_for(
        &self,
        subject: &Subject<'_>,
        node: &mut u64,
        hops: u64,
        most_ns: f64,
    ) -> Result<(u64, f64), Failure<'static>> {
        let mut left = hops;
        let mut spent_ns = 0.0;
        while left > 0 && spent_ns < most_ns {
            let part = left.min(FEWEST_HOPS * 16);
            spent_ns += self.walk(subject, node, part)?;
            left -= part;
        }
        Ok((hops - left, spent_ns))
    }

    /// Nanoseconds per hop, from walks that grow until they fill a batch; the middle of three.
    ///
    /// # Errors
    ///
    /// As [`warm_up`](Self::warm_up).
    pub fn estimate(&self, subject: &Subject<'_>, node: &mut u64) -> Result<f64, Failure<'static>> {
        let mut hops = FEWEST_HOPS;
        loop {
            let spent = self.walk(subject, node, hops)?;
            if spent >= self.timer.batch_ns() / 4.0 || hops >= LONGEST_WALK {
                break;
            }
            hops *= 2;
        }
        let mut estimates = [0.0; 3];
        for estimate in &mut estimates {
            *estimate = self.walk(subject, node, hops)? / hops as f64;
        }
        Ok(stats::median(&mut estimates).unwrap_or(f64::NAN))
    }
}
