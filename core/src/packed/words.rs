//! The words and syllables that are one byte each in a packed text. None has a `|`, which separates parts.
//!
//! `cargo test -p latency-tests --test suite -- packed::words --ignored --nocapture` finds those that save the most
//! bytes in the texts of the program.

/// The words behind a consonant or digit, behind a vowel, behind another sign, and behind a blank, a separator or nothing;
/// each set in the order of their bytes, short words first.
#[rustfmt::skip]
pub const WORDS: [&[&str]; 4] = [
    &[
        " (", " -", " .", " a", " c", " d", " e", " h", " i", " l", " m", " o", " p", " r", " s", " t", ", ", ". ",
        ": ", ":1", "; ", "_o", "_p", "_s", "ag", "ai", "al", "an", "ap", "ar", "as", "at", "ay", "ch", "e ", "e-",
        "e:", "e_", "ea", "ed", "ee", "ef", "el", "em", "en", "ep", "er", "es", "et", "ia", "ic", "id", "ie", "in",
        "is", "it", "ix", "o ", "oc", "od", "ol", "on", "oo", "or", "ou", "ow", "ri", "s ", "s-", "ur", "y ", "±", "µ",
        " --", " a ", " of", "'s ", "IME", "_ns", "art", "ect", "ed ", "ed_", "er ", "er_", "ere", "ers", "es ", "est",
        "ide", "ind", "ing", "ion", "old", "ost", "rem", "s a", "s, ", "s: ", " -o ", " is ", " of ", " or ", " to ",
        ", or", "ed: ", "form", "imit", "ing ", "lock", "ound", "read", "ree ", "rem;", "resh", "rust", " and ",
        " are ", " load", " one ", " that", " the ", " them", ", or ", "=\"@\" ", "atrix", "aved ", "econd", "emory",
        "rem 0", "rials", "s of ", "ystem", " that ", " with ", "_bytes", "_hosts", "ariant", "econds", "raffic",
        "MT sibl", "everal ", " of the ", "andwidth", "{color:#", "{margin:", "er --size", " the same ", "ast-level ",
    ],
    &[
        " (", " a", " o", ", ", ". ", ": ", "; ", "bl", "ca", "ch", "ck", "ct", "d ", "dd", "de", "dg", "f ", "ff",
        "ft", "gh", "l ", "ld", "ll", "ls", "lt", "me", "mm", "mp", "n ", "na", "nc", "nd", "ne", "ns", "nt", "nv",
        "pp", "ps", "pt", "rd", "re", "rr", "s ", "se", "ss", "st", "t ", "ta", "te", "th", "tt", "ut", "ve", "wn",
        "xt", "y ", "±", "µ", " --", " th", "_ns", "ble", "de ", "dle", "ld ", "le ", "me ", "n a", "n i", "nce",
        "nde", "ne ", "nly", "nos", "nt ", "rce", "re ", "rst", "se ", "st ", "te ", "ve ", "ver", " is ", " of ",
        " or ", "_ghz", "ble ", "ffer", "fied", "gram", "ight", "llow", "lone", "ment", "nclu", "nly ", "node", "ntil",
        "rder", "rmwa", "s a ", "se a", "xit ", ", and", ", or ", "ccess", "gures", "mulat", "t be ", "utput", "vaila",
        "void}", " walks", "-bench", "_bytes", "ccomp ", "ckward", "ddress", "gainst", "ne of ", "nitiat", "pacity",
        "rtual ", "s root", "2=\"@\"/>", "mplausi", "nother ", "nvalid ", "nywhere", "pendent", "stribut", "symmetr",
        "t most ", "utstand", "btracted", "ndisturb", "nslation", "nsparent", "quential", ",'DejaVu ", "cker run ",
        "nfidence ", "nity mask", "verything", "xperiment", "ncrease --", "nstruction", "s root: echo ",
    ],
    &[
        " (", " @", " a", " d", " m", " n", " o", " s", ", ", "--", "1.", ": ", "; ", "co", "fi", "li", "pr", "st",
        "th", "±", "µ", " --", " be", " ns", "CPU", "cpu", "csv", "dl>", "ink", "max", "num", "svg", "sys", "top",
        " MHz", " is ", " of ", " or ", " ppm", "\"~\" ", "answ", "auto", "cpus", "from", "grid", "html", "huge",
        "json", "left", "line", "load", "mark", "max-", "node", "none", "not-", "page", "poor", "size", " GB/s",
        " and ", " stri", " the ", "\"M@ @", "H@\"/>", "PERFM", "cache", "check", "ci95_", "core_", "cores", "facts",
        "fill:", "font-", "label", "level", "local", "memno", "pages", "path ", "point", "quiet", "radiu", "ratio",
        "share", "strok", "ticks", "value", "view=", " /sys/", " ticks", "--edge", "-size=", "OPTION", "break-",
        "budget", "chains", "column", "cycles", "margin", "media ", "misses", "mm/tra", "perf_e", "precis", "raised",
        "random", "space:", "strict", "white-", "width:", "wrap:a", "binary)", "border-", "cap-add", "details",
        "export-", "format=", "height:", "hugepag", "kernel/", "latency", "padding", "results", "summary", "$output\"",
        "SYS_NICE", "display:", "during_r", "u, pids.", " such as ", "-` reads ", "MONOTONIC", "balancing",
        "overflow-", "padding:.", "font-size:", " /proc/sys/", " then rerun", " x=\"@\" y=\"@", "text-align:",
        "color:var(--", "currentColor", " text-anchor=\"", "latency-bench ", "bytes_per_second", "background:var(--",
        "stroke-dasharray:", "middle\" x=\"@\" y=\"@\"",
    ],
    &[
        "--", "a ", "bu", "ch", "co", "di", "fi", "in", "it", "na", "no", "st", "th", "wh", "±", "µ", "·", "CPU",
        "all", "by ", "cpu", "few", "for", "hug", "in ", "no ", "not", "on ", "pro", "run", "the", "tim", "to ", "tra",
        "95% ", "FILE", "The ", "and ", "auto", "core", "fast", "file", "from", "half", "has ", "host", "its ", "larg",
        "line", "list", "load", "may ", "mean", "miss", "need", "node", "not ", "one ", "page", "pair", "read", "remo",
        "show", "size", "slow", "text", "the ", "too ", "two ", "unit", "use ", "was ", "with", "work", "writ",
        "0,2-3", "bytes", "cache", "canno", "check", "class", "cores", "count", "curve", "each ", "fleet", "level",
        "machi", "measu", "more ", "node ", "nodes", "other", "pages", "place", "point", "quiet", "ratio", "share",
        "small", "table", "than ", "this ", "value", "which", "y=\"@\"", "95% CI", "before", "cache ", "cgroup",
        "column", "compar", "cycles", "every ", "expect", "hardwa", "kernel", "measur", "median", "memory", "migrat",
        "number", "random", "report", "result", "up to ", "window", "class=\"", "contain", "latency", "multipl",
        "process", "topolog", "unknown", "verdict", "without", "between ", "hypervis", "interval", "latency ",
        "prefetch", "standard", "frequency", "generator", "interrupt", "neighbour", "working set", ".latency-bench .",
        "stop other processes",
    ],
];
