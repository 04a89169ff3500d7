//! The limits on memory and CPU time of this process: those of the control groups that contain it, from its own group
//! up to the root, and the memory that the kernel still lets it map by other limits.
//!
//! The kernel kills a process that exceeds a memory limit instead of returning an error, so the tool must know the
//! limit before it maps a buffer. If a group has used up its quota of CPU time, the kernel stops all its threads
//! until the period ends: a measurement then includes the stop. The kernel counts these stops, so a measurement can
//! detect that one occurred. The mount points are the conventional ones below `/sys/fs/cgroup`.
//!
//! # References
//! Linux `Documentation/admin-guide/cgroup-v2.rst`, `Documentation/admin-guide/cgroup-v1/cgroups.rst`,
//! `Documentation/admin-guide/cgroup-v1/memory.rst` and `Documentation/scheduler/sched-bwc.rst`.

use core::fmt::Write;

use crate::math::ToReal;
use crate::text::Text;
use crate::topology::Files;
use crate::topology::files::{self, LONGEST_PATH, kilobytes_after, number, number_after, parse};
use crate::units::Bytes;

/// The path of a control group.
type GroupPath = Text<LONGEST_PATH>;

/// The usual mount points of version 2.
const VERSION_2: &[&str] = &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// The version of the cgroup interface that manages a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// Version 1: a separate hierarchy for each controller.
    One,
    /// Version 2: one hierarchy for all controllers.
    Two,
}

/// The tightest memory limit on the path from the process's group up to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The smallest limit.
    pub limit: Bytes,
    /// The memory that the group with this limit uses now, including cached files.
    pub usage: Bytes,
    /// The memory that can still be allocated before any group on the path reaches its limit.
    /// Cached files count as free to the extent that the kernel reclaims them first.
    pub headroom: Bytes,
}

/// Smallest limit that means "no limit": for this, version 1 writes the largest multiple of the
/// page size that fits in a signed number.
const UNLIMITED: Bytes = Bytes(1 << 60);

impl MemoryLimit {
    /// Finds the limit of the calling process; returns `None` if it has none.
    pub fn read(files: &impl Files) -> Option<Self> {
        let mut tightest: Option<Self> = None;
        visit_groups(files, "memory", &["/sys/fs/cgroup/memory"], &mut |version, directory| {
            if let Some(limit) = Self::of_group(files, version, directory) {
                tightest = Some(tightest.map_or(limit, |known| known.tighter(limit)));
            }
        });
        tightest
    }

    /// Combines two limits: the smaller limit with its usage, and the smaller headroom.
    fn tighter(self, other: Self) -> Self {
        let headroom = self.headroom.min(other.headroom);
        let smaller = if other.limit < self.limit { other } else { self };
        Self { headroom, ..smaller }
    }

    fn of_group(files: &impl Files, version: Version, directory: &str) -> Option<Self> {
        // The kernel reclaims inactive files, active files and slabs before it kills a process at the limit.
        let [limit, usage, inactive, active] = match version {
            Version::One => {
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file", "total_active_file"]
            }
            Version::Two => ["memory.max", "memory.current", "inactive_file", "active_file"],
        };
        // Version 2 writes "max" for no limit, which is not a number.
        let number = |name| files::number(files, format_args!("{directory}/{name}"));
        let limit = Some(Bytes(number(limit)?)).filter(|limit| *limit < UNLIMITED)?;
        let usage = Bytes(number(usage).unwrap_or_default());
        let mut buffer = [0; 4 << 10];
        let statistics = files::read(files, format_args!("{directory}/memory.stat"), &mut buffer);
        let statistics = statistics.unwrap_or_default();
        let statistic = |name| number_after(statistics, name).unwrap_or_default();
        // Only half of the active files count, as for a node, since other processes need them again.
        let reclaimable = [statistic(active) / 2, statistic("slab_reclaimable")];
        let reclaimable = reclaimable.into_iter().fold(statistic(inactive), u64::saturating_add);
        let needed = usage.0.saturating_sub(reclaimable);
        Some(Self { limit, usage, headroom: Bytes(limit.0.saturating_sub(needed)) })
    }
}

/// Maximum number of groups for which stops are counted: a container, its pod, and the slices around them may have
/// quotas, but seldom all of them do.
const MOST_GROUPS: usize = 8;

/// The tightest quota of CPU time on the path from the process's group up to the root, and the groups for which stops
/// are counted.
#[derive(Clone, Copy, Debug)]
pub struct Throttle {
    /// The quota in CPUs: the CPU time allowed per period, divided by the period.
    pub cpus: f64,
    /// The name of the file that sets the quota.
    pub file: &'static str,
    /// The number of stops of the groups with a quota, at the time when the quota was read.
    pub times: Option<u64>,
    innermost: GroupPath,
    // The groups above, each as the length of its prefix of the innermost path; 0 for an unused place.
    groups: [u16; MOST_GROUPS],
}

impl Throttle {
    /// Finds the quota of the calling process; returns `None` if it has none.
    pub fn find(files: &impl Files) -> Option<Self> {
        let mut found: Option<Self> = None;
        visit_groups(
            files,
            "cpu",
            &["/sys/fs/cgroup/cpu", "/sys/fs/cgroup/cpu,cpuacct"],
            &mut |version, directory| {
                let (quota, file) = match version {
                    Version::One => (quota_in_two_files(files, directory), "cpu.cfs_quota_us"),
                    Version::Two => (quota_in_one_file(files, directory), "cpu.max"),
                };
                let Some(cpus) = quota else { return };
                let throttle = found.get_or_insert_with(|| {
                    let mut innermost = GroupPath::EMPTY;
                    // The directory is a path of the same type, so it fits.
                    let _ = innermost.write_str(directory);
                    Self { cpus, file, times: None, innermost, groups: [0; MOST_GROUPS] }
                });
                throttle.cpus = throttle.cpus.min(cpus);
                // A second mount point shows the same groups again.
                if throttle.innermost.as_str().starts_with(directory)
                    && let Some(group) = throttle.groups.iter_mut().find(|group| **group == 0)
                {
                    *group = directory.len() as u16;
                }
            },
        );
        let mut throttle = found?;
        throttle.times = throttle.count(files);
        Some(throttle)
    }

    /// Returns the number of stops of the groups so far, which it reads from one small file for each group with a
    /// quota; `None` if no file contains it.
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

/// Reads a quota and period from one file, as in `50000 100000`; `max 100000` means no quota.
fn quota_in_one_file(files: &impl Files, directory: &str) -> Option<f64> {
    let mut buffer = [0; 64];
    let content = files::read(files, format_args!("{directory}/cpu.max"), &mut buffer)?;
    let mut words = content.split(u8::is_ascii_whitespace);
    cpus(files::parse(words.next()?), files::parse(words.next()?))
}

/// Reads the quota and the period from two files; -1 means no quota.
fn quota_in_two_files(files: &impl Files, directory: &str) -> Option<f64> {
    let number = |name| files::number(files, format_args!("{directory}/{name}"));
    cpus(number("cpu.cfs_quota_us"), number("cpu.cfs_period_us"))
}

fn cpus(quota: Option<u64>, period: Option<u64>) -> Option<f64> {
    let known = |time: Option<u64>| time.filter(|microseconds| *microseconds > 0);
    Some(known(quota)?.real() / known(period)?.real())
}

/// Calls `visit` with the directory of each group of a controller on the path up to the root, innermost first.
///
/// The directories are the mount point joined with the path from `/proc/self/cgroup`, its parents, and the mount
/// point itself, which is the process's own group in a container that sees the path on its host. The mount point is
/// one of `version_1`, or a usual one of version 2.
fn visit_groups(
    files: &impl Files,
    controller: &str,
    version_1: &[&str],
    visit: &mut dyn FnMut(Version, &str),
) {
    let mut buffer = [0; 4 << 10];
    let groups = files.read("/proc/self/cgroup", &mut buffer).unwrap_or_default();
    let (version, group) = group_of(groups, controller);
    for root in if version == Version::One { version_1 } else { VERSION_2 } {
        walk_up(root, group, &mut |directory| visit(version, directory));
    }
}

fn walk_up(root: &str, group: &str, visit: &mut dyn FnMut(&str)) {
    let mut directory = GroupPath::EMPTY;
    // The root is `/`, and is visited once.
    let group = group.trim_end_matches('/');
    // If the path does not fit or leads out of the mount, only the root is visited.
    let leads_out = group.as_bytes().windows(2).any(|pair| pair == b"..");
    if directory.write_str(root).is_err() || leads_out || directory.write_str(group).is_err() {
        directory.truncate(root.len());
    }
    loop {
        visit(directory.as_str());
        let parent = directory.as_str().bytes().rposition(|byte| byte == b'/').unwrap_or(0);
        if directory.as_str().len() <= root.len() {
            return;
        }
        directory.truncate(parent.max(root.len()));
    }
}

/// Returns the version that manages a controller, and the path of its group; the root if there is
/// no line for the controller. Lines are `4:memory:/path` in version 1, `0::/path` in 2.
fn group_of<'a>(groups: &'a [u8], controller: &str) -> (Version, &'a str) {
    let mut unified = "/";
    for line in groups.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(3, |byte| *byte == b':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = core::str::from_utf8(path).unwrap_or("/");
        if controllers.split(|byte| *byte == b',').any(|name| name == controller.as_bytes()) {
            return (Version::One, path);
        }
        if controllers.is_empty() {
            unified = path;
        }
    }
    (Version::Two, unified)
}

/// A limit of memory that does not depend on a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// The memory limit of the control group.
    Group,
    /// The commit limit of the machine, with `vm.overcommit_memory=2`.
    Commit,
    /// The address space of the process (`RLIMIT_AS`).
    AddressSpace,
    /// The private writable memory of the process (`RLIMIT_DATA`).
    Data,
}

impl Bound {
    /// Returns the words for the memory that the limit leaves, and the way to raise the limit.
    pub const fn words(self) -> (&'static str, &'static str) {
        match self {
            Bound::Group => ("left in the cgroup", "raise memory.max"),
            Bound::Commit => ("left to commit (vm.overcommit_memory=2)", "raise vm.overcommit_ratio"),
            Bound::AddressSpace => ("left of the address space (RLIMIT_AS)", "raise ulimit -v"),
            Bound::Data => ("left of the data size (RLIMIT_DATA)", "raise ulimit -d"),
        }
    }
}

/// The memory that this process may still map, and the limit that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// The bytes left.
    pub left: Bytes,
    /// The limit.
    pub by: Bound,
}

impl Allowance {
    /// Finds the tightest limit; returns `None` if there is none.
    ///
    /// # References
    ///
    /// Linux `Documentation/mm/overcommit-accounting.rst`; `proc_pid_limits(5)`, `proc_pid_status(5)`.
    pub fn read(files: &impl Files) -> Option<Self> {
        let (mut meminfo, mut limits, mut status) = ([0; 4 << 10], [0; 2 << 10], [0; 4 << 10]);
        let meminfo = files.read("/proc/meminfo", &mut meminfo).unwrap_or_default();
        let limits = files.read("/proc/self/limits", &mut limits).unwrap_or_default();
        let status = files.read("/proc/self/status", &mut status).unwrap_or_default();
        let is_strict = number(files, format_args!("/proc/sys/vm/overcommit_memory")) == Some(2);
        let mut tightest = None::<Self>;
        for (by, limit, used) in [
            (Bound::Commit, "CommitLimit:", "Committed_AS:"),
            (Bound::AddressSpace, "Max address space", "VmSize:"),
            (Bound::Data, "Max data size", "VmData:"),
        ] {
            let found = match by {
                Bound::Commit if !is_strict => continue,
                Bound::Commit => kilobytes_after(meminfo, limit).zip(kilobytes_after(meminfo, used)),
                _ => soft(limits, limit).zip(kilobytes_after(status, used)),
            };
            let Some((limit, used)) = found else { continue };
            let left = Bytes(limit.0.saturating_sub(used.0));
            if tightest.is_none_or(|known| left < known.left) {
                tightest = Some(Allowance { left, by });
            }
        }
        tightest
    }
}

/// Returns a limit in force, from the content of `limits`; `None` if it is unlimited.
fn soft(limits: &[u8], name: &str) -> Option<Bytes> {
    let rest = limits.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(name.as_bytes()))?;
    let word = rest.split(u8::is_ascii_whitespace).find(|word| !word.is_empty())?;
    parse(word).map(Bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::String;
    use std::vec::Vec;

    #[test]
    fn the_group_of_a_controller_is_found_in_every_mixture() {
        for (groups, version, path) in [
            (&b"0::/user.slice/a\n"[..], Version::Two, "/user.slice/a"),
            (b"5:cpu,memory:/docker/f\n0::/\n", Version::One, "/docker/f"),
            (b"3:cpuset:/x\n0::/init.scope\n", Version::Two, "/init.scope"),
            (b"0::/a:b\n", Version::Two, "/a:b"),
            (b"", Version::Two, "/"),
            (b"garbage", Version::Two, "/"),
        ] {
            assert_eq!(group_of(groups, "memory"), (version, path));
        }
        assert_eq!(group_of(b"3:cpuset:/x\n2:cpu,cpuacct:/y\n", "cpu"), (Version::One, "/y"));
    }

    #[test]
    fn the_path_to_the_root_ends_at_the_mount_point() {
        let way = |group: &str| {
            let mut visited = Vec::new();
            walk_up("/root", group, &mut |directory| visited.push(String::from(directory)));
            visited
        };
        assert_eq!(way("/a/b"), ["/root/a/b", "/root/a", "/root"]);
        assert_eq!(way("/"), ["/root"]);
        assert_eq!(way("/../a"), ["/root"]);
    }
}
