//! JSON lines: the whole document on one line, so that the results of many runs make one file.

use latency_core::json::Layout;

use super::format::{Format, Purpose};
use super::json;

/// One object on one line.
pub const JSON_LINES: Format = Format {
    name: "jsonl",
    extension: "jsonl",
    purpose: Purpose::Document,
    write: |out, _, describe| json::write(out, Layout::OneLine, false, describe),
};
