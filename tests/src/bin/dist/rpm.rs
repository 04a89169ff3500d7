//! A package of RPM, version 3 of the format: a lead, a header of checksums, a header of facts, and an archive of `cpio`.
//!
//! # References
//! RPM manual: "Package format V3", "Header tags", "Signatures and digests"; Linux Standard Base 5.0, core, chapter 22.

use std::collections::BTreeMap;

use crate::files::{Files, PAGE, mode};
use crate::release;
use crate::target::Target;
use crate::tools::{gzip, sha256};

/// The flags of documents and of licences (`rpmfileAttrs`).
const DOCUMENT: u32 = 1 << 1;
const LICENCE: u32 = 1 << 7;

/// Returns the name of the package of a target.
pub fn name(target: &Target) -> String {
    format!("latency-bench-{}-1.{}.rpm", release::VERSION, target.machine)
}

/// Returns the package of a target.
///
/// # Errors
///
/// If compression fails, or there is no manual page.
pub fn package(target: &Target, files: &Files) -> Result<Vec<u8>, String> {
    let entries = entries(files)?;
    let cpio = cpio(&entries);
    let payload = gzip(&cpio)?;
    let header = facts(target, &entries, &sha256(&payload)).bytes(63);
    let mut sums = Header::default();
    sums.numbers(1000, [(header.len() + payload.len()) as u32]);
    sums.numbers(1007, [cpio.len() as u32]);
    sums.text(273, &sha256(&header));
    let sums = sums.bytes(62);
    // The lead: magic, version 3.0, a binary package; readers take the rest from the headers.
    let mut package = vec![0xed, 0xab, 0xee, 0xdb, 3, 0, 0, 0, 0, 1];
    package.extend(name(target).bytes().take(65));
    package.resize(76, 0);
    // Linux, and a header of signatures.
    package.extend([0, 1, 0, 5]);
    package.resize(96, 0);
    package.extend(sums);
    package.resize(package.len().next_multiple_of(8), 0);
    package.extend(header);
    package.extend(payload);
    Ok(package)
}

/// A file or, without content, a directory.
struct Entry {
    path: String,
    content: Option<Vec<u8>>,
}

impl Entry {
    fn mode(&self) -> u32 {
        self.content.as_ref().map_or(0o040_755, |content| 0o100_000 | mode(content))
    }

    fn bytes(&self) -> &[u8] {
        self.content.as_deref().unwrap_or_default()
    }

    fn flags(&self) -> u32 {
        match &self.content {
            Some(_) if self.path.contains("/licences/") || self.path.contains("/LICENSE") => LICENCE,
            Some(_)
                if ["/usr/share/doc/", "/usr/share/man/"]
                    .iter()
                    .any(|place| self.path.starts_with(place)) =>
            {
                DOCUMENT
            }
            _ => 0,
        }
    }
}

/// Returns the files and the directories that only this package has, in the order of their paths.
fn entries(files: &Files) -> Result<Vec<Entry>, String> {
    let mut found = BTreeMap::new();
    for (path, content) in files {
        let (path, content) = match path.as_str() {
            PAGE => (format!("/usr/{PAGE}.gz"), gzip(content)?),
            path => (format!("/usr/{path}"), content.clone()),
        };
        for (end, _) in path.match_indices('/') {
            if path[..end].contains("/latency-bench") {
                found.insert(path[..end].to_string(), None);
            }
        }
        found.insert(path, Some(content));
    }
    Ok(found.into_iter().map(|(path, content)| Entry { path, content }).collect())
}

fn facts(target: &Target, entries: &[Entry], payload: &str) -> Header {
    let mut header = Header::default();
    let seconds = release::seconds() as u32;
    let own = format!("latency-bench({})", target.machine.replace('_', "-"));
    let version = format!("{}-1", release::VERSION);
    header.list(100, ["C"]);
    for (tag, text) in [
        (1000, release::PACKAGE),
        (1001, release::VERSION),
        (1002, "1"),
        (1007, "localhost"),
        (1014, release::LICENCE),
        (1015, release::maintainer()),
        (1021, "linux"),
        (1022, target.machine),
        (1044, &format!("latency-bench-{version}.src.rpm")),
        (1124, "cpio"),
        (1125, "gzip"),
        (1126, "9"),
    ] {
        header.text(tag, text);
    }
    for (tag, text) in [
        (1004, "Memory latency and bandwidth, with intervals and a verdict"),
        (1005, &format!("{}.\n{}", release::description(), release::PROMISE)),
        (1016, "Applications/System"),
    ] {
        header.international(tag, text);
    }
    header.numbers(1006, [seconds]);
    header.numbers(1009, [entries.iter().map(|entry| entry.bytes().len() as u32).sum()]);
    header.list(1047, [release::PACKAGE, &own]);
    // Equal to this version.
    header.numbers(1112, [8, 8]);
    header.list(1113, [&*version, &version]);
    // Less than or equal to these versions of RPM's own abilities.
    header
        .list(1049, ["rpmlib(CompressedFileNames)", "rpmlib(FileDigests)", "rpmlib(PayloadFilesHavePrefix)"]);
    header.numbers(1048, [0x0100_000a; 3]);
    header.list(1050, ["3.0.4-1", "4.6.0-1", "4.0-1"]);
    header.numbers(5011, [8]);
    header.list(5092, [payload]);
    header.numbers(5093, [8]);
    let parts: Vec<(&str, &str)> = entries.iter().filter_map(|entry| entry.path.rsplit_once('/')).collect();
    let mut directories: Vec<String> = Vec::new();
    let mut places = Vec::new();
    for (directory, _) in &parts {
        let directory = format!("{directory}/");
        let known = directories.iter().position(|known| *known == directory);
        places.push(known.unwrap_or_else(|| {
            directories.push(directory);
            directories.len() - 1
        }) as u32);
    }
    header.numbers(1116, places);
    header.list(1117, parts.iter().map(|(_, name)| *name));
    header.list(1118, directories.iter().map(String::as_str));
    let sum = |entry: &Entry| entry.content.as_ref().map_or(String::new(), |content| sha256(content));
    let sums: Vec<String> = entries.iter().map(sum).collect();
    header.list(1035, sums.iter().map(String::as_str));
    let mut of_files = |tag, value: &dyn Fn(&Entry) -> u32| header.numbers(tag, entries.iter().map(value));
    of_files(1028, &|entry| entry.bytes().len() as u32);
    of_files(1034, &|_| seconds);
    of_files(1037, &Entry::flags);
    of_files(1045, &|_| u32::MAX);
    of_files(1095, &|_| 1);
    header.numbers(1096, 1..=entries.len() as u32);
    header.shorts(1030, entries.iter().map(|entry| entry.mode() as u16));
    header.shorts(1033, entries.iter().map(|_| 0));
    for (tag, word) in [(1036, ""), (1039, "root"), (1040, "root"), (1097, "")] {
        header.list(tag, entries.iter().map(|_| word));
    }
    header
}

/// Returns the archive of the files.
fn cpio(entries: &[Entry]) -> Vec<u8> {
    let mut archive = Vec::new();
    let mut put = |number: usize, mode: u32, name: &str, content: &[u8]| {
        let (seconds, length) = (if number == 0 { 0 } else { release::seconds() }, content.len());
        let name_length = name.len() + 1;
        archive.extend(
            format!(
                "070701{number:08x}{mode:08x}{zero:08x}{zero:08x}{one:08x}{seconds:08x}{length:08x}\
                 {zero:032x}{name_length:08x}{zero:08x}{name}\0",
                zero = 0,
                one = 1
            )
            .bytes(),
        );
        archive.resize(archive.len().next_multiple_of(4), 0);
        archive.extend(content);
        archive.resize(archive.len().next_multiple_of(4), 0);
    };
    for (index, entry) in entries.iter().enumerate() {
        put(index + 1, entry.mode(), &format!(".{}", entry.path), entry.bytes());
    }
    put(0, 0, "TRAILER!!!", b"");
    archive
}

/// A header: values by their tags.
#[derive(Default)]
struct Header(BTreeMap<u32, Data>);

/// The type of a value, the number of its parts, and its bytes.
struct Data(u32, u32, Vec<u8>);

impl Header {
    fn shorts(&mut self, tag: u32, values: impl IntoIterator<Item = u16>) {
        let bytes: Vec<u8> = values.into_iter().flat_map(u16::to_be_bytes).collect();
        self.0.insert(tag, Data(3, bytes.len() as u32 / 2, bytes));
    }

    fn numbers(&mut self, tag: u32, values: impl IntoIterator<Item = u32>) {
        let bytes: Vec<u8> = values.into_iter().flat_map(u32::to_be_bytes).collect();
        self.0.insert(tag, Data(4, bytes.len() as u32 / 4, bytes));
    }

    fn text(&mut self, tag: u32, text: &str) {
        self.0.insert(tag, Data(6, 1, ended(text)));
    }

    fn international(&mut self, tag: u32, text: &str) {
        self.0.insert(tag, Data(9, 1, ended(text)));
    }

    fn list<'t>(&mut self, tag: u32, texts: impl IntoIterator<Item = &'t str>) {
        let texts: Vec<Vec<u8>> = texts.into_iter().map(ended).collect();
        self.0.insert(tag, Data(8, texts.len() as u32, texts.concat()));
    }

    /// Returns the bytes, as one region of this tag: its trailer is the last value, and points back to the first entry.
    fn bytes(&self, region: u32) -> Vec<u8> {
        const ENTRY: usize = 16;
        let mut index = Vec::new();
        let mut store: Vec<u8> = Vec::new();
        let mut entry = |words: [u32; 4]| index.extend(words.into_iter().flat_map(u32::to_be_bytes));
        let count = self.0.len() as u32 + 1;
        for (tag, Data(kind, parts, bytes)) in &self.0 {
            let width = match kind {
                3 => 2,
                4 => 4,
                _ => 1,
            };
            store.resize(store.len().next_multiple_of(width), 0);
            entry([*tag, *kind, store.len() as u32, *parts]);
            store.extend(bytes);
        }
        let trailer = store.len() as u32;
        let back = (count * ENTRY as u32).wrapping_neg();
        for word in [region, 7, back, ENTRY as u32] {
            store.extend(word.to_be_bytes());
        }
        let mut bytes = vec![0x8e, 0xad, 0xe8, 1, 0, 0, 0, 0];
        for word in [count, store.len() as u32, region, 7, trailer, ENTRY as u32] {
            bytes.extend(word.to_be_bytes());
        }
        [bytes, index, store].concat()
    }
}

fn ended(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}
