//! What the guest does between hops: stamps, arithmetic whose time is known, stores past the caches.
//!
//! # Safety
//!
//! QEMU calls these from the threads of its virtual CPUs, with the data that was given for the callback.

use std::ffi::{c_uint, c_void};

use super::{locked, place, spend, ticks, PLUGIN};

/// A block of known arithmetic is over: lets the time pass that is left of it.
pub(super) unsafe extern "C" fn on_block(cpu: c_uint, data: *mut c_void) {
    let entry = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    let Some(clock) = plugin.clocks.get(cpu as usize) else { return };
    // SAFETY: the callback was asked for with a pointer into the static plugin.
    let block = unsafe { *data.cast::<u64>() };
    let clock = &mut *locked(clock);
    clock.windows.forget();
    clock.calls.block();
    let deadline = clock.pace.enter(plugin.pacing, entry, block, 0);
    spend(&mut clock.pace, deadline);
}

/// Notes that a program which times windows is about to begin.
pub(super) unsafe extern "C" fn on_entry(_cpu: c_uint, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    plugin.clocks.iter().for_each(|clock| locked(clock).windows.begin_run());
}

/// The guest is about to take the stamp that opens a timed window.
pub(super) unsafe extern "C" fn on_open(cpu: c_uint, _data: *mut c_void) {
    let Some(clock) = PLUGIN.get().and_then(|plugin| plugin.clocks.get(cpu as usize)) else { return };
    let clock = &mut *locked(clock);
    clock.windows.keep();
    let now = ticks();
    clock.pace.begin(now);
    clock.windows.open(now);
    clock.stamped.open(now);
}

/// The guest is about to take the stamp that closes it. What takes long is done when the next one is opened.
pub(super) unsafe extern "C" fn on_close(cpu: c_uint, _data: *mut c_void) {
    let now = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    let Some(clock) = plugin.clocks.get(cpu as usize) else { return };
    let clock = &mut *locked(clock);
    clock.pace.interrupt();
    clock.windows.close(now);
    if plugin.calls.is_some() {
        clock.stamped.close(now);
    }
}

/// A store past the caches has been made.
pub(super) unsafe extern "C" fn on_stream(_cpu: c_uint, access: u32, address: u64, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    // A line is written whole, by several stores.
    if plugin.is_foreign(address) || address & 63 != 0 {
        return;
    }
    // SAFETY: the access is the one that QEMU passed to this callback.
    if let Some(physical_address) = unsafe { place(plugin, access, address) } {
        plugin.machine.stream(physical_address);
        if let Some(directory) = &plugin.directory {
            directory.forget(physical_address);
        }
    }
}
