//! Threads without a C library: a few that help the first thread, and end before it continues.
//!
//! [`scope`] starts them, and joins them in every case; [`wait`] and [`wake`] let them sleep in between. The module
//! knows neither CPUs nor the work of the threads.
//!
//! A thread inherits the state of its creator: the blocked signals (so that signals stay pending for the whole process,
//! and the first thread detects them), the CPU that it is pinned to and the memory policy. The thread itself changes
//! state that it must not share.
//!
//! There is no thread-local storage: the register that addresses it is the creator's. The program has none; under the
//! standard library, a thread's work must neither use it nor panic.
//!
//! # Safety
//!
//! All stacks are in one mapping of a `Crew`, which unmaps it after every started thread has ended. The data that
//! threads share outlives the crew, and is `Sync`. The first thread writes the `ThreadWork` of another before the clone
//! that passes it; after that it is only read, except for the number of the thread, which is atomic.

use super::arch::{Routine, clone_thread};
use super::cpu::yield_now;
use super::errno::Errno;
use super::map::{Reservation, base_page};
use super::raw::{OTHER_THREADS, checked};
use super::time::{monotonic_raw_ns, sleep_ns};
use core::ffi::{CStr, c_void};
use core::hint::spin_loop;
use core::sync::atomic::{AtomicU32, Ordering, fence};
use linux_raw_sys::general::{
    CLONE_CHILD_CLEARTID, CLONE_FILES, CLONE_FS, CLONE_PARENT_SETTID, CLONE_SIGHAND, CLONE_SYSVSEM,
    CLONE_THREAD, CLONE_VM,
};
use rustix::mm::{MapFlags, ProtFlags};
use rustix::thread::futex;

/// Bytes of a stack, on which a panic formats its message: that needs a few KiB. It is a whole number of base pages of
/// every size. A base page without access lies below each stack, so that an overrun ends the process.
const STACK: usize = 64 << 10;

/// Flags of a new thread: it shares everything, and the kernel sets a word while it lives. All supported kernels have
/// these flags, and filters of system calls that allow threads allow them.
const FLAGS: u32 = CLONE_VM
    | CLONE_FS
    | CLONE_FILES
    | CLONE_SIGHAND
    | CLONE_THREAD
    | CLONE_SYSVSEM
    | CLONE_PARENT_SETTID
    | CLONE_CHILD_CLEARTID;

/// The result of starting threads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Started {
    /// The number of running threads; their indices are below it.
    pub threads: usize,
    /// The reason why fewer threads run than requested: `EAGAIN` for a limit (`RLIMIT_NPROC`, `pids.max`,
    /// `threads-max`), `ENOMEM`, `EPERM` or `ENOSYS` for a filter of system calls.
    pub refused: Option<Errno>,
}

/// Runs `body` while up to `count` threads run `work(shared, index)`, then dismisses and joins them.
///
/// `dismiss` is called once, after the end of `body` (also by a panic, if panics unwind); it must make every `work`
/// return soon. If fewer threads start than requested, `body` gets their number and runs nevertheless. A panic of a
/// thread ends the process, like a panic of the first thread.
///
/// # Errors
/// `ENOMEM` if there is no memory for the stacks; nothing has run then.
pub fn scope<S: Sync, R>(
    count: usize,
    shared: &S,
    work: fn(&S, usize),
    dismiss: fn(&S),
    body: impl FnOnce(Started) -> R,
) -> Result<R, Errno> {
    let job = Job { shared, work };
    let dismiss = || dismiss(shared);
    let mut crew = Crew::map(count, &dismiss)?;
    // SAFETY: the crew is new and has `count` stacks. The routine expects a `ThreadWork` with a job of this type, which
    // outlives the crew and is shared, as `S` is `Sync`.
    let refused = unsafe { crew.start(count, enter::<S>, (&raw const job).cast()) }.err();
    Ok(body(Started { threads: crew.started, refused }))
}

/// Sleeps while `word` has the value `value`. Only [`wake`], after a change of the word, is sure to end the sleep.
///
/// If futexes are forbidden, the thread checks the word once in a millisecond. The wait orders no accesses: a caller that
/// reads what the change published has to acquire it.
pub fn wait(word: &AtomicU32, value: u32) {
    while word.load(Ordering::Relaxed) == value {
        sleep_on(word, value, futex::Flags::PRIVATE);
    }
}

/// Wakes all threads that sleep on `word` in [`wait`], so that they check it again.
pub fn wake(word: &AtomicU32) {
    const ALL: u32 = i32::MAX as u32;
    // If futexes are forbidden, no thread sleeps on one.
    let _ = futex::wake(word, futex::Flags::PRIVATE, ALL);
}

/// Waits until `is_so` returns true: first by spinning, then with sleeps. Returns false as soon as `gives_up` returns
/// true.
pub fn wait_until(is_so: &dyn Fn() -> bool, gives_up: &dyn Fn() -> bool) -> bool {
    /// Nanoseconds of spinning, and nanoseconds of each sleep.
    const PATIENCE_NS: u64 = 50_000;
    const REST_NS: u64 = 20_000;
    let begun_ns = monotonic_raw_ns();
    while !is_so() {
        if gives_up() {
            return false;
        }
        match monotonic_raw_ns() - begun_ns {
            ..PATIENCE_NS => spin_loop(),
            _ => sleep_ns(REST_NS),
        }
    }
    true
}

/// Names this thread, for users who list the threads of a process (`top -H`); 15 bytes of the name are kept.
pub fn name(text: &CStr) {
    // If that fails, the thread has the name of the process.
    let _ = rustix::thread::set_name(text);
}

/// Sleeps until `word` may differ from `value`.
fn sleep_on(word: &AtomicU32, value: u32, flags: futex::Flags) {
    /// Nanoseconds between two checks of a word, without a wake-up.
    const NAP_NS: u64 = 1_000_000;
    match futex::wait(word, flags, value, None) {
        Ok(()) | Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => {}
        Err(_) => {
            // Sleeping may be forbidden as well.
            yield_now();
            sleep_ns(NAP_NS);
        }
    }
}

/// The work of all threads of a scope.
struct Job<'a, S> {
    shared: &'a S,
    work: fn(&S, usize),
}

/// The work of one thread, at the top of its stack.
#[repr(C, align(16))]
struct ThreadWork {
    /// The number of the thread while it lives, then 0; the kernel writes both values.
    tid: AtomicU32,
    index: usize,
    job: *const c_void,
}

/// Does the work of a thread, on that thread.
extern "C" fn enter<S: Sync>(work: *mut c_void) {
    // SAFETY: `lb_thread_clone` passes the stack from `Crew::start`, a `ThreadWork` that exists until this thread has
    // ended.
    let work = unsafe { &*work.cast::<ThreadWork>() };
    // SAFETY: the job of the work has this type `S`, because `scope` passed both, and it outlives the thread.
    let job = unsafe { &*work.job.cast::<Job<'_, S>>() };
    (job.work)(job.shared, work.index);
    // Release: the kernel clears the number of this thread next, and the join reads that. No manual says that the
    // kernel's own code orders that store after the thread's writes.
    fence(Ordering::Release);
}

/// The stacks of some threads, and the number of started threads; dismissed, joined and unmapped when dropped, however
/// the body ends.
struct Crew<'a> {
    stacks: Reservation,
    started: usize,
    dismiss: &'a dyn Fn(),
}

impl<'a> Crew<'a> {
    /// Maps the stacks of `count` threads.
    fn map(count: usize, dismiss: &'a dyn Fn()) -> Result<Crew<'a>, Errno> {
        let length = count.checked_mul(STACK + base_page()).ok_or(Errno::ENOMEM)?;
        let mut stacks = Reservation::new(length, base_page())?;
        for start in (0..length).step_by(STACK + base_page()) {
            stacks.map(start..start + STACK, ProtFlags::READ | ProtFlags::WRITE, MapFlags::empty())?;
        }
        Ok(Crew { stacks, started: 0, dismiss })
    }

    /// Returns the upper end of the stack with this index. Below each stack is a guard.
    fn top(&self, index: usize) -> *mut u8 {
        self.stacks.at(index * (STACK + base_page()) + STACK)
    }

    /// Returns the work of the thread with this index, inside its stack.
    fn work(&self, index: usize) -> *mut ThreadWork {
        self.top(index).wrapping_sub(size_of::<ThreadWork>()).cast()
    }

    /// Starts `count` threads, or as many as the kernel allows.
    ///
    /// # Errors
    /// `EAGAIN` if a limit of processes is reached (`RLIMIT_NPROC`, `pids.max`, `threads-max`), `ENOMEM`; `EPERM` or
    /// `ENOSYS` under a seccomp filter. The threads started so far continue to run.
    ///
    /// # Safety
    /// `count` must be the number passed to [`map`](Self::map), and this must be the first call. `routine` must accept
    /// a [`ThreadWork`] for `job`, which must outlive the crew and permit use by all threads at once.
    unsafe fn start(&mut self, count: usize, routine: Routine, job: *const c_void) -> Result<(), Errno> {
        for index in 0..count {
            let work = self.work(index);
            // SAFETY: inside a stack, as the index is below `count`, and aligned to 16 like its upper end; not in use
            // yet.
            let tid = unsafe {
                work.write(ThreadWork { tid: AtomicU32::new(0), index, job });
                &raw const (*work).tid
            };
            // Relaxed: a thread that reads the count was started after its own increment, and the kernel orders the
            // start of a thread after the writes of its creator.
            OTHER_THREADS.fetch_add(1, Ordering::Relaxed);
            // SAFETY: the work is at a multiple of 16 and has the stack below it; all of it is unmapped after the join.
            // The caller is responsible for the routine; the flags request no thread-local storage.
            let made = checked(unsafe { clone_thread(FLAGS, work.cast(), tid, routine) });
            if made.is_err() {
                OTHER_THREADS.fetch_sub(1, Ordering::Relaxed);
            }
            made?;
            self.started += 1;
        }
        Ok(())
    }

    /// Waits until the kernel has cleared the number of every thread.
    fn join(&mut self) {
        for index in 0..self.started {
            // SAFETY: the work of a started thread exists until the crew is dropped.
            let tid = unsafe { &(*self.work(index)).tid };
            loop {
                // Acquire: everything that the thread wrote comes before, also the use of its stack.
                match tid.load(Ordering::Acquire) {
                    0 => break,
                    // The kernel's wake-up is not process-private: a private wait would never end.
                    alive => sleep_on(tid, alive, futex::Flags::empty()),
                }
            }
            OTHER_THREADS.fetch_sub(1, Ordering::Relaxed);
        }
        self.started = 0;
    }
}

impl Drop for Crew<'_> {
    fn drop(&mut self) {
        (self.dismiss)();
        self.join();
    }
}

#[cfg(test)]
mod tests;
