//! Iterators that are compiled once, however many functions use them.

/// An iterator whose `next` is one function for all callers.
///
/// Adaptors are otherwise compiled into each loop over them: 200 bytes each for one that filters chunks.
#[derive(Clone)]
pub struct Compact<I>(pub I);

impl<I: Iterator> Iterator for Compact<I> {
    type Item = I::Item;

    #[inline(never)]
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
}
