//! The command line as plain data, and the options that an experiment accepts.
//!
//! Every option is valid in itself. This module does not ask the system: planning and placement check that a node
//! exists and that a size fits. The caller supplies the experiments and formats, as slices of [`Descriptor`] and
//! [`Format`].

mod bits;
mod choices;
mod error;
mod flag_set;
mod flags;
mod help;
mod labels;

pub mod nearest;
mod outputs;
mod pairs;
mod parse;
pub mod tokens;
mod values;

#[cfg(test)]
mod tests;

use alloc::vec::Vec;
use core::fmt;
use core::num::{NonZeroU32, NonZeroU64};

use latency_core::cores::{Choice as PairChoice, Method};
use latency_core::kernel::lanes::LaneKernel;
use latency_core::traffic::pace::Pacing;
use latency_core::traffic::{LoadFrom, Threads, View};
use latency_core::words::When;
use latency_core::{Bytes, CpuId, CpuSet, IdSet, NodeId, NodeSet, Pages, Picoseconds, with_constant};

use latency_report::{Format, Purpose};

pub use bits::FlagSet;
pub use choices::{Help, Kernel, Kinds, Of, Order, Rate, ValueKind};
pub use error::UsageError;
pub use flags::{FLAGS, Flag, FlagId, FlagText, GROUPS, Group, Setter};
pub use help::{
    COMMIT, EXAMPLES, EXIT_CODES, TAGLINE, VALUES, write_concerned, write_experiment_help, write_help,
    write_version,
};
pub use labels::Labels;
pub use outputs::Output;
pub use pairs::Pairs;
pub use parse::parse;
pub use values::ValueError;

with_constant! {
    /// The description of an experiment for the command line.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Descriptor {
        /// The word that selects it.
        pub name: &'static str = "",
        /// The subject of its measurement, in one line without a full stop.
        pub summary: &'static str = "",
        /// Its output and how to read it. A `\n` separates paragraphs.
        pub details: &'static str = "",
        /// The options that it has; [`FlagSet::ALWAYS`] need not be listed.
        pub flags: FlagSet = FlagSet::EMPTY,
        /// True if its result has a picture.
        pub picture: bool = false,
        /// True if its result has memory attributes.
        pub attributes: bool = false,
        /// True if its rows are test points.
        pub tests: bool = true,
        /// Its operands.
        pub operands: Operands = Operands { names: "", least: 0, most: 0, sides: false },
    }
    /// The values of the fields that most descriptors share: a result of values only, without operands.
    pub const OF_VALUES;
}

impl Descriptor {
    /// Returns whether its result can be written in `format`.
    pub const fn is_written_as(&self, format: &Format) -> bool {
        match format.purpose {
            Purpose::Picture => self.picture,
            Purpose::Attributes => self.attributes,
            Purpose::Tests => self.tests,
            _ => true,
        }
    }

    /// Returns the command line to type: its name, `options`, and its operands, in this order.
    pub fn typed(&self, options: &'static str) -> impl fmt::Display + use<> {
        let (name, names) = (self.name, self.operands.names);
        fmt::from_fn(move |out| {
            let space = if names.is_empty() { "" } else { " " };
            write!(out, "latency-bench {name}{options}{space}{names}")
        })
    }
}

/// Writes its name.
impl fmt::Display for Descriptor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

/// The operands of an experiment: files, for the commands that read results.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operands {
    /// Their names as in the usage line: `A B`. Empty if there are none.
    pub names: &'static str,
    /// The minimum number of operands.
    pub least: usize,
    /// The maximum number of operands; not more than [`MAX_OPERANDS`].
    pub most: usize,
    /// True if they belong to two sides, which `--` separates if there are more than two operands.
    pub sides: bool,
}

/// The maximum number of operands, so that a thousand hosts may have one result each.
pub const MAX_OPERANDS: usize = 1024;

/// Maximum number of outputs.
pub const MOST_OUTPUTS: usize = 8;

/// The default number of load levels of a curve.
const LEVELS: NonZeroU32 = NonZeroU32::new(10).unwrap();

/// The experiment that was chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Selection {
    /// Its index in the slice that was passed to [`parse`].
    pub index: usize,
    /// Its descriptor.
    pub descriptor: &'static Descriptor,
    /// True if the user named it; the first one runs without a name.
    pub named: bool,
}

/// Declares the options of one run, each with its default.
macro_rules! options {
    ($(#[$about:meta])* new($($given:ident: $of:ty),*) {
        $($(#[$doc:meta])* $seen:vis $name:ident: $type:ty = $default:expr,)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Debug)]
        pub struct Options {
            $($(#[$doc])* $seen $name: $type,)*
        }

        impl Options {
            /// Returns the options of `experiment` with every default, and the output format `format`.
            pub fn new($($given: $of),*) -> Self {
                Options { $($name: $default,)* }
            }
        }
    };
}

options! {
    /// The options of one run. `None` means that planning decides.
    new(experiment: Selection, formats: &'static [Format], format: &'static Format) {
        /// The experiment to run.
        pub experiment: Selection = experiment,
        /// Its operands; see [`Options::operands`].
        operands: Vec<&'static [u8]> = Vec::new(),
        /// The number of operands before the `--` between the sides, if there is one.
        parted: Option<usize> = None,
        /// Every option that was typed.
        pub given: FlagSet = FlagSet::EMPTY,
        /// Initiator nodes; [`NodeSet::ALL`] for all that the process may use.
        pub cpunode: Option<NodeSet> = None,
        /// Target nodes; [`NodeSet::ALL`] for all that the process may use.
        pub memnode: Option<NodeSet> = None,
        /// True to measure the memory of each initiator node from that node only; excludes `memnode`.
        pub local: bool = false,
        /// The CPU to run on; excludes `cpunode`.
        pub cpu: Option<CpuId> = None,
        /// Several CPUs, among which pairs are chosen; [`CpuSet::ALL`] for all that the process may use.
        pub cpus: Option<CpuSet> = None,
        /// True to run on the first CPU of the node even if other processes keep it busy.
        pub first_cpu: bool = false,
        /// The requested pages, as the command line names them: [`PageSize::KIB_4`] means the base pages of any machine,
        /// and [`PageSize::MIB_2`] its transparent huge pages. `plan::pages` returns those of the
        /// machine.
        ///
        /// [`PageSize::KIB_4`]: latency_core::units::PageSize::KIB_4
        /// [`PageSize::MIB_2`]: latency_core::units::PageSize::MIB_2
        pub pages: Pages = Pages::AUTO,
        /// The working set; at least two strides.
        pub size: Option<Bytes> = None,
        /// The smallest working set of a curve; at least two strides.
        pub min_size: Option<Bytes> = None,
        /// The largest working set of a curve; not below `min_size`.
        pub max_size: Option<Bytes> = None,
        /// The number of working sets for each doubling of the size.
        pub points_per_octave: Option<NonZeroU32> = None,
        /// The order of the chain.
        pub order: Order = Order::Random,
        /// The visits of a page in a window of a grouped order: 1, 2 or 4.
        pub visits: u64 = 4,
        /// The stride, the distance between two nodes of the chain: 8, 16, 32 or a multiple of 64 bytes. `None` for the
        /// machine's cache line.
        pub stride: Option<Bytes> = None,
        /// The chase loop.
        pub kernel: Kernel = Kernel::Pointer,
        /// The seed of the chain.
        pub seed: u64 = 42,
        /// The kinds of traffic.
        pub traffic: Option<Kinds> = None,
        /// The subjects of the bandwidths in the output.
        pub view: View = View::Nodes,
        /// The CPUs of generators; [`CpuSet::ALL`] for all that the process may use.
        pub load_cpus: Option<CpuSet> = None,
        /// The number of hardware threads of each core that generate traffic.
        pub load_threads: Threads = Threads::One,
        /// The choice of the nodes with the CPUs of generators.
        pub load_from: LoadFrom = LoadFrom::Initiator,
        /// The node of the generators' memory; `None` for the target node of the chase.
        pub load_node: Option<NodeId> = None,
        /// The rates of traffic; empty for a curve up to the limit.
        pub rates: Vec<Rate> = Vec::new(),
        /// The number of levels of a curve up to the limit.
        pub levels: NonZeroU32 = LEVELS,
        /// The distribution of the gaps between the bursts of traffic.
        pub pacing: Pacing = Pacing::Poisson,
        /// The number of lines of one burst.
        pub burst: Option<NonZeroU32> = None,
        /// The duration for which one rate is held, in seconds.
        pub hold: Option<NonZeroU32> = None,
        /// The pairs of CPUs that exchange lines.
        pub pairs: Pairs = Pairs::Of(PairChoice::Auto),
        /// The method of the exchange.
        pub method: Method = Method::Cas,
        /// The number of lines that each pair exchanges.
        pub lines: Option<NonZeroU32> = None,
        /// True to chase pointers through lines that another core has in a known state.
        pub states: bool = false,
        /// The number of hops in one trial.
        pub iters: Option<NonZeroU64> = None,
        /// The numbers of chains side by side; `None` for all.
        pub chains: Option<IdSet<2>> = None,
        /// The number of cores that load at the same time.
        pub cores: Option<NonZeroU32> = None,
        /// The number of trials.
        pub trials: Option<NonZeroU32> = None,
        /// The requested width of the confidence interval, as a fraction of the median.
        pub precision: f64 = 0.01,
        /// The maximum duration of one point.
        pub time_limit: Picoseconds = Picoseconds(10_000_000_000_000),
        /// The time over which the rounds of a point are spread.
        pub spread: Picoseconds = Picoseconds(5_000_000_000_000),
        /// The longest wait for values with quiet neighbours, for all pairs together; `None` for no wait.
        pub until: Option<Picoseconds> = None,
        /// The maximum duration of the whole run.
        pub budget: Picoseconds = Picoseconds(60_000_000_000_000),
        /// The number of hops before the first trial; zero measures without a warm-up.
        pub warmup_iters: Option<u64> = None,
        /// True if hardware counters are wanted.
        pub counters: bool = false,
        /// The allowed excess of `compare`, as a fraction of the first result.
        pub threshold: f64 = 0.03,
        /// The file with the results with which hosts are compared.
        pub baseline: Option<&'static [u8]> = None,
        /// The number of hosts that must have a result, or the file with their names.
        pub expected: Option<&'static [u8]> = None,
        /// True if each host is first compared with its own older results.
        pub history: bool = false,
        /// The value of saved results that is judged.
        pub of: Of = Of::Typical,
        /// True if `compare` gives a verdict on results of different conditions.
        pub force: bool = false,
        /// The number of bytes in the unit of the sizes of another tool's table.
        pub unit: Option<Bytes> = None,
        /// True if an unreliable result makes the run fail.
        pub strict: bool = false,
        /// True to try system calls; the entry of the program does, so that nothing else is called.
        pub probe: bool = false,
        /// True to print the plan and stop.
        pub dry_run: bool = false,
        /// All formats.
        pub formats: &'static [Format] = formats,
        /// The format that the user named, or the default.
        format: &'static Format = format,
        /// The destinations of the result; see [`Options::outputs`].
        outputs: Vec<Output> = Vec::new(),
        /// The file for the result as JSON.
        saved: Option<&'static [u8]> = None,
        /// The labels of the host.
        pub labels: Labels = Labels::default(),
        /// True to leave out everything that identifies the host.
        pub anonymous: bool = false,
        /// True to draw the matrix.
        pub heatmap: bool = false,
        /// True to plot accesses per second.
        pub reciprocal: bool = false,
        /// True to print only the result.
        pub quiet: bool = false,
        /// True to print everything, notes included.
        pub verbose: bool = false,
        /// The condition for showing progress.
        pub progress: When = When::Auto,
        /// The condition for using colours.
        pub color: When = When::Auto,
        /// The help text to print instead of a run.
        pub help: Option<Help> = None,
        /// True to print only the version.
        pub version: bool = false,
    }
}

impl Options {
    /// Returns the time limit of a point, in nanoseconds.
    pub const fn point_limit_ns(&self) -> f64 {
        self.time_limit.0 as f64 / 1e3
    }

    /// Returns the nanoseconds of all visits together, as a part of the whole run: the rest is for the work before the
    /// first visit and after the last.
    pub fn visits_ns(&self) -> f64 {
        const SHARE: f64 = 0.7;
        self.budget.0 as f64 / 1e3 * SHARE
    }

    /// Returns the maximum wait for values with quiet neighbours, in nanoseconds; `None` without `--until`.
    pub fn until_ns(&self) -> Option<f64> {
        self.until.map(|until| until.0 as f64 / 1e3)
    }

    /// Returns whether the user gave an end of a range of working sets.
    pub const fn gave_range(&self) -> bool {
        self.min_size.is_some() || self.max_size.is_some()
    }

    /// Returns whether the user wants walks of as many chains as this kernel has.
    pub fn has_chains(&self, kernel: &LaneKernel) -> bool {
        self.chains.is_none_or(|chains| chains.contains(kernel.lanes() as u32))
    }

    /// Returns the operands, which are valid UTF-8 and not empty.
    pub fn operands(&self) -> &[&'static [u8]] {
        &self.operands
    }

    /// Returns the operands of both sides: those before and after `--`, or one operand for each side.
    pub fn sides(&self) -> (&[&'static [u8]], &[&'static [u8]]) {
        let operands = self.operands();
        operands.split_at_checked(self.mark().unwrap_or(1)).unwrap_or((operands, &[]))
    }

    /// Returns the position of the `--` between operands. A `--` before all of them only ends the options.
    fn mark(&self) -> Option<usize> {
        self.parted.filter(|before| *before > 0)
    }
}
