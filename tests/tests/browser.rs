//! The page of a report in a real browser: makes pictures of it for a person, in `target/pages`, and checks the
//! properties that a program can read.
//!
//! A browser is 400 MB of packages, so the tests do not install one: without Chromium they are reported as not shown.

use latency_tests::directory::Directory;
use latency_tests::program::workspace;
use latency_tests::run::run;
use latency_tests::skip::not_shown;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

/// Stores the browser's layout in the document.
const LOOK: &str = "<script>addEventListener('load', () => {
    const right = element => element.getBoundingClientRect().right;
    const cut = [...document.querySelectorAll('body *')].map(right).reduce((most, one) => Math.max(most, one), 0);
    const bottom = part => Math.ceil(document.querySelector(part).getBoundingClientRect().bottom);
    const colour = getComputedStyle(document.body).backgroundColor;
    const parts = ['.figures', '.trust', '.lead svg', '.answers'].map(bottom);
    const found = [innerWidth, document.documentElement.scrollWidth, Math.ceil(cut), colour, ...parts];
    document.documentElement.setAttribute('data-found', found.join('|'));
});</script></head>";

/// Stores the colour of the corner of a picture.
const CORNER: &str = "<!DOCTYPE html><html><body><img id=\"i\" src=\"data:image/png;base64,@\"><script>
    addEventListener('load', () => {
        const canvas = document.createElement('canvas').getContext('2d');
        canvas.drawImage(document.getElementById('i'), 0, 0);
        document.body.setAttribute('data-found', canvas.getImageData(3, 3, 1, 1).data.join('|'));
    });</script></body></html>";

/// Shows a page that is narrower than the narrowest window of the browser, and copies what its script found.
const NARROW: &str = "<!DOCTYPE html><html><body style=\"margin:0\"><iframe id=\"f\" srcdoc=\"@\"
    style=\"border:0;width:400px;height:1000px\"></iframe><script>
    document.getElementById('f').onload = event => document.body.setAttribute('data-found',
        event.target.contentDocument.documentElement.getAttribute('data-found'));</script></body></html>";

/// The option for a dark page: `PreferredColorScheme::kDark` of Blink.
const DARK: &str = "--blink-settings=preferredColorScheme=0";

/// The height of the first screen, in pixels.
const SCREEN: u32 = 1000;

struct Browser {
    program: &'static str,
    place: Directory,
}

impl Browser {
    fn new(test: &str) -> Option<Browser> {
        const NAMES: [&str; 3] = ["chromium", "chromium-browser", "google-chrome"];
        let there = |name: &&str| Command::new(name).arg("--version").output().is_ok();
        match NAMES.into_iter().find(there) {
            Some(program) => Some(Browser { program, place: Directory::new(test) }),
            None => {
                not_shown(
                    &format!("browser::{test}"),
                    "there is no Chromium here: nobody looked at the pages",
                );
                None
            }
        }
    }

    /// Opens a page, and returns the browser's output.
    fn open(&self, page: &Path, width: u32, more: &[&str]) -> String {
        let found = Command::new(self.program)
            // Chromium refuses its sandbox for root. The page is our own, so it needs none.
            .args([
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--hide-scrollbars",
                "--virtual-time-budget=5000",
            ])
            .arg(format!("--user-data-dir={}", self.place.path().join("profile").display()))
            .arg(format!("--window-size={width},{SCREEN}"))
            .args(more)
            .arg(format!("file://{}", page.display()))
            .stderr(Stdio::null())
            .output()
            .expect("the browser");
        assert!(found.status.success(), "{page:?} {more:?}: {}", found.status);
        String::from_utf8_lossy(&found.stdout).into_owned()
    }

    /// Returns the fields that a script left in a page.
    fn found(&self, text: &str, width: u32, more: &[&str]) -> Vec<String> {
        let page = self.place.path().join("look.html");
        fs::write(&page, text).expect("a page");
        let document = self.open(&page, width, &[&["--dump-dom"], more].concat());
        let (_, found) = document.split_once("data-found=\"").expect("the script ran");
        found.split('"').next().unwrap_or_default().split('|').map(String::from).collect()
    }
}

/// Returns the page of a report, and the same with a script in it, which its own rules would forbid.
fn page() -> (PathBuf, String) {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    let path = MADE.get_or_init(|| {
        let path = pictures().join("report.html");
        run(&["report", "--size=64K", "--budget=10", &format!("--output={}", path.display())])
            .expect_status(0);
        path
    });
    let path = path.clone();
    let text = fs::read_to_string(&path).expect("a page");
    let (before, rest) = text.split_once("<meta http-equiv=\"Content-Security-Policy\"").expect("rules");
    let rest = rest.split_once("/>").expect("the end of a tag").1;
    (path, format!("{before}{rest}").replacen("</head>", LOOK, 1))
}

/// Returns the directory of the pictures.
fn pictures() -> PathBuf {
    let directory = workspace().join("target/pages");
    fs::create_dir_all(&directory).expect("a directory");
    directory
}

fn number(text: &str) -> u32 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// Encodes bytes as Base64 (RFC 4648).
fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::new();
    for three in bytes.chunks(3) {
        let all =
            three.iter().fold(0_u32, |all, byte| all << 8 | u32::from(*byte)) << (8 * (3 - three.len()));
        for digit in 0..4 {
            let place = (all >> (18 - 6 * digit) & 63) as usize;
            text.push(if digit > three.len() { '=' } else { char::from(DIGITS[place]) });
        }
    }
    text
}

#[test]
fn the_first_screen_has_figures_a_chart_the_trust_and_the_answers() {
    let Some(browser) = Browser::new("fits") else { return };
    let (path, text) = page();
    for (width, parts) in [(1280, 4), (800, 2)] {
        let found = browser.found(&text, width, &[]);
        let [inner, scroll, _, _, bottoms @ ..] = &found[..] else { panic!("{found:?}") };
        assert_eq!(number(inner), width);
        assert!(number(scroll) <= width, "wider than {width}: {found:?}");
        for bottom in &bottoms[..parts] {
            assert!(number(bottom) <= SCREEN, "below the first screen of {width}: {found:?}");
        }
        let picture = pictures().join(format!("report-{width}.png"));
        browser.open(&path, width, &[&format!("--screenshot={}", picture.display())]);
    }
}

#[test]
fn a_phone_shows_a_report_without_horizontal_scrolling() {
    let Some(browser) = Browser::new("phone") else { return };
    let (_, text) = page();
    let harness = NARROW.replacen('@', &text.replace('&', "&amp;").replace('"', "&quot;"), 1);
    let found = browser.found(&harness, 1280, &[]);
    let [inner, scroll, _, _, figures, ..] = &found[..] else { panic!("{found:?}") };
    assert_eq!((number(inner), number(scroll)), (400, 400), "{found:?}");
    assert!(number(figures) <= SCREEN, "no figures on the first screen: {found:?}");
}

#[test]
fn a_dark_page_is_dark() {
    let Some(browser) = Browser::new("dark") else { return };
    let (path, text) = page();
    for (name, more, brightest) in [("light", None, 255..=255), ("dark", Some(DARK), 0..=40)] {
        let more: Vec<&str> = more.into_iter().collect();
        let found = browser.found(&text, 1280, &more);
        let picture = pictures().join(format!("report-{name}.png"));
        browser.open(&path, 1280, &[&more[..], &[&format!("--screenshot={}", picture.display())]].concat());
        let harness = CORNER.replacen('@', &encoded(&fs::read(&picture).expect("a picture")), 1);
        let corner = browser.found(&harness, 1280, &[]);
        for colour in &corner[..3] {
            assert!(brightest.contains(&number(colour)), "{name}: {corner:?}, by its style {found:?}");
        }
    }
}

#[test]
fn a_printed_report_has_everything_on_its_pages() {
    /// The width of A4 without margins, in CSS pixels.
    const PAPER: u32 = 718;
    let Some(browser) = Browser::new("print") else { return };
    let (path, text) = page();
    let printed = pictures().join("report.pdf");
    let file = format!("--print-to-pdf={}", printed.display());
    browser.open(&path, 1280, &["--no-pdf-header-footer", &file]);
    let bytes = fs::read(&printed).expect("a PDF");
    let text_of = String::from_utf8_lossy(&bytes);
    let pages = text_of.matches("/Type /Page\n").count();
    assert!(bytes.starts_with(b"%PDF") && (3..=40).contains(&pages), "{pages} pages");
    // Content that lies beyond the edge in the layout for paper is cut.
    let found = browser.found(&text.replace("@media print{", "@media screen{"), PAPER, &[]);
    let [inner, scroll, cut, ..] = &found[..] else { panic!("{found:?}") };
    assert!(number(scroll) <= PAPER && number(cut) <= PAPER, "cut at {inner}: {found:?}");
}

#[test]
fn base64_agrees_with_the_standard() {
    for (bytes, text) in [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")] {
        assert_eq!(encoded(bytes.as_bytes()), text);
    }
}
