//! The hosts that are expected to have a result (`--expect`). Nothing is shown here.

use alloc::vec::Vec;

use super::names::Name;
use super::runs::Runs;
use crate::error::{Failure, MissingHosts, SavedError};
use crate::options::tokens::Escaped;
use crate::saved::{self, conditions::escaped, documents};
use latency_core::Text;

/// The expected hosts without a result.
#[derive(Default)]
pub struct Expected {
    /// The names of the missing hosts, in the order of the file.
    pub names: Vec<Name>,
    /// The number of missing hosts, and of expected ones.
    pub missing: MissingHosts,
}

impl Expected {
    /// Reads the names of the expected hosts, and [settles](Runs::settle) the results. Those from the run `first` on
    /// count.
    ///
    /// # Errors
    ///
    /// A file of names that cannot be read or has none.
    pub fn find(runs: &mut Runs<'_>, first: usize) -> Result<Expected, Failure> {
        let mut found = Expected::default();
        let given = runs.options.expected;
        let number = given.and_then(|given| core::str::from_utf8(given).ok()?.parse().ok());
        if let (Some(path), None) = (given, number) {
            found.read(path, runs, first)?;
        }
        runs.settle();
        if let Some(of) = number {
            // Hosts that share a name are several hosts once they are settled.
            let hosts = seen(runs, first).iter().filter(|seen| **seen).count();
            found.missing = MissingHosts { hosts: usize::saturating_sub(of, hosts), of };
        }
        Ok(found)
    }

    /// Reads the names in a file, one a line.
    fn read(&mut self, given: &'static [u8], runs: &mut Runs<'_>, first: usize) -> Result<(), Failure> {
        let path = Escaped(given);
        let contents = saved::loaded(given).map_err(|errno| SavedError::NamesUnreadable { path, errno })?;
        let text =
            documents::unmarked(&contents).map_err(|problem| SavedError::Malformed { path, problem })?;
        let mut seen = seen(runs, first);
        for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            let host: Text<96> = escaped(line);
            if host.is_empty() || host.as_str().starts_with('#') {
                continue;
            }
            self.missing.of += 1;
            let name = runs.names.number(host.as_str());
            seen.resize(runs.names.len(), false);
            if !core::mem::replace(&mut seen[name as usize], true) {
                self.names.push(name);
            }
        }
        self.missing.hosts = self.names.len();
        if self.missing.of == 0 { Err(SavedError::NoNames { path }.into()) } else { Ok(()) }
    }
}

/// Returns for each name whether it is a host of a run from `first` on.
fn seen(runs: &Runs<'_>, first: usize) -> Vec<bool> {
    let mut seen = vec![false; runs.names.len()];
    for run in runs.runs.iter().skip(first) {
        seen[runs.boots.host(run.state) as usize] = true;
    }
    seen
}
