//! Lists in words.

use alloc::string::String;
use core::fmt::{Display, Write};

/// Returns a list: `first` is before the first element, and `next` before each other element.
pub fn joined(first: &str, next: &str, things: impl Iterator<Item: Display>) -> String {
    let mut all = String::new();
    let mut before = first;
    things.for_each(|thing| append(&mut all, core::mem::replace(&mut before, next), &thing));
    all
}

/// Returns up to `most` of `count` things, separated by commas, and the number of further things.
pub fn listed(most: usize, count: usize, things: impl Iterator<Item: Display>) -> String {
    let all = joined("", ", ", things.take(most));
    match count.saturating_sub(most) {
        0 => all,
        more => format!("{all} and {more} more"),
    }
}

fn append(all: &mut String, before: &str, thing: &dyn Display) {
    // A text takes everything.
    let _ = write!(all, "{before}{thing}");
}
