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
fn words_are_one_byte_each_behind_the_letters_of_their_set() {
    assert_eq!(LETTERS, WORDS.concat().concat());
    for (set, before) in ["b", "a", ".", " "].into_iter().enumerate() {
        let words = WORDS[set];
        assert!(words.len() <= CONTROLS + 128, "{} words", words.len());
        for (index, expected) in words.iter().enumerate() {
            let both = std::format!("{before}{expected}");
            assert!(pack(&both, &[]).length <= 2, "{both}");
            assert_eq!(word(set_after(before.as_bytes()[0]), byte(index)), *expected);
            let order = |word: &str| (word.len(), word.to_string());
            assert!(index == 0 || order(words[index - 1]) < order(expected), "{expected}");
            assert!(!expected.contains(|letter: char| letter.is_control() || letter == '|'), "{expected}");
            assert!(!expected.contains("+-"), "{expected}: the suffix has a byte of its own");
        }
    }
    assert_eq!(size_of::<Packed>(), size_of::<usize>());
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
fn the_suffix_is_stripped_from_the_end() {
    for text in [packed!("the node +-"), packed!("time_ns +-"), packed!("p99 +-")] {
        let part = text.whole().strip_suffix().map(|part| part.to_string());
        assert_eq!(part.as_deref(), text.to_string().strip_suffix(SUFFIX));
        assert!(part.is_some());
    }
    assert!(packed!("the node").whole().strip_suffix().is_none());
    assert_eq!(packed!("5 +- 1").to_string(), "5 +- 1");
}

#[test]
fn parts_are_between_separators() {
    let text = packed!("one of the lines\nand another\n");
    let parts: std::vec::Vec<String> = text.split(b'\n').map(|part| part.to_string()).collect();
    assert_eq!(parts, ["one of the lines", "and another", ""]);
    for text in [packed!("the node|latency of memory"), packed!("the node\nlatency of memory")] {
        let separator = if text.to_string().contains('|') { b'|' } else { b'\n' };
        let found = [0, 1].map(|index| text.whole().part(separator, index).to_string());
        assert_eq!(found, ["the node", "latency of memory"]);
        assert!(text.whole().part(separator, 1) == packed!("latency of memory").whole());
    }
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
