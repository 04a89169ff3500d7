//! The advice to write a page.

use crate::options::{FlagId, Options};
use crate::report::document::{Document, Role};
use crate::report::format::Purpose;

/// States how to get the page, if the output is text on a terminal and the user chose no format.
pub fn how_to_get_the_page(document: &mut dyn Document, options: &Options<'_>) {
    let is_shown = options.output.is_none() && !options.given.contains(FlagId::Format);
    if is_shown && options.format.purpose == Purpose::Terminal {
        document.sentence(
            Role::Method(&"Page"),
            format_args!("add -o report.html for a page with every chapter, picture and table"),
        );
    }
}
