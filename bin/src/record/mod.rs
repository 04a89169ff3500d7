//! Measured points as data: the table of columns, and the rows that have some of them; and the other members of documents
//! that are read back.
//!
//! Rows are written, read, joined and labelled by that table alone. This module knows no file and no experiment.

pub mod columns;
pub mod label;
pub mod members;
pub mod row;
