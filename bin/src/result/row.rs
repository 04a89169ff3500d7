//! A point of a result as stored in files, which two results are compared by.

use core::fmt::{self, Display, Write};

use latency_core::stats::Interval;
use latency_core::text::Text;
use latency_core::traffic::{Kind, Pattern};
use latency_core::units::Pages;

use super::sample::Sample;
use super::split::LoadParts;
use super::words::PageKind;

/// A word of a saved result.
pub type Word = Text<24>;

/// The fields that distinguish points: the key in files, and the words for people.
pub const FIELDS: [(&str, &str); 27] = [
    ("initiator_node", "from node"),
    ("target_node", "to node"),
    ("working_set_bytes", "working set"),
    ("stride_bytes", "stride"),
    ("walk_order", "order"),
    ("kernel", "chase kernel"),
    ("pages_asked", "requested pages"),
    ("variant", "variant"),
    ("pattern", "pattern"),
    ("chains", "chains"),
    ("work", "work"),
    ("prefetch", "prefetch"),
    ("filler", "filler"),
    ("fillers", "fillers"),
    ("traffic", "traffic"),
    ("cores", "cores"),
    ("experiment", "experiment"),
    ("initiator_cpu", "CPU"),
    ("target_cpu", "CPU"),
    ("class", "class"),
    ("method", "method"),
    ("lines", "lines"),
    ("op", "access"),
    ("state", "state"),
    ("level", "cache"),
    ("home_node", "home node"),
    ("load_level", "load"),
];
/// Index of the initiator node in [`FIELDS`].
pub const FROM: usize = 0;
/// Index of the target node.
pub const TO: usize = 1;
/// Index of the working set.
pub const SIZE: usize = 2;
/// Index of the stride.
pub const STRIDE: usize = 3;
/// Index of the first field that is a word; all later fields are words.
pub const WORDS: usize = 4;
/// Index of the order of the walk.
pub const ORDER: usize = 4;
/// Index of the chase kernel.
pub const KERNEL: usize = 5;
/// Index of the requested pages.
pub const PAGES_ASKED: usize = 6;

/// Index of the variant.
pub const VARIANT: usize = 7;
/// Index of the pattern of traffic, if its kind has several patterns.
pub const PATTERN: usize = 8;
/// Index of the number of chains side by side.
pub const LANES: usize = 9;
/// Index of the kind of traffic.
pub const TRAFFIC: usize = 14;
/// Index of the number of generators.
pub const GENERATORS: usize = 15;
/// Index of the experiment, which only reports have, since their points are of several experiments.
pub const EXPERIMENT: usize = 16;
/// Index of the first CPU of a pair: the fields from here on describe CPUs and their lines.
pub const A: usize = 17;
/// Index of the second CPU.
pub const B: usize = 18;
/// Index of the hardware that two CPUs share. Every point between CPUs has this field.
pub const CLASS: usize = 19;
/// Index of the method by which a CPU sees that it is its turn.
pub const METHOD: usize = 20;
/// Index of the number of lines.
pub const LINES: usize = 21;
/// Index of the access to lines. It distinguishes pairs, their classes, and lines in a known state.
pub const OP: usize = 22;
/// Index of the state in which a line is found.
pub const STATE: usize = 23;
/// Index of the cache that holds it.
const LEVEL: usize = 24;
/// Index of the home node of the lines.
pub const HOME: usize = 25;
/// Index of the end of a curve under load: idle memory or the limit.
pub const LOAD: usize = 26;
/// Index of the number of dependent additions.
const WORK: usize = 10;
/// Index of the flag of prefetched lines.
pub const PREFETCH: usize = 11;
/// Index of the number of independent instructions.
const FILLERS: usize = 13;
/// The fields that are whole numbers, one bit for each: nodes and sizes, counts of chains, additions and fillers, and the
/// numbers of CPUs, lines and home nodes.
pub const NUMBERS: u32 = 1 << FROM
    | 1 << TO
    | 1 << SIZE
    | 1 << STRIDE
    | 1 << LANES
    | 1 << WORK
    | 1 << FILLERS
    | 1 << GENERATORS
    | CPUS
    | 1 << LINES
    | 1 << HOME;
/// The states of a line, as coherence protocols write them.
const STATES: [&str; 3] = ["Modified", "Exclusive", "Shared"];
/// The fields of both CPUs of a pair, one bit for each.
pub const CPUS: u32 = 1 << A | 1 << B;
/// Access of a pair of CPUs: the value is the time of a line in one direction.
pub const ONE_WAY: &str = "one way";
/// Word for the limit of traffic, as the load of a point.
pub const MOST: &str = "most";
/// Word for the median over pairs that share the same hardware.
pub const MEDIAN: &str = "median";

/// One measured point of a saved result.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The initiator and target nodes.
    pub pair: Option<(u32, u32)>,
    /// Size, stride and latency.
    pub sample: Sample,
    /// The fields from [`WORDS`] on; empty if the file lacks the field.
    pub words: [Word; FIELDS.len() - WORDS],
    /// The kind of pages that were obtained; empty if the file lacks it.
    pub pages: Word,
    /// True if the placement was proven; `None` if the file lacks it.
    pub verified: Option<bool>,
    /// The core clock in gigahertz; `None` if the file lacks it.
    pub gigahertz: Option<f64>,
    /// The seed of the chain; `None` if the file lacks it.
    pub seed: Option<u64>,
    /// The latency while neighbours were quiet and its interval; `None` without one.
    pub undisturbed: Option<(f64, Interval)>,
    /// The load without address translation, and the translation; `None` if not told apart.
    pub parts: Option<LoadParts>,
    /// True if the load without address translation is one of memory: no cache holds the working set.
    pub is_memory: bool,
}

impl Row {
    /// A row without values.
    pub const EMPTY: Row = Row {
        pair: None,
        sample: Sample::EMPTY,
        words: [Word::EMPTY; FIELDS.len() - WORDS],
        pages: Word::EMPTY,
        verified: None,
        gigahertz: None,
        seed: None,
        undisturbed: None,
        parts: None,
        is_memory: false,
    };

    /// Returns whether the file has a field.
    #[must_use]
    pub fn tells(&self, field: usize) -> bool {
        match field {
            FROM | TO => self.pair.is_some(),
            SIZE => self.sample.size.0 > 0,
            STRIDE => true,
            _ => self.word(field).is_some_and(|word| !word.is_empty()),
        }
    }

    /// Returns whether a field is the same in both rows, or missing in one of them.
    #[must_use]
    pub fn agrees(&self, other: &Row, field: usize) -> bool {
        let (one, two) = (&self.sample, &other.sample);
        match field {
            _ if !self.tells(field) || !other.tells(field) => true,
            SIZE => one.size == two.size,
            STRIDE => one.stride == two.stride,
            FROM => self.pair.map(|pair| pair.0) == other.pair.map(|pair| pair.0),
            TO => self.pair.map(|pair| pair.1) == other.pair.map(|pair| pair.1),
            _ => self.word(field) == other.word(field),
        }
    }

    /// Returns whether every field in a set (one bit for each) is the same in both rows, or missing in one of them.
    #[must_use]
    pub fn is_same(&self, other: &Row, fields: u32) -> bool {
        // The fields that distinguish thousands of points are compared first: nodes and sizes, and the CPUs of pairs.
        let mut all = (0..WORDS).chain([A, B]).chain(WORDS..A).chain(CLASS..FIELDS.len());
        all.all(|field| fields >> field & 1 == 0 || self.agrees(other, field))
    }

    /// Returns whether another row has a different value for the same point.
    #[must_use]
    pub fn contradicts(&self, other: &Row) -> bool {
        self.is_same(other, u32::MAX)
            && self.pages == other.pages
            && self.sample.nanoseconds != other.sample.nanoseconds
    }

    /// Returns a field for programs, without units; empty if the file lacks the field.
    #[must_use]
    pub fn plain(&self, field: usize) -> Word {
        match (field, self.pair) {
            _ if !self.tells(field) => Word::EMPTY,
            (FROM, Some((from, _))) => Word::of(format_args!("{from}")),
            (TO, Some((_, to))) => Word::of(format_args!("{to}")),
            (SIZE, _) => Word::of(format_args!("{}", self.sample.size.0)),
            (STRIDE, _) if !self.tells(SIZE) => Word::EMPTY,
            (STRIDE, _) => Word::of(format_args!("{}", self.sample.stride.0)),
            _ => self.word(field).copied().unwrap_or(Word::EMPTY),
        }
    }

    /// Writes a field for people; writes nothing if the file lacks the field.
    ///
    /// # Errors
    ///
    /// The errors of `out`.
    pub fn show(&self, out: &mut dyn Write, field: usize) -> fmt::Result {
        match (field, self.pair) {
            (FROM, Some((from, _))) => write!(out, "{from}"),
            (TO, Some((_, to))) => write!(out, "{to}"),
            (SIZE, _) => write!(out, "{}", self.sample.size),
            (STRIDE, _) => write!(out, "{}", self.sample.stride),
            (CLASS, _) if self.is_word(CLASS, "own") => out.write_str("same CPU"),
            (OP, _) if self.is_word(OP, "own") => out.write_str("atomic"),
            _ => {
                let word = self.word(field).map_or("", Word::as_str);
                if let (PAGES_ASKED, Some(pages)) = (field, Pages::from_word(word.as_bytes())) {
                    return write!(out, "{}", PageKind(pages));
                }
                let state = STATES.iter().find(|state| field == STATE && state.eq_ignore_ascii_case(word));
                out.write_str(state.unwrap_or(&word))
            }
        }
    }

    /// Returns whether a field equals a given word.
    #[must_use]
    pub fn is_word(&self, field: usize, word: &str) -> bool {
        self.word(field).is_some_and(|own| own.as_str() == word)
    }

    /// Replaces the latency of the whole run by the latency while neighbours were quiet; returns false without the
    /// latter.
    pub fn take_undisturbed(&mut self) -> bool {
        let Some((nanoseconds, interval)) = self.undisturbed else { return false };
        self.replace(nanoseconds, Some(interval));
        true
    }

    /// Replaces the latency of a random load by the latency without address translation; returns false without the latter.
    pub fn take_memory(&mut self) -> bool {
        let Some(parts) = self.parts else { return false };
        self.replace(parts.without_translation.value, parts.without_translation.interval);
        true
    }

    fn replace(&mut self, nanoseconds: f64, interval: Option<Interval>) {
        (self.sample.nanoseconds, self.sample.interval) = (nanoseconds, interval);
        // The spread of all rounds does not apply to another value.
        (self.sample.core_cycles, self.sample.deviation) = (None, None);
    }

    fn word(&self, field: usize) -> Option<&Word> {
        self.words.get(field.checked_sub(WORDS)?)
    }

    /// Returns whether this row's first CPU is another row's second CPU.
    #[must_use]
    pub fn begins_with_end_of(&self, other: &Row) -> bool {
        self.tells(A) && self.word(A) == other.word(B)
    }

    /// Returns whether the CPU in a field of another row is one of this row's two CPUs.
    #[must_use]
    pub fn has_cpu_of(&self, other: &Row, field: usize) -> bool {
        other.tells(field) && [A, B].iter().any(|own| self.word(*own) == other.word(field))
    }

    /// Returns the kind of traffic that the value is of; `None` for other walks.
    #[must_use]
    pub fn traffic(&self) -> Option<&'static Kind> {
        Kind::parse(self.word(TRAFFIC)?.as_str())
    }

    /// Returns the name of its experiment; empty if the file lacks it.
    #[must_use]
    pub fn experiment(&self) -> Text<32> {
        self.word(EXPERIMENT).map_or(Text::EMPTY, |word| Text::of(format_args!("{word}")))
    }

    /// Sets the value of a field that is a word.
    pub fn set(&mut self, field: usize, word: Word) {
        if let Some(slot) = field.checked_sub(WORDS).and_then(|index| self.words.get_mut(index)) {
            *slot = word;
        }
    }
}

/// Returns the fields for which `is` returns true, one bit for each.
pub fn fields_that(is: impl Fn(usize) -> bool) -> u32 {
    (0..FIELDS.len()).filter(|field| is(*field)).fold(0, |all, field| all | 1 << field)
}

/// Returns the fields in which consecutive points differ, one bit for each.
pub fn differing<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> u32 {
    fields_that(|field| rows.clone().zip(rows.clone().skip(1)).any(|(one, other)| !one.agrees(other, field)))
}

/// A label for a point that shows some of its fields.
pub struct Label<'r> {
    /// The point.
    pub row: &'r Row,
    /// The fields to show, one bit for each.
    pub shown: u32,
}

impl Display for Label<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let row = self.row;
        let shows = |field: usize| self.shown >> field & 1 == 1 && row.tells(field);
        let mut is_first = true;
        for field in (0..FIELDS.len()).filter(|field| shows(*field)) {
            // One direction is the default for pairs, and a stream is the default for traffic; neither is shown.
            let usual = row.is_word(PATTERN, Pattern::Stream.name()) && row.traffic().is_some();
            // The name of a variant begins with that of its kernel.
            let named = field == KERNEL && row.tells(VARIANT);
            if named || (field == OP && row.is_word(OP, ONE_WAY)) || (field == PATTERN && usual) {
                continue;
            }
            let is_one = row.is_word(field, "1");
            // The value replaces the asterisk.
            let around = match field {
                TO if shows(FROM) => " -> *",
                A => ", CPU *",
                B if shows(A) => " - CPU *",
                CLASS if shows(A) => " (*)",
                OP if shows(CLASS) && !row.is_word(OP, MEDIAN) => ": *",
                STATE if row.is_word(STATE, "exclusive") => " on an * line",
                STATE => " on a * line",
                LEVEL => ", in *",
                PAGES_ASKED => ", * pages",
                LANES if is_one => ", * chain",
                LANES => ", * chains",
                GENERATORS if is_one => ", * core",
                GENERATORS => ", * cores",
                FROM if shows(TO) => ", *",
                SIZE | VARIANT | TRAFFIC | EXPERIMENT | CLASS | OP | LOAD => ", *",
                _ => "",
            };
            let (before, behind) = around.split_once('*').unwrap_or((", ", ""));
            let first = if is_first { before.trim_start_matches([',', ' ']) } else { before };
            out.write_str(first)?;
            if let ("", Some((_, words))) = (around, FIELDS.get(field)) {
                write!(out, "{words} ")?;
            }
            row.show(out, field)?;
            out.write_str(behind)?;
            is_first = false;
        }
        Ok(())
    }
}
