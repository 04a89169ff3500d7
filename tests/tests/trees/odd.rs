//! The table of unusual trees, with the expected messages.

use super::body::{MATRIX, PLAN, Root, SYSTEM, WORDS, checked, place};
use super::tree::{Entry, Tree};
use latency_tests::confine::{CONTAINER, Confine, allowed_cpus};
use latency_tests::document::{number, points, warnings};
use latency_tests::everywhere::everywhere;
use serde_json::Value;
use std::fmt::Write;
use std::thread;

const NODES: &str = "/sys/devices/system/node";
const CPUS: &str = "/sys/devices/system/cpu";
const CACHE: &str = "/sys/devices/system/cpu/cpu0/cache";
const GROUPS: &str = "/sys/fs/cgroup";

/// A tree with an unusual change.
struct Odd {
    name: &'static str,
    machine: &'static str,
    alter: fn(&mut Tree),
    /// Exit status of a small matrix.
    status: i32,
    /// A code of its warnings, or words of its error; empty if neither is expected.
    says: &'static str,
}

const fn odd(name: &'static str, alter: fn(&mut Tree)) -> Odd {
    Odd { name, machine: "one-node", alter, status: 0, says: "" }
}

const fn said(name: &'static str, says: &'static str, alter: fn(&mut Tree)) -> Odd {
    Odd { says, ..odd(name, alter) }
}

/// Returns a very long number.
fn digits() -> String {
    "9".repeat(400)
}

/// Machines that are not available.
const MACHINES: &[Odd] = &[
    Odd { machine: "two-sockets", ..odd("a machine of two sockets that is not this one", |_| {}) },
    Odd { machine: "kernel-without-numa", ..odd("a kernel without NUMA", |_| {}) },
    Odd { machine: "offline-cpus", ..odd("CPUs that are offline", |_| {}) },
    odd("4096 CPUs online, ids up to 8191", |tree| {
        let ids: Vec<String> = (0..4096).map(|cpu| (cpu * 2).to_string()).chain(["8191".into()]).collect();
        for path in [format!("{CPUS}/online"), format!("{NODES}/node0/cpulist")] {
            tree.file(&path, ids.join(","));
        }
    }),
    odd("8192 CPUs in one range", |tree| tree.file(&format!("{CPUS}/online"), "0-8191\n")),
    odd("ids beyond every kernel", |tree| tree.file(&format!("{CPUS}/online"), "0-3,8192,4294967295\n")),
    odd("no CPU online", |tree| tree.file(&format!("{CPUS}/online"), "\n")),
    odd("node ids with gaps, up to 1023", |tree| {
        tree.file(&format!("{NODES}/online"), "0,7,512,1023\n");
        tree.file(&format!("{NODES}/has_memory"), "0,7,512,1023\n");
        for node in [7, 512, 1023] {
            tree.file(&format!("{NODES}/node{node}/cpulist"), "\n");
            tree.file(&format!("{NODES}/node{node}/distance"), "20 20 20 10\n");
            tree.file(&format!("{NODES}/node{node}/meminfo"), format!("Node {node} MemTotal: 4096 kB\n"));
        }
    }),
    said("1024 nodes", "too-many-nodes", |tree| {
        tree.file(&format!("{NODES}/online"), "0-1023\n");
        tree.file(&format!("{NODES}/has_memory"), "0-1023\n");
    }),
    Odd {
        status: 2,
        ..said(
            "the nodes start at 5",
            "this process is not allowed to use the CPUs, or the memory, of any node",
            |tree| {
                tree.file(&format!("{NODES}/online"), "5\n");
                tree.file(&format!("{NODES}/has_memory"), "5\n");
                tree.file(&format!("{NODES}/node5/cpulist"), "0-31\n");
                tree.file(
                    &format!("{NODES}/node5/meminfo"),
                    "Node 5 MemTotal: 8388608 kB\nNode 5 MemFree: 4194304 kB\n",
                );
            },
        )
    },
];

/// A kernel that was built without NUMA has no calls for it either; then nothing is to be proved.
#[test]
fn a_kernel_without_numa_needs_no_proof() {
    let Some(place) = place("trees::odd::a_kernel_without_numa_needs_no_proof") else { return };
    let mut tree = Tree::of("kernel-without-numa");
    tree.file("/proc/self/stat", "1 (latency-bench) R 0 0\n");
    let root = Root::new(&place, &tree);
    let without = |arguments: &[&str]| {
        let mut command = root.command(arguments);
        checked(command.denied(&CONTAINER[..4], libc::ENOSYS)).unwrap_or_else(|error| panic!("{error}"))
    };
    let found = without(&[MATRIX, &["--pages=base", "--strict"]].concat());
    let document = found.expect_json(0);
    let codes = warnings(&document);
    assert!(codes.contains(&"no-numa"), "{found}");
    for code in ["placement-unverified", "no-sys", "no-proc", "one-node"] {
        assert!(!codes.contains(&code), "{code}: {found}");
    }
    let pair = &points(&document)[0];
    assert_eq!(
        (&pair["verified"], &pair["placement"]["means"]),
        (&Value::Bool(true), &"no NUMA".into()),
        "{found}"
    );
    let found = without(&["system"]);
    let text = &found.expect_status(0).stdout;
    assert!(text.contains("no NUMA") && !text.contains("SYS_NICE"), "{found}");
    // A filter alone does not make a kernel one without NUMA.
    let root = Root::new(&place, &Tree::of("one-node"));
    let mut command = root.command(MATRIX);
    let found = checked(command.denied(&CONTAINER[..4], libc::ENOSYS)).expect("a result");
    assert!(!found.stdout.contains("no-numa"), "{found}");
}

#[test]
fn cpus_that_the_kernel_allows_are_online() {
    let Some(place) = place("trees::odd::cpus_that_the_kernel_allows_are_online") else { return };
    let own: Vec<u64> = allowed_cpus().into_iter().map(|cpu| cpu as u64).collect();
    let last = *own.last().expect("a CPU");
    for (online, cpus) in [("8000\n".to_string(), &own[..]), (format!("{}\n", own[0]), &[last])] {
        let mut tree = Tree::of("one-node");
        tree.file(&format!("{CPUS}/online"), &online);
        tree.file(&format!("{NODES}/node0/cpulist"), "0-8191\n");
        let root = Root::new(&place, &tree);
        let mut command = root.command(MATRIX);
        if let [cpu] = cpus {
            command.on_cpu(*cpu as usize);
        }
        let found = checked(&mut command).unwrap_or_else(|error| panic!("{error}"));
        let cpu = number(&points(&found.expect_json(0))[0], "/initiator_cpu");
        assert!(cpus.contains(&cpu), "{online}: {found}");
        let asked = format!("--cpu={last}");
        let found = root.run(&[MATRIX, &[&asked]].concat()).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(number(&points(&found.expect_json(0))[0], "/initiator_cpu"), last, "{found}");
    }
}

/// The pool of the kernel's default size may be one of pages of 1 GiB.
#[test]
fn the_advice_for_huge_pages_names_the_pool_of_their_size() {
    let Some(place) = place("trees::odd::the_advice_for_huge_pages") else { return };
    let advice = |tree: &Tree| {
        let root = Root::new(&place, tree);
        let document = root.run(SYSTEM).unwrap_or_else(|error| panic!("{error}")).expect_json(0);
        let limits = document["summary"]["limits"].as_array().expect("a list").clone();
        let remedies = limits.iter().map(|limit| limit["remedy"].as_str().expect("a text").to_string());
        remedies.clone().find(|remedy| remedy.contains("nr_hugepages")).expect("no pool")
    };
    let mut tree = Tree::of("one-node");
    tree.each_file(|_, content| {
        let text =
            String::from_utf8_lossy(content).replace("Hugepagesize:       2048", "Hugepagesize:    1048576");
        *content = text.into_bytes();
    });
    tree.file("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
    tree.file("/sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages", "0\n");
    // The default working set is four times the last-level cache of 32 MiB, and at least 256 MiB; it is placed twice.
    let path = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages";
    let text = advice(&tree);
    let pages =
        text.strip_prefix("as root: echo ").and_then(|text| text.split_once(" > ")).expect("a command");
    assert_eq!(pages.1, path, "{text}");
    assert!((256..4096).contains(&pages.0.parse::<u64>().expect("a number")), "{text}");
    let root = Root::new(&place, &{
        tree.file(path, pages.0);
        tree.file(&path.replace("nr_", "free_"), pages.0);
        tree
    });
    let found = root.run(SYSTEM).unwrap_or_else(|error| panic!("{error}"));
    assert!(!found.expect_status(0).stdout.contains("nr_hugepages"), "{found}");
}

#[test]
fn isolated_cpus_are_pointed_out() {
    let Some(place) = place("trees::odd::isolated_cpus_are_pointed_out") else { return };
    let [first, .., last] = allowed_cpus()[..] else { return };
    let mut tree = Tree::of("one-node");
    for path in [format!("{CPUS}/online"), format!("{NODES}/node0/cpulist")] {
        tree.file(&path, format!("{first},{last}\n"));
    }
    for path in [format!("{CPUS}/isolated"), format!("{GROUPS}/cpuset.cpus.isolated")] {
        let mut tree = tree.clone();
        tree.file(&path, format!("{last}\n"));
        let root = Root::new(&place, &tree);
        let run = |arguments: &[&str]| {
            checked(root.command(arguments).on_cpu(first)).unwrap_or_else(|error| panic!("{error}"))
        };
        let document = run(MATRIX).expect_json(0);
        assert!(warnings(&document).contains(&"cpus-isolated"), "{document:#}");
        assert!(!warnings(&document).contains(&"cpuset-partial"), "{document:#}");
        let found = run(&[MATRIX, &[&format!("--cpu={last}")]].concat());
        let document = found.expect_json(0);
        assert_eq!(number(&points(&document)[0], "/initiator_cpu"), last as u64, "{found}");
        assert!(!warnings(&document).contains(&"cpus-isolated"), "{found}");
        let found = run(WORDS);
        assert!(found.expect_status(0).stdout.contains(&format!("Isolated: CPUs {last}")), "{found}");
    }
}

#[test]
fn limits_of_memory_reduce_the_default_and_are_named() {
    let Some(place) = place("trees::odd::limits_of_memory_reduce_the_default_and_are_named") else { return };
    let left = 100 << 10; // KiB
    let limits =
        |name: &str| format!("{name:26}{:<21}{:<21}bytes\n", (left + 50_000) << 10, (left + 50_000) << 10);
    for (path, text, status, words) in [
        ("/proc/sys/vm/overcommit_memory", "2\n".into(), "", "left to commit (vm.overcommit_memory=2)"),
        (
            "/proc/self/limits",
            limits("Max address space"),
            "VmSize:",
            "left of the address space (RLIMIT_AS)",
        ),
        ("/proc/self/limits", limits("Max data size"), "VmData:", "left of the data size (RLIMIT_DATA)"),
    ] {
        let mut tree = Tree::of("one-node");
        let commits = format!("CommitLimit: {} kB\nCommitted_AS: 50000 kB\n", left + 50_000);
        tree.each_file(|path, content| match path {
            "/proc/meminfo" => content.extend(commits.bytes()),
            "/proc/self/status" if !status.is_empty() => {
                content.extend(format!("{status} 50000 kB\n").bytes())
            }
            _ => {}
        });
        tree.file(path, &text);
        if path.ends_with("limits") && !tree.0.contains_key("/proc/self/status") {
            tree.file("/proc/self/status", format!("{status} 50000 kB\n"));
        }
        let root = Root::new(&place, &tree);
        let run = |arguments: &[&str]| root.run(arguments).unwrap_or_else(|error| panic!("{words}: {error}"));
        let document = run(&["matrix", "--json", "--iters=500", "--trials=2"]).expect_json(0);
        assert!(warnings(&document).contains(&"size-clipped"), "{words}: {document:#}");
        assert!(number(&points(&document)[0], "/working_set_bytes") <= left << 10, "{words}: {document:#}");
        run(&["--size=120M", "--trials=1"]).expect_status(2).expect_error(words);
    }
}

/// Paths that are not files, or contain something else.
const FILES: &[Odd] = &[
    said("negative numbers everywhere", "no-sys", |tree| {
        tree.each_file(|_, content| *content = b"-1\n".to_vec());
    }),
    odd("lines of 1 MiB", |tree| {
        tree.each_file(|_, content| content.splice(0..0, vec![b' '; 1 << 20]).for_each(drop))
    }),
    odd("a list of 1 MiB", |tree| {
        let list = "0,1,".repeat(1 << 18);
        tree.file(&format!("{NODES}/node0/cpulist"), &list);
        tree.file(&format!("{CPUS}/online"), &list);
    }),
    said("empty files", "no-sys", |tree| tree.each_file(|_, content| content.clear())),
    odd("files without a newline", |tree| {
        tree.each_file(|_, content| content.truncate(content.trim_ascii_end().len()));
    }),
    odd("lines that end as on Windows", |tree| {
        tree.each_file(|_, content| {
            *content = String::from_utf8_lossy(content).replace('\n', "\r\n").into_bytes()
        });
    }),
    said("directories where files are expected", "no-sys", |tree| {
        tree.0.values_mut().for_each(|entry| *entry = Entry::Directory);
    }),
    said("links in a circle", "no-sys", |tree| {
        tree.0.values_mut().for_each(|entry| *entry = Entry::Link("/circle"));
        tree.put("/circle", Entry::Link("/circle"));
    }),
    said("links that lead nowhere", "no-sys", |tree| {
        tree.0.values_mut().for_each(|entry| *entry = Entry::Link("/nowhere"));
    }),
    said("pipes that nobody writes to", "no-sys", |tree| {
        tree.0.values_mut().for_each(|entry| *entry = Entry::Pipe);
    }),
    said("files of a terabyte", "no-sys", |tree| {
        for path in ["/proc/self/numa_maps", "/proc/self/smaps", "/proc/stat"] {
            tree.file(path, "");
        }
        tree.0.values_mut().for_each(|entry| *entry = Entry::Holes(1 << 40));
    }),
    said("zero bytes", "no-sys", |tree| tree.each_file(|_, content| content.fill(0))),
    odd("a zero byte behind every number", |tree| tree.each_file(|_, content| content.push(0))),
];

/// Malformed numbers and lists.
const NUMBERS: &[Odd] = &[
    said("numbers of 400 digits", "no-sys", |tree| {
        tree.each_file(|_, content| *content = digits().into_bytes());
    }),
    odd("numbers of 400 digits for every amount", |tree| {
        tree.each_file(|path, content| {
            if path.contains("meminfo") || path.contains("memory.") {
                let words = String::from_utf8_lossy(content).into_owned();
                let words = words.split_inclusive(' ');
                let odd = words.map(|word| match word.trim().parse::<u64>() {
                    Ok(_) => format!("{} ", digits()),
                    Err(_) => word.to_owned(),
                });
                *content = odd.collect::<String>().into_bytes();
            }
        });
    }),
    odd("a range that runs backwards", |tree| tree.file(&format!("{CPUS}/online"), "7-3\n")),
    said("nodes in a range that runs backwards", "no-sys", |tree| {
        tree.file(&format!("{NODES}/online"), "7-3\n")
    }),
    odd("a range of 2^32 CPUs", |tree| tree.file(&format!("{CPUS}/online"), "0-4294967295\n")),
    said("a range of 2^64 nodes", "no-sys", |tree| {
        tree.file(&format!("{NODES}/online"), "0-18446744073709551615\n");
    }),
    odd("hundreds of caches", |tree| {
        for index in 0..600 {
            for (name, content) in [("level", "3"), ("type", "Unified"), ("size", "32768K")] {
                tree.file(&format!("{CACHE}/index{index}/{name}"), content);
            }
        }
    }),
    odd("caches of unknown types and levels", |tree| {
        tree.file(&format!("{CACHE}/index0/type"), "Trace\n");
        tree.file(&format!("{CACHE}/index1/type"), "\n");
        tree.file(&format!("{CACHE}/index2/level"), "4294967295\n");
        tree.file(&format!("{CACHE}/index3/level"), "0\n");
    }),
    odd("distances of a wrong number", |tree| {
        tree.file(&format!("{NODES}/node0/distance"), "10 21 999 -4 x 10 10 10 10 10 10 10 10 10 10 10 10\n");
    }),
    odd("no distances", |tree| tree.file(&format!("{NODES}/node0/distance"), "")),
];

/// Amounts of memory, and control groups.
const MEMORY: &[Odd] = &[
    odd("/proc/meminfo without MemAvailable", |tree| {
        tree.file("/proc/meminfo", "MemTotal: 33554432 kB\nMemFree: 8388608 kB\n");
    }),
    Odd {
        status: 2,
        ..said("a node without free memory", "not enough memory on node 0: need 64 KiB, 0 B free", |tree| {
            tree.file(
                &format!("{NODES}/node0/meminfo"),
                "Node 0 MemTotal: 33554432 kB\nNode 0 MemFree: 0 kB\n",
            );
            tree.file("/proc/meminfo", "MemTotal: 33554432 kB\nMemFree: 0 kB\nMemAvailable: 0 kB\n");
        })
    },
    odd("no limit of the control group", |tree| group(tree, "0::/a/b\n", "/a/b", "max", "max")),
    odd("garbage in the control group", |tree| group(tree, "0::/a/b\n", "/a/b", "much", "-3")),
    Odd {
        status: 2,
        ..said("a control group that is full", "0 B left in the cgroup", |tree| {
            group(tree, "0::/a/b\n", "/a/b", "1048576", "1048576");
        })
    },
    Odd {
        status: 2,
        ..said("a control group of 0 bytes", "0 B left in the cgroup", |tree| {
            group(tree, "0::/a\n", "/a", "0", "0")
        })
    },
    odd("control groups of both versions", |tree| {
        group(tree, "11:memory:/one\n0::/two\n", "/two", "max", "0");
        tree.file(&format!("{GROUPS}/memory/one/memory.limit_in_bytes"), "9223372036854771712\n");
        tree.file(&format!("{GROUPS}/memory/one/memory.usage_in_bytes"), "4096\n");
    }),
    odd("a control group that leads out of its mount", |tree| {
        group(tree, "0::/../../../../etc\n", "", "max", "0");
    }),
    odd("a control group of 5000 characters", |tree| {
        tree.file("/proc/self/cgroup", format!("0::/{}\n", "a/".repeat(2500)));
    }),
];

/// The description of this process and of its CPU.
const PROCESS: &[Odd] = &[
    odd("a status of 1 MiB", |tree| {
        let mut status = String::from("Name:\tx\nGroups:\t");
        (0..100_000).for_each(|group| write!(status, "{group} ").expect("a string"));
        tree.file("/proc/self/status", status + "\nCpus_allowed_list:\t0\nMems_allowed_list:\t0\n");
    }),
    odd("numa_maps and smaps of another program", |tree| {
        tree.file(
            "/proc/self/numa_maps",
            "00400000 default file=/bin/x mapped=3 N0=18446744073709551615 N9999=-1\n",
        );
        tree.file("/proc/self/smaps", "00400000-00500000 r-xp\nAnonHugePages: 99999999999999999999 kB\n");
    }),
    odd("numa_maps without an end of line", |tree| tree.file("/proc/self/numa_maps", vec![b'7'; 1 << 20])),
    odd("stat without any CPU", |tree| {
        tree.file("/proc/stat", "cpu  -1 99999999999999999999\ncpu0\ncpu99999999999 1 1 1\n");
        tree.file("/proc/self/schedstat", "9 -9 x");
        tree.file("/proc/self/stat", ")))(((");
    }),
    odd("siblings that are everybody", |tree| {
        tree.file(&format!("{CPUS}/cpu0/topology/thread_siblings_list"), "0-8191\n");
        tree.file(&format!("{CPUS}/cpu0/topology/physical_package_id"), "-1\n");
    }),
    odd("names with escape sequences", |tree| {
        for path in
            ["/proc/sys/kernel/osrelease", "/proc/sys/kernel/hostname", "/sys/class/dmi/id/sys_vendor"]
        {
            tree.file(path, "\u{1b}[2J\u{1b}]0;x\u{7}\"\\\u{0}\u{7f}\n");
        }
        tree.file("/proc/cpuinfo", b"model name\t: \xff\xfe\x1b[31m\n");
        tree.file(&format!("{CPUS}/cpu0/cpufreq/scaling_governor"), "\u{1b}[2Jgovernor");
    }),
];

/// Adds a control group of version 2 with a limit.
fn group(tree: &mut Tree, groups: &str, group: &str, limit: &str, usage: &str) {
    tree.file("/proc/self/cgroup", groups);
    tree.file(&format!("{GROUPS}{group}/memory.max"), limit);
    tree.file(&format!("{GROUPS}{group}/memory.current"), usage);
}

impl Odd {
    fn tree(&self) -> Tree {
        let mut tree = Tree::of(self.machine);
        (self.alter)(&mut tree);
        tree
    }

    fn check(&self, root: &Root) -> Result<(), String> {
        let named = |reason: String| format!("{}: {reason}", self.name);
        for arguments in [SYSTEM, WORDS, PLAN] {
            root.run(arguments).map_err(named)?;
        }
        let run = root.run(MATRIX).map_err(named)?;
        let says = match run.status.code() {
            Some(0) => {
                let document: Value = serde_json::from_str(&run.stdout).map_err(|error| error.to_string())?;
                self.says.is_empty() || warnings(&document).contains(&self.says)
            }
            _ => !self.says.is_empty() && run.stderr.contains(self.says),
        };
        if run.status.code() != Some(self.status) || !says {
            return Err(named(format!("expected {} and {:?}: {run}", self.status, self.says)));
        }
        Ok(())
    }
}

fn check(test: &str, table: &[Odd]) {
    let Some(place) = place(test) else { return };
    everywhere(table, |odd| odd.check(&Root::new(&place, &odd.tree())));
}

#[test]
fn machines_that_are_not_at_hand() {
    check("trees::machines_that_are_not_at_hand", MACHINES);
}

#[test]
fn paths_that_are_not_files() {
    check("trees::paths_that_are_not_files", FILES);
}

#[test]
fn malformed_numbers() {
    check("trees::malformed_numbers", NUMBERS);
}

#[test]
fn amounts_and_control_groups() {
    check("trees::amounts_and_control_groups", MEMORY);
}

#[test]
fn the_description_of_this_process() {
    check("trees::the_description_of_this_process", PROCESS);
}

/// Files that exist and cannot be read: by all users but root, and by all users.
#[test]
fn unreadable_files_are_treated_as_missing() {
    let Some(place) = place("trees::unreadable_files") else { return };
    let mut tree = Tree::of("one-node");
    let root = Root::new(&place, &tree);
    let eio = || {
        let mut command = root.command(MATRIX);
        command.denied(&[libc::SYS_read, libc::SYS_pread64, libc::SYS_readv], libc::EIO);
        command
    };
    tree.0.values_mut().for_each(|entry| {
        if let Entry::File(content) = entry {
            *entry = Entry::Secret(content.clone());
        }
    });
    let secret = Root::new(&place, &tree);
    let nobody = || {
        let mut command = secret.command(MATRIX);
        command.as_nobody();
        command
    };
    thread::scope(|scope| {
        let runs = [scope.spawn(move || checked(&mut eio())), scope.spawn(move || checked(&mut nobody()))];
        for run in runs {
            let run = run.join().expect("no panic").unwrap_or_else(|reason| panic!("{reason}"));
            let document = run.expect_json(0);
            assert!(warnings(&document).contains(&"no-sys"), "{run}");
            assert_eq!(number(&document, "/node_pairs/0/to"), 0, "{run}");
        }
    });
}
