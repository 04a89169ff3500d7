//! A tree of files to be written: the entries of a machine below `/sys` and `/proc`, and invalid ones.

use latency_tests::program::workspace;
use std::collections::BTreeMap;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::{fs, io};

/// An entry at a path.
#[derive(Clone, Debug)]
pub enum Entry {
    /// A file with this content.
    File(Vec<u8>),
    /// A file that only root may read.
    Secret(Vec<u8>),
    /// A directory.
    Directory,
    /// A symbolic link.
    Link(&'static str),
    /// A file of this many zero bytes that occupies no space.
    Holes(u64),
    /// A pipe with a name and without a writer.
    Pipe,
}

/// Entries by their absolute path.
#[derive(Clone, Debug, Default)]
pub struct Tree(pub BTreeMap<String, Entry>);

impl Tree {
    /// Reads the machine in `tests/fixtures/machines/NAME.txt`: a line `=== PATH` begins a file.
    pub fn of(name: &str) -> Tree {
        let path = workspace().join("tests/fixtures/machines").join(name).with_extension("txt");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let parts = text.split("=== ").skip(1).map(|part| part.split_once('\n').expect("a line"));
        let files = parts.map(|(path, content)| (path.to_owned(), Entry::File(content.into())));
        Tree(files.collect())
    }

    /// Puts an entry at a path, and removes everything at and below the path.
    pub fn put(&mut self, path: &str, entry: Entry) {
        let below = format!("{path}/");
        self.0.retain(|other, _| other != path && !other.starts_with(&below));
        self.0.insert(path.to_owned(), entry);
    }

    /// Puts a file at a path.
    pub fn file(&mut self, path: &str, content: impl AsRef<[u8]>) {
        self.put(path, Entry::File(content.as_ref().to_vec()));
    }

    /// Alters the content of every file.
    pub fn each_file(&mut self, mut alter: impl FnMut(&str, &mut Vec<u8>)) {
        for (path, entry) in &mut self.0 {
            if let Entry::File(content) = entry {
                alter(path, content);
            }
        }
    }

    /// Writes everything below `root`.
    pub fn write(&self, root: &Path) -> io::Result<()> {
        for (path, entry) in &self.0 {
            let path = root.join(path.trim_start_matches('/'));
            if let Some(parent) = path.parent() {
                fs::create_dir_all(parent)?;
            }
            match entry {
                Entry::File(content) => fs::write(&path, content)?,
                Entry::Secret(content) => {
                    fs::write(&path, content)?;
                    fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
                }
                Entry::Directory => fs::create_dir_all(&path)?,
                Entry::Link(to) => symlink(to, &path)?,
                Entry::Holes(length) => fs::File::create(&path)?.set_len(*length)?,
                Entry::Pipe => make_pipe(&path)?,
            }
        }
        Ok(())
    }
}

fn make_pipe(path: &Path) -> io::Result<()> {
    use std::os::unix::ffi::OsStrExt;
    let path = std::ffi::CString::new(path.as_os_str().as_bytes())?;
    // SAFETY: a text with a NUL that outlives the call, and a number.
    match unsafe { libc::mkfifo(path.as_ptr(), 0o644) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
