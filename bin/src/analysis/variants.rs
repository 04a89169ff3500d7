//! The cost of the data structure at each level: the nine variants side by side.

use latency_core::kernel::VARIANTS;

use super::lanes::NEARLY_MEMORY;
use latency_core::{Estimate, Side, best};
use latency_engine::result::{Measurement, Outcome};

/// The points of a run: a row for each variant, a column for each working set.
#[derive(Clone, Copy, Debug)]
pub struct VariantGrid<'o> {
    outcomes: &'o [Outcome],
    /// The number of working sets.
    pub columns: usize,
}

impl<'o> VariantGrid<'o> {
    /// Returns the points in the order of the plan: by variant, and then by working set.
    pub const fn of(outcomes: &'o [Outcome]) -> VariantGrid<'o> {
        VariantGrid { outcomes, columns: outcomes.len() / VARIANTS.len() }
    }

    /// Returns the point at a row and a column.
    pub fn at(&self, row: usize, column: usize) -> Option<&'o Outcome> {
        self.outcomes.get(row * self.columns + column).filter(|_| column < self.columns)
    }

    /// Returns the point of the variant with this name in a column.
    fn named(&self, name: &str, column: usize) -> Option<&'o Outcome> {
        self.at(VARIANTS.iter().position(|variant| variant.name == name)?, column)
    }

    /// Returns the first and the last column.
    pub const fn ends(&self) -> [usize; 2] {
        [0, self.columns.saturating_sub(1)]
    }

    /// Returns whether a working set other than the largest takes nearly as long as the largest, so that no cache
    /// serves it.
    pub fn is_like_memory(&self, column: usize) -> bool {
        let [_, last] = self.ends();
        let of = |column| self.named("pointer-padded", column).and_then(Outcome::nanoseconds);
        let (Some(this), Some(memory)) = (of(column), of(last)) else { return false };
        column < last && this >= NEARLY_MEMORY * memory
    }

    /// Returns the row with the smallest latency in a column, and that latency.
    pub fn fastest(&self, column: usize) -> Option<(usize, f64)> {
        let rows = (0..VARIANTS.len()).filter_map(|row| Some((row, self.at(row, column)?.nanoseconds()?)));
        best(rows, |one, other| one.1.total_cmp(&other.1).is_lt())
    }
}

/// The conclusions from all variants.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VariantsConclusion {
    /// The time of a pointer in base pages and in huge pages; `None` without huge pages.
    pub pages: Option<(Estimate, Estimate)>,
    /// Core cycles that a pointer saves compared with an index of eight bytes.
    pub pointer_saves: Option<CycleDifference>,
    /// Core cycles that a bounds check costs.
    pub check_costs: Option<CycleDifference>,
}

/// The core cycles by which one variant is slower than another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CycleDifference {
    /// The difference of the medians.
    pub cycles: f64,
    /// The ratio of the two variants relative to 1.
    pub side: Side,
}

/// Factor within which times are alike: a quarter of a cycle of an L1 hit, where a loop takes a whole number of cycles.
const ALIKE: f64 = 1.05;

impl VariantsConclusion {
    /// Returns the ratio of the time of a load in base pages to that in huge pages.
    pub fn small_over_huge(&self) -> Option<Estimate> {
        let (small, huge) = self.pages?;
        small.over(huge)
    }
}

/// Draws the conclusions from the points of two columns: about core cycles from the first, about pages from the last.
pub fn conclude(grid: &VariantGrid<'_>, [first, last]: [usize; 2]) -> VariantsConclusion {
    let huge = grid.named("pointer-padded-2m", last).filter(|outcome| {
        let pages = |measured: &Measurement| measured.placed.pages;
        outcome.result.as_ref().is_ok_and(|measured| !pages(measured).are_base())
    });
    let small = grid.named("pointer-padded", last).and_then(Outcome::estimate);
    let cycles = |name: &str| {
        let measured = grid.named(name, first)?.result.as_ref().ok()?;
        measured.series.core_cycles.map(Estimate::from)
    };
    let difference = |one: &str, other: &str| {
        let (one, other) = (cycles(one)?, cycles(other)?);
        Some(CycleDifference { cycles: one.value - other.value, side: one.over(other)?.side(ALIKE) })
    };
    VariantsConclusion {
        pages: small.zip(huge.and_then(Outcome::estimate)),
        pointer_saves: difference("index8-padded", "pointer-padded"),
        check_costs: difference("index8-checked", "index8-packed"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_that_are_compared_are_variants() {
        for name in
            ["pointer-padded", "pointer-padded-2m", "index8-padded", "index8-checked", "index8-packed"]
        {
            assert!(VARIANTS.iter().any(|variant| variant.name == name), "{name}");
        }
    }

    #[test]
    fn four_kibibyte_pages_are_compared_with_huge_ones() {
        let found =
            VariantsConclusion { pages: Some((180.0.into(), 120.0.into())), ..VariantsConclusion::default() };
        assert_eq!(found.small_over_huge().map(|ratio| ratio.value), Some(1.5));
        assert_eq!(VariantsConclusion::default().small_over_huge(), None);
    }

    #[test]
    fn without_measurements_there_are_no_conclusions() {
        let grid = VariantGrid::of(&[]);
        assert_eq!((conclude(&grid, [0, 0]), grid.fastest(0)), (VariantsConclusion::default(), None));
    }
}
