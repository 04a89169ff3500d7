//! The names of `bin/src/sys/shared.rs`: those of loom, and a model of the waits.

pub use loom::cell::UnsafeCell as SharedCell;
pub use loom::hint::spin_loop;
pub use loom::sync::atomic::{AtomicU32, Ordering};

use loom::sync::{Condvar, Mutex};

loom::lazy_static! {
    /// The kernel's list of sleeping threads. The kernel compares the word and adds the thread under a lock, which a
    /// wake-up takes too. One list is enough: a thread that is woken checks its word again.
    static ref SLEEPERS: (Mutex<()>, Condvar) = (Mutex::new(()), Condvar::new());
}

/// Sleeps while `word` has the value `value`, until [`wake`].
pub fn wait(word: &AtomicU32, value: u32) {
    let (lock, woken) = &*SLEEPERS;
    let mut held = lock.lock().expect("no thread panics with the lock");
    while word.load(Ordering::Relaxed) == value {
        held = woken.wait(held).expect("no thread panics with the lock");
    }
}

/// Wakes all threads in [`wait`].
pub fn wake(_: &AtomicU32) {
    let (lock, woken) = &*SLEEPERS;
    drop(lock.lock().expect("no thread panics with the lock"));
    woken.notify_all();
}
