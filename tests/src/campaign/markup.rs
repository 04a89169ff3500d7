//! A strict reader of SVG and HTML pages: elements are closed, attributes are quoted, nothing runs or loads.
//!
//! # References
//!
//! W3C, "Extensible Markup Language (XML) 1.0", well-formedness; WHATWG, "HTML", void elements and raw text.

use std::collections::BTreeSet;

/// Elements of HTML that are never closed.
const VOID: [&str; 9] = ["br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"];

/// Checks a text of elements: a picture, or with `html` a page.
///
/// # Errors
///
/// The first error, with the text behind it.
pub fn check(text: &str, html: bool) -> Result<(), String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut any = false;
    while let Some(at) = rest.find('<') {
        check_text(&rest[..at], &open)?;
        let inside = &rest[at + 1..];
        let wrong = |why: &str| Err(format!("{why}: <{}", inside.chars().take(60).collect::<String>()));
        let (end, closing) = match inside.as_bytes().first() {
            Some(b'!') if inside.starts_with("!--") => ("-->", None),
            Some(b'!') => (">", None),
            Some(b'?') => ("?>", None),
            _ => ("", inside.strip_prefix('/')),
        };
        if !end.is_empty() {
            let Some(length) = inside.find(end) else { return wrong("no end") };
            rest = &inside[length + end.len()..];
        } else if let Some(closing) = closing {
            let Some((name, behind)) = closing.split_once('>') else { return wrong("no end") };
            if open.pop() != Some(name) {
                return wrong("an end of another element");
            }
            rest = behind;
        } else {
            any = true;
            let (name, closed, behind) = match element(inside, html) {
                Ok(parts) => parts,
                Err(why) => return wrong(&why),
            };
            rest = behind;
            let void = html && VOID.contains(&name);
            if name == "style" {
                let Some(at) = rest.find("</style>") else { return wrong("no end") };
                if rest[..at].contains("url(") || rest[..at].contains("@import") {
                    return wrong("a style that loads something");
                }
                rest = &rest[at + "</style>".len()..];
            } else if !closed && !void {
                open.push(name);
            }
        }
    }
    check_text(rest, &open)?;
    match (open.last(), any) {
        (Some(name), _) => Err(format!("<{name}> is not closed")),
        (None, false) => Err("no element at all".into()),
        (None, true) => Ok(()),
    }
}

/// Checks the text between elements.
fn check_text(text: &str, open: &[&str]) -> Result<(), String> {
    if open.is_empty() && !text.trim().is_empty() {
        return Err(format!("text outside of all elements: {}", text.trim()));
    }
    check_references(text)
}

fn check_references(text: &str) -> Result<(), String> {
    for part in text.split('&').skip(1) {
        let name = part.split(';').next().filter(|name| name.len() < part.len()).unwrap_or("");
        let known = ["amp", "lt", "gt", "quot", "apos", "nbsp"].contains(&name);
        let number = name.strip_prefix('#').is_some_and(|digits| {
            let hexadecimal = digits.strip_prefix('x').map(|digits| u32::from_str_radix(digits, 16));
            let code = hexadecimal.unwrap_or_else(|| digits.parse());
            code.ok().and_then(char::from_u32).is_some_and(|character| !character.is_control())
        });
        if !known && !number {
            return Err(format!("an unknown reference: &{}", part.chars().take(20).collect::<String>()));
        }
    }
    Ok(())
}

/// Reads an element behind its `<`. Returns its name, whether it is closed at once, and the text behind it.
fn element(text: &str, html: bool) -> Result<(&str, bool, &str), String> {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-' && c != ':').ok_or("no end")?;
    let (name, mut rest) = text.split_at(end);
    if name.is_empty() {
        return Err("no name".into());
    }
    if ["script", "iframe", "object", "embed", "foreignObject"].contains(&name) {
        return Err("an element that runs or loads something".into());
    }
    let mut known = BTreeSet::new();
    loop {
        rest = rest.trim_start();
        if let Some(behind) = rest.strip_prefix("/>") {
            return Ok((name, true, behind));
        }
        if let Some(behind) = rest.strip_prefix('>') {
            return Ok((name, false, behind));
        }
        let end = rest.find(['=', '>', ' ', '/']).ok_or("an attribute without an end")?;
        let (attribute, behind) = rest.split_at(end);
        if attribute.is_empty() || !known.insert(attribute) {
            return Err(format!("the attribute {attribute:?}"));
        }
        let Some(quoted) = behind.strip_prefix("=\"") else {
            if html && !behind.starts_with('=') {
                rest = behind;
                continue;
            }
            return Err(format!("the attribute {attribute} without quotes"));
        };
        let (value, behind) = quoted.split_once('"').ok_or("no second quote")?;
        check_references(value)?;
        let is_inside = ["#", "data:"].iter().any(|scheme| value.starts_with(scheme));
        let loads = ["href", "src", "xlink:href"].contains(&attribute) && !is_inside;
        if value.contains('<') || attribute.starts_with("on") || loads {
            return Err(format!("the attribute {attribute}={value}"));
        }
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_and_a_picture_are_read() {
        check("<?xml version=\"1.0\"?>\n<svg a=\"1\"><g b=\"&lt;x\"/><t>a &amp; b</t></svg>\n", false)
            .unwrap();
        check("<!doctype html><html><meta charset=\"utf-8\"><p hidden>a<br>b</p></html>", true).unwrap();
    }

    #[test]
    fn text_that_is_not_well_formed_or_runs_is_refused() {
        for text in [
            "",
            "text",
            "<a>",
            "<a></b>",
            "<a b=c></a>",
            "<a b=\"1\" b=\"2\"/>",
            "<a>&wombat;</a>",
            "<a>& b</a>",
            "<a>&#27;</a>",
            "<a><script>x</script></a>",
            "<a onclick=\"x\"/>",
            "<a href=\"http://x\"/>",
            "<a/>text",
            "<style>@import x</style>",
        ] {
            assert!(check(text, true).is_err(), "{text}");
        }
        assert!(check("<a hidden/>", false).is_err());
    }
}
