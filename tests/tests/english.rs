//! The English of comments, docs, test names and assertions, and of everything that users read: a table of patterns
//! that a stranger has to read twice.
//!
//! The test finds a pattern in sentences, across line breaks. Its correct uses are listed beside it.

use latency_tests::program::workspace;
use latency_tests::source::{Source, sources};
use regex_lite::Regex;
use std::fs;
use std::ops::Range;
use std::path::Path;
use std::sync::OnceLock;

/// A pattern that the sources must not contain.
struct Pattern {
    /// The words, as a case-insensitive regular expression.
    words: &'static str,
    /// Correct uses, in the same form; they may be longer than the pattern.
    right: &'static str,
    /// The texts that must not contain it.
    scope: Scope,
}

/// The texts that must not contain a pattern.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// The beginnings of documentation comments and of descriptions.
    Beginnings,
    /// All texts.
    All,
    /// The texts that users read.
    Output,
    /// The descriptions of fields and metrics.
    Description,
}

const fn anywhere(words: &'static str, right: &'static str) -> Pattern {
    Pattern { words, right, scope: Scope::All }
}

const fn in_output(words: &'static str) -> Pattern {
    Pattern { words, right: "", scope: Scope::Output }
}

const PATTERNS: [Pattern; 30] = [
    Pattern {
        words: r"^(what|where|how|whether|those|that|as|of|which|who)\b",
        right: r"\bas root\b",
        scope: Scope::Beginnings,
    },
    anywhere(
        r"\bsuch\b",
        r"\bsuch as\b|\bno[ /]such[ /](file|device|process|address|call|directory|choice|format)\b",
    ),
    anywhere(r"\b(memory|line|load|hop)s? takes? [0-9]", ""),
    anywhere(r"\bso (many|long)\b", ""),
    anywhere(r"\bof which\b", ""),
    anywhere(r"\bat the most\b", ""),
    anywhere(r"\b(stand|stands|stood) for\b", ""),
    anywhere(r"\b(has|have|had) no bearing\b", ""),
    anywhere(r"\bwhose (it|they) (is|are|was|were)\b", ""),
    anywhere(r"\bnobody\b", r"\b(user|as|group|be) `?nobody\b"),
    anywhere(r"\b(is|are) no \w+\b", r"\bthere (is|are) no \w+\b|\b(is|are) no (longer|more|less|fewer)\b"),
    anywhere(r"\b(held|hold|holds|speak|speaks) against\b", ""),
    anywhere(r"\bdear\b", ""),
    anywhere(r"\banew\b", ""),
    anywhere(r"\bbesides\b", ""),
    in_output(r"[0-9] %"),
    in_output(r"\+- ?[0-9]"),
    in_output(r"\b(takes?|took) [0-9]"),
    in_output(r"\btimes (as (long|fast|slow|much|many)|slower|faster|longer)\b"),
    in_output(r"\b(un)?proven\b"),
    in_output(r"\bfor want of\b"),
    in_output(r"\bmeanwhile\b"),
    in_output(r"\bseldom\b"),
    in_output(r"\bwhoever\b"),
    in_output(r"\b(that|those) of\b"),
    in_output(r"\b(is|are|was|were) (said|told|named|claimed)\b"),
    in_output(r"\bpays?\b"),
    in_output(
        r"(^|[ (])1 (?-i:(CPU|core|host|load|node|page|point|pair|result|row|size|thread|trial|warning)s)\b",
    ),
    in_output(r"\bapart by -"),
    // A description begins with a noun and is read alone.
    Pattern {
        words: r"^(the|a|an|it|its|their|this|these|why)\b|\b(whether|tells|says|gives? way)\b|\bhow (many|much|far|often|long)\b",
        right: "",
        scope: Scope::Description,
    },
];

/// All folders with Rust or assembly.
const FOLDERS: [&str; 8] =
    ["asm", "bin", "core", "tests/guest", "tests/lab-plugin", "tests/mailbox", "tests/src", "tests/tests"];

/// The files and folders of texts that users read.
const OUTPUT: [&str; 8] = [
    "README.md",
    "bin/README.md",
    "bin/src/options/golden",
    "bin/engine/src/warning/golden.txt",
    "tests/golden",
    "tests/schema",
    "tests/packaged",
    "tests/tests/cli/golden",
];

/// The ends of the names of files with sentences; others contain values for programs.
const OF_SENTENCES: [&str; 5] = [".txt", ".md", ".html.short", ".schema.json", ".1"];

/// The kind of a text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A documentation comment.
    Documentation,
    /// Another comment, the name of a test, or the text of an assertion.
    Comment,
    /// A text that users read.
    Output,
    /// The description of a field or a metric.
    Description,
}

/// A unit of text, such as a comment or a paragraph.
struct Passage {
    line: usize,
    text: String,
    kind: Kind,
}

/// Returns the comments of a file, each with all of its lines; each paragraph of a documentation comment is a
/// passage.
fn comments(source: &Source) -> Vec<Passage> {
    let mut passages: Vec<Passage> = Vec::new();
    let (mut before, mut in_code) = (0, false);
    for (line, text) in (1..).zip(source.text.lines()) {
        let marks = ["//!", "///", "//", "#"];
        let of_assembly = source.path.ends_with(".s");
        let found = marks.iter().find_map(|&mark| {
            let is_mark = mark != "#" || of_assembly;
            Some((mark, text.trim_start().strip_prefix(mark).filter(|_| is_mark)?))
        });
        let Some((mark, text)) = found else {
            passages.extend(behind_code(text).map(|text| Passage { line, text, kind: Kind::Comment }));
            continue;
        };
        if text.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        let begins = line != before + 1;
        before = line;
        let is_documentation = mark == "///" || mark == "//!";
        // A heading stands alone, with or without a blank line.
        let ends = text.trim().is_empty() || is_documentation && text.trim_start().starts_with('#');
        match passages.last_mut() {
            _ if in_code || ends => before = 0,
            Some(passage) if !begins => passage.text += &format!(" {}", text.trim()),
            _ => {
                let kind = if is_documentation { Kind::Documentation } else { Kind::Comment };
                passages.push(Passage { line, text: text.trim().into(), kind });
            }
        }
    }
    passages
}

/// Returns the comment behind the code of a line.
fn behind_code(line: &str) -> Option<String> {
    let (at, _) =
        line.match_indices(" // ").find(|(at, _)| line[..*at].matches('"').count().is_multiple_of(2))?;
    Some(line[at + 4..].into())
}

/// Returns the names of tests, and the texts of assertions, of `expect` and of `panic!`.
fn names_and_assertions(source: &Source) -> Vec<Passage> {
    let lines: Vec<&str> = source.text.lines().collect();
    let text = Regex::new(r#"(assert\w*!|panic!|\.expect|#\[ignore = )[^"]*"([^"]+)""#).expect("a pattern");
    let mut passages = Vec::new();
    for (index, line) in lines.iter().enumerate() {
        let passage = |text: String| Passage { line: index + 1, text, kind: Kind::Comment };
        if let Some(name) = line.trim_start().strip_prefix("fn ").filter(|_| is_test(&lines[..index])) {
            passages.push(passage(name.split('(').next().unwrap_or_default().replace('_', " ")));
        }
        passages.extend(text.captures_iter(line).map(|found| passage(found[2].to_owned())));
    }
    passages
}

/// Returns whether the function behind these lines is marked as a test.
fn is_test(before: &[&str]) -> bool {
    before
        .iter()
        .rev()
        .take_while(|line| line.trim_start().starts_with("#["))
        .any(|line| line.contains("#[test]"))
}

/// Returns the paragraphs of a file that users read. Pages are read without markup, style and data.
fn paragraphs(path: &str, text: &str) -> Vec<Passage> {
    let text = match path.contains(".html") {
        true => {
            let markup = Regex::new("(?s)<style>.*?</style>|<pre>.*?</pre>|<[^>]*>").expect("a pattern");
            let blank = |found: &regex_lite::Captures<'_>| "\n".repeat(found[0].matches('\n').count()) + " ";
            markup.replace_all(text, blank).into_owned()
        }
        // Terminals without UTF-8 show this form.
        false if path.contains("-ascii") => text.replace("+-", "±"),
        // Names of tests are identifiers.
        false if path.ends_with(".md") => {
            let name = Regex::new("`[a-z_:]+::[a-z_0-9:]+`").expect("a pattern");
            name.replace_all(text, "`test`").into_owned()
        }
        false => text.to_owned(),
    };
    let mut passages: Vec<Passage> = Vec::new();
    let mut before = 0;
    for (line, text) in (1..).zip(text.lines()).filter(|(_, text)| !text.trim().is_empty()) {
        match passages.last_mut().filter(|_| line == before + 1) {
            Some(passage) => passage.text += &format!(" {}", text.trim()),
            None => passages.push(Passage { line, text: text.trim().into(), kind: Kind::Output }),
        }
        before = line;
    }
    passages
}

/// Returns the descriptions in the schema, or of the metrics in a source.
fn descriptions(text: &str) -> Vec<Passage> {
    let row = r#"("description"|\babout): "([^"]*)"|^ +[A-Z0-9_]+ "[a-z0-9_]+" "([^"]*)";"#;
    let row = Regex::new(row).expect("a pattern");
    let described = |(line, text)| {
        let found: regex_lite::Captures<'_> = row.captures(text)?;
        let text = (2..=3).find_map(|group| found.get(group))?.as_str().into();
        Some(Passage { line, text, kind: Kind::Description })
    };
    (1..).zip(text.lines()).filter_map(described).collect()
}

/// Calls `take` for every file of sentences at `path`, with its path and its text.
fn each_text(path: &str, take: &mut dyn FnMut(&str, &str)) {
    let at = workspace().join(path);
    if at.is_dir() {
        let mut names: Vec<String> = fs::read_dir(&at)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names.iter().for_each(|name| each_text(&format!("{path}/{name}"), take));
    } else if OF_SENTENCES.iter().any(|end| path.ends_with(end)) {
        take(path, &read(&at));
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// A pattern, ready to search.
struct Compiled {
    words: Regex,
    right: Option<Regex>,
    scope: Scope,
}

/// Returns all patterns, compiled once.
fn compiled() -> &'static [Compiled] {
    static ALL: OnceLock<Vec<Compiled>> = OnceLock::new();
    ALL.get_or_init(|| {
        let regex = |text: &str| Regex::new(&format!("(?i){text}")).expect("a pattern");
        let compile = |pattern: &Pattern| Compiled {
            words: regex(pattern.words),
            right: (!pattern.right.is_empty()).then(|| regex(pattern.right)),
            scope: pattern.scope,
        };
        PATTERNS.iter().map(compile).collect()
    })
}

/// Returns the words of a passage that match a pattern, each within its sentence.
fn found(passage: &Passage) -> Vec<String> {
    let mut all = Vec::new();
    for pattern in compiled() {
        let applies = match pattern.scope {
            Scope::Beginnings => matches!(passage.kind, Kind::Documentation | Kind::Description),
            Scope::All => true,
            Scope::Output => matches!(passage.kind, Kind::Output | Kind::Description),
            Scope::Description => passage.kind == Kind::Description,
        };
        if !applies || !pattern.words.is_match(&passage.text) {
            continue;
        }
        let without = pattern.right.as_ref().map(|right| right.replace_all(&passage.text, "_"));
        let text = without.as_deref().unwrap_or(&passage.text);
        all.extend(pattern.words.find_iter(text).map(|found| within(text, found.range())));
    }
    all
}

/// Returns a part of a text in brackets, with some words around it.
fn within(text: &str, range: Range<usize>) -> String {
    /// The number of bytes on each side.
    const AROUND: usize = 40;
    let from = text.floor_char_boundary(range.start.saturating_sub(AROUND));
    let to = text.ceil_char_boundary((range.end + AROUND).min(text.len()));
    let [before, found, behind] = [from..range.start, range.clone(), range.end..to].map(|part| &text[part]);
    format!("{before}[{found}]{behind}")
}

#[test]
fn texts_for_users_contain_no_forbidden_pattern() {
    let (mut wrong, mut files) = (Vec::new(), 0);
    let mut take = |path: &str, text: &str| {
        files += 1;
        let is_described = path.ends_with(".schema.json") || path.ends_with(".rs");
        for passage in if is_described { descriptions(text) } else { paragraphs(path, text) } {
            let place = format!("{path}:{}", passage.line);
            wrong.extend(found(&passage).iter().map(|words| format!("{place}: {words}")));
        }
    };
    OUTPUT.iter().for_each(|path| each_text(path, &mut take));
    // The schema contains no metrics.
    sources("bin").iter().for_each(|source| take(&source.path, &source.text));
    assert!(files > 520, "only {files} files with texts");
    assert!(wrong.is_empty(), "{} patterns:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn comments_and_names_contain_no_forbidden_pattern() {
    let mut wrong = Vec::new();
    for source in FOLDERS.into_iter().flat_map(sources) {
        for passage in comments(&source).into_iter().chain(names_and_assertions(&source)) {
            let place = format!("{}:{}", source.path, passage.line);
            wrong.extend(found(&passage).iter().map(|words| format!("{place}: {words}")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn patterns_are_found_and_exceptions_are_not() {
    let of = |text: &str, kind| found(&Passage { line: 1, text: text.into(), kind });
    for (text, count) in [
        ("What it does.", 1),
        ("Returns what it does.", 0),
        ("Such lines, such as these: no such file.", 1),
        ("A line takes 25 ns.", 1),
        ("So many hops, so long a time, of which at the most three.", 4),
        ("It stands for the node whose it is.", 2),
        ("It has no bearing.", 1),
        ("Nobody asks the user nobody.", 1),
        ("It is no node, and there is no other; it is no longer here.", 1),
        ("It is held against the dear old one anew, and besides.", 4),
    ] {
        let all = of(text, Kind::Documentation);
        assert_eq!(all.len(), count, "{text}: {all:?}");
    }
    // Patterns of output are correct in a comment.
    for text in ["It is 5 % of 1 pages.", "It is proven, and takes 5 ns.", "Meanwhile it is 5 +-3."] {
        assert_eq!((of(text, Kind::Comment).len(), of(text, Kind::Output).len()), (0, 2), "{text}");
    }
    // Descriptions begin with a noun.
    for text in ["The latency.", "Which of many hosts it was measured on.", "Law, as it tells."] {
        assert_eq!(of(text, Kind::Description).len(), 1, "{text}");
    }
    // A comment behind code may begin with any word.
    assert!(of("Where it ends.", Kind::Comment).is_empty());
}

#[test]
fn passages_continue_over_lines_and_end_with_paragraphs() {
    let text = "/// Counts hops\n/// and laps.\n///\n/// It ends.\nfn f() {} // one\n// two\n";
    let source = Source::new("bin/src/f.rs".into(), text.into());
    let passages = comments(&source);
    let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["Counts hops and laps.", "It ends.", "one", "two"]);
    let page = "<style>\na {}\n</style>\n<p>one <b>two</b>\n</p><pre>{\n}</pre>\n";
    let found: Vec<_> = paragraphs("a.html.short", page);
    assert_eq!((found.len(), found[0].line, found[0].text.split_whitespace().count()), (1, 4, 2));
    let text = paragraphs("matrix-ascii.txt", "one\n  two +-3\n\nthree\n");
    let texts: Vec<&str> = text.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["one two ±3", "three"]);
    let rows = "fields! {\n    NS \"ns\" \"Latency.\";\n    about: \"Cost.\"\n\"description\": \"Size.\"";
    let texts: Vec<_> = descriptions(rows).into_iter().map(|row| (row.line, row.text)).collect();
    assert_eq!(texts, [(2, "Latency.".into()), (3, "Cost.".into()), (4, "Size.".to_owned())]);
    let tests = "#[test]\n#[should_panic]\nfn a_b() {\n    assert!(x, \"x is y\");\n}\nfn c() {}\n";
    let found = names_and_assertions(&Source::new("bin/src/t.rs".into(), tests.into()));
    let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["a b", "x is y"]);
}
