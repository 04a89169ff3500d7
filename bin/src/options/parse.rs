//! Turns tokens into options, and then checks the options together.
use latency_core::LINE;
use latency_core::chain::FEWEST_PAGES;
use latency_core::traffic::{BLOCK, View};

use super::bits::FlagSet;
use super::choices::Order;
use super::flags::{FLAGS, Flag, FlagId, Setter};
use super::nearest::{self, nearest};
use super::outputs::FORMAT_FLAGS;
use super::tokens::{Escaped, Token, Tokens};
use super::{Descriptor, Help, Options, Pairs, Selection, UsageError};
use latency_report::Format;
use latency_sys::auxv::page_size;

/// Why a range of sizes and a size contradict each other.
const ONE_SIZE: &str = "one is a range of sizes, the other one size";

/// Options that contradict each other, with the reason.
const CONFLICTS: [(FlagId, FlagId, &str); 6] = [
    (FlagId::Size, FlagId::MinSize, ONE_SIZE),
    (FlagId::Cpu, FlagId::CpuNode, "the CPU decides the node"),
    (FlagId::TimeLimit, FlagId::Until, "--until=quiet=TIME is the time limit"),
    (FlagId::Trials, FlagId::Until, "a number of trials is no time to wait"),
    (FlagId::Label, FlagId::Anonymous, "a label identifies the host"),
    (FlagId::Quiet, FlagId::Verbose, "one asks for less, the other for more"),
];

/// Reads a command line without the program's name.
///
/// The first positional argument names one of the `experiments`; without a name, the first one runs. The rest are its
/// operands. `help` and `version` may be words, and `options` after `help`. With either of them, only each single
/// argument is checked. The first of the `formats` is the default.
///
/// # Errors
/// Returns the first argument that is invalid in itself, or else the first invalid combination.
pub fn parse(
    arguments: impl Iterator<Item = &'static [u8]>,
    experiments: &'static [&'static Descriptor],
    formats: &'static [Format],
) -> Result<Options, UsageError> {
    let (Some(&default), Some(format)) = (experiments.first(), formats.first()) else {
        return Err(UsageError::UnknownExperiment { name: Escaped(b""), nearest: None });
    };
    let selection = Selection { index: 0, descriptor: default, named: false };
    let mut options = Options::new(selection, formats, format);
    read(&mut options, arguments, experiments)?;
    Ok(options)
}

/// Reads a command line into options that have their defaults.
fn read(
    options: &mut Options,
    arguments: impl Iterator<Item = &'static [u8]>,
    experiments: &'static [&'static Descriptor],
) -> Result<(), UsageError> {
    let default = options.format;
    let not_utf8 = |argument| UsageError::NotUtf8 { argument: Escaped(argument) };
    let mut tokens = Tokens::new(arguments);
    let mut asked_by_word = false;
    while let Some(token) = tokens.next() {
        match token.map_err(not_utf8)? {
            Token::Option { name, value } => {
                let flag =
                    FLAGS.iter().find(|flag| flag.is_called(name)).ok_or_else(|| unknown(name, options))?;
                let value = match (flag.kind(), value) {
                    (Some(_), None) => tokens.value().map_err(not_utf8)?,
                    (_, value) => value,
                };
                apply(options, flag, value)?;
                if name == b"-h" {
                    options.help = Some(Help::Short);
                }
            }
            Token::Positional(word) if !options.experiment.named => {
                // No other argument of this kind preceded it.
                let is_first = options.help.is_none() && !options.version;
                if is_first && word == b"help" {
                    options.help = Some(Help::Long);
                    asked_by_word = true;
                } else if asked_by_word && word == b"options" {
                    options.help = Some(Help::Shared);
                } else if is_first && word == b"version" {
                    options.version = true;
                } else {
                    options.experiment = select(word, experiments)?;
                }
            }
            Token::Positional(word) => {
                let experiment = options.experiment.descriptor;
                if tokens.options_ended() && options.parted.is_none() {
                    options.parted = Some(options.operands().len());
                }
                if word.is_empty() || options.operands.len() == experiment.operands.most {
                    return Err(UsageError::UnexpectedOperand { operand: Escaped(word), experiment });
                }
                options.operands.push(word);
            }
        }
    }
    let is_checked = options.help.is_none() && !options.version;
    let gave_range = options.given.intersection(FlagSet::RANGE) != FlagSet::EMPTY;
    let has_views = options.experiment.descriptor.flags.contains(FlagId::View);
    if gave_range && has_views && !options.given.contains(FlagId::View) {
        options.view = View::Size;
    }
    if asked_by_word && options.format != default {
        return Err(UsageError::HelpIsText { format: options.format });
    }
    options.resolve_outputs(is_checked)?;
    if is_checked {
        check(options, experiments)?;
    }
    if options.dry_run {
        options.show_plan();
    }
    Ok(())
}

fn unknown(name: &'static [u8], options: &Options) -> UsageError {
    if let Some(ours) = nearest::of_other_tool(name) {
        return UsageError::ForeignOption { name: Escaped(name), ours };
    }
    let Selection { descriptor, named, .. } = options.experiment;
    let accepted = descriptor.flags.union(FlagSet::ALWAYS);
    let mut names = FLAGS.iter().filter(|flag| !named || accepted.contains(flag.id)).map(|flag| flag.name);
    let nearest = name.strip_prefix(b"--").and_then(|word| nearest(word, &mut names));
    UsageError::UnknownOption { name: Escaped(name), nearest }
}

fn select(name: &'static [u8], experiments: &'static [&'static Descriptor]) -> Result<Selection, UsageError> {
    match experiments.iter().enumerate().find(|(_, known)| known.name.as_bytes() == name) {
        Some((index, descriptor)) => Ok(Selection { index, descriptor, named: true }),
        None => {
            let nearest = nearest(name, &mut experiments.iter().map(|known| known.name));
            Err(UsageError::UnknownExperiment { name: Escaped(name), nearest })
        }
    }
}

fn apply(options: &mut Options, flag: &'static Flag, value: Option<&'static [u8]>) -> Result<(), UsageError> {
    // Labels may be repeated with different keys, and outputs with different files.
    if options.given.contains(flag.id) && !matches!(flag.id, FlagId::Label | FlagId::Output) {
        return Err(UsageError::Repeated { flag });
    }
    let format = options.format;
    match (flag.set, value) {
        (Setter::Switch(set), None) => set(options),
        (Setter::Switch(_), Some(value)) => {
            return Err(UsageError::UnexpectedValue { flag, value: Escaped(value) });
        }
        (Setter::Value(..), None) => return Err(UsageError::MissingValue { flag }),
        (Setter::Value(kind, set), Some(value)) => {
            set(options, value).map_err(|reason| UsageError::BadValue {
                flag,
                kind,
                value: Escaped(value),
                reason,
            })?;
        }
    }
    if FORMAT_FLAGS.contains(flag.id) && format != options.format {
        let before = options.given.intersection(FORMAT_FLAGS);
        if let Some(first) = FLAGS.iter().find(|flag| before.contains(flag.id)) {
            return Err(UsageError::Conflict { first, second: flag, reason: "there is one result" });
        }
    }
    options.given = options.given.with(flag.id);
    Ok(())
}

/// Checks the options together: each must belong to the experiment, and none may exclude another.
fn check(options: &Options, experiments: &'static [&'static Descriptor]) -> Result<(), UsageError> {
    let experiment = options.experiment.descriptor;
    let accepted = experiment.flags.union(FlagSet::ALWAYS);
    let given = || FLAGS.iter().filter(|flag| options.given.contains(flag.id));
    if let Some(flag) = given().find(|flag| !accepted.contains(flag.id)) {
        return Err(UsageError::NotForExperiment { flag, experiment, experiments });
    }
    if options.cpus.is_some() && !experiment.flags.contains(FlagId::Pairs) {
        return Err(UsageError::OneCpuOnly { experiment });
    }
    if let (Some(_), Pairs::These(_)) = (options.cpus, &options.pairs) {
        let [first, second] = [FlagId::Cpu, FlagId::Pairs].map(FlagId::flag);
        return Err(UsageError::Conflict { first, second, reason: "the pairs name their CPUs" });
    }
    let is_of_matrix = matches!(options.view, View::Nodes | View::Cores);
    if !is_of_matrix && !experiment.flags.contains(FlagId::Traffic) {
        return Err(UsageError::NoSuchView { experiment });
    }
    // With files, an experiment becomes a command on saved results.
    let of_saved = experiment.measures() && !options.operands().is_empty();
    if let Some(flag) = given().find(|flag| of_saved && flag.is_of_measuring()) {
        return Err(UsageError::NotWithFiles { flag, experiment });
    }
    let formats = || options.outputs().iter().map(|output| output.format);
    let is_of_rows = |format: &&Format| matches!(format.name, "csv" | "prometheus" | "tap" | "svg");
    if let Some(format) = formats().find(is_of_rows).filter(|_| of_saved) {
        return Err(UsageError::NotOfSaved { format });
    }
    for (left, right, reason) in CONFLICTS {
        // `--cpu=first` is the first CPU of the requested node, so it does not exclude `--cpunode`.
        let asked = |flag: &&Flag| flag.id != FlagId::Cpu || !options.first_cpu;
        let mut both = given().filter(asked).filter(|flag| flag.id == left || flag.id == right);
        if let (Some(first), Some(second)) = (both.next(), both.next()) {
            return Err(UsageError::Conflict { first, second, reason });
        }
    }
    if let Some(format) = formats().find(|format| !experiment.is_written_as(format)) {
        return Err(UsageError::NoSuchOutput { format, experiment, formats: options.formats });
    }
    if options.operands().len() < experiment.operands.least {
        return Err(UsageError::MissingOperand { experiment });
    }
    if experiment.operands.sides && options.mark().is_none() && options.operands().len() > 2 {
        return Err(UsageError::NoSides { experiment });
    }
    // The range is that of one view of bandwidth.
    let excludes = match options.view {
        View::Size => options.size.map(|_| (FlagId::Size, ONE_SIZE)),
        _ => Some((FlagId::View, "--view=size has a range of working sets")),
    };
    let excludes = excludes.filter(|(id, _)| options.given.contains(*id));
    if let Some((id, reason)) = excludes
        && let Some(second) = given().find(|flag| FlagSet::RANGE.contains(flag.id))
    {
        return Err(UsageError::Conflict { first: id.flag(), second, reason });
    }
    check_shape(options)?;
    check_load(options)?;
    match (options.min_size, options.max_size) {
        (Some(least), Some(most)) if least > most => Err(UsageError::RangeBackwards { least, most }),
        _ => Ok(()),
    }
}

/// Checks that the levels of load are given once, and that the load to hold (`--hold`) is one rate of one kind of traffic.
fn check_load(options: &Options) -> Result<(), UsageError> {
    let rates = options.rates.len();
    if rates > 0 && options.given.contains(FlagId::Levels) {
        let [first, second] = [FlagId::Rates, FlagId::Levels].map(FlagId::flag);
        return Err(UsageError::Conflict { first, second, reason: "the rates are the levels" });
    }
    let kinds = options.traffic.map_or(1, |kinds| kinds.iter().count());
    match options.hold {
        Some(_) if (rates, kinds) != (1, 1) => Err(UsageError::HoldsOneLoad),
        _ => Ok(()),
    }
}

/// Checks that there is a chain of every requested size.
fn check_shape(options: &Options) -> Result<(), UsageError> {
    // The machine's cache line may be longer, and then a plan refuses more.
    let (stride, page) = (options.stride.unwrap_or(LINE), page_size().bytes());
    let (page_local, grouped) = (options.order == Order::PageLocal, options.order == Order::Grouped);
    let experiment = options.experiment.descriptor;
    if grouped && !experiment.flags.contains(FlagId::Visits) {
        return Err(UsageError::NoGroupedOrder { experiment });
    }
    if options.given.contains(FlagId::Visits) && !grouped {
        return Err(UsageError::VisitsOfNothing);
    }
    if options.stride.is_some() && grouped {
        let [first, second] = [FlagId::Order, FlagId::Stride].map(FlagId::flag);
        return Err(UsageError::Conflict { first, second, reason: "grouped order visits every line" });
    }
    // A page with a single line has no order, and no line may cross the end of a page.
    if page_local && (stride.times(2) > page || page.0 % stride.0 != 0) {
        return Err(UsageError::NotPageLocal { stride, page });
    }
    // A chain needs at least two lines; page-local chains need whole pages, and grouped ones whole windows.
    let least = match options.order {
        Order::PageLocal => page,
        Order::Grouped => page.times(FEWEST_PAGES),
        // Traffic walks whole blocks.
        _ if experiment.flags.contains(FlagId::View) && experiment.flags.contains(FlagId::Traffic) => {
            LINE.times(BLOCK as u64)
        }
        _ => stride.times(2),
    };
    let sizes = [options.size, options.min_size, options.max_size];
    for (id, size) in [FlagId::Size, FlagId::MinSize, FlagId::MaxSize].into_iter().zip(sizes) {
        if let Some(size) = size.filter(|size| *size < least) {
            return Err(UsageError::TooSmall { flag: id.flag(), size, stride, least });
        }
    }
    Ok(())
}

impl Options {
    /// Returns the options with the values of the variables that labels name. `variable` supplies them.
    ///
    /// # Errors
    /// Returns [`UsageError::NoVariable`] if a variable does not exist, unless only help is wanted.
    pub fn with_variables(
        mut self,
        variable: &dyn Fn(&[u8]) -> Option<&'static [u8]>,
    ) -> Result<Self, UsageError> {
        match self.labels.resolve(variable) {
            Err(name) if self.help.is_none() && !self.version => Err(UsageError::NoVariable { name }),
            _ => Ok(self),
        }
    }
}
