//! Tests of wrong dates: they are found, and late lines, files in another order and shared names are not.

use std::vec::Vec;

use super::dates::{ResultDate, WrongDate, check};

const DAY: u32 = 86_400;
/// A day of 2026, in days since 1970, and one of 2000.
const TODAY: u32 = 20_600;
const IN_2000: u32 = 10_957;

/// Returns the wrong dates among results in this order, each a boot and a day; boot 0 is not named.
fn wrong(results: &[(u32, u32)]) -> Vec<(u32, WrongDate)> {
    let date = |(&(boot, day), document)| ResultDate {
        run: document,
        host: 7,
        boot: (boot > 0).then_some(boot),
        span: [day * DAY, day * DAY + 5],
        place: document,
        is_ordered: true,
        wrong: None,
    };
    let mut dates: Vec<_> = results.iter().zip(0..).map(date).collect();
    check(&mut dates);
    let mut wrong: Vec<_> = dates.iter().filter_map(|date| Some((date.span[0] / DAY, date.wrong?))).collect();
    wrong.sort_by_key(|(day, _)| *day);
    wrong
}

/// Returns a result on each of twenty days, with a reboot after ten.
fn days() -> Vec<(u32, u32)> {
    (0..20).map(|day| (1 + day / 10, TODAY + day)).collect()
}

#[test]
fn one_wrong_clock_is_found_in_any_order() {
    for (at, day, why) in [
        (10, IN_2000, WrongDate::Boot),
        (14, IN_2000, WrongDate::Boot),
        (9, TODAY + 500, WrongDate::Boot),
        (9, TODAY + 12, WrongDate::Boot),
        (3, IN_2000, WrongDate::Order),
        (14, TODAY + 2000, WrongDate::Order),
    ] {
        let mut results = days();
        results[at].1 = day;
        assert_eq!(wrong(&results), [(day, why)], "{at}");
        if why == WrongDate::Boot {
            results.reverse();
            results.rotate_left(7);
            assert_eq!(wrong(&results), [(day, why)], "{at}");
        }
    }
    // A whole boot in 2000, without any other date.
    let mut results = days();
    results.extend((0..5).map(|day| (3, IN_2000 + day)));
    assert_eq!(wrong(&results).len(), 5);
    // Without boot IDs, the order alone tells it.
    let mut results: Vec<_> = days().into_iter().map(|(_, day)| (0, day)).collect();
    results[12].1 = IN_2000;
    assert_eq!(wrong(&results), [(IN_2000, WrongDate::Order)]);
}

#[test]
fn right_dates_in_any_order_are_not_wrong() {
    let mut results = days();
    assert!(wrong(&results).is_empty());
    results.swap(4, 17);
    assert!(wrong(&results).is_empty());
    results.rotate_left(3);
    assert!(wrong(&results).is_empty());
    results.reverse();
    assert!(wrong(&results).is_empty());
    // A file of last year behind that of this year.
    results = days();
    results.extend((0..5).map(|day| (9, TODAY - 300 + day)));
    assert!(wrong(&results).is_empty());
}

#[test]
fn two_hosts_with_one_name_do_not_have_wrong_dates() {
    let mixed: Vec<_> = (0..20).map(|day| (1 + day % 2, TODAY + day)).collect();
    assert!(wrong(&mixed).is_empty());
    let mut one_by_one = mixed;
    one_by_one.sort_unstable();
    assert!(wrong(&one_by_one).is_empty());
    assert!(wrong(&[(1, TODAY), (2, TODAY + 1), (1, TODAY + 2)]).is_empty());
}
