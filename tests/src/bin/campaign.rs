//! Makes a random campaign against the executable and prints its findings by class:
//! `campaign CASES SEED`, or `campaign SEED:NUMBER` for one case, whose files stay in `target/campaign`.
//!
//! The executable is `$LATENCY_BENCH`, or `target/latency-bench`. The exit status is 1 if there is a finding.

use latency_tests::campaign::campaign;
use latency_tests::program::{binary, workspace};
use std::time::Instant;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |word: &str| word.parse::<u64>().unwrap_or_else(|error| fail(&format!("{word}: {error}")));
    let kept = workspace().join("target/campaign");
    let (seed, numbers, kept) = match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [cases, seed] => (number(seed), 0..number(cases), None),
        [one] => match one.split_once(':') {
            Some((seed, case)) => (number(seed), number(case)..number(case) + 1, Some(&*kept)),
            None => fail("campaign CASES SEED, or campaign SEED:NUMBER"),
        },
        _ => fail("campaign CASES SEED, or campaign SEED:NUMBER"),
    };
    if let Some(kept) = kept {
        std::fs::create_dir_all(kept).unwrap_or_else(|error| fail(&error.to_string()));
    }
    let begin = Instant::now();
    let count = numbers.end - numbers.start;
    let tally = campaign(seed, numbers, kept);
    println!("{}: {count} cases of seed {seed}, {:.0} s", binary().display(), begin.elapsed().as_secs_f64());
    for (family, count) in &tally.families {
        println!("  {count:>6}  {family}");
    }
    let statuses: Vec<String> =
        tally.statuses.iter().map(|(status, count)| format!("{status}: {count}")).collect();
    println!("  processes by exit status: {}", statuses.join(", "));
    for (class, found) in &tally.classes {
        println!("\n{} x {class}", found.count);
        for (number, seen) in &found.first {
            println!("  {seed}:{number}: {seen}");
        }
    }
    let total: u64 = tally.classes.values().map(|class| class.count).sum();
    println!("\n{total} findings in {} classes", tally.classes.len());
    std::process::exit(i32::from(total > 0));
}

fn fail(reason: &str) -> ! {
    eprintln!("{reason}");
    std::process::exit(2)
}
