//! Documents that the JSON reader accepts, and its errors for others.

mod document;

use document::events;
use latency_core::json::{Event, MAX_DEPTH, Reader, Reason};

#[test]
fn documents_are_read() {
    let document =
        br#" {"a" : [1, -2.5e+1, true, null], "b\u00e9\ud83d\ude00": {"c":"\"\/\n"}, "d":[], "e":{} } "#;
    let expected = [
        "BeginObject",
        "key a",
        "BeginArray",
        "Number(1.0)",
        "Number(-25.0)",
        "Bool(true)",
        "Null",
        "EndArray",
        "key bé😀",
        "BeginObject",
        "key c",
        "string \"/\n",
        "EndObject",
        "key d",
        "BeginArray",
        "EndArray",
        "key e",
        "BeginObject",
        "EndObject",
        "EndObject",
    ];
    assert_eq!(events(document).unwrap(), expected);
    assert_eq!(events(b"0").unwrap(), ["Number(0.0)"]);
}

#[test]
fn defects_have_a_place_and_a_reason() {
    use Reason::{Control, Encoding, Escape, Expected, Number, NumberRange, Trailing, Truncated};
    const VALUE: Reason = Expected("a value");
    let cases: &[(&[u8], usize, Reason)] = &[
        (b"", 0, Truncated),
        (b" ", 1, Truncated),
        (b"{", 1, Truncated),
        (b"{\"a", 3, Truncated),
        (b"{\"a\"", 4, Truncated),
        (b"{\"a\":", 5, Truncated),
        (b"{\"a\":1", 6, Truncated),
        (b"{\"a\":1,", 7, Truncated),
        (b"[1", 2, Truncated),
        (b"tru", 0, Truncated),
        (b"-", 1, Truncated),
        (b"1.", 2, Truncated),
        (b"1e+", 3, Truncated),
        (b"\"\\", 1, Truncated),
        (b"1 2", 2, Trailing),
        (b"{}]", 2, Trailing),
        (b"[1,]", 3, VALUE),
        (b"[,1]", 1, VALUE),
        (b"[1,,2]", 3, VALUE),
        (b"[1 2]", 3, Expected("',' or ']'")),
        (b"[}", 1, VALUE),
        (b"[1}", 2, Expected("',' or ']'")),
        (b"{\"a\":1]", 6, Expected("',' or '}'")),
        (b"{\"a\" 1}", 5, Expected("':'")),
        (b"{\"a\":1,}", 7, Expected("a string")),
        (b"{,}", 1, Expected("a string or '}'")),
        (b"{a:1}", 1, Expected("a string or '}'")),
        (b"{1:1}", 1, Expected("a string or '}'")),
        (b"{\"a\":}", 5, VALUE),
        (b"NaN", 0, VALUE),
        (b"nul1", 0, VALUE),
        (b"+1", 0, VALUE),
        (b".5", 0, VALUE),
        (b"-Infinity", 1, Number),
        (b"01", 1, Number),
        (b"-00", 2, Number),
        (b"1.e5", 2, Number),
        (b"1ex", 2, Number),
        (b"0x10", 1, Trailing),
        (b"1e999", 0, NumberRange),
        (b"\"\\x\"", 1, Escape),
        (b"\"\\u12g4\"", 1, Escape),
        (b"\"\\ud800\"", 1, Escape),
        (b"\"\\ud800\\u0041\"", 1, Escape),
        (b"\"\\udc00\"", 1, Escape),
        (b"\"a\nb\"", 2, Control),
        (b"\"ab\xff\"", 3, Encoding),
        (b"\xef\xbb\xbf1", 0, VALUE),
        (b"'a'", 0, VALUE),
        (b"// \n1", 0, VALUE),
    ];
    for (document, offset, reason) in cases {
        assert_eq!(events(document), Err((*offset, *reason)), "{}", document.escape_ascii());
    }
}

#[test]
fn nesting_is_limited() {
    let deep = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(events(deep(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(events(deep(MAX_DEPTH + 1).as_bytes()), Err((MAX_DEPTH, Reason::Depth)));
    let mut reader = Reader::new(b"[");
    reader.next_event().unwrap();
    let error = reader.next_event().unwrap_err();
    assert_eq!(reader.next_event(), Err(error), "an error stays");
    assert_eq!(error.to_string(), "byte 1: the document ends too early");
}

#[test]
fn values_are_skipped_whole() {
    let document = br#"{"points":[{"extra":{"x":[1,{}]},"ns":1.25}],"unit":"n\u0073"}"#;
    let mut reader = Reader::new(document);
    reader.begin_object().unwrap();
    assert!(matches!(reader.next_event().unwrap(), Event::Key(key) if key == "points"));
    reader.skip_value().unwrap();
    assert!(matches!(reader.next_event().unwrap(), Event::Key(key) if key == "unit"));
    assert!(reader.string().unwrap() == "ns");
    assert_eq!(reader.next_event().unwrap(), Event::EndObject);
    assert_eq!(reader.next_event().unwrap(), Event::End);
    assert_eq!(reader.next_event().unwrap(), Event::End);
}

#[test]
fn skipping_stops_at_the_end_of_the_container() {
    let mut reader = Reader::new(b"[[1,[2]],3]");
    reader.begin_array().unwrap();
    for _ in 0..4 {
        reader.skip_value().unwrap();
    }
    assert_eq!(reader.next_event().unwrap(), Event::EndArray);
    reader.skip_value().unwrap();
    assert_eq!((reader.next_event().unwrap(), reader.depth(), reader.offset()), (Event::End, 0, 11));
}

#[test]
fn a_value_of_another_type_is_an_error_at_its_start() {
    let mut reader = Reader::new(b"{\"a\":  \"x\"}");
    reader.begin_object().unwrap();
    assert!(matches!(reader.next_event().unwrap(), Event::Key(key) if key == "a"));
    let error = reader.number().unwrap_err();
    assert_eq!(error.to_string(), "byte 7: expected a number");
    assert_eq!(reader.next_event(), Err(error));
    assert!(Reader::new(b"[1]").begin_object().is_err());
}
