//! Whole machines as fixtures: one text file holds the files of one machine.
//!
//! A line `=== PATH` begins a file, whose content ends before the next
//! of these lines; lines before the first one describe the machine.

use latency_core::topology::Files;
use std::collections::BTreeMap;
use std::path::Path;

/// The files of one machine.
#[derive(Clone, Debug, Default)]
pub struct Machine(pub BTreeMap<String, Vec<u8>>);

impl Machine {
    /// Reads the machine in `tests/fixtures/machines/NAME.txt`.
    #[allow(dead_code, reason = "some tests make their machines")]
    pub fn load(name: &str) -> Self {
        let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/machines");
        let fixture = std::fs::read_to_string(directory.join(name).with_extension("txt")).unwrap();
        let mut files = BTreeMap::new();
        for part in fixture.split("=== ").skip(1) {
            let (path, content) = part.split_once('\n').unwrap();
            let repeated = files.insert(path.to_owned(), content.as_bytes().to_vec());
            assert!(repeated.is_none(), "{name}: {path} is there twice");
        }
        Self(files)
    }

    /// Replaces or adds one file.
    #[allow(dead_code, reason = "not every test alters its machine")]
    pub fn set(&mut self, path: &str, content: &str) {
        self.0.insert(path.to_owned(), content.as_bytes().to_vec());
    }
}

impl Files for Machine {
    fn read<'b>(&self, path: &str, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let content = self.0.get(path)?;
        let length = content.len().min(buffer.len());
        buffer[..length].copy_from_slice(&content[..length]);
        Some(&buffer[..length])
    }
}
