//! Changes the kernels of aarch64 one by one, and checks that a test notices each change: `kernel-mutants [PART]`, where
//! PART is a part of a mutant's description.
//!
//! `make mutants` leaves assembly out, and user emulation executes every access in program order: this list has the
//! changes that must not stay unnoticed. The exit status is 1 if a mutant survives.

use latency_tests::program::workspace;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const TARGET: &str = "aarch64-unknown-linux-musl";

/// A mutant may never end; on an idle host, the tests need 5 s.
const RUNNER: &str = "timeout 100 qemu-aarch64 -cpu max";

/// The tests that have to notice a mutant.
const TESTS: [&str; 3] = ["arch::", "buffer::", "traffic::tests::"];

/// A change of one text in one file.
struct Mutant {
    what: &'static str,
    file: &'static str,
    from: &'static str,
    to: &'static str,
}

const fn mutant(what: &'static str, file: &'static str, from: &'static str, to: &'static str) -> Mutant {
    Mutant { what, file, from, to }
}

const CHASE: &str = "asm/aarch64/chase.s";
const CORES: &str = "asm/aarch64/cores.s";
const PARALLEL: &str = "asm/aarch64/parallel.s";
const STREAM: &str = "asm/aarch64/stream.s";
const VARIANTS: &str = "asm/aarch64/variants.s";
const WINDOW: &str = "asm/aarch64/window.s";
const LANES: &str = "core/src/arch/aarch64/lanes.rs";
const STORES: &str = "core/src/arch/aarch64/stream.rs";
const TIMING: &str = "core/src/arch/aarch64/timing.rs";

const MUTANTS: [Mutant; 29] = [
    mutant("a hop of a block left out", CHASE, ".rept   8", ".rept   7"),
    mutant("remaining hops left out", CHASE, "ands    x5, x2, #7", "ands    x5, x2, #3"),
    mutant("a hop of a variant left out", VARIANTS, ".rept   8", ".rept   7"),
    mutant(
        "an index of the wrong width",
        VARIANTS,
        "ldr     w0, [x4, x0, lsl #2]",
        "ldr     x0, [x4, x0, lsl #3]",
    ),
    mutant("an index that is not checked", VARIANTS, "        b.hs    9f\n", ""),
    mutant(
        "a load from the wrong lane",
        PARALLEL,
        "ldr     \\register, [\\register]",
        "ldr     \\register, [x9]",
    ),
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
    mutant("the last node taken for none", LANES, "vcleq_u32(x, last)", "vcltq_u32(x, last)"),
];

fn main() -> ExitCode {
    let part = std::env::args().nth(1).unwrap_or_default();
    let tree = workspace().join("target/mutants/kernels");
    match copy_of_core(&tree).and_then(|()| all(&tree, &part)) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("kernel-mutants: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Tests all mutants with `part` in their description. Returns whether a test noticed each of them.
fn all(tree: &Path, part: &str) -> io::Result<bool> {
    if !builds(tree)? || !passes(tree)? {
        return Err(io::Error::other("the tests fail without a mutant"));
    }
    let mut survived = 0;
    let chosen = || MUTANTS.iter().filter(|mutant| mutant.what.contains(part));
    for mutant in chosen() {
        let path = tree.join(mutant.file);
        let text = fs::read_to_string(&path)?;
        let changed = text.replacen(mutant.from, mutant.to, 1);
        if changed == text {
            return Err(io::Error::other(format!("{} has no `{}`", mutant.file, mutant.from)));
        }
        fs::write(&path, changed)?;
        if !builds(tree)? {
            return Err(io::Error::other(format!("the mutant does not build: {}", mutant.what)));
        }
        let survives = passes(tree)?;
        fs::write(&path, text)?;
        survived += usize::from(survives);
        println!("{} {}: {}", if survives { "SURVIVED" } else { "noticed " }, mutant.file, mutant.what);
    }
    println!("{} mutants, {survived} survived", chosen().count());
    Ok(survived == 0)
}

fn cargo(tree: &Path) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["test", "--offline", "--quiet", "-p", "latency-core", "--lib", "--target", TARGET])
        .current_dir(tree)
        .env("CARGO_TARGET_DIR", tree.join("target"))
        .env("CARGO_PROFILE_DEV_PANIC", "unwind")
        .env("RUSTFLAGS", "-Clinker=rust-lld -Clink-self-contained=yes")
        .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_RUNNER", RUNNER)
        .stdin(Stdio::null());
    command
}

/// Returns whether the tests can be built, and prints the reason if they cannot.
fn builds(tree: &Path) -> io::Result<bool> {
    let output = cargo(tree).arg("--no-run").output()?;
    if !output.status.success() {
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output.status.success())
}

/// Returns whether the tests pass.
fn passes(tree: &Path) -> io::Result<bool> {
    let mut run = cargo(tree);
    run.arg("--").args(TESTS).stdout(Stdio::null()).stderr(Stdio::null());
    Ok(run.status()?.success())
}

/// Makes a workspace of `core` alone, with a copy of its sources and of the assembly.
fn copy_of_core(tree: &Path) -> io::Result<()> {
    for name in ["asm", "core"] {
        let _ = fs::remove_dir_all(tree.join(name));
        copy(&workspace().join(name), &tree.join(name))?;
    }
    fs::copy(workspace().join("Cargo.lock"), tree.join("Cargo.lock"))?;
    let manifest = fs::read_to_string(workspace().join("Cargo.toml"))?;
    let members = manifest.lines().map(|line| match line.starts_with("members = ") {
        true => "members = [\"core\"]\n".into(),
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
