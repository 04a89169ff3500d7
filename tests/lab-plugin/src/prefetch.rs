//! A sequential prefetcher: proposes the lines that a walk in order brings in early.
//!
//! Like the streamers of real second-level caches it watches each 4 KiB of physical memory separately and
//! never crosses its boundary. It only proposes line numbers; the caller decides about their use. A proposed
//! line is there at once: lateness is not modelled.

use std::ops::RangeInclusive;

/// Base-2 logarithm of the lines of one watched block: 4 KiB of 64-byte lines.
const BLOCK_SHIFT: u32 = 6;
/// Number of watched blocks, as in Intel's description of its streamer: one forward or backward stream in
/// each of 32 pages.
const STREAMS: usize = 32;

/// The watched blocks of one CPU.
#[derive(Clone, Debug)]
pub struct Prefetcher {
    depth: u64,
    /// The latest line of each watched block, the latest block first.
    streams: Vec<u64>,
}

impl Prefetcher {
    /// Makes a prefetcher that runs `depth` lines ahead; 0 disables it.
    #[must_use]
    pub fn new(depth: u64) -> Self {
        Self { depth, streams: Vec::with_capacity(STREAMS) }
    }

    /// Notes an access to `line` and returns the lines to bring in: the next ones in the direction of the
    /// walk, if this line is a neighbour of the latest one in the same block.
    pub fn access(&mut self, line: u64) -> Option<RangeInclusive<u64>> {
        if self.depth == 0 {
            return None;
        }
        let block = line >> BLOCK_SHIFT;
        let known = self.streams.iter().position(|&latest| latest >> BLOCK_SHIFT == block);
        let previous = known.map(|at| self.streams.remove(at));
        self.streams.truncate(STREAMS - 1);
        self.streams.insert(0, line);

        let (first, last) = (block << BLOCK_SHIFT, block << BLOCK_SHIFT | ((1 << BLOCK_SHIFT) - 1));
        let ahead = match previous {
            Some(previous) if line == previous.wrapping_add(1) => {
                line + 1..=last.min(line.saturating_add(self.depth))
            }
            Some(previous) if line == previous.wrapping_sub(1) => {
                first.max(line.saturating_sub(self.depth))..=line.checked_sub(1)?
            }
            _ => return None,
        };
        (!ahead.is_empty()).then_some(ahead)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_depth_or_a_neighbouring_access_nothing_is_prefetched() {
        let mut none = Prefetcher::new(0);
        assert_eq!((none.access(64), none.access(65)), (None, None));
        let mut some = Prefetcher::new(4);
        assert_eq!((some.access(64), some.access(66), some.access(64)), (None, None, None));
        assert_eq!(some.access(64), None, "a repeated line has no direction");
    }

    #[test]
    fn both_directions_end_at_the_block() {
        let mut walk = Prefetcher::new(4);
        walk.access(64);
        assert_eq!(walk.access(65), Some(66..=69));
        walk.access(125);
        assert_eq!(walk.access(126), Some(127..=127));
        assert_eq!(walk.access(127), None, "the block ends here");
        assert_eq!(walk.access(128), None, "the next block starts without a direction");
        let mut back = Prefetcher::new(4);
        back.access(69);
        assert_eq!(back.access(68), Some(64..=67));
        back.access(66);
        assert_eq!(back.access(65), Some(64..=64));
        assert_eq!(back.access(64), None);
        let mut lowest = Prefetcher::new(4);
        lowest.access(1);
        assert_eq!(lowest.access(0), None);
    }

    #[test]
    fn streams_that_take_turns_do_not_disturb_each_other() {
        let mut walks = Prefetcher::new(1);
        for block in 0..STREAMS as u64 {
            assert_eq!(walks.access(block * 64), None);
        }
        for block in 0..STREAMS as u64 {
            assert_eq!(walks.access(block * 64 + 1), Some(block * 64 + 2..=block * 64 + 2));
        }
        // There is one more block than is watched: each is forgotten before its turn.
        for block in 0..=STREAMS as u64 {
            walks.access(block * 64 + 10);
        }
        for block in 0..=STREAMS as u64 {
            assert_eq!(walks.access(block * 64 + 11), None);
        }
    }
}
