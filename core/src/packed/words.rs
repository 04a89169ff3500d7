//! The words and syllables that are one byte each in a packed text.
//!
//! `cargo test -p latency-tests --test suite -- packed::words --ignored --nocapture` finds those that save the most
//! bytes in the texts of the program.

/// The words, in the order of their bytes.
#[rustfmt::skip]
pub const WORDS: [&str; 128] = [
    " (", " --", " a", " a ", " and ", " another", " b", " h", " is ", " of", " of ", " or ", " p", " s",
    " t", " th", " that ", " the", " the ", " to ", " with", ", ", ", or ", "--", ": ", "CPU",
    "SMT sibling", "`latency-bench ", "able", "al", "an", "andwidth", "ar", "are ", "as", "as root: echo ",
    "at", "auto", "budget", "cache", "ch", "clock", "comp", "core", "count", "cpu", "curve", "diff", "e ",
    "each ", "ed", "ed ", "en", "er", "er ", "es", "es ", "experiment", "fi", "for", "from", "hold", "huge",
    "ic", "id", "in", "ing", "interrupt", "is", "it", "json", "kernel", "latency", "le", "level", "li",
    "line", "load", "low", "ma", "me", "measur", "memory", "mo", "no", "node", "not ", "number", "o ", "on",
    "or", "ou", "output", "page", "pair", "point", "prefetch", "process", "quiet", "ra", "re", "read",
    "report", "result", "ri", "ro", "run", "s ", "s, ", "se", "size", "st", "standard ",
    "stop other processes", "such as ", "sys", "t ", "te", "th", "the ", "ti", "un", "use ", "vailab",
    "with ", "writ", "y ", "±",
];
