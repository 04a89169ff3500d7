//! The conditions and the sources of a published figure, as sets.
//!
//! The quotes, the full addresses and the dates of reading are in `tests/fixtures/reference/evidence.tsv`.

use core::fmt::Display;

use latency_core::text::joined;

/// The conditions: the word of each in the table of figures, and its text.
static CONDITIONS: [(&str, &str); 23] = [
    ("METAL", "bare metal"),
    ("VIRTUAL", "virtual machine"),
    ("NO_PAGES", "pages not stated"),
    ("GIB", "1 GiB pages"),
    ("MIB_2", "2 MiB pages"),
    ("SEQUENTIAL", "sequential access"),
    ("MEASURED", "measured, not documented"),
    ("LOWER_BOUND", "a lower bound"),
    ("CORRECTED", "translation subtracted"),
    ("COD", "cluster-on-die"),
    ("SNC2", "SNC2"),
    ("SNC3", "SNC3"),
    ("SNC4", "SNC4"),
    ("NPS0", "NPS0"),
    ("NPS1", "NPS1"),
    ("NPS2", "NPS2"),
    ("NPS4", "NPS4"),
    ("DDR4_3200", "DDR4-3200"),
    ("DDR5_4800", "DDR5-4800"),
    ("DDR5_5200", "DDR5-5200"),
    ("DDR5_5600", "DDR5-5600"),
    ("DDR5_7200", "DDR5-7200"),
    ("LPDDR5", "LPDDR5"),
];

/// The sources: the word of each in the table of figures, and its address.
static SOURCES: [(&str, &str); 22] = [
    ("LLVM", "github.com/llvm/llvm-project"),
    ("OSACA", "github.com/RRZE-HPC/OSACA"),
    ("KERNCRAFT", "github.com/RRZE-HPC/kerncraft"),
    ("DOWNS", "travisdowns.github.io"),
    ("CPUINFO", "github.com/pytorch/cpuinfo"),
    ("VSC", "github.com/hpcleuven/VscDocumentation"),
    ("CSIT", "github.com/FDio/csit"),
    ("MESS", "github.com/bsc-mem/Mess-Results"),
    ("NVIENNOT", "github.com/nviennot/core-to-core-latency"),
    ("PLANTEGG", "github.com/plantegg/programmer_case"),
    ("SBC_BENCH", "github.com/ThomasKaiser/sbc-bench"),
    ("ARM", "learn.arm.com"),
    ("AZURE", "learn.microsoft.com"),
    ("ANANDTECH", "anandtech.com"),
    ("CHIPS_AND_CHEESE", "chipsandcheese.com"),
    ("SEVEN_CPU", "7-cpu.com"),
    ("SISOFTWARE", "sisoftware.eu"),
    ("TECHREPORT", "techreport.com"),
    ("LEMIRE", "lemire.me"),
    ("IK_LLAMA", "github.com/ikawrakow/ik_llama.cpp"),
    ("GJBEX", "github.com/gjbex/Code-optimization"),
    ("CXL_EXPERIMENTS", "github.com/karim-manaouil/virtiofs-cxl-experiments"),
];

/// A set of conditions and sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stated {
    conditions: u32,
    sources: u32,
}

impl Stated {
    /// Adds the condition or source with a word; returns `None` if there is none.
    pub fn with(self, word: &str) -> Option<Stated> {
        let bit = |table: &[(&str, &str)]| {
            table.iter().position(|(known, _)| *known == word).map(|place| 1 << place)
        };
        match (bit(&CONDITIONS), bit(&SOURCES)) {
            (None, None) => None,
            (condition, source) => Some(Stated {
                conditions: self.conditions | condition.unwrap_or(0),
                sources: self.sources | source.unwrap_or(0),
            }),
        }
    }

    /// Returns the conditions and sources of both.
    #[must_use]
    pub const fn and(self, other: Stated) -> Stated {
        Stated { conditions: self.conditions | other.conditions, sources: self.sources | other.sources }
    }

    /// Returns whether there are conditions.
    pub const fn has_conditions(self) -> bool {
        self.conditions != 0
    }

    /// Returns whether some figures are of virtual machines.
    pub fn is_virtual(self) -> bool {
        Stated::default().with("VIRTUAL").is_some_and(|guest| self.conditions & guest.conditions != 0)
    }

    /// Returns the number of sources.
    pub const fn sources(self) -> u32 {
        self.sources.count_ones()
    }

    /// Shows the conditions.
    pub fn conditions(self) -> impl Display {
        texts(&CONDITIONS, self.conditions, ", ")
    }

    /// Shows the addresses of the sources.
    pub fn addresses(self) -> impl Display {
        texts(&SOURCES, self.sources, " ")
    }
}

/// Shows the texts of a table that are in a set.
fn texts(table: &'static [(&str, &str)], set: u32, next: &'static str) -> impl Display {
    joined(
        "",
        next,
        table.iter().enumerate().filter(move |(bit, _)| set >> bit & 1 == 1).map(|(_, row)| row.1),
    )
}
