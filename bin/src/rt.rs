//! The start-up code that a C library would provide: the entry, the memory functions, the end.
//!
//! It is compiled only into the executable, so that the library can be tested with the start-up code of the host. It
//! handles the state in which the kernel starts a process, and does not depend on the program itself.
//!
//! # Safety
//!
//! The entry is assembly, and maps the stack that all code uses; it calls [`lb_start`] once, with the initial stack
//! pointer, and `lb_start` follows the vectors that the kernel put there. The allocator passes blocks on.

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::c_char;
use core::fmt::{Arguments, Write};
use core::panic::PanicInfo;
use latency_bench::error::Failure;
use latency_sys::arguments::{Arguments as Vector, Environment};
use latency_sys::heap::HEAP;
use latency_sys::out::Messages;
use latency_sys::terminal::Stream;
use latency_sys::{auxv, init, probe, raw, signal};

latency_sys::assemble!("../asm", "start.s");
latency_sys::assemble!("../asm", "mem.s");

/// Runs the program on the process that the kernel has made.
///
/// # Safety
/// `stack` must be the stack pointer as the kernel left it: `argc`, that many
/// argument pointers, a null, the environment's pointers, a null, and the auxiliary vector.
///
/// # References
/// System V ABI, AMD64 supplement, 3.4.1 "Initial Stack and Register State"; other architectures have the same.
#[unsafe(no_mangle)]
unsafe extern "C" fn lb_start(stack: *const usize) -> ! {
    // SAFETY: the kernel put the vectors there and they stay for the whole process: the program runs on another stack,
    // and no code writes to them.
    let (passed, environment) = unsafe {
        let count = stack.read();
        let vector: *const *const c_char = stack.add(1).cast();
        let variables = vector.add(count + 1);
        let mut end = variables;
        while !end.read().is_null() {
            end = end.add(1);
        }
        auxv::keep(end.add(1).cast());
        (Vector::from_vector(count, vector), Environment::from_vector(variables))
    };
    if let Some(status) = probe::run(passed) {
        raw::exit(status);
    }
    // If blocking fails, a signal ends the program as usual; nothing depends on it.
    let _ = signal::block();
    let arguments = init::begin(passed);
    init::end(latency_bench::run(arguments, environment))
}

/// Exit status of a defect in the program (`EX_SOFTWARE` of sysexits.h).
const DEFECT: i32 = 70;

#[panic_handler]
fn panic(information: &PanicInfo<'_>) -> ! {
    let (file, line) = information.location().map_or(("?", 0), |place| (place.file(), place.line()));
    end(DEFECT, format_args!("internal error at {file}:{line} (please report)"))
}

/// Prints an error and ends the process.
fn end(status: i32, error: Arguments<'_>) -> ! {
    // A failed write cannot be reported anywhere.
    let _ = writeln!(Messages::on(Stream::Error), "latency-bench: ERROR: {error}");
    init::end(status)
}

/// The allocator: the heap of the library, without which the program ends.
struct Allocator;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator;

// SAFETY: blocks are those of the heap, and nothing unwinds.
unsafe impl GlobalAlloc for Allocator {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let block = HEAP.allocate(layout);
        if !block.is_null() {
            return block;
        }
        if HEAP.is_sealed() {
            end(
                DEFECT,
                format_args!("internal error: memory was allocated during a measurement (please report)"),
            );
        }
        let failure = Failure::NO_MEMORY;
        end(failure.exit_code().into(), format_args!("{failure}"))
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: the caller has the block from `alloc`, with this layout, and does not use it any more.
        unsafe { HEAP.free(block, layout) }
    }
}

/// Satisfies the unwind tables of the prebuilt `core`, which refer to it; nothing unwinds, so nothing calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

/// Satisfies the landing pads of the prebuilt `alloc`, as above.
#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() {}
