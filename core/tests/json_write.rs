//! Documents of the JSON writer, and calls that it refuses.

mod document;

use document::{value, written};
use latency_core::json::{Layout, MAX_DEPTH, Writer};

fn matrix(writer: &mut Writer<String>) -> std::fmt::Result {
    writer.begin_object()?;
    writer.key("node_pairs")?.begin_array()?;
    for to in 0..2 {
        writer.begin_object()?;
        writer.key("from")?.u64(0)?;
        writer.key("to")?.u64(to)?;
        writer.key("cycles")?.decimal(240.0, 3)?;
        writer.key("ns")?.decimal(79.9996, 3)?;
        writer.end_object()?;
    }
    writer.end_array()?;
    writer.key("iters")?.u64(10_000_000)?;
    writer.key("freq_ghz")?.decimal(2.1, 3)?;
    writer.end_object()
}

#[test]
fn document_on_one_line() {
    assert_eq!(
        written(Layout::OneLine, matrix),
        r#"{"node_pairs":[{"from":0,"to":0,"cycles":240.0,"ns":80.0},{"from":0,"to":1,"cycles":240.0,"ns":80.0}],"iters":10000000,"freq_ghz":2.1}"#
    );
}

#[test]
fn document_in_lines() {
    assert_eq!(
        written(Layout::Lines, matrix),
        "{\"node_pairs\":[{\"from\":0,\"to\":0,\"cycles\":240.0,\"ns\":80.0},\n\
         {\"from\":0,\"to\":1,\"cycles\":240.0,\"ns\":80.0}],\n\
         \"iters\":10000000,\n\
         \"freq_ghz\":2.1}\n"
    );
}

#[test]
fn members_of_a_document() {
    assert_eq!(
        written(Layout::Members, matrix),
        "  node_pairs: [{\"from\":0,\"to\":0,\"cycles\":240.0,\"ns\":80.0},\
         {\"from\":0,\"to\":1,\"cycles\":240.0,\"ns\":80.0}]\n  iters: 10000000\n  freq_ghz: 2.1"
    );
}

#[test]
fn decimals() {
    for (number, digits, text) in [
        (240.0, 3, "240.0"),
        (1.5, 3, "1.5"),
        (0.0004, 3, "0.0"),
        (-0.0004, 3, "0.0"),
        (-2.25, 3, "-2.25"),
        (100.0, 0, "100.0"),
        (1e21, 3, "1000000000000000000000.0"),
        (0.1, 99, "0.10000000000000001"),
        (f64::NAN, 3, "null"),
        (f64::INFINITY, 3, "null"),
    ] {
        assert_eq!(value(|writer| writer.decimal(number, digits)), text);
    }
    assert_eq!(value(|writer| writer.decimal(f64::MIN, 17)).len(), 312);
}

#[test]
fn strings_are_escaped() {
    assert_eq!(
        value(|writer| writer.string("a\"b\\c\n\r\t\u{1}\u{8}é\u{7f}/\u{9b}\u{202e}\u{e0001}")),
        "\"a\\\"b\\\\c\\n\\r\\t\\u0001\\u0008é\\u007f/\\u009b\\u202e\\udb40\\udc01\""
    );
    assert_eq!(value(|writer| writer.bytes(b"a\xffb\xe2\x82")), "\"a\u{fffd}b\u{fffd}\"");
    assert_eq!(value(|writer| writer.u64(u64::MAX)), "18446744073709551615");
}

#[test]
fn invalid_documents_cannot_be_written() {
    let mut writer = Writer::new(String::new(), Layout::OneLine);
    assert!(writer.key("outside").is_err() && writer.end_object().is_err());
    writer.begin_object().unwrap();
    assert!(writer.null().is_err() && writer.end_array().is_err());
    writer.key("a").unwrap();
    assert!(writer.key("b").is_err() && writer.end_object().is_err());
    writer.begin_array().unwrap();
    assert!(writer.key("inside").is_err() && writer.end_object().is_err());
    writer.end_array().unwrap();
    writer.end_object().unwrap();
    assert!(writer.null().is_err() && writer.begin_object().is_err());
    assert_eq!(writer.finish().unwrap(), r#"{"a":[]}"#);

    assert!(Writer::new(String::new(), Layout::OneLine).finish().is_err());
    let mut writer = Writer::new(String::new(), Layout::OneLine);
    for _ in 0..MAX_DEPTH {
        writer.begin_array().unwrap();
    }
    assert!(writer.begin_array().is_err());
    assert!(writer.finish().is_err());
}

#[test]
fn a_full_output_is_reported() {
    struct Full;
    impl std::fmt::Write for Full {
        fn write_str(&mut self, _: &str) -> std::fmt::Result {
            Err(std::fmt::Error)
        }
    }
    assert!(Writer::new(Full, Layout::Lines).begin_object().is_err());
}
