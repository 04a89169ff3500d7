//! The files of a release: for each target the archive, the packages and the bill of materials, one image for all
//! targets, the recipes of other builders, and the checksums of these files.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::crates::shipped;
use crate::files::{Files, installed, mode};
use crate::tar::Tar;
use crate::target::{Executable, Target};
use crate::tools::{gzip, output, sha256};
use crate::{deb, image, packaging, release, rpm, sbom, wheel};

/// Writes the files of a release of these executables into `directory`.
///
/// # Errors
///
/// A file that cannot be read, packed or written.
pub fn write(executables: &[Executable], directory: &Path) -> Result<(), String> {
    let compiler = output(Command::new("rustc").arg("--version"))?;
    let mut files = Vec::new();
    let mut archives = Vec::new();
    for (target, executable) in executables {
        let crates = shipped(target)?;
        let bill = sbom::document(&crates, &compiler)?;
        let contents = installed(executable, &bill, &crates)?;
        archives.push((*target, gzip(&archive(&stem(target), &contents)?)?));
        files.push((deb::name(target), deb::package(target, &contents)?));
        files.push((rpm::name(target), rpm::package(target, &contents)?));
        files.push((wheel::name(target), wheel::package(target, &contents)?));
        files.push((format!("{}.cdx.json", stem(target)), bill.into_bytes()));
    }
    files.push((packaging::name(), packaging::package(&archives)?));
    for (target, archive) in archives {
        files.push((format!("{}.tar.gz", stem(target)), archive));
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

/// Returns the names of the archive's directory and, without their endings, of the archive and the bill of materials.
fn stem(target: &Target) -> String {
    format!("latency-bench-{}-{}-linux", release::VERSION, target.machine)
}

/// Returns the archive; its directories are relative to a prefix such as `/usr/local`.
fn archive(stem: &str, files: &Files) -> Result<Vec<u8>, String> {
    let mut tar = Tar::new(release::seconds());
    for (path, content) in files {
        tar.file(&format!("{stem}/{path}"), mode(content), content)?;
    }
    Ok(tar.finish())
}

fn put(path: &Path, content: &[u8]) -> Result<(), String> {
    fs::write(path, content).map_err(|error| format!("{}: {error}", path.display()))
}
