//! The wait of hops behind randomly timed lines; evenly timed lines would make it shorter, and a prefetched
//! stream longer.

use latency_tests::attempts::retried_where_quiet;
use latency_tests::lab::load::{Call, Loaded};
use latency_tests::lab::{ready, ticks_per_second};

use super::{microseconds, model};

/// Generators at one share of the server's time.
struct Case {
    load: f64,
    pacing: &'static str,
    traffic: &'static str,
    /// Runs of the tool, each with some thousand hops.
    runs: usize,
    /// Minimum number of hops for a conclusion about the mean wait. The deviation of a wait in this queue is
    /// .4, .8 and 2.3 services at .2, .5 and .8, and at the last load a queue lasts for some hops in a row.
    enough: u64,
}

const CASES: [Case; 5] = [
    Case { load: 0.2, pacing: "poisson", traffic: "read", runs: 1, enough: 300 },
    Case { load: 0.5, pacing: "poisson", traffic: "read", runs: 1, enough: 500 },
    Case { load: 0.8, pacing: "poisson", traffic: "read", runs: 3, enough: 1800 },
    Case { load: 0.8, pacing: "even", traffic: "read", runs: 1, enough: 300 },
    Case { load: 0.5, pacing: "poisson", traffic: "read-stream", runs: 1, enough: 300 },
];
const RUNS: usize = 7;
/// Lines that the prefetcher of each CPU runs ahead of a stream, in bursts: in each page 17 lines of 64 come
/// at once, and hops wait for more than two services at half of the server's load.
const PREFETCH: u64 = 16;
/// Tolerance of a mean wait, in services. Even lines are off by 1.1 to 2 at the highest load.
const TOLERANCE: f64 = 0.1;

/// Maximum microseconds between two readings of the clock by an emulated generator: waits on hosts of several
/// speeds matched values of 1 to 4.
const GRAIN: f64 = 5.0;
const SERVICE: f64 = 20.0;

/// Returns the extra wait of hops, in services, for lines that come together because they became due between
/// two readings of the clock. It is the wait for Poisson batches, whose mean excess over one is the load of a
/// grain. It is never less.
fn bunched(load: f64) -> f64 {
    load * GRAIN / SERVICE / (2.0 * (1.0 - load))
}

/// The mean wait of hops, in services.
struct Wait {
    mean: f64,
    /// Half of the 95 % interval of the mean, from the spread between calls: hops of one call are not
    /// independent.
    error: f64,
    hops: u64,
}

impl Wait {
    /// Computes the wait from the calls during which the generator kept its CPU.
    fn of(calls: &[Call], load: f64, service: f64) -> Wait {
        /// The longest gap is 7.9 times the mean gap, except for an interrupted generator, whose missed lines
        /// then come at once.
        const LONGEST_GAP: f64 = 9.0;
        let calls = || calls.iter().filter(|call| call.gap as f64 <= LONGEST_GAP * service / load);
        let hops = calls().map(|call| call.hops).sum::<u64>();
        let mean = calls().map(|call| call.waited).sum::<u64>() as f64 / service / hops as f64;
        let off = |call: &Call| call.waited as f64 / service - mean * call.hops as f64;
        let count = calls().count() as f64;
        let squares = calls().map(|call| off(call).powi(2)).sum::<f64>() * count / (count - 1.0);
        Wait { mean, error: 2.0 * squares.sqrt() / hops as f64, hops }
    }
}

#[test]
fn hops_wait_for_random_lines_as_theory_predicts_and_not_for_even_or_prefetched_ones() {
    const TEST: &str = "waiting in a queue";
    if !ready(TEST) {
        return;
    }
    // The services are long enough that an interruption of some 100 us affects only few lines, which then
    // come at once. The hops are long enough that they hardly meet a queue that they have caused.
    let (service, latency) = (microseconds(SERVICE), microseconds(800.0));
    let model = model(&format!(
        "cpus=2 memory=192M level=32K:8:300 latency=0:0:{latency} server=0:{service} outstanding=128 prefetch={PREFETCH}"
    ));
    let full = ticks_per_second() / service as f64 * 64.0 / 1e9;
    // The case of each run.
    let cases: Vec<usize> = (0..CASES.len()).flat_map(|case| vec![case; CASES[case].runs]).collect();
    let runs: [String; RUNS] = std::array::from_fn(|run| {
        let Case { load, pacing, traffic, .. } = CASES[cases[run]];
        format!(
            "loaded --json --progress=never --size=8M --pages=4k --traffic={traffic} --warmup-iters=64 \
             --time-limit=2 --rates={:.7} --pacing={pacing}",
            load * full
        )
    });
    // The calls of all attempts: together they may decide what one attempt cannot.
    let mut pooled: [Vec<Call>; CASES.len()] = Default::default();
    retried_where_quiet(TEST, |attempt| {
        let boot = Loaded::boot(&model, runs.each_ref().map(String::as_str));
        let boot = boot.unwrap_or_else(|reason| panic!("{TEST}: {reason}"));
        let mut table = format!("{TEST}, boot {attempt}, {:.0?}\n", boot.consoles[0].elapsed);
        let calls = boot.log.runs(0);
        assert_eq!(calls.len(), RUNS);
        for (case, calls) in cases.iter().zip(calls) {
            pooled[*case].extend(calls);
        }
        let (mut is_enough, mut is_good, mut is_wrong) = (true, true, false);
        for (Case { load, pacing, traffic, enough, .. }, calls) in CASES.into_iter().zip(&pooled) {
            let Wait { mean, error, hops } = Wait::of(calls, load, service as f64);
            let theory = load / (2.0 * (1.0 - load));
            let off = mean - theory;
            let is_theory = off.abs() <= TOLERANCE;
            let is_other = off < -TOLERANCE - error || off > TOLERANCE + error + bunched(load);
            // A prefetcher turns a stream into bursts.
            let is_random = pacing == "poisson" && traffic == "read";
            is_good &= if is_random { is_theory } else { is_other };
            is_wrong |= if is_random { is_other } else { is_theory };
            is_enough &= hops >= enough;
            table += &format!(
                "  {traffic}, {pacing} at {load}: {mean:.3} +- {error:.3} services, theory {theory:.3}, {hops} hops\n"
            );
        }
        if !is_enough {
            return Err(format!("a generator did not run all the time\n{table}"));
        }
        assert!(!is_wrong, "{table}");
        if !is_good {
            return Err(format!("hops wait longer where the host is slow\n{table}"));
        }
        println!("{table}");
        Ok(())
    });
}
