//! The model against curves whose levels are known, because they were planted or measured.
//!
//! Noise of 2 %, eight points an octave, and the promise: sizes within 10 % and latencies
//! within 3 % in at least 95 of 100 draws, also with outliers.

mod limits;
mod measured;
mod pages;
mod planted;
mod truth;
