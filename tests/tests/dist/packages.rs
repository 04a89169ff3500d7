//! The packages of a release: each is installed and removed by the program of its system, in a root without other files.

use super::{MACHINES, files, run, shared, unpacked};
use latency_tests::confine::{Confine, is_root};
use latency_tests::directory::Directory;
use latency_tests::skip::{not_shown, skip};
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Asserts that a root has the files of the archive below `/usr`, but for `others`, and that the executable runs there.
fn assert_installed(root: &Path, scratch: &Path, others: &[&str]) {
    let archive = scratch.join("archive");
    unpacked("x86_64", &archive);
    let [mut installed, mut expected] =
        [&root.join("usr"), &archive].map(|place| BTreeSet::from_iter(files(place)));
    for path in installed.intersection(&expected) {
        let [one, other] =
            [&root.join("usr"), &archive].map(|place| fs::read(place.join(path)).expect("a file"));
        assert!(one == other, "{path}");
    }
    let is_other = |path: &String| others.iter().any(|other| path.ends_with(other));
    installed.retain(|path| !is_other(path));
    expected.retain(|path| !is_other(path));
    assert_eq!(installed, expected);
    assert!(root.join("usr/share/man/man1/latency-bench.1.gz").is_file());
    let mut command = Command::new("/usr/bin/latency-bench");
    command.args(["--quiet", "--size=4M", "--trials=3", "--iters=2000"]).rooted(root).as_nobody();
    assert!(run(&mut command).contains(" ns"));
}

fn is_missing(program: &str) -> bool {
    Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_err()
}

#[test]
fn dpkg_installs_and_removes_the_package() {
    let test = "dpkg_installs_and_removes_the_package";
    if !is_root() || is_missing("dpkg") {
        return skip(test, "it needs dpkg, and root, who alone installs");
    }
    let directory = Directory::new("dist-deb");
    let root = directory.path().join("root");
    for place in ["info", "updates", "triggers"] {
        fs::create_dir_all(root.join("var/lib/dpkg").join(place)).expect("a directory");
    }
    for list in ["status", "available"] {
        fs::write(root.join("var/lib/dpkg").join(list), "").expect("a file");
    }
    let dpkg = |action: &str, of: &Path| {
        let place = format!("--root={}", root.display());
        run(Command::new("dpkg").args([&place, "--log=/dev/null", action]).arg(of))
    };
    dpkg("--install", &shared().file("amd64", ".deb"));
    let others = [
        "latency-bench.1",
        "latency-bench.1.gz",
        "/CHANGELOG.md",
        "/changelog.gz",
        "/changelog.Debian.gz",
        "/copyright",
        "/overrides/latency-bench",
        "/_latency-bench",
    ];
    assert_installed(&root, directory.path(), &others);
    dpkg("--purge", Path::new("latency-bench"));
    assert!(!root.join("usr").exists(), "{:?}", files(&root));
    for architecture in ["amd64", "arm64"] {
        let package = shared().file(architecture, ".deb");
        let known = run(Command::new("dpkg-deb").arg("--field").arg(&package).arg("Architecture"));
        assert_eq!(known.trim(), architecture);
    }
}

#[test]
fn lintian_has_no_complaints() {
    if is_missing("lintian") {
        return skip("lintian_has_no_complaints", "there is no lintian");
    }
    let mut lintian = Command::new("lintian");
    lintian.args(["--allow-root", "--fail-on=error,warning"]);
    run(lintian.args(["amd64", "arm64"].map(|architecture| shared().file(architecture, ".deb"))));
}

#[test]
fn rpm_installs_verifies_and_removes_the_package() {
    let test = "rpm_installs_verifies_and_removes_the_package";
    if !is_root() || is_missing("rpm") {
        return skip(test, "it needs rpm, and root, who alone installs");
    }
    let directory = Directory::new("dist-rpm");
    let root = directory.path().join("root");
    fs::create_dir(&root).expect("a directory");
    let rpm = |arguments: &[&str]| run(Command::new("rpm").arg("--root").arg(&root).args(arguments));
    rpm(&["--initdb"]);
    let package = shared().file("x86_64", ".rpm").display().to_string();
    rpm(&["--install", &package]);
    assert_installed(&root, directory.path(), &["latency-bench.1", "latency-bench.1.gz"]);
    assert_eq!(rpm(&["--verify", "latency-bench"]), "");
    rpm(&["--erase", "latency-bench"]);
    assert_eq!(files(&root.join("usr")), [""; 0]);
    assert!(
        !root.join("usr/share/latency-bench").exists() && !root.join("usr/share/doc/latency-bench").exists()
    );
    for machine in MACHINES {
        let package = shared().file(machine, ".rpm").display().to_string();
        assert_eq!(rpm(&["--query", "--package", "--queryformat=%{arch}", &package]), machine);
        let sums = rpm(&["--checksig", "--verbose", &package]);
        assert_eq!(sums.matches("digest: OK").count(), 2, "{sums}");
    }
}

/// Compares every member of a wheel with its record, and the modes of members with their contents.
const RECORDED: &str = "
import base64, csv, hashlib, io, sys, zipfile
wheel = zipfile.ZipFile(sys.argv[1])
[record] = [name for name in wheel.namelist() if name.endswith('/RECORD')]
rows = {row[0]: row[1:] for row in csv.reader(io.StringIO(wheel.read(record).decode()))}
assert set(rows) == set(wheel.namelist()), set(rows) ^ set(wheel.namelist())
for member in wheel.infolist():
    content = wheel.read(member)
    runs = content.startswith((b'\\x7fELF', b'#!'))
    assert member.external_attr >> 16 == (0o100755 if runs else 0o100644), member
    if member.filename != record:
        digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()
        assert rows[member.filename] == ['sha256=' + digest, str(len(content))], member
";

#[test]
fn pip_installs_and_removes_the_wheel() {
    let test = "pip_installs_and_removes_the_wheel";
    let directory = Directory::new("dist-wheel");
    let place = |name: &str| directory.path().join(name).display().to_string();
    let python = place("new/bin/python");
    let known = Command::new("python3").args(["-c", "import pip, venv"]).stderr(Stdio::null()).status();
    if !known.is_ok_and(|status| status.success()) {
        return not_shown(test, "there is no python3 with pip and venv");
    }
    let python3 = |arguments: &[&str]| {
        run(Command::new("python3").args(arguments).env("PIP_DISABLE_PIP_VERSION_CHECK", "1"))
    };
    for machine in MACHINES {
        python3(&["-c", RECORDED, &shared().file(machine, ".whl").display().to_string()]);
    }
    let wheel = shared().file("x86_64", ".whl").display().to_string();
    python3(&["-m", "venv", "--without-pip", &place("new")]);
    python3(&["-m", "pip", "--python", &python, "install", "--quiet", "--no-index", &wheel]);
    let version = |command: &mut Command| run(command.arg("--version"));
    let expected = version(&mut directory.command(&[""; 0]));
    assert_eq!(version(&mut Command::new(place("new/bin/latency-bench"))), expected);
    assert_eq!(version(Command::new(&python).args(["-m", "latency_bench"])), expected);
    assert!(Path::new(&place("new/share/man/man1/latency-bench.1")).is_file());
    python3(&["-m", "pip", "--python", &python, "uninstall", "--quiet", "--yes", "latency-bench"]);
    let left: Vec<String> =
        files(&directory.path().join("new")).into_iter().filter(|path| path.contains("latency")).collect();
    assert!(left.is_empty(), "{left:?}");
    // Without an environment: the executable is beside the package then.
    python3(&["-m", "pip", "install", "--quiet", "--no-index", "--target", &place("beside"), &wheel]);
    let mut module = Command::new("python3");
    module.args(["-m", "latency_bench"]).env("PYTHONPATH", place("beside"));
    assert_eq!(version(&mut module), expected);
}
