//! The static executable: start-up code around the library.
#![no_std]
#![no_main]

mod rt;
