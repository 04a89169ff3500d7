//! A wheel of Python that carries the executable, for `pip install FILE`: it does not need any module.
//!
//! # References
//! Python packaging user guide: "Binary distribution format", "Platform compatibility tags", "Recording installed
//! projects"; APPNOTE.TXT 6.3.3, the format of zip.

use flate2::write::DeflateEncoder;
use flate2::{Compression, Crc};
use std::io::Write;

use crate::files::{Files, mode};
use crate::release;
use crate::target::Target;
use crate::tools::sha256_url;

/// The module that runs the executable.
const MODULE: &str = include_str!("../../../../bin/dist/wheel/__main__.py");

/// Returns the name of the wheel of a target.
pub fn name(target: &Target) -> String {
    format!("latency_bench-{}-py3-none-{}.whl", release::VERSION, platforms(target).join("."))
}

/// Returns the platforms: a static executable needs neither glibc nor musl, so it is for systems of both.
fn platforms(target: &Target) -> [String; 3] {
    ["manylinux_2_17", "manylinux2014", "musllinux_1_1"].map(|system| format!("{system}_{}", target.machine))
}

/// Returns the wheel of a target.
///
/// # Errors
///
/// If compression fails.
pub fn package(target: &Target, files: &Files) -> Result<Vec<u8>, String> {
    let version = release::VERSION;
    let (facts, data) =
        (format!("latency_bench-{version}.dist-info"), format!("latency_bench-{version}.data"));
    let mut members: Vec<(String, Vec<u8>)> = vec![
        ("latency_bench/__init__.py".into(), Vec::new()),
        ("latency_bench/__main__.py".into(), MODULE.into()),
    ];
    for (path, content) in files {
        let place = match path.strip_prefix("bin/") {
            Some(program) => format!("{data}/scripts/{program}"),
            None => format!("{data}/data/{path}"),
        };
        members.push((place, content.clone()));
    }
    let metadata = format!(
        "Metadata-Version: 2.1\nName: latency-bench\nVersion: {version}\nSummary: {}\nLicense: {}\n\
         Requires-Python: >=3.8\nClassifier: Operating System :: POSIX :: Linux\n\
         Description-Content-Type: text/plain\n\n{}\n",
        release::description(),
        release::LICENCE,
        release::PROMISE
    );
    let tags = platforms(target).map(|platform| format!("Tag: py3-none-{platform}\n")).concat();
    let wheel = format!("Wheel-Version: 1.0\nGenerator: latency-bench\nRoot-Is-Purelib: false\n{tags}");
    members.push((format!("{facts}/METADATA"), metadata.into()));
    members.push((format!("{facts}/WHEEL"), wheel.into()));
    let mut record = String::new();
    for (path, content) in &members {
        record += &format!("{path},sha256={},{}\n", sha256_url(content), content.len());
    }
    record += &format!("{facts}/RECORD,,\n");
    members.push((format!("{facts}/RECORD"), record.into()));
    zip(&members)
}

/// Returns an archive of these members.
fn zip(members: &[(String, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let mut parts: [u16; 3] = [0; 3];
    for (part, number) in parts.iter_mut().zip(release::date().split('-')) {
        *part = number.parse().unwrap_or(0);
    }
    let [year, month, day] = parts;
    let date = (year - 1980) << 9 | month << 5 | day;
    let mut archive = Vec::new();
    let mut directory = Vec::new();
    for (path, content) in members {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
        let written = encoder.write_all(content).and_then(|()| encoder.finish());
        let packed = written.map_err(|error| error.to_string())?;
        let mut sum = Crc::new();
        sum.update(content);
        // Version 2.0, names in UTF-8, deflated, at midnight.
        let mut about = Vec::new();
        about.extend([20, 0x800, 8, 0, date].into_iter().flat_map(u16::to_le_bytes));
        let lengths = [sum.sum(), packed.len() as u32, content.len() as u32, path.len() as u32];
        about.extend(lengths.into_iter().flat_map(u32::to_le_bytes));
        // A central entry: made by version 2.0 on Unix; no comment, disk 0, no attributes of Windows, and the mode.
        directory.extend(b"PK\x01\x02\x14\x03");
        directory.extend(&about);
        directory.extend([0; 6]);
        directory
            .extend([(0o100_000 | mode(content)) << 16, archive.len() as u32].map(u32::to_le_bytes).concat());
        directory.extend(path.bytes());
        archive.extend(b"PK\x03\x04");
        archive.extend(about);
        archive.extend(path.bytes());
        archive.extend(packed);
    }
    let (count, length, start) = (members.len() as u16, directory.len() as u32, archive.len() as u32);
    archive.extend(directory);
    archive.extend(b"PK\x05\x06\0\0\0\0");
    archive.extend([count, count].map(u16::to_le_bytes).concat());
    archive.extend([length, start].map(u32::to_le_bytes).concat());
    archive.extend([0; 2]);
    Ok(archive)
}
