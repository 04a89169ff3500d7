//! Trees that a seeded generator has damaged, for cases that no author thought of.

use super::body::{MATRIX, PLAN, Root, SYSTEM, place};
use super::tree::{Entry, Tree};
use latency_core::rng::Pcg32;
use latency_tests::everywhere::everywhere;
use latency_tests::lanes::of_everything;
use std::time::SystemTime;

/// Number of trees in `make test`, which are always the same, and in `make test-all`, where the additional ones are new
/// in each run; `TREES=N` sets the number.
const TREES: (u64, u64) = (40, 200);
const VARIABLE: &str = "TREES";

const MACHINES: [&str; 9] = [
    "cpu-only-node",
    "cpuset-part",
    "cxl-memory",
    "four-nodes",
    "kernel-without-numa",
    "offline-cpus",
    "one-node",
    "sub-numa-clusters",
    "two-sockets",
];

/// Replacements for a number, or a piece of one.
const WORDS: [&str; 24] = [
    "",
    "0",
    "1",
    "-1",
    "-0",
    "+1",
    "2",
    "63",
    "64",
    "1023",
    "1024",
    "8191",
    "8192",
    "4294967295",
    "4294967296",
    "9223372036854771712",
    "18446744073709551615",
    "18446744073709551616",
    "0x10",
    "1e9",
    "max",
    "NaN",
    "0-7",
    "7-0",
];
/// Bytes that mean something to a parser, or nothing at all.
const BYTES: &[u8] = b"0123456789-,:/ \n\t[]()KMGk.\0\x1b\x7f\x80\xff";

fn below(rng: &mut Pcg32, bound: usize) -> usize {
    rng.next_u64() as usize % bound.max(1)
}

/// Makes a tree of one machine, or of two at once, with up to eight changes.
fn tree(seed: u64) -> Tree {
    let mut rng = Pcg32::new(seed, 0x7472_6565);
    let mut tree = Tree::of(MACHINES[below(&mut rng, MACHINES.len())]);
    if below(&mut rng, 4) == 0 {
        tree.0.extend(Tree::of(MACHINES[below(&mut rng, MACHINES.len())]).0);
    }
    for _ in 0..=below(&mut rng, 8) {
        change(&mut tree, &mut rng);
    }
    tree
}

fn change(tree: &mut Tree, rng: &mut Pcg32) {
    let paths: Vec<String> = tree.0.keys().cloned().collect();
    let path = &paths[below(rng, paths.len())];
    let other = tree.0[&paths[below(rng, paths.len())]].clone();
    let Some(Entry::File(content)) = tree.0.get_mut(path) else { return };
    match below(rng, 12) {
        0 => {
            tree.0.remove(path);
        }
        1 => tree.put(path, Entry::Directory),
        2 => tree.put(path, Entry::Link("/proc")),
        3 => tree.put(path, other),
        4 => content.truncate(below(rng, content.len() + 1)),
        5 => content.extend(content.clone()),
        6 => content.resize(below(rng, 1 << 18), BYTES[below(rng, BYTES.len())]),
        7 | 8 => replace_a_number(content, WORDS[below(rng, WORDS.len())]),
        9 => *content = WORDS[below(rng, WORDS.len())].into(),
        _ => {
            for _ in 0..=below(rng, 4) {
                let at = below(rng, content.len() + 1);
                let byte = BYTES[below(rng, BYTES.len())];
                match (below(rng, 3), content.get_mut(at)) {
                    (0, Some(old)) => *old = byte,
                    (1, Some(_)) => drop(content.remove(at)),
                    _ => content.insert(at, byte),
                }
            }
        }
    }
    if below(rng, 8) == 0 {
        // A directory elsewhere: a node or a CPU that is missing in the lists.
        let moved = path.replace("node0", "node3").replace("cpu0", "cpu1");
        if let Some(entry) = tree.0.get(path).filter(|_| moved != *path).cloned() {
            tree.put(&moved, entry);
        }
    }
}

/// Replaces the first number of a file by `word`.
fn replace_a_number(content: &mut Vec<u8>, word: &str) {
    let Some(start) = content.iter().position(u8::is_ascii_digit) else { return };
    let length = content[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    content.splice(start..start + length, word.bytes());
}

#[test]
fn damaged_trees_are_measured_or_refused_with_a_message() {
    let Some(place) = place("trees::damaged_trees") else { return };
    let asked = std::env::var(VARIABLE).ok().and_then(|count| count.parse().ok());
    let count = asked.unwrap_or(of_everything(TREES.0, TREES.1));
    let new = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_secs());
    // The message names a failing tree by its seed.
    let seeds: Vec<u64> =
        (0..count).map(|tree| if tree < TREES.0 { tree } else { tree + (new << 8) }).collect();
    everywhere(&seeds, |&seed| {
        let tree = tree(seed);
        let root = Root::new(&place, &tree);
        let arguments = [MATRIX, [PLAN, SYSTEM][seed as usize % 2]];
        arguments.into_iter().try_for_each(|arguments| match root.run(arguments) {
            Ok(_) => Ok(()),
            Err(reason) => Err(format!("tree {seed}, {}: {reason}", tree.0.len())),
        })
    });
}
