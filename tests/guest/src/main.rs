//! Process 1 of an emulated machine: prepares a condition, runs the executable under test in it, and powers off.
//!
//! ```text
//! [PREPARATION...] run [PREPARATION...] ARGUMENTS... [run [PREPARATION...] ARGUMENTS...]...
//! ```
//!
//! are the lines of the file `/words`, a word a line. The executable is `/tool`. Each `run` runs it with
//! these arguments, one after another; preparations before a run apply only to it. After its output comes the
//! line `latency-bench: exit status N`, like the one that it prints itself as process 1.
//!
//! | preparation | meaning |
//! | --- | --- |
//! | `show=FILE` | the file is printed first |
//! | `file-pages=DEVICE` | the block device is read to its end, so that its pages fill the free memory |
//! | `memory-max=BYTES` | a control group with this limit |
//! | `cpus=LIST` | a control group with these CPUs |
//! | `then-cpus=LIST` | the CPUs of that group from the third round of a run on |
//! | `then-split=yes` | from the third round of a run on, transparent huge pages are pages of 4 KiB |
//! | `then-offline=N` | this CPU goes offline in the third round of a run |
//! | `then-clock=SECONDS` | the clock of the day is set forward by SECONDS in the third round, and back at the end |
//! | `pool-taken=NODE` | the guest takes the huge pages of this node when a run has mapped some and touched none |
//! | `no-populate=yes` | memory cannot be made present by `madvise`, as before Linux 5.14 |
//! | `signal-for=CALL` | a filter answers the system call of this number with SIGSYS |
//! | `on-cpu=N` | only this CPU is allowed |
//! | `no-sys=yes` | `/sys` is missing |
//!
//! The guest finds a round by the progress in the output: use `--progress=always`.

mod kernel;
mod run;
mod scene;

use scene::Scene;

fn main() {
    if let Err(reason) = scenes() {
        println!("latency-guest: {reason}");
    }
    kernel::power_off();
}

fn scenes() -> Result<(), String> {
    kernel::mount_all()?;
    let words = std::fs::read_to_string("/words").map_err(|error| format!("cannot read /words: {error}"))?;
    let words: Vec<String> = words.lines().map(str::to_owned).collect();
    let mut parts = words.split(|word| word == "run");
    let scene = Scene::parse(parts.next().unwrap_or_default())?;
    scene.prepare()?;
    for arguments in parts {
        let own = arguments.iter().take_while(|word| !word.starts_with('-') && word.contains('=')).count();
        let (own, arguments) = arguments.split_at(own);
        let scene = scene.clone().and(own)?;
        if !own.is_empty() {
            scene.prepare()?;
        }
        let status = run::run(&scene, arguments)?;
        println!("latency-bench: exit status {status}");
    }
    Ok(())
}
