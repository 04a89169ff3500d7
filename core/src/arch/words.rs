//! The words of results that depend on the instruction set.

/// The clock of the cycles that results show: `cycles` of the first line, of JSON and of CSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cycles {
    /// The counter, which counts at about the rate of a core.
    Counter,
    /// The core's clock, because a tick of the counter may be many cycles long.
    Core,
}

/// The numbers by which makers tell their cores apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signature {
    /// Family, model and stepping.
    Family,
    /// The part number, and a revision that has a major number in the upper four bits and a minor one in the lower four.
    Part,
}

/// The words of one instruction set.
#[derive(Clone, Copy, Debug)]
pub struct Words {
    /// The printed name of the counter that stamps read.
    pub counter_name: &'static str,
    /// The name of the counter without abbreviation.
    pub counter_in_full: &'static str,
    /// The name of the counter in JSON, as the source of times.
    pub counter_source: &'static str,
    /// The source of the counter's declared frequency.
    pub counter_declared_by: &'static str,
    /// The name of the kernel's clock source that runs on this counter.
    pub kernel_clock_source: &'static str,
    /// The printed name of the source of the processor's claims about itself, mainly about its caches.
    pub claims_name: &'static str,
    /// The numbers that identify a core.
    pub signature: Signature,
    /// The clock of the cycles that results show.
    pub cycles_are: Cycles,
    /// The latency of a multiplication in additions.
    pub multiply_ratio: &'static str,
    /// The core cycles of a load that hits in the first-level cache.
    pub l1_hit_cycles: &'static str,
    /// The statement that stamps do not wait for earlier instructions, the promise that they do, and a remedy.
    pub fence_does_not_wait: [&'static str; 3],
    /// True if an interrupt wipes out a mark of the interrupted program; otherwise `interrupt_mark_holds` always returns
    /// true.
    pub interrupt_mark: bool,
    /// The instructions of the closing stamp; `None` if they depend on the processor.
    pub end_stamp: Option<&'static str>,
}
