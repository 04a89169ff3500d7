//! The conditions under which a saved result was measured, if its file contains them.

use latency_core::Text;

use crate::options::tokens::Escaped;
use crate::options::{FLAGS, Group};
use crate::record::members;

/// The condition of errors of the memory, which is composed of several members.
pub(super) const MEMORY_ERRORS: &str = "memory_errors";
/// The condition of the vendor of the processor: in documents, the machine has a vendor as well.
pub(super) const CPU_VENDOR: &str = "cpu_vendor";

/// Conditions that may differ between two results: the key in JSON, and the words for people.
pub const CONDITIONS: [(&str, &str); 19] = [
    (members::HOST.key, "host"),
    (members::MACHINE_PRODUCT.key, "machine"),
    (members::BIOS_VERSION.key, "BIOS"),
    (members::CPU_BRAND.key, "CPU"),
    (members::MICROCODE.key, "microcode"),
    (members::KERNEL_RELEASE.key, "kernel"),
    (members::PLATFORM.key, "platform"),
    (members::CLOCK_SOURCE.key, "kernel clock source"),
    (members::GOVERNOR.key, "frequency governor"),
    (members::HUGE_PAGES.key, "transparent huge pages"),
    (members::MEMORY_ENCRYPTION.key, "memory encryption"),
    (members::DIMMS.key, "DIMMs"),
    (MEMORY_ERRORS, "memory errors"),
    (members::VERSION.key, "latency-bench"),
    (members::COUNTER.key, "clock"),
    (members::COMMAND.key, "options"),
    (members::ATOMICS.key, "atomic instructions"),
    (members::HYPERVISOR.key, "hypervisor"),
    (CPU_VENDOR, "CPU vendor"),
];
/// Index of the host in [`CONDITIONS`].
pub const HOST: usize = 0;
/// Index of the CPU model.
pub const BRAND: usize = 3;
/// Index of the kernel version.
pub(super) const KERNEL: usize = 5;
/// Index of the platform.
pub const PLATFORM: usize = 6;
/// The platform without neighbours.
pub const EMULATED: &str = "emulated";
/// Indices of the platform, the hypervisor and the vendor of the processor, which identify it.
pub(super) const OF_IDENTITY: [usize; 3] = [PLATFORM, 17, 18];
/// Index of the options in [`CONDITIONS`].
const OPTIONS: usize = 15;

/// The conditions of one result.
#[derive(Clone, Copy, Debug, Default)]
pub struct SavedConditions {
    /// The texts by the index in [`CONDITIONS`]; empty if unknown.
    pub texts: [Text<96>; CONDITIONS.len()],
    /// True if the run was interrupted.
    pub partial: bool,
    /// True if the file itself says `Trust: poor`.
    pub poor: bool,
    /// True if the file contains the command line, even without options.
    has_command: bool,
    /// True if the next argument is the value of a skipped option.
    skips_value: bool,
}

impl SavedConditions {
    /// Returns whether a condition is known.
    pub fn tells(&self, index: usize) -> bool {
        (index == OPTIONS && self.has_command) || self.texts.get(index).is_some_and(|text| !text.is_empty())
    }

    /// Sets the condition with a JSON key, if there is one.
    pub fn set(&mut self, key: &str, value: &str) {
        let index = CONDITIONS.iter().position(|(known, _)| *known == key);
        if let Some(text) = index.and_then(|index| self.texts.get_mut(index)) {
            *text = Text::from_bytes(value.as_bytes());
        }
    }

    /// Adds an argument of the run to the options, unless it concerns only the output.
    pub fn argument(&mut self, argument: &str) {
        self.has_command = true;
        let name = argument.split('=').next().unwrap_or_default();
        let flag = FLAGS.iter().find(|flag| flag.is_called(name.as_bytes()));
        let shown = match flag {
            _ if core::mem::take(&mut self.skips_value) => false,
            Some(flag) => {
                let measures = !matches!(flag.group, Group::Output | Group::General | Group::Verdict);
                self.skips_value = !measures && flag.kind().is_some() && name.len() == argument.len();
                measures
            }
            // The value of an option, or the name of the experiment, which both results have in common.
            None => {
                argument.starts_with("--")
                    || argument.bytes().next().is_some_and(|byte| byte.is_ascii_digit())
            }
        };
        if let (true, Some(text)) = (shown, self.texts.get_mut(OPTIONS)) {
            let separator = if text.is_empty() { "" } else { " " };
            // Text that does not fit is cut.
            let _ = separator.chars().chain(argument.chars()).all(|character| text.push(character));
        }
    }
}

/// Returns a text that cannot control a terminal; text that does not fit is left out.
pub fn escaped<const N: usize>(text: &[u8]) -> Text<N> {
    let mut escaped = Text::EMPTY;
    let _ = write!(escaped, "{}", Escaped(text));
    escaped
}
