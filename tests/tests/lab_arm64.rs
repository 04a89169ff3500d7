//! The latency lab with guests of aarch64: the models of two of the tests of `lab`. `make lab ARCH=aarch64` runs all of
//! them there.

use crate::lab::{THREE_LEVELS, TWO_NODES};
use latency_tests::lab::check_on;
use latency_tests::vm::Architecture;

#[test]
fn two_asymmetric_nodes() {
    check_on(Architecture::Aarch64, "aarch64, two nodes, asymmetric", TWO_NODES);
}

#[test]
fn a_curve_shows_three_levels_of_both_kinds() {
    check_on(Architecture::Aarch64, "aarch64, a curve, three levels, the last random", THREE_LEVELS);
}
