//! Options of other tools, with the spelling of this one.

use latency_core::packed;
use latency_core::packed::{Packed, PackedPart};
use latency_core::text::Text;

/// Options of numactl, taskset, fio, hyperfine, Intel MLC and similar tools. Each line has some of them, and the text to
/// type instead.
const FOREIGN: Packed = packed!(
    "\
-c --cpunodebind|--cpunode (-N)
--membind --preferred|--memnode (-m)
--physcpubind --cpu-list --cpus_allowed|--cpu (-C)
--numa --node|--cpunode (-N) and --memnode (-m)
-t --runtime --duration --timeout|--budget, or --time-limit
-r --runs --repeat|--trials
-w --warmup|--warmup-iters
--export-json|-o FILE.json
--export-csv|-o FILE.csv
--export-markdown|-o FILE.md
-b --buffer --buffer-size|--size
--threads|--load-cpus
--hugepages --huge|--pages
--idle_latency --latency_matrix|`latency-bench matrix`
--bandwidth_matrix|`latency-bench bandwidth`
--peak_injection_bandwidth --max_bandwidth|`latency-bench bandwidth --view=mix`
--loaded_latency|`latency-bench loaded`
--c2c_latency|`latency-bench cores`
--memory_bandwidth_scan|`latency-bench bandwidth --view=cores`"
);

/// The maximum length of the options in a line.
const MOST_NAMES: usize = 48;

/// Returns the text to type instead of another tool's option, dashes included.
pub fn ours(typed: &[u8]) -> Option<PackedPart> {
    let has_typed = |line: &PackedPart| {
        let names = Text::<MOST_NAMES>::of(format_args!("{}", line.part(b'|', 0)));
        names.as_str().split(' ').any(|name| name.as_bytes() == typed)
    };
    FOREIGN.split(b'\n').find(has_typed).map(|line| line.part(b'|', 1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::FLAGS;
    use std::string::ToString;

    #[test]
    fn no_option_is_foreign_and_every_answer_names_an_option() {
        let is_ours = |word: &str| FLAGS.iter().any(|flag| flag.is_called(word.as_bytes()));
        for line in FOREIGN.to_string().lines() {
            let (names, answer) = line.split_once('|').unwrap();
            for name in names.split(' ') {
                assert!(name.starts_with('-') && !is_ours(name), "{name}");
                assert_eq!(ours(name.as_bytes()).unwrap().to_string(), answer);
            }
            for word in answer.split([' ', '`', '(', ')', ',', '=']).filter(|word| word.starts_with('-')) {
                assert!(is_ours(word), "{word}");
            }
        }
        assert_eq!(ours(b"--cpunode"), None);
    }
}
