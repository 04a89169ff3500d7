//! The exact text of every warning, and the set of warnings.

use super::*;
use crate::tests::plain::assert_plain;
use crate::tests::words::{AARCH64, speak};
use latency_core::host::Bound;
use latency_core::{Hertz, LineSize, PageSize, Pages, Picoseconds, Text, Worded};
use latency_sys::Errno;
use std::collections::BTreeSet;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns one warning of each kind, in the order of the enumeration.
fn every() -> Vec<Warning> {
    let (node, from, to, size) = (NodeId(1), NodeId(0), NodeId(1), Bytes(256 << 20));
    let (least, most) = (Hertz(3_000_000_000), Hertz(4_000_000_000));
    let (cpu, limit) = (CpuId(127), TimeLimit::OfPoint);
    let governor = ShortText::from_bytes(b"powersave\n");
    std::vec![
        Warning::OneNode,
        Warning::NodeOfPackages { node: NodeId(0), packages: 2 },
        Warning::TooManyNodes { found: 200, held: 128 },
        Warning::CpusetPartial { allowed: 2, online: 8 },
        Warning::CpuQuota { cpus: 0.5 },
        Warning::NodeLeftOut { node },
        Warning::CpusIsolated { cpus: ShortText::from_bytes(b"2-47") },
        Warning::NoProc,
        Warning::NoSys,
        Warning::NoNuma,
        Warning::SizeClipped { from: Bytes(2 << 30), to: size, why: Clipped::HalfOfFree },
        Warning::SizeClipped { from: Bytes(2 << 30), to: size, why: Clipped::By(Bound::Group) },
        Warning::CacheLatency { size: Bytes(16 << 10), level: 1, cache: Bytes(32 << 10) },
        Warning::CacheCouldHold { size, cache: Bytes(200 << 20), asked: false, seen: false },
        Warning::CacheCouldHold { size, cache: Bytes(200 << 20), asked: true, seen: false },
        Warning::CacheCouldHold { size, cache: Bytes(128 << 20), asked: true, seen: false },
        Warning::CacheCouldHold { size: Bytes::MIB, cache: Bytes(200 << 20), asked: false, seen: false },
        Warning::CacheCouldHold { size, cache: Bytes(16 << 20), asked: false, seen: true },
        Warning::SideCache { node: NodeId(0), cache: Bytes(64 << 30), size, fits: true },
        Warning::SideCache { node: NodeId(2), cache: Bytes(128 << 20), size, fits: false },
        Warning::CacheSizeImplausible { level: 3, size: Bytes(16 << 40) },
        Warning::CacheUnknown { assumed: Bytes(64 << 20) },
        Warning::WorkingSetDoubled { from: size, to: Bytes(512 << 20) },
        Warning::WorkingSetDoubled { from: size, to: Bytes(1 << 30) },
        Warning::ReportedCacheDiffers { reported: Bytes(300 << 20), found: Bytes(12 << 20) },
        Warning::ReportedCacheDiffers { reported: Bytes(16 << 20), found: Bytes(96 << 20) },
        Warning::CacheServesPart { size, cold: Picoseconds(100_000), warm: Picoseconds(97_000) },
        Warning::LooksCached { size, cold: Picoseconds(120_400), warm: Picoseconds(9_123) },
        Warning::PagesFellBack { found: PageSize::KIB_4 },
        Warning::PagesFellBack { found: PageSize::MIB_2 },
        Warning::ThpTooLarge { page: PageSize::GIB_1, size, found: PageSize::MIB_2 },
        Warning::ThpRoundedUp { page: PageSize::GIB_1, size, mapped: Bytes(1 << 30) },
        Warning::ThpPartial { wanted: size, found: Bytes(128 << 20) },
        Warning::HugePagesWithoutEffect { page: PageSize::MIB_2, base: PageSize::KIB_4 },
        Warning::PlacementUnverified { node, why: "no /proc" },
        Warning::PageSizeUnverified { node, pages: Pages::thp(PageSize::MIB_2) },
        Warning::PlacedByFirstTouch { node },
        Warning::NotMeasurableHere { node },
        Warning::InheritedPolicy { policy: "interleave" },
        Warning::PagesMoved { node, pages: 8 },
        Warning::HugePagesChanged { node, before: size, after: Bytes(254 << 20), mapped: size },
        Warning::HugePagesChanged { node, before: Bytes(0), after: Bytes(64 << 20), mapped: size },
        Warning::OtherWork { cpu, share: 0.042 },
        Warning::OtherWork { cpu, share: 0.5 },
        Warning::Stolen { cpu, share: 0.042 },
        Warning::Stolen { cpu, share: 0.5 },
        Warning::SiblingBusy { cpu, share: 0.3 },
        Warning::SiblingBusy { cpu, share: 0.98 },
        Warning::ThreadMoved { times: 1 },
        Warning::ThreadMoved { times: 2 },
        Warning::Neighbours { from, to, size, ratio: 1.483 },
        Warning::NotQuiet { seconds: 60.0 },
        Warning::MemoryErrors { locator: Text::from_bytes(b"A1"), count: 3, total: 1204, corrected: true },
        Warning::MemoryErrors {
            locator: Text::from_bytes(b"CPU_SrcID#0_MC#0_Chan#0_DIMM#0"),
            count: 1,
            total: 1,
            corrected: false,
        },
        Warning::HardwareErrors { checks: 1, corrupted: Bytes(0) },
        Warning::HardwareErrors { checks: 0, corrupted: Bytes(4096) },
        Warning::Overheated { times: 1 },
        Warning::Overheated { times: 12 },
        Warning::NumaBalancing,
        Warning::FrequencyScaling { governor },
        Warning::CoreClockUnstable { least, most, core: true },
        Warning::CoreClockUnstable { least, most, core: false },
        Warning::CounterNotInvariant,
        Warning::CounterUnsteady { ppm: 120.4 },
        Warning::CounterUnsteady { ppm: 5000.0 },
        Warning::CounterDrift { ppm: -150.2 },
        Warning::CounterDrift { ppm: 800.0 },
        Warning::CounterMismatch { measured: Hertz(2_100_000_000), declared: Hertz(2_000_000_000) },
        Warning::NoCounter { why: "it went backwards" },
        Warning::CounterTrapped { nanoseconds: 912.4 },
        Warning::NoCoreClock { cause: SeenCause::Unseen },
        Warning::NoCoreClock { cause: SeenCause::BusySibling },
        Warning::FenceNotSerialising { promised: false, single: false },
        Warning::FenceNotSerialising { promised: true, single: true },
        Warning::Emulated { by: ShortText::from_bytes(b"QEMU") },
        Warning::L1NotInteger { cycles: 4.4, cause: SeenCause::Unseen },
        Warning::L1NotInteger { cycles: 4.4, cause: SeenCause::OtherWork },
        Warning::MultiplyAddRatio { ratio: 2.6, cause: SeenCause::Unseen },
        Warning::MultiplyAddRatio { ratio: 2.6, cause: SeenCause::BusySibling },
        Warning::CoreSlowed { from, to, size: Bytes(16 << 10), cycles: 5.21, cause: SeenCause::Unseen },
        Warning::CoreSlowed { from, to, size: Bytes(16 << 10), cycles: 5.21, cause: SeenCause::BusySibling },
        Warning::RepeatRatio { ratio: 1.08, cause: SeenCause::Unseen },
        Warning::RepeatRatio { ratio: 0.8, cause: SeenCause::OtherWork },
        Warning::PrefetchAudit { ratio: 0.9, line: LineSize::LEAST, cause: SeenCause::Unseen },
        Warning::PrefetchAudit { ratio: 3.9, line: LineSize::LEAST, cause: SeenCause::Unseen },
        Warning::PointersFollowed { ratio: 0.9 },
        Warning::NeighboursFetched { ratio: 0.5, line: LineSize::LEAST, cause: SeenCause::Unseen },
        Warning::NeighboursFetched { ratio: 1.2, line: LineSize::LEAST, cause: SeenCause::Unseen },
        Warning::PrefetchAssisted { order: "sequential" },
        Warning::GroupedOrder,
        Warning::PrecisionNotReached {
            from,
            to,
            size,
            found: 0.034,
            wanted: 0.01,
            limit,
            cause: SeenCause::Unseen
        },
        Warning::PrecisionNotReached {
            from,
            to,
            size,
            found: 0.034,
            wanted: 0.01,
            limit,
            cause: SeenCause::Clock
        },
        Warning::PrecisionNotReached {
            from,
            to,
            size,
            found: 0.08,
            wanted: 0.01,
            limit,
            cause: SeenCause::Virtual
        },
        Warning::PrecisionNotReached {
            from,
            to,
            size,
            found: f64::NAN,
            wanted: 0.01,
            limit,
            cause: SeenCause::OtherWork
        },
        Warning::Disturbed { from, to, size, share: 0.25, cause: SeenCause::Unseen },
        Warning::Disturbed { from, to, size, share: 0.4, cause: SeenCause::OtherWork },
        Warning::HopsTooShort { from, to, size, hops: 8, latency: Picoseconds(4_120) },
        Warning::HopMeanDiffers { from, to, size, ratio: 1.062, cause: SeenCause::Stolen },
        Warning::PointsNotPrecise {
            points: 7,
            unknown: 0,
            of: 60,
            wanted: 0.01,
            limit,
            cause: SeenCause::Unseen
        },
        Warning::PointsNotPrecise {
            points: 31,
            unknown: 21,
            of: 60,
            wanted: 0.01,
            limit: TimeLimit::OfRun,
            cause: SeenCause::OtherWork
        },
        Warning::PointsDisturbed { points: 3, of: 60, share: 0.1, cause: SeenCause::Stolen },
        Warning::PointsDisturbed { points: 60, of: 60, share: 0.1, cause: SeenCause::Unseen },
        Warning::StateShare { points: 1, of: 1, share: 0.45, cause: SeenCause::Unseen },
        Warning::StateShare { points: 3, of: 60, share: 0.45, cause: SeenCause::Virtual },
        Warning::FewSteps { steps: 13 },
        Warning::TimerSteppedBack { trials: 1 },
        Warning::TimerSteppedBack { trials: 4 },
        Warning::CoreCyclesDiffer { ratio: 1.1, cause: SeenCause::BusySibling },
        Warning::CountersUnavailable { why: NoCounters::Paranoid },
        Warning::CountersUnavailable { why: NoCounters::Filtered },
        Warning::CountersUnavailable { why: NoCounters::Absent },
        Warning::CountersUnavailable { why: NoCounters::Hidden },
        Warning::ThreadsRefused { wanted: 23, started: 5, errno: Errno::new(11) },
        Warning::GeneratorMoved { times: 2 },
        Warning::NotSettled { windows: 3, of: 90, cause: SeenCause::Unseen },
        Warning::NotSettled { windows: 60, of: 90, cause: SeenCause::OtherWork },
        Warning::Throttled { windows: 12, of: 30 },
        Warning::OneGenerator,
        Warning::VcpusMayShareCore,
        Warning::PairsLeftOut { pairs: 200, of: 256 },
        Warning::RateNotDelivered { offered: 11.36e9, delivered: 9.19e9, cause: SeenCause::Unseen },
        Warning::IdleMemorySlower {
            node,
            idle: Picoseconds(130_000),
            loaded: Picoseconds(112_000),
            rate: 5.66e9,
        },
        Warning::LittleImplausible { lines: 180.0 },
        Warning::OverBudget { from, to, kind: "2:1", seconds: 5.0 },
        Warning::TopologyDoubtful { a: CpuId(0), b: CpuId(5), ns: 14.2 },
        Warning::PairsOfClasses { of: 6_216 },
        Warning::FirmwareLatencyDiffers {
            node,
            claimed: Picoseconds(90_000),
            measured: Picoseconds(131_200)
        },
        Warning::ChannelsUnequal { dimms: 7, sockets: 2 },
        Warning::ChannelsUnequal { dimms: 5, sockets: 1 },
        Warning::TierContradiction { tier: 4, fast: from, slow: to, ratio: 1.8 },
        Warning::Partial { finished: 3, planned: 9 },
        Warning::BudgetOver { finished: 3, planned: 9 },
        Warning::BudgetOver { finished: 9, planned: 9 },
    ]
}

#[test]
fn each_warning_is_as_expected() {
    let mut text = String::new();
    for warning in every() {
        let (code, severity) = (warning.code(), warning.severity().word());
        text += &format!("{code} ({severity}: {})\n  {warning}\n  {}\n", warning.reason(), warning.remedy());
    }
    assert_eq!(text, include_str!("golden.txt"));
}

#[test]
fn strides_of_the_audit_are_those_of_the_machine() {
    let line = LineSize::of(Bytes(128)).unwrap();
    let noise = Warning::PrefetchAudit { ratio: 3.9, line, cause: SeenCause::Unseen }.to_string();
    assert!(noise.ends_with("128 B stride was 3.90x slower than 512 B stride"), "{noise}");
    for warning in [
        Warning::PrefetchAudit { ratio: 0.9, line, cause: SeenCause::Unseen },
        Warning::NeighboursFetched { ratio: 0.9, line, cause: SeenCause::Unseen },
    ] {
        assert_eq!(warning.remedy().to_string(), "use --stride=512");
    }
}

#[test]
fn texts_name_the_counter_of_the_instruction_set() {
    let shown = |warning: &Warning| (warning.code(), format!("{warning}; {}", warning.remedy()));
    let of_build: Vec<_> = every().iter().map(shown).collect();
    let _words = speak(AARCH64);
    let mut differing = BTreeSet::new();
    for (warning, usual) in every().iter().zip(of_build) {
        let (code, text) = shown(warning);
        // Never on an instruction set that promises a constant rate.
        if !matches!(warning, Warning::CounterNotInvariant) {
            for word in ["TSC", "tsc", "CPUID", "LFENCE", "MSR"] {
                assert!(!text.contains(word) && !code.contains(word), "{code}: {text}");
            }
        }
        if (code, &text) != (usual.0, &usual.1) {
            differing.insert(code);
        }
    }
    let expected = [
        "cache-unknown",
        "counter-drift",
        "counter-mismatch",
        "counter-not-invariant",
        "counter-trapped",
        "counter-unsteady",
        "fence-not-serialising",
        "l1-not-integer",
        "multiply-add-ratio",
        "no-core-clock",
        "no-counter",
        "timer-stepped-back",
    ];
    assert!(differing.into_iter().eq(expected));
    let ratio = Warning::MultiplyAddRatio { ratio: 2.6, cause: SeenCause::Unseen }.to_string();
    assert!(ratio.ends_with("ratio is 2.60, expected 2 to 5"), "{ratio}");
}

#[test]
fn each_text_is_short_plain_english() {
    assert_plain_texts();
    let _words = speak(AARCH64);
    assert_plain_texts();
}

fn assert_plain_texts() {
    for warning in every() {
        let (text, remedy) = (warning.to_string(), warning.remedy().to_string());
        let (line, reason) = (format!("{text}; {remedy}"), warning.reason().to_string());
        assert!(line.len() <= 170, "{} bytes: {line}", line.len());
        // The line with the verdict has 80 columns and begins with "Trust: poor: ". It does not contain notes.
        assert!(reason.chars().count() <= 62 || warning.severity() == Severity::Note, "{reason}");
        for part in [&text, &remedy, &reason] {
            assert!(part.len() > 3 && !part.ends_with(['.', ' ']) && !part.contains("NaN"), "{part}");
            assert_plain(part);
        }
    }
}

/// The causes and limits that remedies name: a word, and the variants, fields or facts that show that it was seen. A
/// remedy with the word belongs to a warning with one of them.
const SHOWN_BY: [(&str, &[&str]); 16] = [
    ("other processes", &["OtherWork"]),
    ("program", &["ThreadMoved", "GeneratorMoved"]),
    ("idle CPU", &["OtherWork"]),
    ("sibling", &["BusySibling", "SMT sibling"]),
    ("dedicated", &["Virtual", "Stolen", "Neighbours", "NotQuiet"]),
    ("hypervisor", &["TopologyDoubtful", "Hidden", "Stolen", "hypervisor"]),
    ("frequency", &["Clock", "governor", "least: "]),
    ("firmware", &["packages", "firmware", "tier"]),
    ("--time-limit", &["limit: OfPoint"]),
    ("--budget", &["limit: OfRun", "seconds: ", "time budget", "BudgetOver"]),
    ("numa_balancing", &["NumaBalancing"]),
    ("cpu.max", &["quota"]),
    ("cpuset", &["cpuset", "skipping node", "migrated"]),
    ("DIMM", &["DIMM"]),
    ("air flow", &["too hot"]),
    ("numactl", &["policy: "]),
];

#[test]
fn each_remedy_has_the_field_or_fact_that_shows_its_cause() {
    let mut used = BTreeSet::new();
    let causes = [
        SeenCause::Unseen,
        SeenCause::BusySibling,
        SeenCause::OtherWork,
        SeenCause::Stolen,
        SeenCause::Clock,
        SeenCause::Virtual,
    ];
    for (warning, cause) in every().iter().flat_map(|warning| causes.map(|cause| (warning, cause))) {
        let mut warning = *warning;
        warning.explain(cause);
        let (seen, remedy) = (format!("{warning:?} {warning}"), warning.remedy().to_string());
        for (word, shown_by) in SHOWN_BY.iter().filter(|(word, _)| remedy.contains(word)) {
            assert!(shown_by.iter().any(|by| seen.contains(by)), "{remedy}: {seen}");
            used.insert(word);
        }
    }
    assert_eq!(used.len(), SHOWN_BY.len(), "{used:?}");
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
    assert_eq!(codes.len(), 91);
}

#[test]
fn one_warning_for_each_subject() {
    let point = |to, found| Warning::PrecisionNotReached {
        from: NodeId(0),
        to: NodeId(to),
        size: Bytes::MIB,
        found,
        wanted: 0.01,
        limit: TimeLimit::OfPoint,
        cause: SeenCause::Unseen,
    };
    // A result that is less precise than requested is fair, however wide its interval is; without an interval the value
    // is in doubt.
    let mut warnings = Warnings::empty();
    assert!(warnings.iter().next().is_none() && warnings.untrusted().is_none());
    warnings.push(Warning::OneNode);
    warnings.push(Warning::OneNode);
    assert_eq!(warnings.untrusted(), None);
    warnings.push(point(0, 0.8));
    assert_eq!(warnings.untrusted(), None);
    warnings.push(point(1, f64::NAN));
    warnings.push(point(1, 0.03));
    assert_eq!((warnings.iter().count(), warnings.dropped()), (3, 0));
    assert_eq!(warnings.untrusted(), Some(("precision-not-reached", 1)));
    assert!(warnings.iter().take(2).eq(&[Warning::OneNode, point(0, 0.8)]));
}

#[test]
fn a_fact_replaces_the_warning_of_its_possibility() {
    let (size, cache) = (Bytes(256 << 20), Bytes(200 << 20));
    let possible = Warning::CacheCouldHold { size, cache, asked: false, seen: false };
    let found = Warning::LooksCached { size, cold: Picoseconds(120_400), warm: Picoseconds(9_123) };
    let elsewhere = Warning::CacheCouldHold { size: Bytes::MIB, cache, asked: false, seen: false };
    for order in [[possible, found, elsewhere], [found, possible, elsewhere]] {
        let mut warnings = Warnings::empty();
        order.into_iter().for_each(|warning| warnings.push(warning));
        assert!(warnings.iter().eq(&[found, elsewhere]), "{warnings:?}");
        assert_eq!(warnings.untrusted(), Some(("looks-cached", 2)));
    }
}

#[test]
fn points_without_an_interval_are_poor_from_a_third_of_all() {
    for (unknown, severity) in [(0, Severity::Fair), (39, Severity::Fair), (40, Severity::Poor)] {
        let of = 120;
        assert_eq!(
            Warning::PointsNotPrecise {
                points: of,
                unknown,
                of,
                wanted: 0.01,
                limit: TimeLimit::OfPoint,
                cause: SeenCause::Unseen
            }
            .severity(),
            severity
        );
    }
}

#[test]
fn a_warning_without_room_is_counted_and_still_makes_the_result_unreliable() {
    let mut warnings = Warnings::empty();
    for node in 0..70 {
        warnings.push(Warning::NodeLeftOut { node: NodeId(node) });
    }
    warnings.push(Warning::TimerSteppedBack { trials: 1 });
    assert_eq!((warnings.iter().count(), warnings.dropped()), (64, 7));
    assert_eq!(warnings.untrusted(), Some(("timer-stepped-back", 1)));
}

#[test]
fn words_are_short_and_printable() {
    assert_eq!(ShortText::from_bytes(b" performance\n").to_string(), "performance");
    assert_eq!(ShortText::from_bytes(b"a word of more than fifteen bytes").as_str(), "a word of more ");
    assert_eq!(ShortText::from_bytes(b"\x1b[1m").to_string(), "?[1m");
}

#[test]
fn severities_are_ordered_and_only_the_last_is_untrusted() {
    assert!(Severity::Note < Severity::Fair && Severity::Fair < Severity::Poor);
    for warning in every() {
        assert_eq!(warning.untrusted(), warning.severity() == Severity::Poor, "{warning:?}");
    }
}

#[test]
fn a_prefetch_audit_lowers_trust_only_if_a_prefetcher_helps() {
    for (ratio, random, local) in [
        (0.9, Severity::Poor, Severity::Fair),
        (0.96, Severity::Fair, Severity::Fair),
        (1.0, Severity::Note, Severity::Note),
        (3.9, Severity::Note, Severity::Note),
    ] {
        assert_eq!(
            Warning::PrefetchAudit { ratio, line: LineSize::LEAST, cause: SeenCause::Unseen }.severity(),
            random
        );
        assert_eq!(
            Warning::NeighboursFetched { ratio, line: LineSize::LEAST, cause: SeenCause::Unseen }.severity(),
            local
        );
    }
}

#[test]
fn a_multiplication_that_a_sibling_explains_makes_a_result_fair() {
    for (ratio, severity) in [(2.77, Severity::Fair), (3.1, Severity::Fair), (2.7, Severity::Poor)] {
        let warning = Warning::MultiplyAddRatio { ratio, cause: SeenCause::BusySibling };
        assert_eq!(warning.severity(), severity, "{ratio}");
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
