//! A set of options as bits. The names of the bits are those in the table of options.

/// A set of options.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlagSet(pub(super) u128);

impl FlagSet {
    /// The empty set.
    pub const EMPTY: FlagSet = FlagSet(0);

    /// The set of all options.
    pub const ALL: FlagSet = FlagSet(u128::MAX);

    /// Returns the options that are in either set.
    pub const fn union(self, other: FlagSet) -> FlagSet {
        FlagSet(self.0 | other.0)
    }

    /// Returns the options that are in both sets.
    pub const fn intersection(self, other: FlagSet) -> FlagSet {
        FlagSet(self.0 & other.0)
    }
}
