//! The quota of CPU time of the control groups that this process is in.
//!
//! A group that has used up its quota is stopped until its period ends, with all its threads at once: a measurement
//! then times the stop. The kernel counts these stops, so that a measurement can tell whether one hit it.
//!
//! # References
//! Linux `Documentation/scheduler/sched-bwc.rst` and `Documentation/admin-guide/cgroup-v2.rst`.

use core::fmt::Write;

use super::cgroup::{Controller, GroupPath, Version};
use crate::topology::files::{self, number_after};
use crate::topology::Files;

const CPU: Controller =
    Controller { name: "cpu", version_1: &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"] };

/// Maximum number of groups whose stops are counted: a container, its pod, and the slices around them have quotas,
/// seldom all of them.
const MOST_GROUPS: usize = 8;

/// The tightest quota on the way from the process's group up to the root, and the groups whose stops are counted.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    /// The CPUs that the quota amounts to: CPU time in a period over the period.
    pub cpus: f64,
    /// The name of the file that sets it.
    pub file: &'static str,
    /// The number of stops of groups with a quota before the quota was read.
    pub times: Option<u64>,
    innermost: GroupPath,
    // Groups above are the beginnings of the path, by their lengths; 0 where there is none.
    groups: [u16; MOST_GROUPS],
}

impl Throttle {
    /// Finds the quota that the calling process is under; `None` where there is none.
    #[must_use]
    #[inline(never)] // offsets into a small frame are short
    pub fn find(files: &impl Files) -> Option<Self> {
        let mut found: Option<Self> = None;
        CPU.walk_up(files, &mut |version, directory| {
            let (quota, file) = match version {
                Version::One => (quota_in_two_files(files, directory), "cpu.cfs_quota_us"),
                Version::Two => (quota_in_one_file(files, directory), "cpu.max"),
            };
            let Some(cpus) = quota else { return };
            let throttle = found.get_or_insert_with(|| {
                let mut innermost = GroupPath::EMPTY;
                // A directory is a path of the same type, so it fits.
                let _ = innermost.write_str(directory);
                Self { cpus, file, times: None, innermost, groups: [0; MOST_GROUPS] }
            });
            throttle.cpus = throttle.cpus.min(cpus);
            // A second mount point shows the same groups again.
            if throttle.innermost.as_str().starts_with(directory) {
                if let Some(group) = throttle.groups.iter_mut().find(|group| **group == 0) {
                    *group = directory.len() as u16;
                }
            }
        });
        let mut throttle = found?;
        throttle.times = throttle.count(files);
        Some(throttle)
    }

    /// Returns the number of stops of the groups so far, by one small file for each group with a quota; `None`
    /// where no file tells it.
    #[must_use]
    pub fn count(&self, files: &impl Files) -> Option<u64> {
        let groups =
            self.groups.iter().filter_map(|length| self.innermost.as_str().get(..usize::from(*length)));
        let times = groups.filter(|group| !group.is_empty()).filter_map(|group| {
            let mut buffer = [0; 1 << 10];
            number_after(files::read(files, format_args!("{group}/cpu.stat"), &mut buffer)?, "nr_throttled")
        });
        times.reduce(u64::saturating_add)
    }
}

/// Reads `50000 100000`; no quota is `max 100000`.
fn quota_in_one_file(files: &impl Files, directory: &str) -> Option<f64> {
    let mut buffer = [0; 64];
    let content = files::read(files, format_args!("{directory}/cpu.max"), &mut buffer)?;
    let mut words = content.split(u8::is_ascii_whitespace);
    cpus(files::parse(words.next()?), files::parse(words.next()?))
}

/// Reads a file for each; no quota is -1.
fn quota_in_two_files(files: &impl Files, directory: &str) -> Option<f64> {
    let number = |name| files::number(files, format_args!("{directory}/{name}"));
    cpus(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
}

fn cpus(quota: Option<u64>, period: Option<u64>) -> Option<f64> {
    let known = |time: Option<u64>| time.filter(|microseconds| *microseconds > 0);
    Some(known(quota)? as f64 / known(period)? as f64)
}
