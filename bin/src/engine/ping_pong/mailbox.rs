//! The partner on a thread of its own, and the words by which it is commanded.
//!
//! Between visits it sleeps, so that idle CPUs are idle. Within one it waits for orders without a system call. It maps
//! nothing and prints nothing.

use core::sync::atomic::{AtomicI64, AtomicU32, AtomicUsize, Ordering};

use latency_core::arch::Delays;
use latency_core::cores::{Exchange, Made, Method, Patience, Side};
use latency_core::units::CpuId;

use crate::sys::{cpu, thread};

/// What the partner shares with the first thread.
pub struct Shared<'s> {
    /// The words between them.
    pub mailbox: Mailbox,
    /// The lines, by their home.
    pub exchanges: &'s [Option<Exchange<'s>>],
}

/// What the partner is to do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Order {
    /// Sleep until the next order.
    Rest,
    /// Run on this CPU.
    Pin(CpuId),
    /// Answer.
    Answer(Answer),
}

/// Round trips to answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Answer {
    /// The place of the line's home among all.
    pub home: usize,
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
const QUIT: u32 = 3;

/// The words between the first thread and its partner.
#[repr(C, align(128))]
pub struct Mailbox {
    /// The number of the last order, another one for each.
    order: AtomicU32,
    /// The number of the last order that was obeyed.
    obeyed: AtomicU32,
    /// Ends what is being answered.
    stop: AtomicU32,
    kind: AtomicU32,
    cpu: AtomicU32,
    /// Whether the partner may not run on its CPU.
    kept_out: AtomicU32,
    home: AtomicUsize,
    place: AtomicUsize,
    method: AtomicUsize,
    count: AtomicUsize,
    /// The delays of the messages that were answered.
    sum: AtomicI64,
    least: AtomicI64,
}

impl Mailbox {
    /// A partner that rests.
    #[must_use]
    pub const fn new() -> Mailbox {
        Mailbox {
            order: AtomicU32::new(0),
            obeyed: AtomicU32::new(0),
            stop: AtomicU32::new(0),
            kind: AtomicU32::new(REST),
            cpu: AtomicU32::new(0),
            kept_out: AtomicU32::new(0),
            home: AtomicUsize::new(0),
            place: AtomicUsize::new(0),
            method: AtomicUsize::new(0),
            count: AtomicUsize::new(0),
            sum: AtomicI64::new(0),
            least: AtomicI64::new(0),
        }
    }

    /// Gives an order to a partner that has obeyed the one before.
    pub fn give(&self, order: Order) {
        let kind = match order {
            Order::Rest => REST,
            Order::Pin(cpu) => {
                self.cpu.store(cpu.0, Ordering::Relaxed);
                PIN
            }
            Order::Answer(Answer { home, place, method, count }) => {
                let words = [
                    (&self.home, home),
                    (&self.place, place),
                    (&self.method, method as usize),
                    (&self.count, count),
                ];
                for (word, value) in words {
                    word.store(value, Ordering::Relaxed);
                }
                ANSWER
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

    /// Has the partner leave off what it answers, or not.
    pub fn stop(&self, stop: bool) {
        self.stop.store(stop.into(), Ordering::SeqCst);
    }

    /// The word that ends an exchange, for both sides.
    pub const fn stop_word(&self) -> &AtomicU32 {
        &self.stop
    }

    /// The CPU that it was sent to last, where it may not run there.
    pub fn kept_out(&self) -> Option<CpuId> {
        let kept_out = self.kept_out.load(Ordering::Relaxed) != 0;
        kept_out.then(|| CpuId(self.cpu.load(Ordering::Relaxed)))
    }

    /// The delays of the messages that it received under its last order.
    pub fn delays(&self) -> Delays {
        Delays { sum: self.sum.load(Ordering::Relaxed), least: self.least.load(Ordering::Relaxed) }
    }

    fn tell(&self, kind: u32) {
        self.kind.store(kind, Ordering::Relaxed);
        self.order.fetch_add(1, Ordering::Release);
    }

    /// Does what is ordered.
    fn obey(&self, kind: u32, exchanges: &[Option<Exchange<'_>>]) {
        match kind {
            PIN => {
                let pinned = cpu::pin_to(CpuId(self.cpu.load(Ordering::Relaxed)));
                self.kept_out.store(pinned.is_err().into(), Ordering::Relaxed);
            }
            ANSWER => {
                let word = |word: &AtomicUsize| word.load(Ordering::Relaxed);
                let method = Method::ALL.get(word(&self.method)).copied().unwrap_or_default();
                let patience = Patience { stop: &self.stop, polls: usize::MAX };
                let Some(Some(exchange)) = exchanges.get(word(&self.home)) else { return };
                let Made { delays, .. } =
                    exchange.run(word(&self.place), Side::Second, method, word(&self.count), &patience);
                self.sum.store(delays.sum, Ordering::Relaxed);
                self.least.store(delays.least, Ordering::Relaxed);
            }
            _ => {}
        }
    }
}

/// The work of the partner, until it is dismissed.
pub fn work(shared: &Shared<'_>, _: usize) {
    thread::name(c"partner");
    let own = &shared.mailbox;
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
        own.obey(kind, shared.exchanges);
        (obeyed, rests) = (order, kind == REST);
        own.obeyed.store(order, Ordering::Release);
    }
}

/// Has the partner end.
pub fn dismiss(shared: &Shared<'_>) {
    shared.mailbox.stop(true);
    shared.mailbox.tell(QUIT);
    thread::wake(&shared.mailbox.order);
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::arch::{Line, Stamp};
    use std::thread;

    #[test]
    fn a_partner_answers_as_often_as_it_is_asked_and_leaves_off_when_told() {
        let mut memory = std::vec![Line([0; 8]); 4 * 128];
        let exchange = Exchange::new(&mut memory, Stamp::detect().unwrap());
        let exchanges = [None, Some(exchange)];
        let shared = Shared { mailbox: Mailbox::new(), exchanges: &exchanges };
        let mailbox = &shared.mailbox;
        let obeyed = || {
            while !mailbox.is_obeyed() {
                thread::yield_now();
            }
        };
        thread::scope(|scope| {
            scope.spawn(|| work(&shared, 0));
            let cpu = cpu::allowed().unwrap().first().map(CpuId).unwrap();
            mailbox.give(Order::Pin(cpu));
            obeyed();
            assert_eq!(mailbox.kept_out(), None);
            for (place, method) in [(0, Method::Message), (3, Method::Message)] {
                let count = 5;
                mailbox.give(Order::Answer(Answer { home: 1, place, method, count }));
                let patience = Patience { stop: &AtomicU32::new(0), polls: 1000 };
                let mut made = 0;
                while made < count {
                    let exchange = exchanges[1].as_ref().unwrap();
                    made += exchange.run(place, Side::First, method, count - made, &patience).count;
                    thread::yield_now();
                }
                obeyed();
                assert!(mailbox.delays().least < i64::MAX);
            }
            let answer = Answer { home: 1, place: 1, method: Method::Cas, count: 1 };
            mailbox.give(Order::Answer(answer));
            mailbox.stop(true);
            obeyed();
            mailbox.stop(false);
            mailbox.give(Order::Pin(CpuId(8191)));
            obeyed();
            assert_eq!(mailbox.kept_out(), Some(CpuId(8191)));
            mailbox.give(Order::Rest);
            obeyed();
            dismiss(&shared);
        });
    }
}
