//! Runs the executable under cachegrind, and reads the events of the chase loops from its output file.
//!
//! Cachegrind attributes events to symbols, so the counts of the loops can be separated from those of the
//! rest of the tool.
//!
//! # References
//!
//! Valgrind manual, "Cachegrind", section "Cachegrind output file format".

use crate::program::{binary, scratch};
use std::fs;
use std::process::{Command, Stdio};

/// Prefix of the symbols of the chase kernels.
pub const CHASE_PREFIX: &str = "lb_chase";

/// Size, ways and line size of the simulated first-level data cache.
pub const FIRST_LEVEL: (u64, u32, u32) = (49_152, 12, 64);
/// Size, ways and line size of the simulated last-level cache.
pub const LAST_LEVEL: (u64, u32, u32) = (2_097_152, 16, 64);

/// Events of the chase loops.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Data reads.
    pub reads: i64,
    /// Data reads that missed the first-level cache.
    pub first_level_misses: i64,
    /// Data reads that missed the last-level cache.
    pub last_level_misses: i64,
}

/// Checks that valgrind can be run here.
///
/// # Errors
///
/// The missing program.
pub fn available() -> Result<(), String> {
    match Command::new("valgrind").arg("--version").stdin(Stdio::null()).output() {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => Err(format!("valgrind --version failed ({})", output.status)),
        Err(error) => Err(format!("valgrind (Debian package valgrind): {error}")),
    }
}

/// Runs the executable with `arguments` under cachegrind and returns the events of its chase loops.
///
/// `name` separates concurrent runs.
///
/// # Errors
///
/// If valgrind or the executable fails, with their output.
pub fn run(name: &str, arguments: &[&str]) -> Result<Events, String> {
    let file = scratch()?.join(format!("cachegrind-{}-{name}", std::process::id()));
    let cache = |(size, ways, line): (u64, u32, u32)| format!("{size},{ways},{line}");
    let output = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=yes"])
        .arg(format!("--D1={}", cache(FIRST_LEVEL)))
        .arg(format!("--LL={}", cache(LAST_LEVEL)))
        .arg(format!("--cachegrind-out-file={}", file.display()))
        .arg(binary())
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .map_err(|error| format!("cannot start valgrind: {error}"))?;
    let text = fs::read_to_string(&file);
    // Left-overs in `target` cost only space.
    let _ = fs::remove_file(&file);
    if !output.status.success() {
        return Err(format!(
            "{arguments:?} under valgrind: {}\n{}{}",
            output.status,
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let text = text.map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    chase_events(&text)
}

/// Returns the events of all functions whose name begins with [`CHASE_PREFIX`] in the text of a cachegrind
/// output file.
///
/// # Errors
///
/// If an event is not in the file's list, a count is not a number, or no function has this prefix.
pub fn chase_events(text: &str) -> Result<Events, String> {
    let names = text.lines().find_map(|line| line.strip_prefix("events:")).ok_or("no line `events:`")?;
    let names: Vec<&str> = names.split_whitespace().collect();
    let column = |event: &str| {
        names.iter().position(|&name| name == event).ok_or_else(|| format!("no event {event} in {names:?}"))
    };
    let columns = [column("Dr")?, column("D1mr")?, column("DLmr")?];
    let mut sums = [0; 3];
    let (mut seen, mut counting) = (false, false);
    for line in text.lines() {
        if let Some(function) = line.strip_prefix("fn=") {
            counting = function.starts_with(CHASE_PREFIX);
            seen |= counting;
        } else if counting && line.starts_with(|first: char| first.is_ascii_digit()) {
            // The first number is the source line; trailing zeros may be missing.
            let counts: Vec<&str> = line.split_whitespace().skip(1).collect();
            for (sum, &column) in sums.iter_mut().zip(&columns) {
                let count = counts.get(column).unwrap_or(&"0");
                *sum += count.parse::<i64>().map_err(|error| format!("count {count:?}: {error}"))?;
            }
        }
    }
    let [reads, first_level_misses, last_level_misses] = sums;
    if seen {
        Ok(Events { reads, first_level_misses, last_level_misses })
    } else {
        Err(format!(
            "no function {CHASE_PREFIX}* in the output: was it run, has it a symbol? \
             (valgrind 3.19 reads no symbols of a file without a writable segment that has content)"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "desc: D1 cache: 49152 B\n\
        cmd: ./latency-bench\n\
        events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw\n\
        fl=???\n\
        fn=main\n\
        0 100 1 1 50 5 5 7 7 7\n\
        fn=lb_chase_pointer\n\
        0 80 0 0 10 9 8 0 0 0\n\
        3 80 0 0 1\n\
        fn=_start\n\
        0 1 1 1 1 1 1 1 1 1\n\
        fn=lb_chase_index\n\
        0 80 0 0 100 90 80 0 0 0\n\
        summary: 261 2 2 161 104 93 8 8 8\n";

    #[test]
    fn only_the_chase_loops_are_counted() {
        let events = chase_events(SAMPLE).unwrap();
        assert_eq!(events, Events { reads: 111, first_level_misses: 99, last_level_misses: 88 });
    }

    #[test]
    fn a_file_without_chase_loops_is_an_error() {
        assert!(chase_events(&SAMPLE.replace("lb_chase", "lb_walk")).unwrap_err().contains("no function"));
        assert!(chase_events("fn=lb_chase\n").unwrap_err().contains("events"));
        assert!(chase_events(&SAMPLE.replace("D1mr", "Bc")).unwrap_err().contains("D1mr"));
    }
}
