//! The types of the assembly routines, alike for every instruction set.
//!
//! # Safety
//!
//! Nothing is called here; each type says what its caller has to guarantee.

/// A chase loop: `(base, cursor, hops, length)` to the cursor after exactly that many hops.
///
/// # Safety
///
/// `base` is the start of a buffer that holds a chain in the encoding that the
/// routine follows, and `cursor` stands on one of its nodes. `length` is one
/// more than the largest index there, and ends the walk of a routine that checks it.
pub type Routine = unsafe extern "C" fn(base: *const u8, cursor: usize, hops: usize, length: usize) -> usize;

/// Chases side by side: `(cursors, hops, count)`, with the cursors advanced by that many hops each.
///
/// It returns a digest of the work between the loads, or zero without any.
///
/// # Safety
///
/// `cursors` points to as many cursors as the routine has lanes. Each
/// stands on a node of a chain of addresses. The routine runs `count` of
/// something: at most `MOST_LANES` less `REGISTER_LANES` lanes, or at most
/// `MOST_FILLERS` fillers. Others ignore it.
pub type LaneRoutine = unsafe extern "C" fn(cursors: *mut usize, hops: usize, count: usize) -> u64;

/// Loads in a row: `(base, stride, loads)` to the wrapping sum of the words loaded.
///
/// # Safety
///
/// Eight bytes can be read at each of the first `loads` multiples of `stride` from `base`.
pub type StridedRoutine = unsafe extern "C" fn(base: *const u8, stride: usize, loads: usize) -> u64;

/// Traffic over cache lines: `(from, lines, to, state, field)` to the state after exactly that many lines.
///
/// It returns the state that the next call has to be given. Only its accesses
/// matter: it proves nothing, and what it leaves in memory has no meaning.
///
/// # Safety
///
/// `from` is aligned to 64 bytes, and `lines` lines from there on can be read and written. For a copy so
/// can `lines` lines from `to`, aligned alike, and they overlap none of the first. For random reads it is
/// `field` lines from `from`, at least one, whatever `lines` is. For updates, `state` is zero or what
/// the same routine returned.
pub type StreamRoutine =
    unsafe extern "C" fn(from: *mut u8, lines: usize, to: *mut u8, state: u64, field: usize) -> u64;
