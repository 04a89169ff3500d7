//! The JSON writer compared with the reader, and the reader on any bytes.

mod document;

use document::{events, value, written};
use latency_core::json::{Event, Layout, Reader, Writer};
use proptest::prelude::*;
use std::fmt::Write as _;

/// A document as a tree, to be written and read back.
#[derive(Clone, Debug)]
enum Tree {
    Null,
    Bool(bool),
    Number(f64),
    String(String),
    Array(Vec<Tree>),
    Object(Vec<(String, Tree)>),
}

fn trees() -> impl Strategy<Value = Tree> {
    let leaf = prop_oneof![
        Just(Tree::Null),
        any::<bool>().prop_map(Tree::Bool),
        (-1_000_000_i32..1_000_000).prop_map(|thousandths| Tree::Number(f64::from(thousandths) / 1000.0)),
        any::<String>().prop_map(Tree::String),
    ];
    leaf.prop_recursive(5, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Tree::Array),
            prop::collection::vec((any::<String>(), inner), 0..6).prop_map(Tree::Object),
        ]
    })
}

fn write(tree: &Tree, writer: &mut Writer<String>, expected: &mut Vec<String>) -> std::fmt::Result {
    match tree {
        Tree::Null => {
            expected.push("Null".into());
            writer.null()
        }
        Tree::Bool(value) => {
            expected.push(format!("Bool({value})"));
            writer.bool(*value)
        }
        Tree::Number(value) => {
            expected.push(format!("Number({value:?})"));
            writer.decimal(*value, 3)
        }
        Tree::String(value) => {
            expected.push(format!("string {value}"));
            writer.string(value)
        }
        Tree::Array(elements) => {
            expected.push("BeginArray".into());
            writer.begin_array()?;
            elements.iter().try_for_each(|element| write(element, writer, expected))?;
            expected.push("EndArray".into());
            writer.end_array()
        }
        Tree::Object(members) => {
            expected.push("BeginObject".into());
            writer.begin_object()?;
            for (name, value) in members {
                expected.push(format!("key {name}"));
                write(value, writer.key(name)?, expected)?;
            }
            expected.push("EndObject".into());
            writer.end_object()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn written_documents_are_read_back(tree in trees(), lines in any::<bool>()) {
        let mut expected = Vec::new();
        let layout = if lines { Layout::Lines } else { Layout::OneLine };
        let document = written(layout, |writer| write(&tree, writer, &mut expected));
        prop_assert_eq!(events(document.as_bytes()), Ok(expected));
    }

    #[test]
    fn a_prefix_is_never_a_document(tree in trees(), cut in any::<prop::sample::Index>()) {
        let mut document = String::from("[");
        write!(document, "{}]", value(|writer| write(&tree, writer, &mut Vec::new()))).unwrap();
        prop_assert!(events(&document.as_bytes()[..cut.index(document.len())]).is_err());
    }

    #[test]
    fn any_bytes_are_read_or_refused(document in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = events(&document);
    }

    #[test]
    fn near_misses_are_read_or_refused(document in r#"[\[\]{}",:\\u0-9eE.+tfn \-]{0,40}"#) {
        if let Err((offset, _)) = events(document.as_bytes()) {
            prop_assert!(offset <= document.len());
        }
    }

    #[test]
    fn numbers_survive(number in any::<u64>()) {
        let mut document = String::new();
        write!(document, "{number}").unwrap();
        prop_assert_eq!(Reader::new(document.as_bytes()).next_event(), Ok(Event::Number(number as f64)));
    }
}
