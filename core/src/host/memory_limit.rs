//! The memory limit of the control groups that this process is in.
//!
//! Exceeding it is not an error code but the end of the process, so the tool
//! must know it before it maps a buffer. The search for groups is in `cgroup`.
//!
//! # References
//! Linux `Documentation/admin-guide/cgroup-v2.rst` and
//! `Documentation/admin-guide/cgroup-v1/memory.rst`.

use super::cgroup::{Controller, Version};
use crate::topology::files::{self, number_after};
use crate::topology::Files;
use crate::units::Bytes;

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

const MEMORY: Controller = Controller { name: "memory", version_1: &["/sys/fs/cgroup/memory"] };

/// The names in one version of the memory controller.
struct Names {
    limit: &'static str,
    usage: &'static str,
    /// The memory that the kernel gives up before the limit kills: old files, files in use, and slabs.
    inactive: &'static str,
    active: &'static str,
}

const VERSION_1: Names = Names {
    limit: "memory.limit_in_bytes",
    usage: "memory.usage_in_bytes",
    inactive: "total_inactive_file",
    active: "total_active_file",
};

const VERSION_2: Names =
    Names { limit: "memory.max", usage: "memory.current", inactive: "inactive_file", active: "active_file" };

/// Smallest limit that means no limit: version 1 writes the largest
/// multiple of the page size that a signed number holds.
const UNLIMITED: Bytes = Bytes(1 << 60);

impl MemoryLimit {
    /// Finds the limit that the calling process is under; `None` where there is none.
    #[must_use]
    pub fn read(files: &impl Files) -> Option<Self> {
        let mut tightest: Option<Self> = None;
        MEMORY.walk_up(files, &mut |version, directory| {
            let names = match version {
                Version::One => &VERSION_1,
                Version::Two => &VERSION_2,
            };
            if let Some(limit) = names.read_group(files, directory) {
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
}

impl Names {
    fn read_group(&self, files: &impl Files, directory: &str) -> Option<MemoryLimit> {
        // Version 2 writes "max" for no limit, which is not a number.
        let number = |name| files::number(files, format_args!("{directory}/{name}"));
        let limit = Bytes(number(self.limit)?);
        if limit >= UNLIMITED {
            return None;
        }
        let usage = Bytes(number(self.usage).unwrap_or_default());
        let mut buffer = [0; 4 << 10];
        let statistics = files::read(files, format_args!("{directory}/memory.stat"), &mut buffer);
        let statistics = statistics.unwrap_or_default();
        let statistic = |name| number_after(statistics, name).unwrap_or_default();
        // Half of the files in use, as for a node, since other processes need them again.
        let reclaimable = [statistic(self.active) / 2, statistic("slab_reclaimable")];
        let reclaimable = reclaimable.into_iter().fold(statistic(self.inactive), u64::saturating_add);
        let needed = usage.0.saturating_sub(reclaimable);
        Some(MemoryLimit { limit, usage, headroom: Bytes(limit.0.saturating_sub(needed)) })
    }
}
