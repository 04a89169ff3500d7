//! Facts that slow hosts have more often than other hosts with the same CPU model. An association is not a cause.

use alloc::vec::Vec;
use core::fmt;

use latency_core::{ToReal, sort_by};

use super::names::Name;
use super::runs::Runs;
use crate::analysis::comparison::significance::CHANCE;

/// The state of a host in a value with a verdict.
#[derive(Clone, Copy, Debug)]
pub struct JudgedHost {
    /// The name of the host.
    pub host: Name,
    /// The start of the run, in seconds since 1970.
    pub started: u64,
    /// The state of the host during the run.
    pub state: Name,
    /// True if the value is slow.
    pub is_slow: bool,
}

/// A fact that slow hosts have significantly more often than other hosts.
#[derive(Clone, Copy, Debug)]
pub struct Association<'n> {
    /// The CPU model of the compared hosts.
    pub cpu: &'n str,
    /// The name of the fact and its value.
    pub fact: (&'n str, &'n str),
    /// The number of slow hosts with this value, the number of slow hosts whose fact is known, and both numbers of other
    /// hosts.
    pub counts: [usize; 4],
    /// The probability of shares at least as different by chance; adjusted for the number of facts that were tried.
    pub probability: f64,
}

/// Returns the probability of `with` or more slow hosts with a value by chance, if `slow` of `all` hosts are slow and
/// `value` of them have the value: Fisher's exact test, one-sided.
///
/// # References
///
/// R. A. Fisher, "The Design of Experiments" (1935), chapter 2.
pub fn fisher(with: usize, slow: usize, value: usize, all: usize) -> f64 {
    /// Sums are reduced before they overflow.
    const LARGE: f64 = 1e200;
    let (mut count, most) = ((slow + value).saturating_sub(all), slow.min(value));
    // Probabilities are relative to that of the lowest count.
    let (mut term, mut total, mut above) = (1.0, 0.0, 0.0);
    while count <= most {
        total += term;
        if count >= with {
            above += term;
        }
        let next = (count + 1).real() * (all + count + 1 - slow - value).real();
        term *= (slow - count).real() * (value - count).real() / next;
        count += 1;
        if total > LARGE {
            (term, total, above) = (term / LARGE, total / LARGE, above / LARGE);
        }
    }
    above / total
}

/// A fact of a host: its CPU model, the name and the value of the fact, and whether the host is slow.
type KnownFact<'n> = (&'n str, (&'n str, &'n str), bool);

/// Finds the facts that slow hosts have significantly more often than other hosts with the same CPU model; `hosts` has
/// the facts of every judged host. All values of all facts are tried that could be significant with this number of slow
/// hosts.
pub fn find<'n>(runs: &'n Runs<'_>, hosts: &mut [JudgedHost]) -> Vec<Association<'n>> {
    let facts = |host: &JudgedHost| runs.boots.facts(host.state);
    let texts = |state| runs.boots.facts(state).iter().flatten().map(|text| runs.names.name(*text));
    // The newest facts of each host are the last ones.
    sort_by(hosts, |one, other| {
        let by_time = (one.host, one.started).cmp(&(other.host, other.started));
        by_time.then_with(|| texts(one.state).cmp(texts(other.state)))
    });
    let mut known = Vec::new();
    for values in hosts.chunk_by(|one, other| one.host == other.host) {
        let facts = values.last().map_or(&[][..], facts);
        let is_slow = values.iter().any(|value| value.is_slow);
        let mut cpu = "";
        for [name, value] in facts.iter().map(|fact| fact.map(|text| runs.names.name(text))) {
            match name {
                "" => cpu = value,
                _ => known.push((cpu, (name, value), is_slow)),
            }
        }
    }
    sort_by(&mut known, Ord::cmp);
    let mut tried = Vec::new();
    for hosts in known.chunk_by(|one, other| (one.0, one.1.0) == (other.0, other.1.0)) {
        let [all, slow] = counts(hosts);
        for with in hosts.chunk_by(|one, other| one.1 == other.1) {
            let [value, slow_with] = counts(with);
            let Some((cpu, fact, _)) = with.first().copied() else { continue };
            // Values that cannot be significant do not count as tried.
            if fisher(value.min(slow), slow, value, all) <= CHANCE {
                let probability = fisher(slow_with, slow, value, all);
                tried.push(Association {
                    cpu,
                    fact,
                    counts: [slow_with, slow, value - slow_with, all - slow],
                    probability,
                });
            }
        }
    }
    sort_by(&mut tried, |one, other| {
        let by_probability = one.probability.total_cmp(&other.probability);
        by_probability.then((one.cpu, one.fact).cmp(&(other.cpu, other.fact)))
    });
    // Holm's rule.
    let (mut left, mut least, mut significant) = (tried.len(), 0.0_f64, 0);
    for association in tried.iter_mut() {
        least = least.max(association.probability * left.real());
        association.probability = least;
        left -= 1;
        significant += usize::from(least <= CHANCE);
    }
    tried.truncate(significant);
    tried
}

/// Returns the number of hosts, and the number of slow ones.
fn counts(hosts: &[KnownFact<'_>]) -> [usize; 2] {
    [hosts.len(), hosts.iter().filter(|(.., is_slow)| *is_slow).count()]
}

/// Shows the shares of slow hosts and of others.
impl fmt::Display for Association<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Association { fact: (name, value), counts: [slow, of, others, of_others], .. } = *self;
        write!(out, "{slow} of {of} slow hosts have {name} {value}, {others} of {of_others} others")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns the number of ways to choose.
    fn choose(of: u128, count: u128) -> u128 {
        if count > of { 0 } else { (0..count).fold(1, |all, place| all * (of - place) / (place + 1)) }
    }

    #[test]
    fn probabilities_match_published_ones() {
        // The examples of R's fisher.test: `TeaTasting` of Fisher (1935), and `Convictions` of Fisher (1962), 4.
        for (with, slow, value, all, known) in [(3, 4, 4, 8, 0.242_857_14), (10, 13, 12, 30, 0.000_465_181)] {
            let found = fisher(with, slow, value, all);
            assert!((found / known - 1.0).abs() < 1e-6, "{found} for {known}");
        }
        // 5 of 6 slow hosts and no other host of 94: 6 of all ways to choose the five hosts with the value.
        let found = fisher(5, 6, 5, 100);
        assert!((found * choose(100, 5) as f64 - 6.0).abs() < 1e-6, "{found}");
        assert_eq!(fisher(0, 6, 5, 100), 1.0);
    }

    proptest! {
        #[test]
        fn probabilities_are_exact_sums_of_hypergeometric_terms(
            all in 1_u128..40, slow in 0_u128..40, value in 0_u128..40, with in 0_u128..40,
        ) {
            let (slow, value) = (slow.min(all), value.min(all));
            let lowest = (slow + value).saturating_sub(all);
            let with = with.clamp(lowest, slow.min(value));
            let ways = (with..=slow.min(value)).map(|count| choose(value, count) * choose(all - value, slow - count));
            let exact = ways.sum::<u128>() as f64 / choose(all, slow) as f64;
            let found = fisher(with as usize, slow as usize, value as usize, all as usize);
            prop_assert!((found / exact - 1.0).abs() < 1e-9, "{found} for {exact}");
        }

        #[test]
        fn probabilities_of_many_hosts_are_numbers(all in 1_usize..60_000, parts in [0.0..1.0, 0.0..1.0, 0.0..1.0]) {
            let [slow, value] = [parts[0], parts[1]].map(|part: f64| (part * all as f64) as usize);
            let lowest = (slow + value).saturating_sub(all);
            let with = lowest + (parts[2] * (slow.min(value) - lowest) as f64) as usize;
            let found = fisher(with, slow, value, all);
            prop_assert!((0.0..=1.0).contains(&found), "{found}");
        }
    }
}
