//! Tests of the advice.

use super::*;
use crate::catalogue::DESCRIPTORS;
use std::string::ToString;

#[test]
fn advice_with_options_that_the_command_lacks_is_left_out() {
    let of = |name: &str, message: &str| {
        let found = DESCRIPTORS.iter().find(|descriptor| descriptor.name == name).unwrap();
        suited_advice(message, found.flags.union(FlagSet::ALWAYS)).to_string()
    };
    let text = "mmap failed: no memory; use a smaller --size, or use other --pages";
    assert_eq!(of("matrix", text), text);
    assert_eq!(of("curve", text), "mmap failed: no memory; use a smaller --max-size, or use other --pages");
    assert_eq!(of("show", text), "mmap failed: no memory");
    for text in
        ["--strict: poor; see above", "no; `latency-bench matrix --cpu=3`", "no; docker run --cap-add=X"]
    {
        assert_eq!(of("reference", text), text);
    }
}
