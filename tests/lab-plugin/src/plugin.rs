//! Connects QEMU and the model: the callbacks, and the waiting.
//!
//! # Safety
//!
//! QEMU calls `qemu_plugin_install` once, before any guest code runs, and the callbacks from the threads of
//! its virtual CPUs afterwards. All state is behind locks or set once. Pointers from QEMU are used within the
//! limits of its header: handles within the callback, the arguments and the information during the
//! installation.

mod lines;
mod moments;
mod translation;
mod version;

use std::arch::x86_64::_rdtsc;
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::api::{self, Api, Bytes, Information};
use crate::arguments::Arguments;
use crate::calls::{self, Call, Calls};
use crate::delivered::Windows;
use crate::directory::Directory;
use crate::instruction::{self, Decoder};
use crate::model::{Machine, Outcome, Source};
use crate::pacing::{Pace, Pacing};
use crate::report::{PREFIX, Report};
use crate::server::Request;
use crate::stamped::{self, Stamped};
use crate::touched::Touched;
use crate::traffic::Traffic;
use translation::on_translation;

/// The state that the callbacks need.
struct Plugin {
    api: Api,
    bytes: Bytes,
    decoder: Decoder,
    code: Range<u64>,
    stamps: Range<u64>,
    entry: Option<u64>,
    blocks: Vec<(Range<u64>, u64)>,
    machine: Machine,
    traffic: Traffic,
    cores: Range<u64>,
    walks: Range<u64>,
    directory: Option<Directory>,
    calls: Option<u64>,
    pacing: Pacing,
    /// The pacing of kernels that do not walk over a chain.
    exchange_pacing: Pacing,
    clocks: Vec<Mutex<Clock>>,
    touched: Option<Touched>,
    foreign: AtomicU64,
    stores: AtomicU64,
    devices: AtomicU64,
    report: Option<PathBuf>,
}

/// The timing state of one CPU.
#[derive(Default)]
struct Clock {
    pace: Pace,
    windows: Windows,
    calls: Calls,
    stamped: Stamped,
    /// The last line that a kernel between cores touched.
    line: Option<u64>,
}

impl Clock {
    /// Makes a clock that lists the timed windows of `fewest` hops or more.
    fn listing(fewest: Option<u64>) -> Self {
        Clock { windows: Windows::listing(fewest), ..Clock::default() }
    }
}

static PLUGIN: OnceLock<Plugin> = OnceLock::new();

impl Plugin {
    /// Returns true if other code than the callback's own made an access to `address`. QEMU 7.2 keeps the
    /// callback of an instruction that ends a block, and calls it for the stores of the next interrupt to the
    /// kernel's stack, in the other half of the address space.
    fn is_foreign(&self, address: u64) -> bool {
        let foreign = address >> 63 != self.code.start >> 63;
        if foreign {
            self.foreign.fetch_add(1, Ordering::Relaxed);
        }
        foreign
    }

    /// Sends a hop to the server of its memory at `now`, if it goes to memory. Adds the ticks of waiting to
    /// the hop and returns them. A hop that makes up for lost time must not enter the queue earlier for that.
    fn queue(&self, outcome: &mut Outcome, now: u64) -> u64 {
        let Source::Memory(pair) = outcome.source else { return 0 };
        let Some(pair) = self.machine.pairs().get(pair) else { return 0 };
        let slot = self.traffic.servers.serve(*pair, Request::Hop, now);
        outcome.ticks = outcome.ticks.saturating_add(slot.end - now);
        slot.start - now
    }

    /// Notes an access by a kernel of this kind at `arrival`, which may begin a call, if calls are kept.
    fn open_call(&self, calls: &mut Calls, kind: &'static str, arrival: u64) {
        if self.calls.is_some() {
            calls.open(kind, arrival, || self.traffic.servers.lines());
        }
    }
}

/// Installs the plugin: QEMU calls this function by its name after loading the plugin. Returns 0, or 1 after
/// a message on standard error; QEMU then ends.
///
/// # Safety
///
/// `information` points to QEMU's `qemu_info_t` and `arguments` to `count`
/// strings that end with a nul.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn qemu_plugin_install(
    id: u64,
    information: *const Information,
    count: c_int,
    arguments: *const *const c_char,
) -> c_int {
    // SAFETY: the caller's promise is the one that `install` requires.
    match unsafe { install(id, information, count, arguments) } {
        Ok(()) => 0,
        Err(message) => {
            eprintln!("{PREFIX} ERROR: {message}");
            1
        }
    }
}

/// # Safety
///
/// The same as for [`qemu_plugin_install`].
unsafe fn install(
    id: u64,
    information: *const Information,
    count: c_int,
    arguments: *const *const c_char,
) -> Result<(), String> {
    // SAFETY: the pointer is QEMU's and lives during the installation.
    let information = unsafe { information.as_ref() }.ok_or("QEMU passed no information")?;
    if !information.system_emulation {
        return Err("this is an emulator of user programs; a whole machine is needed".to_owned());
    }
    if !api::KNOWN.contains(&information.current) {
        eprintln!(
            "{PREFIX} WARNING: QEMU offers version {} of the plugin interface; known are {} to {}: \
             check the latencies against a plain loop first",
            information.current,
            api::KNOWN.start(),
            api::KNOWN.end(),
        );
    }
    let absent = |name: &CStr| {
        format!(
            "this QEMU (plugin interface {} to {}) has no function {}",
            information.minimum,
            information.current,
            name.to_string_lossy()
        )
    };
    let api = Api::find().map_err(absent)?;
    let bytes = Bytes::find(information.current).map_err(absent)?;
    // SAFETY: QEMU's name of the guest's instruction set ends with a nul and lives during the installation.
    let target = unsafe { CStr::from_ptr(information.target_name) }.to_string_lossy();
    let decoder = instruction::decoder(&target)
        .ok_or_else(|| format!("guests of {target}: only x86_64 and aarch64 are known"))?;
    let mut texts = Vec::new();
    for place in 0..usize::try_from(count).unwrap_or(0) {
        // SAFETY: QEMU passes `count` pointers to strings that end with a nul and
        // outlive the plugin.
        let text = unsafe { CStr::from_ptr(*arguments.add(place)) };
        texts.push(text.to_str().map_err(|_| format!("argument {text:?} is not UTF-8"))?);
    }
    let arguments = Arguments::parse(texts).map_err(|error| error.to_string())?;
    let cpus = usize::try_from(information.cpus.max(information.most_cpus)).unwrap_or(0).max(1);
    let machine = arguments.machine(api::placing(information.current, &target), cpus)?;
    let nodes: Vec<u32> = machine.pairs().iter().map(|pair| pair.to).collect();
    let traffic = arguments.many.traffic(&nodes, cpus)?;
    let directory = arguments.many.directory(cpus)?;
    if let Some(path) = &arguments.report {
        // Open the file now rather than after minutes of the guest's run.
        std::fs::write(path, "").map_err(|error| format!("report={}: {error}", path.display()))?;
    }
    let plugin = Plugin {
        api,
        bytes,
        decoder,
        code: arguments.code,
        stamps: arguments.stamps,
        entry: arguments.entry,
        blocks: arguments.blocks,
        machine,
        traffic,
        directory,
        cores: arguments.many.cores,
        walks: arguments.many.walks,
        calls: arguments.many.calls,
        pacing: arguments.pacing,
        exchange_pacing: Pacing { absorb: 0, ..arguments.pacing },
        clocks: (0..cpus).map(|_| Mutex::new(Clock::listing(arguments.windows))).collect(),
        touched: arguments.probe.then(Touched::default),
        foreign: AtomicU64::new(0),
        stores: AtomicU64::new(0),
        devices: AtomicU64::new(0),
        report: arguments.report,
    };
    let (register_translation, register_exit) = (plugin.api.register_translation, plugin.api.register_exit);
    PLUGIN.set(plugin).map_err(|_| "loaded twice: one plugin= is enough".to_owned())?;
    // SAFETY: the callbacks have the signatures of the header and need only the state that has just been set.
    unsafe {
        register_translation(id, on_translation);
        register_exit(id, on_exit, std::ptr::null_mut());
    }
    Ok(())
}

fn ticks() -> u64 {
    // SAFETY: every x86-64 has the instruction, and user programs may use it unless the system forbids it;
    // without it there is nothing to measure.
    unsafe { _rdtsc() }
}

/// Handles an access: asks the model, and waits for the rest of the modelled time.
unsafe extern "C" fn on_access(cpu: c_uint, access: u32, address: u64, _data: *mut c_void) {
    let entry = ticks();
    let Some(plugin) = PLUGIN.get() else { return };
    if plugin.is_foreign(address) {
        return;
    }
    let cpu = cpu as usize;
    // SAFETY: the access is the one that QEMU passed to this callback.
    if unsafe { (plugin.api.is_store)(access) } {
        plugin.stores.fetch_add(1, Ordering::Relaxed);
        return;
    }
    // SAFETY: as above.
    let Some(physical_address) = (unsafe { place(plugin, access, address) }) else {
        plugin.devices.fetch_add(1, Ordering::Relaxed);
        return;
    };
    if let Some(touched) = &plugin.touched {
        touched.note(physical_address);
    }
    let Some(mut outcome) = plugin.machine.load(cpu, address, physical_address, entry) else { return };
    let Some(clock) = plugin.clocks.get(cpu) else { return };
    let Clock { pace, windows, calls, .. } = &mut *locked(clock);
    plugin.open_call(calls, calls::CHASE, pace.arrival(plugin.pacing, entry));
    let waited = plugin.queue(&mut outcome, entry);
    if let Some(pair) = outcome.pair.and_then(|pair| plugin.machine.pairs().get(pair)) {
        plugin.traffic.prefetch(*pair, outcome.prefetched, entry);
    }
    calls.hop(outcome.ticks.saturating_add(outcome.pause), waited);
    let deadline = pace.enter(plugin.pacing, entry, outcome.ticks, outcome.pause);
    if plugin.stamps.is_empty() && !windows.is_open() {
        windows.keep();
        windows.open(entry);
    }
    windows.hop(address, &outcome);
    spend(pace, deadline);
}

/// Returns the physical address of an access; `None` for a device.
///
/// # Safety
///
/// The access is the one that QEMU passed to the running callback.
unsafe fn place(plugin: &Plugin, access: u32, address: u64) -> Option<u64> {
    let api = &plugin.api;
    // SAFETY: the handle is not kept beyond the callback.
    unsafe {
        let handle = (api.hardware_address)(access, address);
        (!handle.is_null() && !(api.is_device)(handle)).then(|| (api.physical_address)(handle))
    }
}

/// Waits until `deadline`.
fn spend(pace: &mut Pace, deadline: u64) {
    let answer = ticks();
    let mut now = answer;
    while now < deadline {
        now = ticks();
    }
    pace.leave(answer, now);
}

/// Handles a return from the loop: the next hop is not counted from the last one.
unsafe extern "C" fn on_return(cpu: c_uint, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    let now = ticks();
    if let Some(clock) = plugin.clocks.get(cpu as usize) {
        let clock = &mut *locked(clock);
        clock.pace.interrupt();
        if plugin.stamps.is_empty() {
            clock.windows.close(now);
        }
        if let Some(fewest) = plugin.calls {
            let gap = plugin.traffic.longest_gap();
            clock.calls.close(now, gap, fewest, || plugin.traffic.servers.lines());
        }
    }
}

/// Writes the report.
unsafe extern "C" fn on_exit(_id: u64, _data: *mut c_void) {
    let Some(plugin) = PLUGIN.get() else { return };
    let mut all = Clock::default();
    let mut calls: Vec<(usize, Call)> = Vec::new();
    let mut stamped: Vec<(usize, stamped::Window)> = Vec::new();
    for (cpu, clock) in plugin.clocks.iter().enumerate() {
        let clock = locked(clock);
        calls.extend(clock.calls.kept().map(|call| (cpu, call)));
        stamped.extend(clock.stamped.kept().iter().map(|window| (cpu, *window)));
        all.pace.add(&clock.pace);
        all.windows.add(&clock.windows);
    }
    let ranges = plugin.touched.as_ref().map(Touched::ranges);
    let text = Report {
        counts: &plugin.machine.counts(),
        pairs: plugin.machine.pairs(),
        pace: &all.pace,
        windows: &all.windows,
        traffic: &plugin.traffic,
        directory: plugin.directory.as_ref(),
        calls: &calls,
        stamped: &stamped,
        foreign: plugin.foreign.load(Ordering::Relaxed),
        stores: plugin.stores.load(Ordering::Relaxed),
        devices: plugin.devices.load(Ordering::Relaxed),
        touched: ranges.as_deref(),
    }
    .to_string();
    match &plugin.report {
        None => eprint!("{text}"),
        Some(path) => {
            if let Err(error) = std::fs::write(path, &text) {
                eprintln!("{PREFIX} ERROR: report={}: {error}", path.display());
            }
        }
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
