//! Markdown files with a head of `key: value` lines, as agents, commands and skills are written.

use std::collections::BTreeMap;

/// A Markdown file, taken apart.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Document<'a> {
    fields: BTreeMap<&'a str, Field<'a>>,
    /// Everything behind the head.
    pub(crate) body: &'a str,
}

/// What stands behind a key.
#[derive(Debug, PartialEq, Eq)]
enum Field<'a> {
    Text(&'a str),
    Items(Vec<&'a str>),
}

impl<'a> Document<'a> {
    /// Takes a file apart. One without a head, or with one that never ends, is all body.
    pub(crate) fn parse(text: &'a str) -> Self {
        let whole = Self { fields: BTreeMap::new(), body: text };
        let Some(rest) = text.trim_start_matches('\u{feff}').strip_prefix("---") else {
            return whole;
        };
        let Some(rest) = rest.strip_prefix("\r\n").or_else(|| rest.strip_prefix('\n')) else {
            return whole;
        };
        let Some((head, body)) = split_head(rest) else { return whole };
        Self { fields: read_fields(head), body }
    }

    /// The value of a key, without quotes.
    pub(crate) fn field(&self, key: &str) -> Option<&'a str> {
        match self.fields.get(key)? {
            Field::Text("") | Field::Items(_) => None,
            Field::Text(text) => Some(text),
        }
    }

    /// The values of a key: items of a list, or a line with commas.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<String>> {
        let items: Vec<&str> = match self.fields.get(key)? {
            Field::Items(items) => items.clone(),
            Field::Text(text) => {
                let inner = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
                inner.unwrap_or(text).split(',').collect()
            }
        };
        let items = items.into_iter().map(|item| unquote(item.trim()).to_owned());
        Some(items.filter(|item| !item.is_empty()).collect())
    }
}

/// The head and what follows the line that ends it.
fn split_head(text: &str) -> Option<(&str, &str)> {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&text[..at], &text[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn read_fields(head: &str) -> BTreeMap<&str, Field<'_>> {
    let mut fields = BTreeMap::new();
    let mut open = None;
    for line in head.lines() {
        if let Some(item) = line.trim_start().strip_prefix("- ") {
            if let Some(Field::Items(items)) = open.and_then(|key| fields.get_mut(key)) {
                items.push(item.trim());
            }
        } else if let Some((key, value)) = line.split_once(':') {
            let (key, value) = (key.trim(), value.trim());
            let field = match value {
                "" => Field::Items(Vec::new()),
                value => Field::Text(unquote(value)),
            };
            fields.insert(key, field);
            open = Some(key);
        }
    }
    fields
}

fn unquote(text: &str) -> &str {
    let quoted = |quote: char| text.strip_prefix(quote).and_then(|text| text.strip_suffix(quote));
    quoted('"').or_else(|| quoted('\'')).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_lists_and_body() {
        let text =
            "---\nname: \"rev\"\ntools: Read, Grep\nskills:\n  - a\n  - 'b'\n---\n\nBody: x\n";
        let document = Document::parse(text);
        assert_eq!(document.field("name"), Some("rev"));
        assert_eq!(document.list("tools"), Some(vec!["Read".to_owned(), "Grep".to_owned()]));
        assert_eq!(document.list("skills"), Some(vec!["a".to_owned(), "b".to_owned()]));
        assert_eq!(document.field("missing"), None);
        assert_eq!(document.body.trim(), "Body: x");
    }

    #[test]
    fn without_an_ended_head_everything_is_body() {
        for text in ["plain", "---\nname: x\nno end", "--- not a head\n---\n", ""] {
            assert_eq!(Document::parse(text).body, text);
        }
    }

    #[test]
    fn line_endings_of_either_kind() {
        let document = Document::parse("---\r\nname: x\r\n---\r\nbody");
        assert_eq!((document.field("name"), document.body), (Some("x"), "body"));
    }
}
