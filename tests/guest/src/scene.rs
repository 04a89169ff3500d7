//! The condition under which the executable runs: turns words into settings of the kernel.

use crate::kernel;
use std::fs::{self, File};
use std::io::Read;

const GROUPS: &str = "/sys/fs/cgroup";
/// The control group of all runs.
const GROUP: &str = "/sys/fs/cgroup/scene";

/// A condition. Settings that are not given keep the kernel's values.
#[derive(Clone, Debug, Default)]
pub struct Scene {
    show: Option<String>,
    file_pages: Option<String>,
    memory_max: Option<String>,
    cpus: Option<String>,
    then_cpus: Option<String>,
    then_split: bool,
    then_offline: Option<usize>,
    then_clock: Option<i64>,
    /// The node whose huge pages are taken.
    pub pool_taken: Option<usize>,
    no_populate: bool,
    signal_for: Option<u32>,
    zero_page: Option<String>,
    on_cpu: Option<usize>,
    no_sys: bool,
}

impl Scene {
    /// Reads words of the form `name=value`.
    pub fn parse(words: &[String]) -> Result<Scene, String> {
        Scene::default().and(words)
    }

    /// Adds more words to the condition.
    pub fn and(mut self, words: &[String]) -> Result<Scene, String> {
        let scene = &mut self;
        for word in words {
            let (name, value) = word.split_once('=').ok_or_else(|| format!("{word} is not name=value"))?;
            let value = || value.to_owned();
            let number = || value().parse().map_err(|_| format!("{word}: no number"));
            match name {
                "show" => scene.show = Some(value()),
                "file-pages" => scene.file_pages = Some(value()),
                "memory-max" => scene.memory_max = Some(value()),
                "cpus" => scene.cpus = Some(value()),
                "then-cpus" => scene.then_cpus = Some(value()),
                "then-offline" => scene.then_offline = Some(number()?),
                "then-clock" => {
                    scene.then_clock = Some(value().parse().map_err(|_| format!("{word}: no number"))?);
                }
                "pool-taken" => scene.pool_taken = Some(number()?),
                "no-populate" => scene.no_populate = true,
                "signal-for" => {
                    scene.signal_for = Some(value().parse().map_err(|_| format!("{word}: no number"))?);
                }
                "zero-page" => scene.zero_page = Some(value()),
                "then-split" => scene.then_split = true,
                "on-cpu" => {
                    scene.on_cpu = Some(number()?);
                }
                "no-sys" => scene.no_sys = true,
                _ => return Err(format!("{word}: no preparation")),
            }
        }
        Ok(self)
    }

    /// Sets up the condition, except for later changes.
    pub fn prepare(&self) -> Result<(), String> {
        if let Some(path) = &self.show {
            let text = fs::read_to_string(path).map_err(|error| format!("cannot read {path}: {error}"))?;
            print!("{text}");
        }
        if let Some(device) = &self.file_pages {
            read_all(device)?;
        }
        if self.has_group() {
            write(&format!("{GROUPS}/cgroup.subtree_control"), "+memory +cpuset")?;
            fs::create_dir_all(GROUP).map_err(|error| format!("cannot create {GROUP}: {error}"))?;
        }
        if let Some(bytes) = &self.memory_max {
            write(&format!("{GROUP}/memory.max"), bytes)?;
        }
        if let Some(cpus) = &self.cpus {
            write(&format!("{GROUP}/cpuset.cpus"), cpus)?;
        }
        if let Some(used) = &self.zero_page {
            write("/sys/kernel/mm/transparent_hugepage/use_zero_page", used)?;
        }
        if self.no_sys {
            kernel::unmount("/sys").map_err(|error| format!("cannot unmount /sys: {error}"))?;
        }
        Ok(())
    }

    /// Puts the calling process, and so its children, under the condition.
    pub fn enter(&self) -> std::io::Result<()> {
        if self.has_group() {
            fs::write(format!("{GROUP}/cgroup.procs"), "0")?;
        }
        if self.no_populate {
            kernel::forbid_populating()?;
        }
        if self.pool_taken.is_some() {
            kernel::let_be_watched()?;
        }
        self.on_cpu.map_or(Ok(()), kernel::stay_on)?;
        // Nothing follows that the filter could answer, but execve.
        self.signal_for.map_or(Ok(()), kernel::answer_with_signal)
    }

    /// Returns true if there is a later change.
    pub fn changes(&self) -> bool {
        self.then_split
            || self.then_cpus.is_some()
            || self.then_offline.is_some()
            || self.then_clock.is_some()
    }

    /// Makes the later changes.
    pub fn change(&self) -> Result<(), String> {
        if let Some(cpus) = &self.then_cpus {
            write(&format!("{GROUP}/cpuset.cpus"), cpus)?;
        }
        if let Some(cpu) = self.then_offline {
            write(&format!("/sys/devices/system/cpu/cpu{cpu}/online"), "0")?;
        }
        if let Some(seconds) = self.then_clock {
            kernel::step_clock(seconds).map_err(|error| format!("cannot set the clock: {error}"))?;
        }
        if self.then_split {
            write("/sys/kernel/debug/split_huge_pages", "1")?;
        }
        Ok(())
    }

    /// Undoes changes that would affect the next run.
    pub fn end(&self) -> Result<(), String> {
        match self.then_clock {
            Some(seconds) => {
                kernel::step_clock(-seconds).map_err(|error| format!("cannot set the clock: {error}"))
            }
            None => Ok(()),
        }
    }

    fn has_group(&self) -> bool {
        self.memory_max.is_some() || self.cpus.is_some() || self.then_cpus.is_some()
    }
}

fn write(path: &str, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("cannot write {text} to {path}: {error}"))
}

/// Reads a device to its end, and keeps it open: closing the last descriptor would free its pages.
fn read_all(path: &str) -> Result<(), String> {
    let wrong = |error| format!("cannot read {path}: {error}");
    let mut file = File::open(path).map_err(wrong)?;
    let mut part = vec![0; 1 << 20];
    while file.read(&mut part).map_err(wrong)? > 0 {}
    std::mem::forget(file);
    Ok(())
}
