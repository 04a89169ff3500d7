//! The kernel that guests boot: Debian's cloud kernel, fetched once.
//!
//! It has NUMA, HMAT and huge pages built in, needs no modules, and boots in
//! seconds without hardware acceleration. It is downloaded with the ordinary
//! package client into `target/emulator` and unpacked there; nothing is installed,
//! so this works without being root.

use crate::program::{scratch, workspace};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the path of another bzImage to boot.
pub const KERNEL_VARIABLE: &str = "LATENCY_BENCH_KERNEL";

const META_PACKAGE: &str = "linux-image-cloud-amd64";

/// The kernel image: `$LATENCY_BENCH_KERNEL`, else the cached one, else a fresh download.
///
/// # Errors
///
/// What could not be done, with the last words of the program that failed.
pub fn obtain() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os(KERNEL_VARIABLE) {
        let path = workspace().join(path);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(format!("{KERNEL_VARIABLE} names {}, which is not a file", path.display()))
        };
    }
    let cache = scratch()?;
    if let Some(image) = image_in(&cache) {
        return Ok(image);
    }
    let temporary = TemporaryDirectory::new(&cache)?;
    let package = download(&temporary.0)?;
    let unpacked = temporary.0.join("unpacked");
    output(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&unpacked))?;
    let image = image_in(&unpacked.join("boot"))
        .ok_or_else(|| format!("{} has no boot/vmlinuz-*", package.display()))?;
    let name = image.file_name().ok_or("an image without a name")?;
    // Within one file system a rename is atomic: another process sees the whole image or none.
    let kept = cache.join(name);
    fs::rename(&image, &kept).map_err(|error| format!("cannot keep {}: {error}", kept.display()))?;
    Ok(kept)
}

/// The image in `directory` with the greatest name, if there is any.
fn image_in(directory: &Path) -> Option<PathBuf> {
    let mut images: Vec<PathBuf> = fs::read_dir(directory)
        .ok()?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.is_file())
        .filter(|path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"vmlinuz-")))
        .collect();
    images.sort();
    images.pop()
}

/// Downloads the kernel package into `directory`: with the package lists of the
/// system, and when they are absent or outdated with lists of our own.
fn download(directory: &Path) -> Result<PathBuf, String> {
    download_with(directory, &[]).or_else(|first| {
        let own = own_lists(directory)?;
        download_with(directory, &own).map_err(|second| format!("{first}; with fresh lists: {second}"))
    })
}

fn download_with(directory: &Path, options: &[String]) -> Result<PathBuf, String> {
    let depends = output(apt("apt-cache").args(options).args(["depends", META_PACKAGE]))?;
    let package = kernel_package(&depends)
        .ok_or_else(|| format!("{META_PACKAGE} is unknown to apt (no package lists, or not Debian)"))?;
    output(apt("apt-get").args(options).arg("download").arg(package).current_dir(directory))?;
    fs::read_dir(directory)
        .map_err(|error| error.to_string())?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or_else(|| format!("apt-get download {package} left no package"))
}

/// Fetches the package lists into a private directory, which needs no privilege.
fn own_lists(directory: &Path) -> Result<Vec<String>, String> {
    let (state, archives) = (directory.join("state"), directory.join("cache"));
    for needed in [state.join("lists/partial"), archives.join("archives/partial")] {
        fs::create_dir_all(&needed)
            .map_err(|error| format!("cannot create {}: {error}", needed.display()))?;
    }
    let options =
        vec![format!("-oDir::State={}", state.display()), format!("-oDir::Cache={}", archives.display())];
    output(apt("apt-get").args(&options).arg("update"))?;
    Ok(options)
}

/// The concrete kernel package in the answer of `apt-cache depends META_PACKAGE`.
fn kernel_package(depends: &str) -> Option<&str> {
    depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|package| package.starts_with("linux-image-"))
}

fn apt(program: &str) -> Command {
    let mut command = Command::new(program);
    // Root would hand the download to the user `_apt`, who cannot write here.
    command.env("LC_ALL", "C").args(["-q", "-oAPT::Sandbox::User="]);
    command
}

fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|error| format!("cannot run {name}: {error}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&done.stderr);
    Err(format!("{name} failed ({}): {}", done.status, words.lines().last().unwrap_or("no message")))
}

/// A directory that disappears with its owner.
struct TemporaryDirectory(PathBuf);

impl TemporaryDirectory {
    fn new(parent: &Path) -> Result<Self, String> {
        let path = parent.join(format!("fetch-{}", std::process::id()));
        fs::create_dir_all(&path).map_err(|error| format!("cannot create {}: {error}", path.display()))?;
        Ok(TemporaryDirectory(path))
    }
}

impl Drop for TemporaryDirectory {
    fn drop(&mut self) {
        // Left-overs in `target` cost space and nothing else.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_package_is_the_one_the_meta_package_depends_on() {
        let answer = "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-56-cloud-amd64\n";
        assert_eq!(kernel_package(answer), Some("linux-image-6.1.0-56-cloud-amd64"));
        assert_eq!(kernel_package("linux-image-cloud-amd64\n"), None);
        assert_eq!(kernel_package("x\n  Depends: libc6\n"), None);
    }
}
