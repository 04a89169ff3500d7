//! Text as man(7) source: escaped, in short lines. It does not depend on the meaning of the text.

use std::fmt::Write;

/// Maximum length of a line of source. mandoc accepts up to 80 bytes without a warning.
const WIDTH: usize = 76;

/// Source that grows macro by macro.
#[derive(Default)]
pub struct Source(pub String);

impl Source {
    /// Adds a section.
    pub fn section(&mut self, heading: &str) {
        _ = writeln!(self.0, ".SH {heading}");
    }

    /// Adds a subsection.
    pub fn subsection(&mut self, heading: &str) {
        _ = writeln!(self.0, ".SS \"{}\"", escaped(heading));
    }

    /// Begins a paragraph.
    pub fn paragraph(&mut self) {
        self.0.push_str(".PP\n");
    }

    /// Begins an indented paragraph below a bold head; `more` follows in the ordinary face.
    pub fn tagged(&mut self, head: &str, more: &str) {
        _ = writeln!(self.0, ".TP\n\\fB{}\\fR{}", escaped(head), escaped(more));
    }

    /// Begins an item of a list.
    pub fn item(&mut self) {
        self.0.push_str(".IP \\(bu 2\n");
    }

    /// Continues an indented paragraph on a new line.
    pub fn line_break(&mut self) {
        self.0.push_str(".br\n");
    }

    /// Adds text; words between backticks or double asterisks are bold.
    pub fn text(&mut self, text: &str) {
        let mut used = 0;
        let mut bold = false;
        for word in text.split_ascii_whitespace() {
            let mut shown = String::new();
            for (index, part) in word.replace("**", "`").split('`').enumerate() {
                if index > 0 {
                    bold = !bold;
                    shown.push_str(if bold { "\\fB" } else { "\\fR" });
                }
                shown.push_str(&escaped(part));
            }
            if used > 0 && used + 1 + shown.len() > WIDTH {
                self.0.push('\n');
                used = 0;
            }
            if used > 0 {
                self.0.push(' ');
                used += 1;
            } else if shown.starts_with(['.', '\'']) {
                // A control character at the start of a line begins a macro.
                self.0.push_str("\\&");
            }
            self.0.push_str(&shown);
            used += shown.len();
        }
        self.0.push('\n');
    }
}

/// Returns a text without anything that roff would interpret or replace by a typographic sign.
pub fn escaped(text: &str) -> String {
    let mut out = String::new();
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\e"),
            '-' => out.push_str("\\-"),
            '\'' => out.push_str("\\(aq"),
            '"' => out.push_str("\\(dq"),
            '`' => out.push_str("\\(ga"),
            '^' => out.push_str("\\(ha"),
            '~' => out.push_str("\\(ti"),
            ' '..='~' => out.push(letter),
            other => _ = write!(out, "\\[u{:04X}]", u32::from(other)),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_never_a_macro() {
        let mut source = Source::default();
        source.text(".SH 'x' -1 \\n `--a b` **c**\u{2026}");
        assert_eq!(source.0, "\\&.SH \\(aqx\\(aq \\-1 \\en \\fB\\-\\-a b\\fR \\fBc\\fR\\[u2026]\n");
    }

    #[test]
    fn lines_are_short() {
        let mut source = Source::default();
        source.text(&"word ".repeat(100));
        assert!(source.0.lines().all(|line| line.len() <= WIDTH), "{}", source.0);
    }
}
