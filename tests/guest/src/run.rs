//! One run of the executable under a scene.
//!
//! # Safety
//!
//! Between fork and exec the child writes a file and sets its CPUs. This process has one thread when it
//! forks, so no other thread holds a lock.

use crate::kernel;
use crate::scene::Scene;
use std::io::{Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

/// The progress of the round in which a scene changes.
const CHANGE_AT: &[u8] = b"round 3";

/// Runs the executable to its end; returns its exit status, or 128 and the signal that ended it.
pub fn run(scene: &Scene, arguments: &[String]) -> Result<i32, String> {
    let mut command = Command::new("/tool");
    command.args(arguments);
    if scene.changes() {
        command.stderr(Stdio::piped());
    }
    let entered = scene.clone();
    // SAFETY: see the top of the file.
    unsafe { command.pre_exec(move || entered.enter()) };
    let mut child = command.spawn().map_err(|error| format!("cannot start /tool: {error}"))?;
    if let Some(node) = scene.pool_taken {
        return kernel::take_pool_when_mapped(child.id(), node);
    }
    if let Some(said) = child.stderr.take() {
        change_in_time(scene, said)?;
    }
    let status = child.wait().map_err(|error| format!("cannot wait for /tool: {error}"))?;
    scene.end()?;
    Ok(status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0)))
}

/// Passes on the executable's output, and changes the scene when the progress reaches the round.
fn change_in_time(scene: &Scene, mut said: impl Read) -> Result<(), String> {
    let (mut heard, mut changed) = (Vec::new(), false);
    let mut part = [0; 256];
    loop {
        let count = said.read(&mut part).map_err(|error| error.to_string())?;
        if count == 0 {
            return if changed { Ok(()) } else { Err("the run was over before the scene changed".into()) };
        }
        heard.extend_from_slice(&part[..count]);
        if !changed && heard.windows(CHANGE_AT.len()).any(|window| window == CHANGE_AT) {
            scene.change()?;
            changed = true;
        }
        // The console accepts everything; only the last words matter, and there is no other place to report a
        // failure.
        let _ = std::io::stderr().write_all(&part[..count]);
    }
}
