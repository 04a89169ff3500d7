//! A mailbox through which a thread gives orders to another thread, and gets its answers.
//!
//! The state decides which thread may access the two cells:
//!
//! ```text
//!  owner:  Idle -> Writing  writes the order   Writing -> Ordered
//!  worker: Ordered -> Busy  reads the order, obeys, writes the answer   Busy -> Idle
//!  owner:  Idle -> Reading  reads the answer   Reading -> Idle
//!  anyone: any -> Dismissed
//! ```
//!
//! The order is written only while the worker waits, and the answer is written only while the owner waits. Each step is
//! a compare-and-exchange, and succeeds for one thread. A step into Writing, Busy or Reading acquires, and a step out of
//! it releases: a thread in one of these states sees all writes before the last step out of any of them. A dismissal
//! needs neither cell; the worker notices it at its next check, or when it tries to leave Busy.
//!
//! `tests/mailbox` compiles this file with the atomics of a model checker in place of those of `shared`, and
//! executes every order of accesses that Rust's memory model allows.
//!
//! # Safety
//!
//! Only the thread that made the step into Writing, Busy or Reading accesses the cells, and only until its next step.
//! No other step leaves these states except a dismissal, after which no step succeeds: then only the thread that
//! already had access still has it.

use super::shared::{AtomicU32, Ordering, SharedCell, spin_loop, wait, wake};

const IDLE: u32 = 0;
const WRITING: u32 = 1;
const ORDERED: u32 = 2;
const BUSY: u32 = 3;
const READING: u32 = 4;
const DISMISSED: u32 = 5;

/// The orders of type `O` to a worker, and its answers of type `A`.
pub struct Mailbox<O, A> {
    state: AtomicU32,
    /// Ends the execution of the current order when it is not zero; each order resets it.
    stop: AtomicU32,
    /// True if the worker sleeps while it waits. Like the cells, it is written in Busy and read in Writing.
    sleeps: AtomicU32,
    order: SharedCell<Option<O>>,
    answer: SharedCell<Option<A>>,
}

// SAFETY: the cells pass copies of orders and answers, which are `Send`, between threads; by the steps of the state,
// one thread at a time accesses them.
unsafe impl<O: Copy + Send, A: Copy + Send> Sync for Mailbox<O, A> {}

/// The wait of a worker for its next order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// Asleep, so that an idle CPU stays idle.
    Asleep,
    /// Without a system call, for an order that comes at once.
    Spinning,
}

impl<O: Copy, A: Copy> Mailbox<O, A> {
    /// Returns a mailbox without an order, for a worker that sleeps.
    pub const fn empty() -> Mailbox<O, A> {
        Mailbox {
            state: AtomicU32::new(IDLE),
            stop: AtomicU32::new(0),
            sleeps: AtomicU32::new(1),
            order: SharedCell::new(None),
            answer: SharedCell::new(None),
        }
    }

    /// Steps into a state with access to the cells; returns false if the state is not `from`.
    fn enter(&self, from: u32, to: u32) -> bool {
        // Acquire: the accesses of this thread come after those of the last thread with access. A step that fails gives
        // no access, so it orders nothing.
        self.state.compare_exchange(from, to, Ordering::Acquire, Ordering::Relaxed).is_ok()
    }

    /// Steps out of a state with access to the cells, unless the mailbox was dismissed meanwhile.
    fn leave(&self, from: u32, to: u32) {
        // Release: the accesses of this thread come before those of the next thread with access. After a dismissal there
        // is none; the end of the worker's thread then publishes its writes.
        let _ = self.state.compare_exchange(from, to, Ordering::Release, Ordering::Relaxed);
    }

    /// Gives an order as soon as the previous order is done; a dismissed worker gets none.
    pub fn give(&self, order: O) {
        while !self.enter(IDLE, WRITING) {
            // Relaxed: nothing is read after a dismissal.
            if self.state.load(Ordering::Relaxed) == DISMISSED {
                return;
            }
            spin_loop();
        }
        // Relaxed: the step to Ordered publishes it, so the worker sees this value or a later stop.
        self.stop.store(0, Ordering::Relaxed);
        // SAFETY: this thread has stepped into Writing, and makes its next step below.
        self.order.with_mut(|cell| unsafe { *cell = Some(order) });
        // Relaxed: the worker wrote it before its step to Idle, and writes it again only after the step below.
        let sleeps = self.sleeps.load(Ordering::Relaxed) != 0;
        self.leave(WRITING, ORDERED);
        if sleeps {
            wake(&self.state);
        }
    }

    /// Returns true if the worker waits: the last order is done, and all that the worker wrote for it is visible.
    pub fn is_obeyed(&self) -> bool {
        // Acquire: pairs with the worker's step to Idle, for results outside of the mailbox.
        self.state.load(Ordering::Acquire) == IDLE
    }

    /// Returns the answer to the last order; `None` before there is one.
    pub fn answer(&self) -> Option<A> {
        if !self.enter(IDLE, READING) {
            return None;
        }
        // SAFETY: this thread has stepped into Reading, and makes its next step below.
        let answer = self.answer.with(|cell| unsafe { *cell });
        self.leave(READING, IDLE);
        answer
    }

    /// Stops the execution of the current order, if the worker reads the [`stop_word`](Self::stop_word).
    pub fn stop(&self) {
        // Relaxed: the word says only that the order ends; nothing is handed over with it.
        self.stop.store(1, Ordering::Relaxed);
    }

    /// Returns the word that ends the execution of an order when it is not zero.
    pub const fn stop_word(&self) -> &AtomicU32 {
        &self.stop
    }

    /// Stops the execution of the current order, and ends the worker.
    pub fn dismiss(&self) {
        // The order of these steps matters: after the first, no new order can reset the word. Acquire: another thread
        // that gave an order before this step also reset the word before the store below.
        self.state.swap(DISMISSED, Ordering::Acquire);
        self.stop();
        wake(&self.state);
    }

    /// Executes orders on the worker's thread until it is dismissed; `obey` also returns the kind of wait for the next
    /// order.
    pub fn serve(&self, mut obey: impl FnMut(O) -> (A, Wait)) {
        let mut next = Wait::Asleep;
        loop {
            // Relaxed: nothing is read after a dismissal, and the step to Busy acquires.
            match (self.state.load(Ordering::Relaxed), next) {
                (DISMISSED, _) => return,
                (ORDERED, _) if self.enter(ORDERED, BUSY) => {
                    // SAFETY: this thread has stepped into Busy, and makes its next step below.
                    let order = self.order.with(|cell| unsafe { *cell });
                    if let Some(order) = order {
                        let (answer, wait) = obey(order);
                        next = wait;
                        // SAFETY: this thread is still in Busy.
                        self.answer.with_mut(|cell| unsafe { *cell = Some(answer) });
                    }
                    // Relaxed: the step to Idle publishes it.
                    self.sleeps.store((next == Wait::Asleep).into(), Ordering::Relaxed);
                    self.leave(BUSY, IDLE);
                }
                (IDLE, Wait::Asleep) => wait(&self.state, IDLE),
                _ => spin_loop(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::thread::wait_until;
    use std::thread;

    const NEVER: &dyn Fn() -> bool = &|| false;

    #[test]
    fn each_order_is_executed_once_with_a_complete_answer() {
        const ORDERS: u64 = 20_000;
        // Large enough that an access during a write would see parts of both values.
        let mailbox = Mailbox::<[u64; 6], [u64; 4]>::empty();
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let mut obeyed = 0;
                mailbox.serve(|order| {
                    assert!(order.iter().all(|part| *part == obeyed), "{order:?}");
                    obeyed += 1;
                    ([order[0] * 2; 4], if obeyed % 7 == 0 { Wait::Asleep } else { Wait::Spinning })
                });
                obeyed
            });
            assert!(mailbox.is_obeyed() && mailbox.answer().is_none());
            for order in 0..ORDERS {
                mailbox.give([order; 6]);
                if order % 3 > 0 {
                    wait_until(&|| mailbox.is_obeyed(), NEVER);
                    assert_eq!(mailbox.answer(), Some([order * 2; 4]));
                }
            }
            wait_until(&|| mailbox.is_obeyed(), NEVER);
            mailbox.dismiss();
            assert_eq!(worker.join().unwrap(), ORDERS);
        });
        // After a dismissal, `give` does not wait.
        mailbox.give([0; 6]);
        assert_eq!(mailbox.answer(), None);
    }

    #[test]
    fn orders_of_several_threads_are_serialised() {
        let mailbox = Mailbox::<[u64; 6], u64>::empty();
        let sum = thread::scope(|scope| {
            let worker = scope.spawn(|| {
                let mut sum = 0;
                mailbox.serve(|order| {
                    assert!(order.iter().all(|part| *part == order[0]), "{order:?}");
                    sum += order[0];
                    (sum, Wait::Spinning)
                });
                sum
            });
            let owners = [1, 2].map(|number| {
                let mailbox = &mailbox;
                scope.spawn(move || (0..1000).for_each(|_| mailbox.give([number; 6])))
            });
            owners.into_iter().for_each(|owner| owner.join().unwrap());
            wait_until(&|| mailbox.is_obeyed(), NEVER);
            mailbox.dismiss();
            worker.join().unwrap()
        });
        assert_eq!(sum, 3000);
    }

    #[test]
    fn a_busy_worker_stops_when_stopped_or_dismissed() {
        let mailbox = Mailbox::<bool, u32>::empty();
        thread::scope(|scope| {
            let worker = scope.spawn(|| {
                mailbox.serve(|_| {
                    while mailbox.stop_word().load(Ordering::Relaxed) == 0 {
                        thread::yield_now();
                    }
                    (7, Wait::Asleep)
                });
            });
            mailbox.give(true);
            assert!(mailbox.answer().is_none() && !wait_until(&|| mailbox.is_obeyed(), &|| true));
            mailbox.stop();
            assert!(wait_until(&|| mailbox.is_obeyed(), NEVER));
            assert_eq!(mailbox.answer(), Some(7));
            mailbox.give(true);
            mailbox.dismiss();
            worker.join().unwrap();
        });
    }

    #[test]
    fn a_sleeping_worker_without_orders_is_dismissed() {
        let mailbox = Mailbox::<(), ()>::empty();
        thread::scope(|scope| {
            let worker = scope.spawn(|| mailbox.serve(|()| ((), Wait::Asleep)));
            thread::sleep(std::time::Duration::from_millis(5));
            mailbox.dismiss();
            worker.join().unwrap();
        });
    }
}
