//! Archives in the format ustar whose bytes depend only on names, modes and contents: no owner, no clock.
//!
//! # References
//! POSIX.1-2017, pax, "ustar Interchange Format".

use std::collections::BTreeSet;

const BLOCK: usize = 512;

/// An archive that grows file by file.
pub struct Tar {
    bytes: Vec<u8>,
    directories: BTreeSet<String>,
    seconds: u64,
}

impl Tar {
    /// Makes an empty archive; its files have a change time of `seconds` after 1970.
    pub fn new(seconds: u64) -> Tar {
        Tar { bytes: Vec::new(), directories: BTreeSet::new(), seconds }
    }

    /// Adds a file, and before it the directories on its path.
    ///
    /// # Errors
    ///
    /// A path or a file that is too long for the format.
    pub fn file(&mut self, path: &str, mode: u32, content: &[u8]) -> Result<(), String> {
        for (end, _) in path.match_indices('/') {
            let directory = &path[..=end];
            if self.directories.insert(directory.to_string()) {
                self.header(directory, 0o755, b'5', 0)?;
            }
        }
        self.header(path, mode, b'0', content.len() as u64)?;
        self.bytes.extend(content);
        self.fill();
        Ok(())
    }

    /// Ends the archive, with two empty blocks.
    pub fn finish(mut self) -> Vec<u8> {
        self.bytes.resize(self.bytes.len() + 2 * BLOCK, 0);
        self.bytes
    }

    fn fill(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(BLOCK), 0);
    }

    fn header(&mut self, path: &str, mode: u32, kind: u8, length: u64) -> Result<(), String> {
        let (prefix, name) = parts(path).ok_or_else(|| format!("{path} is too long for an archive"))?;
        let mut block = [0; BLOCK];
        let mut put = |at: usize, bytes: &[u8]| block[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, name.as_bytes());
        put(100, format!("{mode:07o}").as_bytes());
        put(108, b"0000000\x000000000\0");
        put(124, format!("{length:011o}").as_bytes());
        put(136, format!("{:011o}", self.seconds).as_bytes());
        // The sum counts its own field as blanks.
        put(148, b"        ");
        put(156, &[kind]);
        put(257, b"ustar\x0000");
        put(345, prefix.as_bytes());
        let sum: u32 = block.iter().map(|&byte| u32::from(byte)).sum();
        block[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        if length >= 1 << 33 {
            return Err(format!("{path} is too large for an archive"));
        }
        self.bytes.extend(block);
        Ok(())
    }
}

/// Splits a path into the two fields of a header: 155 bytes before a slash, 100 behind it.
fn parts(path: &str) -> Option<(&str, &str)> {
    const PREFIX: usize = 155;
    const NAME: usize = 100;
    if path.len() <= NAME {
        return Some(("", path));
    }
    let fits =
        |(prefix, name): &(&str, &str)| prefix.len() <= PREFIX && !name.is_empty() && name.len() <= NAME;
    path.match_indices('/').map(|(slash, _)| (&path[..slash], &path[slash + 1..])).find(fits)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_follow_from_names_and_contents() {
        let made = || {
            let mut tar = Tar::new(86_400);
            tar.file("a/b/c", 0o644, b"text").unwrap();
            tar.file("a/d", 0o755, &[7; 600]).unwrap();
            tar.finish()
        };
        let bytes = made();
        assert_eq!(bytes, made());
        // Blocks: two directories, the headers of two files with contents of one and two blocks, and the end.
        assert_eq!(bytes.len(), (2 + 2 + 3 + 2) * BLOCK);
        assert_eq!(&bytes[2 * BLOCK + 100..2 * BLOCK + 108], b"0000644\0");
        assert_eq!(&bytes[2 * BLOCK + 136..2 * BLOCK + 148], b"00000250600\0");
        assert_eq!(&bytes[3 * BLOCK..3 * BLOCK + 5], b"text\0");
    }

    #[test]
    fn long_paths_are_divided_or_refused() {
        let long = format!("{}/{}", "d".repeat(60), "n".repeat(60));
        assert_eq!(parts(&long), Some((&long[..60], &long[61..])));
        assert_eq!(parts(&"n".repeat(101)), None);
        assert!(Tar::new(0).file(&"n".repeat(300), 0o644, b"").is_err());
    }
}
