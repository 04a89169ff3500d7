//! Places labels on shelves so that they do not overlap.
//!
//! Labels of neighbouring marks may be wider than the distance between them. Each label goes onto the first line with
//! room. Widths may be columns or pixels.

/// Lines of labels, filled from left to right.
#[derive(Clone, Debug)]
pub struct Shelves<const LINES: usize> {
    /// The place from which on each line is free.
    free: [f64; LINES],
    /// The right end of all lines.
    right: f64,
    gap: f64,
}

/// The place of a label.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LabelPlace {
    /// The line, from 0.
    pub line: usize,
    /// The left end of the label.
    pub start: f64,
}

impl<const LINES: usize> Shelves<LINES> {
    /// Makes empty lines from 0 to `right`, which keep at least `gap` between two labels.
    pub const fn new(right: f64, gap: f64) -> Self {
        Self { free: [0.0; LINES], right, gap }
    }

    /// Places a label that begins at `x`, or further left if it would cross the right end; `None` if no line has room.
    /// Labels must come by ascending `x`.
    pub fn place(&mut self, x: f64, width: f64) -> Option<LabelPlace> {
        let start = x.min(self.right - width).max(0.0);
        let (line, free) = self.free.iter_mut().enumerate().find(|(_, free)| **free <= start)?;
        *free = start + width + self.gap;
        Some(LabelPlace { line, start })
    }

    /// Returns the number of lines in use.
    pub fn lines(&self) -> usize {
        self.free.iter().filter(|&&free| free > 0.0).count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_do_not_overlap() {
        let mut shelves = Shelves::<2>::new(40.0, 1.0);
        assert_eq!(shelves.lines(), 0);
        assert_eq!(shelves.place(2.0, 10.0), Some(LabelPlace { line: 0, start: 2.0 }));
        assert_eq!(shelves.place(8.0, 10.0), Some(LabelPlace { line: 1, start: 8.0 }));
        assert_eq!(shelves.place(10.0, 10.0), None);
        assert_eq!(shelves.place(13.0, 10.0), Some(LabelPlace { line: 0, start: 13.0 }));
        assert_eq!(shelves.place(38.0, 10.0), Some(LabelPlace { line: 0, start: 30.0 }));
        assert_eq!(shelves.lines(), 2);
    }

    #[test]
    fn a_label_wider_than_the_line_starts_at_its_left() {
        let mut shelves = Shelves::<1>::new(40.0, 1.0);
        assert_eq!(shelves.place(20.0, 100.0), Some(LabelPlace { line: 0, start: 0.0 }));
    }
}
