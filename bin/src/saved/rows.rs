//! The rows of a saved result, which are added while its text is parsed, and the defects of a row.

use alloc::vec::Vec;

use latency_core::traffic::Pattern;
use latency_core::{Estimate, Text, Worded};

use super::conditions::{BRAND, HOST, KERNEL, SavedConditions};
use super::host::Origin;
use super::tlb::SavedTlb;
use super::{fields, shape};
use crate::analysis::cause::{Fact, SavedFacts};
use crate::analysis::claims::Claims;
pub use crate::error::Problem;
use crate::record::columns::{
    CLASS, ColumnSet, EXPERIMENT, HOME_NODE, INITIATOR_CPU, LINES, LOAD, LOAD_NODE, OP, PATTERN, STATE,
    STRIDE, TARGET_CPU, TRAFFIC, WORKING_SET,
};
use crate::record::row::{MOST, ONE_WAY, Row, SINGLE_CORE};
use latency_engine::result::extra::KINDS;

/// The experiment whose rows are levels of load.
pub const LOADED: &str = "loaded";
/// Maximum number of rows of a result.
pub const MAX_ROWS: usize = 4096;
/// The same of a result of pairs of CPUs, which are many more: all pairs of 512 CPUs, and the medians of their classes.
const MAX_PAIRS: usize = 1 << 17;

/// Another tool that wrote a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tool {
    /// lmbench's `lat_mem_rd`.
    LatMemRd,
    /// Chips and Cheese's `MemoryLatency`.
    MemoryLatency,
    /// `tinymembench`, which prints the excess over the latency of the first-level cache.
    Tinymembench,
    /// R. Groot Koerkamp's `cpu-benchmarks`.
    CpuBenchmarks,
    /// Intel Memory Latency Checker.
    Mlc,
    /// N. Viennot's `core-to-core-latency`.
    CoreToCore,
}

/// A saved result.
#[derive(Clone, Copy, Debug, Default)]
pub struct Saved {
    /// The points, in the order of the file.
    pub rows: &'static [Row],
    /// The caches of the machine that was measured, if the file names them.
    pub claims: Claims,
    /// The levels of the TLB, for each kind of pages.
    pub tlb: [SavedTlb; KINDS],
    /// The name of the experiment; empty if unknown.
    pub experiment: Text<32>,
    /// The conditions of the run.
    pub conditions: SavedConditions,
    /// The host that was measured.
    pub origin: Origin,
    /// The facts from which the cause of a difference is read.
    pub facts: SavedFacts,
    /// The other tool that wrote the file, if it was recognised.
    pub tool: Option<Tool>,
    /// The number of values of other quantities in another tool's log, which are left out.
    pub left_out: usize,
    /// The number of rows of 0 ns, which are left out.
    pub zeros: usize,
}

impl Saved {
    /// Returns the name of its host; tables have it among the conditions.
    pub fn host(&self) -> &str {
        self.named_host().unwrap_or("unnamed")
    }

    /// Returns the name of its host, if it has one.
    pub fn named_host(&self) -> Option<&str> {
        self.told(self.origin.name.as_str(), HOST)
    }

    /// Returns the name of its processor.
    pub fn cpu(&self) -> &str {
        self.named_cpu().unwrap_or("unknown CPU")
    }

    /// Returns the name of its processor, if the file has it.
    pub fn named_cpu(&self) -> Option<&str> {
        self.told(self.origin.cpu.as_str(), BRAND)
    }

    /// Returns the release of its kernel, if the file has it.
    pub fn named_kernel(&self) -> Option<&str> {
        self.told("", KERNEL)
    }

    fn told<'s>(&'s self, own: &'s str, condition: usize) -> Option<&'s str> {
        let other = self.conditions.texts.get(condition).map_or("", Text::as_str);
        [own, other].into_iter().find(|text| !text.is_empty())
    }
}

/// A result that is not read completely yet.
#[derive(Default)]
pub struct Draft {
    /// The rows so far.
    pub rows: Vec<Row>,
    /// The result without its rows.
    pub saved: Saved,
    /// True if the result is compared with those of other hosts. Then the idle latencies beside traffic are read as
    /// well.
    pub of_hosts: bool,
    /// True if the result is shown beside others. Then only the classes of pairs of CPUs are read, not the pairs.
    pub in_brief: bool,
    /// True if the result is a collection of saved points, which name their experiments.
    pub is_collection: bool,
    /// True if the unit of the sizes is unknown.
    pub without_unit: bool,
    /// True if a size without a unit has a fraction.
    pub fractions: bool,
    /// The levels of a table of loads, whose limits follow from all of them.
    pub levels: Vec<TableLevel>,
}

impl Draft {
    /// Adds the rows and the conditions of one experiment of a report, which `read` reads. Each row gets the name of
    /// the experiment.
    pub fn pool(&mut self, read: impl FnOnce(&mut Draft) -> Result<(), Problem>) -> Result<(), Problem> {
        let mut part = Draft::default();
        read(&mut part)?;
        let Draft { mut rows, saved, .. } = part;
        rows.iter_mut().for_each(|row| row.put(EXPERIMENT, saved.experiment.as_str()));
        self.rows.append(&mut rows);
        let before = core::mem::replace(&mut self.saved, saved);
        self.saved.experiment = before.experiment;
        self.saved.conditions.poor |= before.conditions.poor;
        self.saved.conditions.partial |= before.conditions.partial;
        self.saved.facts.join(&before.facts);
        Ok(())
    }

    /// Returns whether `rows` of this document are not read: a report has those of its parts, and of pairs of CPUs only
    /// the classes may be wanted.
    pub fn skips_rows(&self) -> bool {
        let experiment = self.saved.experiment.as_str();
        shape::has_sections(experiment) || self.in_brief && experiment == "cores"
    }

    /// Gives every limit of traffic the working set of the chain that was measured during the traffic.
    pub fn size_limits(&mut self) {
        let rows = &mut self.rows;
        for index in 0..rows.len() {
            let Some(limit) = rows.get(index).filter(|row| row.is_word(LOAD, MOST)) else { continue };
            let idle = rows.iter().find(|row| row.pair() == limit.pair() && !row.is_word(LOAD, MOST));
            let size = idle.map(Row::size).filter(|size| size.0 > 0);
            if let (Some(size), Some(limit)) = (size, rows.get_mut(index)) {
                limit.put(WORKING_SET, size);
                limit.put(STRIDE, limit.stride());
            }
        }
    }

    /// Moves the name of the experiment from a row to the result. Rows of several experiments keep it, as in a report.
    fn name(&mut self, row: &mut Row) {
        if !row.tells(EXPERIMENT) {
            return;
        }
        let of_all = self.saved.experiment;
        if of_all.is_empty() || row.is_word(EXPERIMENT, of_all.as_str()) {
            self.saved.experiment = Text::of(format_args!("{}", row.word(EXPERIMENT)));
            row.hide(EXPERIMENT);
        } else if !shape::has_sections(of_all.as_str()) {
            self.rows.iter_mut().for_each(|row| row.put(EXPERIMENT, of_all.as_str()));
            self.saved.experiment = Text::from_bytes(shape::REPORT.as_bytes());
        }
    }

    /// Returns whether each point is compared with all others: those of a matrix or a collection.
    fn is_checked(&self) -> bool {
        self.is_collection || self.saved.experiment == "matrix"
    }

    /// Checks that a matrix or a collection has only one value for each point.
    ///
    /// # Errors
    ///
    /// Two values of a point whose other fields are equal too.
    pub fn has_no_contradiction(&self) -> Result<(), &'static str> {
        // Idle latencies before several kinds of traffic are values of one point.
        let contradicts = |(index, row): (usize, &Row)| {
            let is_idle = self.saved.experiment == LOADED || row.is_word(EXPERIMENT, LOADED);
            (!is_idle || row.tells(LOAD)) && self.rows.iter().take(index).any(|other| row.contradicts(other))
        };
        match self.is_checked() && self.rows.iter().enumerate().any(contradicts) {
            true => Err("two values for one point"),
            false => Ok(()),
        }
    }

    /// Decides if the result is unreliable, after everything was read.
    pub fn judge(&mut self) {
        let without = self.rows.iter().filter(|row| row.interval().is_none()).count();
        self.saved.origin.trust.points = [self.rows.len(), without];
        let Saved { origin, conditions, facts, tlb, experiment, .. } = &mut self.saved;
        conditions.poor = origin.trust.is_poor();
        conditions.partial |= origin.trust.is_partial();
        // The levels of a curve are for its pages; of several kinds of pages, none is the usual one.
        let of_curve = tlb.iter().take(1).filter(|kind| kind.pages.is_empty()).flat_map(|kind| kind.levels);
        for (fact, level) in [Fact::Tlb, Fact::SecondTlb].into_iter().zip(of_curve) {
            if let Some(level) = level {
                facts.put(fact, Estimate::exact(level.miss_ns));
            }
        }
        facts.disturbed |= origin.trust.is_disturbed();
        if conditions.poor {
            facts.distrust(experiment.as_str());
        }
    }

    /// Checks that there is a point.
    ///
    /// # Errors
    ///
    /// A result without points.
    pub fn has_rows(&mut self) -> Result<(), Problem> {
        let rows = &mut self.rows;
        let like = rows.iter().find(|row| row.tells(TRAFFIC));
        let differs = |row: &Row, like: &Row| !row.agrees(like, INITIATOR_CPU) && row.pair() == like.pair();
        // Without bandwidths of single CPUs, the CPU that measured does not distinguish points with traffic either.
        if !like.is_some_and(|like| rows.iter().any(|row| differs(row, like))) {
            let of_nodes = |row: &&mut Row| row.tells(TRAFFIC) && !row.tells(CLASS);
            rows.iter_mut().filter(of_nodes).for_each(|row| row.hide(INITIATOR_CPU));
        }
        if self.rows.is_empty() { Err(Problem::new(1, "no measured point")) } else { Ok(()) }
    }

    /// Returns whether the unit of the sizes is known, or they can be bytes.
    pub fn has_unit(&self) -> bool {
        !self.without_unit || fields::can_be_bytes(&self.rows, self.fractions)
    }

    /// Keeps the rows for the rest of the process.
    pub fn finish(self) -> Saved {
        Saved { rows: self.rows.leak(), ..self.saved }
    }

    /// Adds a row that has a latency. A row without a latency is a point that was not measured, and is skipped.
    pub fn push(&mut self, mut row: Row) -> Result<(), &'static str> {
        // The row of a pair has the latency of its node.
        if row.nanoseconds().is_nan() || row.is_word(CLASS, SINGLE_CORE) {
            return Ok(());
        }
        row.check_time()?;
        let is_bandwidth = row.is_word(EXPERIMENT, "bandwidth");
        if is_bandwidth && row.traffic().is_none() && !self.of_hosts {
            // Compared bandwidths need no latencies beside them.
            if row.pair().is_none_or(|(from, to)| from == to) {
                self.saved.facts.put(Fact::IdleBeside, row.time());
            }
            return Ok(());
        }
        self.name(&mut row);
        if row.tells(CLASS) && !row.tells(TRAFFIC) {
            // CPUs and the home of lines distinguish points between CPUs, and their nodes follow from these.
            row.hide(ColumnSet::NODES | if row.tells(STATE) { LINES } else { HOME_NODE });
        } else if !row.tells(TARGET_CPU) && !row.tells(TRAFFIC) {
            // The CPU that measured does not distinguish points, but the two CPUs of a pair do.
            row.hide(INITIATOR_CPU);
        }
        match row.traffic() {
            // If the kind of traffic has only one pattern, its name implies the pattern.
            Some(kind) if core::ptr::eq(kind, kind.permuted()) => row.hide(PATTERN),
            // All reads are streams where nothing else is said.
            Some(_) if !row.tells(PATTERN) => row.put(PATTERN, Pattern::Stream.word()),
            _ => {}
        }
        if row.tells(CLASS) && !row.tells(OP) {
            row.put(OP, ONE_WAY);
        }
        if row.tells(WORKING_SET) && row.cell(STRIDE).is_none() {
            row.put(STRIDE, row.stride());
        }
        let are_many = (row.tells(TARGET_CPU) || row.tells(CLASS)) && !self.is_checked();
        match (self.rows.len(), are_many) {
            (MAX_PAIRS.., _) => return Err("more than 131072 points"),
            (MAX_ROWS.., false) => return Err("more than 4096 points"),
            _ => self.rows.push(row),
        }
        Ok(())
    }
}

/// A row of a table of loads with traffic.
pub struct TableLevel {
    /// The limit that it would be.
    pub of: Row,
    /// The number of idle latencies before it, which begin curves; `None` if it was not measured, since these rows come
    /// last.
    pub curve: Option<usize>,
    /// The number of generators.
    pub cores: u64,
    /// The rate of traffic without a pace.
    pub rate: Option<Estimate>,
}

impl TableLevel {
    /// Returns whether another level is one of the same curve.
    pub fn is_beside(&self, other: &TableLevel) -> bool {
        (other.curve.is_none() || self.curve == other.curve)
            && self.of.count(LOAD_NODE) == other.of.count(LOAD_NODE)
            && self.of.is_same(&other.of, ColumnSet::POINTS)
    }
}

/// Returns a small whole number, such as the number of a node.
pub fn whole(number: f64) -> Result<u32, &'static str> {
    let whole = number as u32;
    if f64::from(whole) == number { Ok(whole) } else { Err("not a whole number") }
}

/// Returns the lines of a text with the line ends of Unix, Windows or the old Macintosh.
pub fn lines(text: &str) -> impl Iterator<Item = &str> + Clone {
    text.split(if text.as_bytes().contains(&b'\n') { '\n' } else { '\r' })
}

/// Calls `take` with the index of every line, from 0, and its text. An error gets the number of its line.
pub fn each_line<'t>(
    text: &'t str,
    take: &mut dyn FnMut(usize, &'t str) -> Result<(), &'static str>,
) -> Result<(), Problem> {
    for (index, line) in lines(text).enumerate() {
        let number = u32::try_from(index + 1).unwrap_or(u32::MAX);
        take(index, line.trim_ascii()).map_err(|what| Problem::new(number, what))?;
    }
    Ok(())
}
