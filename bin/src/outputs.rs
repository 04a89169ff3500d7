//! The outputs of a run: files and standard output, from their opening before anything is measured to their end.

use alloc::string::String;
use alloc::vec::Vec;

use latency_core::words::When;

use crate::describe::output;
use crate::error::{Failure, OutputError};
use crate::options::tokens::Escaped;
use crate::options::{Options, Output, UsageError};
use latency_report::json::JSON_LINES;
use latency_report::{Audience, Purpose, Shown, Terminal};
use latency_sys::arguments::Environment;
use latency_sys::out::{Sink, Unfinished};
use latency_sys::terminal::Stream;
use latency_sys::{Errno, file};

/// The outputs that the options name.
pub struct Outputs<'o> {
    pub options: &'o Options,
    environment: Environment,
    /// The sink of each output, from the opening until the end of the output.
    sinks: Vec<Sink>,
}

impl<'o> Outputs<'o> {
    /// Returns the outputs before they are opened.
    pub fn of(options: &'o Options, environment: Environment) -> Outputs<'o> {
        Outputs { options, environment, sinks: Vec::new() }
    }

    /// Refuses to overwrite an input file, even if it has another name.
    pub fn refuse_inputs(&self) -> Result<(), UsageError> {
        let Options { baseline, expected, .. } = *self.options;
        let read = |path: &[u8]| file::identity(Some(path).filter(|path| path != b"-"), Stream::Input);
        for &Output { path: output, .. } in self.options.outputs() {
            let Some(written) = file::identity(output, Stream::Output) else { continue };
            let mut inputs = self.options.operands().iter().copied().chain(baseline).chain(expected);
            if let Some(input) = inputs.find(|path| read(path) == Some(written)) {
                return Err(UsageError::OutputIsInput { output: output.map(Escaped), input: Escaped(input) });
            }
        }
        Ok(())
    }

    /// Opens every output, before anything is measured.
    pub fn open(&mut self) -> Result<(), Failure> {
        for output in self.options.outputs() {
            let sink = sink(output)?;
            if self.sinks.iter().any(|other| other.is_same(&sink)) {
                return Err(UsageError::SameOutput { path: output.path.map(Escaped) }.into());
            }
            self.sinks.push(sink);
        }
        Ok(())
    }

    /// Calls `write` for every output, and ends each for which it returns true. The outputs after one that fails are
    /// written nevertheless.
    ///
    /// # Errors
    /// The first error of writing an output.
    pub fn each(&mut self, write: &mut dyn FnMut(&mut Sink, &Output) -> bool) -> Result<(), Failure> {
        let mut result = Ok(());
        for (output, mut sink) in self.options.outputs().iter().zip(self.sinks.drain(..)) {
            if write(&mut sink, output) {
                result = result.and(finish(sink, output));
            }
        }
        result
    }

    /// Writes the result of a run. `failed` is true if the run has failed, and `nothing` if the result is empty.
    ///
    /// An existing file is not replaced by an empty result, which is [`Failure::Interrupted`]. In a format that
    /// monitoring collects, it is not replaced by the result of a failed run either.
    pub fn save(
        &mut self,
        columns: output::Columns,
        [failed, nothing]: [bool; 2],
        shown: &Shown,
    ) -> Result<(), Failure> {
        let (options, [standard, file]) = (self.options, [true, false].map(|standard| self.screen(standard)));
        let mut kept = Ok(());
        let written = self.each(&mut |out, &Output { path, format }| {
            if path.is_some() && nothing {
                kept = Err(Failure::Interrupted);
                return false;
            }
            if path.is_some() && failed && format.purpose == Purpose::Metrics {
                return false;
            }
            let terminal = if path.is_none() { standard } else { file };
            // The sink keeps the error of a failed write, and `finish` returns it.
            let _ = output::write(out, format, options, terminal, columns, shown);
            true
        });
        kept.and(written)
    }

    /// Returns the document of a result, which is read as if it had been saved.
    pub fn document(&self, shown: &Shown) -> String {
        let mut text = String::new();
        // Texts take everything.
        let _ =
            output::write(&mut text, &JSON_LINES, self.options, self.screen(false), output::COLUMNS, shown);
        text
    }

    /// Returns the terminal that results are shown on, for standard output or for a file.
    fn screen(&self, is_standard: bool) -> Terminal {
        /// The width if the output is not a terminal: every terminal, mail and ticket has room for it.
        const COLUMNS: usize = 80;
        let is_terminal = is_standard && Stream::Output.is_terminal();
        let variable = |name: &[u8]| self.environment.get(name);
        let colour = match self.options.color {
            When::Always => true,
            When::Never => false,
            // https://no-color.org
            When::Auto => {
                is_terminal
                    && variable(b"NO_COLOR").is_none_or(<[u8]>::is_empty)
                    && variable(b"TERM") != Some(b"dumb")
            }
        };
        let is_pipe = is_standard && file::identity(None, Stream::Output).is_none();
        let audience = match (is_terminal, is_pipe) {
            (true, _) => Audience::Person,
            (false, true) => Audience::Pipe,
            (false, false) => Audience::File,
        };
        let columns = Stream::Output.width().filter(|_| is_terminal).map_or(COLUMNS, usize::from);
        Terminal { columns, unicode: self.shows_utf8(), colour, audience }
    }

    /// Returns whether the locale is one of UTF-8.
    pub fn shows_utf8(&self) -> bool {
        let locale = [&b"LC_ALL"[..], b"LC_CTYPE", b"LANG"]
            .into_iter()
            .find_map(|name| self.environment.get(name).filter(|value| !value.is_empty()));
        locale.is_some_and(|locale| {
            [&b"UTF-8"[..], b"utf-8", b"UTF8", b"utf8"].into_iter().any(|word| locale.ends_with(word))
        })
    }
}

/// Opens an output.
fn sink(output: &Output) -> Result<Sink, Failure> {
    let Some(path) = output.path else { return Ok(Sink::create(None)?) };
    let sink = Sink::create(Some(path)).map_err(|errno| match errno {
        Errno::ECANCELED => Failure::GivenUp,
        errno => OutputError::Create { path: Escaped(path), errno }.into(),
    })?;
    if output.format.purpose == Purpose::Metrics {
        sink.let_everybody_read();
    }
    Ok(sink)
}

/// Ends an output; returns the first error of writing it.
fn finish(sink: Sink, output: &Output) -> Result<(), Failure> {
    sink.finish().map_err(|error| match (error, output.path) {
        (Unfinished::NotWritten(Errno::ECANCELED), _) => Failure::GivenUp,
        (Unfinished::NotSynced(errno), Some(path)) => OutputError::Sync { path: Escaped(path), errno }.into(),
        (Unfinished::NotSynced(errno) | Unfinished::NotWritten(errno), path) => {
            OutputError::Write { path: path.map(Escaped), errno }.into()
        }
    })
}
