//! Files of this program, files of other tools, and damaged files.

use super::*;
use crate::analysis::comparison::{Files, join, partners};
use crate::record::columns::{
    CLASS, CORE_GHZ, ColumnSet, EXPERIMENT, INITIATOR_NODE, KERNEL, LINES, PAGES_ASKED, PAGES_OBTAINED,
    PATTERN, POINTS, SEED, STRIDE, TARGET_NODE, VERIFIED, WORKING_SET,
};
use crate::record::label::Label;
use crate::record::row::Row;
use latency_core::{Estimate, Interval};
use proptest::prelude::*;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// The columns of a walk.
const WALK: ColumnSet = ColumnSet::of(&[INITIATOR_NODE, TARGET_NODE, WORKING_SET, STRIDE]);

fn parse(text: &[u8]) -> Result<Saved, Problem> {
    Saved::parse(text, None).map(Draft::finish)
}

fn rejected(text: &str) -> (u32, &'static str) {
    let Problem { line, what, .. } = parse(text.as_bytes()).unwrap_err();
    (line, what.to_string().leak())
}

const OURS: &str =
    "initiator_node,target_node,cycles,ns,core_cycles,ns_low,ns_high,mad_ns,working_set_bytes,stride_bytes,kernel
0,1,2.8,1.083,4.001,1.08,1.09,0.001,16384,64,pointer
0,1,,,,,,,32768,64,pointer
0,1,9.8,3.797,14.02,3.7,3.8,0.002,65536,64,pointer
";

const DOCUMENT: &str = r#"{"rows":[
{"initiator_node":0,"target_node":1,"cycles":2.8,"ns":1.083,"working_set_bytes":16384,"stride_bytes":64,"kernel":"pointer","mad_ns":0.001,"ns_low":1.08,"ns_high":1.09,"core_cycles":4.001,"placement":{"before":{"nodes":[]}}},
{"initiator_node":0,"target_node":1,"cycles":null,"ns":null,"working_set_bytes":32768,"not_measured":"interrupted"}],
"experiment":"curve","system":{"cpu":{"family":25},"caches":[{"level":1,"type":"Data","bytes":32768,"ways":8},{"level":1,"type":"Instruction","bytes":65536,"ways":4}]}}
"#;

#[test]
fn reads_what_it_writes() {
    for (text, count) in [(OURS, 2), (DOCUMENT, 1)] {
        let saved = parse(text.as_bytes()).unwrap();
        assert_eq!(saved.rows.len(), count);
        let row = &saved.rows[0];
        assert_eq!((row.pair(), row.is_word(KERNEL, "pointer")), (Some((0, 1)), true));
        assert_eq!((row.size(), row.nanoseconds()), (Bytes(16384), 1.083));
        assert_eq!(row.core_cycles(), Some(4.001));
        assert_eq!(row.interval().unwrap().high, 1.09);
    }
    let saved = parse(DOCUMENT.as_bytes()).unwrap();
    assert_eq!(saved.experiment.as_str(), "curve");
    assert_eq!(saved.claims.level(1).unwrap().size, Bytes(32768));
}

#[test]
fn the_tlb_of_a_curve_is_read() {
    let read = |model: &str| {
        let text = DOCUMENT.replacen('{', &format!(r#"{{"model":{model},"#), 1);
        parse(text.as_bytes())
            .map(|saved| saved.tlb[0].levels.map(|level| level.map(|level| (level.entries, level.miss_ns))))
    };
    let level = r#"{"pages":96.0,"pages_low":80.0,"pages_high":112,"page_bytes":4096,"miss_ns":2.5,"miss_core_cycles":null}"#;
    let entries = Estimate { value: 96.0, interval: Some(Interval { low: 80.0, high: 112.0 }) };
    let without = level.replace(r#""pages_low":80.0,"pages_high":112,"#, "");
    let model = |first: &str, second: &str| read(&format!(r#"{{"unit":"ns",{first},"l2_tlb":{second}}}"#));
    let first = Some((entries, 2.5));
    assert_eq!(model(&format!(r#""tlb":{level}"#), "null").unwrap(), [first, None]);
    assert_eq!(model(r#""tlb":null"#, level).unwrap(), [None, first]);
    let old = Some((Estimate { interval: None, ..entries }, 2.5));
    assert_eq!(read(&format!(r#"{{"tlb":{without}}}"#)).unwrap(), [old, None]);
    // What cannot be the end of a TLB is unknown.
    for (given, other) in [("96.0", "0"), ("96.0", "null"), ("96.0", "1e300"), ("4096", "0"), ("2.5", "-2.5")]
    {
        assert_eq!(model(&format!(r#""tlb":{}"#, level.replace(given, other)), "null").unwrap(), [None; 2]);
    }
    assert_eq!(read(&format!(r#"{{"tlb":{}}}"#, level.replace("80.0", "97"))).unwrap(), [old, None]);
    assert!(read(&format!(r#"{{"tlb":{}}}"#, level.replace("2.5", "[]"))).is_err());
    assert_eq!(read("7").unwrap(), [None; 2]);
}

#[test]
fn each_kind_of_pages_has_its_own_tlb() {
    let level =
        |entries: u32, page: u32| format!(r#"{{"pages":{entries},"page_bytes":{page},"miss_ns":2.5}}"#);
    let small = [level(64, 4096), level(1536, 4096), level(9999, 4096)].join(",");
    let kinds = [("4k", small), ("thp", level(32, 2 << 20)), ("1g", String::new())].map(|(pages, tlb)| {
        format!(r#"{{"pages_asked":"{pages}","end":"","tlb":[{tlb}],"spans":[{{"pages":8}}]}}"#)
    });
    let text = |kinds: &str| DOCUMENT.replacen('{', &format!(r#"{{"translation":[{kinds}],"#), 1);
    let saved = parse(text(&kinds.join(",")).as_bytes()).unwrap();
    let entries = |pages: &str| {
        let row = Row::EMPTY.with(PAGES_ASKED, pages);
        tlb::of_row(&saved.tlb, &row).map(|level| level.map(|level| level.entries.value as u32))
    };
    assert_eq!(entries("4k"), [Some(64), Some(1536)]);
    // A page of a pool has the entries of a transparent one of the same size.
    assert_eq!(["thp", "2m"].map(entries), [[Some(32), None]; 2]);
    assert_eq!(["16k", "1g", ""].map(entries), [[None; 2]; 3]);
    // More kinds than a document can have are ignored, and text of another meaning is refused.
    assert!(parse(text(&[kinds[0].as_str(); 9].join(",")).as_bytes()).is_ok());
    for wrong in ["7", r#"{"tlb":7}"#, r#"{"pages_asked":[]}"#] {
        assert!(parse(text(wrong).as_bytes()).is_err(), "{wrong}");
    }
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
        let found: Vec<_> = saved.rows.iter().map(|row| (row.size().0, row.nanoseconds())).collect();
        assert_eq!(found, [(16384, 1.08), (32768, 1.25)], "{text}");
    }
}

/// Returns the sizes and latencies of a text.
fn pairs(text: &str, unit: Option<u64>) -> Vec<(u64, f64)> {
    let draft = Saved::parse(text.as_bytes(), unit.map(Bytes)).unwrap();
    draft.rows.iter().map(|row| (row.size().0, row.nanoseconds())).collect()
}

#[test]
fn the_unit_comes_from_headings_suffixes_or_the_option() {
    let expected = [(16384, 1.08), (32768, 1.25)];
    for text in [
        "bytes,ns\n16384,1.08\n32768,1.25\n",
        "size_kb,latency_ns\n16,1.08\n32,1.25\n",
        "Working set (KiB);Latency [ns]\n16;1.08\n32;1.25\n",
        "latency (ns),size (kB)\n1.08,16\n1.25,32\n",
        "size,latency\n16K,1.08\n32 KiB,1.25\n",
        "16k 1.08\n32KB 1.25\n",
        "size (MiB),time in us\n0.015625,0.00108\n0.03125,0.00125\n",
        "run,size,ns\n1,16K,1.08\n2,32K,1.25\n",
    ] {
        let found = pairs(text, None);
        assert_eq!(found.iter().map(|pair| pair.0).collect::<Vec<_>>(), [16384, 32768], "{text}");
        for ((_, found), (_, expected)) in found.into_iter().zip(expected) {
            assert!((found - expected).abs() < 1e-9, "{text}");
        }
    }
    assert_eq!(pairs("16 1.08\n32 1.25\n", Some(1024)), expected);
    assert_eq!(
        pairs("bytes,ns\n16384,1.08\n32K,1.25\n", Some(1024)),
        expected,
        "a unit in the file replaces the given one"
    );
    assert_eq!(rejected("size,cycles\n16384,4\n"), (1, "latency in cycles; convert it to nanoseconds"));
    assert_eq!(rejected("16384 4\n1X 4\n"), (2, "not a size"));
}

#[test]
fn implausible_sizes_are_not_taken_as_bytes() {
    let is_plausible = |text: &str| {
        let draft = Saved::parse(text.as_bytes(), None).unwrap();
        !draft.without_unit || fields::can_be_bytes(&draft.rows, draft.fractions)
    };
    for text in ["16 1\n262144 100\n", "1.5 1\n2048 2\n", "1 1\n2 1\n", "1024 1\n65536 90\n"] {
        assert!(!is_plausible(text), "{text}");
    }
    for text in
        ["16384 1\n67108864 100\n", "16K 1\n64K 100\n", "kb,ns\n16,1\n32,90\n", "65536 20\n131072 40\n"]
    {
        assert!(is_plausible(text), "{text}");
    }
}

/// Sizes and latencies.
type Pairs = &'static [(u64, f64)];

/// Output of other tools, in the formats of their sources, with the expected rows.
const FOREIGN: [(&str, Tool, Pairs); 4] = [
    (
        "\"stride=64\n0.00049 1.584\n0.00293 1.585\n64.00000 92.100\n\n",
        Tool::LatMemRd,
        &[(512, 1.584), (3072, 1.585), (64 << 20, 92.1)],
    ),
    (
        "Usage: [-test <c/asm/tlb/mlp>]\nRegion,Latency (ns)\n2,0.874067\n600,5.582734\nIf you run this, press a key\n",
        Tool::MemoryLatency,
        &[(2048, 0.874_067), (600 << 10, 5.582_734)],
    ),
    (
        "tinymembench v0.4.9\n == 7 ==\nblock size : single random read / dual random read, [MADV_HUGEPAGE]\n      \
         1024 :    0.0 ns          /     0.0 ns \n  67108864 :  105.6 ns          /   134.9 ns \n",
        Tool::Tinymembench,
        &[(67_108_864, 105.6)],
    ),
    (
        "Running experiment: latency\nn =        32768B, duration =  10.80ms, /it:   1.08ns cycles/it:    4.00 freq: 37\n",
        Tool::CpuBenchmarks,
        &[(32768, 1.08)],
    ),
];

const LIST: &str = r#"[{"name":"raw-pointer","size":32768,"batch":1,"duration":{"secs":0,"nanos":1},"latency":1.08,"cycles":4.0}]"#;

#[test]
fn reads_what_other_tools_print() {
    for (text, tool, expected) in FOREIGN {
        let saved = parse(text.as_bytes()).unwrap();
        assert_eq!(saved.tool, Some(tool));
        assert_eq!(pairs(text, None), expected, "{text}");
    }
    let saved = parse(FOREIGN[0].0.as_bytes()).unwrap();
    assert_eq!(saved.rows[0].stride(), Bytes(64));
    let saved = parse(FOREIGN[2].0.as_bytes()).unwrap();
    assert_eq!((saved.zeros, saved.rows[0].is_word(PAGES_ASKED, "thp")), (1, true));
    let saved = parse(LIST.as_bytes()).unwrap();
    assert_eq!((saved.rows[0].size(), saved.rows[0].is_word(KERNEL, "raw-pointer")), (Bytes(32768), true));
}

#[test]
fn the_conditions_of_a_run_are_read() {
    let text = r#"{"rows":[{"initiator_node":0,"target_node":0,"ns":90,"working_set_bytes":1048576,"pages_obtained":"2m","seed":7,
        "verified":true,"placement":{"before":{"nodes":[]}},"core_ghz":3.5}],"points":[{"row":0,"ns":90}],
        "partial":true,"trust":{"level":"poor","reasons":["busy"]},"tool":{"name":"latency-bench","version":"0.2.0"},
        "command":["latency-bench","matrix","--size","1M","--json","-o","a.json","--pages=2m"],"clock":{"source":"tsc"},
        "host":{"name":"a\u001b17"},"system":{"cpu":{"brand":"Imaginary","family":6,"microcode":"0x1"},"kernel":"6.1"}}"#;
    let saved = parse(text.as_bytes()).unwrap();
    assert_eq!(saved.rows.len(), 1, "the same points under two keys are read once");
    let row = &saved.rows[0];
    assert_eq!(
        (row.word(PAGES_OBTAINED), row.flag(VERIFIED), row.number(CORE_GHZ), row.count(SEED)),
        ("2m", Some(true), Some(3.5), Some(7))
    );
    assert!(saved.conditions.partial && saved.conditions.poor);
    let told = |key: &str| {
        let index = conditions::CONDITIONS.iter().position(|(known, _)| *known == key).unwrap();
        saved.conditions.texts[index].as_str().to_string()
    };
    assert_eq!(
        (told("host"), told("brand"), told("kernel")),
        ("a\\u{1b}17".into(), "Imaginary".into(), "6.1".into())
    );
    assert_eq!(
        (told("version"), told("source"), told("command")),
        ("0.2.0".into(), "tsc".into(), "--size 1M --pages=2m".into())
    );
}

#[test]
fn memory_devices_and_their_errors_are_conditions() {
    let told = |dimms: &str, errors: &str| {
        let text = format!(
            r#"{{"rows":[{{"initiator_node":0,"target_node":0,"ns":90}}],"system":{{"dimms":{dimms},"kernel":"6.1"}},
            "conditions":{{"hardware_errors":{{"memory_devices":{errors}}}}}}}"#
        );
        let saved = parse(text.as_bytes()).unwrap();
        ["dimms", "memory_errors"].map(|key| {
            let index = conditions::CONDITIONS.iter().position(|(known, _)| *known == key).unwrap();
            saved.conditions.texts[index].as_str().to_string()
        })
    };
    let dimms = |slots: &str, [first, second]: [&str; 2]| {
        format!(r#"{{"source":"smbios","slots":{slots},"devices":[{{{first}}},{{{second}}}]}}"#)
    };
    let fast = r#""locator":"A1","bytes":17179869184,"mt_per_s":4800"#;
    let slow = r#""locator":"A2","bytes":17179869184,"mt_per_s":4400"#;
    let unknown = r#""locator":"A3","bytes":null,"mt_per_s":null"#;
    let counts = |[corrected, uncorrected]: [&str; 2]| {
        format!(r#"[{{"locator":"A1","corrected":{corrected},"uncorrected":{uncorrected}}}]"#)
    };
    for (dimms, errors, expected) in [
        (dimms("8", [fast, fast]), "[]".to_string(), ["2 of 8, 32 GiB, 4800 MT/s", "none"]),
        (dimms("8", [fast, slow]), counts(["3", "0"]), ["2 of 8, 32 GiB, 4400 to 4800 MT/s", "corrected"]),
        (dimms("null", [fast, unknown]), counts(["3", "1"]), ["2", "uncorrected"]),
        ("null".to_string(), "null".to_string(), ["", ""]),
        (r#"{"slots":4,"devices":[]}"#.to_string(), counts(["null", "null"]), ["", ""]),
    ] {
        assert_eq!(told(&dimms, &errors), expected, "{dimms} {errors}");
    }
}

#[test]
fn a_refusal_names_the_line_and_the_defect() {
    for (text, line, what) in [
        ("", 1, "the file is empty"),
        (" \n ", 1, "the file is empty"),
        ("size,ns\n", 1, "no measured point"),
        ("16384 1.08\n32768\n", 2, "too few columns"),
        ("16384 1.08\n32768 fast\n", 2, "not a number"),
        ("16384 1.08\n-5 1.2\n", 2, "size is not a positive number of bytes"),
        ("16384 -1\n", 1, "latency is not a positive number of nanoseconds"),
        ("16384 inf\n", 1, "not a number"),
        ("{", 1, "the document is cut off"),
        ("{\"rows\":[\n{\"ns\":1,\"working_set_bytes\":0}]}", 2, "size is not a positive number of bytes"),
        ("{\"rows\":[3]}", 1, "point is not an object"),
        ("{\"rows\":[]}{}", 1, "text after the end of the document"),
        ("experiment,ns,offered_bytes_per_second\nloaded,1,2\n", 1, "no measured point"),
        ("{\"curves\":[]}", 1, "no measured point"),
        ("{\"rows\":[]}", 1, "no measured point"),
    ] {
        assert_eq!(rejected(text), (line, what), "{text}");
    }
    assert_eq!(parse(b"\xff\n1 2").unwrap_err().what.to_string(), "neither JSON nor UTF-8 text");
    let many: String = (0..5000).map(|size| format!("{} 1\n", size + 64)).collect();
    assert_eq!(rejected(&many), (4097, "more than 4096 points"));
}

#[test]
fn no_text_of_a_file_can_control_a_terminal() {
    for text in ["{\"rows\":[{\"ns\":1,\"kernel\":\"\\u001b[2J\"}]}", "ns,kernel\n1,\u{1b}[2J\n"] {
        let saved = parse(text.as_bytes()).unwrap();
        assert_eq!(saved.rows[0].word(KERNEL), "\\u{1b}[2J");
    }
    assert_eq!(shown(b"a\x1b[2J\xff").as_str(), "a\\u{1b}[2J\\xff");
}

#[test]
fn rows_of_single_cores_are_left_out_beside_the_row_of_their_pair() {
    let text = r#"{"experiment":"matrix","rows":[
{"initiator_node":0,"target_node":0,"initiator_cpu":0,"working_set_bytes":268435456,"ns":100,"ns_low":99,"ns_high":101},
{"initiator_node":0,"target_node":0,"initiator_cpu":7,"working_set_bytes":268435456,"ns":130,"ns_low":129,"ns_high":131,"class":"single core"}]}"#;
    let saved = parse(text.as_bytes()).unwrap();
    assert_eq!((saved.rows.len(), saved.rows[0].nanoseconds()), (1, 100.0));
    let table = "initiator_node,target_node,initiator_cpu,ns,class\n0,0,0,100,\n0,0,7,130,single core\n";
    assert_eq!(parse(table.as_bytes()).unwrap().rows.len(), 1);
}

const CORES: &str = r#"{"method":"cas","rows":[
{"initiator_cpu":0,"target_cpu":4,"class":"same core","method":"cas","lines":16,"home_node":0,"ns":7.8,"ns_low":7.7,"ns_high":7.9,"pages_obtained":"4k","verified":true},
{"initiator_cpu":0,"target_cpu":1,"class":"same L3","method":"cas","lines":16,"home_node":0,"ns":null,"not_measured":"interrupted"},
{"initiator_cpu":0,"target_cpu":null,"third_cpu":null,"class":"own","op":"read","state":"exclusive","level":"L1","home_node":0,"lines":256,"ns":1.1,"ns_low":1,"ns_high":1.2},
{"initiator_cpu":0,"target_cpu":4,"third_cpu":null,"class":"same core","op":"read","state":"modified","level":"L2","home_node":0,"lines":2048,"ns":9.5,"ns_low":9,"ns_high":10}],
"classes":[{"class":"same core","pairs":1,"ns":7.8,"ns_low":7.7,"ns_high":7.9,"min_ns":7.8,"max_ns":7.8}],"experiment":"cores"}"#;

#[test]
fn pairs_of_cpus_their_states_and_their_classes_are_points() {
    let saved = parse(CORES.as_bytes()).unwrap();
    let shown: Vec<String> = saved
        .rows
        .iter()
        .map(|row| Label { row, shown: ColumnSet::POINTS.without(WALK) }.to_string())
        .collect();
    assert_eq!(
        shown,
        [
            "CPU 0 - CPU 4 (same core), method cas, lines 16",
            "CPU 0 (same CPU): read on an Exclusive line, in L1, home node 0",
            "CPU 0 - CPU 4 (same core): read on a Modified line, in L2, home node 0"
        ]
    );
    assert_eq!((saved.rows[0].word(PAGES_OBTAINED), saved.rows[0].flag(VERIFIED)), ("4k", Some(true)));
    assert!(!saved.rows[2].tells(LINES), "the number of lines follows from the cache size");
    // All points differ in a field, whichever fields are conditions.
    for conditions in [ColumnSet::EMPTY, ColumnSet::CPUS, LINES.into(), CLASS.into()] {
        for (index, row) in saved.rows.iter().enumerate() {
            let found =
                saved.rows.iter().position(|other| row.is_same(other, ColumnSet::POINTS.without(conditions)));
            assert_eq!(found, Some(index), "{conditions:?}");
        }
    }
}

#[test]
fn our_names_of_columns_in_another_tools_table_do_not_make_it_ours() {
    assert_eq!(pairs("b,ns\n16384,1.08\n32768,1.25\n", None), [(16384, 1.08), (32768, 1.25)]);
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(text: Vec<u8>) {
        let _ = parse(&text);
    }

    #[test]
    fn damaged_results_are_read_or_refused(at in 0usize..800, cut in 0usize..900, with: Vec<u8>, kind in 0usize..3) {
        let whole = [DOCUMENT, OURS, CORES][kind];
        let mut text = whole.as_bytes().to_vec();
        let at = at.min(text.len());
        text.splice(at..at, with);
        text.truncate(cut);
        let _ = parse(&text);
    }

    #[test]
    fn damaged_tables_of_other_tools_are_read_or_refused(
        which in 0usize..6, at in 0usize..300, cut in 0usize..400, with in "[\\x20-\\x7e\\n\\t]{0,12}", unit: bool,
    ) {
        let whole = FOREIGN.get(which).map_or(LIST, |foreign| foreign.0);
        let whole = if which == 5 { "Size (KB),Latency (ns)\n16,1.08\n32 KiB,\"1.25\"\n1e3;4\n" } else { whole };
        let mut text = whole.as_bytes().to_vec();
        let at = at.min(text.len());
        text.splice(at..at, with.bytes());
        text.truncate(cut);
        if let Ok(draft) = Saved::parse(&text, unit.then_some(Bytes(1024))) {
            for row in &draft.rows {
                prop_assert!(row.nanoseconds() > 0.0 && row.nanoseconds().is_finite());
            }
            let _ = fields::can_be_bytes(&draft.rows, draft.fractions);
        }
    }

    #[test]
    fn deep_and_odd_documents_are_refused(depth in 0usize..2000, object: bool) {
        let open = if object { "{\"rows\":" } else { "[" };
        let text: String = core::iter::repeat_n(open, depth).collect();
        let text = format!("{{\"rows\":[{text}");
        prop_assert!(parse(text.as_bytes()).is_err());
    }
}

#[test]
fn reads_without_a_pattern_are_streams() {
    let curve = |told: &str, kind: &str| {
        let text = format!(
            r#"{{"curves":[{{"initiator_node":0,"target_node":0,"traffic":"{kind}",{told}"peak_bandwidth":{{"bytes_per_second":64e9}}}}],
            "experiment":"loaded"}}"#
        );
        parse(text.as_bytes()).unwrap().rows
    };
    let (old, new) = (curve("", "read"), curve(r#""pattern":"permuted","#, "read"));
    assert!(old[0].is_word(PATTERN, "stream") && new[0].is_word(PATTERN, "permuted"));
    // The pattern is a condition that differs: the points are the same, and there is no verdict on them.
    let join = join(&Files { rows: [old, new].into(), ours: 1 }.conditions());
    assert!(!join.has(PATTERN) && partners(&mut old.iter(), new, join)[0].is_some());
    let label = |rows: &[Row]| {
        Label { row: &rows[0], shown: ColumnSet::POINTS.without(ColumnSet::NODES) }.to_string()
    };
    assert!(label(new).contains("pattern permuted, read"), "{}", label(new));
    assert!(!label(old).contains("pattern"), "{}", label(old));
    // Points of a kind of traffic with only one pattern are the same, whether or not the file contains the pattern.
    let told = curve(r#""pattern":"stream","#, "2:1");
    assert!(!told[0].tells(PATTERN) && !curve("", "2:1")[0].tells(PATTERN));
    let bandwidth = r#"{"rows":[{"initiator_node":0,"target_node":0,"traffic":"read","cores":8,"ns":1}],"experiment":"bandwidth"}"#;
    assert!(parse(bandwidth.as_bytes()).unwrap().rows[0].is_word(PATTERN, "stream"));
}

#[test]
fn results_of_schema_1_are_refused_and_say_what_to_do() {
    let json = "{\n\"schema\":1,\"experiment\":\"matrix\",\"node_pairs\":[{\"from\":0,\"to\":0,\"ns\":90}]}";
    let csv =
        "from,to,cycles,ns,ci95_low_ns,ci95_high_ns,working_set_bytes,verified\n0,0,189,90,89,91,4096,true\n";
    let cores =
        "a,b,class,method,ns,ci95_low_ns,ci95_high_ns,lines,pages_obtained\n0,1,same L3,cas,28,27,29,16,4k\n";
    for (text, line) in [(json, 2), (csv, 1), (cores, 1)] {
        assert_eq!(rejected(text), (line, shape::OF_SCHEMA_1), "{text}");
    }
}

#[test]
fn tables_of_several_experiments_are_read_as_one_result_of_many() {
    let header = "host,experiment,initiator_node,target_node,ns\n";
    let table = format!("{header}a,matrix,0,0,90\n{header}a,order,0,0,80\n");
    let saved = parse(table.as_bytes()).unwrap();
    let names: Vec<String> = saved.rows.iter().map(|row| row.word(EXPERIMENT).to_string()).collect();
    assert_eq!((names, saved.experiment.as_str()), (["matrix".into(), "order".into()].into(), "report"));
    let one = parse(format!("{header}a,matrix,0,0,90\n").as_bytes()).unwrap();
    assert_eq!((one.experiment.as_str(), one.named_host()), ("matrix", Some("a")));
    let without_rate = format!("{header}a,loaded,0,0,90\n");
    assert_eq!(rejected(&without_rate), (1, "no measured point"));
}

/// Returns the places, values and intervals of all points, in one order.
fn in_order(saved: &Saved) -> Vec<String> {
    let point = |row: &Row| {
        let words = POINTS.map(|column| row.plain(column));
        format!("{words:?} {:.4} {:?}", row.nanoseconds(), row.interval())
    };
    let mut points: Vec<String> = saved.rows.iter().map(point).collect();
    points.sort();
    points
}

#[test]
fn the_limit_in_a_table_of_loads_is_the_highest_rate_without_a_pace() {
    let header = "host,experiment,initiator_node,target_node,load_node,traffic,cores,offered_bytes_per_second,\
                  bytes_per_second,bytes_per_second_low,bytes_per_second_high,ns\n";
    let rows = "a,loaded,0,0,1,2:1,0,0.0,0.0,,,100\na,loaded,0,0,1,2:1,4,9.0,9.0,,,120\n\
                a,loaded,0,0,1,2:1,4,,64e9,60e9,66e9,150\na,loaded,0,0,1,2:1,2,,50e9,,,130\n";
    let table = parse(format!("{header}{rows}").as_bytes()).unwrap();
    let document = r#"{"experiment":"loaded","rows":[{"experiment":"loaded","initiator_node":0,"target_node":0,
        "traffic":"2:1","offered_bytes_per_second":0.0,"ns":100.0}],"curves":[{"initiator_node":0,"target_node":0,
        "traffic":"2:1","load_node":1,"peak_bandwidth":{"bytes_per_second":64e9,"bytes_per_second_low":60e9,
        "bytes_per_second_high":66e9}}]}"#;
    assert_eq!(in_order(&table), in_order(&parse(document.as_bytes()).unwrap()));
    // As in documents, there is no limit without the rate of all generators, whose number is that of levels with a pace,
    // or of those that were not measured.
    let all = "a,loaded,0,0,1,2:1,4,,64e9,60e9,66e9,150\n";
    let unmeasured = rows.replace(all, "").replace(",9.0,9.0,,,120", ",,,,,");
    for fewer in [rows.replace(all, ""), unmeasured] {
        let rows = parse(format!("{header}{fewer}").as_bytes()).unwrap().rows;
        assert!(rows.len() == 1 && rows[0].traffic().is_none(), "{rows:?}");
    }
    // As in documents, all generators are the limit unless fewer are faster beyond both intervals.
    let close = rows.replace(",50e9,,,", ",65e9,63e9,67e9,");
    let limit = &parse(format!("{header}{close}").as_bytes()).unwrap().rows[1];
    assert_eq!(limit.nanoseconds(), table.rows[1].nanoseconds());
    // Those of another host are its own.
    let other = rows.replace("a,loaded", "b,loaded").replace("64e9", "65e9");
    assert_eq!(parse(format!("{header}{rows}{other}").as_bytes()).unwrap().rows.len(), 4);
}

#[test]
fn the_order_of_members_does_not_matter() {
    let rows = r#""rows":[{"experiment":"matrix","initiator_node":0,"target_node":1,"ns":90.0,"ns_low":89.0,
        "ns_high":91.0,"working_set_bytes":4096,"pages_obtained":"2m","verified":false}]"#;
    let pairs = r#""node_pairs":[{"from":0,"to":1,"cycles":189.0,"ns":90.0}]"#;
    for members in [[rows, pairs], [pairs, rows]] {
        let text = format!(r#"{{"experiment":"matrix",{}}}"#, members.join(","));
        let saved = parse(text.as_bytes()).unwrap();
        assert_eq!(saved.rows.len(), 1, "{text}");
        let row = &saved.rows[0];
        assert_eq!((row.size(), row.flag(VERIFIED)), (Bytes(4096), Some(false)), "{text}");
        assert_eq!(row.interval().map(|interval| interval.low), Some(89.0), "{text}");
    }
}

#[test]
fn memory_above_the_random_load_that_contains_it_is_refused() {
    let memory = |low: f64| {
        let text = DOCUMENT.replacen(
            r#""cycles":2.8"#,
            &format!(r#""memory_ns":{},"memory_ns_low":{low},"memory_ns_high":{}"#, low + 0.1, low + 0.2),
            1,
        );
        parse(text.as_bytes()).map(|saved| saved.rows.len())
    };
    assert_eq!([memory(0.8), memory(1.05)].map(Result::ok), [Some(1); 2]);
    let refused = memory(1.2).unwrap_err();
    assert_eq!((refused.line, refused.what), (2, "memory_ns above its random load"));
    let beyond = DOCUMENT.replace("1.083", "1e999");
    assert!(parse(beyond.as_bytes()).is_err());
}

#[test]
fn bandwidths_of_single_cpus_are_points_of_their_own() {
    let rows = |cpus: [u32; 3], cores: [u32; 3]| {
        let row = |index: usize| {
            format!("bandwidth,0,0,{},read,{},{}\n", cpus[index], cores[index], 5.0 + index as f64)
        };
        let head = "experiment,initiator_node,target_node,initiator_cpu,traffic,cores,ns\n";
        let text = (0..3).map(row).fold(String::from(head), |text, row| text + &row);
        parse(text.as_bytes()).unwrap().rows
    };
    let each = rows([0, 1, 2], [1; 3]);
    assert!(!each[1].is_same(&each[0], ColumnSet::POINTS) && !each[2].is_same(&each[1], ColumnSet::POINTS));
    // The first CPU of several generators is one of a choice.
    let [one, other] = [0, 4].map(|cpu| rows([cpu; 3], [1, 2, 3]));
    assert!(one.iter().zip(other).all(|(one, other)| one.is_same(other, ColumnSet::POINTS)));
}
