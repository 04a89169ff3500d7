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
    FOREIGN.iter().find(|(names, _)| names.iter().any(|name| is_typed(&name))).map(|(_, ours)| *ours)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::FLAGS;

    #[test]
    fn no_option_is_foreign_and_every_answer_names_an_option() {
        for (names, ours) in FOREIGN {
            for name in names {
                assert!(!FLAGS.iter().any(|flag| flag.is_called(name.as_bytes())), "{name}");
                assert_eq!(super::ours(name.as_bytes()), Some(ours));
            }
            for word in ours.split([' ', '`', '(', ')', ',', '=']).filter(|word| word.starts_with('-')) {
                assert!(FLAGS.iter().any(|flag| flag.is_called(word.as_bytes())), "{word}");
            }
        }
        assert_eq!(super::ours(b"--cpunode"), None);
    }
}
