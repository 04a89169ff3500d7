//! Arguments in the syntax of a shell.

use alloc::string::String;
use core::mem;
use latency_report::lists::joined;

use latency_sys::arguments::Arguments;

/// The options that are left out of a command line, with their values.
#[derive(Clone, Copy)]
pub struct LeftOut {
    names: &'static [&'static [u8]],
    /// True if the next argument is the value of one.
    is_next: bool,
}

impl LeftOut {
    /// Leaves out the options that name files.
    pub const FILES: LeftOut = LeftOut { names: &[b"-o", b"--output", b"--save"], is_next: false };
    /// Leaves out the options that name files or tell hosts apart.
    pub const IDENTITY: LeftOut =
        LeftOut { names: &[b"-o", b"--output", b"--save", b"--label"], is_next: false };

    /// Returns whether the next argument of the command line stays.
    pub fn keeps(&mut self, argument: &[u8]) -> bool {
        if mem::take(&mut self.is_next) {
            return false;
        }
        // A value follows, after a blank, an equals sign or, behind the letter, nothing.
        let value = self.names.iter().find_map(|name| {
            let value = argument.strip_prefix(*name)?;
            (name.len() == 2 || value.is_empty() || value.starts_with(b"=")).then_some(value)
        });
        self.is_next = value.is_some_and(<[u8]>::is_empty);
        value.is_none()
    }
}

/// Returns arguments without the options that name files, and without these names.
pub fn without_files(arguments: Arguments) -> impl Iterator<Item = &'static [u8]> + Clone {
    let mut files = LeftOut::FILES;
    arguments.filter(move |argument| files.keeps(argument))
}

/// Returns arguments, each after a blank and quoted if necessary. Bytes that are not UTF-8 become U+FFFD.
pub fn typed(arguments: &mut dyn Iterator<Item = &[u8]>) -> String {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_./=,:@%+".contains(byte);
    let quoted = |argument: &[u8]| {
        let text = String::from_utf8_lossy(argument);
        match !argument.is_empty() && argument.iter().all(is_plain) {
            true => format!(" {text}"),
            // Within single quotes, a shell takes every character literally except the closing quote.
            false => format!(" '{}'", joined("", "'\\''", text.split('\''))),
        }
    };
    let mut all = String::new();
    for argument in arguments {
        all += &quoted(argument);
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_left_out_with_their_options() {
        for (typed, shown) in [
            (&b"curve\0--output=/home/me/a.json\0--size=1M\0"[..], " curve --size=1M"),
            (b"-o\0a.html\0--save\0b\0-q\0", " -q"),
            (b"--save=a\0-o\0-o\0", ""),
            (b"report\0--output=my file.html\0-q\0", " report -q"),
            (b"report\0-o\0--x\0-q\0", " report -q"),
            (b"report\0-omy file.html\0-q\0", " report -q"),
            (b"report\0-o=my file.html\0-q\0", " report -q"),
            (b"curve\0--order=random\0", " curve --order=random"),
            (b"--output\0x.svg\0", ""),
        ] {
            assert_eq!(super::typed(&mut without_files(Arguments::packed(typed))), shown);
        }
    }

    #[test]
    fn a_shell_reads_the_arguments_back_unchanged() {
        for (typed, shown) in [
            (&b"curve\0--size=1M\0"[..], " curve --size=1M"),
            (b"--label=my=file 1\0", " '--label=my=file 1'"),
            (b"it's\0\0$HOME\0", " 'it'\\''s' '' '$HOME'"),
            (b"\xff\0", " '\u{fffd}'"),
            (b"", ""),
        ] {
            assert_eq!(super::typed(&mut Arguments::packed(typed)), shown);
        }
    }
}
