//! The certainty of a difference between two sides, from the spread within runs and between them.
//!
//! The interval of one run does not cover the next run. One file for each side does not show how far runs lie apart, so
//! that an assumed spread is used. Several files for each side show the spread, and the assumed one counts for as much
//! as eight more files.

use latency_core::ToReal;
use latency_core::math::{exp, sqrt};

/// Assumed difference between two runs on an unchanged machine, as standard deviations.
#[derive(Clone, Copy, Debug)]
pub struct Experience {
    /// Deviation of a whole run: clock and memory drift.
    pub whole: f64,
    /// Deviation of one point from the others, in addition to its interval.
    pub local: f64,
}

/// Experience with loads from memory and caches.
pub const LOADS: Experience = Experience { whole: 0.02, local: 0.01 };
/// Experience with lines that are transferred between CPUs: their latency depends on the lines, which differ in each
/// run.
pub const LINES: Experience = Experience { whole: 0.03, local: 0.03 };
/// Standard deviations in half of a 95 % interval.
pub const HALF: f64 = 1.96;
/// Weight of experience, in files.
const WEIGHT: f64 = 8.0;

/// A difference between two sides.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Difference {
    /// The size of the difference, in the unit of the compared values.
    pub size: f64,
    /// The standard error of the size.
    pub error: f64,
    /// The size in standard errors, converted to a normal variable.
    pub score: f64,
}

/// Compares the values of the files of two sides; values that are not numbers are left out.
///
/// `prior` is the variance of one file's value if nothing else is known. The variance used is a weighted mean of
/// `prior` and the variance between files, or the latter if it is larger. The score is that of Student's t with the
/// resulting degrees of freedom.
///
/// # References
///
/// G. Smyth, "Linear models and empirical Bayes methods" (2004), for the moderated t; D. Wallace, "Bounds on normal
/// approximations to Student's and the chi-square distributions" (1959), for its score.
pub fn difference(sides: [&[f64]; 2], prior: f64) -> Option<Difference> {
    let mut means = [0.0; 2];
    let (mut squares, mut freedom, mut reciprocals) = (0.0, 0.0, 0.0);
    for (values, mean) in sides.into_iter().zip(&mut means) {
        let known = || values.iter().filter(|value| value.is_finite());
        let count = known().count().real();
        if count == 0.0 {
            return None;
        }
        *mean = known().sum::<f64>() / count;
        squares += known().map(|value| (value - *mean) * (value - *mean)).sum::<f64>();
        freedom += count - 1.0;
        reciprocals += 1.0 / count;
    }
    let size = means[1] - means[0];
    let mut total = WEIGHT + freedom;
    let mut variance = (WEIGHT * prior + squares) / total;
    // The assumed spread is irrelevant on a machine on which runs lie farther apart.
    if freedom > 0.0 && squares / freedom > variance {
        (variance, total) = (squares / freedom, freedom);
    }
    let error = sqrt(variance * reciprocals);
    let ratio = size / error;
    let score = match freedom > 0.0 {
        true => ratio * (1.0 - 0.25 / total) / sqrt(1.0 + ratio * ratio / (2.0 * total)),
        false => ratio,
    };
    Some(Difference { size, error, score })
}

/// Returns the two-sided tail probability of a normal variable at this distance from its mean.
///
/// Laplace's continued fraction, accurate to some per cent for scores from 1 on; below 1, the result is 1.
pub fn probability(score: f64) -> f64 {
    /// The square root of 2 / pi.
    const SCALE: f64 = 0.797_884_560_802_865_4;
    let distance = score.abs();
    if distance < 1.0 {
        return 1.0;
    }
    let fraction = (1..=12).rev().fold(distance, |rest, term| distance + f64::from(term) / rest);
    SCALE * exp(-distance * distance / 2.0) / fraction
}

/// Decides by Holm's rule which scores, sorted from the farthest to the nearest, are significant; returns the number of
/// these.
///
/// # References
///
/// S. Holm, "A simple sequentially rejective multiple test procedure" (1979).
pub fn rejected(scores: &[f64]) -> usize {
    let left = |index: usize| (scores.len() - index).real();
    let by_chance =
        scores.iter().enumerate().position(|(index, score)| probability(*score) > CHANCE / left(index));
    by_chance.unwrap_or(scores.len())
}

/// Probability of one or more false differences, faster and slower together.
pub const CHANCE: f64 = 0.05;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tail_probabilities_match_published_tables() {
        for (score, known) in [(1.0, 0.317_31), (1.96, 0.05), (2.576, 0.01), (4.0, 6.334e-5), (6.0, 1.973e-9)]
        {
            let found = probability(score);
            assert!((found / known - 1.0).abs() < 0.01, "{score}: {found} for {known}");
            assert_eq!(found, probability(-score));
        }
        assert_eq!(probability(0.3), 1.0);
    }

    #[test]
    fn one_file_a_side_is_judged_by_experience_and_several_by_themselves() {
        let alone = difference([&[0.0], &[0.06]], LOADS.whole * LOADS.whole).unwrap();
        assert!((alone.error / (LOADS.whole * 2f64.sqrt()) - 1.0).abs() < 1e-9 && alone.score > HALF);
        let quiet =
            difference([&[0.0, 0.001, -0.001], &[0.03, 0.031, 0.029]], LOADS.whole * LOADS.whole).unwrap();
        assert!(quiet.error < 0.014 && quiet.score > HALF, "{quiet:?}");
        let loud =
            difference([&[0.0, 0.05, -0.05], &[0.03, 0.08, -0.02]], LOADS.whole * LOADS.whole).unwrap();
        assert!(loud.error > 0.02 && loud.score < 1.0, "{loud:?}");
        assert_eq!(difference([&[f64::NAN], &[0.0]], 1.0), None);
    }

    #[test]
    fn of_many_scores_a_few_are_far_by_chance() {
        assert_eq!(rejected(&[2.5]), 1);
        let mut many = [1.5; 40];
        many[0] = 2.5;
        assert_eq!(rejected(&many), 0);
        many[..3].fill(6.0);
        assert_eq!(rejected(&many), 3);
        assert_eq!(rejected(&[]), 0);
    }
}
