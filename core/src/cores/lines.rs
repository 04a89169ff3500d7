//! One value from many samples: several lines in each of several windows of time.
//!
//! The address of a line decides which part of the machine keeps the line's state, so the lines of
//! one pair of cores have permanently different times: this difference is not noise, and no
//! interval may hide it. This file is plain arithmetic on samples.

use crate::stats::{Summary, median, summarise_series};

/// One line among several.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OfLine {
    /// The number of the line, from zero.
    pub line: usize,
    /// The median over the line's samples in all windows.
    pub value: f64,
}

/// The summary of all lines, and the two extreme lines.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OverLines {
    /// The summary, over the windows, of each window's median over the lines.
    pub over: Summary,
    /// The line with the smallest value.
    pub fastest: OfLine,
    /// The line with the largest value.
    pub slowest: OfLine,
}

/// Summarises windows of `lines` samples each, which follow each other in chronological order.
///
/// `scratch` has a place for each window and each line. Returns `None` if it has fewer places, if
/// there is no window or no line, or if the last window is incomplete.
pub fn over_lines(samples: &[f64], lines: usize, scratch: &mut [f64]) -> Option<OverLines> {
    let windows = samples.len().checked_div(lines)?;
    if windows * lines != samples.len() {
        return None;
    }
    let (medians, rest) = scratch.split_at_mut_checked(windows)?;
    let row = rest.get_mut(..lines)?;
    for (value, window) in medians.iter_mut().zip(samples.chunks_exact(lines)) {
        row.copy_from_slice(window);
        *value = median(row)?;
    }
    let over = summarise_series(medians)?;
    let (mut fastest, mut slowest) = (None::<OfLine>, None::<OfLine>);
    for line in 0..lines {
        for (value, sample) in medians.iter_mut().zip(samples.iter().skip(line).step_by(lines)) {
            *value = *sample;
        }
        let this = OfLine { line, value: median(medians)? };
        if fastest.is_none_or(|other| this.value < other.value) {
            fastest = Some(this);
        }
        if slowest.is_none_or(|other| this.value > other.value) {
            slowest = Some(this);
        }
    }
    Some(OverLines { over, fastest: fastest?, slowest: slowest? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    fn summarise(samples: &[f64], lines: usize) -> Option<OverLines> {
        let mut scratch = vec![f64::NAN; samples.len() + lines];
        over_lines(samples, lines, &mut scratch)
    }

    #[test]
    fn a_slow_line_is_named_and_does_not_move_the_median() {
        // Seven windows of four lines; the third line is slow, the last window is disturbed.
        let samples: Vec<f64> = (0..7)
            .flat_map(|window| {
                let late = if window == 6 { 500.0 } else { f64::from(window) / 10.0 };
                [50.0, 51.0, 90.0, 49.0].map(|line| line + late)
            })
            .collect();
        let found = summarise(&samples, 4).unwrap();
        assert_eq!((found.over.median, found.over.count), (50.8, 7));
        assert_eq!(found.slowest, OfLine { line: 2, value: 90.3 });
        assert_eq!(found.fastest, OfLine { line: 3, value: 49.3 });
        assert!(found.over.interval.is_some());
    }

    #[test]
    fn one_line_is_the_series_of_its_windows() {
        let samples = [3.0, 1.0, 2.0, 5.0, 4.0, 7.0, 6.0];
        let found = summarise(&samples, 1).unwrap();
        assert_eq!(Some(found.over), summarise_series(&mut samples.clone()));
        assert_eq!(
            (found.fastest, found.slowest),
            (OfLine { line: 0, value: 4.0 }, OfLine { line: 0, value: 4.0 })
        );
    }

    #[test]
    fn incomplete_input_gives_none() {
        assert_eq!(summarise(&[], 4), None);
        assert_eq!(summarise(&[1.0], 0), None);
        assert_eq!(summarise(&[1.0; 7], 4), None);
        assert_eq!(over_lines(&[1.0; 8], 4, &mut [0.0; 5]), None);
        assert_eq!(over_lines(&[1.0; 8], 4, &mut [0.0; 1]), None);
        assert!(over_lines(&[1.0; 8], 4, &mut [0.0; 6]).is_some());
    }

    proptest! {
        #[test]
        fn values_lie_within_their_lines(
            lines in 1usize..20, windows in 1usize..12, numbers in prop::collection::vec(1.0f64..1e6, 240),
        ) {
            let samples = &numbers[..lines * windows];
            let found = summarise(samples, lines).unwrap();
            prop_assert_eq!(found.over.count, windows);
            prop_assert!(found.fastest.value <= found.slowest.value);
            let lowest = samples.iter().copied().fold(f64::MAX, f64::min);
            let highest = samples.iter().copied().fold(0.0, f64::max);
            for value in [found.over.median, found.fastest.value, found.slowest.value] {
                prop_assert!((lowest..=highest).contains(&value));
            }
        }
    }
}
