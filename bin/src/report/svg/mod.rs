//! Self-contained SVG: no script, no font, nothing fetched, readable on any page.
//!
//! Each picture brings its own ground, light, or dark where the reader prefers it;
//! a renderer that knows no media queries shows the light one. Nothing here knows a
//! result.

mod heat;
mod line;
mod style;
mod text;

pub use heat::write as write_heatmap;
pub use line::write as write_chart;

use core::fmt::{self, Write};
use latency_core::decimal::Decimal;
use text::Escaped;

/// The largest size of a title, and the distance of its lines.
const TITLE_LINE: f64 = 24.0;
const SUBTITLE_LINE: f64 = 17.0;
/// The blank around a picture.
const EDGE: f64 = 24.0;

/// The height of title and subtitle in a picture of some width.
fn heading_height(width: f64, title: &str, subtitle: &str) -> f64 {
    let room = width - 2.0 * EDGE;
    let titles = text::lines(title, text::Size::Title, room).count() as f64;
    let subtitles = text::lines(subtitle, text::Size::Small, room).count() as f64;
    EDGE + titles * TITLE_LINE + subtitles * SUBTITLE_LINE
}

/// Begins a document: its ground, styles, title and subtitle.
fn begin(out: &mut dyn Write, width: f64, height: f64, title: &str, subtitle: &str) -> fmt::Result {
    let room = width - 2.0 * EDGE;
    let (width, height, edge) = (Decimal(width), Decimal(height), Decimal(EDGE));
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"latency-bench\" role=\"img\" \
         width=\"{width}\" height=\"{height}\" viewBox=\"0 0 {width} {height}\" color=\"#1c2128\">"
    )?;
    writeln!(out, "<title>{}</title>", Escaped(&title))?;
    out.write_str(style::SHEET)?;
    writeln!(out, "<rect class=\"page\" width=\"{width}\" height=\"{height}\" rx=\"8\"/>")?;
    let mut baseline = EDGE - 6.0;
    for line in text::lines(title, text::Size::Title, room) {
        baseline += TITLE_LINE;
        let y = Decimal(baseline);
        writeln!(out, "<text class=\"title\" x=\"{edge}\" y=\"{y:.1}\">{}</text>", Escaped(&line))?;
    }
    for line in text::lines(subtitle, text::Size::Small, room) {
        baseline += SUBTITLE_LINE;
        let y = Decimal(baseline);
        writeln!(out, "<text class=\"quiet\" x=\"{edge}\" y=\"{y:.1}\">{}</text>", Escaped(&line))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
