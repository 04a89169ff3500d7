use super::*;
use crate::packed;
use crate::text::Text;
use std::string::{String, ToString};

#[test]
fn a_text_is_displayed_as_it_was_written() {
    for (packed, text) in [
        (packed!(""), ""),
        (packed!("q"), "q"),
        (
            packed!("the latency of the memory of this node\n\tis ±1%"),
            "the latency of the memory of this node\n\tis ±1%",
        ),
    ] {
        assert_eq!(packed.to_string(), text);
        assert_eq!(packed.whole().is_empty(), text.is_empty());
        assert!(packed == packed && (packed == Packed::EMPTY) == text.is_empty());
    }
    assert_eq!(std::format!("{:?}", packed!("the node")), "\"the node\"");
}

#[test]
fn words_are_one_byte_each() {
    const ALL: &str = LETTERS;
    let all = packed!(ALL);
    assert_eq!(all.to_string(), WORDS.concat());
    assert!(all.whole().0.len() <= WORDS.len(), "{:?}", all.whole().0);
    assert_eq!(size_of_val(&all), size_of::<usize>());
    for (index, expected) in WORDS.iter().enumerate() {
        assert_eq!(word(index), *expected);
        assert!(index == 0 || WORDS[index - 1].as_bytes() < expected.as_bytes(), "{expected}");
        assert!(!expected.contains(|letter: char| letter.is_control() || letter == '|'), "{expected}");
    }
}

#[test]
fn inserts_are_written_in_their_places() {
    let (second, first) = (7, "x");
    let text = packed!("{first}: node {second}, {first}", first, second);
    let mut out = String::new();
    let mut insert = |out: &mut dyn Write, index| match index {
        1 => out.write_str(first),
        _ => write!(out, "{second}"),
    };
    assert!(text.whole().write(&mut out, &mut insert).is_ok());
    assert_eq!(out, "x: node 7, x");
}

#[test]
fn braces_without_a_name_are_characters() {
    assert_eq!(packed!("p{margin:0}").to_string(), "p{margin:0}");
}

#[test]
fn the_byte_of_a_word_at_the_end_is_stripped() {
    let part = packed!("the node +-").whole().strip_suffix(byte_of(" +-"));
    assert_eq!(part.map(|part| part.to_string()).as_deref(), Some("the node"));
    assert!(packed!("the node").whole().strip_suffix(byte_of(" +-")).is_none());
}

#[test]
fn parts_are_between_separators() {
    let text = packed!("one of the lines\nand another\n");
    let parts: std::vec::Vec<String> = text.split(b'\n').map(|part| part.to_string()).collect();
    assert_eq!(parts, ["one of the lines", "and another", ""]);
    let text = text.whole();
    assert_eq!(text.part(b'\n', 1).to_string(), "and another");
    assert!(text.part(b'\n', 3).is_empty());
    assert_eq!(Text::<20>::of(format_args!("{}", text.part(b'\n', 0))).as_str(), "one of the lines");
}

#[test]
#[should_panic(expected = "ASCII")]
fn a_character_that_is_neither_ascii_nor_a_word_is_refused() {
    let _ = pack("é", &[]);
}

#[test]
#[should_panic(expected = "a NUL is at the end")]
fn bytes_that_no_nul_ends_are_refused() {
    let _ = Packed::new(b"the node");
}

#[test]
#[should_panic(expected = "without a value")]
fn an_insert_without_a_value_is_refused() {
    let _ = pack("{node}", &["nodes"]);
}
