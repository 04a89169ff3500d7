//! Damage to a text by editors, transfers and people, and by attackers.

use std::vec;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::sample::{Index, select};

/// Words that are wrong in some places, and valid where they are not expected.
const WORDS: [&[u8]; 62] = [
    b"0",
    b"-0",
    b"1",
    b"-1",
    b"+1",
    b"00",
    b"0x10",
    b"1.5",
    b".5",
    b"5.",
    b"1e9",
    b"1e308",
    b"1e400",
    b"1e-400",
    b"4.9e-324",
    b"nan",
    b"NaN",
    b"inf",
    b"-inf",
    b"Infinity",
    b"null",
    b"true",
    b"4294967295",
    b"4294967296",
    b"9223372036854775807",
    b"9223372036854775808",
    b"18446744073709551615",
    b"18446744073709551616",
    b"99999999999999999999999999999999999999999",
    b"0.1000000000000000055511151231257827021181583404541015625",
    b"1e99999999999999999999",
    b"1,5",
    b"1 000",
    b"32K",
    b"32 KiB",
    b"16777215T",
    b"64kB",
    b"",
    b"\"",
    b"\"\"",
    b"'",
    b"{}",
    b"[]",
    b"[[",
    b"]]",
    b"}{",
    b",",
    b";",
    b"\t",
    b":",
    b"=",
    b"\\u0000",
    b"\\ud800",
    b"\x1b[2J",
    b"\x00",
    b"\xff\xfe",
    b"\xc2\x9b2J",
    b"0-4294967295",
    b"0-",
    b"8191",
    b"1023-1025",
    b"--",
];

/// Texts that open a container.
const OPEN: [&[u8]; 3] = [b"[", b"{\"a\":", b"{\"rows\":["];

/// One kind of damage; positions are fractions of the text.
#[derive(Clone, Debug)]
pub enum Mutation {
    /// The text ends here.
    Cut(Index),
    /// Some bytes are missing.
    Missing(Index, u8),
    /// Some bytes are repeated.
    Again(Index, u8, u8),
    /// Two words change places.
    Swapped(Index, Index),
    /// Two lines change places.
    Lines(Index, Index),
    /// A word is replaced.
    Word(Index, &'static [u8]),
    /// A byte is replaced.
    Byte(Index, u8),
    /// Unexpected bytes.
    Bytes(Index, Vec<u8>),
    /// A digit is repeated many times.
    Digits(Index, u16),
    /// Brackets that are never closed.
    Deep(Index, &'static [u8], u16),
    /// Line ends of another system.
    Returns,
    /// A byte-order mark.
    Mark,
    /// Two bytes per character, with or without their byte-order mark.
    Wide(bool),
}

/// Generates any damage.
pub fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    let place = any::<Index>;
    let one = prop_oneof![
        2 => place().prop_map(Mutation::Cut),
        2 => (place(), any::<u8>()).prop_map(|(at, count)| Mutation::Missing(at, count)),
        2 => (place(), any::<u8>(), 1..20_u8).prop_map(|(at, count, times)| Mutation::Again(at, count, times)),
        4 => (place(), place()).prop_map(|(one, other)| Mutation::Swapped(one, other)),
        2 => (place(), place()).prop_map(|(one, other)| Mutation::Lines(one, other)),
        12 => (place(), select(&WORDS[..])).prop_map(|(at, word)| Mutation::Word(at, word)),
        6 => (place(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        3 => (place(), prop::collection::vec(any::<u8>(), 0..12)).prop_map(|(at, all)| Mutation::Bytes(at, all)),
        1 => (place(), 1..900_u16).prop_map(|(at, count)| Mutation::Digits(at, count)),
        1 => (place(), select(&OPEN[..]), 1..200_u16)
            .prop_map(|(at, open, count)| Mutation::Deep(at, open, count)),
        1 => Just(Mutation::Returns),
        1 => Just(Mutation::Mark),
        1 => any::<bool>().prop_map(Mutation::Wide),
    ];
    prop::collection::vec(one, 0..6)
}

/// Generates the index of one of `count` seeds, and its damage.
pub fn damaged(count: usize) -> impl Strategy<Value = (usize, Vec<Mutation>)> {
    (0..count, mutations())
}

/// Returns the text after all of the damage.
pub fn applied(text: &[u8], mutations: &[Mutation]) -> Vec<u8> {
    let mut text = text.to_vec();
    for mutation in mutations {
        apply(&mut text, mutation);
    }
    text
}

/// Returns the range of bytes around a position for which `belongs` is true; an empty range if there are none.
fn around(text: &[u8], at: usize, belongs: impl Fn(u8) -> bool) -> core::ops::Range<usize> {
    let start = text[..at].iter().rposition(|byte| !belongs(*byte)).map_or(0, |place| place + 1);
    let end = text[at..].iter().position(|byte| !belongs(*byte)).map_or(text.len(), |length| at + length);
    start..end
}

fn word(text: &[u8], at: usize) -> core::ops::Range<usize> {
    around(text, at, |byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'+' | b'_'))
}

fn line(text: &[u8], at: usize) -> core::ops::Range<usize> {
    around(text, at, |byte| byte != b'\n')
}

fn exchange(text: &mut Vec<u8>, one: core::ops::Range<usize>, other: core::ops::Range<usize>) {
    let (first, second) = if one.start <= other.start { (one, other) } else { (other, one) };
    if first.end <= second.start {
        let (one, other) = (text[first.clone()].to_vec(), text[second.clone()].to_vec());
        text.splice(second, one);
        text.splice(first, other);
    }
}

fn apply(text: &mut Vec<u8>, mutation: &Mutation) {
    // A position may also be the end of the text.
    let place = |index: &Index, text: &Vec<u8>| index.index(text.len() + 1);
    match mutation {
        Mutation::Cut(at) => text.truncate(place(at, text)),
        Mutation::Missing(at, count) => {
            let start = place(at, text);
            let end = text.len().min(start + usize::from(*count));
            text.drain(start..end);
        }
        Mutation::Again(at, count, times) => {
            let start = place(at, text);
            let end = text.len().min(start + usize::from(*count));
            let part = text[start..end].repeat(usize::from(*times));
            text.splice(end..end, part);
        }
        Mutation::Swapped(one, other) => {
            let (one, other) = (word(text, place(one, text)), word(text, place(other, text)));
            exchange(text, one, other);
        }
        Mutation::Lines(one, other) => {
            let (one, other) = (line(text, place(one, text)), line(text, place(other, text)));
            exchange(text, one, other);
        }
        Mutation::Word(at, with) => {
            let place = word(text, place(at, text));
            text.splice(place, with.iter().copied());
        }
        Mutation::Byte(at, with) => {
            let at = place(at, text);
            if let Some(byte) = text.get_mut(at) {
                *byte = *with;
            }
        }
        Mutation::Bytes(at, with) => {
            let at = place(at, text);
            text.splice(at..at, with.iter().copied());
        }
        Mutation::Digits(at, count) => {
            let at = place(at, text);
            text.splice(at..at, core::iter::repeat_n(b'7', usize::from(*count)));
        }
        Mutation::Deep(at, open, count) => {
            let at = place(at, text);
            text.splice(at..at, open.repeat(usize::from(*count)));
        }
        Mutation::Returns => {
            *text = text
                .iter()
                .flat_map(|&byte| {
                    if byte == b'\n' { &b"\r\n"[..] } else { core::slice::from_ref(&byte) }.to_vec()
                })
                .collect();
        }
        Mutation::Mark => {
            text.splice(0..0, *b"\xef\xbb\xbf");
        }
        Mutation::Wide(large_first) => {
            let wide = |byte: u8| if *large_first { [0, byte] } else { [byte, 0] };
            let mark = if *large_first { [0xfe, 0xff] } else { [0xff, 0xfe] };
            *text = mark.into_iter().chain(text.iter().flat_map(|&byte| wide(byte))).collect();
        }
    }
}
