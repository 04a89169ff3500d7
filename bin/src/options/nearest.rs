//! Suggestions for mistyped words, and for options of other tools.

use alloc::vec::Vec;

/// The maximum length of the name of an option or an experiment.
const LONGEST: usize = 31;

/// The maximum number of edits between a typed word and a suggestion: two typing errors.
const FARTHEST: usize = 2;

/// Returns the candidate with the fewest edits from `typed`, if it is near enough; the first one of several.
///
/// The distance must be less than the length of `typed`, because edits that replace the whole word are not a typing
/// error.
pub fn nearest(typed: &[u8], candidates: &mut dyn Iterator<Item = &'static str>) -> Option<&'static str> {
    let bound = (FARTHEST + 1).min(typed.len());
    let edits = candidates.filter_map(|name| distance(typed, name.as_bytes()).map(|edits| (edits, name)));
    let near = edits.filter(|(edits, _)| *edits < bound);
    near.min_by_key(|(edits, _)| *edits).map(|(_, name)| name)
}

/// Returns the Levenshtein distance: insertions, deletions and replacements of a byte, in small or large letters.
///
/// None for words that are too long to be names.
///
/// # References
/// R. A. Wagner, M. J. Fischer, "The String-to-String Correction Problem", JACM 21 (1974), one row kept.
fn distance(from: &[u8], to: &[u8]) -> Option<usize> {
    if from.len().max(to.len()) > LONGEST {
        return None;
    }
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (line, &left) in from.iter().enumerate() {
        let mut diagonal = line;
        let mut before = line + 1;
        let (first, rest) = row.split_first_mut()?;
        *first = before;
        for (cell, &right) in rest.iter_mut().zip(to) {
            let replaced = diagonal + usize::from(!left.eq_ignore_ascii_case(&right));
            diagonal = *cell;
            before = replaced.min(before + 1).min(*cell + 1);
            *cell = before;
        }
    }
    row.last().copied()
}

/// Options of numactl, taskset, fio, hyperfine, Intel MLC and similar tools, with the text to type instead.
const FOREIGN: [(&[&str], &str); 19] = [
    (&["-c", "--cpunodebind"], "--cpunode (-N)"),
    (&["--membind", "--preferred"], "--memnode (-m)"),
    (&["--physcpubind", "--cpu-list", "--cpus_allowed"], "--cpu (-C)"),
    (&["--numa", "--node"], "--cpunode (-N) and --memnode (-m)"),
    (&["-t", "--runtime", "--duration", "--timeout"], "--budget, or --time-limit"),
    (&["-r", "--runs", "--repeat"], "--trials"),
    (&["-w", "--warmup"], "--warmup-iters"),
    (&["--export-json"], "-o FILE.json"),
    (&["--export-csv"], "-o FILE.csv"),
    (&["--export-markdown"], "-o FILE.md"),
    (&["-b", "--buffer", "--buffer-size"], "--size"),
    (&["--threads"], "--load-cpus"),
    (&["--hugepages", "--huge"], "--pages"),
    (&["--idle_latency", "--latency_matrix"], "`latency-bench matrix`"),
    (&["--bandwidth_matrix"], "`latency-bench bandwidth`"),
    (&["--peak_injection_bandwidth", "--max_bandwidth"], "`latency-bench bandwidth --view=mix`"),
    (&["--loaded_latency"], "`latency-bench loaded`"),
    (&["--c2c_latency"], "`latency-bench cores`"),
    (&["--memory_bandwidth_scan"], "`latency-bench bandwidth --view=cores`"),
];

/// Returns the text to type instead of another tool's option, dashes included.
pub fn of_other_tool(typed: &[u8]) -> Option<&'static str> {
    let is_typed = |name: &&str| name.as_bytes() == typed;
    FOREIGN.iter().find(|(names, _)| names.iter().any(is_typed)).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::FLAGS;

    #[test]
    fn distances_are_the_known_ones() {
        for (from, to, edits) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("size", "sise", 1),
            ("memnode", "memnodes", 1),
            ("flaw", "lawn", 2),
        ] {
            assert_eq!(distance(from.as_bytes(), to.as_bytes()), Some(edits), "{from} {to}");
            assert_eq!(distance(to.as_bytes(), from.as_bytes()), Some(edits), "{to} {from}");
        }
        assert_eq!(distance(&[b'x'; 32], b"x"), None);
        assert_eq!(distance(b"x", &[b'x'; 32]), None);
    }

    #[test]
    fn only_near_words_are_suggested() {
        let names = ["size", "seed", "cpu", "pages"];
        for (typed, suggestion) in [
            ("sise", Some("size")),
            ("sed", Some("seed")),
            ("page", Some("pages")),
            ("wombat", None),
            ("x", None),
        ] {
            assert_eq!(nearest(typed.as_bytes(), &mut names.into_iter()), suggestion, "{typed}");
        }
    }

    #[test]
    fn no_option_is_foreign_and_every_answer_names_an_option() {
        let is_ours = |word: &str| FLAGS.iter().any(|flag| flag.is_called(word.as_bytes()));
        for (names, answer) in FOREIGN {
            for name in names {
                assert!(name.starts_with('-') && !is_ours(name), "{name}");
                assert_eq!(of_other_tool(name.as_bytes()), Some(answer));
            }
            for word in answer.split([' ', '`', '(', ')', ',', '=']).filter(|word| word.starts_with('-')) {
                assert!(is_ours(word), "{word}");
            }
        }
        assert_eq!(of_other_tool(b"--cpunode"), None);
    }
}
