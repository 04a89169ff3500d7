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
//! a compare-and-exchange with acquire and release ordering: a step into Writing, Busy or Reading succeeds for one
//! thread, which then sees all writes before the step out of the last of these states. A dismissal needs neither cell;
//! the worker notices it at its next check, or when it tries to leave Busy.
//!
//! # Safety
//!
//! Only the thread that made the step into Writing, Busy or Reading accesses the cells, and only until its next step.
//! No other step leaves these states except a dismissal, after which no step succeeds: then only the thread that
//! already had access still has it.

use core::cell::UnsafeCell;
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, Ordering};

use super::{thread, time};

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
    /// True if the worker sleeps while it waits; the worker writes this before it steps to Idle.
    sleeps: AtomicU32,
    order: UnsafeCell<Option<O>>,
    answer: UnsafeCell<Option<A>>,
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
    #[must_use]
    pub const fn empty() -> Mailbox<O, A> {
        Mailbox {
            state: AtomicU32::new(IDLE),
            stop: AtomicU32::new(0),
            sleeps: AtomicU32::new(1),
            order: UnsafeCell::new(None),
            answer: UnsafeCell::new(None),
        }
    }

    fn step(&self, from: u32, to: u32) -> bool {
        self.state.compare_exchange(from, to, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Gives an order as soon as the previous order is done; a dismissed worker gets none.
    pub fn give(&self, order: O) {
        while !self.step(IDLE, WRITING) {
            if self.state.load(Ordering::Relaxed) == DISMISSED {
                return;
            }
            spin_loop();
        }
        self.stop.store(0, Ordering::Relaxed);
        // SAFETY: this thread has stepped into Writing, and makes its next step below.
        unsafe { *self.order.get() = Some(order) };
        let sleeps = self.sleeps.load(Ordering::Relaxed) != 0;
        self.step(WRITING, ORDERED);
        if sleeps {
            thread::wake(&self.state);
        }
    }

    /// Returns true if the worker waits, so the last order is done.
    #[must_use]
    pub fn is_obeyed(&self) -> bool {
        self.state.load(Ordering::Acquire) == IDLE
    }

    /// Returns the answer to the last order; `None` before there is one.
    #[must_use]
    pub fn answer(&self) -> Option<A> {
        if !self.step(IDLE, READING) {
            return None;
        }
        // SAFETY: this thread has stepped into Reading, and makes its next step below.
        let answer = unsafe { *self.answer.get() };
        self.step(READING, IDLE);
        answer
    }

    /// Stops the execution of the current order, if the worker reads the [`stop_word`](Self::stop_word).
    pub fn stop(&self) {
        self.stop.store(1, Ordering::SeqCst);
    }

    /// Returns the word that ends the execution of an order when it is not zero.
    #[must_use]
    pub const fn stop_word(&self) -> &AtomicU32 {
        &self.stop
    }

    /// Stops the execution of the current order, and ends the worker.
    pub fn dismiss(&self) {
        // The order of these steps matters: after the first, no new order can reset the word.
        self.state.swap(DISMISSED, Ordering::AcqRel);
        self.stop();
        thread::wake(&self.state);
    }

    /// Executes orders on the worker's thread until it is dismissed; `obey` also returns the kind of wait for the next
    /// order.
    pub fn serve(&self, mut obey: impl FnMut(O) -> (A, Wait)) {
        let mut wait = Wait::Asleep;
        loop {
            match (self.state.load(Ordering::Relaxed), wait) {
                (DISMISSED, _) => return,
                (ORDERED, _) if self.step(ORDERED, BUSY) => {
                    // SAFETY: this thread has stepped into Busy, and makes its next step below.
                    let order = unsafe { *self.order.get() };
                    if let Some(order) = order {
                        let (answer, next) = obey(order);
                        wait = next;
                        // SAFETY: this thread is still in Busy.
                        unsafe { *self.answer.get() = Some(answer) };
                    }
                    self.sleeps.store((wait == Wait::Asleep).into(), Ordering::Relaxed);
                    self.step(BUSY, IDLE);
                }
                (IDLE, Wait::Asleep) => thread::wait(&self.state, IDLE),
                _ => spin_loop(),
            }
        }
    }
}

/// Waits until `is_so` returns true: first by spinning, then with sleeps. Returns false as soon as `gives_up` returns
/// true.
pub fn wait_until(is_so: &dyn Fn() -> bool, gives_up: &dyn Fn() -> bool) -> bool {
    /// Nanoseconds of spinning, and nanoseconds of each sleep.
    const PATIENCE_NS: u64 = 50_000;
    const REST_NS: u64 = 20_000;
    let begun_ns = time::monotonic_raw_ns();
    while !is_so() {
        if gives_up() {
            return false;
        }
        match time::monotonic_raw_ns() - begun_ns {
            ..PATIENCE_NS => spin_loop(),
            _ => time::sleep_ns(REST_NS),
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
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
