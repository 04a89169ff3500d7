//! Decides if two saved points were measured under like conditions, for `compare` and `fleet`.
//!
//! Nothing here depends on latencies. An unknown condition is like every other value.

use alloc::string::String;
use core::fmt::Display;
use core::ops::Range;

use latency_core::math::ln;
use latency_core::{Bytes, Pages, Text, ToReal};

use super::conditions::{CPU_VENDOR, OF_IDENTITY};
use super::rows::Saved;
use crate::record::columns::{
    self, Column, ColumnSet, KERNEL, ORDER, PAGES_OBTAINED, PATTERN, STRIDE, WORKING_SET,
};
use crate::record::members;
use crate::record::row::Row;
use latency_engine::machine::CoreKind;
use latency_engine::result::PageKind;

/// A condition that has to be alike.
#[derive(Clone, Copy, Debug)]
pub struct ComparedCondition {
    /// The code, for programs, of a point with another value of this condition than the others.
    pub code: &'static str,
    /// Its name in a list of differences: for programs, and for people.
    pub key: (&'static str, &'static str),
    /// The field of points that contains the condition, if there is one.
    pub field: Option<Column>,
    /// The text with a `#` in place of a value.
    around: &'static str,
    /// The words for its values from 1 on; other words have the number after the last one. Empty if the values are
    /// numbers.
    words: &'static [&'static str],
}

/// The conditions, in the order in which texts name them.
pub const TABLE: [ComparedCondition; 22] = [
    condition("pages", (PAGES_OBTAINED.name(), "pages"), None, "# pages", &[]),
    condition("size", (WORKING_SET.name(), "working set"), Some(WORKING_SET), "# working set", &[]),
    condition(
        "unverified",
        (columns::VERIFIED.name(), "placement"),
        None,
        "placement #",
        &["not verified", "verified"],
    ),
    condition("partial", (members::PARTIAL.key, "run"), None, "#", &["interrupted", "complete"]),
    condition("order", ("order", "order"), Some(ORDER), "order #", &ORDERS),
    condition("stride", (STRIDE.name(), "stride"), Some(STRIDE), "stride #", &[]),
    condition("pattern", (PATTERN.name(), "pattern"), Some(PATTERN), "pattern #", &["stream", "permuted"]),
    condition("nodes", (members::NODES.key, "NUMA nodes"), None, "# NUMA nodes", &[]),
    condition(
        "side-cache",
        (members::SIDE_CACHE.key, "memory-side cache"),
        None,
        "# memory-side cache",
        &["no", "a"],
    ),
    condition(
        "kernel",
        (KERNEL.name(), "chase kernel"),
        Some(KERNEL),
        "chase kernel #",
        &["index", "pointer"],
    ),
    condition("undisturbed", (columns::UNDISTURBED_NS.name(), "steady value"), None, "#", &[UNDISTURBED]),
    condition("cpu-family", (members::CPU_FAMILY.key, "CPU family"), None, "CPU family #", &[]),
    condition(
        "cpu-model",
        (members::CPU_MODEL_NUMBER.key, "CPU model number"),
        None,
        "CPU model number #",
        &[],
    ),
    condition("cpu-stepping", (members::CPU_STEPPING.key, "CPU stepping"), None, "CPU stepping #", &[]),
    condition("core-type", (members::CORE_TYPE.key, "core type"), None, "#", &CORE_TYPES),
    condition(
        "cpu-masked",
        (members::CPU_MASKED.key, "masked CPU model"),
        None,
        "# masked CPU model",
        &["no", "a"],
    ),
    condition(
        "platform",
        (members::PLATFORM.key, "platform"),
        None,
        "platform #",
        &["hardware", "virtual machine", "emulated"],
    ),
    condition("hypervisor", (members::HYPERVISOR.key, "hypervisor"), None, "hypervisor #", &HYPERVISORS),
    condition("cpu-vendor", (CPU_VENDOR, "CPU vendor"), None, "CPU vendor #", &VENDORS),
    condition("l1-size", ("l1_bytes", "L1 cache"), None, "# of L1 cache", &[]),
    condition("l2-size", ("l2_bytes", "L2 cache"), None, "# of L2 cache", &[]),
    condition("l3-size", ("l3_bytes", "L3 cache"), None, "# of L3 cache", &[]),
];
/// The types of cores. All cores of most processors are of one type, and their documents name none.
const CORE_TYPES: [&str; 3] = ["one core type", CoreKind::Performance.name(), CoreKind::Efficiency.name()];
/// Hypervisors, after the word for none.
const HYPERVISORS: [&str; 6] = ["none", "KVM", "QEMU TCG", "Xen", "VMware", "Hyper-V"];
/// Vendors of processors whose models may have one name.
const VENDORS: [&str; 3] = ["GenuineIntel", "AuthenticAMD", "HygonGenuine"];
/// The orders of walks, from the order with the nearest successive lines to the order with the farthest.
pub(super) const ORDERS: [&str; 8] =
    ["backward", "sequential", "page-local", "2m-local", "grouped-4", "grouped-2", "grouped-1", "random"];
/// Value of the condition of pages for a word that names none; other values are codes of pages.
const OTHER_PAGES: u64 = u8::MAX as u64;
/// The word for a steady value that was requested and not found.
const UNDISTURBED: &str = "no steady value; run with --until=quiet";
/// Index of the page size in [`TABLE`].
pub const PAGES: usize = 0;
/// Index of verified placement.
pub const VERIFIED: usize = 2;
/// Index of the completeness of a result.
pub const WHOLE: usize = 3;
/// Index of the number of NUMA nodes of the host.
pub const PLACE_OF_NODES: usize = 7;
/// Index of a memory-side cache.
pub const SIDE_CACHE: usize = 8;
/// Index of the condition of a steady value that was requested and not found.
pub const DISTURBED: usize = 10;

/// Conditions that identify the processor. A name alone does not: hypervisors give one name to processors of several
/// generations. A comparison of two sides names them and judges.
pub const IDENTITY: Range<usize> = 11..TABLE.len();
/// Index of a masked model.
const MASKED: usize = 15;
/// The conditions that are [conditions of results](super::conditions::CONDITIONS) as well, in the order of
/// [`OF_IDENTITY`].
pub const TEXTS: Range<usize> = PLATFORM..L1;
/// Index of the platform.
const PLATFORM: usize = MASKED + 1;
/// Index of the size of the L1 data cache in [`TABLE`]; the L3 cache is the last one.
const L1: usize = 19;

/// Returns the value of a type of cores by its word; an empty word if all cores are of one type.
pub fn core_type(word: &str) -> u64 {
    let known = CORE_TYPES.iter().position(|known| *known == word);
    if word.is_empty() { 1 } else { known.unwrap_or(CORE_TYPES.len()) as u64 + 1 }
}

/// Value of a condition that does not apply; 0 is unknown. The larger of the two values is that of the sound result.
pub const NO: u64 = 1;
/// Value of a condition that applies.
pub const YES: u64 = 2;

const fn condition(
    code: &'static str,
    key: (&'static str, &'static str),
    field: Option<Column>,
    around: &'static str,
    words: &'static [&'static str],
) -> ComparedCondition {
    ComparedCondition { code, key, field, around, words }
}

/// The conditions of a point: a number for each, 0 if unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Under([u64; TABLE.len()]);

impl Under {
    /// Returns the value of a condition.
    pub fn get(self, condition: usize) -> u64 {
        self.0.get(condition).copied().unwrap_or(0)
    }

    /// Returns the same conditions with another value of one of them.
    pub fn with(mut self, condition: usize, value: u64) -> Under {
        if let Some(slot) = self.0.get_mut(condition) {
            *slot = value;
        }
        self
    }

    /// Returns the conditions that are not alike, one bit for each.
    pub fn differences(&self, other: Under) -> u64 {
        let differs = |condition: &usize| !alike(*condition, self.get(*condition), other.get(*condition));
        (0..TABLE.len()).filter(differs).fold(0, |all, condition| all | 1 << condition)
    }

    /// Returns the conditions of the host, without those of the measurement.
    pub fn of_host(self) -> Under {
        let is_of_host =
            |condition| matches!(condition, PLACE_OF_NODES | SIDE_CACHE) || IDENTITY.contains(&condition);
        (0..TABLE.len())
            .filter(|condition| !is_of_host(*condition))
            .fold(self, |all, other| all.with(other, 0))
    }

    /// Returns the conditions of a point of a result. Conditions in the columns `without` are left
    /// out.
    pub fn of(row: &Row, saved: &Saved, without: ColumnSet) -> Under {
        Under(core::array::from_fn(|condition| match TABLE.get(condition).and_then(|entry| entry.field) {
            Some(field) if without.has(field) => 0,
            Some(_) => of_row(row, condition),
            None => match condition {
                PAGES => pages(row.word(PAGES_OBTAINED)),
                VERIFIED => row.flag(columns::VERIFIED).map_or(0, yes),
                _ => of_result(saved, condition),
            },
        }))
    }
}

/// Returns the value of a condition that applies or does not.
pub const fn yes(flag: bool) -> u64 {
    if flag { YES } else { NO }
}

/// Returns the value of a condition of a whole result; 0 if it is unknown, or a condition of points.
pub fn of_result(saved: &Saved, condition: usize) -> u64 {
    match condition {
        WHOLE => yes(!saved.conditions.partial),
        PLACE_OF_NODES => saved.origin.nodes.into(),
        SIDE_CACHE => saved.origin.side_cache.map_or(0, yes),
        PLATFORM..L1 => {
            let text = OF_IDENTITY.get(condition - PLATFORM);
            let text = text.and_then(|index| saved.conditions.texts.get(*index)).map_or("", Text::as_str);
            TABLE.get(condition).map_or(0, |entry| word(text, entry.words))
        }
        L1.. => saved.claims.level((condition - L1) as u32 + 1).map_or(0, |claim| claim.size.0),
        _ => {
            let part = condition.checked_sub(IDENTITY.start);
            part.and_then(|part| saved.origin.identity.get(part)).copied().unwrap_or(0)
        }
    }
}

/// Returns the value of a text, which is 0 without one. Texts that are not among the words have different values.
fn word(text: &str, words: &[&str]) -> u64 {
    // Conditions have at most 52 bits.
    let hash = text.bytes().fold(0, |hash: u32, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    let known = words
        .iter()
        .position(|word| *word == text)
        .map_or(words.len() as u64 + u64::from(hash), |place| place as u64);
    if text.is_empty() { 0 } else { known + 1 }
}

/// Returns the value of the condition of the obtained pages.
pub fn pages(word: &str) -> u64 {
    match Pages::from_word(word.as_bytes()) {
        _ if word.is_empty() => 0,
        None | Some(Pages::AUTO) => OTHER_PAGES,
        Some(pages) => pages.code().into(),
    }
}

/// Returns the value of a condition that is a field of points; 0 if the row does not have it.
pub fn of_row(row: &Row, condition: usize) -> u64 {
    let Some(ComparedCondition { field: Some(field), words, .. }) = TABLE.get(condition) else { return 0 };
    match *field {
        field if !row.tells(field) => 0,
        WORKING_SET => row.size().0,
        STRIDE => row.stride().0,
        field => words.iter().position(|word| row.is_word(field, word)).unwrap_or(words.len()) as u64 + 1,
    }
}

/// Returns whether two values of a condition are alike. Sizes are alike if they are less than half an octave apart.
pub fn alike(condition: usize, one: u64, other: u64) -> bool {
    let size = TABLE.get(condition).is_some_and(|entry| entry.field == Some(WORKING_SET));
    match (one, other) {
        (0, _) | (_, 0) => true,
        _ if size => ln(one.real() / other.real()).abs() < ln(2.0) / 2.0,
        _ => one == other,
    }
}

/// Returns a value of a condition for people: with its unit or name if `whole` is true, else alone.
pub fn shown(condition: usize, value: u64, whole: bool) -> String {
    let Some(entry) = TABLE.get(condition) else { return String::new() };
    let (before, behind) = entry.around.split_once('#').filter(|_| whole).unwrap_or_default();
    let place = (value as usize).wrapping_sub(1);
    let behind = if whole && (condition, value) == (PLACE_OF_NODES, 1) { " NUMA node" } else { behind };
    let own: &dyn Display = match entry.field {
        _ if condition == PAGES && value == OTHER_PAGES => &"other",
        _ if condition == PAGES => &PageKind(Pages::of_code(value as u8)),
        _ if !entry.words.is_empty() => entry.words.get(place).unwrap_or(&"other"),
        Some(_) => &Bytes(value),
        None if condition >= L1 => &Bytes(value),
        // Zero is a number of a family, a model or a stepping.
        None if IDENTITY.contains(&condition) => &place,
        None => &value,
    };
    format!("{before}{own}{behind}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn setting_a_condition_does_not_change_the_others() {
        for one in 0..TABLE.len() {
            let largest = Under::default().with(one, u64::MAX);
            for other in 0..TABLE.len() {
                let expected = if other == one { u64::MAX } else { 0 };
                assert_eq!(largest.get(other), expected, "{one} {other}");
            }
            assert_eq!(largest.with(one, 1).get(one), 1);
        }
    }

    #[test]
    fn unknown_conditions_are_alike_and_so_are_sizes_within_half_an_octave() {
        assert!(alike(PAGES, 0, 3) && alike(PAGES, 3, 3) && !alike(PAGES, 1, 3));
        assert!(
            alike(1, 256 << 20, 300 << 20)
                && !alike(1, 256 << 20, 512 << 20)
                && !alike(1, 1 << 30, 256 << 20)
        );
    }

    #[test]
    fn values_have_words() {
        for (word, whole, text) in [
            ("4k", true, "4 KiB pages"),
            ("2m", false, "2 MiB"),
            ("thp", true, "transparent 2 MiB pages"),
            ("16k", true, "16 KiB pages"),
            ("thp-32m", false, "transparent 32 MiB"),
            ("huge", true, "other pages"),
        ] {
            assert_eq!(shown(PAGES, pages(word), whole), text);
        }
        assert_eq!(shown(1, 1 << 30, true), "1 GiB working set");
        assert_eq!(shown(PLACE_OF_NODES, 4, true), "4 NUMA nodes");
        assert_eq!(shown(PLACE_OF_NODES, 1, true), "1 NUMA node");
        assert_eq!(shown(VERIFIED, NO, true), "placement not verified");
        assert_eq!(shown(4, 2, true), "order sequential");
        assert_eq!(shown(5, 128, true), "stride 128 B");
        assert_eq!(shown(6, 1, true), "pattern stream");
        assert_eq!(shown(SIDE_CACHE, YES, true), "a memory-side cache");
        assert_eq!(shown(11, 1, true), "CPU family 0");
        assert_eq!(shown(12, 208, false), "207");
        assert_eq!(["", "efficiency core", "other"].map(core_type), [1, 3, 4]);
        assert_eq!(shown(14, 3, true), "efficiency core");
        assert_eq!(shown(L1 + 2, 32 << 20, true), "32 MiB of L3 cache");
        assert_eq!(shown(MASKED, YES, true), "a masked CPU model");
        assert_eq!(shown(17, word("KVM", &HYPERVISORS), true), "hypervisor KVM");
        let [one, other] = ["Jailhouse", "SRE"].map(|name| word(name, &HYPERVISORS));
        assert!(one != other && word("", &HYPERVISORS) == 0);
        assert_eq!(shown(17, one, false), "other");
    }
}
