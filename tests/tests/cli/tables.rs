//! Tables for `fit`: which ones are curves, their units, and the messages about the others.

use super::files::{bounded, refused, refused_by_fit};
use latency_tests::directory::Directory;
use latency_tests::document::array;
use latency_tests::program::workspace;
use latency_tests::run::{Run, finish};
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;

/// Returns a curve of sizes in bytes and nanoseconds: 1 ns up to 32 KiB, and then 100.
fn curve() -> Vec<(u64, f64)> {
    (12..25)
        .flat_map(|step| [1 << step, 3 << (step - 1)])
        .map(|size| (size, if size <= 32768 { 1.0 } else { 100.0 }))
        .collect()
}

fn fitted(directory: &Directory, text: &str, more: &[&str]) -> Run {
    fs::write(directory.path().join("curve"), text).expect("a file");
    finish(&mut bounded(directory, &[&["fit", "-q", "curve"], more].concat()))
}

#[test]
fn the_heading_gives_the_unit_of_sizes() {
    let directory = Directory::new("files-units");
    let first = |found: &Run| found.expect_status(0).stdout.lines().next().unwrap_or("").to_string();
    let table = |heading: &str, separator: &str, unit: f64, behind: &str| -> String {
        let rows =
            curve().into_iter().map(|(size, ns)| format!("{}{behind}{separator}{ns}\n", size as f64 / unit));
        heading.to_string() + &rows.collect::<String>()
    };
    let expected = first(&fitted(&directory, &table("bytes,ns\n", ",", 1.0, ""), &[]));
    assert!(
        expected.replace("about ", "").starts_with("L1 3") && expected.ends_with("memory 100 ns."),
        "{expected}"
    );
    for (heading, separator, unit, behind) in [
        ("", " ", 1.0, ""),
        ("size;latency\r\n", ";", 1.0, ""),
        ("size_kb,latency_ns\n", ",", 1024.0, ""),
        ("KiB\tns\n", "\t", 1024.0, ""),
        ("\u{feff}\"Working set (MiB)\",\"Latency (ns)\"\n", ",", 1_048_576.0, ""),
        ("size_mb,ns\n", ",", 1_048_576.0, ""),
        ("", " ", 1024.0, "K"),
        ("size,ns\n", ",", 1024.0, " KiB"),
        ("\"stride=64\n", " ", 1_048_576.0, ""),
        ("Region,Latency (ns)\n", ",", 1024.0, ""),
    ] {
        let text = table(heading, separator, unit, behind);
        assert_eq!(first(&fitted(&directory, &text, &[])), expected, "{text}");
    }
    let without = table("", " ", 1024.0, "");
    fitted(&directory, &without, &[]).expect_status(1).expect_error("give their unit, e.g. --unit=K");
    assert_eq!(first(&fitted(&directory, &without, &["--unit=K"])), expected);
    fitted(&directory, "size,cycles\n16384,4\n", &[]).expect_status(1).expect_error("latency in cycles");
    // Microseconds, without any heading for the unit.
    let words = "line 1: latency below 0.05 ns; give its unit in the heading, e.g. us";
    fitted(&directory, "16384 0.00108\n", &[]).expect_status(1).expect_error(words);
}

#[test]
fn output_of_other_tools_is_fitted() {
    let directory = Directory::new("files-tools");
    for name in [
        "lat_mem_rd.txt",
        "memory_latency.csv",
        "multichase.txt",
        "tinymembench.txt",
        "cpu-benchmarks.txt",
        "cpu-benchmarks.json",
    ] {
        let path = workspace().join("tests/fixtures/saved").join(name);
        let found = finish(&mut bounded(&directory, &["fit", "-q", path.to_str().expect("a path in UTF-8")]));
        assert!(found.expect_status(0).stdout.contains("memory "), "{found}");
    }
}

/// The matrix of nodes of Intel MLC and the triangle of CPUs of core-to-core-latency are results of `matrix`
/// and `cores`.
#[test]
fn matrices_of_other_tools_are_compared_with_ours() {
    let directory = Directory::new("files-matrices");
    let fixture = |name: &str| workspace().join("tests").join(name).display().to_string();
    let slower = fs::read_to_string(fixture("fixtures/tables/mlc-matrix.txt")).expect("a table");
    fs::write(directory.path().join("slower"), slower.replace("139.6", "167.6")).expect("a file");
    let mlc = fixture("fixtures/tables/mlc-matrix.txt");
    let ours = fixture("golden/matrix-two-nodes.json");
    let text = fs::read_to_string(&ours).expect("a document");
    let document: Value = serde_json::from_str(&text).expect("JSON");
    let local = &document["node_pairs"][0]["ns"];
    let cores = fixture("fixtures/tables/core-to-core.csv");
    for (a, b, status, points, first) in [
        (mlc.as_str(), mlc.as_str(), 0, 4, json!([0, null, 84.1, 84.1])),
        (&mlc, "slower", 5, 4, json!([0, null, 84.1, 84.1])),
        (&mlc, &ours, 5, 4, json!([0, null, 84.1, local])),
        (&cores, &cores, 0, 91, json!([null, 1, 8.956971, 8.956971])),
    ] {
        let found = finish(&mut bounded(&directory, &["compare", a, b, "--json"]));
        let document: Value = serde_json::from_str(&found.expect_status(status).stdout).expect("JSON");
        assert_eq!(array(&document, "/rows").len(), points, "{found}");
        let point = &array(&document, "/rows")[0];
        assert_eq!(
            json!([point["initiator_node"], point["target_cpu"], point["a_ns"], point["b_ns"]]),
            first,
            "{found}"
        );
    }
    refused_by_fit(&directory, &mlc, "is a result of matrix, not a curve");
}

/// Logs of versions 3.0 to 3.9 have other headings, and people paste them with quotes and blank lines.
#[test]
fn logs_of_mlc_are_read_as_people_paste_them() {
    let directory = Directory::new("files-mlc");
    let old = "Intel(R) Memory Latency Checker - v3.5\nMeasuring idle latencies (in ns)...\n\tMemory node\n \
               Socket\t     0\t     1\n     0\t  82.8\t 132.5\n     1\t 132.7\t  83.0\n";
    let new = "Intel(R) Memory Latency Checker - v3.9a\nMeasuring idle latencies (in ns)...\n\t\tNuma node\nNuma \
               node\t     0\t     1\n       0\t  82.8\t 132.5\n       1\t 132.7\t  83.0\n";
    let bandwidth = "\nMeasuring Peak Injection Memory Bandwidths for the system\nBandwidths are in MB/sec (1 MB/sec \
                     = 1,000,000 Bytes/sec)\nALL Reads        :\t214345.6\n3:1 Reads-Writes :\t191234.5\n\nMeasuring \
                     Loaded Latencies for the system\nInject\tLatency\tBandwidth\nDelay\t(ns)\tMB/sec\n 00000\t196.86\t 214233.2\n";
    let whole = new.to_string() + bandwidth;
    let quoted =
        |text: &str, quote: &str| text.lines().map(|line| format!("{quote}{line}\n")).collect::<String>();
    let spaced = whole.replace('\n', "\n\n");
    for (name, text) in [
        ("old", old.into()),
        ("new", new.into()),
        ("whole", whole.clone()),
        ("spaced", spaced),
        ("quoted", quoted(&whole, "> ")),
        ("headless", whole.split_once('\n').expect("a line").1.into()),
        ("twice", quoted(&quoted(old, "> "), ">")),
    ] {
        let text: String = text;
        fs::write(directory.path().join("a"), &text).expect("a file");
        fs::write(directory.path().join("b"), text.replace("132.7", "172.7")).expect("a file");
        let found = finish(&mut bounded(&directory, &["compare", "a", "b", "--json"]));
        let document: Value = serde_json::from_str(&found.expect_status(5).stdout).expect("JSON");
        assert_eq!(array(&document, "/rows").len(), 4, "{name}: {found}");
        let found = finish(&mut bounded(&directory, &["compare", "a", "b"]));
        let says = found.expect_status(5).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        let more = text.contains("ALL Reads");
        assert_eq!(says.contains("left out: 3 lines of bandwidths"), more, "{name}: {found}");
    }
    let single = "Each iteration took 186.3 core clocks (\t62.1\tns)\n";
    fs::write(directory.path().join("a"), format!("Intel(R) Memory Latency Checker - v3.0\n{single}"))
        .expect("a file");
    let found = finish(&mut bounded(&directory, &["show", "a"]));
    assert!(found.expect_status(0).stdout.contains("62.1"), "{found}");
}

#[test]
fn a_slower_pair_of_cpus_in_another_tools_table_is_found() {
    let directory = Directory::new("files-pairs");
    let name = |name: &str| workspace().join("tests/fixtures/tables").join(name).display().to_string();
    let square = ",53.1,50.2,61.3\n53.2,,52.4,60.1\n50.0,52.1,,58.8\n61.9,60.3,58.7,\n";
    let named = "CPU 0 1 4\n0 0 24 90\n1 25 0 91\n4 92 93 0\n";
    fs::write(directory.path().join("square.csv"), square).expect("a file");
    fs::write(directory.path().join("c2clat.txt"), named).expect("a file");
    for (table, cell, slower, points, pair) in [
        (name("core-to-core.csv"), "16.53960813567578", "165.3960813567578", 91, [1, 2]),
        (name("core-to-core.txt"), "57\u{b1}0", "570\u{b1}0", 15, [1, 3]),
        ("square.csv".into(), "60.1", "601.0", 12, [3, 1]),
        ("c2clat.txt".into(), "92", "920", 6, [0, 4]),
    ] {
        let text = fs::read_to_string(directory.path().join(&table)).expect("a table");
        fs::write(directory.path().join("slower"), text.replacen(cell, slower, 1)).expect("a file");
        let found = finish(&mut bounded(&directory, &["compare", &table, "slower", "--json"]));
        let document: Value = serde_json::from_str(&found.expect_status(5).stdout).expect("JSON");
        assert_eq!(array(&document, "/rows").len(), points, "{found}");
        let is_slower = |row: &&Value| row["ratio"].as_f64() > Some(9.0);
        let rows: Vec<_> = array(&document, "/rows").iter().filter(is_slower).collect();
        let cpus: Vec<_> = rows.iter().map(|row| [&row["initiator_cpu"], &row["target_cpu"]]).collect();
        assert_eq!(cpus, [[&json!(pair[0]), &json!(pair[1])]], "{table}: {found}");
    }
}

/// Returns tinymembench's table of these latencies, from 1 KiB on.
fn tinymembench(latencies: &[f64]) -> String {
    let mut text =
        String::from("tinymembench v0.4.9\n\nblock size : single random read / dual random read\n");
    for (row, ns) in latencies.iter().enumerate() {
        text += &format!("{:>10} : {ns:>6.1} ns          /  {ns:>6.1} ns \n", 1024_u64 << row);
    }
    text
}

/// The latency of the L1 is left out of this tool's tables, and most of them end before memory.
#[test]
fn the_levels_of_tinymembench_have_their_own_names() {
    let directory = Directory::new("files-tinymembench");
    for (end, words, memory) in [
        (
            [18.0, 26.5, 28.4, 28.6, 28.9, 52.0, 88.7],
            "L3 28.8 ns, memory not reached: 88.7 ns at 64 MiB and rising.",
            false,
        ),
        ([5.0, 7.0, 9.2, 10.2, 33.0, 62.0, 88.7], "memory not reached: 88.7 ns at 64 MiB and rising.", false),
        ([5.0, 5.2, 5.1, 88.0, 88.7, 88.6, 88.7], "memory 88.7 ns.", true),
    ] {
        let begin = [0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.8, 1.3, 1.6, 1.7];
        fs::write(directory.path().join("table"), tinymembench(&[&begin[..], &end].concat()))
            .expect("a file");
        let found = finish(&mut bounded(&directory, &["fit", "table"]));
        let text = found.expect_status(0).stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.starts_with("L2 ") && text.contains(words), "{found}");
        let found = finish(&mut bounded(&directory, &["fit", "table", "--json"]));
        let document: Value = serde_json::from_str(&found.expect_status(0).stdout).expect("JSON");
        assert_eq!(document["summary"]["memory_ns"].is_f64(), memory, "{found}");
    }
}

#[test]
fn a_known_tools_table_without_levels_is_a_table() {
    let directory = Directory::new("files-no-levels");
    let desktop = [0.0, 0.0, 0.0, 0.0, 0.0, 0.1, 0.9, 1.4, 1.9, 6.4, 8.9, 10.2, 10.9, 14.6, 25.9, 28.9, 88.7];
    fs::write(directory.path().join("table"), tinymembench(&desktop)).expect("a file");
    let found = finish(&mut bounded(&directory, &["fit", "table"]));
    let text = &found.expect_status(0).stdout;
    assert!(text.starts_with("No levels: half of its points") && text.contains("8 MiB"), "{found}");
}

/// A column that the reader does not know may tell rows apart.
#[test]
fn rows_of_one_size_are_compared_in_their_order() {
    let directory = Directory::new("files-repeated");
    let table = "bytes,threads,ns\n65536,1,10\n65536,2,20\n65536,4,30\n";
    fs::write(directory.path().join("a.csv"), table).expect("a file");
    fs::write(directory.path().join("b.csv"), table.replace("4,30", "4,90")).expect("a file");
    let found = finish(&mut bounded(&directory, &["compare", "a.csv", "b.csv"]));
    assert!(found.expect_status(5).stdout.contains("90.0"), "{found}");
}

#[test]
fn a_result_without_a_point_is_an_error() {
    let directory = Directory::new("files-empty");
    for text in [
        "bytes,ns\n",
        "# nothing\n",
        "\"stride=64\n\n",
        "Region,Latency (ns)\n",
        "{\"points\":[]}",
        "[]",
        "{}",
        "{\"points\":[{\"ns\":null,\"working_set_bytes\":65536}]}",
        "ns,working_set_bytes\n,65536\n",
    ] {
        fs::write(directory.path().join("empty"), text).expect("a file");
        refused(&directory, "empty", "no measured point");
    }
    fs::write(
        directory.path().join("wide"),
        "\u{feff}bytes,ns\n65536,1\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>(),
    )
    .expect("a file");
    refused(
        &directory,
        "wide",
        "'wide', line 1: UTF-16 text, as > in PowerShell writes it; save it as UTF-8, with -o FILE",
    );
}

#[test]
fn results_of_other_experiments_are_not_curves() {
    let directory = Directory::new("files-experiments");
    for name in ["parallel-few", "variants-one-size", "distribution", "order", "matrix-two-nodes"] {
        let document =
            workspace().join("tests/golden").join(name).with_extension("json").display().to_string();
        let table = directory.path().join(name).with_extension("csv").display().to_string();
        finish(&mut directory.command(&["show", &document, "-o", &table])).expect_status(0);
        let experiment = name.split('-').next().unwrap_or(name);
        let words = format!("is a result of {experiment}, not a curve; use a result of curve or pages");
        refused_by_fit(&directory, &document, &words);
        refused_by_fit(&directory, &table, &words);
    }
}

#[test]
fn numbers_that_are_not_a_curve_get_no_levels() {
    let directory = Directory::new("files-junk");
    let by_chance = |index: u64| format!("{} {}\n", 4096_u64 << (index % 20), 1 + index * 7919 % 101);
    let falling = |index: u64| format!("{} {}\n", 4096_u64 << index, 100 - 4 * index);
    let apart = |index: u64| format!("{} {}\n", 4096_u64 << (index % 30), 10_u64.pow((index % 12) as u32));
    let steep = |index: u64| format!("{} {}\n", 1_000_000 + index, index + 1);
    for (rows, words) in [
        ((0..60).map(by_chance).collect::<String>(), "are more than 20% off the best model"),
        ((0..20).map(falling).collect(), "are more than 20% off the best model"),
        ((0..60).map(apart).collect(), "are more than 20% off the best model"),
        ((0..29).map(steep).collect(), "a level is uncertain by more than 300%"),
    ] {
        let found = fitted(&directory, &rows, &[]);
        found.expect_status(1).expect_error(words);
        assert_eq!(found.stdout, "", "{found}");
    }
}

#[test]
fn a_name_cannot_steer_the_terminal() {
    let directory = Directory::new("files-names");
    let rows: String = curve().into_iter().map(|(size, ns)| format!("{size} {ns}\n")).collect();
    let steers = |text: &str| text.chars().any(|character| character.is_control() && character != '\n');
    let name = "a\u{1b}[2J\u{9b}31m\r\n\u{7}b";
    fs::write(directory.path().join(name), rows).expect("a file");
    for arguments in [
        &["fit", name][..],
        &["fit", name, "--json"],
        &["fit", name, "--format=svg"],
        &["compare", name, name],
        &["compare", name, name, "--format=md"],
    ] {
        let found = finish(&mut bounded(&directory, arguments));
        assert!(!steers(&found.expect_status(0).stdout) && !steers(&found.stderr), "{found:?}");
    }
    fs::write(directory.path().join(name), "\u{1b}[2J").expect("a file");
    let found = finish(&mut bounded(&directory, &["fit", name]));
    found.expect_status(1);
    assert!(!steers(&found.stderr) && found.stderr.contains("\\u{1b}[2J"), "{found:?}");
    let bytes = OsStr::from_bytes(b"a\xff");
    let found = finish(&mut directory.command(&[OsStr::new("fit"), bytes]));
    found.expect_status(1).expect_error("a\\xff");
}

#[test]
fn impossible_requests_are_refused_before_any_announcement() {
    let directory = Directory::new("files-announced");
    for (name, option) in [
        ("matrix", "--size"),
        ("curve", "--max-size"),
        ("order", "--size"),
        ("residency", "--size"),
        ("parallel", "--size"),
        ("window", "--size"),
        ("variants", "--size"),
        ("distribution", "--size"),
    ] {
        for size in ["900T", "16777215T"] {
            let found =
                finish(&mut directory.command(&[name, &format!("{option}={size}"), "--time-limit=1000"][..]));
            assert_eq!((found.stdout.as_str(), found.stderr.lines().count()), ("", 1), "{found}");
            found.expect_status(2).expect_error("not enough memory on node");
        }
    }
}
