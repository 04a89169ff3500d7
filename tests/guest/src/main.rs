//! Process 1 of an emulated machine: prepares a condition, runs the executable under test in it, and powers off.
//!
//! ```text
//! [PREPARATION...] run ARGUMENTS... [run ARGUMENTS...]...
//! ```
//!
//! are the lines of the file `/words`, a word a line. The executable is `/tool`, and each `run` is a run of it with these arguments, one after another. Behind what it
//! prints comes the line `latency-bench: exit status N`, as it prints it itself as process 1.
//!
//! | preparation | meaning |
//! | --- | --- |
//! | `show=FILE` | the file is printed first |
//! | `file-pages=DEVICE` | the block device is read to its end: what was free holds its pages |
//! | `memory-max=BYTES` | a control group with this limit |
//! | `cpus=LIST` | a control group with these CPUs |
//! | `then-cpus=LIST` | the CPUs of that group from the third round of a run on |
//! | `then-split=yes` | from the third round of a run on, transparent huge pages are pages of 4 KiB |
//! | `on-cpu=N` | this CPU alone is allowed |
//! | `no-sys=yes` | `/sys` is not there |
//!
//! A round is known by what the executable says of its progress: give it `--progress=always`.

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
        let status = run::run(&scene, arguments)?;
        println!("latency-bench: exit status {status}");
    }
    Ok(())
}
