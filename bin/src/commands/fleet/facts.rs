//! Facts about the host of a result that may explain a difference: firmware, kernel, settings and labels. No fact is a
//! cause.

use alloc::vec::Vec;
use core::fmt::{self, Display};

use super::names::{NONE, Name, Names};
use crate::saved::Saved;
use crate::saved::conditions::{BRAND, CONDITIONS, HOST};
use crate::saved::host::SEPARATOR;

/// The number of conditions that are facts about a host, except its name and its CPU model.
const MOST: usize = 13;

/// The name and the value of a fact. The CPU model, which is the first one, has no name.
pub type HostFact = [Name; 2];

/// Returns the CPU model and every known fact of a result.
pub fn of(names: &mut Names, saved: &Saved) -> Vec<HostFact> {
    let mut facts = vec![[NONE, names.number(saved.cpu())]];
    let mut add = |name: &str, value: &str| facts.push([name, value].map(|text| names.number(text)));
    let texts = CONDITIONS.iter().zip(&saved.conditions.texts).take(MOST).enumerate();
    for (index, ((_, words), text)) in texts {
        if !matches!(index, HOST | BRAND) && !text.is_empty() {
            add(words, text.as_str());
        }
    }
    for label in saved.origin.labels.as_str().split(SEPARATOR) {
        label.split_once('=').into_iter().for_each(|(name, value)| add(name, value));
    }
    facts
}

/// Shows the known facts that differ between two states of a host, and whether it was booted between them, with `first`
/// before the first difference.
pub fn changed<'f>(
    names: &'f Names,
    [before, after]: [&'f [HostFact]; 2],
    rebooted: bool,
    first: &'f str,
) -> impl Display + 'f {
    fmt::from_fn(move |out| {
        let mut separator = first;
        for &[name, new] in after.iter().filter(|[name, _]| *name != NONE) {
            let old = before.iter().find(|[other, _]| *other == name);
            if let Some(&[_, old]) = old.filter(|[_, old]| *old != new) {
                let [name, old, new] = [name, old, new].map(|text| names.name(text));
                write!(out, "{separator}{name} {old} -> {new}")?;
                separator = ", ";
            }
        }
        if rebooted { write!(out, "{separator}rebooted") } else { Ok(()) }
    })
}
