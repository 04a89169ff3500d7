//! A saved result without the names of its host and of files, as if it had been measured with `--anonymous`.

use alloc::string::String;
use alloc::vec::Vec;

use super::typed::{self, LeftOut};
use crate::record::columns;
use crate::record::members::{BOOT_ID, COMMAND, HOST, HOST_NAME, LABELS};
use latency_report::{PageRole, Part, Role, Shown, ShownPart, Value};

/// Returns a measured result without the name, the boot ID and the labels of its host, and without the names of files;
/// `None` for a result of a command, which has names in its sentences and tables.
pub fn anonymous(shown: Shown) -> Option<Shown> {
    let is_host =
        |part: &ShownPart| matches!(part, ShownPart::Begin(Part::Object(field)) if field.key == HOST.key);
    if !shown.entries().iter().any(is_host) {
        return None;
    }
    let (mut kept, mut names, mut command) = (Shown::new(), Vec::new(), Vec::new());
    let mut containers: Vec<&str> = Vec::new();
    let mut left_out = LeftOut::IDENTITY;
    for mut entry in shown.into_entries() {
        let within = containers.last().copied().unwrap_or_default();
        match &mut entry {
            ShownPart::Begin(part) => containers.push(match part {
                Part::Object(field) | Part::List(field) | Part::Records(field) => field.key,
                Part::Item => "",
            }),
            ShownPart::End => {
                containers.pop();
            }
            ShownPart::Value(field, Value::Word(word)) => match (within, field.key) {
                (within, key)
                    if within == HOST.key && [HOST_NAME.key, BOOT_ID.key].contains(&key)
                        || within.is_empty() && key == columns::HOST.name() =>
                {
                    names.push(core::mem::take(word));
                }
                (within, _) if within == LABELS.key => continue,
                (within, _) if within == COMMAND.key && !left_out.keeps(word.as_bytes()) => continue,
                (within, _) if within == COMMAND.key => command.push(word.clone()),
                _ => {}
            },
            ShownPart::Sentence(Role::Page(PageRole::Command), words) => {
                let typed = typed::typed(&mut command.iter().map(String::as_bytes));
                command.clear();
                *words = String::from(typed.trim_ascii_start());
            }
            ShownPart::Sentence(Role::Page(PageRole::Origin), words) => {
                let name = names.iter().filter(|name| !name.is_empty());
                let when = |name: &String| words.strip_prefix(name.as_str())?.strip_prefix(", ");
                if let Some(when) = name.filter_map(when).next().map(String::from) {
                    *words = when;
                }
            }
            _ => {}
        }
        kept.push(entry);
    }
    Some(kept)
}
