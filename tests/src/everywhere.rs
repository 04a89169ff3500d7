//! One body for a table of places: two at a time, and everything that does not hold told together.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;
use std::thread;

/// Goes through all places on two threads.
///
/// # Panics
///
/// With what does not hold in each of them.
pub fn everywhere<T: Sync>(places: &[T], body: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = body(place) {
                        failures.lock().expect("a lock that nobody died with").push(reason);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("a lock that nobody died with");
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {} places:\n{shown}", failures.len(), places.len());
}
