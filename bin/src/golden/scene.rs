//! A scene: one run of the program, and what goes wrong in it.

use std::string::String;

/// What went wrong in a scene.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    /// Some points could not be placed.
    Excluded,
    /// Some points have wide intervals.
    Imprecise,
    /// Some points were interrupted often.
    Disturbed,
    /// There are too few rounds for intervals.
    FewRounds,
    /// A third of the points is missing.
    Interrupted,
    /// It was interrupted before anything was measured.
    Early,
    /// Pages left their node.
    Moved,
    /// The kernel does not tell where pages are.
    Unverified,
    /// Memory policies are forbidden.
    FirstTouch,
    /// There is no time-stamp counter.
    KernelClock,
    /// Hardware counters are forbidden.
    NoCounters,
    /// It is a virtual machine.
    Virtual,
    /// There is much to warn of.
    ManyWarnings,
    /// Threads were refused, moved, not steady, and lost their CPUs to other work.
    Threads,
    /// The machine has names that are markup.
    HostileNames,
    /// Idle memory is slower than loaded memory.
    SlowIdle,
    /// Neighbours use the memory for most of the time.
    Neighbours,
    /// The machine is emulated.
    Emulated,
    /// Others keep the first CPU busy.
    BusyCpu,
}

impl Trouble {
    /// Every one.
    pub const ALL: [Trouble; 19] = [
        Trouble::Excluded,
        Trouble::Imprecise,
        Trouble::Disturbed,
        Trouble::FewRounds,
        Trouble::Interrupted,
        Trouble::Early,
        Trouble::Moved,
        Trouble::Unverified,
        Trouble::FirstTouch,
        Trouble::KernelClock,
        Trouble::NoCounters,
        Trouble::Virtual,
        Trouble::ManyWarnings,
        Trouble::Threads,
        Trouble::HostileNames,
        Trouble::SlowIdle,
        Trouble::Neighbours,
        Trouble::Emulated,
        Trouble::BusyCpu,
    ];
}

/// One run.
#[derive(Clone)]
pub struct Scene {
    /// The file that holds what it writes.
    pub file: String,
    /// The fixture of tests/fixtures/machines.
    pub machine: &'static str,
    /// The arguments, separated by single spaces.
    pub line: String,
    /// The width of the terminal.
    pub columns: usize,
    /// It shows more than ASCII.
    pub unicode: bool,
    /// It shows colours.
    pub colour: bool,
    /// What went wrong.
    pub troubles: &'static [Trouble],
}
