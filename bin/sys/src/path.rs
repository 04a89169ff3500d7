//! Paths in the kernel's form: terminated by a NUL, at most `PATH_MAX` long.
//!
//! The module does not access files; it only turns byte strings into paths.

use super::errno::Errno;
use core::ffi::CStr;

/// Length of the longest path that a system call accepts, including its final NUL (`PATH_MAX`).
pub const PATH_MAX: usize = 4096;

/// A path in its own buffer, always terminated by a NUL.
#[derive(Clone, Copy)]
pub struct Path {
    bytes: [u8; PATH_MAX],
    length: usize,
}

impl Path {
    /// Returns the path `text`.
    ///
    /// # Errors
    /// `ENAMETOOLONG` from `PATH_MAX` bytes up; `EINVAL` for a NUL inside.
    pub fn new(text: &[u8]) -> Result<Path, Errno> {
        Path::join(&[text])
    }

    /// Returns the path that consists of all `parts`, one directly after the other.
    ///
    /// # Errors
    /// The errors of [`Path::new`].
    pub fn join(parts: &[&[u8]]) -> Result<Path, Errno> {
        let mut path = Path { bytes: [0; PATH_MAX], length: 0 };
        for part in parts {
            if part.contains(&0) {
                return Err(Errno::EINVAL);
            }
            let end = path.length + part.len();
            // The last byte stays the NUL.
            match path.bytes.get_mut(path.length..end) {
                Some(place) if end < PATH_MAX => place.copy_from_slice(part),
                _ => return Err(Errno::ENAMETOOLONG),
            }
            path.length = end;
        }
        Ok(path)
    }

    /// Returns the path without its NUL.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }

    /// Returns the path for a system call.
    pub fn as_c_str(&self) -> &CStr {
        // There is always a NUL; the empty path would be an ENOENT wherever it is used.
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    /// Returns the directory part with its final slash (empty if there is none) and the name in it.
    pub fn split(&self) -> (&[u8], &[u8]) {
        let text = self.as_bytes();
        let name = text.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
        text.split_at(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_split_at_the_last_slash() {
        let split = |text: &[u8]| {
            let path = Path::new(text).unwrap();
            let (directory, name) = path.split();
            (directory.to_vec(), name.to_vec())
        };
        assert_eq!(split(b"/tmp/a.json"), (b"/tmp/".to_vec(), b"a.json".to_vec()));
        assert_eq!(split(b"a.json"), (b"".to_vec(), b"a.json".to_vec()));
        assert_eq!(split(b"out/"), (b"out/".to_vec(), b"".to_vec()));
    }

    #[test]
    fn invalid_paths_are_refused() {
        assert_eq!(Path::new(b"a\0b").err(), Some(Errno::EINVAL));
        assert_eq!(Path::new(&[b'a'; PATH_MAX]).err(), Some(Errno::ENAMETOOLONG));
        let longest = Path::new(&[b'a'; PATH_MAX - 1]).unwrap();
        assert_eq!(longest.as_c_str().to_bytes().len(), PATH_MAX - 1);
    }
}
