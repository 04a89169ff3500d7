//! Imports between the files of a crate: the importing file and the imported file.
//!
//! A name that a module only re-exports (`pub use`) belongs to the file that defines it, so that a module and
//! its parts may share one entrance without being a circle.

use crate::source::Source;
use std::collections::{BTreeMap, BTreeSet};

/// An import of one file from another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Import {
    /// The file that imports, by its path from the root of the workspace.
    pub from: String,
    /// The file that is imported from.
    pub to: String,
    /// The line, from 1.
    pub line: usize,
    /// True if only the tests within the file import it.
    pub in_tests: bool,
}

/// The files of one crate, with their re-exports.
struct Tree<'s> {
    /// Files by their module.
    files: BTreeMap<Vec<String>, &'s Source>,
    /// The re-exports of a module, with the path that each comes from; `None` for another crate's path.
    passed_on: BTreeMap<(Vec<String>, String), Option<Vec<String>>>,
}

/// Maximum number of re-exports that are followed.
const DEEPEST: usize = 8;

impl<'s> Tree<'s> {
    fn new(sources: &'s [Source]) -> Self {
        let mut tree = Tree { files: BTreeMap::new(), passed_on: BTreeMap::new() };
        // Start-up is a separate crate: `main` is not a module that a path could name.
        for source in sources.iter().filter(|source| !source.is_start_up()) {
            tree.files.insert(source.module(), source);
        }
        for source in sources {
            let module = source.module();
            for path in source.paths().into_iter().filter(|path| path.passed_on) {
                let names = tree.absolute(&module, &path.names);
                tree.passed_on.insert((module.clone(), path.known_as), names);
            }
        }
        tree
    }

    /// Returns a path from the root of the crate; `None` for another crate's path and for a local name.
    fn absolute(&self, module: &[String], names: &[String]) -> Option<Vec<String>> {
        match names {
            [names @ .., last] if last == "self" => self.absolute(module, names),
            [first, rest @ ..] if first == "crate" => Some(rest.to_vec()),
            [first, ..] => {
                let child = [module, std::slice::from_ref(first)].concat();
                self.files.contains_key(&child).then(|| [module, names].concat())
            }
            [] => None,
        }
    }

    /// Returns the file that defines the item of a path from the root; `None` if another crate does.
    fn file(&self, names: &[String]) -> Option<&'s Source> {
        let mut names = names.to_vec();
        for _ in 0..DEEPEST {
            let deep = (0..=names.len()).rev().find(|&deep| self.files.contains_key(&names[..deep]))?;
            let module = names[..deep].to_vec();
            let passed_on =
                names.get(deep).and_then(|name| self.passed_on.get(&(module.clone(), name.clone())));
            match passed_on {
                Some(origin) => names = [origin.as_deref()?, &names[deep + 1..]].concat(),
                None => return self.files.get(&module).copied(),
            }
        }
        None
    }
}

/// Returns every import between two files of one crate, in the order of the files. A re-export alone is not
/// an import.
pub fn imports(sources: &[Source]) -> Vec<Import> {
    let tree = Tree::new(sources);
    let mut found = BTreeSet::new();
    for source in sources.iter().filter(|source| !source.is_start_up()) {
        let module = source.module();
        let paths = source.paths();
        let aliases: BTreeMap<&str, Vec<String>> = paths
            .iter()
            .filter(|path| path.imported)
            .filter_map(|path| Some((path.known_as.as_str(), tree.absolute(&module, &path.names)?)))
            .collect();
        for path in paths.iter().filter(|path| !path.passed_on) {
            let by_alias = || {
                let [first, rest @ ..] = path.names.as_slice() else { return None };
                aliases.get(first.as_str()).map(|start| [start.as_slice(), rest].concat())
            };
            let names = tree.absolute(&module, &path.names).or_else(by_alias);
            let Some(to) = names.and_then(|names| tree.file(&names)) else { continue };
            if to.path != source.path {
                let (from, to) = (source.path.clone(), to.path.clone());
                found.insert(Import { from, to, line: path.line, in_tests: path.in_tests });
            }
        }
    }
    found.into_iter().collect()
}

/// Returns the imports from a lower floor to a higher one or to another room of the same floor. `floors`
/// lists the rooms of each floor, the highest first; files beside the folders are above them all. `room` returns the room
/// of a file, and `None` for a file beside the folders.
///
/// Floors are numbered, so a rule that holds for each import holds for every chain of imports.
pub fn upward(imports: &[Import], room: impl Fn(&str) -> Option<&str>, floors: &[&[&str]]) -> Vec<String> {
    let floor = |room: &Option<&str>| match room {
        Some(room) => floors.iter().position(|rooms| rooms.contains(room)).map(|at| at + 1),
        None => Some(0),
    };
    let mut found = Vec::new();
    for Import { from, to, line, .. } in imports {
        let (above, below) = (room(from), room(to));
        let inside = above.is_some() && above == below || above.is_none() && below.is_none();
        match (floor(&above), floor(&below)) {
            (Some(above), Some(below)) if inside || above < below => {}
            (Some(_), Some(_)) => found.push(format!("{from}:{line}: {to} is not below")),
            _ => found.push(format!("{from}:{line}: {to}: a folder without a floor")),
        }
    }
    found
}

/// Returns the folder of a file below `root`; `None` for a file beside the folders.
pub fn folder<'p>(root: &str, path: &'p str) -> Option<&'p str> {
    let inside = path.strip_prefix(root)?.strip_prefix('/')?;
    Some(inside.split_once('/')?.0)
}

/// Returns the circles, each with its files. The tests within a file may import files that build on this
/// file.
pub fn circles(imports: &[Import]) -> Vec<Vec<String>> {
    let mut below: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for Import { from, to, .. } in imports.iter().filter(|import| !import.in_tests) {
        below.entry(from).or_default().insert(to);
    }
    let reached = |start: &str| {
        let mut reached = BTreeSet::new();
        let mut pending = vec![start];
        while let Some(at) = pending.pop() {
            for &next in below.get(at).into_iter().flatten() {
                if reached.insert(next) {
                    pending.push(next);
                }
            }
        }
        reached
    };
    let all: BTreeMap<&str, BTreeSet<&str>> = below.keys().map(|&file| (file, reached(file))).collect();
    let mut found = BTreeSet::new();
    for (file, reached) in all.iter().filter(|(file, reached)| reached.contains(*file)) {
        let back = |other: &&&str| all.get(**other).is_some_and(|reached| reached.contains(file));
        found.insert(reached.iter().filter(back).map(|other| other.to_string()).collect::<Vec<_>>());
    }
    found.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOORS: [&[&str]; 3] = [&["shop"], &["work"], &["tools", "stock"]];

    /// Makes a crate for tests: a shop above a workshop above tools and a stock.
    fn tree(changed: &[(&str, &str)]) -> Vec<Source> {
        let mut files = BTreeMap::from([
            (
                "bin/src/lib.rs",
                "mod shop; mod work; mod tools; mod stock; pub use iron as metal; use shop::Sale;",
            ),
            ("bin/src/shop/mod.rs", "use crate::work::{self, Desk}; fn sell() { work::saw::cut() }"),
            ("bin/src/work/mod.rs", "mod saw; pub mod desk; pub use desk::Desk; use saw::cut;"),
            ("bin/src/work/saw.rs", "use super::desk::Desk; use crate::tools::Blade;"),
            ("bin/src/work/desk.rs", "use crate::stock::Wood; fn f() { crate::tools::oil() }"),
            ("bin/src/tools/mod.rs", "use core::fmt; mod tests { use super::*; }"),
            ("bin/src/stock/mod.rs", "use crate::metal::Nail;"),
        ]);
        files.extend(changed.iter().copied());
        files.into_iter().map(|(path, text)| Source::new(path.into(), text.into())).collect()
    }

    fn wrong(changed: &[(&str, &str)]) -> (Vec<String>, Vec<Vec<String>>) {
        let imports = imports(&tree(changed));
        (upward(&imports, |path| folder("bin/src", path), &FLOORS), circles(&imports))
    }

    #[test]
    fn a_crate_without_violations_has_no_findings() {
        assert_eq!(wrong(&[]), (vec![], vec![]));
    }

    #[test]
    fn imports_lead_to_the_file_that_defines_the_name() {
        let found: Vec<String> = imports(&tree(&[]))
            .into_iter()
            .map(|Import { from, to, .. }| format!("{} {}", &from[8..], &to[8..]))
            .collect();
        assert_eq!(
            found,
            [
                "lib.rs shop/mod.rs",
                "shop/mod.rs work/desk.rs",
                "shop/mod.rs work/mod.rs",
                "shop/mod.rs work/saw.rs",
                "work/desk.rs stock/mod.rs",
                "work/desk.rs tools/mod.rs",
                "work/mod.rs work/saw.rs",
                "work/saw.rs tools/mod.rs",
                "work/saw.rs work/desk.rs",
            ]
        );
    }

    #[test]
    fn an_upward_import_is_found() {
        for (file, text, told) in [
            (
                "bin/src/stock/mod.rs",
                "use crate::shop::Sale;",
                "bin/src/stock/mod.rs:1: bin/src/shop/mod.rs is not below",
            ),
            (
                "bin/src/stock/mod.rs",
                "\nfn f() { crate::work::Desk::new() }",
                "bin/src/stock/mod.rs:2: bin/src/work/desk.rs is not below",
            ),
            // The same floor, and the top floor.
            (
                "bin/src/stock/mod.rs",
                "use super::tools as t;",
                "bin/src/stock/mod.rs:1: bin/src/tools/mod.rs is not below",
            ),
            ("bin/src/work/saw.rs", "use crate::Sale;", "bin/src/work/saw.rs:1: bin/src/lib.rs is not below"),
            (
                "bin/src/yard/mod.rs",
                "use crate::stock::Wood;",
                "bin/src/yard/mod.rs:1: bin/src/stock/mod.rs: a folder without a floor",
            ),
            // Tests within a file must not import from a higher floor either.
            (
                "bin/src/stock/mod.rs",
                "mod tests { use crate::shop; }",
                "bin/src/stock/mod.rs:1: bin/src/shop/mod.rs is not below",
            ),
        ] {
            assert_eq!(wrong(&[(file, text)]).0, [told], "{text}");
        }
    }

    #[test]
    fn tests_within_a_file_do_not_form_circles() {
        let tests = [("bin/src/work/desk.rs", "mod tests { use super::super::saw; }")];
        assert_eq!(wrong(&tests), (vec![], vec![]));
    }

    #[test]
    fn a_circle_is_found() {
        let circle = |files: &[&str]| {
            vec![files.iter().map(|file| format!("bin/src/work/{file}.rs")).collect::<Vec<_>>()]
        };
        let back = [("bin/src/work/desk.rs", "use super::saw;")];
        assert_eq!(wrong(&back), (vec![], circle(&["desk", "saw"])));
        let parent = [("bin/src/work/saw.rs", "fn f() { super::bench() }")];
        assert_eq!(wrong(&parent), (vec![], circle(&["mod", "saw"])));
        let long = [
            ("bin/src/work/desk.rs", "use super::nail::Nail;"),
            ("bin/src/work/nail.rs", "use crate::work::saw as s;"),
        ];
        assert_eq!(wrong(&long), (vec![], circle(&["desk", "nail", "saw"])));
    }
}
