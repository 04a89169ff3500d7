//! The outputs of a run: files and standard output, each with its format.

use super::bits::FlagSet;
use super::flags::{FLAGS, FlagId};
use super::tokens::Escaped;
use super::{MOST_OUTPUTS, Options, UsageError};
use latency_report::{Format, Purpose};

/// Options that choose the format. Several may be given if they agree.
pub(super) const FORMAT_FLAGS: FlagSet = FlagSet::of(&[FlagId::Format, FlagId::Json, FlagId::Csv]);

/// A destination of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The file; `None` is standard output.
    pub path: Option<&'static [u8]>,
    /// The format.
    pub format: &'static Format,
}

impl Options {
    /// Returns the outputs; there is at least one.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// Returns whether an output has a format for this purpose.
    pub fn writes(&self, purpose: Purpose) -> bool {
        self.outputs().iter().any(|output| output.format.purpose == purpose)
    }

    /// Adds an output; `-` is standard output.
    pub(super) fn push_output(&mut self, path: &'static [u8], format: &'static Format) {
        self.outputs.push(Output { path: Some(path).filter(|&path| path != b"-"), format });
    }

    /// Returns whether the user named a format.
    pub(super) fn names_a_format(&self) -> bool {
        self.given.intersection(FORMAT_FLAGS) != FlagSet::EMPTY
    }

    /// Decides the format of each output that was typed, and adds those that were not.
    ///
    /// A format that the user named is the format of a single output. Of several, it is the format of those whose name
    /// has no format by its extension. With `is_checked`, every extension must be the extension of a format.
    pub(super) fn resolve_outputs(&mut self, is_checked: bool) -> Result<(), UsageError> {
        let (format, formats, typed) = (self.format, self.formats, self.outputs.len());
        let is_named = self.names_a_format();
        for output in &mut self.outputs {
            let extension = output.path.and_then(Format::extension_of).filter(|_| !is_named || typed > 1);
            let known = extension.and_then(|extension| Format::of_extension(formats, extension));
            if let (Some(path), Some(extension), None, false) = (output.path, extension, known, is_named)
                && is_checked
            {
                return Err(UsageError::UnknownExtension {
                    path: Escaped(path),
                    extension: Escaped(extension),
                    formats,
                });
            }
            output.format = known.unwrap_or(format);
        }
        if typed == 0 {
            self.push_output(b"-", format);
        } else if is_checked && is_named && self.outputs().iter().all(|output| output.format != format) {
            let given = |id: FlagId| self.given.contains(id);
            let mut flags = FLAGS.iter().filter(|flag| FORMAT_FLAGS.contains(flag.id) && given(flag.id));
            if let Some(first) = flags.next() {
                let reason = "the extension of each file chooses its format";
                return Err(UsageError::Conflict { first, second: FlagId::Output.flag(), reason });
            }
        }
        if let (Some(path), Some(json)) = (self.saved, Format::named(formats, b"json")) {
            self.push_output(path, json);
        }
        if self.outputs.len() > MOST_OUTPUTS && is_checked { Err(UsageError::TooManyOutputs) } else { Ok(()) }
    }

    /// Leaves only standard output, in a format that shows a plan: a plan must not replace a result file, and it has
    /// neither a picture nor values.
    pub(super) fn show_plan(&mut self) {
        let shown = self.names_a_format() && !self.format.shows_values_alone();
        let format = self.formats.first().filter(|_| !shown).unwrap_or(self.format);
        self.outputs.clear();
        self.push_output(b"-", format);
    }

    /// Adds the text on a terminal to the files of a measurement: who waits for it sees the answer.
    pub fn answer_on(&mut self, is_terminal: bool) {
        let is_run = self.experiment.descriptor.measures() && self.operands().is_empty();
        let files_alone = self.outputs.iter().all(|output| output.path.is_some());
        let text = self.formats.iter().find(|format| format.purpose == Purpose::Terminal);
        if let Some(text) = text.filter(|_| is_terminal && is_run && files_alone && !self.quiet) {
            self.push_output(b"-", text);
        }
    }

    /// Writes `page` wherever the user chose no format, except to a standard output that is a terminal.
    pub fn prefer_page(&mut self, is_terminal: bool) {
        let (formats, is_named) = (self.formats, self.names_a_format());
        let Some(page) = formats.iter().find(|format| format.purpose == Purpose::Page) else { return };
        for output in self.outputs.iter_mut().filter(|_| !is_named) {
            let is_free = match output.path {
                Some(path) => Format::extension_of(path).is_none(),
                None => !is_terminal && output.format.purpose == Purpose::Terminal,
            };
            if is_free {
                output.format = page;
            }
        }
    }
}
