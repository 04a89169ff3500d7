//! The style sheet of pages: light, dark if the reader prefers it, and for print.
//!
//! Texts have a contrast of at least 4.5 to 1 on both backgrounds (WCAG 2.1, 1.4.3). Pictures have their own rules.

/// The style sheet. Each colour scheme defines the colours once, by name.
pub const SHEET: &str = "\
:root{color-scheme:light dark;--paper:#ffffff;--raised:#f4f6f8;--edge:#d0d7de;--ink:#1c2128;--quiet:#57606a;\
--good:#0b6b3a;--fair:#7a5200;--poor:#b3261e;--link:#0a58a6}
@media screen and (prefers-color-scheme:dark){
:root{--paper:#14181d;--raised:#1d232a;--edge:#39424c;--ink:#e6eaee;--quiet:#9aa5b1;\
--good:#4cc38a;--fair:#e0b040;--poor:#ff8f85;--link:#6cb6ff}
}
body{max-width:76rem;margin:0 auto;padding:1rem 1.25rem 3rem;background:var(--paper);color:var(--ink);\
font:16px/1.5 system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}
.what{margin:0;color:var(--quiet);overflow-wrap:anywhere}
.what b{color:var(--ink)}
h1{margin:.2rem 0 .5rem;font-size:1.5rem;line-height:1.3;overflow-wrap:anywhere}
h2{margin:2rem 0 .6rem;font-size:1.15rem;line-height:1.35}
h3{margin:1rem 0 .4rem;font-size:1rem}
p,dd{max-width:52rem;overflow-wrap:anywhere}
p{margin:.5rem 0}
a{color:var(--link)}
nav{padding:.3rem 0;font-size:.85rem;background:var(--paper);border-bottom:1px solid var(--edge)}
nav a{display:inline-block;margin-right:.8rem;overflow-wrap:anywhere}
.top{display:grid;gap:1rem 2rem;margin:1rem 0}
.top>*{min-width:0;margin:0}
.figures{display:grid;grid-template-columns:1fr 1fr;gap:.6rem;max-width:40rem}
.figures div{padding:.5rem .8rem;border-radius:.4rem;background:var(--raised)}
.figures dt,.answers dt{padding:0}
.figures dd{color:var(--quiet);font-size:.85rem}
.figures dd b{display:block;color:var(--ink);font-size:clamp(1.4rem,6vw,1.9rem);line-height:1.25}
.figures .poor dd b,.answers .poor dd,body:has(.top .poor.trust) h1{color:var(--quiet)}
.figures div,.answers div{color:var(--ink)}
.answers{columns:3 19rem;column-gap:2rem;font-size:.9rem}
.answers div{padding:.3rem 0;break-inside:avoid}
.badge{display:inline-block;padding:0 .5em;border:1px solid;border-radius:1em;font-size:.8rem;white-space:nowrap}
.lead svg{display:block;max-width:100%;height:auto;margin-bottom:1rem}
.top table{font-size:.85rem}
.lead,.top .scroll{padding:0}
.top td,.top th{padding:.22rem .45rem}
.top caption,.facts th{padding-left:0;text-align:left}
.facts,.facts tbody{display:block}
.facts tbody{columns:3 19rem;column-gap:2rem}
.facts tr{display:grid;grid-template-columns:8rem 1fr;break-inside:avoid}
.facts td{text-align:left;white-space:normal;overflow-wrap:anywhere}
@media (min-width:60rem){
.top{grid-template-columns:1fr 1fr}
.answers,.answers+.facts{grid-column:1/-1}
nav{position:sticky;top:0}
}
.trust{margin:.6rem 0;padding:.3rem .8rem;border-left:.3rem solid;border-radius:.2rem;background:var(--raised)}
.good{color:var(--good)}
.fair{color:var(--fair)}
.poor{color:var(--poor)}
.lines{margin:1rem 0;padding:0;list-style:none;columns:19rem;font-variant-numeric:tabular-nums}
section{margin-top:2.5rem;padding-top:1rem;border-top:2px solid var(--edge);scroll-margin-top:3rem}
section h2{margin:.2rem 0 .3rem;font-size:1.3rem;overflow-wrap:anywhere}
dl{margin:0;columns:26rem;column-gap:2rem}
dt{padding-top:.6rem;font-weight:600;break-after:avoid}
dd{margin:0;break-inside:avoid}
.warnings dd{color:var(--quiet)}
figure,.scroll{display:inline-block;box-sizing:border-box;vertical-align:top;max-width:100%;margin:.6rem 0;\
padding-right:1.2rem;overflow-x:auto}
figure p{margin:0;font-size:.85rem}
figure svg{box-sizing:border-box;border:1px solid var(--edge);border-radius:8px}
table{border-collapse:collapse;font-variant-numeric:tabular-nums}
caption{padding:.2rem .5rem;text-align:left;color:var(--quiet)}
th,td{padding:.22rem .5rem;border-bottom:1px solid var(--edge);text-align:right;white-space:nowrap}
thead th{color:var(--quiet);font-weight:600;vertical-align:bottom}
tbody th{font-weight:500}
.word{text-align:left;white-space:normal;vertical-align:top}
pre{margin:.5rem 0;padding:.6rem .8rem;border-radius:.3rem;background:var(--raised);\
font:13px/1.45 ui-monospace,SFMono-Regular,Menlo,'DejaVu Sans Mono',monospace;white-space:pre-wrap;\
overflow-wrap:anywhere}
details{margin:.5rem 0}
summary{color:var(--link);cursor:pointer}
@media (max-width:40rem){
body{padding:1rem .75rem}
figure,.scroll{padding:0}
tbody th{overflow-wrap:anywhere}
table,.top table{font-size:.75rem}
th,td,.top th,.top td{padding:.2rem;white-space:normal}
tr:has(.word:last-child),tr:has(.word:last-child)>*{display:block}
}
@media print{
body{max-width:none;padding:0;font-size:10.5pt}
h1{font-size:16pt}
nav,figure p{display:none}
figure,tr,dt{break-inside:avoid}
h2,h3{break-after:avoid}
.scroll,figure{overflow:visible}
th,td{padding:.12rem .45rem;white-space:normal}
details:not([open]):not(.noted){display:none}
.noted::details-content{content-visibility:visible}
}
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::style::{Colour, contrast};

    /// Returns the colour with a name among the rules of one scheme.
    fn colour(rules: &str, name: &str) -> Colour {
        let hex = &rules.split_once(&std::format!("--{name}:#")).expect(name).1[..6];
        let part = |at: usize| u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
        Colour([part(0), part(2), part(4)])
    }

    #[test]
    fn texts_are_legible_in_both_schemes() {
        let (light, dark) = SHEET.split_once("@media screen").unwrap();
        for rules in [light, dark] {
            for ground in ["paper", "raised"] {
                for text in ["ink", "quiet", "good", "fair", "poor", "link"] {
                    let found = contrast(colour(rules, text), colour(rules, ground));
                    assert!(found >= 4.5, "{text} on {ground}: {found}");
                }
            }
        }
    }

    #[test]
    fn every_colour_has_a_name() {
        let rules = SHEET.split_once("body{").unwrap().1;
        assert!(!rules.contains('#'), "a colour that only one scheme has");
    }
}
