//! The pairs of CPUs that exchange lines (`--pairs`): a rule, or a list.

use alloc::vec::Vec;

use latency_core::cores::Choice as Rule;
use latency_core::{CpuId, Worded};

use super::values::{ValueError, cpu};

/// Pairs of CPUs (`--pairs`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pairs {
    /// By a rule.
    Of(Rule),
    /// By their numbers: each pair once, the smaller number first.
    These(Vec<(CpuId, CpuId)>),
}

/// Reads the pairs: a rule, or a list such as `0:1,4:9`.
///
/// # Errors
/// Neither a rule nor two different CPU numbers with a colon between them.
pub fn read(text: &[u8]) -> Result<Pairs, ValueError<'_>> {
    if let Some(choice) = Worded::from_word(text) {
        return Ok(Pairs::Of(choice));
    }
    if text.is_empty() {
        return Err(ValueError::Empty);
    }
    let mut list = Vec::new();
    for word in text.split(|byte| *byte == b',') {
        let pair = pair(word)?;
        if !list.contains(&pair) {
            list.push(pair);
        }
    }
    Ok(Pairs::These(list))
}

/// Reads one pair, the smaller number first.
fn pair(text: &[u8]) -> Result<(CpuId, CpuId), ValueError<'_>> {
    let colon = text.iter().position(|byte| *byte == b':').ok_or(ValueError::NotAPair)?;
    let (one, other) = text.split_at(colon);
    let (one, other) = (cpu(one)?, cpu(other.get(1..).unwrap_or_default())?);
    if one == other { Err(ValueError::NotAPair) } else { Ok((one.min(other), one.max(other))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<(u32, u32)>, ValueError<'_>> {
        match read(text.as_bytes())? {
            Pairs::These(list) => Ok(list.iter().map(|(a, b)| (a.0, b.0)).collect()),
            Pairs::Of(rule) => panic!("{rule:?}"),
        }
    }

    #[test]
    fn a_list_has_each_pair_once_and_the_smaller_cpu_first() {
        assert_eq!(list("0:1"), Ok([(0, 1)].to_vec()));
        assert_eq!(list("9:4,0:1,4:9,1:0"), Ok([(4, 9), (0, 1)].to_vec()));
        assert_eq!(read(b"classes"), Ok(Pairs::Of(Rule::Classes)));
        assert_eq!(read(b""), Err(ValueError::Empty));
        for text in ["all,0:1", "0", "1:1", "0-1"] {
            assert_eq!(list(text), Err(ValueError::NotAPair), "{text}");
        }
        assert_eq!(list("0:1,"), Err(ValueError::NotAPair));
        assert_eq!(list(":1"), Err(ValueError::Empty));
        assert_eq!(list("0:x"), Err(ValueError::NotANumber));
        assert_eq!(list("0:9999"), Err(ValueError::OutOfRange { least: 0, most: 8191 }));
    }
}
