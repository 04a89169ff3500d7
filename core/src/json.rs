//! (module json)
