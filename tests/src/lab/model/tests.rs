//! The grammar: valid models, and the message for every mistake.

use super::*;

#[test]
fn words_become_a_model() {
    let line = "nodes=1 memory-only=1 latency=0:1:5000,0:0:3000 size=1M pages=2m pause=7:8K tolerance=1";
    let model: Model = line.parse().unwrap();
    let latency = |to, ticks| Latency { from: 0, to, ticks };
    assert_eq!(model.latencies, [latency(0, 3000), latency(1, 5000)]);
    assert_eq!((model.size, model.pages, model.tolerance), (Some(1 << 20), Some(Pages::Large), Some(0.01)));
    assert_eq!(model.pause, Some(Pause { every: 7, ticks: 8192 }));
    assert_eq!(model.truth(&model.latencies[1]), 5000);
}

#[test]
fn servers_are_read() {
    let line = "cpus=2 latency=0:0:9 server=0:500 server=link:900:20:150 outstanding=128 cost=far:load:m:9";
    let model: Model = line.parse().unwrap();
    assert_eq!((model.cpus, model.outstanding), (2, Some(128)));
    assert_eq!(model.servers, ["0:500", "link:900:20:150"]);
    assert_eq!(model.coherence, ["cost=far:load:m:9"]);
    assert!("cpus=0 latency=0:0:9".parse::<Model>().unwrap_err().contains("positive"));
}

#[test]
fn a_level_holds_all_targets_or_nothing() {
    let parse = |level: &str| {
        format!("nodes=1 memory-only=1 latency=0:0:9,0:1:9 size=1M level={level}").parse::<Model>()
    };
    assert_eq!(parse("960K:15:3").unwrap().holding_level(), None);
    assert_eq!(parse("2M:16:3").unwrap().holding_level().map(|level| level.ticks), Some(3));
    assert!(parse("1M:16:3").unwrap_err().contains("some of the targets"));
}

#[test]
fn invalid_models_are_refused() {
    for (line, reason) in [
        ("nodes=2 latency=0:0:1,0:1:1,1:0:1", "once for each"),
        ("latency=0:0:1,0:0:2", "once for each"),
        ("latency=0:0", "FROM:TO:TICKS"),
        ("latency=0:0:9 size=0", "positive"),
        ("latency=0:0:9 clock=quartz", "neither"),
        ("latency=0:0:9 experiment=window", "neither"),
        ("latency=0:0:9 experiment=matrix tail=5:9", "no tail"),
        ("latency=0:0:9 level=1M:8:5:fifo", "SIZE:WAYS:TICKS[:random]"),
        ("latency=0:0:9 level=1M:8:5:random", "only a curve"),
        ("latency=0:0:9 tlb=64", "ENTRIES:TICKS"),
        ("latency=0:0:9 tlb=64:5 tables=1", "node 1 has no memory"),
        ("latency=0:0:9 tables=0", "needs tlb="),
        ("latency=0:0:9 tlb=64:5 tables=0 server=0:5", "server="),
        ("latency=0:0:9 host-pages=2m", "only 4k"),
        ("latency=0:0:9 noise=3", "PERCENT:EVERY"),
        ("latency=0:0:9 pages=1g", "neither"),
        ("latency=0:0:9 cache=1M", "unknown"),
        ("nodes", "name=value"),
    ] {
        let error = line.parse::<Model>().unwrap_err();
        assert!(error.contains(reason), "{line}: {error}");
    }
}

#[test]
fn experiments_are_named_or_follow() {
    let model = |words: &str| format!("latency=0:0:9000 {words}").parse::<Model>().unwrap();
    assert_eq!(model("").experiment, Experiment::Matrix);
    assert_eq!(model("tail=50:60000").experiment, Experiment::Distribution);
    let curve = model(
        "experiment=curve level=16K:4:1000 level=256K:8:3000:random tlb=64:700 prefetch=4 noise=2:500 \
         max-size=8M points-per-octave=4",
    );
    assert_eq!(curve.experiment, Experiment::Curve);
    let random: Vec<bool> = curve.levels.iter().map(|level| level.random).collect();
    assert_eq!((random, &curve.tlb), (vec![false, true], &vec![Tlb { entries: 64, ticks: 700, only: None }]));
    assert_eq!((curve.prefetch, curve.noise), (4, Some(Noise { percent: 2, every: 500 })));
    let option = |name: &str, value: &str| (name.to_string(), value.to_string());
    assert_eq!(curve.options, [option("max-size", "8388608"), option("points-per-octave", "4")]);
    assert_eq!((curve.size, curve.pages, curve.reserved()), (None, None, 0), "left to the executable");
    let small = model("tlb=64:700:4k cycle=5");
    assert_eq!((small.tlb[0].only, small.cycle, curve.cycle), (Some(Pages::Small), 5, 4));
    let nested = model("tlb=64:700 tables=0 host-pages=4k pages=thp");
    assert_eq!((nested.tables, nested.small_host_pages, small.tables), (Some(0), true, None));
    assert_eq!(model("experiment=pages pool=64M").reserved(), 64 << 20);
    assert_eq!(model("pages=2m").reserved(), 8 << 20);
}
