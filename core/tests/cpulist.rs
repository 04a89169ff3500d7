//! Sets of ids and their notation.

use latency_core::cpulist::{CpuSet, IdSet, ListError, NodeSet};
use proptest::prelude::*;
use std::collections::BTreeSet;

#[test]
fn members_are_inserted_once() {
    let mut set = NodeSet::EMPTY;
    assert!(set.is_empty() && set.first().is_none() && set.last().is_none());
    assert!(set.insert(3) && set.insert(64) && set.insert(1023));
    assert!(!set.insert(3) && !set.insert(1024) && !set.insert(u32::MAX));
    assert_eq!((set.len(), set.first(), set.last()), (3, Some(3), Some(1023)));
    assert!(set.contains(64) && !set.contains(65) && !set.contains(1024));
    assert_eq!(set.iter().collect::<Vec<_>>(), [3, 64, 1023]);
}

#[test]
fn words_have_the_layout_of_the_kernel() {
    let mut set = NodeSet::from_iter([0, 65]);
    assert_eq!(set.words().get(..3), Some(&[1, 2, 0][..]));
    set.words_mut()[2] = 1 << 63;
    assert_eq!(set.to_string(), "0,65,191");
    assert_eq!(core::mem::size_of::<CpuSet>(), 1024);
}

#[test]
fn files_of_the_kernel_are_read() {
    for (text, expected) in
        [("0\n", "0"), ("0-1,4\n", "0-1,4"), ("\n", ""), ("", ""), ("3,1,1-2", "1-3"), ("8191", "8191")]
    {
        assert_eq!(CpuSet::parse_kernel(text.as_bytes()).unwrap().to_string(), expected);
    }
    assert!(CpuSet::parse_kernel(b"8192").is_err());
    assert!(CpuSet::parse_kernel(b"0,\n").is_err());
    assert!(CpuSet::parse_kernel(b"0 1").is_err());
}

#[test]
fn each_typing_error_has_its_message() {
    for (text, message) in [
        ("", "the list is empty"),
        ("0,,1", "empty item in '0,,1'"),
        ("0,", "empty item in '0,'"),
        ("x", "'x' is neither a number nor a range such as 2-3"),
        ("0, 1", "' 1' is neither a number nor a range such as 2-3"),
        ("-1", "'-1' is neither a number nor a range such as 2-3"),
        ("1-", "'1-' is neither a number nor a range such as 2-3"),
        ("1-2-3", "'1-2-3' is neither a number nor a range such as 2-3"),
        ("0\n", "'0\\n' is neither a number nor a range such as 2-3"),
        ("3-2", "the range '3-2' runs backwards"),
        ("0-3,2-5", "'2-5' names 2 a second time"),
        ("7,7", "'7' names 7 a second time"),
        ("1024", "'1024' is too large (at most 1023)"),
        ("0-99999999999999999999", "'0-99999999999999999999' is too large (at most 1023)"),
    ] {
        assert_eq!(NodeSet::parse_list(text.as_bytes()).unwrap_err().to_string(), message);
    }
    assert_eq!(
        NodeSet::parse_list(b"0,5-4"),
        Err(ListError::Backwards { piece: b"5-4" }),
        "the piece, not the list"
    );
}

#[test]
fn a_set_without_room_is_harmless() {
    let mut set = IdSet::<0>::EMPTY;
    assert!(!set.insert(0) && set.is_empty() && set.last().is_none());
    assert_eq!(set.iter().count(), 0);
    assert!(IdSet::<0>::parse_list(b"0").is_err());
}

fn ids() -> impl Strategy<Value = BTreeSet<u32>> {
    prop::collection::btree_set(0_u32..1024, 0..200)
}

#[test]
fn a_message_repeats_the_beginning_of_the_typed_text() {
    let typed = "x".repeat(5000);
    let message = CpuSet::parse_list(typed.as_bytes()).unwrap_err().to_string();
    assert_eq!(message, format!("'{}...' is neither a number nor a range such as 2-3", &typed[..100]));
    let typed = [&[b'1'; 300][..], b",,"].concat();
    assert!(CpuSet::parse_list(&typed).unwrap_err().to_string().len() < 200);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn notation_round_trips(ids in ids()) {
        let set: NodeSet = ids.iter().copied().collect();
        prop_assert!(set.iter().eq(ids.iter().copied()));
        let text = set.to_string();
        prop_assert_eq!(NodeSet::parse_kernel(text.as_bytes()).unwrap(), set);
        if !ids.is_empty() {
            prop_assert_eq!(NodeSet::parse_list(text.as_bytes()).unwrap(), set);
        }
    }

    #[test]
    fn operations_agree_with_standard_sets(one in ids(), other in ids()) {
        let (a, b) = (NodeSet::from_iter(one.iter().copied()), NodeSet::from_iter(other.iter().copied()));
        prop_assert!(a.union(&b).iter().eq(one.union(&other).copied()));
        prop_assert!(a.intersection(&b).iter().eq(one.intersection(&other).copied()));
        prop_assert!(a.difference(&b).iter().eq(one.difference(&other).copied()));
        prop_assert_eq!((a.len(), a.first(), a.last()), (one.len(), one.first().copied(), one.last().copied()));
    }

    #[test]
    fn any_bytes_are_a_set_or_an_error(text in prop::collection::vec(any::<u8>(), 0..40)) {
        if let Err(error) = CpuSet::parse_list(&text) {
            prop_assert!(error.to_string().is_ascii());
        }
    }

    #[test]
    fn near_misses_are_a_set_or_an_error(text in "[0-9,-]{0,24}") {
        if let Ok(set) = CpuSet::parse_list(text.as_bytes()) {
            prop_assert_eq!(CpuSet::parse_kernel(text.as_bytes()).unwrap(), set);
        }
    }
}

#[test]
fn a_set_holds_numbers_below_its_capacity() {
    let (mut cpus, mut nodes) = (CpuSet::EMPTY, NodeSet::EMPTY);
    assert_eq!((CpuSet::CAPACITY, NodeSet::CAPACITY), (8192, 1024));
    assert!(cpus.insert(8191) && !cpus.insert(8191) && !cpus.insert(8192));
    assert!(nodes.insert(1023) && !nodes.insert(1024));
    assert_eq!((cpus.len(), nodes.len(), cpus.contains(8192)), (1, 1, false));
}
