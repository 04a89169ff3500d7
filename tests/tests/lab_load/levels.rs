//! Latency and bandwidth at ten levels of load, compared with the delivered ones of each window.

use latency_tests::attempts::retried_where_quiet;
use latency_tests::lab::load::{
    CALM, Call, Loaded, Visit, bytes_per_second, calm, levels, middle, nanoseconds,
};
use latency_tests::lab::ready;
use latency_tests::others::{Others, QUIET};
use serde_json::Value;

use super::{microseconds, model, number, records};

/// The delivered latency and rates of one level: medians over its windows.
struct Level {
    visits: Vec<Visit>,
    nanoseconds: f64,
    /// Delivered rates of windows: the minimum, from warm-up to end, and the maximum.
    bytes: [f64; 3],
}

impl Level {
    fn of(visits: Vec<Visit>) -> Level {
        let rates = |of: fn(&Visit) -> f64| bytes_per_second(middle(visits.iter().map(of)));
        let bytes = [
            rates(|visit| visit.rate().low),
            rates(|visit| visit.rate().delivered),
            rates(|visit| visit.rate().high),
        ];
        let nanoseconds = nanoseconds(middle(visits.iter().map(Visit::latency)));
        Level { visits, nanoseconds, bytes }
    }

    /// Returns the distance of a point on both axes, as fractions; the bandwidth's is relative to `most`.
    fn distance(&self, point: &Value, most: f64) -> f64 {
        let latency = (number(point, "ns") / self.nanoseconds).ln().abs();
        latency + (number(point, "bytes_per_second") - self.bytes[1]).abs() / most
    }
}

/// Returns true for latency and for bandwidth if the interval of a point covers the mean of all calls of its
/// level.
fn covers(point: &Value, level: &Level) -> [bool; 2] {
    let sum = |of: fn(&Call) -> u64| level.visits.iter().flat_map(Visit::calls).map(of).sum::<u64>() as f64;
    let ticks = sum(Call::ticks);
    let truths = [
        ("ns", nanoseconds(ticks / sum(|call| call.hops))),
        ("bytes_per_second", bytes_per_second(sum(Call::lines) / ticks)),
    ];
    truths.map(|(key, truth)| {
        let [low, high] = ["low", "high"].map(|end| number(point, &format!("{key}_{end}")));
        (low..=high).contains(&truth)
    })
}

/// Pairs the points of a curve that have traffic with the levels of a log, each level with one point.
fn beside(points: &[Value], visits: Vec<Visit>) -> Vec<(&Value, Level)> {
    let rounds = points.iter().filter_map(|point| point["rounds"].as_u64()).max().unwrap_or(0);
    let loaded = visits.into_iter().filter(|visit| !visit.is_idle()).collect();
    let mut found: Vec<Level> = levels(loaded, rounds as usize).into_iter().map(Level::of).collect();
    let most = found.iter().map(|level| level.bytes[1]).fold(1.0, f64::max);
    let mut pairs = Vec::new();
    for point in points.iter().filter(|point| point["offered_bytes_per_second"].as_f64() != Some(0.0)) {
        let nearest = (0..found.len()).min_by(|&one, &other| {
            found[one].distance(point, most).total_cmp(&found[other].distance(point, most))
        });
        let place = nearest.unwrap_or_else(|| panic!("{} points, and fewer levels in the log", points.len()));
        pairs.push((point, found.remove(place)));
    }
    pairs
}

#[test]
fn latency_and_bandwidth_match_the_delivered_load() {
    const TEST: &str = "ten levels of load";
    const LATENCY: f64 = 0.02;
    const BANDWIDTH: f64 = 0.01;
    /// A window of the tool is a little longer than in the log, and the host may take the CPU away in the
    /// difference.
    const BUSY: f64 = 0.05;
    const LATENCY_TICKS: u64 = 4000;
    /// Minimum number of intervals that cover the truth: of 20 intervals of 95 %, fewer do so in one of 60
    /// runs.
    const COVERING: usize = 17;
    const LIKE_MATRIX: f64 = 0.03;
    if !ready(TEST) {
        return;
    }
    let service = microseconds(1.0);
    let model = model(&format!(
        "cpus=2 memory=192M level=32K:8:300 latency=0:0:{LATENCY_TICKS} server=0:{service} outstanding=64"
    ));
    let runs = [
        "matrix --json --progress=never --size=8M --spread=0 --pages=4k --iters=500 --trials=60 --warmup-iters=16384",
        "loaded --json --progress=never --size=8M --pages=4k --traffic=read --budget=18 --warmup-iters=16384 \
         --rates=0,0.003,0.005,0.008,0.011,0.015,0.02,0.026,0.033,0.041,max",
    ];
    retried_where_quiet(TEST, |attempt| {
        let others = Others::begin();
        let boot = Loaded::boot(&model, runs).unwrap_or_else(|reason| panic!("{TEST}: {reason}"));
        let used = others.share();
        let (matrix, document) = (boot.document(0), boot.document(1));
        let points = records(&document, "/rows");
        assert_eq!(points.len(), 11);
        let mut table = format!("{TEST}, boot {attempt}, {:.0?}\n", boot.consoles[0].elapsed);
        let (mut is_good, mut covered, mut visits) = (true, 0, Vec::new());
        for (point, level) in beside(points, boot.visits(1)) {
            let (ns, bytes) = (number(point, "ns"), number(point, "bytes_per_second"));
            let [low, given, high] = level.bytes;
            let covers = covers(point, &level);
            covered += covers.iter().filter(|covers| **covers).count();
            let latency = ns / level.nanoseconds - 1.0;
            let bandwidth = BANDWIDTH + BUSY * (1.0 - calm(&level.visits));
            let good = latency.abs() <= LATENCY
                && (low * (1.0 - bandwidth)..=high * (1.0 + bandwidth)).contains(&bytes);
            is_good &= good;
            table += &format!(
                "  offered {:>10}: {ns:8.1} ns {:+.2} %, {bytes:10.0} bytes/s {:+.2} %, {} windows of {} hops{}\n",
                point["offered_bytes_per_second"].to_string(),
                latency * 100.0,
                (bytes / given - 1.0) * 100.0,
                level.visits.len(),
                level.visits[0].hops(),
                if good { "" } else { "  WRONG" }
            );
            visits.extend(level.visits);
        }
        table += &format!("  {covered} of 20 intervals cover the truth\n");
        let asked = nanoseconds((LATENCY_TICKS + service) as f64);
        let (idle, pair) = (number(&points[0], "ns"), number(&records(&matrix, "/rows")[0], "ns"));
        table += &format!("  idle {idle:.1} ns, asked {asked:.1} ns, in the matrix {pair:.1} ns\n");
        is_good &= (idle / pair - 1.0).abs() <= LIKE_MATRIX && (idle / asked - 1.0).abs() <= LATENCY;
        // Without traffic during the chase, a window does not have the load of its level, and its level cannot be
        // recognised.
        if !is_good && used > QUIET {
            return Err(format!("other programs used {:.0} % of the CPUs\n{table}", used * 100.0));
        }
        assert!(is_good, "{table}");
        println!("{table}");
        let share = calm(&visits);
        if covered < COVERING && share < CALM {
            let lost = (1.0 - share) * 100.0;
            return Err(format!("intervals where the host took {lost:.0} % of the time\n{table}"));
        }
        assert!(covered >= COVERING, "{table}");
        Ok(())
    });
}
