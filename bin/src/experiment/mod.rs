//! The experiments. A new one needs a file here and a line in the catalogue.

pub mod bandwidth;
pub mod cores;
pub mod curve;
pub mod distribution;
pub mod dry_run;
pub mod interface;
pub mod loaded;
pub mod matrix;
pub mod order;
pub mod pages;
pub mod parallel;
pub mod residency;
pub mod run_experiment;
pub mod system;
pub mod variants;
pub mod window;

#[cfg(test)]
mod aarch64_tests;
#[cfg(test)]
mod cores_tests;
#[cfg(test)]
mod cpu_kind_tests;
#[cfg(test)]
mod dimms_tests;
#[cfg(test)]
mod forecast_tests;
#[cfg(test)]
mod hits_tests;
#[cfg(test)]
mod idle_cpu_tests;
#[cfg(test)]
mod memory_tests;
#[cfg(test)]
mod page_size_tests;
#[cfg(test)]
pub mod tests;
