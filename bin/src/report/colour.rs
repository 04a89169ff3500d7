//! Colours of pictures and pages, and the contrast between two of them.

use core::fmt;

/// A colour: red, green and blue, each from 0 to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl fmt::Display for Colour {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(out, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// Returns the contrast ratio of two colours (WCAG 2.1), from 1 to 21.
pub fn contrast(one: Colour, other: Colour) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Returns the relative luminance of a colour. A square approximates the transfer function of sRGB, which has an
/// offset and the exponent 2.4.
pub fn luminance(colour: Colour) -> f64 {
    let [red, green, blue] = colour.0.map(|part| {
        let part = f64::from(part) / 255.0;
        part * part
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}
