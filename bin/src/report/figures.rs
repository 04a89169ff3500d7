//! How a number is written for people, and how wide a text is.
//!
//! Knows the rule of the text formats alone; JSON and CSV write three decimals.

use core::fmt::{self, Display, Write};
use latency_core::decimal::Decimal;
use latency_core::text::Text;

/// From here on every double is a whole number, and no `u64` holds all of them.
const WHOLE_FROM: f64 = 4_503_599_627_370_496.0;

/// A number as texts show it: whole from 10 up, with two decimals below.
///
/// The rounded value decides, so that 9.996 is `10` and never `10.00`. What is not
/// a finite number is `n/a`. Width, fill and alignment of the format are honoured.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct Figure(pub f64);

impl Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let size = self.0.abs();
        if !size.is_finite() {
            return out.pad_integral(true, "", "n/a");
        }
        // The longest is u64-sized below `WHOLE_FROM`; beyond it, 309 digits of a double.
        let mut digits = Text::<320>::EMPTY;
        let hundredths = (size * 100.0 + 0.5) as u64;
        if size >= WHOLE_FROM {
            write!(digits, "{size:.0}", size = Decimal(size))?;
        } else if hundredths >= 1000 {
            write!(digits, "{}", (size + 0.5) as u64)?;
        } else {
            write!(digits, "{}.{:02}", hundredths / 100, hundredths % 100)?;
        }
        // Nothing is negative that is shown as zero.
        out.pad_integral(self.0 >= 0.0 || hundredths == 0, "", digits.as_str())
    }
}

/// The columns that a value takes in a terminal, one for each character.
#[must_use]
pub fn width(shown: &dyn Display) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write_str(&mut self, part: &str) -> fmt::Result {
            self.0 += part.chars().count();
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting cannot fail, and a value that refuses to be shown takes what it wrote.
    let _ = write!(count, "{shown}");
    count.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::format;
    use std::string::ToString;

    #[test]
    fn the_rounded_value_decides() {
        for (value, text) in [
            (0.0, "0.00"),
            (-0.0, "0.00"),
            (-0.001, "0.00"),
            (0.004, "0.00"),
            (0.005, "0.01"),
            (1.58, "1.58"),
            (9.994, "9.99"),
            (9.996, "10"),
            (10.4, "10"),
            (10.5, "11"),
            (118.6, "119"),
            (-9.996, "-10"),
            (-1.25, "-1.25"),
            (1e15, "1000000000000000"),
            (1e20, "100000000000000000000"),
            (f64::NAN, "n/a"),
            (f64::INFINITY, "n/a"),
        ] {
            assert_eq!(Figure(value).to_string(), text, "{value:?}");
        }
        assert_eq!(Figure(f64::MAX).to_string(), format!("{:.0}", f64::MAX));
    }

    #[test]
    fn figures_line_up() {
        assert_eq!(format!("[{:>7}]", Figure(1.5)), "[   1.50]");
        assert_eq!(format!("[{:<6}]", Figure(132.4)), "[132   ]");
        assert_eq!(format!("[{:>6}]", Figure(f64::NAN)), "[   n/a]");
        assert_eq!(width(&Figure(132.4)), 3);
        assert_eq!(width(&"µs"), 2);
    }

    proptest! {
        #[test]
        fn whole_or_two_decimals(value in -1e6f64..1e6) {
            let text = Figure(value).to_string();
            let decimals = text.split_once('.').map(|(_, decimals)| decimals.len());
            let shown: f64 = text.parse().unwrap();
            prop_assert_eq!(decimals, if shown.abs() >= 10.0 { None } else { Some(2) });
            let error = if decimals.is_some() { 0.005_000_1 } else { 0.500_001 };
            prop_assert!((shown - value).abs() <= error);
        }
    }
}
