//! Pages of all scenes: the rules of every page, and the numbers that each page shares with the text.

use core::fmt::Write;
use std::collections::BTreeSet;
use std::string::{String, ToString};
use std::vec::Vec;

use roxmltree::{Document as Tree, ParsingOptions};

use super::scene::Scene;
use super::{findings, is_run, scenes};
use latency_report::Audience;

/// Returns the words with a digit.
fn figures(text: &str) -> BTreeSet<&str> {
    text.split_whitespace().filter(|word| word.bytes().any(|byte| byte.is_ascii_digit())).collect()
}

/// Returns every text of a page outside its JSON.
fn texts(page: &str, file: &str) -> String {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let tree = Tree::parse_with_options(page, options).unwrap_or_else(|error| panic!("{file}: {error}"));
    let mut ids = BTreeSet::new();
    let mut text = String::new();
    for node in tree.descendants() {
        if let Some(id) = node.attribute("id") {
            assert!(ids.insert(id.to_string()), "{file}: two elements with the id {id}");
        }
        if node.is_text() {
            // Neighbouring cells are separate words.
            write!(text, "{} ", node.text().unwrap_or_default()).unwrap();
        }
    }
    for table in tree.descendants().filter(|node| node.has_tag_name("table")) {
        let headings: Vec<_> = table.descendants().filter(|node| node.has_tag_name("th")).collect();
        assert!(
            headings.iter().all(|heading| heading.has_attribute("scope")),
            "{file}: a heading of nothing"
        );
    }
    for picture in tree.descendants().filter(|node| node.has_tag_name("svg")) {
        let title = picture.first_element_child().filter(|node| node.has_tag_name("title"));
        let named = title.and_then(|title| title.attribute("id")) == picture.attribute("aria-labelledby");
        assert!(title.is_some() && named, "{file}: a picture without a title");
    }
    text
}

/// Returns the page of a scene without a format; empty for a command without a result.
pub fn page(mut scene: Scene) -> String {
    scene.line.truncate(scene.line.find(" --format").unwrap_or(scene.line.len()));
    scene.line += " --format=html";
    let mut page = findings::written(&scene);
    page.truncate(page.find("standard error:").unwrap_or(page.len()));
    page
}

#[test]
fn pages_and_texts_have_equal_numbers() {
    let mut seen = BTreeSet::new();
    for mut scene in scenes::all() {
        let line = String::from(scene.line.split(" --format").next().unwrap_or_default());
        let known = !seen.insert((line.clone(), scene.machine, scene.troubles, scene.words.counter_source));
        if known || !is_run(seen.len(), 6) || line.contains("--help") || line.contains("--quiet") {
            continue;
        }
        let file = scene.file.clone();
        scene.colour = false;
        scene.audience = Audience::File;
        scene.line = line;
        // Pages are in UTF-8, whatever the terminal shows.
        scene.unicode = true;
        let text = findings::without_pictures(&scene);
        let page = page(scene.clone());
        // A command without a result has no page.
        if page.is_empty() {
            continue;
        }
        for word in ["http:", "https:", "src=", "url(", "<script", "xmlns"] {
            assert!(!page.contains(word), "{file}: {word}");
        }
        let (shown, data) = page.split_once("<summary>The same as JSON").expect(&file);
        // The pairs of 64 CPUs have thousands of numbers.
        let most = match scene.line.split(' ').next() {
            Some("matrix") => 60 << 10,
            Some("cores") => 300 << 10,
            // Each chart has its points as CSV.
            Some("report") => (400 << 10) - data.len(),
            _ => 120 << 10,
        };
        assert!(shown.len() <= most, "{file}: {} bytes without {} of JSON", shown.len(), data.len());
        let told = texts(&page, &file);
        let missing: Vec<&str> = figures(&text).difference(&figures(&told)).copied().collect();
        assert!(missing.is_empty(), "{file}: the text has {missing:?}");
    }
}
