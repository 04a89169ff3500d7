//! The conditions of a run: other activity on the CPU that measured, its clock, and the timer; and those conditions
//! that may explain a figure outside its usual range. They are facts, and no cause: which of them matters is not known
//! from one run.

use alloc::string::String;
use core::fmt;

use latency_core::{Bytes, plural};

use super::Report;
use super::rates::optional;
use crate::record::members::{
    CONDITIONS, CORRECTED, CPUS, ERRORS, MEMORY_DEVICES, OTHER_PROCESSES, UNCORRECTED,
};
use latency_engine::machine::{Machine, Platform};
use latency_engine::result::conditions::ErrorCounts;
use latency_engine::result::{Conditions, HardwareErrors, Outcome};
use latency_engine::warning::Warnings;
use latency_report::document::{fields, members};
use latency_report::{PageRole, Part, Role, Shown};

fields! {
    CPU "cpu" "CPU number.";
}

/// Describes the conditions.
pub fn conditions(document: &mut Shown, report: &Report<'_>) {
    let Some(found) = report.conditions else { return document.put(&CONDITIONS, None::<bool>) };
    let [p10, p50, p90] = found.core_gigahertz.unwrap_or([f64::NAN; 3]);
    document.part(Part::Object(&CONDITIONS), |document| {
        shares(document, [found.other_work_share, found.stolen_share, found.sibling_busy_share]);
        members! { document;
            "involuntary_switches": found.involuntary_switches => "Number of involuntary context switches of the measuring thread.";
            "thread_moves": found.thread_moves => "Number of times that the measuring thread was found on another CPU.";
            "core_ghz_p10": p10 => "Core clock at the 10th percentile of rounds, in GHz; null if unknown.";
            "core_ghz_p50": p50 => "Core clock at the median of rounds, in GHz; null if unknown.";
            "core_ghz_p90": p90 => "Core clock at the 90th percentile of rounds, in GHz; null if unknown.";
            "timer_drift_ppm": found.timer_drift_ppm => "Drift of the time-stamp counter against the kernel's clock, in parts per million.";
            "timer_steps_back": found.timer_steps_back => "Number of readings of the time-stamp counter that were behind an earlier one.";
        }
        document.items(Part::List(&CPUS), found.cpus, |document, on| {
            document.put(&CPU, on.cpu.0);
            shares(document, on.shares.map(Some));
        });
        if let Some(errors) = &found.errors {
            document.part(Part::Object(&ERRORS), |document| hardware(document, errors));
        }
    });
}

/// Describes shares of the time of a CPU.
fn shares(document: &mut Shown, [other_work, stolen, sibling_busy]: [Option<f64>; 3]) {
    members! { document;
        OTHER_PROCESSES: other_work;
        "steal_share": stolen => "Steal time as a share of busy time (0 to 1); a lower bound, since many hypervisors report 0.";
        "smt_sibling_busy_share": sibling_busy => "Share of time in which the SMT sibling was busy (0 to 1); null without an SMT sibling.";
    }
}

/// Returns the devices with errors, or with unknown counts.
fn with_errors(errors: &HardwareErrors) -> impl Iterator<Item = &'static ErrorCounts> + use<> {
    errors.devices.unwrap_or_default().iter().filter(|device| device.counts != [Some(0); 4])
}

/// Describes the errors of the hardware.
fn hardware(document: &mut Shown, errors: &HardwareErrors) {
    match errors.devices {
        None => document.put(&MEMORY_DEVICES, None::<bool>),
        Some(_) => document.items(Part::List(&MEMORY_DEVICES), with_errors(errors), |document, device| {
            let [corrected, uncorrected, corrected_now, uncorrected_now] = device.counts;
            members! { document;
                "locator": device.locator.as_str() => "Name of the device, by firmware or driver.";
                CORRECTED: corrected;
                UNCORRECTED: uncorrected;
                "corrected_during_run": corrected_now => "Number of corrected errors during the run; null if unknown.";
                "uncorrected_during_run": uncorrected_now => "Number of uncorrected errors during the run; null if unknown.";
            }
        }),
    }
    let [checks, corrupted, overheated, failed] = errors.during;
    members! { document;
        "machine_checks_during_run": checks => "Number of machine checks during the run; null if unknown.";
        "corrupted_bytes_during_run": corrupted => "Memory that the kernel gave up during the run because of errors, in bytes; null if unknown.";
        "overheated_during_run": overheated => "Number of times that the measuring CPU or its package was too hot; null if unknown.";
        "failed_pages_during_run": failed => "Number of pages in which hardware found errors during the run; null if unknown.";
        "dimm_celsius": errors.dimm_heat.map(celsius) => "Temperature of the hottest memory device after the run, in degrees Celsius; null if unknown.";
    }
}

/// Returns a temperature in degrees Celsius from thousandths of them.
pub(super) fn celsius(heat: i32) -> f64 {
    f64::from(heat) / 1e3
}

/// Writes the temperature of the hottest memory device, if it is known.
pub fn hottest(document: &mut Shown, role: Role, heat: Option<i32>) {
    if let Some(heat) = heat {
        document.sentence(role, format_args!("{:.1} C", celsius(heat)));
    }
}

/// Writes the errors of memory devices since the kernel started, for the facts of a page.
pub fn since_boot(document: &mut Shown, report: &Report<'_>) {
    let Some(errors) = report.conditions.and_then(|found| found.errors.as_ref()) else { return };
    let role = Role::Page(PageRole::Fact("Memory errors"));
    match (errors.devices, with_errors(errors).next()) {
        (None, _) => document.sentence(role, format_args!("unknown: no driver (EDAC) counts them")),
        (Some(_), None) => document.sentence(role, format_args!("none since boot")),
        (Some(_), Some(_)) => with_errors(errors).for_each(|device| device_errors(document, role, device)),
    }
}

/// Writes the errors of a device.
fn device_errors(document: &mut Shown, role: Role, device: &ErrorCounts) {
    let ErrorCounts { locator, counts, .. } = device;
    match *counts {
        [Some(corrected), Some(uncorrected), Some(one), Some(other)] => {
            document.under(role).write(format_args!(
                "{corrected} corrected and {uncorrected} uncorrected on DIMM {locator} since boot, {} of \
                 them during this run",
                one.saturating_add(other)
            ))
        }
        _ => document.sentence(role, format_args!("unknown on DIMM {locator}")),
    }
}

/// Writes the conditions in one line.
pub fn line(document: &mut Shown, platform: Platform, found: &Conditions) {
    let is_told = |share: &f64| *share > 0.0 || platform == Platform::Virtual;
    document.under(Role::Provenance("Conditions")).write(format_args!(
        "{}{} preemption{}{}{}{}",
        share(found.other_work_share, "other processes used", " of this CPU; "),
        found.involuntary_switches,
        plural(found.involuntary_switches),
        share(found.stolen_share.filter(is_told), "; steal time", ""),
        share(found.sibling_busy_share, "; SMT sibling", " busy"),
        optional(found.core_gigahertz, |[low, middle, high], out| {
            write!(out, "; core at {middle:.2} GHz")?;
            if high - low >= 0.005 {
                write!(out, " ({low:.2} to {high:.2})")?;
            }
            Ok(())
        })
    ));
    if let Some(errors) = &found.errors {
        hottest(document, Role::Provenance("Hottest DIMM"), errors.dimm_heat.filter(|heat| *heat >= HOT));
        with_errors(errors)
            .for_each(|device| device_errors(document, Role::Provenance("Memory errors"), device));
    }
}

/// Returns a share in percent between two words; an empty text if it is unknown.
fn share(share: Option<f64>, before: &'static str, behind: &'static str) -> impl fmt::Display {
    optional(share, move |share, out| write!(out, "{before} {:.1}%{behind}", share * 100.0))
}

/// The largest size of pages that are small.
const SMALL: Bytes = Bytes(64 << 10);
/// Temperature from which on memory is refreshed twice as often, in thousandths of a degree Celsius.
const HOT: i32 = 85_000;
/// The codes of warnings about conditions that slow memory or cores.
const OF_WARNINGS: [&str; 12] = [
    "huge-pages-without-effect",
    "neighbours",
    "stolen-time",
    "other-work",
    "sibling-busy",
    "throttled",
    "frequency-scaling",
    "channels-unequal",
    "memory-errors",
    "hardware-errors",
    "overheated",
    "core-slowed",
];
/// The profiles of firmware and the preferences of CPUs that trade speed for power.
const SLOW: [&str; 5] = ["low-power", "cool", "quiet", "power", "balance_power"];

/// Returns the conditions, for figures of virtual machines if `is_virtual`; empty if there are none.
pub fn unusual(
    machine: &Machine,
    warnings: &Warnings,
    outcomes: &[Outcome],
    found: Option<&Conditions>,
    is_virtual: bool,
) -> String {
    let platform = machine.processor.platform;
    let placed = outcomes.iter().find_map(|outcome| outcome.result.as_ref().ok());
    let is_small = placed.and_then(|measured| measured.placed.pages.size());
    let power = &machine.host.power;
    let after = found.and_then(|found| found.errors.as_ref()?.dimm_heat);
    let settings = [&power.profile, &power.preference];
    let own = [
        ("virtual machine", platform == Platform::Virtual && !is_virtual),
        ("bare metal", platform == Platform::Hardware && is_virtual),
        ("memory encryption", !machine.processor.encryption.is_empty()),
        ("several nodes per socket (SNC, NPS)", machine.divides_packages()),
        ("small pages", is_small.is_some_and(|size| size.bytes() <= SMALL)),
        ("a part of the L3 (resctrl)", machine.host.ways.is_some_and(|ways| ways.allowed != ways.all)),
        ("power settings", settings.iter().any(|setting| SLOW.contains(&setting.as_str()))),
        ("hot DIMMs", machine.host.dimm_heat.max(after) >= Some(HOT)),
    ];
    let mut words = String::new();
    let mut add = |condition: &str| {
        words += if words.is_empty() { "" } else { ", " };
        // Codes have hyphens.
        condition.chars().for_each(|character| words.push(if character == '-' { ' ' } else { character }));
    };
    own.into_iter().filter(|(_, is_here)| *is_here).for_each(|(condition, _)| add(condition));
    let codes = warnings.groups().map(|group| group.worst.code());
    codes.filter(|code| OF_WARNINGS.contains(code)).for_each(add);
    words
}

/// Returns the conditions of a report; those of its pages if the figure depends on them.
pub fn unusual_of_report(report: &Report<'_>, by_pages: bool, is_virtual: bool) -> String {
    let outcomes = if by_pages { report.outcomes } else { &[] };
    unusual(report.machine, report.warnings, outcomes, report.conditions, is_virtual)
}
