//! Low rates of generators have to reach memory, although a cache could hold the lines of one run.

use latency_tests::attempts::retried;
use latency_tests::lab::load::Loaded;
use latency_tests::lab::ready;

use super::{microseconds, model, number, records};

/// Minimum share of the lines that reach memory. Generators that begin each run at the same line touch some
/// thousand lines in it, and the same ones again in the next run: the cache then served 64 to 85 of 100.
const REACH: f64 = 0.95;

#[test]
fn low_rates_reach_memory() {
    const TEST: &str = "low rates";
    if !ready(TEST) {
        return;
    }
    // A cache that the generator and the chase have in common. The chain does not fit into it.
    let service = microseconds(1.0);
    let model = model(&format!(
        "cpus=2 memory=192M level=32K:8:300 shared=8M:16:1000 latency=0:0:4000 server=0:{service} outstanding=64"
    ));
    let run = "loaded --json --progress=never --size=16M --pages=4k --traffic=read --warmup-iters=16384 --budget=3 --rates=0.002,0.004";
    retried(TEST, |attempt| {
        let boot = Loaded::boot(&model, [run]).unwrap_or_else(|reason| panic!("{TEST}: {reason}"));
        let document = boot.document(0);
        let mut table = format!("{TEST}, boot {attempt}, {:.0?}\n", boot.consoles[0].elapsed);
        let points = records(&document, "/rows");
        assert!(!points.is_empty(), "{document}");
        for point in points {
            let (rate, rounds) = (number(point, "bytes_per_second"), number(point, "rounds"));
            table +=
                &format!("  {}: {rate:.0} bytes/s, {rounds} rounds\n", point["offered_bytes_per_second"]);
        }
        let reached = boot.log.reached_memory();
        table += &format!("  {:.2} % of the lines reached memory\n", reached * 100.0);
        assert!(reached >= REACH, "{table}");
        println!("{table}");
    });
}
