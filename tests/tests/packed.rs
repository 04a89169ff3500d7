//! The words of packed texts: each saves bytes in the texts of the program.

use latency_core::packed::{LONGEST_WORD, SUFFIX, WORDS, set_after};
use latency_tests::source::sources;
use std::collections::{BTreeMap, BTreeSet};

/// The macros whose literals are packed.
const MACROS: [&str; 7] = ["packed!(", "say!(", "message!(", "entry!(", "kind!(", "flags! {", "metrics! {"];
/// The macros of keys and their meanings, whose keys are packed.
const OF_KEYS: [&str; 3] = ["fields! {", "columns! {", "field!("];
/// The beginning of a style sheet, which is packed by its name.
const SHEET: &str = "const RULES: &str = ";
/// A character before which each set of words is.
const BEFORE: [&str; WORDS.len()] = ["b", "a", ".", " "];

/// The words of each set.
type Sets = [BTreeSet<String>; WORDS.len()];

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
        for (at, _) in code.match_indices(SHEET) {
            texts.extend(literals(&code[at + SHEET.len()..]).into_iter().take(1));
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
            '{' => match characters.as_str().split_once('}') {
                Some((name, rest))
                    if name.chars().all(|letter| letter == '_' || letter.is_alphanumeric()) =>
                {
                    *characters = rest.chars();
                    text.push(INSERT);
                }
                _ => text.push('{'),
            },
            _ => text.push(character),
        }
    }
    text
}

/// Returns the pieces of the shortest packing of a text from a place on: words with their sets, and single characters.
fn pieces<'t>(text: &'t str, from: usize, words: &Sets) -> Vec<(usize, &'t str)> {
    let set = |at: usize| set_after(text[..at].bytes().last().unwrap_or(b' '));
    let mut best = vec![(0, 0); text.len() + 1];
    for (at, character) in text.char_indices().rev().take_while(|(at, _)| *at >= from) {
        let one = at + character.len_utf8();
        if text[at..].starts_with(SUFFIX) {
            best[at] = (best[at + SUFFIX.len()].0 + 1, at + SUFFIX.len());
            continue;
        }
        best[at] = (best[one].0 + 1, one);
        let words = &words[set(at)];
        let ends = (one + 1..=text.len().min(at + LONGEST_WORD)).filter(|end| text.is_char_boundary(*end));
        for end in ends.filter(|end| words.contains(&text[at..*end])) {
            best[at] = best[at].min((best[end].0 + 1, end));
        }
    }
    let (mut at, mut pieces) = (from, Vec::new());
    while at < text.len() {
        pieces.push((set(at), &text[at..best[at].1]));
        at = best[at].1;
    }
    pieces
}

/// Returns the number of bytes after packing, and the bytes that each word saves.
fn saved(texts: &[String], words: &Sets) -> (usize, [BTreeMap<String, usize>; WORDS.len()]) {
    let (mut total, mut uses) = (0, BTreeMap::new());
    for text in texts {
        let pieces = pieces(text, 0, words);
        total += pieces.len();
        for piece in pieces {
            *uses.entry(piece).or_insert(0) += 1;
        }
    }
    let mut others = words.clone();
    let saved = std::array::from_fn(|set| {
        let of_word = |word: &String| {
            others[set].remove(word);
            let uses = uses.get(&(set, word.as_str())).copied().unwrap_or(0);
            let behind = format!("{}{word}", BEFORE[set]);
            let saved = uses * (pieces(&behind, 1, &others).len() - 1);
            others[set].insert(word.clone());
            (word.clone(), saved)
        };
        words[set].iter().map(of_word).collect()
    });
    (total, saved)
}

/// Adds sequences of pieces that are frequent, up to `most` words of each set.
fn grow(texts: &[String], words: &mut Sets, most: usize) {
    while words.iter().any(|words| words.len() < most) {
        let mut gains: [BTreeMap<&str, usize>; WORDS.len()] = Default::default();
        for text in texts {
            let pieces = pieces(text, 0, words);
            let mut start = 0;
            for (first, (set, piece)) in pieces.iter().enumerate() {
                let mut end = start + piece.len();
                for (last, (_, next)) in pieces.iter().enumerate().skip(first + 1).take(4) {
                    end += next.len();
                    let sequence = &text[start..end];
                    let never = sequence.contains(|letter: char| letter.is_control() || letter == '|');
                    if never || sequence.len() > LONGEST_WORD || sequence.contains("+-") {
                        break;
                    }
                    *gains[*set].entry(sequence).or_insert(0) += last - first;
                }
                start += piece.len();
            }
        }
        let gains = gains.map(|gains| {
            let mut gains: Vec<_> = gains.into_iter().map(|(word, gain)| (gain, word.to_string())).collect();
            gains.sort();
            gains
        });
        for (words, gains) in words.iter_mut().zip(gains) {
            let added = most.saturating_sub(words.len()).div_ceil(6);
            words.extend(gains.into_iter().rev().take(added).map(|(_, word)| word));
        }
    }
}

/// Removes the words that save the least, down to `most` words of each set.
fn prune(texts: &[String], words: &mut Sets, most: usize) {
    while words.iter().any(|words| words.len() > most) {
        let (_, saved) = saved(texts, words);
        for (words, saved) in words.iter_mut().zip(saved) {
            let gain = |word: &String| saved[word] as i64 - word.len() as i64;
            let mut worst: Vec<String> = words.iter().cloned().collect();
            worst.sort_by_key(gain);
            let removed = words.len().saturating_sub(most).div_ceil(4);
            worst.iter().filter(|word| word.is_ascii()).take(removed).for_each(|word| _ = words.remove(word));
        }
    }
}

#[test]
fn each_word_saves_more_bytes_than_it_has() {
    let texts = texts();
    let words: Sets = WORDS.map(|words| words.iter().map(ToString::to_string).collect());
    let length: usize = texts.iter().map(String::len).sum();
    let (packed, saved) = saved(&texts, &words);
    assert!(length > 20_000 && packed * 100 < length * 43, "{packed} of {length} bytes");
    for (words, saved) in words.iter().zip(&saved) {
        let few: Vec<&String> =
            words.iter().filter(|word| word.is_ascii() && saved[*word] <= word.len()).collect();
        assert!(few.is_empty(), "words that save too little: {few:?}");
    }
    assert_eq!(saved.each_ref().map(BTreeMap::len), WORDS.map(<[&str]>::len));
}

#[test]
#[ignore = "prints other words for core/src/packed/words.rs, after many changes of texts"]
fn words_that_save_the_most() {
    let texts = texts();
    let most = WORDS.map(<[&str]>::len).into_iter().max().unwrap_or(0);
    let others: BTreeSet<String> =
        texts.concat().chars().filter(|letter| !letter.is_ascii()).map(String::from).collect();
    let mut words: Sets = std::array::from_fn(|_| others.clone());
    let mut best = (usize::MAX, words.clone());
    for round in 0..9 {
        grow(&texts, &mut words, most * (5 + round % 3 * 2) / 4);
        prune(&texts, &mut words, most);
        let size = saved(&texts, &words).0 + words.iter().flatten().map(String::len).sum::<usize>();
        println!("{size} bytes");
        best = best.min((size, words.clone()));
    }
    for words in best.1 {
        let mut words: Vec<String> = words.into_iter().collect();
        words.sort_by_key(|word| (word.len(), word.clone()));
        println!("{words:?}");
    }
}
