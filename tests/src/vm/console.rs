//! The output of a guest, and functions that read it.

use crate::terminal::shown;
use serde_json::Value;
use std::time::Duration;

/// The tool's last line when it is process 1.
const FINAL_LINE: &str = "latency-bench: exit status ";

/// The console of a guest that has ended by itself.
///
/// Standard output and standard error of the tool both go to the console, in the
/// order in which they were written.
#[derive(Clone, Debug)]
pub struct Console {
    /// The text that a terminal would finally show: without cleared lines and carriage returns.
    pub text: String,
    /// From the start of the emulator to its end.
    pub elapsed: Duration,
}

impl Console {
    /// Makes a console from the raw bytes of the serial line.
    pub fn new(bytes: &[u8], elapsed: Duration) -> Self {
        Console { text: shown(&String::from_utf8_lossy(bytes)), elapsed }
    }

    /// Returns true if nothing was printed: the kernel died before it ran any program.
    pub fn is_silent(&self) -> bool {
        self.text.trim().is_empty()
    }

    /// Returns the printed lines.
    pub fn lines(&self) -> impl Iterator<Item = &str> {
        self.text.lines()
    }

    /// Returns the status in the tool's final line; `None` if that line is missing.
    pub fn exit_status(&self) -> Option<i32> {
        let last = self.lines().filter_map(|line| line.strip_prefix(FINAL_LINE)).last()?;
        last.trim().parse().ok()
    }

    /// Returns the output of the tool before its final line.
    pub fn printed(&self) -> &str {
        match self.text.rfind(FINAL_LINE) {
            Some(end) => &self.text[..end],
            None => &self.text,
        }
    }

    /// Splits the output into runs, each up to and including its final line.
    pub fn runs(&self) -> Vec<Console> {
        let mut runs = Vec::new();
        let mut text = String::new();
        for line in self.lines() {
            text += line;
            text.push('\n');
            if line.starts_with(FINAL_LINE) {
                runs.push(Console { text: std::mem::take(&mut text), elapsed: self.elapsed });
            }
        }
        runs
    }

    /// Returns the first JSON object that starts a line, or the screen that UEFI cleared, whatever precedes and follows it.
    pub fn json(&self) -> Option<Value> {
        let starts = self.text.match_indices('{').map(|(at, _)| at);
        let begins = |at: &usize| self.text[..*at].is_empty() || self.text[..*at].ends_with(['\n', 'H']);
        starts.filter(begins).find_map(|at| {
            let mut values = serde_json::Deserializer::from_str(&self.text[at..]).into_iter::<Value>();
            values.next()?.ok().filter(Value::is_object)
        })
    }

    /// Returns the JSON object printed by a run that ended with `status`.
    ///
    /// # Panics
    ///
    /// If the status differs or there is no object, with the whole console.
    pub fn expect_json(&self, status: i32) -> Value {
        self.expect_status(status);
        self.json().unwrap_or_else(|| panic!("no JSON object on the console\n{}", self.framed()))
    }

    /// Asserts the exit status.
    ///
    /// # Panics
    ///
    /// If the status differs or the final line is missing, with the whole console.
    pub fn expect_status(&self, status: i32) -> &Self {
        let found = self.exit_status();
        assert!(found == Some(status), "exit status {found:?}, expected {status}\n{}", self.framed());
        self
    }

    /// Asserts that a line contains `words`.
    ///
    /// # Panics
    ///
    /// If no line does, with the whole console.
    pub fn expect_line(&self, words: &str) -> &Self {
        let found = self.lines().any(|line| line.contains(words));
        assert!(found, "no line has {words:?}\n{}", self.framed());
        self
    }

    /// Returns the console between two rules, for the message of a failure.
    pub fn framed(&self) -> String {
        format!("---- console ({:.1?}) ----\n{}\n---- end ----", self.elapsed, self.text.trim_end())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn console(text: &str) -> Console {
        Console::new(text.as_bytes(), Duration::ZERO)
    }

    #[test]
    fn the_final_line_gives_the_status() {
        let both = console("latency-bench: exit status 9\r\nx\r\nlatency-bench: exit status 2\r\n");
        assert_eq!(both.exit_status(), Some(2));
        assert_eq!(both.printed(), "latency-bench: exit status 9\nx\n");
        assert_eq!(console("Kernel panic\n").exit_status(), None);
        let runs: Vec<_> =
            both.runs().iter().map(|run| (run.printed().to_owned(), run.exit_status())).collect();
        assert_eq!(runs, [(String::new(), Some(9)), ("x\n".into(), Some(2))]);
    }

    #[test]
    fn json_is_found_among_other_lines() {
        let text = "latency-bench: warning: {odd}\r\n{ not json\r\n{\"a\":[1,\r\n{\"b\":2}]}\r\nlatency-bench: exit status 0\r\n";
        assert_eq!(console(text).expect_json(0), serde_json::json!({"a": [1, {"b": 2}]}));
        assert_eq!(console("nothing\n").json(), None);
    }
}
