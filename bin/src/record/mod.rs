//! Measured points as data: the table of columns, and the rows that have some of them.
//!
//! Rows are written, read, joined and labelled by that table alone. This module knows no file and no experiment.

pub mod columns;
pub mod label;
pub mod row;
