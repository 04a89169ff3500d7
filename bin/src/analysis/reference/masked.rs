//! Models that a hypervisor reports in place of the real one: templates of clouds give processors of several generations
//! one model. A model is believed if extensions and sizes of private caches, which a hypervisor rarely changes, are those
//! of its cores.

use core::fmt::{self, Display};

use latency_core::text::{Text, joined};
use latency_core::units::Bytes;

use crate::machine::processor::{CoreKind, Extensions, Platform, Processor};

/// The first and the last model of each range.
type Models = &'static [(u16, u16)];

/// The cores of some models.
struct CoreIdentity {
    /// Their name; empty for all other models of a family.
    name: &'static str,
    family: u16,
    models: Models,
    /// True for efficiency cores.
    is_small: bool,
    /// The size of L1, in KiB.
    l1: u16,
    /// The smallest and the largest size of L2, in KiB; 0 if unknown.
    l2: (u16, u16),
    /// All of their extensions.
    extensions: Extensions,
}

const NONE: Extensions = Extensions(0);
const HASWELL: Extensions = Extensions::WIDE;
const SKYLAKE: Extensions = HASWELL.and(Extensions::FLUSH);
const SKYLAKE_SP: Extensions = SKYLAKE.and(Extensions::VECTORS_OF_64);
const ICE_LAKE: Extensions = SKYLAKE_SP.and(Extensions::ENCRYPTION);
const GRACEMONT: Extensions = SKYLAKE.and(Extensions::ENCRYPTION).and(Extensions::DOT_PRODUCTS);
const ALDER_LAKE: Extensions = ICE_LAKE.and(Extensions::DOT_PRODUCTS);
const SAPPHIRE_RAPIDS: Extensions = ALDER_LAKE.and(Extensions::TILES);
const GRANITE_RAPIDS: Extensions = SAPPHIRE_RAPIDS.and(Extensions::HALF_TILES).and(Extensions::NUMBERED);
const ZEN_3: Extensions = SKYLAKE.and(Extensions::ENCRYPTION);

/// The cores of each maker, from the oldest to the newest. Tiles are in no other model of the first family.
///
/// # References
/// Intel, Optimization Reference Manual, "Cache Parameters"; AMD, Software Optimization Guides of families 17h, 19h, 1Ah;
/// `intel-family.h` of Linux.
static CORES: [CoreIdentity; 19] = [
    core(
        "Nehalem",
        6,
        &[(0x1a, 0x1a), (0x1e, 0x1f), (0x25, 0x25), (0x2c, 0x2c), (0x2e, 0x2f)],
        32,
        (256, 256),
        NONE,
    ),
    core("Sandy Bridge", 6, &[(0x2a, 0x2a), (0x2d, 0x2d), (0x3a, 0x3a), (0x3e, 0x3e)], 32, (256, 256), NONE),
    core(
        "Haswell",
        6,
        &[(0x3c, 0x3d), (0x3f, 0x3f), (0x45, 0x47), (0x4f, 0x4f), (0x56, 0x56)],
        32,
        (256, 256),
        HASWELL,
    ),
    core(
        "Skylake",
        6,
        &[(0x4e, 0x4e), (0x5e, 0x5e), (0x8e, 0x8e), (0x9e, 0x9e), (0xa5, 0xa6)],
        32,
        (256, 256),
        SKYLAKE,
    ),
    core("Skylake-SP", 6, &[(0x55, 0x55)], 32, (1024, 1024), SKYLAKE_SP),
    core("Ice Lake", 6, &[(0x7d, 0x7e), (0xa7, 0xa7)], 48, (512, 512), ICE_LAKE),
    core("Ice Lake-SP", 6, &[(0x6a, 0x6a), (0x6c, 0x6c), (0x8c, 0x8d)], 48, (1280, 1280), ICE_LAKE),
    core(
        "Gracemont",
        6,
        &[(0x97, 0x97), (0x9a, 0x9a), (0xb7, 0xb7), (0xba, 0xba), (0xbe, 0xbf)],
        32,
        (2048, 4096),
        GRACEMONT,
    )
    .small(),
    core(
        "Crestmont",
        6,
        &[(0xaa, 0xaa), (0xac, 0xac), (0xaf, 0xaf), (0xb6, 0xb6)],
        32,
        (2048, 4096),
        GRACEMONT,
    )
    .small(),
    core(
        "Alder Lake",
        6,
        &[(0x97, 0x97), (0x9a, 0x9a), (0xb7, 0xb7), (0xba, 0xba), (0xbf, 0xbf)],
        48,
        (1280, 2048),
        ALDER_LAKE,
    ),
    core("Meteor Lake", 6, &[(0xaa, 0xaa), (0xac, 0xac)], 48, (2048, 2048), ALDER_LAKE),
    core("Sapphire Rapids", 6, &[(0x8f, 0x8f)], 48, (2048, 2048), SAPPHIRE_RAPIDS),
    core("Emerald Rapids", 6, &[(0xcf, 0xcf)], 48, (2048, 2048), SAPPHIRE_RAPIDS),
    core("Granite Rapids", 6, &[(0xad, 0xae)], 48, (2048, 2048), GRANITE_RAPIDS),
    core("", 6, &[(0, u16::MAX)], 0, (0, 0), ALDER_LAKE.and(Extensions::NUMBERED)),
    core("Zen", 0x17, &[(0, 0xff)], 32, (512, 512), SKYLAKE),
    core("Zen 3", 0x19, &[(0, 0x0f), (0x20, 0x5f)], 32, (512, 512), ZEN_3),
    core(
        "Zen 4",
        0x19,
        &[(0x10, 0x1f), (0x60, 0xaf)],
        32,
        (1024, 1024),
        ZEN_3.and(Extensions::VECTORS_OF_64),
    ),
    core("Zen 5", 0x1a, &[(0, 0xff)], 48, (1024, 1024), ALDER_LAKE),
];

const fn core(
    name: &'static str,
    family: u16,
    models: Models,
    l1: u16,
    l2: (u16, u16),
    extensions: Extensions,
) -> CoreIdentity {
    CoreIdentity { name, family, models, is_small: false, l1, l2, extensions }
}

impl CoreIdentity {
    /// Returns the same for efficiency cores.
    const fn small(self) -> CoreIdentity {
        CoreIdentity { is_small: true, ..self }
    }

    /// Returns the extensions and the sizes of private caches of a processor that are not of this core.
    fn contradiction(&self, processor: &Processor) -> (Extensions, [Option<Bytes>; 2]) {
        let size = |level: usize, (least, most): (u16, u16)| {
            let size = (*processor.caches.get(level)?)?.size;
            let is_own = most == 0 || (u64::from(least) << 10..=u64::from(most) << 10).contains(&size.0);
            (!is_own).then_some(size)
        };
        (processor.extensions.without(self.extensions), [size(0, (self.l1, self.l1)), size(1, self.l2)])
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
    let of_maker = |core: &&CoreIdentity| match processor.vendor.as_str() {
        "GenuineIntel" => core.family == 6,
        "AuthenticAMD" => core.family > 6,
        _ => false,
    };
    let is_named = |core: &&CoreIdentity| !core.name.is_empty();
    let is_model = |core: &&CoreIdentity| {
        let kind = if core.is_small { CoreKind::Efficiency } else { CoreKind::Performance };
        let has = |(first, last): &(u16, u16)| (*first..=*last).contains(&model);
        core.family == family && core.models.iter().any(has) && processor.core.is_none_or(|own| own == kind)
    };
    let own = || CORES.iter().filter(of_maker).filter(is_model);
    let is_free = |(extensions, sizes): &(Extensions, [Option<Bytes>; 2])| {
        *extensions == NONE && sizes.iter().all(Option::is_none)
    };
    let known = own().any(|core| is_named(&core));
    let mut found = own().filter(|core| !known || is_named(core)).map(|core| core.contradiction(processor));
    let first = found.next().filter(|first| !is_free(first))?;
    if processor.platform == Platform::Emulated || found.any(|other| is_free(&other)) {
        return None;
    }
    let has_all = |core: &&CoreIdentity| processor.extensions.without(core.extensions) == NONE;
    let oldest = CORES.iter().filter(of_maker).filter(is_named).find(has_all).map(|core| core.name);
    Some(MaskedModel { model, found: first, oldest: oldest.filter(|_| first.0 != NONE) })
}

impl Display for MaskedModel {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (extensions, sizes) = self.found;
        let levels = sizes.into_iter().zip(["L1", "L2"]).filter_map(|(size, level)| Some((size?, level)));
        let sizes = levels.map(|(size, level)| Text::<24>::of(format_args!("{size} of {level}")));
        let names = extensions.names().map(|name| Text::<24>::of(format_args!("{name}")));
        let all = || names.clone().chain(sizes.clone());
        let count = all().count();
        write!(out, "the hypervisor reports model {}, but ", self.model)?;
        write!(out, "{}", joined("", ", ", all().take(count - 1)))?;
        let (and, are) = if count > 1 { (" and ", "are") } else { ("", "is") };
        let last = all().last().unwrap_or(Text::EMPTY);
        write!(out, "{and}{last} {are} not of that model")?;
        self.oldest.map_or(Ok(()), |core| write!(out, "; {core} or later by its features"))
    }
}
