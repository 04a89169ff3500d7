//! The labels and the title of an axis.

use crate::report::chart::{Axis, Unit};
use crate::report::figures::Figure;
use core::fmt::{self, Display};
use latency_core::decimal::Trimmed;
use latency_core::math::{self, round};
use latency_core::units::Bytes;

const PREFIXES: [(f64, &str); 4] = [(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k")];

/// The label of a value on an axis with a unit.
#[derive(Clone, Copy, Debug)]
pub struct AxisLabel<'a>(pub f64, pub &'a Unit);

impl Display for AxisLabel<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let AxisLabel(value, unit) = *self;
        match (unit, prefix_of(value)) {
            (Unit::Names(names), _) => {
                out.write_str(names.get(math::whole(round(value)) as usize).map_or("", |name| name))
            }
            (Unit::Bytes, _) => Bytes(math::whole(round(value))).fmt(out),
            (Unit::Prefixed(_), (factor, prefix)) if factor > 1.0 => {
                write!(out, "{} {prefix}", Trimmed(value / factor))
            }
            _ => Trimmed(value).fmt(out),
        }
    }
}

/// Returns the largest prefix that leaves a number of at least one.
fn prefix_of(value: f64) -> (f64, &'static str) {
    PREFIXES.into_iter().find(|&(factor, _)| value.abs() >= factor).unwrap_or((1.0, ""))
}

/// A measured value with its unit, for the text beside a point: `48 KiB`, `1.58 ns`.
#[derive(Clone, Copy, Debug)]
pub struct ValueWithUnit<'a>(pub f64, pub &'a Unit);

impl Display for ValueWithUnit<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ValueWithUnit(value, unit) = *self;
        match unit {
            Unit::Bytes | Unit::Count | Unit::Names(_) => AxisLabel(value, unit).fmt(out),
            Unit::Plain("") => Figure(value).fmt(out),
            Unit::Plain("%") => write!(out, "{}%", Figure(value)),
            Unit::Plain(unit) => write!(out, "{} {unit}", Figure(value)),
            Unit::Prefixed(unit) => {
                let (factor, prefix) = prefix_of(value);
                write!(out, "{} {prefix} {unit}", Figure(value / factor))
            }
        }
    }
}

/// The title of an axis with its unit: `latency, ns`.
#[derive(Clone, Copy, Debug)]
pub struct Title<'a>(pub &'a Axis);

impl Display for Title<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.title, &self.0.unit) {
            (title, Unit::Bytes | Unit::Count | Unit::Names(_) | Unit::Plain("") | Unit::Prefixed("")) => {
                out.write_str(title)
            }
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
        assert_eq!(AxisLabel(49152.0, &Unit::Bytes).to_string(), "48 KiB");
        assert_eq!(AxisLabel(0.2, &Unit::Plain("ns")).to_string(), "0.2");
        assert_eq!(AxisLabel(64.0, &Unit::Count).to_string(), "64");
        assert_eq!(AxisLabel(1.5e8, &Unit::Prefixed("loads/s")).to_string(), "150 M");
        assert_eq!(AxisLabel(2e9, &Unit::Prefixed("loads/s")).to_string(), "2 G");
        assert_eq!(AxisLabel(0.0, &Unit::Prefixed("loads/s")).to_string(), "0");
        assert_eq!(
            AxisLabel(1.0, &Unit::Names(["same L3", "other socket"].map(Into::into).into())).to_string(),
            "other socket"
        );
    }

    #[test]
    fn readings_are_rounded_and_carry_their_unit() {
        assert_eq!(ValueWithUnit(49152.0, &Unit::Bytes).to_string(), "48 KiB");
        assert_eq!(ValueWithUnit(1.5812, &Unit::Plain("ns")).to_string(), "1.58 ns");
        assert_eq!(ValueWithUnit(12.0, &Unit::Count).to_string(), "12");
        assert_eq!(ValueWithUnit(1.192e8, &Unit::Prefixed("loads/s")).to_string(), "119 M loads/s");
    }

    #[test]
    fn titles_carry_their_unit() {
        let title = |title, unit| Title(&Axis { title, unit, scale: Scale::Auto }).to_string();
        assert_eq!(title("latency", Unit::Plain("ns")), "latency, ns");
        assert_eq!(title("working set", Unit::Bytes), "working set");
        assert_eq!(title("", Unit::Prefixed("loads/s")), "loads/s");
    }
}
