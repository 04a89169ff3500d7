//! Checksums and compression, by crates whose version is locked, so that the bytes of a release do not depend
//! on the host's programs. Also runs `cargo` and `rustc`.

use flate2::{Compression, GzBuilder};
use sha2::{Digest, Sha256};
use std::io::Write;
use std::process::Command;

/// Returns the SHA-256 of some bytes in hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the SHA-256 of some bytes in base 64 with the alphabet of addresses, without padding.
pub fn sha256_url(bytes: &[u8]) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for three in Sha256::digest(bytes).chunks(3) {
        let bits =
            three.iter().fold(0, |bits, &byte| bits << 8 | usize::from(byte)) << (8 * (3 - three.len()));
        for letter in 0..=three.len() {
            text.push(char::from(LETTERS[bits >> (18 - 6 * letter) & 63]));
        }
    }
    text
}

/// Compresses bytes in the gzip format, without a name and a time.
///
/// # Errors
///
/// An error of writing, which does not occur in memory.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let mut encoder = GzBuilder::new().mtime(0).write(Vec::new(), Compression::best());
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.map_err(|error| error.to_string())
}

/// Returns a program's standard output.
///
/// # Errors
///
/// If it is missing or fails, with its messages.
pub fn output(command: &mut Command) -> Result<String, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let output = command.output().map_err(|error| format!("{name}: {error}"))?;
    match output.status.success() {
        true => Ok(String::from_utf8_lossy(&output.stdout).into_owned()),
        false => Err(format!("{name}: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_of_no_bytes_is_the_published_one() {
        assert_eq!(sha256(b""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    }

    #[test]
    fn the_same_checksum_in_base_64() {
        assert_eq!(sha256_url(b""), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
    }

    #[test]
    fn compressed_bytes_have_neither_name_nor_time() {
        let bytes = gzip(b"text").unwrap();
        // RFC 1952, 2.3: magic, deflate, no flags, no time.
        assert_eq!(bytes[..8], [0x1f, 0x8b, 8, 0, 0, 0, 0, 0]);
    }
}
