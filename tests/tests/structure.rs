//! The rules of the architecture, checked in the source text: allowed imports, allowed places of assembly and
//! `unsafe`, the files of the tree and the dependencies.

use latency_tests::imports::{Import, circles, folder, imports, upward};
use latency_tests::product::{SOURCES, files, modules_of_tests, text_of, types};
use latency_tests::program::workspace;
use latency_tests::source::{Source, sources};
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

/// The floors of `bin`, from the top down. A file imports only from floors below its own, and from its own folder. The
/// folders of one floor do not import each other. Files beside the folders are above all floors.
const FLOORS: [&[&str]; 9] = [
    // Tests of the whole crate, with invented findings and with damaged input.
    &["tests/calibration", "tests/fuzz", "tests/golden"],
    &["commands"],
    &["experiment"],
    &["describe"],
    &["plan", "saved"],
    &["analysis"],
    &["record"],
    &["error"],
    &["options"],
];

/// The floors of the engine, in the same way: files and folders of `bin/engine/src`. Its `lib.rs` is above them.
const FLOORS_OF_THE_ENGINE: [&[&str]; 16] = [
    &["repeat", "with_generators", "with_partners"],
    &["run"],
    &["checks", "finish", "pieces", "spans"],
    &["session"],
    &["prefetch_audit"],
    &["memory"],
    &["threads"],
    &["schedule", "stopwatch"],
    &["seam"],
    &["placement", "progress"],
    &["budget"],
    &["regions"],
    &["machine"],
    &["result"],
    &["error", "warning"],
    &["words"],
];

/// The folders that are built only for tests.
const TESTS: [&str; 2] = ["bin/engine/src/tests/", "bin/src/tests/"];

/// The files of `bin/src` beside its folders, and the list of the parts of tests.
const BESIDE_THE_FOLDERS: [&str; 6] =
    ["catalogue.rs", "lib.rs", "main.rs", "outputs.rs", "rt.rs", "tests/mod.rs"];

/// The table of experiments and commands, which is above all floors. Tests of any floor may read it.
const CATALOGUE: &str = "bin/src/catalogue.rs";

/// Folders of `bin` that make no system calls.
const PURE: [&str; 6] = ["commands", "experiment", "describe", "plan", "analysis", "record"];
/// Files and folders of the engine that make none either.
const PURE_IN_THE_ENGINE: [&str; 4] = [
    "bin/engine/src/budget.rs",
    "bin/engine/src/machine/sizes.rs",
    "bin/engine/src/regions.rs",
    "bin/engine/src/result/",
];
/// Parts of the package for system calls that are plain data.
const PLAIN_DATA: [&str; 5] = ["table", "Table", "errno", "Errno", "arguments"];

/// Folders of `bin` that do not know the command line: a point or a budget contains the settings that they need.
const WITHOUT_OPTIONS: [&str; 2] = ["analysis", "record"];

/// Folders of `bin` that describe results, once for every format.
const DESCRIBING: [&str; 3] = ["commands", "describe", "experiment"];
/// The modules of `bin/report` that each implement one format; documents are written by `stored` as well, which `show` reads.
const FORMATS: [&str; 9] = ["html", "hwloc", "json", "markdown", "prometheus", "rows", "svg", "table", "tap"];

/// The only places of `bin` and `core` with inline or included assembly.
const ASSEMBLY: [&str; 2] = ["core/src/arch/", "bin/sys/src/arch/"];

/// The folders of `core` that each know one instruction set. They define the same names.
const INSTRUCTION_SET_FOLDERS: [&str; 2] = ["core/src/arch/aarch64/", "core/src/arch/x86_64/"];

/// All places that each know one instruction set.
const INSTRUCTION_SET_PLACES: [&str; 6] = [
    "bin/engine/src/machine/processor/aarch64.rs",
    "bin/engine/src/machine/processor/x86_64.rs",
    "bin/sys/src/arch/aarch64.rs",
    "bin/sys/src/arch/x86_64.rs",
    "core/src/arch/aarch64/",
    "core/src/arch/x86_64/",
];

/// The files that select the place of an instruction set; no other file depends on the target.
const CHOICES: [&str; 3] =
    ["bin/engine/src/machine/processor/mod.rs", "bin/sys/src/arch/mod.rs", "core/src/arch/mod.rs"];

/// Prefixes of words that name an instruction set, or a property of only one instruction set.
const INSTRUCTION_SETS: [&str; 9] =
    ["x86", "rdtsc", "TSC", "CPUID", "cpuid", "AVX", "aarch64", "CNTVCT", "MIDR"];

/// Product code that uses these words outside of their places: the file, the word, and the reason.
const NAMED_NEVERTHELESS: [(&str, &str, &str); 7] = [
    (
        "bin/engine/src/machine/processor/mod.rs",
        "AVX",
        "the table of models, which is for all of them, refers to these names",
    ),
    ("bin/engine/src/warning/table.rs", "TSC", "only this counter may lack a promise of a constant rate"),
    (
        "bin/src/experiment/matrix.rs",
        "TSC",
        "a text of help is not put together, and this one is for cycles of a counter",
    ),
    ("bin/sys/src/time.rs", "TSC", "the kernel's name of a request"),
    ("core/src/arch/mod.rs", "aarch64", "the words of each instruction set are there on all"),
    ("core/src/arch/mod.rs", "x86", "the words of each instruction set are there on all"),
    ("core/src/host.rs", "cpuid", "`cpuidle` is the kernel's directory of idle states on all of them"),
];

/// The only places of `bin` and `core` with `unsafe`.
const UNSAFE: [&str; 8] = [
    "core/src/arch/",
    "core/src/buffer.rs",
    "core/src/cores/exchange.rs",
    "core/src/cores/ring.rs",
    "core/src/span.rs",
    "core/src/traffic/field.rs",
    "bin/sys/src/",
    "bin/src/rt.rs",
];

/// Everything at the top of the tree, without dotfiles and build results.
const TOP_LEVEL: [&str; 10] = [
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "Makefile",
    "README.md",
    "asm",
    "bin",
    "core",
    "tests",
];

/// The packages of the program, each with the crates that it may name.
const PACKAGES: [(&str, &[&str]); 5] = [
    ("latency-bench", &["latency-core", "latency-engine", "latency-report", "latency-sys"]),
    ("latency-core", &[]),
    ("latency-engine", &["latency-core", "latency-report", "latency-sys", CPUID]),
    ("latency-report", &["latency-core"]),
    ("latency-sys", &["latency-core", "linux-raw-sys", "rustix"]),
];

/// The crate that only x86-64 has, and one that the crates of others need.
const CPUID: &str = "raw-cpuid";
const OF_OTHERS: &str = "bitflags";

/// Returns the files of all packages without their modules of tests.
fn shipped_without_tests() -> Vec<Source> {
    SOURCES.into_iter().flat_map(files).collect()
}

fn shipped() -> Vec<Source> {
    SOURCES.into_iter().flat_map(sources).collect()
}

/// Returns the folder of `bin/src` to whose rules a file is subject; `None` for a file beside the folders.
fn room(path: &str) -> Option<&str> {
    match path.strip_prefix("bin/src/tests/").and_then(|inside| inside.split_once('/')) {
        Some((part, _)) => FLOORS[0].iter().find(|room| room.ends_with(part)).copied(),
        None => folder("bin/src", path).filter(|folder| *folder != "tests"),
    }
}

/// Returns the files of `bin/src` that are subject to the rules of these folders.
fn sources_in(rooms: &[&str]) -> Vec<Source> {
    let all = sources("bin/src").into_iter();
    all.filter(|source| room(&source.path).is_some_and(|room| rooms.contains(&room))).collect()
}

fn within(path: &str, places: &[&str]) -> bool {
    places.iter().any(|place| if place.ends_with('/') { path.starts_with(place) } else { path == *place })
}

/// The words of results ask a test whether it uses others, where there are tests.
const FOR_TESTS: (&str, &str) = ("bin/engine/src/words.rs", "bin/engine/src/tests/words.rs");

/// Returns whether an import is one of tests: of a module `tests`, of a file of tests, or of the folder of tests.
fn is_of_tests(import: &Import) -> bool {
    let is_for_tests = (import.from.as_str(), import.to.as_str()) == FOR_TESTS;
    is_for_tests || import.in_tests || import.from.ends_with("tests.rs") || within(&import.from, &TESTS)
}

fn assert_none(rule: &str, violations: Vec<String>) {
    assert!(violations.is_empty(), "{rule}:\n  {}", violations.join("\n  "));
}

/// Formats `file:line: what` for each line.
fn at(source: &Source, lines: impl Iterator<Item = usize>, what: &str) -> Vec<String> {
    lines.map(|line| format!("{}:{line}: {what}", source.path)).collect()
}

#[test]
fn a_file_imports_only_from_floors_below() {
    let imports = imports(&sources("bin/src"));
    assert!(imports.len() > 200, "{} imports", imports.len());
    let (of_tests, imports): (Vec<_>, Vec<_>) =
        imports.into_iter().partition(|import| import.to == CATALOGUE && is_of_tests(import));
    assert!(!of_tests.is_empty(), "no test reads the catalogue");
    assert_none("a file may only import from the floors below its own", upward(&imports, room, &FLOORS));
}

#[test]
fn within_the_engine_a_file_imports_only_from_floors_below() {
    const ROOT: &str = "bin/engine/src/";
    fn part(path: &str) -> Option<&str> {
        let inside = path.strip_prefix(ROOT)?;
        let part = inside.split_once('/').map_or(inside, |(folder, _)| folder);
        Some(part.strip_suffix(".rs").unwrap_or(part)).filter(|part| *part != "lib")
    }
    let mut imports = imports(&sources("bin/engine/src"));
    imports.retain(|import| !is_of_tests(import));
    assert!(imports.len() > 100, "{} imports", imports.len());
    assert_none(
        "a file of the engine may only import from the floors below",
        upward(&imports, part, &FLOORS_OF_THE_ENGINE),
    );
}

#[test]
fn only_tests_import_from_folders_of_tests() {
    let imports: Vec<_> = ["bin/engine/src", "bin/src"].map(|root| imports(&sources(root))).concat();
    let (of_tests, of_others): (Vec<_>, Vec<_>) =
        imports.iter().filter(|import| within(&import.to, &TESTS)).partition(|import| is_of_tests(import));
    assert!(of_tests.len() > 10, "{} imports", of_tests.len());
    let violations = of_others.iter().map(|import| format!("{}:{}: {}", import.from, import.line, import.to));
    assert_none("only tests may import from folders of tests", violations.collect());
}

#[test]
fn modules_only_for_tests_are_named_as_tests() {
    let modules: Vec<_> =
        SOURCES.into_iter().flat_map(sources).flat_map(|of| modules_of_tests(&of)).collect();
    assert!(modules.len() > 40, "{} modules", modules.len());
    let others = modules.iter().filter(|module| !module.iter().any(|name| name.ends_with("tests")));
    assert_none(
        "a module that is built only for tests is called `tests` or `..._tests`, or stands in a folder of tests",
        others.map(|module| module.join("::")).collect(),
    );
}

#[test]
fn no_files_import_each_other_in_a_circle() {
    for root in SOURCES {
        let circles = circles(&imports(&sources(root)));
        assert_none(
            "files import each other in a circle",
            circles.iter().map(|files| files.join(", ")).collect(),
        );
    }
}

#[test]
fn every_file_of_the_binary_has_a_folder_on_a_floor() {
    let mut beside = Vec::new();
    let mut folders = BTreeSet::new();
    for source in sources("bin/src") {
        match room(&source.path) {
            Some(folder) => _ = folders.insert(folder.to_string()),
            None => beside.push(source.path["bin/src/".len()..].to_string()),
        }
    }
    assert_eq!(beside, BESIDE_THE_FOLDERS);
    assert_eq!(folders, FLOORS.concat().into_iter().map(String::from).collect());
}

#[test]
fn plans_and_results_ask_the_system_nothing() {
    let mut violations = Vec::new();
    let of_the_engine = sources("bin/engine/src").into_iter();
    let of_the_engine = of_the_engine.filter(|source| within(&source.path, &PURE_IN_THE_ENGINE));
    for source in sources_in(&PURE).into_iter().chain(of_the_engine) {
        for path in source.paths() {
            let names: Vec<&str> = path.names.iter().map(String::as_str).collect();
            let plain = |part: &&str| PLAIN_DATA.contains(part);
            if names.first() == Some(&"latency_sys") && !names.get(1).is_some_and(plain) {
                violations.push(format!("{}:{}: {}", source.path, path.line, path.names.join("::")));
            }
        }
    }
    assert_none("these folders may take plain data from sys and nothing else", violations);
}

#[test]
fn conclusions_and_records_see_no_options() {
    let mut violations = Vec::new();
    for source in sources_in(&WITHOUT_OPTIONS) {
        let options = |names: &[String]| names.iter().take(2).eq(["crate", "options"]);
        let paths = source.paths().into_iter().filter(|path| options(&path.names));
        violations.extend(at(&source, paths.map(|path| path.line), "the options"));
    }
    assert_none("analysis and record may not import options", violations);
}

#[test]
fn descriptions_do_not_ask_for_their_format() {
    let mut violations = Vec::new();
    for source in sources_in(&DESCRIBING) {
        let texts: Vec<&str> = source.tokens.iter().map(|token| token.text.as_str()).collect();
        let named = texts.windows(3).enumerate().filter(|(_, words)| *words == ["format", ".", "name"]);
        violations.extend(at(
            &source,
            named.map(|(index, _)| source.tokens[index].line),
            "the name of a format",
        ));
        let of_format = |names: &[String]| {
            names.first().is_some_and(|name| name == "latency_report")
                && names.get(1).is_some_and(|module| FORMATS.contains(&module.as_str()))
        };
        let of_tests = source.path.ends_with("tests.rs");
        let paths = source.paths().into_iter().filter(|path| of_format(&path.names) && !of_tests);
        violations.extend(at(&source, paths.map(|path| path.line), "the module of a format"));
    }
    assert_none("what describes a result may not ask which format it is written in", violations);
}

#[test]
fn assembly_stays_in_its_places() {
    let mut violations = Vec::new();
    for source in shipped().iter().filter(|source| !within(&source.path, &ASSEMBLY)) {
        for name in ["asm", "global_asm", "naked_asm"] {
            violations.extend(at(source, source.lines_with(name), name));
        }
    }
    assert_none("assembly may only be in core/src/arch and bin/sys/src/arch", violations);
}

#[test]
fn product_code_names_an_instruction_set_only_in_its_places() {
    let (mut violations, mut needed) = (Vec::new(), BTreeSet::new());
    for source in
        shipped_without_tests().iter().filter(|source| !within(&source.path, &INSTRUCTION_SET_PLACES))
    {
        let choices = choices(source).unwrap_or_default();
        for (number, line) in text_of(source).filter(|(number, _)| !choices.contains(number)) {
            for word in line.split(|character: char| !character.is_ascii_alphanumeric()) {
                let Some(name) = INSTRUCTION_SETS.into_iter().find(|name| word.starts_with(name)) else {
                    continue;
                };
                match NAMED_NEVERTHELESS.iter().find(|(path, word, _)| (*path, *word) == (&source.path, name))
                {
                    Some(exception) => _ = needed.insert(exception),
                    None => violations.push(format!("{}:{number}: {word}", source.path)),
                }
            }
        }
    }
    assert_none("an instruction set may be named only in its own places", violations);
    assert!(needed.into_iter().eq(&NAMED_NEVERTHELESS), "every exception is needed");
    assert!(NAMED_NEVERTHELESS.iter().all(|(_, _, reason)| !reason.is_empty()));
}

#[test]
fn only_choices_of_a_module_depend_on_the_target() {
    let mut choosing = Vec::new();
    for source in shipped().iter().filter(|source| source.text.contains("target_arch")) {
        match choices(source) {
            Ok(lines) if lines.is_empty() => {}
            Ok(_) => choosing.push(source.path.clone()),
            Err(line) => panic!("{}:{line}: depends on the target", source.path),
        }
    }
    assert_eq!(choosing, CHOICES);
}

/// Returns the lines by which a file selects the modules of an instruction set: `#[cfg(target_arch = "x")]`, with tests or
/// without, and the `mod x;` or `use x::…;` behind it. Or else the first line that depends on the target in another way.
fn choices(source: &Source) -> Result<BTreeSet<usize>, usize> {
    let mut lines = source.text.lines().enumerate().map(|(index, line)| (index + 1, line.trim()));
    let mut found = BTreeSet::new();
    while let Some((number, line)) = lines.next() {
        if !line.contains("target_arch") {
            continue;
        }
        let condition = line.strip_prefix("#[cfg(").and_then(|rest| rest.strip_suffix(")]")).ok_or(number)?;
        let alone = condition.strip_prefix("any(").and_then(|rest| {
            rest.strip_suffix(", test)").or(rest.strip_suffix(", test, feature = \"tests\")"))
        });
        let name = alone
            .unwrap_or(condition)
            .strip_prefix("target_arch = \"")
            .and_then(|rest| rest.strip_suffix('"'));
        let name = name.ok_or(number)?;
        let (item, text) = lines.find(|(_, line)| !line.starts_with("#[")).ok_or(number)?;
        let text = text.strip_prefix("pub(super) ").or(text.strip_prefix("pub ")).unwrap_or(text);
        if text != format!("mod {name};")
            && !(text.starts_with(&format!("use {name}::")) && text.ends_with(';'))
        {
            return Err(number);
        }
        found.extend([number, item]);
    }
    Ok(found)
}

#[test]
fn a_choice_is_a_condition_and_a_module() {
    let found = |text: &str| choices(&Source::new("bin/src/a/mod.rs".into(), text.into()));
    let pairs = "//! Doc.\n#[cfg(target_arch = \"a\")]\n#[macro_use]\nmod a;\n#[cfg(any(target_arch = \"b\", test))]\nmod b;\n\
                 #[cfg(target_arch = \"a\")]\npub use a::*;\nfn f() {}\n";
    assert_eq!(found(pairs), Ok(BTreeSet::from([2, 4, 5, 6, 7, 8])));
    for other in [
        "#[cfg(target_arch = \"a\")]\nmod b;",
        "#[cfg(target_arch = \"a\")]\nfn a() {}",
        "#[cfg(not(target_arch = \"a\"))]\nmod a;",
        "const A: bool = cfg!(target_arch = \"a\");",
    ] {
        assert_eq!(found(&format!("//! Doc.\n{other}")), Err(2), "{other}");
    }
}

#[test]
fn one_file_asks_the_processor_by_raw_cpuid() {
    let mut violations = Vec::new();
    for source in
        shipped().iter().filter(|source| source.path != "bin/engine/src/machine/processor/x86_64.rs")
    {
        violations.extend(at(source, source.lines_with("raw_cpuid"), "raw_cpuid"));
    }
    assert_none("raw-cpuid may only be named in bin/engine/src/machine/processor/x86_64.rs", violations);
}

#[test]
fn unsafe_code_is_fenced_and_explained() {
    let mut violations = Vec::new();
    for source in shipped() {
        let mut lines = source.lines_with("unsafe").peekable();
        if lines.peek().is_none() {
            continue;
        }
        if !within(&source.path, &UNSAFE) {
            violations.extend(at(&source, lines, "unsafe outside the fence"));
            continue;
        }
        let top = source.text.lines().take_while(|line| line.starts_with("//!"));
        if !top.map(str::trim_end).any(|line| line == "//! # Safety") {
            violations.push(format!("{}:1: unsafe without a section `# Safety` on top", source.path));
        }
    }
    assert_none(
        "unsafe code is only in these files, and each explains at its top why it is sound",
        violations,
    );
}

#[test]
fn all_packages_are_without_the_standard_library() {
    for path in SOURCES.map(|root| format!("{root}/lib.rs")).into_iter().chain(["bin/src/main.rs".into()]) {
        let text = fs::read_to_string(workspace().join(&path)).expect("a source file");
        assert!(text.lines().any(|line| line == "#![no_std]"), "{path} has no line `#![no_std]`");
    }
}

/// Folders whose code runs while something is timed. The heap is sealed then.
const MEASURING: [&str; 3] = ["core/src/", "bin/engine/src/", "bin/sys/src/"];
/// The parts of them that run only before or after that, and the declaration of the crate.
const AFTERWARDS: [&str; 3] = ["bin/engine/src/lib.rs", "bin/engine/src/tests/", "bin/engine/src/warning/"];

#[test]
fn nothing_is_allocated_where_it_is_measured() {
    let mut violations = Vec::new();
    for source in shipped().iter().filter(|source| source.path != "bin/sys/src/heap.rs") {
        if within(&source.path, &MEASURING) && !within(&source.path, &AFTERWARDS) {
            violations.extend(at(source, source.lines_with("alloc"), "the crate alloc"));
        }
    }
    // The macros of alloc are in scope everywhere. Tests, which end their file, have those of std.
    for source in shipped_without_tests().iter().filter(|source| within(&source.path, &MEASURING)) {
        let texts: Vec<&str> = source.tokens.iter().map(|token| token.text.as_str()).collect();
        let tests = texts.windows(3).position(|part| part == ["mod", "tests", "{"]).unwrap_or(texts.len());
        let calls = (1..tests).filter(|at| texts[*at] == "!" && ["format", "vec"].contains(&texts[at - 1]));
        violations.extend(at(source, calls.map(|at| source.tokens[at].line), "a macro of the crate alloc"));
    }
    assert_none("code that runs while something is timed has no heap", violations);
    let run = fs::read_to_string(workspace().join("bin/src/experiment/run_experiment.rs")).expect("a file");
    let sealed = run.split("engine::sealed(|| {\n").skip(1).filter_map(|rest| rest.split("\n    })").next());
    let sealed = sealed.collect::<Vec<_>>().join("\n");
    for call in ["search(", "(experiment.measure)(", " check("] {
        let calls = run.matches(call).count() - run.matches(&format!("fn{call}")).count();
        assert!(calls > 0 && sealed.contains(call), "the heap is not sealed in `{call}`");
    }
    assert_eq!(run.matches("(experiment.measure)(").count(), 1, "no experiment measures elsewhere");
}

#[test]
fn no_type_has_the_name_of_another() {
    for roots in [&["bin/engine/src", "bin/report/src", "bin/src", "bin/sys/src"][..], &["core/src"]] {
        let types = types(roots);
        assert!(types.len() > 100, "{} types in {roots:?}", types.len());
        // A type of the contract has one place in the folder of each instruction set.
        let repeated = |places: &[String]| {
            let inside = |folder: &str| places.iter().filter(|place| place.starts_with(folder)).count();
            let [first, second] = INSTRUCTION_SET_FOLDERS.map(inside);
            places.len() - first.min(second) > 1
        };
        let twice = types.iter().filter(|(_, places)| repeated(places));
        assert_none(
            "each type has a name of its own",
            twice.map(|(name, places)| format!("{name}: {}", places.join(", "))).collect(),
        );
    }
}

#[test]
fn the_top_level_has_only_the_agreed_files() {
    // A working tree has other files beside the repository's; an unpacked archive has no git.
    let git = Command::new("git").arg("ls-files").current_dir(workspace()).output();
    let listed = git.ok().filter(|output| output.status.success()).map(|output| output.stdout);
    let entries: BTreeSet<String> = match listed.as_deref() {
        Some(files) if !files.is_empty() => String::from_utf8_lossy(files)
            .lines()
            .map(|path| path.split('/').next().unwrap_or(path).to_string())
            .collect(),
        _ => fs::read_dir(workspace())
            .expect("the workspace")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .filter(|name| name != "target")
            .collect(),
    };
    let found: Vec<&str> = entries.iter().map(String::as_str).filter(|name| !name.starts_with('.')).collect();
    assert_eq!(found, TOP_LEVEL);
}

/// Returns the crates that a package links for an instruction set, as far down as `depth`, and itself.
fn linked(package: &str, machine: &str, depth: &str) -> BTreeSet<String> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["tree", "--locked", "--offline", "-p", package, "-e", "normal", "--depth", depth])
        .args(["--target", &format!("{machine}-unknown-linux-musl"), "--prefix", "none", "--format", "{p}"])
        .current_dir(workspace())
        .output()
        .expect("cargo");
    assert!(output.status.success(), "cargo tree: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().filter_map(|line| line.split_whitespace().next()).map(String::from).collect()
}

#[test]
fn only_the_agreed_crates_are_linked() {
    let mut all = BTreeSet::from([OF_OTHERS.to_string()]);
    for (package, named) in PACKAGES {
        let agreed = named.iter().chain([&package]).map(|name| name.to_string()).collect();
        assert_eq!(linked(package, "x86_64", "1"), agreed, "{package}");
        all.extend(agreed);
    }
    assert_eq!(linked("latency-bench", "x86_64", "9"), all);
    all.remove(CPUID);
    assert_eq!(linked("latency-bench", "aarch64", "9"), all);
}

#[test]
fn the_readme_starts_with_make() {
    let read = |name: &str| {
        fs::read_to_string(workspace().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let (readme, makefile) = (read("README.md"), read("Makefile"));
    let mut targets = BTreeSet::new();
    for line in commands(&readme) {
        let mut words = line.split_whitespace().peekable();
        match words.next() {
            Some("make") => targets.extend(words.find(|word| !word.contains('=')).map(String::from)),
            Some(word @ ("cargo" | "rustup" | "apt" | "apt-get" | "sudo")) => {
                panic!("README.md tells the reader to run {word}; `make` does that: {line}")
            }
            _ => {}
        }
    }
    assert!(targets.contains("run") && targets.contains("test"), "README.md names make {targets:?}");
    for target in targets {
        let rule = format!("{target}:");
        assert!(makefile.lines().any(|line| line.starts_with(&rule)), "the Makefile has no target {target}");
    }
}

/// Returns the lines of the fenced blocks of a Markdown text, without prompts.
fn commands(markdown: &str) -> Vec<&str> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in markdown.lines().map(str::trim) {
        if line.starts_with("```") {
            inside = !inside;
        } else if inside {
            found.push(line.strip_prefix("$ ").unwrap_or(line));
        }
    }
    found
}
