//! Models that a hypervisor reports in place of the real one: templates of clouds give processors of several generations
//! one model. A model is believed if extensions and sizes of private caches, which a hypervisor rarely changes, are those
//! of its cores.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Display};

use latency_core::Bytes;

use super::row::span;
use latency_engine::machine::processor::Extensions;
use latency_engine::machine::{CoreKind, Platform, Processor};
use latency_report::lists::joined;

/// The cores of each maker, from the oldest to the newest, one a line: the name, behind `small` for efficiency cores, and
/// none for all other models of a family; the family and the models, which are hexadecimal; the size of L1 and the sizes
/// of L2 in KiB, 0 if unknown; and all extensions. Tiles are in no other model of the first family.
///
/// # References
/// Intel, Optimization Reference Manual, "Cache Parameters"; AMD, Software Optimization Guides of families 17h, 19h, 1Ah;
/// `intel-family.h` of Linux.
const CORES: &str = include_str!("cores.txt");

/// A kind of core, and the models that have it.
struct CoreIdentity {
    /// The name of the core; empty for all other models of a family.
    name: &'static str,
    family: u16,
    /// The hexadecimal numbers of the models.
    models: &'static str,
    /// True for efficiency cores.
    is_small: bool,
    /// The sizes of L1 and L2.
    sizes: [&'static str; 2],
    /// All extensions of the core.
    extensions: Extensions,
}

impl CoreIdentity {
    fn read(line: &'static str) -> Option<CoreIdentity> {
        let mut parts = line.split(';').map(str::trim_ascii);
        let name = parts.next()?;
        let small = name.strip_prefix("small ");
        let (family, models) = (span(parts.next()?)?.0, parts.next()?);
        let sizes = [parts.next()?, parts.next()?];
        let words = parts.next().unwrap_or_default().split(' ');
        let bits = words.filter_map(|word| Extensions(u8::MAX).names().position(|name| name == word));
        let extensions = Extensions(bits.fold(0, |all, bit| all | 1 << bit));
        Some(CoreIdentity {
            name: small.unwrap_or(name),
            family,
            models,
            is_small: small.is_some(),
            sizes,
            extensions,
        })
    }

    /// Returns the extensions and the sizes of private caches of a processor that are not of this core.
    fn contradiction(&self, processor: &Processor) -> (Extensions, [Option<Bytes>; 2]) {
        let size = |level: usize| {
            let size = (*processor.caches.get(level)?)?.size;
            let (least, most) = self.sizes[level].split_once('-').unwrap_or([self.sizes[level]; 2].into());
            let [least, most] = [least, most].map(|kib| kib.parse::<u64>().unwrap_or_default() << 10);
            (most > 0 && !(least..=most).contains(&size.0)).then_some(size)
        };
        (processor.extensions.without(self.extensions), [size(0), size(1)])
    }
}

/// A model that is not the real one.
pub struct MaskedModel {
    model: u16,
    /// The extensions and the sizes of L1 and L2 that are not of the reported model.
    found: (Extensions, [Option<Bytes>; 2]),
    /// The oldest core of the maker with all extensions.
    oldest: Option<&'static str>,
}

/// Returns the reasons why the reported model is not the real one, if there are any.
pub fn contradiction(processor: &Processor) -> Option<MaskedModel> {
    let (family, model, _) = processor.signature;
    let of_maker = |core: &CoreIdentity| match processor.vendor.as_str() {
        "GenuineIntel" => core.family == 6,
        "AuthenticAMD" => core.family > 6,
        _ => false,
    };
    let is_named = |core: &CoreIdentity| !core.name.is_empty();
    let is_model = |core: &CoreIdentity| {
        let kind = if core.is_small { CoreKind::Efficiency } else { CoreKind::Performance };
        let is_one = |(first, last): (u16, u16)| (first..=last).contains(&model);
        let has = core.models.split(' ').filter_map(span).any(is_one);
        core.family == family && has && processor.core.is_none_or(|own| own == kind)
    };
    let all = || CORES.lines().filter_map(CoreIdentity::read).filter(of_maker);
    let own = || all().filter(is_model);
    let is_free = |(extensions, sizes): &(Extensions, [Option<Bytes>; 2])| {
        *extensions == Extensions(0) && sizes.iter().all(Option::is_none)
    };
    let known = own().any(|core| is_named(&core));
    let mut found = own().filter(|core| !known || is_named(core)).map(|core| core.contradiction(processor));
    let first = found.next().filter(|first| !is_free(first))?;
    if processor.platform == Platform::Emulated || found.any(|other| is_free(&other)) {
        return None;
    }
    let has_all = |core: &CoreIdentity| processor.extensions.without(core.extensions) == Extensions(0);
    let oldest = all().filter(is_named).find(has_all).map(|core| core.name);
    Some(MaskedModel { model, found: first, oldest: oldest.filter(|_| first.0 != Extensions(0)) })
}

impl Display for MaskedModel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (extensions, sizes) = self.found;
        let mut found = Vec::new();
        extensions.names().for_each(|name| found.push(String::from(name)));
        for (size, level) in sizes.into_iter().zip(["L1", "L2"]) {
            size.into_iter().for_each(|size| found.push(format!("{size} of {level}")));
        }
        let (last, others) = found.split_last().ok_or(fmt::Error)?;
        let (and, are) = if others.is_empty() { ("", "is") } else { (" and ", "are") };
        let others = joined("", ", ", others.iter());
        write!(
            out,
            "the hypervisor reports model {}, but {others}{and}{last} {are} not of that model",
            self.model
        )?;
        self.oldest.map_or(Ok(()), |core| write!(out, "; {core} or later by its features"))
    }
}
