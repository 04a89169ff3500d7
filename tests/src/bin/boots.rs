//! Boots guests in a row, with each kernel in turn, and reports how they ended: `boots [COUNT]`.
//!
//! The exit status is 1 if one of them did not end with status 0 of the tool. A guest that has not powered
//! itself off after [`LIMIT`] hangs.

use latency_tests::vm::{Age, Architecture, Boot, Machine, NodeSpec, at_the_end, available, release};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

const COUNT: usize = 100;

/// A boot needs 5 s on an idle host, and ten times as long on a busy one.
const LIMIT: Duration = Duration::from_secs(300);

/// Guests at a time.
const WORKERS: usize = 2;

fn main() {
    let count = match std::env::args().nth(1).map_or(Ok(COUNT), |word| word.parse()) {
        Ok(count) => count,
        Err(error) => fail(&format!("boots [COUNT]: {error}")),
    };
    let kernels = kernels();
    let next = AtomicUsize::new(0);
    let found = Mutex::new(BTreeMap::<(String, String), Vec<Duration>>::new());
    thread::scope(|scope| {
        for _ in 0..WORKERS {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let image = &kernels[number % kernels.len()];
                    let (ending, elapsed) = boot(number, image);
                    println!("{number:>4} {} {ending} {:.1} s", release(image), elapsed.as_secs_f64());
                    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                    found.entry((release(image).into(), ending)).or_default().push(elapsed);
                }
            });
        }
    });
    let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    for ((release, ending), times) in &found {
        let mut times = times.clone();
        times.sort();
        let (median, longest) = (times[times.len() / 2].as_secs_f64(), times[times.len() - 1].as_secs_f64());
        println!("{release}: {} {ending}, median {median:.1} s, longest {longest:.1} s", times.len());
    }
    if found.keys().any(|(_, ending)| ending != ENDED) {
        fail("not every guest ended as it has to");
    }
}

const ENDED: &str = "ended with status 0";

/// Boots one of several machines, with the tool as process 1, and returns the result and the time.
fn boot(number: usize, image: &std::path::Path) -> (String, Duration) {
    let nodes = [NodeSpec::new(1, 256); 4];
    let machine = Machine::new(&nodes[..[1, 2, 4][number / 3 % 3]]).kernel(image).timeout(LIMIT);
    let Boot { console, hung } =
        match machine.boot_once(&["--size=4M", "--pages=4k", "--iters=500", "--trials=3"]) {
            Ok(boot) => boot,
            Err(reason) => return (reason, Duration::ZERO),
        };
    let ending = match (hung, console.exit_status()) {
        (false, Some(0)) => ENDED.into(),
        (false, Some(status)) => format!("ended with status {status}\n{}", console.framed()),
        (false, None) if console.is_silent() => "died in its kernel without a word".into(),
        (false, None) => format!("died\n{}", console.framed()),
        (true, _) if console.is_silent() => "hung in its kernel without a word".into(),
        (true, _) => format!("hung\n{}", console.framed()),
    };
    (ending, console.elapsed)
}

/// Returns the kernel of this system's release, and the oldest and the newest if available.
fn kernels() -> Vec<PathBuf> {
    let usual = available(Architecture::X86_64).unwrap_or_else(|reason| fail(&reason));
    let mut kernels = vec![usual.to_path_buf()];
    for age in [Age::Oldest, Age::Newest] {
        match at_the_end(age) {
            Ok(image) => kernels.push(image),
            Err(reason) => eprintln!("{age:?}: {reason}"),
        }
    }
    kernels
}

fn fail(reason: &str) -> ! {
    eprintln!("boots: {reason}");
    std::process::exit(1)
}
