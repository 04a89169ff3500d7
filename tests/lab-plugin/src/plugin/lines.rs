//! Callbacks for several CPUs: generators that request lines, and kernels that hand lines from core to core.
//!
//! # Safety
//!
//! QEMU calls these from the threads of its virtual CPUs, with the data that was given for the callback.

use std::ffi::{c_uint, c_void};
use std::sync::atomic::Ordering;

use super::{Clock, PLUGIN, Plugin, locked, place, spend, ticks};
use crate::calls::CORES;
use crate::directory::Operation;
use crate::pacing::Pacing;
use crate::traffic::{Stream, Touch};

/// Handles a load or a store of a generator.
pub(super) unsafe extern "C" fn on_generator(cpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access and the data are those that QEMU passed to this callback.
    unsafe {
        let touch = if (plugin.api.is_store)(access) { Touch::Store } else { Touch::Load };
        generate(plugin, cpu as usize, access, address, touch, data);
    }
}

/// Handles a store of a generator past the caches.
pub(super) unsafe extern "C" fn on_generator_past(cpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access and the data are those that QEMU passed to this callback.
    unsafe { generate(plugin, cpu as usize, access, address, Touch::StorePast, data) };
}

/// Handles an access of a generator. An access to another line goes through the caches; if it reaches memory,
/// the generator waits until the line can be requested.
///
/// # Safety
///
/// The access is the one that QEMU passed to the running callback; the data point to a stream of the static
/// plugin.
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

/// Handles a load or a store of a kernel between cores.
pub(super) unsafe extern "C" fn on_line(cpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    let entry = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access and the data are those that QEMU passed to this callback.
    unsafe {
        let operation = if (plugin.api.is_store)(access) { Operation::Store } else { Operation::Load };
        take(plugin, entry, cpu as usize, access, address, operation, data);
    }
}

/// Handles an atomic load and store of a kernel between cores. With one virtual CPU at a time QEMU reports
/// both accesses, otherwise a single one that is also a store.
pub(super) unsafe extern "C" fn on_exchange(cpu: c_uint, access: u32, address: u64, data: *mut c_void) {
    let entry = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    // SAFETY: the access and the data are those that QEMU passed to this callback.
    unsafe {
        if (plugin.api.is_store)(access) {
            take(plugin, entry, cpu as usize, access, address, Operation::Exchange, data);
        }
    }
}

/// Gives a line to CPU `cpu`, and waits for its cost. The callback was entered at `entry`.
///
/// # Safety
///
/// The access is the one that QEMU passed to the running callback; the data point to a pacing of the static plugin.
unsafe fn take(
    plugin: &Plugin,
    entry: u64,
    cpu: usize,
    access: u32,
    address: u64,
    operation: Operation,
    data: *mut c_void,
) {
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
    // SAFETY: the caller's promise.
    let pacing = unsafe { *data.cast::<Pacing>() };
    let Clock { pace, windows, calls, line, .. } = &mut *locked(clock);
    windows.forget();
    *line = Some(physical_address);
    plugin.open_call(calls, CORES, pace.arrival(pacing, entry));
    calls.hop(taken.ticks, 0);
    let deadline = pace.enter(pacing, entry, taken.ticks, 0);
    spend(pace, deadline);
    directory.note(&taken, ticks() - entry);
}

/// Handles a flush by a kernel between cores. The flushed line is the one touched last, since QEMU does not
/// give the address.
pub(super) unsafe extern "C" fn on_flush(cpu: c_uint, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    let line = plugin.clocks.get(cpu as usize).and_then(|clock| locked(clock).line);
    if let (Some(directory), Some(line)) = (&plugin.directory, line) {
        directory.forget(line);
    }
}
