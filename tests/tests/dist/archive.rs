//! The files of a release: their checksums, the installed archives, and licences and bills of materials compared with
//! cargo's metadata.

use super::{MACHINES, Packed, is_emulated, names, packed, shared, unpacked};
use latency_tests::directory::Directory;
use latency_tests::program::{binary, workspace};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

/// Returns the crates that cargo links into the executable for an instruction set, as `name version`.
fn linked(machine: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "-p", "latency-bench", "-e", "normal"])
        .args(["--target", &format!("{machine}-unknown-linux-musl"), "--prefix", "none", "--format", "{p}"])
        .current_dir(workspace())
        .output()
        .expect("cargo");
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    let names = text.lines().filter_map(|line| {
        let mut words = line.split(' ');
        Some(format!("{} {}", words.next()?, words.next()?.trim_start_matches('v')))
    });
    names.collect()
}

#[test]
fn two_packages_of_the_same_executables_are_the_same() {
    let (one, other) = (shared(), packed("same-other", "Asia/Kathmandu"));
    let files = names(&one.directory());
    let expected = [
        "SHA256SUMS",
        "latency-bench-V-1.aarch64.rpm",
        "latency-bench-V-1.x86_64.rpm",
        "latency-bench-V-aarch64-linux.cdx.json",
        "latency-bench-V-aarch64-linux.tar.gz",
        "latency-bench-V-linux.oci.tar",
        "latency-bench-V-packaging.tar.gz",
        "latency-bench-V-x86_64-linux.cdx.json",
        "latency-bench-V-x86_64-linux.tar.gz",
        "latency-bench_V-1_amd64.deb",
        "latency-bench_V-1_arm64.deb",
        "latency_bench-V-py3-none-manylinux_2_17_aarch64.manylinux2014_aarch64.musllinux_1_1_aarch64.whl",
        "latency_bench-V-py3-none-manylinux_2_17_x86_64.manylinux2014_x86_64.musllinux_1_1_x86_64.whl",
    ];
    assert_eq!(files, expected.map(|name| name.replace('V', env!("CARGO_PKG_VERSION"))).into());
    assert_eq!(files, names(&other.directory()));
    for name in files {
        let read = |packed: &Packed| fs::read(packed.directory().join(&name)).expect("a file");
        assert!(read(one) == read(&other), "{name} differs");
    }
}

#[test]
fn archives_have_their_checksums_and_install_below_a_prefix() {
    let (packed, directory) = (shared(), Directory::new("dist-archive"));
    let sums = fs::read_to_string(packed.directory().join("SHA256SUMS")).expect("the checksums");
    assert_eq!(sums.lines().count(), names(&packed.directory()).len() - 1, "{sums}");
    let mut check = Command::new("sha256sum");
    check.args(["--check", "--strict", "--quiet", "SHA256SUMS"]).current_dir(packed.directory());
    assert!(check.status().expect("sha256sum").success());
    for machine in MACHINES {
        let prefix = directory.path().join(machine);
        unpacked(machine, &prefix);
        let installed = prefix.join("bin/latency-bench");
        let read = |path: &Path| fs::read(path).expect("the executable");
        assert!(read(&installed) == read(&packed.executable(machine)), "{machine}");
        let program = match machine {
            "x86_64" => Some(Command::new(&installed)),
            _ if is_emulated() => {
                let mut emulator = Command::new("qemu-aarch64");
                emulator.arg(&installed);
                Some(emulator)
            }
            _ => None,
        };
        if let Some(mut program) = program {
            let told = program.arg("--version").output().expect("the executable");
            let version = String::from_utf8_lossy(&told.stdout).into_owned();
            assert!(
                version.starts_with(concat!("latency-bench ", env!("CARGO_PKG_VERSION"), " (")),
                "{version}"
            );
            assert!(version.ends_with(&format!("{machine}-linux)\n")), "{version}");
        }
        for (path, begins) in [
            ("share/man/man1/latency-bench.1", ".\\\""),
            ("share/bash-completion/completions/latency-bench", "# bash"),
            ("share/zsh/site-functions/_latency-bench", "#compdef latency-bench\n"),
            ("share/fish/vendor_completions.d/latency-bench.fish", "# fish"),
            ("share/latency-bench/latency-bench.schema.json", "{"),
            ("share/doc/latency-bench/README.md", "# latency-bench\n"),
            ("share/latency-bench/recipes/README.md", "# Recipes"),
            ("share/doc/latency-bench/CHANGELOG.md", "# Changelog\n"),
            ("share/doc/latency-bench/LICENSE-MIT", ""),
            ("share/doc/latency-bench/LICENSE-APACHE", ""),
        ] {
            let text =
                fs::read_to_string(prefix.join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
            assert!(text.starts_with(begins), "{path}");
        }
    }
}

#[test]
fn each_third_party_crate_comes_with_its_licence() {
    let directory = Directory::new("dist-licences");
    for machine in MACHINES {
        let prefix = directory.path().join(machine);
        unpacked(machine, &prefix);
        let licences = prefix.join("share/doc/latency-bench/licences");
        let own = format!(" {}", env!("CARGO_PKG_VERSION"));
        let others = linked(machine)
            .into_iter()
            .filter(|known| !(known.starts_with("latency-") && known.ends_with(&own)));
        let expected: BTreeSet<String> = others.map(|known| known.replace(' ', "-")).collect();
        let mut found = names(&licences);
        // The licence of the compiler's library does not belong to a crate of the lock file.
        found.remove("rust-library.html");
        assert_eq!(found, expected);
        for name in expected {
            assert!(!names(&licences.join(&name)).is_empty(), "{name}");
        }
    }
}

#[test]
fn each_bill_of_materials_lists_the_linked_crates() {
    let directory = Directory::new("dist-bill");
    let [first, second] = MACHINES.map(|machine| {
        let text = fs::read_to_string(shared().file(machine, "-linux.cdx.json")).expect("a file");
        let listed = listed(&serde_json::from_str(&text).expect("JSON"));
        assert_eq!(listed, linked(machine), "{machine}");
        // The archive has a copy.
        let prefix = directory.path().join(machine);
        unpacked(machine, &prefix);
        let inside = prefix.join("share/doc/latency-bench/latency-bench.cdx.json");
        assert_eq!(fs::read_to_string(inside).expect("a file"), text);
        listed
    });
    let names = |crates: BTreeSet<String>| {
        crates.into_iter().filter_map(|known| known.split(' ').next().map(String::from)).collect::<Vec<_>>()
    };
    // Only x86-64 has an instruction that describes the processor.
    assert_eq!(names(&first - &second), ["raw-cpuid"]);
    assert!(second.is_subset(&first), "{second:?}");
}

/// Returns the crates that a bill of materials lists, as `name version`, after checking its entries.
fn listed(bill: &Value) -> BTreeSet<String> {
    assert_eq!((&bill["bomFormat"], &bill["specVersion"]), (&"CycloneDX".into(), &"1.5".into()));
    let named = |known: &Value| {
        let text = |key: &str| known[key].as_str().unwrap_or_default().to_string();
        assert_eq!(text("purl"), format!("pkg:cargo/{}@{}", text("name"), text("version")));
        assert!(!known["licenses"][0]["expression"].as_str().unwrap_or_default().is_empty(), "{known}");
        format!("{} {}", text("name"), text("version"))
    };
    let components = bill["components"].as_array().expect("a list");
    let own = named(&bill["metadata"]["component"]);
    let listed: BTreeSet<String> = components.iter().map(named).chain([own]).collect();
    assert_eq!(components.len() + 1, listed.len());
    let lock = fs::read_to_string(workspace().join("Cargo.lock")).expect("Cargo.lock");
    let of_others = |known: &&Value| !known["name"].as_str().is_some_and(|name| name.starts_with("latency-"));
    for known in components.iter().filter(of_others) {
        let sum = known["hashes"][0]["content"].as_str().expect("a checksum");
        assert!(lock.contains(&format!("version = {}\nsource", known["version"])), "{known}");
        assert!(lock.contains(&format!("checksum = \"{sum}\"")), "{known}");
    }
    // Every dependency is listed.
    let references: BTreeSet<&str> =
        bill["dependencies"].as_array().expect("a list").iter().filter_map(|of| of["ref"].as_str()).collect();
    assert_eq!(references.len(), listed.len());
    for of in bill["dependencies"].as_array().expect("a list") {
        let uses = of["dependsOn"].as_array().expect("a list");
        assert!(uses.iter().all(|used| references.contains(used.as_str().unwrap_or_default())), "{of}");
    }
    listed
}

/// A directory or a name of the builder would make the executable differ between builders.
#[test]
fn the_executable_contains_no_path_of_its_build() {
    let bytes = fs::read(binary()).expect("the executable");
    let home = std::env::var("HOME").unwrap_or_default();
    let workspace = workspace().canonicalize().expect("the workspace").to_string_lossy().into_owned();
    for place in [&*home, &*workspace, "/.cargo/", "/.rustup/"] {
        // A home of `/` would match everything.
        let found = place.len() > 1 && bytes.windows(place.len()).any(|window| window == place.as_bytes());
        assert!(!found, "it names {place}");
    }
}
