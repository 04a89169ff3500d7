//! The parsing tests of JSONTestSuite: documents that a reader of JSON must accept, must refuse, or may accept or refuse.
//!
//! `cases.tsv` has a line for each of its files: the name without `.json`, the number of repetitions of the next column,
//! and the rest. Bytes outside of printable ASCII are written as `\xNN`, a backslash as two.
//!
//! # References
//!
//! Nicolas Seriot, JSONTestSuite, `test_parsing/` as of commit 1ef36fa, under the licence beside this file:
//! <https://github.com/nst/JSONTestSuite>. RFC 8259.

use latency_core::json::{Event, Reader};

const CASES: &str = include_str!("cases.tsv");

/// Returns the bytes of a column.
fn bytes(column: &str) -> Vec<u8> {
    let mut rest = column.as_bytes();
    let mut bytes = Vec::new();
    loop {
        rest = match rest {
            [] => return bytes,
            [b'\\', b'\\', rest @ ..] => {
                bytes.push(b'\\');
                rest
            }
            [b'\\', b'x', high, low, rest @ ..] => {
                let digits = [*high, *low];
                let digits = std::str::from_utf8(&digits).expect("two digits");
                bytes.push(u8::from_str_radix(digits, 16).expect("hexadecimal digits"));
                rest
            }
            [byte, rest @ ..] => {
                bytes.push(*byte);
                rest
            }
        }
    }
}

/// Returns the names and the documents.
fn cases() -> impl Iterator<Item = (&'static str, Vec<u8>)> {
    CASES.lines().map(|line| {
        let columns: Vec<_> = line.split('\t').collect();
        let [name, times, body, tail] = columns[..] else { panic!("four columns: {line}") };
        let times = times.parse().expect("a number of repetitions");
        (name, [bytes(body).repeat(times), bytes(tail)].concat())
    })
}

/// Returns whether a document, and every string in it, can be read to its end.
fn is_accepted(document: &[u8]) -> bool {
    let mut reader = Reader::new(document);
    loop {
        match reader.next_event() {
            Ok(Event::End) => return true,
            Ok(Event::Key(text) | Event::String(text)) => text.chars().for_each(drop),
            Ok(_) => {}
            Err(_) => return false,
        }
    }
}

#[test]
fn all_documents_of_the_suite_are_present() {
    let count = |kind| cases().filter(|(name, _)| name.starts_with(kind)).count();
    assert_eq!([count("y_"), count("n_"), count("i_")], [95, 188, 35]);
    let (_, deep) =
        cases().find(|(name, _)| *name == "n_structure_open_array_object").expect("a deep document");
    assert_eq!(deep.len(), 250_001);
}

#[test]
fn valid_documents_are_accepted_and_others_refused() {
    let wrong: Vec<_> = cases()
        .filter(|(name, document)| match &name[..2] {
            "y_" => !is_accepted(document),
            "n_" => is_accepted(document),
            _ => false,
        })
        .map(|(name, _)| name)
        .collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

/// Accepted documents among those that a reader may accept or refuse: numbers that are rounded to 0 or to a double near
/// them. Numbers beyond any double, halves of a surrogate pair, bytes that are not UTF-8, UTF-16 and a byte-order mark
/// are refused.
const ACCEPTED: [&str; 5] = [
    "i_number_double_huge_neg_exp",
    "i_number_real_underflow",
    "i_number_too_big_neg_int",
    "i_number_too_big_pos_int",
    "i_number_very_big_negative_int",
];

#[test]
fn numbers_are_rounded_and_nothing_else_is_corrected() {
    let either = |name: &str| name.starts_with("i_");
    let accepted: Vec<_> = cases()
        .filter(|(name, document)| either(name) && is_accepted(document))
        .map(|(name, _)| name)
        .collect();
    assert_eq!(accepted, ACCEPTED);
}
