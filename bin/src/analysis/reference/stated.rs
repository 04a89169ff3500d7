//! The conditions and the sources of a published figure, as a set.
//!
//! The quotes, the full addresses and the dates of reading are in `tests/fixtures/reference/evidence.tsv`.

use core::fmt::Display;
use core::ops::Range;

use latency_core::text::joined;

/// Declares the conditions and sources: the position of each, its set of one, and its text in a list.
macro_rules! words {
    ($list:ident $($number:ident $name:ident $word:literal;)*) => {
        /// The conditions, and behind them the addresses of the sources.
        static $list: &[&str] = &[$($word),*];
        enum Position { $($number),* }
        $(#[doc = $word] pub const $name: Stated = Stated(1 << Position::$number as u64);)*
    };
}

words! {
    WORDS
    Metal METAL "bare metal";
    Guest VIRTUAL "virtual machine";
    NoPages NO_PAGES "pages not stated";
    Gib GIB "1 GiB pages";
    Mib2 MIB_2 "2 MiB pages";
    Sequential SEQUENTIAL "sequential access";
    Measured MEASURED "measured, not documented";
    LowerBound LOWER_BOUND "a lower bound";
    Corrected CORRECTED "translation subtracted";
    Cod COD "cluster-on-die";
    Snc2 SNC2 "SNC2";
    Snc3 SNC3 "SNC3";
    Snc4 SNC4 "SNC4";
    Nps0 NPS0 "NPS0";
    Nps1 NPS1 "NPS1";
    Nps2 NPS2 "NPS2";
    Nps4 NPS4 "NPS4";
    Ddr4 DDR4_3200 "DDR4-3200";
    Ddr5 DDR5_4800 "DDR5-4800";
    Ddr5At5200 DDR5_5200 "DDR5-5200";
    FasterDdr5 DDR5_5600 "DDR5-5600";
    Ddr5At7200 DDR5_7200 "DDR5-7200";
    Lpddr5 LPDDR5 "LPDDR5";
    Llvm LLVM "github.com/llvm/llvm-project";
    Osaca OSACA "github.com/RRZE-HPC/OSACA";
    Kerncraft KERNCRAFT "github.com/RRZE-HPC/kerncraft";
    Downs DOWNS "travisdowns.github.io";
    Cpuinfo CPUINFO "github.com/pytorch/cpuinfo";
    Vsc VSC "github.com/hpcleuven/VscDocumentation";
    Csit CSIT "github.com/FDio/csit";
    Mess MESS "github.com/bsc-mem/Mess-Results";
    Nviennot NVIENNOT "github.com/nviennot/core-to-core-latency";
    Plantegg PLANTEGG "github.com/plantegg/programmer_case";
    SbcBench SBC_BENCH "github.com/ThomasKaiser/sbc-bench";
    Arm ARM "learn.arm.com";
    Azure AZURE "learn.microsoft.com";
    Anandtech ANANDTECH "anandtech.com";
    ChipsAndCheese CHIPS_AND_CHEESE "chipsandcheese.com";
    SevenCpu SEVEN_CPU "7-cpu.com";
    Sisoftware SISOFTWARE "sisoftware.eu";
    Techreport TECHREPORT "techreport.com";
    Lemire LEMIRE "lemire.me";
    IkLlama IK_LLAMA "github.com/ikawrakow/ik_llama.cpp";
    Gjbex GJBEX "github.com/gjbex/Code-optimization";
    CxlExperiments CXL_EXPERIMENTS "github.com/karim-manaouil/virtiofs-cxl-experiments";
}

/// Neither conditions nor sources.
pub const NONE: Stated = Stated(0);
/// The positions of the conditions.
const CONDITIONS: Range<u32> = 0..Position::Llvm as u32;
/// The positions of the sources.
const SOURCES: Range<u32> = CONDITIONS.end..u64::BITS;

/// A set of conditions and sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stated(u64);

impl Stated {
    /// Returns the conditions and sources of both.
    #[must_use]
    pub const fn and(self, other: Stated) -> Stated {
        Stated(self.0 | other.0)
    }

    /// Returns whether there are conditions.
    #[must_use]
    pub const fn has_conditions(self) -> bool {
        self.0 << (u64::BITS - CONDITIONS.end) != 0
    }

    /// Returns whether some figures are of virtual machines.
    #[must_use]
    pub const fn is_virtual(self) -> bool {
        self.0 & VIRTUAL.0 != 0
    }

    /// Returns the number of sources.
    #[must_use]
    pub const fn sources(self) -> u32 {
        (self.0 >> SOURCES.start).count_ones()
    }

    /// Shows the conditions.
    #[must_use]
    pub fn conditions(self) -> impl Display {
        self.words(CONDITIONS, ", ")
    }

    /// Shows the addresses of the sources.
    #[must_use]
    pub fn addresses(self) -> impl Display {
        self.words(SOURCES, " ")
    }

    fn words(self, positions: Range<u32>, next: &'static str) -> impl Display {
        let own = positions.filter(move |bit| self.0 >> bit & 1 == 1);
        joined("", next, own.filter_map(|bit| WORDS.get(bit as usize)))
    }
}
