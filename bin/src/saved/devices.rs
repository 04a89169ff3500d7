//! The memory devices of the host of a saved result, as conditions: which slots have one, and whether they had errors.

use latency_core::json::{Event, Reader};
use latency_core::math;
use latency_core::text::Text;
use latency_core::units::Bytes;

use super::rows::Draft;
use super::values::{Fault, each_object, members, optional, rest};

/// Reads the populated slots: their number, capacity and rates, as far as these are known of every device.
pub(super) fn population(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    let (mut slots, mut populated) = (None, 0_u32);
    let mut capacity = Some(0.0);
    let mut rates = Some((f64::INFINITY, 0.0_f64));
    members(reader, &mut |reader, key| {
        match key {
            "slots" => slots = optional(reader)?,
            "devices" => each_object(reader, |reader| {
                populated += 1;
                let (mut size, mut rate) = (None, None);
                rest(reader, &mut |reader, key| {
                    match key {
                        "bytes" => size = optional(reader)?,
                        "mt_per_s" => rate = optional(reader)?,
                        _ => reader.skip_value()?,
                    }
                    Ok(())
                })?;
                capacity = capacity.zip(size).map(|(sum, size)| sum + size);
                rates = rates.zip(rate).map(|((least, most), rate)| (rate.min(least), rate.max(most)));
                Ok(())
            })?,
            _ => reader.skip_value()?,
        }
        Ok(())
    })?;
    if populated == 0 {
        return Ok(());
    }
    let mut text = Text::<96>::of(format_args!("{populated}"));
    // The text is long enough for all of it.
    if let Some(slots) = slots {
        let _ = write!(text, " of {}", math::whole(slots));
    }
    if let Some(capacity) = capacity {
        let _ = write!(text, ", {}", Bytes(math::whole(capacity)));
    }
    if let Some((least, most)) = rates {
        let _ = write!(text, ", {}", math::whole(least));
        if least < most {
            let _ = write!(text, " to {}", math::whole(most));
        }
        let _ = write!(text, " MT/s");
    }
    draft.saved.conditions.set("dimms", text.as_str());
    Ok(())
}

/// Reads the errors of devices since boot: the worst kind, or none. Without a driver that counts them they are unknown.
pub(super) fn errors(reader: &mut Reader<'_>, draft: &mut Draft<'_>) -> Result<(), Fault> {
    members(reader, &mut |reader, key| {
        if key != "memory_devices" || reader.clone().next_event()? != Event::BeginArray {
            return Ok(reader.skip_value()?);
        }
        let (mut worst, mut is_known) = ("none", true);
        each_object(reader, |reader| {
            rest(reader, &mut |reader, key| {
                if !matches!(key, "corrected" | "uncorrected") {
                    return Ok(reader.skip_value()?);
                }
                match optional(reader)? {
                    None => is_known = false,
                    Some(count) if count > 0.0 && worst != "uncorrected" => {
                        worst = if key == "corrected" { "corrected" } else { "uncorrected" };
                    }
                    Some(_) => {}
                }
                Ok(())
            })
        })?;
        if is_known || worst != "none" {
            draft.saved.conditions.set("memory_errors", worst);
        }
        Ok(())
    })
}
