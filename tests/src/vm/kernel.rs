//! The kernels that guests boot: Debian's cloud kernels, each fetched once into `target/emulator`.
//!
//! Every test of the emulator needs the kernel of this system's release. The oldest and the newest of the
//! archive are for tests of old and new kernels, which use whatever is available.

use super::architecture::Architecture;
use super::debian;
use crate::program::{scratch, workspace};
use std::fs;
use std::path::{Path, PathBuf};

/// Environment variable with the path of another bzImage to boot.
pub const KERNEL_VARIABLE: &str = "LATENCY_BENCH_KERNEL";

/// An end of the archive's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Age {
    /// The kernel of the oldest release that is still available.
    Oldest,
    /// The newest kernel of all.
    Newest,
}

impl Age {
    /// Returns the suites to ask, in this order; the names move on with each release, so none of them becomes
    /// outdated.
    ///
    /// The archive takes a package out of `experimental` as soon as `unstable` has a newer one.
    const fn suites(self) -> &'static [&'static str] {
        match self {
            Age::Oldest => &["oldoldstable", "oldstable", "stable"],
            Age::Newest => &["experimental", "unstable", "testing"],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Age::Oldest => "oldest",
            Age::Newest => "newest",
        }
    }
}

/// Returns the kernel image: `$LATENCY_BENCH_KERNEL` on x86-64, otherwise the cached one, otherwise a fresh download.
///
/// # Errors
///
/// The failed step, with the last output of the program that failed.
pub fn obtain(architecture: Architecture) -> Result<PathBuf, String> {
    if architecture != Architecture::X86_64 {
        return cached(&folder(architecture.debian())?, |place| debian::of_this_system(architecture, place));
    }
    if let Some(path) = std::env::var_os(KERNEL_VARIABLE) {
        let path = workspace().join(path);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(format!("{KERNEL_VARIABLE} names {}, which is not a file", path.display()))
        };
    }
    cached(&scratch()?, |place| debian::of_this_system(architecture, place))
}

/// Returns a folder for the images of one kind, which is made if it is not there.
fn folder(kind: &str) -> Result<PathBuf, String> {
    let path = scratch()?.join(kind);
    fs::create_dir_all(&path).map_err(|error| format!("cannot create {}: {error}", path.display()))?;
    Ok(path)
}

/// Returns the image of the oldest or the newest kernel: the cached one, otherwise a fresh download.
///
/// # Errors
///
/// The failed step for the last suite, with the last output of the program that failed.
pub fn at_the_end(age: Age) -> Result<PathBuf, String> {
    let cache = folder(age.name())?;
    let mut wrong = String::new();
    for suite in age.suites() {
        let architecture = Architecture::X86_64;
        let package = debian::cloud_kernel(architecture);
        match cached(&cache, |place| debian::of_suite(suite, architecture, &package, place)) {
            Ok(image) => return Ok(image),
            Err(reason) => wrong = format!("{suite}: {reason}"),
        }
    }
    Err(wrong)
}

/// The suite of the archive that has a kernel with base pages of 16 KiB, and a firmware whose map of memory leaves no part
/// without a node: that of the release before describes its flash as memory.
const SUITE_OF_AARCH64: &str = "trixie";

/// Returns the image of an aarch64 kernel with base pages of 16 KiB: the cached one, otherwise a fresh download.
///
/// # Errors
///
/// The failed step, with the last output of the program that failed.
pub fn with_pages_of_16_kib() -> Result<PathBuf, String> {
    cached(&folder("arm64-16k")?, |place| {
        debian::of_suite(SUITE_OF_AARCH64, Architecture::Aarch64, "linux-image-arm64-16k", place)
    })
}

/// Returns the firmware (EDK II) of emulated aarch64 machines, which describes them by ACPI: the cached one, otherwise a
/// fresh download.
///
/// # Errors
///
/// The failed step, with the last output of the program that failed.
pub fn firmware_of_aarch64() -> Result<PathBuf, String> {
    let cache = folder("arm64-firmware")?;
    let kept = cache.join("QEMU_EFI.fd");
    if !kept.is_file() {
        let temporary = TemporaryDirectory::new(&cache)?;
        let tree = debian::package_of_suite(SUITE_OF_AARCH64, "qemu-efi-aarch64", &temporary.0)?;
        // Another process sees either the whole file or nothing.
        fs::rename(tree.join("usr/share/qemu-efi-aarch64/QEMU_EFI.fd"), &kept)
            .map_err(|error| format!("cannot keep {}: {error}", kept.display()))?;
    }
    Ok(kept)
}

/// Returns the release of the kernel in an image, from the name of its file: `6.1.0-50-cloud-amd64`.
pub fn release(image: &Path) -> &str {
    let name = image.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    name.strip_prefix("vmlinuz-").unwrap_or(name)
}

/// Returns the image in `cache`, or the one that `fetch` brings into a directory below it.
fn cached(cache: &Path, fetch: impl Fn(&Path) -> Result<PathBuf, String>) -> Result<PathBuf, String> {
    if let Some(image) = debian::entries(cache).filter(|path| debian::is_image(path)).max() {
        return Ok(image);
    }
    let temporary = TemporaryDirectory::new(cache)?;
    let image = fetch(&temporary.0)?;
    let kept = cache.join(image.file_name().ok_or("an image without a name")?);
    // Within one file system a rename is atomic: another process sees either the whole image or nothing.
    fs::rename(&image, &kept).map_err(|error| format!("cannot keep {}: {error}", kept.display()))?;
    Ok(kept)
}

/// A directory that is deleted on drop.
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
        // Left-overs in `target` cost only space.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fetched_image_is_kept() {
        let cache =
            TemporaryDirectory(std::env::temp_dir().join(format!("latency-cache-{}", std::process::id())));
        fs::create_dir_all(&cache.0).unwrap();
        let fetch = |directory: &Path| {
            let image = directory.join("vmlinuz-9.9");
            fs::write(&image, "image").map_err(|error| error.to_string())?;
            Ok(image)
        };
        assert_eq!(cached(&cache.0, |_| Err("no network".into())), Err("no network".into()));
        let kept = cached(&cache.0, fetch).unwrap();
        assert_eq!(release(&kept), "9.9");
        assert_eq!(cached(&cache.0, |_| panic!("fetched again")), Ok(kept));
        assert_eq!(debian::entries(&cache.0).count(), 1);
    }
}
