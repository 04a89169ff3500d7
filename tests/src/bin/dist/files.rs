//! The files of an installation, below a prefix such as `/usr/local`: archives and packages have all of them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::crates::Crate;
use crate::tools::output;
use crate::{bash, fish, man, zsh};

/// The contents of files by their paths below the prefix.
pub type Files = BTreeMap<String, Vec<u8>>;

/// Files of the tree that are installed unchanged: from the workspace, to a directory.
const DOCUMENTS: [(&str, &str); 5] = [
    ("README.md", "share/doc/latency-bench"),
    ("bin/CHANGELOG.md", "share/doc/latency-bench"),
    ("LICENSE-MIT", "share/doc/latency-bench"),
    ("LICENSE-APACHE", "share/doc/latency-bench"),
    ("tests/schema/latency-bench.schema.json", "share/latency-bench"),
];

/// The manual page; packages compress it.
pub const PAGE: &str = "share/man/man1/latency-bench.1";

/// Prefixes of the names of licence files, in capitals.
const LICENCES: [&str; 4] = ["LICENSE", "LICENCE", "COPYRIGHT", "NOTICE"];

/// The notices of the standard library in the directory of a toolchain.
const LIBRARY: &str = "share/doc/rust/COPYRIGHT-library.html";

/// Returns the files of an installation of this executable, with its bill of materials and the licences of its crates.
///
/// # Errors
///
/// A file that cannot be read, and a crate without a licence.
pub fn installed(executable: &[u8], bill: &str, crates: &BTreeMap<String, Crate>) -> Result<Files, String> {
    let mut files = Files::new();
    files.insert("bin/latency-bench".into(), executable.to_vec());
    for (path, text) in [
        (PAGE, man::page()),
        ("share/bash-completion/completions/latency-bench", bash::script()),
        ("share/zsh/site-functions/_latency-bench", zsh::script()),
        ("share/fish/vendor_completions.d/latency-bench.fish", fish::script()),
        ("share/doc/latency-bench/latency-bench.cdx.json", bill.to_string()),
    ] {
        files.insert(path.into(), text.into_bytes());
    }
    for (path, place) in DOCUMENTS {
        let name = path.rsplit('/').next().unwrap_or(path);
        files.insert(format!("{place}/{name}"), read(&workspace().join(path))?);
    }
    for (path, content) in below(&workspace().join("tests/recipes"))? {
        files.insert(format!("share/latency-bench/recipes/{path}"), content);
    }
    let others = crates.values().filter(|known| known.checksum.is_some());
    let others = others.map(|known| (format!("{}-{}", known.name, known.version), known.directory.clone()));
    for (name, directory) in others {
        let found = licences(&directory)?;
        if found.is_empty() {
            return Err(format!("{} has no licence", directory.display()));
        }
        for path in found {
            let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.insert(format!("share/doc/latency-bench/licences/{name}/{file}"), read(&path)?);
        }
    }
    // The compiler's own library is linked as well; one file has all of its notices.
    let sysroot = output(Command::new("rustc").args(["--print", "sysroot"]))?;
    let notices = Path::new(sysroot.trim()).join(LIBRARY);
    files.insert("share/doc/latency-bench/licences/rust-library.html".into(), read(&notices)?);
    Ok(files)
}

/// Returns the mode of a file: programs and scripts can be executed.
pub fn mode(content: &[u8]) -> u32 {
    if content.starts_with(b"\x7fELF") || content.starts_with(b"#!") { 0o755 } else { 0o644 }
}

/// Returns the root of the workspace.
pub fn workspace() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Returns the contents of all files below a directory by their paths from there.
///
/// # Errors
///
/// A file or a directory that cannot be read.
pub fn below(directory: &Path) -> Result<Files, String> {
    let mut found = Files::new();
    let mut pending = vec![directory.to_path_buf()];
    while let Some(at) = pending.pop() {
        for path in entries(&at)? {
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(directory).unwrap_or(&path).to_string_lossy().into_owned();
                found.insert(name, read(&path)?);
            }
        }
    }
    Ok(found)
}

/// Returns the licence files of a directory.
fn licences(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && LICENCES.iter().any(|begin| name.starts_with(begin))
    };
    Ok(entries(directory)?.into_iter().filter(is_licence).collect())
}

fn entries(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let listed = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    Ok(listed.filter_map(|entry| Some(entry.ok()?.path())).collect())
}

/// Returns the content of a file.
///
/// # Errors
///
/// A file that cannot be read.
pub fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}
