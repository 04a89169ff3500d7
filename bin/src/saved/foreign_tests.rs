//! Tables of other tools: as many points as rows, and no two with the same fields.

use super::{Problem, Saved};
use proptest::prelude::*;
use std::format;
use std::string::String;
use std::vec::Vec;

/// Returns a table whose rows have the name of their CPU and the cells that `cell` gives, each behind `separator`.
fn table(
    count: usize,
    separator: &str,
    heading: &str,
    cell: &dyn Fn(usize, usize) -> Option<String>,
) -> String {
    let mut text = String::from(heading);
    if !heading.is_empty() {
        text += &(0..count).map(|cpu| format!("{separator}{cpu}")).collect::<String>();
        text += "\n";
    }
    for row in 0..count {
        let cells: Vec<_> = (0..count).filter_map(|column| cell(row, column)).collect();
        let name = if heading.is_empty() { String::new() } else { format!("{row}{separator}") };
        text += &format!("{name}{}\n", cells.join(separator));
    }
    text
}

/// Returns a text of each form, with the number of its rows.
fn texts(count: usize, ns: &dyn Fn(usize, usize) -> f64) -> Vec<(&'static str, String, usize)> {
    let full = |diagonal: &'static str| {
        move |row, column| {
            Some(if row == column { diagonal.into() } else { format!("{:.1}", ns(row, column)) })
        }
    };
    let padded =
        |row, column| Some(if column < row { format!("{}", ns(row, column)) } else { String::new() });
    let below = |row, column| (column < row).then(|| format!("{:.0}\u{b1}1", ns(row, column)));
    let (half, square) = (count * (count - 1) / 2, count * (count - 1));
    let pairs = |title: &str, rows: String| {
        format!(
            "Num cores: {count}\n\n{title}\n\n{rows}\n    Min  latency: 21.4ns \u{b1}0.1 cores: (1,0)\n\n"
        )
    };
    let sizes = || (0..count).map(|index| (index + 1) * 65536);
    let lines = |of: &dyn Fn(usize) -> String| sizes().map(of).collect::<String>();
    let strided = |stride| {
        format!(
            "\"stride={stride}\n{}\n",
            lines(&|size| format!("{} {:.3}\n", size as f64 / 1_048_576.0, ns(size, stride)))
        )
    };
    let pages = |kind| {
        format!(
            "block size : single random read / dual random read, [{kind}]\n{}\n",
            lines(&|size| format!("{size} : {:.1} ns / 9.9 ns\n", ns(size, 1)))
        )
    };
    let nodes = (0..count).map(|from| {
        format!("{from} {}\n", (0..count).map(|to| format!("{:.1} ", ns(from, to))).collect::<String>())
    });
    let mut numa = format!(
        "Intel(R) Memory Latency Checker - v3.11\nMeasuring idle latencies (in ns)...\n\t\tNuma node\nNuma node\t {}\n",
        (0..count).map(|node| format!("{node}\t")).collect::<String>()
    );
    numa.extend(nodes);
    let walks = |name: &str| {
        sizes()
            .map(|size| {
                format!("{{\"name\":\"{name}\",\"size\":{size},\"batch\":1,\"latency\":{}}}", ns(size, 2))
            })
            .collect::<Vec<_>>()
            .join(",")
    };
    Vec::from([
        ("a triangle in CSV", table(count, ",", "", &padded), half),
        ("a square in CSV", table(count, ",", "", &full("")), square),
        ("a square with names in CSV", table(count, ",", "CPU", &full("x")), square),
        ("a square with no corner in CSV", table(count, ",", " ", &full("0")), square),
        (
            "the text of core-to-core-latency",
            pairs("1) CAS latency on a line", table(count, "  ", " ", &below)),
            half,
        ),
        (
            "several tables in a text",
            pairs("1) CAS latency", table(count, " ", " ", &below))
                + &pairs("2) Message passing", table(count, " ", " ", &below)),
            2 * half,
        ),
        ("the text of c2clat", table(count, "  ", "CPU", &full("0")), square),
        ("lat_mem_rd", strided(64) + &strided(128), 2 * count),
        ("tinymembench", pages("MADV_NOHUGEPAGE") + &pages("MADV_HUGEPAGE"), 2 * count),
        (
            "MemoryLatency",
            format!("Region,Latency (ns)\n{}", lines(&|size| format!("{},{}\n", size / 1024, ns(size, 3)))),
            count,
        ),
        ("cpu-benchmarks", format!("[{},{}]", walks("one"), walks("other")), 2 * count),
        ("Intel MLC", numa, count * count),
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_row_of_another_tool_is_a_point_of_its_own(count in 3_usize..24, seed in 1_usize..1000) {
        let ns = |one: usize, other: usize| 20.0 + ((one * 31 + other * 17 + seed) % 97) as f64;
        for (form, text, rows) in texts(count, &ns) {
            let read = Saved::parse(text.as_bytes(), None);
            let draft = read.map_err(|problem| TestCaseError::fail(format!("{form}: {}: {text}", problem.what)))?;
            let found = draft.rows;
            prop_assert_eq!(found.len(), rows, "{}: {}", form, text);
            for (index, row) in found.iter().enumerate() {
                let other = found.iter().take(index).find(|other| row.is_same(other, crate::record::columns::ColumnSet::POINTS));
                prop_assert!(other.is_none(), "{}: two points with the same fields: {}", form, text);
            }
        }
    }
}

#[test]
fn latencies_of_pairs_that_are_not_positive_are_refused_by_their_line() {
    for odd in ["nan", "NaN", "inf", "-inf", "0", "0.0", "-61.5"] {
        for (text, line) in [
            (format!("CPU 0 1 2\n0 0 20 30\n1 20 0 {odd}\n2 30 40 0\n"), 3),
            (format!(",,\n20,,\n{odd},40,\n"), 3),
            (format!(",20,30\n20,,40\n30,{odd},\n"), 3),
        ] {
            let problem = Saved::parse(text.as_bytes(), None).err();
            let expected = Problem::new(line, "latency is not a positive number of nanoseconds");
            assert_eq!(problem, Some(expected), "{text}");
        }
    }
}
