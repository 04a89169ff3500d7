//! A package of Debian: an archive of `ar` with the facts and the files.
//!
//! # References
//! deb(5), deb-control(5), deb-changelog(5); Debian Policy Manual 12.3 to 12.7.

use crate::files::{Files, PAGE, mode};
use crate::release;
use crate::tar::Tar;
use crate::target::Target;
use crate::tools::gzip;

/// The directory of documents.
const DOCUMENTS: &str = "share/doc/latency-bench";

/// Complaints of lintian that are intended: the executable needs nothing of the system, profilers find its loops by their
/// symbols, and Debian's list of bugs does not know this package.
const OVERRIDES: &str = "latency-bench: statically-linked-binary\nlatency-bench: unstripped-binary-or-object\n\
                         latency-bench: initial-upload-closes-no-bugs\n";

/// The completion of zsh, in the directory that Debian's zsh does not search, and in the one that it does.
const ZSH: [&str; 2] =
    ["share/zsh/site-functions/_latency-bench", "share/zsh/vendor-completions/_latency-bench"];

/// Returns the name of the package of a target.
pub fn name(target: &Target) -> String {
    format!("latency-bench_{}-1_{}.deb", release::VERSION, target.architecture)
}

/// Returns the package of a target.
///
/// # Errors
///
/// A file that cannot be packed.
pub fn package(target: &Target, files: &Files) -> Result<Vec<u8>, String> {
    let mut files = files.clone();
    let page = files.remove(PAGE).ok_or("there is no manual page")?;
    files.insert(format!("{PAGE}.gz"), gzip(&page)?);
    let changes = files.remove(&format!("{DOCUMENTS}/CHANGELOG.md")).ok_or("there is no changelog")?;
    files.insert(format!("{DOCUMENTS}/changelog.gz"), gzip(&changes)?);
    let completion = files.remove(ZSH[0]).ok_or("there is no completion")?;
    files.insert(ZSH[1].into(), completion);
    files.insert(format!("{DOCUMENTS}/changelog.Debian.gz"), gzip(changelog().as_bytes())?);
    files.insert(format!("{DOCUMENTS}/copyright"), copyright(&files)?.into_bytes());
    files.insert("share/lintian/overrides/latency-bench".into(), OVERRIDES.into());
    let mut data = Tar::new(release::seconds());
    for (path, content) in &files {
        data.file(&format!("./usr/{path}"), mode(content), content)?;
    }
    let kibibytes = files.values().map(|content| content.len().div_ceil(1024)).sum::<usize>();
    let mut control = Tar::new(release::seconds());
    control.file("./control", 0o644, facts(target, kibibytes).as_bytes())?;
    let mut package = b"!<arch>\n".to_vec();
    for (name, content) in [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", gzip(&control.finish())?),
        ("data.tar.gz", gzip(&data.finish())?),
    ] {
        let (seconds, length) = (release::seconds(), content.len());
        package.extend(format!("{name:16}{seconds:<12}0     0     100644  {length:<10}`\n").bytes());
        package.extend(content);
        package.resize(package.len().next_multiple_of(2), b'\n');
    }
    Ok(package)
}

fn facts(target: &Target, kibibytes: usize) -> String {
    let [about, promise] = [release::description(), release::PROMISE].map(|text| text.replace("; ", ";\n "));
    format!(
        "Package: latency-bench\nVersion: {}-1\nArchitecture: {}\nMaintainer: {}\nInstalled-Size: {kibibytes}\n\
         Section: utils\nPriority: optional\nDescription: memory latency and bandwidth, with intervals and a verdict\n \
         {}.\n .\n {promise}\n",
        release::VERSION,
        target.architecture,
        release::maintainer(),
        about.replacen(": ", ":\n ", 1)
    )
}

fn changelog() -> String {
    let (version, maintainer) = (release::VERSION, release::maintainer());
    let day = release::day();
    format!(
        "latency-bench ({version}-1) unstable; urgency=medium\n\n  * Version {version}; changelog.gz lists what is \
         new.\n\n -- {maintainer}  {day} 00:00:00 +0000\n"
    )
}

/// Returns the licences; that of Apache is on every system of Debian.
fn copyright(files: &Files) -> Result<String, String> {
    let mit = files.get(&format!("{DOCUMENTS}/LICENSE-MIT")).ok_or("there is no licence")?;
    let mit = String::from_utf8_lossy(mit);
    Ok(format!(
        "latency-bench may be used under either of two licences: {}.\nOn Debian systems, the Apache License 2.0 is in \
         /usr/share/common-licenses/Apache-2.0.\nThe directory licences beside this file has the licences of the \
         libraries that are linked.\n\n{mit}",
        release::LICENCE
    ))
}
