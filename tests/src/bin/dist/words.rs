//! The possible words at each place of a command line, for manual page and completions.

use latency_bench::catalogue::{DESCRIPTORS, EXPERIMENTS};
use latency_bench::options::{Descriptor, FLAGS, Flag, FlagId, FlagSet, FlagText};
use latency_core::traffic::Kind;
use latency_report::FORMATS;

/// Words in place of an experiment, with their purpose; the program handles them itself, so they are not in
/// its tables.
pub const SERVICES: [(&str, &str); 2] =
    [("help", "explain the program or an experiment"), ("version", "print the version")];

/// The possible values after the `=` of an option.
#[derive(Debug, PartialEq, Eq)]
pub enum Value {
    /// One of these words; other values may be possible as well.
    Words(Vec<&'static str>),
    /// A path.
    File,
    /// A value that is typed, such as a number.
    Typed,
}

/// Returns the experiments that measure.
pub fn experiments() -> &'static [&'static Descriptor] {
    DESCRIPTORS.get(..EXPERIMENTS.len()).unwrap_or_default()
}

/// Returns the commands on saved results.
pub fn commands() -> &'static [&'static Descriptor] {
    DESCRIPTORS.get(EXPERIMENTS.len()..).unwrap_or_default()
}

/// Returns whether an experiment has an option.
pub fn accepts(experiment: &Descriptor, flag: &Flag) -> bool {
    experiment.flags.union(FlagSet::ALWAYS).contains(flag.id)
}

/// Returns the options of an experiment, in the order of the help text.
pub fn flags(experiment: &'static Descriptor) -> impl Iterator<Item = &'static Flag> {
    FLAGS.iter().filter(move |flag| accepts(experiment, flag))
}

/// Returns the meaning that an option has for an experiment.
pub fn meaning(flag: &Flag, experiment: &str) -> String {
    flag.text_of(FlagText::Meaning, experiment).to_string()
}

/// Returns the formats in which the result of an experiment can be written.
pub fn formats(experiment: &Descriptor) -> impl Iterator<Item = &'static str> + use<'_> {
    FORMATS.iter().filter(|format| experiment.is_written_as(format)).map(|format| format.name)
}

/// Returns the possible values after the `=` of an option; `None` for a switch.
pub fn value(experiment: &Descriptor, flag: &Flag) -> Option<Value> {
    let kind = flag.kind()?;
    Some(match (flag.id, kind.name) {
        (FlagId::Format, _) => Value::Words(formats(experiment).collect()),
        (FlagId::Traffic, _) => Value::Words(Kind::named().map(|kind| kind.name).collect()),
        (_, "FILE") => Value::File,
        (_, name) if name.contains('|') => {
            // A name in capitals describes a value; it is not a word to type.
            let is_word = |word: &&str| !word.contains(|letter: char| letter.is_ascii_uppercase());
            Value::Words(name.split('|').filter(is_word).collect())
        }
        _ => Value::Typed,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value_of(experiment: &str, flag: &str) -> Option<Value> {
        let experiment = DESCRIPTORS.iter().find(|known| known.name == experiment)?;
        value(experiment, FLAGS.iter().find(|known| known.name == flag)?)
    }

    #[test]
    fn values_agree_with_the_parser() {
        assert_eq!(value_of("matrix", "color"), Some(Value::Words(vec!["auto", "always", "never"])));
        assert_eq!(value_of("cores", "pairs"), Some(Value::Words(vec!["auto", "all", "classes"])));
        assert_eq!(value_of("matrix", "output"), Some(Value::File));
        assert_eq!(value_of("matrix", "seed"), Some(Value::Typed));
        assert_eq!(value_of("matrix", "json"), None);
        let Some(Value::Words(kinds)) = value_of("bandwidth", "traffic") else { panic!("no kinds") };
        assert!(kinds.contains(&"3:1"), "{kinds:?}");
    }

    #[test]
    fn every_entry_is_an_experiment_or_a_command() {
        let names: Vec<&str> = experiments().iter().chain(commands()).map(|known| known.name).collect();
        assert_eq!(names, DESCRIPTORS.iter().map(|known| known.name).collect::<Vec<_>>());
        assert!(SERVICES.iter().all(|(word, _)| !names.contains(word)));
    }
}
