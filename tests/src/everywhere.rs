//! Runs one body for a table of cases, two at a time, and reports all failures together.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Runs `body` for all places on two threads.
///
/// # Panics
///
/// If a case fails, with the failures of all cases.
pub fn everywhere<T: Sync>(places: &[T], body: impl Fn(&T) -> Result<(), String> + Sync) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(place) = places.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(reason) = body(place) {
                        failures.lock().expect("a lock without a panic").push(reason);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("a lock without a panic");
    let shown = failures.iter().take(20).cloned().collect::<Vec<_>>().join("\n");
    assert!(failures.is_empty(), "{} of {} places:\n{shown}", failures.len(), places.len());
}
