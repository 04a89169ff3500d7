//! What a terminal shows of what was written to it.

/// Back to the start of the line, and clear it (ECMA-48 EL): how progress is replaced.
const CLEAR_LINE: &str = "\r\x1b[K";

/// The text without lines that were cleared, and without the carriage returns of a serial line.
pub fn shown(written: &str) -> String {
    let lines: Vec<&str> =
        written.split('\n').map(|line| line.rsplit(CLEAR_LINE).next().unwrap_or(line)).collect();
    lines.join("\n").replace('\r', "")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn progress_that_was_cleared_is_not_shown() {
        assert_eq!(shown("\r\x1b[Kplacing\r\x1b[Kround 1\r\x1b[KNode 0\r\nrest\r\x1b[K"), "Node 0\n");
    }
}
