//! The table against its evidence, and the choice of rows.

use super::quantity::{L2_CYCLES, LOCAL, MISSES, REMOTE, REORDER_BUFFER};
use super::*;
use latency_core::{Bytes, Text};
use latency_engine::machine::processor::{CacheClaim, Extensions};
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The quotes: row, figures, quote, address and date of reading.
const EVIDENCE: &str = include_str!("../../../../tests/fixtures/reference/evidence.tsv");

/// A quote of a source.
struct Quote {
    row: &'static str,
    figures: &'static str,
    text: &'static str,
    address: &'static str,
    read: &'static str,
}

fn quotes() -> Vec<Quote> {
    let lines = EVIDENCE.lines().filter(|line| !line.starts_with('#'));
    let quote = |line: &'static str| match *line.split('\t').collect::<Vec<_>>() {
        [row, figures, text, address, read] => Quote { row, figures, text, address, read },
        _ => panic!("five columns: {line}"),
    };
    lines.map(quote).collect()
}

/// Returns the numbers in a text, also those that are words.
fn numbers(text: &str) -> Vec<f64> {
    let parts = text.split(|character: char| !character.is_ascii_digit() && character != '.');
    let mut found: Vec<f64> = parts.filter_map(|part| part.trim_matches('.').parse().ok()).collect();
    let words = [("four cycles", 4.0), ("ten entries", 10.0), ("ten concurrent", 10.0)];
    found.extend(words.iter().filter(|(word, _)| text.contains(word)).map(|(_, number)| *number));
    found
}

/// Returns whether a text has a figure, as it is, in thousands, or in units of 1024.
fn states(text: &str, figure: f64) -> bool {
    let is_figure = |number: f64| (number - figure).abs() <= 0.0501;
    numbers(text).into_iter().any(|number| {
        is_figure(number) || is_figure(number / 1000.0) || is_figure(number * 1024.0) && text.contains("MB")
    })
}

/// Returns the name of a row of a platform in the evidence.
fn row_of(name: &str, usual: &Usual) -> String {
    format!("{name}: {}: {}", usual.quantity.name(), usual.stated.conditions())
}

/// Returns the source of a full address: the short one that starts it, or that of the maker whose text is elsewhere.
fn source_of(address: &str) -> &str {
    match address.trim_start_matches("www.") {
        arm if arm.starts_with("github.com/ArmDeveloperEcosystem/") => "learn.arm.com",
        azure if azure.starts_with("docs.azure.cn/") || azure.starts_with("github.com/MicrosoftDocs/") => {
            "learn.microsoft.com"
        }
        site => site.trim_start_matches("github.com/travisdowns/"),
    }
}

fn all() -> Vec<(&'static str, Usual)> {
    figures(&|_| true).collect()
}

#[test]
fn every_quote_has_a_figure_a_source_a_date_and_at_most_25_words() {
    let found = all();
    for Quote { row, figures, text, address, read } in quotes() {
        assert!((1..=25).contains(&text.split_whitespace().count()), "{row}: {text}");
        let date: Vec<_> = read.split('-').map(str::len).collect();
        assert_eq!((date, read >= "2026-11-28"), (std::vec![4, 2, 2], true), "{row}: {read}");
        let is_stated = found.iter().any(|(name, usual)| {
            let addresses = usual.stated.addresses().to_string();
            let is_row = *name == row || row_of(name, usual) == row;
            is_row && addresses.split(' ').any(|source| source_of(address).starts_with(source))
        });
        assert!(
            is_stated && (row.contains(':') || !figures.is_empty()) && !address.contains(' '),
            "the quote of no row: {row}"
        );
    }
}

#[test]
fn every_figure_is_in_a_quote_and_every_source_has_one() {
    let quotes = quotes();
    for (name, usual) in all() {
        let (row, quantity) = (row_of(name, &usual), usual.quantity.name());
        let is_own = |quote: &&Quote| {
            quote.row == row
                || quote.row == name && quote.figures.split("; ").any(|figure| figure == quantity)
        };
        let own: Vec<&Quote> = quotes.iter().filter(is_own).collect();
        for source in usual.stated.addresses().to_string().split(' ') {
            let is_quoted = own.iter().any(|quote| source_of(quote.address).starts_with(source));
            assert!(is_quoted, "{row}: no quote of {source}");
        }
        for end in usual.ends {
            assert!(own.iter().any(|quote| states(quote.text, end)), "{row}: no quote states {end}");
        }
    }
}

#[test]
fn the_table_has_the_cores_and_platforms_that_it_promises() {
    let table = include_str!("figures.txt").lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let lines = table.count();
    assert_eq!(row::rows().count() + all().len(), lines, "a line cannot be read");
    assert!(row::rows().count() >= 25 + 12);
    let found = all();
    let with_memory: BTreeSet<&str> =
        found.iter().filter(|(_, usual)| usual.quantity == LOCAL).map(|(name, _)| *name).collect();
    assert!(with_memory.len() >= 12, "{with_memory:?}");
    for (name, usual) in found {
        let is_sourced = usual.stated.sources() > 0 && usual.ends[0] > 0.0;
        assert!(is_sourced && !name.is_empty() && !usual.quantity.unit().is_empty(), "{name}");
    }
}

fn processor(vendor: &str, brand: &str, signature: (u16, u16, u16)) -> Processor {
    Processor {
        vendor: Text::from_bytes(vendor.as_bytes()),
        brand: Text::from_bytes(brand.as_bytes()),
        signature,
        ..Processor::UNKNOWN
    }
}

#[test]
fn a_processor_has_the_rows_of_its_family_model_and_stepping() {
    for (vendor, brand, signature, core, platform) in [
        (
            "GenuineIntel",
            "Intel(R) Xeon(R) Platinum 8375C CPU @ 2.90GHz",
            (6, 106, 6),
            "Ice Lake-SP",
            "Ice Lake-SP",
        ),
        ("GenuineIntel", "Intel(R) Xeon(R) Gold 6140 CPU", (6, 85, 4), "Skylake-SP", "Skylake-SP"),
        ("GenuineIntel", "Intel(R) Xeon(R) Gold 6240 CPU", (6, 85, 7), "Skylake-SP", "Cascade Lake-SP"),
        ("GenuineIntel", "Intel(R) Core(TM) i9-7900X CPU", (6, 85, 4), "Skylake-SP", ""),
        ("GenuineIntel", "Intel(R) Xeon(R) Processor", (6, 207, 2), "Emerald Rapids", "Emerald Rapids"),
        ("GenuineIntel", "Intel Xeon Processor (Cascadelake)", (6, 85, 6), "", ""),
        ("AuthenticAMD", "AMD EPYC 7763 64-Core Processor", (0x19, 1, 1), "Zen 3", "Milan"),
        ("AuthenticAMD", "AMD EPYC-Milan Processor", (0x19, 1, 1), "", ""),
        ("AuthenticAMD", "AMD EPYC-Milan-v2 Processor", (0x19, 1, 1), "", ""),
        ("AuthenticAMD", "AMD Ryzen 9 7950X", (0x19, 0x61, 2), "Zen 4", ""),
        ("AuthenticAMD", "AMD EPYC 9R14", (0x19, 0x11, 1), "Zen 4", "Genoa"),
        ("AuthenticAMD", "AMD EPYC 9355P 32-Core Processor", (0x1a, 2, 1), "Zen 5", "Turin"),
        ("AuthenticAMD", "AMD Ryzen AI MAX+ 395", (0x1a, 0x70, 0), "Zen 5", ""),
        ("GenuineIntel", "Intel(R) Xeon(R) 6980P", (6, 0xad, 1), "Granite Rapids", "Granite Rapids"),
        ("GenuineIntel", "Intel(R) N100", (6, 0xbe, 0), "Gracemont", ""),
        ("GenuineIntel", "Intel(R) Xeon(R) 6766E", (6, 0xaf, 3), "Crestmont", ""),
        ("GenuineIntel", "13th Gen Intel(R) Core(TM) i9-13900K", (6, 0xb7, 1), "Raptor Lake", ""),
        ("GenuineIntel", "11th Gen Intel(R) Core(TM) i9-11900K", (6, 0xa7, 1), "", ""),
        ("ARM", "Neoverse V2 (Amazon EC2 c8g.16xlarge)", (0x41, 0xd4f, 0), "Neoverse V2", "Graviton4"),
        ("ARM", "Neoverse V2", (0x41, 0xd4f, 0), "Neoverse V2", ""),
        ("HygonGenuine", "Hygon C86 7185", (0x18, 1, 1), "", ""),
        ("  Shanghai  ", "ZHAOXIN KaiXian", (6, 0x6a, 1), "", ""),
    ] {
        assert_eq!(names(&processor(vendor, brand, signature)), [core, platform], "{brand}");
    }
    let mut hybrid = processor("GenuineIntel", "12th Gen Intel(R) Core(TM) i9-12900K", (6, 0x97, 2));
    assert_eq!(names(&hybrid), ["Alder Lake", ""]);
    hybrid.core = Some(CoreKind::Efficiency);
    assert_eq!(names(&hybrid), ["Gracemont", ""], "the small core is another one");
    hybrid.core = None;
    hybrid.platform = Platform::Emulated;
    assert_eq!(names(&hybrid), [""; 2], "an emulator has no core");
}

#[test]
fn a_guest_with_features_that_its_model_does_not_have_has_no_reference() {
    let haswell = Extensions::WIDE;
    let skylake_sp = haswell.union(Extensions::FLUSH).union(Extensions::VECTORS_OF_64);
    let ice_lake = skylake_sp.union(Extensions::ENCRYPTION);
    let sapphire = ice_lake.union(Extensions::DOT_PRODUCTS).union(Extensions::TILES);
    let granite = sapphire.union(Extensions::HALF_TILES).union(Extensions::NUMBERED);
    let guest = |model, extensions, [l1, l2]: [u64; 2]| {
        let mut guest = processor("GenuineIntel", "Intel(R) Xeon(R) Processor @ 2.50GHz", (6, model, 1));
        guest.extensions = extensions;
        for (level, size) in [(1, l1), (2, l2)] {
            let claim = CacheClaim { level, size: Bytes(size << 10), ways: 16 };
            guest.caches[usize::from(level) - 1] = (size > 0).then_some(claim);
        }
        guest
    };
    for (guest, words) in [
        (
            guest(63, skylake_sp, [32, 1024]),
            Some(
                "model 63, but CLFLUSHOPT, AVX-512 and 1 MiB of L2 are not of that model; Skylake-SP or later by its features",
            ),
        ),
        (
            guest(63, ice_lake, [48, 1280]),
            Some(
                "model 63, but CLFLUSHOPT, VAES, AVX-512, 48 KiB of L1 and 1.25 MiB of L2 are not of that model; Ice Lake or later by its features",
            ),
        ),
        (guest(63, haswell, [48, 256]), Some("model 63, but 48 KiB of L1 is not of that model")),
        (
            guest(0xa7, granite, [48, 2048]),
            Some(
                "model 167, but AVX-VNNI, AMX, AMX-FP16, AVX10 and 2 MiB of L2 are not of that model; Granite Rapids or later by its features",
            ),
        ),
        (
            guest(0x55, sapphire, [0, 0]),
            Some(
                "model 85, but VAES, AVX-VNNI and AMX are not of that model; Sapphire Rapids or later by its features",
            ),
        ),
        (
            guest(0xb5, sapphire, [0, 0]),
            Some("model 181, but AMX is not of that model; Sapphire Rapids or later by its features"),
        ),
        (guest(0x6a, ice_lake, [48, 512]), Some("model 106, but 512 KiB of L2 is not of that model")),
        (guest(63, haswell, [32, 256]), None),
        (guest(0x6a, Extensions(0), [48, 1280]), None),
        (guest(0x6a, ice_lake, [0, 0]), None),
        (guest(0xad, granite, [48, 2048]), None),
        (guest(0xcf, sapphire, [48, 2048]), None),
        // A model that is in no table.
        (guest(0xc6, ice_lake, [48, 3072]), None),
        // The small core of a hybrid, also if it does not name its kind.
        (guest(0x97, haswell, [32, 2048]), None),
    ] {
        let found = contradiction(&guest).map(|masked| masked.to_string());
        let expected = words.map(|words| format!("the hypervisor reports {words}"));
        assert_eq!(found, expected, "{:?}", guest.signature);
        assert!(words.is_none() || names(&guest) == [""; 2], "{:?}", guest.signature);
    }
    let mut milan = processor("AuthenticAMD", "AMD EPYC 7R13 Processor", (0x19, 1, 1));
    milan.extensions = ice_lake;
    let found = contradiction(&milan).map(|masked| masked.to_string());
    let words =
        "the hypervisor reports model 1, but AVX-512 is not of that model; Zen 4 or later by its features";
    assert_eq!(found.as_deref(), Some(words));
    milan.platform = Platform::Emulated;
    assert!(contradiction(&milan).is_none(), "an emulator has the caches and extensions that it likes");
}

#[test]
fn published_sizes_are_those_by_which_a_model_is_believed() {
    for row in row::rows() {
        for (family, model) in row.models().filter(|(family, _)| [6, 0x17, 0x19, 0x1a].contains(family)) {
            let mut own =
                processor(if family == 6 { "GenuineIntel" } else { "AuthenticAMD" }, "", (family, model, 1));
            own.core = Some(if row.is_small { CoreKind::Efficiency } else { CoreKind::Performance });
            for (level, quantity) in [(1, quantity::L1_SIZE), (2, quantity::L2_SIZE)] {
                let figure =
                    figures(&|other| other.name == row.name).find(|(_, figure)| figure.quantity == quantity);
                let claim = figure.map(|(_, figure)| figure.ends[0] as u64 * 1024);
                own.caches[level - 1] =
                    claim.map(|size| CacheClaim { level: level as u8, size: Bytes(size), ways: 8 });
            }
            assert!(contradiction(&own).is_none(), "{}", row.name);
        }
    }
}

/// Returns the names of a processor's core and platform, empty where it has no row.
fn names(processor: &Processor) -> [&'static str; 2] {
    let mut names = [""; 2];
    for (name, usual) in figures(&|row| is_of(row, processor)) {
        names[usize::from(usual.quantity.depends_on_machine())] = name;
    }
    names
}

#[test]
fn ranges_of_one_quantity_are_joined_with_their_conditions() {
    let rome = processor("AuthenticAMD", "AMD EPYC 7742 64-Core Processor", (0x17, 0x31, 0));
    let (_, local) = usual(&rome, LOCAL).expect("published");
    assert_eq!((local.ends, local.stated.sources()), ([113.0, 134.0], 2));
    let stated = local.stated.conditions().to_string();
    assert_eq!(stated, "pages not stated, translation subtracted, NPS1, NPS4, DDR4-3200");
    assert!(usual(&rome, REMOTE).is_none(), "not published");
    let genoa = processor("AuthenticAMD", "AMD EPYC 9R14", (0x19, 0x11, 1));
    assert!(usual(&genoa, L2_CYCLES).is_none(), "not published");
    let skylake = processor("GenuineIntel", "Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz", (6, 0x5e, 3));
    let misses = usual(&skylake, MISSES).map(|(name, usual)| (name, usual.ends, usual.stated.sources()));
    assert_eq!(misses, Some(("Skylake", [10.0; 2], 1)));
    assert!(usual(&genoa, MISSES).is_none(), "not published");
    assert_eq!(
        usual(&genoa, REORDER_BUFFER).map(|(name, usual)| (name, usual.ends)),
        Some(("Zen 4", [320.0; 2]))
    );
}

#[test]
fn names_are_found_by_the_words_that_people_use() {
    for (words, quantity) in [
        ("ampere altra", LOCAL),
        ("Neoverse V2", REORDER_BUFFER),
        ("emerald", REMOTE),
        ("ZEN 5", REORDER_BUFFER),
        ("icelake", REORDER_BUFFER),
        ("ice-lake", LOCAL),
        ("zen4", REORDER_BUFFER),
        ("znver4", REORDER_BUFFER),
        ("SPR", REORDER_BUFFER),
        ("icx", LOCAL),
        ("graniterapids", REORDER_BUFFER),
        ("neoverse-v2", REORDER_BUFFER),
        ("ampere-altra", LOCAL),
    ] {
        let is_wanted = |row: &PublishedRow| is_called(row.name.as_bytes(), words.as_bytes());
        assert!(figures(&is_wanted).any(|(_, usual)| usual.quantity == quantity), "{words}");
    }
    assert!(!is_called(b"Zen", b"zen4") && !is_called(b"Zen 3", b"") && !is_called(b"Ice Lake", b"-"));
}
