//! The table of published figures in few bytes.

use super::cores::CORES;
use super::list::{contains, nth};
use super::platforms::PLATFORMS;
use super::quantity::PublishedQuantity;
use super::row::{ALL, BrandWord, Compact, PublishedRow, Usual, WORDS};
use super::stated::{NONE, Stated};

/// All rows.
const ROWS: [PublishedRow; CORES.len() + PLATFORMS.len()] = {
    let (mut rows, mut row) = ([PLATFORMS[0]; CORES.len() + PLATFORMS.len()], 0);
    while row < rows.len() {
        rows[row] = if row < CORES.len() { CORES[row] } else { PLATFORMS[row - CORES.len()] };
        row += 1;
    }
    rows
};

/// The numbers of models, figures and bytes of names.
const COUNTS: [usize; 3] = {
    let (mut counts, mut row) = ([0; 3], 0);
    while row < ROWS.len() {
        counts[0] += ROWS[row].3.len();
        counts[1] += ROWS[row].5.len();
        counts[2] += ROWS[row].0.len() + 1;
        row += 1;
    }
    counts
};

/// The models: the row, and the first and the last model of a range. The low byte tells those of one maker apart.
static MODELS: [(u8, u8, u8); COUNTS[0]] = {
    let (mut models, mut count, mut row) = ([(0, 0, 0); COUNTS[0]], 0, 0);
    while row < ROWS.len() {
        let mut index = 0;
        while index < ROWS[row].3.len() {
            let (first, last) = ROWS[row].3[index];
            models[count] = (row as u8, first as u8, last as u8);
            (count, index) = (count + 1, index + 1);
        }
        row += 1;
    }
    models
};

/// The figures of all rows: the ends and quantities; the positions in the sets, each with [`FIRST`] if the figure is the
/// first of its row; and the sets of conditions and sources, each of them once.
const PARTS: ([u32; COUNTS[1]], [u8; COUNTS[1]], [Stated; SETS_OF_ALL]) = {
    let (mut bits, mut places, mut sets) = ([0; COUNTS[1]], [0; COUNTS[1]], [NONE; SETS_OF_ALL]);
    let (mut count, mut known, mut row) = (0, 0, 0);
    while row < ROWS.len() {
        let mut index = 0;
        while index < ROWS[row].5.len() {
            let Compact(figure, stated) = ROWS[row].5[index];
            let mut set = 0;
            while set < known && sets[set].bits() != stated.bits() {
                set += 1;
            }
            if set == known {
                sets[set] = stated;
                known += 1;
            }
            bits[count] = figure;
            places[count] = set as u8 | if index == 0 { FIRST } else { 0 };
            (count, index) = (count + 1, index + 1);
        }
        row += 1;
    }
    assert!(known == SETS_OF_ALL, "the number of sets");
    (bits, places, sets)
};
const SETS_OF_ALL: usize = 39;
const FIRST: u8 = 0x80;
static FIGURES: [u32; COUNTS[1]] = PARTS.0;
static PLACES: [u8; COUNTS[1]] = PARTS.1;
static SETS: [Stated; SETS_OF_ALL] = PARTS.2;

/// The names of all rows, each with a bar behind it.
static NAMES: &str = {
    const BYTES: [u8; COUNTS[2]] = {
        let (mut bytes, mut count, mut row) = ([b'|'; COUNTS[2]], 0, 0);
        while row < ROWS.len() {
            let name = ROWS[row].0.as_bytes();
            let mut index = 0;
            while index < name.len() {
                bytes[count] = name[index];
                (count, index) = (count + 1, index + 1);
            }
            (count, row) = (count + 1, row + 1);
        }
        bytes
    };
    match str::from_utf8(&BYTES) {
        Ok(names) => names,
        Err(_) => panic!("names are text"),
    }
};

/// The family, the word and the steppings of the processors of each row.
static COMMON: [(u8, BrandWord, u8); ROWS.len()] = {
    let (mut all, mut row) = ([(0, 0, 0); ROWS.len()], 0);
    while row < ROWS.len() {
        all[row] = (ROWS[row].2, ROWS[row].1, ROWS[row].4);
        row += 1;
    }
    all
};

/// Returns whether the row at a position is of a processor with this name, family, model and stepping.
pub fn has(row: usize, brand: &[u8], (family, model, stepping): (u16, u16, u16)) -> bool {
    let is_model = |(of, first, last): &(u8, u8, u8)| {
        usize::from(*of) == row && (*first..=*last).contains(&(model as u8))
    };
    COMMON.get(row).is_some_and(|(of, word, steppings)| {
        u16::from(*of) == family
            && (u16::from(*steppings >> 4)..=u16::from(*steppings & 15)).contains(&stepping)
            && (*word == ALL || contains(brand, nth(WORDS, usize::from(*word)).as_bytes()))
    }) && MODELS.iter().any(is_model)
}

/// Calls `each` for the figures of all cores and platforms that `is_wanted` accepts, by position and name.
pub fn figures(is_wanted: &dyn Fn(usize, &str) -> bool, each: &mut dyn FnMut(&'static str, &Usual)) {
    let (mut row, mut name) = (0, None);
    for (bits, place) in FIGURES.iter().zip(&PLACES) {
        if place & FIRST != 0 {
            name = Some(nth(NAMES, row)).filter(|name| is_wanted(row, name));
            row += 1;
        }
        if let (Some(name), Some(stated)) = (name, SETS.get(usize::from(place & !FIRST))) {
            let tenths = ((bits & 0x3fff) as u16, (bits >> 14 & 0x3fff) as u16);
            each(name, &Usual { tenths, quantity: PublishedQuantity((bits >> 28) as u8), stated: *stated });
        }
    }
}
