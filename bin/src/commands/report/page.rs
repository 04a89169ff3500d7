//! The advice to write a page.

use crate::options::{FlagId, Options, Output};
use crate::report::document::Role;
use crate::report::format::Purpose;
use crate::report::shown::Shown;

/// States how to get the page, if the output is text on a terminal and the user chose no format.
pub fn how_to_get_the_page(document: &mut Shown, options: &Options<'_>) {
    let is_text = |output: &Output<'_>| output.path.is_none() && output.format.purpose == Purpose::Terminal;
    let is_shown = options.outputs().iter().any(is_text) && !options.writes(Purpose::Page);
    if is_shown && !options.given.contains(FlagId::Format) {
        document
            .say(Role::Method("Page"), "add -o report.html for a page with every chapter, picture and table");
    }
}
