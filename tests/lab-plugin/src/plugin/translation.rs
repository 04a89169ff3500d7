//! Chooses the guest's instructions to follow, and the callback for each.
//!
//! # Safety
//!
//! QEMU calls this when it translates a block; the block and its instructions are good until it returns. Data for
//! callbacks are pointers into the static plugin.

use std::ffi::c_void;

use super::lines::{on_exchange, on_flush, on_generator, on_generator_past, on_line};
use super::moments::{on_block, on_close, on_entry, on_open, on_stream};
use super::{PLUGIN, Plugin, on_access, on_return};
use crate::api::{self, Handle, OnAccess, OnExecution};
use crate::instruction::{Kind, LONGEST};

/// The callback for an instruction.
enum Callback {
    /// Called after each of its accesses.
    Access(OnAccess, *mut c_void),
    /// Called before it is executed.
    Execution(OnExecution, *mut c_void),
}

/// Requests callbacks for the accesses of a block's instructions in kernels, and for the stamps.
pub(super) unsafe extern "C" fn on_translation(_id: u64, block: *mut Handle) {
    let Some(plugin) = PLUGIN.get() else { return };
    let api = &plugin.api;
    // SAFETY: the block is QEMU's and good during this callback; so are its
    // instructions, whose numbers are below their count.
    unsafe {
        for number in 0..(api.instructions)(block) {
            let instruction = (api.instruction)(block, number);
            if instruction.is_null() {
                continue;
            }
            let address = (api.instruction_address)(instruction);
            if !plugin.follows(address) {
                continue;
            }
            let (size, mut buffer) = ((api.instruction_size)(instruction), [0; LONGEST]);
            let kind = (plugin.decoder)(plugin.bytes.read(instruction, size, &mut buffer));
            match callback(plugin, address, kind) {
                Some(Callback::Access(callback, data)) => {
                    let (flags, kinds) = (api::NO_REGISTERS, api::READS_AND_WRITES);
                    (api.register_access)(instruction, callback, flags, kinds, data);
                }
                Some(Callback::Execution(callback, data)) => {
                    (api.register_execution)(instruction, callback, api::NO_REGISTERS, data);
                }
                None => {}
            }
        }
    }
}

impl Plugin {
    /// Returns true if the instruction at this address may need a callback.
    fn follows(&self, address: u64) -> bool {
        self.code.contains(&address)
            || self.stamps.contains(&address)
            || self.entry == Some(address)
            || self.cores.contains(&address)
            || self.blocks.iter().any(|(routine, _)| routine.contains(&address))
            || self.traffic.stream(address).is_some()
    }
}

/// Returns the callback for an instruction.
fn callback(plugin: &'static Plugin, address: u64, kind: Kind) -> Option<Callback> {
    let nothing = std::ptr::null_mut();
    if plugin.entry == Some(address) {
        return Some(Callback::Execution(on_entry, nothing));
    }
    if let Some((_, ticks)) = plugin.blocks.iter().find(|(routine, _)| routine.contains(&address)) {
        let ticks = std::ptr::from_ref(ticks).cast_mut().cast();
        return (kind == Kind::EndsBlock).then_some(Callback::Execution(on_block, ticks));
    }
    if plugin.code.contains(&address) {
        return match kind {
            Kind::Return => Some(Callback::Execution(on_return, nothing)),
            Kind::Stack => None,
            _ => Some(Callback::Access(on_access, nothing)),
        };
    }
    if let Some(stream) = plugin.traffic.stream(address) {
        let stream = std::ptr::from_ref(stream).cast_mut().cast();
        return match kind {
            Kind::Return | Kind::Stack => None,
            Kind::StorePast => Some(Callback::Access(on_generator_past, stream)),
            _ => Some(Callback::Access(on_generator, stream)),
        };
    }
    if plugin.cores.contains(&address) {
        let walks = plugin.walks.contains(&address);
        let pacing = if walks { &plugin.pacing } else { &plugin.exchange_pacing };
        let pacing = std::ptr::from_ref(pacing).cast_mut().cast();
        return match kind {
            Kind::Flush => Some(Callback::Execution(on_flush, nothing)),
            Kind::Exchange => Some(Callback::Access(on_exchange, pacing)),
            Kind::Return => Some(Callback::Execution(on_return, nothing)),
            Kind::Stack => None,
            _ => Some(Callback::Access(on_line, pacing)),
        };
    }
    match kind {
        Kind::OpensWindow => Some(Callback::Execution(on_open, nothing)),
        Kind::ClosesWindow => Some(Callback::Execution(on_close, nothing)),
        Kind::StorePast if plugin.machine.minds_stores() || plugin.directory.is_some() => {
            Some(Callback::Access(on_stream, nothing))
        }
        _ => None,
    }
}
