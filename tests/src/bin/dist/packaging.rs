//! The recipes of other builders in bin/dist/packaging, for the archives of one release: version, sums and sizes are filled in.

use crate::files::{below, mode, read, workspace};
use crate::release;
use crate::tar::Tar;
use crate::target::Target;
use crate::tools::{gzip, sha256};

/// Returns the name of the file.
pub fn name() -> String {
    format!("latency-bench-{}-packaging.tar.gz", release::VERSION)
}

/// Returns the archive of the recipes for the archives of all targets.
///
/// # Errors
///
/// A file that cannot be read or packed, and a word in capitals between `@` that has no value.
pub fn package(archives: &[(&Target, Vec<u8>)]) -> Result<Vec<u8>, String> {
    let mut values = vec![
        ("@VERSION@".to_string(), release::VERSION.to_string()),
        ("@DESCRIPTION@".into(), release::description().into()),
    ];
    for (word, licence) in [("@SUM_MIT@", "LICENSE-MIT"), ("@SUM_APACHE@", "LICENSE-APACHE")] {
        values.push((word.into(), sha256(&read(&workspace().join(licence))?)));
    }
    for (target, archive) in archives {
        values.push((format!("@SUM_{}@", target.machine), sha256(archive)));
        values.push((format!("@SIZE_{}@", target.machine), archive.len().to_string()));
    }
    let mut tar = Tar::new(release::seconds());
    for (path, content) in below(&workspace().join("bin/dist/packaging"))? {
        let mut text = String::from_utf8(content).map_err(|_| format!("{path} is not a text"))?;
        for (word, value) in &values {
            text = text.replace(word, value);
        }
        for unknown in ["@SUM", "@SIZE", "@VERSION", "@DESCRIPTION"] {
            if text.contains(unknown) {
                return Err(format!("{path}: {unknown} has no value"));
            }
        }
        tar.file(
            &format!("latency-bench-{}-packaging/{path}", release::VERSION),
            mode(text.as_bytes()),
            text.as_bytes(),
        )?;
    }
    gzip(&tar.finish())
}
