//! The chase in plain Rust: the oracle that every assembly kernel is tested against.
//!
//! # Safety
//!
//! As [`Routine`](super::Routine) says: the caller vouches for the chain.

/// Follows addresses.
///
/// # Safety
///
/// As [`Routine`](super::Routine), for nodes that hold addresses.
pub unsafe extern "C" fn pointer_chase(_base: *const u8, cursor: usize, hops: usize) -> usize {
    let mut cursor = cursor;
    for _ in 0..hops {
        // SAFETY: the caller vouches that the cursor is the address of a node, and each node holds another's.
        cursor = unsafe { core::ptr::with_exposed_provenance::<usize>(cursor).read_volatile() };
    }
    cursor
}

/// Follows indices in units of eight bytes from the base.
///
/// # Safety
///
/// As [`Routine`](super::Routine), for nodes that hold indices.
pub unsafe extern "C" fn index_chase(base: *const u8, cursor: usize, hops: usize) -> usize {
    let mut cursor = cursor;
    for _ in 0..hops {
        // SAFETY: the caller vouches that the cursor is a node's index from the base, and each node holds another's.
        cursor = unsafe { base.cast::<usize>().add(cursor).read_volatile() };
    }
    cursor
}
