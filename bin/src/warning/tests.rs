//! Every warning to the letter, and the set that holds them.

use super::*;
use crate::options::plain::assert_plain;
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns one of each, in the order of the enumeration.
fn every() -> Vec<Warning> {
    let (node, from, to, size) = (NodeId(1), NodeId(0), NodeId(1), Bytes(256 << 20));
    let (least, most) = (Hertz(3_000_000_000), Hertz(4_000_000_000));
    let governor = Word::new(b"powersave\n");
    std::vec![
        Warning::OneNode,
        Warning::TooManyNodes { found: 200, held: 128 },
        Warning::CpusetPartial { allowed: 2, online: 8 },
        Warning::NodeLeftOut { node },
        Warning::NoProc,
        Warning::NoSys,
        Warning::SizeClipped { from: Bytes(2 << 30), to: size, why: Clipped::HalfOfFree },
        Warning::SizeClipped { from: Bytes(2 << 30), to: size, why: Clipped::ControlGroup },
        Warning::CacheCouldHold { size, cache: Bytes(200 << 20) },
        Warning::CacheCouldHold { size: Bytes::MIB, cache: Bytes(200 << 20) },
        Warning::LooksCached { size, cold: Picoseconds(120_400), warm: Picoseconds(9_123) },
        Warning::PagesFellBack { found: PageSize::Small },
        Warning::PagesFellBack { found: PageSize::Huge2M },
        Warning::ThpPartial { wanted: size, found: Bytes(128 << 20) },
        Warning::HugePagesWithoutEffect { page: PageSize::Huge2M },
        Warning::PlacementUnverified { node, why: "no /proc" },
        Warning::PlacedByFirstTouch { node },
        Warning::NotMeasurableHere { node },
        Warning::InheritedPolicy { policy: "interleave" },
        Warning::PagesMoved { node, pages: 8 },
        Warning::NumaBalancing,
        Warning::FrequencyScaling { governor },
        Warning::CoreClockUnstable { least, most },
        Warning::TscNotInvariant,
        Warning::TscMismatch { measured: Hertz(2_100_000_000), declared: Hertz(2_000_000_000) },
        Warning::NoTsc { why: "it went back" },
        Warning::FenceNotSerialising,
        Warning::Emulated { by: Word::new(b"QEMU") },
        Warning::L1NotInteger { cycles: 4.4 },
        Warning::MultiplyAddRatio { ratio: 16.5 },
        Warning::RepeatRatio { ratio: 1.08 },
        Warning::PrefetchAudit { ratio: 0.9 },
        Warning::PrefetchAudit { ratio: 3.9 },
        Warning::NeighboursFetched { ratio: 0.5 },
        Warning::NeighboursFetched { ratio: 1.2 },
        Warning::PrefetchAssisted { order: "sequential" },
        Warning::PrecisionNotReached { from, to, size, found: 0.034, wanted: 0.01 },
        Warning::PrecisionNotReached { from, to, size, found: f64::NAN, wanted: 0.01 },
        Warning::Disturbed { from, to, size, share: 0.25 },
        Warning::HopsTooShort { from, to, size, hops: 8, latency: Picoseconds(4_120) },
        Warning::HopMeanDiffers { from, to, size, ratio: 1.062 },
        Warning::PointsNotPrecise { points: 7, of: 60, wanted: 0.01 },
        Warning::PointsDisturbed { points: 3, of: 60, share: 0.1 },
        Warning::CoreCyclesDiffer { ratio: 1.1 },
        Warning::CountersUnavailable { why: NoCounters::Paranoid },
        Warning::CountersUnavailable { why: NoCounters::Filtered },
        Warning::CountersUnavailable { why: NoCounters::Absent },
        Warning::Partial { finished: 3, planned: 9 },
    ]
}

#[test]
fn each_warning_is_as_expected() {
    let mut text = String::new();
    for warning in every() {
        let (code, severity) = (warning.code(), warning.severity().name());
        text += &format!("{code} ({severity}: {})\n  {warning}\n  {}\n", warning.reason(), warning.remedy());
    }
    assert_eq!(text, include_str!("golden.txt"));
}

#[test]
fn each_text_is_short_plain_english() {
    for warning in every() {
        let (text, remedy) = (warning.to_string(), warning.remedy().to_string());
        let (line, reason) = (format!("WARNING: {text}; {remedy}"), warning.reason().to_string());
        assert!(line.len() <= 160, "{} bytes: {line}", line.len());
        assert!(reason.len() <= 48, "{reason}");
        for part in [&text, &remedy, &reason] {
            assert!(part.len() > 3 && !part.ends_with(['.', ' ']) && !part.contains("NaN"), "{part}");
            assert_plain(part);
        }
    }
}

#[test]
fn codes_are_kebab_case_and_each_kind_has_its_own() {
    let mut kinds = BTreeSet::new();
    let mut codes = BTreeSet::new();
    for warning in every() {
        assert!(warning.code().bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-')));
        codes.insert(warning.code());
        kinds.insert(format!("{warning:?}").split(' ').next().unwrap().to_string());
    }
    assert_eq!(kinds.len(), codes.len());
    assert_eq!(codes.len(), 40);
}

#[test]
fn one_warning_for_each_subject() {
    let point = |to, found| Warning::PrecisionNotReached {
        from: NodeId(0),
        to: NodeId(to),
        size: Bytes::MIB,
        found,
        wanted: 0.01,
    };
    let mut warnings = Warnings::default();
    assert!(warnings.is_empty() && warnings.untrusted().is_none());
    warnings.push(Warning::OneNode);
    warnings.push(Warning::OneNode);
    assert_eq!(warnings.untrusted(), None);
    warnings.push(point(0, 0.02));
    warnings.push(point(1, 0.02));
    warnings.push(point(1, 0.03));
    assert_eq!((warnings.len(), warnings.dropped()), (3, 0));
    assert_eq!(warnings.untrusted(), Some(("precision-not-reached", 2)));
    assert!(warnings.iter().eq(&[Warning::OneNode, point(0, 0.02), point(1, 0.02)]));
}

#[test]
fn a_warning_without_room_is_counted_and_still_makes_the_result_unreliable() {
    let mut warnings = Warnings::EMPTY;
    for node in 0..70 {
        warnings.push(Warning::NodeLeftOut { node: NodeId(node) });
    }
    warnings.push(Warning::Emulated { by: Word::new(b"QEMU") });
    assert_eq!((warnings.len(), warnings.dropped()), (64, 7));
    assert_eq!(warnings.untrusted(), Some(("emulated", 1)));
}

#[test]
fn words_are_short_and_printable() {
    assert_eq!(Word::new(b" performance\n").to_string(), "performance");
    assert_eq!(Word::new(b"a word of more than fifteen bytes").as_bytes(), b"a word of more ");
    assert_eq!(Word::new(b"\x1b[1m").to_string(), "\\u{1b}[1m");
}

#[test]
fn severities_are_ordered_and_only_the_last_is_untrusted() {
    assert!(Severity::Note < Severity::Fair && Severity::Fair < Severity::Poor);
    for warning in every() {
        assert_eq!(warning.untrusted(), warning.severity() == Severity::Poor, "{warning:?}");
    }
}

#[test]
fn a_prefetch_audit_is_a_doubt_only_where_a_prefetcher_helps() {
    for (ratio, random, local) in [
        (0.9, Severity::Poor, Severity::Fair),
        (1.0, Severity::Note, Severity::Note),
        (3.9, Severity::Note, Severity::Note),
    ] {
        assert_eq!(Warning::PrefetchAudit { ratio }.severity(), random);
        assert_eq!(Warning::NeighboursFetched { ratio }.severity(), local);
    }
}

#[test]
fn the_self_test_has_six_warnings() {
    let codes: BTreeSet<_> =
        every().iter().filter(|warning| warning.is_of_self_test()).map(Warning::code).collect();
    let expected = [
        "core-cycles-differ",
        "fence-not-serialising",
        "hop-mean-differs",
        "l1-not-integer",
        "multiply-add-ratio",
        "repeat-ratio",
    ];
    assert!(codes.iter().eq(&expected), "{codes:?}");
}
