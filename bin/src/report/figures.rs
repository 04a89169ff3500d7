//! How numbers look to people.

use core::fmt;

/// A latency: from 10 up a whole number, below it two decimals.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Figure(pub f64);

impl fmt::Display for Figure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // 9.996 would be written 10.00: what decides is the rounded value.
        let digits = if self.0.abs() >= 9.995 { 0 } else { 2 };
        let mut text = latency_core::text::Text::<32>::EMPTY;
        fmt::write(&mut text, format_args!("{:.digits$}", self.0))?;
        out.pad(text.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    #[test]
    fn ten_is_where_decimals_end() {
        for (value, text) in
            [(1.354, "1.35"), (9.994, "9.99"), (9.996, "10"), (10.4, "10"), (394.6, "395"), (0.0, "0.00")]
        {
            assert_eq!(format!("{}", Figure(value)), text);
        }
        assert_eq!(format!("{:>6}", Figure(1.0)), "  1.00");
    }
}
