//! Prometheus' text format: samples of metrics, for the collectors of monitoring systems that read files.
//!
//! One unexpected line makes a collector skip the whole file. Therefore every metric has its help and its type once,
//! before all of its samples, and no sample has a timestamp.
//!
//! # References
//!
//! Prometheus, "Exposition formats", text-based format 0.0.4.

use core::fmt::{self, Write};

use latency_core::decimal::Trimmed;

use super::document::{Describe, Document, Metric, MetricLabels, Value};
use super::escape::{Escaping, label};
use super::format::{Format, Purpose};

/// Gauges, for example for the textfile collector of node_exporter.
pub const PROMETHEUS: Format = Format {
    name: "prometheus",
    extension: "prom",
    purpose: Purpose::Metrics,
    write: |out, _, describe| write(out, describe),
};

/// The maximum number of metrics of one result.
const MOST: usize = 24;

/// Writes the samples, grouped by metric. The result is described once for each metric.
fn write(out: &mut dyn Write, describe: Describe<'_>) -> fmt::Result {
    let mut known = KnownMetrics { metrics: [None; MOST], count: 0 };
    describe(&mut known);
    for metric in known.metrics.into_iter().flatten() {
        let Metric { name, about } = metric;
        write!(out, "# HELP latency_bench_{name} {about}\n# TYPE latency_bench_{name} gauge\n")?;
        let mut samples = MetricSamples { out: &mut *out, metric, failed: Ok(()) };
        describe(&mut samples);
        samples.failed?;
    }
    Ok(())
}

/// The metrics of a result, in the order of their first samples.
struct KnownMetrics {
    metrics: [Option<&'static Metric>; MOST],
    count: usize,
}

impl Document for KnownMetrics {
    fn wants_samples(&self) -> bool {
        true
    }

    fn sample(&mut self, metric: &'static Metric, _: MetricLabels<'_>, value: Value<'_>) {
        let known = self.metrics.iter().flatten().any(|known| core::ptr::eq(*known, metric));
        if let (false, true, Some(slot)) = (known, Metric::is_number(value), self.metrics.get_mut(self.count))
        {
            *slot = Some(metric);
            self.count += 1;
        }
    }
}

/// The samples of one metric.
struct MetricSamples<'o> {
    out: &'o mut dyn Write,
    metric: &'static Metric,
    failed: fmt::Result,
}

impl Document for MetricSamples<'_> {
    fn wants_samples(&self) -> bool {
        true
    }

    fn sample(&mut self, metric: &'static Metric, labels: MetricLabels<'_>, value: Value<'_>) {
        if self.failed.is_ok() && core::ptr::eq(self.metric, metric) && Metric::is_number(value) {
            self.failed = self.line(labels, value);
        }
    }
}

impl MetricSamples<'_> {
    fn line(&mut self, labels: MetricLabels<'_>, value: Value<'_>) -> fmt::Result {
        write!(self.out, "latency_bench_{}", self.metric.name)?;
        let mut before = '{';
        for (name, value) in labels {
            write!(self.out, "{before}{name}=\"")?;
            word(&mut Escaping(self.out, label), *value)?;
            self.out.write_char('"')?;
            before = ',';
        }
        self.out.write_str(if labels.is_empty() { " " } else { "} " })?;
        match value {
            Value::Real(number) => write!(self.out, "{}", Scientific(number))?,
            value => word(self.out, value)?,
        }
        self.out.write_char('\n')
    }
}

/// Writes a word or a whole number; other values are not labels.
fn word(out: &mut dyn Write, value: Value<'_>) -> fmt::Result {
    match value {
        Value::Word(word) => out.write_str(word),
        Value::Count(count) => write!(out, "{count}"),
        Value::Shown(shown) => write!(out, "{shown}"),
        _ => Ok(()),
    }
}

/// A number with seven significant digits, however small: `9.84e-8`.
struct Scientific(f64);

impl fmt::Display for Scientific {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (mut mantissa, mut exponent) = (self.0, 0);
        while mantissa.abs() >= 10.0 {
            mantissa /= 10.0;
            exponent += 1;
        }
        while mantissa != 0.0 && mantissa.abs() < 1.0 {
            mantissa *= 10.0;
            exponent -= 1;
        }
        write!(out, "{:.6}", Trimmed(mantissa))?;
        match exponent {
            0 => Ok(()),
            exponent => write!(out, "e{exponent}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use latency_core::text::steers;
    use proptest::prelude::*;
    use std::format;
    use std::string::{String, ToString};

    static FIRST: Metric = Metric { name: "first_seconds", about: "First value." };
    static SECOND: Metric = Metric { name: "second", about: "Second value." };
    static NEVER: Metric = Metric { name: "never", about: "Without a number." };

    fn written(describe: Describe<'_>) -> String {
        let mut out = String::new();
        write(&mut out, describe).unwrap();
        out
    }

    #[test]
    fn all_samples_of_a_metric_are_together() {
        let text = written(&mut |document| {
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
            let read: f64 = Scientific(number).to_string().parse().unwrap();
            prop_assert!((read - number).abs() <= number.abs() * 6e-7, "{read} {number}");
        }

        #[test]
        fn no_text_leaves_its_quotes(text in "(\\PC|[\"\\\\\n\r\t\u{1b}])*") {
            let written = written(&mut |document| {
                document.sample(&SECOND, &[("a", Value::Word(&text))], Value::Count(7));
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
