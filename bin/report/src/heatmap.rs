//! A matrix of pairs in the terminal: numbers on a coloured background, or beside shading characters if the terminal
//! has no colours.
//!
//! This module depends on the matrix and the terminal, but not on the results.

use super::axis::Shades;
use super::chart::{Matrix, mark};
use super::figures::{Figure, width};
use super::terminal::Terminal;
use core::fmt::{self, Write};

/// The background colours from the lightest shade to the darkest, of the 256 colours: a path through the colour cube
/// from pale yellow over orange to dark red.
const BACKGROUNDS: [u8; 8] = [230, 223, 215, 208, 202, 160, 124, 88];
/// The index of the first background that is dark enough for light text.
const FIRST_DARK: usize = 5;
const BLACK: u8 = 16;
const WHITE: u8 = 231;
/// The background of a cell without a number: grey, which is different from all shades.
const GREY: u8 = 250;
const SHADES: [char; 5] = [' ', '░', '▒', '▓', '█'];
const ASCII_SHADES: [char; 5] = [' ', '.', ':', '+', '#'];

/// Draws a matrix: initiators downwards, targets to the right.
///
/// # Errors
///
/// Returns the error of `out`.
pub fn write(out: &mut dyn Write, matrix: &Matrix, terminal: Terminal) -> fmt::Result {
    terminal.heading(out, &matrix.title, &matrix.subtitle)?;
    let mut cell_width = matrix.columns.iter().fold(4, |most, column| most.max(width(column)));
    for (_, _, cell) in matrix.cells() {
        cell_width = cell_width.max(cell.map_or(0, |value| width(&Figure(value))));
    }
    let noun = matrix.noun;
    let heading_width = noun.len() + 1 + matrix.rows.iter().map(|row| width(row)).max().unwrap_or(1);
    // Each cell consists of a blank, its number, a blank and a shade.
    let arrow = if terminal.unicode { '→' } else { '>' };
    let (shades, reasons) = (Shades::of(matrix), matrix.reasons());
    let caption = format!(" {}{noun}, {}", if matrix.groups.is_some() { "" } else { "to " }, matrix.unit);
    // A matrix that is too wide is drawn in parts, each with some of the targets.
    let room = terminal.columns.saturating_sub(heading_width + 2 + caption.len());
    let fitting = (room / (cell_width + 3)).max(1);
    for (part, columns) in matrix.columns.chunks(fitting).enumerate() {
        let from = part * fitting;
        if part > 0 {
            out.write_char('\n')?;
        }
        match &matrix.groups {
            Some(_) => write!(out, "{:1$}", "", heading_width + 2)?,
            None => write!(out, "{:>heading_width$} {arrow}", "from")?,
        }
        for column in columns {
            write!(out, " {column:>cell_width$}  ")?;
        }
        writeln!(out, "{caption}")?;
        for (index, &row) in matrix.rows.iter().enumerate() {
            let left_out = matrix.left_out(index).saturating_sub(from);
            if left_out >= columns.len() {
                continue;
            }
            let id_width = heading_width - noun.len() - 1;
            write!(out, "{noun} {row:>id_width$}  ")?;
            write!(out, "{:1$}", "", left_out * (cell_width + 3))?;
            let is_here = |(place, ..): &(usize, u32, _)| (from..from + columns.len()).contains(place);
            for (_, _, cell) in matrix.row(index).filter(is_here) {
                match (cell, &shades) {
                    (Ok(value), Some(shades)) => number(out, value, shades, cell_width, terminal)?,
                    (cell, _) => {
                        let mark = cell.err().map_or('-', |reason| mark(&reasons, reason));
                        terminal.paint_on(out, GREY, BLACK, &format_args!(" {mark:>cell_width$}  "))?;
                    }
                }
            }
            out.write_char('\n')?;
        }
    }
    if let Some(shades) = &shades {
        scale(out, matrix.unit, shades, terminal)?;
    }
    for reason in &reasons {
        writeln!(out, "{} {reason}", mark(&reasons, reason))?;
    }
    Ok(())
}

fn number(
    out: &mut dyn Write,
    value: f64,
    shades: &Shades,
    cell_width: usize,
    terminal: Terminal,
) -> fmt::Result {
    let figure = Figure(value);
    if terminal.colour {
        let (background, text) = colours(shades.step(value, BACKGROUNDS.len()));
        return terminal.paint_on(out, background, text, &format_args!(" {figure:>cell_width$}  "));
    }
    let characters = characters(terminal);
    let shade = characters.get(shades.step(value, characters.len())).copied().unwrap_or(' ');
    write!(out, " {figure:>cell_width$} {shade}")
}

/// Writes the scale that explains the shades.
fn scale(out: &mut dyn Write, unit: &str, shades: &Shades, terminal: Terminal) -> fmt::Result {
    let (low, high) = shades.ends();
    write!(out, "{} {unit} ", Figure(low))?;
    if terminal.colour {
        for step in 0..BACKGROUNDS.len() {
            let (background, text) = colours(step);
            terminal.paint_on(out, background, text, &"  ")?;
        }
    } else {
        out.write_char('[')?;
        for shade in characters(terminal) {
            out.write_char(shade)?;
        }
        out.write_char(']')?;
    }
    writeln!(out, " {} {unit}", Figure(high))
}

fn characters(terminal: Terminal) -> [char; 5] {
    if terminal.unicode { SHADES } else { ASCII_SHADES }
}

/// Returns the background and text colours of a shade.
fn colours(step: usize) -> (u8, u8) {
    let background = BACKGROUNDS.get(step).copied().unwrap_or(GREY);
    (background, if step < FIRST_DARK { BLACK } else { WHITE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::charts_tests as charts;
    use std::string::String;

    fn drawn(matrix: &Matrix, unicode: bool, colour: bool) -> String {
        let mut text = String::new();
        write(&mut text, matrix, Terminal { columns: 80, unicode, colour, audience: crate::Audience::Pipe })
            .unwrap();
        text
    }

    #[test]
    fn a_matrix_looks_as_it_did() {
        charts::matrix(|matrix| {
            charts::golden("matrix.txt", &drawn(matrix, true, false));
            charts::golden("matrix-ascii.txt", &drawn(matrix, false, false));
            charts::golden("matrix-colour.txt", &drawn(matrix, true, true));
        });
        charts::triangle(|matrix| charts::golden("triangle.txt", &drawn(matrix, true, false)));
    }

    #[test]
    fn a_wide_matrix_is_drawn_in_parts_that_fit() {
        let text = drawn(&charts::of_nodes(24, &|from, to| Ok(f64::from(100 + from + to))), true, false);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert_eq!(text.lines().filter(|line| line.starts_with("node 23 ")).count(), 3, "{text}");
        assert_eq!(text.matches(" 146 █").count(), 1, "{text}");
    }

    #[test]
    fn a_matrix_without_numbers_shows_the_reason() {
        let matrix = charts::of_nodes(2, &|_, _| Err("not measurable here: mbind EPERM"));
        assert!(drawn(&matrix, true, false).ends_with("-  \n- not measurable here: mbind EPERM\n"));
    }
}
