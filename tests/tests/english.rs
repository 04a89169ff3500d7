//! The English of comments, docs, test names and assertions: a table of patterns that a stranger has to read
//! twice.
//!
//! The test finds a pattern in sentences, across line breaks. Its correct uses are listed beside it.

use latency_tests::source::{Source, sources};
use regex_lite::Regex;
use std::sync::OnceLock;

/// A pattern that the sources must not contain.
struct Pattern {
    /// The words, as a case-insensitive regular expression.
    words: &'static str,
    /// Correct uses, in the same form; they may be longer than the pattern.
    right: &'static str,
    /// True if the pattern matches only at the beginning of a documentation comment.
    begins: bool,
}

const fn anywhere(words: &'static str, right: &'static str) -> Pattern {
    Pattern { words, right, begins: false }
}

const PATTERNS: [Pattern; 15] = [
    Pattern {
        words: r"(what|where|how|whether|those|that|as|of|which|who)\b",
        right: r"\bas root\b",
        begins: true,
    },
    anywhere(r"\bsuch\b", r"\bsuch as\b|\bno[ /]such[ /](file|device|process|address|call|directory)\b"),
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
];

/// All folders with Rust or assembly.
const FOLDERS: [&str; 7] =
    ["asm", "bin", "core", "tests/guest", "tests/lab-plugin", "tests/src", "tests/tests"];

/// A unit of text: a comment, the name of a test, the text of an assertion.
struct Passage {
    line: usize,
    text: String,
    is_documentation: bool,
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
            passages.extend(behind_code(text).map(|text| Passage { line, text, is_documentation: false }));
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
            _ => passages.push(Passage { line, text: text.trim().into(), is_documentation }),
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
        let passage = |text: String| Passage { line: index + 1, text, is_documentation: false };
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

/// A pattern, ready to search.
struct Compiled {
    words: Regex,
    right: Option<Regex>,
    begins: bool,
}

/// Returns all patterns, compiled once.
fn compiled() -> &'static [Compiled] {
    static ALL: OnceLock<Vec<Compiled>> = OnceLock::new();
    ALL.get_or_init(|| {
        let regex = |text: &str| Regex::new(&format!("(?i){text}")).expect("a pattern");
        let compile = |pattern: &Pattern| Compiled {
            words: regex(&[if pattern.begins { "^" } else { "" }, pattern.words].concat()),
            right: (!pattern.right.is_empty()).then(|| regex(pattern.right)),
            begins: pattern.begins,
        };
        PATTERNS.iter().map(compile).collect()
    })
}

/// Returns the words of a passage that match a pattern.
fn found(passage: &Passage) -> Vec<String> {
    let mut all = Vec::new();
    for pattern in compiled() {
        if pattern.begins && !passage.is_documentation || !pattern.words.is_match(&passage.text) {
            continue;
        }
        let without = pattern.right.as_ref().map(|right| right.replace_all(&passage.text, "_"));
        let text = without.as_deref().unwrap_or(&passage.text);
        all.extend(pattern.words.find_iter(text).map(|found| found.as_str().to_owned()));
    }
    all
}

#[test]
fn comments_and_names_contain_no_forbidden_pattern() {
    let mut wrong = Vec::new();
    for source in FOLDERS.into_iter().flat_map(sources) {
        for passage in comments(&source).into_iter().chain(names_and_assertions(&source)) {
            let place = format!("{}:{}", source.path, passage.line);
            wrong.extend(found(&passage).iter().map(|words| format!("{place}: {words}: {}", passage.text)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn patterns_are_found_and_exceptions_are_not() {
    let of = |text: &str, is_documentation| found(&Passage { line: 1, text: text.into(), is_documentation });
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
        assert_eq!(of(text, true).len(), count, "{text}: {:?}", of(text, true));
    }
    // A comment behind code may begin with any word.
    assert!(of("Where it ends.", false).is_empty());
}

#[test]
fn passages_continue_over_lines_and_end_with_paragraphs() {
    let text = "/// Counts hops\n/// and laps.\n///\n/// It ends.\nfn f() {} // one\n// two\n";
    let source = Source::new("bin/src/f.rs".into(), text.into());
    let passages = comments(&source);
    let texts: Vec<&str> = passages.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["Counts hops and laps.", "It ends.", "one", "two"]);
    let tests = "#[test]\n#[should_panic]\nfn a_b() {\n    assert!(x, \"x is y\");\n}\nfn c() {}\n";
    let found = names_and_assertions(&Source::new("bin/src/t.rs".into(), tests.into()));
    let texts: Vec<&str> = found.iter().map(|passage| passage.text.as_str()).collect();
    assert_eq!(texts, ["a b", "x is y"]);
}
