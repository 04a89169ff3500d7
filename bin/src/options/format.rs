//! The formats as the command line knows them: a name and an extension.
//!
//! The caller gives the table; how a format is written is not known here.

/// A format that results can be written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FormatName {
    /// The word behind `--format=`.
    pub name: &'static str,
    /// The extension of its files, without the dot.
    pub extension: &'static str,
    /// True if only results with a picture can be written in it.
    pub needs_picture: bool,
    /// True if only results with memory attributes, latencies or bandwidths of nodes, can be written in it.
    pub needs_attributes: bool,
    /// True if its files are read by a service of another user, for which an old result is better than half of one.
    pub collected: bool,
    /// True if it has room for every picture, those included that a terminal shows on demand.
    pub draws: bool,
}

impl FormatName {
    /// Returns the format of that name.
    #[must_use]
    pub fn named(formats: &'static [FormatName], name: &[u8]) -> Option<&'static FormatName> {
        formats.iter().find(|format| format.name.as_bytes() == name)
    }

    /// Returns the format that a file has by its extension, in upper or lower case.
    #[must_use]
    pub fn of_file(formats: &'static [FormatName], path: &[u8]) -> Option<&'static FormatName> {
        let name = path.rsplit(|&byte| byte == b'/').next()?;
        let dot = name.iter().rposition(|&byte| byte == b'.')?;
        let extension = name.get(dot + 1..)?;
        formats.iter().find(|format| format.extension.as_bytes().eq_ignore_ascii_case(extension))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::FORMATS;
    use super::*;

    #[test]
    fn a_file_has_the_format_of_its_extension() {
        for (path, name) in [
            (&b"a.json"[..], Some("json")),
            (b"/x.y/r.1.SVG", Some("svg")),
            (b"notes.txt", Some("text")),
            (b"a.json/b", None),
            (b"json", None),
            (b"a.", None),
            (b"a.jsonx", None),
            (b"", None),
        ] {
            let found = FormatName::of_file(FORMATS, path).map(|format| format.name);
            assert_eq!(found, name, "{}", path.escape_ascii());
        }
    }
}
