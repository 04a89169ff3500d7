//! Sets of command-line options.
//!
//! Experiments use the sets to list the options that they have; this module does not know the meaning of an option.

use super::flags::FlagId;

/// A set of options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlagSet(u64);

impl FlagSet {
    /// The empty set.
    pub const EMPTY: FlagSet = FlagSet(0);
    /// The CPU of the thread, the node of the memory, and its pages.
    pub const PLACEMENT: FlagSet =
        FlagSet::of(&[FlagId::CpuNode, FlagId::MemNode, FlagId::Cpu, FlagId::Pages]);
    /// Duration of the measurement, and certainty of the result.
    pub const SAMPLING: FlagSet = FlagSet::of(&[
        FlagId::Iters,
        FlagId::Trials,
        FlagId::Precision,
        FlagId::TimeLimit,
        FlagId::Spread,
        FlagId::WarmupIters,
        FlagId::Counters,
        FlagId::Strict,
        FlagId::DryRun,
    ]);
    /// Limits, labels and the plan of a run.
    pub const RUN: FlagSet = FlagSet::of(&[FlagId::Budget, FlagId::Strict, FlagId::Label, FlagId::DryRun]);
    /// The same for a run that measures in windows of a fixed length.
    pub const WINDOWS: FlagSet = FlagSet::RUN.with(FlagId::Precision).with(FlagId::TimeLimit);
    /// The memory that is walked over.
    pub const WORKING_SET: FlagSet = FlagSet::of(&[FlagId::Size, FlagId::Seed]);
    /// The memory of a curve.
    pub const SIZES: FlagSet =
        FlagSet::of(&[FlagId::MinSize, FlagId::MaxSize, FlagId::PointsPerOctave, FlagId::Seed]);
    /// The chain through it.
    pub const CHAIN: FlagSet = FlagSet::of(&[FlagId::Order, FlagId::Stride, FlagId::Kernel]);
    /// Kinds of traffic, and the CPUs that generate it.
    pub const GENERATORS: FlagSet = FlagSet::of(&[FlagId::Traffic, FlagId::LoadCpus, FlagId::LoadThreads]);
    /// The load beside a chain.
    pub const LOAD: FlagSet = FlagSet::GENERATORS.union(FlagSet::of(&[
        FlagId::LoadFrom,
        FlagId::LoadNode,
        FlagId::Rates,
        FlagId::Levels,
        FlagId::Pacing,
        FlagId::Burst,
        FlagId::Hold,
    ]));
    /// The exchange of lines between CPUs.
    pub const EXCHANGE: FlagSet =
        FlagSet::of(&[FlagId::Pairs, FlagId::Method, FlagId::Lines, FlagId::States]);
    /// Format, target and look of the result.
    pub const PRESENTATION: FlagSet = FlagSet::of(&[
        FlagId::Format,
        FlagId::Json,
        FlagId::Csv,
        FlagId::Output,
        FlagId::Quiet,
        FlagId::Verbose,
        FlagId::Progress,
        FlagId::Color,
    ]);
    /// Options of every experiment that measures.
    pub const MEASURING: FlagSet = FlagSet::PLACEMENT.union(FlagSet::SAMPLING).with(FlagId::Label);
    /// Options that every experiment accepts without listing them, so that wrapper scripts can always pass them.
    pub const ALWAYS: FlagSet = FlagSet::PRESENTATION.with(FlagId::Help).with(FlagId::Version);

    /// Returns the set of these options.
    #[must_use]
    pub const fn of(flags: &[FlagId]) -> FlagSet {
        let mut bits = 0;
        let mut rest = flags;
        while let [first, tail @ ..] = rest {
            bits |= 1 << *first as u8;
            rest = tail;
        }
        FlagSet(bits)
    }

    /// Returns the options that are in either set.
    #[must_use]
    pub const fn union(self, other: FlagSet) -> FlagSet {
        FlagSet(self.0 | other.0)
    }

    /// Returns the options that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: FlagSet) -> FlagSet {
        FlagSet(self.0 & other.0)
    }

    /// Returns the set with `flag` added.
    #[must_use]
    pub const fn with(self, flag: FlagId) -> FlagSet {
        FlagSet(self.0 | 1 << flag as u8)
    }

    /// Returns whether `flag` is in the set.
    #[must_use]
    pub const fn contains(self, flag: FlagId) -> bool {
        self.0 & (1 << flag as u8) != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_hold_what_was_put_into_them() {
        let set = FlagSet::of(&[FlagId::Cpu, FlagId::Version]);
        assert!(set.contains(FlagId::Cpu) && set.contains(FlagId::Version) && !set.contains(FlagId::CpuNode));
        assert_eq!(FlagSet::EMPTY.with(FlagId::Cpu).with(FlagId::Version), set);
        assert_eq!(set.intersection(FlagSet::ALWAYS), FlagSet::of(&[FlagId::Version]));
        assert!(FlagSet::PLACEMENT.union(FlagSet::SAMPLING).contains(FlagId::DryRun));
    }
}
