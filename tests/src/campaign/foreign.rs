//! Tables of latencies between CPUs, between nodes and by size, as other tools print them: every row has to come out under
//! a key of its own, and a value that is slower in a copy has to be found.

use super::case::words;
use super::formats::Judged;
use super::random::Random;
use super::tables::levels_outside;
use super::{Case, KEYS, LEVELS, SLOWER};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The members of a row that tell it from others: two CPUs, two nodes, or a size, the pages and the stride.
type Key = [String; 3];

/// Writes the text of a table with these values.
type Writer = dyn Fn(&[f64]) -> String;

/// A table of another tool.
struct Table {
    form: &'static str,
    /// The members of a row that form its key.
    members: [&'static str; 3],
    /// The values in the order of the text, with their keys; the key of a size is its place.
    values: Vec<(Key, f64)>,
    /// The rule that writes it.
    write: Box<Writer>,
    /// For a curve: true if its last values still rise, and true if its first-level cache has no values.
    of_curve: [bool; 2],
}

/// Writes a table of another tool and a copy with slower values, and has both shown and compared.
pub fn run(case: &mut Case<'_>) {
    let table = match case.index % 8 {
        0..=4 => of_cpus(&mut case.random, case.index as usize % 8),
        5 => of_nodes(&mut case.random),
        6 => tinymembench(&mut case.random),
        _ => lat_mem_rd(&mut case.random),
    };
    let of_sizes = table.members[0] == "working_set_bytes";
    let before: Vec<f64> = table.values.iter().map(|(_, ns)| *ns).collect();
    // The last sizes are slower together: a single one of a curve may be a stray point.
    let slower: Vec<usize> = match of_sizes {
        true => (before.len() - 4..before.len()).collect(),
        false => vec![case.random.below(before.len())],
    };
    let factor = (2 + case.random.below(8)) as f64;
    let mut after = before.clone();
    slower.iter().for_each(|&index| after[index] *= factor);
    case.write("a", (table.write)(&before));
    case.write("b", (table.write)(&after));
    for (name, values) in [("a", &before), ("b", &after)] {
        let arguments = ["show", name, "--json"];
        let Some(rows) = case.rows(KEYS, &arguments, &[0]) else { return note_form(case, &table) };
        if let Some(wrong) = mistaken(&rows, &table, values) {
            case.note(KEYS, &words(&arguments), &wrong);
            return note_form(case, &table);
        }
    }
    let judged = Judged { width: false, numbers: true };
    let equal = words(&["compare", "a", "a", "--json"]);
    if let Some((status, run)) = case.judged(&equal, &[0, 6], judged) {
        let points = summary(&run.stdout, "points_compared");
        if status == 0 && points != Some(before.len() as u64) {
            case.note(KEYS, &equal, &format!("{points:?} points of {}", before.len()));
            note_form(case, &table);
        }
    }
    let differs = words(&["compare", "a", "b", "--json"]);
    if let Some((status, run)) = case.judged(&differs, &[0, 5, 6], judged) {
        let found = summary(&run.stdout, "points_slower");
        if status != 5 || found != Some(slower.len() as u64) {
            let seen =
                format!("status {status}, {found:?} slower points of {}, times {factor}", slower.len());
            case.note(SLOWER, &differs, &seen);
            note_form(case, &table);
        }
    }
    if of_sizes {
        let arguments = words(&["fit", "a", "--json"]);
        if let Some((0, run)) = case.judged(&arguments, &[0, 1], judged)
            && let Some(wrong) = levels_outside(&run.stdout).or_else(|| misnamed(&run.stdout, table.of_curve))
        {
            case.note(LEVELS, &arguments, &wrong);
            note_form(case, &table);
        }
    }
}

/// Adds the form of the table to the last finding.
fn note_form(case: &mut Case<'_>, table: &Table) {
    let text = case.read("a").map(|text| String::from_utf8_lossy(&text).into_owned()).unwrap_or_default();
    let begin: Vec<&str> = text.lines().take(12).collect();
    if let Some(finding) = case.findings.last_mut() {
        finding.seen.push_str(&format!("\n      {}:\n{}", table.form, begin.join("\n")));
    }
}

/// Returns a level of a fitted curve that the table does not have.
fn misnamed(text: &str, [rises, without_first]: [bool; 2]) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    let named = |member: &str| document["summary"][member].as_f64();
    let memory = named("memory_ns")
        .filter(|_| rises)
        .map(|ns| format!("memory of {ns} ns, and the table ends rising"));
    memory.or_else(|| {
        named("l1_ns").filter(|_| without_first).map(|ns| format!("an L1 of {ns} ns, whose rows are zero"))
    })
}

fn summary(text: &str, member: &str) -> Option<u64> {
    serde_json::from_str::<Value>(text).ok()?.pointer(&format!("/summary/{member}"))?.as_u64()
}

/// Returns the first row that is missing, in excess, or wrong.
fn mistaken(rows: &[Value], table: &Table, values: &[f64]) -> Option<String> {
    let key = |row: &Value| table.members.map(|member| row[member].to_string().replace('"', ""));
    let near = |found: &Value, right: f64| found.as_f64().is_some_and(|ns| (ns / right - 1.0).abs() < 0.002);
    if rows.len() != values.len() {
        return Some(format!("{} rows of {}", rows.len(), values.len()));
    }
    let mut found = BTreeMap::new();
    for row in rows {
        if found.insert(key(row), row["ns"].clone()).is_some() {
            return Some(format!("two rows of {:?}", key(row)));
        }
    }
    if table.members[0] == "working_set_bytes" {
        let wrong = rows.iter().zip(values).find(|(row, ns)| !near(&row["ns"], **ns));
        return wrong.map(|(row, ns)| format!("{ns} ns in {row}"));
    }
    let wrong = table.values.iter().zip(values).find(|((key, _), ns)| {
        let found = found.get(key);
        !found.is_some_and(|found| near(found, **ns))
    });
    wrong.map(|((key, _), ns)| format!("{key:?} is {:?}, not {ns}", found.get(key)))
}

/// Returns a time with one decimal.
fn time(random: &mut Random) -> f64 {
    (200 + random.below(1300)) as f64 / 10.0
}

/// Returns names of CPUs or nodes: from 0 on, or rising with gaps.
fn names(random: &mut Random, count: usize, gaps: bool) -> Vec<usize> {
    let step = if gaps { 1 + random.below(3) } else { 1 };
    let first = if gaps { random.below(3) } else { 0 };
    (0..count).map(|index| first + index * step).collect()
}

/// Draws a table of pairs of CPUs in one of five forms.
fn of_cpus(random: &mut Random, form: usize) -> Table {
    let most = if random.one_in(8) { 40 } else { 12 };
    let count = 3 + random.below(most);
    let form = [
        "triangle in CSV",
        "square in CSV",
        "square with names in CSV",
        "triangle as text",
        "square as text",
    ][form];
    let is_half = form.starts_with("triangle");
    let (separator, named) = match form {
        "triangle in CSV" | "square in CSV" => (",", false),
        "square with names in CSV" => (",", true),
        _ => ("  ", true),
    };
    let cpus = names(random, count, named);
    // The corner, the cell of a CPU with itself, and the error behind a latency.
    let corner = if form.ends_with("CSV") { "" } else { *random.pick(&["CPU", " "]) };
    let corner = if named && !is_half { corner } else { " " };
    let own = match form {
        "square as text" => "0",
        _ => *random.pick(&["", "0"]),
    };
    let is_whole = form == "triangle as text";
    let end = *random.pick(&["\n", "\r\n"]);
    let mut values = Vec::new();
    for row in 0..count {
        for column in (0..count).filter(|&column| if is_half { column < row } else { column != row }) {
            let ns = time(random);
            values.push((
                [cpus[column].to_string(), cpus[row].to_string(), "null".into()],
                if is_whole { ns.round() } else { ns },
            ));
        }
    }
    let title = is_whole.then(|| *random.pick(&["", "1) CAS latency on a single shared cache line\n\n"]));
    let write = move |values: &[f64]| {
        let mut text = String::new();
        if let Some(title) = title {
            write!(text, "Num cores: {count}{end}Using RDTSC to measure time: true{end}{end}{title}")
                .expect("a string");
        }
        if named {
            let heading: Vec<String> = cpus.iter().map(|cpu| format!("{separator}{cpu:>4}")).collect();
            write!(text, "{corner}{}{end}", heading.concat()).expect("a string");
        }
        let mut values = values.iter();
        for (row, cpu) in cpus.iter().enumerate() {
            let mut cells = Vec::new();
            if named {
                cells.push(format!("{cpu:>4}"));
            }
            for column in 0..count {
                let is_there = if is_half { column < row } else { column != row };
                match is_there.then(|| values.next().expect("a value")) {
                    Some(ns) if is_whole => cells.push(format!("{ns:>4}\u{b1}1")),
                    Some(ns) => cells.push(format!("{ns:.1}")),
                    None if is_half && separator != "," => {}
                    None if is_half => cells.push(String::new()),
                    None => cells.push(own.into()),
                }
            }
            write!(text, "{}{end}", cells.join(separator)).expect("a string");
        }
        if is_whole {
            write!(
                text,
                "{end}    Min  latency: 21.4ns \u{b1}0.1 cores: (1,0){end}    Mean latency: 40.6ns{end}"
            )
            .expect("a string");
        }
        text
    };
    Table {
        form,
        members: ["initiator_cpu", "target_cpu", "third_cpu"],
        values,
        write: Box::new(write),
        of_curve: [false; 2],
    }
}

/// Draws a log of Intel MLC with its matrix of nodes, as people paste it.
fn of_nodes(random: &mut Random) -> Table {
    let count = 2 + random.below(7);
    let nodes = names(random, count, true);
    let is_old = random.one_in(2);
    let quote = *random.pick(&["", "> ", "| ", "    "]);
    let is_spaced = random.one_in(3);
    let has_more = random.one_in(2);
    let has_gap = count > 2 && random.one_in(4);
    let end = *random.pick(&["\n", "\r\n"]);
    let gap = has_gap.then(|| (random.below(count), random.below(count)));
    let mut values = Vec::new();
    for (row, from) in nodes.iter().enumerate() {
        for (column, to) in nodes.iter().enumerate() {
            if gap != Some((row, column)) {
                values.push(([from.to_string(), to.to_string(), "null".into()], time(random)));
            }
        }
    }
    let write = move |values: &[f64]| {
        let version = if is_old { "v3.5" } else { "v3.11b" };
        let mut lines = vec![
            format!("Intel(R) Memory Latency Checker - {version}"),
            "Command line parameters: --latency_matrix ".into(),
            String::new(),
            "Using buffer size of 2000.000MiB".into(),
            "Measuring idle latencies (in ns)...".into(),
            if is_old { "\tMemory node".into() } else { "\t\tNuma node".into() },
        ];
        let names: Vec<String> = nodes.iter().map(|node| format!("{node:>6}\t")).collect();
        lines.push(format!("{}{}", if is_old { " Socket\t" } else { "Numa node\t" }, names.concat()));
        let mut values = values.iter();
        for (row, node) in nodes.iter().enumerate() {
            let cells = (0..count).map(|column| match gap == Some((row, column)) {
                true => "     -\t".into(),
                false => format!("{:>6.1}\t", values.next().expect("a value")),
            });
            lines.push(format!("{node:>8}\t{}", cells.collect::<String>()));
        }
        if has_more {
            lines.extend(AFTER_THE_MATRIX.lines().map(String::from));
        }
        let gap = if is_spaced { end } else { "" };
        lines.iter().map(|line| format!("{quote}{line}{end}{gap}")).collect()
    };
    Table {
        form: "log of Intel MLC",
        members: ["initiator_node", "target_node", "third_cpu"],
        values,
        write: Box::new(write),
        of_curve: [false; 2],
    }
}

/// The rest of a log: bandwidths, latencies under load, and latencies between caches.
const AFTER_THE_MATRIX: &str = "
Measuring Peak Injection Memory Bandwidths for the system
Bandwidths are in MB/sec (1 MB/sec = 1,000,000 Bytes/sec)
Using traffic with the following read-write ratios
ALL Reads        :\t223457.1\t
3:1 Reads-Writes :\t214563.9\t
Stream-triad like:\t190221.5\t

Measuring Memory Bandwidths between nodes within system
Using Read-only traffic type
\t\tNuma node
Numa node\t     0\t     1\t
       0\t108244.7\t51066.9\t
       1\t51072.3\t108517.0\t

Measuring Loaded Latencies for the system
Inject\tLatency\tBandwidth
Delay\t(ns)\tMB/sec
==========================
 00000\t294.07\t 152000.0
 00500\t107.85\t  61190.2

Measuring cache-to-cache transfer latency (in ns)...
Local Socket L2->L2 HIT  latency\t48.1
Local Socket L2->L2 HITM latency\t48.3
";

/// Returns the latencies of a curve of three levels at some sizes; the last ones rise if `rises` is true.
fn curve(random: &mut Random, sizes: &[f64], rises: bool) -> Vec<f64> {
    let first = random.between(1.0, 2.0);
    let levels = [first, first * random.between(2.5, 5.0), first * random.between(40.0, 90.0)];
    let capacities = [*random.pick(&[32.0, 48.0]) * 1024.0, *random.pick(&[1.0, 2.0, 16.0]) * 1_048_576.0];
    let level = |size: f64| levels[capacities.iter().filter(|&&capacity| size > capacity).count()];
    let steps = |size: f64| if rises { (size / sizes[sizes.len() - 4]).max(1.0).powf(0.6) } else { 1.0 };
    sizes.iter().map(|&size| level(size) * steps(size) * random.between(0.99, 1.01)).collect()
}

/// Draws tables of tinymembench: excesses over the first-level cache, whose own rows are zero.
fn tinymembench(random: &mut Random) -> Table {
    let sizes: Vec<f64> = (10..27).map(|power| f64::from(1_u32 << power)).collect();
    let kinds: &[(&str, &str)] = match random.below(3) {
        0 => &[("", "null")],
        1 => &[(", [MADV_NOHUGEPAGE]", "4k"), (", [MADV_HUGEPAGE]", "thp")],
        _ => &[(", [MADV_HUGEPAGE]", "thp")],
    };
    let rises = random.one_in(3);
    // The first-level cache holds the first sizes.
    let zeros = 6;
    let noise = *random.pick(&[0.0, 0.1]);
    let mut values = Vec::new();
    for (_, pages) in kinds {
        let curve = curve(random, &sizes, rises);
        for (size, ns) in sizes.iter().zip(&curve).skip(zeros) {
            let ns = (ns * 10.0).round() / 10.0;
            values.push(([size.to_string(), pages.to_string(), "null".into()], ns));
        }
    }
    let write = move |values: &[f64]| {
        let mut values = values.iter();
        let mut text =
            String::from("tinymembench v0.4.9 (simple benchmark for memory throughput and latency)\n\n");
        for (title, _) in kinds {
            writeln!(text, "block size : single random read / dual random read{title}").expect("a string");
            for (index, size) in sizes.iter().enumerate() {
                let ns = if index < zeros { noise } else { *values.next().expect("a value") };
                writeln!(text, "{size:>10} : {ns:>6.1} ns          / {:>7.1} ns ", ns * 1.4)
                    .expect("a string");
            }
            text.push('\n');
        }
        text
    };
    Table {
        form: "tables of tinymembench",
        members: ["working_set_bytes", "pages_asked", "stride_bytes"],
        values,
        write: Box::new(write),
        of_curve: [rises, true],
    }
}

/// Draws tables of lmbench's lat_mem_rd, one for each stride.
fn lat_mem_rd(random: &mut Random) -> Table {
    let sizes: Vec<f64> =
        (9..27).flat_map(|power| [1.0, 1.5].map(|part| part * f64::from(1_u32 << power))).collect();
    let rises = random.one_in(3);
    let strides: &[u32] = match random.below(3) {
        0 => &[64],
        1 => &[64, 128],
        _ => &[128, 256, 512],
    };
    let mut values = Vec::new();
    for stride in strides {
        let curve = curve(random, &sizes, rises);
        values.extend(
            sizes
                .iter()
                .zip(curve)
                .map(|(size, ns)| ([size.to_string(), "null".into(), stride.to_string()], ns)),
        );
    }
    let write = move |values: &[f64]| {
        let mut values = values.iter();
        let mut text = String::new();
        for stride in strides {
            writeln!(text, "\"stride={stride}").expect("a string");
            for size in &sizes {
                let ns = values.next().expect("a value");
                writeln!(text, "{:.5} {ns:.3}", size / 1_048_576.0).expect("a string");
            }
            text.push('\n');
        }
        text
    };
    Table {
        form: "tables of lat_mem_rd",
        members: ["working_set_bytes", "pages_asked", "stride_bytes"],
        values,
        write: Box::new(write),
        of_curve: [rises, false],
    }
}
