//! The programs of the host that packaging calls: each is given bytes or arguments, and gives bytes back.

use std::io::Write;
use std::process::{Command, Stdio};
use std::thread;

/// Returns the SHA-256 of some bytes in hexadecimal.
///
/// # Errors
///
/// Where `sha256sum` is missing or failed.
pub fn sha256(bytes: &[u8]) -> Result<String, String> {
    let line = filtered(&mut Command::new("sha256sum"), bytes)?;
    let line = String::from_utf8_lossy(&line);
    let sum = line.split(' ').next().unwrap_or_default();
    match sum.len() {
        64 => Ok(sum.to_string()),
        _ => Err(format!("sha256sum wrote {line:?}")),
    }
}

/// Returns bytes as gzip compresses them, without a name and a time.
///
/// # Errors
///
/// Where `gzip` is missing or failed.
pub fn gzip(bytes: &[u8]) -> Result<Vec<u8>, String> {
    filtered(Command::new("gzip").args(["-n", "-9"]), bytes)
}

/// Returns what a program writes to standard output.
///
/// # Errors
///
/// Where it is missing or failed, with what it said.
pub fn output(command: &mut Command) -> Result<String, String> {
    filtered(command, &[]).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn filtered(command: &mut Command, input: &[u8]) -> Result<Vec<u8>, String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let wrong = |problem: String| format!("{name}: {problem}");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.map_err(|error| wrong(error.to_string()))?;
    let mut pipe = child.stdin.take().ok_or_else(|| wrong("no pipe".into()))?;
    let output = thread::scope(|scope| {
        // Who does not read to the end says so by its exit status.
        scope.spawn(move || _ = pipe.write_all(input));
        child.wait_with_output()
    });
    let output = output.map_err(|error| wrong(error.to_string()))?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(wrong(String::from_utf8_lossy(&output.stderr).into_owned())),
    }
}
