//! Words in a name.

/// Short names that people use, each with a name of the table.
const SHORT: [(&str, &str); 12] = [
    ("skx", "Skylake-SP"),
    ("clx", "Cascade Lake-SP"),
    ("icx", "Ice Lake-SP"),
    ("spr", "Sapphire Rapids"),
    ("emr", "Emerald Rapids"),
    ("gnr", "Granite Rapids"),
    ("hsw", "Haswell"),
    ("bdw", "Broadwell"),
    ("adl", "Alder Lake"),
    ("rpl", "Raptor Lake"),
    ("altra", "Ampere Altra"),
    ("znver", "Zen"),
];

/// Returns the letters and digits of a text, in small letters.
fn plain(text: &[u8]) -> impl Iterator<Item = u8> + Clone {
    text.iter().filter(|byte| byte.is_ascii_alphanumeric()).map(u8::to_ascii_lowercase)
}

/// Returns whether a name has a word as people type it: with or without spaces and hyphens, or by its short name.
pub fn is_called(name: &[u8], word: &[u8]) -> bool {
    let has = |word: &mut dyn Iterator<Item = u8>| {
        let mut typed = [0; 32];
        let mut length = 0;
        for (slot, byte) in typed.iter_mut().zip(word) {
            *slot = byte;
            length += 1;
        }
        let typed = typed.get(..length).unwrap_or_default();
        let count = plain(name).count();
        length > 0
            && (0..count).any(|start| {
                let mut rest = plain(name).skip(start);
                typed.iter().all(|byte| rest.next() == Some(*byte))
            })
    };
    let short = SHORT.iter().find_map(|(short, full)| {
        let begin = word.get(..short.len())?;
        let rest = word.get(short.len()..)?;
        let is_whole = rest.iter().all(u8::is_ascii_digit);
        (is_whole && begin.eq_ignore_ascii_case(short.as_bytes())).then_some((full, rest))
    });
    has(&mut plain(word))
        || short.is_some_and(|(full, rest)| has(&mut plain(full.as_bytes()).chain(plain(rest))))
}

/// Returns whether a name contains a word, in small or large letters.
pub fn contains(name: &[u8], word: &[u8]) -> bool {
    name.windows(word.len().max(1)).any(|part| part.eq_ignore_ascii_case(word))
}
