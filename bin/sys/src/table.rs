//! Arrays for results and workspaces, in mapped memory: nothing is allocated while anything is timed, and the stack is too
//! small for them.
//!
//! The module does not interpret the stored values.
//!
//! # Safety
//!
//! A table's elements are in a private mapping that is at least as long as its room, and aligned to a page. The table
//! counts the elements that were written, and returns no others; all zero bytes of a new mapping count as written if the
//! type permits them.

use super::errno::Errno;
use super::map::Region;
use core::mem::{ManuallyDrop, align_of, needs_drop, size_of};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use latency_core::{PageSize, Pages};

/// Least alignment of a mapping, in bytes: a base page.
const SMALLEST_PAGE: usize = PageSize::LEAST.bytes().0 as usize;

/// The pages of tables: base pages, since only those in use become resident.
const PAGES: Pages = Pages::AUTO;

/// Values in mapped memory, with room for a fixed number of them; unmapped when dropped. Dereferences to a slice.
pub struct Table<T> {
    // No region is stored: with three words and a niche, results that contain tables are cheap to pass.
    start: NonNull<T>,
    room: usize,
    length: usize,
}

/// A type for which all bytes zero is a valid value.
///
/// # Safety
/// All bytes zero must be a valid value of the type. That is true of numbers, and of arrays and structures of numbers.
pub unsafe trait Zeroable {}

macro_rules! zeroable {
    ($($name:ty)*) => {
        $(
            // SAFETY: zero bytes are the number zero, or false.
            unsafe impl Zeroable for $name {}
        )*
    };
}
zeroable! { u8 u16 u32 u64 u128 usize i8 i16 i32 i64 isize f32 f64 bool }

// SAFETY: an array is its elements, one after another.
unsafe impl<T: Zeroable, const N: usize> Zeroable for [T; N] {}

impl<T> Table<T> {
    /// Returns an empty table with room for `most` values. A page becomes resident when it is first written.
    ///
    /// # Errors
    /// `ENOMEM` if the kernel has no memory for the table.
    pub fn new(most: usize) -> Result<Table<T>, Errno> {
        const { assert!(align_of::<T>() <= SMALLEST_PAGE, "a mapping is aligned to a page") };
        const { assert!(!needs_drop::<T>(), "elements are not dropped") };
        Ok(Table { start: map(most, size_of::<T>())?.cast(), room: most, length: 0 })
    }

    /// Returns `length` copies of `value`. Every page of them becomes resident.
    ///
    /// # Errors
    /// The errors of [`Table::new`].
    pub fn filled(length: usize, value: T) -> Result<Table<T>, Errno>
    where
        T: Copy,
    {
        Table::made(length, |_| value)
    }

    /// Returns `length` values that `make` returns for their indices. Every page of them becomes resident.
    ///
    /// # Errors
    /// The errors of [`Table::new`].
    pub fn made(length: usize, make: impl FnMut(usize) -> T) -> Result<Table<T>, Errno> {
        let mut table = Table::new(length)?;
        table.refill((0..length).map(make));
        Ok(table)
    }

    /// Returns the values of an iterator.
    ///
    /// # Errors
    /// The errors of [`Table::new`].
    pub fn of(values: impl Iterator<Item = T> + Clone) -> Result<Table<T>, Errno> {
        let mut table = Table::new(values.clone().count())?;
        table.refill(values);
        Ok(table)
    }

    /// Returns `length` values whose bytes are all zero. A page becomes resident when it is first written.
    ///
    /// # Errors
    /// The errors of [`Table::new`].
    pub fn zeroed(length: usize) -> Result<Table<T>, Errno>
    where
        T: Zeroable,
    {
        let mut table = Table::new(length)?;
        // A new anonymous mapping is zero, which is a valid `T`.
        table.length = length;
        Ok(table)
    }

    /// Adds a value; returns `None` if there is no room.
    pub fn push(&mut self, value: T) -> Option<()> {
        if self.length == self.room {
            return None;
        }
        // SAFETY: the mapping has room for this aligned element, to which no reference exists yet.
        unsafe { self.start.add(self.length).write(value) };
        self.length += 1;
        Some(())
    }

    /// Replaces the values by the values of an iterator, as far as there is room, and returns them.
    pub fn refill(&mut self, mut values: impl Iterator<Item = T>) -> &mut [T] {
        self.length = 0;
        let _ = values.try_for_each(|value| self.push(value));
        self
    }

    /// Removes all but the first `length` values.
    pub fn truncate(&mut self, length: usize) {
        self.length = self.length.min(length);
    }

    /// Returns the values without ever unmapping them, for data that lives as long as the process.
    pub fn leak<'a>(self) -> &'a mut [T] {
        let table = ManuallyDrop::new(self);
        // SAFETY: `length` initialised elements; the mapping is never released and this is its only user.
        unsafe { core::slice::from_raw_parts_mut(table.start.as_ptr(), table.length) }
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: `map` mapped this number of bytes at this start; this is its only user.
        unsafe { unmap(self.start.cast(), self.room * size_of::<T>()) };
    }
}

/// Maps `length` elements of a size, whose bytes are all zero.
fn map(length: usize, size: usize) -> Result<NonNull<u8>, Errno> {
    let bytes = length.checked_mul(size).ok_or(Errno::ENOMEM)?;
    let region = ManuallyDrop::new(Region::with_small_pages(bytes, PAGES)?);
    Ok(region.start())
}

/// Unmaps elements.
///
/// # Safety
/// [`map`] mapped this number of bytes at this start, and no other code uses them any more.
unsafe fn unmap(start: NonNull<u8>, bytes: usize) {
    // SAFETY: as the caller says.
    drop(unsafe { Region::of_forgotten(start, bytes, PAGES) });
}

impl<T> core::fmt::Debug for Table<T> {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        out.debug_struct("Table").field("length", &self.length).finish_non_exhaustive()
    }
}

impl<T> Deref for Table<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `length` initialised elements in this table's own mapping, which lives as long as the table.
        unsafe { core::slice::from_raw_parts(self.start.as_ptr(), self.length) }
    }
}

impl<T> DerefMut for Table<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the table is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.length) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_grows_up_to_its_room() {
        let mut table = Table::new(3).unwrap();
        assert_eq!(table.refill([5_u64, 6, 7, 8].into_iter()), [5, 6, 7]);
        assert_eq!((table.push(9), table.len()), (None, 3));
        table.truncate(1);
        assert_eq!((table.push(4), &*table), (Some(()), &[5, 4][..]));
        assert_eq!(*Table::of((0..5).filter(|number| number % 2 == 0)).unwrap(), [0, 2, 4]);
        assert!(Table::<u8>::new(0).unwrap().is_empty());
    }

    #[test]
    fn tables_contain_their_fill_values() {
        let mut table = Table::filled(1000, (7_u32, 0.5_f64)).unwrap();
        assert!(table.iter().all(|&element| element == (7, 0.5)));
        table[999].0 = 8;
        assert_eq!(table[999], (8, 0.5));
        assert_eq!(table.len(), 1000);
        assert_eq!(Table::<[u16; 3]>::zeroed(5000).unwrap()[4999], [0; 3]);
    }

    #[test]
    fn tables_may_have_elements_of_odd_sizes() {
        assert_eq!(Table::<u64>::zeroed(0).unwrap().len(), 0);
        assert_eq!(Table::filled(3, ()).unwrap().len(), 3);
        assert_eq!(Table::<u64>::zeroed(usize::MAX / 4).err(), Some(Errno::ENOMEM));
        assert_eq!(Table::<u64>::zeroed(usize::MAX / 8 - 1024).err(), Some(Errno::ENOMEM));
    }

    #[test]
    fn a_leaked_table_stays() {
        let text: &'static mut [u8] = Table::filled(5000, b'x').unwrap().leak();
        assert_eq!(text.iter().filter(|&&byte| byte == b'x').count(), 5000);
    }
}
