//! The readers of files: an accepted value is a number, and has the same meaning after it is written and read
//! again.

use std::format;
use std::string::String;
use std::vec::Vec;

use latency_core::Bytes;
use latency_core::json::{Event, Reader};
use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestCaseResult;

use super::driver::{check, steers};
use super::mutation::{Mutation, applied, damaged};
use crate::record::columns::{POINTS, SEED, VERIFIED};
use crate::record::label;
use crate::record::row::Row;
use crate::saved::{Problem, Saved};

/// Short documents of each kind, so that the damage often hits content that is read.
const SHORT: [&str; 11] = [
    r#"{"rows":[{"initiator_node":0,"target_node":1,"ns":1.083,"working_set_bytes":16384,"stride_bytes":64,"kernel":"pointer","mad_ns":0.001,"ns_low":1.08,"ns_high":1.09,"core_cycles":4.001,"core_ghz":3.5,"seed":42,"pages_obtained":"2m","verified":true,"placement":{"before":{"nodes":[]}}},
{"initiator_node":0,"target_node":1,"ns":null,"working_set_bytes":32768}],"experiment":"curve","partial":true,"trust":{"level":"poor","reasons":["busy"]},
"tool":{"name":"latency-bench","version":"0.1.0"},"command":["latency-bench","curve","--size","1M","-o","a.json","--pages=2m"],"clock":{"source":"tsc"},
"host":{"name":"a\u001b17"},"system":{"cpu":{"brand":"Imaginary","family":25},"kernel":"6.1","caches":[{"level":1,"type":"Data","bytes":32768,"ways":8},{"level":1,"type":"Instruction","bytes":65536,"ways":4}]}}"#,
    r#"{"method":"cas","rows":[{"initiator_cpu":0,"target_cpu":4,"class":"same core","method":"cas","lines":16,"homes":[0],"ns":7.8,"ns_low":7.7,"ns_high":7.9,"pages_obtained":"4k","verified":true},
{"initiator_cpu":0,"target_cpu":1,"class":"same L3","method":"cas","lines":16,"ns":null},
{"initiator_cpu":0,"target_cpu":4,"third_cpu":null,"class":"same core","op":"read","state":"modified","level":"L1","home_node":0,"lines":256,"ns":9.5,"ns_low":9,"ns_high":10}],
"classes":[{"class":"same core","pairs":1,"ns":7.8}],"experiment":"cores"}"#,
    r#"{"curves":[{"initiator_node":0,"target_node":1,"initiator_cpu":0,"load_node":0,"traffic":"read","peak_bandwidth":{"bytes_per_second":51312889109,"bytes_per_second_low":51e9,"bytes_per_second_high":52e9,"cores":3}}],"rows":[
{"experiment":"loaded","initiator_node":0,"target_node":1,"traffic":"read","cores":0,"offered_bytes_per_second":0,"ns":153.8,"ns_low":153,"ns_high":154,"core_ghz":3.7,"working_set_bytes":268435456,"pages_obtained":"2m","verified":true},
{"experiment":"loaded","initiator_node":0,"target_node":1,"traffic":"read","cores":3,"offered_bytes_per_second":null,"ns":900.5}],"experiment":"loaded"}"#,
    "initiator_cpu,target_cpu,class,method,ns,ns_low,ns_high,lines,verified\n0,4,same core,cas,7.8,7.7,7.9,16,true\n0,1,same L3,cas,,,,16,\n0,2,other socket,cas,135,134,136,16,true\n",
    r#"{"rows":[{"initiator_node":0,"target_node":0,"cycles":395,"ns":132},{"initiator_node":0,"target_node":1,"ns":2.1e2}],"iters":10000000,"seed":42,"freq_ghz":3.0}"#,
    "initiator_node,target_node,cycles,ns,core_cycles,ns_low,ns_high,mad_ns,working_set_bytes,stride_bytes,kernel,pages_obtained,verified,core_ghz,seed\n0,1,2.8,1.083,4.001,1.08,1.09,0.001,16384,64,pointer,4k,true,3.7,42\n0,1,,,,,,,32768,64,pointer,,,,\n0,1,9.8,3.797,14.02,3.7,3.8,0.002,65536,64,pointer,2m,false,,7\n",
    "Size (KB);\"Latency (ns)\"\n16;1.08\n32 KiB;1.25\n1e3;4\n",
    "\"stride=64\n0.00049 1.584\n0.00293 1.585\n64.00000 92.100\n\n",
    "Usage: x\nRegion,Latency (ns)\n2,0.874067\n600,5.582734\nIf you run this, press a key\n",
    "tinymembench v0.4.9\nblock size : single random read / dual random read, [MADV_HUGEPAGE]\n  1024 :    0.0 ns          /     0.0 ns \n  67108864 :  105.6 ns          /   134.9 ns \n",
    "Running experiment: latency\nn =        32768B, duration =  10.80ms, /it:   1.08ns cycles/it:    4.00 freq: 37\n",
];
/// Maximum length here; longer files are left to the targets that run a command on a whole file.
const LONGEST: usize = 16 << 10;

/// Returns files of this program and of others: the short ones, and those in tests/fixtures/saved up to a
/// length.
pub fn files(longest: usize) -> Vec<Vec<u8>> {
    let directory = format!("{}/../tests/fixtures/saved", env!("CARGO_MANIFEST_DIR"));
    let mut paths: Vec<_> = std::fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_file())
        .collect();
    paths.sort();
    let stored = paths.into_iter().map(|path| std::fs::read(path).unwrap());
    SHORT
        .iter()
        .map(|text| text.as_bytes().to_vec())
        .chain(stored.filter(|text| text.len() <= longest))
        .collect()
}

/// Returns the rows of a text, or its first problem.
pub fn read(text: &[u8], unit: Option<Bytes>) -> Result<Vec<Row>, Problem> {
    Saved::parse(text, unit).map(|draft| draft.rows)
}

/// Returns everything of a row except its words, to be compared bit by bit, because numbers are not equal by chance.
fn numbers(row: &Row) -> impl PartialEq + core::fmt::Debug {
    let bits = |value: Option<f64>| value.map(f64::to_bits);
    (
        (row.size(), row.stride(), row.nanoseconds().to_bits(), bits(row.core_cycles())),
        (row.interval().map(|interval| (interval.low.to_bits(), interval.high.to_bits())), row.pair()),
        (row.flag(VERIFIED), bits(row.core_gigahertz()), row.count(SEED)),
    )
}

/// Returns true if the numbers of a row can be measurements.
pub fn is_measured(row: &Row) -> bool {
    let positive = |value: f64| value.is_finite() && value > 0.0;
    positive(row.nanoseconds())
        && row.size().0 <= 1 << 50
        && row.core_cycles().is_none_or(positive)
        && row.core_gigahertz().is_none_or(positive)
        && row.deviation().is_none_or(|deviation| (0.0..10.0).contains(&deviation))
        && row.interval().is_none_or(|interval| {
            interval.low.is_finite() && interval.high.is_finite() && interval.low <= interval.high
        })
}

/// Writes rows as a table in this program's format, with enough digits to distinguish numbers.
fn table(rows: &[Row]) -> String {
    let mut text = String::from(
        "initiator_node,target_node,ns,core_cycles,ns_low,ns_high,working_set_bytes,stride_bytes,core_ghz,seed,verified\n",
    );
    let shown = |value: Option<f64>| value.map_or(String::new(), |value| format!("{value:e}"));
    for row in rows {
        let (from, to) =
            row.pair().map_or_else(Default::default, |(from, to)| (format!("{from}"), format!("{to}")));
        let sample = row.sample();
        let interval = sample.interval;
        let size = if sample.size.0 > 0 { format!("{}", sample.size.0) } else { String::new() };
        text += &format!(
            "{from},{to},{:e},{},{},{},{size},{},{},{},{}\n",
            sample.nanoseconds,
            shown(sample.core_cycles),
            shown(interval.map(|interval| interval.low)),
            shown(interval.map(|interval| interval.high)),
            sample.stride.0,
            shown(row.core_gigahertz()),
            row.count(SEED).map_or(String::new(), |seed| format!("{seed}")),
            row.flag(VERIFIED).map_or("", |proven| if proven { "true" } else { "false" }),
        );
    }
    text
}

fn property(text: &[u8], unit: Option<Bytes>) -> TestCaseResult {
    let found = read(text, unit);
    let again = read(text, unit);
    match (found, again) {
        (Ok(rows), Ok(again)) => {
            prop_assert!(!rows.is_empty());
            prop_assert!(rows.iter().map(numbers).eq(again.iter().map(numbers)));
            for row in &rows {
                prop_assert!(is_measured(row), "{row:?}");
                for column in POINTS {
                    prop_assert_eq!(steers(&format!("{}", label::shown(row, column))), None);
                }
            }
            let written = table(&rows);
            let back = read(written.as_bytes(), None);
            prop_assert!(back.is_ok(), "{back:?} for\n{written}");
            prop_assert!(rows.iter().map(numbers).eq(back.unwrap().iter().map(numbers)), "{written}");
        }
        (Err(one), Err(other)) => {
            prop_assert_eq!(one, other);
            let lines = text.iter().filter(|&&byte| byte == b'\n').count() + 1;
            prop_assert!((1..=lines).contains(&(one.line as usize)) && !one.what.is_empty(), "{one:?}");
        }
        (one, other) => prop_assert!(false, "{one:?}, then {other:?}"),
    }
    Ok(())
}

fn units() -> impl Strategy<Value = Option<Bytes>> {
    select(&[None, Some(Bytes(1)), Some(Bytes(1024)), Some(Bytes(1 << 30))][..])
}

#[test]
fn damaged_files() {
    let files = files(LONGEST);
    let strategy = (damaged(files.len()), units());
    check("damaged files", 6000, &strategy, |((which, mutations), unit): ((usize, Vec<Mutation>), _)| {
        property(&applied(&files[which], &mutations), unit)
    });
}

#[test]
fn random_files() {
    let strategy = (prop::collection::vec(any::<u8>(), 0..300), units());
    check("random files", 3000, &strategy, |(text, unit)| property(&text, unit));
}

#[test]
fn tables_of_any_words() {
    let word = select(
        &[
            "ns",
            "bytes",
            "size_kb",
            "latency",
            "from",
            "to",
            "1",
            "2",
            "0.5",
            "1e3",
            "32K",
            "4 MiB",
            "-1",
            "1e400",
            "x",
            "working_set_bytes",
            "order",
            "random",
            "cycles",
            "us",
            "\"ns\"",
            "",
            "verified",
            "true",
            "#",
            "1e-7",
            "7e15",
        ][..],
    );
    let line = prop::collection::vec(word, 0..6);
    let strategy = (prop::collection::vec(line, 0..8), select(&[",", ";", "\t", " "][..]), units());
    check("tables", 4000, &strategy, |(lines, separator, unit)| {
        let lines: Vec<String> = lines.iter().map(|words| words.join(separator)).collect();
        property(lines.join("\n").as_bytes(), unit)
    });
}

#[test]
fn json_of_any_bytes() {
    let files = files(LONGEST);
    check("json", 4000, &damaged(files.len()), |(which, mutations)| {
        let text = applied(&files[which], &mutations);
        let mut reader = Reader::new(&text);
        // Every event consumes at least a byte, or ends the reading.
        for _ in 0..=text.len() {
            prop_assert!(reader.depth() <= 64 && reader.offset() <= text.len());
            match reader.next_event() {
                Ok(Event::End) => return Ok(()),
                Err(error) => {
                    prop_assert!(error.offset <= text.len());
                    prop_assert_eq!(reader.next_event().err(), Some(error));
                    return Ok(());
                }
                Ok(Event::Number(number)) => prop_assert!(number.is_finite()),
                Ok(_) => {}
            }
        }
        prop_assert!(false, "more events than bytes");
        Ok(())
    });
}
