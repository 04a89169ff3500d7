//! The files of a release: for each target the archive and the bill of materials, one image for all targets, and the
//! checksums of these files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::crates::{Crate, shipped};
use crate::release;
use crate::tar::Tar;
use crate::target::Executable;
use crate::tools::{gzip, output, sha256};
use crate::{bash, fish, image, man, sbom, zsh};

/// Files of the tree that are packaged unchanged: from the workspace, to a directory of the archive.
const DOCUMENTS: [(&str, &str); 4] = [
    ("README.md", "share/doc/latency-bench"),
    ("LICENSE-MIT", "share/doc/latency-bench"),
    ("LICENSE-APACHE", "share/doc/latency-bench"),
    ("tests/schema/latency-bench.schema.json", "share/latency-bench"),
];

/// Prefixes of the names of licence files, in capitals.
const LICENCES: [&str; 4] = ["LICENSE", "LICENCE", "COPYRIGHT", "NOTICE"];

/// The notices of the standard library in the directory of a toolchain.
const LIBRARY: &str = "share/doc/rust/COPYRIGHT-library.html";

/// Writes the files of a release of these executables into `directory`.
///
/// # Errors
///
/// A file that cannot be read, packed or written.
pub fn write(executables: &[Executable], directory: &Path) -> Result<(), String> {
    let compiler = output(Command::new("rustc").arg("--version"))?;
    let mut files = Vec::new();
    for (target, executable) in executables {
        let crates = shipped(target)?;
        let bill = sbom::document(&crates, &compiler)?;
        let stem = format!("latency-bench-{}-{}-linux", release::VERSION, target.machine);
        files.push((format!("{stem}.tar.gz"), gzip(&archive(&stem, executable, &bill, &crates)?)?));
        files.push((format!("{stem}.cdx.json"), bill.into_bytes()));
    }
    files.push((format!("latency-bench-{}-linux.oci.tar", release::VERSION), image::of(executables)?));
    fs::create_dir_all(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let mut sums = String::new();
    for (name, content) in files {
        sums += &format!("{}  {name}\n", sha256(&content));
        put(&directory.join(name), &content)?;
    }
    put(&directory.join("SHA256SUMS"), sums.as_bytes())
}

/// Returns the archive; its directories are relative to a prefix such as `/usr/local`.
fn archive(
    stem: &str,
    executable: &[u8],
    bill: &str,
    crates: &BTreeMap<String, Crate>,
) -> Result<Vec<u8>, String> {
    let workspace = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let mut files: BTreeMap<String, Vec<u8>> = BTreeMap::new();
    let program = "bin/latency-bench";
    files.insert(program.into(), executable.to_vec());
    for (path, text) in [
        ("share/man/man1/latency-bench.1", man::page()),
        ("share/bash-completion/completions/latency-bench", bash::script()),
        ("share/zsh/site-functions/_latency-bench", zsh::script()),
        ("share/fish/vendor_completions.d/latency-bench.fish", fish::script()),
        ("share/doc/latency-bench/latency-bench.cdx.json", bill.to_string()),
    ] {
        files.insert(path.into(), text.into_bytes());
    }
    for (path, place) in DOCUMENTS {
        let name = path.rsplit('/').next().unwrap_or(path);
        files.insert(format!("{place}/{name}"), read(&workspace.join(path))?);
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
    let mut tar = Tar::new(release::seconds());
    for (path, content) in files {
        let mode = if path == program { 0o755 } else { 0o644 };
        tar.file(&format!("{stem}/{path}"), mode, &content)?;
    }
    Ok(tar.finish())
}

/// Returns the licence files of a directory.
fn licences(directory: &Path) -> Result<Vec<PathBuf>, String> {
    let entries = fs::read_dir(directory).map_err(|error| format!("{}: {error}", directory.display()))?;
    let is_licence = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_uppercase();
        path.is_file() && LICENCES.iter().any(|begin| name.starts_with(begin))
    };
    Ok(entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_licence).collect())
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

fn put(path: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}
