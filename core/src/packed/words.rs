//! The words and syllables that are one byte each in a packed text. None has a `|`, which separates parts.
//!
//! `cargo test -p latency-tests --test suite -- packed::words --ignored --nocapture` finds those that save the most
//! bytes in the texts of the program.

/// The words, in the order of their bytes.
#[rustfmt::skip]
pub const WORDS: [&str; 128] = [
    " (", " +-", " --", " a", " a ", " and ", " is ", " o", " of", " of ", " or ", " s", " t", " th", " that ",
    " the", " the ", " to ", " with", ", ", ", or ", "--", "95% CI", ": ", "CPU", "_bytes", "_ns",
    "`latency-bench ", "a ", "able", "al", "an", "ar", "as", "as root: echo ", "at", "bandwidth", "budget", "cache",
    "ch", "ck", "co", "core", "cpu", "curve", "cycles", "de", "di", "e ", "each ", "ed", "ed ", "en", "er", "er ",
    "es", "et", "experiment", "fi", "for", "from", "ho", "huge", "id", "in", "ing", "instructions", "interrupt",
    "interval", "is", "it", "kernel", "latenc", "le", "level", "line", "lo", "load", "ma", "me", "measur", "memory",
    "ne", "no", "node", "not ", "ns", "number", "o ", "on", "or", "out", "page", "pages", "pair", "point",
    "prefetch", "process", "ra", "random", "ratio", "re", "read", "report", "res", "result", "ri", "ro", "run",
    "s ", "se", "second", "size", "slow", "st", "such as ", "t ", "te", "th", "the ", "ti", "to", "un", "utput",
    "ver", "working set", "y ", "±",
];
