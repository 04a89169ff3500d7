//! Arrays for results and workspaces, in mapped memory: nothing is allocated while anything is timed, and the stack is too
//! small for them.
//!
//! The module does not interpret the stored values.
//!
//! # Safety
//!
//! A table's elements are in a private mapping that is at least as long as all of them, aligned to a page, and
//! initialised before a reference to them exists: each element is written, or its type permits the zero bytes of a new
//! mapping. A list counts the elements that were written, and returns no others.

use super::errno::Errno;
use super::map::Region;
use core::mem::{ManuallyDrop, MaybeUninit, align_of, needs_drop, size_of};
use core::ops::{Deref, DerefMut};
use core::ptr::NonNull;
use latency_core::units::{PageSize, Pages};

/// Least alignment of a mapping, in bytes: a base page.
const SMALLEST_PAGE: usize = PageSize::LEAST.bytes().0 as usize;

/// The pages of tables: base pages, since only those in use become resident.
const PAGES: Pages = Pages::AUTO;

/// A fixed number of values in mapped memory, unmapped when dropped. Dereferences to a slice.
pub struct Table<T> {
    // No region is stored: with two words and a niche, results that contain tables are cheap to pass.
    start: NonNull<T>,
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
    /// Returns `length` copies of `value`. Every page of the table becomes resident.
    ///
    /// # Errors
    /// `ENOMEM` if the kernel has no memory for the table.
    pub fn filled(length: usize, value: T) -> Result<Table<T>, Errno>
    where
        T: Copy,
    {
        Table::made(length, |_| value)
    }

    /// Returns `length` values that `make` returns for their indices. Every page of the table becomes resident.
    ///
    /// # Errors
    /// The errors of [`Table::filled`].
    pub fn made(length: usize, mut make: impl FnMut(usize) -> T) -> Result<Table<T>, Errno> {
        let table: Table<T> = Table::map(length)?;
        for index in 0..length {
            // SAFETY: `map` made room for `length` aligned elements; no reference to them exists yet.
            unsafe { table.start().add(index).write(make(index)) };
        }
        Ok(table)
    }

    /// Returns a copy of `elements`.
    ///
    /// # Errors
    /// The errors of [`Table::filled`].
    pub fn of(elements: &[T]) -> Result<Table<T>, Errno>
    where
        T: Copy,
    {
        let table: Table<T> = Table::map(elements.len())?;
        // SAFETY: `map` made room for this number of aligned elements, to which no reference exists yet.
        unsafe { table.start().copy_from_nonoverlapping(elements.as_ptr(), elements.len()) };
        Ok(table)
    }

    /// Returns a table without elements.
    ///
    /// # Errors
    /// The errors of [`Table::filled`].
    pub fn empty() -> Result<Table<T>, Errno> {
        Table::map(0)
    }

    /// Returns `length` values whose bytes are all zero. A page becomes resident when it is first written.
    ///
    /// # Errors
    /// The errors of [`Table::filled`].
    pub fn zeroed(length: usize) -> Result<Table<T>, Errno>
    where
        T: Zeroable,
    {
        // A new anonymous mapping is zero, which is a valid `T`.
        Table::map(length)
    }

    /// Returns the elements without ever unmapping them, for data that lives as long as the process.
    pub fn leak<'a>(self) -> &'a mut [T] {
        let table = ManuallyDrop::new(self);
        // SAFETY: `length` initialised elements; the mapping is never released and this is its only user.
        unsafe { core::slice::from_raw_parts_mut(table.start(), table.length) }
    }

    /// Returns room for `length` elements, whose bytes are all zero.
    fn map(length: usize) -> Result<Table<T>, Errno> {
        const { assert!(align_of::<T>() <= SMALLEST_PAGE, "a mapping is aligned to a page") };
        const { assert!(!needs_drop::<T>(), "elements are not dropped") };
        Ok(Table { start: map(length, size_of::<T>())?.cast(), length })
    }

    const fn start(&self) -> *mut T {
        self.start.as_ptr()
    }
}

impl<T> Drop for Table<T> {
    fn drop(&mut self) {
        // SAFETY: `map` mapped this number of bytes at this start; this is its only user.
        unsafe { unmap(self.start.cast(), self.length * size_of::<T>()) };
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
    drop(unsafe { Region::again(start, bytes, PAGES) });
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
        unsafe { core::slice::from_raw_parts(self.start(), self.length) }
    }
}

impl<T> DerefMut for Table<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the table is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.start(), self.length) }
    }
}

/// Values that are added one by one, up to a fixed number, and never dropped. Dereferences to a slice.
#[derive(Debug)]
pub struct List<T> {
    /// The values and, behind them, pages that become resident when they are first written.
    room: Table<MaybeUninit<T>>,
    count: usize,
    /// Number of all pushed values, including those for which there was no room.
    pub pushed: usize,
}

impl<T> List<T> {
    /// Returns an empty list with room for `most` values.
    ///
    /// # Errors
    /// The errors of [`Table::filled`].
    pub fn new(most: usize) -> Result<List<T>, Errno> {
        Ok(List { room: Table::map(most)?, count: 0, pushed: 0 })
    }

    /// Returns a list of the values of an iterator.
    ///
    /// # Errors
    /// The errors of [`Table::filled`].
    pub fn of(values: impl Iterator<Item = T> + Clone) -> Result<List<T>, Errno> {
        let mut list = List::new(values.clone().count())?;
        list.refill(values);
        Ok(list)
    }

    /// Adds a value; returns `None` if the list is full.
    pub fn push(&mut self, value: T) -> Option<()> {
        self.pushed += 1;
        self.room.get_mut(self.count)?.write(value);
        self.count += 1;
        Some(())
    }

    /// Replaces the values by the values of an iterator, as far as there is room, and returns them.
    pub fn refill(&mut self, values: impl Iterator<Item = T>) -> &mut [T] {
        self.count = 0;
        for value in values {
            if self.push(value).is_none() {
                break;
            }
        }
        self
    }

    /// Returns the values without ever unmapping them, for data that lives as long as the process.
    pub fn leak<'a>(self) -> &'a mut [T] {
        let mut list = ManuallyDrop::new(self);
        let values: *mut [T] = &mut **list;
        // SAFETY: the mapping of these values is never released and this is its only user.
        unsafe { &mut *values }
    }

    /// Removes all but the first `count` values.
    pub fn truncate(&mut self, count: usize) {
        self.count = self.count.min(count);
    }
}

impl<T> Deref for List<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `push` has written the first `count` elements of the table, which is at least that long.
        unsafe { core::slice::from_raw_parts(self.room.as_ptr().cast(), self.count) }
    }
}

impl<T> DerefMut for List<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and the list is borrowed exclusively.
        unsafe { core::slice::from_raw_parts_mut(self.room.as_mut_ptr().cast(), self.count) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_grows_up_to_its_room() {
        let mut list = List::new(3).unwrap();
        assert_eq!(list.refill([5_u64, 6, 7, 8].into_iter()), [5, 6, 7]);
        assert_eq!((list.push(9), list.len(), list.pushed), (None, 3, 5));
        list.truncate(1);
        assert_eq!((list.push(4), &*list), (Some(()), &[5, 4][..]));
        assert_eq!(*List::of((0..5).filter(|number| number % 2 == 0)).unwrap(), [0, 2, 4]);
        assert!(List::<u8>::new(0).unwrap().is_empty());
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
