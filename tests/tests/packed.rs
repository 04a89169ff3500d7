//! The words of packed texts: each saves bytes in the texts of the program.

use latency_core::packed::WORDS;
use latency_tests::source::sources;
use std::collections::{BTreeMap, BTreeSet};

/// The macros whose literals are packed.
const MACROS: [&str; 6] = ["packed!(", "message!(", "entry!(", "kind!(", "flags! {", "metrics! {"];
/// The macros of keys and their meanings, whose keys are packed.
const OF_KEYS: [&str; 3] = ["fields! {", "columns! {", "field!("];
/// The character for an insert, whose name is not in the text.
const INSERT: char = '\u{1}';

/// Returns the literals in the sources that are packed.
fn texts() -> Vec<String> {
    let mut texts = Vec::new();
    for source in sources("bin/src").iter().filter(|source| !source.path.ends_with("tests.rs")) {
        let code = source.text.split("\nmod tests {").next().unwrap_or_default();
        let code: Vec<&str> = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let code = code.join("\n");
        for name in MACROS {
            for (at, _) in code.match_indices(name) {
                texts.extend(literals(&code[at + name.len()..]));
            }
        }
        for name in OF_KEYS {
            for (at, _) in code.match_indices(name) {
                texts.extend(literals(&code[at + name.len()..]).into_iter().step_by(2));
            }
        }
    }
    texts
}

/// Returns the literals up to the bracket that ends the arguments of a macro, each insert as one character.
fn literals(code: &str) -> Vec<String> {
    let (mut found, mut depth, mut characters) = (Vec::new(), 0, code.chars());
    while let Some(character) = characters.next() {
        match character {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            '"' => found.push(literal(&mut characters)),
            _ => {}
        }
    }
    found
}

/// Returns the literal whose first quote was read.
fn literal(characters: &mut std::str::Chars<'_>) -> String {
    let mut text = String::new();
    while let Some(character) = characters.next().filter(|character| *character != '"') {
        match character {
            '\\' => match characters.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('\n') => {
                    let rest = characters.as_str().trim_start();
                    *characters = rest.chars();
                }
                other => text.extend(other),
            },
            '{' => {
                let _ = characters.find(|character| *character == '}');
                text.push(INSERT);
            }
            _ => text.push(character),
        }
    }
    text
}

/// Returns the pieces of the shortest packing of a text: words and single characters.
fn pieces<'t>(text: &'t str, words: &BTreeSet<String>) -> Vec<&'t str> {
    let longest = words.iter().map(String::len).max().unwrap_or(1);
    let mut best = vec![(0, 0); text.len() + 1];
    for (at, character) in text.char_indices().rev() {
        let one = at + character.len_utf8();
        best[at] = (best[one].0 + 1, one);
        let ends = (one + 1..=text.len().min(at + longest)).filter(|end| text.is_char_boundary(*end));
        for end in ends.filter(|end| words.contains(&text[at..*end])) {
            best[at] = best[at].min((best[end].0 + 1, end));
        }
    }
    let (mut at, mut pieces) = (0, Vec::new());
    while at < text.len() {
        pieces.push(&text[at..best[at].1]);
        at = best[at].1;
    }
    pieces
}

/// Returns the number of bytes after packing, and the bytes that each word saves.
fn saved(texts: &[String], words: &BTreeSet<String>) -> (usize, BTreeMap<String, usize>) {
    let (mut total, mut uses) = (0, BTreeMap::new());
    for text in texts {
        let pieces = pieces(text, words);
        total += pieces.len();
        for piece in pieces.into_iter().filter(|piece| words.contains(*piece)) {
            *uses.entry(piece.to_string()).or_insert(0) += 1;
        }
    }
    let saved = words.iter().map(|word| {
        let mut others = words.clone();
        others.remove(word);
        let uses = uses.get(word).copied().unwrap_or(0);
        (word.clone(), uses * (pieces(word, &others).len() - 1))
    });
    (total, saved.collect())
}

/// Adds sequences of pieces that are frequent, up to `most` words.
fn grow(texts: &[String], words: &mut BTreeSet<String>, most: usize) {
    while words.len() < most {
        let mut gains = BTreeMap::new();
        for text in texts {
            let pieces = pieces(text, words);
            for first in 0..pieces.len() {
                for last in first + 1..pieces.len().min(first + 5) {
                    let sequence = pieces[first..=last].concat();
                    if sequence.contains(|letter: char| letter.is_control() || letter == '|') {
                        break;
                    }
                    *gains.entry(sequence).or_insert(0) += last - first;
                }
            }
        }
        let mut gains: Vec<(usize, String)> = gains.into_iter().map(|(word, gain)| (gain, word)).collect();
        gains.sort();
        let added = ((most - words.len()) / 6).max(1);
        words.extend(gains.into_iter().rev().take(added).map(|(_, word)| word));
    }
}

/// Removes the words that save the least, down to `most` words.
fn prune(texts: &[String], words: &mut BTreeSet<String>, most: usize) {
    while words.len() > most {
        let (_, saved) = saved(texts, words);
        let gain = |word: &String| saved[word] as i64 - word.len() as i64;
        let mut worst: Vec<String> = words.iter().cloned().collect();
        worst.sort_by_key(gain);
        let removed = ((words.len() - most) / 4).max(1);
        worst.iter().filter(|word| word.is_ascii()).take(removed).for_each(|word| _ = words.remove(word));
    }
}

#[test]
fn each_word_saves_more_bytes_than_it_has() {
    let texts = texts();
    let words: BTreeSet<String> = WORDS.iter().map(ToString::to_string).collect();
    let length: usize = texts.iter().map(String::len).sum();
    let (packed, saved) = saved(&texts, &words);
    assert!(length > 20_000 && packed * 100 < length * 54, "{packed} of {length} bytes");
    for word in words.iter().filter(|word| word.is_ascii()) {
        assert!(saved[word] > word.len(), "{word:?} saves {} bytes", saved[word]);
    }
    assert_eq!(saved.len(), WORDS.len());
}

#[test]
#[ignore = "prints other words for core/src/packed/words.rs, after many changes of texts"]
fn words_that_save_the_most() {
    let texts = texts();
    let mut words: BTreeSet<String> =
        texts.concat().chars().filter(|letter| !letter.is_ascii()).map(String::from).collect();
    let mut best = (usize::MAX, BTreeSet::new());
    for round in 0..9 {
        grow(&texts, &mut words, WORDS.len() * (5 + round % 3 * 2) / 4);
        prune(&texts, &mut words, WORDS.len());
        let size = saved(&texts, &words).0 + words.iter().map(String::len).sum::<usize>();
        println!("{size} bytes");
        best = best.min((size, words.clone()));
    }
    println!("{:?}", best.1);
}
