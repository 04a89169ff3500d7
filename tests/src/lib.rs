//! Support for the whole-program tests: the built executable, the source tree
//! as text, the emulator.
//!
//! Nothing here may use the tool's own modules: these tests use only the information that a user has: a command line,
//! an output, an executable file.

pub mod attempts;
pub mod cachegrind;
pub mod calls;
pub mod campaign;
pub mod confine;
pub mod directory;
pub mod document;
pub mod enclose;
pub mod everywhere;
pub mod group;
pub mod imports;
pub mod lab;
pub mod lanes;
pub mod others;
pub mod packages;
pub mod places;
pub mod product;
pub mod program;
pub mod prometheus;
pub mod run;
pub mod schema;
pub mod skip;
pub mod source;
pub mod spread;
pub mod tap;
pub mod terminal;
pub mod usage;
pub mod vm;
