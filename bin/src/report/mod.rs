//! What is shown of results, one file per format; every format writes into a
//! `core::fmt::Write`.
//!
//! Reports see results only: nothing here measures, and nothing asks the system.

pub mod axis;
pub mod chart;
pub mod figures;
pub mod heatmap;
pub mod labels;
pub mod plot;
pub mod shade;
pub mod svg;
pub mod terminal;

#[cfg(test)]
mod samples;
