//! Callbacks between hops: stamps, arithmetic of known duration, stores past the caches.
//!
//! # Safety
//!
//! QEMU calls these from the threads of its virtual CPUs, with the data that was given for the callback.

use std::ffi::{c_uint, c_void};

use super::{PLUGIN, locked, place, spend, ticks};

/// Handles the end of a block of known arithmetic: waits for the rest of its time.
pub(super) unsafe extern "C" fn on_block(cpu: c_uint, data: *mut c_void) {
    let entry = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    let Some(clock) = plugin.clocks.get(cpu as usize) else { return };
    // SAFETY: the callback was asked for with a pointer into the static plugin.
    let block = unsafe { *data.cast::<u64>() };
    let clock = &mut *locked(clock);
    clock.windows.block(block);
    clock.calls.block();
    let deadline = clock.pace.enter(plugin.pacing, entry, block, 0);
    spend(&mut clock.pace, deadline);
}

/// Handles the entry of a program that times windows.
pub(super) unsafe extern "C" fn on_entry(_cpu: c_uint, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    plugin.clocks.iter().for_each(|clock| locked(clock).windows.begin_run());
}

/// Handles the stamp that opens a timed window, before the guest takes it.
pub(super) unsafe extern "C" fn on_open(cpu: c_uint, _data: *mut c_void) {
    let Some(clock) = PLUGIN.get().and_then(|plugin| plugin.clocks.get(cpu as usize)) else { return };
    let clock = &mut *locked(clock);
    clock.windows.keep();
    let now = ticks();
    clock.pace.begin(now);
    clock.windows.open(now);
    clock.stamped.open(now);
    clock.calls.open_window(now);
}

/// Handles the stamp that closes a window, before the guest takes it. Slow work is left until the next window
/// opens.
pub(super) unsafe extern "C" fn on_close(cpu: c_uint, _data: *mut c_void) {
    let now = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    let Some(clock) = plugin.clocks.get(cpu as usize) else { return };
    let clock = &mut *locked(clock);
    clock.pace.interrupt();
    clock.windows.close(now);
    if plugin.calls.is_some() {
        clock.stamped.close(now);
        clock.calls.close_window(now);
    }
}

/// Handles a store past the caches.
pub(super) unsafe extern "C" fn on_stream(_cpu: c_uint, access: u32, address: u64, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    // Several stores write a whole line.
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
