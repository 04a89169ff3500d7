//! A report as a page or as text: the default format, and the sentence about the other one.

use crate::options::{FlagId, FlagSet, Options};
use crate::report::document::{Document, Role};
use crate::report::format::{Format, Purpose};

/// Returns the format of a report: text on a terminal and a page elsewhere, unless the user chose another one.
#[must_use]
pub fn format(options: &Options<'_>, is_terminal: bool) -> &'static Format {
    const SAID: FlagSet = FlagSet::of(&[FlagId::Format, FlagId::Json, FlagId::Csv]);
    let named = options.output.and_then(|path| Format::of_file(options.formats, path));
    let is_free = options.given.intersection(SAID) == FlagSet::EMPTY && named.is_none();
    let page = options.formats.iter().find(|format| format.purpose == Purpose::Page);
    page.filter(|_| is_free && (!is_terminal || options.output.is_some())).unwrap_or(options.format)
}

/// Says how to get the page, if a terminal shows text and the user chose no format.
pub fn how_to_get_the_page(document: &mut dyn Document, options: &Options<'_>) {
    let is_shown = options.output.is_none() && !options.given.contains(FlagId::Format);
    if is_shown && options.format.purpose == Purpose::Terminal {
        document.sentence(
            Role::Method(&"Page"),
            format_args!("add -o report.html for a page with every chapter, picture and table"),
        );
    }
}
