//! An initial file system for the guest: a cpio archive in the `newc` format.
//!
//! # References
//!
//! Linux, `Documentation/driver-api/early-userspace/buffer-format.rst`.

const DIRECTORY: u32 = 0o040_755;
const EXECUTABLE: u32 = 0o100_755;
const TRAILER: &str = "TRAILER!!!";

/// A cpio archive under construction.
#[derive(Debug)]
pub struct Initramfs {
    bytes: Vec<u8>,
    entries: u32,
}

impl Initramfs {
    /// Makes an archive with `init` as `/init` and empty `/proc`, `/sys`, `/dev` and `/tmp`.
    pub fn new(init: &[u8]) -> Self {
        let mut archive = Initramfs { bytes: Vec::with_capacity(init.len() + 4096), entries: 0 };
        for directory in ["proc", "sys", "dev", "tmp"] {
            archive.entry(directory, DIRECTORY, &[]);
        }
        archive.entry("init", EXECUTABLE, init);
        archive
    }

    /// Adds a file; `path` has no leading slash, and its directory is one of those above.
    pub fn file(&mut self, path: &str, content: &[u8]) {
        self.entry(path, EXECUTABLE, content);
    }

    /// Returns the finished archive.
    pub fn finish(mut self) -> Vec<u8> {
        self.entry(TRAILER, 0, &[]);
        self.bytes
    }

    fn entry(&mut self, name: &str, mode: u32, content: &[u8]) {
        let links = 1;
        self.entries += 1;
        // The fields in the order of the format: inode, mode, user, group, links, time, size, device (2),
        // special device (2), length of the name, checksum.
        let fields = [self.entries, mode, 0, 0, links, 0, length(content.len()), 0, 0, 0, 0]
            .into_iter()
            .chain([length(name.len() + 1), 0]);
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08x}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.align();
        self.bytes.extend_from_slice(content);
        self.align();
    }

    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

fn length(bytes: usize) -> u32 {
    u32::try_from(bytes).expect("a file of less than 4 GiB")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_aligned_and_closed_by_the_trailer() {
        let mut archive = Initramfs::new(b"12345");
        archive.file("tmp/a", b"x");
        let bytes = archive.finish();
        assert_eq!(bytes.len() % 4, 0);
        let mut names = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            assert_eq!(&bytes[at..at + 6], b"070701");
            let field = |n: usize| {
                let text = std::str::from_utf8(&bytes[at + 6 + 8 * n..at + 14 + 8 * n]).unwrap();
                usize::from_str_radix(text, 16).unwrap()
            };
            let (size, name) = (field(6), field(11));
            names.push(String::from_utf8(bytes[at + 110..at + 110 + name - 1].to_vec()).unwrap());
            let data = (at + 110 + name).next_multiple_of(4);
            if names.last().unwrap() == "init" {
                assert_eq!(&bytes[data..data + size], b"12345");
                assert_eq!(field(1), 0o100_755);
            }
            at = (data + size).next_multiple_of(4);
        }
        assert_eq!(names, ["proc", "sys", "dev", "tmp", "init", "tmp/a", TRAILER]);
    }
}
