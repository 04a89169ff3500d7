//! Arguments in the syntax of a shell.

use core::fmt::{self, Display, Write};
use core::mem;

use crate::sys::arguments::Arguments;

/// Writes arguments, each after a blank and quoted if necessary, without the output file: whoever repeats a command has
/// another one. Bytes that are not UTF-8 become U+FFFD.
pub fn typed(arguments: Arguments) -> impl Display {
    fmt::from_fn(move |out| {
        let mut is_file = false;
        arguments.into_iter().try_for_each(|argument| {
            if mem::take(&mut is_file) {
                return Ok(());
            }
            // A file follows, after a blank, an equals sign or, behind the letter, nothing.
            if let Some(file) = argument.strip_prefix(b"-o").or(argument.strip_prefix(b"--output"))
                && (argument.starts_with(b"-o") || file.is_empty() || file.starts_with(b"="))
            {
                is_file = file.is_empty();
                return Ok(());
            }
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
    fn a_shell_reads_the_arguments_back_unchanged() {
        for (typed, shown) in [
            (&b"curve\0--size=1M\0"[..], " curve --size=1M"),
            (b"--label=my=file 1\0", " '--label=my=file 1'"),
            (b"report\0--output=my file.html\0-q\0", " report -q"),
            (b"report\0-o\0--x\0-q\0", " report -q"),
            (b"report\0-omy file.html\0-q\0", " report -q"),
            (b"report\0-o=my file.html\0-q\0", " report -q"),
            (b"curve\0--order=random\0", " curve --order=random"),
            (b"--output\0x.svg\0", ""),
            (b"it's\0\0$HOME\0", " 'it'\\''s' '' '$HOME'"),
            (b"\xff\0", " '\u{fffd}'"),
            (b"", ""),
        ] {
            assert_eq!(super::typed(Arguments::packed(typed)).to_string(), shown);
        }
    }
}
