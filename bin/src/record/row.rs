//! A row: one measured point, as cells by the table of columns.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use latency_core::traffic::Kind;
use latency_core::{Bytes, Estimate, Interval, math};

use super::columns::*;
use latency_engine::result::outcome::LATENCIES;
use latency_engine::result::{LoadParts, Sample};
use latency_report::Value;

/// Access of a pair of CPUs: the value is the time of a line in one direction.
pub const ONE_WAY: &str = "one way";
/// The class of a row that is of one core beside the row of its node's pair.
pub const SINGLE_CORE: &str = "single core";
/// Word for the limit of traffic, as the load of a point.
pub const MOST: &str = "most";
/// Word for the median over pairs that share the same hardware.
pub const MEDIAN: &str = "median";

/// Relative tolerance of an interval, because values and the ends of intervals are rounded when they are written.
const ROUNDING: f64 = 1e-3;
/// Maximum size of a working set in bytes, 2^50. A larger number is an error.
const LARGEST_SIZE: f64 = 1_125_899_906_842_624.0;
/// The distance between lines if a file states none.
const USUAL_STRIDE: Bytes = Bytes(64);
/// The place of a cell that a row does not have.
const NO_CELL: u8 = u8::MAX;

/// The latency of a row without one.
pub const UNKNOWN: Estimate = Estimate { value: f64::NAN, interval: None };

/// The defect of a value that is none of the words of its column.
pub const UNKNOWN_WORD: &str = "unknown word";

static NONE: Value = Value::None;
static STRIDE_CELL: Value = Value::Count(USUAL_STRIDE.0);

/// One measured point.
#[derive(Clone, Debug)]
pub struct Row {
    /// The index of the cell of each column.
    places: [u8; COUNT],
    cells: Vec<Value>,
    /// The columns that do not tell this point apart from others, although it has cells for them.
    hidden: ColumnSet,
}

impl Row {
    /// A row without cells.
    pub const EMPTY: Row = Row { places: [NO_CELL; COUNT], cells: Vec::new(), hidden: ColumnSet::EMPTY };

    /// Returns a row with a latency alone.
    pub fn timed(nanoseconds: f64) -> Row {
        Row::EMPTY.with(NS, Estimate { value: nanoseconds, interval: None })
    }

    /// Returns the row with another cell.
    pub fn with(mut self, column: Column, value: impl Into<Value>) -> Row {
        self.put(column, value);
        self
    }

    /// Sets the cell of a column.
    pub fn put(&mut self, column: Column, value: impl Into<Value>) {
        self.set(column, value.into());
    }

    fn set(&mut self, column: Column, value: Value) {
        let known = self.place_of(column);
        match self.cells.get_mut(known) {
            Some(cell) => *cell = value,
            None => {
                let place = self.cells.len() as u8;
                self.places[column.place()] = place;
                self.cells.push(value);
            }
        }
        self.hidden = self.hidden.without(column.into());
    }

    /// Removes all cells but those of some columns, and these too if they are hidden.
    pub fn keep(&mut self, columns: ColumnSet) {
        let kept = columns.without(self.hidden);
        Column::all().filter(|column| !kept.has(*column)).for_each(|column| self.remove(column));
    }

    /// Removes the cell of a column.
    pub fn remove(&mut self, column: Column) {
        self.places[column.place()] = NO_CELL;
    }

    fn place_of(&self, column: Column) -> usize {
        self.places[column.place()].into()
    }

    /// Hides columns: the row is written with their cells, but they do not tell it apart from others.
    pub fn hide(&mut self, columns: impl Into<ColumnSet>) {
        self.hidden = self.hidden | columns;
    }

    /// Returns the cell of a column, hidden or not; `None` without one.
    pub fn cell(&self, column: Column) -> Option<&Value> {
        self.cells.get(self.place_of(column))
    }

    /// Returns all cells in the order of the table, hidden or not.
    #[cfg(test)]
    pub fn cells(&self) -> impl Iterator<Item = (Column, &Value)> {
        Column::all().filter_map(|column| Some((column, self.cell(column)?)))
    }

    /// Returns the value of a column. All points have a stride.
    fn get(&self, column: Column) -> &Value {
        let usual = if column == STRIDE { &STRIDE_CELL } else { &NONE };
        self.cell(column).filter(|_| !self.hidden.has(column)).unwrap_or(usual)
    }

    /// Returns whether the row has a value of a column.
    pub fn tells(&self, column: Column) -> bool {
        match self.get(column) {
            Value::None => false,
            Value::Word(word) => !word.is_empty(),
            _ => true,
        }
    }

    /// Returns the word of a column; empty without one.
    pub fn word(&self, column: Column) -> &str {
        match self.get(column) {
            Value::Word(word) => word,
            _ => "",
        }
    }

    /// Returns the whole number of a column.
    pub fn count(&self, column: Column) -> Option<u64> {
        match self.get(column) {
            Value::Count(count) => Some(*count),
            _ => None,
        }
    }

    /// Returns the flag of a column.
    pub fn flag(&self, column: Column) -> Option<bool> {
        match self.get(column) {
            Value::Flag(flag) => Some(*flag),
            _ => None,
        }
    }

    /// Returns the measured number of a column.
    pub fn number(&self, column: Column) -> Option<f64> {
        match self.get(column) {
            Value::Real(number) => Some(*number),
            _ => self.estimate(column).map(|estimate| estimate.value),
        }
    }

    /// Returns the measured number of a column, and its interval.
    pub fn estimate(&self, column: Column) -> Option<Estimate> {
        match self.get(column) {
            Value::Estimate(estimate) if estimate.value.is_finite() => Some(*estimate),
            _ => None,
        }
    }

    /// Returns the value of a column for programs, without units; empty without one.
    pub fn plain(&self, column: Column) -> String {
        match self.get(column) {
            // The usual stride is only known of a walk.
            _ if column == STRIDE && !self.tells(WORKING_SET) => String::new(),
            Value::Word(word) => word.clone(),
            Value::Count(count) => count.to_string(),
            Value::Flag(flag) => flag.to_string(),
            _ => String::new(),
        }
    }

    /// Returns whether the value of a column is the given one.
    pub fn is_word(&self, column: Column, word: &str) -> bool {
        match self.get(column) {
            Value::Word(own) => own == word,
            _ => self.tells(column) && self.plain(column) == word,
        }
    }

    /// Returns whether the value of a column is the same in both rows, or missing in one of them.
    pub fn agrees(&self, other: &Row, column: Column) -> bool {
        !self.tells(column) || !other.tells(column) || self.get(column) == other.get(column)
    }

    /// Returns whether the values of all columns in a set are the same in both rows, or missing in one of them.
    pub fn is_same(&self, other: &Row, columns: ColumnSet) -> bool {
        // The columns that tell thousands of points apart are compared first.
        const FIRST: [Column; 5] = [INITIATOR_NODE, TARGET_NODE, WORKING_SET, INITIATOR_CPU, TARGET_CPU];
        let mut all = FIRST.iter().chain(&POINTS);
        all.all(|column| !columns.has(*column) || self.agrees(other, *column))
    }

    /// Returns whether another row has a different value for the same point.
    pub fn contradicts(&self, other: &Row) -> bool {
        self.is_same(other, ColumnSet::POINTS)
            && self.word(PAGES_OBTAINED) == other.word(PAGES_OBTAINED)
            && self.nanoseconds() != other.nanoseconds()
    }

    /// Returns the initiator and target nodes.
    pub fn pair(&self) -> Option<(u32, u32)> {
        let node = |column| self.count(column).map(|node| node as u32);
        node(INITIATOR_NODE).zip(node(TARGET_NODE))
    }

    /// Returns the working set; 0 if it is unknown.
    pub fn size(&self) -> Bytes {
        Bytes(self.count(WORKING_SET).unwrap_or(0))
    }

    /// Returns the distance between lines.
    pub fn stride(&self) -> Bytes {
        self.count(STRIDE).map_or(USUAL_STRIDE, Bytes)
    }

    /// Returns the latency in nanoseconds; NaN without one.
    pub fn nanoseconds(&self) -> f64 {
        self.number(NS).unwrap_or(f64::NAN)
    }

    /// Returns the interval of the latency.
    pub fn interval(&self) -> Option<Interval> {
        self.estimate(NS)?.interval
    }

    /// Returns the latency with its interval.
    pub fn time(&self) -> Estimate {
        Estimate { value: self.nanoseconds(), interval: self.interval() }
    }

    /// Returns the latency in core cycles.
    pub fn core_cycles(&self) -> Option<f64> {
        self.number(CORE_CYCLES).filter(|cycles| *cycles > 0.0)
    }

    /// Returns the core clock, in GHz.
    pub fn core_gigahertz(&self) -> Option<f64> {
        self.number(CORE_GHZ).filter(|clock| *clock > 0.0)
    }

    /// Returns the median absolute deviation of rounds, relative to the latency, if it is plausible.
    pub fn deviation(&self) -> Option<f64> {
        let relative = self.number(MAD_NS)? / self.nanoseconds();
        Some(relative).filter(|deviation| (0.0..10.0).contains(deviation))
    }

    /// Returns the point as the input of a fit.
    pub fn sample(&self) -> Sample {
        Sample {
            size: self.size(),
            stride: self.stride(),
            nanoseconds: self.nanoseconds(),
            interval: self.interval(),
            core_cycles: self.core_cycles(),
            deviation: self.deviation(),
        }
    }

    /// Returns the load without address translation, and the translation; `None` if not told apart.
    pub fn parts(&self) -> Option<LoadParts> {
        let without_translation = within(self.estimate(WITHOUT_TRANSLATION)).filter(is_positive)?;
        Some(LoadParts { without_translation, translation: within(self.estimate(TRANSLATION))? })
    }

    /// Returns whether the load without address translation is one of memory: no cache holds the working set.
    pub fn is_memory(&self) -> bool {
        self.number(MEMORY_NS).is_some_and(|memory| memory > 0.0)
    }

    /// Returns the latency while neighbours were quiet.
    pub fn undisturbed(&self) -> Option<Estimate> {
        within(self.estimate(UNDISTURBED_NS)).filter(is_positive)
    }

    /// Replaces the latency by another one; returns false without it.
    pub fn replace(&mut self, time: Option<Estimate>) -> bool {
        let Some(time) = time else { return false };
        self.put(NS, time);
        // The spread of all rounds does not apply to another value.
        [CORE_CYCLES, MAD_NS].into_iter().for_each(|column| self.remove(column));
        true
    }

    /// Returns the kind of traffic that the value is of; `None` for other walks.
    pub fn traffic(&self) -> Option<&'static Kind> {
        Kind::parse(self.word(TRAFFIC))
    }

    /// Sets the value of a column from its text in a table.
    ///
    /// # Errors
    ///
    /// A text that is not a value of the column.
    pub fn read(
        &mut self,
        column: Column,
        part: usize,
        text: &str,
        number: Option<f64>,
    ) -> Result<(), &'static str> {
        match (column.kind(), text) {
            (ColumnKind::Word, _) => self.put(column, text),
            (ColumnKind::Flag, "true" | "false") => self.put(column, text == "true"),
            (ColumnKind::Flag, _) => return Err(UNKNOWN_WORD),
            (ColumnKind::Count, _) if number.is_none() => return Err("not a whole number"),
            _ => self.read_number(column, part, number.ok_or("not a number")?)?,
        }
        Ok(())
    }

    /// Sets the value of a column (0), or an end of its interval (1, 2), to a number.
    ///
    /// # Errors
    ///
    /// A number that is not a value of the column.
    pub fn read_number(&mut self, column: Column, part: usize, number: f64) -> Result<(), &'static str> {
        let whole = math::whole(number);
        match column.kind() {
            ColumnKind::Count if whole as f64 != number || whole > column.largest() => {
                return Err("not a whole number");
            }
            ColumnKind::Bytes => self.put(column, bytes(number)?),
            ColumnKind::Count => self.put(column, whole),
            ColumnKind::Real => self.put(column, number),
            ColumnKind::Estimate => {
                let Estimate { mut value, mut interval } = match self.cell(column) {
                    Some(Value::Estimate(estimate)) => *estimate,
                    _ => UNKNOWN,
                };
                match part {
                    0 => value = number,
                    end => {
                        let ends = interval.get_or_insert(Interval { low: f64::NAN, high: f64::NAN });
                        *(if end == 1 { &mut ends.low } else { &mut ends.high }) = number;
                    }
                }
                self.put(column, Estimate { value, interval });
            }
            ColumnKind::Flag | ColumnKind::Word => return Err("not a number"),
        }
        Ok(())
    }

    /// Checks the values of a row, after all of them were read.
    ///
    /// # Errors
    ///
    /// An interval without two ends, and memory that is slower than the load that contains it.
    pub fn check(&self) -> Result<(), &'static str> {
        for cell in &self.cells {
            if let Value::Estimate(Estimate { interval: Some(Interval { low, high }), .. }) = cell
                && !(*low..=f64::MAX).contains(high)
            {
                return Err("interval is not a pair of numbers");
            }
        }
        let memory = self.estimate(MEMORY_NS).and_then(|memory| memory.interval);
        match memory.zip(self.interval()) {
            Some((memory, random)) if memory.low > random.high * (1.0 + ROUNDING) => {
                Err("memory_ns above its random load")
            }
            _ => Ok(()),
        }
    }

    /// Checks that the latency is one, and within its own interval.
    ///
    /// # Errors
    ///
    /// Another latency.
    pub fn check_time(&self) -> Result<(), &'static str> {
        let Estimate { value, interval } = self.time();
        if !LATENCIES.contains(&value) {
            return Err("latency is not a positive number of nanoseconds");
        }
        let is_outside =
            |Interval { low, high }| value < low * (1.0 - ROUNDING) || value > high * (1.0 + ROUNDING);
        if interval.is_some_and(is_outside) { Err("value outside its own interval") } else { Ok(()) }
    }
}

/// Returns a number of bytes.
///
/// # Errors
///
/// A number that is not one.
pub fn bytes(number: f64) -> Result<Bytes, &'static str> {
    match (1.0..=LARGEST_SIZE).contains(&number) {
        true => Ok(Bytes(math::whole(number))),
        false => Err("size is not a positive number of bytes"),
    }
}

/// Returns a value with its interval, only if it lies within it.
fn within(found: Option<Estimate>) -> Option<Estimate> {
    let Estimate { value, interval: Some(Interval { low, high }) } = found? else { return None };
    found.filter(|_| low >= 0.0 && low <= value && value <= high && high < 1e12)
}

fn is_positive(found: &Estimate) -> bool {
    found.interval.is_some_and(|interval| interval.low > 0.0)
}

/// Returns the columns in which consecutive points differ.
pub fn differing<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> ColumnSet {
    ColumnSet::that(&|column| {
        rows.clone().zip(rows.clone().skip(1)).any(|(one, other)| !one.agrees(other, column))
    })
}
