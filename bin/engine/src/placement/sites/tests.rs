//! Memory without a node, for tests.

use super::*;
use latency_core::arch::Line;
use latency_core::traffic::Field;
use latency_core::{Bytes, NodeId, PageSize, Pages};

/// Returns sites of one node, one for each element of `holds`.
pub fn made_of<T>(holds: impl IntoIterator<Item = T>) -> Sites<T> {
    let mut sites = Sites { list: core::array::from_fn(|_| None), memory: Memory::Shared };
    let (on, pages, size) = (NodeId(0), Pages::base(PageSize::KIB_4), Bytes(0));
    for (slot, holds) in sites.list.iter_mut().zip(holds) {
        let region = PlannedRegion { from: on, on, pages, size, is_of_traffic: true };
        *slot = Some(Site { region, witness: Witness::made_up(on), holds });
    }
    sites
}

/// Returns a site with the field of generators in `lines`.
pub fn made_up(lines: &mut [Line]) -> Sites<Field<'_>> {
    let size = Bytes(lines.len() as u64 * 64);
    let mut sites = made_of([Field::new(lines)]);
    sites.list.iter_mut().flatten().for_each(|site| site.region.size = size);
    sites
}
