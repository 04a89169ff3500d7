//! Published figures of processors: facts of a core, and ranges of what server platforms achieve. A result that differs
//! from them is unusual, but no verdict of this program depends on them.
//!
//! Each figure has a source that was read. Processors without a row have no reference, and quantities without a source
//! are unknown.

mod masked;
pub mod quantity;
mod row;
#[cfg(test)]
mod tests;

pub use masked::contradiction;
pub use quantity::PublishedQuantity;
pub use row::{PublishedRow, Usual, contains, figures, is_called};

use latency_engine::machine::{CoreKind, Platform, Processor};

/// Returns whether a row is one of a processor. A processor that names no kind of core has the performance core of its
/// model, if there is one.
///
/// The name of the processor is to be its maker's: an emulator gives made names, `Intel Xeon Processor (Cascadelake)`
/// or `AMD EPYC-Milan Processor`, to processors whose cores are others.
pub fn is_of(row: &PublishedRow, processor: &Processor) -> bool {
    let brand = processor.brand.as_str().as_bytes();
    let is_own_name = match processor.signature.0 {
        6 => contains(brand, b"(R)"),
        0x10..0x40 => brand.iter().any(u8::is_ascii_digit) && !contains(brand, b"EPYC-"),
        _ => true,
    };
    let is_small = match processor.core {
        Some(kind) => kind == CoreKind::Efficiency,
        None => row.is_small && !row::rows().any(|row| !row.is_small && row.has(brand, processor.signature)),
    };
    is_own_name
        && processor.platform != Platform::Emulated
        && row.is_small == is_small
        && row.has(brand, processor.signature)
        && contradiction(processor).is_none()
}

/// Returns the name of the core or platform of a processor for which a quantity is published, and the range of all its
/// figures, with all their conditions and sources.
pub fn usual(processor: &Processor, quantity: PublishedQuantity) -> Option<(&'static str, Usual)> {
    figures(&|row| is_of(row, processor))
        .filter(|(_, figure)| figure.quantity == quantity)
        .reduce(|(_, all), (name, figure)| (name, figure.and(&all)))
}
