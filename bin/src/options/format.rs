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

    /// Returns whether there is nothing to write in it before something was measured.
    #[must_use]
    pub const fn shows_values_alone(&self) -> bool {
        self.needs_picture || self.needs_attributes || self.collected
    }

    /// Returns the extension of a file, without the dot. A dot at either end of a name does not begin one.
    #[must_use]
    pub fn extension_of(path: &[u8]) -> Option<&[u8]> {
        let name = path.rsplit(|&byte| byte == b'/').next()?;
        let dot = name.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > 0)?;
        name.get(dot + 1..).filter(|extension| !extension.is_empty())
    }

    /// Returns the format that a file has by its extension.
    #[must_use]
    pub fn of_file(formats: &'static [FormatName], path: &[u8]) -> Option<&'static FormatName> {
        FormatName::of_extension(formats, FormatName::extension_of(path)?)
    }

    /// Returns the format of an extension, in upper or lower case.
    #[must_use]
    pub fn of_extension(formats: &'static [FormatName], extension: &[u8]) -> Option<&'static FormatName> {
        formats.iter().find(|format| format.extension.as_bytes().eq_ignore_ascii_case(extension))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::FORMATS;
    use super::*;

    #[test]
    fn a_file_has_the_format_of_its_extension() {
        for (path, extension, name) in [
            (&b"a.json"[..], Some(&b"json"[..]), Some("json")),
            (b"/x.y/r.1.SVG", Some(b"SVG"), Some("svg")),
            (b"notes.txt", Some(b"txt"), Some("text")),
            (b"a.jsonx", Some(b"jsonx"), None),
            (b"a.json/b", None, None),
            (b"json", None, None),
            (b"a.", None, None),
            (b"/x/.json", None, None),
            (b"..", None, None),
            (b"", None, None),
        ] {
            let found = FormatName::extension_of(path);
            assert_eq!(found, extension, "{}", path.escape_ascii());
            let format = FormatName::of_file(FORMATS, path);
            assert_eq!(format.map(|format| format.name), name, "{}", path.escape_ascii());
        }
    }
}
