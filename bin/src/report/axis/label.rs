//! The labels and the title of an axis.

use crate::report::chart::{Axis, Unit};
use crate::report::figures::Figure;
use core::fmt::{self, Display};
use latency_core::decimal::Trimmed;
use latency_core::math::round;
use latency_core::units::Bytes;

const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];

/// The label of a value on an axis.
#[derive(Clone, Copy, Debug)]
pub struct AxisLabel {
    value: f64,
    kind: LabelKind,
}

#[derive(Clone, Copy, Debug)]
enum LabelKind {
    Bytes,
    Plain,
    Prefixed,
}

impl AxisLabel {
    /// Makes one from a value and its unit.
    #[must_use]
    pub fn new(value: f64, unit: Unit<'_>) -> Self {
        let kind = match unit {
            Unit::Bytes => LabelKind::Bytes,
            Unit::Count | Unit::Plain(_) => LabelKind::Plain,
            Unit::Prefixed(_) => LabelKind::Prefixed,
        };
        Self { value, kind }
    }
}

impl Display for AxisLabel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            LabelKind::Bytes => Bytes(round(self.value) as u64).fmt(out),
            LabelKind::Plain => Trimmed(self.value).fmt(out),
            LabelKind::Prefixed => match prefix_of(self.value) {
                (_, "") => Trimmed(self.value).fmt(out),
                (factor, prefix) => write!(out, "{} {prefix}", Trimmed(self.value / factor)),
            },
        }
    }
}

/// Returns the largest prefix that leaves a number of at least one.
fn prefix_of(value: f64) -> (f64, &'static str) {
    PREFIXES.into_iter().find(|&(factor, _)| value.abs() >= factor).unwrap_or((1.0, ""))
}

/// A measured value with its unit, for the text beside a point: `48 KiB`, `1.58 ns`.
#[derive(Clone, Copy, Debug)]
pub struct ValueWithUnit<'a> {
    value: f64,
    unit: Unit<'a>,
}

impl<'a> ValueWithUnit<'a> {
    /// Makes one from a value and its unit.
    #[must_use]
    pub fn new(value: f64, unit: Unit<'a>) -> Self {
        Self { value, unit }
    }
}

impl Display for ValueWithUnit<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            Unit::Bytes | Unit::Count => AxisLabel::new(self.value, self.unit).fmt(out),
            Unit::Plain(unit) => write!(out, "{} {unit}", Figure(self.value)),
            Unit::Prefixed(unit) => {
                let (factor, prefix) = prefix_of(self.value);
                write!(out, "{} {prefix} {unit}", Figure(self.value / factor))
            }
        }
    }
}

/// The title of an axis with its unit: `latency, ns`.
#[derive(Clone, Copy, Debug)]
pub struct Title<'a>(pub Axis<'a>);

impl Display for Title<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.title, self.0.unit) {
            (title, Unit::Bytes | Unit::Count | Unit::Plain("") | Unit::Prefixed("")) => out.write_str(title),
            ("", Unit::Plain(unit) | Unit::Prefixed(unit)) => out.write_str(unit),
            (title, Unit::Plain(unit) | Unit::Prefixed(unit)) => write!(out, "{title}, {unit}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::chart::Scale;
    use std::string::ToString;

    #[test]
    fn values_read_as_people_write_them() {
        assert_eq!(AxisLabel::new(49152.0, Unit::Bytes).to_string(), "48 KiB");
        assert_eq!(AxisLabel::new(0.2, Unit::Plain("ns")).to_string(), "0.2");
        assert_eq!(AxisLabel::new(64.0, Unit::Count).to_string(), "64");
        assert_eq!(AxisLabel::new(1.5e8, Unit::Prefixed("loads/s")).to_string(), "150 M");
        assert_eq!(AxisLabel::new(2e9, Unit::Prefixed("loads/s")).to_string(), "2 G");
        assert_eq!(AxisLabel::new(0.0, Unit::Prefixed("loads/s")).to_string(), "0");
    }

    #[test]
    fn readings_are_rounded_and_carry_their_unit() {
        assert_eq!(ValueWithUnit::new(49152.0, Unit::Bytes).to_string(), "48 KiB");
        assert_eq!(ValueWithUnit::new(1.5812, Unit::Plain("ns")).to_string(), "1.58 ns");
        assert_eq!(ValueWithUnit::new(12.0, Unit::Count).to_string(), "12");
        assert_eq!(ValueWithUnit::new(1.192e8, Unit::Prefixed("loads/s")).to_string(), "119 M loads/s");
    }

    #[test]
    fn titles_carry_their_unit() {
        let title = |title, unit| Title(Axis { title, unit, scale: Scale::Auto }).to_string();
        assert_eq!(title("latency", Unit::Plain("ns")), "latency, ns");
        assert_eq!(title("working set", Unit::Bytes), "working set");
        assert_eq!(title("", Unit::Prefixed("loads/s")), "loads/s");
    }
}
