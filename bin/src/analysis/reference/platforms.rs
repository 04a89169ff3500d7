//! Published ranges of memory latency, bandwidth and core-to-core latency of server platforms, with their conditions.
//!
//! A range holds the figures of its sources, in tenths, without an allowance.
//! `tests/fixtures/reference/evidence.tsv` has the quotes.

use super::quantity::{
    BETWEEN_SOCKETS, INTERLEAVED, LOCAL, READ_OF_NODE, READ_OF_SOCKET, REMOTE, SAME_SOCKET, TRIAD_OF_TWO,
    WITHIN_SOCKET,
};
use super::row::{ANY_NAME, ANY_STEPPING, Models, PublishedRow, platform, range};
use super::stated::{
    ANANDTECH, ARM, AZURE, CHIPS_AND_CHEESE, COD, CORRECTED, CSIT, CXL_EXPERIMENTS, DDR4_3200, DDR5_4800,
    DDR5_5200, DDR5_5600, DDR5_7200, GIB, GJBEX, IK_LLAMA, KERNCRAFT, LOWER_BOUND, LPDDR5, MESS, METAL,
    MIB_2, NO_PAGES, NONE, NPS0, NPS1, NPS2, NPS4, NVIENNOT, PLANTEGG, SBC_BENCH, SEQUENTIAL, SNC2, SNC3,
    SNC4, VIRTUAL, VSC,
};

const SANDY_BRIDGE_EP: Models = &[(0x2d, 0x2d)];
const IVY_BRIDGE_EP: Models = &[(0x3e, 0x3e)];
const HASWELL_EP: Models = &[(0x3f, 0x3f)];
const BROADWELL_EP: Models = &[(0x4f, 0x4f)];
const SKYLAKE_SP: Models = &[(0x55, 0x55)];
const CASCADE_LAKE_SP: Models = &[(0x55, 0x55)];
const ICE_LAKE_SP: Models = &[(0x6a, 0x6a)];
const SAPPHIRE_RAPIDS: Models = &[(0x8f, 0x8f)];
const EMERALD_RAPIDS: Models = &[(0xcf, 0xcf)];
const GRANITE_RAPIDS: Models = &[(0xad, 0xad)];
const NAPLES: Models = &[(1, 1)];
const ROME: Models = &[(0x31, 0x31)];
const MILAN: Models = &[(1, 1)];
const GENOA: Models = &[(0x11, 0x11)];
const BERGAMO: Models = &[(0xa0, 0xaf)];
const TURIN: Models = &[(0, 0x0f)];
const GRAVITON2: Models = &[(0xd0c, 0xd0c)];
const GRAVITON3: Models = &[(0xd40, 0xd40)];
const GRAVITON4: Models = &[(0xd4f, 0xd4f)];
const GRACE: Models = &[(0xd4f, 0xd4f)];
const AMPERE_ALTRA: Models = &[(0xd0c, 0xd0c)];
const AMPEREONE_A: Models = &[(0xac4, 0xac4)];
const THUNDERX2: Models = &[(0x0af, 0x0af)];
const A64FX: Models = &[(1, 1)];
const KUNPENG_920: Models = &[(0xd01, 0xd01)];

/// All platforms.
pub static PLATFORMS: [PublishedRow; 25] = [
    platform(
        "Sandy Bridge-EP",
        "Xeon",
        6,
        SANDY_BRIDGE_EP,
        ANY_STEPPING,
        &[range(READ_OF_NODE, 446, 446, NONE, KERNCRAFT)],
    ),
    platform(
        "Ivy Bridge-EP",
        "Xeon",
        6,
        IVY_BRIDGE_EP,
        ANY_STEPPING,
        &[
            range(LOCAL, 612, 617, NO_PAGES, VSC),
            range(REMOTE, 1146, 1151, NO_PAGES, VSC),
            range(READ_OF_NODE, 470, 564, NONE, VSC.and(KERNCRAFT)),
        ],
    ),
    platform(
        "Haswell-EP",
        "Xeon",
        6,
        HASWELL_EP,
        ANY_STEPPING,
        &[
            range(LOCAL, 900, 921, NO_PAGES, VSC),
            range(REMOTE, 1271, 1294, NO_PAGES, VSC),
            range(READ_OF_NODE, 608, 618, NONE, VSC.and(KERNCRAFT)),
        ],
    ),
    platform(
        "Broadwell-EP",
        "Xeon",
        6,
        BROADWELL_EP,
        ANY_STEPPING,
        &[
            range(LOCAL, 842, 850, NO_PAGES, PLANTEGG),
            range(LOCAL, 737, 765, NO_PAGES.and(COD), VSC),
            range(REMOTE, 1363, 1372, NO_PAGES, PLANTEGG),
            range(REMOTE, 1846, 1960, NO_PAGES.and(COD), VSC),
            range(SAME_SOCKET, 1411, 1511, NO_PAGES.and(COD), VSC),
            range(READ_OF_NODE, 585, 585, NONE, KERNCRAFT),
            range(READ_OF_SOCKET, 700, 700, COD, KERNCRAFT),
            range(WITHIN_SOCKET, 440, 440, NONE, NVIENNOT),
            range(BETWEEN_SOCKETS, 1180, 1180, NONE, NVIENNOT),
        ],
    ),
    platform(
        "Skylake-SP",
        "Xeon",
        6,
        SKYLAKE_SP,
        (0, 4),
        &[
            range(LOCAL, 774, 902, NO_PAGES, VSC.and(CSIT)),
            range(REMOTE, 1306, 1443, NO_PAGES, VSC),
            range(READ_OF_NODE, 1044, 1206, NONE, VSC.and(KERNCRAFT)),
            range(READ_OF_SOCKET, 1313, 1313, SNC2, KERNCRAFT),
        ],
    ),
    platform(
        "Cascade Lake-SP",
        "Xeon",
        6,
        CASCADE_LAKE_SP,
        (5, 7),
        &[
            range(LOCAL, 785, 903, NO_PAGES, VSC.and(CSIT).and(PLANTEGG).and(MESS)),
            range(REMOTE, 1302, 1447, NO_PAGES, VSC.and(CSIT).and(PLANTEGG)),
            range(READ_OF_NODE, 1062, 1131, NONE, VSC.and(MESS)),
            range(READ_OF_SOCKET, 1252, 1252, SNC2, KERNCRAFT),
            range(WITHIN_SOCKET, 470, 480, NONE, NVIENNOT),
            range(BETWEEN_SOCKETS, 1340, 1360, NONE, NVIENNOT),
        ],
    ),
    platform(
        "Ice Lake-SP",
        "Xeon",
        6,
        ICE_LAKE_SP,
        ANY_STEPPING,
        &[
            range(LOCAL, 890, 892, NO_PAGES, VSC),
            range(REMOTE, 1427, 1429, NO_PAGES, VSC),
            range(READ_OF_NODE, 1757, 1759, NONE, VSC),
            range(WITHIN_SOCKET, 510, 510, METAL, NVIENNOT),
            range(BETWEEN_SOCKETS, 1080, 1080, METAL, NVIENNOT),
        ],
    ),
    platform(
        "Sapphire Rapids",
        "Xeon",
        6,
        SAPPHIRE_RAPIDS,
        ANY_STEPPING,
        &[
            range(LOCAL, 1101, 1191, CORRECTED.and(DDR5_4800), MESS),
            range(LOCAL, 954, 974, NO_PAGES.and(SNC4), GJBEX),
            range(REMOTE, 1860, 1892, NO_PAGES.and(SNC4), GJBEX),
            range(SAME_SOCKET, 1024, 1232, NO_PAGES.and(SNC4), GJBEX),
            range(READ_OF_NODE, 2335, 2674, DDR5_4800, MESS),
        ],
    ),
    platform(
        "Emerald Rapids",
        "Xeon",
        6,
        EMERALD_RAPIDS,
        ANY_STEPPING,
        &[
            range(LOCAL, 1123, 1144, CORRECTED.and(DDR5_4800), MESS),
            range(REMOTE, 2002, 2025, CORRECTED.and(DDR5_4800), MESS),
            range(READ_OF_NODE, 2485, 2485, DDR5_4800, MESS),
        ],
    ),
    platform(
        "Granite Rapids",
        "Xeon",
        6,
        GRANITE_RAPIDS,
        ANY_STEPPING,
        &[
            range(LOCAL, 1294, 1307, NO_PAGES.and(SEQUENTIAL), IK_LLAMA),
            range(LOCAL, 1020, 1387, NO_PAGES.and(SEQUENTIAL).and(SNC3), IK_LLAMA),
            range(LOCAL, 951, 1152, NO_PAGES.and(SNC3), GJBEX),
            range(LOCAL, 1310, 1310, VIRTUAL.and(NO_PAGES).and(SNC3).and(DDR5_7200), CHIPS_AND_CHEESE),
            range(REMOTE, 4100, 4492, NO_PAGES.and(SEQUENTIAL), IK_LLAMA),
            range(REMOTE, 3924, 5132, NO_PAGES.and(SEQUENTIAL).and(SNC3), IK_LLAMA),
            range(REMOTE, 2044, 2699, NO_PAGES.and(SNC3), GJBEX),
            range(SAME_SOCKET, 1221, 2085, NO_PAGES.and(SEQUENTIAL).and(SNC3), IK_LLAMA),
            range(SAME_SOCKET, 1095, 1576, NO_PAGES.and(SNC3), GJBEX),
            range(SAME_SOCKET, 1574, 1815, VIRTUAL.and(NO_PAGES).and(SNC3).and(DDR5_7200), CHIPS_AND_CHEESE),
            range(READ_OF_SOCKET, 5524, 5548, NONE, IK_LLAMA),
            range(READ_OF_NODE, 1879, 1951, SNC3, IK_LLAMA.and(GJBEX)),
        ],
    ),
    platform(
        "Naples",
        "EPYC",
        0x17,
        NAPLES,
        ANY_STEPPING,
        &[range(READ_OF_SOCKET, 1485, 1485, NPS4, KERNCRAFT)],
    ),
    platform(
        "Rome",
        "EPYC",
        0x17,
        ROME,
        ANY_STEPPING,
        &[
            range(LOCAL, 1220, 1340, NO_PAGES.and(NPS1), ANANDTECH),
            range(LOCAL, 1130, 1250, NO_PAGES.and(NPS4), ANANDTECH),
            range(LOCAL, 1196, 1206, CORRECTED.and(DDR4_3200), MESS),
            range(READ_OF_SOCKET, 1435, 1435, NPS4, KERNCRAFT),
        ],
    ),
    platform(
        "Milan",
        "EPYC",
        0x19,
        MILAN,
        ANY_STEPPING,
        &[
            range(WITHIN_SOCKET, 230, 1150, NONE, NVIENNOT),
            range(BETWEEN_SOCKETS, 1970, 1970, METAL, NVIENNOT),
            range(TRIAD_OF_TWO, 3300, 3500, VIRTUAL, AZURE),
        ],
    ),
    platform(
        "Genoa",
        "EPYC",
        0x19,
        GENOA,
        ANY_STEPPING,
        &[
            range(LOCAL, 1059, 1075, NO_PAGES.and(NPS2), CXL_EXPERIMENTS),
            range(LOCAL, 1039, 1039, MIB_2.and(NPS2), CHIPS_AND_CHEESE),
            range(REMOTE, 1990, 2007, NO_PAGES.and(NPS2), CXL_EXPERIMENTS),
            range(REMOTE, 2227, 2227, MIB_2.and(NPS2), CHIPS_AND_CHEESE),
            range(SAME_SOCKET, 1156, 1171, NO_PAGES.and(NPS2), CXL_EXPERIMENTS),
            range(READ_OF_NODE, 998, 1013, NPS2, CXL_EXPERIMENTS),
            range(TRIAD_OF_TWO, 7500, 7800, VIRTUAL, AZURE),
        ],
    ),
    platform(
        "Bergamo",
        "EPYC",
        0x19,
        BERGAMO,
        ANY_STEPPING,
        &[
            range(LOCAL, 1203, 1203, MIB_2.and(NPS1), CHIPS_AND_CHEESE),
            range(REMOTE, 2118, 2118, MIB_2.and(NPS1), CHIPS_AND_CHEESE),
        ],
    ),
    platform(
        "Turin",
        "EPYC",
        0x1a,
        TURIN,
        ANY_STEPPING,
        &[
            range(LOCAL, 1255, 1300, NO_PAGES.and(NPS1).and(DDR5_5200), CHIPS_AND_CHEESE),
            range(LOCAL, 1177, 1177, NO_PAGES.and(NPS2).and(DDR5_5200), CHIPS_AND_CHEESE),
            range(LOCAL, 1154, 1154, NO_PAGES.and(NPS4).and(DDR5_5200), CHIPS_AND_CHEESE),
            range(SAME_SOCKET, 1285, 1285, NO_PAGES.and(NPS2).and(DDR5_5200), CHIPS_AND_CHEESE),
            range(SAME_SOCKET, 1220, 1400, NO_PAGES.and(NPS4).and(DDR5_5200), CHIPS_AND_CHEESE),
            range(
                INTERLEAVED,
                2200,
                2200,
                VIRTUAL.and(NO_PAGES).and(LOWER_BOUND).and(NPS0),
                CHIPS_AND_CHEESE,
            ),
            range(READ_OF_SOCKET, 4790, 4881, NPS1.and(NPS2).and(NPS4).and(DDR5_5200), CHIPS_AND_CHEESE),
            range(READ_OF_NODE, 1173, 1173, NPS4.and(DDR5_5200), CHIPS_AND_CHEESE),
        ],
    ),
    platform(
        "Graviton2",
        "Amazon",
        0x41,
        GRAVITON2,
        ANY_STEPPING,
        &[
            range(LOCAL, 950, 956, VIRTUAL.and(GIB), ARM),
            range(READ_OF_NODE, 1696, 1697, VIRTUAL, ARM),
            range(WITHIN_SOCKET, 418, 470, NONE, ARM.and(NVIENNOT)),
        ],
    ),
    platform(
        "Graviton3",
        "Amazon",
        0x41,
        GRAVITON3,
        ANY_STEPPING,
        &[range(WITHIN_SOCKET, 460, 460, NONE, NVIENNOT)],
    ),
    platform(
        "Graviton4",
        "Amazon",
        0x41,
        GRAVITON4,
        ANY_STEPPING,
        &[
            range(LOCAL, 1100, 1152, VIRTUAL.and(GIB), ARM),
            range(LOCAL, 1141, 1141, VIRTUAL.and(MIB_2), CHIPS_AND_CHEESE),
            range(REMOTE, 2566, 2566, VIRTUAL.and(MIB_2), CHIPS_AND_CHEESE),
            range(READ_OF_NODE, 4655, 4656, VIRTUAL, ARM),
            range(WITHIN_SOCKET, 258, 600, NONE, ARM.and(CHIPS_AND_CHEESE)),
            range(BETWEEN_SOCKETS, 1386, 1386, NONE, CHIPS_AND_CHEESE),
        ],
    ),
    platform(
        "Grace",
        "NVIDIA",
        0x41,
        GRACE,
        ANY_STEPPING,
        &[
            range(LOCAL, 1762, 1785, CORRECTED.and(LPDDR5), MESS),
            range(LOCAL, 2000, 2000, MIB_2.and(LOWER_BOUND).and(LPDDR5), CHIPS_AND_CHEESE),
            range(READ_OF_NODE, 4421, 4421, LPDDR5, MESS),
        ],
    ),
    platform(
        "Ampere Altra",
        "Altra",
        0x41,
        AMPERE_ALTRA,
        ANY_STEPPING,
        &[range(LOCAL, 1177, 1249, NO_PAGES, SBC_BENCH)],
    ),
    platform(
        "AmpereOne A",
        ANY_NAME,
        0xc0,
        AMPEREONE_A,
        ANY_STEPPING,
        &[range(LOCAL, 1308, 1308, NO_PAGES.and(DDR5_5600), SBC_BENCH)],
    ),
    platform(
        "ThunderX2",
        ANY_NAME,
        0x43,
        THUNDERX2,
        ANY_STEPPING,
        &[range(READ_OF_NODE, 1306, 1306, NONE, KERNCRAFT)],
    ),
    platform(
        "A64FX",
        ANY_NAME,
        0x46,
        A64FX,
        ANY_STEPPING,
        &[range(READ_OF_NODE, 2275, 2275, NONE, KERNCRAFT)],
    ),
    platform(
        "Kunpeng 920",
        ANY_NAME,
        0x48,
        KUNPENG_920,
        ANY_STEPPING,
        &[range(WITHIN_SOCKET, 720, 720, NONE, NVIENNOT)],
    ),
];
