//! Pages with arbitrary texts are well-formed, have the same elements, and neither run nor load anything.

use std::collections::BTreeSet;
use std::string::{String, ToString};
use std::vec::Vec;

use proptest::prelude::*;
use roxmltree::{Document as Tree, ParsingOptions};

use super::HTML;
use crate::chart::{Axis, Chart, ChartPoint, Data, Mark, Matrix, Scale, Series, Unit};
use crate::charts_tests as charts;
use crate::document::{Field, Level, PageRole, Part, Role, field};
use crate::format::Style;
use crate::shown::{Picture, Shown};
use crate::terminal::Terminal;

static NAME: Field = field!("name", "Its name.");

fn written(present: impl FnOnce(&mut Shown)) -> String {
    let terminal = Terminal { columns: 80, unicode: true, colour: false, audience: crate::Audience::Pipe };
    let mut out = String::new();
    let style = Style { terminal, level: Level::Normal, columns: [&[]; 2], tests: |_| vec![] };
    (HTML.write)(&mut out, &style, &Shown::of(present)).unwrap();
    out
}

/// Describes every kind of content of a description, with `text` in place of every text.
fn everything(document: &mut Shown, text: &str) {
    let roles = [
        Role::Line,
        Role::Line,
        Role::Answer,
        Role::Answer,
        Role::Trust,
        Role::Finding,
        Role::Missing,
        Role::Method("Memory"),
        Role::Detail(""),
        Role::Page(PageRole::Title),
        Role::Page(PageRole::Origin),
        Role::Page(PageRole::Fact("CPU")),
        Role::Page(PageRole::Fact("Kernel")),
        Role::Page(PageRole::Figure("Latency", "poor")),
        Role::Page(PageRole::ChapterAnswer("Caches", "fair")),
        Role::Page(PageRole::Warning("poor")),
        Role::Page(PageRole::Remedy),
        Role::Page(PageRole::Warning("note")),
        Role::Page(PageRole::Remedy),
        Role::Page(PageRole::Command),
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
                table.each([text; 3].iter());
            }
        });
    }
    let points = [ChartPoint::new(1.0, 2.0), ChartPoint::new(2.0, 3.0)];
    let axis = Axis { title: "x", unit: Unit::Plain("ns"), scale: Scale::Linear };
    document.picture(Picture::Chart(Chart {
        title: text.into(),
        subtitle: "".into(),
        x_axis: axis.clone(),
        y_axis: axis,
        series: [Series { name: text.into(), data: Data::Points(points.into()) }].into(),
        marks: [Mark::line(1.5, format_args!("{text}"))].into(),
    }));
    let matrix = Matrix {
        title: text.into(),
        subtitle: text.into(),
        unit: "ns",
        noun: "node",
        rows: [0, 1].into(),
        columns: [0].into(),
        groups: None,
        cells: Vec::new(),
    };
    let cell = |row, _| if row == 0 { Ok(100.0) } else { Err("mbind <EPERM>") };
    document.picture(Picture::Matrix(matrix.filled(&cell)));
    document.part(Part::Object(&NAME), |document| document.put(&NAME, text));
    for role in [PageRole::Chapter, PageRole::Title] {
        document.sentence(Role::Page(role), format_args!("{text}"));
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
        assert!(!["script", "img", "iframe", "object", "base"].contains(&name), "{name}");
        let address = node.attribute("href").unwrap_or("#");
        let is_data = (name == "link" && address.starts_with("data:image/png;base64,"))
            || (name == "a" && node.has_attribute("download") && address.starts_with("data:text/csv,"));
        assert!(is_data || (name != "link" && address.starts_with('#')), "{name} {address}");
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
    let page = written(|document| {
        document.tabulate("", Level::Normal, 1, &|table| {
            table.texts(&["thing", "ns"]);
            table.row();
            table.text("all");
            table.number(116.0);
        });
        document.sentence(Role::Page(PageRole::Warning("fair")), format_args!("it is warm"));
        document.sentence(Role::Page(PageRole::Remedy), format_args!("open the door"));
        document.sentence(Role::Trust, format_args!("fair: it is warm"));
        document.answer(format_args!("It takes 116 ns."));
        document
            .sentence(Role::Page(PageRole::Figure("Latency", "fair")), format_args!("116 ns, 95% CI 1 to 2"));
        document.sentence(Role::Page(PageRole::Fact("CPU")), format_args!("EPYC"));
        document.sentence(Role::Method("Memory"), format_args!("some"));
        document.sentence(Role::Page(PageRole::Command), format_args!("latency-bench matrix"));
        document.sentence(Role::Page(PageRole::Title), format_args!("matrix"));
    });
    let mut from = 0;
    for part in [
        "<title>116 ns \u{b7} EPYC \u{b7} latency-bench matrix</title>",
        "<meta property=\"og:title\" content=\"116 ns \u{b7} EPYC \u{b7} latency-bench matrix\"/>",
        "content=\"Trust: fair: it is warm. It takes 116 ns. \"/>",
        "<h1>It takes 116 ns.</h1>",
        "<div class=\"fair\"><dt>Latency <b class=\"badge fair\">! fair</b></dt>\n<dd><b>116 ns</b> 95% CI \
         1 to 2</dd></div>",
        "<p class=\"trust fair\">Trust: <b>! fair</b> it is warm</p>",
        "<caption>System</caption>",
        "<tr><th scope=\"row\">CPU</th><td>EPYC</td></tr>",
        "<th scope=\"col\" class=\"word\">thing</th><th scope=\"col\">ns</th>",
        "<th scope=\"row\" class=\"word\">all</th><td>116</td>",
        "<dt class=\"fair\">it is warm</dt>\n<dd>open the door</dd>",
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
    let page = written(|document| document.line(format_args!("Node 0: 1 ns")));
    assert!(page.contains("<h1>Node 0: 1 ns</h1>") && !page.contains("<li>"), "{page}");
    let page = written(|document| {
        document.line(format_args!("Node 0: 1 ns"));
        document.line(format_args!("Node 1: 2 ns"));
        document.finding(format_args!("Remote memory is slow."));
    });
    assert!(page.contains("<h1>Remote memory is slow.</h1>"), "{page}");
    assert!(page.contains("<li>Node 0: 1 ns</li>\n<li>Node 1: 2 ns</li>") && !page.contains("<p>"), "{page}");
    assert!(written(|_| ()).contains("<h1>Result</h1>"));
}

#[test]
fn a_page_fetches_and_runs_nothing() {
    let page = written(|document| everything(document, "x"));
    shape(&page);
    for word in ["http:", "https:", "src=", "url(", "<script", "@import", "xmlns"] {
        assert!(!page.contains(word), "{word}");
    }
}

/// Describes two chapters that share a note and a part of the method.
fn chapters(document: &mut Shown) {
    document.answer(format_args!("All is well."));
    for (question, level) in [("curve", "good"), ("cores", "poor")] {
        document.sentence(Role::Page(PageRole::ChapterAnswer(question, level)), format_args!("It is."));
    }
    for (name, answer) in [("curve", "It bends."), ("cores", "They talk.")] {
        document.sentence(Role::Page(PageRole::Chapter), format_args!("{name}"));
        document.answer(format_args!("{answer}"));
        document.sentence(Role::Method("Memory"), format_args!("some"));
        document.sentence(Role::Method("Method"), format_args!("of {name}"));
        for (warning, remedy) in [("one node", "add one"), (name, "end it")] {
            document.sentence(Role::Page(PageRole::Warning("note")), format_args!("{warning}"));
            document.sentence(Role::Page(PageRole::Remedy), format_args!("{remedy}"));
        }
        let axis = Axis { title: "a \"b\"", unit: Unit::Plain("ns"), scale: Scale::Linear };
        let points = [ChartPoint::new(1.0, 2.5), ChartPoint::with_band(2.0, 3.0, 2.9, 3.1)];
        document.picture(Picture::Chart(Chart {
            title: name.into(),
            subtitle: "".into(),
            x_axis: axis.clone(),
            y_axis: axis,
            series: [Series { name: "s, t".into(), data: Data::Points(points.into()) }].into(),
            marks: [].into(),
        }));
    }
}

#[test]
fn chapters_have_a_place_each_and_links() {
    let page = written(chapters);
    shape(&page);
    assert!(page.contains("<h1>All is well.</h1>"), "{page}");
    assert!(page.contains("<h2>cores</h2>\n<p class=\"finding\">They talk.</p>"), "{page}");
    for part in [
        "<nav>\n<a href=\"#chapter-1\">curve</a>\n<a href=\"#chapter-2\">cores</a>\n</nav>",
        "<section id=\"chapter-2\">",
        "<dt><a href=\"#chapter-2\">cores</a> <b class=\"badge poor\">\u{2717} poor</b></dt>\n<dd>It \
         is.</dd>",
        "<title id=\"lead-1\">curve</title><use href=\"#chart-1\"/>",
        " id=\"chart-1\"",
    ] {
        assert_eq!(page.matches(part).count(), 1, "{part} in {page}");
    }
}

/// Describes a report whose chapters have these pictures: a matrix, a chart of one point, or a curve.
fn report(pictures: &'static [&'static str]) -> String {
    written(|document| {
        document.sentence(Role::Page(PageRole::ChapterAnswer("Caches", "good")), format_args!("It is."));
        document.tabulate("Where the time goes:", Level::Quiet, 1, &|table| {
            table.texts(&["set", "memory"]);
            table.row();
            table.texts(&["1 GiB", "100 ns"]);
        });
        for &name in pictures {
            document.sentence(Role::Page(PageRole::Chapter), format_args!("{name}"));
            let points = [ChartPoint::new(1.0, 2.0), ChartPoint::new(2.0, 3.0)];
            let axis = Axis { title: "x", unit: Unit::Plain("ns"), scale: Scale::Linear };
            let chart = |data| {
                Picture::Chart(Chart {
                    title: name.into(),
                    subtitle: "".into(),
                    x_axis: axis.clone(),
                    y_axis: axis.clone(),
                    series: [Series { name: "".into(), data }].into(),
                    marks: [].into(),
                })
            };
            document.picture(match name {
                "matrix" => Picture::Matrix(charts::of_nodes(2, &|_, _| Ok(100.0))),
                "point" => chart(Data::Scatter(points[..1].into())),
                _ => chart(Data::Points(points.into())),
            });
        }
    })
}

#[test]
fn the_first_screen_has_the_curve_and_the_matrix_before_it() {
    for (pictures, wanted) in [
        // A page draws no single point.
        (&["point", "curve", "loads", "matrix"][..], &[1][..]),
        (&["matrix", "curve", "loads"], &[2, 1]),
        (&["matrix", "point"], &[1]),
        (&["point"], &[]),
    ] {
        let page = report(pictures);
        shape(&page);
        let (first, rest) = page.split_once("<dl class=\"answers\">").expect(&page);
        let shown = first.split("<use href=\"#chart-").skip(1).map(|part| &part[..1]);
        let wanted: Vec<String> = wanted.iter().map(i32::to_string).collect();
        assert_eq!(shown.collect::<Vec<_>>(), wanted, "{pictures:?}");
        assert!(!rest.contains("<use "), "{rest}");
        let drawn = pictures.iter().filter(|name| **name != "point").count();
        assert_eq!(rest.matches("<figure>").count(), drawn, "{pictures:?}");
        // The table is beside the pictures, and nowhere else.
        assert!(
            first.contains("<caption>Where the time goes:</caption>") && !rest.contains("<caption>Where")
        );
    }
}

#[test]
fn a_page_says_once_what_its_chapters_share() {
    let page = written(chapters);
    let (in_chapters, ending) = page.rsplit_once("</section>").unwrap();
    for shared in ["<dd>some</dd>", "<dt class=\"note\">one node</dt>\n<dd>add one</dd>"] {
        assert!(!in_chapters.contains(shared) && ending.matches(shared).count() == 1, "{shared} in {page}");
    }
    for own in ["<dd>of cores</dd>", "<dt class=\"note\">cores</dt>\n<dd>end it</dd>"] {
        assert!(in_chapters.matches(own).count() == 1 && !ending.contains(own), "{own} in {page}");
    }
}

#[test]
fn the_points_of_a_chart_are_linked_as_csv() {
    let page = written(chapters);
    let data = page.split_once("download=\"picture-1.csv\" href=\"data:text/csv,").expect(&page).1;
    let (data, _) = data.split_once("\">CSV</a>").unwrap();
    let text = data.replace("%0A", "\n").replace("%22", "\"").replace("%20", " ");
    assert_eq!(
        text,
        "series,\"a \"\"b\"\"\",\"a \"\"b\"\"\",low,high\n\"s, t\",1.0,2.5,,\n\"s, t\",2.0,3.0,2.9,3.1\n"
    );
}

#[test]
fn a_matrix_of_one_cell_has_no_picture() {
    let page = |columns: &'static [u32]| {
        written(|document| {
            let matrix = charts::of_nodes(0, &|_, _| Ok(100.0));
            let matrix = Matrix { rows: [0].into(), columns: columns.into(), ..matrix };
            document.picture(Picture::Matrix(matrix.filled(&|_, _| Ok(100.0))));
        })
    };
    assert!(!page(&[0]).contains("<figure"));
    let two = page(&[0, 1]);
    assert!(two.contains("<figure"), "{two}");
    assert!(
        two.contains("data:text/csv,initiator_node,target_node,%22ns%22%0A0,0,100.0%0A0,1,100.0%0A"),
        "{two}"
    );
}

proptest! {
    #[test]
    fn no_text_changes_the_shape_of_a_page(text in any::<String>()) {
        // A table with an empty caption has no caption element.
        let text = std::format!("x{text}");
        let usual = shape(&written(|document| everything(document, "x")));
        prop_assert_eq!(shape(&written(|document| everything(document, &text))), usual);
    }

    #[test]
    fn no_markup_changes_the_shape_of_a_page(
        parts in prop::collection::vec(prop::sample::select(&[
            "<script>", "</pre>", "</title>", "</style>", "]]>", "<!--", "-->", "&", "&#0;", "&lt;", "\"",
             "'", "onload=",
            "</svg>", "<![CDATA[", "\0", "\u{1b}[0m", "\u{202e}", "\u{ffff}", "http://", " ",
        ][..]), 1..8)
    ) {
        let text = parts.concat();
        let usual = shape(&written(|document| everything(document, "x")));
        prop_assert_eq!(shape(&written(|document| everything(document, &text))), usual);
    }
}
