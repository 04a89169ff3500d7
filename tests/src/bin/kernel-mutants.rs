//! Changes the kernels of aarch64 and the mailbox one by one, and checks that a test notices each change:
//! `kernel-mutants [PART]`, where PART is a part of a mutant's file or description. Unit tests notice most mutants of
//! kernels, the lab the others, and the model checker those of the mailbox.
//!
//! `make mutants` leaves assembly and threads out, and emulators and x86-64 hide most errors in the order of accesses: this
//! list has the changes that must not stay unnoticed. The exit status is 1 if a mutant survives.

use latency_tests::program::{AARCH64_VARIABLE, workspace};
use latency_tests::skip::REQUIRE_VARIABLE;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::{fs, io};

const TARGET: &str = "aarch64-unknown-linux-musl";

/// A mutant may never end; on an idle host, the tests need 5 s.
const RUNNER: &str = "timeout 100 qemu-aarch64 -cpu max";

/// The unit tests that have to notice a mutant of a kernel.
const TESTS: [&str; 4] = ["arch::", "buffer::", "chain::weyl::", "traffic::tests::"];

/// The test of the lab that has to notice one.
const LAB_TEST: &str = "lab_arm64::two_asymmetric_nodes";

/// The tests that have to notice a mutant.
#[derive(Clone, Copy, PartialEq)]
enum Tests {
    Kernels,
    Lab,
    Mailbox,
}

/// A change of texts in one file: of the first place of each, one text after another.
struct Mutant {
    what: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
    then: &'static [(&'static str, &'static str)],
    by: Tests,
}

const fn mutant(what: &'static str, file: &'static str, from: &'static str, to: &'static str) -> Mutant {
    Mutant { what, file, from, to, then: &[], by: Tests::Kernels }
}

const fn of_mailbox(what: &'static str, from: &'static str, to: &'static str) -> Mutant {
    Mutant { by: Tests::Mailbox, ..mutant(what, "bin/sys/src/mailbox.rs", from, to) }
}

const CHASE: &str = "asm/aarch64/chase.s";
const CORES: &str = "asm/aarch64/cores.s";
const PARALLEL: &str = "asm/aarch64/parallel.s";
const STREAM: &str = "asm/aarch64/stream.s";
const WINDOW: &str = "asm/aarch64/window.s";
const LANES: &str = "core/src/arch/aarch64/vectors.rs";
const STORES: &str = "core/src/arch/aarch64/stream.rs";
const TIMING: &str = "core/src/arch/aarch64/timing.rs";

const MUTANTS: [Mutant; 41] = [
    mutant("a hop of a block left out", CHASE, ".rept   8", ".rept   7"),
    mutant("remaining hops left out", CHASE, "ands    x5, x2, #7", "ands    x5, x2, #3"),
    mutant("an index of the wrong width", CHASE, "ldr w0, [x4, x0, lsl #2]", "ldr x0, [x4, x0, lsl #3]"),
    mutant("an index that is not checked", CHASE, "b.hs 9f; ", ""),
    mutant("a load from the wrong lane", PARALLEL, "ldr \\register, [\\register]", "ldr \\register, [x9]"),
    mutant(
        "a load from the wrong lane in memory",
        PARALLEL,
        "ldr     x4, [x0, #.L",
        "ldr     x4, [x0, #8 + .L",
    ),
    mutant("a lane in memory left out", PARALLEL, "sub     x3, x3, x2, lsl #2", "sub     x3, x3, x2, lsl #1"),
    mutant("a register that is not restored", PARALLEL, "        ldp     x21, x22, [sp, #16]\n", ""),
    mutant("a load from the wrong lane of a pair", WINDOW, "lb_window_hop x6,", "lb_window_hop x0,"),
    mutant("a unit of work left out", WINDOW, ".rept   \\work\n", ".rept   (\\work + 1) / 2\n"),
    mutant("lanes with a gap that do not change places", WINDOW, "mov     x3, x4", "mov     x3, x9"),
    mutant("a store that changes nothing", STREAM, "        sub     v0.2d, v0.2d, v4.2d\n", ""),
    mutant("half of a line not written", STREAM, "        \\store  q0, q0, [x0, #32]\n", ""),
    mutant(
        "stores without their barrier",
        STREAM,
        "lb_stream_ntwrite, stnp, dmb ishst",
        "lb_stream_ntwrite, stnp",
    ),
    mutant("a permuted order of other lines", STREAM, "mov     w8, #0x64e5", "mov     w8, #0x64e7"),
    mutant(
        "a message without release",
        CORES,
        "stlr    x7, [x0]                // release: a side",
        "str     x7, [x0] //",
    ),
    mutant(
        "a flag without release",
        CORES,
        "stlr    x7, [x0]                // release: nothing",
        "str     x7, [x0] //",
    ),
    mutant("a poll without acquire", CORES, "ldar    x13, [x1]", "ldr     x13, [x1]"),
    mutant("a turn without acquire and release", CORES, "casal   x13, x8, [x1]", "cas     x13, x8, [x1]"),
    mutant("a turn by exclusives without release", CORES, "stlxr   w14, x8, [x1]", "stxr    w14, x8, [x1]"),
    mutant("a receipt that does not wait for its poll", CORES, "        dsb     nshld ", "        nop //"),
    mutant("a receipt whose counter is read early", CORES, "        isb  ", "        nop //"),
    mutant("a flush that is not waited for", CORES, "2:      dsb     ish ", "2:      nop //"),
    mutant("a closing stamp that waits for no load", TIMING, "\"dsb nshld\", ", ""),
    mutant(
        "a closing stamp in the register of opening ones",
        TIMING,
        "mrs x10, cntvct_el0",
        "mrs x9, cntvct_el0",
    ),
    mutant(
        "stores with a hint called exact",
        STORES,
        "STREAM_EXACT: bool = false",
        "STREAM_EXACT: bool = true",
    ),
    mutant(
        "stores with a hint said to bypass",
        STORES,
        "STREAMS_BYPASS: bool = false",
        "STREAMS_BYPASS: bool = true",
    ),
    mutant("a number that is not a node counted as a hop", LANES, "at_most(x, last)", "at_most(x, mask)"),
    Mutant {
        then: &[
            ("out(\"x10\") ticks", "out(\"x9\") ticks"),
            ("mrs x9, cntvct_el0", "mrs x10, cntvct_el0"),
            ("out(\"x9\") ticks", "out(\"x10\") ticks"),
        ],
        by: Tests::Lab,
        ..mutant(
            "the registers of both stamps exchanged",
            TIMING,
            "mrs x10, cntvct_el0",
            "mrs x9, cntvct_el0",
        )
    },
    of_mailbox("a step into a state without acquire", "to, Ordering::Acquire", "to, Ordering::Relaxed"),
    of_mailbox("a step out of a state without release", "to, Ordering::Release", "to, Ordering::Relaxed"),
    of_mailbox(
        "a completed order without acquire",
        "load(Ordering::Acquire) == IDLE",
        "load(Ordering::Relaxed) == IDLE",
    ),
    of_mailbox("a dismissal without acquire", "DISMISSED, Ordering::Acquire", "DISMISSED, Ordering::Relaxed"),
    of_mailbox("an order without a state for its writing", "self.enter(IDLE, WRITING)", "self.is_obeyed()"),
    of_mailbox("an answer without a state for its reading", "self.enter(IDLE, READING)", "self.is_obeyed()"),
    of_mailbox(
        "a stop that also ends the next order",
        "        self.stop.store(0, Ordering::Relaxed);\n",
        "",
    ),
    of_mailbox(
        "a dismissal that stops before it is seen",
        "        self.state.swap(DISMISSED, Ordering::Acquire);\n        self.stop();\n",
        "        self.stop();\n        self.state.swap(DISMISSED, Ordering::Acquire);\n",
    ),
    of_mailbox("a dismissal that does not stop", "        self.stop();\n", ""),
    of_mailbox("an order that does not wake", "if sleeps {", "if false {"),
    of_mailbox("a dismissal that does not wake", "self.stop();\n        wake(&self.state);", "self.stop();"),
    of_mailbox(
        "a worker that says too late that it sleeps",
        "self.sleeps.store((next == Wait::Asleep).into(), Ordering::Relaxed);\n                    self.leave(BUSY, IDLE);",
        "self.leave(BUSY, IDLE);\n                    self.sleeps.store((next == Wait::Asleep).into(), Ordering::Relaxed);",
    ),
];

fn main() -> ExitCode {
    let part = std::env::args().nth(1).unwrap_or_default();
    let tree = workspace().join("target/mutants/kernels");
    match copy_of_packages(&tree).and_then(|()| all(&tree, &part)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("kernel-mutants: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Tests all mutants with `part` in their file or description. Returns whether a test noticed each of them.
fn all(tree: &Path, part: &str) -> io::Result<bool> {
    let chosen = || MUTANTS.iter().filter(|mutant| mutant.file.contains(part) || mutant.what.contains(part));
    for tests in [Tests::Kernels, Tests::Lab, Tests::Mailbox] {
        if chosen().any(|mutant| mutant.by == tests) && !(builds(tree, tests)? && passes(tree, tests)?) {
            return Err(io::Error::other("the tests fail without a mutant"));
        }
    }
    let mut survived = 0;
    for mutant in chosen() {
        let path = tree.join(mutant.file);
        let text = fs::read_to_string(&path)?;
        let mut changed = text.clone();
        for (from, to) in [(mutant.from, mutant.to)].iter().chain(mutant.then) {
            if !changed.contains(from) {
                return Err(io::Error::other(format!("{} has no `{from}`", mutant.file)));
            }
            changed = changed.replacen(from, to, 1);
        }
        fs::write(&path, changed)?;
        if !builds(tree, mutant.by)? {
            return Err(io::Error::other(format!("the mutant does not build: {}", mutant.what)));
        }
        let survives = passes(tree, mutant.by)?;
        fs::write(&path, text)?;
        survived += usize::from(survives);
        println!("{} {}: {}", if survives { "SURVIVED" } else { "noticed " }, mutant.file, mutant.what);
    }
    println!("{} mutants, {survived} survived", chosen().count());
    Ok(survived == 0)
}

/// Returns a command of cargo in `directory`, whose panics unwind in tests.
fn cargo(directory: &Path, words: &[&str]) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.args(words).current_dir(directory).env("CARGO_PROFILE_DEV_PANIC", "unwind").stdin(Stdio::null());
    command
}

/// Returns the command that builds and runs the unit tests of the kernels, in an emulator.
fn kernel_tests(tree: &Path) -> Command {
    let words = ["test", "--offline", "--quiet", "-p", "latency-core", "--lib", "--target", TARGET];
    let mut command = cargo(tree, &words);
    command
        .env("CARGO_TARGET_DIR", tree.join("target"))
        .env("RUSTFLAGS", "-Clinker=rust-lld -Clink-self-contained=yes")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", RUNNER);
    command
}

/// Returns the command that builds and runs the model checker of the mailbox, on this machine.
fn mailbox_tests(tree: &Path) -> Command {
    let mut command =
        cargo(tree, &["test", "--offline", "--quiet", "-p", "latency-mailbox", "--test", "mailbox"]);
    command.env("CARGO_TARGET_DIR", tree.join("target"));
    command
}

/// Returns the command that builds the executable. Its flags are those of the configuration above the tree.
fn executable(tree: &Path) -> Command {
    let package = ["-p", "latency-bench", "--bin", "latency-bench", "--target", TARGET];
    let mut command = cargo(tree, &[&["build", "--offline", "--quiet", "--release"], &package[..]].concat());
    command.env("CARGO_TARGET_DIR", tree.join("target")).env_remove("RUSTFLAGS");
    command
}

/// Returns whether the tests, or the executable that they need, can be built, and prints the reason if not.
fn builds(tree: &Path, tests: Tests) -> io::Result<bool> {
    let output = match tests {
        Tests::Kernels => kernel_tests(tree).arg("--no-run").output()?,
        Tests::Mailbox => mailbox_tests(tree).arg("--no-run").output()?,
        Tests::Lab => executable(tree).output()?,
    };
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.status.success())
}

/// Returns whether the tests pass.
fn passes(tree: &Path, tests: Tests) -> io::Result<bool> {
    let mut run = match tests {
        Tests::Kernels => kernel_tests(tree),
        Tests::Mailbox => mailbox_tests(tree),
        Tests::Lab => cargo(workspace(), &["test", "--locked", "-p", "latency-tests", "--test", "suite"]),
    };
    match tests {
        Tests::Kernels => run.arg("--").args(TESTS),
        Tests::Mailbox => &mut run,
        Tests::Lab => run
            .args(["--", "--exact", LAB_TEST])
            .env(AARCH64_VARIABLE, tree.join("target").join(TARGET).join("release/latency-bench"))
            .env(REQUIRE_VARIABLE, "1"),
    };
    Ok(run.stdout(Stdio::null()).stderr(Stdio::null()).status()?.success())
}

/// Makes a workspace of the program's packages, with a copy of their sources and of the assembly.
fn copy_of_packages(tree: &Path) -> io::Result<()> {
    for name in ["asm", "core", "bin", "tests/mailbox"] {
        let _ = fs::remove_dir_all(tree.join(name));
        copy(&workspace().join(name), &tree.join(name))?;
    }
    fs::copy(workspace().join("Cargo.lock"), tree.join("Cargo.lock"))?;
    let manifest = fs::read_to_string(workspace().join("Cargo.toml"))?;
    let members = manifest.lines().map(|line| match line.starts_with("members = ") {
        true => "members = [\"core\", \"bin\", \"tests/mailbox\"]\n".into(),
        false => format!("{line}\n"),
    });
    fs::write(tree.join("Cargo.toml"), members.collect::<String>())
}

/// Copies a folder; links stay links.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target): (_, PathBuf) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            symlink(fs::read_link(entry.path())?, target)?;
        } else {
            fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
