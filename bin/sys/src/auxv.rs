//! The auxiliary vector, in which the kernel describes the machine to a new process.
//!
//! It needs no `/proc`. The start-up code passes it before anything else runs.
//!
//! # Safety
//!
//! [`keep`] follows the kernel's vector, and states what its caller must guarantee.

use core::sync::atomic::{AtomicU64, Ordering};
use latency_core::{Bytes, PageSize};

/// `AT_NULL`, the type of the last entry.
const END: usize = 0;
/// `AT_PAGESZ`.
const PAGE_SIZE: usize = 6;
/// `AT_HWCAP`.
const HARDWARE_CAPABILITIES: usize = 16;

/// The kept values; 0 if the vector was not passed, as in tests of other packages. They are written before other threads
/// exist, and order nothing.
static PAGE: AtomicU64 = AtomicU64::new(0);
static CAPABILITIES: AtomicU64 = AtomicU64::new(0);

/// Keeps what the program needs of the vector.
///
/// # Safety
/// `vector` must point at pairs of words, a type and its value, and the type of the last pair must be `AT_NULL`.
///
/// # References
/// getauxval(3); Linux, `include/uapi/linux/auxvec.h`.
pub unsafe fn keep(mut vector: *const [usize; 2]) {
    loop {
        // SAFETY: `vector` starts at the first pair and only moves past pairs that are not the last.
        let [kind, value] = unsafe { vector.read() };
        match kind {
            END => return,
            PAGE_SIZE => PAGE.store(value as u64, Ordering::Relaxed),
            HARDWARE_CAPABILITIES => CAPABILITIES.store(value as u64, Ordering::Relaxed),
            _ => {}
        }
        // SAFETY: this was not the last pair.
        vector = unsafe { vector.add(1) };
    }
}

/// Returns the size of a base page, the unit in which the kernel maps memory (`AT_PAGESZ`).
pub fn page_size() -> PageSize {
    #[cfg(test)]
    tests::keep_own();
    PageSize::of(Bytes(PAGE.load(Ordering::Relaxed))).unwrap_or(PageSize::LEAST)
}

/// Returns the capabilities of the processor in the kernel's words for this instruction set (`AT_HWCAP`).
pub fn hardware_capabilities() -> u64 {
    CAPABILITIES.load(Ordering::Relaxed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Mutex, Once};
    use std::vec::Vec;

    /// Tests of the kept values run one at a time.
    static KEPT: Mutex<()> = Mutex::new(());

    /// Keeps the vector of the test's own process, which the host's start-up code has not passed.
    pub(super) fn keep_own() {
        static ONCE: Once = Once::new();
        ONCE.call_once(|| {
            let bytes = std::fs::read("/proc/self/auxv").unwrap();
            let word = |bytes: &[u8]| usize::from_ne_bytes(bytes.try_into().unwrap());
            let pairs = bytes.chunks_exact(2 * size_of::<usize>());
            let pairs: Vec<_> = pairs.map(|pair| pair.split_at(size_of::<usize>())).collect();
            let vector: Vec<[usize; 2]> =
                pairs.iter().map(|(kind, value)| [word(kind), word(value)]).collect();
            assert_eq!(vector.last().map(|last| last[0]), Some(END));
            // SAFETY: there is an end.
            unsafe { keep(vector.as_ptr()) };
        });
    }

    #[test]
    fn the_base_page_is_the_hosts() {
        let _alone = KEPT.lock().unwrap();
        assert_eq!(page_size().bytes().0, rustix::param::page_size() as u64);
    }

    #[test]
    fn values_are_found_among_other_entries() {
        let _alone = KEPT.lock().unwrap();
        let (page, capabilities) = (page_size(), hardware_capabilities());
        let vector =
            [[3, 0x40_0040], [PAGE_SIZE, page.bytes().0 as usize], [HARDWARE_CAPABILITIES, 0x1ff], [END, 0]];
        // SAFETY: there is an end.
        unsafe { keep(vector.as_ptr()) };
        assert_eq!((page_size(), hardware_capabilities()), (page, 0x1ff));
        // A word behind the end belongs to the kernel's strings.
        let vector = [[HARDWARE_CAPABILITIES, capabilities as usize], [END, 0], [PAGE_SIZE, 1 << 20]];
        // SAFETY: there is an end before the last pair.
        unsafe { keep(vector.as_ptr()) };
        assert_eq!((page_size(), hardware_capabilities()), (page, capabilities));
    }
}
