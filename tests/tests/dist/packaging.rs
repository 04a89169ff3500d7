//! The recipes of other builders: Buildroot, Nix and the Phoronix Test Suite. They name the archives of their release.

use super::{MACHINES, files, run, shared};
use latency_tests::directory::Directory;
use latency_tests::program::workspace;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Unpacks them in a directory with the archives, as users do.
fn unpacked(name: &str) -> (Directory, PathBuf) {
    let directory = Directory::new(name);
    for machine in MACHINES {
        let archive = shared().file(machine, "-linux.tar.gz");
        fs::copy(&archive, directory.path().join(archive.file_name().expect("a name"))).expect("a copy");
    }
    let packed =
        shared().directory().join(concat!("latency-bench-", env!("CARGO_PKG_VERSION"), "-packaging.tar.gz"));
    run(Command::new("tar").arg("-C").arg(directory.path()).arg("-xzf").arg(packed));
    let place = directory.path().join(concat!("latency-bench-", env!("CARGO_PKG_VERSION"), "-packaging"));
    (directory, place)
}

/// Returns the text between two words.
fn between<'t>(text: &'t str, begin: &str, end: &str) -> Vec<&'t str> {
    text.split(begin).skip(1).filter_map(|rest| Some(rest.split_once(end)?.0)).collect()
}

#[test]
fn the_recipes_of_builders_have_the_sums_of_the_archives() {
    let (directory, place) = unpacked("dist-packaging");
    let listed = files(&place);
    assert!(listed.len() >= 10, "{listed:?}");
    let sum = |path: &Path| run(Command::new("sha256sum").arg(path))[..64].to_string();
    let read =
        |path: &str| fs::read_to_string(place.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let downloads = read("phoronix/downloads.xml");
    let names = between(&downloads, "<FileName>", "<");
    let archives: Vec<PathBuf> = names.iter().map(|name| directory.path().join(name)).collect();
    let sums: Vec<String> = archives.iter().map(|path| sum(path)).collect();
    assert_eq!(between(&downloads, "<SHA256>", "<"), sums);
    let lengths: Vec<String> =
        archives.iter().map(|path| fs::metadata(path).expect("an archive").len().to_string()).collect();
    assert_eq!(between(&downloads, "<FileSize>", "<"), lengths);
    assert_eq!(between(&downloads, "<ArchitectureSpecific>", "<"), MACHINES);
    let hashes = read("buildroot/package/latency-bench/latency-bench.hash");
    let licences = ["LICENSE-MIT", "LICENSE-APACHE"].map(|name| sum(&workspace().join(name)));
    assert_eq!(between(&hashes, "sha256  ", "  "), [&sums[..], &licences].concat());
    for path in listed {
        let text = read(&path);
        for word in ["@SUM", "@SIZE", "@VERSION", "@DESCRIPTION"] {
            assert!(!text.contains(word), "{path}: {word}");
        }
    }
}

#[test]
fn buildroot_and_nix_find_the_archives() {
    let (directory, place) = unpacked("dist-builders");
    // The recipe's own variables, without Buildroot's rules.
    let recipe = "generic-package =\ninclude $(BR2_EXTERNAL_LATENCY_BENCH_PATH)/external.mk\n\
                  all:; @echo $(LATENCY_BENCH_SITE)/$(LATENCY_BENCH_SOURCE) $(LATENCY_BENCH_LICENSE_FILES)\n";
    fs::write(directory.path().join("Makefile"), recipe).expect("a file");
    let nix = fs::read_to_string(place.join("nix/default.nix")).expect("a recipe");
    let [pattern] = between(&nix, "../.. + \"/", "\"")[..] else { panic!("{nix}") };
    for machine in MACHINES {
        let tree = format!("BR2_EXTERNAL_LATENCY_BENCH_PATH={}", place.join("buildroot").display());
        let arch = format!("ARCH={machine}");
        let told = run(Command::new("make").args(["-s", "-C"]).arg(directory.path()).args([&tree, &arch]));
        let mut words = told.split_whitespace();
        let archive = words.next().expect("a path");
        let inside = run(Command::new("tar").args(["-tzf", archive]));
        for licence in words {
            assert!(inside.lines().any(|path| path.ends_with(licence)), "{licence}");
        }
        assert!(nix.contains(&format!("{machine}-linux = archive \"{machine}\";")), "{nix}");
        let source = pattern.replace("${machine}", machine);
        assert!(archive.ends_with(&source) && place.join("nix/../..").join(source).is_file(), "{archive}");
    }
}

#[test]
fn phoronix_installs_and_reads_latency_and_bandwidth() {
    let (directory, place) = unpacked("dist-phoronix");
    let home = directory.path().display().to_string();
    let sh = |script: &str| {
        let mut command = Command::new("sh");
        command.args(["-c", script]).current_dir(directory.path());
        run(command.env("HOME", &home).env("LOG_FILE", "log"))
    };
    sh(&format!("rm latency-bench; sh '{}'", place.join("phoronix/install.sh").display()));
    let exit = |name: &str| fs::read_to_string(directory.path().join(name)).expect("a status");
    assert_eq!(exit("install-exit-status"), "0\n");
    sh("./latency-bench matrix --size=1M --trials=3 --iters=2000");
    let log = fs::read_to_string(directory.path().join("log")).expect("a log");
    assert!(log.contains("Random load: ") && ["0\n", "3\n"].contains(&&*exit("test-exit-status")), "{log}");
    let golden = workspace().join("tests/golden").display().to_string();
    directory.script("bin", "latency-bench", &format!("cat {golden}/$1.json"));
    let definition = fs::read_to_string(place.join("phoronix/results-definition.xml")).expect("a definition");
    for (document, lines) in [
        ("matrix", &["Memory latency: ", "Random load: "][..]),
        ("bandwidth-one-core", &["Read bandwidth: "]),
    ] {
        sh(&format!("./latency-bench {document}"));
        let log = fs::read_to_string(directory.path().join("log")).expect("a log");
        assert_eq!(log.lines().count(), lines.len(), "{log}");
        for (line, begin) in log.lines().zip(lines) {
            let template = between(&definition, "<OutputTemplate>", "<")
                .into_iter()
                .find(|known| known.starts_with(begin));
            let (_, unit) = template.expect("a template").split_once("#_RESULT_#").expect("a result");
            let number = line.strip_prefix(begin).and_then(|rest| rest.strip_suffix(unit)).expect("a number");
            assert!(number.parse::<f64>().is_ok_and(|number| number > 0.0), "{line}");
        }
    }
}
