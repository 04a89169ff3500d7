//! The latency imposed on each long call of a kernel, and the traffic of generators meanwhile.
//!
//! A call lasts from the first access of the kernel to its return, or, for kernels between cores, to the stamp that closes
//! the guest's window around it. The caller passes all times.

use std::fmt;

use crate::server::{Lines, Place};

/// The kind of loops.
pub const CHASE: &str = "chase";
/// The kind of kernels between cores.
pub const CORES: &str = "cores";

/// Lines that each server has served.
pub type Served = Vec<(Place, Lines)>;

/// A call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Kind of the kernel.
    pub kind: &'static str,
    /// Beginning of its first access.
    pub from: u64,
    /// Time of its return, or of the closing stamp.
    pub to: u64,
    /// Blocks of known arithmetic since the call before.
    pub blocks: u64,
    /// Number of its accesses.
    pub hops: u64,
    /// Modelled ticks of all accesses.
    pub asked: u64,
    /// Part of `asked` that lines spent waiting for others.
    pub waited: u64,
    /// The longest time in which no generator requested a line.
    pub gap: u64,
    /// Lines served before the call.
    pub before: Served,
    /// Lines served until the end of the call.
    pub after: Served,
}

/// The calls of one CPU.
#[derive(Clone, Debug, Default)]
pub struct Calls {
    open: Option<Call>,
    /// The last call. It is kept when the next one begins, because keeping takes time.
    closed: Option<Call>,
    kept: Vec<Call>,
    /// Blocks since the last call.
    blocks: u64,
    /// Time of the stamp that opened the current window.
    window: Option<u64>,
}

impl Calls {
    /// Notes an access at `arrival` by a kernel of this kind. The first access opens a call; `served` returns
    /// the lines served before it.
    pub fn open(&mut self, kind: &'static str, arrival: u64, served: impl FnOnce() -> Served) {
        if self.open.is_none() {
            self.kept.extend(self.closed.take());
            let blocks = std::mem::take(&mut self.blocks);
            let (from, to, before, after) = (arrival, arrival, served(), Served::new());
            self.open =
                Some(Call { kind, from, to, blocks, hops: 0, asked: 0, waited: 0, gap: 0, before, after });
        }
    }

    /// Counts a completed block of known arithmetic.
    pub fn block(&mut self) {
        self.blocks += 1;
    }

    /// Notes an access of `asked` ticks, with `waited` of them in a queue.
    pub fn hop(&mut self, asked: u64, waited: u64) {
        let Some(call) = &mut self.open else { return };
        call.hops += 1;
        call.asked = call.asked.saturating_add(asked);
        call.waited = call.waited.saturating_add(waited);
    }

    /// Closes the call at `to`; a call of fewer than `fewest` accesses is not kept. `gap` is the longest time
    /// during the call in which generators requested no line.
    pub fn close(&mut self, to: u64, gap: u64, fewest: u64, served: impl FnOnce() -> Served) {
        if let Some(call) = self.open.take().filter(|call| call.hops >= fewest) {
            self.closed = Some(Call { to, gap, after: served(), ..call });
        }
    }

    /// Notes the stamp at `now` that opens a window.
    pub fn open_window(&mut self, now: u64) {
        self.window = Some(now);
    }

    /// Notes the stamp at `now` that closes the window. A call between cores in this window lasts until then: its return
    /// takes the host some microseconds if other programs use its caches, and a chain is walked only once.
    pub fn close_window(&mut self, now: u64) {
        let (Some(opened), Some(call)) = (self.window.take(), &mut self.closed) else { return };
        if call.kind == CORES && call.from >= opened {
            call.to = now;
        }
    }

    /// Returns all kept calls.
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
    fn a_call_between_cores_lasts_until_the_closing_stamp() {
        let call = |kind, from| {
            let mut calls = Calls::default();
            calls.open_window(100);
            calls.open(kind, from, Served::new);
            calls.hop(500, 0);
            calls.close(700, 0, 1, Served::new);
            for stamp in [720, 790] {
                calls.close_window(stamp);
            }
            calls.kept().map(|call| call.to).collect::<Vec<_>>()
        };
        assert_eq!((call(CORES, 100), call(CORES, 90), call(CHASE, 100)), (vec![720], vec![700], vec![700]));
    }

    #[test]
    fn a_call_records_imposed_ticks_and_served_lines() {
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
