//! Prometheus' text format: samples of metrics, for the collectors of monitoring systems that read files.
//!
//! One unexpected line makes a collector skip the whole file. Therefore every metric has its help and its type once,
//! before all of its samples, and no sample has a timestamp.
//!
//! # References
//!
//! Prometheus, "Exposition formats", text-based format 0.0.4.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use latency_core::Trimmed;

use super::document::{Metric, MetricLabel, Value};
use super::escape::{Escaping, label};
use super::format::{Format, Purpose};
use super::shown::{Shown, ShownPart};

/// Gauges, for example for the textfile collector of node_exporter.
pub const PROMETHEUS: Format = Format {
    name: "prometheus",
    extension: "prom",
    purpose: Purpose::Metrics,
    write: |out, _, shown| write(out, shown),
};

/// The labels and the value of a sample.
type MetricSample<'s> = (&'s [MetricLabel], &'s Value);

/// Writes the samples, grouped by metric, in the order of their first samples.
fn write(out: &mut dyn Write, shown: &Shown) -> fmt::Result {
    let mut known: Vec<(&Metric, Vec<MetricSample<'_>>)> = Vec::new();
    for entry in shown.entries() {
        let ShownPart::Metric(metric, labels, value) = entry else { continue };
        let sample = (labels.as_slice(), value);
        match known.iter_mut().find(|(other, _)| other.name == metric.name) {
            Some((_, samples)) => samples.push(sample),
            None => known.push((metric, Vec::from([sample]))),
        }
    }
    for (Metric { name, about }, samples) in known {
        write!(out, "# HELP latency_bench_{name} {about}\n# TYPE latency_bench_{name} gauge\n")?;
        samples.into_iter().try_for_each(|(labels, value)| line(out, name, labels, value))?;
    }
    Ok(())
}

fn line(out: &mut dyn Write, name: &str, labels: &[MetricLabel], value: &Value) -> fmt::Result {
    write!(out, "latency_bench_{name}")?;
    let mut before = '{';
    for (name, value) in labels {
        write!(out, "{before}{name}=\"")?;
        Escaping(out, label).write_str(&text_of(value))?;
        out.write_char('"')?;
        before = ',';
    }
    out.write_str(if labels.is_empty() { " " } else { "} " })?;
    // The value of a saved sample is a text, which cannot end the line.
    Escaping(out, label).write_str(&text_of(value))?;
    out.write_char('\n')
}

/// Returns the text of a value or of a label.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::Real(number) => scientific(*number),
        Value::Word(word) => word.clone(),
        Value::Count(count) => format!("{count}"),
        _ => String::new(),
    }
}

/// Returns a number with seven significant digits, however small: `9.84e-8`.
fn scientific(number: f64) -> String {
    let (mut mantissa, mut exponent) = (number, 0);
    while mantissa.abs() >= 10.0 {
        mantissa /= 10.0;
        exponent += 1;
    }
    while mantissa != 0.0 && mantissa.abs() < 1.0 {
        mantissa *= 10.0;
        exponent -= 1;
    }
    match exponent {
        0 => format!("{:.6}", Trimmed(mantissa)),
        exponent => format!("{:.6}e{exponent}", Trimmed(mantissa)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::text::steers;
    use proptest::prelude::*;
    use std::format;
    use std::string::String;

    static FIRST: Metric = Metric { name: "first_seconds", about: "First value." };
    static SECOND: Metric = Metric { name: "second", about: "Second value." };
    static NEVER: Metric = Metric { name: "never", about: "Without a number." };

    fn written(present: impl FnOnce(&mut Shown)) -> String {
        let mut out = String::new();
        write(&mut out, &Shown::of(present)).unwrap();
        out
    }

    #[test]
    fn all_samples_of_a_metric_are_together() {
        let text = written(|document| {
            for (node, nanoseconds) in [(0_u64, 98.4), (1, f64::NAN), (2, 0.5)] {
                let labels = [("node", Value::Count(node))];
                document.sample(&FIRST, &labels, Value::Real(nanoseconds * 1e-9));
                document.sample(&SECOND, &[], Value::Count(node));
                document.sample(&NEVER, &labels, Value::None);
            }
        });
        assert_eq!(
            text,
            "# HELP latency_bench_first_seconds First value.\n# TYPE latency_bench_first_seconds gauge\n\
             latency_bench_first_seconds{node=\"0\"} 9.84e-8\nlatency_bench_first_seconds{node=\"2\"} 5e-10\n\
             # HELP latency_bench_second Second value.\n# TYPE latency_bench_second gauge\n\
             latency_bench_second 0\nlatency_bench_second 1\nlatency_bench_second 2\n"
        );
    }

    proptest! {
        #[test]
        fn numbers_keep_seven_digits(digits in -10.0f64..10.0, exponent in -30..30) {
            let number = digits * 10f64.powi(exponent);
            let read: f64 = scientific(number).parse().unwrap();
            prop_assert!((read - number).abs() <= number.abs() * 6e-7, "{read} {number}");
        }

        #[test]
        fn no_text_leaves_its_quotes(text in "(\\PC|[\"\\\\\n\r\t\u{1b}])*") {
            let written = written(|document| {
                document.sample(&SECOND, &[("a", text.as_str().into())], Value::Count(7));
            });
            let (mut read, mut inside) = (String::new(), written.lines().nth(2).unwrap());
            inside = inside.strip_prefix("latency_bench_second{a=\"").unwrap();
            inside = inside.strip_suffix("\"} 7").unwrap();
            let mut characters = inside.chars();
            while let Some(character) = characters.next() {
                prop_assert!(character != '"');
                read.push(match (character, character == '\\') {
                    (_, false) => character,
                    _ => match characters.next() {
                        Some('n') => '\n',
                        Some(other @ ('\\' | '"')) => other,
                        other => return Err(TestCaseError::fail(format!("{other:?}"))),
                    },
                });
            }
            let shown = |c: char| if steers(c) && c != '\n' { '?' } else { c };
            prop_assert_eq!(read, text.chars().map(shown).collect::<String>());
            prop_assert_eq!(written.lines().count(), 3);
        }
    }
}
