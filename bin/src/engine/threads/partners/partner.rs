//! One partner on a thread of its own: its tasks, and how it does them.
//!
//! Between visits it sleeps, so that idle CPUs are idle. Within one it waits for tasks without a system call. It maps
//! nothing and prints nothing.

use core::sync::atomic::{AtomicU32, Ordering};

use latency_core::arch::{Delays, Flusher};
use latency_core::cores::{Exchange, ExchangeSide, Method, Patience, Ring, State, Walk};
use latency_core::units::CpuId;

use crate::engine::memory::sites::Sites;
use crate::engine::stopwatch::cpu_time::ThreadClock;
use crate::error::Failure;
use crate::sys::mailbox::{Mailbox, Wait, wait_until};
use crate::sys::{cpu, thread};

/// The state that partners share with the first thread.
pub struct SharedByPartners<'s> {
    /// The partners.
    pub partners: &'s [Partner],
    /// The lines.
    pub sites: &'s Sites<Lines<'s>>,
    /// The means by which they leave all caches, if there is one.
    pub flusher: Option<Flusher>,
}

/// Lines in one piece of memory.
#[derive(Debug)]
pub enum Lines<'s> {
    /// Some that go to and fro.
    Exchange(Exchange<'s>),
    /// A chain that is walked over.
    Ring(Ring<'s>),
}

impl<'s> SharedByPartners<'s> {
    /// Returns the lines of a site that go to and fro.
    #[must_use]
    pub fn exchange(&self, site: usize) -> Option<&Exchange<'s>> {
        match &self.sites.get(site)?.holds {
            Lines::Exchange(exchange) => Some(exchange),
            Lines::Ring(_) => None,
        }
    }

    /// Returns the chain of a site.
    #[must_use]
    pub fn ring(&self, site: usize) -> Option<&Ring<'s>> {
        match &self.sites.get(site)?.holds {
            Lines::Ring(ring) => Some(ring),
            Lines::Exchange(_) => None,
        }
    }

    /// Does a task. Returns the delays of messages that were received; `None` where it cannot be done.
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
    /// Bring the chain of a site into the own caches, in a state.
    Prepare(usize, State),
    /// Read the chain of a site.
    Read(usize),
}

/// Round trips to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoundTrips {
    /// The site of the lines.
    pub site: usize,
    /// The place there.
    pub place: usize,
    /// The method.
    pub method: Method,
    /// Their number.
    pub count: usize,
}

/// A partner, as the first thread sees it.
#[repr(C, align(128))]
pub struct Partner {
    /// Its CPU time.
    pub clock: ThreadClock,
    /// Its tasks, and the delays of the messages that it received; `None` where a task could not be done.
    pub mailbox: Mailbox<PartnerTask, Option<Delays>>,
    /// Times that it was found on another CPU than its own.
    moves: AtomicU32,
}

/// The partners that a point has.
pub type Others<'x> = [Option<&'x Partner>; 2];

impl Partner {
    /// Makes a partner that rests.
    #[must_use]
    pub const fn new() -> Partner {
        Partner { clock: ThreadClock::new(), mailbox: Mailbox::empty(), moves: AtomicU32::new(0) }
    }

    /// Returns how many times it was moved away from its CPU.
    pub fn moves(&self) -> u32 {
        self.moves.load(Ordering::Relaxed)
    }

    /// Gives a task that is over at once, and waits until it is done.
    ///
    /// # Errors
    ///
    /// [`Failure::HOPS_NOT_PROVEN`] where it could not be obeyed.
    pub fn obeys(&self, task: PartnerTask) -> Result<(), Failure<'static>> {
        self.mailbox.give(task);
        wait_until(&|| self.mailbox.is_obeyed(), &|| false);
        self.mailbox.answer().flatten().map(drop).ok_or(Failure::HOPS_NOT_PROVEN)
    }
}

/// Works as the partner with that index, until it is dismissed.
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
        // Any thread may be moved: this task was done elsewhere, and the next one is to be done at home.
        if let (Some(home), Some(_), true) = (home, found, task != PartnerTask::Rest)
            && cpu::current().is_ok_and(|(cpu, _)| cpu != home)
        {
            own.moves.fetch_add(1, Ordering::Relaxed);
            found = found.filter(|_| cpu::pin_to(home).is_ok());
        }
        (found, if task == PartnerTask::Rest { Wait::Asleep } else { Wait::Spinning })
    });
}

/// Has all partners end.
pub fn dismiss(shared: &SharedByPartners<'_>) {
    shared.partners.iter().for_each(|partner| partner.mailbox.dismiss());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::sites::made_of;
    use latency_core::arch::{Line, Stamp};
    use latency_core::chain::{Chain, Order as Way};
    use latency_core::units::Bytes;
    use std::thread;

    #[test]
    fn a_helper_does_as_it_is_told_and_leaves_off_when_told() {
        let mut memory = [(); 2].map(|()| std::vec![Line([0; 8]); 4 * 128]);
        let [exchanged, walked] = &mut memory;
        let chain = Chain::new(Way::Random, Bytes(64 * 192), Bytes(192), 7).unwrap();
        let sites = made_of([
            Lines::Ring(Ring::new(walked, &chain).unwrap()),
            Lines::Exchange(Exchange::new(exchanged, Stamp::detect().unwrap())),
        ]);
        let partners = [Partner::new()];
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
                    state.name()
                );
            }
            assert!(!obeyed(PartnerTask::Read(1)) && !obeyed(PartnerTask::Pin(CpuId(8191))));
            assert!(obeyed(PartnerTask::Rest));
            dismiss(&shared);
        });
    }
}
