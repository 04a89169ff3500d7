//! Charts, tables and pictures, in the terminal and as SVG.
//!
//! Knows neither experiments nor latencies: whoever has a result brings the numbers, the words and the units.

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
