//! The quantities of published figures.

/// Declares the quantities: the position of each, its constant, its name and its unit.
macro_rules! quantities {
    ($list:ident $($number:ident $name:ident $text:literal $unit:literal;)*) => {
        /// The names of the quantities, each with its unit.
        static $list: &[(&str, &str)] = &[$(($text, $unit)),*];
        enum Number { $($number),* }
        $(#[doc = concat!("The ", $text, ".")] pub const $name: PublishedQuantity = PublishedQuantity(Number::$number as u8);)*
    };
}

// Those of a core, then those that depend on the machine.
quantities! {
    QUANTITIES
    L1Cycles L1_CYCLES "L1 latency" "core cycles";
    L2Cycles L2_CYCLES "L2 latency" "core cycles";
    L1Size L1_SIZE "L1 size" "KiB";
    L2Size L2_SIZE "L2 size" "KiB";
    L1Tlb L1_TLB "L1 TLB" "entries";
    L2Tlb L2_TLB "L2 TLB" "entries";
    ReorderBuffer REORDER_BUFFER "reorder buffer" "instructions";
    Line LINE "line" "bytes";
    Misses MISSES "concurrent memory requests of a core" "lines";
    Local LOCAL "local memory latency" "ns";
    Remote REMOTE "remote memory latency" "ns";
    SameSocket SAME_SOCKET "latency of memory of another node of the socket" "ns";
    Interleaved INTERLEAVED "latency of memory interleaved over both sockets" "ns";
    ReadOfNode READ_OF_NODE "read bandwidth of a node" "GB/s";
    ReadOfSocket READ_OF_SOCKET "read bandwidth of a socket" "GB/s";
    TriadOfTwo TRIAD_OF_TWO "triad bandwidth of two sockets" "GB/s";
    WithinSocket WITHIN_SOCKET "one-way core to core within a socket" "ns";
    BetweenSockets BETWEEN_SOCKETS "one-way core to core between sockets" "ns";
}

/// A published quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PublishedQuantity(pub u8);

impl PublishedQuantity {
    /// Returns whether it depends on more than the core.
    #[must_use]
    pub const fn depends_on_machine(self) -> bool {
        self.0 >= LOCAL.0
    }

    /// Returns the name.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.words().0
    }

    /// Returns the unit.
    #[must_use]
    pub fn unit(self) -> &'static str {
        self.words().1
    }

    fn words(self) -> (&'static str, &'static str) {
        QUANTITIES.get(usize::from(self.0)).copied().unwrap_or_default()
    }
}
