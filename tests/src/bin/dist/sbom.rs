//! The bill of materials: the crates in the executable, in the format CycloneDX 1.5.
//!
//! It has no serial number, which would have to differ each time.
//!
//! # References
//! CycloneDX 1.5, JSON reference: <https://cyclonedx.org/docs/1.5/json/>.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::crates::Crate;
use crate::release;

/// Returns the document for these crates, compiled by this compiler (the first line of `rustc --version`).
///
/// # Errors
///
/// If the executable's own crate is missing.
pub fn document(crates: &BTreeMap<String, Crate>, compiler: &str) -> Result<String, String> {
    let own = crates.get(release::PACKAGE).ok_or("the executable's own crate is missing")?;
    let others: Vec<Value> = crates
        .values()
        .filter(|known| known.name != own.name)
        .map(|known| component(known, "library"))
        .collect();
    let dependencies: Vec<Value> = crates
        .values()
        .map(|known| {
            let uses: Vec<String> =
                known.uses.iter().filter_map(|name| Some(crates.get(name)?.url())).collect();
            json!({ "ref": known.url(), "dependsOn": uses })
        })
        .collect();
    let compiler: Vec<&str> = compiler.trim().splitn(2, ' ').collect();
    let document = json!({
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": release::timestamp(),
            "tools": { "components": [{
                "type": "application",
                "name": compiler.first(),
                "version": compiler.get(1),
            }] },
            "component": component(own, "application"),
        },
        "components": others,
        "dependencies": dependencies,
    });
    serde_json::to_string_pretty(&document).map(|text| text + "\n").map_err(|error| error.to_string())
}

fn component(known: &Crate, kind: &str) -> Value {
    let mut component = json!({
        "type": kind,
        "bom-ref": known.url(),
        "name": known.name,
        "version": known.version,
        "purl": known.url(),
        "licenses": [{ "expression": known.licence }],
    });
    if let Some(checksum) = known.checksum {
        component["hashes"] = json!([{ "alg": "SHA-256", "content": checksum }]);
    }
    component
}
