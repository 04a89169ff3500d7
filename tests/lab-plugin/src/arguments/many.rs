//! The arguments for the effects of several CPUs on each other: their load on memory, and the transfer of
//! lines between them.

use std::ops::Range;

use super::values::{cpus, exactly, index, number, positive};
use crate::directory::{Cluster, Cost, Directory, FAR, MEMORY, OWN, Operation, Rules, SlowLine, State};
use crate::server::{Congestion, Place, Servers, Service};
use crate::traffic::{Kernel, Traffic};

/// Default number of outstanding lines of a CPU, similar to that of current cores.
const OUTSTANDING: usize = 64;

/// Generators, servers and costs between cores.
#[derive(Clone, Debug, Default)]
pub struct Many {
    /// The kernels of generators.
    kernels: Vec<Kernel>,
    /// Servers of these and of the chases.
    servers: Vec<(Place, Service)>,
    /// Maximum number of outstanding lines of a CPU.
    outstanding: Option<usize>,
    /// Minimum number of accesses of a reported call.
    pub calls: Option<u64>,
    /// Addresses of the kernels that hand lines from core to core.
    pub cores: Range<u64>,
    /// Addresses of the kernels of `cores` that walk over a chain.
    pub walks: Range<u64>,
    /// Costs of transfers between cores.
    rules: Rules,
}

impl Many {
    /// Reads an argument; `None` if it belongs to another group.
    pub(super) fn set(&mut self, name: &str, pieces: &[&str]) -> Option<Result<(), String>> {
        Some(match name {
            "stream" => self.add_kernel(pieces),
            "server" => self.add_server(pieces),
            "outstanding" => self.set_outstanding(pieces),
            "calls" => self.set_calls(pieces),
            "cores" => set_code(&mut self.cores, pieces),
            "walks" => set_code(&mut self.walks, pieces),
            "cluster" => self.add_cluster(pieces),
            "cost" => self.add_cost(pieces),
            "slowline" => self.set_slow_line(pieces),
            _ => return None,
        })
    }

    fn add_kernel(&mut self, pieces: &[&str]) -> Result<(), String> {
        let [start, end, name] = exactly(pieces, "START:END:NAME")?;
        self.kernels.push(Kernel { code: code(start, end)?, name: name.to_owned() });
        Ok(())
    }

    fn add_server(&mut self, pieces: &[&str]) -> Result<(), String> {
        let form = "NODE|link:TICKS[:LINES:PERCENT]";
        let (&[place, ticks], congestion) =
            pieces.split_first_chunk().ok_or_else(|| format!("expected {form}"))?;
        let congestion = match congestion {
            [] => None,
            [lines, percent] => {
                Some(Congestion { lines: number(lines)?, share: positive(percent)? as f64 / 100.0 })
            }
            _ => return Err(format!("expected {form}")),
        };
        let place = if place == "link" { Place::Link } else { Place::Node(index(place)?) };
        self.servers.push((place, Service { ticks: positive(ticks)?, congestion }));
        Ok(())
    }

    fn set_outstanding(&mut self, pieces: &[&str]) -> Result<(), String> {
        let [lines] = exactly(pieces, "LINES")?;
        let lines = usize::try_from(positive(lines)?).map_err(|_| "too many lines".to_owned())?;
        self.outstanding = Some(lines);
        Ok(())
    }

    fn set_calls(&mut self, pieces: &[&str]) -> Result<(), String> {
        let [hops] = exactly(pieces, "HOPS")?;
        self.calls = Some(positive(hops)?);
        Ok(())
    }

    fn add_cluster(&mut self, pieces: &[&str]) -> Result<(), String> {
        let [class, of] = exactly(pieces, "CLASS:FIRST-LAST")?;
        if ["", "*", OWN, FAR, MEMORY].contains(&class) {
            return Err(format!("'{class}' cannot be the class of a cluster"));
        }
        self.rules.clusters.push(Cluster { class: class.to_owned(), cpus: cpus(of)? });
        Ok(())
    }

    fn add_cost(&mut self, pieces: &[&str]) -> Result<(), String> {
        let [class, operation, state, ticks] = exactly(pieces, "CLASS:OPERATION:STATE:TICKS")?;
        let operation = named(operation, &Operation::ALL, Operation::word)?;
        let state = named(state, &State::ALL, State::word)?;
        let class = (class != "*").then(|| class.to_owned());
        self.rules.costs.push(Cost { class, operation, state, ticks: number(ticks)? });
        Ok(())
    }

    fn set_slow_line(&mut self, pieces: &[&str]) -> Result<(), String> {
        let [every, index, ticks] = exactly(pieces, "EVERY:INDEX:TICKS")?;
        let (every, index) = (positive(every)?, number(index)?);
        if index >= every {
            return Err(format!("no page of {every} has the index {index}"));
        }
        self.rules.slow = Some(SlowLine { every, index, ticks: number(ticks)? });
        Ok(())
    }

    /// Returns true if some memory serves one line at a time.
    pub const fn has_servers(&self) -> bool {
        !self.servers.is_empty()
    }

    /// Returns the generators of `cpus` virtual CPUs and the servers of the memory of `nodes`.
    ///
    /// # Errors
    ///
    /// A server of a node without memory.
    pub fn traffic(&self, nodes: &[u32], cpus: usize) -> Result<Traffic, String> {
        let servers = Servers::new(nodes, &self.servers)?;
        Ok(Traffic::new(self.kernels.clone(), servers, cpus, self.outstanding.unwrap_or(OUTSTANDING)))
    }

    /// Returns the directory of the lines between `cpus` virtual CPUs, if there are kernels for them.
    ///
    /// # Errors
    ///
    /// A missing cost, or costs without a kernel.
    pub fn directory(&self, cpus: usize) -> Result<Option<Directory>, String> {
        match (self.cores.is_empty(), self.rules == Rules::default()) {
            (true, true) => Ok(None),
            (true, false) => Err("cluster=, cost= and slowline= need cores=".to_owned()),
            (false, _) => Directory::new(&self.rules, cpus).map(Some),
        }
    }
}

fn set_code(range: &mut Range<u64>, pieces: &[&str]) -> Result<(), String> {
    let [start, end] = exactly(pieces, "START:END")?;
    *range = code(start, end)?;
    Ok(())
}

/// Parses a range of code.
fn code(start: &str, end: &str) -> Result<Range<u64>, String> {
    let code = number(start)?..number(end)?;
    if code.is_empty() {
        return Err("the end is not above the start".to_owned());
    }
    Ok(code)
}

/// Finds a value of `all` by its word; `*` matches every one.
fn named<T: Copy>(text: &str, all: &[T], word: fn(T) -> &'static str) -> Result<Option<T>, String> {
    if text == "*" {
        return Ok(None);
    }
    let words = || all.iter().map(|one| word(*one)).collect::<Vec<_>>().join(", ");
    let found = all.iter().copied().find(|one| word(*one) == text);
    found.map(Some).ok_or_else(|| format!("'{text}' is none of {}, *", words()))
}
