//! The data that `compare` shows about the two sides, and the conditions that differ between them. A reader must know
//! these conditions before any verdict.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use latency_core::Text;
use latency_core::math::exp;

use crate::analysis::comparison::significance::HALF;
use crate::analysis::comparison::{CURVE, Comparison, DifferingPart, PointPair, median};
use crate::error::{Regression, Typed};
use crate::options::Options;
use crate::record::columns::{CORE_GHZ, ColumnSet, PAGES_ASKED, PAGES_OBTAINED, SEED, WORKING_SET};
use crate::record::label::shown as shown_value;
use crate::record::row::Row;
use crate::saved::alike::{self, IDENTITY, PAGES, TABLE, TEXTS, VERIFIED, WHOLE, of_result};
use crate::saved::conditions::CONDITIONS;
use crate::saved::{self, Saved};
use latency_report::document::{fields, members};
use latency_report::lists::joined;
use latency_report::{Part, Role, Shown};

/// The detectable difference above which a comparison is useless, because it would miss differences that matter.
const BLIND: f64 = 0.2;

/// The data that `compare` shows about the two sides.
pub struct ComparisonView<'v> {
    /// The results of both sides.
    pub sides: [&'v [Saved]; 2],
    /// The paths of both sides.
    pub paths: [&'v [&'v [u8]]; 2],
    /// The experiment of both sides; empty if it is unknown.
    pub experiment: &'v str,
    /// The comparison.
    pub comparison: &'v Comparison<'v>,
    /// The conditions that differ.
    pub differs: &'v [Differs],
    /// True if there is a verdict: the conditions are alike, or the user forces one.
    pub judged: bool,
    /// The median of the ratios B/A.
    pub median: f64,
    /// The options.
    pub options: &'v Options,
    /// Number of points of each side that are left out because they lack the requested value.
    pub without: [usize; 2],
    /// True if memory without address translation is compared.
    pub of_memory: bool,
    /// For each side, true if a point tells memory and address translation apart.
    pub parts_of: [bool; 2],
    /// The outcome, if B is slower.
    pub regression: Option<Regression>,
    /// The parts that are slower and faster.
    pub parts: [Vec<DifferingPart<'v>>; 2],
    /// The fields that identify a point for readers.
    pub naming: ColumnSet,
}

impl ComparisonView<'_> {
    /// Returns whether nothing is slower, and differences that matter would be missed.
    pub fn is_blind(&self) -> bool {
        self.regression.is_none() && self.shows_from().is_none_or(|from| from >= BLIND)
    }

    /// Returns the smallest relative difference of the whole that would be significant; `None` if it is above tenfold.
    pub fn shows_from(&self) -> Option<f64> {
        const LARGEST: f64 = 10.0;
        let least = HALF * self.comparison.whole.error;
        Some((exp(least) - 1.0).max(self.options.threshold)).filter(|from| *from < LARGEST)
    }

    /// Returns whether both sides are curves.
    pub fn is_curve(&self) -> bool {
        let pairs = self.comparison.pairs();
        let larger = |two: &&[PointPair]| matches!(two, [one, other] if one.row.size() < other.row.size());
        pairs.windows(2).filter(larger).count() + 1 >= CURVE
    }
}

/// Returns the name of the first file of a side.
pub fn first_name(paths: &[&[u8]]) -> Text<256> {
    saved::shown(paths.first().copied().unwrap_or_default())
}

fields! {
    DIFFERS "differs" "Conditions that differ between A and B.";
}

/// The relative difference up to which core clocks count as the same.
const CLOCK: f64 = 0.02;

/// The name of the trust among the conditions.
pub const TRUST: &str = "trust";

/// A condition that differs between the sides.
#[derive(Clone, Copy)]
pub struct Differs {
    /// Its name for programs.
    pub what: &'static str,
    /// Its name for people.
    pub words: &'static str,
    /// Its values on both sides.
    pub sides: [Text<128>; 2],
    /// True if it forbids a verdict.
    pub blocks: bool,
}

/// Adds a condition with its values on both sides. Text that does not fit is left out.
fn add(
    list: &mut Vec<Differs>,
    key: (&'static str, &'static str),
    blocks: bool,
    sides: [&dyn fmt::Display; 2],
) {
    let sides = sides.map(|side| Text::of(format_args!("{side}")));
    list.push(Differs { what: key.0, words: key.1, sides, blocks });
}

/// Returns all conditions that differ; those that forbid a verdict come first.
pub fn differing(sides: [&[Saved]; 2], comparison: &Comparison<'_>) -> Vec<Differs> {
    let mut list = Vec::new();
    let [first, second] = sides;
    let saved = || first.iter().chain(second);
    of_table(&mut list, sides, comparison);
    for &(field, rows) in &comparison.conditions {
        if TABLE.iter().any(|entry| entry.field == Some(field)) {
            continue;
        }
        // The requested pages matter only if the obtained ones are unknown.
        let told = rows.iter().all(|row| row.tells(PAGES_OBTAINED));
        let blocks = field != PAGES_ASKED || !told;
        let key = (field.name(), field.words());
        add(&mut list, key, blocks, [&shown_value(rows[0], field), &shown_value(rows[1], field)]);
    }
    if saved().any(|saved| saved.conditions.poor) {
        add(&mut list, (TRUST, TRUST), true, [&trust(first), &trust(second)]);
    }
    for (index, key) in CONDITIONS.iter().enumerate() {
        let is_told = saved().all(|saved| saved.conditions.tells(index));
        if is_told && saved().any(|saved| text(saved, index) != text(&first[0], index)) {
            let [one, other] = sides.map(|side| {
                let own = text(&side[0], index);
                let differ = side.iter().any(|saved| text(saved, index) != own);
                let others = if differ { " and other values" } else { "" };
                format!("{}{others}", if own.is_empty() { "none" } else { own })
            });
            add(&mut list, *key, false, [&one, &other]);
        }
    }
    // The core clock and the seed, which are fields of rows.
    let rows = sides.map(|side| side[0].rows);
    let clock = |rows: &[Row]| median(&mut rows.iter().filter_map(Row::core_gigahertz));
    if let (Some(one), Some(other)) = (clock(rows[0]), clock(rows[1]))
        && (one - other).abs() > CLOCK * one
    {
        let [one, other] = [one, other].map(|clock| format!("{clock:.2} GHz"));
        add(&mut list, (CORE_GHZ.name(), "core clock"), false, [&one, &other]);
    }
    let seed = |rows: &[Row]| rows.iter().find_map(|row| row.count(SEED));
    if let (Some(one), Some(other)) = (seed(rows[0]), seed(rows[1]))
        && one != other
    {
        add(&mut list, (SEED.name(), "seed"), false, [&one, &other]);
    }
    list
}

/// Adds the conditions under which hosts are compared as well.
fn of_table(list: &mut Vec<Differs>, [first, second]: [&[Saved]; 2], comparison: &Comparison<'_>) {
    for (condition, entry) in TABLE.iter().enumerate() {
        let rows = comparison.conditions.iter().find(|(field, _)| Some(*field) == entry.field);
        let rows = rows.map(|(_, rows)| *rows);
        let of_side = |side: &[Saved]| {
            let told = || side.iter().map(|saved| of_result(saved, condition)).filter(|value| *value > 0);
            // If any run of a side is partial, the whole side is.
            if condition == WHOLE { told().min() } else { told().next() }.unwrap_or(0)
        };
        let [one, other] = match (condition, &comparison.pages, comparison.proof) {
            (PAGES, Some([one, other]), _) => [alike::pages(one), alike::pages(other)],
            (VERIFIED, _, Some(proof)) => proof.map(alike::yes),
            _ => rows.map_or([of_side(first), of_side(second)], |rows| {
                rows.map(|row| alike::of_row(row, condition))
            }),
        };
        let interrupted = condition == WHOLE && one.min(other) == alike::NO;
        // Every file of a side counts for the conditions of results.
        if one == 0 || other == 0 || TEXTS.contains(&condition) || (one == other && !interrupted) {
            continue;
        }
        let blocks = interrupted || !IDENTITY.contains(&condition) && !alike::alike(condition, one, other);
        match rows.zip(entry.field) {
            Some(([one, other], field)) => {
                add(list, entry.key, blocks, [&shown_value(one, field), &shown_value(other, field)]);
            }
            None => {
                let [one, other] = [one, other].map(|value| alike::shown(condition, value, false));
                add(list, entry.key, blocks, [&one, &other]);
            }
        }
    }
}

/// Returns a condition of a file.
fn text(saved: &Saved, index: usize) -> &str {
    saved.conditions.texts[index].as_str()
}

/// Returns the words of the trust in a side: in its first file with poor data, if there is one.
fn trust(side: &[Saved]) -> String {
    let Some(saved) = side.iter().find(|saved| saved.conditions.poor) else { return "not poor".into() };
    let evidence = || saved.origin.trust.evidence();
    let end = if evidence().next().is_some() { ")" } else { "" };
    format!("poor{}{end}", joined(" (", ", ", evidence()))
}

/// States the conditions that differ, before any conclusion. With `judged` there is a verdict.
pub fn answer(document: &mut Shown, comparison: &Comparison<'_>, differs: &[Differs], judged: bool) {
    let blocked = if judged { "Not comparable (overridden by --force)" } else { "Not comparable" };
    for (blocks, role, begin) in [(true, Role::Answer, blocked), (false, Role::Finding, "Differs")] {
        let differs = differs.iter().filter(|differs| differs.blocks == blocks);
        let shown = |Differs { words, sides: [one, other], .. }: &Differs| match one == other {
            true => format!("{words} {one} on both sides"),
            false => format!("{words} {one} -> {other}"),
        };
        // Without a verdict, the answer has the trust if nothing else forbids one.
        let is_answer = blocks && !judged && differs.clone().all(|differs| differs.what == TRUST);
        if !is_answer && differs.clone().next().is_some() {
            let all = joined("", "; ", differs.map(shown));
            document.sentence(role, format_args!("{begin}: {all}."));
        }
    }
    // The option that measures B over the working set of A, if both have one and the sizes forbid a verdict. The size of
    // traffic is the memory of all generators together.
    let is_blocked = differs.iter().any(|differs| differs.blocks && differs.what == WORKING_SET.name());
    let size = comparison.conditions.iter().find(|(field, _)| is_blocked && *field == WORKING_SET);
    if let Some((_, [row, _])) = size.filter(|(_, [row, _])| row.traffic().is_none()) {
        let size = Typed(row.size());
        document.finding(format_args!(
            "Default working sets may have changed; to compare with A, measure B with --size={size}."
        ));
    }
}

/// Describes the conditions that differ, for programs.
pub fn differing_for_programs(document: &mut Shown, differs: &[Differs]) {
    document.items(
        Part::List(&DIFFERS),
        differs,
        |document, Differs { what, sides: [one, other], blocks, .. }| {
            members! { document;
                "what": *what => "Name of the condition.";
                "a_value": one.as_str() => "Condition in A; of its first file if its files differ.";
                "b_value": other.as_str() => "Condition in B; of its first file if its files differ.";
                "blocks": *blocks => "True if the condition prevents a verdict without --force.";
            }
        },
    );
}
