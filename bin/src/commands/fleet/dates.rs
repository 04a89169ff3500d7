//! Wrong dates of results: after a reboot a clock may begin in 2000, and another may be ahead.
//!
//! Nearly all results of a host are in the order of their dates in the input; otherwise they are put in the order of
//! their boots. The fewest results that are not in order are suspects. The date of one is wrong if another boot ran
//! between it and the other results of its own boot, or if it is more than a year away from all results in order.

use alloc::vec::Vec;

use latency_core::{sort_by_key, worded};

use super::names::Name;

/// Maximum number of wrong dates of one host; more are not the dates of one clock.
const MOST: usize = 64;
/// Maximum share of wrong dates of one host, as the reciprocal.
const SHARE: usize = 4;
/// Number of seconds that no gap between the results of a host has.
const FAR: u32 = 366 * 86_400;

/// The date of a result.
#[derive(Clone, Copy, Debug)]
pub struct ResultDate {
    /// The index of its run.
    pub run: u32,
    /// The name number of its host.
    pub host: Name,
    /// The name number of its boot; `None` if the document does not name it.
    pub boot: Option<Name>,
    /// The start and the end of its run, in seconds since 1970.
    pub span: [u32; 2],
    /// Its place in the order that is searched.
    pub place: u32,
    /// True if it belongs to the longest part that is in order.
    pub is_ordered: bool,
    /// The reason why the date is wrong.
    pub wrong: Option<WrongDate>,
}

worded! {
    /// A reason why a date is wrong, with its code for programs.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub enum WrongDate {
        /// Another boot ran between it and the other results of its boot.
        Boot = "boot-order",
        /// It is far from the other results of the host, and not in order.
        Order = "result-order",
    }
}

/// Marks the wrong dates, and reorders all dates by host.
pub fn check(dates: &mut [ResultDate]) {
    sort_by_key(dates, |date| (date.host, date.place, date.span, date.boot));
    for of_host in dates.chunk_by_mut(|one, other| one.host == other.host) {
        if !mark(of_host) {
            by_boots(of_host);
            mark(of_host);
        }
    }
}

/// Sorts the dates of a host by the middle dates of their boots.
fn by_boots(dates: &mut [ResultDate]) {
    sort_by_key(dates, |date| (date.boot, date.span));
    for of_boot in dates.chunk_by_mut(|one, other| one.boot == other.boot) {
        let middle = of_boot[of_boot.len() / 2].span[0];
        of_boot.iter_mut().for_each(|date| date.place = middle);
    }
    sort_by_key(dates, |date| (date.place, date.boot, date.span));
}

/// Marks the wrong dates of a host: those that are not in the longest part that is in order (C. Schensted, 1961), and for
/// which there is a reason. Returns false if too many are not in order.
fn mark(dates: &mut [ResultDate]) -> bool {
    // For each length, the last index of the part of this length that ends earliest; and for each index, the one before
    // it in a longest part that ends there.
    let (mut ends, mut before) = (Vec::new(), Vec::new());
    for (index, date) in dates.iter().enumerate() {
        let length = ends.partition_point(|end: &usize| dates[*end].span[0] <= date.span[0]);
        before.push(length.checked_sub(1).map(|last| ends[last]));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let suspects = dates.len() - ends.len();
    if suspects > MOST || suspects * SHARE > dates.len() {
        return false;
    }
    dates.iter_mut().for_each(|date| date.is_ordered = false);
    let mut next = ends.last().copied();
    while let Some(index) = next {
        dates[index].is_ordered = true;
        next = before[index];
    }
    for index in 0..dates.len() {
        let date = dates[index];
        dates[index].wrong = if date.is_ordered { None } else { wrong(&date, dates) };
    }
    true
}

/// Returns the reason why a date is wrong that is not in order.
fn wrong(date: &ResultDate, dates: &[ResultDate]) -> Option<WrongDate> {
    let ordered = || dates.iter().filter(|other| other.is_ordered);
    let start = date.span[0];
    let range = |dates: &mut dyn Iterator<Item = &ResultDate>| {
        dates.fold([u32::MAX, 0], |[low, high], date| [low.min(date.span[0]), high.max(date.span[0])])
    };
    let [low, high] = range(&mut ordered().filter(|other| other.boot == date.boot));
    let is_between = |other: &ResultDate| {
        other.boot.is_some()
            && other.boot != date.boot
            && (start.min(low)..=start.max(high)).contains(&other.span[0])
    };
    if date.boot.is_some() && low <= high && ordered().any(is_between) {
        return Some(WrongDate::Boot);
    }
    let [low, high] = range(&mut ordered());
    (start.saturating_add(FAR) < low || start > high.saturating_add(FAR)).then_some(WrongDate::Order)
}
