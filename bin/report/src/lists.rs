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

fn append(all: &mut String, before: &str, thing: &dyn Display) {
    // A text takes everything.
    let _ = write!(all, "{before}{thing}");
}
