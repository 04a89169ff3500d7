//! One line of a plot before it is written: dots, characters and their colours.
//!
//! This module depends on characters, but not on the data.

use crate::report::terminal::Terminal;
use alloc::vec::Vec;
use core::fmt::{self, Display, Write};

/// The code of the braille character without dots. The lowest eight bits of a code are its dots.
const BRAILLE: u32 = 0x2800;
/// The bit of each dot, by line and column within the character (Unicode 15, chapter 21.1).
const DOTS: [[u8; 2]; 4] = [[0x01, 0x08], [0x02, 0x10], [0x04, 0x20], [0x40, 0x80]];

#[derive(Clone, Copy, Default)]
struct CharacterCell {
    dots: u8,
    glyph: Option<char>,
    colour: Option<u8>,
}

impl CharacterCell {
    fn is_empty(&self) -> bool {
        self.dots == 0 && self.glyph.is_none()
    }

    fn character(&self) -> char {
        match (self.glyph, self.dots) {
            (Some(glyph), _) => glyph,
            (None, 0) => ' ',
            (None, dots) => char::from_u32(BRAILLE + u32::from(dots)).unwrap_or(' '),
        }
    }
}

/// The characters of one line.
pub struct PlotRow(Vec<CharacterCell>);

impl PlotRow {
    /// Makes a blank line.
    pub fn new(columns: usize) -> Self {
        Self(vec![CharacterCell::default(); columns])
    }

    /// Sets a braille dot; it replaces any other character.
    pub fn dot(&mut self, column: usize, dot_line: usize, dot_column: usize, colour: u8) {
        let bit = DOTS.get(dot_line).and_then(|line| line.get(dot_column)).copied().unwrap_or(0);
        if let Some(cell) = self.0.get_mut(column) {
            *cell = CharacterCell { dots: cell.dots | bit, glyph: None, colour: Some(colour) };
        }
    }

    /// Sets a character.
    pub fn glyph(&mut self, column: usize, glyph: char, colour: Option<u8>) {
        if let Some(cell) = self.0.get_mut(column) {
            *cell = CharacterCell { dots: cell.dots, glyph: Some(glyph), colour };
        }
    }

    /// Sets a character if the place is empty.
    pub fn glyph_behind(&mut self, column: usize, glyph: char, colour: Option<u8>) {
        if self.0.get(column).is_some_and(CharacterCell::is_empty) {
            self.glyph(column, glyph, colour);
        }
    }

    /// Writes a value over the present characters, as far as it fits.
    pub fn shown(&mut self, start: usize, value: &dyn Display) {
        for (column, character) in (start..).zip(format!("{value}").chars()) {
            self.glyph(column, character, None);
        }
    }

    /// Writes the line without blanks at its end, one escape sequence per change of colour.
    pub fn write(&self, out: &mut dyn Write, terminal: Terminal) -> fmt::Result {
        let length = self.0.iter().rposition(|cell| !cell.is_empty()).map_or(0, |last| last + 1);
        let mut current = None;
        for cell in self.0.iter().take(length) {
            // A blank has no colour of its own.
            let wanted = if cell.is_empty() { current } else { cell.colour };
            if terminal.colour && wanted != current {
                match wanted {
                    Some(colour) => write!(out, "\x1b[38;5;{colour}m")?,
                    None => out.write_str("\x1b[0m")?,
                }
                current = wanted;
            }
            out.write_char(cell.character())?;
        }
        out.write_str(if current.is_some() { "\x1b[0m\n" } else { "\n" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;

    fn written(row: &PlotRow, colour: bool) -> String {
        let mut text = String::new();
        row.write(&mut text, Terminal { columns: 80, unicode: true, colour, screen: false }).unwrap();
        text
    }

    #[test]
    fn dots_join_into_one_character() {
        let mut row = PlotRow::new(8);
        for line in 0..4 {
            row.dot(1, line, 0, 32);
            row.dot(1, line, 1, 32);
            row.dot(2, line, line % 2, 32);
        }
        assert_eq!(written(&row, false), " ⣿⢕\n");
        assert_eq!(written(&row, true), " \x1b[38;5;32m⣿⢕\x1b[0m\n");
    }

    #[test]
    fn characters_in_front_stay_and_characters_beyond_the_end_are_cut() {
        let mut row = PlotRow::new(6);
        row.glyph_behind(0, '┊', Some(245));
        row.dot(0, 0, 0, 32);
        row.glyph_behind(0, '┊', Some(245));
        row.shown(2, &"12 KiB");
        row.dot(9, 0, 0, 32);
        assert_eq!(written(&row, false), "⠁ 12 K\n");
        assert_eq!(written(&row, true), "\x1b[38;5;32m⠁ \x1b[0m12 K\n");
    }
}
