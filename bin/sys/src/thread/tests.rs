//! Threads in this process, and in child processes for which the kernel refuses something.
//!
//! # Safety
//!
//! The system calls get numbers, or addresses of local records of the kernel's size. A child process is a copy with one
//! thread, which uses no lock that another thread may have held.

use super::*;
use crate::file::for_each_line;
use crate::raw::{exit, syscall6};
use core::hint::black_box;
use core::sync::atomic::AtomicUsize;
use linux_raw_sys::general::{
    __NR_clone, __NR_exit_group, __NR_fork, __NR_futex, __NR_prctl, __NR_prlimit64, __NR_rt_sigaction,
    __NR_setuid, __NR_wait4, RLIMIT_NPROC, SIGILL, SIGSEGV,
};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::string::String;
use std::time::{Duration, Instant};
use std::vec::Vec;

/// Maximum threads of a test.
const MOST: usize = 7;

/// The values that threads write, and the word that dismisses them.
#[derive(Default)]
struct Board {
    dismissed: AtomicU32,
    /// Number of times that each thread began its work, and number of times that it ended.
    begun: [AtomicUsize; MOST],
    ended: [AtomicUsize; MOST],
    /// Addresses of variables on each thread's stack.
    places: [AtomicUsize; MOST],
}

impl Board {
    fn dismiss(&self) {
        self.dismissed.fetch_add(1, Ordering::Release);
        wake(&self.dismissed);
    }

    fn sum(counts: &[AtomicUsize]) -> usize {
        counts.iter().map(|count| count.load(Ordering::Relaxed)).sum()
    }

    /// Waits until `threads` threads have begun; in a child process, no code here may use thread-local storage.
    fn gather(&self, threads: usize) {
        while Board::sum(&self.begun) < threads {
            sleep_ns(100_000);
        }
    }
}

/// A variable that the compiler assumes to be aligned, because the stack was aligned when the thread began.
#[repr(align(16))]
struct Aligned(#[allow(dead_code, reason = "it is there for its address")] u8);

fn work(board: &Board, index: usize) {
    name(c"a-joined-thread");
    let variable = Aligned(1);
    board.places[index].store(black_box(&raw const variable) as usize, Ordering::Relaxed);
    board.begun[index].fetch_add(1, Ordering::Relaxed);
    wait(&board.dismissed, 0);
    board.ended[index].fetch_add(1, Ordering::Relaxed);
}

/// Returns the threads of this process that have the name given by [`work`].
fn named() -> usize {
    let names = std::fs::read_dir("/proc/self/task").unwrap().filter_map(|task| {
        // A thread of another test may have ended meanwhile.
        std::fs::read_to_string(task.ok()?.path().join("comm")).ok()
    });
    names.filter(|name| name.trim_end() == "a-joined-thread").count()
}

/// Lock for tests that count threads by their name.
static NAMED: std::sync::Mutex<()> = std::sync::Mutex::new(());

fn alone() -> std::sync::MutexGuard<'static, ()> {
    NAMED.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Returns true if no thread is left. The kernel wakes the joining thread shortly before it removes a thread from its
/// list.
fn none_is_left() -> bool {
    let start = Instant::now();
    while named() > 0 && start.elapsed() < Duration::from_secs(10) {
        std::thread::sleep(Duration::from_millis(1));
    }
    named() == 0
}

#[test]
fn every_thread_works_once_and_is_joined() {
    let _alone = alone();
    for count in [0, 1, 2, MOST] {
        let board = Board::default();
        let started = scope(count, &board, work, Board::dismiss, |started| {
            board.gather(count);
            assert_eq!(named(), count);
            started
        });
        assert_eq!(started, Ok(Started { threads: count, refused: None }));
        assert_eq!(board.dismissed.load(Ordering::Relaxed), 1);
        for counts in [&board.begun, &board.ended] {
            for (index, times) in counts.iter().enumerate() {
                assert_eq!(times.load(Ordering::Relaxed), usize::from(index < count), "thread {index}");
            }
        }
        assert!(none_is_left());
    }
}

#[test]
fn a_body_that_panics_leaves_no_thread() {
    let _alone = alone();
    let board = Board::default();
    let body = |started: Started| -> () { panic!("{started:?}") };
    let unwound = catch_unwind(AssertUnwindSafe(|| scope(2, &board, work, Board::dismiss, body)));
    assert!(unwound.is_err());
    assert_eq!((Board::sum(&board.begun), Board::sum(&board.ended)), (2, 2));
    assert!(none_is_left());
}

#[test]
fn work_may_end_before_it_is_dismissed() {
    let count = AtomicUsize::new(0);
    let add = |count: &AtomicUsize, _: usize| _ = count.fetch_add(1, Ordering::Relaxed);
    assert_eq!(scope(3, &count, add, |_| {}, |started| started.threads), Ok(3));
    assert_eq!(count.into_inner(), 3);
}

#[test]
fn stacks_that_cannot_be_mapped_are_an_error() {
    for count in [1 << 40, usize::MAX / (STACK + base_page()), usize::MAX] {
        let result = scope(count, &(), |(), _| {}, |()| {}, |_| panic!("{count} stacks"));
        assert_eq!(result, Err(Errno::ENOMEM));
    }
}

#[test]
fn each_stack_is_aligned_and_has_a_guard_on_either_side() {
    let _alone = alone();
    let board = Board::default();
    let maps = scope(MOST, &board, work, Board::dismiss, |_| {
        board.gather(MOST);
        std::fs::read_to_string("/proc/self/maps").unwrap()
    });
    let maps: Vec<(usize, usize, String)> = maps.unwrap().lines().filter_map(mapping).collect();
    let mut places: Vec<usize> = board.places.iter().map(|place| place.load(Ordering::Relaxed)).collect();
    assert!(places.is_sorted());
    places.dedup();
    assert_eq!(places.len(), MOST);
    for place in places {
        assert_eq!(place % 16, 0);
        let own = maps.iter().position(|&(start, end, _)| (start..end).contains(&place)).unwrap();
        let [below, stack, above] = &maps[own - 1..=own + 1] else { panic!() };
        assert_eq!((stack.1 - stack.0, &*stack.2), (STACK, "rw-p"));
        assert_eq!((below.1, &*below.2), (stack.0, "---p"));
        assert_eq!((above.0, &*above.2), (stack.1, "---p"));
        assert!(stack.1 - place < base_page());
    }
}

/// Returns start, end and access of a line of `/proc/self/maps`.
fn mapping(line: &str) -> Option<(usize, usize, String)> {
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let address = |text| usize::from_str_radix(text, 16).ok();
    Some((address(start)?, address(end)?, rest.split(' ').next()?.into()))
}

/// The way in which a child process ended.
#[derive(Debug, PartialEq)]
enum End {
    Status(i32),
    Signal(u32),
}

/// Runs `act` in a copy of this process that has one thread, and ends the copy with the returned status.
///
/// Other threads may have held locks of the standard library when the process was copied, so `act` must not use any.
fn in_child(act: fn() -> i32) -> End {
    // SAFETY: the call takes no argument; the copy runs the following code on its own memory.
    let child = unsafe { syscall6(__NR_fork, [0; 6]) }.unwrap();
    if child == 0 {
        // Threads of other tests were not copied.
        OTHER_THREADS.store(0, Ordering::Relaxed);
        let default = [0_u64; 4];
        let arguments = [SIGSEGV as usize, default.as_ptr() as usize, 0, 8, 0, 0];
        // SAFETY: the kernel reads a `struct sigaction` of four words, the default action.
        let _ = unsafe { syscall6(__NR_rt_sigaction, arguments) };
        exit(catch_unwind(act).unwrap_or(101));
    }
    let mut status = 0_i32;
    // SAFETY: the kernel writes one int.
    unsafe { syscall6(__NR_wait4, [child, &raw mut status as usize, 0, 0, 0, 0]) }.unwrap();
    match status & 0x7F {
        0 => End::Status(status >> 8),
        signal => End::Signal(signal as u32),
    }
}

/// Makes a system call fail with `errno`, in this process and its future threads.
fn forbid(call: u32, errno: Errno) -> Result<(), Errno> {
    const PR_SET_SECCOMP: usize = 22;
    const PR_SET_NO_NEW_PRIVS: usize = 38;
    const SECCOMP_MODE_FILTER: usize = 2;
    /// The kernel's `struct sock_filter`; the program loads the number of the call, compares, refuses or allows.
    #[repr(C)]
    struct Instruction(u16, u8, u8, u32);
    let program = [
        Instruction(0x20, 0, 0, 0),
        Instruction(0x15, 0, 1, call),
        Instruction(0x06, 0, 0, 0x0005_0000 | errno.code() as u32),
        Instruction(0x06, 0, 0, 0x7FFF_0000),
    ];
    // A `struct sock_fprog`: a short and an address, each in a word of its own.
    let words = [program.len(), program.as_ptr() as usize];
    // SAFETY: the call takes numbers.
    unsafe { syscall6(__NR_prctl, [PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0, 0]) }?;
    let filter = [PR_SET_SECCOMP, SECCOMP_MODE_FILTER, words.as_ptr() as usize, 0, 0, 0];
    // SAFETY: the kernel reads the two words and the instructions, which outlive the call.
    unsafe { syscall6(__NR_prctl, filter) }.map(drop)
}

/// Starts `count` threads and joins them, and returns the result of the start if each thread worked to its end.
fn all_of(count: usize) -> Option<Started> {
    let board = Board::default();
    let started = scope(count, &board, work, Board::dismiss, |started| {
        board.gather(started.threads);
        started
    });
    started.ok().filter(|started| Board::sum(&board.ended) == started.threads)
}

#[test]
fn forbidden_threads_are_reported() {
    for act in [
        || match forbid(__NR_clone, Errno::EPERM) {
            Ok(()) => i32::from(all_of(2) != Some(Started { threads: 0, refused: Some(Errno::EPERM) })),
            Err(_) => 2,
        },
        || match forbid(__NR_clone, Errno::ENOSYS) {
            Ok(()) => i32::from(all_of(2) != Some(Started { threads: 0, refused: Some(Errno::ENOSYS) })),
            Err(_) => 2,
        },
    ] {
        assert_eq!(in_child(act), End::Status(0));
    }
}

#[test]
fn threads_beyond_a_limit_are_reported_and_the_others_work() {
    const NOBODY: usize = 65_534;
    const ROOM: usize = 3;
    const PRIVILEGED: i32 = 77;
    let end = in_child(|| {
        let limit = [ROOM as u64; 2];
        // SAFETY: the kernel reads a record of two words; the other call takes a number.
        let unprivileged = unsafe {
            let arguments = [0, RLIMIT_NPROC as usize, limit.as_ptr() as usize, 0, 0, 0];
            if syscall6(__NR_prlimit64, arguments).is_err() {
                return 2;
            }
            // Root has no limit, so the process changes to a user who has one.
            syscall6(__NR_setuid, [NOBODY, 0, 0, 0, 0, 0]).is_ok()
        };
        match all_of(MOST) {
            Some(Started { threads, refused: Some(Errno::EAGAIN) }) => i32::from(threads >= ROOM),
            Some(Started { refused: None, .. }) if !unprivileged => PRIVILEGED,
            _ => 3,
        }
    });
    assert!(matches!(end, End::Status(0 | PRIVILEGED)), "{end:?}");
}

#[test]
fn threads_wait_and_are_joined_without_futexes() {
    let end = in_child(|| match forbid(__NR_futex, Errno::ENOSYS) {
        Ok(()) => i32::from(all_of(MOST) != Some(Started { threads: MOST, refused: None })),
        Err(_) => 2,
    });
    assert_eq!(end, End::Status(0));
}

#[test]
fn a_stack_overrun_ends_the_process() {
    /// Writes a byte at a distance below its own variables, which are near the top of the stack.
    fn write_below(distance: &usize, index: usize) {
        let mut variable = 0_u8;
        let place = black_box(&raw mut variable).wrapping_sub(*distance);
        // The upper of two stacks: only the guard separates it from the other stack.
        if index == 1 {
            // SAFETY: the address is inside the stack, whose only user is this thread, or in the guard, which ends the
            // process.
            unsafe { place.write_volatile(1) };
        }
    }
    fn written(distance: usize) -> i32 {
        i32::from(scope(2, &distance, write_below, |_| {}, |started| started.threads) != Ok(2))
    }
    assert_eq!(in_child(|| written(STACK - base_page())), End::Status(0));
    assert_eq!(in_child(|| written(STACK)), End::Signal(SIGSEGV));
}

#[test]
fn any_thread_ends_the_process() {
    fn end(_: &(), _: usize) {
        exit(70)
    }
    fn ended() -> i32 {
        let _ = scope(1, &(), end, |()| {}, |_| sleep_ns(10_000_000_000));
        1
    }
    assert_eq!(in_child(ended), End::Status(70));
    // The thread must not end alone, because its reason would be lost with it.
    let forbidden = in_child(|| forbid(__NR_exit_group, Errno::EPERM).map_or(2, |()| ended()));
    assert_eq!(forbidden, End::Signal(SIGILL));
    let after = in_child(|| match (all_of(2), forbid(__NR_exit_group, Errno::EPERM)) {
        (Some(_), Ok(())) => exit(5),
        _ => 2,
    });
    assert_eq!(after, End::Status(5));
}

#[test]
fn a_thousand_scopes_leave_no_mapping() {
    fn mappings() -> usize {
        let mut lines = 0;
        let read = for_each_line(b"/proc/self/maps", &mut [0; 4096], |_| {
            lines += 1;
            true
        });
        read.map_or(0, |_| lines)
    }
    let end = in_child(|| {
        let before = mappings();
        let all = (0..1000).all(|turn| {
            let counted = AtomicUsize::new(0);
            let add = |count: &AtomicUsize, _: usize| _ = count.fetch_add(1, Ordering::Relaxed);
            let threads = 1 + turn % 3;
            scope(threads, &counted, add, |_| {}, |_| {}).is_ok() && counted.into_inner() == threads
        });
        i32::from(!all || before == 0 || mappings() != before)
    });
    assert_eq!(end, End::Status(0));
}
