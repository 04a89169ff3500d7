//! Points that are not a curve, curves without levels, and input that must not make a fit panic.

use latency_core::model::{
    FitError, MAX_LEVELS, MAX_POINTS, Point, Workspace, fit_mixture, fit_reported, fit_stair,
};
use latency_core::stats::Estimate;
use proptest::prelude::*;

use crate::truth::{KIB, Pcg};

#[test]
fn a_flat_curve_has_no_level() {
    let mut workspace = Workspace::new(&|| false);
    let mut random = Pcg::new(3);
    for noise in [0.0, 0.02] {
        let points: Vec<Point> = (0..100)
            .map(|i| {
                Point::new(4096.0 * 2f64.powf(f64::from(i) / 8.0), 5.7 * (1.0 + noise * random.gaussian()))
            })
            .collect();
        for fit in
            [fit_mixture(&points, &mut workspace).unwrap(), fit_stair(&points, None, &mut workspace).unwrap()]
        {
            assert_eq!(fit.levels().len(), 0, "{fit:?}");
            assert!((fit.memory.value / 5.7 - 1.0).abs() < 0.01);
            assert!((fit.evaluate(1e6) / 5.7 - 1.0).abs() < 0.01);
        }
    }
}

#[test]
fn a_falling_curve_has_no_level_either() {
    let mut workspace = Workspace::new(&|| false);
    let points: Vec<Point> =
        (0..60).map(|i| Point::new(4096.0 * f64::from(1 + i), 90.0 - f64::from(i))).collect();
    let fit = fit_stair(&points, None, &mut workspace).unwrap();
    assert_eq!(fit.levels().len(), 0);
}

#[test]
fn points_that_are_not_a_curve_are_refused() {
    let mut workspace = Workspace::new(&|| false);
    let good = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0].map(|k| Point::new(k * KIB, 1.0 + k));
    let mixture =
        |points: &[Point], workspace: &mut Workspace| fit_mixture(points, workspace).map(|fit| fit.bic);
    for bad in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e-300, 1e300] {
        let mut points = good;
        points[3].latency = bad;
        assert_eq!(mixture(&points, &mut workspace), Err(FitError::InvalidPoint { index: 3 }));
        let mut points = good;
        points[5].working_set = bad;
        assert_eq!(mixture(&points, &mut workspace), Err(FitError::InvalidPoint { index: 5 }));
        let fixed = fit_reported(&good, &[KIB, bad], &mut workspace).map(|fit| fit.bic);
        assert_eq!(fixed, Err(FitError::InvalidCapacity { index: 1 }));
        let stair = fit_stair(&good, Some(bad), &mut workspace).map(|fit| fit.bic);
        assert_eq!(stair, Err(FitError::InvalidCapacity { index: 0 }));
    }
    let mut points = good;
    points[0].spread = f64::NAN;
    assert_eq!(mixture(&points, &mut workspace), Err(FitError::InvalidPoint { index: 0 }));

    assert_eq!(mixture(&[], &mut workspace), Err(FitError::TooFewPoints { needed: 5, found: 0 }));
    let same = [Point::new(KIB, 1.0); 20];
    assert_eq!(mixture(&same, &mut workspace), Err(FitError::TooFewPoints { needed: 5, found: 1 }));
    let many = fit_reported(&good, &[KIB; 7], &mut workspace).map(|fit| fit.bic);
    assert_eq!(many, Err(FitError::TooManyLevels { found: 7 }));
    let points = vec![Point::new(KIB, 1.0); MAX_POINTS + 1];
    assert_eq!(mixture(&points, &mut workspace), Err(FitError::TooManyPoints { found: MAX_POINTS + 1 }));
}

fn is_interval(estimate: &Estimate) -> bool {
    estimate.interval.is_none_or(|ends| ends.low <= estimate.value && estimate.value <= ends.high)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: if cfg!(debug_assertions) { 8 } else { 64 }, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_points_make_it_panic_or_return_not_a_number(
        points in proptest::collection::vec(
            (-9.0f64..18.0, -9.0f64..18.0, prop_oneof![Just(0.0), 0.0f64..10.0, Just(1e300)]),
            0..40,
        ),
        capacities in proptest::collection::vec(-9.0f64..18.0, 0..=MAX_LEVELS),
        reach in proptest::option::of(-9.0f64..18.0),
    ) {
        let points: Vec<Point> = points
            .into_iter()
            .map(|(size, latency, spread)| Point {
                working_set: 10f64.powf(size).clamp(1e-9, 1e18),
                latency: 10f64.powf(latency).clamp(1e-9, 1e18),
                spread,
            })
            .collect();
        let capacities: Vec<f64> = capacities.into_iter().map(|ln| 10f64.powf(ln).clamp(1e-9, 1e18)).collect();
        let reach = reach.map(|ln| 10f64.powf(ln).clamp(1e-9, 1e18));
        let mut workspace = Workspace::new(&|| false);
        let fits = [
            fit_mixture(&points, &mut workspace),
            fit_reported(&points, &capacities, &mut workspace),
            fit_stair(&points, reach, &mut workspace),
        ];
        for fit in fits.into_iter().flatten() {
            prop_assert!(fit.memory.value.is_finite() && fit.memory.value >= 0.0);
            prop_assert!(is_interval(&fit.memory));
            prop_assert!(fit.median_residual.is_finite() && fit.rms_residual.is_finite() && fit.bic.is_finite());
            let mut last = 0.0;
            for level in fit.levels() {
                prop_assert!(level.capacity.value >= last && level.capacity.value.is_finite());
                last = level.capacity.value;
                prop_assert!(level.onset <= level.half);
                prop_assert!(level.step.value >= 0.0 && level.latency.value <= fit.memory.value * (1.0 + 1e-9));
                for estimate in [level.capacity, level.latency, level.step] {
                    prop_assert!(is_interval(&estimate), "{:?}", estimate);
                }
            }
            for size in [0.0, -1.0, 1e-300, 1.0, 1e300, f64::INFINITY] {
                prop_assert!(fit.evaluate(size).is_finite(), "{size}");
            }
        }
    }
}
