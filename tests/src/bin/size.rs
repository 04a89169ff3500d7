//! Prints the bytes of an executable by section and by module, and the lines of product code by folder.
//!
//! `make size` links one with symbols and runs this program on it. A generic function counts for the module
//! that its symbol names, wherever it was instantiated; constants without a name are shown by section.

use latency_tests::product;
use latency_tests::program::workspace;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SectionFlags};
use std::collections::{BTreeMap, BTreeSet};
use std::{env, fs, process};

/// Modules shown; the others are summed.
const SHOWN: usize = 40;

/// The crates whose modules are files of this workspace, with their folders.
const OWN: [(&str, &str); 5] = [
    ("latency_bench", "bin/src"),
    ("latency_core", "core/src"),
    ("latency_engine", "bin/engine/src"),
    ("latency_report", "bin/report/src"),
    ("latency_sys", "bin/sys/src"),
];

fn main() {
    let Some(path) = env::args_os().nth(1) else {
        eprintln!("usage: size EXECUTABLE");
        process::exit(1);
    };
    if let Err(problem) = fs::read(&path).map_err(|error| error.to_string()).and_then(|bytes| report(&bytes))
    {
        eprintln!("{}: {problem}", path.to_string_lossy());
        process::exit(1);
    }
}

fn report(bytes: &[u8]) -> Result<(), String> {
    let file = ElfFile64::<Endianness>::parse(bytes).map_err(|error| error.to_string())?;
    let mut unnamed = sections(&file, bytes.len() as u64)?;
    let mut modules: BTreeMap<String, u64> = BTreeMap::new();
    let mut counted = BTreeSet::new();
    let mut named = 0;
    for symbol in file.symbols().filter(|symbol| symbol.size() > 0) {
        let Some(left) = symbol.section_index().and_then(|index| unnamed.get_mut(&index.0)) else { continue };
        // Functions of the same code share an address.
        if !counted.insert(symbol.address()) {
            continue;
        }
        let name = symbol.name().map_err(|error| error.to_string())?;
        *modules.entry(module(name, is_file)).or_default() += symbol.size();
        left.1 = left.1.saturating_sub(symbol.size());
        named += 1;
    }
    if named == 0 {
        return Err("it has no symbols".into());
    }
    for (name, bytes) in unnamed.into_values().filter(|(_, bytes)| *bytes > 0) {
        modules.insert(format!("{name} without a name"), bytes);
    }
    let total: u64 = modules.values().sum();
    let mut rows: Vec<(String, u64)> = modules.into_iter().collect();
    rows.sort_by_key(|(name, bytes)| (u64::MAX - bytes, name.clone()));
    println!("\n{:>8}  {:>5}  module", "bytes", "%");
    let line = |name: &str, bytes: u64| println!("{bytes:>8}  {:>5.1}  {name}", percent(bytes, total));
    rows.iter().take(SHOWN).for_each(|(name, bytes)| line(name, *bytes));
    let rest = rows.get(SHOWN..).unwrap_or_default();
    line(&format!("the other {}", rest.len()), rest.iter().map(|(_, bytes)| bytes).sum());
    line("all", total);
    let lines = product::lines();
    println!("\n{:>8}  product code", "lines");
    lines.iter().for_each(|(folder, lines)| println!("{lines:>8}  {folder}"));
    println!("{:>8}  all", lines.values().sum::<usize>());
    Ok(())
}

/// Prints the bytes of sections in the file, and returns the loaded ones with their names and bytes.
fn sections(file: &ElfFile64<'_, Endianness>, whole: u64) -> Result<BTreeMap<usize, (String, u64)>, String> {
    let mut loaded = BTreeMap::new();
    let mut left = whole;
    println!("{:>8}  {:>5}  section", "bytes", "%");
    for section in file.sections() {
        let name = section.name().map_err(|error| error.to_string())?;
        // A section without bytes in the file (.bss) costs nothing there.
        let bytes = section.file_range().map_or(0, |(_, bytes)| bytes);
        if bytes == 0 {
            continue;
        }
        println!("{bytes:>8}  {:>5.1}  {name}", percent(bytes, whole));
        left = left.saturating_sub(bytes);
        if matches!(section.flags(), SectionFlags::Elf { sh_flags, .. } if sh_flags.contains(object::elf::SHF_ALLOC))
        {
            loaded.insert(section.index().0, (name.to_owned(), bytes));
        }
    }
    println!("{left:>8}  {:>5.1}  headers and padding", percent(left, whole));
    println!("{whole:>8}  100.0  the file with its symbols");
    Ok(loaded)
}

fn percent(part: u64, whole: u64) -> f64 {
    part as f64 * 100.0 / whole.max(1) as f64
}

/// Returns true if there is a source file for a module.
fn is_file(path: &str) -> bool {
    let path = workspace().join(path);
    path.with_extension("rs").is_file() || path.join("mod.rs").is_file()
}

/// Returns the module of a symbol: its file for own crates, and `crate::module` for others.
fn module(symbol: &str, is_file: impl Fn(&str) -> bool) -> String {
    let Ok(name) = rustc_demangle::try_demangle(symbol) else { return "assembly".into() };
    let name = format!("{name:#}");
    let mut path = leading_path(&name);
    // An implementation for every type is named by its trait.
    if let (false, Some((_, of_trait))) = (path.contains("::"), name.split_once(" as ")) {
        path = leading_path(of_trait);
    }
    let names: Vec<&str> = path.split("::").collect();
    let own = OWN.iter().find(|(own, _)| Some(own) == names.first());
    let depth = match own {
        Some((_, root)) => {
            let known = |depth: &usize| is_file(&format!("{root}/{}", names[1..*depth].join("/")));
            (2..=names.len()).rev().find(known).unwrap_or(1)
        }
        // The last name is the item; types begin with a capital letter.
        None => {
            let types = |name: &&str| name.starts_with(|first: char| !first.is_lowercase() && first != '_');
            names.iter().position(types).unwrap_or(names.len() - 1).clamp(1, 2)
        }
    };
    names[..depth.min(names.len())].join("::")
}

/// Returns the path at the beginning of a name, or the path of the type that it implements.
fn leading_path(name: &str) -> &str {
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let mut rest = name;
    loop {
        rest = rest.trim_start_matches(|letter| !is_name(letter));
        match ["dyn ", "mut ", "const "].iter().find_map(|word| rest.strip_prefix(word)) {
            Some(more) => rest = more,
            None => break,
        }
    }
    let end = rest.find(|letter| !is_name(letter) && letter != ':').unwrap_or(rest.len());
    rest[..end].trim_end_matches(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(symbol: &str) -> String {
        module(symbol, |path| ["bin/src/saved", "bin/src/saved/json", "core/src/hops"].contains(&path))
    }

    #[test]
    fn own_functions_belong_to_their_file() {
        assert_eq!(
            of("_ZN13latency_bench5saved4json6header17h0123456789abcdefE"),
            "latency_bench::saved::json"
        );
        assert_eq!(
            of("_ZN13latency_bench5saved4json4Json3key17h0123456789abcdefE"),
            "latency_bench::saved::json"
        );
        assert_eq!(of("_ZN12latency_core4hops6sample1f17h0123456789abcdefE"), "latency_core::hops");
        assert_eq!(of("_ZN13latency_bench3run17h0123456789abcdefE"), "latency_bench");
    }

    #[test]
    fn implementations_belong_to_their_type() {
        assert_eq!(
            leading_path("<&mut latency_bench::a::B<C> as core::fmt::Write>::write_str"),
            "latency_bench::a::B"
        );
        assert_eq!(leading_path("<dyn a::B as c::D>::e"), "a::B");
    }

    #[test]
    fn others_belong_to_a_module_of_their_crate() {
        assert_eq!(of("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt");
        assert_eq!(of("_ZN4core9panicking5panic17h0123456789abcdefE"), "core::panicking");
        assert_eq!(of("lb_chase_pointer"), "assembly");
    }
}
