//! Colours of pictures and pages, and how far two of them are apart for the eye.

use core::fmt;

/// A colour of red, green and blue up to 255.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Colour(pub [u8; 3]);

impl fmt::Display for Colour {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [red, green, blue] = self.0;
        write!(out, "#{red:02x}{green:02x}{blue:02x}")
    }
}

/// The ratio of luminances (WCAG 2.1), from 1 to 21.
#[must_use]
pub fn contrast(one: Colour, other: Colour) -> f64 {
    let (one, other) = (luminance(one), luminance(other));
    (one.max(other) + 0.05) / (one.min(other) + 0.05)
}

/// Relative luminance, with a square for the exponent 2.4 over an offset of sRGB.
#[must_use]
pub fn luminance(colour: Colour) -> f64 {
    let [red, green, blue] = colour.0.map(|part| {
        let part = f64::from(part) / 255.0;
        part * part
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}
