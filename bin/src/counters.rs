//! What the hardware counts while a chase walks, per hop.
//!
//! Walks for the counters are walks of their own, without stamps: what the timing
//! executes around batches is not counted. They are proven as all others.

use crate::error::{Failure, TimingError};
use crate::experiment::Session;
use crate::measure::Subject;
use crate::result::CountsPerHop;
use crate::sys::errno::Errno;
use crate::sys::perf::{Counters, Event, COUNT};
use crate::sys::signal;
use crate::warning::{NoCounters, Warning};

/// The hops of one walk: short enough for an interrupt to be answered.
const HOPS: u64 = 1 << 20;

/// Counters that are ready to count.
pub struct HopCounters(Counters);

/// What was counted so far.
#[derive(Clone, Copy, Debug, Default)]
pub struct Counted {
    /// By the order of [`Event::ALL`].
    totals: [Option<u64>; COUNT],
    hops: u64,
}

impl HopCounters {
    /// The counters, if they are wanted and can be had; says why where they cannot.
    pub fn open(session: &mut Session<'_, '_>) -> Option<HopCounters> {
        if !session.options.counters {
            return None;
        }
        let counters = Counters::open();
        match counters.availability(Event::Cycles).and_then(|()| counters.start()) {
            Ok(()) => Some(HopCounters(counters)),
            Err(errno) => {
                let why = match errno {
                    Errno::EACCES => NoCounters::Paranoid,
                    Errno::EPERM | Errno::ENOSYS => NoCounters::Filtered,
                    _ => NoCounters::Absent,
                };
                session.warnings.push(Warning::CountersUnavailable { why });
                None
            }
        }
    }

    /// Walks from `node`, and adds what is counted meanwhile.
    ///
    /// # Errors
    ///
    /// [`Failure::Interrupted`], and [`TimingError::HopsNotProven`] where the walk did not end where it had to.
    pub fn walk(
        &self,
        subject: &Subject<'_>,
        node: &mut u64,
        counted: &mut Counted,
    ) -> Result<(), Failure<'static>> {
        if signal::interrupted() {
            return Err(Failure::Interrupted);
        }
        let before = self.0.read();
        let ended = subject
            .buffer
            .walk(subject.kernel, *node, HOPS as usize)
            .map_err(|_| TimingError::HopsNotProven)?;
        let after = self.0.read();
        *node = subject.buffer.prove(*node, HOPS, ended).map_err(|_| TimingError::HopsNotProven)?;
        let (Ok(before), Ok(after)) = (before, after) else { return Ok(()) };
        for (total, count) in counted.totals.iter_mut().zip(after.since(&before).counts) {
            if let Some(count) = count {
                *total = Some(total.unwrap_or(0).saturating_add(count));
            }
        }
        counted.hops += HOPS;
        Ok(())
    }
}

impl Counted {
    /// Per hop; `None` if nothing was counted.
    #[must_use]
    pub fn per_hop(&self) -> Option<CountsPerHop> {
        let of = |event: Event| {
            let total = self.totals.get(event as usize).copied().flatten()?;
            Some(total as f64 / self.hops as f64)
        };
        (self.hops > 0).then(|| CountsPerHop {
            cycles: of(Event::Cycles),
            instructions: of(Event::Instructions),
            first_level_misses: of(Event::FirstLevelMisses),
            last_level_misses: of(Event::LastLevelMisses),
            tlb_misses: of(Event::TlbMisses),
        })
    }
}
