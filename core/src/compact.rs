//! Iterators that are compiled only once, for any number of functions that use them.

/// An iterator whose `next` is one function for all callers.
///
/// Otherwise the compiler inlines adaptors into each loop over them: 200 bytes per loop for an adaptor that filters
/// chunks.
#[derive(Clone)]
pub struct Compact<I>(pub I);

impl<I: Iterator> Iterator for Compact<I> {
    type Item = I::Item;

    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
}
