//! Tables of other tools, made from known curves: the result has to be the true curve, or a refusal.

use super::case::tail;
use super::dialect::Dialect;
use super::formats::Judged;
use super::random::Random;
use super::{Case, PLAIN, UNREAD};
use serde_json::Value;
use std::fmt::Write;

/// Maximum difference of a latency: five digits are written, four are in a document.
const LATENCY: f64 = 0.002;

/// Maximum difference of a size: KB, MB and GB are powers of 1000 or of 1024.
const SIZE: f64 = 0.08;

/// Maximum difference of a level's latency from the plateau.
const LEVEL: f64 = 0.1;

/// A curve of two caches and memory.
struct Curve {
    levels: [f64; 3],
    points: Vec<(f64, f64)>,
}

impl Curve {
    fn random(random: &mut Random) -> Self {
        let first = random.between(0.8, 2.0);
        let second = first * random.between(2.5, 6.0);
        let levels = [first, second, second * random.between(8.0, 30.0)];
        let capacities = [*random.pick(&[32.0, 48.0, 64.0]), *random.pick(&[512.0, 1024.0, 2048.0])];
        let mut points = Vec::new();
        for octave in 0..14 {
            for size in [4096.0, 6144.0].map(|size: f64| size * f64::from(1 << octave)) {
                let level = capacities.iter().filter(|&&capacity| size > capacity * 1024.0).count();
                points.push((size, levels[level] * random.between(0.998, 1.002)));
            }
        }
        Curve { levels, points }
    }
}

/// Writes a curve in a random dialect and has it fitted.
pub fn run(case: &mut Case<'_>) {
    let curve = Curve::random(&mut case.random);
    let dialect = Dialect::random(&mut case.random);
    let table = table(&curve, &dialect);
    case.write("a.csv", &table);
    let arguments: Vec<String> = ["fit", "a.csv", "--json"].map(String::from).to_vec();
    let Some((status, run)) = case.judged(&arguments, &[0, 1], Judged { width: false, numbers: true }) else {
        return;
    };
    let begin: String = table.lines().take(4).collect::<Vec<_>>().join("\n");
    let wrong = match (status, dialect.tells()) {
        (0, true) => serde_json::from_str(&run.stdout)
            .ok()
            .and_then(|document| difference(&document, &curve).or_else(|| levels_outside(&run.stdout))),
        (0, false) => Some("taken as a curve of bytes and nanoseconds".into()),
        _ => None,
    };
    if let Some(wrong) = wrong {
        case.note(dialect.class, &arguments, &format!("{wrong}\n{begin}"));
    } else if status == 1 && dialect.is_plain() && dialect.class == PLAIN {
        case.note(UNREAD, &arguments, &format!("{}\n{begin}", tail(&run.stderr)));
    }
}

/// Returns the table of a curve.
fn table(curve: &Curve, dialect: &Dialect) -> String {
    let mut text = dialect.preamble.to_string();
    let mut headings = vec![dialect.size.0.to_string(), dialect.time.0.to_string()];
    if dialect.operations.is_some() {
        headings.insert(1, "operation".into());
        headings.insert(2, "bandwidth_mb_s".into());
    } else if let Some(before) = dialect.bandwidth {
        headings.insert(if before { 1 } else { 2 }, "bandwidth_mb_s".into());
    }
    if dialect.headed {
        text.push_str(&dialect.row(&headings));
    }
    let unit = |unit: f64| if unit > 0.0 { unit } else { 1.0 };
    for &(size, ns) in &curve.points {
        let size = dialect.number(size / unit(dialect.size.1));
        let time = dialect.number(ns / unit(dialect.time.1));
        let mut row = |fields: &[&str]| {
            let fields: Vec<String> = fields.iter().map(|field| field.to_string()).collect();
            write!(text, "{}", dialect.row(&fields)).expect("a string");
        };
        let speed = dialect.number(64_000.0 / ns);
        match (dialect.operations, dialect.bandwidth) {
            (Some(missing), _) => {
                row(&[&size, "read", &speed, missing]);
                row(&[&size, "write", &speed, missing]);
                row(&[&size, "latency", "0", &time]);
            }
            (None, Some(true)) => row(&[&size, &speed, &time]),
            (None, Some(false)) => row(&[&size, &time, &speed]),
            (None, None) => row(&[&size, &time]),
        }
    }
    text
}

/// Returns the first level of a fitted document whose capacity or its interval is outside of the sizes of its points.
pub fn levels_outside(text: &str) -> Option<String> {
    let document: Value = serde_json::from_str(text).ok()?;
    let sizes = document["rows"].as_array()?.iter().filter_map(|row| row["working_set_bytes"].as_f64());
    let (low, high) = sizes.fold((f64::INFINITY, 0_f64), |(low, high), size| (low.min(size), high.max(size)));
    let levels = document.pointer("/model/levels").and_then(Value::as_array)?;
    let of = |level: &Value, member: &str| level[member].as_f64();
    let members = ["capacity_bytes", "capacity_bytes_low", "capacity_bytes_high"];
    let is_outside = |level: &&Value| {
        members.iter().any(|member| of(level, member).is_some_and(|size| size < low || size > high))
    };
    levels.iter().find(is_outside).map(|level| format!("sizes from {low} to {high}: {level}"))
}

/// Returns the first thing in a fitted document that differs from the curve.
fn difference(document: &Value, curve: &Curve) -> Option<String> {
    let points = document["rows"].as_array()?;
    let near = |found: f64, right: f64, share: f64| (found / right - 1.0).abs() <= share;
    if points.len() != curve.points.len() {
        return Some(format!("{} points of {}", points.len(), curve.points.len()));
    }
    for (point, (size, ns)) in points.iter().zip(&curve.points) {
        let found = (point["working_set_bytes"].as_f64()?, point["ns"].as_f64()?);
        if !near(found.0, *size, SIZE) || !near(found.1, *ns, LATENCY) {
            return Some(format!("{found:?} (bytes, ns) is really {size} and {ns}"));
        }
    }
    let levels = document.pointer("/model/levels").and_then(Value::as_array)?;
    let memory = document.pointer("/model/memory/ns").and_then(Value::as_f64);
    let found: Vec<f64> = levels.iter().filter_map(|level| level["ns"].as_f64()).chain(memory).collect();
    let missing = curve.levels.iter().find(|level| !found.iter().any(|found| near(*found, **level, LEVEL)));
    missing.map(|level| format!("no level of {level} ns among {found:?}"))
}
