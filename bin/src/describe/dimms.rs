//! The memory devices of the machine, for programs and for people. Their peak is an upper bound: devices of one channel
//! share its rate.

use alloc::string::String;
use core::fmt::{self, Display};

use latency_core::ToReal;
use latency_core::host::{DimmSource, Dimms};

use super::rates::optional;
use crate::record::members::{DIMM_BYTES, DIMM_DEVICES, DIMM_RATE, DIMM_SLOTS, DIMMS};
use latency_engine::machine::{Machine, Platform};
use latency_report::document::members;
use latency_report::{Level, Part, Role, Shown};

/// Describes the devices, for programs.
pub fn members(document: &mut Shown, machine: &Machine) {
    let Some(dimms) = &machine.dimms else { return };
    document.part(Part::Object(&DIMMS), |document| {
        let source = if matches!(dimms.source, DimmSource::Smbios) { "smbios" } else { "edac" };
        members! { document;
            "source": source => "`smbios` or `edac`.";
            DIMM_SLOTS: dimms.slots;
            "peak_bytes_per_second": machine.most_bytes_per_second(None) => "Upper bound of the theoretical peak of all devices together, in bytes per second: devices of one channel share its rate; null if unknown, and in a virtual machine.";
        }
        document.items(Part::List(&DIMM_DEVICES), dimms.populated, |document, dimm| {
            members! { document;
                "locator": dimm.locator.as_str() => "Name of the slot, as the firmware has it.";
                "node": dimm.node.map(|node| node.0) => "Node of all addresses of the device; null if unknown.";
                DIMM_BYTES: dimm.size;
                "type": dimm.kind => "Kind of memory, such as `DDR5`; empty if unknown.";
                DIMM_RATE: dimm.rate;
                "data_width_bits": dimm.width => "Width of the data without check bits; null if unknown.";
                "ranks": dimm.ranks => "Number of ranks; null if unknown.";
            }
        });
    });
}

/// Returns the words of the number of populated slots, and the rates of the devices in them.
pub fn population<'d>(dimms: &'d Dimms<'d>) -> impl Display {
    fmt::from_fn(move |out| {
        write!(out, "{}", dimms.populated.len())?;
        if let Some(slots) = dimms.slots {
            write!(out, " of {slots}")?;
        }
        out.write_str(" DIMM slots populated")?;
        // An unknown rate is zero here.
        let (mut least, mut most) = (u32::MAX, 0);
        for dimm in dimms.populated {
            let rate = dimm.rate.unwrap_or(0);
            (least, most) = (least.min(rate), most.max(rate));
        }
        match least {
            0 => Ok(()),
            _ if least == most => write!(out, ", {least} MT/s"),
            _ => write!(out, ", {least} to {most} MT/s"),
        }
    })
}

/// Returns bytes per second as a text in gigabytes per second, with one decimal, as makers of memory do.
pub fn giga(rate: u64) -> impl Display {
    fmt::from_fn(move |out| write!(out, "{:.1}", rate.real() / 1e9))
}

/// Returns the population with its source and its peak in one sentence; empty if it is unknown.
pub fn words(machine: &Machine) -> String {
    let Some(dimms) = &machine.dimms else { return String::new() };
    let source = match (dimms.source, machine.processor.platform) {
        (DimmSource::Edac, _) => "the kernel (EDAC)",
        (_, Platform::Hardware) => "firmware (SMBIOS)",
        _ => "the hypervisor (SMBIOS): the hardware may differ",
    };
    let peak = optional(machine.most_bytes_per_second(None), |peak, out| {
        write!(out, ", at most {} GB/s together", giga(peak))
    });
    format!("{}{peak}, by {source}", population(dimms))
}

/// Writes the same, if it is known.
pub fn line(document: &mut Shown, machine: &Machine, role: Role) {
    let words = words(machine);
    if !words.is_empty() {
        document.say(role, &words);
    }
}

/// Shows a row for each device.
pub fn table(document: &mut Shown, machine: &Machine) {
    let Some(dimms) = &machine.dimms else { return };
    document.tabulate("Memory devices:", Level::Normal, 1, &|table| {
        table.texts(&["slot", "node", "size", "type", "MT/s", "data bits", "ranks"]);
        for dimm in dimms.populated {
            let kind = if dimm.kind.is_empty() { "-" } else { dimm.kind };
            table.row().show(&dimm.locator).known(dimm.node).known(dimm.size).text(kind);
            table.known(dimm.rate).known(dimm.width).known(dimm.ranks);
        }
    });
}
