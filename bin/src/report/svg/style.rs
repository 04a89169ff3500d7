//! The style sheet of all pictures and the colours of their parts.
//!
//! Every rule is confined to the class of the picture, so that a picture within a page does not change the style of
//! the page. Contrasts are at least 4.5 to 1 for text and 3 to 1 for lines on both backgrounds (WCAG 2.1, 1.4.3 and
//! 1.4.11).

use crate::report::colour::{Colour, contrast};

/// The number of different colours of series.
pub const SERIES: usize = 6;

/// The style sheet. The colours of the series also differ in lightness, for colour-blind readers and for prints.
pub const SHEET: &str = "\
.latency-bench{color:#1c2128;max-width:100%;height:auto}
.latency-bench .page{fill:#fff}
.latency-bench text{fill:currentColor;font:12px system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;\
font-variant-numeric:tabular-nums}
.latency-bench text.title{font-size:17px;font-weight:600}
.latency-bench text.number{font-size:14px}
.latency-bench text.quiet{fill:#57606a}
.latency-bench text.label{stroke:#fff;stroke-width:4px;stroke-linejoin:round;paint-order:stroke}
.latency-bench .grid{stroke:#e3e7eb}
.latency-bench .axis{stroke:#8c959f}
.latency-bench .mark{stroke:#6e7781;stroke-dasharray:4 3}
.latency-bench .none{fill:none;stroke:#8c959f;stroke-dasharray:4 3}
.latency-bench .line{fill:none;stroke:currentColor;stroke-width:1.8;stroke-linejoin:round}
.latency-bench .curve{fill:none;stroke:currentColor;stroke-width:1.8;stroke-dasharray:7 4}
.latency-bench .band{fill:currentColor;fill-opacity:.18}
.latency-bench .bar{fill:currentColor;fill-opacity:.75}
.latency-bench .point{fill:currentColor}
.latency-bench .s0{color:#0a64ad}
.latency-bench .s1{color:#c4470a}
.latency-bench .s2{color:#0b7a5c}
.latency-bench .s3{color:#9c3d84}
.latency-bench .s4{color:#8a6100}
.latency-bench .s5{color:#4b5560}
@media (prefers-color-scheme:dark){
.latency-bench{color:#e6eaee}
.latency-bench .page{fill:#14181d}
.latency-bench text.quiet{fill:#9aa5b1}
.latency-bench text.label{stroke:#14181d}
.latency-bench .grid{stroke:#2a3037}
.latency-bench .axis{stroke:#6b7682}
.latency-bench .mark{stroke:#8b96a2}
.latency-bench .none{stroke:#6b7682}
.latency-bench .s0{color:#5aaef5}
.latency-bench .s1{color:#ff8a52}
.latency-bench .s2{color:#3fcaa0}
.latency-bench .s3{color:#e28fcc}
.latency-bench .s4{color:#e0b040}
.latency-bench .s5{color:#b3bdc7}
}
";

/// The dark text colour. It is pure black, so that either it or `PAPER` has a contrast of 4.5 on any background.
const INK: Colour = Colour([0; 3]);
const PAPER: Colour = Colour([0xff, 0xff, 0xff]);

/// The shades of a matrix, from pale yellow over orange to dark red. Each is darker than the one before, so that a
/// print without colours keeps the order.
const STOPS: [[u8; 3]; 5] =
    [[0xfd, 0xf2, 0xcc], [0xfb, 0xc6, 0x62], [0xee, 0x7c, 0x3b], [0xbf, 0x35, 0x2b], [0x74, 0x10, 0x22]];

/// Returns the shade of a depth from 0 to 1.
pub fn shade(depth: f64) -> Colour {
    // NaN gets the first shade; `clamp` would pass NaN through.
    let depth = if depth > 0.0 { depth.min(1.0) } else { 0.0 };
    let position = depth * (STOPS.len() - 1) as f64;
    let index = (position as usize).min(STOPS.len() - 2);
    let part = position - index as f64;
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
pub fn text_on(ground: Colour) -> Colour {
    if contrast(PAPER, ground) > contrast(INK, ground) { PAPER } else { INK }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::colour::luminance;
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
            let ground = shade(f64::from(step) / 100.0);
            assert!(contrast(text_on(ground), ground) >= 4.5, "{ground}");
        }
    }

    #[test]
    fn series_are_legible_on_both_backgrounds() {
        let (light, dark) = SHEET.split_once("@media").unwrap();
        for (rules, ground) in [(light, [255; 3]), (dark, [0x14, 0x18, 0x1d])] {
            let mut seen = 0;
            for rule in rules.lines().filter(|rule| rule.contains(" .s") && rule.contains("{color:#")) {
                let hex = &rule.split_once("{color:#").unwrap().1[..6];
                let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                let colour = Colour([part(0), part(2), part(4)]);
                assert!(contrast(colour, Colour(ground)) >= 4.5, "{rule}");
                seen += 1;
            }
            assert_eq!(seen, SERIES);
        }
    }
}
