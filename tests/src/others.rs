//! The share of the machine that other programs use during a test.
//!
//! A test whose program has to run on several CPUs at the same time proves nothing while others use them.

use crate::usage::own;
use std::fs;
use std::time::{Duration, Instant};

/// Maximum share of the CPUs that others use on a quiet machine.
pub const QUIET: f64 = 0.1;

/// A look at the CPU time of the machine and of the programs that this process has waited for.
#[derive(Clone, Copy, Debug)]
pub struct Others {
    begin: Instant,
    machine: Duration,
    own: Duration,
}

impl Others {
    /// Begins to look.
    pub fn begin() -> Others {
        Others { begin: Instant::now(), machine: machine(), own: own() }
    }

    /// Returns the share of all CPUs that others have used since, hypervisors' other guests included.
    pub fn share(&self) -> f64 {
        let used = machine().saturating_sub(self.machine).saturating_sub(own().saturating_sub(self.own));
        let cpus = std::thread::available_parallelism().map_or(1, usize::from);
        used.as_secs_f64() / (self.begin.elapsed().as_secs_f64() * cpus as f64)
    }
}

/// Returns the time in which CPUs were busy or stolen, of all CPUs since the machine started.
fn machine() -> Duration {
    /// Columns of proc_stat(5): user, nice, system, irq, softirq and steal, in hundredths of a second.
    const BUSY: [usize; 6] = [1, 2, 3, 6, 7, 8];
    let text = fs::read_to_string("/proc/stat").unwrap_or_default();
    let words: Vec<&str> = text.lines().next().unwrap_or_default().split_whitespace().collect();
    let of = |column: usize| words.get(column).and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
    Duration::from_millis(10 * BUSY.into_iter().map(of).sum::<u64>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn own_programs_are_not_others() {
        let others = Others::begin();
        let (machine_before, own_before) = (machine(), own());
        let status =
            Command::new("sh").args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"]).status();
        assert!(status.expect("a shell").success());
        let own = own() - own_before;
        assert!(
            own > Duration::from_millis(10) && machine() - machine_before + Duration::from_millis(50) > own
        );
        assert!((0.0..=1.0).contains(&others.share()), "{}", others.share());
    }
}
