//! Documents that the JSON reader accepts, and its errors for others.

mod document;

use document::events;
use latency_core::json::{MAX_DEPTH, NOT_A_RESULT, Reader};

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
    const TRUNCATED: &str = "the document is cut off";
    const TRAILING: &str = "text after the end of the document";
    const NUMBER: &str = "malformed number";
    const ESCAPE: &str = "invalid escape in a string";
    let cases: &[(&[u8], usize, &str)] = &[
        (b"", 0, TRUNCATED),
        (b" ", 1, TRUNCATED),
        (b"{", 1, TRUNCATED),
        (b"{\"a", 3, TRUNCATED),
        (b"{\"a\"", 4, TRUNCATED),
        (b"{\"a\":", 5, TRUNCATED),
        (b"{\"a\":1", 6, TRUNCATED),
        (b"{\"a\":1,", 7, TRUNCATED),
        (b"[1", 2, TRUNCATED),
        (b"tru", 0, TRUNCATED),
        (b"-", 1, TRUNCATED),
        (b"1.", 2, TRUNCATED),
        (b"1e+", 3, TRUNCATED),
        (b"\"\\", 1, TRUNCATED),
        (b"1 2", 2, TRAILING),
        (b"{}]", 2, TRAILING),
        (b"[1,]", 3, NOT_A_RESULT),
        (b"[,1]", 1, NOT_A_RESULT),
        (b"[1,,2]", 3, NOT_A_RESULT),
        (b"[1 2]", 3, NOT_A_RESULT),
        (b"[}", 1, NOT_A_RESULT),
        (b"[1}", 2, NOT_A_RESULT),
        (b"{\"a\":1]", 6, NOT_A_RESULT),
        (b"{\"a\" 1}", 5, NOT_A_RESULT),
        (b"{\"a\":1,}", 7, NOT_A_RESULT),
        (b"{,}", 1, NOT_A_RESULT),
        (b"{a:1}", 1, NOT_A_RESULT),
        (b"{1:1}", 1, NOT_A_RESULT),
        (b"{\"a\":}", 5, NOT_A_RESULT),
        (b"NaN", 0, NOT_A_RESULT),
        (b"nul1", 0, NOT_A_RESULT),
        (b"+1", 0, NOT_A_RESULT),
        (b".5", 0, NOT_A_RESULT),
        (b"-Infinity", 1, NUMBER),
        (b"01", 1, NUMBER),
        (b"-00", 2, NUMBER),
        (b"1.e5", 2, NUMBER),
        (b"1ex", 2, NUMBER),
        (b"0x10", 1, TRAILING),
        (b"1e999", 0, "number out of range"),
        (b"\"\\x\"", 1, ESCAPE),
        (b"\"\\u12g4\"", 1, ESCAPE),
        (b"\"\\ud800\"", 1, ESCAPE),
        (b"\"\\ud800\\u0041\"", 1, ESCAPE),
        (b"\"\\udc00\"", 1, ESCAPE),
        (b"\"a\nb\"", 2, "control character in a string"),
        (b"\"ab\xff\"", 3, "invalid UTF-8 in a string"),
        (b"\xef\xbb\xbf1", 0, NOT_A_RESULT),
        (b"'a'", 0, NOT_A_RESULT),
        (b"// \n1", 0, NOT_A_RESULT),
    ];
    for (document, offset, reason) in cases {
        assert_eq!(events(document), Err((*offset, *reason)), "{}", document.escape_ascii());
    }
}

#[test]
fn nesting_is_limited() {
    let deep = |depth: usize| ["[".repeat(depth), "]".repeat(depth)].concat();
    assert!(events(deep(MAX_DEPTH).as_bytes()).is_ok());
    assert_eq!(events(deep(MAX_DEPTH + 1).as_bytes()), Err((MAX_DEPTH, "nested too deep")));
    let mut reader = Reader::new(b"[");
    reader.next_event().unwrap();
    let error = reader.next_event().unwrap_err();
    assert_eq!(reader.next_event(), Err(error), "an error stays");
}
