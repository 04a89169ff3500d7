//! The mailbox in every execution that the memory model allows.

use latency_mailbox::explore::{Body, Results, explore};
use latency_mailbox::mailbox::{Mailbox, Wait};
use latency_mailbox::shared::{Ordering, SharedCell, spin_loop};
use std::collections::BTreeSet;

type Numbers = Mailbox<u32, u32>;

fn results(threads: &[Body<'_>]) -> BTreeSet<Results> {
    explore(threads).unwrap_or_else(|error| panic!("{error}"))
}

/// Answers a number with its tenfold until it is dismissed; returns the numbers.
fn answer_tenfold(mailbox: &Numbers, wait: Wait) -> Vec<u32> {
    let mut orders = Vec::new();
    mailbox.serve(|order| {
        orders.push(order);
        (order * 10, wait)
    });
    orders
}

/// Waits in a loop of its own: the model knows it by the place of the call.
#[track_caller]
fn until(is_so: impl Fn() -> bool) {
    while !is_so() {
        spin_loop();
    }
}

const WAITS: [Wait; 2] = [Wait::Asleep, Wait::Spinning];

#[test]
fn each_order_is_executed_once_and_answered() {
    for wait in WAITS {
        let mailbox = Numbers::empty();
        let owner = || {
            mailbox.give(1);
            mailbox.give(2);
            until(|| mailbox.is_obeyed());
            let answer = mailbox.answer();
            mailbox.dismiss();
            mailbox.give(3);
            vec![answer.unwrap(), mailbox.answer().is_none().into()]
        };
        let worker = || answer_tenfold(&mailbox, wait);
        assert_eq!(results(&[&owner, &worker]), BTreeSet::from([vec![vec![20, 1], vec![1, 2]]]), "{wait:?}");
    }
}

#[test]
fn a_worker_that_falls_asleep_is_woken_by_the_next_order() {
    let mailbox = Numbers::empty();
    let owner = || {
        (1..=3).for_each(|order| mailbox.give(order));
        until(|| mailbox.is_obeyed());
        mailbox.dismiss();
        vec![]
    };
    let worker = || {
        let mut waits = [Wait::Spinning, Wait::Asleep, Wait::Spinning].into_iter();
        let mut orders = Vec::new();
        mailbox.serve(|order| {
            orders.push(order);
            (0, waits.next().unwrap())
        });
        orders
    };
    assert_eq!(results(&[&owner, &worker]), BTreeSet::from([vec![vec![], vec![1, 2, 3]]]));
}

#[test]
fn an_answer_is_complete_before_it_is_read() {
    for wait in WAITS {
        let mailbox = Numbers::empty();
        let owner = || {
            mailbox.give(1);
            until(|| mailbox.answer() == Some(10));
            mailbox.give(2);
            until(|| mailbox.answer() == Some(20));
            mailbox.dismiss();
            vec![]
        };
        let worker = || answer_tenfold(&mailbox, wait);
        assert_eq!(results(&[&owner, &worker]), BTreeSet::from([vec![vec![], vec![1, 2]]]), "{wait:?}");
    }
}

/// The worker writes an answer to the order of one thread while another thread may read it.
#[test]
fn an_answer_is_read_before_the_next_is_written() {
    let mailbox = Numbers::empty();
    let owner = || {
        mailbox.give(1);
        until(|| mailbox.is_obeyed());
        mailbox.dismiss();
        vec![]
    };
    let reader = || vec![mailbox.answer().unwrap_or(0)];
    let worker = || answer_tenfold(&mailbox, Wait::Spinning);
    let expected = [0, 10].map(|read| vec![vec![], vec![read], vec![1]]);
    assert_eq!(results(&[&owner, &reader, &worker]), BTreeSet::from(expected));
}

#[test]
fn orders_of_two_threads_are_serialised() {
    let mailbox = Numbers::empty();
    let other = || {
        mailbox.give(1);
        vec![]
    };
    let owner = || {
        mailbox.give(2);
        until(|| mailbox.is_obeyed());
        mailbox.dismiss();
        vec![]
    };
    let worker = || answer_tenfold(&mailbox, Wait::Spinning);
    let expected = [vec![2], vec![1, 2], vec![2, 1]].map(|orders| vec![vec![], vec![], orders]);
    assert_eq!(results(&[&other, &owner, &worker]), BTreeSet::from(expected));
}

/// Results that an order leaves outside of the mailbox.
#[test]
fn all_writes_of_a_worker_are_visible_when_its_order_is_obeyed() {
    for wait in WAITS {
        let (mailbox, result) = (Numbers::empty(), SharedCell::new(0));
        let owner = || {
            mailbox.give(7);
            until(|| mailbox.is_obeyed());
            // SAFETY: the address is that of a local copy; the model reports accesses that are not ordered.
            let read = result.with(|result| unsafe { *result });
            // SAFETY: as above.
            result.with_mut(|result| unsafe { *result = 8 });
            mailbox.give(9);
            until(|| mailbox.is_obeyed());
            mailbox.dismiss();
            vec![read]
        };
        let worker = || {
            let mut before = Vec::new();
            mailbox.serve(|order| {
                // SAFETY: as above.
                before.push(result.with(|result| unsafe { *result }));
                // SAFETY: as above.
                result.with_mut(|result| unsafe { *result = order });
                (0, wait)
            });
            before
        };
        assert_eq!(results(&[&owner, &worker]), BTreeSet::from([vec![vec![7], vec![0, 8]]]), "{wait:?}");
    }
}

/// Executes each order until it is stopped; returns the number of stopped orders.
fn wait_for_stops(mailbox: &Numbers, wait: Wait) -> Vec<u32> {
    let mut stopped = 0;
    mailbox.serve(|_| {
        until(|| mailbox.stop_word().load(Ordering::Relaxed) != 0);
        stopped += 1;
        (stopped, wait)
    });
    vec![stopped]
}

#[test]
fn a_stop_ends_one_order_and_not_the_next() {
    for wait in WAITS {
        let mailbox = Numbers::empty();
        let owner = || {
            mailbox.give(1);
            mailbox.stop();
            mailbox.give(2);
            // The second order ends by a stop only.
            let answer = mailbox.answer().is_some();
            mailbox.stop();
            until(|| mailbox.answer() == Some(2));
            mailbox.dismiss();
            vec![answer.into()]
        };
        let worker = || wait_for_stops(&mailbox, wait);
        assert_eq!(results(&[&owner, &worker]), BTreeSet::from([vec![vec![0], vec![2]]]), "{wait:?}");
    }
}

#[test]
fn a_dismissal_ends_the_order_of_another_thread() {
    for wait in WAITS {
        let mailbox = Numbers::empty();
        let owner = || {
            mailbox.give(1);
            vec![]
        };
        let dismissing = || {
            mailbox.dismiss();
            vec![]
        };
        let worker = || wait_for_stops(&mailbox, wait);
        let expected = [0, 1].map(|stopped| vec![vec![], vec![], vec![stopped]]);
        assert_eq!(results(&[&owner, &dismissing, &worker]), BTreeSet::from(expected), "{wait:?}");
    }
}
