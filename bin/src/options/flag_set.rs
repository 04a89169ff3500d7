//! Sets of command-line options.
//!
//! Experiments use the sets to list the options that they have; this module does not depend on the meaning of an
//! option.

use super::Options;
use super::bits::FlagSet;
use super::flags::FlagId::{self, *};

impl FlagSet {
    /// The CPU of the thread, the node of the memory, and the page size.
    pub const PLACEMENT: FlagSet = FlagSet::of(&[CpuNode, MemNode, Cpu, Pages]);
    /// Duration of the measurement, and precision of the result.
    pub const SAMPLING: FlagSet = FlagSet::of(&[
        Iters,
        Trials,
        Precision,
        TimeLimit,
        Spread,
        WarmupIters,
        Budget,
        Counters,
        Strict,
        DryRun,
    ]);
    /// The labels and the host's name in the result; every experiment has these options.
    pub const IDENTITY: FlagSet = FlagSet::of(&[Label, Anonymous]);
    /// Limits, labels and the plan of a run.
    pub const RUN: FlagSet = FlagSet::of(&[Budget, Strict, DryRun]).union(FlagSet::IDENTITY);
    /// The options of [`RUN`](Self::RUN), for a run that measures in windows of a fixed length.
    pub const WINDOWS: FlagSet = FlagSet::RUN.with(Precision).with(TimeLimit).with(Counters);
    /// The size of the working set, and the seed of its chain.
    pub const WORKING_SET: FlagSet = FlagSet::of(&[Size, Seed]);
    /// A range of working sets.
    pub const RANGE: FlagSet = FlagSet::of(&[MinSize, MaxSize, PointsPerOctave]);
    /// The working sets of a curve.
    pub const SIZES: FlagSet = FlagSet::RANGE.with(Seed);
    /// The chain through the working set.
    pub const CHAIN: FlagSet = FlagSet::of(&[Order, Stride, Kernel]);
    /// Kinds of traffic, and the CPUs that generate it.
    pub const GENERATORS: FlagSet = FlagSet::of(&[Traffic, LoadCpus, LoadThreads]);
    /// The load beside a chain.
    pub const LOAD: FlagSet =
        FlagSet::GENERATORS.union(FlagSet::of(&[LoadFrom, LoadNode, Rates, Levels, Pacing, Burst, Hold]));
    /// The exchange of lines between CPUs.
    pub const EXCHANGE: FlagSet = FlagSet::of(&[Pairs, Method, Lines, States]);
    /// Format, destination and appearance of the result.
    pub const PRESENTATION: FlagSet =
        FlagSet::of(&[Format, Json, Csv, Output, Save, Quiet, Verbose, Progress, Color]);
    /// Options of every experiment that measures.
    pub const MEASURING: FlagSet = FlagSet::PLACEMENT.union(FlagSet::SAMPLING).union(FlagSet::IDENTITY);
    /// Options that every experiment accepts without listing them, so that wrapper scripts can always pass them.
    pub const ALWAYS: FlagSet = FlagSet::PRESENTATION.with(Help).with(Version);

    /// Returns the set of these options.
    pub const fn of(flags: &[FlagId]) -> FlagSet {
        let mut bits = 0;
        let mut rest = flags;
        while let [first, tail @ ..] = rest {
            bits |= 1 << *first as u8;
            rest = tail;
        }
        FlagSet(bits)
    }

    /// Returns the set with `flag` added.
    pub const fn with(self, flag: FlagId) -> FlagSet {
        FlagSet(self.0 | 1 << flag as u8)
    }

    /// Returns whether `flag` is in the set.
    pub const fn contains(self, flag: FlagId) -> bool {
        self.0 & (1 << flag as u8) != 0
    }
}

impl Options {
    /// Returns whether one CPU of each node measures, so that the choice of this CPU matters. Bandwidth and pairs of
    /// CPUs need many.
    pub const fn runs_on_one_cpu(&self) -> bool {
        let flags = self.experiment.descriptor.flags;
        let is_bandwidth = flags.contains(FlagId::View) && flags.contains(FlagId::Traffic);
        flags.contains(FlagId::Cpu) && !is_bandwidth && !flags.contains(FlagId::Pairs)
    }

    /// Returns whether the program chooses the CPU that measures.
    pub fn chooses_cpu(&self) -> bool {
        let asked = FlagSet::of(&[FlagId::Cpu, FlagId::LoadCpus, FlagId::DryRun]);
        self.runs_on_one_cpu() && self.given.intersection(asked) == FlagSet::EMPTY
    }

    /// Returns the time over which the rounds of a point are spread, in nanoseconds. If the user gave a number of
    /// trials and no time, the trials follow each other without a pause.
    pub const fn spread_ns(&self) -> f64 {
        match self.trials {
            Some(_) if !self.given.contains(FlagId::Spread) => 0.0,
            _ => self.spread.0 as f64 / 1e3,
        }
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
