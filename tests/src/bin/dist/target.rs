//! The targets of a release, one for each instruction set, with the names that each has elsewhere.

use std::fs;

/// A target of a release.
#[derive(Debug)]
pub struct Target {
    /// The instruction set as `uname --machine` names it; names of files contain it.
    pub machine: &'static str,
    /// The target of the compiler.
    pub triple: &'static str,
    /// The architecture of an image, by its name in the Go language.
    pub architecture: &'static str,
    /// The variant of that architecture, if there are several.
    pub variant: Option<&'static str>,
    /// The field `e_machine` of an executable (System V ABI, chapter 4, "ELF Header").
    elf_machine: u16,
}

/// All targets, in the order of their files.
pub const TARGETS: [Target; 2] = [
    Target {
        machine: "x86_64",
        triple: "x86_64-unknown-linux-musl",
        architecture: "amd64",
        variant: None,
        elf_machine: 62,
    },
    Target {
        machine: "aarch64",
        triple: "aarch64-unknown-linux-musl",
        architecture: "arm64",
        variant: Some("v8"),
        elf_machine: 183,
    },
];

/// An executable and its target.
pub type Executable = (&'static Target, Vec<u8>);

/// Reads the executables of a release, one for each target. Each file states its own target.
///
/// # Errors
///
/// A file that cannot be read or is for no target, and a target without an executable, or with two.
pub fn executables(paths: &[&str]) -> Result<Vec<Executable>, String> {
    let mut found: Vec<Executable> = Vec::new();
    for path in paths {
        let content = fs::read(path).map_err(|error| format!("{path}: {error}"))?;
        let target = target(&content).ok_or_else(|| format!("{path} is not an executable of a release"))?;
        found.push((target, content));
    }
    let of = |target: &Target| found.iter().filter(|(known, _)| known.machine == target.machine).count();
    if let Some(target) = TARGETS.iter().find(|target| of(target) != 1) {
        return Err(format!("a release has one executable for {}, not {}", target.machine, of(target)));
    }
    found.sort_by_key(|(target, _)| TARGETS.iter().position(|known| known.machine == target.machine));
    Ok(found)
}

/// Returns the target of a 64-bit little-endian ELF file.
fn target(content: &[u8]) -> Option<&'static Target> {
    let header = content.strip_prefix(b"\x7fELF\x02\x01")?;
    let machine = u16::from_le_bytes(header.get(12..14)?.try_into().ok()?);
    TARGETS.iter().find(|target| target.elf_machine == machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(machine: u16) -> Vec<u8> {
        let [low, high] = machine.to_le_bytes();
        [b"\x7fELF\x02\x01", &[0; 12][..], &[low, high]].concat()
    }

    #[test]
    fn an_executable_states_its_target() {
        let machine = |content: &[u8]| target(content).map(|target| target.machine);
        assert_eq!(machine(&header(62)), Some("x86_64"));
        assert_eq!(machine(&header(183)), Some("aarch64"));
        // RISC-V, a file that ends within the field, and no ELF file.
        assert_eq!(machine(&header(243)), None);
        assert_eq!(machine(&header(62)[..19]), None);
        assert_eq!(machine(b"#!/bin/sh\n"), None);
    }
}
