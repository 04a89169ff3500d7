//! Kernel images and programs from Debian's archive: downloaded with the ordinary package client and unpacked.
//!
//! Nothing is installed, so this works without root. The cloud kernel has NUMA, HMAT and huge pages built in,
//! needs no modules, and boots in seconds without hardware acceleration.

use super::architecture::Architecture;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The keys of the archive, at the path that its package uses.
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

/// Unpacks the kernel of this system's own release below `directory`. It uses the package lists of the
/// system, and fresh ones if these are absent, outdated, or without packages of that architecture.
///
/// # Errors
///
/// The failed step, with the last output of the program that failed.
pub fn of_this_system(architecture: Architecture, directory: &Path) -> Result<PathBuf, String> {
    let meta_package = cloud_kernel(architecture);
    let fresh = || {
        let own = own_state(architecture, directory)?;
        update(&own)?;
        unpacked(&meta_package, directory, &own)
    };
    match architecture {
        Architecture::X86_64 => unpacked(&meta_package, directory, &[])
            .or_else(|first| fresh().map_err(|second| format!("{first}; with fresh lists: {second}"))),
        Architecture::Aarch64 => fresh(),
    }
}

/// Unpacks these packages of this system's release together below `directory`, and returns the path of the
/// tree.
///
/// # Errors
///
/// The failed step, with the last output of the program that failed.
pub fn packages(names: &[&str], directory: &Path) -> Result<PathBuf, String> {
    let tree = directory.join("unpacked");
    fs::create_dir_all(&tree).map_err(|error| format!("cannot create {}: {error}", tree.display()))?;
    let fetch = |options: &[String]| {
        output(apt("apt-get").args(options).arg("download").args(names).current_dir(directory))
    };
    fetch(&[]).or_else(|_| {
        let own = own_state(Architecture::X86_64, directory)?;
        update(&own)?;
        fetch(&own)
    })?;
    for file in entries(directory).filter(|path| is_package(path)) {
        output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&tree))?;
    }
    Ok(tree)
}

/// Unpacks the kernel that `meta_package` of another suite of the archive, such as `unstable`, depends on, below
/// `directory`.
///
/// # Errors
///
/// The failed step, with the last output of the program that failed.
pub fn of_suite(
    suite: &str,
    architecture: Architecture,
    meta_package: &str,
    directory: &Path,
) -> Result<PathBuf, String> {
    unpacked(meta_package, directory, &lists_of(suite, architecture, directory)?)
}

/// Unpacks a package of another suite of the archive below `directory`, and returns the path of the tree.
///
/// # Errors
///
/// The failed step, with the last output of the program that failed.
pub fn package_of_suite(suite: &str, package: &str, directory: &Path) -> Result<PathBuf, String> {
    let options = lists_of(suite, Architecture::X86_64, directory)?;
    tree_of(package, directory, &options)
}

/// Returns the package with the kernel of an architecture's virtual machines.
pub fn cloud_kernel(architecture: Architecture) -> String {
    format!("linux-image-cloud-{}", architecture.debian())
}

/// Fetches the lists of another suite into a private directory, and returns the options of the client.
fn lists_of(suite: &str, architecture: Architecture, directory: &Path) -> Result<Vec<String>, String> {
    let mut options = own_state(architecture, directory)?;
    let sources = directory.join("sources.list");
    let signed = if Path::new(KEYRING).is_file() { format!("[signed-by={KEYRING}] ") } else { String::new() };
    let line = format!("deb {signed}{} {suite} main\n", archive()?);
    fs::write(&sources, line).map_err(|error| format!("cannot write {}: {error}", sources.display()))?;
    options.push(format!("-oDir::Etc::SourceList={}", sources.display()));
    options.push("-oDir::Etc::SourceParts=/dev/null".into());
    update(&options)?;
    Ok(options)
}

/// Returns the address of the archive in this system's configuration.
fn archive() -> Result<String, String> {
    let addresses = output(apt("apt-get").args(["indextargets", "--format", "$(REPO_URI)"]))?;
    main_archive(&addresses)
        .map(Into::into)
        .ok_or_else(|| "apt knows no archive of Debian (no sources, or not Debian)".into())
}

/// Returns the archive itself, among those of security updates and of other projects.
fn main_archive(addresses: &str) -> Option<&str> {
    addresses.lines().map(str::trim).find(|address| address.trim_end_matches('/').ends_with("/debian"))
}

/// Downloads the package with the image, unpacks it, and returns the path of the image.
fn unpacked(meta_package: &str, directory: &Path, options: &[String]) -> Result<PathBuf, String> {
    let depends = |package: &str| output(apt("apt-cache").args(options).args(["depends", package]));
    let answer = depends(meta_package)?;
    let package = dependency(&answer, "linux-image-")
        .ok_or_else(|| format!("{meta_package} is unknown to apt (no package lists, or not Debian)"))?;
    // From Linux 7 on the image is in a separate package.
    let answer = depends(package)?;
    let package = dependency(&answer, "linux-binary-").unwrap_or(package);
    image_in(&tree_of(package, directory, options)?)
        .ok_or_else(|| format!("{package} has no image of a kernel"))
}

/// Downloads a package, unpacks it, and returns the path of its tree.
fn tree_of(package: &str, directory: &Path, options: &[String]) -> Result<PathBuf, String> {
    output(apt("apt-get").args(options).arg("download").arg(package).current_dir(directory))?;
    let file = entries(directory)
        .find(|path| is_package(path))
        .ok_or_else(|| format!("apt-get download {package} left no package"))?;
    let tree = directory.join("unpacked");
    output(Command::new("dpkg-deb").arg("-x").arg(&file).arg(&tree))?;
    Ok(tree)
}

/// Returns the image in an unpacked package, under the name `vmlinuz-RELEASE`.
fn image_in(tree: &Path) -> Option<PathBuf> {
    if let Some(image) = entries(&tree.join("boot")).find(|path| is_image(path)) {
        return Some(image);
    }
    let mut releases = entries(&tree.join("usr/lib/modules")).chain(entries(&tree.join("lib/modules")));
    releases.find_map(|release| {
        let named = tree.join(format!("vmlinuz-{}", release.file_name()?.to_str()?));
        fs::rename(release.join("vmlinuz"), &named).ok()?;
        Some(named)
    })
}

/// Returns true if a file is named like a package.
fn is_package(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "deb")
}

/// Returns true if a file is named like the image of a kernel.
pub fn is_image(path: &Path) -> bool {
    path.is_file() && path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"vmlinuz-"))
}

/// Returns the entries of a directory; nothing if it cannot be read.
pub fn entries(directory: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(directory).into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()))
}

/// Returns the options with which the client keeps its lists in a private directory, which needs no
/// privilege. The packages installed here do not matter to another architecture.
fn own_state(architecture: Architecture, directory: &Path) -> Result<Vec<String>, String> {
    let (state, archives) = (directory.join("state"), directory.join("cache"));
    for needed in [state.join("lists/partial"), archives.join("archives/partial")] {
        fs::create_dir_all(&needed)
            .map_err(|error| format!("cannot create {}: {error}", needed.display()))?;
    }
    let mut options =
        vec![format!("-oDir::State={}", state.display()), format!("-oDir::Cache={}", archives.display())];
    if architecture != Architecture::X86_64 {
        let name = architecture.debian();
        options.extend([format!("-oAPT::Architecture={name}"), format!("-oAPT::Architectures={name}")]);
        options.push("-oDir::State::status=/dev/null".into());
    }
    Ok(options)
}

fn update(options: &[String]) -> Result<(), String> {
    let mut command = apt("apt-get");
    // The lists of an old release have expired, and will not be renewed.
    command.args(options).arg("-oAcquire::Check-Valid-Until=false");
    // Neither translations nor descriptions of desktop programs are needed: they are larger than the lists.
    command.args(["-oAcquire::Languages=none", "-oAcquire::IndexTargets::deb::DEP-11::DefaultEnabled=false"]);
    output(command.arg("update")).map(drop)
}

/// Returns the package that begins with `prefix` from the output of `apt-cache depends`.
fn dependency<'a>(depends: &'a str, prefix: &str) -> Option<&'a str> {
    depends
        .lines()
        .filter_map(|line| line.trim().strip_prefix("Depends: "))
        .find(|package| package.starts_with(prefix))
}

fn apt(program: &str) -> Command {
    let mut command = Command::new(program);
    // Root would hand the download to the user `_apt`, who cannot write here.
    command.env("LC_ALL", "C").args(["-q", "-oAPT::Sandbox::User=", "-oAcquire::http::Timeout=20"]);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernel_package_is_the_one_the_meta_package_depends_on() {
        let answer = "linux-image-cloud-amd64\n  Depends: linux-image-6.1.0-56-cloud-amd64\n";
        assert_eq!(dependency(answer, "linux-image-"), Some("linux-image-6.1.0-56-cloud-amd64"));
        assert_eq!(dependency("linux-image-cloud-amd64\n", "linux-image-"), None);
        assert_eq!(dependency("x\n  Depends: libc6\n", "linux-image-"), None);
        let answer = "linux-image-7.2\n |Depends: <dracut>\n  Depends: linux-binary-7.2\n";
        assert_eq!(dependency(answer, "linux-binary-"), Some("linux-binary-7.2"));
    }

    #[test]
    fn the_archive_is_distinguished_from_its_neighbours() {
        let addresses =
            "https://a.example/apt/\nhttp://m.example/debian-security/\nhttp://m.example/debian/\n";
        assert_eq!(main_archive(addresses), Some("http://m.example/debian/"));
        assert_eq!(main_archive("http://m.example/ubuntu/\n"), None);
        assert_eq!(main_archive(""), None);
    }

    #[test]
    fn the_image_is_found_in_old_and_new_packages() {
        for (number, file) in ["boot/vmlinuz-5.10.0-1", "usr/lib/modules/7.3/vmlinuz"].iter().enumerate() {
            let tree =
                std::env::temp_dir().join(format!("latency-bench-image-{}-{number}", std::process::id()));
            let path = tree.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "image").unwrap();
            let found = image_in(&tree);
            let name = found.as_ref().and_then(|path| Some(path.file_name()?.to_str()?.to_owned()));
            let content = found.map(|path| fs::read(path).unwrap());
            fs::remove_dir_all(&tree).unwrap();
            assert_eq!(content.as_deref(), Some(&b"image"[..]));
            assert_eq!(name.as_deref(), Some(["vmlinuz-5.10.0-1", "vmlinuz-7.3"][number]));
        }
    }
}
