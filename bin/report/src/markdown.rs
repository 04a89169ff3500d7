//! Markdown: the sentences as paragraphs and the tables as tables, for reports and tickets.

use core::fmt::{self, Write};

use super::document::{Level, PageRole, Role};
use super::escape::{Escaping, markdown};
use super::format::{Format, Purpose};
use super::shown::{ShownPart, ShownTable};

/// GitHub's Markdown.
pub const MARKDOWN: Format = Format {
    name: "md",
    extension: "md",
    purpose: Purpose::Document,
    write: |out, style, shown| {
        shown.entries().iter().try_for_each(|entry| match entry {
            ShownPart::Sentence(role, words) => sentence(out, style.level, *role, words),
            ShownPart::Table(table) if style.level >= table.level && table.has_rows() => {
                write_table(out, table)
            }
            _ => Ok(()),
        })
    },
};

fn sentence(out: &mut dyn Write, shown: Level, role: Role, words: &str) -> fmt::Result {
    let (level, label) = match role {
        Role::Page(PageRole::Chapter) => (Level::Quiet, ""),
        role => match role.in_text(false) {
            Some(known) => known,
            None => return Ok(()),
        },
    };
    if shown < level {
        return Ok(());
    }
    let [before, behind] = match role {
        Role::Page(PageRole::Chapter) => ["## ", ""],
        Role::Answer => ["**", "**"],
        _ => [""; 2],
    };
    out.write_str(before)?;
    if !label.is_empty() {
        write!(out, "*{label}:* ")?;
    }
    Escaping(out, markdown).write_str(words)?;
    write!(out, "{behind}\n\n")
}

fn write_table(out: &mut dyn Write, table: &ShownTable) -> fmt::Result {
    if !table.caption.is_empty() {
        Escaping(out, markdown).write_str(&table.caption)?;
        out.write_str("\n\n")?;
    }
    for (index, cells) in table.rows.iter().enumerate() {
        for cell in cells {
            out.write_str("| ")?;
            Escaping(out, markdown).write_str(cell)?;
            out.write_char(' ')?;
        }
        out.write_str("|\n")?;
        if index == 0 {
            for column in 0..cells.len() {
                out.write_str(if column < table.words { "| --- " } else { "| ---: " })?;
            }
            out.write_str("|\n")?;
        }
    }
    out.write_char('\n')
}
