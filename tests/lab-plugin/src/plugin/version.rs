//! The version of QEMU's plugin interface that the plugin declares.

use std::sync::atomic::{AtomicI32, Ordering};

use crate::api;

/// The version of the interface that this plugin declares: an `int` that QEMU
/// reads once the object is loaded, before it calls anything.
#[unsafe(no_mangle)]
#[allow(non_upper_case_globals)]
pub static qemu_plugin_version: AtomicI32 = AtomicI32::new(1);

/// Runs while the object is being loaded, which is the last moment to choose.
#[used]
#[unsafe(link_section = ".init_array")]
static CHOOSE_VERSION: extern "C" fn() = {
    extern "C" fn choose_version() {
        qemu_plugin_version.store(api::version_to_declare(), Ordering::Relaxed);
    }
    choose_version
};
