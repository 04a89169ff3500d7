//! What every document has besides its points: the tool, the machine, the clock, the warnings.

use core::fmt;

use latency_core::units::PageSize;

use super::value::{Json, DECIMALS};
use crate::experiment::writers::{health, Report};
use crate::result::{KernelClock, Timer};

/// The version of the document's shape: raised when a key changes its meaning or goes.
const SCHEMA: u64 = 1;

/// Writes the members.
pub(in crate::experiment::writers) fn header(json: &mut Json<'_>, report: &Report<'_, '_>) -> fmt::Result {
    tool(json, report.options.experiment.descriptor.name)?;
    json.key("command")?.begin_array()?;
    json.string("latency-bench")?;
    for argument in report.arguments {
        json.bytes(argument)?;
    }
    json.end_array()?;
    json.key("partial")?.bool(report.partial)?;
    machine(json, report)?;
    clock(json, report)?;
    health::json(json, report)?;
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

/// Writes which tool, which version of the document and which experiment.
pub(super) fn tool(json: &mut Json<'_>, experiment: &str) -> fmt::Result {
    json.key("schema")?.u64(SCHEMA)?;
    json.key("tool")?.begin_object()?;
    json.key("name")?.string("latency-bench")?;
    json.key("version")?.string(env!("CARGO_PKG_VERSION"))?;
    json.end_object()?;
    json.key("experiment")?.string(experiment)
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
        Timer::Counter(counter) => {
            json.key("source")?.string("tsc")?;
            json.key("frequency_hz")?.u64(counter.frequency.0)?;
            json.key("calibration_spread_ppm")?.decimal(counter.spread_ppm, DECIMALS)?;
            json.key("invariant")?.bool(counter.invariant)?;
            json.key("declared_hz")?;
            match counter.declared {
                Some(declared) => json.u64(declared.0)?,
                None => json.null()?,
            }
            json.key("step_ticks")?.u64(counter.step.0)?;
            json.key("overhead_ticks")?.u64(counter.overhead.0)?;
            json.key("fence_ratio")?.decimal(counter.fence_ratio, DECIMALS)?;
            json.key("end_stamp")?.string(counter.stamp.name())?;
        }
        Timer::Kernel(KernelClock { step_ns, overhead_ns }) => {
            json.key("source")?.string("clock_gettime")?;
            json.key("step_ns")?.u64(step_ns)?;
            json.key("overhead_ns")?.u64(overhead_ns)?;
        }
    }
    json.end_object()
}
