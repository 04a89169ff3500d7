//! Spreads processes that use one CPU over all CPUs.
//!
//! The executable uses the first CPU that it may use. Tests run side by side, and all of them would measure
//! on that one while others are idle, so each is given the CPU with the fewest users.

use crate::confine::{allow_cpus, allowed_cpus};
use crate::lanes::LANE_VARIABLE;
use std::io;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// The CPUs that this process may use, each with its number of users. Among equals the first in the list is
/// taken; the list begins with a different CPU in each lane.
static TAKEN: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// A CPU, in use until this is dropped.
#[derive(Debug)]
pub struct Place(usize);

impl Place {
    /// Takes the CPU with the fewest users; `None` if there is only one CPU.
    pub fn take() -> Option<Place> {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if taken.is_empty() {
            *taken = allowed_cpus().into_iter().map(|cpu| (cpu, 0)).collect();
            let lane = std::env::var(LANE_VARIABLE).ok().and_then(|lane| lane.parse().ok()).unwrap_or(0);
            let count = taken.len();
            taken.rotate_left(lane % count.max(1));
        }
        if taken.len() < 2 {
            return None;
        }
        let (cpu, users) = taken.iter_mut().min_by_key(|(_, users)| *users)?;
        *users += 1;
        Some(Place(*cpu))
    }

    /// Runs `command` there, to its end. An affinity that the command sets for itself comes later and wins.
    ///
    /// # Errors
    ///
    /// The errors of [`Command::output`].
    pub fn output(&self, command: &mut Command) -> io::Result<Output> {
        let all = allowed_cpus();
        // The process inherits the affinity of this thread.
        allow_cpus(&[self.0])?;
        let output = command.output();
        allow_cpus(&all)?;
        output
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, users)) = taken.iter_mut().find(|(cpu, _)| *cpu == self.0) {
            *users -= 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_process_is_pinned_and_not_this_thread() {
        let Some(place) = Place::take() else { return };
        let before = allowed_cpus();
        let mut shell = Command::new("sh");
        shell.args(["-c", "grep Cpus_allowed_list /proc/self/status"]).stdin(std::process::Stdio::null());
        let output = place.output(&mut shell).expect("a shell");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(said.split_whitespace().last(), Some(place.0.to_string().as_str()), "{said}");
        assert_eq!(allowed_cpus(), before);
    }
}
