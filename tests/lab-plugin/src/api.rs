//! The used part of QEMU's plugin interface, declared by hand after its public header `qemu-plugin.h`.
//!
//! The functions are looked up when the plugin is loaded instead of being linked. So one object serves all
//! releases, a missing function is named, and the tests need no QEMU. Their signatures are the same in the
//! versions 1 to 6 of the interface, except for [`Bytes`].
//!
//! # Safety
//!
//! Everything rests on the promise of the header: a function with this name has this signature. Handles are
//! passed back only during the callback that received them, as the header demands.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::marker::PhantomData;

use crate::memory::{Board, Placing};

/// Versions of the interface whose header was read.
pub const KNOWN: std::ops::RangeInclusive<c_int> = 1..=6;

/// QEMU's information about itself (`qemu_info_t`). The last two are a union that holds nothing else.
#[repr(C)]
pub struct Information {
    /// Name of the guest's architecture.
    pub target_name: *const c_char,
    /// Oldest version of the interface that is served.
    pub minimum: c_int,
    /// Version of the interface that is offered.
    pub current: c_int,
    /// True if a whole machine is emulated.
    pub system_emulation: bool,
    /// Virtual CPUs at the start.
    pub cpus: c_int,
    /// Maximum number of virtual CPUs.
    pub most_cpus: c_int,
}

/// A handle that is valid during one callback and opaque to everything but QEMU.
#[repr(C)]
pub struct Handle {
    opaque: [u8; 0],
    /// Neither sent nor kept: the pointer is valid only within its callback.
    only_here: PhantomData<*mut u8>,
}

/// Called when a block of guest code is translated.
pub type OnTranslation = unsafe extern "C" fn(id: u64, block: *mut Handle);
/// Called after a memory access of an instruction.
pub type OnAccess = unsafe extern "C" fn(cpu: c_uint, access: u32, address: u64, data: *mut c_void);
/// Called before an instruction.
pub type OnExecution = unsafe extern "C" fn(cpu: c_uint, data: *mut c_void);
/// Called when the emulator ends.
pub type OnExit = unsafe extern "C" fn(id: u64, data: *mut c_void);

/// `QEMU_PLUGIN_CB_NO_REGS`: the callback does not look at registers.
pub const NO_REGISTERS: c_int = 0;
/// `QEMU_PLUGIN_MEM_RW`. QEMU 7.2 makes no callbacks for reads alone.
pub const READS_AND_WRITES: c_int = 3;

unsafe extern "C" {
    fn dlsym(handle: *mut c_void, name: *const c_char) -> *mut c_void;
}

fn address_of(name: &CStr) -> Option<*mut c_void> {
    // SAFETY: the name ends with a nul, and a null handle (RTLD_DEFAULT) asks for the first match in the
    // process; nothing is changed.
    let address = unsafe { dlsym(std::ptr::null_mut(), name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// Declares [`Api`] with one field for each function, and their lookup.
macro_rules! functions {
    ($($(#[$documentation:meta])* $name:ident: $type:ty = $symbol:literal;)*) => {
        /// QEMU's functions.
        pub struct Api {
            $($(#[$documentation])* pub $name: $type,)*
        }

        impl Api {
            /// Looks up all functions in the running QEMU.
            ///
            /// # Errors
            ///
            /// The name of the first missing function.
            pub fn find() -> Result<Self, &'static CStr> {
                Ok(Self {
                    $($name: {
                        let address = address_of($symbol).ok_or($symbol)?;
                        // SAFETY: the header declares the function of this name
                        // with this signature in all KNOWN versions.
                        unsafe { std::mem::transmute::<*mut c_void, $type>(address) }
                    },)*
                })
            }
        }
    };
}

functions! {
    /// Requests a callback on every translation.
    register_translation: unsafe extern "C" fn(u64, OnTranslation) = c"qemu_plugin_register_vcpu_tb_trans_cb";
    /// Requests a callback at the end.
    register_exit: unsafe extern "C" fn(u64, OnExit, *mut c_void) = c"qemu_plugin_register_atexit_cb";
    /// Requests a callback after each memory access of an instruction.
    register_access: unsafe extern "C" fn(*mut Handle, OnAccess, c_int, c_int, *mut c_void)
        = c"qemu_plugin_register_vcpu_mem_cb";
    /// Requests a callback before each execution of an instruction.
    register_execution: unsafe extern "C" fn(*mut Handle, OnExecution, c_int, *mut c_void)
        = c"qemu_plugin_register_vcpu_insn_exec_cb";
    /// Number of instructions of a block.
    instructions: unsafe extern "C" fn(*const Handle) -> usize = c"qemu_plugin_tb_n_insns";
    /// An instruction of a block.
    instruction: unsafe extern "C" fn(*const Handle, usize) -> *mut Handle = c"qemu_plugin_tb_get_insn";
    /// Virtual address of an instruction.
    instruction_address: unsafe extern "C" fn(*const Handle) -> u64 = c"qemu_plugin_insn_vaddr";
    /// Bytes of an instruction.
    instruction_size: unsafe extern "C" fn(*const Handle) -> usize = c"qemu_plugin_insn_size";
    /// True if an access was a store.
    is_store: unsafe extern "C" fn(u32) -> bool = c"qemu_plugin_mem_is_store";
    /// The hardware address of an access; null if QEMU does not know it.
    hardware_address: unsafe extern "C" fn(u32, u64) -> *mut Handle = c"qemu_plugin_get_hwaddr";
    /// True if that address is a device.
    is_device: unsafe extern "C" fn(*const Handle) -> bool = c"qemu_plugin_hwaddr_is_io";
    /// The physical address.
    physical_address: unsafe extern "C" fn(*const Handle) -> u64 = c"qemu_plugin_hwaddr_phys_addr";
}

/// The function that reads the bytes of an instruction; version 3 changed it.
#[derive(Clone, Copy)]
pub enum Bytes {
    /// Up to version 2: returns a pointer to them that is valid within the callback.
    Pointer(unsafe extern "C" fn(*const Handle) -> *const u8),
    /// From version 3 on: copies as many bytes as fit and returns their number.
    Copy(unsafe extern "C" fn(*const Handle, *mut u8, usize) -> usize),
}

impl Bytes {
    /// Looks up the function in a QEMU that offers version `current`.
    ///
    /// # Errors
    ///
    /// Its name, if QEMU does not have it.
    pub fn find(current: c_int) -> Result<Self, &'static CStr> {
        let name = c"qemu_plugin_insn_data";
        let address = address_of(name).ok_or(name)?;
        // SAFETY: the headers of these versions declare it so.
        Ok(unsafe {
            if current >= 3 {
                Bytes::Copy(std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*const Handle, *mut u8, usize) -> usize,
                >(address))
            } else {
                Bytes::Pointer(std::mem::transmute::<
                    *mut c_void,
                    unsafe extern "C" fn(*const Handle) -> *const u8,
                >(address))
            }
        })
    }

    /// Copies the first bytes of an instruction of `size` bytes into `buffer`, and
    /// returns them.
    ///
    /// # Safety
    ///
    /// `instruction` belongs to the block that is being translated, and `size` is QEMU's figure.
    pub unsafe fn read(self, instruction: *const Handle, size: usize, buffer: &mut [u8]) -> &[u8] {
        let length = size.min(buffer.len());
        let copied = match self {
            Bytes::Pointer(data) => {
                // SAFETY: the header promises a stream of `size` bytes.
                let bytes = unsafe { data(instruction) };
                if bytes.is_null() {
                    0
                } else {
                    // SAFETY: as above, and the buffer is ours.
                    unsafe { bytes.copy_to_nonoverlapping(buffer.as_mut_ptr(), length) };
                    length
                }
            }
            // SAFETY: it writes no more than `length` bytes, which fit.
            Bytes::Copy(data) => unsafe { data(instruction, buffer.as_mut_ptr(), length) },
        };
        buffer.get(..copied).unwrap_or_default()
    }
}

/// Returns the interface version to declare to the QEMU that loads the plugin. QEMU reads it before it calls
/// any of our functions, so the choice can only depend on the functions that this QEMU has:
/// `qemu_plugin_n_vcpus` was removed with version 2 (9.0), which accepts nothing older, version 4 added
/// `qemu_plugin_read_memory_vaddr` and version 5 `qemu_plugin_translate_vaddr`. A later QEMU that still
/// serves 5 is served.
#[must_use]
pub fn version_to_declare() -> c_int {
    let has = |name| address_of(name).is_some();
    if has(c"qemu_plugin_translate_vaddr") {
        5
    } else if has(c"qemu_plugin_read_memory_vaddr") {
        4
    } else if has(c"qemu_plugin_num_vcpus") {
        2
    } else {
        1
    }
}

/// Returns the numbering of memory in a QEMU that offers version `current` and emulates the instruction set
/// `target`. Version 1 was offered up to 8.2, whose addresses are physical already: with 8.2, nodes have to be
/// given by their ranges.
#[must_use]
pub fn placing(current: c_int, target: &str) -> Placing {
    match (current, target) {
        (..=1, _) => Placing::Doubled,
        (_, "aarch64") => Placing::Physical(Board::VIRT),
        _ => Placing::Physical(Board::Q35),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_qemu_the_first_function_is_missing_and_the_oldest_version_is_declared() {
        assert_eq!(Api::find().err(), Some(c"qemu_plugin_register_vcpu_tb_trans_cb"));
        assert_eq!(version_to_declare(), 1);
    }

    #[test]
    fn memory_is_numbered_by_version() {
        let [q35, virt] = [Board::Q35, Board::VIRT].map(Placing::Physical);
        assert_eq!([placing(1, "x86_64"), placing(1, "aarch64")], [Placing::Doubled; 2]);
        assert_eq!([placing(2, "x86_64"), placing(5, "x86_64"), placing(5, "aarch64")], [q35, q35, virt]);
    }

    #[test]
    fn the_information_is_laid_out_as_in_the_header() {
        use std::mem::{offset_of, size_of};
        let offsets = [
            offset_of!(Information, minimum),
            offset_of!(Information, current),
            offset_of!(Information, system_emulation),
            offset_of!(Information, cpus),
            offset_of!(Information, most_cpus),
        ];
        assert_eq!((offsets, size_of::<Information>()), ([8, 12, 16, 20, 24], 32));
    }
}
