//! Tests of the ramp.

use super::*;

fn law(capacity: f64, ways: f64) -> impl Iterator<Item = (f64, f64)> + Clone {
    (1..12).map(move |step| {
        let size = capacity * (1.0 + f64::from(step) / 12.0 / ways);
        (size, (ways + 1.0) * (size - capacity) / size)
    })
}

#[test]
fn exact_points_give_back_the_law() {
    let ramp = Ramp::fit(law(49_152.0, 12.0)).unwrap();
    assert!((ramp.start - 49_152.0).abs() < 1e-6 && (ramp.ways - 12.0).abs() < 1e-9);
    assert_eq!(ramp.geometry(64.0), Some((12, 64)));
}

#[test]
fn a_size_without_a_power_of_two_of_sets_has_no_geometry() {
    // 40 KiB in 8 ways would have 80 sets, which is not a power of two.
    let ramp = Ramp::fit(law(40_960.0, 8.0)).unwrap();
    assert_eq!(ramp.geometry(64.0), None);
}

#[test]
fn too_few_points_or_falling_ones_are_not_a_ramp() {
    assert!(Ramp::fit(law(32_768.0, 8.0).take(2)).is_none());
    assert!(Ramp::fit(law(32_768.0, 8.0).map(|(size, share)| (size, 1.0 - share))).is_none());
    assert!(Ramp::fit([(64.0, 0.5); 5].into_iter()).is_none());
}
