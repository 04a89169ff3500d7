//! Everything as one JSON object. Its schema is in `tests/schema`.

use core::fmt::{self, Write};

use latency_core::chain::Order;
use latency_core::json::{Layout, Writer};
use latency_core::stats::Summary;
use latency_core::units::PageSize;

use super::Report;
use crate::options::Choice;
use crate::proof::Evidence;
use crate::result::{ClockFacts, Measurement, Outcome, Placed, Point};

/// The version of the document's shape: raised when a key changes its meaning or goes.
const SCHEMA: u64 = 1;
/// Decimals of times and cycles.
const DECIMALS: usize = 3;

type Json<'o> = Writer<&'o mut dyn Write>;

/// Writes the document.
///
/// # Errors
///
/// Those of `out`.
pub fn matrix(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    json.key("node_pairs")?.begin_array()?;
    for outcome in report.outcomes {
        pair(&mut json, report.clock, outcome)?;
    }
    json.end_array()?;
    let hops = report.outcomes.iter().filter_map(|outcome| Some(outcome.result.as_ref().ok()?.hops)).max();
    json.key("iters")?.u64(hops.or(report.options.iters.map(u64::from)).unwrap_or(0))?;
    json.key("seed")?.u64(report.options.seed)?;
    json.key("freq_ghz")?;
    optional(&mut json, report.clock.frequency().map(|frequency| frequency.gigahertz()), 6)?;
    header(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

/// Writes what is known of the system, and no points.
///
/// # Errors
///
/// Those of `out`.
pub fn system(out: &mut dyn Write, report: &Report<'_, '_>) -> fmt::Result {
    let mut json = Writer::new(out, Layout::Lines);
    json.begin_object()?;
    header(&mut json, report)?;
    json.end_object()?;
    json.finish()?.write_char('\n')
}

fn header(json: &mut Json<'_>, report: &Report<'_, '_>) -> fmt::Result {
    json.key("schema")?.u64(SCHEMA)?;
    json.key("tool")?.begin_object()?;
    json.key("name")?.string("latency-bench")?;
    json.key("version")?.string(env!("CARGO_PKG_VERSION"))?;
    json.end_object()?;
    json.key("experiment")?.string(report.options.experiment.descriptor.name)?;
    json.key("command")?.begin_array()?;
    json.string("latency-bench")?;
    for argument in report.arguments {
        json.bytes(argument)?;
    }
    json.end_array()?;
    json.key("partial")?.bool(report.partial)?;
    machine(json, report)?;
    clock(json, report)?;
    json.key("health")?.begin_object()?;
    json.key("l1_core_cycles")?;
    optional(json, report.health.l1_cycles, DECIMALS)?;
    json.key("multiply_add_ratio")?;
    optional(json, report.health.multiply_ratio, DECIMALS)?;
    json.end_object()?;
    json.key("warnings")?.begin_array()?;
    for warning in report.warnings.iter() {
        json.begin_object()?;
        json.key("code")?.string(warning.code())?;
        json.key("text")?.display(warning)?;
        json.key("remedy")?.display(warning.remedy())?;
        json.key("untrusted")?.bool(warning.untrusted())?;
        json.end_object()?;
    }
    json.end_array()
}

fn machine(json: &mut Json<'_>, report: &Report<'_, '_>) -> fmt::Result {
    let machine = report.machine;
    let processor = &machine.processor;
    json.key("system")?.begin_object()?;
    json.key("cpu")?.begin_object()?;
    json.key("vendor")?.string(processor.vendor.as_str())?;
    json.key("brand")?.string(processor.brand.as_str())?;
    let (family, model, stepping) = processor.signature;
    json.key("family")?.u64(family.into())?;
    json.key("model")?.u64(model.into())?;
    json.key("stepping")?.u64(stepping.into())?;
    json.key("data_dependent_prefetcher")?.bool(processor.data_dependent_prefetcher)?;
    json.end_object()?;
    json.key("kernel")?.string(machine.host.kernel.as_str())?;
    json.key("platform")?.string(processor.platform.name())?;
    json.key("hypervisor")?.string(processor.hypervisor.as_str())?;
    json.key("clock_source")?.string(machine.host.clock_source.as_str())?;
    json.key("governor")?.string(machine.host.frequency.governor.as_str())?;
    json.key("transparent_huge_pages")?.string(machine.host.huge_pages.enabled.as_str())?;
    json.key("numa_balancing")?;
    match machine.host.memory_policy.numa_balancing {
        Some(value) => json.u64(value.into())?,
        None => json.null()?,
    }
    json.key("nodes")?.begin_array()?;
    for node in machine.topology.nodes() {
        json.begin_object()?;
        json.key("id")?.u64(node.id.0.into())?;
        json.key("cpus")?.display(node.cpus)?;
        json.key("memory_bytes")?.u64(node.memory_total.0)?;
        json.key("free_bytes")?.u64(node.memory_free.0)?;
        json.key("distances")?.begin_array()?;
        for other in machine.topology.nodes() {
            match machine.topology.distance(node.id, other.id) {
                Some(distance) => json.u64(distance.into())?,
                None => json.null()?,
            }
        }
        json.end_array()?;
        json.key("page_pools")?.begin_array()?;
        for size in [PageSize::Huge2M, PageSize::Huge1G] {
            let Some(pool) = node.page_pool(size) else { continue };
            json.begin_object()?;
            json.key("page_bytes")?.u64(size.bytes().0)?;
            json.key("total")?.u64(pool.total)?;
            json.key("free")?.u64(pool.free)?;
            json.end_object()?;
        }
        json.end_array()?;
        json.end_object()?;
    }
    json.end_array()?;
    json.key("caches")?.begin_array()?;
    for cache in machine.host.caches.as_slice() {
        json.begin_object()?;
        json.key("level")?.u64(cache.level.into())?;
        json.key("type")?.string(cache.kind.name())?;
        json.key("bytes")?.u64(cache.size.0)?;
        json.key("ways")?.u64(cache.ways.into())?;
        json.end_object()?;
    }
    json.end_array()?;
    json.end_object()
}

fn clock(json: &mut Json<'_>, report: &Report<'_, '_>) -> fmt::Result {
    json.key("clock")?.begin_object()?;
    match *report.clock {
        ClockFacts::Counter {
            frequency,
            spread_ppm,
            invariant,
            declared,
            step,
            overhead,
            fence_ratio,
            instructions,
        } => {
            json.key("source")?.string("tsc")?;
            json.key("frequency_hz")?.u64(frequency.0)?;
            json.key("calibration_spread_ppm")?.decimal(spread_ppm, DECIMALS)?;
            json.key("invariant")?.bool(invariant)?;
            json.key("declared_hz")?;
            match declared {
                Some(declared) => json.u64(declared.0)?,
                None => json.null()?,
            }
            json.key("step_ticks")?.u64(step.0)?;
            json.key("overhead_ticks")?.u64(overhead.0)?;
            json.key("fence_ratio")?.decimal(fence_ratio, DECIMALS)?;
            json.key("end_stamp")?.string(instructions)?;
        }
        ClockFacts::Kernel { step_ns, overhead_ns } => {
            json.key("source")?.string("clock_gettime")?;
            json.key("step_ns")?.u64(step_ns)?;
            json.key("overhead_ns")?.u64(overhead_ns)?;
        }
    }
    json.end_object()
}

fn pair(json: &mut Json<'_>, clock: &ClockFacts, outcome: &Outcome<'_>) -> fmt::Result {
    let point = &outcome.point;
    json.begin_object()?;
    json.key("from")?.u64(point.initiator.0.into())?;
    json.key("to")?.u64(point.target.0.into())?;
    let nanoseconds = outcome.result.as_ref().ok().map(|measured| measured.series.nanoseconds.median);
    json.key("cycles")?;
    optional(json, nanoseconds.and_then(|nanoseconds| clock.ticks(nanoseconds)), DECIMALS)?;
    json.key("ns")?;
    optional(json, nanoseconds, DECIMALS)?;
    conditions(json, point)?;
    match &outcome.result {
        Ok(measured) => findings(json, point, measured)?,
        Err(exclusion) => {
            json.key("not_measured")?.display(exclusion)?;
        }
    }
    json.end_object()
}

fn conditions(json: &mut Json<'_>, point: &Point) -> fmt::Result {
    json.key("cpu")?.u64(point.cpu.0.into())?;
    json.key("working_set_bytes")?.u64(point.size.0)?;
    json.key("stride_bytes")?.u64(point.stride.0)?;
    json.key("order")?.string(match point.order {
        Order::Random => "random",
        Order::Local(_) => "page-local",
        Order::Sequential => "sequential",
        Order::Backward => "backward",
    })?;
    json.key("kernel")?.string(point.kernel.name)?;
    json.key("pages_asked")?.string(point.pages.word())
}

fn findings(json: &mut Json<'_>, point: &Point, measured: &Measurement) -> fmt::Result {
    let Measurement { series, .. } = measured;
    json.key("pages_obtained")?.string(measured.placed.pages.word())?;
    placement(json, point, &measured.placed)?;
    json.key("chain")?.begin_object()?;
    json.key("nodes")?.u64(measured.nodes)?;
    json.key("fingerprint")?.display(format_args!("{:016x}", measured.fingerprint))?;
    json.end_object()?;
    json.key("trials")?.u64(series.batches)?;
    json.key("rounds")?.u64(measured.rounds as u64)?;
    json.key("hops_per_trial")?.u64(measured.hops)?;
    json.key("disturbed_trials")?.u64(series.disturbed)?;
    json.key("precise")?.bool(measured.precise)?;
    json.key("min_ns")?.decimal(series.minimum_ns, DECIMALS)?;
    summary(json, "", "ns", &series.nanoseconds)?;
    json.key("core_cycles")?;
    optional(json, series.core_cycles.map(|cycles| cycles.median), DECIMALS)?;
    if let Some(cycles) = &series.core_cycles {
        summary(json, "core_cycles_", "", cycles)?;
    }
    json.key("core_ghz")?;
    optional(json, series.core_gigahertz.map(|clock| clock.median), DECIMALS)?;
    json.key("repeat_ratio")?;
    optional(json, series.repeat_ratio, 4)?;
    json.key("warm_up")?.begin_object()?;
    json.key("hops")?.u64(measured.warm_up.hops)?;
    json.key("cold_ns")?;
    optional(json, measured.warm_up.cold_ns, DECIMALS)?;
    json.end_object()
}

/// Median absolute deviation and interval, with the unit in the key.
fn summary(json: &mut Json<'_>, before: &str, unit: &str, summary: &Summary) -> fmt::Result {
    let key = |name: &str| {
        let mut key = latency_core::text::Text::<48>::EMPTY;
        let separator = if unit.is_empty() { "" } else { "_" };
        // All keys are shorter than the text.
        let _ = write!(key, "{before}{name}{separator}{unit}");
        key
    };
    json.key(key("mad").as_str())?.decimal(summary.mad, DECIMALS)?;
    json.key(key("ci95").as_str())?;
    match summary.interval {
        Some(interval) => {
            json.begin_array()?;
            json.decimal(interval.low, DECIMALS)?;
            json.decimal(interval.high, DECIMALS)?;
            json.end_array()
        }
        None => json.null(),
    }
}

fn placement(json: &mut Json<'_>, point: &Point, placed: &Placed) -> fmt::Result {
    json.key("placement")?.begin_object()?;
    json.key("verified")?.bool(placed.is_verified(point.target))?;
    json.key("means")?.string(placed.means.name())?;
    json.key("mapped_bytes")?.u64(placed.mapped.0)?;
    json.key("before")?;
    evidence(json, &placed.before)?;
    json.key("after")?;
    evidence(json, &placed.after)?;
    json.end_object()
}

fn evidence(json: &mut Json<'_>, evidence: &Evidence) -> fmt::Result {
    json.begin_object()?;
    json.key("source")?.string(evidence.source())?;
    json.key("nodes")?.begin_array()?;
    for (node, pages) in evidence.counts().map_or(&[][..], |counts| counts.nodes()) {
        json.begin_object()?;
        json.key("node")?.u64(node.0.into())?;
        json.key("pages")?.u64(*pages)?;
        json.end_object()?;
    }
    json.end_array()?;
    json.key("page_bytes")?;
    match evidence.kernel_page {
        Some(page) => json.u64(page.0)?,
        None => json.null()?,
    }
    json.key("transparent_huge_bytes")?;
    match evidence.transparent_huge {
        Some(huge) => json.u64(huge.0)?,
        None => json.null()?,
    }
    json.end_object()
}

fn optional(json: &mut Json<'_>, value: Option<f64>, digits: usize) -> fmt::Result {
    match value {
        Some(value) => json.decimal(value, digits),
        None => json.null(),
    }
}
