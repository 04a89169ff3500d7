//! Whole documents: written to a string, read to a list of events.

#![allow(dead_code, reason = "a test of one direction needs one half")]

use latency_core::json::{Event, Layout, Reader, Writer};

/// Returns the document that `write` makes.
pub fn written(layout: Layout, write: impl FnOnce(&mut Writer<String>) -> std::fmt::Result) -> String {
    let mut writer = Writer::new(String::new(), layout);
    write(&mut writer).unwrap();
    writer.finish().unwrap()
}

/// Returns the document that `write` makes, on one line.
pub fn value(write: impl FnOnce(&mut Writer<String>) -> std::fmt::Result) -> String {
    written(Layout::OneLine, write)
}

/// Reads to the end, and returns the events as text, or the place and the reason of the failure.
pub fn events(document: &[u8]) -> Result<Vec<String>, (usize, &'static str)> {
    let mut reader = Reader::new(document);
    let mut events = Vec::new();
    loop {
        match reader.next_event().map_err(|error| (error.offset, error.what))? {
            Event::End => return Ok(events),
            Event::Key(key) => events.push(format!("key {key}")),
            Event::String(string) => events.push(format!("string {string}")),
            event => events.push(format!("{event:?}")),
        }
    }
}
