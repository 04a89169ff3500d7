//! The quantities of published figures.

/// Declares the quantities: the word of each in the table of figures, its name and its unit.
macro_rules! quantities {
    ($list:ident $($word:ident $text:literal $unit:literal;)*) => {
        /// The words of the quantities, each with its name and its unit.
        static $list: &[(&str, &str, &str)] = &[$((stringify!($word), $text, $unit)),*];
        #[allow(dead_code, non_camel_case_types, clippy::upper_case_acronyms)] // only the table of figures names some
        enum Position { $($word),* }
        $(
            #[doc = concat!("The ", $text, ".")]
            #[allow(dead_code)]
            pub const $word: PublishedQuantity = PublishedQuantity(Position::$word as u8);
        )*
    };
}

// Those of a core, then those that depend on the machine.
quantities! {
    QUANTITIES
    L1_CYCLES "L1 latency" "core cycles";
    L2_CYCLES "L2 latency" "core cycles";
    L1_SIZE "L1 size" "KiB";
    L2_SIZE "L2 size" "KiB";
    L1_TLB "L1 TLB" "entries";
    L2_TLB "L2 TLB" "entries";
    REORDER_BUFFER "reorder buffer" "instructions";
    LINE "line" "bytes";
    MISSES "concurrent memory requests of a core" "lines";
    LOCAL "local memory latency" "ns";
    REMOTE "remote memory latency" "ns";
    SAME_SOCKET "latency of memory of another node of the socket" "ns";
    INTERLEAVED "latency of memory interleaved over both sockets" "ns";
    READ_OF_NODE "read bandwidth of a node" "GB/s";
    READ_OF_SOCKET "read bandwidth of a socket" "GB/s";
    TRIAD_OF_TWO "triad bandwidth of two sockets" "GB/s";
    WITHIN_SOCKET "one-way core to core within a socket" "ns";
    BETWEEN_SOCKETS "one-way core to core between sockets" "ns";
}

/// A quantity of published figures, by its place in the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedQuantity(pub u8);

impl PublishedQuantity {
    /// Returns whether it depends on more than the core.
    pub const fn depends_on_machine(self) -> bool {
        self.0 >= LOCAL.0
    }

    /// Returns the quantity with this word in the table of figures; `None` for any other word.
    pub(super) fn called(word: &str) -> Option<PublishedQuantity> {
        QUANTITIES.iter().position(|(known, ..)| *known == word).map(|place| PublishedQuantity(place as u8))
    }

    /// Returns the name.
    pub fn name(self) -> &'static str {
        self.words().1
    }

    /// Returns the unit.
    pub fn unit(self) -> &'static str {
        self.words().2
    }

    fn words(self) -> (&'static str, &'static str, &'static str) {
        QUANTITIES.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}
