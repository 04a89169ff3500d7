//! Processes that use one CPU, spread over those that there are.
//!
//! The executable takes the first CPU that it may use. Tests run side by side, and all of them would measure on that
//! one, while others do nothing: so each is given the CPU that the fewest others have.

use crate::confine::{allow_cpus, allowed_cpus};
use crate::lanes::LANE_VARIABLE;
use std::io;
use std::process::{Command, Output};
use std::sync::{Mutex, PoisonError};

/// The CPUs that this process may use, each with the number of processes that have it. Of those with as few, the first in
/// the list is taken, which is another one in each lane.
static TAKEN: Mutex<Vec<(usize, usize)>> = Mutex::new(Vec::new());

/// A CPU, taken until this is dropped.
#[derive(Debug)]
pub struct Place(usize);

impl Place {
    /// The CPU that the fewest have; none where there is no choice.
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

    /// Runs `command` there, to its end. What the command does of itself before it runs comes later and holds.
    ///
    /// # Errors
    ///
    /// Those of [`Command::output`].
    pub fn output(&self, command: &mut Command) -> io::Result<Output> {
        let all = allowed_cpus();
        // The process inherits what this thread has.
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
    fn a_process_runs_where_its_place_is_and_this_thread_where_it_was() {
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
