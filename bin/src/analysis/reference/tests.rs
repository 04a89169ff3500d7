//! The table against its evidence, and the choice of rows.

use super::quantity::{L2_CYCLES, LOCAL, MISSES, REMOTE, REORDER_BUFFER};
use super::*;
use latency_core::text::Text;
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
    figures(|_| true).map(|(name, usual)| (name, *usual)).collect()
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
        for end in usual.ends() {
            assert!(own.iter().any(|quote| states(quote.text, end)), "{row}: no quote states {end}");
        }
    }
}

#[test]
fn the_table_has_the_cores_and_platforms_that_it_promises() {
    assert!(cores::CORES.len() >= 25 && platforms::PLATFORMS.len() >= 12);
    let found = all();
    let with_memory: BTreeSet<&str> =
        found.iter().filter(|(_, usual)| usual.quantity == LOCAL).map(|(name, _)| *name).collect();
    assert!(with_memory.len() >= 12, "{with_memory:?}");
    for (name, usual) in found {
        let is_sourced = usual.stated.sources() > 0 && usual.ends()[0] > 0.0;
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
    let guest = |model, tiles, level: usize, kibibytes: u64| {
        let mut guest = processor("GenuineIntel", "Intel(R) Xeon(R) Processor", (6, model, 1));
        guest.tiles = tiles;
        guest.caches[level - 1] =
            Some(CacheClaim { level: level as u8, size: Bytes(kibibytes << 10), ways: 16 });
        guest
    };
    for (guest, feature) in [
        (guest(0xa7, true, 2, 2048), Some("AMX")),
        (guest(0x55, true, 2, 1024), Some("AMX")),
        (guest(0x6a, false, 2, 2048), Some("a larger L2 cache")),
        (guest(0x55, false, 1, 48), Some("a larger L1 cache")),
        (guest(0x6a, false, 2, 1280), None),
        (guest(0x6a, false, 2, 512), None),
        (guest(0xad, true, 2, 2048), None),
        (guest(0xcf, true, 2, 2048), None),
    ] {
        assert_eq!(contradiction(&guest), feature, "{:?}", guest.signature);
        assert!(feature.is_none() || names(&guest) == [""; 2], "{:?}", guest.signature);
    }
    // The small core of a hybrid is not judged by the large one.
    let mut small = guest(0x97, false, 1, 32);
    small.core = Some(CoreKind::Efficiency);
    assert_eq!(contradiction(&small), None);
}

/// Returns the names of a processor's core and platform, empty where it has no row.
fn names(processor: &Processor) -> [&'static str; 2] {
    let mut names = [""; 2];
    for (name, usual) in figures(|row| is_of(row, processor)) {
        names[usize::from(usual.quantity.depends_on_machine())] = name;
    }
    names
}

#[test]
fn ranges_of_one_quantity_are_joined_with_their_conditions() {
    let rome = processor("AuthenticAMD", "AMD EPYC 7742 64-Core Processor", (0x17, 0x31, 0));
    let (_, local) = usual(&rome, LOCAL).expect("published");
    assert_eq!((local.ends(), local.stated.sources()), ([113.0, 134.0], 2));
    let stated = local.stated.conditions().to_string();
    assert_eq!(stated, "pages not stated, translation subtracted, NPS1, NPS4, DDR4-3200");
    assert!(usual(&rome, REMOTE).is_none(), "not published");
    let genoa = processor("AuthenticAMD", "AMD EPYC 9R14", (0x19, 0x11, 1));
    assert!(usual(&genoa, L2_CYCLES).is_none(), "not published");
    let skylake = processor("GenuineIntel", "Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz", (6, 0x5e, 3));
    let misses = usual(&skylake, MISSES).map(|(name, usual)| (name, usual.ends(), usual.stated.sources()));
    assert_eq!(misses, Some(("Skylake", [10.0; 2], 1)));
    assert!(usual(&genoa, MISSES).is_none(), "not published");
    assert_eq!(
        usual(&genoa, REORDER_BUFFER).map(|(name, usual)| (name, usual.ends())),
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
    ] {
        let mut found = figures(|row| contains(row.name.as_bytes(), words.as_bytes()));
        assert!(found.any(|(_, usual)| usual.quantity == quantity), "{words}");
    }
}
