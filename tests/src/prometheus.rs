//! A strict reader of Prometheus' text format: anything for which a collector would skip a file is an error,
//! with its line.
//!
//! # References
//!
//! Prometheus, "Exposition formats", text-based format 0.0.4; node_exporter's textfile collector, which takes neither
//! times nor a second help of a metric.

use std::collections::{BTreeMap, BTreeSet};

/// One sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The metric.
    pub name: String,
    /// The labels.
    pub labels: BTreeMap<String, String>,
    /// The value.
    pub value: f64,
}

/// Returns every sample of a text; all metrics have to be gauges.
///
/// # Errors
///
/// The first line that violates the format, with the reason.
pub fn read(text: &str) -> Result<Vec<Sample>, String> {
    if !text.is_empty() && !text.ends_with('\n') {
        return Err("the last line has no end".into());
    }
    let mut reader = Reader::default();
    for (index, line) in text.split_terminator('\n').enumerate() {
        reader.line(line).map_err(|why| format!("line {}: {why}: {line}", index + 1))?;
    }
    match reader.described.difference(&reader.sampled).next() {
        Some(name) => Err(format!("{name} has no sample")),
        None => Ok(reader.samples),
    }
}

#[derive(Default)]
struct Reader {
    samples: Vec<Sample>,
    /// Metrics with a help text, with a type, and with samples.
    described: BTreeSet<String>,
    typed: BTreeSet<String>,
    sampled: BTreeSet<String>,
    series: BTreeSet<String>,
}

impl Reader {
    fn line(&mut self, line: &str) -> Result<(), String> {
        let words: Vec<&str> = line.splitn(4, ' ').collect();
        match words.as_slice() {
            ["#", "HELP", name, about] => {
                is_name(name).then_some(()).ok_or("no name of a metric")?;
                if about.trim().is_empty() || about.contains('\\') || !self.described.insert((*name).into()) {
                    return Err("a help that is empty, escaped, or the second".into());
                }
                Ok(())
            }
            ["#", "TYPE", name, "gauge"] => {
                let is_new = !self.sampled.contains(*name) && self.typed.insert((*name).into());
                let follows = self.described.contains(*name);
                (is_new && follows).then_some(()).ok_or_else(|| "a type without help, or too late".into())
            }
            ["#", ..] | [""] => Err("neither help, type of a gauge, nor sample".into()),
            _ => self.sample(line),
        }
    }

    fn sample(&mut self, line: &str) -> Result<(), String> {
        let end = line.find(['{', ' ']).ok_or("no value")?;
        let (name, mut rest) = line.split_at(end);
        if !is_name(name) || !self.typed.contains(name) {
            return Err("a metric without a type, or no name".into());
        }
        let last = self.samples.last().map(|sample| sample.name.as_str());
        if last != Some(name) && !self.sampled.insert(name.into()) {
            return Err("samples of one metric that are apart".into());
        }
        let mut labels = BTreeMap::new();
        if let Some(inside) = rest.strip_prefix('{') {
            rest = read_labels(inside, &mut labels)?;
        }
        let value = rest.strip_prefix(' ').ok_or("no space before the value")?;
        if value.contains(' ') || !value.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
            return Err("a time, or no plain number".into());
        }
        let value: f64 = value.parse().map_err(|error| format!("{error}"))?;
        if !value.is_finite() || !self.series.insert(format!("{name}{labels:?}")) {
            return Err("no finite number, or the second of its series".into());
        }
        self.samples.push(Sample { name: name.into(), labels, value });
        Ok(())
    }
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_lowercase())
        && word.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Reads labels behind the opening brace; returns the text behind the closing one.
fn read_labels<'t>(mut text: &'t str, labels: &mut BTreeMap<String, String>) -> Result<&'t str, String> {
    loop {
        let (name, inside) = text.split_once("=\"").ok_or("a label without a value")?;
        let mut value = String::new();
        let mut characters = inside.char_indices();
        let end = loop {
            match characters.next() {
                Some((place, '"')) => break place + 1,
                Some((_, '\\')) => match characters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, escaped @ ('\\' | '"'))) => value.push(escaped),
                    _ => return Err("an escape that is none".into()),
                },
                Some((_, character)) => value.push(character),
                None => return Err("a label that does not end".into()),
            }
        };
        if !is_name(name) || labels.insert(name.into(), value).is_some() {
            return Err(format!("the label {name:?}"));
        }
        let rest = inside.get(end..).unwrap_or_default();
        match rest.chars().next() {
            Some(',') => text = &rest[1..],
            Some('}') => return Ok(&rest[1..]),
            _ => return Err("labels that do not end".into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "# HELP a_seconds What.\n# TYPE a_seconds gauge\na_seconds{x=\"1\",y=\"q\\\"\\\\\\n,}\"} 1.5e-7\n\
                        a_seconds 2\n# HELP b Other.\n# TYPE b gauge\nb 0\n";

    #[test]
    fn samples_have_names_labels_and_values() {
        let samples = read(GOOD).unwrap();
        assert_eq!(samples.len(), 3);
        assert_eq!(samples[0].labels["y"], "q\"\\\n,}");
        assert_eq!((samples[0].value, samples[1].value), (1.5e-7, 2.0));
        assert_eq!(read("").unwrap(), []);
    }

    #[test]
    fn text_that_a_collector_refuses_is_an_error() {
        for (from, to) in [
            ("b 0\n", "b 0 1700000000\n"),
            ("b 0\n", "b 0"),
            ("b 0\n", ""),
            ("b 0\n", "b NaN\n"),
            ("b 0\n", "b 0\na_seconds{x=\"2\"} 1\n"),
            ("a_seconds 2", "a_seconds{x=\"1\",y=\"q\\\"\\\\\\n,}\"} 3"),
            ("# TYPE b gauge\n", ""),
            ("# TYPE b gauge", "# TYPE b counter"),
            ("# HELP b Other.\n", ""),
            ("# HELP b Other.", "# HELP a_seconds Other."),
            ("\\n,}", "\\t"),
            ("x=\"1\",", "x=\"1\",x=\"1\","),
            ("x=\"1\",", "x-y=\"1\","),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            assert!(read(&text).is_err(), "{text}");
        }
    }
}
