//! JSON lines: the whole document on one line, so that the results of many runs make one file.

use latency_core::json::Layout;

use super::document::Format;
use super::json;

/// One object on one line.
pub const JSON_LINES: Format = Format {
    name: "jsonl",
    extension: "jsonl",
    needs_picture: false,
    needs_attributes: false,
    collected: false,
    draws: false,
    write: |out, _, describe| json::write(out, Layout::OneLine, describe),
};
