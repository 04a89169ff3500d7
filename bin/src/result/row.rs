//! One point of a result as files hold it: what two results are compared by.

use core::fmt::Write;

use latency_core::text::Text;

use super::sample::Sample;

/// One measured point of a saved result.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The initiator and target nodes.
    pub pair: Option<(u32, u32)>,
    /// Size, stride and latency.
    pub sample: Sample,
    /// Everything else that tells it from other points: order, kernel, pages, lanes.
    pub name: Text<64>,
}

impl Row {
    /// A row of nothing.
    pub const EMPTY: Row = Row { pair: None, sample: Sample::EMPTY, name: Text::EMPTY };

    /// Whether both are the same point of two results. What one does not tell may be as the other says.
    #[must_use]
    pub fn is_same_point(&self, other: &Row) -> bool {
        let (one, two) = (&self.sample, &other.sample);
        (one.size, one.stride) == (two.size, two.stride)
            && (self.pair.is_none() || other.pair.is_none() || self.pair == other.pair)
            && self.is_alike(other)
    }

    /// Whether both are points of one kind, whatever their sizes.
    #[must_use]
    pub fn is_alike(&self, other: &Row) -> bool {
        let unknown = self.name.is_empty() || other.name.is_empty();
        unknown || self.name.as_str() == other.name.as_str()
    }

    /// Adds a word to the name; one that does not fit any more is left out.
    pub fn describe(&mut self, word: core::fmt::Arguments<'_>) {
        let separator = if self.name.is_empty() { "" } else { " " };
        // A text takes a word whole or not at all.
        let _ = write!(self.name, "{separator}{word}");
    }
}
