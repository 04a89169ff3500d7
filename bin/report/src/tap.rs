//! TAP, the Test Anything Protocol: a verdict on each point, for the programs that run tests of kernels.
//!
//! The values of a point are in a block of YAML below it, so that its description is the same in every run. The text is
//! valid in versions 13 and 14. It names 13, since Perl's `prove` before 3.48 refuses a later one.
//!
//! # References
//!
//! testanything.org, "TAP version 13" and "TAP version 14".

use alloc::string::String;
use core::fmt::{self, Write};

use latency_core::json::Layout;

use super::document::{Level, PageRole, Role, Value};
use super::escape::{Escaping, description};
use super::format::{Format, Purpose, Style};
use super::json;
use super::shown::{Shown, ShownPart, TestVerdict};

/// Test points.
pub const TAP: Format = Format { name: "tap", extension: "tap", purpose: Purpose::Tests, write };

fn write(out: &mut dyn Write, style: &Style, shown: &Shown) -> fmt::Result {
    let points = (style.tests)(shown);
    let nothing = if points.is_empty() { " # SKIP no points" } else { "" };
    write!(out, "TAP version 13\n1..{}{nothing}\n", points.len())?;
    for (role, words) in shown.sentences() {
        let label = match role {
            Role::Answer => "",
            Role::Trust => "Trust: ",
            Role::Page(PageRole::Chapter) => break,
            _ => continue,
        };
        words.lines().try_for_each(|line| writeln!(out, "# {label}{line}"))?;
    }
    for (index, point) in points.iter().enumerate() {
        let (begin, directive, reason) = match point.verdict {
            TestVerdict::Passed => ("ok", "", ""),
            TestVerdict::Failed => ("not ok", "", ""),
            TestVerdict::Skipped(reason) => ("ok", " # SKIP ", reason),
        };
        write!(out, "{begin} {} - ", index + 1)?;
        Escaping(out, description).write_str(&point.name)?;
        out.write_str(directive)?;
        Escaping(out, description).write_str(reason)?;
        out.write_char('\n')?;
        if point.verdict == TestVerdict::Failed || directive.is_empty() && style.level > Level::Quiet {
            out.write_str("  ---\n")?;
            let mut values = point.values.into_iter().flatten().filter(|entry| is_known(entry));
            json::write(out, Layout::Members, &mut values)?;
            out.write_str("  ...\n")?;
        }
    }
    Ok(())
}

/// Returns whether an entry is more than an unknown value.
fn is_known(entry: &ShownPart) -> bool {
    match entry {
        ShownPart::Value(_, Value::Estimate(estimate)) => estimate.value.is_finite(),
        ShownPart::Value(_, Value::Real(number)) => number.is_finite(),
        ShownPart::Value(_, value) => *value != Value::None && *value != Value::Word(String::new()),
        _ => true,
    }
}
