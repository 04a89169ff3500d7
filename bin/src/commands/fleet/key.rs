//! The names by which values are comparable, and the units of these.

use crate::analysis::norm::Quantity;

/// The maximum number of listed results that are unreliable, and of listed lines that are not documents; further ones
/// are only counted.
pub const MOST_LISTED: usize = 1 << 12;

/// A key by its parts.
#[derive(Clone, Copy, Debug)]
pub struct Key<'n> {
    /// The experiment and its point.
    pub point: &'n str,
    /// The processor's name.
    pub cpu: &'n str,
    /// The point of the values.
    pub quantity: Quantity,
}

/// The separator of the parts of a key, which does not occur in shown texts.
pub const SEPARATOR: char = '\u{1f}';

impl Key<'_> {
    /// Splits a key into its parts.
    #[must_use]
    pub fn of(name: &str) -> Key<'_> {
        let mut parts = name.split(SEPARATOR);
        let mut part = || parts.next().unwrap_or_default();
        let (point, cpu) = (part(), part());
        let quantity = if part().is_empty() { Quantity::Latency } else { Quantity::Bandwidth };
        Key { point, cpu, quantity }
    }
}

/// Returns the unit of a quantity for programs, and the number of these units in the unit for people.
#[must_use]
pub const fn unit(quantity: Quantity) -> (&'static str, f64) {
    match quantity {
        Quantity::Latency => ("ns", 1.0),
        Quantity::Bandwidth => ("bytes_per_second", 1e9),
    }
}
