//! Spreads processes that use one CPU over all CPUs.
//!
//! The executable runs on the first CPU that it may use. Tests run side by side, in several processes, and without this
//! module all of them would measure on that CPU while others idle. So each test gets the CPU with the fewest users.

use crate::confine::{allow_cpus, allowed_cpus};
use crate::program::workspace;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd;
use std::process::{Command, Output};

/// Maximum number of users of a CPU that are distinguished.
const USERS: usize = 8;

/// A place on a CPU, which is occupied until this is dropped or the process ends.
#[derive(Debug)]
pub struct Place {
    cpu: usize,
    /// A file that this process has locked.
    _lock: File,
}

impl Place {
    /// Takes a place on the CPU with the fewest users among all tests on this machine; `None` if there is only one CPU.
    /// Of several CPUs it takes the last one, because experiments on several CPUs begin with the first one.
    pub fn take() -> Option<Place> {
        let cpus = allowed_cpus();
        if cpus.len() < 2 {
            return None;
        }
        let directory = workspace().join("target/places");
        fs::create_dir_all(&directory).ok()?;
        (0..USERS).find_map(|user| {
            cpus.iter().rev().find_map(|&cpu| {
                let lock = File::create(directory.join(format!("{cpu}-{user}"))).ok()?;
                // SAFETY: takes numbers; the descriptor is open.
                let locked = unsafe { libc::flock(lock.as_raw_fd(), libc::LOCK_EX | libc::LOCK_NB) } == 0;
                locked.then_some(Place { cpu, _lock: lock })
            })
        })
    }

    /// Runs `command` on this CPU, to its end. If the command sets its own affinity, that affinity replaces this one.
    ///
    /// # Errors
    ///
    /// The errors of [`Command::output`].
    pub fn output(&self, command: &mut Command) -> io::Result<Output> {
        let all = allowed_cpus();
        // The process inherits the affinity of this thread.
        allow_cpus(&[self.cpu])?;
        let output = command.output();
        allow_cpus(&all)?;
        output
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
        assert_eq!(said.split_whitespace().last(), Some(place.cpu.to_string().as_str()), "{said}");
        assert_eq!(allowed_cpus(), before);
    }
}
