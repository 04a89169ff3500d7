//! Labels: additional facts about a host that the user supplies, as keys with values.
//!
//! Keys have only characters that are valid in keys of every format; values may be anything. This module does not read
//! the environment: the caller supplies the values of the named variables.

use alloc::vec::Vec;

use super::values::ValueError;

/// The maximum number of labels.
const MOST: usize = 16;
/// Maximum length of a key in characters: the maximum of Kubernetes labels.
const LONGEST: usize = 63;

/// Labels with different keys: each key and its value, or `None` if the value is that of the variable with this name.
#[derive(Clone, Debug, Default)]
pub struct Labels(Vec<(&'static str, Option<&'static [u8]>)>);

impl Labels {
    /// Adds the label of `KEY=VALUE`, or of the variable of `env:NAME`.
    ///
    /// # Errors
    /// Refuses any other text, a repeated key, and too many labels.
    pub fn add(&mut self, text: &'static [u8]) -> Result<(), ValueError<'static>> {
        let (key, value) = match text.strip_prefix(b"env:") {
            Some(name) => (name, None),
            None => {
                let end = text.iter().position(|&byte| byte == b'=').ok_or(ValueError::NotALabel)?;
                let (key, value) = text.split_at_checked(end).ok_or(ValueError::NotALabel)?;
                (key, value.get(1..))
            }
        };
        let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./".contains(byte);
        if key.is_empty() || key.len() > LONGEST || !key.iter().all(is_plain) {
            return Err(ValueError::NotALabel);
        }
        let key = core::str::from_utf8(key).map_err(|_| ValueError::NotALabel)?;
        if self.0.iter().any(|(known, _)| *known == key) {
            return Err(ValueError::SameKey);
        }
        if self.0.len() == MOST {
            return Err(ValueError::TooManyLabels);
        }
        self.0.push((key, value));
        Ok(())
    }

    /// Replaces the variables that labels name by their values.
    ///
    /// # Errors
    /// The name of the first variable for which `variable` returns `None`.
    pub fn resolve(&mut self, variable: &dyn Fn(&[u8]) -> Option<&'static [u8]>) -> Result<(), &'static str> {
        for (key, value) in self.0.iter_mut().filter(|(_, value)| value.is_none()) {
            *value = Some(variable(key.as_bytes()).ok_or(*key)?);
        }
        Ok(())
    }

    /// Returns every key with its value.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &'static [u8])> + use<'_> {
        self.0.iter().map(|&(key, value)| (key, value.unwrap_or_default()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(texts: &[&str]) -> Result<Labels, ValueError<'static>> {
        let mut labels = Labels::default();
        texts.iter().try_for_each(|text| labels.add(latency_engine::tests::leaked(text.as_bytes())))?;
        Ok(labels)
    }

    #[test]
    fn keys_have_values_or_variables() {
        let mut labels = added(&["rack=7", "a=b=c", "empty=", "env:JOB", "example.com/zone=\"\\\n"]).unwrap();
        labels.resolve(&|name| (name == b"JOB").then_some(&b"\xff42"[..])).unwrap();
        let all: Vec<_> = labels.iter().collect();
        assert_eq!(
            all,
            [
                ("rack", &b"7"[..]),
                ("a", b"b=c"),
                ("empty", b""),
                ("JOB", b"\xff42"),
                ("example.com/zone", b"\"\\\n")
            ]
        );
        assert_eq!(added(&["env:JOB"]).unwrap().resolve(&|_| None), Err("JOB"));
    }

    #[test]
    fn text_that_is_not_a_label_is_refused() {
        let long = "k".repeat(64) + "=1";
        for text in ["", "=", "=1", "rack", "env:", "env:A=B", "a b=1", "a\"=1", "ä=1", long.as_str()] {
            assert_eq!(added(&[text]).unwrap_err(), ValueError::NotALabel, "{text}");
        }
        assert_eq!(added(&["a=1", "a=1"]).unwrap_err(), ValueError::SameKey);
        assert_eq!(added(&["a=1", "env:a"]).unwrap_err(), ValueError::SameKey);
        let many: Vec<_> = (0..17).map(|number| std::format!("k{number}=")).collect();
        let many: Vec<_> = many.iter().map(std::string::String::as_str).collect();
        assert!(added(&many[..16]).is_ok());
        assert_eq!(added(&many).unwrap_err(), ValueError::TooManyLabels);
    }
}
