//! The start-up code that a C library would provide: the entry, the memory functions, the end.
//!
//! It is compiled only into the executable, so that the library can be tested with the start-up code of the host. It
//! handles the state in which the kernel starts a process, and does not depend on the program itself.
//!
//! # Safety
//!
//! The entry is assembly, and maps the stack that all code uses; it calls [`lb_start`] once, with the initial stack
//! pointer, and `lb_start` follows the vectors that the kernel put there.

use core::ffi::c_char;
use core::fmt::Write;
use core::panic::PanicInfo;
use latency_bench::sys::arguments::{Arguments, Environment};
use latency_bench::sys::out::Messages;
use latency_bench::sys::terminal::Stream;
use latency_bench::sys::{auxv, init, probe, raw, signal};

latency_bench::assemble!("start.s");
latency_bench::assemble!("mem.s");

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
        (Arguments::from_vector(count, vector), Environment::from_vector(variables))
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
    let mut messages = Messages::on(Stream::Error);
    let (file, line) = information.location().map_or(("?", 0), |place| (place.file(), place.line()));
    let _ = writeln!(messages, "latency-bench: error: internal error at {file}:{line} (please report)");
    drop(messages);
    init::end(DEFECT)
}

/// Satisfies the unwind tables of the prebuilt `core`, which refer to it; nothing unwinds, so nothing calls it.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}
