//! Consistency of texts with their own numbers: sentences must not contradict each other.

use crate::analysis::drawn_tests::drawn;
use crate::catalogue::EXPERIMENTS;
use crate::saved::Saved;
use latency_report::Audience;
use std::collections::BTreeSet;
use std::string::String;
use std::vec::Vec;

use super::scene::Trouble;
use super::{findings, scenes};

/// Returns the text of an experiment with one trouble, on one line.
fn text(line: &str, machine: &'static str, trouble: &'static Trouble) -> String {
    let scene = scenes::plain(machine, line);
    let troubles = core::slice::from_ref(trouble);
    let scene = super::Scene { troubles, audience: Audience::File, ..scene };
    findings::without_pictures(&scene).split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn no_sentence_contradicts_another() {
    // The measured treatment of huge pages by the TLB has to agree with their reported gain.
    const ALIKE: [&str; 2] = ["which the TLB treats as 4 KiB pages", "behave like 4 KiB pages in the TLB"];
    const GAINS: [&str; 3] = ["Huge pages help", "huge pages save ", "TLB misses account for"];
    let mut treated = 0;
    for line in ["pages", "variants"] {
        for trouble in &Trouble::ALL {
            for machine in ["one-node", "two-sockets"] {
                let text = text(line, machine, trouble);
                let has = |words: &[&str]| words.iter().any(|words| text.contains(words));
                treated += usize::from(has(&ALIKE));
                assert!(!(has(&ALIKE) && has(&GAINS)), "{line} on {machine}: {text}");
                assert!(
                    !(text.contains("Huge pages help") && text.contains("no benefit")),
                    "{line} on {machine}: {text}"
                );
            }
        }
    }
    assert!(treated >= 4, "the TLB was found to treat huge pages as small ones in {treated} texts");
}

#[test]
fn a_presentation_draws_its_conclusions_once() {
    let mut all = BTreeSet::new();
    for line in EXPERIMENTS.iter().map(|experiment| experiment.descriptor.name) {
        findings::written(&scenes::plain("two-sockets", line));
        let drawn = drawn();
        assert!(drawn.values().all(|count| *count == 1), "{line}: {drawn:?}");
        all.extend(drawn.into_keys());
    }
    let expected = ["bandwidth", "chains", "cores", "loaded", "matrix", "order", "pages", "residency"];
    assert!(all.iter().eq(&expected), "{all:?}");
}

#[test]
fn one_cache_line_of_a_pair_is_in_the_singular() {
    let scene = scenes::plain("hybrid", "cores --lines=1 --verbose");
    let text = findings::written(&scene).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("each window uses 1 line for about 25 µs") && !text.contains("1 lines"), "{text}");
    assert!(text.contains("median of 1 cache line,") || text.contains("median of 1 cache line)"), "{text}");
}

#[test]
fn the_measured_capacity_has_no_guessed_cause() {
    // Memory of the other node, whose curve shows a third of the cache.
    const CURVE: &str = "curve --cpunode=0 --memnode=1 --points-per-octave=2";
    let shared = text(CURVE, "two-sockets", &Trouble::Disturbed);
    assert!(shared.contains("L3: a chase held about "), "{shared}");
    assert!(!shared.contains("hypervisor") && !shared.contains("serve this core"), "{shared}");
    let partitioned = text("curve --cpunode=0 --memnode=1 --max-size=512M", "two-sockets", &Trouble::Virtual);
    let cause = "; resctrl allows ways 0x7ff of 0xfff for data, 0xfff for instructions.";
    assert!(partitioned.contains(cause) && !partitioned.contains("while others used it"), "{partitioned}");
}

#[test]
fn generators_that_loaded_nothing_are_left_out_by_name() {
    let text = text("loaded", "one-node", &Trouble::Starved);
    assert!(text.contains("the load had no CPU time") && !text.contains("NaN"), "{text}");
    let scene = scenes::plain("one-node", "loaded --format=json");
    let document = findings::written(&super::Scene { troubles: &[Trouble::Starved], ..scene });
    assert!(document.contains("\"not_measured\":\"the load had no CPU time"), "{document}");
    let rows = Saved::parse(document.as_bytes(), None).map(|draft| draft.rows.len());
    assert_eq!(rows, Ok(2), "the idle latency of each curve: {document}");
}

#[test]
fn verified_pages_have_their_size() {
    let pages = text("pages", "two-sockets", &Trouble::Virtual);
    assert!(pages.contains("all 65536 pages (4 KiB) verified there"), "{pages}");
    assert!(pages.contains("all 128 pages (2 MiB) verified there"), "{pages}");
}

#[test]
fn the_text_does_not_generalise_one_cpu_to_its_node() {
    let one_of_many = text("matrix", "two-sockets", &Trouble::Disturbed);
    assert!(one_of_many.contains("other CPUs of a node may differ by a few ns"), "{one_of_many}");
    let both = text("matrix", "one-node", &Trouble::Disturbed);
    assert!(!both.contains("other CPUs of a node"), "its two CPUs are threads of one core: {both}");
    assert!(both.contains("intervals describe this run, another run may differ by more"), "{both}");
}

#[test]
fn the_page_tells_the_chosen_cpu_and_the_reason() {
    let page = |troubles: &'static [Trouble]| {
        let scene = scenes::plain("two-sockets", "matrix --format=html");
        findings::written(&super::Scene { troubles, ..scene })
    };
    const CHOSEN: &str = "CPU 1, since CPU 0 was 34% busy";
    assert!(page(&[Trouble::BusyCpu]).contains(CHOSEN), "{}", page(&[Trouble::BusyCpu]));
    assert!(!page(&[]).contains("since CPU"), "{}", page(&[]));
}

#[test]
fn the_reported_free_memory_agrees_with_the_limit_of_size() {
    let machine = crate::experiment::tests::machine("one-node", None);
    let node = latency_core::units::NodeId(0);
    let supply = machine.supply(node).unwrap();
    let found = text("system", "one-node", &Trouble::Disturbed);
    assert!(found.contains("free available"), "{found}");
    assert!(found.contains(&std::format!(
        "{} {}",
        machine.topology.node(node).unwrap().memory_free,
        supply.bytes()
    )));
    // The limit of --size is derived from the same amount.
    let most = latency_core::units::Bytes(supply.bytes().0 / 10 * 9);
    assert!(supply.check(node, most).is_ok());
    assert!(supply.check(node, latency_core::units::Bytes(most.0 + 1)).is_err());
}
