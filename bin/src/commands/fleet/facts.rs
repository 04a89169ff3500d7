//! Facts about the host of a result that may explain a difference: firmware, kernel, settings and labels. No fact is a
//! cause.

use core::fmt::{self, Display};

use latency_core::text::Text;

use crate::saved::Saved;
use crate::saved::conditions::{BRAND, CONDITIONS, HOST};
use crate::saved::host::SEPARATOR;

/// The number of conditions that are facts about a host, except its name and its CPU model.
const MOST: usize = 13;

/// Returns the CPU model and every known fact of a result: [`SEPARATOR`], then its name, `=` and its value. A fact that
/// does not fit is left out.
pub fn of(saved: &Saved) -> Text<1200> {
    let mut facts = Text::EMPTY;
    let _ = write!(facts, "{}", saved.cpu());
    let texts = CONDITIONS.iter().zip(&saved.conditions.texts).take(MOST).enumerate();
    for (_, ((_, words), text)) in
        texts.filter(|(index, (_, text))| !matches!(*index, HOST | BRAND) && !text.is_empty())
    {
        // The texts fit.
        let _ = write!(facts, "{SEPARATOR}{words}={text}");
    }
    let _ = write!(facts, "{}", saved.origin.labels);
    facts
}

/// Returns the CPU model in the text of [`of`].
pub fn cpu(facts: &str) -> &str {
    facts.split(SEPARATOR).next().unwrap_or_default()
}

/// Returns the facts in the text of [`of`]: the name and the value of each.
pub fn each(facts: &str) -> impl Iterator<Item = (&str, &str)> + Clone {
    facts.split(SEPARATOR).skip(1).filter_map(|fact| fact.split_once('='))
}

/// Shows the known facts that differ between two states of a host, and whether it was booted between them, with `first`
/// before the first difference.
pub fn changed<'f>(before: &'f str, after: &'f str, rebooted: bool, first: &'f str) -> impl Display + 'f {
    fmt::from_fn(move |out| {
        let mut separator = first;
        for (name, new) in each(after) {
            let old = each(before).find(|(other, _)| *other == name);
            if let Some((_, old)) = old.filter(|(_, old)| *old != new) {
                write!(out, "{separator}{name} {old} -> {new}")?;
                separator = ", ";
            }
        }
        if rebooted { write!(out, "{separator}rebooted") } else { Ok(()) }
    })
}
