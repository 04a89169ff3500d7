//! Which host a saved result is from.

use latency_core::text::Text;

use crate::result::row::Word;

/// The host of a result, as far as its file tells; no text can steer a terminal.
#[derive(Clone, Copy, Debug)]
pub struct Origin {
    /// Its name, or else the number of its boot.
    pub name: Text<96>,
    /// The name of its processor.
    pub cpu: Text<96>,
    /// Its NUMA nodes.
    pub nodes: u32,
    /// The first reason for which the result is not trusted entirely.
    pub reason: Word,
}

impl Origin {
    /// Nothing is known.
    pub const UNKNOWN: Origin = Origin { name: Text::EMPTY, cpu: Text::EMPTY, nodes: 0, reason: Word::EMPTY };
}
