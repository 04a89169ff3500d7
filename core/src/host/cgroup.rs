//! The memory limit of the control groups that this process is in.
//!
//! Going over it is not an error code but the end of the process, so the tool
//! must know it before it maps a buffer. Mount points are the conventional ones
//! below `/sys/fs/cgroup`.
//!
//! # References
//! Linux `Documentation/admin-guide/cgroup-v2.rst` and
//! `Documentation/admin-guide/cgroup-v1/memory.rst`.

use core::fmt::Write;

use crate::text::Text;
use crate::topology::files::{self, number_after};
use crate::topology::Files;
use crate::units::Bytes;

/// The tightest limit on the way from the process's group up to the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// The smallest limit.
    pub limit: Bytes,
    /// What the group with that limit uses now, cached files included.
    pub usage: Bytes,
    /// What can still be taken before some group of the way reaches its limit.
    /// Cached files count as free as far as the kernel gives them up first.
    pub headroom: Bytes,
}

/// The files of one version of the memory controller.
struct Version {
    /// The usual mount points.
    roots: &'static [&'static str],
    limit: &'static str,
    usage: &'static str,
    /// What the kernel gives up before the limit kills: old files, files in use, and slabs.
    inactive: &'static str,
    active: &'static str,
}

const VERSION_1: Version = Version {
    roots: &["/sys/fs/cgroup/memory"],
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    inactive: "total_inactive_file",
    active: "total_active_file",
};

const VERSION_2: Version = Version {
    roots: &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"],
    limit: "memory.max",
    usage: "memory.current",
    inactive: "inactive_file",
    active: "active_file",
};

/// From here on a limit means that there is none: version 1 writes the largest
/// multiple of the page size that a signed number holds.
const UNLIMITED: Bytes = Bytes(1 << 60);

type GroupPath = Text<1024>;

impl MemoryLimit {
    /// Finds the limit that the calling process is under; `None` where there is none.
    ///
    /// Groups are looked for below the mount point by the path that
    /// `/proc/self/cgroup` gives, and at the mount point itself, which is the
    /// group of a container that sees the path of its host.
    #[must_use]
    pub fn read(files: &impl Files) -> Option<Self> {
        let mut buffer = [0; 4 << 10];
        let groups = files.read("/proc/self/cgroup", &mut buffer).unwrap_or_default();
        let (version, group) = memory_group(groups);
        let mut tightest = None;
        for root in version.roots {
            version.walk_up(files, root, group, &mut tightest);
        }
        tightest
    }

    /// Both limits together.
    fn tighter(self, other: Self) -> Self {
        let headroom = self.headroom.min(other.headroom);
        let smaller = if other.limit < self.limit { other } else { self };
        Self { headroom, ..smaller }
    }
}

impl Version {
    fn walk_up(&self, files: &impl Files, root: &str, group: &str, tightest: &mut Option<MemoryLimit>) {
        let mut directory = GroupPath::EMPTY;
        // A path that does not fit, or leads out of the mount, leaves the root.
        let leads_out = group.as_bytes().windows(2).any(|pair| pair == b"..");
        if directory.write_str(root).is_err() || leads_out || directory.write_str(group).is_err() {
            directory.truncate(root.len());
        }
        loop {
            if let Some(limit) = self.read_group(files, directory.as_str()) {
                *tightest = Some(tightest.map_or(limit, |known| known.tighter(limit)));
            }
            let parent = directory.as_str().bytes().rposition(|byte| byte == b'/').unwrap_or(0);
            if directory.as_str().len() <= root.len() {
                return;
            }
            directory.truncate(parent.max(root.len()));
        }
    }

    fn read_group(&self, files: &impl Files, directory: &str) -> Option<MemoryLimit> {
        let file = |name: &str| {
            let mut path = GroupPath::EMPTY;
            // Half a path would name another file.
            if write!(path, "{directory}/{name}").is_err() {
                path.truncate(0);
            }
            path
        };
        // Version 2 writes "max" for no limit, which is no number.
        let limit = Bytes(files::number(files, file(self.limit).as_str())?);
        if limit >= UNLIMITED {
            return None;
        }
        let usage = Bytes(files::number(files, file(self.usage).as_str()).unwrap_or_default());
        let mut buffer = [0; 4 << 10];
        let statistics = files.read(file("memory.stat").as_str(), &mut buffer).unwrap_or_default();
        let statistic = |name| number_after(statistics, name).unwrap_or_default();
        // As of a node: of files in use half, since others come back for them.
        let reclaimable = [statistic(self.active) / 2, statistic("slab_reclaimable")];
        let reclaimable = reclaimable.into_iter().fold(statistic(self.inactive), u64::saturating_add);
        let needed = usage.0.saturating_sub(reclaimable);
        Some(MemoryLimit { limit, usage, headroom: Bytes(limit.0.saturating_sub(needed)) })
    }
}

/// Returns the version in charge of memory, and the path of the group by it; the root
/// where nothing is said. Lines are `4:memory:/path` in version 1, `0::/path` in 2.
fn memory_group(groups: &[u8]) -> (&'static Version, &str) {
    let mut unified = "/";
    for line in groups.split(|byte| *byte == b'\n') {
        let mut parts = line.splitn(3, |byte| *byte == b':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let path = core::str::from_utf8(path).unwrap_or("/");
        if controllers.split(|byte| *byte == b',').any(|name| name == b"memory") {
            return (&VERSION_1, path);
        }
        if controllers.is_empty() {
            unified = path;
        }
    }
    (&VERSION_2, unified)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_group_of_memory_is_found_in_every_mixture() {
        for (groups, version, path) in [
            (&b"0::/user.slice/a\n"[..], "memory.max", "/user.slice/a"),
            (b"5:cpu,memory:/docker/f\n0::/\n", "memory.limit_in_bytes", "/docker/f"),
            (b"3:cpuset:/x\n0::/init.scope\n", "memory.max", "/init.scope"),
            (b"0::/a:b\n", "memory.max", "/a:b"),
            (b"", "memory.max", "/"),
            (b"garbage", "memory.max", "/"),
        ] {
            let (found, at) = memory_group(groups);
            assert_eq!((found.limit, at), (version, path));
        }
    }
}
