//! The life of lines in a shared cache (`residency`), as a command.

use latency_tests::confine::{Confine, allowed_cpus};
use latency_tests::document::{array, at, number};
use latency_tests::run::{command, finish, run};
use latency_tests::schema::assert_valid;

#[test]
fn shares_are_between_nothing_and_all_and_waits_ascend() {
    let document = run(&["residency", "--json", "--size=8M", "--time-limit=1", "--trials=7"]).expect_json(0);
    assert_valid(&document);
    // A cache that holds less than a moment's worth has no sets.
    for set in array(&document, "/residency") {
        assert_eq!(number(set, "/working_set_bytes"), 8 << 20);
        let waits = array(set, "/waits");
        assert!(at(&waits[0], "/wait_ns").as_f64() == Some(0.0), "{set:#}");
        let times = |key: &str| -> Vec<f64> {
            waits.iter().map(|wait| at(wait, key).as_f64().expect("a number")).collect()
        };
        assert!(times("/wait_ns").is_sorted(), "{set:#}");
        // A line waits from the middle of the fill on.
        assert!(
            times("/after_ns").iter().zip(times("/wait_ns")).all(|(after, wait)| *after > wait),
            "{set:#}"
        );
        assert!(times("/left").iter().all(|left| (0.0..=1.0).contains(left)), "{set:#}");
        let held = at(&document, "/summary/held_at_once_bytes").as_f64().expect("a number");
        assert!((0.0..=8388608.0).contains(&held), "{document:#}");
        let rate = |key: &str| at(&document, &format!("/summary/{key}")).as_f64();
        let (rate, hidden) = (rate("inserted_bytes_per_second"), rate("hidden_bytes_per_second"));
        assert!(
            rate.is_some() == hidden.is_some() && hidden.is_none_or(|hidden| hidden > 0.0),
            "{document:#}"
        );
        let is_found = at(set, "/half_life_ns").is_number();
        assert!(!is_found || at(set, "/half_life_above_ns").is_null(), "{set:#}");
    }
}

#[test]
fn a_working_set_in_the_private_caches_says_nothing_about_the_shared_one() {
    let found = run(&["residency", "--size=16K", "--trials=3"]);
    let text = found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        text.contains("Most of this working set is in the ") && text.contains("use a --size of"),
        "{text}"
    );
    let document = run(&["residency", "--size=16K", "--trials=3", "--json"]).expect_json(0);
    assert_valid(&document);
    assert!(array(&document, "/residency").is_empty() && at(&document, "/summary/half_life_ns").is_null());
}

#[test]
fn on_one_cpu_the_result_is_of_that_cpu_and_says_what_it_found() {
    let cpu = *allowed_cpus().last().expect("a CPU");
    let arguments = ["residency", "--size=8M", "--time-limit=1", "--trials=7"];
    let document = finish(command(&[&arguments[..], &["--json"]].concat()).on_cpu(cpu)).expect_json(0);
    assert_valid(&document);
    assert_eq!(number(&document, "/rows/0/initiator_cpu"), cpu as u64, "{document:#}");
    for set in array(&document, "/residency") {
        let waits = array(set, "/waits");
        // Only the first wait has a second look.
        assert!(at(&waits[0], "/left_again").is_number(), "{set:#}");
        assert!(waits[1..].iter().all(|wait| at(wait, "/left_again").is_null()), "{set:#}");
    }
    let found = finish(command(&arguments).on_cpu(cpu));
    let text = found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    let answers = [
        "Half of a working set of 8 MiB",
        "The shared cache keeps ",
        "No shared cache holds these working sets",
    ];
    assert!(answers.iter().any(|answer| text.contains(answer)), "{text}");
}
