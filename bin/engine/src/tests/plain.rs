//! The phrases that texts for users must not contain. Tests of all these texts use it.

/// The phrases that are hard to read.
const FORBIDDEN: [&str; 29] = [
    "of which",
    "that which",
    "dear",
    "held against",
    "speak against",
    "speaks against",
    "at the most",
    "stands for",
    "bearing",
    "in place of",
    "deserve",
    "not to be trusted",
    "not to be had",
    "cannot be had",
    "makes no sense",
    "leave it out",
    "leave them out",
    "left out",
    "disturbed",
    "hop ",
    "hops",
    "lane",
    "beside",
    "anew",
    "for want of",
    "whoever",
    "meanwhile",
    "nobody",
    "nodes 64",
];

/// Asserts that a text for users has none of the forbidden phrases.
///
/// # Panics
///
/// Panics if it has one.
pub fn assert_plain(text: &str) {
    // Keys of schema 2 call the steady value undisturbed; texts do not.
    let lower = text.to_lowercase().replace("`undisturbed`", "").replace("undisturbed_", "");
    for phrase in FORBIDDEN {
        assert!(!lower.contains(phrase), "{phrase:?} in {text:?}");
    }
}
