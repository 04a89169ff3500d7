//! What was imposed on each long call of a kernel, and what generators got meanwhile.
//!
//! A call begins with the first access that the kernel makes and ends with its return.
//! Times are the caller's.

use std::fmt;

use crate::server::{Lines, Place};

/// What each server has served.
pub type Served = Vec<(Place, Lines)>;

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// What kind of kernel was called.
    pub kind: &'static str,
    /// When its first access began.
    pub from: u64,
    /// When it returned.
    pub to: u64,
    /// Blocks of known arithmetic since the call before.
    pub blocks: u64,
    /// Its accesses.
    pub hops: u64,
    /// Ticks that they were to take, all told.
    pub asked: u64,
    /// Those of them for which lines waited that others were served before.
    pub waited: u64,
    /// The longest time in which no generator sent for a line.
    pub gap: u64,
    /// What was served before it.
    pub before: Served,
    /// What was served until it was over.
    pub after: Served,
}

/// The calls of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    open: Option<Call>,
    /// The last one, which is kept when the next one begins: keeping takes time.
    closed: Option<Call>,
    kept: Vec<Call>,
    /// Blocks since the last one.
    blocks: u64,
}

impl Calls {
    /// An access of a kernel of this kind begins at `arrival`: if it is the first one, so does a call, before which was served what `served` tells.
    pub fn open(&mut self, kind: &'static str, arrival: u64, served: impl FnOnce() -> Served) {
        if self.open.is_none() {
            self.kept.extend(self.closed.take());
            let blocks = std::mem::take(&mut self.blocks);
            let (from, to, before, after) = (arrival, arrival, served(), Served::new());
            self.open =
                Some(Call { kind, from, to, blocks, hops: 0, asked: 0, waited: 0, gap: 0, before, after });
        }
    }

    /// A block of known arithmetic is over.
    pub fn block(&mut self) {
        self.blocks += 1;
    }

    /// The access is to take `asked` ticks, `waited` of them in a queue.
    pub fn hop(&mut self, asked: u64, waited: u64) {
        let Some(call) = &mut self.open else { return };
        call.hops += 1;
        call.asked = call.asked.saturating_add(asked);
        call.waited = call.waited.saturating_add(waited);
    }

    /// The kernel returns at `to`; a call of fewer than `fewest` accesses is not kept. Meanwhile generators sent for nothing
    /// during `gap` ticks at a time.
    pub fn close(&mut self, to: u64, gap: u64, fewest: u64, served: impl FnOnce() -> Served) {
        if let Some(call) = self.open.take().filter(|call| call.hops >= fewest) {
            self.closed = Some(Call { to, gap, after: served(), ..call });
        }
    }

    /// All calls that were kept.
    pub fn kept(&self) -> impl Iterator<Item = Call> + '_ {
        self.kept.iter().chain(&self.closed).cloned()
    }
}

impl fmt::Display for Call {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Call { kind, from, to, blocks, hops, asked, waited, gap, before, after } = self;
        write!(
            out,
            "{kind}; from {from}; to {to}; blocks {blocks}; hops {hops}; asked {asked}; waited {waited}; gap {gap}"
        )?;
        for ((place, before), (_, after)) in before.iter().zip(after) {
            let Lines { read, written, hops, prefetched } = after.since(*before);
            write!(out, "; {place} read {}+{read}", before.read)?;
            write!(out, " written {}+{written} hops {}+{hops}", before.written, before.hops)?;
            write!(out, " prefetched {}+{prefetched}", before.prefetched)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn served(read: u64, hops: u64) -> Served {
        vec![
            (Place::Node(0), Lines { read, written: read / 3, hops, prefetched: 2 * read }),
            (Place::Link, Lines::default()),
        ]
    }

    #[test]
    fn a_call_has_what_was_imposed_and_what_was_served() {
        let mut calls = Calls::default();
        calls.block();
        calls.block();
        calls.open("chase", 1000, || served(30, 7));
        calls.hop(500, 100);
        calls.open("chase", 1500, || panic!("once a call"));
        calls.hop(450, 50);
        calls.close(1975, 33, 2, || served(90, 9));
        assert_eq!(calls.kept().count(), 1);
        calls.open("chase", 5000, || served(90, 9));
        calls.hop(1, 0);
        calls.close(5001, 0, 2, || panic!("not kept"));
        calls.close(5002, 0, 0, || panic!("not open"));
        let lines: Vec<String> = calls.kept().map(|call| call.to_string()).collect();
        assert_eq!(
            lines,
            ["chase; from 1000; to 1975; blocks 2; hops 2; asked 950; waited 150; gap 33; \
              node 0 read 30+60 written 10+20 hops 7+2 prefetched 60+120; link read 0+0 written 0+0 hops 0+0 prefetched 0+0"]
        );
    }
}
