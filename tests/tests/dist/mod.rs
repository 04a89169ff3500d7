//! The files of a release other than the executables: manual page, completions, archives, packages, image, bills of
//! materials.

mod archive;
mod image;
mod install;
mod packages;
mod packaging;
mod pages;
mod release;
mod shells;

use latency_tests::directory::Directory;
use latency_tests::lanes::is_everything;
use latency_tests::program::{binary, workspace};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The instruction sets of a release.
const MACHINES: [&str; 2] = ["x86_64", "aarch64"];

/// The executable for the instruction set that is not this machine's.
const OTHER: &str = "target/aarch64/latency-bench";

/// Returns the output of the program that makes these files.
fn made(arguments: &[&str]) -> String {
    run(Command::new(env!("CARGO_BIN_EXE_dist")).args(arguments))
}

/// Returns a command's standard output; the command has to succeed.
fn run(command: &mut Command) -> String {
    let output = command.output().expect("a program of the tests");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// The files of a release; they are deleted on drop.
struct Packed(Directory);

impl Packed {
    fn directory(&self) -> PathBuf {
        self.0.path().join("files")
    }

    /// Returns the path of the file for an instruction set with this ending.
    fn file(&self, machine: &str, ending: &str) -> PathBuf {
        let is_it = |name: &str| name.ends_with(&format!("{machine}{ending}"));
        let mut found = names(&self.directory()).into_iter().filter(|name| is_it(name));
        let name = found.next().unwrap_or_else(|| panic!("no {machine}{ending}"));
        assert_eq!(found.next(), None);
        self.directory().join(name)
    }

    /// Returns the path of the image.
    fn image(&self) -> PathBuf {
        self.directory().join(concat!("latency-bench-", env!("CARGO_PKG_VERSION"), "-linux.oci.tar"))
    }

    /// Returns the path of the executable that was packed for an instruction set.
    fn executable(&self, machine: &str) -> PathBuf {
        self.0.path().join(machine)
    }
}

/// Returns the names of the files of a directory.
fn names(directory: &Path) -> BTreeSet<String> {
    let entries = fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

/// Packs the executable under test and one for the other instruction set, in a time zone.
fn packed(name: &str, zone: &str) -> Packed {
    let packed = Packed(Directory::new(&format!("dist-{name}")));
    let own = fs::read(binary()).expect("the executable");
    fs::write(packed.executable("aarch64"), other(&own)).expect("a file");
    fs::write(packed.executable("x86_64"), own).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_dist"));
    command.arg("pack").arg(packed.directory()).args(MACHINES.map(|machine| packed.executable(machine)));
    run(command.env("TZ", zone));
    packed
}

/// Returns the files of a release, which all tests of this process share: packing takes a second. None may change them.
fn shared() -> &'static Packed {
    static RELEASE: OnceLock<Packed> = OnceLock::new();
    extern "C" fn remove() {
        // Left-overs in /tmp cost only space.
        let _ = RELEASE.get().map(|packed| fs::remove_dir_all(packed.0.path()));
    }
    RELEASE.get_or_init(|| {
        // SAFETY: the function needs nothing that the end of the process takes away: a value that is never dropped.
        unsafe { libc::atexit(remove) };
        packed("shared", "UTC")
    })
}

/// Unpacks the archive of an instruction set with tar, as users do.
fn unpacked(machine: &str, prefix: &Path) {
    fs::create_dir_all(prefix).expect("a directory");
    let mut tar = Command::new("tar");
    tar.arg("-C").arg(prefix).args(["--strip-components=1", "-xzf"]);
    run(tar.arg(shared().file(machine, "-linux.tar.gz")));
}

/// Returns the paths of all files below a directory, sorted.
fn files(directory: &Path) -> Vec<String> {
    let listed =
        run(Command::new("find").args([".", "-type", "f", "-printf", "%P\\n"]).current_dir(directory));
    let mut paths: Vec<String> = listed.lines().map(String::from).collect();
    paths.sort();
    paths
}

/// Returns true if the executable for aarch64 was built and can be run. Only `make test-all` builds it, where it can.
fn is_emulated() -> bool {
    is_everything() && workspace().join(OTHER).is_file()
}

/// Returns the executable for aarch64, or instead of it a file that differs from the executable under test only in its
/// header: packing both is the same work.
fn other(own: &[u8]) -> Vec<u8> {
    /// The position of the low byte of `e_machine`, and its value for aarch64.
    const MACHINE: (usize, u8) = (18, 183);
    if is_emulated() {
        return fs::read(workspace().join(OTHER)).expect("the executable for aarch64");
    }
    let mut made = own.to_vec();
    made[MACHINE.0] = MACHINE.1;
    made
}
