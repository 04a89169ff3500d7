//! Markdown: the sentences as paragraphs and the tables as tables, for reports and tickets.

use core::fmt::{self, Write};

use super::document::{Document, DocumentTable, Level, PageRole, Role, Style};
use super::escape::{Escaping, markdown};
use super::format::{Format, Purpose};

/// GitHub's Markdown.
pub const MARKDOWN: Format = Format {
    name: "md",
    extension: "md",
    purpose: Purpose::Document,
    write: |out, style, describe| {
        let mut markdown = Markdown { out, style, failed: Ok(()) };
        describe(&mut markdown);
        markdown.failed
    },
};

struct Markdown<'o> {
    out: &'o mut dyn Write,
    style: &'o Style,
    failed: fmt::Result,
}

impl Markdown<'_> {
    fn keep(&mut self, level: Level, write: impl FnOnce(&mut dyn Write) -> fmt::Result) {
        if self.failed.is_ok() && self.style.level >= level {
            self.failed = write(self.out);
        }
    }
}

impl Document for Markdown<'_> {
    fn sentence(&mut self, role: Role, words: fmt::Arguments<'_>) {
        let (level, label) = match role {
            Role::Line | Role::Answer => (Level::Quiet, ""),
            Role::Trust => (Level::Normal, "Trust"),
            Role::Finding | Role::Missing => (Level::Normal, ""),
            Role::Method(label) | Role::Provenance(label) => (Level::Normal, label),
            Role::Detail(label) => (Level::Verbose, label),
            Role::Page(PageRole::Chapter) => {
                return self.keep(Level::Quiet, |out| {
                    out.write_str("## ")?;
                    Escaping(out, markdown).write_fmt(words)?;
                    out.write_str("\n\n")
                });
            }
            Role::Brief(_) | Role::Page(_) => return,
        };
        self.keep(level, |out| {
            if matches!(role, Role::Answer) {
                out.write_str("**")?;
            }
            if !label.is_empty() {
                write!(out, "*{label}:* ")?;
            }
            Escaping(out, markdown).write_fmt(words)?;
            out.write_str(if matches!(role, Role::Answer) { "**\n\n" } else { "\n\n" })
        });
    }

    fn table(&mut self, table: &DocumentTable<'_>) {
        if !table.has_rows() {
            return;
        }
        self.keep(table.level, |out| {
            if !table.caption.is_empty() {
                Escaping(out, markdown).write_str(table.caption)?;
                out.write_str("\n\n")?;
            }
            let mut columns = 0;
            table.each(&mut |row, column, cell| {
                if row == 0 {
                    columns = column + 1;
                } else if column == 0 {
                    out.write_str("|\n")?;
                    for column in (0..columns).filter(|_| row == 1) {
                        out.write_str(if column < table.words { "| --- " } else { "| ---: " })?;
                    }
                    out.write_str(if row == 1 { "|\n" } else { "" })?;
                }
                out.write_str("| ")?;
                write!(Escaping(out, markdown), "{cell}")?;
                out.write_char(' ')
            })?;
            out.write_str("|\n\n")
        });
    }
}
