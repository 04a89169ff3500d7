//! One helper on a thread of its own, and the words by which it is commanded.
//!
//! Between visits it sleeps, so that idle CPUs are idle. Within one it waits for orders without a system call. It maps
//! nothing and prints nothing.

use core::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};

use latency_core::arch::{Delays, Flusher};
use latency_core::cores::{Exchange, Made, Method, Patience, Ring, Side, State, Walk};
use latency_core::units::CpuId;

use crate::engine::cpu_time::ThreadClock;
use crate::engine::memory::pieces::Sites;
use crate::sys::{cpu, thread};

/// What helpers share with the first thread.
pub struct Shared<'s> {
    /// The words between it and each of them.
    pub boxes: &'s [Mailbox],
    /// The lines.
    pub sites: &'s Sites<Lines<'s>>,
    /// How they leave all caches, if that can be.
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

impl<'s> Shared<'s> {
    /// The lines at a place among all that go to and fro.
    #[must_use]
    pub fn exchange(&self, site: usize) -> Option<&Exchange<'s>> {
        match &self.sites.get(site)?.holds {
            Lines::Exchange(exchange) => Some(exchange),
            Lines::Ring(_) => None,
        }
    }

    /// The chain at a place among all.
    #[must_use]
    pub fn ring(&self, site: usize) -> Option<&Ring<'s>> {
        match &self.sites.get(site)?.holds {
            Lines::Ring(ring) => Some(ring),
            _ => None,
        }
    }
}

/// What a helper is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Sleep until the next order.
    Rest,
    /// Run on this CPU.
    Pin(CpuId),
    /// Answer.
    Answer(Answer),
    /// Have the chain at that place in its caches, in a state.
    Prepare(usize, State),
    /// Read the chain at that place.
    Read(usize),
}

/// Round trips to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The lines among all.
    pub site: usize,
    /// The place there.
    pub place: usize,
    /// How.
    pub method: Method,
    /// How many.
    pub count: usize,
}

/// The kinds of orders.
const REST: u32 = 0;
const PIN: u32 = 1;
const ANSWER: u32 = 2;
const PREPARE: u32 = 3;
const READ: u32 = 4;
const QUIT: u32 = 5;

/// The words between the first thread and a helper.
#[repr(C, align(128))]
pub struct Mailbox {
    /// Its CPU time.
    pub clock: ThreadClock,
    /// The number of the last order, another one for each.
    order: AtomicU32,
    /// The number of the last order that was obeyed.
    obeyed: AtomicU32,
    /// Ends what is being answered.
    stop: AtomicU32,
    kind: AtomicU32,
    cpu: AtomicU32,
    /// Whether the last order could not be obeyed.
    failed: AtomicU32,
    /// How often it was found on another CPU than its own.
    moves: AtomicU32,
    site: AtomicUsize,
    place: AtomicUsize,
    /// A method or a state, by its place among all of them.
    how: AtomicUsize,
    count: AtomicUsize,
    /// The delays of the messages that were answered.
    sum: AtomicI64,
    least: AtomicI64,
}

impl Mailbox {
    /// A helper that rests.
    #[must_use]
    pub const fn new() -> Mailbox {
        Mailbox {
            clock: ThreadClock::new(),
            order: AtomicU32::new(0),
            obeyed: AtomicU32::new(0),
            stop: AtomicU32::new(0),
            kind: AtomicU32::new(REST),
            cpu: AtomicU32::new(0),
            failed: AtomicU32::new(0),
            moves: AtomicU32::new(0),
            site: AtomicUsize::new(0),
            place: AtomicUsize::new(0),
            how: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            sum: AtomicI64::new(0),
            least: AtomicI64::new(0),
        }
    }

    /// Gives an order to a helper that has obeyed the one before.
    pub fn give(&self, order: Order) {
        let set = |word: &AtomicUsize, value| word.store(value, Ordering::Relaxed);
        let kind = match order {
            Order::Rest => REST,
            Order::Pin(cpu) => {
                self.cpu.store(cpu.0, Ordering::Relaxed);
                PIN
            }
            Order::Answer(Answer { site, place, method, count }) => {
                set(&self.site, site);
                set(&self.place, place);
                set(&self.how, method as usize);
                set(&self.count, count);
                ANSWER
            }
            Order::Prepare(site, state) => {
                set(&self.site, site);
                set(&self.how, state as usize);
                PREPARE
            }
            Order::Read(site) => {
                set(&self.site, site);
                READ
            }
        };
        self.tell(kind);
        // It sleeps only until it is told where to run.
        if kind == PIN {
            thread::wake(&self.order);
        }
    }

    /// Whether the last order was obeyed.
    pub fn is_obeyed(&self) -> bool {
        self.obeyed.load(Ordering::Acquire) == self.order.load(Ordering::Relaxed)
    }

    /// Whether the last order, which was obeyed, came to nothing.
    pub fn has_failed(&self) -> bool {
        self.failed.load(Ordering::Relaxed) != 0
    }

    /// How often the helper was moved away from its CPU.
    pub fn moves(&self) -> u32 {
        self.moves.load(Ordering::Relaxed)
    }

    /// The CPU that it was last told to run on.
    pub fn cpu(&self) -> CpuId {
        CpuId(self.cpu.load(Ordering::Relaxed))
    }

    /// Has the helper leave off what it answers, or not.
    pub fn stop(&self, stop: bool) {
        self.stop.store(stop.into(), Ordering::SeqCst);
    }

    /// The word that ends an exchange, for both sides.
    pub const fn stop_word(&self) -> &AtomicU32 {
        &self.stop
    }

    /// The delays of the messages that it received under its last order.
    pub fn delays(&self) -> Delays {
        Delays { sum: self.sum.load(Ordering::Relaxed), least: self.least.load(Ordering::Relaxed) }
    }

    fn tell(&self, kind: u32) {
        self.kind.store(kind, Ordering::Relaxed);
        self.order.fetch_add(1, Ordering::Release);
    }

    /// Does what is ordered; `None` where that cannot be done.
    fn obey(&self, kind: u32, shared: &Shared<'_>) -> Option<()> {
        let word = |word: &AtomicUsize| word.load(Ordering::Relaxed);
        let site = word(&self.site);
        let home = self.cpu();
        match kind {
            PIN => cpu::pin_to(home).ok(),
            ANSWER => {
                let method = *Method::ALL.get(word(&self.how))?;
                let patience = Patience { stop: &self.stop, polls: usize::MAX };
                let (place, count) = (word(&self.place), word(&self.count));
                let Made { delays, .. } =
                    shared.exchange(site)?.run(place, Side::Second, method, count, &patience);
                self.sum.store(delays.sum, Ordering::Relaxed);
                self.least.store(delays.least, Ordering::Relaxed);
                Some(())
            }
            PREPARE => shared.ring(site)?.prepare(*State::ALL.get(word(&self.how))?, shared.flusher?).ok(),
            READ => shared.ring(site)?.lap(Walk::Read).ok(),
            _ => Some(()),
        }?;
        // Somebody may move any thread: this order was obeyed elsewhere, and the next one is to be obeyed at home.
        if kind != REST && cpu::current().is_ok_and(|(cpu, _)| cpu != home) {
            self.moves.fetch_add(1, Ordering::Relaxed);
            cpu::pin_to(home).ok()?;
        }
        Some(())
    }
}

/// The work of the helper with that index, until it is dismissed.
pub fn work(shared: &Shared<'_>, index: usize) {
    let Some(own) = shared.boxes.get(index) else { return };
    thread::name(c"partner");
    own.clock.is_of_this_thread();
    let (mut obeyed, mut rests) = (0, true);
    loop {
        let order = own.order.load(Ordering::Acquire);
        if order == obeyed {
            match rests {
                true => thread::wait(&own.order, obeyed),
                false => core::hint::spin_loop(),
            }
            continue;
        }
        let kind = own.kind.load(Ordering::Relaxed);
        if kind == QUIT {
            return;
        }
        let failed = own.obey(kind, shared).is_none();
        own.failed.store(failed.into(), Ordering::Relaxed);
        (obeyed, rests) = (order, kind == REST);
        own.obeyed.store(order, Ordering::Release);
    }
}

/// Has all helpers end.
pub fn dismiss(shared: &Shared<'_>) {
    for mailbox in shared.boxes {
        mailbox.stop(true);
        mailbox.tell(QUIT);
        thread::wake(&mailbox.order);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::memory::pieces::made_of;
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
        let boxes = [Mailbox::new()];
        let shared = Shared { boxes: &boxes, sites: &sites, flusher: Flusher::detect() };
        let [mailbox] = &boxes;
        let obeyed = |order| {
            mailbox.give(order);
            while !mailbox.is_obeyed() {
                thread::yield_now();
            }
            !mailbox.has_failed()
        };
        thread::scope(|scope| {
            scope.spawn(|| work(&shared, 0));
            let cpu = cpu::allowed().unwrap().first().map(CpuId).unwrap();
            assert!(obeyed(Order::Pin(cpu)));
            let (method, count) = (Method::Message, 5);
            for place in [0, 3] {
                mailbox.give(Order::Answer(Answer { site: 1, place, method, count }));
                let patience = Patience { stop: &AtomicU32::new(0), polls: 1000 };
                let mut made = 0;
                while made < count {
                    let exchange = shared.exchange(1).unwrap();
                    made += exchange.run(place, Side::First, method, count - made, &patience).count;
                    thread::yield_now();
                }
                while !mailbox.is_obeyed() {
                    thread::yield_now();
                }
                assert!(mailbox.delays().least < i64::MAX);
            }
            mailbox.give(Order::Answer(Answer { site: 1, place: 1, method: Method::Cas, count: 1 }));
            mailbox.stop(true);
            while !mailbox.is_obeyed() {
                thread::yield_now();
            }
            mailbox.stop(false);
            for state in State::ALL {
                assert!(obeyed(Order::Prepare(0, state)) && obeyed(Order::Read(0)), "{}", state.name());
            }
            assert!(!obeyed(Order::Read(1)) && !obeyed(Order::Pin(CpuId(8191))));
            assert!(obeyed(Order::Rest));
            dismiss(&shared);
        });
    }
}
