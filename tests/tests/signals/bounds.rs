//! Trials and warm-ups of any length end at `--time-limit`.

use super::{place, result};
use latency_tests::confine::Confine;
use latency_tests::document::array;
use latency_tests::run::finish_within;
use latency_tests::schema::assert_valid;
use std::time::Duration;

/// A number of hops that would need hundreds of years in the nearest cache.
const ENDLESS: &str = "18446744073709551615";
/// Maximum wall-clock time of a run. Each of these ends within seconds, even on a busy host.
const PATIENCE: Duration = Duration::from_secs(120);
/// Maximum CPU time of a run in seconds, which a busy host changes little: every point of it has 0.01 s of
/// time limit, and the rest is the self-test and the placement.
const CPU_SECONDS: u64 = 5;

#[test]
fn trials_and_warm_ups_end_at_the_time_limit() {
    let iters = format!("--iters={ENDLESS}");
    let warm_up = format!("--warmup-iters={ENDLESS}");
    for (experiment, size) in [
        ("matrix", "--size=1M"),
        ("curve", "--max-size=128K"),
        ("order", "--size=1M"),
        ("variants", "--size=1M"),
        ("pages", "--size=1M"),
        ("residency", "--size=1M"),
        ("parallel", "--size=1M"),
        ("window", "--size=1M"),
        ("distribution", "--size=1M"),
    ] {
        for endless in [&[iters.as_str(), "--trials=2"][..], &[warm_up.as_str()]] {
            let directory = place("bounds", false);
            let mut arguments = vec![experiment, size, "--time-limit=0.01", "--spread=0", "--quiet"];
            arguments.extend(endless);
            arguments.extend(["--json", "--output=result"]);
            if experiment == "curve" {
                arguments.push("--points-per-octave=1");
            }
            let mut command = directory.command(&arguments);
            let child = command.limited(libc::RLIMIT_CPU as i32, CPU_SECONDS).spawn().expect("a process");
            finish_within(child, PATIENCE).expect_status(0);
            let text = result(&directory).expect("the result");
            let document: serde_json::Value =
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"));
            assert_valid(&document);
            assert!(!array(&document, "/rows").is_empty(), "{arguments:?}");
        }
    }
}
