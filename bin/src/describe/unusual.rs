//! The conditions of a run that may explain a figure outside its usual range, in one place.
//!
//! They are facts, and no cause: which of them matters is not known from one run.

use alloc::string::String;

use latency_core::units::Bytes;

use super::report::Report;
use crate::machine::Machine;
use crate::machine::processor::Platform;
use crate::result::Outcome;
use crate::result::conditions::Conditions;
use crate::warning::Warnings;

/// The largest size of pages that are small.
const SMALL: Bytes = Bytes(64 << 10);
/// Temperature from which on memory is refreshed twice as often, in thousandths of a degree Celsius.
pub const HOT: i32 = 85_000;
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
#[must_use]
pub fn conditions(
    machine: &Machine,
    warnings: &Warnings,
    outcomes: &[Outcome<'_>],
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
#[must_use]
pub fn of_report(report: &Report<'_, '_>, by_pages: bool, is_virtual: bool) -> String {
    let outcomes = if by_pages { report.outcomes } else { &[] };
    conditions(report.machine, report.warnings, outcomes, report.conditions, is_virtual)
}
