//! The stored form of a scene's output: whole if it is short or read as a result, otherwise shortened.
//!
//! A long output repeats lines of one shape, or groups of a few lines: points, samples, shapes of a picture. The first and
//! the last group are kept, and the number of lines between them; a checksum of the whole text makes every difference
//! visible.

use std::borrow::Cow;
use std::format;
use std::hash::Hasher;
use std::string::String;
use std::vec::Vec;

use latency_core::hash::Fnv;

/// Maximum bytes of a text that is kept whole, by its format. Documents are input of other tests, too; text for users is
/// always kept whole.
const WHOLE_BYTES: [(&str, usize); 6] = [
    (".json", 10_000),
    (".txt", usize::MAX),
    (".md", usize::MAX),
    (".sh", usize::MAX),
    (".tap", 20_000),
    // Tables, pages, pictures, metrics.
    ("", 2_000),
];

/// Longer results that are nevertheless kept whole, as input of other tests or as pictures of README.md.
const WHOLE: [&str; 5] =
    ["cores.svg", "curve.svg", "matrix-two-nodes.json", "pages-few-sizes.json", "variants-one-size.json"];

/// Maximum number of lines of a group that repeats.
const GROUP: usize = 8;

/// Minimum number of lines that are left out.
const LEFT_OUT: usize = 2;

/// Number of characters at the beginning of a line that make its shape, with every number as one character; those of
/// metrics have their names in it.
const SHAPE: usize = 12;
const SHAPE_OF_METRIC: usize = 60;

/// Returns the name of the file that keeps the output of a scene, and its content.
pub fn stored<'t>(file: &str, text: &'t str) -> (String, Cow<'t, str>) {
    let most = WHOLE_BYTES.iter().find(|(ending, _)| file.ends_with(ending)).map_or(0, |(_, bytes)| *bytes);
    match text.len() <= most || WHOLE.contains(&file) {
        true => (file.into(), text.into()),
        false => (format!("{file}.short"), shortened(text).into()),
    }
}

/// Removes the last member of a document, which shows it again: it has what the other forms show, and `again` compares
/// them.
pub fn without_shown(text: &mut String) {
    const END: &str = "]}\n\n";
    if let (Some(begin), Some(end)) = (text.find(",\n\"shown\":["), text.rfind(END)) {
        text.replace_range(begin..end + END.len(), "}\n\n");
    }
}

/// Returns a text in which one line replaces many groups of lines of the same shapes.
fn shortened(text: &str) -> String {
    // Points of a document within a document are on one line.
    let separated = text.replace("},{", "},\n{");
    let lines: Vec<&str> = separated.lines().collect();
    let shapes: Vec<String> = lines.iter().map(|line| shape(line)).collect();
    let (mut all, mut at) = (String::new(), 0);
    let mut keep = |lines: &[&str]| lines.iter().for_each(|line| all += &format!("{line}\n"));
    while at < lines.len() {
        let repeated = |group: &usize| {
            let groups = shapes[at..].chunks_exact(*group);
            group * groups.take_while(|other| *other == &shapes[at..at + group]).count()
        };
        let group = (1..=GROUP).find(|group| repeated(group) >= (2 * group + LEFT_OUT).max(3 * group));
        let Some(group) = group else {
            keep(&lines[at..=at]);
            at += 1;
            continue;
        };
        let end = at + repeated(&group);
        keep(&lines[at..at + group]);
        keep(&[format!("... {} lines", end - at - 2 * group).as_str()]);
        keep(&lines[end - group..end]);
        at = end;
    }
    all + &format!("{} bytes, checksum {:016x}\n", text.len(), checksum(text))
}

/// Returns the beginning of a line, without the values of its numbers.
fn shape(line: &str) -> String {
    let is_of_metric = ["# ", "latency_bench_"].iter().any(|begin| line.starts_with(begin));
    let length = if is_of_metric { SHAPE_OF_METRIC } else { SHAPE };
    let mut shape = String::new();
    for char in line.chars() {
        let of_number = char.is_ascii_digit() || shape.ends_with('#') && ".e+-".contains(char);
        match of_number {
            true if shape.ends_with('#') => {}
            true => shape.push('#'),
            false => shape.push(char),
        }
        if shape.len() >= length {
            break;
        }
    }
    shape
}

fn checksum(text: &str) -> u64 {
    let mut sum = Fnv::EMPTY;
    sum.write(text.as_bytes());
    sum.finish()
}

#[test]
fn similar_lines_are_shortened_and_every_difference_shows() {
    let text: String =
        (0..9).map(|number| format!("{{\"ns\":{number}.5e-3,\"x\":1}},\n")).collect::<String>() + "end\n";
    let short = shortened(&text);
    let lines: Vec<&str> = short.lines().collect();
    assert_eq!(lines[..4], ["{\"ns\":0.5e-3,\"x\":1},", "... 7 lines", "{\"ns\":8.5e-3,\"x\":1},", "end"]);
    assert_ne!(short, shortened(&text.replace("4.5", "4.6")));
    let pairs = text.replace(",\n", ",\n and\n");
    let short = shortened(&pairs);
    let lines: Vec<&str> = short.lines().collect();
    assert_eq!(
        lines[..6],
        ["{\"ns\":0.5e-3,\"x\":1},", " and", "... 14 lines", "{\"ns\":8.5e-3,\"x\":1},", " and", "end"]
    );
    // FNV-1a of "a", from the table of its authors.
    assert_eq!(checksum("a"), 0xaf63_dc4c_8601_ec8c);
}

#[test]
fn short_and_plain_texts_are_kept_whole() {
    let long = "1\n".repeat(10_000);
    assert_eq!(stored("a.json", "{}"), (String::from("a.json"), "{}".into()));
    assert_eq!(stored("a.txt", &long).0, "a.txt");
    assert_eq!(stored("a.json", &long).0, "a.json.short");
    assert_eq!(stored("pages-few-sizes.json", &long).0, "pages-few-sizes.json");
}
