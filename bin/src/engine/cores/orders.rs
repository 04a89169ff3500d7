//! Orders to helpers that are over in no time.

use super::mailbox::{Mailbox, Order};
use crate::error::Failure;
use crate::sys::time;

/// A helper that is to obey is waited for without a rest for so long, then with rests of this length.
const PATIENCE_NS: u64 = 50_000;
const REST_NS: u64 = 20_000;

/// The helpers that a point has.
pub type Others<'x> = [Option<&'x Mailbox>; 2];

/// Gives an order that is over in no time, and waits until it is obeyed.
///
/// # Errors
///
/// [`Failure::HOPS_NOT_PROVEN`] where the helper's walk came to nothing.
pub fn obeyed(mailbox: &Mailbox, order: Order) -> Result<(), Failure<'static>> {
    mailbox.give(order);
    let begun_ns = time::monotonic_raw_ns();
    while !mailbox.is_obeyed() {
        match time::monotonic_raw_ns() - begun_ns {
            ..PATIENCE_NS => core::hint::spin_loop(),
            _ => time::sleep_ns(REST_NS),
        }
    }
    match mailbox.has_failed() {
        true => Err(Failure::HOPS_NOT_PROVEN),
        false => Ok(()),
    }
}
