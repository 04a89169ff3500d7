//! Conclusions about the core from the reach over fillers and work: capacity of its buffers, and the gain of a
//! prefetch.

use latency_core::kernel::lanes::{Filler, Gap, WINDOW};
use latency_core::{Estimate, Interval, Side, ToReal};

use super::lanes::{WorkReach, WorkingSet, work_reach};
use latency_engine::result::Reach;

/// Difference between runs, in fillers. Each run finds the end of the window within a few fillers, and the next run
/// finds it elsewhere: 348 to 380 mixed fillers on Zen 4.
const RUN_TO_RUN: usize = 16;
/// Least speedup at which a prefetch is worth its instruction.
const PAYS: f64 = 1.05;

/// The number of instructions of a kind that the core can hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// The number of instructions, with the range in which runs differ; `None` if no limit was seen.
    pub instructions: Option<Estimate>,
    /// True if the limit was found as precisely as runs agree.
    pub converged: bool,
}

/// Returns the room that a search found.
pub fn room(reach: &Reach) -> Room {
    let Reach { overlaps, alone, .. } = *reach;
    let Some(alone) = alone else { return Room { instructions: None, converged: false } };
    let middle = overlaps.midpoint(alone) + Gap::OVERHEAD;
    let half = alone.abs_diff(overlaps).div_ceil(2);
    let spread = half + RUN_TO_RUN;
    let interval =
        Some(Interval { low: middle.saturating_sub(spread).real(), high: (middle + spread).real() });
    Room {
        instructions: Some(Estimate { value: middle.real(), interval }),
        converged: alone >= overlaps && half <= RUN_TO_RUN,
    }
}

/// Returns the room for a kind of filler, if it was sought.
fn room_for(reaches: &[Option<Reach>], filler: Filler) -> Option<Room> {
    reaches.iter().flatten().find(|reach| reach.filler == filler).map(room)
}

/// The result for the size of the reorder buffer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ReorderBuffer {
    /// The size was not measured.
    NotTested,
    /// The kinds of filler contradict each other, so that none of them is credible.
    FillersDisagree,
    /// Loads overlapped over the largest number of fillers in the loop: the buffer holds more instructions than this.
    MoreThan(usize),
    /// The buffer holds this number of instructions.
    Holds(Estimate),
}

impl ReorderBuffer {
    /// Returns the number of instructions, if it is known.
    pub const fn holds(&self) -> Option<Estimate> {
        match self {
            ReorderBuffer::Holds(instructions) => Some(*instructions),
            ReorderBuffer::NotTested | ReorderBuffer::FillersDisagree | ReorderBuffer::MoreThan(_) => None,
        }
    }
}

/// Returns the size of the reorder buffer.
///
/// A `nop` takes one entry only, `lea` also an integer register, and the mixture fewer of each kind of register. In the
/// order `nop`, mixed, `lea`, none can therefore reach farther than the one before it. If a `nop` takes no entry of its
/// own, the mixture determines the size.
pub fn reorder_buffer(reaches: &[Option<Reach>]) -> ReorderBuffer {
    let of = |filler| room_for(reaches, filler);
    let (Some(nop), Some(mixed), Some(lea)) = (of(Filler::Nop), of(Filler::Mixed), of(Filler::Lea)) else {
        return ReorderBuffer::NotTested;
    };
    let low = |room: Room| room.instructions.map_or(f64::INFINITY, |it| it.bounds().low);
    let high = |room: Room| room.instructions.map_or(f64::INFINITY, |it| it.bounds().high);
    if low(mixed) > high(nop) || low(lea) > high(mixed) {
        return ReorderBuffer::FillersDisagree;
    }
    match nop.instructions.or(mixed.instructions) {
        Some(instructions) => ReorderBuffer::Holds(instructions),
        None => ReorderBuffer::MoreThan(Gap::MOST + Gap::OVERHEAD),
    }
}

/// Returns the number of integer registers for instructions in flight, if these run out before the reorder buffer.
pub fn integer_registers(reaches: &[Option<Reach>]) -> Option<Estimate> {
    let lea = room_for(reaches, Filler::Lea)?.instructions?;
    match reorder_buffer(reaches) {
        ReorderBuffer::NotTested | ReorderBuffer::FillersDisagree => None,
        ReorderBuffer::MoreThan(_) => Some(lea),
        ReorderBuffer::Holds(buffer) => (lea.bounds().high < buffer.bounds().low).then_some(lea),
    }
}

/// The gain of a prefetch of each chain's next line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gain {
    /// The amount of work at which the gain is largest, in units of work.
    pub work: usize,
    /// Nanoseconds per load without a prefetch.
    pub without: f64,
    /// Nanoseconds per load with a prefetch.
    pub with: f64,
    /// The ratio of the time of a load without a prefetch to that with one.
    pub speedup: f64,
    /// The amount of work from which on a prefetch is always worthwhile, in units of work.
    pub pays_from: Option<usize>,
}

/// The verdict on a prefetch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Prefetch {
    /// Loads are faster with a prefetch.
    Gains(Gain),
    /// Loads are not faster with a prefetch, at any amount of work.
    Nothing,
    /// The uncertainty permits no verdict.
    Open,
}

impl Prefetch {
    /// Returns the gain, if there is one.
    pub const fn gain(self) -> Option<Gain> {
        match self {
            Prefetch::Gains(gain) => Some(gain),
            Prefetch::Nothing | Prefetch::Open => None,
        }
    }
}

/// Returns the gain of a prefetch at the amount of work where it is largest; `None` if prefetches were not measured.
pub fn prefetch_gain(memory: &WorkingSet) -> Option<Prefetch> {
    let mut best = None::<Gain>;
    let (mut pays_from, mut is_measured, mut is_open) = (None, false, false);
    for [plain, _] in &WINDOW {
        let work = plain.work();
        let time = |prefetch| memory.with_work(work, prefetch);
        let Some((without, with)) = time(false).zip(time(true)) else { continue };
        let Some(ratio) = without.over(with) else { continue };
        is_measured = true;
        let side = ratio.side(PAYS);
        if side != Side::Above {
            (pays_from, is_open) = (None, is_open || side == Side::Open);
            continue;
        }
        pays_from = pays_from.or(Some(work));
        if best.is_none_or(|best| ratio.value > best.speedup) {
            best = Some(Gain {
                work,
                without: without.value,
                with: with.value,
                speedup: ratio.value,
                pays_from: None,
            });
        }
    }
    is_measured.then_some(match best {
        Some(best) => Prefetch::Gains(Gain { pays_from, ..best }),
        None if is_open => Prefetch::Open,
        None => Prefetch::Nothing,
    })
}

/// The conclusions from the points of an experiment on the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct WindowConclusion {
    /// The reach of the window over work that depends on loads.
    pub work: Option<WorkReach>,
    /// The size of the reorder buffer.
    pub buffer: ReorderBuffer,
    /// The number of integer registers, if it is smaller than the reorder buffer.
    pub registers: Option<Estimate>,
    /// The gain of a prefetch.
    pub prefetch: Option<Prefetch>,
}

/// Draws the conclusions from the points in the first-level cache and in memory, and the reach over fillers.
pub fn conclude(
    floor: Option<&WorkingSet>,
    memory: &WorkingSet,
    reaches: &[Option<Reach>],
) -> WindowConclusion {
    WindowConclusion {
        work: work_reach(floor, memory),
        buffer: reorder_buffer(reaches),
        registers: integer_registers(reaches),
        prefetch: prefetch_gain(memory),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lanes::regions;
    use super::*;
    use latency_engine::result::{Outcome, Walk};
    use latency_engine::tests::outcome::outcome;
    use std::vec::Vec;

    /// Returns loads of 100 ns at each amount of work, `gain` times as fast with a prefetch, with an uncertainty of
    /// `half` of each time.
    fn prefetched(half: f64, gain: impl Fn(usize) -> f64) -> Vec<Outcome> {
        let point = |kernel: &'static latency_core::kernel::lanes::LaneKernel, ns: f64| {
            let mut outcome = outcome(1 << 28, Walk::Lanes(kernel), ns);
            if let Ok(measured) = &mut outcome.result {
                measured.series.nanoseconds.interval =
                    Some(Interval { low: ns * (1.0 - half), high: ns * (1.0 + half) });
            }
            outcome
        };
        let both = WINDOW
            .iter()
            .flat_map(|[plain, fetching]| [(plain, 100.0), (fetching, 100.0 / gain(plain.work()))]);
        both.map(|(kernel, ns)| point(kernel, ns)).collect()
    }

    fn said(outcomes: &[Outcome]) -> Option<Prefetch> {
        prefetch_gain(regions(outcomes).first()?)
    }

    #[test]
    fn a_prefetch_pays_beyond_the_uncertainty_alone() {
        let Some(Prefetch::Gains(gain)) = said(&prefetched(0.01, |work| if work < 4 { 1.0 } else { 1.3 }))
        else {
            panic!("a gain of 30 %")
        };
        assert!(
            (gain.speedup - 1.3).abs() < 1e-9 && gain.pays_from.is_some_and(|work| work >= 4),
            "{gain:?}"
        );
        assert_eq!(said(&prefetched(0.01, |_| 1.01)), Some(Prefetch::Nothing));
        assert_eq!(said(&prefetched(0.01, |_| 0.8)), Some(Prefetch::Nothing));
        // The gain is ten per cent, and each time is uncertain by as much: a prefetch neither pays nor gains nothing.
        assert_eq!(said(&prefetched(0.1, |_| 1.1)), Some(Prefetch::Open));
        assert_eq!(said(&prefetched(0.01, |_| 1.3)[..1]), None);
    }

    fn reaches(nop: Option<usize>, lea: Option<usize>, mixed: Option<usize>) -> [Option<Reach>; 3] {
        let reach = |filler, alone: Option<usize>| {
            Some(Reach { filler, overlaps: alone.map_or(Gap::MOST, |alone| alone - 8), alone })
        };
        [reach(Filler::Nop, nop), reach(Filler::Lea, lea), reach(Filler::Mixed, mixed)]
    }

    fn value(estimate: Option<Estimate>) -> Option<f64> {
        estimate.map(|estimate| estimate.value)
    }

    #[test]
    fn room_is_between_both_ends_and_as_uncertain_as_runs_differ() {
        let found = room(&Reach { filler: Filler::Nop, overlaps: 212, alone: Some(220) });
        let interval = Some(Interval { low: 201.0, high: 241.0 });
        assert_eq!(found.instructions, Some(Estimate { value: 221.0, interval }));
        assert!(found.converged);
        let wide = room(&Reach { filler: Filler::Nop, overlaps: 100, alone: Some(300) });
        let interval = Some(Interval { low: 89.0, high: 321.0 });
        assert_eq!(wide.instructions, Some(Estimate { value: 205.0, interval }));
        assert!(!wide.converged);
        // The two searches crossed: one of them was disturbed by noise.
        assert!(!room(&Reach { filler: Filler::Nop, overlaps: 130, alone: Some(120) }).converged);
        let endless = room(&Reach { filler: Filler::Nop, overlaps: Gap::MOST, alone: None });
        assert_eq!((endless.instructions, endless.converged), (None, false));
    }

    #[test]
    fn registers_are_reported_if_they_run_out_first() {
        // Skylake: 224 entries, and 180 integer registers minus those of the program.
        let found = reaches(Some(220), Some(146), Some(218));
        assert_eq!(value(reorder_buffer(&found).holds()), Some(221.0));
        assert_eq!(value(integer_registers(&found)), Some(147.0));
        let equal = reaches(Some(220), Some(214), Some(218));
        assert_eq!(integer_registers(&equal), None);
    }

    #[test]
    fn if_nops_share_entries_the_mixture_gives_the_size() {
        let found = reaches(None, Some(210), Some(364));
        assert_eq!(value(reorder_buffer(&found).holds()), Some(365.0));
        assert_eq!(value(integer_registers(&found)), Some(211.0));
        let endless = reaches(None, None, None);
        assert_eq!(reorder_buffer(&endless), ReorderBuffer::MoreThan(Gap::MOST + Gap::OVERHEAD));
        assert_eq!(integer_registers(&endless), None);
    }

    #[test]
    fn fillers_that_contradict_each_other_are_not_believed() {
        for found in [
            // Contradictions: more mixed instructions than entries, more `lea` than mixed ones, and unlimited ones
            // among few.
            reaches(Some(128), Some(120), Some(218)),
            reaches(Some(300), Some(260), Some(180)),
            reaches(Some(220), Some(146), None),
        ] {
            assert_eq!(reorder_buffer(&found), ReorderBuffer::FillersDisagree, "{found:?}");
            assert_eq!(integer_registers(&found), None);
        }
        assert_eq!(reorder_buffer(&[None; 3]), ReorderBuffer::NotTested);
    }
}
