//! A card of a report for sharing, in the size of link previews (Open Graph): figures, a picture, the trust, and facts
//! about the machine. Previews are small, so everything is drawn in twice its size.

use alloc::string::String;
use core::fmt::{self, Write};

use latency_core::ToReal;

use super::frame::{EDGE, FramePlace, Size, lines, text};
use super::line;
use super::style::SHEET;
use crate::chart::Scale;
use crate::document::{PageRole, Role};
use crate::escape::InMarkup;
use crate::shown::{Picture, ShownPart, sentences};

/// The width and the height in units of two pixels.
const SIZE: [u32; 2] = [600, 315];
/// The left end, the top, the width and the height of the picture.
const PICTURE: [u32; 4] = [216, 100, 376, 198];
/// The maximum number of figures, the baseline of the first one, and the height of each.
const FIGURES: f64 = 6.0;
const FIRST: f64 = 112.0;
const FIGURE: f64 = 31.5;

/// Writes the card of a report, with a footer.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, report: &[ShownPart], footer: &str) -> fmt::Result {
    let front = || sentences(report).take_while(|(role, _)| *role != Role::Page(PageRole::Chapter));
    let [width, height] = SIZE;
    let room = f64::from(width) - 2.0 * EDGE;
    let mut facts = String::new();
    let (mut title, mut trust) = ("", "");
    for (role, words) in front() {
        match role {
            Role::Page(PageRole::Fact(_)) if title.is_empty() => title = words,
            Role::Page(PageRole::Fact(label)) => facts += &format!("{label}: {words}. "),
            Role::Trust if trust.is_empty() => trust = words,
            _ => {}
        }
    }
    write!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"latency-bench\" role=\"img\" width=\"{}\" \
         height=\"{}\" viewBox=\"0 0 {width} {height}\" color=\"#1c2128\">\n<title>{}</title>\n<style>\n{SHEET}\
         </style>\n<rect class=\"page\" width=\"{width}\" height=\"{height}\"/>\n",
        2 * width,
        2 * height,
        InMarkup(title)
    )?;
    let headings = [
        (title, "title", Size::Title, 28.0, 1),
        (&facts, "foot", Size::Small, 44.0, 3),
        (&format!("Trust: {trust}"), "", Size::Small, 82.0, 2),
    ];
    for (words, class, size, baseline, most) in headings {
        for (index, line) in lines(words, size, room).take(most).enumerate() {
            text(out, [class, ""], &EDGE, baseline + 12.5 * index.real(), &line)?;
        }
    }
    let mut baseline = FIRST;
    // The chapters have all figures.
    for (role, words) in sentences(report).skip(front().count()) {
        if let Role::Page(PageRole::Figure(label, level)) = role
            && baseline < FIRST + FIGURE * FIGURES
        {
            let value = words.split(',').next().unwrap_or_default();
            text(out, ["quiet", ""], &EDGE, baseline, &format!("{label}, {level}"))?;
            text(out, ["number", ""], &EDGE, baseline + 15.0, &value)?;
            baseline += FIGURE;
        }
    }
    // The curve is the first picture of working sets; the axis of sizes is logarithmic.
    let curve = report.iter().find_map(|entry| match entry.picture()? {
        Picture::Chart(chart) if chart.x_axis.scale == Scale::Logarithmic => Some(chart),
        _ => None,
    });
    if let Some(curve) = curve {
        line::write(out, curve, FramePlace::Card(PICTURE))?;
    }
    text(out, ["foot", "end"], &(f64::from(width) - EDGE), 306.0, &footer)?;
    out.write_str("</svg>\n")
}
