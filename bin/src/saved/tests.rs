//! Files as they are written, as other tools write them, and as nobody should.

use super::*;
use proptest::prelude::*;
use std::format;
use std::string::String;
use std::vec::Vec;

fn parse(text: &[u8]) -> Result<Saved, Problem> {
    Saved::parse(text, Table::filled(MAX_ROWS, Row::EMPTY).unwrap())
}

fn rejected(text: &str) -> (u32, &'static str) {
    let Problem { line, what } = parse(text.as_bytes()).unwrap_err();
    (line, what)
}

const OURS: &str =
    "from,to,cycles,ns,core_cycles,ci95_low_ns,ci95_high_ns,mad_ns,working_set_bytes,stride_bytes,kernel
0,1,2.8,1.083,4.001,1.08,1.09,0.001,16384,64,pointer
0,1,,,,,,,32768,64,pointer
0,1,9.8,3.797,14.02,3.7,3.8,0.002,65536,64,pointer
";

const DOCUMENT: &str = r#"{"points":[
{"from":0,"to":1,"cycles":2.8,"ns":1.083,"working_set_bytes":16384,"stride_bytes":64,"kernel":"pointer","mad_ns":0.001,"ci95_ns":[1.08,1.09],"core_cycles":4.001,"placement":{"before":{"nodes":[]}}},
{"from":0,"to":1,"cycles":null,"ns":null,"working_set_bytes":32768,"not_measured":"interrupted"}],
"experiment":"curve","system":{"cpu":{"family":25},"caches":[{"level":1,"type":"Data","bytes":32768,"ways":8},{"level":1,"type":"Instruction","bytes":65536,"ways":4}]}}
"#;

#[test]
fn reads_what_it_writes() {
    for (text, count) in [(OURS, 2), (DOCUMENT, 1)] {
        let saved = parse(text.as_bytes()).unwrap();
        assert_eq!(saved.rows().len(), count);
        let row = &saved.rows()[0];
        assert_eq!((row.pair, row.name.as_str()), (Some((0, 1)), "pointer"));
        assert_eq!((row.sample.size, row.sample.nanoseconds), (Bytes(16384), 1.083));
        assert_eq!(row.sample.core_cycles, Some(4.001));
        assert_eq!(row.sample.interval.unwrap().high, 1.09);
    }
    let saved = parse(DOCUMENT.as_bytes()).unwrap();
    assert_eq!(saved.experiment.as_str(), "curve");
    assert_eq!(saved.claims.level(1).unwrap().size, Bytes(32768));
}

#[test]
fn reads_two_columns_of_other_tools() {
    for text in [
        "16384 1.08\n32768 1.25\n",
        "# lmbench\n16384,1.08\n\n32768,1.25",
        "size;latency\r\n16384;1.08\r\n32768;1.25\r\n",
        "\"bytes\",\"latency (ns)\"\n16384,1.08\n3.2768e4,1.25\n",
        "\u{feff}size\tns_per_load\n16384\t1.08\n32768\t1.25\n",
    ] {
        let saved = parse(text.as_bytes()).unwrap();
        let found: Vec<_> = (0..saved.rows().len())
            .filter_map(|index| saved.sample(index))
            .map(|sample| (sample.size.0, sample.nanoseconds))
            .collect();
        assert_eq!(found, [(16384, 1.08), (32768, 1.25)], "{text}");
    }
}

#[test]
fn says_what_is_wrong_and_where() {
    for (text, line, what) in [
        ("", 1, "the file is empty"),
        (" \n ", 1, "the file is empty"),
        ("size,ns\n", 1, "there is no measured point in it"),
        ("16384 1.08\n32768\n", 2, "columns are missing"),
        ("16384 1.08\n32768 fast\n", 2, "something that is not a number"),
        ("16384 1.08\n-5 1.2\n", 2, "a size that is not a positive number of bytes"),
        ("16384 -1\n", 1, "a latency that is not a positive number of nanoseconds"),
        ("16384 inf\n", 1, "something that is not a number"),
        ("{", 1, "the document ends too early"),
        (
            "{\"points\":[\n{\"ns\":1,\"working_set_bytes\":0}]}",
            2,
            "a size that is not a positive number of bytes",
        ),
        ("{\"points\":[3]}", 1, "a point that is not an object"),
        ("{\"points\":[]}{}", 1, "something follows the document"),
        ("{\"points\":[]}", 1, "there is no measured point in it"),
    ] {
        assert_eq!(rejected(text), (line, what), "{text}");
    }
    assert_eq!(parse(b"\xff\xfe\n1 2").unwrap_err().what, "neither JSON nor text");
    let many: String = (0..5000).map(|size| format!("{} 1\n", size + 64)).collect();
    assert_eq!(rejected(&many), (4097, "more than 4096 points"));
}

#[test]
fn nothing_of_a_file_can_steer_a_terminal() {
    for text in ["{\"points\":[{\"ns\":1,\"order\":\"\\u001b[2J\"}]}", "ns,order\n1,\u{1b}[2J\n"] {
        let saved = parse(text.as_bytes()).unwrap();
        assert_eq!(saved.rows()[0].name.as_str(), "\\u{1b}[2J");
    }
    assert_eq!(shown(b"a\x1b[2J\xff").as_str(), "a\\u{1b}[2J\\xff");
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(text: Vec<u8>) {
        let _ = parse(&text);
    }

    #[test]
    fn damaged_results_are_read_or_refused(at in 0usize..800, cut in 0usize..900, with: Vec<u8>, json: bool) {
        let whole = if json { DOCUMENT } else { OURS };
        let mut text = whole.as_bytes().to_vec();
        let at = at.min(text.len());
        text.splice(at..at, with);
        text.truncate(cut);
        let _ = parse(&text);
    }

    #[test]
    fn deep_and_odd_documents_are_refused(depth in 0usize..2000, object: bool) {
        let open = if object { "{\"points\":" } else { "[" };
        let text: String = core::iter::repeat_n(open, depth).collect();
        let text = format!("{{\"points\":[{text}");
        prop_assert!(parse(text.as_bytes()).is_err());
    }
}
