//! The experiments and commands with their options, formats and usage, read from `help`.

use super::random::Random;
use crate::run::{ERROR, run};

/// The whole content of `help`.
pub struct Help(pub Vec<Experiment>);

/// One experiment or command.
pub struct Experiment {
    /// The name.
    pub name: String,
    /// The options, without those of the format and the output.
    pub options: Vec<Choice>,
    /// The formats, `text` among them.
    pub formats: Vec<String>,
    /// The words of the line `Usage:` behind the name of the program.
    pub usage: Vec<String>,
    /// True if it has a plan, which `--dry-run` prints.
    pub plans: bool,
}

/// One option.
pub struct Choice {
    /// The name, such as `--size`.
    pub name: String,
    /// The name of its value, such as `SIZE` or `auto|4k`; `None` for a switch.
    pub value: Option<String>,
}

/// Options that each family adds itself, and options that print something else.
const APART: [&str; 7] = ["--format", "--json", "--csv", "--output", "--dry-run", "--help", "--version"];

impl Help {
    /// Reads the help of the executable under test.
    ///
    /// # Panics
    ///
    /// If it has another form.
    pub fn read() -> Self {
        let all = run(&["help"]).expect_status(0).stdout.clone();
        let listed = all.lines().skip_while(|line| *line != "Experiments:").skip(1);
        let listed = listed.take_while(|line| !line.is_empty());
        // The text of a summary continues in lines with a larger indent.
        let names = listed.filter_map(|line| line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')));
        let names = names.filter_map(|line| line.split(' ').next());
        Help(names.map(Experiment::read).collect())
    }

    /// Returns the experiment of this name.
    ///
    /// # Panics
    ///
    /// If it does not exist.
    pub fn of(&self, name: &str) -> &Experiment {
        self.0.iter().find(|experiment| experiment.name == name).expect("an experiment that help lists")
    }

    /// Returns an option that an error names and the command neither has nor was given. Commands in an error have their own.
    pub fn missing_option(&self, arguments: &[String], messages: &str) -> Option<String> {
        let own = self.0.iter().find(|experiment| Some(&experiment.name) == arguments.first())?;
        let error = messages.lines().rfind(|line| line.starts_with(ERROR))?;
        let outside: String = error.split('`').step_by(2).collect();
        let is_letter = |c: char| c.is_ascii_lowercase() || c == '-';
        let words =
            outside.split(|c: char| !is_letter(c)).filter(|word| word.len() > 4 && word.starts_with("--"));
        // A container has options of its own.
        let mut options = words.filter(|word| !["--strict", "--cap-add"].contains(word));
        let is_known = |word: &str| {
            APART.contains(&word)
                || own.options.iter().any(|option| option.name == word)
                || arguments.iter().any(|given| given.starts_with(word))
        };
        options.find(|word| !is_known(word)).map(String::from)
    }

    /// Picks one of the experiments that satisfy `holds`.
    pub fn pick<'h>(&'h self, random: &mut Random, holds: impl Fn(&Experiment) -> bool) -> &'h Experiment {
        let chosen: Vec<&'h Experiment> = self.0.iter().filter(|experiment| holds(experiment)).collect();
        chosen[random.below(chosen.len())]
    }
}

impl Experiment {
    fn read(name: &str) -> Self {
        let text = run(&["help", name]).expect_status(0).stdout.clone();
        let shared = run(&["help", "options"]).expect_status(0).stdout.clone();
        let usage = text.lines().find_map(|line| line.strip_prefix("Usage: latency-bench "));
        let usage = usage.unwrap_or_else(|| panic!("no usage in {text}"));
        let listed = text.lines().find_map(|line| line.strip_prefix("Formats: ")).expect("the formats");
        let options: Vec<Choice> = text.lines().chain(shared.lines()).filter_map(option).collect();
        Experiment {
            name: name.into(),
            plans: options.iter().any(|option| option.name == "--dry-run"),
            options: options.into_iter().filter(|option| !APART.contains(&&*option.name)).collect(),
            formats: listed.split(',').map(|format| format.trim().to_string()).collect(),
            usage: usage.split(' ').map(String::from).collect(),
        }
    }

    /// Returns true if it reads files.
    pub fn reads(&self) -> bool {
        self.usage.iter().any(|word| word.contains("FILE") || word.contains("A..."))
    }
}

/// Reads a line of help that begins with an option: `  -o, --output=FILE   write …`.
fn option(line: &str) -> Option<Choice> {
    let rest = line.strip_prefix("  ")?;
    let rest = rest.strip_prefix('-').and_then(|short| short.get(1..)?.strip_prefix(", ")).unwrap_or(rest);
    let word = rest.split(' ').next().filter(|word| word.starts_with("--"))?;
    let name = word.split(['=', '[']).next().unwrap_or(word);
    let value = word[name.len()..].trim_start_matches('=');
    Some(Choice { name: name.into(), value: (!value.is_empty()).then(|| value.into()) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_a_name_and_the_name_of_its_value() {
        let read = |line| option(line).map(|choice| (choice.name, choice.value.unwrap_or_default()));
        assert_eq!(read("  --size=SIZE    working"), Some(("--size".into(), "SIZE".into())));
        assert_eq!(read("  -o, --output=FILE  write"), Some(("--output".into(), "FILE".into())));
        assert_eq!(read("  -q, --quiet   print"), Some(("--quiet".into(), String::new())));
        assert_eq!(read("      default: --size"), None);
        assert_eq!(read("Usage: x --size"), None);
    }
}
