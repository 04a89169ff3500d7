//! The model on curves whose levels are known, because they were planted or measured.
//!
//! With noise of 2 % and eight points an octave, sizes have to be within 10 % and latencies
//! within 3 % in at least 95 of 100 draws, also with outliers.

mod limits;
mod measured;
mod pages;
mod planted;
mod truth;
