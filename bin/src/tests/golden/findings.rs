//! Findings of an imaginary run, and the way from command line to text: the only file of the golden tests
//! that names types of the library.
//!
//! Machines are the fixtures in tests/fixtures, and plans are the program's own. Clock, health and outcomes
//! are made up here from the formulas of `numbers`.

use std::boxed::Box;
use std::collections::BTreeMap;
use std::format;
use std::string::String;
use std::sync::{Arc, Mutex, OnceLock};
use std::vec::Vec;

use latency_core::arch::{Cycles, Stamp};
use latency_core::chain::Order;
use latency_core::clock::Sandwich;
use latency_core::histogram::fold::Period;
use latency_core::host::{Dimm, DimmSource, Dimms, Power, Ways};
use latency_core::kernel::lanes::Filler;
use latency_core::model::edge::{Edge, EdgeError};
use latency_core::topology::Node;
use latency_core::traffic::View;
use latency_core::{Bytes, CpuId, Hertz, Interval, Pages, Picoseconds, Summary, Text, Ticks, stats};

use super::numbers::{self, Beside, CORE_GIGAHERTZ, Cores, Load, ROUNDS, Way};
use super::scene::{Scene, Trouble};
use super::seen::{Seen, Tree};
use super::{lines, loads};
use crate::analysis::curve::Analysis;
use crate::catalogue::{DESCRIPTORS, EXPERIMENTS};
use crate::commands::report::{self as whole_report, Plans, Whole};
use crate::describe::{CommandRun, Report, output};
use crate::error::Failure;
use crate::experiment::curve::passes;
use crate::experiment::{Experiment, dry_run, run_experiment};
use crate::options::{self, Options};
use crate::plan::{Plan, Planning, budget, duration, own_cores};
use latency_engine::error::PlacementError;
use latency_engine::machine::processor::Extensions;
use latency_engine::machine::{CoreKind, Instead, Machine, Platform, Processor, Sizing, detect as survey};
use latency_engine::result::conditions::ErrorCounts;
use latency_engine::result::distribution::PERCENTAGES;
use latency_engine::result::point::REGION;
use latency_engine::result::{
    Audit, Conditions, Counter, Counters, Distribution, Evidence, Exclusion, Extra, HardwareErrors, Health,
    Interruptions, KernelClock, Means, Measurement, OnCpu, Outcome, PageCounts, PairedRounds, Placed,
    PlacedField, Point, Reach, Repeat, RoundSeries, Sample, Software, SpanPoint, SpanSeries, Split, Strided,
    Timer, Traffic, Undisturbed, Walk, WarmUp,
};
use latency_engine::tests::words::speak;
use latency_engine::warning::{Clipped, NoCounters, SeenCause, ShortText, TimeLimit, Warning, Warnings};
use latency_report::{FORMATS, Format, Shown, ShownPart, ShownTable, Terminal};
use latency_sys::Errno;
use latency_sys::arguments::Arguments;

/// The CPUs of generators, with other work on some of them.
const LOST: [(CpuId, f64); 2] = [(CpuId(1), 0.5), (CpuId(3), 0.052)];
/// The frequency of the time-stamp counter.
const TSC: Hertz = Hertz(2_100_000_000);
/// The frequency of a coarse counter.
const SYSTEM_COUNTER: Hertz = Hertz(25_000_000);

/// The name of an anonymous host, of its boot and of its files.
pub const SECRET: &[u8] = b"made-up-name";

/// Number of pages of the largest span of a curve.
const SPAN_PAGES: u64 = 1 << 14;

/// Factors of odd values.
const ODD: [f64; 7] = [1.0, 0.1, 1.0, 10.0, 0.01, 1e5, f64::INFINITY];

/// Number of threads that a kernel allows if it does not allow all.
const THREADS: u32 = 3;

/// Returns the program's output in a scene.
pub fn written(scene: &Scene) -> String {
    let mut out = String::new();
    let run = Parsed::of(scene);
    let options = run.options;
    let terminal = terminal(scene);
    if let Some(help) = options.help {
        match options.experiment.named {
            true => options::write_experiment_help(&mut out, help, options.experiment.descriptor, &FORMATS),
            false => options::write_help(&mut out, help, &DESCRIPTORS, &FORMATS),
        }
        .unwrap();
        return out;
    }
    let failure = run.described(scene, &mut |columns, shown| {
        output::write(&mut out, options.outputs()[0].format, options, terminal, columns, shown).unwrap();
    });
    if let Some(failure) = failure {
        out += &format!(
            "standard error: latency-bench: {}: {failure} (exit {})\n",
            failure.label(),
            failure.exit_code()
        );
    }
    out
}

/// Returns the output of one run in several formats; `None` if it failed.
pub fn written_in(scene: &Scene, formats: &[&Format]) -> Option<Vec<String>> {
    let run = Parsed::of(scene);
    let mut all = Vec::new();
    let failure = run.described(scene, &mut |columns, shown| {
        let write = |format: &&Format| {
            let mut out = String::new();
            output::write(&mut out, format, run.options, terminal(scene), columns, shown).unwrap();
            out
        };
        all = formats.iter().map(write).collect();
    });
    failure.is_none().then_some(all)
}

/// Returns a result in a format, in the style of a scene.
pub fn shown(scene: &Scene, format: &Format, shown: &Shown) -> String {
    let mut out = String::new();
    let options = Parsed::of(scene).options;
    let columns = crate::catalogue::columns(shown);
    let _words = speak(scene.words);
    output::write(&mut out, format, options, terminal(scene), columns, shown).unwrap();
    out
}

fn terminal(scene: &Scene) -> Terminal {
    let Scene { columns, unicode, colour, audience, .. } = *scene;
    Terminal { columns, unicode, colour, audience }
}

/// Returns the text of a scene without its pictures.
pub fn without_pictures(scene: &Scene) -> String {
    let mut out = String::new();
    let run = Parsed::of(scene);
    let terminal = terminal(scene);
    run.described(scene, &mut |columns, shown| {
        let shown = Shown::of(|document| {
            for entry in shown.entries() {
                match entry {
                    ShownPart::Sentence(role, words) => document.say(*role, words),
                    ShownPart::Table(table) => {
                        let cells: Vec<usize> = table.rows.iter().map(Vec::len).collect();
                        assert!(cells.iter().all(|count| *count == cells[0]), "{}: {cells:?}", table.caption);
                        let rows = table.rows.clone();
                        document.push(ShownPart::Table(Box::new(ShownTable {
                            caption: table.caption.clone(),
                            rows,
                            ..**table
                        })));
                    }
                    _ => {}
                }
            }
        });
        let format = run.options.outputs()[0].format;
        output::write(&mut out, format, run.options, terminal, columns, &shown).unwrap();
    });
    out
}

/// Returns the result of a scene as programs see it; `None` if it has none.
pub fn seen(scene: &Scene) -> Option<Seen> {
    let run = Parsed::of(scene);
    let mut seen = None;
    if run.options.help.is_none() {
        let _ = run.described(scene, &mut |_, shown| seen = Some(Tree::of(shown)));
    }
    seen
}

/// Returns true if the command line of a scene is valid.
pub fn is_accepted(line: &str) -> bool {
    options::parse(packed(line), &DESCRIPTORS, &FORMATS).is_ok()
}

fn packed(line: &str) -> Arguments {
    Arguments::packed(Box::leak(format!("{line}\0").replace(' ', "\0").into_bytes().into()))
}

/// A valid command line.
struct Parsed {
    arguments: Arguments,
    options: &'static Options,
}

/// A function that receives columns and a result.
type Write<'w> = &'w mut dyn FnMut(output::Columns, &Shown);

impl Parsed {
    fn of(scene: &Scene) -> Parsed {
        let arguments = packed(&scene.line);
        let options = options::parse(arguments, &DESCRIPTORS, &FORMATS).unwrap();
        Parsed { arguments, options: Box::leak(Box::new(options)) }
    }

    /// Returns the run of a command.
    fn run<'n>(&self, name: &'n str) -> CommandRun<'n> {
        CommandRun { arguments: self.arguments, ..CommandRun::of(name) }
    }

    /// Makes the result, which `write` receives, and returns the failure of a command.
    fn described(&self, scene: &Scene, write: Write<'_>) -> Option<Failure> {
        let _words = speak(scene.words);
        let options = self.options;
        match crate::catalogue::command(options.experiment.index) {
            Some(command) if command.descriptor.name == "report" && options.operands().is_empty() => {
                match options.dry_run {
                    true => {
                        let plans = Plans::make(options, Box::leak(machine(scene))).unwrap();
                        write(
                            output::COLUMNS,
                            &Shown::of(|document| plans.present(document, &self.run("report"))),
                        );
                    }
                    false => self.whole(scene, &[], write),
                }
                None
            }
            Some(command) => match command.perform(options, &|| self.run(command.descriptor.name)) {
                Ok((shown, failure)) => {
                    write(crate::catalogue::columns(&shown), &shown);
                    failure
                }
                Err(failure) => Some(failure),
            },
            None => {
                report(scene, self, write);
                None
            }
        }
    }
}

impl Parsed {
    /// Makes up a result for every experiment of a report, and describes them as one.
    fn whole(&self, scene: &Scene, done: &[Option<Report<'_>>], write: Write<'_>) {
        /// Number of experiments that had ended before the interrupt.
        const ENDED: usize = 2;
        let options = self.options;
        let partial = scene.troubles.contains(&Trouble::Interrupted);
        let calm = Scene { troubles: &[], ..scene.clone() };
        let early = scene.troubles.contains(&Trouble::Early);
        let of_section = if early || partial && done.len() < ENDED { &calm } else { scene };
        if done.len() == if partial { ENDED + 1 } else { whole_report::COUNT } {
            let failure = PlacementError::NothingToMeasure.into();
            let whole = Whole {
                options,
                machine: done.iter().flatten().next().unwrap().machine,
                came: &|index| done.get(index).map(|report| report.ok_or(&failure)),
                arguments: self.arguments,
                partial,
                started: 1_795_310_400,
                seconds: 82.1,
            };
            return write(output::COLUMNS, &Shown::of(|document| whole_report::present(document, &whole)));
        }
        let (options, arguments, _) = whole_report::asked(done.len(), options, 20e9).unwrap();
        let options: &'static Options = Box::leak(Box::new(options));
        let experiment = whole_report::SECTIONS[done.len()].experiment;
        // Refused threads are the only reason for which one of them has no result.
        let refused = experiment.descriptor.name == "loaded" && scene.troubles.contains(&Trouble::Threads);
        // The report has room for the last experiment only.
        if refused || early && done.len() + 1 < whole_report::COUNT {
            return self.whole(scene, &[done, &[None]].concat(), write);
        }
        made_up(of_section, &Parsed { arguments, options }, experiment, &mut |report| {
            self.whole(scene, &[done, &[Some(*report)]].concat(), write);
        });
    }
}

/// Returns the conclusions from a curve. Many scenes show the same one, in several tests, and it takes a
/// second.
fn concluded(
    fixture: &str,
    outcomes: &[Outcome],
    spans: &[SpanPoint],
    machine: &Machine,
    extra: &Extra,
) -> Analysis {
    type Known = BTreeMap<String, Arc<OnceLock<Analysis>>>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let samples: Vec<_> = outcomes.iter().map(Sample::of).collect();
    let key = format!("{fixture} {:?} {:?} {samples:?}", extra.edge, extra.spans);
    let slot = Arc::clone(KNOWN.lock().unwrap().entry(key).or_default());
    slot.get_or_init(|| crate::experiment::curve::concluded(outcomes, spans, machine, extra, &|| false))
        .clone()
}

/// Plans, makes up the measurements, and passes the report to `write`.
fn report(scene: &Scene, parsed: &Parsed, write: Write<'_>) {
    let options = parsed.options;
    let experiment = EXPERIMENTS[options.experiment.index];
    if options.dry_run {
        let machine = Box::leak(machine(scene));
        let Plan { points, budget, .. } = run_experiment::planned(options, machine, experiment).unwrap();
        let takes = duration::expected(options, machine, &points, &budget);
        let run = parsed.run(experiment.descriptor.name);
        let shown = Shown::of(|document| dry_run::present(document, &run, &points, &budget, takes));
        return write(output::COLUMNS, &shown);
    }
    made_up(scene, parsed, experiment, &mut |report| {
        crate::analysis::drawn_tests::drawn();
        let shown = Shown::of(|document| crate::describe::report(document, report, experiment.parts(report)));
        write(output::COLUMNS, &shown);
    });
}

/// Returns the machine of a scene, the plan of an experiment, and its warnings.
fn planned(
    scene: &Scene,
    options: &'static Options,
    experiment: &Experiment,
) -> (&'static Machine, Vec<Point>, Warnings) {
    let machine: &'static Machine = Box::leak(machine(scene));
    let mut warnings = Warnings::empty();
    survey::warn(machine, &mut warnings);
    let points = (experiment.plan)(&mut Planning { options, machine, warnings: &mut warnings }).unwrap();
    (machine, points, warnings)
}

/// Makes up the measurements of an experiment.
fn made_up(
    scene: &Scene,
    &Parsed { arguments, options }: &Parsed,
    experiment: &Experiment,
    then: &mut dyn FnMut(&Report<'_>),
) {
    let (machine, points, mut warnings) = planned(scene, options, experiment);
    let run = Run { scene, options, machine };
    let points: Vec<Point> = match experiment.descriptor.name {
        "loaded" => loads::with_levels(options, &points, run.has(Trouble::Threads).then_some(THREADS)),
        _ => points.iter().copied().filter(|point| run.is_allowed(point)).collect(),
    };
    let timer = run.timer();
    let mut outcomes: Vec<Outcome> =
        points.iter().enumerate().map(|(index, point)| run.outcome(index, *point, &mut warnings)).collect();
    let is_matrix = experiment.descriptor.name == "matrix";
    let pairs = if is_matrix { own_cores::pairs(&points) } else { points.len() };
    let all = outcomes.clone();
    outcomes.truncate(pairs);
    let counted = if options.view == View::Cores { points.len() } else { pairs };
    let distributions: Vec<Distribution> = match experiment.descriptor.name {
        "distribution" => outcomes.iter().map(|outcome| distribution(outcome, scene.troubles)).collect(),
        _ => Vec::new(),
    };
    let partial = run.has(Trouble::Interrupted) || run.has(Trouble::Early);
    if partial {
        let finished = outcomes.iter().filter(|outcome| outcome.result.is_ok()).count() as u32;
        warnings.push(Warning::Partial { finished, planned: outcomes.len() as u32 });
    }
    run.warn(&mut warnings);
    crate::experiment::loaded::check(&mut warnings, &outcomes);
    latency_engine::finish::warn_of_core_clock(&mut warnings, &timer, &outcomes);
    latency_engine::finish::warn_of_side_caches(machine, &mut warnings, &outcomes);
    if options.experiment.descriptor.name == "matrix" {
        crate::experiment::matrix::check(machine, &outcomes, &mut warnings);
    }
    let conditions = run.conditions(&points[..counted]);
    if let (true, Some(point)) = (run.has(Trouble::SmallTlb), points.first()) {
        let (from, to, size) = (point.initiator, point.target, point.size);
        warnings.push(Warning::TranslationNotSeparated { from, to, size, ratio: 0.88 });
    }
    if run.has(Trouble::SlowedCore) {
        latency_engine::checks::self_test::warn(machine, &run.health(), &outcomes, &mut warnings);
    }
    let platform = machine.processor.platform;
    warnings.explain(latency_engine::checks::conditions::cause(conditions.as_ref(), platform));
    let mut extra = run.extra(experiment.descriptor.name);
    let mut spans = Vec::new();
    if matches!(experiment.descriptor.name, "curve" | "pages") {
        (spans, extra.spans) = super::spans::of(scene, machine);
    }
    if experiment.descriptor.name == "curve" {
        let again: Vec<Bytes> = passes::chosen(points.iter()).map(|point| point.size).collect();
        for outcome in outcomes.iter_mut().filter(|outcome| !again.contains(&outcome.point.size)) {
            if let Ok(measured) = &mut outcome.result {
                measured.series.split = None;
            }
        }
        // The scenes of guests have huge pages that the TLB treats as base pages.
        let is_huge = outcomes.iter().any(|outcome| {
            outcome.result.as_ref().is_ok_and(|measured| measured.placed.as_small == Some(false))
        });
        let is_used = |series: &SpanSeries| series.pages.are_base() != is_huge;
        extra.spans = extra.spans.map(|series| series.filter(is_used));
        let most = |pages: Pages| pages.size().unwrap().bytes().times(SPAN_PAGES);
        extra.spans.iter_mut().flatten().for_each(|series| series.span = series.span.min(most(series.pages)));
        spans.retain(|point| point.count <= SPAN_PAGES);
    }
    let residency = match experiment.descriptor.name {
        "residency" => super::residency::of(scene, machine, &points),
        _ => Vec::new(),
    };
    let analysis = (experiment.descriptor.name == "curve")
        .then(|| concluded(scene.machine, &outcomes, &spans, machine, &extra));
    let report = Report {
        options,
        machine,
        clock: &timer,
        health: &run.health(),
        conditions: conditions.as_ref(),
        warnings: &warnings,
        outcomes: &outcomes,
        all: &all,
        distributions: &distributions,
        spans: &spans,
        residency: &residency,
        analysis: analysis.as_ref(),
        extra: &extra,
        regions: latency_engine::regions::have_several_initiators(&points)
            .then(|| (experiment.budget)(options, machine, &points).memory),
        arguments,
        partial,
        started: 1_795_310_400,
        seconds: 12.5,
    };
    then(&report);
}

/// Returns the machine of a fixture, on a processor that is always the same.
fn machine(scene: &Scene) -> Box<Machine> {
    let mut machine = crate::experiment::tests::machine(scene.machine, None);
    machine.has_numa = scene.machine != "kernel-without-numa";
    if scene.line.contains("--anonymous") {
        (machine.host.identity.name, machine.host.identity.boot) =
            (Text::from_bytes(SECRET), Text::from_bytes(SECRET));
        machine.make_anonymous();
    }
    let has = |trouble| scene.troubles.contains(&trouble);
    let (platform, hypervisor) = match (has(Trouble::Emulated), has(Trouble::Virtual)) {
        (true, _) => (Platform::Emulated, "QEMU"),
        (_, true) => (Platform::Virtual, "KVM"),
        _ => (Platform::Hardware, ""),
    };
    machine.processor = Processor {
        vendor: Text::from_bytes(b"GenuineIntel"),
        brand: Text::from_bytes(b"Imaginary Xeon 8000 @ 2.10GHz"),
        signature: (6, 143, 8),
        platform,
        hypervisor: Text::from_bytes(hypervisor.as_bytes()),
        encryption: Text::EMPTY,
        invariant_counter: true,
        declared_counter: Some(TSC),
        fence_promised: true,
        data_dependent_prefetcher: false,
        extensions: Extensions(0),
        vector_bytes: 16,
        core: machine.kind_of(CpuId(0)).or((scene.machine == "cxl-memory").then_some(CoreKind::Performance)),
        caches: [None; 4],
    };
    if scene.words.cycles_are == Cycles::Core {
        let processor = &mut machine.processor;
        (processor.vendor, processor.brand) =
            (Text::from_bytes(b"ARM"), Text::from_bytes(b"Imaginary Neoverse"));
        (processor.signature, processor.declared_counter) = ((8, 12, 1), Some(SYSTEM_COUNTER));
        processor.fence_promised = false;
        machine.host.clock_source = Text::from_bytes(b"arch_sys_counter");
    }
    if scene.troubles.contains(&Trouble::HostileNames) {
        let hostile = b"</title><script>alert('1')</script>&amp;\"|*_`";
        machine.processor.brand = Text::from_bytes(hostile);
        machine.host.identity.name = Text::from_bytes(hostile);
        machine.host.kernel = Text::from_bytes(hostile);
    }
    if has(Trouble::Known) {
        machine.processor.brand = Text::from_bytes(b"Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz");
        machine.processor.signature = (6, 106, 6);
    }
    if has(Trouble::BusyCpu) {
        machine.instead = &[Instead { first: CpuId(0), busy: 0.34, cpu: CpuId(1) }];
    }
    if has(Trouble::Virtual) {
        machine.host.ways = Some(Ways { allowed: 0x7ff, code: Some(0xfff), all: 0xfff });
    }
    machine.dimms = dimms(scene, &machine);
    set_evidence(scene, &mut machine);
    // The machine is a guest that sees its host's cache, and has a part of it.
    machine.sizing = has(Trouble::Virtual).then_some(Sizing {
        first: Bytes::MIB.times(256),
        size: Bytes::MIB.times(256),
        cold_ns: 100.0,
        warm_over_cold: 0.9973,
        // With little time the answer is unknown.
        clear: (!scene.troubles.contains(&Trouble::Imprecise)).then_some(true),
        cache: Some(Bytes::MIB.times(22)),
        in_cache: (!scene.troubles.contains(&Trouble::Imprecise)).then_some(Bytes::MIB.times(8)),
        cache_sought: true,
        seconds: 0.287,
    });
    machine
}

/// Sets the memory encryption, the power settings, the temperature and the lost memory of a scene.
fn set_evidence(scene: &Scene, machine: &mut Machine) {
    let has = |trouble| scene.troubles.contains(&trouble);
    let encryption = match (has(Trouble::Virtual), has(Trouble::Dimms)) {
        (true, is_told) if is_told || has(Trouble::Known) => "SEV-SNP",
        (false, true) => "SME, SEV-SNP",
        _ => "",
    };
    machine.processor.encryption = Text::from_bytes(encryption.as_bytes());
    let host = &mut machine.host;
    if has(Trouble::Dimms) && !has(Trouble::Virtual) {
        host.power = Power {
            profile: Text::from_bytes(b"quiet"),
            preference: Text::from_bytes(b"balance_performance"),
            deepest_idle: Text::from_bytes(b"C6"),
        };
        host.dimm_heat = Some(41_250);
    }
    if has(Trouble::Edac) {
        host.memory_given_up = Some(Bytes(12 << 10));
        host.dimm_heat = Some(84_000);
    }
}

/// Returns the memory devices of a scene: half of the slots of each node are populated.
fn dimms(scene: &Scene, machine: &Machine) -> Option<Dimms<'static>> {
    let has = |trouble| scene.troubles.contains(&trouble);
    let text = |words: String| Text::of(format_args!("{words}"));
    if has(Trouble::Edac) {
        let edac = |channel| Dimm {
            locator: text(std::format!("CPU_SrcID#0_MC#0_Chan#{channel}_DIMM#0")),
            kind: "DDR4",
            size: Some(Bytes::GIB.times(32)),
            ..Dimm::default()
        };
        let populated: Vec<_> = (0..4).map(edac).collect();
        return Some(Dimms { source: DimmSource::Edac, slots: None, populated: populated.leak() });
    }
    if !has(Trouble::Dimms) {
        return None;
    }
    if has(Trouble::Virtual) {
        let dimm = Dimm { locator: Text::from_bytes(b"DIMM 0"), ..Dimm::default() };
        let populated = std::vec![dimm].leak();
        return Some(Dimms { source: DimmSource::Smbios, slots: Some(1), populated });
    }
    let of_node = |node: &Node| {
        let id = node.id;
        (0..4_u8).map(move |slot| Dimm {
            locator: text(std::format!("P{id} DIMM {}1", char::from(b'A' + slot))),
            kind: "DDR5",
            size: Some(Bytes::GIB.times(32)),
            rate: Some(4800),
            width: Some(64),
            ranks: Some(2),
            node: Some(id),
        })
    };
    let populated: Vec<_> = machine.topology.nodes().iter().flat_map(of_node).collect();
    let slots = Some(2 * populated.len() as u32);
    Some(Dimms { source: DimmSource::Smbios, slots, populated: populated.leak() })
}

/// Returns errors of devices: of one there are some, of one the driver was reloaded, and one has none.
fn hardware_errors() -> HardwareErrors {
    let of = |channel, counts| ErrorCounts {
        locator: Text::of(format_args!("CPU_SrcID#0_MC#0_Chan#{channel}_DIMM#0")),
        directory: Text::EMPTY,
        counts,
    };
    let devices =
        std::vec![of(0, [Some(1204), Some(0), Some(3), Some(0)]), of(1, [None; 4]), of(2, [Some(0); 4]),];
    HardwareErrors {
        devices: Some(devices.leak()),
        during: [Some(1), Some(4096), Some(2), Some(1)],
        dimm_heat: Some(86_500),
    }
}

struct Run<'s> {
    scene: &'s Scene,
    options: &'static Options,
    machine: &'static Machine,
}

impl Run<'_> {
    fn has(&self, trouble: Trouble) -> bool {
        self.scene.troubles.contains(&trouble)
    }

    /// Returns true if there are enough threads for a point.
    fn is_allowed(&self, point: &Point) -> bool {
        let few = |traffic: &Traffic| traffic.generators <= THREADS + 1;
        !self.has(Trouble::Threads) || point.walk.traffic().is_none_or(few)
    }

    /// Returns whether the core's clock is known.
    fn is_clocked(&self) -> bool {
        !self.has(Trouble::KernelClock) && !self.has(Trouble::NoCoreClock)
    }

    fn timer(&self) -> Timer {
        if self.has(Trouble::KernelClock) {
            return Timer::Kernel(KernelClock { step_ns: 1, overhead_ns: 48 });
        }
        let (frequency, step, overhead) = match self.scene.words.cycles_are {
            Cycles::Counter => (TSC, 2, 38),
            Cycles::Core => (SYSTEM_COUNTER, 1, 1),
        };
        Timer::Counter(Counter {
            stamp: Stamp::detect().unwrap(),
            frequency,
            anchor: Sandwich::default(),
            spread_ppm: 3.4,
            invariant: true,
            declared: (!self.has(Trouble::Virtual)).then_some(frequency),
            step: Ticks(step),
            overhead: Ticks(overhead),
            trapped: false,
            fence_ratio: 7.9,
        })
    }

    fn is_audited(&self) -> bool {
        !self.has(Trouble::Interrupted) && !self.has(Trouble::Early) && !self.options.quiet
    }

    fn health(&self) -> Health {
        let clocked = self.is_clocked();
        let audited = self.is_audited();
        let ratio = |ratio, seed| self.summary(numbers::rounds(ratio, 0.006, seed));
        Health {
            l1_cycles: clocked.then_some(4.003),
            multiply_ratio: clocked.then_some(3.001),
            audit: audited.then(|| Audit {
                span: Bytes::MIB.times(64),
                line: self.machine.line,
                random: ratio(1.004, 901),
                local: ratio(0.962, 902),
                pointer: ratio(1.001, 903),
            }),
            repeat: (audited && !self.has(Trouble::FewRounds)).then_some(Repeat {
                size: Bytes::MIB.times(256),
                first: 98.0,
                second: 98.4,
                served: Some(false),
            }),
            pages_behave_as_small: audited.then(|| self.has(Trouble::Virtual)),
        }
    }

    fn conditions(&self, points: &[Point]) -> Option<Conditions> {
        let clocked = self.is_clocked();
        let first = points.first()?.cpu;
        let known = |share, is_known| if is_known { share } else { f64::NAN };
        let on = |cpu, other_work| OnCpu {
            cpu,
            shares: [
                known(other_work, !self.has(Trouble::Unverified)),
                known(0.012, self.has(Trouble::Virtual)),
                known(0.021, !self.has(Trouble::Virtual)),
            ],
        };
        let mut cpus = std::vec![on(first, 0.004)];
        if self.has(Trouble::Threads) {
            cpus.extend(LOST.map(|(cpu, share)| on(cpu, share)));
        }
        Some(Conditions {
            cpus: cpus.leak(),
            other_work_share: (!self.has(Trouble::Unverified)).then_some(0.004),
            stolen_share: self.has(Trouble::Virtual).then_some(0.012),
            sibling_busy_share: (!self.has(Trouble::Virtual)).then_some(0.021),
            involuntary_switches: 3,
            thread_moves: 0,
            core_gigahertz: clocked.then_some([CORE_GIGAHERTZ - 0.02, CORE_GIGAHERTZ, CORE_GIGAHERTZ]),
            timer_drift_ppm: (!self.has(Trouble::KernelClock)).then_some(0.4),
            timer_steps_back: 0,
            errors: match () {
                () if self.has(Trouble::Edac) => Some(hardware_errors()),
                () => self.has(Trouble::Dimms).then(HardwareErrors::default),
            },
        })
    }

    fn extra(&self, experiment: &str) -> Extra {
        let clocked = self.is_clocked();
        let mut extra = Extra::default();
        match experiment {
            "curve" if self.has(Trouble::Virtual) => extra.edge = Some(Err(EdgeError::NoRamp)),
            "curve" => {
                extra.edge = Some(Ok(Edge {
                    capacity: Bytes(32 << 10),
                    ways: Some(8),
                    ramp_start: 32_790.0,
                    ramp_ways: 8.07,
                    hit: 4.0,
                    miss: 14.0,
                }));
            }
            "window" if !self.has(Trouble::Interrupted) => {
                extra.reach = Filler::ALL.map(|filler| {
                    let window = window(filler);
                    let always = self.has(Trouble::Virtual) && filler == Filler::Nop;
                    let alone = (!always).then_some(window + 4);
                    Some(Reach { filler, overlaps: window - 3, alone })
                });
            }
            "order" => {
                let nanoseconds = 2.31;
                let core_cycles = Some(nanoseconds * CORE_GIGAHERTZ);
                let interval = Some(Interval { low: 2.29, high: 2.34 });
                let strided = clocked.then_some(Strided { nanoseconds, interval, core_cycles, rounds: 6 });
                extra.strided = strided;
            }
            _ => {}
        }
        extra
    }

    fn rounds(&self) -> usize {
        if self.has(Trouble::FewRounds) { 3 } else { ROUNDS }
    }

    fn summary(&self, mut samples: [f64; ROUNDS]) -> Summary {
        stats::summarise(&mut samples[..self.rounds()]).unwrap()
    }

    /// Adds warnings that do not belong to a point.
    fn warn(&self, warnings: &mut Warnings) {
        if self.options.counters && self.has(Trouble::NoCounters) {
            warnings.push(Warning::CountersUnavailable { why: NoCounters::Paranoid });
        }
        if self.has(Trouble::Emulated) {
            warnings.push(Warning::Emulated { by: ShortText::from_bytes(b"QEMU") });
        }
        if self.has(Trouble::KernelClock) {
            warnings.push(Warning::NoCounter { why: "the kernel forbids it (PR_SET_TSC)" });
        }
        if self.has(Trouble::Threads) {
            let refused = Warning::ThreadsRefused { wanted: 23, started: THREADS, errno: Errno::EAGAIN };
            let moved = Warning::GeneratorMoved { times: 2 };
            let unsettled = Warning::NotSettled { windows: 9, of: 40, cause: SeenCause::Unseen };
            for (cpu, share) in LOST {
                warnings.push(Warning::OtherWork { cpu, share });
            }
            for warning in [refused, moved, unsettled, Warning::Throttled { windows: 4, of: 40 }] {
                warnings.push(warning);
            }
        }
        if self.has(Trouble::ManyWarnings) {
            let (least, most) = (Hertz(2_900_000_000), Hertz(3_700_000_000));
            let (from, to) = (Bytes::MIB.times(256), Bytes::MIB.times(50));
            for warning in [
                Warning::SizeClipped { from, to, why: Clipped::By(latency_core::host::Bound::Group) },
                Warning::PagesFellBack { found: self.machine.page },
                Warning::CoreClockUnstable { least, most, core: false },
                Warning::NeighboursFetched { ratio: 0.93, line: self.machine.line, cause: SeenCause::Unseen },
                Warning::LooksCached { size: to, cold: Picoseconds(101_000), warm: Picoseconds(31_000) },
            ] {
                warnings.push(warning);
            }
        }
    }

    fn outcome(&self, index: usize, point: Point, warnings: &mut Warnings) -> Outcome {
        let measured = self.excluded(index, &point).map_or_else(|| Ok(self.measured(index, &point)), Err);
        if let Ok(measured) = &measured {
            let (from, to, size) = (point.initiator, point.target, point.size);
            let found = measured.series.half_width();
            let share = measured.series.disturbed_share();
            if let Some(Undisturbed::Seen { nanoseconds, .. }) =
                measured.series.undisturbed.filter(|_| self.has(Trouble::Neighbours))
            {
                let ratio = measured.series.nanoseconds.median / nanoseconds;
                warnings.push(Warning::Neighbours { from, to, size, ratio });
            }
            if !measured.precise {
                warnings.push(Warning::PrecisionNotReached {
                    from,
                    to,
                    size,
                    found,
                    wanted: self.options.precision,
                    limit: TimeLimit::OfPoint,
                    cause: SeenCause::Unseen,
                });
            }
            if share > 0.1 {
                warnings.push(Warning::Disturbed { from, to, size, share, cause: SeenCause::Unseen });
            }
            if let Some(pages) = measured.placed.moved(point.target) {
                warnings.push(Warning::PagesMoved { node: to, pages });
            }
            if self.has(Trouble::Unverified) {
                warnings.push(Warning::PlacementUnverified { node: to, why: "/proc is not mounted" });
            }
        }
        Outcome { point, result: measured }
    }

    /// Returns the reason for which a point has no number, if it has none.
    fn excluded(&self, index: usize, point: &Point) -> Option<Exclusion> {
        let node = self.machine.topology.node(point.target)?;
        if let Some(page) = point.pages.pool() {
            let wanted = point.size.0.div_ceil(page.bytes().0);
            let (free, total) = node.page_pool(page).map_or((0, 0), |pool| (pool.free, pool.total));
            if free < wanted {
                let error = PlacementError::PoolTooSmall { page, node: point.target, wanted, free, total };
                return Some(Exclusion::Placement(error));
            }
        }
        if self.has(Trouble::Early) {
            return Some(Exclusion::Interrupted);
        }
        if self.has(Trouble::Interrupted) && numbers::scrambled(index as u64).is_multiple_of(3) {
            return Some(Exclusion::Interrupted);
        }
        if self.has(Trouble::Starved) && matches!(point.walk, Walk::Loaded(_)) {
            return Some(Exclusion::Starved);
        }
        if !self.has(Trouble::Excluded) {
            return None;
        }
        let (node, wanted) = (point.target, point.size);
        match index % 7 {
            2 => Some(PlacementError::NotEnoughMemory {
                node,
                wanted,
                free: Bytes(wanted.0 / 4),
                reclaimable: Bytes(wanted.0 / 2),
            }),
            3 => Some(PlacementError::WrongNode { node, elsewhere: 17, pages: 131_072 }),
            _ => None,
        }
        .map(Exclusion::Placement)
    }

    fn measured(&self, index: usize, point: &Point) -> Measurement {
        let pages = self.obtained(point);
        let load = self.load(point, pages);
        let value = match (point.walk, beside(&point.walk)) {
            (Walk::Traffic(traffic), _) => {
                let bytes = traffic.footprint.0 / u64::from(traffic.generators);
                let Traffic { kind, generators: count, .. } = traffic;
                let cores = Cores { kind: kind.name, count, bytes, distance: load.distance };
                kind.bytes_per_line() * 1e9 / numbers::bandwidth(&cores)
            }
            (_, Some(beside)) => numbers::throughput(&load, &beside),
            (_, None) => lines::ns(point).unwrap_or_else(|| numbers::latency(&load)),
        };
        let beside = match point.walk {
            Walk::Loaded(traffic) => Some(traffic),
            _ => None,
        };
        let idle = if self.has(Trouble::SlowIdle) { 1.25 } else { 1.0 };
        let value = value * beside.map_or(idle, |traffic| loads::stretch(point, &traffic));
        let value = match self.has(Trouble::SlowedCore) {
            true if self.machine.small.is_none() => 1.05 * value,
            // The last core is a slow one.
            true if point.cpu.0 == 7 => 1.1 * value,
            _ => value,
        };
        let odd =
            if self.has(Trouble::Odd) { ODD[numbers::scrambled(index as u64) as usize % 7] } else { 1.0 };
        let value = value * odd;
        let seed = index as u64 + 1000 * u64::from(point.initiator.0);
        let wide = self.has(Trouble::Wide);
        let imprecise = wide || self.has(Trouble::Imprecise) && index % 5 == 1;
        let spread = match (wide, imprecise) {
            (true, _) => 0.6,
            (_, true) => 0.12,
            _ => 0.006,
        };
        let nanoseconds = self.summary(numbers::rounds(value, spread, seed));
        let clocked = self.is_clocked();
        let cycles = self.summary(numbers::rounds(value * CORE_GIGAHERTZ, spread * 0.7, seed + 77));
        let clock = self.summary(numbers::rounds(CORE_GIGAHERTZ, 0.001, seed + 99));
        let disturbed = if self.has(Trouble::Disturbed) && index % 4 == 2 { 412 } else { seed % 5 };
        let mapped = Bytes(point.size.0.div_ceil(2 << 20) * (2 << 20));
        let nodes = point.size.0 / point.stride.0.max(1);
        // Each event in turn is one that the processor does not count.
        let known = |event: usize, count: f64| (index % 11 != 5 + event).then_some(count);
        let counters = (self.options.counters && !self.has(Trouble::NoCounters)).then(|| Counters {
            per_hop: [
                known(0, cycles.median * 1.002),
                known(1, 1.031),
                known(2, if value > 2.0 { 0.998 } else { 0.004 }),
                known(3, if value > 40.0 { 0.871 } else { 0.0 }),
                known(4, if pages.are_base() { 0.742 } else { 0.013 }),
                (index % 3 != 1).then_some(if pages.are_base() { 21.6 } else { 0.24 }),
            ],
            running: if index % 4 == 3 { 0.664 } else { 1.0 },
        });
        // Working sets in caches are measured in several places.
        let several = matches!(point.walk, Walk::Chain) && point.size < Bytes::MIB.times(64);
        Measurement {
            placed: self.placed(point, pages, mapped),
            hops: 1000 + 64 * (seed % 7),
            warm_up: WarmUp {
                hops: nodes,
                cold_ns: (point.size > Bytes::MIB).then_some(value * 1.21),
                passes: usize::from(point.size > Bytes::MIB),
                estimate_ns: value * 1.01,
            },
            series: RoundSeries {
                nanoseconds,
                undisturbed: matches!(point.walk, Walk::Chain)
                    .then(|| self.undisturbed(index, &nanoseconds, imprecise)),
                core_cycles: clocked.then_some(cycles),
                core_gigahertz: clocked.then_some(clock),
                split: self.split(point, &nanoseconds),
                warm_over_cold: None,
                uncore_gigahertz: self.uncore_gigahertz(point),
                delivered: beside.map(|traffic| {
                    let rate = if self.has(Trouble::Starved) { 0.0 } else { loads::delivered(&traffic) };
                    let lines_per_ns = odd * rate / traffic.kind.bytes_per_line() / 1e9;
                    self.summary(numbers::rounds(lines_per_ns, spread / 4.0, seed + 55))
                }),
                maximum_ns: nanoseconds.maximum * 1.012,
                minimum_ns: nanoseconds.minimum * if self.has(Trouble::Neighbours) { 0.648 } else { 0.991 },
                batches: 1500,
                disturbed,
                stepped_back: 0,
                throttled: if self.has(Trouble::Disturbed) { 3 } else { 0 },
                unsettled: u64::from(self.has(Trouble::Disturbed)),
                state_share: (!self.has(Trouble::FewRounds)).then(|| 0.9 + 0.04 * numbers::noise(seed + 6)),
                window_ns: 5e9,
                counters,
                software: Software { switches: (0, seed % 3), migrations: 0, faults: (seed % 2, 0) },
            },
            rounds: self.rounds(),
            placements: if several { self.rounds() } else { 1 },
            placement_spread: several.then(|| 0.01 + 0.004 * numbers::noise(seed + 7)),
            precise: !imprecise,
            fingerprint: numbers::scrambled(seed),
            nodes,
            traffic: beside.map(|traffic| {
                let on_node = Point { target: traffic.node, ..*point };
                PlacedField::of(&self.placed(&on_node, pages, traffic.footprint), traffic.node)
            }),
            lines: lines::per_line(point, nanoseconds.median, !self.has(Trouble::Virtual)),
        }
    }

    /// Returns memory and translation of a walk in memory that tells them apart: four fifths of the latency are memory.
    fn split(&self, point: &Point, typical: &Summary) -> Option<Split> {
        let budget = budget::of_pairs(self.options, self.machine, core::slice::from_ref(point));
        let is_split = budget.chain(point).is_ok_and(|chain| chain.is_split());
        let tells = match self.options.experiment.descriptor.name {
            "matrix" | "pages" => self.machine.may_tell_apart(point),
            name => name == "curve",
        };
        if !tells || !is_split || !self.is_clocked() {
            return None;
        }
        let part = |share: f64| {
            let of = |Interval { low, high }| Interval { low: low * share, high: high * share };
            Summary { median: typical.median * share, interval: typical.interval.map(of), ..*typical }
        };
        let windows = if self.has(Trouble::SmallTlb) { 0.88 } else { 1.003 };
        Some(Split::of(&PairedRounds {
            random: *typical,
            grouped: [0.84, 0.88, 0.96, 0.842].map(part),
            by_four: part(0.8),
            by_two: part(0.81),
            translation: part(0.2),
            narrow_over_whole: Summary {
                median: windows,
                interval: Some(Interval { low: windows - 0.01, high: windows + 0.01 }),
                ..*typical
            },
        }))
    }

    /// Returns the latency of point number `index` while neighbours are quiet.
    fn undisturbed(&self, index: usize, typical: &Summary, imprecise: bool) -> Undisturbed {
        let Summary { median, minimum, .. } = *typical;
        let quiet =
            if self.has(Trouble::Neighbours) { median * (0.66 + 0.02 * (index % 3) as f64) } else { minimum };
        let wide = self.has(Trouble::Wide);
        let quiet = if wide { median } else { quiet };
        match typical.interval {
            Some(_) if wide || !imprecise => Undisturbed::Seen {
                nanoseconds: quiet,
                interval: Interval { low: quiet * 0.996, high: quiet * 1.005 },
                rounds: 9,
            },
            _ => Undisturbed::AtMost(quiet),
        }
    }

    /// Returns the clock in the machine's files; the program reads it only beside generators.
    fn uncore_gigahertz(&self, point: &Point) -> Option<f64> {
        let loads = matches!(self.options.experiment.descriptor.name, "bandwidth" | "loaded");
        let loaded = point.walk.traffic().map_or(point.target, |traffic| traffic.node);
        let node = self.machine.topology.node(loaded).filter(|_| loads)?;
        crate::experiment::tests::uncore_gigahertz(self.scene.machine, node)
    }

    fn load(&self, point: &Point, pages: Pages) -> Load {
        let distance = self.machine.topology.distance(point.initiator, point.target);
        let name = point.kernel.name;
        Load {
            bytes: point.size.0,
            stride: point.stride.0,
            page: if pages.are_base() { self.machine.page } else { self.machine.huge_page() }.bytes().0,
            // A guest's page tables are walked through those of its host.
            walk_cycles: if self.has(Trouble::Virtual) { 120.0 } else { 26.0 },
            distance: distance.map_or(10, u64::from),
            way: match point.order {
                Order::Random | Order::Grouped { .. } => Way::Random,
                Order::Sequential => Way::Forward,
                Order::Backward => Way::Backward,
                Order::Local(REGION) => Way::Regional,
                Order::Local(_) => Way::PageLocal,
            },
            extra_cycles: if name.contains("check") {
                2.0
            } else {
                f64::from(u8::from(name.contains("index")))
            },
        }
    }

    /// Returns the pages that a point gets.
    fn obtained(&self, point: &Point) -> Pages {
        match point.pages {
            Pages::AUTO if self.has(Trouble::ManyWarnings) => self.machine.base_pages(),
            Pages::AUTO if self.machine.nodes.len() == 2 => Pages::of_pool(self.machine.huge_page()),
            Pages::AUTO => Pages::thp(self.machine.huge_page()),
            pages => pages,
        }
    }

    fn placed(&self, point: &Point, pages: Pages, mapped: Bytes) -> Placed {
        let unit = pages.pool().unwrap_or(self.machine.page).bytes();
        let look = |elsewhere: u64| {
            if self.has(Trouble::Unverified) {
                return Evidence::default();
            }
            let mut counts = PageCounts::default();
            counts.add(point.target, (mapped.0 / unit.0).max(1 + elsewhere) - elsewhere);
            if elsewhere > 0 {
                counts.add(point.initiator, elsewhere);
            }
            let counts = Some(counts).filter(|_| self.machine.has_numa);
            Evidence {
                numa_maps: counts,
                page_query: counts,
                kernel_page: Some(unit),
                transparent_huge: pages.are_transparent().then_some(mapped),
            }
        };
        let moved = self.has(Trouble::Moved) && point.initiator != point.target;
        Placed {
            means: match (self.machine.nodes.len(), self.has(Trouble::FirstTouch)) {
                _ if !self.machine.has_numa => Means::NoNuma,
                (1, _) => Means::SoleNode,
                (_, true) => Means::FirstTouch,
                (_, false) => Means::Policy,
            },
            pages,
            mapped,
            before: look(0),
            after: look(if moved { 3 } else { 0 }),
            as_small: (self.is_audited() && !pages.are_base()).then(|| self.has(Trouble::Virtual)),
        }
    }
}

/// Returns the number of instructions of a kind that fit into the window.
fn window(filler: Filler) -> usize {
    match filler {
        Filler::Nop => 512,
        Filler::Lea => 384,
        Filler::Mixed => 448,
    }
}

fn beside(walk: &Walk) -> Option<Beside> {
    match walk {
        Walk::Chain | Walk::Traffic(_) | Walk::Loaded(_) | Walk::PingPong(_) | Walk::Owned(_) => None,
        Walk::Lanes(kernel) => Some(Beside {
            lanes: kernel.lanes(),
            between: if kernel.work() == 0 { 0 } else { kernel.instructions() },
            dependent: true,
            prefetch: kernel.prefetch,
            window: 448,
        }),
        Walk::Apart(gap) => Some(Beside {
            lanes: 2,
            between: gap.fillers(),
            dependent: false,
            prefetch: false,
            window: window(gap.filler()),
        }),
    }
}

/// Makes single hops around the latency of an outcome: a tail, refresh, and a few interruptions. With disturbed hops,
/// the slowest hops are so rare that a percentile lies on the step before them.
fn distribution(outcome: &Outcome, troubles: &[Trouble]) -> Distribution {
    const OVERHEAD: f64 = 38.0;
    const INTERRUPTED: u64 = 6000;
    let mut found = Distribution::new(TSC, 2);
    let Ok(measured) = &outcome.result else { return found };
    let value = measured.series.nanoseconds.median;
    found.each = if value < 5.0 { 8 } else { 1 };
    let ticks = value * f64::from(found.each) * TSC.gigahertz();
    let (mut sum, mut count) = (0.0, 0.0);
    for hop in 0..20_000u64 {
        let tail = match hop % 1000 {
            0 => 620.0,
            1 if !troubles.contains(&Trouble::Disturbed) => 620.0,
            2..=14 => 0.9 * ticks,
            15..=80 => 0.25 * ticks,
            _ => 0.0,
        };
        let window = (OVERHEAD + ticks * (1.0 + 0.05 * numbers::noise(hop)) + tail) as u64 & !1;
        found.windows.record(window);
        (sum, count) = (sum + window as f64, count + 1.0);
        found.empties.record(if numbers::scrambled(hop).is_multiple_of(50) { 40 } else { 38 });
    }
    found.overhead = OVERHEAD;
    // A short run may have seen none.
    if !troubles.contains(&Trouble::Imprecise) {
        [7_400, 9_800, 61_000].into_iter().for_each(|window| found.windows.record(window));
        found.interrupted_from = Some(INTERRUPTED);
    }
    found.entries = 3.1e-10;
    found.mean = sum / count;
    found.interruptions = Interruptions {
        marked: 5,
        marked_mean: 8_200.0,
        marked_longest: 14_700,
        watched_interrupts: 12,
        expected: 2.4,
        gaps: 4,
        least_gap: 2_100,
        longest_gap: 58_000,
        watched: 800_000_000,
        switches: 1,
    };
    let enough = measured.series.nanoseconds.interval.is_some();
    // An interrupt may come before the end of the first visit.
    let visited = if enough { value } else { f64::NAN };
    (found.round_ns, found.batch_ns) = (visited * 1.012, visited * 1.004);
    found.ratio = enough.then(|| stats::summarise(&mut numbers::rounds(1.008, 0.004, 31)).unwrap());
    if enough {
        for (index, percent) in PERCENTAGES.into_iter().enumerate() {
            let visits = found.sample().percentile(percent);
            found.over_visits[index] = visits.and_then(|value| {
                stats::summarise(&mut numbers::rounds(value, 0.004 * (index + 1) as f64, 47 + index as u64))
            });
        }
    }
    // The refresh interval of DDR5, one that does not belong to a DRAM, or none.
    let nanoseconds = if troubles.contains(&Trouble::Imprecise) { 5_100.0 } else { 3_900.0 };
    found.period = enough.then(|| Period { ticks: nanoseconds * TSC.gigahertz(), significance: 240.0 });
    found.slow_from = (OVERHEAD + ticks * 1.3) as u64;
    found
}
