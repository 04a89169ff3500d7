//! The ways in which other tools write a table of sizes and latencies.

use super::random::Random;
use super::{OTHER_ROWS, PLAIN, QUANTITY, TIME, WRITTEN};

/// A unit in a heading, with its number of bytes or nanoseconds; 0 for another quantity.
pub type Unit = (&'static str, f64);

const BYTES: [Unit; 3] = [("bytes", 1.0), ("size_bytes", 1.0), ("Size (bytes)", 1.0)];
const SIZES: [Unit; 11] = [
    ("size_kb", 1024.0),
    ("Size (KiB)", 1024.0),
    ("KB", 1024.0),
    ("size_kib", 1024.0),
    ("Size [KB]", 1024.0),
    ("size_mb", 1_048_576.0),
    ("Size (MiB)", 1_048_576.0),
    ("MB", 1_048_576.0),
    ("size (GiB)", 1_073_741_824.0),
    ("GB", 1_073_741_824.0),
    ("size_b", 1.0),
];
const NO_SIZES: [Unit; 6] = [
    ("size (bits)", 0.0),
    ("elements", 0.0),
    ("lines", 0.0),
    ("pages", 0.0),
    ("size (words)", 0.0),
    ("threads", 0.0),
];
const NANOSECONDS: [Unit; 4] =
    [("ns", 1.0), ("latency_ns", 1.0), ("Latency (ns)", 1.0), ("nanoseconds", 1.0)];
const TIMES: [Unit; 12] = [
    ("ps", 1e-3),
    ("Latency (ps)", 1e-3),
    ("latency_ps", 1e-3),
    ("us", 1e3),
    ("\u{b5}s", 1e3),
    ("latency [\u{3bc}s]", 1e3),
    ("latency_us", 1e3),
    ("ms", 1e6),
    ("latency_ms", 1e6),
    ("s", 1e9),
    ("seconds", 1e9),
    ("time (s)", 1e9),
];
const NO_TIMES: [Unit; 12] = [
    ("bandwidth_mb_s", 0.0),
    ("GB/s", 0.0),
    ("MB/s", 0.0),
    ("read_MBps", 0.0),
    ("GiB/s", 0.0),
    ("ops_per_s", 0.0),
    ("accesses", 0.0),
    ("misses", 0.0),
    ("cycles", 0.0),
    ("Mops", 0.0),
    ("bandwidth", 0.0),
    ("hit rate (%)", 0.0),
];

/// The rule for quoting a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quotes {
    /// Not at all.
    None,
    /// If it contains the separator.
    Needed,
    /// Always.
    All,
}

/// A way to write a table.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    /// The text between two fields.
    pub separator: &'static str,
    /// The heading of sizes with their unit.
    pub size: Unit,
    /// The heading of latencies with their unit.
    pub time: Unit,
    /// True if there are headings.
    pub headed: bool,
    /// The decimal point.
    pub point: char,
    /// The sign between thousands.
    pub thousands: Option<char>,
    /// The quotes.
    pub quotes: Quotes,
    /// True if very small numbers have an exponent.
    pub exponents: bool,
    /// A column of another quantity: before the latencies (true) or behind them.
    pub bandwidth: Option<bool>,
    /// The text in place of a latency in rows of other operations.
    pub operations: Option<&'static str>,
    /// The end of a line.
    pub end: &'static str,
    /// The text before everything.
    pub preamble: &'static str,
    /// The class of a wrong number.
    pub class: &'static str,
}

impl Dialect {
    /// Draws a dialect: a plain table, mostly with one unusual property, and with some habits of files.
    pub fn random(random: &mut Random) -> Self {
        let mut dialect = Dialect {
            separator: [",", ";", "\t", ", "][random.below(4)],
            size: *random.pick(&BYTES),
            time: *random.pick(&NANOSECONDS),
            headed: true,
            point: '.',
            thousands: None,
            quotes: if random.one_in(4) { Quotes::All } else { Quotes::Needed },
            exponents: random.one_in(4),
            bandwidth: None,
            operations: None,
            end: if random.one_in(4) { "\r\n" } else { "\n" },
            preamble: ["", "", "", "# latencies of a machine\n", "\u{feff}"][random.below(5)],
            class: PLAIN,
        };
        dialect.vary(random);
        if random.one_in(8) && dialect.class != OTHER_ROWS {
            // A second unusual property at the same time; its class takes precedence.
            let class = dialect.class;
            dialect.vary(random);
            dialect.class = if class == PLAIN { dialect.class } else { class };
        }
        // Without headings nothing states the unit or the quantity, so no reader can find them.
        dialect.headed |= [dialect.size.1, dialect.time.1] != [1.0; 2];
        dialect
    }

    fn vary(&mut self, random: &mut Random) {
        match random.below(10) {
            0 => {}
            1 => {
                self.headed = random.one_in(2);
                self.quotes = Quotes::None;
            }
            2 | 3 => {
                (self.class, self.point) = (WRITTEN, ',');
                self.quotes = *random.pick(&[Quotes::None, Quotes::Needed, Quotes::All]);
            }
            4 => {
                self.class = WRITTEN;
                self.thousands = Some(if self.point == ',' { '.' } else { *random.pick(&[',', '\'', ' ']) });
            }
            5 | 6 => (self.class, self.time) = (TIME, *random.pick(&TIMES)),
            7 => match random.one_in(2) {
                true => (self.class, self.time) = (QUANTITY, *random.pick(&NO_TIMES)),
                false => (self.class, self.size) = (QUANTITY, *random.pick(&NO_SIZES)),
            },
            8 => (self.class, self.size) = (QUANTITY, *random.pick(&SIZES)),
            _ => {
                self.class = OTHER_ROWS;
                match random.one_in(2) {
                    true => self.bandwidth = Some(random.one_in(2)),
                    false => self.operations = Some(*random.pick(&["0", "", "N/A", "-", "nan"])),
                }
            }
        }
    }

    /// Returns true if a reader can find the numbers of a table.
    pub fn tells(&self) -> bool {
        self.size.1 > 0.0 && self.time.1 > 0.0
    }

    /// Returns true if the table is so plain that a refusal is a defect: numbers as programs write them, of
    /// bytes or KiB and ns.
    pub fn is_plain(&self) -> bool {
        self.class == PLAIN && self.headed && self.time.1 == 1.0 && self.size.1 > 0.0
    }

    /// Returns a number as this dialect writes it, without quotes.
    pub fn number(&self, value: f64) -> String {
        let mut text = if value.fract() == 0.0 {
            format!("{value}")
        } else if self.exponents && value < 1e-4 {
            format!("{value:.4e}")
        } else {
            // Five significant digits.
            let decimals = (4.0 - value.abs().log10().floor()).clamp(0.0, 20.0);
            format!("{value:.0$}", decimals as usize)
        };
        if let Some(sign) = self.thousands {
            let whole = text.find('.').unwrap_or(text.len());
            let mut at = whole;
            while at > 3 {
                at -= 3;
                text.insert(at, '\u{0}');
            }
            text = text.replace('.', &self.point.to_string()).replace('\u{0}', &sign.to_string());
        } else {
            text = text.replace('.', &self.point.to_string());
        }
        text
    }

    /// Returns a field with its quotes.
    pub fn field(&self, text: &str) -> String {
        let quoted = match self.quotes {
            Quotes::None => false,
            Quotes::Needed => {
                text.contains(self.separator.trim_end_matches(' ')) && !self.separator.trim().is_empty()
            }
            Quotes::All => true,
        };
        if quoted { format!("\"{text}\"") } else { text.to_string() }
    }

    /// Returns a row of fields.
    pub fn row(&self, fields: &[String]) -> String {
        let fields: Vec<String> = fields.iter().map(|field| self.field(field)).collect();
        fields.join(self.separator) + self.end
    }
}
