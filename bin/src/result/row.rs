//! One point of a result as files hold it: what two results are compared by.

use core::fmt::{self, Display, Write};

use latency_core::stats::Interval;
use latency_core::text::Text;
use latency_core::traffic::{Kind, Pattern};

use super::sample::Sample;

/// A word of a saved result.
pub type Word = Text<24>;

/// The fields that tell points apart: the key in files, and the words for people.
pub const FIELDS: [(&str, &str); 27] = [
    ("from", "from node"),
    ("to", "to node"),
    ("working_set_bytes", "working set"),
    ("stride_bytes", "spacing"),
    ("order", "order"),
    ("kernel", "kernel"),
    ("pages_asked", "pages asked"),
    ("variant", "variant"),
    ("pattern", "pattern"),
    ("lanes", "lanes"),
    ("work", "work"),
    ("prefetch", "prefetch"),
    ("filler", "filler"),
    ("fillers", "fillers"),
    ("traffic", "traffic"),
    ("generators", "generators"),
    ("experiment", "experiment"),
    ("a", "CPU"),
    ("b", "CPU"),
    ("class", "class"),
    ("method", "method"),
    ("lines", "lines"),
    ("op", "access"),
    ("state", "state"),
    ("level", "cache"),
    ("home", "home"),
    ("load", "load"),
];
/// Place of the initiator node in [`FIELDS`].
pub const FROM: usize = 0;
/// Place of the target node.
pub const TO: usize = 1;
/// Place of the working set.
pub const SIZE: usize = 2;
/// Place of the stride.
pub const STRIDE: usize = 3;
/// The fields from here on are words.
pub const WORDS: usize = 4;
/// Place of the order of the walk.
pub const ORDER: usize = 4;
/// Place of the chase kernel.
pub const KERNEL: usize = 5;
/// Place of the pages that were asked for.
pub const PAGES_ASKED: usize = 6;

/// Place of the variant.
pub const VARIANT: usize = 7;
/// The same of traffic, if its kind has several.
pub const PATTERN: usize = 8;
/// Place of the number of chains side by side.
pub const LANES: usize = 9;
/// Place of the kind of traffic.
pub const TRAFFIC: usize = 14;
/// Place of the number of generators.
pub const GENERATORS: usize = 15;
/// Place of the experiment, in reports alone, whose points are of several experiments.
pub const EXPERIMENT: usize = 16;
/// Place of the first CPU of a pair: the fields from here on are those of CPUs and their lines.
pub const A: usize = 17;
/// Place of the second CPU.
pub const B: usize = 18;
/// Place of the hardware that two CPUs share. Every point of CPUs has it.
pub const CLASS: usize = 19;
/// Place of the way in which a CPU sees that it is its turn.
#[cfg(test)]
pub const METHOD: usize = 20;
/// Place of the number of lines.
pub const LINES: usize = 21;
/// Place of the access to lines. It tells pairs, their classes, and lines in a known state from each other.
pub const OP: usize = 22;
/// Place of the node that lines come from.
pub const HOME: usize = 25;
/// Place of the end of a curve under load.
pub const LOAD: usize = 26;
/// Both CPUs of a pair, one bit for each.
pub const CPUS: u32 = 1 << A | 1 << B;
/// The access to the lines of a pair: they go one way and back.
pub const ONE_WAY: &str = "one way";
/// The median over pairs that share the same.
pub const MEDIAN: &str = "median";

/// One measured point of a saved result.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The initiator and target nodes.
    pub pair: Option<(u32, u32)>,
    /// Size, stride and latency.
    pub sample: Sample,
    /// The fields from [`WORDS`] on; empty where the file does not tell.
    pub words: [Word; FIELDS.len() - WORDS],
    /// The pages that were obtained; empty where the file does not tell.
    pub pages: Word,
    /// True if the placement was proven, where the file tells.
    pub verified: Option<bool>,
    /// The core clock, where the file tells.
    pub gigahertz: Option<f64>,
    /// The seed of the chain, where the file tells.
    pub seed: Option<u64>,
    /// The latency while neighbours were quiet and its interval, where one was seen.
    pub undisturbed: Option<(f64, Interval)>,
}

impl Row {
    /// A row of nothing.
    pub const EMPTY: Row = Row {
        pair: None,
        sample: Sample::EMPTY,
        words: [Word::EMPTY; FIELDS.len() - WORDS],
        pages: Word::EMPTY,
        verified: None,
        gigahertz: None,
        seed: None,
        undisturbed: None,
    };

    /// Returns whether the file tells a field.
    #[must_use]
    pub fn tells(&self, field: usize) -> bool {
        match field {
            FROM | TO => self.pair.is_some(),
            SIZE => self.sample.size.0 > 0,
            STRIDE => true,
            _ => self.word(field).is_some_and(|word| !word.is_empty()),
        }
    }

    /// Returns whether a field is the same, as far as both files tell.
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

    /// Returns whether every field in a set (one bit for each) is the same, as far as both files tell.
    #[must_use]
    pub fn is_same(&self, other: &Row, fields: u32) -> bool {
        // What tells thousands of points apart is looked at first: nodes and sizes, and of pairs their CPUs.
        let mut all = (0..WORDS).chain([A, B]).chain(WORDS..A).chain(CLASS..FIELDS.len());
        all.all(|field| fields >> field & 1 == 0 || self.agrees(other, field))
    }

    /// Returns whether another row has another value for the same point.
    #[must_use]
    pub fn contradicts(&self, other: &Row) -> bool {
        self.is_same(other, u32::MAX)
            && self.pages == other.pages
            && self.sample.nanoseconds != other.sample.nanoseconds
    }

    /// Writes a field for people; nothing where the file does not tell.
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
            _ => out.write_str(self.word(field).map_or("", Word::as_str)),
        }
    }

    /// Returns whether a field is this word.
    #[must_use]
    pub fn is_word(&self, field: usize, word: &str) -> bool {
        self.word(field).is_some_and(|own| own.as_str() == word)
    }

    /// Takes the latency while neighbours were quiet for that of the whole run; false where none was seen.
    pub fn take_undisturbed(&mut self) -> bool {
        let Some((nanoseconds, interval)) = self.undisturbed else { return false };
        (self.sample.nanoseconds, self.sample.interval) = (nanoseconds, Some(interval));
        // The spread of all rounds says nothing of these.
        (self.sample.core_cycles, self.sample.deviation) = (None, None);
        true
    }

    fn word(&self, field: usize) -> Option<&Word> {
        self.words.get(field.checked_sub(WORDS)?)
    }

    /// Returns whether the first CPU is the second one of another row.
    #[must_use]
    pub fn begins_with_end_of(&self, other: &Row) -> bool {
        self.tells(A) && self.word(A) == other.word(B)
    }

    /// Returns whether the CPU that another row has in a field is one of both.
    #[must_use]
    pub fn has_cpu_of(&self, other: &Row, field: usize) -> bool {
        other.tells(field) && [A, B].iter().any(|own| self.word(*own) == other.word(field))
    }

    /// Returns the kind of traffic whose lines took the time, where it was traffic.
    #[must_use]
    pub fn traffic(&self) -> Option<&'static Kind> {
        Kind::parse(self.word(TRAFFIC)?.as_str())
    }

    /// Sets a field that is a word.
    #[inline(never)] // it is called in several places
    pub fn set(&mut self, field: usize, word: Word) {
        if let Some(slot) = field.checked_sub(WORDS).and_then(|index| self.words.get_mut(index)) {
            *slot = word;
        }
    }
}

/// Returns the fields that satisfy `is`, one bit for each.
pub fn fields_that(is: impl Fn(usize) -> bool) -> u32 {
    (0..FIELDS.len()).filter(|field| is(*field)).fold(0, |all, field| all | 1 << field)
}

/// Returns the fields in which points differ from the ones before them, one bit for each.
pub fn differing<'r>(rows: impl Iterator<Item = &'r Row> + Clone) -> u32 {
    fields_that(|field| rows.clone().zip(rows.clone().skip(1)).any(|(one, other)| !one.agrees(other, field)))
}

/// A point by some of its fields, one bit for each.
pub struct Label<'r> {
    /// The point.
    pub row: &'r Row,
    /// The fields that are shown.
    pub shown: u32,
}

impl Display for Label<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "";
        for field in (0..FIELDS.len()).filter(|field| self.shown >> field & 1 == 1 && self.row.tells(*field))
        {
            // That lines go one way is what pairs are about, and traffic is a stream unless another is said.
            let usual = self.row.is_word(PATTERN, Pattern::Stream.name()) && self.row.traffic().is_some();
            // The name of a variant begins with that of its kernel.
            let named = field == KERNEL && self.row.tells(VARIANT);
            if named || (field == OP && self.row.is_word(OP, ONE_WAY)) || (field == PATTERN && usual) {
                continue;
            }
            out.write_str(match field {
                TO if !separator.is_empty() => " -> ",
                B if !separator.is_empty() => " and ",
                _ => separator,
            })?;
            match (field, FIELDS.get(field)) {
                (FROM | TO | SIZE | B | CLASS | VARIANT, _) | (_, None) => {}
                (OP, _) if self.row.is_word(OP, MEDIAN) => {}
                (PAGES_ASKED, _) if self.row.tells(VARIANT) => out.write_str("pages ")?,
                (A, _) => out.write_str(if self.row.tells(B) { "CPUs " } else { "CPU " })?,
                (_, Some((_, words))) => write!(out, "{words} ")?,
            }
            self.row.show(out, field)?;
            separator = " ";
        }
        Ok(())
    }
}
