//! The crates that are linked into the executable, as cargo resolves them: versions, licences, checksums,
//! directories.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::release::PACKAGE;
use crate::target::Target;
use crate::tools::output;

const LOCK: &str = include_str!("../../../../Cargo.lock");

/// A crate in the executable.
#[derive(Debug)]
pub struct Crate {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence as an SPDX expression.
    pub licence: String,
    /// The SHA-256 of its archive in the registry; none for a crate of this workspace.
    pub checksum: Option<&'static str>,
    /// The directory of its source.
    pub directory: PathBuf,
    /// The names of the crates that it uses itself.
    pub uses: Vec<String>,
}

impl Crate {
    /// Returns its package URL.
    pub fn url(&self) -> String {
        format!("pkg:cargo/{}@{}", self.name, self.version)
    }
}

/// Returns the crates in the executable for a target by name, including the executable's own. Dependencies of other
/// targets are not linked.
///
/// # Errors
///
/// If cargo fails or prints something unknown.
pub fn shipped(target: &Target) -> Result<BTreeMap<String, Crate>, String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--locked", "--format-version=1", "--filter-platform", target.triple]);
    command.current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."));
    let metadata: Value = serde_json::from_str(&output(&mut command)?).map_err(|error| error.to_string())?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (packages, nodes) = (list(&metadata["packages"]), list(&metadata["resolve"]["nodes"]));
    let find = |all: &[Value], id: &Value| all.iter().find(|known| known["id"] == *id).cloned();
    let root = packages.iter().find(|package| package["name"] == PACKAGE).ok_or("no such package")?;
    let mut waiting = vec![root["id"].clone()];
    let mut seen = BTreeSet::new();
    let mut crates = BTreeMap::new();
    while let Some(id) = waiting.pop() {
        if !seen.insert(id.to_string()) {
            continue;
        }
        let package = find(&packages, &id).ok_or("a package that is not listed")?;
        let node = find(&nodes, &id).ok_or("a package that is not resolved")?;
        let is_linked = |dependency: &Value| {
            // Dependencies of tests and of build scripts have a kind.
            list(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null())
        };
        let used: Vec<Value> = list(&node["deps"])
            .iter()
            .filter(|dependency| is_linked(dependency))
            .map(|dependency| dependency["pkg"].clone())
            .collect();
        let found = described(&package, &used, &packages)?;
        waiting.extend(used);
        crates.insert(found.name.clone(), found);
    }
    Ok(crates)
}

fn described(package: &Value, used: &[Value], packages: &[Value]) -> Result<Crate, String> {
    let text = |key: &str| package[key].as_str().map(String::from).ok_or(format!("a package without {key}"));
    let (name, version) = (text("name")?, text("version")?);
    let names = packages.iter().filter(|known| used.contains(&known["id"]));
    let mut uses: Vec<String> = names.filter_map(|known| known["name"].as_str().map(String::from)).collect();
    uses.sort();
    let mut directory = PathBuf::from(text("manifest_path")?);
    directory.pop();
    let checksum = checksum(LOCK, &name, &version);
    Ok(Crate { licence: text("license")?, checksum, directory, uses, name, version })
}

/// Returns the checksum of a crate in a lock file.
fn checksum<'a>(lock: &'a str, name: &str, version: &str) -> Option<&'a str> {
    let (name, version) = (format!("name = \"{name}\""), format!("version = \"{version}\""));
    let is_it = |entry: &&str| {
        let mut lines = entry.lines().filter(|line| !line.is_empty());
        lines.next() == Some(&name) && lines.next() == Some(&version)
    };
    let entry = lock.split("[[package]]").find(is_it)?;
    entry.lines().find_map(|line| line.strip_prefix("checksum = \"")?.strip_suffix('"'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_of_one_version() {
        let lock = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"11\"\n\n\
                    [[package]]\nname = \"a\"\nversion = \"2.0.0\"\nchecksum = \"22\"\n\n\
                    [[package]]\nname = \"b\"\nversion = \"2.0.0\"\n";
        assert_eq!(checksum(lock, "a", "2.0.0"), Some("22"));
        assert_eq!(checksum(lock, "b", "2.0.0"), None);
        assert_eq!(checksum(lock, "a", "3.0.0"), None);
    }
}
