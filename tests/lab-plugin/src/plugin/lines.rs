//! What several CPUs do to each other: generators that send for lines, and kernels that hand them from core to core.
//!
//! # Safety
//!
//! QEMU calls these from the threads of its virtual CPUs, with the data that was given for the callback.

use std::ffi::{c_uint, c_void};
use std::sync::atomic::Ordering;

use super::{locked, place, ticks, Plugin, PLUGIN};
use crate::directory::Operation;
use crate::traffic::{Stream, Touch};

/// A generator has loaded or stored.
pub(super) unsafe extern "C" fn on_generator(cpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access and the data are those that QEMU passed to this callback.
    unsafe {
        let touch = if (plugin.api.is_store)(access) { Touch::Store } else { Touch::Load };
        generate(plugin, cpu as usize, access, address, touch, data);
    }
}

/// A generator has stored past the caches.
pub(super) unsafe extern "C" fn on_generator_past(cpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access and the data are those that QEMU passed to this callback.
    unsafe { generate(plugin, cpu as usize, access, address, Touch::StorePast, data) };
}

/// If an access of a generator is one to another line, shows it to the caches, and where it reaches memory waits until
/// the line can be sent for.
///
/// # Safety
///
/// The access is the one that QEMU passed to the callback that runs; the data point to a stream of the static plugin.
unsafe fn generate(
    plugin: &'static Plugin,
    cpu: usize,
    access: u32,
    address: u64,
    touch: Touch,
    data: *mut c_void,
) {
    // SAFETY: the caller's promise.
    let stream = unsafe { &*data.cast::<Stream>() };
    let traffic = &plugin.traffic;
    if plugin.is_foreign(address) || !traffic.touches(cpu, address, touch.is_store()) {
        return;
    }
    // SAFETY: the caller's promise.
    let Some(physical_address) = (unsafe { place(plugin, access, address) }) else {
        plugin.devices.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let pair = plugin.machine.pair(cpu, physical_address);
    if let Some(clock) = plugin.clocks.get(cpu) {
        let clock = &mut *locked(clock);
        clock.windows.forget();
        if let Some(pair) = pair {
            clock.stamped.line(&stream.kernel.name, pair.to, touch.is_store());
        }
    }
    let mut now = ticks();
    let mut prefetched = 0;
    let reaches_memory = traffic.reaches_memory(cpu, address, touch, || {
        let touched = plugin.machine.touch(cpu, physical_address, now);
        prefetched = touched.map_or(0, |touched| touched.prefetched);
        touched.is_none_or(|touched| touched.from_memory)
    });
    if touch == Touch::StorePast && plugin.machine.has_levels() {
        plugin.machine.stream(physical_address);
    }
    if reaches_memory {
        let admitted = traffic.admitted(cpu, now);
        while now < admitted {
            now = ticks();
        }
        traffic.post(cpu, stream, pair, touch.is_store(), now);
    } else {
        traffic.hit(stream, touch.is_store(), now);
    }
    if let Some(pair) = pair {
        traffic.prefetch(pair, prefetched, now);
    }
}

/// A kernel between cores has loaded or stored.
pub(super) unsafe extern "C" fn on_line(cpu: c_uint, access: u32, address: u64, _data: *mut c_void) {
    let entry = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access is the one that QEMU passed to this callback.
    unsafe {
        let operation = if (plugin.api.is_store)(access) { Operation::Store } else { Operation::Load };
        take(plugin, entry, cpu as usize, access, address, operation);
    }
}

/// A kernel between cores has loaded and stored at once. Where one virtual CPU runs at a time QEMU tells of both, else of
/// one access that is a store as well.
pub(super) unsafe extern "C" fn on_exchange(cpu: c_uint, access: u32, address: u64, _data: *mut c_void) {
    let entry = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access is the one that QEMU passed to this callback.
    unsafe {
        if (plugin.api.is_store)(access) {
            take(plugin, entry, cpu as usize, access, address, Operation::Exchange);
        }
    }
}

/// Gives a line to CPU `cpu`, and lets the time pass that this costs from `entry` on.
///
/// # Safety
///
/// The access is the one that QEMU passed to the callback that runs.
unsafe fn take(plugin: &Plugin, entry: u64, cpu: usize, access: u32, address: u64, operation: Operation) {
    let (Some(directory), Some(clock)) = (&plugin.directory, plugin.clocks.get(cpu)) else { return };
    if plugin.is_foreign(address) {
        return;
    }
    // SAFETY: the caller's promise.
    let Some(physical_address) = (unsafe { place(plugin, access, address) }) else {
        plugin.devices.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let Some(taken) = directory.access(cpu, address, physical_address, operation) else { return };
    {
        let clock = &mut *locked(clock);
        clock.windows.forget();
        clock.line = Some(physical_address);
        plugin.open_call(&mut clock.calls, "cores", entry);
        clock.calls.hop(taken.ticks, 0);
    }
    let deadline = entry.saturating_add(taken.ticks.saturating_sub(plugin.pacing.overhead));
    let mut now = ticks();
    while now < deadline {
        now = ticks();
    }
    directory.note(&taken, now - entry);
}

/// A kernel between cores is about to flush a line: the one that it has touched last, since QEMU does not say which.
pub(super) unsafe extern "C" fn on_flush(cpu: c_uint, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    let line = plugin.clocks.get(cpu as usize).and_then(|clock| locked(clock).line);
    if let (Some(directory), Some(line)) = (&plugin.directory, line) {
        directory.forget(line);
    }
}
