//! Options of other tools, with the spelling of this one.

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
pub fn ours(typed: &[u8]) -> Option<&'static str> {
    let is_typed = |name: &&str| name.as_bytes() == typed;
    FOREIGN.iter().find(|(names, _)| names.iter().any(is_typed)).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::FLAGS;

    #[test]
    fn no_option_is_foreign_and_every_answer_names_an_option() {
        let is_ours = |word: &str| FLAGS.iter().any(|flag| flag.is_called(word.as_bytes()));
        for (names, answer) in FOREIGN {
            for name in names {
                assert!(name.starts_with('-') && !is_ours(name), "{name}");
                assert_eq!(ours(name.as_bytes()), Some(answer));
            }
            for word in answer.split([' ', '`', '(', ')', ',', '=']).filter(|word| word.starts_with('-')) {
                assert!(is_ours(word), "{word}");
            }
        }
        assert_eq!(ours(b"--cpunode"), None);
    }
}
