//! The model against litmus tests: small programs, each with all results that the memory model allows.

use latency_mailbox::explore::{Body, explore};
use latency_mailbox::shared::Ordering::{self, AcqRel, Acquire, Relaxed, Release};
use latency_mailbox::shared::{AtomicU32, SharedCell, spin_loop, wait, wake};
use std::collections::BTreeSet;

/// Returns the results of all executions: the numbers of all threads, one after another.
fn results(threads: &[Body<'_>]) -> BTreeSet<Vec<u32>> {
    explore(threads).unwrap_or_else(|error| panic!("{error}")).into_iter().map(|all| all.concat()).collect()
}

fn set<const N: usize>(all: impl IntoIterator<Item = [u32; N]>) -> BTreeSet<Vec<u32>> {
    all.into_iter().map(Vec::from).collect()
}

/// Returns all results of `N` numbers below `end`.
fn all<const N: usize>(end: u32) -> impl Iterator<Item = [u32; N]> {
    (0..end.pow(N as u32))
        .map(move |number| std::array::from_fn(|index| number / end.pow(index as u32) % end))
}

fn message(store: Ordering, load: Ordering) -> BTreeSet<Vec<u32>> {
    let [data, flag] = [const { AtomicU32::new(0) }; 2];
    results(&[
        &|| {
            data.store(1, Relaxed);
            flag.store(1, store);
            vec![]
        },
        &|| vec![flag.load(load), data.load(Relaxed)],
    ])
}

#[test]
fn a_message_needs_release_and_acquire() {
    for (store, load) in [(Relaxed, Relaxed), (Release, Relaxed), (Relaxed, Acquire)] {
        assert_eq!(message(store, load), set(all::<2>(2)), "{store:?}, {load:?}");
    }
    assert_eq!(message(Release, Acquire), set([[0, 0], [0, 1], [1, 1]]));
}

#[test]
fn a_store_may_become_visible_after_a_later_load() {
    let [x, y] = [const { AtomicU32::new(0) }; 2];
    let found = results(&[
        &|| {
            x.store(1, Release);
            vec![y.load(Acquire)]
        },
        &|| {
            y.store(1, Release);
            vec![x.load(Acquire)]
        },
    ]);
    assert_eq!(found, set(all::<2>(2)));
}

#[test]
fn all_threads_read_a_word_in_one_order() {
    let word = AtomicU32::new(0);
    let store = |value| {
        let word = &word;
        move || {
            word.store(value, Relaxed);
            vec![]
        }
    };
    let twice = || vec![word.load(Relaxed), word.load(Relaxed)];
    let found = results(&[&store(1), &store(2), &twice, &twice]);
    // A thread reads in some order; two threads do not read two stores in opposite orders.
    let ordered = |[a, b]: [u32; 2]| a == b || b != 0;
    let expected = all::<4>(3).filter(|[a, b, c, d]| {
        ordered([*a, *b]) && ordered([*c, *d]) && ![[1, 2, 2, 1], [2, 1, 1, 2]].contains(&[*a, *b, *c, *d])
    });
    assert_eq!(found, set(expected));
}

#[test]
fn a_store_comes_between_others_but_not_into_an_update() {
    let word = AtomicU32::new(0);
    let found = results(&[
        &|| {
            word.store(1, Relaxed);
            vec![word.swap(2, Relaxed), word.load(Relaxed)]
        },
        &|| {
            word.store(7, Relaxed);
            vec![]
        },
        &|| vec![word.compare_exchange(7, 8, Relaxed, Relaxed).is_ok().into()],
    ]);
    let expected = all::<3>(9).filter(|[before, after, updated]| match (*before, *after) {
        (1 | 7, 2 | 7) => *updated < 2,
        (1, 8) | (8, 2) => *updated == 1,
        _ => false,
    });
    // After 7 was replaced by 2, neither is 7 there to be updated nor is it stored again.
    let expected = expected.filter(|all| ![[7, 7, 0], [7, 7, 1], [7, 2, 1]].contains(all));
    assert_eq!(found, set(expected));
}

/// The middle thread changes the flag of a message, with or without an update.
fn relayed(change: impl Fn(&AtomicU32)) -> bool {
    let [data, flag] = [const { AtomicU32::new(0) }; 2];
    let found = results(&[
        &|| {
            data.store(1, Relaxed);
            flag.store(1, Release);
            vec![]
        },
        &|| {
            change(&flag);
            vec![]
        },
        &|| vec![flag.load(Acquire), data.load(Relaxed)],
    ]);
    assert!(found.contains(&vec![2, 1]));
    !found.contains(&vec![2, 0])
}

#[test]
fn an_update_hands_over_what_the_store_before_it_did() {
    assert!(relayed(|flag| _ = flag.compare_exchange(1, 2, Relaxed, Relaxed)));
    assert!(!relayed(|flag| {
        if flag.load(Relaxed) == 1 {
            flag.store(2, Relaxed);
        }
    }));
}

#[test]
fn one_of_two_updates_succeeds() {
    let word = AtomicU32::new(0);
    let update = || vec![word.compare_exchange(0, 1, AcqRel, Acquire).is_ok().into()];
    assert_eq!(results(&[&update, &update]), set([[0, 1], [1, 0]]));
}

/// Returns an error if the accesses of two threads to a cell race.
fn guarded(store: Ordering, load: Ordering) -> Result<(), String> {
    let (cell, flag) = (SharedCell::new(0), AtomicU32::new(0));
    let found = explore(&[
        &|| {
            // SAFETY: the address is that of a local copy.
            cell.with_mut(|cell| unsafe { *cell = 5 });
            flag.store(1, store);
            vec![]
        },
        &|| {
            while flag.load(load) == 0 {
                spin_loop();
            }
            // SAFETY: as above.
            vec![cell.with(|cell| unsafe { *cell })]
        },
    ])?;
    assert_eq!(found, BTreeSet::from([vec![vec![], vec![5]]]));
    Ok(())
}

#[test]
fn accesses_to_a_cell_without_order_are_reported() {
    assert_eq!(guarded(Release, Acquire), Ok(()));
    for (store, load) in [(Relaxed, Acquire), (Release, Relaxed)] {
        let error = guarded(store, load).unwrap_err();
        assert!(error.starts_with("thread 1 reads cell 0, which"), "{error}");
    }
    let (cell, flag) = (SharedCell::new(0), AtomicU32::new(0));
    let error = explore(&[
        &|| {
            // SAFETY: the address is that of a local copy.
            let read = cell.with(|cell| unsafe { *cell });
            flag.store(1, Relaxed);
            vec![read]
        },
        &|| {
            if flag.load(Acquire) == 1 {
                // SAFETY: as above.
                cell.with_mut(|cell| unsafe { *cell = 1 });
            }
            vec![]
        },
    ]);
    assert!(error.clone().is_err_and(|error| error.starts_with("thread 1 writes cell")), "{error:?}");
}

/// A thread sleeps until the word is 1; the other one stores that, and wakes it if it has seen it asleep.
fn sleeper(always_wakes: bool) -> Result<BTreeSet<Vec<Vec<u32>>>, String> {
    let [word, sleeps] = [const { AtomicU32::new(0) }; 2];
    explore(&[
        &|| {
            sleeps.store(1, Relaxed);
            wait(&word, 0);
            vec![word.load(Relaxed)]
        },
        &|| {
            word.store(1, Relaxed);
            if always_wakes || sleeps.load(Relaxed) == 1 {
                wake(&word);
            }
            vec![]
        },
    ])
}

#[test]
fn a_lost_wake_up_is_reported() {
    assert_eq!(sleeper(true), Ok(BTreeSet::from([vec![vec![1], vec![]]])));
    let error = sleeper(false).unwrap_err();
    assert!(error.starts_with("the threads never end after"), "{error}");
}

#[test]
fn loops_that_wait_in_vain_and_failed_assertions_are_reported() {
    let word = AtomicU32::new(0);
    let error = explore(&[
        &|| {
            while word.load(Relaxed) < 2 {
                spin_loop();
            }
            vec![]
        },
        &|| {
            word.store(1, Relaxed);
            vec![]
        },
    ]);
    assert!(error.is_err_and(|error| error.starts_with("the threads never end")));
    let word = AtomicU32::new(0);
    let error = explore(&[
        &|| {
            assert_eq!(word.load(Relaxed), 0, "another value");
            vec![]
        },
        &|| {
            word.store(1, Relaxed);
            vec![]
        },
    ]);
    assert!(error.is_err_and(|error| error.contains("another value")));
}
