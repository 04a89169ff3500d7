//! The memory devices of the host of a saved result, as conditions: which slots have one, and whether they had errors.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use latency_core::math;
use latency_core::units::Bytes;

use super::tree::JsonValue;
use crate::record::members::{CORRECTED, DIMM_BYTES, DIMM_DEVICES, DIMM_RATE, DIMM_SLOTS, UNCORRECTED};

/// Returns the populated slots: their number, capacity and rates, as far as these are known of every device; empty if no
/// slot is.
pub(super) fn population(dimms: JsonValue<'_>) -> String {
    let devices: Vec<JsonValue<'_>> = dimms.at(DIMM_DEVICES.key).objects().collect();
    let all =
        |key: &str| -> Option<Vec<f64>> { devices.iter().map(|device| device.at(key).number()).collect() };
    if devices.is_empty() {
        return String::new();
    }
    let mut text = devices.len().to_string();
    if let Some(slots) = dimms.at(DIMM_SLOTS.key).number() {
        text += &format!(" of {}", math::whole(slots));
    }
    if let Some(sizes) = all(DIMM_BYTES.key) {
        text += &format!(", {}", Bytes(math::whole(sizes.iter().sum())));
    }
    if let Some(rates) = all(DIMM_RATE.key) {
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        text += &format!(", {}", math::whole(least));
        if least < most {
            text += &format!(" to {}", math::whole(most));
        }
        text += " MT/s";
    }
    text
}

/// Returns the errors of devices since boot: the worst kind, or none; empty without a driver that counts them.
pub(super) fn errors(devices: JsonValue<'_>) -> &'static str {
    if devices.is_null() {
        return "";
    }
    let (mut worst, mut is_known) = ("none", true);
    for device in devices.objects() {
        for kind in [CORRECTED.key, UNCORRECTED.key] {
            let Some(count) = device.member(kind) else { continue };
            match count.number() {
                None => is_known = false,
                Some(count) if count > 0.0 && worst != UNCORRECTED.key => worst = kind,
                Some(_) => {}
            }
        }
    }
    if is_known || worst != "none" { worst } else { "" }
}
