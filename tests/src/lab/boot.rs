//! One boot of a modelled machine with the executable under test as process 1.
//!
//! Turns a model into a guest, and keeps the output of both sides: the console and the plugin's counts. It contains no
//! comparisons.

use super::chains::Listing;
use super::delivered::Delivered;
use super::plugin::{self, Code, Counts};
use super::{Clock, Experiment, Model, Pages};
use crate::program::scratch;
use crate::vm::{Architecture, Console, Machine, NodeSpec};
use std::fs;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Time limit of a guest. A guest needs up to a minute of a CPU; on a busy host this may be ten times as long.
const TIME_LIMIT: Duration = Duration::from_secs(600);

/// The results of a boot.
#[derive(Clone, Debug)]
pub struct Boot {
    /// Output of the executable.
    pub console: Console,
    /// Durations of its windows.
    pub delivered: Delivered,
    /// The same windows one by one.
    pub listing: Listing,
    counts: Counts,
}

impl Boot {
    /// Boots `model`.
    ///
    /// # Errors
    ///
    /// Fails if executable, plugin or emulator are missing, or if the guest does not end.
    pub fn new(model: &Model) -> Result<Self, String> {
        let options = options(model);
        let options: Vec<&str> = options.iter().map(String::as_str).collect();
        let (console, report) = with_model(model, |machine| machine.try_boot(&options))?;
        let (delivered, listing) = (Delivered::parse(&report), Listing::parse(&report));
        Ok(Boot { console, delivered, listing, counts: Counts(report) })
    }

    /// Returns the loads that the model saw from one node to another.
    pub fn loads(&self, from: u32, to: u32) -> u64 {
        self.counts.count(&format!("node {from} to node {to} loads"))
    }

    /// Returns the hops of trials of `hops` hops, and those that another node's cache served.
    pub fn served_by_another_node(&self, hops: u64) -> (u64, u64) {
        let of = |what: &str| self.counts.count(&format!("timed by {hops}, {what}"));
        (of("hops"), of("from the other node's cache"))
    }

    /// Returns the loads of the chase loops that the model could not place.
    pub fn unclaimed(&self) -> u64 {
        self.counts.count("unclaimed loads")
    }
}

/// Boots `model` once and runs the executable with each of `runs`. Returns the output of each, and the
/// plugin's report.
///
/// # Errors
///
/// The same as for [`Boot::new`].
pub fn boot_all<const N: usize>(model: &Model, runs: [&str; N]) -> Result<([Console; N], String), String> {
    let words = runs.map(|run| run.split_whitespace().collect::<Vec<&str>>());
    let words = words.each_ref().map(Vec::as_slice);
    let (consoles, report) = with_model(model, |machine| machine.try_boot_all(words))?;
    Ok((consoles.ok_or("the guest's kernel died or stopped each time before the tool ran")?, report))
}

/// Calls `boot` with the machine of `model`, and returns its result and the plugin's report.
fn with_model<T>(
    model: &Model,
    boot: impl FnOnce(&Machine) -> Result<T, String>,
) -> Result<(T, String), String> {
    static NUMBER: AtomicU32 = AtomicU32::new(0);
    let path = model.architecture.binary()?;
    let executable = fs::read(&path).map_err(|error| format!("cannot read {}: {error}", path.display()))?;
    let code = Code::find(&executable)?;
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let report = scratch()?.join(format!("lab-{}-{number}.txt", std::process::id()));
    let argument = plugin::argument(&plugin::file()?, model, &code, &report);
    let made = boot(&machine(model).plugin(&argument));
    let counts = fs::read_to_string(&report);
    // Left-overs in `target` cost only space.
    let _ = fs::remove_file(&report);
    let counts = counts.map_err(|error| format!("cannot read {}: {error}", report.display()));
    Ok((made?, counts?))
}

fn machine(model: &Model) -> Machine {
    let memory = u32::try_from(model.memory >> 20).unwrap_or(u32::MAX);
    let mut nodes = vec![NodeSpec::new(model.cpus, memory); model.nodes as usize];
    nodes.resize(model.targets() as usize, NodeSpec::memory_only(memory));
    let machine = Machine::new(&nodes).architecture(model.architecture);
    let mut machine = match model.architecture {
        Architecture::X86_64 => of_x86_64(model, machine),
        Architecture::Aarch64 => machine.cpu_model("neoverse-n1"),
    };
    if !model.servers.is_empty() {
        // The second CPU has no timer interrupts while one thread is busy there: lines that a generator could
        // not request during an interrupt come at once, and others wait behind them.
        machine = machine.kernel_parameter("nohz_full=1").kernel_parameter("rcu_nocbs=1");
    }
    if model.reserved() > 0 {
        let pages = u32::try_from(model.reserved().div_ceil(2 << 20)).unwrap_or(u32::MAX);
        let pools: Vec<(u32, u32)> = (0..model.targets()).map(|node| (node, pages)).collect();
        machine = machine.huge_pages(&pools);
    }
    machine.timeout(TIME_LIMIT)
}

/// Chooses the processor, and the clock of the kernel.
fn of_x86_64(model: &Model, machine: Machine) -> Machine {
    // The caches that the processor reports have to be small, so that only the measurement can find larger
    // ones; otherwise they would cause warnings by themselves. And the kernel's clock has to differ from the
    // counter that is calibrated with it.
    let (counter, clock_source) = match model.clock {
        // Without timer interrupts the kernel has to trust the counter.
        Clock::Counter if !model.servers.is_empty() => ("", "tsc=reliable clocksource=hpet"),
        Clock::Counter => ("", "tsc=unstable clocksource=hpet"),
        Clock::Kernel => (",-tsc", "clocksource=hpet"),
        Clock::None => (",-tsc", "clocksource=jiffies"),
    };
    let last_level = if model.reports_last_level { "on" } else { "off" };
    machine.cpu_model(&format!("max,l3-cache={last_level}{counter}")).kernel_parameter(clock_source)
}

fn options(model: &Model) -> Vec<String> {
    let experiment = match model.experiment {
        Experiment::Matrix => "matrix",
        Experiment::Distribution => "distribution",
        Experiment::Curve => "curve",
        Experiment::Order => "order",
        Experiment::Pages => "pages",
        Experiment::Residency => "residency",
    };
    // The console is a terminal, so progress would share its lines with the result.
    let mut options = [experiment, "--json", "--progress=never"].map(String::from).to_vec();
    let mut option = |name: &str, value: Option<String>| {
        options.extend(value.map(|value| format!("--{name}={value}")));
    };
    // Rounds need no pauses between them if nothing changes over time.
    let is_steady = model.drift.is_none() && model.burst.is_none();
    option("spread", Some(if is_steady { "0" } else { "5" }.into()));
    if model.has_one_size() && !model.default_size {
        option("size", Some(model.one_size().to_string()));
        option("iters", Some(model.hops().to_string()));
        option("trials", Some(model.repetitions().to_string()));
        option("pages", Some(model.pages.unwrap_or(Pages::Small).word().into()));
        // The content of a cache is steady after a lap, or after the loads of four times its lines; without a cache, a
        // part of a lap is enough warm-up. A hidden cache is found by the warm-up itself, and with random victims it
        // fills over many laps.
        let levels = model.levels.iter().chain(model.last_level.iter().map(|last| &last.level));
        let largest = levels.map(|level| level.size).max();
        let warm_up = largest.map_or(16384, |size| (model.one_size() / 64).min((4 * size / 64).max(16384)));
        let is_known = model.hidden.is_none() && !model.levels.iter().any(|level| level.random);
        option("warmup-iters", is_known.then(|| warm_up.to_string()));
    } else {
        // Options that are not given are left to the executable's defaults.
        option("size", model.size.map(|size| size.to_string()));
        option("iters", model.iters.map(|hops| hops.to_string()));
        option("trials", model.trials.map(|trials| trials.to_string()));
        option("pages", model.pages.map(|pages| pages.word().into()));
    }
    for (name, value) in &model.options {
        option(name, Some(value.clone()));
    }
    options
}
