//! Files of several results, and files that an editor, a shell or a spreadsheet wrote again.

use super::*;
use crate::record::columns::{PAGES_ASKED, WORKING_SET};
use crate::record::row::Row;
use std::format;
use std::string::{String, ToString};
use std::vec::Vec;

/// Returns every result of a text, or the defect.
fn each(text: &str) -> Result<Vec<Saved>, String> {
    each_of(text, false)
}

/// Returns every result of a text, only the classes of pairs of CPUs if `in_brief` is true, or the defect.
fn each_of(text: &str, in_brief: bool) -> Result<Vec<Saved>, String> {
    Saved::read_each(b"a", text.as_bytes(), in_brief).map_err(|failure| failure.to_string())
}

/// Returns the host, the experiment and the latencies of each result of a text.
fn told(text: &str) -> Vec<(String, String, Vec<f64>)> {
    let tell = |saved: &Saved| {
        let latencies = saved.rows.iter().map(Row::nanoseconds).collect();
        (saved.named_host().unwrap_or_default().into(), saved.experiment.as_str().into(), latencies)
    };
    each(text).unwrap().iter().map(tell).collect()
}

#[test]
fn an_empty_cell_has_no_value() {
    let tinymembench = "tinymembench v0.4.9\nblock size : single random read / dual random read\n 67108864 : 105.6 ns / 134.9 ns \n";
    for text in [
        tinymembench,
        "{\"rows\":[{\"ns\":1,\"working_set_bytes\":65536,\"pages_asked\":\"\"}]}",
        "working_set_bytes,pages_asked,ns\n65536,\"\",1\n",
        "working_set_bytes,pages_asked,ns\n65536,,1\n",
    ] {
        let saved = each(text).unwrap();
        assert!(saved[0].rows[0].cell(PAGES_ASKED).is_none(), "{text}");
    }
    // A table without a kind of pages does not have that of the table before it.
    let both = tinymembench.replacen(
        "block",
        "block size : single random read / x, [MADV_HUGEPAGE]\n 4194304 : 9 ns / 9 ns\nblock",
        1,
    );
    let saved = each(&both).unwrap();
    let pages: Vec<_> = saved[0].rows.iter().map(|row| row.word(PAGES_ASKED)).collect();
    assert_eq!(pages, ["thp", ""]);
}

/// Returns a document of saved results, with one row and one file for each of them.
fn collection(name: &str, of: &[(&str, &str, &str, f64)], has_points: bool) -> String {
    let rows = of.iter().map(|(host, started, experiment, ns)| {
        format!(r#"{{"host":"{host}","started":{started},"experiment":"{experiment}","initiator_node":0,"target_node":0,"ns":{ns}}}"#)
    });
    let points = if has_points { r#""points":1,"# } else { "" };
    let files = of.iter().map(|(host, started, experiment, _)| {
        format!(r#"{{"file":"a","of":"{experiment}","host_name":"{host}","cpu":"Imaginary",{points}"started":{started},"trust":"poor"}}"#)
    });
    let [rows, files] = [rows.collect::<Vec<_>>(), files.collect()].map(|list| list.join(","));
    format!(
        r#"{{"experiment":"{name}","trust":{{"level":"good","reasons":[]}},"rows":[{rows}],"files":[{files}]}}"#
    )
}

const NIGHT: &str = "\"2026-11-22T01:20:00Z\"";
const NOON: &str = "\"2026-11-22T12:00:00Z\"";

#[test]
fn each_result_of_a_collection_has_its_own_points() {
    let of = [("n1", NIGHT, "matrix", 90.0), ("n2", NIGHT, "matrix", 95.0), ("n2", NOON, "matrix", 96.0)];
    let expected =
        of.map(|(host, _, experiment, ns)| (host.to_string(), experiment.to_string(), [ns].to_vec()));
    for name in ["show", "report"] {
        for has_points in [true, false] {
            let text = collection(name, &of, has_points);
            assert_eq!(told(&text), expected, "{text}");
            let saved = each(&text).unwrap();
            assert_eq!((saved[1].cpu(), saved[1].origin.trust.level()), ("Imaginary", "poor"), "{text}");
            assert_eq!(saved[2].origin.started - saved[1].origin.started, 10 * 3600 + 40 * 60, "{text}");
            // Joined with other documents, in one line or over several.
            let joined = format!("{text}\n{}\n", text.replace(",\"", ",\n\""));
            assert_eq!(told(&joined).len(), 6, "{joined}");
        }
    }
    // Tables of other tools have neither a host nor a start.
    let of = [("", "null", "", 1.0), ("", "null", "", 2.0), ("n1", NIGHT, "curve", 3.0)];
    assert_eq!(
        told(&collection("show", &of, true)),
        of.map(|(host, _, experiment, ns)| (host.into(), experiment.into(), [ns].to_vec()))
    );
    // The trust in all results is not that of each.
    let text =
        collection("show", &of, true).replacen("[]", "[\"not-stated\"]", 1).replacen("poor", "good", 1);
    let trusts = each(&text).unwrap().into_iter().map(|saved| saved.origin.trust);
    let trusts: Vec<_> = trusts.map(|trust| (trust.level(), trust.evidence().count())).collect();
    assert_eq!(trusts, [("good", 0), ("poor", 0), ("poor", 0)]);
    // A contradiction within a result is refused, also if it is the only one.
    let of = [("n1", NIGHT, "matrix", 90.0)];
    let text = collection("show", &of, true).replacen(
        "[{\"host\"",
        "[{\"initiator_node\":0,\"target_node\":0,\"ns\":80},{\"host\"",
        1,
    );
    let text = text.replace(r#""points":1"#, r#""points":2"#);
    let found = Saved::parse(text.as_bytes(), None).err();
    assert_eq!(found.map(|problem| problem.what), Some("two values for one point"), "{text}");
    // One side of a comparison is one result.
    let of = [("n1", NIGHT, "matrix", 90.0), ("n1", NOON, "matrix", 95.0)];
    let found = Saved::parse(collection("show", &of, true).as_bytes(), None).err();
    assert_eq!(found.map(|problem| problem.what), Some("two values for one point"));
}

#[test]
fn a_result_of_a_collection_may_have_several_values_for_a_size_but_not_for_a_pair() {
    let of = |experiment| {
        let text =
            collection("show", &[("n1", NIGHT, experiment, 90.0), ("n1", NIGHT, experiment, 95.0)], false);
        let files = text.find(",\"files\"").unwrap();
        format!("{},\"files\":[{{\"of\":\"{experiment}\",\"points\":2}}]}}", &text[..files])
    };
    assert_eq!(told(&of("curve"))[0].2, [90.0, 95.0]);
    assert!(each(&of("matrix")).unwrap_err().contains("two values for one point"));
}

#[test]
fn each_run_of_a_joined_table_has_its_own_points() {
    let heading = "host,started,experiment,initiator_node,target_node,ns\n";
    let row = |host: &str, started: &str, ns: &str| {
        format!("{host},{},matrix,0,0,{ns}\n", started.trim_matches('"'))
    };
    let text =
        [heading, &row("n1", NIGHT, "90"), heading, &row("n2", NIGHT, "95"), &row("n2", NOON, "96")].concat();
    let expected = [("n1", 90.0), ("n2", 95.0), ("n2", 96.0)];
    assert_eq!(told(&text), expected.map(|(host, ns)| (host.into(), "matrix".into(), [ns].to_vec())));
}

#[test]
fn each_run_of_a_joined_table_has_its_own_limits_of_traffic() {
    let heading = "host,started,experiment,initiator_node,target_node,traffic,cores,offered_bytes_per_second,\
                   bytes_per_second,ns\n";
    let run = |host: &str, cores: u32, rate: &str| {
        format!(
            "{host},2026-11-22T01:20:00Z,loaded,0,0,read,0,0.0,0.0,100\n\
             {host},2026-11-22T01:20:00Z,loaded,0,0,read,{cores},,{rate},150\n\
             {host},2026-11-22T01:20:00Z,loaded,0,0,read,{cores},,,\n"
        )
    };
    let told = |text: &str, in_brief: bool| -> Vec<_> {
        let all = each_of(text, in_brief).unwrap();
        let tell = |saved: Saved| format!("{} {} {}", saved.host(), saved.experiment, saved.rows.len());
        all.into_iter().map(tell).collect()
    };
    for in_brief in [false, true] {
        let one = run("n1", 4, "64e9");
        assert_eq!(told(&[heading, &one].concat(), in_brief), ["n1 loaded 2"]);
        // A run with more generators does not make those of another run a part.
        let text = [heading, &one, heading, &run("n2", 8, "32e9")].concat();
        assert_eq!(told(&text, in_brief), ["n1 loaded 2", "n2 loaded 2"]);
        let text = [heading, &one, "n2,2026-11-22T01:20:00Z,matrix,0,0,,,,,95\n"].concat();
        assert_eq!(told(&text, in_brief), ["n1 loaded 2", "n2 matrix 1"]);
    }
}

#[test]
fn a_report_whose_sections_are_not_documents_is_refused() {
    for sections in ["5", "[5]", "{}"] {
        assert!(each(&format!(r#"{{"experiment":"report","sections":{sections}}}"#)).is_err(), "{sections}");
    }
}

#[test]
fn a_table_that_a_spreadsheet_wrote_again_is_read_as_before() {
    let own = "initiator_node,target_node,ns,ns_low,ns_high,working_set_bytes,verified\n0,0,90.5,90.25,91,65536,true\n0,1,150,149,151,65536,false\n";
    let before = each(own).unwrap();
    let with_commas = own.replace(',', ";").replace('.', ",");
    for text in [
        own.replace(',', ";"),
        with_commas.clone(),
        with_commas.replace("true", "TRUE").replace("false", "FALSE"),
        format!("sep=;\r\n{}", with_commas.replace('\n', "\r\n")),
        own.replace(',', "\t"),
        own.replace('\n', "\r"),
        format!("\n\n{own}\n \n\n"),
        format!("{own},,,,,,\r\n,,,,,,\r\n"),
        format!("{with_commas};;;;;;\r\n;;;;;;\r\n"),
    ] {
        let after = each(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
        for (one, other) in before[0].rows.iter().zip(after[0].rows) {
            assert!(one.cells().eq(other.cells()), "{text}: {one:?} {other:?}");
        }
        assert_eq!(before[0].rows.len(), after[0].rows.len(), "{text}");
    }
    // A comma in a table whose separator is a comma may separate thousands.
    let doubtful = own.replace("90.5", "\"90,500\"").replace("65536", "\"65,536\"");
    assert!(each(&doubtful).unwrap_err().contains("line 2: ambiguous comma"));
    let pairs = ",20.5,30.5\n20.5,,40\n30.5,40,\n";
    let (one, other) = (each(pairs).unwrap(), each(&pairs.replace(',', ";").replace('.', ",")).unwrap());
    assert_eq!(one[0].rows.len(), 6);
    for odd in ["-5,5", "0,0"] {
        let why = each(&format!(";20,5;30,5\n20,5;;40\n{odd};40;\n")).unwrap_err();
        assert!(why.contains("line 3: latency is not a positive number"), "{odd}: {why}");
    }
    assert!(one[0].rows.iter().zip(other[0].rows).all(|(one, other)| one.cells().eq(other.cells())));
}

#[test]
fn text_of_powershell_is_refused_with_the_remedy() {
    for text in ["{\"rows\":[]}\n", "bytes,ns\n65536,1\n"] {
        for mark in ["", "\u{feff}"] {
            let wide: Vec<u16> = format!("{mark}{text}").encode_utf16().collect();
            for bytes in [u16::to_le_bytes, u16::to_be_bytes] {
                let bytes: Vec<u8> = wide.iter().copied().flat_map(bytes).collect();
                let Err(problem) = Saved::parse(&bytes, None) else { panic!("{bytes:?}") };
                assert!(
                    problem.line == 1 && problem.what.contains("save it as UTF-8, with -o FILE"),
                    "{problem:?}"
                );
            }
        }
    }
    assert_eq!(each("\u{feff}bytes,ns\n65536,1\n").unwrap()[0].rows[0].word(WORKING_SET), "");
    let line = r#"{"experiment":"curve","rows":[{"ns":1}]}"#;
    assert_eq!(told(&format!("\u{feff}{line}\n\u{feff}{line}\n")).len(), 2);
}
