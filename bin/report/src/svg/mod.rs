//! Self-contained SVG: it has no script and no font, loads nothing, and is readable on any page.
//!
//! Each picture has its own background, which is light, or dark if the reader prefers it. A renderer without media
//! queries shows the light one. These modules do not depend on any result.

mod card;
mod frame;
mod heat;
mod line;
pub(super) mod style;

use alloc::string::String;
use core::fmt::{self, Write};

use super::document::{PageRole, Role};
use super::format::{Format, Purpose};
use super::shown::{Picture, ShownPart};

pub use frame::FramePlace;
pub use style::SHEET;

/// The first picture of a result, and nothing else.
pub const SVG: Format = Format {
    name: "svg",
    extension: "svg",
    purpose: Purpose::Picture,
    write: |out, _, shown| {
        // A report has a card of all chapters, and no picture of its own. Chapters without figures are saved results.
        let has = |is: fn(Role) -> bool| shown.sentences().any(|(role, _)| is(role));
        if has(|role| role == Role::Page(PageRole::Chapter))
            && has(|role| matches!(role, Role::Page(PageRole::Figure(..) | PageRole::Fact(_))))
        {
            return card::write(out, shown.entries(), concat!("latency-bench ", env!("CARGO_PKG_VERSION")));
        }
        let origin = shown.sentences().filter(|(role, _)| *role == Role::Page(PageRole::Footer)).last();
        let trust = shown.sentences().find(|(role, _)| *role == Role::Trust);
        let level = trust.and_then(|(_, trust)| trust.split([':', ';', ' ']).next());
        let trust = match level {
            Some(level) if !level.is_empty() => format!("trust: {level} \u{b7} "),
            _ => String::new(),
        };
        let footer = format!(
            "{}{trust}latency-bench {}",
            origin.map_or("", |(_, words)| words),
            env!("CARGO_PKG_VERSION")
        );
        let place = FramePlace::File(&footer);
        match shown.entries().iter().find_map(ShownPart::picture) {
            Some(picture) => write(out, picture, place),
            // A file without a byte is not a picture.
            None => {
                let answer = shown.sentences().find(|(role, _)| *role == Role::Answer);
                line::without_points(out, [answer.map_or("", |(_, words)| words), ""], place)
            }
        }
    },
};

/// Writes a picture.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, picture: &Picture, place: FramePlace<'_>) -> fmt::Result {
    match picture {
        Picture::Chart(chart) => line::write(out, chart, place),
        Picture::Matrix(matrix) => heat::write(out, matrix, place),
    }
}

#[cfg(test)]
mod tests;
