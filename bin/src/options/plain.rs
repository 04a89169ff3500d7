//! The words that no text for users has; tests of every such text ask for it.

/// Phrases that a reader stumbles over; architecture and style name better ones.
const FORBIDDEN: [&str; 26] = [
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
    "verified",
    "hop ",
    "hops",
    "initiator",
    "lane",
    "beside",
    "nodes 64",
];

/// Asserts that a text for users has none of the phrases that nobody says.
///
/// # Panics
///
/// Where it has one.
pub fn assert_plain(text: &str) {
    // The value without neighbours has no other name.
    let lower = text.to_lowercase().replace("undisturbed", "");
    for phrase in FORBIDDEN {
        assert!(!lower.contains(phrase), "{phrase:?} in {text:?}");
    }
}
