//! Memory policies, and the nodes of pages.
//!
//! The module identifies nodes by number and memory by address. Other modules decide the order of the calls, and
//! whether an answer is good enough for a measurement.
//!
//! # Safety
//!
//! The system calls here get addresses of local masks and of the caller's slices, with their lengths. The queried
//! addresses are never read or written through: a policy determines the location of pages and not their contents, so
//! these functions are safe for any address.
//!
//! # References
//! `mbind(2)`, `set_mempolicy(2)`, `get_mempolicy(2)`, `move_pages(2)`. rustix has none of them.

use super::errno::Errno;
use super::raw::syscall6;
use core::mem::size_of_val;
use latency_core::{NodeId, NodeSet};
use linux_raw_sys::general::{__NR_get_mempolicy, __NR_mbind, __NR_move_pages, __NR_set_mempolicy};
use linux_raw_sys::mempolicy::{
    MPOL_BIND, MPOL_DEFAULT, MPOL_F_MEMS_ALLOWED, MPOL_MF_STRICT, MPOL_MODE_FLAGS,
};

/// Returns the set of `node` only; the empty set if the number is too large for any kernel.
pub fn only(node: NodeId) -> NodeSet {
    [node.0].into_iter().collect()
}

/// Returns the kernel's `maxnode` for a set of nodes: one more than its number of bits, because the kernel subtracts one
/// (mm/mempolicy.c, `get_nodes`).
fn maximum_node(nodes: &NodeSet) -> usize {
    size_of_val(nodes.words()) * 8 + 1
}

/// Returns the nodes to which a bind policy restricts this thread; `None` under any other policy.
///
/// # Errors
/// `ENOSYS` on a kernel without NUMA, `EPERM` under a container's seccomp filter.
pub fn bound_to() -> Result<Option<NodeSet>, Errno> {
    let (mode, nodes) = query(0, 0)?;
    // The flags determine how the set follows the cpuset, which is irrelevant here.
    Ok((mode & !MPOL_MODE_FLAGS == MPOL_BIND as u32).then_some(nodes))
}

/// Binds the memory that this thread touches from now on to some nodes; if these have no free pages, the kernel kills
/// the process. `None` restores the initial policy of a process: the node of the CPU that touches a page first.
///
/// # Errors
/// `EINVAL` if no node of the set has memory and is in the cpuset (a set that is allowed in part is silently narrowed);
/// `ENOSYS` and `EPERM` as in [`bound_to`].
pub fn bind(nodes: Option<&NodeSet>) -> Result<(), Errno> {
    match nodes {
        Some(nodes) => set_policy(MPOL_BIND as usize, nodes),
        None => set_policy(MPOL_DEFAULT as usize, &NodeSet::EMPTY),
    }
}

fn set_policy(mode: usize, nodes: &NodeSet) -> Result<(), Errno> {
    let arguments = [mode, nodes.words().as_ptr() as usize, maximum_node(nodes), 0, 0, 0];
    // SAFETY: the kernel reads `maximum_node - 1` bits, which is the size of the words.
    unsafe { syscall6(__NR_set_mempolicy, arguments) }?;
    Ok(())
}

/// Returns the nodes from which the cpuset of this thread allows it to take memory.
///
/// # Errors
/// `ENOSYS` and `EPERM` as in [`bound_to`]; `Mems_allowed_list` of `/proc/self/status` has the same information and a
/// filter of system calls does not forbid it.
pub fn mems_allowed() -> Result<NodeSet, Errno> {
    query(0, MPOL_F_MEMS_ALLOWED).map(|(_, nodes)| nodes)
}

/// Calls `get_mempolicy(2)`. Returns its first result (a mode, or a node) and its set of nodes.
fn query(address: usize, flags: u32) -> Result<(u32, NodeSet), Errno> {
    let mut first = 0_i32;
    let mut nodes = NodeSet::EMPTY;
    let size = maximum_node(&nodes);
    let words = nodes.words_mut().as_mut_ptr() as usize;
    // SAFETY: the kernel writes one int, and `size - 1` bits rounded up to whole words, which is the size of the set.
    // At most, the page at `address` is brought in.
    unsafe {
        syscall6(__NR_get_mempolicy, [&raw mut first as usize, words, size, address, flags as usize, 0])
    }?;
    Ok((first as u32, nodes))
}

/// Binds the pages of `length` bytes from `address` (a multiple of the page size) to `node`.
///
/// # Errors
/// `EIO` if a page is already on another node (it stays there), `EINVAL` for a node that is absent, without memory or
/// outside the cpuset, `EFAULT` if the range is not mapped; `ENOSYS` and `EPERM` as in [`bound_to`].
pub fn bind_range(address: usize, length: usize, node: NodeId) -> Result<(), Errno> {
    let nodes = only(node);
    let words = nodes.words().as_ptr() as usize;
    let arguments =
        [address, length, MPOL_BIND as usize, words, maximum_node(&nodes), MPOL_MF_STRICT as usize];
    // SAFETY: the kernel reads `maximum_node - 1` bits of the set; the range gets a policy, and the contents of its
    // pages stay as they are.
    unsafe { syscall6(__NR_mbind, arguments) }?;
    Ok(())
}

/// Queries the node of the page at each of `addresses`, without moving or touching any page.
///
/// `status` gets the node's number, or a negated error: `-ENOENT` for an absent page, `-EFAULT` for the zero page and
/// for an unmapped address.
///
/// # Errors
/// `EINVAL` if `status` is shorter than `addresses`; `EPERM` in most containers; `ENOSYS` on a kernel without NUMA.
pub fn query_pages(addresses: &[usize], status: &mut [i32]) -> Result<(), Errno> {
    if status.len() < addresses.len() {
        return Err(Errno::EINVAL);
    }
    const THIS_PROCESS: usize = 0;
    const NO_MOVE: usize = 0;
    let pages = addresses.as_ptr() as usize;
    let arguments = [THIS_PROCESS, addresses.len(), pages, NO_MOVE, status.as_mut_ptr() as usize, 0];
    // SAFETY: the kernel reads `addresses.len()` words and writes as many ints, for which the check above found
    // `status` long enough; the pages themselves stay.
    unsafe { syscall6(__NR_move_pages, arguments) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auxv::page_size;
    use crate::map::Region;
    use latency_core::{PageSize, Pages};
    use linux_raw_sys::mempolicy::{MPOL_F_ADDR, MPOL_F_NODE, MPOL_LOCAL, MPOL_PREFERRED};
    use std::vec::Vec;

    /// Returns true if there is nothing to test: on a host without NUMA support, or in a container that forbids the
    /// calls.
    fn forbidden<T>(result: &Result<T, Errno>) -> bool {
        matches!(result, Err(Errno::ENOSYS | Errno::EPERM))
    }

    /// Returns the node of the page at `address`; an absent page is brought in.
    fn node_of_address(address: usize) -> Result<NodeId, Errno> {
        query(address, MPOL_F_NODE | MPOL_F_ADDR).map(|(node, _)| NodeId(node))
    }

    /// Returns the nodes that can provide memory; none if policies are forbidden.
    fn usable_nodes() -> Vec<NodeId> {
        let allowed = mems_allowed();
        if forbidden(&allowed) {
            return Vec::new();
        }
        let allowed = allowed.unwrap();
        let ids: Vec<u32> = allowed.iter().collect();
        ids.into_iter().map(NodeId).collect()
    }

    /// Returns the answers of `query_pages` for every page of `region`; `None` if the query is forbidden.
    fn page_nodes(region: &Region, pages: Pages) -> Option<Vec<i32>> {
        let page = pages.pool().unwrap_or_else(page_size).bytes().0 as usize;
        let addresses: Vec<usize> =
            (0..region.len()).step_by(page).map(|offset| region.address() + offset).collect();
        let mut status = std::vec![i32::MIN; addresses.len()];
        let asked = query_pages(&addresses, &mut status);
        if forbidden(&asked) {
            return None;
        }
        asked.unwrap();
        Some(status)
    }

    #[test]
    fn bound_pages_are_found_on_their_node() {
        for node in usable_nodes() {
            let mut region = Region::map(1 << 20, Pages::base(page_size())).unwrap();
            bind_range(region.address(), region.len(), node).unwrap();
            if let Some(status) = page_nodes(&region, Pages::base(page_size())) {
                let absent = [-Errno::ENOENT.code(), -Errno::EFAULT.code()];
                assert!(status.iter().all(|node| absent.contains(node)), "{status:?}");
            }
            region.populate(0..region.len()).unwrap();
            if let Some(status) = page_nodes(&region, Pages::base(page_size())) {
                let pages = (1 << 20) / page_size().bytes().0 as usize;
                assert_eq!(status, std::vec![node.0 as i32; pages]);
            }
            assert_eq!(node_of_address(region.address() + region.len() - 1), Ok(node));
        }
    }

    #[test]
    fn pages_on_another_node_are_an_error_and_stay() {
        let nodes = usable_nodes();
        let [first, second, ..] = nodes[..] else { return };
        let mut region = Region::map(1 << 20, Pages::base(page_size())).unwrap();
        bind_range(region.address(), region.len(), first).unwrap();
        region.populate(0..4096).unwrap();
        assert_eq!(bind_range(region.address(), region.len(), second), Err(Errno::EIO));
        assert_eq!(node_of_address(region.address()), Ok(first));
    }

    #[test]
    fn huge_pages_come_from_the_pool_of_the_node_or_not_at_all() {
        for node in usable_nodes() {
            bind(Some(&only(node))).unwrap();
            // Mapping from a pool with fewer than two pages is ENOMEM here, before anything is touched.
            match Region::map(4 << 20, Pages::of_pool(PageSize::MIB_2)) {
                Err(error) => assert!(matches!(error, Errno::ENOMEM | Errno::EINVAL), "{error}"),
                Ok(mut region) => {
                    region.populate(0..region.len()).unwrap();
                    if let Some(status) = page_nodes(&region, Pages::of_pool(PageSize::MIB_2)) {
                        assert_eq!(status, [node.0 as i32; 2]);
                    }
                }
            }
        }
        bind(None).unwrap_or_default();
    }

    #[test]
    fn the_policy_of_a_thread_is_read_back() {
        let Some(&node) = usable_nodes().first() else { return };
        // Each thread has its own policy, and every test runs on its own thread.
        bind(Some(&only(node))).unwrap();
        assert_eq!(bound_to(), Ok(Some(only(node))));
        set_policy(MPOL_PREFERRED as usize, &only(node)).unwrap();
        assert_eq!(bound_to(), Ok(None));
        set_policy(MPOL_LOCAL as usize, &NodeSet::EMPTY).unwrap();
        assert_eq!(bound_to(), Ok(None));
        bind(None).unwrap();
        assert_eq!(bound_to(), Ok(None));
        assert_eq!(set_policy(7, &NodeSet::EMPTY), Err(Errno::EINVAL));
    }

    #[test]
    fn an_impossible_binding_is_an_error() {
        if usable_nodes().is_empty() {
            return;
        }
        let region = Region::map(1 << 20, Pages::base(page_size())).unwrap();
        assert_eq!(bind_range(region.address(), region.len(), NodeId(1023)), Err(Errno::EINVAL));
        assert_eq!(bind_range(region.address(), region.len(), NodeId(5000)), Err(Errno::EINVAL));
        assert_eq!(query_pages(&[0, 0], &mut [0]), Err(Errno::EINVAL));
    }
}
