//! Pages with arbitrary texts are well-formed, have the same elements, and neither run nor load anything.

use std::collections::BTreeSet;
use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;
use roxmltree::{Document as Tree, ParsingOptions};

use super::HTML;
use crate::report::chart::{Axis, Chart, ChartPoint, Data, Mark, Matrix, Scale, Series, Unit};
use crate::report::document::{Document, Field, Level, PageRole, Part, Picture, Role, Style};
use crate::report::terminal::Terminal;

static NAME: Field = Field::new("name", "Its name.");

fn written(describe: &mut dyn FnMut(&mut dyn Document)) -> String {
    let terminal = Terminal { columns: 80, unicode: true, colour: false };
    let mut out = String::new();
    let style = Style { terminal, level: Level::Normal, columns: [&[]; 2] };
    (HTML.write)(&mut out, &style, describe).unwrap();
    out
}

/// Describes every kind of content of a description, with `text` in place of every text.
fn everything(document: &mut dyn Document, text: &str) {
    let roles = [
        Role::Line,
        Role::Line,
        Role::Answer,
        Role::Answer,
        Role::Trust,
        Role::Finding,
        Role::Missing,
        Role::Method(&"Memory"),
        Role::Detail(&""),
        Role::Page(&PageRole::Title),
        Role::Page(&PageRole::Origin),
        Role::Page(&PageRole::Warning("poor")),
        Role::Page(&PageRole::Remedy),
        Role::Page(&PageRole::Warning("note")),
        Role::Page(&PageRole::Remedy),
        Role::Page(&PageRole::Command),
    ];
    for role in roles {
        document.sentence(role, format_args!("{text}"));
    }
    for level in [Level::Quiet, Level::Verbose] {
        document.tabulate(text, level, 1, &|table| {
            for row in 0..3 {
                if row > 0 {
                    table.row();
                }
                [text; 3].iter().for_each(|text| table.text(text));
            }
        });
    }
    let points = [ChartPoint::new(1.0, 2.0), ChartPoint::new(2.0, 3.0)];
    let axis = Axis { title: text, unit: Unit::Plain(text), scale: Scale::Linear };
    document.picture(Picture::Chart(&Chart {
        title: text,
        subtitle: "",
        x_axis: axis,
        y_axis: axis,
        series: &[Series { name: text, data: Data::Points(&points) }],
        marks: &[Mark { x: 1.5, label: text }],
    }));
    document.picture(Picture::Matrix(&Matrix {
        title: text,
        subtitle: text,
        unit: text,
        noun: "node",
        rows: &[0, 1],
        columns: &[0],
        cell: &|row, _| if row == 0 { Ok(100.0) } else { Err(text) },
    }));
    document.part(Part::Object(&NAME), |document| document.put(&NAME, text));
    for role in [PageRole::Chapter, PageRole::Title] {
        document.sentence(Role::Page(&role), format_args!("{text}"));
    }
    document.finding(format_args!("{text}"));
}

/// Returns the elements of a page outside pictures, with their depth, ids and classes.
fn shape(page: &str) -> Vec<(usize, String)> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    let tree = Tree::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}:\n{page}"));
    let mut ids = BTreeSet::new();
    let mut found = Vec::new();
    for node in tree.descendants().filter(|node| node.is_element()) {
        if let Some(id) = node.attribute("id") {
            assert!(ids.insert(id.to_string()), "two elements with the id {id}");
        }
        let name = node.tag_name().name();
        assert!(!["script", "img", "link", "iframe", "object", "base"].contains(&name), "{name}");
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on")), "{name}");
        let depth = node.ancestors().count();
        if !node.ancestors().any(|above| above.has_tag_name("svg")) {
            found.push((depth, std::format!("{name} {:?}", node.attribute("class"))));
        }
    }
    found
}

#[test]
fn a_page_has_its_parts_in_reading_order() {
    let page = written(&mut |document| {
        document.tabulate("", Level::Normal, 1, &|table| {
            table.texts("thing|ns");
            table.row();
            table.text("all");
            table.number(116.0);
        });
        document.sentence(Role::Page(&PageRole::Warning("fair")), format_args!("it is warm"));
        document.sentence(Role::Page(&PageRole::Remedy), format_args!("open the door"));
        document.sentence(Role::Trust, format_args!("fair: it is warm"));
        document.answer(format_args!("It takes 116 ns."));
        document.sentence(Role::Method(&"Memory"), format_args!("some"));
        document.sentence(Role::Page(&PageRole::Command), format_args!("latency-bench matrix"));
        document.sentence(Role::Page(&PageRole::Title), format_args!("matrix"));
    });
    let mut from = 0;
    for part in [
        "<title>latency-bench matrix</title>",
        "<h1>It takes 116 ns.</h1>",
        "<p class=\"trust fair\">Trust: fair: it is warm</p>",
        "<dt class=\"fair\">it is warm</dt>\n<dd>open the door</dd>",
        "<th scope=\"col\" class=\"word\">thing</th><th scope=\"col\">ns</th>",
        "<th scope=\"row\" class=\"word\">all</th><td>116</td>",
        "<dt>Memory</dt>\n<dd>some</dd>",
        "<pre class=\"command\">latency-bench matrix</pre>",
        "<summary>The same as JSON</summary>",
    ] {
        let found = page[from..].find(part).unwrap_or_else(|| panic!("{part} after {from} of\n{page}"));
        from += found + part.len();
    }
    shape(&page);
    // Empty subjects have no heading.
    assert!(!page.contains("Notes") && !page.contains("Not measured") && !page.contains("<figure"));
}

#[test]
fn a_page_without_an_answer_begins_with_its_line() {
    let page = written(&mut |document| document.line(format_args!("Node 0: 1 ns")));
    assert!(page.contains("<h1>Node 0: 1 ns</h1>") && !page.contains("<li>"), "{page}");
    let page = written(&mut |document| {
        document.line(format_args!("Node 0: 1 ns"));
        document.line(format_args!("Node 1: 2 ns"));
        document.finding(format_args!("Remote memory is slow."));
    });
    assert!(page.contains("<h1>Remote memory is slow.</h1>"), "{page}");
    assert!(page.contains("<li>Node 0: 1 ns</li>\n<li>Node 1: 2 ns</li>") && !page.contains("<p>"), "{page}");
    assert!(written(&mut |_| ()).contains("<h1>Result</h1>"));
}

#[test]
fn a_page_fetches_and_runs_nothing() {
    let page = written(&mut |document| everything(document, "x"));
    shape(&page);
    for word in ["http:", "https:", "src=", "url(", "<script", "@import", "xmlns"] {
        assert!(!page.contains(word), "{word}");
    }
}

#[test]
fn chapters_have_a_place_each_and_a_link() {
    let page = written(&mut |document| {
        document.answer(format_args!("All is well."));
        for (name, answer) in [("curve", "It bends."), ("cores", "They talk.")] {
            document.sentence(Role::Page(&PageRole::Chapter), format_args!("{name}"));
            document.answer(format_args!("{answer}"));
            document.sentence(Role::Method(&"Memory"), format_args!("some"));
        }
    });
    shape(&page);
    assert!(page.contains("<h1>All is well.</h1>") && page.contains("<h2>They talk.</h2>"), "{page}");
    assert!(page.contains("<h3>Placement, health, method</h3>"), "{page}");
    for part in ["<a href=\"#chapter-2\">cores</a>", "<section id=\"chapter-2\">"] {
        assert_eq!(page.matches(part).count(), 1, "{part} in {page}");
    }
}

proptest! {
    #[test]
    fn no_text_changes_the_shape_of_a_page(text in any::<String>()) {
        // A table with an empty caption has no caption element.
        let text = std::format!("x{text}");
        let usual = shape(&written(&mut |document| everything(document, "x")));
        prop_assert_eq!(shape(&written(&mut |document| everything(document, &text))), usual);
    }

    #[test]
    fn no_markup_changes_the_shape_of_a_page(
        parts in prop::collection::vec(prop::sample::select(&[
            "<script>", "</pre>", "</title>", "</style>", "]]>", "<!--", "-->", "&", "&#0;", "&lt;", "\"", "'", "onload=",
            "</svg>", "<![CDATA[", "\0", "\u{1b}[0m", "\u{202e}", "\u{ffff}", "http://", " ",
        ][..]), 1..8)
    ) {
        let text = parts.concat();
        let usual = shape(&written(&mut |document| everything(document, "x")));
        prop_assert_eq!(shape(&written(&mut |document| everything(document, &text))), usual);
    }
}
