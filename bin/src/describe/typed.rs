//! Arguments in the syntax of a shell.

use core::fmt::{self, Display, Write};

use crate::options::{FLAGS, FlagId};
use crate::sys::arguments::Arguments;

/// Returns arguments without the options that name files, and without their values.
pub fn without_files(arguments: Arguments) -> impl Iterator<Item = &'static [u8]> + Clone {
    let mut is_value = false;
    arguments.filter(move |argument| {
        let name = argument.split(|byte| *byte == b'=').next().unwrap_or(argument);
        let is_called = |id: FlagId| FLAGS.get(id as usize).is_some_and(|flag| flag.is_called(name));
        let names_file = is_called(FlagId::Output) || is_called(FlagId::Save);
        let is_left_out = core::mem::take(&mut is_value) || names_file;
        is_value = names_file && name.len() == argument.len();
        !is_left_out
    })
}

/// Writes arguments, each after a blank and quoted if necessary. Bytes that are not UTF-8 become U+FFFD.
pub fn typed<'a>(arguments: impl Iterator<Item = &'a [u8]> + Clone) -> impl Display {
    fmt::from_fn(move |out| {
        arguments.clone().try_for_each(|argument| {
            out.write_char(' ')?;
            quoted(out, argument)
        })
    })
}

fn quoted(out: &mut dyn Write, argument: &[u8]) -> fmt::Result {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=,:@%+".contains(byte);
    let quote = argument.is_empty() || !argument.iter().all(is_plain);
    let mark = if quote { "'" } else { "" };
    out.write_str(mark)?;
    for chunk in argument.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                // Within single quotes, a shell takes every character literally except the closing quote.
                '\'' => out.write_str("'\\''")?,
                _ => out.write_char(character)?,
            }
        }
        if !chunk.invalid().is_empty() {
            out.write_char('\u{fffd}')?;
        }
    }
    out.write_str(mark)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    #[test]
    fn files_are_left_out_with_their_options() {
        for (typed, shown) in [
            (&b"curve\0--output=/home/me/a.json\0--size=1M\0"[..], " curve --size=1M"),
            (b"-o\0a.html\0--save\0b\0-q\0", " -q"),
            (b"--save=a\0-o\0-o\0", ""),
        ] {
            assert_eq!(super::typed(without_files(Arguments::packed(typed))).to_string(), shown);
        }
    }

    #[test]
    fn a_shell_reads_the_arguments_back_unchanged() {
        for (typed, shown) in [
            (&b"curve\0--size=1M\0"[..], " curve --size=1M"),
            (b"--output=my file.html\0", " '--output=my file.html'"),
            (b"it's\0\0$HOME\0", " 'it'\\''s' '' '$HOME'"),
            (b"\xff\0", " '\u{fffd}'"),
            (b"", ""),
        ] {
            assert_eq!(super::typed(Arguments::packed(typed)).to_string(), shown);
        }
    }
}
