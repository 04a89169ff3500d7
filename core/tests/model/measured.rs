//! A measured curve: bytes and core cycles, random chase on 4 KiB pages, AMD Zen 4 guest
//! (32 KiB L1, 1 MiB L2, a share of the L3; 72 first-level translation entries).

use core::cell::Cell;

use latency_core::model::{FitError, Point, Workspace, fit_mixture, fit_stair};
use latency_core::stats::Interval;

use crate::truth::{KIB, MIB};

fn points() -> Vec<Point> {
    CURVE.iter().map(|&(working_set, latency)| Point::new(working_set, latency)).collect()
}

#[test]
fn the_stair_follows_a_measured_curve_within_two_percent() {
    let mut workspace = Workspace::new(&|| false);
    let fit = fit_stair(&points(), None, &mut workspace).unwrap();
    assert!(fit.median_residual < 0.01, "{}", fit.median_residual);
    let first = &fit.levels()[0];
    assert!(first.resolved);
    assert!((first.latency.value - 4.0).abs() < 0.02, "{first:?}");
    let Interval { low, high } = first.capacity.interval.unwrap();
    assert!((low..=high).contains(&(32.0 * KIB)), "{first:?}");
    assert!(first.onset < 33.0 * KIB && first.half > 32.0 * KIB, "{first:?}");

    // The mixture's gentle knees cannot follow real edges, and its residual shows it.
    let mixture = fit_mixture(&points(), &mut workspace).unwrap();
    assert!(mixture.median_residual > 2.0 * fit.median_residual);
    assert!(mixture.bic > fit.bic + 100.0);
}

#[test]
fn the_second_level_is_the_same_with_the_translation_step_modelled_or_found() {
    let mut workspace = Workspace::new(&|| false);
    let reach = 72.0 * 4.0 * KIB;
    let fit = fit_stair(&points(), Some(reach), &mut workspace).unwrap();
    assert!(fit.median_residual < 0.01, "{}", fit.median_residual);
    let second = &fit.levels()[1];
    assert!((second.latency.value - 14.0).abs() < 0.1, "{second:?}");
    assert!(second.onset < MIB && second.half > MIB, "{second:?}");
    assert!(fit.translation.is_some_and(|step| step.cost.value > 5.0), "{:?}", fit.translation);

    let found = fit_stair(&points(), None, &mut workspace).unwrap();
    let step = &found.levels()[1];
    assert!((step.latency.value - 14.0).abs() < 0.1 && step.onset < MIB, "{step:?}");
}

#[rustfmt::skip]
const CURVE: [(f64, f64); 135] = [
    (4096.0, 3.995), (4416.0, 3.996), (4864.0, 3.996), (5248.0, 3.995), (5760.0, 3.997),
    (6272.0, 3.995), (6848.0, 3.995), (7488.0, 3.995), (8192.0, 3.998), (8896.0, 4.042),
    (9728.0, 3.997), (10560.0, 3.997), (11584.0, 3.994), (12608.0, 3.995), (13760.0, 3.995),
    (14976.0, 3.998), (16384.0, 3.997), (17856.0, 3.995), (19456.0, 3.995), (21184.0, 3.995),
    (23168.0, 3.997), (25216.0, 3.999), (27520.0, 3.997), (30016.0, 4.019), (32768.0, 4.090),
    (35712.0, 11.556), (38912.0, 14.072), (42432.0, 14.016), (46336.0, 14.003), (50496.0, 14.009),
    (55104.0, 14.007), (60096.0, 14.009), (65536.0, 14.019), (71424.0, 14.011), (77888.0, 14.031),
    (84928.0, 14.041), (92672.0, 14.028), (101056.0, 14.024), (110208.0, 14.026), (120192.0, 14.027),
    (131072.0, 14.035), (142912.0, 14.030), (155840.0, 14.030), (169920.0, 14.031), (185344.0, 14.032),
    (202112.0, 14.029), (220416.0, 14.033), (240384.0, 14.032), (262144.0, 14.031), (285824.0, 14.048),
    (311680.0, 14.524), (339904.0, 15.105), (370688.0, 16.824), (404224.0, 17.162), (440832.0, 17.550),
    (480768.0, 18.022), (524288.0, 18.295), (571712.0, 19.160), (623424.0, 20.036), (679872.0, 20.909),
    (741440.0, 22.225), (808512.0, 23.050), (881728.0, 25.983), (961536.0, 27.992), (1048576.0, 29.200),
    (1143424.0, 34.280), (1246912.0, 37.338), (1359808.0, 39.614), (1482880.0, 42.680), (1617088.0, 44.352),
    (1763456.0, 46.074), (1923072.0, 47.679), (2097152.0, 48.557), (2286912.0, 50.004), (2493888.0, 51.583),
    (2719616.0, 53.299), (2965760.0, 55.038), (3234240.0, 54.731), (3526912.0, 55.583), (3846144.0, 56.628),
    (4194304.0, 59.102), (4573888.0, 59.554), (4987840.0, 60.938), (5439296.0, 63.211), (5931584.0, 65.621),
    (6468480.0, 66.641), (7053888.0, 78.666), (7692352.0, 76.767), (8388608.0, 108.363), (9147840.0, 103.150),
    (9975744.0, 308.278), (10878656.0, 402.857), (11863232.0, 433.851), (12936960.0, 449.733), (14107840.0, 460.801),
    (15384768.0, 469.803), (16777216.0, 474.078), (18295680.0, 482.242), (19951552.0, 503.916), (21757312.0, 504.351),
    (23726528.0, 524.059), (25873984.0, 493.426), (28215744.0, 500.828), (30769536.0, 496.127), (33554432.0, 508.451),
    (36591360.0, 411.817), (39903168.0, 495.469), (43514688.0, 535.399), (47453120.0, 547.123), (51747968.0, 554.250),
    (56431552.0, 550.638), (61539072.0, 554.533), (67108864.0, 566.244), (73182720.0, 564.767), (79806336.0, 567.355),
    (87029376.0, 570.006), (94906240.0, 554.432), (103496000.0, 558.649), (112863168.0, 562.222), (123078144.0, 563.132),
    (134217728.0, 574.537), (146365440.0, 561.830), (159612672.0, 551.274), (174058816.0, 563.793), (189812480.0, 560.697),
    (206992000.0, 573.550), (225726400.0, 582.293), (246156352.0, 584.330), (268435456.0, 584.887), (292730880.0, 594.214),
    (319225344.0, 597.796), (348117696.0, 602.715), (379625024.0, 602.998), (413984064.0, 604.799), (451452800.0, 603.829),
];

#[test]
fn a_search_ends_when_it_is_stopped() {
    let points = points();
    let asked = Cell::new(0);
    let most = Cell::new(u32::MAX);
    let stop = || {
        asked.set(asked.get() + 1);
        asked.get() > most.get()
    };
    let mut workspace = Workspace::new(&stop);
    let whole = fit_stair(&points, None, &mut workspace).unwrap();
    let times = asked.replace(0);
    assert!(times > 200, "asked {times} times");
    for part in [0, 1, times / 10, times / 2, times - 1] {
        most.set(part);
        assert_eq!(fit_stair(&points, None, &mut workspace).err(), Some(FitError::Stopped), "{part}");
        // Each start of one more level is tried once, and asks once.
        assert!(asked.replace(0) < part + 20, "{part}");
    }
    most.set(u32::MAX);
    let again = fit_stair(&points, None, &mut workspace).unwrap();
    assert_eq!((again.bic, again.memory), (whole.bic, whole.memory));
}

#[test]
fn a_search_that_cannot_begin_finds_no_level() {
    let stop = || true;
    let mut workspace = Workspace::new(&stop);
    // The smallest number of points that is fitted is too small for one step.
    let few = |count: usize| points().into_iter().take(count).collect::<Vec<Point>>();
    let mut wanted = (1..).map(few).map(|points| fit_stair(&points, None, &mut workspace).err());
    let first = wanted.find(|error| !matches!(error, Some(FitError::TooFewPoints { .. })));
    assert_eq!(first, Some(Some(FitError::Stopped)));
}
