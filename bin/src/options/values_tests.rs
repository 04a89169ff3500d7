//! Every accepted form of a value, and every reason for refusing one.

use super::*;
use proptest::prelude::*;
use std::format;
use std::string::{String, ToString};

#[test]
fn sizes_are_binary_and_exact() {
    for (text, bytes) in [
        ("1", 1),
        ("64", 64),
        ("64B", 64),
        ("48K", 48 << 10),
        ("48k", 48 << 10),
        ("48KiB", 48 << 10),
        ("48 KiB", 48 << 10),
        ("1.5G", 3 << 29),
        ("1.50g", 3 << 29),
        ("0.25M", 256 << 10),
        ("2T", 2 << 40),
        ("007m", 7 << 20),
        ("18446744073709551615", u64::MAX),
    ] {
        assert_eq!(size(text.as_bytes()), Ok(Bytes(bytes)), "{text}");
    }
}

#[test]
fn invalid_sizes_have_their_reasons() {
    for (text, reason) in [
        ("", "it is empty"),
        ("G", "not a number"),
        (".5G", "not a number"),
        ("1.G", "not a number"),
        ("1.2.3G", "not a number"),
        ("1-2", "not a number"),
        ("-1G", "it is negative"),
        ("0", "it must be more than zero"),
        ("0.0G", "it must be more than zero"),
        ("1X", "unknown unit"),
        ("1KB", "write 1K (= 1 KiB)"),
        ("1.5gb", "write 1.5G (= 1.5 GiB)"),
        ("1XB", "unknown unit"),
        ("1e6", "unknown unit"),
        ("1  K", "unknown unit"),
        ("0.1K", "not a whole number of bytes"),
        ("1.5", "not a whole number of bytes"),
        ("16777216T", "too large for 64 bits"),
        ("18446744073709551616", "too large for 64 bits"),
        ("1.00000000000000000000001K", "too many decimal places"),
        ("1.23456789012345678901K", "too many decimal places"),
    ] {
        assert_eq!(size(text.as_bytes()).unwrap_err().to_string(), reason, "{text}");
    }
}

#[test]
fn counts_have_their_reasons() {
    assert_eq!(count(b"1", 9), Ok(1));
    assert_eq!(integer(b"0"), Ok(0));
    for (text, reason) in [
        ("", "it is empty"),
        ("x", "not a number"),
        ("+1", "not a number"),
        ("0x10", "not a number"),
        ("1 ", "not a number"),
        ("-", "not a number"),
        ("-1", "it is negative"),
        ("1.5", "not a whole number"),
        ("0", "it must be more than zero"),
        ("10", "it must be 1 to 9"),
        ("18446744073709551616", "too large for 64 bits"),
    ] {
        assert_eq!(count(text.as_bytes(), 9).unwrap_err().to_string(), reason, "{text}");
    }
}

#[test]
fn percentages_and_seconds_may_have_a_fraction() {
    assert_eq!(percentage(b"1", false), Ok(0.01));
    assert_eq!(percentage(b"0.5%", false), Ok(0.005));
    assert_eq!(percentage(b"100", false), Ok(1.0));
    assert_eq!(percentage(b"0", true), Ok(0.0));
    assert_eq!(until(b"quiet"), Ok(Picoseconds(60_000_000_000_000)));
    assert_eq!(until(b"quiet=2.5s"), Ok(Picoseconds(2_500_000_000_000)));
    for (text, reason) in [
        ("", "it is empty"),
        ("quiet=", "it is empty"),
        ("quiet=0", "it must be more than zero"),
        ("quiet=soon", "not a number"),
        ("60", "no such choice"),
        ("quieter", "no such choice"),
    ] {
        assert_eq!(until(text.as_bytes()).unwrap_err().to_string(), reason, "{text}");
    }
    for (text, reason) in [
        ("0", "it must be more than zero"),
        ("100.1", "it must be 0 to 100"),
        ("0.0000001", "too many decimal places"),
        ("-1", "it is negative"),
        ("%", "it is empty"),
        ("nan", "not a number"),
    ] {
        assert_eq!(percentage(text.as_bytes(), false).unwrap_err().to_string(), reason, "{text}");
    }
}

#[test]
fn times_are_seconds_or_have_a_unit() {
    assert_eq!(time(b"0", true), Ok(Picoseconds(0)));
    for (text, picoseconds) in [
        ("10", 10_000_000_000_000),
        ("0.25s", 250_000_000_000),
        ("500ms", 500_000_000_000),
        ("0.000001ms", 1000),
        ("1m", 60_000_000_000_000),
        ("1.5m", 90_000_000_000_000),
        ("2h", 7_200_000_000_000_000),
    ] {
        assert_eq!(time(text.as_bytes(), false), Ok(Picoseconds(picoseconds)), "{text}");
    }
    for (text, reason) in [
        ("", "it is empty"),
        ("0.0", "it must be more than zero"),
        ("0h", "it must be more than zero"),
        ("0.0000001ms", "too many decimal places"),
        ("99999999999999999", "it must be 0 to 8640000"),
        ("8640001", "it must be 0 to 8640000"),
        ("2401h", "it must be 0 to 8640000"),
        ("-1m", "it is negative"),
        ("inf", "not a number"),
        ("10us", "unknown unit"),
        ("1 m", "unknown unit"),
        ("1M", "unknown unit"),
    ] {
        assert_eq!(time(text.as_bytes(), false).unwrap_err().to_string(), reason, "{text}");
    }
    assert_eq!(whole_seconds(b"2m", 120).map(NonZeroU32::get), Ok(120));
    assert_eq!(whole_seconds(b"1000ms", 120).map(NonZeroU32::get), Ok(1));
    for (text, reason) in [
        ("1.5", "not a whole number"),
        ("500ms", "not a whole number"),
        ("121", "it must be 1 to 120"),
        ("0", "it must be more than zero"),
    ] {
        assert_eq!(whole_seconds(text.as_bytes(), 120).unwrap_err().to_string(), reason, "{text}");
    }
}

#[test]
fn strides_keep_pointers_aligned() {
    for (text, bytes) in [("8", 8), ("16", 16), ("32", 32), ("64", 64), ("192", 192), ("4K", 4096)] {
        assert_eq!(stride(text.as_bytes()), Ok(Bytes(bytes)));
    }
    for (text, reason) in [
        ("12", "pointers need a multiple of 8 bytes"),
        ("24", "a line must not be split unevenly"),
        ("72", "a line must not be split unevenly"),
        ("0", "it must be more than zero"),
    ] {
        assert_eq!(stride(text.as_bytes()).unwrap_err().to_string(), reason, "{text}");
    }
}

#[test]
fn paths_and_lists() {
    assert_eq!(path(b"a b"), Ok(&b"a b"[..]));
    assert_eq!(path(b""), Err(ValueError::Empty));
    assert_eq!(path(b"a\0b"), Err(ValueError::HoldsNul));
    assert_eq!(ids::<16>(b""), Err(ValueError::Empty));
    assert_eq!(ids::<16>(b"0,2-3").unwrap().to_string(), "0,2-3");
    assert_eq!(ids::<16>(b"all"), Ok(IdSet::ALL));
    assert!(ids::<16>(b"3-2").is_err());
}

proptest! {
    #[test]
    fn printed_sizes_can_be_typed_again(whole in 1u64..1024, shift in 0u32..5) {
        let bytes = Bytes(whole << (10 * shift));
        let text = bytes.to_string();
        prop_assert_eq!(size(text.as_bytes()), Ok(bytes));
    }

    #[test]
    fn every_whole_number_of_bytes_is_a_size(bytes in 1u64..) {
        let text = bytes.to_string();
        prop_assert_eq!(size(text.as_bytes()), Ok(Bytes(bytes)));
    }

    #[test]
    fn thousandths_of_a_unit_are_exact_or_refused(thousandths in 1u64..10_000_000) {
        let text: String = format!("{}.{:03}M", thousandths / 1000, thousandths % 1000);
        let expected = thousandths << 20;
        let expected =
            if expected % 1000 == 0 { Ok(Bytes(expected / 1000)) } else { Err(ValueError::NotWholeBytes) };
        prop_assert_eq!(size(text.as_bytes()), expected);
    }

    #[test]
    fn no_value_panics(text in proptest::collection::vec(any::<u8>(), 0..24)) {
        let _ = (size(&text), stride(&text), integer(&text), count(&text, 7));
        let _ = (percentage(&text, true), time(&text, false), ids::<16>(&text).is_ok(), path(&text));
    }

    #[test]
    fn no_text_like_a_number_panics(text in "-?[0-9]{0,30}\\.?[0-9]{0,30} ?[KMGTkib%s]{0,3}") {
        let text = text.as_bytes();
        let _ = (size(text), stride(text), integer(text), percentage(text, false), time(text, true));
    }
}
