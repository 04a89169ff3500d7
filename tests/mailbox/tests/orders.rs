//! The mailbox in every order of accesses that the memory model allows.

use latency_mailbox::mailbox::{Mailbox, Wait};
use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::thread::{self, JoinHandle};

/// Executes `scene` for every order of its accesses in which threads are interrupted at most twice.
fn check(scene: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(3);
    model.check(scene);
}

type Numbers = Mailbox<u32, u32>;

/// Starts a worker, which answers a number with its tenfold; returns the orders that it got when it is joined.
fn worker(mailbox: &Arc<Numbers>, wait: Wait) -> JoinHandle<Vec<u32>> {
    let mailbox = Arc::clone(mailbox);
    thread::spawn(move || {
        let mut orders = Vec::new();
        mailbox.serve(|order| {
            orders.push(order);
            (order * 10, wait)
        });
        orders
    })
}

fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        thread::yield_now();
    }
}

fn orders_are_executed_once(wait: Wait) {
    check(move || {
        let mailbox = Arc::new(Mailbox::empty());
        let worker = worker(&mailbox, wait);
        mailbox.give(1);
        mailbox.give(2);
        until(|| mailbox.is_obeyed());
        assert_eq!(mailbox.answer(), Some(20));
        mailbox.dismiss();
        assert_eq!(worker.join().unwrap(), [1, 2]);
        mailbox.give(3);
        assert_eq!(mailbox.answer(), None);
    });
}

#[test]
fn each_order_of_a_sleeping_worker_is_executed_once() {
    orders_are_executed_once(Wait::Asleep);
}

#[test]
fn each_order_of_a_spinning_worker_is_executed_once() {
    orders_are_executed_once(Wait::Spinning);
}

#[test]
fn an_answer_is_complete_before_it_is_read() {
    check(|| {
        let mailbox = Arc::new(Mailbox::empty());
        let worker = worker(&mailbox, Wait::Asleep);
        mailbox.give(1);
        until(|| mailbox.answer() == Some(10));
        mailbox.dismiss();
        assert_eq!(worker.join().unwrap(), [1]);
    });
}

/// The second thread's order makes the worker write an answer while the first thread may read one.
#[test]
fn an_answer_is_read_before_the_next_is_written() {
    check(|| {
        let mailbox = Arc::new(Mailbox::empty());
        let worker = worker(&mailbox, Wait::Spinning);
        let reader = Arc::clone(&mailbox);
        let reader = thread::spawn(move || assert!(matches!(reader.answer(), None | Some(10))));
        mailbox.give(1);
        reader.join().unwrap();
        mailbox.dismiss();
        assert!(matches!(worker.join().unwrap()[..], [] | [1]));
    });
}

#[test]
fn results_outside_of_the_mailbox_are_visible_when_the_order_is_obeyed() {
    check(|| {
        let mailbox = Arc::new(Numbers::empty());
        let result = Arc::new(UnsafeCell::new(0));
        let worker = {
            let (mailbox, result) = (Arc::clone(&mailbox), Arc::clone(&result));
            thread::spawn(move || {
                mailbox.serve(|order| {
                    // SAFETY: loom reports an access that is not ordered.
                    result.with_mut(|result| unsafe { *result = order });
                    (0, Wait::Asleep)
                });
            })
        };
        mailbox.give(1);
        until(|| mailbox.is_obeyed());
        // SAFETY: as above.
        assert_eq!(result.with(|result| unsafe { *result }), 1);
        mailbox.dismiss();
        worker.join().unwrap();
    });
}

/// Starts a worker that executes each order until it is stopped, and then counts it.
fn patient_worker(mailbox: &Arc<Numbers>) -> JoinHandle<u32> {
    let mailbox = Arc::clone(mailbox);
    thread::spawn(move || {
        let mut stopped = 0;
        mailbox.serve(|_| {
            until(|| mailbox.stop_word().load(loom::sync::atomic::Ordering::Relaxed) != 0);
            stopped += 1;
            (stopped, Wait::Asleep)
        });
        stopped
    })
}

#[test]
fn a_stop_ends_one_order_and_not_the_next() {
    check(|| {
        let mailbox = Arc::new(Mailbox::empty());
        let worker = patient_worker(&mailbox);
        mailbox.give(1);
        mailbox.stop();
        mailbox.give(2);
        assert_eq!(mailbox.answer(), None, "the second order ended without a stop");
        mailbox.dismiss();
        assert!(matches!(worker.join().unwrap(), 1 | 2));
    });
}

#[test]
fn a_dismissal_ends_the_order_of_another_thread() {
    check(|| {
        let mailbox = Arc::new(Mailbox::empty());
        let worker = patient_worker(&mailbox);
        let owner = Arc::clone(&mailbox);
        let owner = thread::spawn(move || owner.give(1));
        mailbox.dismiss();
        owner.join().unwrap();
        assert!(worker.join().unwrap() <= 1);
    });
}
