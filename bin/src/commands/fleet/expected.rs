//! The hosts that are expected to have a result (`--expect`). Nothing is shown here.

use alloc::vec::Vec;

use super::names::Name;
use super::runs::Runs;
use crate::error::{Failure, MissingHosts, SavedError};
use crate::options::tokens::Escaped;
use crate::saved::{self, conditions::escaped, documents};
use latency_core::Text;
use latency_sys::Errno;

/// The expected hosts without a result.
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
    pub fn find<'a>(runs: &mut Runs<'a>, first: usize) -> Result<Expected, Failure<'a>> {
        let mut found = Expected { names: Vec::new(), missing: MissingHosts::default() };
        let Some(given) = runs.options.expected else {
            runs.settle();
            return Ok(found);
        };
        if let Some(of) = core::str::from_utf8(given).ok().and_then(|number| number.parse().ok()) {
            runs.settle();
            // Hosts that share a name are several hosts once they are settled.
            let hosts = seen(runs, first).iter().filter(|seen| **seen).count();
            found.missing = MissingHosts { hosts: usize::saturating_sub(of, hosts), of };
            return Ok(found);
        }
        let failed = |errno: Option<Errno>| match errno {
            Some(errno) => Failure::from(SavedError::NamesUnreadable { path: Escaped(given), errno }),
            None => SavedError::NoNames { path: Escaped(given) }.into(),
        };
        let contents = saved::loaded(given).map_err(|errno| failed(Some(errno)))?;
        let mut seen = seen(runs, first);
        let text = documents::unmarked(&contents);
        let text = text.map_err(|problem| SavedError::Malformed { path: Escaped(given), problem })?;
        for line in text.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii) {
            let host: Text<96> = escaped(line);
            if host.is_empty() || host.as_str().starts_with('#') {
                continue;
            }
            found.missing.of += 1;
            let name = runs.names.number(host.as_str());
            seen.resize(runs.names.len(), false);
            if seen.get_mut(name as usize).is_some_and(|seen| !core::mem::replace(seen, true)) {
                found.names.push(name);
            }
        }
        found.missing.hosts = found.names.len();
        runs.settle();
        if found.missing.of == 0 { Err(failed(None)) } else { Ok(found) }
    }
}

/// Returns for each name whether it is a host of a run from `first` on.
fn seen(runs: &Runs<'_>, first: usize) -> Vec<bool> {
    let mut seen = vec![false; runs.names.len()];
    for run in runs.runs.iter().skip(first) {
        seen.get_mut(runs.boots.host(run.state) as usize).into_iter().for_each(|seen| *seen = true);
    }
    seen
}
