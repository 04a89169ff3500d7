//! The limits of the control groups that this process is in, from its own up to the root: memory and CPU time.
//!
//! Exceeding a memory limit is not an error code but the end of the process, so the tool
//! must know it before it maps a buffer. A group that has used up its quota of CPU time is stopped until its period
//! ends, with all its threads at once: a measurement then times the stop. The kernel counts these stops, so that a
//! measurement can tell whether one hit it. Mount points are the conventional ones below `/sys/fs/cgroup`.
//!
//! # References
//! Linux `Documentation/admin-guide/cgroup-v2.rst`, `Documentation/admin-guide/cgroup-v1/cgroups.rst`,
//! `Documentation/admin-guide/cgroup-v1/memory.rst` and `Documentation/scheduler/sched-bwc.rst`.

use core::fmt::Write;

use crate::text::Text;
use crate::topology::Files;
use crate::topology::files::{self, LONGEST_PATH, number_after};
use crate::units::Bytes;

/// The path of a group.
type GroupPath = Text<LONGEST_PATH>;

/// The usual mount points of version 2.
const VERSION_2: &[&str] = &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// The version of the interface that is in charge of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Version {
    /// A hierarchy for each controller.
    One,
    /// One hierarchy for all.
    Two,
}

/// The tightest limit on the way from the process's group up to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The smallest limit.
    pub limit: Bytes,
    /// The memory that the group with that limit uses now, including cached files.
    pub usage: Bytes,
    /// The memory that can still be taken before any group on the way reaches its limit.
    /// Cached files count as free as far as the kernel gives them up first.
    pub headroom: Bytes,
}

/// Smallest limit that means no limit: version 1 writes the largest
/// multiple of the page size that a signed number holds.
const UNLIMITED: Bytes = Bytes(1 << 60);

impl MemoryLimit {
    /// Finds the limit that the calling process is under; `None` where there is none.
    #[must_use]
    pub fn read(files: &impl Files) -> Option<Self> {
        let mut tightest: Option<Self> = None;
        visit_groups(files, "memory", &["/sys/fs/cgroup/memory"], &mut |version, directory| {
            if let Some(limit) = Self::of_group(files, version, directory) {
                tightest = Some(tightest.map_or(limit, |known| known.tighter(limit)));
            }
        });
        tightest
    }

    /// Returns both limits together.
    fn tighter(self, other: Self) -> Self {
        let headroom = self.headroom.min(other.headroom);
        let smaller = if other.limit < self.limit { other } else { self };
        Self { headroom, ..smaller }
    }

    fn of_group(files: &impl Files, version: Version, directory: &str) -> Option<Self> {
        // The kernel gives up old files, files in use and slabs before the limit kills.
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
        // Half of the files in use, as for a node, since other processes need them again.
        let reclaimable = [statistic(active) / 2, statistic("slab_reclaimable")];
        let reclaimable = reclaimable.into_iter().fold(statistic(inactive), u64::saturating_add);
        let needed = usage.0.saturating_sub(reclaimable);
        Some(Self { limit, usage, headroom: Bytes(limit.0.saturating_sub(needed)) })
    }
}

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
                    // A directory is a path of the same type, so it fits.
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

/// Calls `visit` with the directory of each group of a controller on the way up, innermost first.
///
/// Groups are looked for below the mount point, which is one of `version_1` or the usual one of version 2, by the path
/// that `/proc/self/cgroup` gives, and at the mount point itself, which is the
/// group of a container that sees the path of its host.
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
    // A path that does not fit, or leads out of the mount, leaves the root.
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

/// Returns the version in charge of a controller, and the path of its group; the root
/// where there is no line for it. Lines are `4:memory:/path` in version 1, `0::/path` in 2.
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
    fn the_way_up_ends_at_the_mount_point() {
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
