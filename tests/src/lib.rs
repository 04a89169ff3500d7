//! Support for the whole-program tests.
