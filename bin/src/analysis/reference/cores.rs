//! Published facts of cores, which hold for every machine that has the core.
//!
//! A figure is there only if a source states it: `tests/fixtures/reference/evidence.tsv` has the quotes. The family of a
//! core of another instruction set is its implementer, and the model is its part number. A parameter of a compiler's
//! scheduler does not give the size of a reorder buffer.

use super::quantity::{L1_CYCLES, L1_SIZE, L1_TLB, L2_CYCLES, L2_SIZE, L2_TLB, LINE, MISSES, REORDER_BUFFER};
use super::row::{Models, PublishedRow, core, fact, range, small_core};
use super::stated::{
    ANANDTECH, CHIPS_AND_CHEESE, CPUINFO, DOWNS, KERNCRAFT, LEMIRE, LLVM, MEASURED, OSACA, SEVEN_CPU,
    SISOFTWARE, TECHREPORT,
};

const SANDY_BRIDGE: Models = &[(0x2a, 0x2a), (0x2d, 0x2d)];
const IVY_BRIDGE: Models = &[(0x3a, 0x3a), (0x3e, 0x3e)];
const HASWELL: Models = &[(0x3c, 0x3c), (0x3f, 0x3f), (0x45, 0x46)];
const BROADWELL: Models = &[(0x3d, 0x3d), (0x47, 0x47), (0x4f, 0x4f), (0x56, 0x56)];
const SKYLAKE: Models = &[(0x4e, 0x4e), (0x5e, 0x5e), (0x8e, 0x8e), (0x9e, 0x9e), (0xa5, 0xa6)];
const SKYLAKE_SP: Models = &[(0x55, 0x55)];
const ICE_LAKE: Models = &[(0x7d, 0x7e)];
const ICE_LAKE_SP: Models = &[(0x6a, 0x6a), (0x6c, 0x6c)];
const SAPPHIRE_RAPIDS: Models = &[(0x8f, 0x8f)];
const EMERALD_RAPIDS: Models = &[(0xcf, 0xcf)];
const GRANITE_RAPIDS: Models = &[(0xad, 0xae)];
const ALDER_LAKE: Models = &[(0x97, 0x97), (0x9a, 0x9a)];
const RAPTOR_LAKE: Models = &[(0xb7, 0xb7), (0xba, 0xba), (0xbf, 0xbf)];
const GRACEMONT: Models = &[(0x97, 0x97), (0x9a, 0x9a), (0xb7, 0xb7), (0xba, 0xba), (0xbe, 0xbf)];
const CRESTMONT: Models = &[(0xaa, 0xaa), (0xac, 0xac), (0xaf, 0xaf), (0xb6, 0xb6)];
const ZEN: Models = &[(0, 0x2f)];
const ZEN_2: Models = &[(0x30, 0x4f), (0x60, 0x7f), (0x90, 0x9f)];
const ZEN_3: Models = &[(0, 0x0f), (0x20, 0x5f)];
const ZEN_4: Models = &[(0x10, 0x1f), (0x60, 0x7f), (0xa0, 0xaf)];
const ZEN_5: Models = &[(0, 0x2f), (0x40, 0x4f), (0x60, 0x77)];
const NEOVERSE_N1: Models = &[(0xd0c, 0xd0c)];
const NEOVERSE_V1: Models = &[(0xd40, 0xd40)];
const NEOVERSE_N2: Models = &[(0xd49, 0xd49)];
const NEOVERSE_V2: Models = &[(0xd4f, 0xd4f)];
const THUNDERX2: Models = &[(0x0af, 0x0af)];
const KUNPENG_920: Models = &[(0xd01, 0xd01)];
const A64FX: Models = &[(1, 1)];
const APPLE_M1_FIRESTORM: Models = &[(0x23, 0x23), (0x25, 0x25), (0x29, 0x29)];
const AMPEREONE: Models = &[(0xac3, 0xac3)];

/// All cores.
pub static CORES: [PublishedRow; 29] = [
    core(
        "Sandy Bridge",
        6,
        SANDY_BRIDGE,
        &[fact(L1_CYCLES, 4, OSACA), fact(L2_CYCLES, 12, TECHREPORT), fact(REORDER_BUFFER, 168, DOWNS)],
    ),
    core(
        "Ivy Bridge",
        6,
        IVY_BRIDGE,
        &[fact(L1_CYCLES, 4, SEVEN_CPU), fact(L2_CYCLES, 12, SEVEN_CPU), fact(REORDER_BUFFER, 168, DOWNS)],
    ),
    core(
        "Haswell",
        6,
        HASWELL,
        &[
            fact(L1_CYCLES, 4, OSACA),
            fact(L1_TLB, 64, SISOFTWARE),
            fact(L2_TLB, 1024, SISOFTWARE),
            fact(REORDER_BUFFER, 192, DOWNS),
        ],
    ),
    core("Broadwell", 6, BROADWELL, &[fact(REORDER_BUFFER, 192, DOWNS)]),
    core(
        "Skylake",
        6,
        SKYLAKE,
        &[
            fact(L1_TLB, 64, SISOFTWARE),
            fact(L2_TLB, 1536, SISOFTWARE),
            fact(REORDER_BUFFER, 224, DOWNS),
            range(MISSES, 100, 100, MEASURED, LEMIRE),
        ],
    ),
    core(
        "Skylake-SP",
        6,
        SKYLAKE_SP,
        &[
            fact(L1_CYCLES, 4, ANANDTECH),
            fact(L2_CYCLES, 14, ANANDTECH),
            fact(L1_SIZE, 32, KERNCRAFT),
            fact(L2_SIZE, 1024, KERNCRAFT),
            fact(L1_TLB, 64, SISOFTWARE),
            fact(L2_TLB, 1536, SISOFTWARE),
            fact(REORDER_BUFFER, 224, DOWNS),
        ],
    ),
    core(
        "Ice Lake",
        6,
        ICE_LAKE,
        &[
            fact(L1_CYCLES, 5, OSACA),
            fact(L1_SIZE, 48, ANANDTECH),
            fact(L2_SIZE, 512, ANANDTECH),
            fact(REORDER_BUFFER, 352, DOWNS),
        ],
    ),
    core(
        "Ice Lake-SP",
        6,
        ICE_LAKE_SP,
        &[
            fact(L1_CYCLES, 5, OSACA),
            fact(L1_SIZE, 48, KERNCRAFT),
            fact(L2_SIZE, 1280, KERNCRAFT),
            fact(REORDER_BUFFER, 352, DOWNS),
            fact(LINE, 64, KERNCRAFT),
        ],
    ),
    core(
        "Sapphire Rapids",
        6,
        SAPPHIRE_RAPIDS,
        &[fact(L1_CYCLES, 5, LLVM), fact(REORDER_BUFFER, 512, CHIPS_AND_CHEESE)],
    ),
    core(
        "Emerald Rapids",
        6,
        EMERALD_RAPIDS,
        &[fact(L1_CYCLES, 5, LLVM), fact(REORDER_BUFFER, 512, CHIPS_AND_CHEESE)],
    ),
    core(
        "Granite Rapids",
        6,
        GRANITE_RAPIDS,
        &[
            fact(L1_CYCLES, 5, CHIPS_AND_CHEESE),
            fact(L2_CYCLES, 16, CHIPS_AND_CHEESE),
            fact(L1_SIZE, 48, CHIPS_AND_CHEESE),
            fact(L2_SIZE, 2048, CHIPS_AND_CHEESE),
            fact(REORDER_BUFFER, 512, CHIPS_AND_CHEESE),
        ],
    ),
    core(
        "Alder Lake",
        6,
        ALDER_LAKE,
        &[fact(L1_CYCLES, 5, LLVM), fact(REORDER_BUFFER, 512, CHIPS_AND_CHEESE)],
    ),
    core(
        "Raptor Lake",
        6,
        RAPTOR_LAKE,
        &[fact(L1_CYCLES, 5, CHIPS_AND_CHEESE), fact(REORDER_BUFFER, 512, CHIPS_AND_CHEESE)],
    ),
    small_core(
        "Gracemont",
        6,
        GRACEMONT,
        &[
            fact(L1_CYCLES, 3, CHIPS_AND_CHEESE),
            fact(L1_SIZE, 32, CHIPS_AND_CHEESE),
            fact(L1_TLB, 48, CHIPS_AND_CHEESE),
            fact(L2_TLB, 2048, CHIPS_AND_CHEESE),
            fact(REORDER_BUFFER, 256, CHIPS_AND_CHEESE),
        ],
    ),
    small_core(
        "Crestmont",
        6,
        CRESTMONT,
        &[
            fact(L1_TLB, 48, CHIPS_AND_CHEESE),
            fact(L2_TLB, 3072, CHIPS_AND_CHEESE),
            fact(REORDER_BUFFER, 256, CHIPS_AND_CHEESE),
        ],
    ),
    core(
        "Zen",
        0x17,
        ZEN,
        &[
            fact(L1_CYCLES, 4, ANANDTECH),
            fact(L2_CYCLES, 12, ANANDTECH),
            fact(L1_SIZE, 32, KERNCRAFT),
            fact(L2_SIZE, 512, KERNCRAFT),
            fact(L1_TLB, 64, SISOFTWARE),
            fact(L2_TLB, 1536, SISOFTWARE),
            fact(REORDER_BUFFER, 192, DOWNS),
        ],
    ),
    core(
        "Zen 2",
        0x17,
        ZEN_2,
        &[
            fact(L1_CYCLES, 4, ANANDTECH),
            fact(L2_CYCLES, 13, ANANDTECH),
            fact(L1_SIZE, 32, KERNCRAFT),
            fact(L2_SIZE, 512, KERNCRAFT),
            fact(REORDER_BUFFER, 224, DOWNS),
        ],
    ),
    core("Zen 3", 0x19, ZEN_3, &[fact(L1_CYCLES, 4, LLVM), fact(REORDER_BUFFER, 256, LLVM)]),
    core("Zen 4", 0x19, ZEN_4, &[fact(L1_CYCLES, 4, LLVM), fact(REORDER_BUFFER, 320, LLVM)]),
    core("Zen 5", 0x1a, ZEN_5, &[fact(L1_CYCLES, 4, LLVM), fact(REORDER_BUFFER, 448, LLVM)]),
    core(
        "Neoverse N1",
        0x41,
        NEOVERSE_N1,
        &[fact(L1_CYCLES, 4, LLVM), fact(L1_SIZE, 64, CPUINFO), fact(LINE, 64, CPUINFO)],
    ),
    core(
        "Neoverse V1",
        0x41,
        NEOVERSE_V1,
        &[fact(L1_CYCLES, 4, LLVM), fact(L1_SIZE, 64, CPUINFO), fact(LINE, 64, CPUINFO)],
    ),
    core(
        "Neoverse N2",
        0x41,
        NEOVERSE_N2,
        &[fact(L1_CYCLES, 4, LLVM), fact(L1_SIZE, 64, CPUINFO), fact(LINE, 64, CPUINFO)],
    ),
    core(
        "Neoverse V2",
        0x41,
        NEOVERSE_V2,
        &[
            fact(L1_CYCLES, 4, LLVM),
            fact(L1_SIZE, 64, CPUINFO),
            fact(L1_TLB, 48, CHIPS_AND_CHEESE),
            fact(L2_TLB, 2048, CHIPS_AND_CHEESE),
            fact(REORDER_BUFFER, 320, CHIPS_AND_CHEESE),
            fact(LINE, 64, CPUINFO),
        ],
    ),
    core("ThunderX2", 0x43, THUNDERX2, &[fact(L1_CYCLES, 4, OSACA)]),
    core("Kunpeng 920", 0x48, KUNPENG_920, &[fact(L1_CYCLES, 4, OSACA)]),
    core("A64FX", 0x46, A64FX, &[fact(L1_CYCLES, 5, OSACA)]),
    core("Apple M1 Firestorm", 0x61, APPLE_M1_FIRESTORM, &[fact(L1_CYCLES, 3, OSACA)]),
    core("AmpereOne", 0xc0, AMPEREONE, &[fact(L1_CYCLES, 4, LLVM)]),
];
