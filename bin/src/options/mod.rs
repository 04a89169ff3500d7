//! The command line as plain data, and the options that an experiment accepts.
//!
//! Options are legal in themselves. This module does not ask the system: plan and placement check that a node exists
//! and that a size fits. The caller gives the experiments and formats, as slices of [`Descriptor`] and [`Format`].

mod choices;
mod error;
mod flag;
mod flag_set;
mod flags;
mod help;
mod labels;
mod nearest;
mod pairs;
mod parse;
#[cfg(test)]
pub mod plain;
pub mod tokens;
mod values;

#[cfg(test)]
mod tests;

use core::fmt;
use core::num::{NonZeroU32, NonZeroU64};

use latency_core::cores::{Choice as PairChoice, Method};
use latency_core::cpulist::{CpuSet, NodeSet};
use latency_core::traffic::pace::Pacing;
use latency_core::traffic::{LoadFrom, Threads, View};
use latency_core::units::{Bytes, CpuId, NodeId, Pages, Picoseconds};
use latency_core::words::When;

use crate::report::format::{Format, Purpose};

pub use choices::{Help, Kernel, Kinds, Of, Order, Rate, Rates};
pub use error::UsageError;
pub use flag::{Flag, Group, SetValue, Setter, ValueKind};
pub use flag_set::{FlagId, FlagSet};
pub use flags::FLAGS;
pub use help::{write_experiment_help, write_help, write_version, EXAMPLES, EXIT_CODES};
pub use labels::Labels;
pub use pairs::Pairs;
pub use parse::parse;
pub use values::ValueError;

/// An experiment as the command line knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    /// The word that selects it.
    pub name: &'static str,
    /// The subject of its measurement, in one line without a full stop.
    pub summary: &'static str,
    /// Its output and how to read it; paragraphs are separated by `\n`.
    pub details: &'static str,
    /// The options that it has; [`FlagSet::ALWAYS`] need not be listed.
    pub flags: FlagSet,
    /// True if its result has a picture.
    pub picture: bool,
    /// True if its result has memory attributes.
    pub attributes: bool,
    /// Its operands.
    pub operands: Operands,
}

impl Descriptor {
    /// The fields that most descriptors have in common: a result of values alone, without operands.
    pub const OF_VALUES: Descriptor = Descriptor {
        name: "",
        summary: "",
        details: "",
        flags: FlagSet::EMPTY,
        picture: false,
        attributes: false,
        operands: Operands { names: "", least: 0, most: 0, sides: false },
    };

    /// Returns whether its result can be written in `format`.
    #[must_use]
    pub const fn is_written_as(&self, format: &Format) -> bool {
        match format.purpose {
            Purpose::Picture => self.picture,
            Purpose::Attributes => self.attributes,
            _ => true,
        }
    }

    /// Returns the text to type: its name, `options`, and its operands, with the options before the operands.
    pub fn typed(&self, options: &'static str) -> impl fmt::Display + use<> {
        let (name, names) = (self.name, self.operands.names);
        fmt::from_fn(move |out| {
            let space = if names.is_empty() { "" } else { " " };
            write!(out, "latency-bench {name}{options}{space}{names}")
        })
    }
}

/// The operands of an experiment: files, for the commands that read results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// Their names as in the usage line: `A B`. Empty for none.
    pub names: &'static str,
    /// The smallest number of them.
    pub least: usize,
    /// The largest; not more than [`MAX_OPERANDS`].
    pub most: usize,
    /// True if they are of two sides, with `--` between them where there are more than two.
    pub sides: bool,
}

/// The maximum number of operands, so that a thousand hosts may have one result each.
pub const MAX_OPERANDS: usize = 1024;

/// The default number of load levels of a curve.
const LEVELS: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// The experiment that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Its place in the slice that [`parse`] was given.
    pub index: usize,
    /// Its descriptor.
    pub descriptor: &'static Descriptor,
    /// True if it was named; the first one runs without a name.
    pub named: bool,
}

/// The options of one run. `None` leaves the choice to the plan.
///
/// `'a` is the life of the command line.
#[derive(Clone, Copy, Debug)]
pub struct Options<'a> {
    /// The experiment to run.
    pub experiment: Selection,
    /// Its operands; see [`Options::operands`].
    operands: [&'a [u8]; MAX_OPERANDS],
    operand_count: usize,
    /// The number of operands before `--`, if some follow it.
    parted: Option<usize>,
    /// Every option that was typed.
    pub given: FlagSet,
    /// Initiator nodes.
    pub cpunode: Option<NodeSet>,
    /// Target nodes.
    pub memnode: Option<NodeSet>,
    /// The CPU to run on; excludes `cpunode`.
    pub cpu: Option<CpuId>,
    /// True to run on the first CPU of the node even where others keep it busy.
    pub first_cpu: bool,
    /// The pages to ask for.
    pub pages: Pages,
    /// The working set; at least two strides.
    pub size: Option<Bytes>,
    /// The smallest working set of a curve; at least two strides.
    pub min_size: Option<Bytes>,
    /// The largest working set of a curve; not below `min_size`.
    pub max_size: Option<Bytes>,
    /// Working sets for each doubling of the size.
    pub points_per_octave: Option<NonZeroU32>,
    /// The order of the chain.
    pub order: Order,
    /// The distance between two nodes: 8, 16, 32 or a multiple of 64.
    pub stride: Bytes,
    /// The chase loop.
    pub kernel: Kernel,
    /// The seed of the chain.
    pub seed: u64,
    /// The kinds of traffic.
    pub traffic: Option<Kinds>,
    /// The objects whose bandwidth is shown.
    pub view: View,
    /// The CPUs of generators.
    pub load_cpus: Option<CpuSet>,
    /// Their hardware threads.
    pub load_threads: Threads,
    /// The nodes of these CPUs.
    pub load_from: LoadFrom,
    /// The node of their memory; `None` for that of the chase.
    pub load_node: Option<NodeId>,
    /// The rates of their traffic; `None` for a curve up to the limit.
    pub rates: Option<Rates>,
    /// The number of levels of a curve up to the limit.
    pub levels: NonZeroU32,
    /// The distribution of the gaps between their bursts.
    pub pacing: Pacing,
    /// The lines of one burst.
    pub burst: Option<NonZeroU32>,
    /// The seconds for which one rate is held.
    pub hold: Option<NonZeroU32>,
    /// The pairs of CPUs that exchange lines.
    pub pairs: Pairs<'a>,
    /// The method of the exchange.
    pub method: Method,
    /// The lines that each pair exchanges.
    pub lines: Option<NonZeroU32>,
    /// True to walk over lines that another core has in a known state.
    pub states: bool,
    /// Hops in one trial.
    pub iters: Option<NonZeroU64>,
    /// Trials.
    pub trials: Option<NonZeroU32>,
    /// The width of the confidence interval to reach, as a fraction of the median.
    pub precision: f64,
    /// The time for one point.
    pub time_limit: Picoseconds,
    /// The time over which the rounds of a point are spread.
    pub spread: Picoseconds,
    /// The longest wait for values with quiet neighbours, for all pairs together; `None` for no wait.
    pub until: Option<Picoseconds>,
    /// The time for the whole run.
    pub budget: Picoseconds,
    /// Hops before the first trial; zero measures cold.
    pub warmup_iters: Option<u64>,
    /// True if hardware counters are wanted.
    pub counters: bool,
    /// The excess that `compare` allows, as a fraction of the first result.
    pub threshold: f64,
    /// The results that hosts are compared with.
    pub baseline: Option<&'a [u8]>,
    /// The value of saved results that is judged.
    pub of: Of,
    /// True if `compare` judges results of different conditions.
    pub force: bool,
    /// The bytes in the unit of the sizes of another tool's table.
    pub unit: Option<Bytes>,
    /// True if an unreliable result is a failure.
    pub strict: bool,
    /// True to print the plan and stop.
    pub dry_run: bool,
    /// All formats.
    pub formats: &'static [Format],
    /// The format of the result.
    pub format: &'static Format,
    /// The file for the result; `None` is standard output.
    pub output: Option<&'a [u8]>,
    /// The labels of the host.
    pub labels: Labels<'a>,
    /// True to draw the matrix.
    pub heatmap: bool,
    /// True to plot accesses per second.
    pub reciprocal: bool,
    /// True to print only the result.
    pub quiet: bool,
    /// True to print everything, notes included.
    pub verbose: bool,
    /// The condition for showing progress.
    pub progress: When,
    /// The condition for using colours.
    pub color: When,
    /// The help text that is wanted instead of a run.
    pub help: Option<Help>,
    /// True if only the version is wanted.
    pub version: bool,
}

impl<'a> Options<'a> {
    /// Returns whether one CPU of each node measures, so that the choice of this CPU matters. Bandwidth needs many
    /// CPUs.
    #[must_use]
    pub const fn runs_on_one_cpu(&self) -> bool {
        let flags = self.experiment.descriptor.flags;
        flags.contains(FlagId::Cpu) && !flags.contains(FlagId::View)
    }

    /// Returns whether the program chooses this CPU.
    #[must_use]
    pub fn chooses_cpu(&self) -> bool {
        let asked = FlagSet::of(&[FlagId::Cpu, FlagId::LoadCpus, FlagId::DryRun]);
        self.runs_on_one_cpu() && self.given.intersection(asked) == FlagSet::EMPTY
    }

    /// Returns the time limit of a point, in nanoseconds.
    #[must_use]
    pub const fn point_limit_ns(&self) -> f64 {
        self.time_limit.0 as f64 / 1e3
    }

    /// Returns the time over which the rounds of a point are spread, in nanoseconds. If the user gave a number of
    /// trials and no time, the trials follow each other without a pause.
    #[must_use]
    pub const fn spread_ns(&self) -> f64 {
        match self.trials {
            Some(_) if !self.given.contains(FlagId::Spread) => 0.0,
            _ => self.spread.0 as f64 / 1e3,
        }
    }

    /// Returns the longest wait for values with quiet neighbours, in nanoseconds; `None` without `--until`.
    #[must_use]
    pub fn until_ns(&self) -> Option<f64> {
        self.until.map(|until| until.0 as f64 / 1e3)
    }

    /// Returns `experiment` with every option at its default, written in `format`.
    #[must_use]
    pub const fn new(experiment: Selection, formats: &'static [Format], format: &'static Format) -> Self {
        Options {
            experiment,
            operands: [&[]; MAX_OPERANDS],
            operand_count: 0,
            parted: None,
            given: FlagSet::EMPTY,
            cpunode: None,
            memnode: None,
            cpu: None,
            first_cpu: false,
            pages: Pages::Auto,
            size: None,
            min_size: None,
            max_size: None,
            points_per_octave: None,
            order: Order::Random,
            stride: Bytes(64),
            kernel: Kernel::Pointer,
            seed: 42,
            traffic: None,
            view: View::Nodes,
            load_cpus: None,
            load_threads: Threads::One,
            load_from: LoadFrom::Initiator,
            load_node: None,
            rates: None,
            levels: LEVELS,
            pacing: Pacing::Poisson,
            burst: None,
            hold: None,
            pairs: Pairs::Of(PairChoice::Auto),
            method: Method::Cas,
            lines: None,
            states: false,
            iters: None,
            trials: None,
            precision: 0.01,
            time_limit: Picoseconds(10_000_000_000_000),
            spread: Picoseconds(5_000_000_000_000),
            until: None,
            budget: Picoseconds(60_000_000_000_000),
            warmup_iters: None,
            counters: false,
            threshold: 0.03,
            baseline: None,
            of: Of::Typical,
            force: false,
            unit: None,
            strict: false,
            dry_run: false,
            formats,
            format,
            output: None,
            labels: Labels::NONE,
            heatmap: false,
            reciprocal: false,
            quiet: false,
            verbose: false,
            progress: When::Auto,
            color: When::Auto,
            help: None,
            version: false,
        }
    }

    /// Returns the operands, UTF-8 and not empty.
    #[must_use]
    pub fn operands(&self) -> &[&'a [u8]] {
        self.operands.get(..self.operand_count).unwrap_or(&[])
    }

    /// Returns the operands of both sides: those before and behind `--`, or one each.
    #[must_use]
    pub fn sides(&self) -> (&[&'a [u8]], &[&'a [u8]]) {
        let operands = self.operands();
        operands.split_at_checked(self.mark().unwrap_or(1)).unwrap_or((operands, &[]))
    }

    /// Returns the place of the `--` between operands; before all of them it only ends the options.
    fn mark(&self) -> Option<usize> {
        self.parted.filter(|before| *before > 0)
    }

    /// Adds an operand; false if there is no room left.
    fn push_operand(&mut self, operand: &'a [u8]) -> bool {
        match self.operands.get_mut(self.operand_count) {
            Some(free) => {
                *free = operand;
                self.operand_count += 1;
                true
            }
            None => false,
        }
    }
}
