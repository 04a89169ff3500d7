//! Decimals of up to 800 digits, read as the nearest double like by the standard library: random ones, and decimals
//! halfway between two doubles or just beside.

use latency_core::decimal;

/// A generator of random numbers (splitmix64), so that a failure is the same on every machine.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: u64) -> u64 {
        self.next() % end
    }

    fn digits(&mut self, count: u64) -> String {
        (0..count).map(|_| char::from(b'0' + self.below(10) as u8)).collect()
    }
}

fn assert_read(text: &str, expected: f64) {
    assert_eq!(decimal::read(text.as_bytes()).map(f64::to_bits), Some(expected.to_bits()), "{text}");
}

#[test]
fn decimals_of_up_to_800_digits_read_as_the_nearest_double() {
    let mut random = Random(1);
    // `make test-all` tries five times as many.
    let everything = std::env::var("LATENCY_BENCH_TESTS").is_ok_and(|tests| tests == "all");
    for _ in 0..if everything { 100_000 } else { 20_000 } {
        // Most are short, like numbers that people write.
        let mut count = || {
            let most = random.below(400) + 1;
            random.below(most + 1)
        };
        let (before, behind) = (count(), count());
        let mut text = ["", "-", "+"][random.below(3) as usize].to_string();
        text += &random.digits(before.max(1));
        if behind > 0 {
            text += &format!(".{}", random.digits(behind));
        }
        if random.below(2) == 0 {
            text += &format!("e{}", random.below(700) as i64 - 400 - before as i64 / 2);
        }
        assert_read(&text, text.parse().expect("a decimal"));
    }
}

#[test]
fn decimals_halfway_between_two_doubles_and_just_beside_read_as_the_nearest() {
    let mut random = Random(2);
    for _ in 0..2_000 {
        let low = f64::from_bits((random.below(1 << 52)) | (1023 - random.below(700)) << 52);
        let high = f64::from_bits(low.to_bits() + 1);
        let exact = |value: f64| format!("{value:.1100}");
        let halfway = mean(&exact(low), &exact(high));
        assert_read(&halfway, if low.to_bits().is_multiple_of(2) { low } else { high });
        assert_read(&format!("{halfway}1"), high);
        let below = halfway.trim_end_matches('0').strip_suffix('5').expect("a half ends in 5");
        assert_read(&format!("{below}4{}", random.digits(20)), low);
    }
}

/// Returns the mean of two decimals of the same number of digits, exactly.
fn mean(low: &str, high: &str) -> String {
    let mut carry = 0;
    let sum: Vec<Option<u8>> = (low.bytes().zip(high.bytes()).rev())
        .map(|(low, high)| {
            let digit = (low != b'.').then(|| carry + (low - b'0') + (high - b'0'))?;
            carry = digit / 10;
            Some(digit % 10)
        })
        .collect();
    let mut rest = carry;
    let mut text: String = (sum.into_iter().rev())
        .map(|digit| {
            let Some(digit) = digit else { return '.' };
            let digit = rest * 10 + digit;
            rest = digit % 2;
            char::from(b'0' + digit / 2)
        })
        .collect();
    if rest == 1 {
        text.push('5');
    }
    text
}
