//! The style sheet of all pictures, the colours of their parts, and the contrast between two colours.
//!
//! Every rule is confined to the class of the picture, so that a picture within a page does not change the style of
//! the page. Contrasts are at least 4.5 to 1 for text and 3 to 1 for lines on both backgrounds (WCAG 2.1, 1.4.3 and
//! 1.4.11).

use core::fmt;

use latency_core::{ToReal, math};

/// The number of different colours of series.
pub const SERIES: usize = 6;

/// The style sheet. Colour-blind readers can distinguish the colours of the series. Through the gaps of a dashed line,
/// an equal line behind it is visible.
pub const SHEET: &str = "\
.latency-bench{color:#1c2128;max-width:100%;height:auto}
.latency-bench .page{fill:#fff}
.latency-bench text{fill:currentColor;font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;\
font-variant-numeric:tabular-nums}
.latency-bench text.title{font-size:17px;font-weight:600}
.latency-bench text.number{font-size:14px}
.latency-bench text.quiet,.latency-bench text.foot{fill:#57606a}
.latency-bench text.foot{font-size:10.7px}
.latency-bench text.label{stroke:#fff;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}
.latency-bench .grid{stroke:#e3e7eb}
.latency-bench .axis{stroke:#8c959f}
.latency-bench .mark{stroke:#6e7781;stroke-dasharray:4 3}
.latency-bench g .mark{stroke:currentColor}
.latency-bench .area{fill:currentColor;fill-opacity:.05}
.latency-bench .none{fill:none;stroke:#8c959f;stroke-dasharray:4 3}
.latency-bench .line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}
.latency-bench .curve{fill:none;stroke:currentColor;stroke-width:1.8;stroke-dasharray:7 4}
.latency-bench .whisker{stroke:currentColor}
.latency-bench .band{fill:currentColor;fill-opacity:.18}
.latency-bench .point{fill:currentColor}
.latency-bench .s0{color:#153995}
.latency-bench .s1{color:#c14902}
.latency-bench .s2{color:#0c7b5b}
.latency-bench .s3{color:#96518f}
.latency-bench .s4{color:#771e00}
.latency-bench .s5{color:#212326}
.latency-bench .s1 .line{stroke-dasharray:9 4}
.latency-bench .s2 .line{stroke-dasharray:3 3}
.latency-bench .s3 .line{stroke-dasharray:9 3 2 3}
.latency-bench .s4 .line{stroke-dasharray:2 5}
.latency-bench .s5 .line{stroke-dasharray:14 3}
@media (prefers-color-scheme:dark){
.latency-bench{color:#e6eaee}
.latency-bench .page{fill:#14181d}
.latency-bench text.quiet,.latency-bench text.foot{fill:#9aa5b1}
.latency-bench text.label{stroke:#14181d}
.latency-bench .grid{stroke:#2a3037}
.latency-bench .axis{stroke:#6b7682}
.latency-bench .mark{stroke:#8b96a2}
.latency-bench .none{stroke:#6b7682}
.latency-bench .s0{color:#a0bbff}
.latency-bench .s1{color:#f68549}
.latency-bench .s2{color:#36cb9f}
.latency-bench .s3{color:#b561aa}
.latency-bench .s4{color:#ffda47}
.latency-bench .s5{color:#eaeff6}
}
";

/// The dark text colour. It is pure black, so that either it or `PAPER` has a contrast of 4.5 on any background.
const INK: Colour = Colour([0; 3]);
const PAPER: Colour = Colour([0xff, 0xff, 0xff]);

/// The shades of a matrix, from pale yellow over orange to dark red. Each is darker than the one before, so that a
/// print without colours keeps the order.
const STOPS: [[u8; 3]; 5] =
    [[0xfd, 0xf2, 0xcc], [0xfb, 0xc6, 0x62], [0xee, 0x7c, 0x3b], [0xbf, 0x35, 0x2b], [0x74, 0x10, 0x22]];

/// Returns the shade of a cell of a matrix, from pale at depth 0 to dark at depth 1.
pub fn shade(depth: f64) -> Colour {
    // NaN gets the first shade; `clamp` would pass NaN through.
    let depth = if depth > 0.0 { depth.min(1.0) } else { 0.0 };
    let position = depth * (STOPS.len() - 1).real();
    let index = (math::whole(position) as usize).min(STOPS.len() - 2);
    let part = position - index.real();
    let [from, to] = match STOPS.get(index..) {
        Some([from, to, ..]) => [from, to],
        _ => [&PAPER.0; 2],
    };
    let mut mixed = [0; 3];
    for (mixed, (&from, &to)) in mixed.iter_mut().zip(from.iter().zip(to)) {
        *mixed = (f64::from(from) * (1.0 - part) + f64::from(to) * part + 0.5) as u8;
    }
    Colour(mixed)
}

/// Returns the text colour with more contrast on a background.
pub fn text_on(background: Colour) -> Colour {
    if contrast(PAPER, background) > contrast(INK, background) { PAPER } else { INK }
}

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
fn luminance(colour: Colour) -> f64 {
    let [red, green, blue] = colour.0.map(|part| {
        let part = f64::from(part) / 255.0;
        part * part
    });
    0.2126 * red + 0.7152 * green + 0.0722 * blue
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn shades_run_from_light_to_dark() {
        let steps = (0..=100).map(|step| luminance(shade(f64::from(step) / 100.0)));
        assert!(steps.collect::<std::vec::Vec<_>>().windows(2).all(|pair| pair[1] < pair[0]));
        assert_eq!((shade(0.0).to_string(), shade(1.0).to_string()), ("#fdf2cc".into(), "#741022".into()));
        assert_eq!(shade(f64::NAN), shade(0.0));
    }

    #[test]
    fn numbers_are_legible_on_every_shade() {
        for step in 0..=100 {
            let background = shade(f64::from(step) / 100.0);
            assert!(contrast(text_on(background), background) >= 4.5, "{background}");
        }
    }

    /// Returns the colours of the series on the light and on the dark background, and that background.
    fn series() -> [(std::vec::Vec<Colour>, Colour); 2] {
        let (light, dark) = SHEET.split_once("@media").unwrap();
        [(light, [255; 3]), (dark, [0x14, 0x18, 0x1d])].map(|(rules, background)| {
            let rules = rules.lines().filter(|rule| rule.contains(" .s") && rule.contains("{color:#"));
            let colours = rules.map(|rule| {
                let hex = &rule.split_once("{color:#").unwrap().1[..6];
                let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                Colour([part(0), part(2), part(4)])
            });
            (colours.collect(), Colour(background))
        })
    }

    #[test]
    fn series_are_legible_on_both_backgrounds() {
        for (colours, background) in series() {
            assert_eq!(colours.len(), SERIES);
            for colour in colours {
                assert!(contrast(colour, background) >= 4.5, "{colour}");
            }
        }
    }

    type Triple = [f64; 3];

    fn product(matrix: &[Triple; 3], with: Triple) -> Triple {
        matrix.map(|row| row.iter().zip(with).map(|(factor, value)| factor * value).sum())
    }

    /// Returns a colour in CIE L*a*b* (D65) as seen through a matrix that is applied to linear sRGB.
    fn perceived(colour: Colour, vision: &[Triple; 3]) -> Triple {
        const TO_XYZ: [Triple; 3] = [
            [0.412_456_4, 0.357_576_1, 0.180_437_5],
            [0.212_672_9, 0.715_152_2, 0.072_175_0],
            [0.019_333_9, 0.119_192_0, 0.950_304_1],
        ];
        const WHITE: Triple = [0.950_47, 1.0, 1.088_83];
        let linear = colour.0.map(|part| {
            let part = f64::from(part) / 255.0;
            if part <= 0.04045 { part / 12.92 } else { ((part + 0.055) / 1.055).powf(2.4) }
        });
        let seen = product(vision, linear).map(|part| part.clamp(0.0, 1.0));
        let xyz = product(&TO_XYZ, seen);
        let root = |at: usize| match xyz[at] / WHITE[at] {
            share if share > 216.0 / 24389.0 => share.cbrt(),
            share => (24389.0 / 27.0 * share + 16.0) / 116.0,
        };
        let [x, y, z] = [0, 1, 2].map(root);
        [116.0 * y - 16.0, 500.0 * (x - y), 200.0 * (y - z)]
    }

    /// Returns the difference of two colours (CIE76).
    fn difference(one: Triple, other: Triple) -> f64 {
        one.iter().zip(other).map(|(one, other)| (one - other).powi(2)).sum::<f64>().sqrt()
    }

    /// Colour vision: usual, and the complete lack of one kind of cones (Machado, Oliveira and Fernandes, "A
    /// Physiologically-based Model for Simulation of Color Vision Deficiency", 2009, table 1, severity 1.0).
    const VISIONS: [(&str, [Triple; 3]); 4] = [
        ("usual", [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]),
        (
            "protanopia",
            [
                [0.152_286, 1.052_583, -0.204_868],
                [0.114_503, 0.786_281, 0.099_216],
                [-0.003_882, -0.048_116, 1.051_998],
            ],
        ),
        (
            "deuteranopia",
            [
                [0.367_322, 0.860_646, -0.227_968],
                [0.280_085, 0.672_501, 0.047_413],
                [-0.011_820, 0.042_940, 0.968_881],
            ],
        ),
        (
            "tritanopia",
            [
                [1.255_528, -0.076_749, -0.178_779],
                [-0.078_411, 0.930_809, 0.147_602],
                [0.004_733, 0.691_367, 0.303_900],
            ],
        ),
    ];

    #[test]
    fn colour_blind_readers_can_distinguish_the_series() {
        /// Ten times the difference that is noticed in direct comparison (2.3).
        const LEAST: f64 = 23.0;
        for (colours, _) in series() {
            for (name, vision) in &VISIONS {
                for (index, one) in colours.iter().enumerate() {
                    for other in &colours[..index] {
                        let apart = difference(perceived(*one, vision), perceived(*other, vision));
                        assert!(apart >= LEAST, "{name}: {one} and {other} differ by {apart:.1}");
                    }
                }
            }
        }
        // The model confuses what a protanope confuses.
        let [(_, protanopia), ..] = &VISIONS[1..] else { unreachable!() };
        let [orange, brown] =
            [[0xc4, 0x47, 0x0a], [0x8a, 0x61, 0x00]].map(|it| perceived(Colour(it), protanopia));
        assert!(difference(orange, brown) < 3.0);
    }
}
