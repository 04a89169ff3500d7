//! The type of an option: its name, its text, and the one function that applies it.
//!
//! The options themselves are in [`super::FLAGS`].

use core::fmt;

use super::flag_set::FlagId;
use super::values::ValueError;
use super::Options;

/// A heading of the help text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// Processors, nodes and pages.
    Placement,
    /// The working set and the chain through it.
    Chain,
    /// The traffic of generators, and their CPUs.
    Traffic,
    /// The exchange of lines between CPUs.
    Cores,
    /// Duration and precision of the measurement.
    Sampling,
    /// Conclusions from a result.
    Verdict,
    /// Format, target and look of the result.
    Output,
    /// Options that every program has.
    General,
}

impl Group {
    /// Every group, in the order of the help text.
    pub const ALL: [Group; 8] = [
        Group::Placement,
        Group::Chain,
        Group::Traffic,
        Group::Cores,
        Group::Sampling,
        Group::Verdict,
        Group::Output,
        Group::General,
    ];

    /// Returns whether its options change what is measured.
    const fn is_of_measuring(self) -> bool {
        matches!(self, Group::Placement | Group::Chain | Group::Traffic | Group::Cores | Group::Sampling)
    }

    /// Returns the heading.
    #[must_use]
    pub const fn heading(self) -> &'static str {
        match self {
            Group::Placement => "Placement",
            Group::Chain => "Working set and order",
            Group::Traffic => "Traffic",
            Group::Cores => "Lines between cores",
            Group::Sampling => "Measurement",
            Group::Verdict => "Verdict",
            Group::Output => "Output",
            Group::General => "General",
        }
    }
}

/// A kind of value.
#[derive(Debug, PartialEq, Eq)]
pub struct ValueKind {
    /// The word after the `=` in help texts, such as `SIZE` in `--size=SIZE`.
    pub name: &'static str,
    /// The text to type, as the object of "use".
    pub expects: &'static str,
}

/// Applies a value of the command line to the options.
pub type SetValue = for<'a> fn(&mut Options<'a>, &'a [u8]) -> Result<(), ValueError<'a>>;

/// The change that an option makes to [`Options`].
#[derive(Clone, Copy)]
pub enum Setter {
    /// An option without a value.
    Switch(fn(&mut Options<'_>)),
    /// An option with a value.
    Value(&'static ValueKind, SetValue),
}

/// One option.
#[derive(Clone, Copy)]
pub struct Flag {
    /// Its name in sets.
    pub id: FlagId,
    /// Its name without the dashes.
    pub name: &'static str,
    /// Its one-letter form.
    pub short: Option<u8>,
    /// Its heading in the help.
    pub group: Group,
    /// True if the short help has it.
    pub common: bool,
    /// Its meaning, in one line.
    pub help: &'static str,
    /// Its default; empty for a switch that is off.
    pub default: &'static str,
    /// The reason in the hardware for the default; may be empty.
    pub reason: &'static str,
    /// Its effect.
    pub set: Setter,
}

impl Flag {
    pub(super) const fn switch(
        id: FlagId,
        name: &'static str,
        group: Group,
        set: fn(&mut Options<'_>),
    ) -> Flag {
        Flag {
            id,
            name,
            short: None,
            group,
            common: false,
            help: "",
            default: "",
            reason: "",
            set: Setter::Switch(set),
        }
    }

    pub(super) const fn value(
        id: FlagId,
        name: &'static str,
        group: Group,
        kind: &'static ValueKind,
        set: SetValue,
    ) -> Flag {
        let set = Setter::Value(kind, set);
        Flag { id, name, short: None, group, common: false, help: "", default: "", reason: "", set }
    }

    pub(super) const fn short(mut self, letter: u8) -> Flag {
        self.short = Some(letter);
        self
    }

    pub(super) const fn common(mut self) -> Flag {
        self.common = true;
        self
    }

    pub(super) const fn help(mut self, help: &'static str) -> Flag {
        self.help = help;
        self
    }

    pub(super) const fn default(mut self, default: &'static str) -> Flag {
        self.default = default;
        self
    }

    pub(super) const fn because(mut self, reason: &'static str) -> Flag {
        self.reason = reason;
        self
    }

    /// Returns the kind of its value, if it has one.
    #[must_use]
    pub const fn kind(&self) -> Option<&'static ValueKind> {
        match self.set {
            Setter::Switch(_) => None,
            Setter::Value(kind, _) => Some(kind),
        }
    }

    /// Returns whether it changes nothing but a measurement or its record.
    #[must_use]
    pub fn is_of_measuring(&self) -> bool {
        self.group.is_of_measuring() || matches!(self.id, FlagId::Strict | FlagId::Label)
    }

    /// Returns whether `typed`, dashes included, is this option.
    #[must_use]
    pub fn is_called(&self, typed: &[u8]) -> bool {
        match typed {
            [b'-', b'-', name @ ..] => name == self.name.as_bytes(),
            [b'-', letter] => self.short == Some(*letter),
            _ => false,
        }
    }
}

// Function pointers cannot be compared reliably; ids can.
impl PartialEq for Flag {
    fn eq(&self, other: &Flag) -> bool {
        self.id == other.id
    }
}

impl Eq for Flag {}

impl fmt::Debug for Flag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Flag({self})")
    }
}

/// Writes `--size=SIZE`, or `--json`.
impl fmt::Display for Flag {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind() {
            Some(kind) => write!(out, "--{}={}", self.name, kind.name),
            None => write!(out, "--{}", self.name),
        }
    }
}
