//! One partner on a thread of its own: its tasks and their execution.
//!
//! Between visits it sleeps, so that idle CPUs stay idle. During a visit it waits for tasks without a system call. It
//! maps nothing and prints nothing.

use core::sync::atomic::{AtomicU32, Ordering};

use latency_core::CpuId;
use latency_core::arch::{Delays, Flusher};
use latency_core::cores::{Exchange, ExchangeSide, Method, Patience, Ring, State, Walk};

use crate::error::{Attempt, MeasureError};
use crate::placement::Sites;
use crate::stopwatch::ThreadClock;
use latency_sys::cpu;
use latency_sys::mailbox::{Mailbox, Wait};
use latency_sys::thread::{self, wait_until};

/// The state that partners share with the first thread.
pub struct SharedByPartners<'s> {
    /// The partners.
    pub partners: &'s [Partner],
    /// The lines.
    pub sites: &'s Sites<Lines<'s>>,
    /// The instructions that flush lines from all caches, if there are any.
    pub flusher: Option<Flusher>,
}

/// Lines in one piece of memory.
#[derive(Debug)]
pub enum Lines<'s> {
    /// Lines that two CPUs exchange.
    Exchange(Exchange<'s>),
    /// A chain to be walked.
    Ring(Ring<'s>),
}

impl<'s> SharedByPartners<'s> {
    /// Returns the lines of a site that two CPUs exchange.
    pub fn exchange(&self, site: usize) -> Option<&Exchange<'s>> {
        match &self.sites.get(site)?.holds {
            Lines::Exchange(exchange) => Some(exchange),
            Lines::Ring(_) => None,
        }
    }

    /// Returns the chain of a site.
    pub fn ring(&self, site: usize) -> Option<&Ring<'s>> {
        match &self.sites.get(site)?.holds {
            Lines::Ring(ring) => Some(ring),
            Lines::Exchange(_) => None,
        }
    }

    /// Executes a task. Returns the delays of received messages; `None` if the task cannot be executed.
    fn obey(&self, task: PartnerTask, stop: &AtomicU32) -> Option<Delays> {
        match task {
            PartnerTask::Rest => {}
            PartnerTask::Pin(cpu) => cpu::pin_to(cpu).ok()?,
            PartnerTask::Answer(RoundTrips { site, place, method, count }) => {
                let patience = Patience { stop, polls: usize::MAX };
                return Some(
                    self.exchange(site)?.run(place, ExchangeSide::Second, method, count, &patience).delays,
                );
            }
            PartnerTask::Prepare(site, state) => self.ring(site)?.prepare(state, self.flusher?).ok()?,
            PartnerTask::Read(site) => self.ring(site)?.lap(Walk::Read).ok()?,
        }
        Some(Delays::NONE)
    }
}

/// A task of a partner.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum PartnerTask {
    /// Sleep until the next task.
    Rest,
    /// Run on this CPU.
    Pin(CpuId),
    /// Answer round trips.
    Answer(RoundTrips),
    /// Bring the chain of a site into this CPU's caches, in a state.
    Prepare(usize, State),
    /// Read the chain of a site.
    Read(usize),
}

/// Round trips to be answered.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// The site of the lines.
    pub site: usize,
    /// The position of the line at that site.
    pub place: usize,
    /// The method.
    pub method: Method,
    /// The number of round trips.
    pub count: usize,
}

/// A partner, as the first thread sees it.
#[repr(C, align(128))]
pub struct Partner {
    /// Its CPU time.
    pub clock: ThreadClock,
    /// Its tasks, and the delays of the messages that it received; `None` if a task could not be executed.
    pub mailbox: Mailbox<PartnerTask, Option<Delays>>,
    /// Number of times that it was found on another CPU than its own.
    moves: AtomicU32,
}

/// The partners of a point.
pub type Others<'x> = [Option<&'x Partner>; 2];

impl Partner {
    /// Returns a partner that rests.
    pub const fn idle() -> Partner {
        Partner { clock: ThreadClock::new(), mailbox: Mailbox::empty(), moves: AtomicU32::new(0) }
    }

    /// Returns the number of times that it was moved away from its CPU.
    pub fn moves(&self) -> u32 {
        // Relaxed: the end of the task publishes it.
        self.moves.load(Ordering::Relaxed)
    }

    /// Gives the partner a short task, and waits until it is done.
    ///
    /// # Errors
    ///
    /// [`MeasureError::HOPS_NOT_PROVEN`] if the task could not be executed.
    pub fn obeys(&self, task: PartnerTask) -> Attempt {
        self.mailbox.give(task);
        wait_until(&|| self.mailbox.is_obeyed(), &|| false);
        self.mailbox.answer().flatten().map(drop).ok_or(MeasureError::HOPS_NOT_PROVEN)
    }
}

/// Works as partner number `index` until it is dismissed.
pub fn work(shared: &SharedByPartners<'_>, index: usize) {
    let Some(own) = shared.partners.get(index) else { return };
    thread::name(c"partner");
    own.clock.is_of_this_thread();
    let mut home = None;
    own.mailbox.serve(|task| {
        if let PartnerTask::Pin(cpu) = task {
            home = Some(cpu);
        }
        let mut found = shared.obey(task, own.mailbox.stop_word());
        // Any thread may be moved: this task ran elsewhere, so the thread is pinned again for the next one.
        if let (Some(home), Some(_), true) = (home, found, task != PartnerTask::Rest)
            && cpu::current().is_ok_and(|(cpu, _)| cpu != home)
        {
            // Relaxed: only this thread writes it, and the end of the task publishes it.
            own.moves.fetch_add(1, Ordering::Relaxed);
            found = found.filter(|_| cpu::pin_to(home).is_ok());
        }
        (found, if task == PartnerTask::Rest { Wait::Asleep } else { Wait::Spinning })
    });
}

/// Ends all partners.
pub fn dismiss(shared: &SharedByPartners<'_>) {
    shared.partners.iter().for_each(|partner| partner.mailbox.dismiss());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::placement::made_of;
    use latency_core::arch::{Atomics, Line, Stamp};
    use latency_core::chain::{Chain, Order as Way};
    use latency_core::{Bytes, Worded};
    use std::thread;

    #[test]
    fn a_partner_executes_its_tasks_and_stops_on_request() {
        let mut memory = [(); 2].map(|()| std::vec![Line([0; 8]); 4 * 128]);
        let [exchanged, walked] = &mut memory;
        let chain = Chain::new(Way::Random, Bytes(64 * 192), Bytes(192), 7).unwrap();
        let sites = made_of([
            Lines::Ring(Ring::new(walked, &chain, Atomics::BASELINE).unwrap()),
            Lines::Exchange(Exchange::new(exchanged, Stamp::detect().unwrap(), Atomics::BASELINE)),
        ]);
        let partners = [Partner::idle()];
        let shared = SharedByPartners { partners: &partners, sites: &sites, flusher: Flusher::detect() };
        let [partner] = &partners;
        let mailbox = &partner.mailbox;
        let until_obeyed = || wait_until(&|| mailbox.is_obeyed(), &|| false);
        let obeyed = |task| partner.obeys(task).is_ok();
        thread::scope(|scope| {
            scope.spawn(|| work(&shared, 0));
            let cpu = cpu::allowed().unwrap().first().map(CpuId).unwrap();
            assert!(obeyed(PartnerTask::Pin(cpu)));
            let (method, count) = (Method::Message, 5);
            for place in [0, 3] {
                mailbox.give(PartnerTask::Answer(RoundTrips { site: 1, place, method, count }));
                let patience = Patience { stop: &AtomicU32::new(0), polls: 1000 };
                let mut made = 0;
                while made < count {
                    let exchange = shared.exchange(1).unwrap();
                    made += exchange.run(place, ExchangeSide::First, method, count - made, &patience).count;
                    thread::yield_now();
                }
                until_obeyed();
                assert!(mailbox.answer().flatten().unwrap().least < i64::MAX);
            }
            mailbox.give(PartnerTask::Answer(RoundTrips {
                site: 1,
                place: 1,
                method: Method::Cas,
                count: 1,
            }));
            mailbox.stop();
            until_obeyed();
            for state in State::ALL {
                assert!(
                    obeyed(PartnerTask::Prepare(0, state)) && obeyed(PartnerTask::Read(0)),
                    "{}",
                    state.word()
                );
            }
            assert!(!obeyed(PartnerTask::Read(1)) && !obeyed(PartnerTask::Pin(CpuId(8191))));
            assert!(obeyed(PartnerTask::Rest));
            dismiss(&shared);
        });
    }
}
