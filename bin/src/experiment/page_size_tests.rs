//! Plans, words and refusals on kernels with base pages of 4, 16 and 64 KiB, and on machines with long cache lines.

use std::boxed::Box;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

use latency_core::chain::Order;
use latency_core::traffic::Kind;
use latency_core::{Bytes, LineSize, NodeId, PageSize, Pages};

use super::tests::{fixture, machine, machine_of, options, planned};
use crate::plan;
use latency_engine::machine::Machine;
use latency_engine::pieces;
use latency_engine::regions::size_with_room;
use latency_engine::result::{Evidence, Means, Placed, Point, Walk};
use latency_engine::warning::{Warning, Warnings};

const MIB: Bytes = Bytes::MIB;

/// Returns a machine for each size of base pages.
fn machines() -> [Box<Machine>; 3] {
    ["one-node", "arm-m1", "arm-altra"].map(|name| machine(name, None))
}

fn points(machine: &Machine, line: &str) -> Vec<Point> {
    planned(machine, line).unwrap().0
}

fn words(pages: impl Iterator<Item = impl ToString>) -> String {
    pages.map(|pages| pages.to_string()).collect::<Vec<_>>().join(" ")
}

/// Returns the kinds of pages that are compared.
fn kinds_of_pages(machine: &Machine) -> String {
    words(Pages::all().filter(|pages| machine.has_pages(*pages)))
}

/// Returns the kind of pages that `--pages` selects.
fn chosen(machine: &Machine, word: &str) -> Pages {
    plan::pages(&options(&format!("--pages={word}")), machine)
}

#[test]
fn pages_that_are_asked_for_have_the_sizes_of_the_machine() {
    let asked = ["auto", "4k", "base", "16k", "64k", "thp", "2m", "32m", "512m", "1g"];
    let obtained = [
        "auto 4k 4k 16k 64k thp 2m 32m 512m 1g",
        "auto 16k 16k 16k 64k thp-32m 2m 32m 512m 1g",
        "auto 64k 64k 16k 64k thp-512m 2m 32m 512m 1g",
    ];
    for (machine, obtained) in machines().iter().zip(obtained) {
        assert_eq!(words(asked.iter().map(|word| chosen(machine, word))), obtained);
    }
}

#[test]
fn pages_that_a_kernel_has_not_are_refused_with_those_that_it_has() {
    let [small, middle, large] = machines();
    for (machine, line, pools) in [
        (&small, "--pages=64k", "64 KiB pages (huge pages: 2 MiB, 1 GiB)"),
        (&small, "--pages=512m", "512 MiB pages (huge pages: 2 MiB, 1 GiB)"),
        (&middle, "--pages=64k", "64 KiB pages (huge pages: 2 MiB, 32 MiB, 1 GiB)"),
        (&middle, "curve --pages=512m", "512 MiB pages (huge pages: 2 MiB, 32 MiB, 1 GiB)"),
        (&large, "pages --pages=1g", "1 GiB pages (huge pages: 2 MiB, 512 MiB, 16 GiB)"),
        (&large, "bandwidth --pages=16k", "16 KiB pages (huge pages: 2 MiB, 512 MiB, 16 GiB)"),
    ] {
        let expected = format!("this kernel has no {pools}; choose other --pages");
        assert_eq!(planned(machine, line).map(drop), Err(expected), "{line}");
    }
    for (machine, lines) in [
        (&small, ["--pages=base", "--pages=2m", "--pages=1g"]),
        (&middle, ["--pages=4k", "--pages=16k", "--pages=32m"]),
        (&large, ["--pages=64k", "--pages=512m", "--pages=16g"]),
    ] {
        assert!(lines.iter().all(|line| planned(machine, line).is_ok()));
    }
    // Without /sys only the default size is known, so the kernel decides about the other usual one.
    let unknown = machine("no-sysfs", None);
    assert!(planned(&unknown, "--pages=1g").is_ok());
    let refused = planned(&unknown, "--pages=64k").map(drop).unwrap_err();
    assert!(refused.contains("has no 64 KiB pages (huge pages: 2 MiB)"), "{refused}");
}

#[test]
fn every_kind_of_pages_is_compared_smallest_pages_first() {
    let kinds = machines().map(|machine| kinds_of_pages(&machine));
    assert_eq!(kinds, ["4k thp 2m 1g", "16k 2m thp-32m 32m 1g", "64k 2m thp-512m 512m 16g"]);
    // A kernel for aarch64 with base pages of 4 KiB.
    let more = ["64", "32768"].map(|kilobytes| {
        let pool = "/sys/devices/system/node/node0/hugepages/hugepages-";
        ["nr", "free"].map(|count| format!("=== {pool}{kilobytes}kB/{count}_hugepages\n0\n")).concat()
    });
    let four = machine_of(&(fixture("one-node") + "\n" + &more.concat()), None);
    assert_eq!(kinds_of_pages(&four), "4k 64k thp 2m 32m 1g");
    for machine in [four].into_iter().chain(machines()) {
        let mut planned: Vec<Pages> = points(&machine, "pages").iter().map(|point| point.pages).collect();
        planned.dedup();
        assert_eq!(words(planned.iter()), kinds_of_pages(&machine));
    }
    // A kernel that shows no pools: the usual ones are tried.
    let none = machine("two-small-sockets", None);
    assert_eq!(kinds_of_pages(&none), "4k thp 2m 1g");
}

#[test]
fn a_huge_page_has_the_reported_size_or_else_that_of_a_page_table() {
    let file = "=== /sys/kernel/mm/transparent_hugepage/hpage_pmd_size\n33554432\n";
    let text = fixture("arm-m1");
    assert!(text.contains(file));
    for text in [text.clone(), text.replace(file, "")] {
        assert_eq!(machine_of(&text, None).huge_page().bytes(), MIB.times(32));
    }
    let other = text.replace(file, &file.replace("33554432", "1073741824"));
    assert_eq!(machine_of(&other, None).huge_page(), PageSize::GIB_1);
    assert_eq!(machines().map(|machine| machine.huge_page().to_string()), ["2 MiB", "32 MiB", "512 MiB"]);
}

#[test]
fn local_orders_and_working_sets_consist_of_base_pages() {
    for machine in machines() {
        let page = machine.page.bytes();
        let local = points(&machine, "curve --order=page-local --min-size=1M");
        assert!(local.iter().all(|point| point.order == Order::Local(page)));
        assert!(local.iter().all(|point| point.size.0.is_multiple_of(page.0)), "{page}");
        let within = points(&machine, "variants");
        assert!(within.iter().all(|point| point.size.0.is_multiple_of(page.0)), "{page}");
        let probed: Vec<_> =
            points(&machine, "pages").into_iter().filter(|point| point.stride == page).collect();
        assert!(probed.iter().any(|point| point.size == page.times(4096)), "{page}");
    }
}

#[test]
fn lines_are_those_of_the_machine() {
    let [usual, long, _] = machines();
    assert_eq!([usual.line, long.line].map(LineSize::bytes), [Bytes(64), Bytes(128)]);
    let is_dense = |point: &Point| point.line == long.line && point.stride == Bytes(128);
    assert!(points(&long, "matrix").iter().all(is_dense));
    assert!(points(&long, "matrix --stride=64").iter().all(|point| point.stride == Bytes(64)));
    let strides = |line| {
        let mut strides: Vec<u64> = points(&long, line).iter().map(|point| point.stride.0).collect();
        strides.sort_unstable();
        strides.dedup();
        strides
    };
    assert_eq!(strides("curve"), [128]);
    assert_eq!(strides("curve --stride=64"), [64], "two nodes share a line");
    assert_eq!(strides("variants"), [4, 8, 128]);
    let owned = points(&long, "cores --states");
    let mut owned = owned.iter().filter(|point| matches!(point.walk, Walk::Owned(_))).peekable();
    assert!(owned.peek().is_some() && owned.all(|point| point.stride == Bytes(384)));
    // A line that no cache has, and a description without lines.
    for line in ["100", "32", "1048576"] {
        let text = fixture("arm-m1")
            .replace("coherency_line_size\n128\n", &format!("coherency_line_size\n{line}\n"));
        assert_eq!(machine_of(&text, None).line, LineSize::LEAST, "{line}");
    }
    let text = fixture("arm-m1").replace("coherency_line_size", "unknown");
    assert_eq!(machine_of(&text, None).line, LineSize::LEAST);
}

#[test]
fn traffic_that_stores_to_a_part_of_a_line_is_refused() {
    let [usual, long, _] = machines();
    for kind in ["3:1", "2:1"] {
        for experiment in ["bandwidth", "loaded"] {
            let line = format!("{experiment} --traffic=read,{kind}");
            assert!(planned(&usual, &line).is_ok());
            let refused = planned(&long, &line).map(drop).unwrap_err();
            assert!(
                refused.starts_with(&format!("--traffic={kind} ")) && refused.contains("128 B"),
                "{refused}"
            );
        }
    }
    let kinds = |machine: &Machine, line: &str| {
        let points = points(machine, line);
        let mut kinds: Vec<&str> =
            points.iter().filter_map(|point| Some(point.walk.traffic()?.kind.name)).collect();
        kinds.dedup();
        kinds.join(" ")
    };
    assert_eq!(kinds(&usual, "loaded"), "read 2:1");
    assert_eq!(kinds(&long, "loaded"), "read");
    assert_eq!(kinds(&long, "bandwidth --view=mix"), "read 1:1 nt-write copy-nt random write copy");
    // A random step moves a whole line.
    let bytes = |machine: &Machine, name: &str| {
        let points = points(machine, &format!("bandwidth --traffic={name}"));
        let traffic = points.iter().find_map(|point| point.walk.traffic().copied()).unwrap();
        Kind::parse(name).unwrap().bytes_per_line() * traffic.lines_per_step() as f64
    };
    assert_eq!(["read", "random"].map(|name| bytes(&usual, name)), [64.0, 64.0]);
    assert_eq!(["read", "random"].map(|name| bytes(&long, name)), [64.0, 128.0]);
}

/// Returns the codes of the warnings about `size` bytes for which pages were asked, and obtained in `mapped` bytes.
fn told(machine: &Machine, size: Bytes, asked: Pages, (pages, mapped): (Pages, Bytes)) -> Vec<String> {
    let mut warnings = Warnings::empty();
    let evidence = Evidence {
        numa_maps: Some(Default::default()),
        transparent_huge: pages.are_transparent().then_some(mapped),
        ..Evidence::default()
    };
    let placed =
        Placed { means: Means::Policy, pages, mapped, before: evidence, after: evidence, as_small: None };
    pieces::tell(machine, &mut warnings, (NodeId(0), size, asked), &placed);
    warnings.iter().map(|warning| format!("{}: {warning}", Warning::code(warning))).collect()
}

#[test]
fn transparent_huge_pages_that_are_too_large_are_not_chosen() {
    let [small, middle, large] = machines();
    let sizes = [1, 256, 1023, 1024, 4096].map(|mebibytes| MIB.times(mebibytes));
    let too_large = |machine: &Machine| sizes.map(|size| machine.thp_is_too_large(size));
    assert_eq!(too_large(&small), [false; 5]);
    assert_eq!(too_large(&middle), [false; 5]);
    assert_eq!(too_large(&large), [true, true, true, false, false]);

    let size = MIB.times(256);
    let fell_back = |machine: &Machine| told(machine, size, Pages::AUTO, (machine.base_pages(), size));
    assert_eq!(
        fell_back(&large),
        [
            "thp-too-large: using 64 KiB pages: a transparent huge page has 512 MiB, and the working set has 256 MiB"
        ]
    );
    assert!(
        fell_back(&middle)[0].starts_with("pages-fell-back: using 16 KiB pages"),
        "{:?}",
        fell_back(&middle)
    );
    // Requested ones are used, and the reader is told about the memory that they need.
    let thp = |machine: &Machine, size: Bytes| {
        let pages = chosen(machine, "thp");
        let page = machine.huge_page().bytes();
        told(machine, size, pages, (pages, Bytes(size.0.next_multiple_of(page.0))))
    };
    assert_eq!(
        thp(&large, size),
        [
            "thp-rounded-up: placed 512 MiB of memory for a working set of 256 MiB: a transparent huge page has 512 MiB"
        ]
    );
    assert!(thp(&middle, MIB)[0].starts_with("thp-rounded-up: placed 32 MiB"), "{:?}", thp(&middle, MIB));
    assert!(thp(&middle, size).is_empty() && thp(&small, MIB).is_empty());
}

#[test]
fn memory_is_planned_in_whole_huge_pages_where_there_are_many() {
    let of = |machine: &Machine, size: Bytes, pages| size_with_room(size, machine, NodeId(0), pages);
    let [small, middle, large] = machines();
    for (machine, pages, size, expected) in [
        (&small, Pages::thp(PageSize::MIB_2), 9, 12),
        (&middle, chosen(&middle, "thp"), 9, 32),
        (&middle, middle.base_pages(), 9, 12),
        (&large, chosen(&large, "thp"), 256, 512),
        (&large, Pages::AUTO, 256, 320),
        (&large, large.base_pages(), 256, 320),
    ] {
        assert_eq!(of(machine, MIB.times(size), pages), MIB.times(expected), "{pages}");
    }
    // Half of the free memory of these machines.
    let most = |machine: &Machine| {
        let like = points(machine, "matrix")[0];
        machine.most(&like, &[like])
    };
    assert!(most(&middle).0.is_multiple_of(32 << 20) && most(&large).0.is_multiple_of(512 << 20));
    assert!(most(&small).0.is_multiple_of(2 << 20));
}
