//! Advice that the command can follow: alternatives with options that it lacks are left out.

use core::fmt;

use latency_core::text::split;

use crate::options::{FLAGS, FlagId, FlagSet};

/// Shows a message for a command with these options. The parts behind semicolons are its advice.
pub fn suited(message: &str, accepted: FlagSet) -> impl fmt::Display {
    fmt::from_fn(move |out| {
        for (part, clause) in split(message, "; ").enumerate() {
            if part == 0 {
                out.write_str(clause)?;
                continue;
            }
            let mut before = "; ";
            for advice in split(clause, ", or ") {
                // Of the commands that measure, some have a largest size in place of one.
                let size = match accepted.contains(FlagId::Size) || !accepted.contains(FlagId::MaxSize) {
                    true => "--size",
                    false => "--max-size",
                };
                if has_all(advice, size, accepted) {
                    out.write_str(core::mem::replace(&mut before, ", or "))?;
                    for (piece, text) in split(advice, "--size").enumerate() {
                        out.write_str(if piece > 0 { size } else { "" })?;
                        out.write_str(text)?;
                    }
                }
            }
        }
        Ok(())
    })
}

/// Returns whether a command has all options in an advice; those of command lines in backticks are of other commands.
fn has_all(advice: &str, size: &str, accepted: FlagSet) -> bool {
    let own = advice.split('`').step_by(2);
    own.flat_map(|text| split(text, "--").skip(1)).all(|text| {
        let end = text.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(text.len());
        let name = text.get(..end).unwrap_or_default();
        let name = if name == "size" { size.trim_start_matches('-') } else { name };
        FLAGS.iter().find(|flag| flag.name == name).is_none_or(|flag| accepted.contains(flag.id))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::DESCRIPTORS;
    use std::string::ToString;

    #[test]
    fn advice_with_options_that_the_command_lacks_is_left_out() {
        let of = |name: &str, message: &str| {
            let found = DESCRIPTORS.iter().find(|descriptor| descriptor.name == name).unwrap();
            suited(message, found.flags.union(FlagSet::ALWAYS)).to_string()
        };
        let text = "mmap failed: no memory; use a smaller --size, or use other --pages";
        assert_eq!(of("matrix", text), text);
        assert_eq!(
            of("curve", text),
            "mmap failed: no memory; use a smaller --max-size, or use other --pages"
        );
        assert_eq!(of("show", text), "mmap failed: no memory");
        for text in
            ["--strict: poor; see above", "no; `latency-bench matrix --cpu=3`", "no; docker run --cap-add=X"]
        {
            assert_eq!(of("reference", text), text);
        }
    }
}
