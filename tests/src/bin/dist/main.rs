//! Makes the files of a release other than the executables: manual page, completions, archives, packages,
//! image, bills of materials.
//!
//! Runs only on the host that packages; the executables contain nothing of it. Options, experiments and
//! formats come from the tables that the executables parse with.

mod archive;
mod bash;
mod crates;
mod deb;
mod files;
mod fish;
mod image;
mod man;
mod packaging;
mod release;
mod roff;
mod rpm;
mod sbom;
mod tar;
mod target;
mod tools;
mod wheel;
mod words;
mod zsh;

use std::env;
use std::process::ExitCode;

const USAGE: &str = "usage: dist man | completions bash|zsh|fish | pack DIRECTORY EXECUTABLE...";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("dist: {problem}");
            ExitCode::FAILURE
        }
    }
}

/// Runs the command that the arguments name.
fn run(arguments: &[&str]) -> Result<(), String> {
    match arguments {
        ["man"] => print!("{}", man::page()),
        ["completions", "bash"] => print!("{}", bash::script()),
        ["completions", "zsh"] => print!("{}", zsh::script()),
        ["completions", "fish"] => print!("{}", fish::script()),
        ["pack", directory, executables @ ..] => {
            archive::write(&target::executables(executables)?, directory.as_ref())?;
        }
        _ => return Err(USAGE.into()),
    }
    Ok(())
}
