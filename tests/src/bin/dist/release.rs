//! The facts of the release, as `Cargo.toml` states them: version, date, toolchain.

/// The manifest of the workspace.
const MANIFEST: &str = include_str!("../../../../Cargo.toml");

/// The version, which all packages of the workspace share.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the day of the release as `2026-11-23`.
pub fn date() -> &'static str {
    fact("date")
}

/// Returns a text of the table `[workspace.metadata.release]`.
///
/// # Panics
///
/// Where the manifest has no such text.
fn fact(key: &str) -> &'static str {
    MANIFEST
        .lines()
        .skip_while(|line| *line != "[workspace.metadata.release]")
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = \"")?.strip_suffix('"'))
        .unwrap_or_else(|| panic!("Cargo.toml states no {key} of the release"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_manifest_states_day_and_toolchain() {
        let is_date =
            |text: &str| text.len() == 10 && text.split('-').all(|part| part.parse::<u32>().is_ok());
        assert!(is_date(date()), "{}", date());
        assert!(fact("toolchain").split('.').all(|part| part.parse::<u32>().is_ok()));
    }
}
