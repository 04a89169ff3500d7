//! Steps of translation buffers, distinguished from caches.

use latency_core::model::fit::{PageKnee, classify};
use latency_core::model::{Cause, Point, Workspace, fit_stair};

use crate::truth::{KIB, MIB, Pcg};

/// Returns a stair with a translation buffer of 96 entries, as measured on an Intel server core.
fn server(size: f64, page_reach: f64) -> f64 {
    let hill = |capacity: f64, shape: f64| 1.0 / (1.0 + (capacity / size).powf(shape));
    5.0 + 11.0 * hill(49.7 * KIB, 60.0)
        + 7.0 * (1.0 - page_reach / size).max(0.0)
        + 70.0 * hill(2.4 * MIB, 8.0)
        + 300.0 * hill(22.0 * MIB, 4.7)
}

#[test]
fn a_translation_step_is_not_taken_for_the_second_level() {
    let mut workspace = Workspace::new(&|| false);
    let mut random = Pcg::new(7);
    let reach = 384.0 * KIB;
    let points: Vec<Point> = (0..=144)
        .map(|i| {
            let size = 4096.0 * 2f64.powf(f64::from(i) / 8.0);
            Point::new(size, server(size, reach) * (1.0 + 0.01 * random.gaussian()))
        })
        .collect();
    let fit = fit_stair(&points, Some(reach), &mut workspace).unwrap();
    assert_eq!(fit.levels().len(), 3);
    let second = &fit.levels()[1];
    assert!((second.latency.value / 16.0 - 1.0).abs() < 0.03, "{second:?}");
    assert!((second.half / (2.4 * MIB) - 1.0).abs() < 0.1, "{second:?}");
    let translation = fit.translation.unwrap();
    assert!((translation.cost.value / 7.0 - 1.0).abs() < 0.15, "{translation:?}");
    assert!((translation.reach / reach - 1.0).abs() < 1e-9);
    assert!(fit.median_residual < 0.01);

    // Without the term, the same points overstate the second level or need a level more.
    let plain = fit_stair(&points, None, &mut workspace).unwrap();
    assert!(plain.bic > fit.bic, "{} {}", plain.bic, fit.bic);
}

fn knee(pages: f64, step: f64) -> PageKnee {
    PageKnee { reach: pages * 4.0 * KIB, step }
}

#[test]
fn a_step_at_the_reach_of_a_buffer_is_a_translation_step() {
    let mut workspace = Workspace::new(&|| false);
    let hill = |size: f64, capacity: f64, shape: f64| 1.0 / (1.0 + (capacity / size).powf(shape));
    // Caches of 48 KiB and 2 MiB; 96 entries over 4 KiB pages reach 384 KiB.
    let points: Vec<Point> = (0..=104)
        .map(|i| {
            let size = 4096.0 * 2f64.powf(f64::from(i) / 8.0);
            let steps = 11.0 * hill(size, 48.0 * KIB, 40.0)
                + 7.0 * hill(size, 384.0 * KIB, 20.0)
                + 60.0 * hill(size, 2.0 * MIB, 10.0);
            Point::new(size, 5.0 + steps)
        })
        .collect();
    let mut fit = fit_stair(&points, None, &mut workspace).unwrap();
    let mut causes = |knees: &[PageKnee]| {
        classify(&mut fit, knees);
        fit.levels().iter().map(|level| level.cause).collect::<Vec<Cause>>()
    };
    // 96 entries, and 1536, where no step is.
    assert_eq!(
        causes(&[knee(96.0, 7.0), knee(1536.0, 9.0)]),
        [Cause::Cache, Cause::Translation, Cause::Cache]
    );
    // The misses of 500 entries explain a third of the step at 2 MiB.
    assert_eq!(causes(&[knee(500.0, 20.0)]), [Cause::Cache, Cause::Cache, Cause::Mixed]);
    assert_eq!(causes(&[PageKnee::default()]), [Cause::Cache; 3]);
    assert_eq!(causes(&[]), [Cause::Cache; 3]);
}
