//! The control groups that this process is in, from its own up to the root.
//!
//! Knows how groups are found, for a controller of either version, and nothing of the limits of a controller. Mount
//! points are the conventional ones below `/sys/fs/cgroup`.
//!
//! # References
//! Linux `Documentation/admin-guide/cgroup-v2.rst` and `Documentation/admin-guide/cgroup-v1/cgroups.rst`.

use core::fmt::Write;

use crate::text::Text;
use crate::topology::files::LONGEST_PATH;
use crate::topology::Files;

/// The path of a group.
pub(super) type GroupPath = Text<LONGEST_PATH>;

/// The usual mount points of version 2.
const VERSION_2: &[&str] = &["/sys/fs/cgroup", "/sys/fs/cgroup/unified"];

/// The version of the interface that is in charge of a controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Version {
    /// A hierarchy for each controller.
    One,
    /// One hierarchy for all.
    Two,
}

/// A controller of the kernel, which limits one resource.
pub(super) struct Controller {
    /// The kernel's name for it.
    pub name: &'static str,
    /// Its usual mount points in version 1.
    pub version_1: &'static [&'static str],
}

impl Controller {
    /// Calls `visit` with the directory of each group on the way up, innermost first.
    ///
    /// Groups are looked for below the mount point by the path that
    /// `/proc/self/cgroup` gives, and at the mount point itself, which is the
    /// group of a container that sees the path of its host.
    pub(super) fn walk_up(&self, files: &impl Files, visit: &mut dyn FnMut(Version, &str)) {
        let mut buffer = [0; 4 << 10];
        let groups = files.read("/proc/self/cgroup", &mut buffer).unwrap_or_default();
        let (version, group) = group_of(groups, self.name);
        let roots = match version {
            Version::One => self.version_1,
            Version::Two => VERSION_2,
        };
        for root in roots {
            walk_up(root, group, &mut |directory| visit(version, directory));
        }
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
