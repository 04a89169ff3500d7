//! A scene: one run of the program, with its troubles.

use std::string::String;

use latency_core::arch::Words;

use latency_report::Audience;

/// A trouble of a scene.
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
    /// The run was interrupted before anything was measured.
    Early,
    /// Pages left their node.
    Moved,
    /// The kernel does not report the nodes of pages.
    Unverified,
    /// Memory policies are forbidden.
    FirstTouch,
    /// There is no time-stamp counter.
    KernelClock,
    /// Hardware counters are forbidden.
    NoCounters,
    /// It is a virtual machine.
    Virtual,
    /// There are many warnings.
    ManyWarnings,
    /// Threads were refused, moved, ran at unsteady rates, and lost their CPUs to other work.
    Threads,
    /// The machine has names that are markup.
    HostileNames,
    /// Idle memory is slower than loaded memory.
    SlowIdle,
    /// Neighbours use the memory for most of the time.
    Neighbours,
    /// The machine is emulated.
    Emulated,
    /// Other processes keep the first CPU busy.
    BusyCpu,
    /// The core's clock could not be measured.
    NoCoreClock,
    /// Figures of the processor are published.
    Known,
    /// Firmware describes the memory devices.
    Dimms,
    /// The kernel's drivers for memory errors describe the memory devices.
    Edac,
    /// Other work keeps generators from loading memory at all.
    Starved,
    /// A hypervisor keeps the CPU for a twentieth of the time, in moments that no kernel counts.
    SlowedCore,
    /// The TLB holds fewer pages than a window has.
    SmallTlb,
    /// All intervals are too wide for one number, even of points that are steady.
    Wide,
    /// Some latencies and rates are tiny, huge or infinite.
    Odd,
}

impl Trouble {
    /// All troubles that a run may have.
    pub const ALL: [Trouble; 27] = [
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
        Trouble::NoCoreClock,
        Trouble::Known,
        Trouble::Dimms,
        Trouble::Edac,
        Trouble::Starved,
        Trouble::SlowedCore,
        Trouble::Wide,
        Trouble::SmallTlb,
    ];
}

/// One run.
#[derive(Clone)]
pub struct Scene {
    /// The file that holds its output.
    pub file: String,
    /// The fixture of tests/fixtures/machines.
    pub machine: &'static str,
    /// The arguments, separated by single spaces.
    pub line: String,
    /// The width of the terminal.
    pub columns: usize,
    /// True if the terminal shows more than ASCII.
    pub unicode: bool,
    /// True if the terminal shows colours.
    pub colour: bool,
    /// The reader.
    pub audience: Audience,
    /// Its troubles.
    pub troubles: &'static [Trouble],
    /// The words of the instruction set that the program is built for.
    pub words: Words,
}
