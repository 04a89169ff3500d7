//! Pages in a real browser, on a phone and on a screen, light and dark: a program checks their layout, and a person finds
//! pictures of them in `target/pages`.
//!
//! `tests/setup packages` installs Chromium without windows where Debian has it. Without it nothing is shown.

use std::fs;
use std::io::{Write, stderr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::string::String;
use std::vec::Vec;

use super::scene::{Scene, Trouble};
use super::{findings, pages, scenes};

/// Puts what is wrong with a page into the page.
const LOOK: &str = include_str!("look.js");

/// The height of the first screen, in pixels.
const SCREEN: u32 = 1000;

/// The parts of the first screen of a phone, which is smaller than the window, and of a screen: with their lowest ends.
const OF_PHONE: &str = "[['.figures', 700], ['.trust', 850]]";
const OF_SCREEN: &str = "[['.figures', 500], ['.trust', 500], ['.lead svg', 700], ['.top .scroll', 900]]";

/// The program, and a place for the files of one test.
struct Browser {
    program: &'static str,
    place: PathBuf,
}

impl Browser {
    /// Returns the browser; without one, the test is not shown.
    fn new(test: &str) -> Option<Browser> {
        // An ordinary Chromium has no window as narrow as a phone.
        const NAMES: [&str; 2] = ["chromium-headless-shell", "chrome-headless-shell"];
        let is_there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        let place = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../target/pages").join(test);
        fs::create_dir_all(&place).unwrap();
        let place = place.canonicalize().unwrap();
        let found = NAMES.into_iter().find(is_there).map(|program| Browser { program, place });
        if found.is_none() {
            // The harness captures `eprintln!` of a test that passes.
            let _ = std::writeln!(stderr(), "\nNOT SHOWN browser::{test}: there is no {}", NAMES[0]);
        }
        found
    }

    /// Opens a page, and returns the browser's output.
    fn open(&self, page: &str, width: u32, more: &[&str]) -> String {
        let file = self.place.join("page.html");
        fs::write(&file, page).unwrap();
        let found = Command::new(self.program)
            // Chromium refuses its sandbox for root. The page is our own, so it needs none.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--hide-scrollbars",
            ])
            .arg(std::format!("--user-data-dir={}", self.place.join("profile").display()))
            .arg(std::format!("--window-size={width},{SCREEN}"))
            .args(more)
            .arg(std::format!("file://{}", file.display()))
            .stderr(Stdio::null())
            .output()
            .unwrap();
        assert!(found.status.success(), "{more:?}: {}", found.status);
        String::from_utf8_lossy(&found.stdout).into_owned()
    }

    /// Returns the faults of a page, with more options for the browser. Its own rules would forbid the script.
    fn faults(&self, page: &str, width: u32, fold: &str, is_dark: bool, more: &[&str]) -> String {
        let (before, rest) = page.split_once("<meta http-equiv=\"Content-Security-Policy\"").unwrap();
        let (_, rest) = rest.split_once("/>").unwrap();
        let scheme = if is_dark { "dark" } else { "light" };
        let script = std::format!(
            "<script>const WIDTH = {width}, FOLD = {fold}, SCHEME = '{scheme}';\n{LOOK}</script></head>"
        );
        let page = std::format!("{before}{}", rest.replacen("</head>", &script, 1));
        let document = self.open(&page, width, &[&["--dump-dom", in_scheme(is_dark)], more].concat());
        let (_, faults) = document.split_once("data-faults=\"").expect("the script ran");
        faults.split('"').next().unwrap_or_default().into()
    }
}

/// Returns the option for a scheme, in Blink's numbers.
fn in_scheme(is_dark: bool) -> &'static str {
    if is_dark {
        "--blink-settings=preferredColorScheme=0"
    } else {
        "--blink-settings=preferredColorScheme=1"
    }
}

/// Returns the pages of some scenes, with their names.
fn pages(names: &[&'static str]) -> Vec<(&'static str, String)> {
    let mut found = Vec::new();
    for scene in scenes::all() {
        let name = names.iter().find(|name| scene.file.strip_suffix(".txt") == Some(**name));
        found.extend(name.map(|name| (*name, pages::page(scene))));
    }
    assert_eq!(found.len(), names.len(), "{names:?}");
    found
}

#[test]
fn reports_have_figures_and_pictures_on_the_first_screen() {
    let Some(browser) = Browser::new("reports") else { return };
    for (name, page) in pages(&["report", "report-two-nodes", "report-wide"]) {
        for (width, fold) in [(400, OF_PHONE), (1280, OF_SCREEN)] {
            for is_dark in [false, true] {
                let scheme = if is_dark { "dark" } else { "light" };
                let picture = browser.place.join(std::format!("{name}-{width}-{scheme}.png"));
                let picture = std::format!("--screenshot={}", picture.display());
                let faults = browser.faults(&page, width, fold, is_dark, &[&picture]);
                assert!(faults.is_empty(), "{name} of {width} pixels, {scheme}:\n{faults}");
            }
        }
    }
}

#[test]
fn other_pages_are_legible_and_do_not_scroll_sideways() {
    let Some(browser) = Browser::new("others") else { return };
    let names = [
        "matrix-four-nodes",
        "cores-many",
        "bandwidth-four-nodes",
        "loaded-two-nodes",
        "pages",
        "window",
        "curve-remote",
        "distribution-two-nodes",
        "system-dimms",
        "compare-cores-many",
        "report-saved",
    ];
    for (index, (name, page)) in pages(&names).into_iter().enumerate() {
        for width in [400, 1280] {
            let faults = browser.faults(&page, width, "[]", index % 2 > 0, &[]);
            assert!(faults.is_empty(), "{name} of {width} pixels:\n{faults}");
        }
    }
}

#[test]
fn cards_are_legible_and_nothing_overlaps() {
    /// Puts what is wrong with a card into the page: texts that leave it, or cross each other or the picture.
    const LOOK_AT_CARD: &str = "\
        const parts = [...document.querySelectorAll('svg.latency-bench > :is(text, svg)')];\
        const found = parts.map((part) => [part.textContent.slice(0, 40), part.getBoundingClientRect()]);\
        const out = found.filter(([, box]) => box.left < 0 || box.top < 0 || box.right > 1200 || box.bottom > 630);\
        const across = ([, a], [, b]) => Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1\
            && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 4;\
        const faults = out.map(([words]) => 'outside: ' + words);\
        found.forEach((one, i) => found.slice(i + 1).filter((other) => across(one, other))\
            .forEach((other) => faults.push(one[0] + ' across ' + other[0])));\
        if (found.length < 4) faults.push('only ' + found.length + ' parts');\
        document.body.dataset.faults = faults.join('; ');";
    let Some(browser) = Browser::new("cards") else { return };
    use Trouble::{Early, HostileNames, Interrupted, ManyWarnings, Unverified, Virtual, Wide};
    let troubles: [&'static [Trouble]; 7] = [
        &[],
        &[Unverified, ManyWarnings],
        &[HostileNames],
        &[Interrupted],
        &[Early],
        &[Wide, Virtual],
        &[Wide],
    ];
    for (index, troubles) in troubles.into_iter().enumerate() {
        let machine = ["one-node", "four-nodes", "two-sockets"][index % 3];
        let line = ["report --format=svg", "report --format=svg --anonymous"][index % 2];
        let card = findings::written(&Scene { troubles, ..scenes::plain(machine, line) });
        let card = card.split("standard error: ").next().unwrap_or_default();
        assert!(card.contains("width=\"1200\" height=\"630\""), "{index}: {card}");
        let page = std::format!(
            "<!DOCTYPE html><meta charset=\"utf-8\"><style>body{{margin:0}}</style><body>{card}\
             <script>{LOOK_AT_CARD}</script></body>"
        );
        let picture = browser.place.join(std::format!("card-{index}.png"));
        let picture = std::format!("--screenshot={}", picture.display());
        let document = browser.open(&page, 1200, &["--dump-dom", &picture, in_scheme(index % 2 > 0)]);
        let (_, faults) = document.split_once("data-faults=\"").expect("the script ran");
        assert!(
            faults.starts_with('"'),
            "{machine}, card {index}: {}",
            faults.split('"').next().unwrap_or_default()
        );
    }
}

#[test]
fn a_printed_report_has_everything_on_its_pages() {
    /// The width of A4 without margins, in CSS pixels.
    const PAPER: u32 = 718;
    let Some(browser) = Browser::new("print") else { return };
    let (_, page) = pages(&["report"]).remove(0);
    let printed = browser.place.join("report.pdf");
    let file = std::format!("--print-to-pdf={}", printed.display());
    browser.open(&page, 1280, &["--no-pdf-header-footer", &file]);
    let bytes = fs::read(&printed).unwrap();
    let count = String::from_utf8_lossy(&bytes).matches("/Type /Page\n").count();
    assert!(bytes.starts_with(b"%PDF") && (3..=40).contains(&count), "{count} pages");
    // Content that lies beyond the edge in the layout for paper is cut.
    let page = page.replace("@media print{", "@media screen{");
    let faults = browser.faults(&page, PAPER, "[]", false, &[]);
    assert!(faults.is_empty(), "{faults}");
}
