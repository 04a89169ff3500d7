//! The choice of pairs of CPUs: all of them, or a few of each class.
//!
//! The choice is a pure function of the CPUs, of the nearest resource that each pair shares, and of
//! a seed. The caller supplies the function that finds the shared resource.

use crate::cpulist::CpuSet;
use crate::rng::Pcg32;
use crate::sort::sort_by_key;
use crate::topology::Shared;
use crate::units::CpuId;
use crate::worded;

/// Maximum number of CPUs for which all pairs are measured by default: 2016 pairs of 3 ms each.
const ALL_UP_TO: usize = 64;

/// Two CPUs, the smaller number first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The CPU with the smaller number.
    pub a: CpuId,
    /// The CPU with the larger number.
    pub b: CpuId,
    /// The nearest resource that both CPUs share.
    pub class: Shared,
}

worded! {
    /// The rule by which pairs are chosen.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub enum Choice {
        /// All pairs of up to 64 CPUs; [`Choice::Classes`] for more.
        #[default]
        Auto = "auto",
        /// All pairs.
        All = "all",
        /// A few pairs of each class, at random.
        Classes = "classes",
    }
}

impl Choice {
    /// Maximum number of pairs of one class if not all pairs are chosen.
    pub const MOST_OF_CLASS: usize = 8;

    /// Returns the largest number of pairs that may be chosen of `cpus` CPUs.
    pub const fn most(self, cpus: usize) -> usize {
        let all = cpus * cpus.saturating_sub(1) / 2;
        let few = Shared::ALL.len() * Self::MOST_OF_CLASS;
        if self.takes_all(cpus) || all < few { all } else { few }
    }

    const fn takes_all(self, cpus: usize) -> bool {
        match self {
            Choice::Auto => cpus <= ALL_UP_TO,
            Choice::All => true,
            Choice::Classes => false,
        }
    }

    /// Writes the chosen pairs of `cpus` to `pairs`, and returns them: in the order of CPU numbers if all are chosen,
    /// otherwise in the order of classes.
    ///
    /// The same arguments give the same pairs on every machine. Pairs beyond the end of `pairs` are left out:
    /// [`most`](Self::most) returns the size that suffices.
    ///
    /// # References
    ///
    /// J. S. Vitter, "Random Sampling with a Reservoir", ACM Transactions on Mathematical Software 11(1), 1985,
    /// algorithm R: each pair of a class is equally likely, although their number is not known in advance.
    pub fn choose<'p>(
        self,
        cpus: &CpuSet,
        class_of: &dyn Fn(CpuId, CpuId) -> Shared,
        seed: u64,
        pairs: &'p mut [Pair],
    ) -> &'p mut [Pair] {
        let few = !self.takes_all(cpus.len());
        let mut rng = Pcg32::new(seed, 0x7061_6972);
        let mut met = [0u32; Shared::ALL.len()];
        let mut count = 0;
        for a in cpus {
            for b in cpus.iter().skip_while(|&b| b <= a) {
                let (a, b) = (CpuId(a), CpuId(b));
                let class = class_of(a, b);
                let pair = Pair { a, b, class };
                let before = met.get_mut(class as usize).map_or(0, |met| {
                    *met += 1;
                    *met - 1
                });
                let mut place = count;
                if few && before as usize >= Self::MOST_OF_CLASS {
                    // The new pair replaces a random pair of its class, or is dropped.
                    let taken = rng.below(before + 1) as usize;
                    let mut others =
                        pairs.iter().take(count).enumerate().filter(|(_, other)| other.class == class);
                    match others.nth(taken) {
                        Some((other, _)) => place = other,
                        None => continue,
                    }
                }
                if let Some(slot) = pairs.get_mut(place) {
                    *slot = pair;
                    count = count.max(place + 1);
                }
            }
        }
        let chosen = pairs.get_mut(..count).unwrap_or_default();
        if few {
            sort_by_key(chosen, |pair| (pair.class, pair.a.0, pair.b.0));
        }
        chosen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec;
    use std::vec::Vec;

    const NONE: Pair = Pair { a: CpuId(0), b: CpuId(0), class: Shared::Core };

    /// Returns the class of a pair on a machine with two threads per core, two cores per L2, eight per L3, sixteen
    /// per node, and two nodes per socket.
    fn class_of(a: CpuId, b: CpuId) -> Shared {
        let shared = [2, 4, 16, 32, 64].iter().position(|size| a.0 / size == b.0 / size);
        shared.map_or(Shared::Machine, |place| Shared::ALL[place])
    }

    fn choose(choice: Choice, cpus: u32, seed: u64) -> Vec<Pair> {
        let cpus: CpuSet = (0..cpus).collect();
        let mut pairs = vec![NONE; choice.most(cpus.len())];
        choice.choose(&cpus, &class_of, seed, &mut pairs).to_vec()
    }

    #[test]
    fn few_cpus_have_all_pairs_once() {
        for cpus in [0, 1, 2, 3, 16, 64] {
            let pairs = choose(Choice::Auto, cpus, 1);
            assert_eq!(pairs.len() as u32, cpus * cpus.saturating_sub(1) / 2);
            assert!(pairs.iter().all(|pair| pair.a.0 < pair.b.0 && pair.class == class_of(pair.a, pair.b)));
            assert!(pairs.is_sorted_by(|x, y| (x.a.0, x.b.0) < (y.a.0, y.b.0)));
        }
    }

    #[test]
    fn many_cpus_have_eight_pairs_of_each_class() {
        let pairs = choose(Choice::Auto, 128, 1);
        for class in Shared::ALL {
            assert_eq!(pairs.iter().filter(|pair| pair.class == class).count(), Choice::MOST_OF_CLASS);
        }
        assert_eq!(choose(Choice::All, 128, 1).len(), 128 * 127 / 2);
        // Four CPUs have only two pairs of threads of one core.
        assert_eq!(choose(Choice::Classes, 4, 1).iter().filter(|pair| pair.class == Shared::Core).count(), 2);
    }

    #[test]
    fn the_seed_decides_and_reaches_all() {
        assert_eq!(choose(Choice::Classes, 128, 5), choose(Choice::Classes, 128, 5));
        assert_ne!(choose(Choice::Classes, 128, 5), choose(Choice::Classes, 128, 6));
        // 8 of 16 pairs of threads are chosen, so each is expected 500 of 1000 times, with a standard deviation of 16.
        let mut chosen = [0; 16];
        for seed in 0..1000 {
            let pairs = choose(Choice::Classes, 32, seed);
            for pair in pairs.iter().filter(|pair| pair.class == Shared::Core) {
                chosen[pair.a.0 as usize / 2] += 1;
            }
        }
        assert!(chosen.iter().all(|count| (400..600).contains(count)), "{chosen:?}");
    }

    #[test]
    fn classes_are_in_the_order_of_the_table() {
        assert!(Shared::ALL.is_sorted());
        assert!(Shared::ALL.iter().enumerate().all(|(place, class)| *class as usize == place));
    }

    proptest! {
        #[test]
        fn pairs_belong_to_the_set_and_differ(
            cpus in prop::collection::btree_set(0u32..300, 0..90), seed: u64, room in 0usize..100, choice in 0usize..3,
        ) {
            let set: CpuSet = cpus.iter().copied().collect();
            let choice = [Choice::Auto, Choice::All, Choice::Classes][choice];
            let mut pairs = vec![NONE; room];
            let chosen = choice.choose(&set, &class_of, seed, &mut pairs);
            prop_assert!(chosen.len() <= choice.most(cpus.len()));
            for (place, pair) in chosen.iter().enumerate() {
                prop_assert!(pair.a.0 < pair.b.0 && set.contains(pair.a.0) && set.contains(pair.b.0));
                prop_assert!(!chosen[..place].contains(pair));
            }
        }
    }
}
