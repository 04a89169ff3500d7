//! Spans of addresses without memory (`pages`): their limits, and the reasons for which there are none.

use latency_tests::confine::Confine;
use latency_tests::document::{array, at, number, text};
use latency_tests::group::{Group, Limit};
use latency_tests::run::{Run, command, finish};
use latency_tests::schema::assert_valid;
use latency_tests::skip::skip;
use serde_json::Value;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A measurement of little memory, and of spans for a second.
const PAGES: [&str; 7] =
    ["pages", "--json", "--size=1M", "--trials=3", "--iters=2000", "--cpunode=0", "--memnode=0"];
/// Number of pages of the smallest span.
const FEWEST: u64 = 8;

fn run(change: impl FnOnce(&mut Command)) -> Run {
    let mut command = command(&PAGES);
    change(&mut command);
    finish(&mut command)
}

/// Returns the document of a run, and the spans of base pages and of huge ones.
fn measured(found: &Run) -> (Value, [Value; 2]) {
    let document = found.expect_json(0);
    assert_valid(&document);
    let kinds = [0, 1].map(|kind| at(&document, &format!("/translation/{kind}")).clone());
    (document, kinds)
}

fn is_measured(kind: &Value) -> bool {
    number(kind, "/largest_span_bytes") > 0
}

#[test]
fn spans_ascend_and_need_no_memory_but_their_tables() {
    let (document, kinds) = measured(&run(|_| {}));
    let [base, _] = &kinds;
    assert!(is_measured(base), "{document:#}");
    for kind in kinds.iter().filter(|kind| is_measured(kind)) {
        let largest = number(kind, "/largest_span_bytes");
        assert!(largest.is_power_of_two(), "{kind:#}");
        let spans = array(kind, "/spans");
        let counts: Vec<u64> = spans.iter().map(|span| number(span, "/pages")).collect();
        assert!(counts.is_sorted() && counts[0] == FEWEST, "{counts:?}");
        assert_eq!(number(spans.last().expect("a span"), "/span_bytes"), largest, "{kind:#}");
        assert!(spans.iter().all(|span| at(span, "/ns").as_f64().is_some_and(|ns| ns > 0.1)), "{kind:#}");
        assert_eq!(at(&spans[0], "/translation_ns").as_f64(), Some(0.0), "{kind:#}");
        // An entry of eight bytes for each page of 4 KiB or more, and what was populated beyond the largest span.
        let tables = number(kind, "/page_table_bytes");
        assert!(tables > largest / 100_000 && tables < largest / 512 * 2 + (1 << 20), "{kind:#}");
    }
}

#[test]
fn an_address_space_with_a_limit_has_smaller_spans() {
    // A span that is asked for is populated however long a busy host takes.
    let (document, [base, _]) = measured(&run(|command| {
        command.arg("--max-size=64G").limited(libc::RLIMIT_AS as i32, 1 << 30);
    }));
    assert_eq!(text(&base, "/end"), "the address space is limited (ulimit -v)", "{document:#}");
    let largest = number(&base, "/largest_span_bytes");
    assert!((64 << 20..1 << 30).contains(&largest), "{base:#}");
}

/// The kernel kills a process whose page tables exceed the limit of its group.
#[test]
fn a_control_group_of_little_memory_has_smaller_spans() {
    for (name, limit) in [("spans-64m", 64 << 20), ("spans-2g", 2 << 30)] {
        let Some(group) = Group::new(name, Limit::Memory(limit)) else {
            return skip("cli::spans", "no control group can be made");
        };
        let (document, kinds) = measured(&run(|command| _ = group.hold(command)));
        let tables: u64 = kinds.iter().map(|kind| number(kind, "/page_table_bytes")).sum();
        assert!(is_measured(&kinds[0]) && tables <= limit / 2, "{tables}: {document:#}");
        if limit > 1 << 30 && is_measured(&kinds[1]) {
            // A busy host has too little time to populate all.
            let is_whole = number(&kinds[1], "/largest_span_bytes") == 64 << 30;
            assert!(is_whole || text(&kinds[1], "/end") == "populating more takes too long", "{document:#}");
        }
    }
}

#[test]
fn without_transparent_huge_pages_only_base_pages_have_spans() {
    let (document, [base, huge]) = measured(&run(|command| {
        // SAFETY: prctl is allowed between fork and exec; its arguments are numbers.
        unsafe {
            command.pre_exec(|| match libc::prctl(libc::PR_SET_THP_DISABLE, 1, 0, 0, 0) {
                0 => Ok(()),
                _ => Err(std::io::Error::last_os_error()),
            })
        };
    }));
    assert!(is_measured(&base) && !is_measured(&huge), "{document:#}");
    let end = text(&huge, "/end");
    assert!(
        end == "the kernel gives base pages in place of transparent huge ones" || end.contains("EINVAL"),
        "{end}"
    );
    assert!(array(&huge, "/spans").is_empty(), "{huge:#}");
}

#[test]
fn where_pages_cannot_be_queried_the_memory_of_the_process_shows_it() {
    let denied = |command: &mut Command| _ = command.denied(&[libc::SYS_move_pages], libc::EPERM);
    let mut command = command(&["pages", "--verbose", "--size=1M", "--trials=3", "--iters=2000"]);
    denied(&mut command);
    let found = finish(&mut command);
    let expected = "the kernel's page of zeros (memory of the process)";
    let words = found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains(expected), "{found}");
    let (document, [base, _]) = measured(&run(denied));
    assert!(is_measured(&base), "{document:#}");
}
