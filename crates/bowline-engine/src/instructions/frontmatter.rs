//! Front matter of a Markdown file: `key: value` lines between two `---` lines.
//!
//! A subset of YAML is supported: strings, quoted or not, on one line or several, and lists of
//! them. Other lines are ignored, so that a command with invalid front matter still works.

use std::collections::HashMap;

use serde_json::Value;

use super::outline;

/// A Markdown file: front matter and body.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Document {
    front_matter: String,
    fields: HashMap<String, Field>,
    /// The text after the front matter.
    pub(crate) body: String,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Field {
    Text(String),
    List(Vec<String>),
}

impl Document {
    /// Parses a file. Without front matter all of it is the body.
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let Some((front_matter, body)) = split(text) else {
            return Self { body: text.to_owned(), ..Self::default() };
        };
        let fields = read_fields(front_matter);
        Self { front_matter: front_matter.to_owned(), fields, body: body.to_owned() }
    }

    /// A string field; `None` for a list or an empty string.
    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.fields.get(key)? {
            Field::Text(text) if !text.is_empty() => Some(text),
            _ => None,
        }
    }

    /// A field that is a list, or a string with commas between the items. Commas in parentheses
    /// belong to the item, as in `Bash(git add:*, git commit:*)`.
    pub(crate) fn list(&self, key: &str) -> Option<Vec<String>> {
        Some(match self.fields.get(key)? {
            Field::List(items) => items.clone(),
            Field::Text(text) => split_list(text),
        })
    }

    /// A field with nested fields, as JSON.
    pub(crate) fn nested(&self, key: &str) -> Option<Value> {
        let is_key = |line: &str| line.split_once(':').is_some_and(|(name, _)| name == key);
        let mut lines = self.front_matter.lines().skip_while(|line| !is_key(line));
        let (_, value) = lines.next()?.split_once(':')?;
        if !value.trim().is_empty() {
            return serde_json::from_str(value).ok();
        }
        let below = |line: &&str| line.trim().is_empty() || line.starts_with([' ', '\t', '-']);
        Some(outline::read(&lines.take_while(below).collect::<Vec<_>>()))
    }

    /// A field that is true or false.
    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.text(key)? {
            "true" | "yes" | "on" => Some(true),
            "false" | "no" | "off" => Some(false),
            _ => None,
        }
    }
}

fn split(text: &str) -> Option<(&str, &str)> {
    let rest = text.strip_prefix("---")?;
    let rest = rest.strip_prefix('\r').unwrap_or(rest).strip_prefix('\n')?;
    let mut at = 0;
    for line in rest.split_inclusive('\n') {
        if line.trim_end() == "---" {
            return Some((&rest[..at], &rest[at + line.len()..]));
        }
        at += line.len();
    }
    None
}

fn read_fields(front_matter: &str) -> HashMap<String, Field> {
    let mut fields = HashMap::new();
    let mut lines = front_matter.lines().peekable();
    while let Some(line) = lines.next() {
        let is_not_key = line.starts_with([' ', '\t', '-', '#']);
        let Some((key, value)) = line.split_once(':').filter(|_| !is_not_key) else { continue };
        let mut nested = Vec::new();
        while let Some(next) = lines.next_if(|next| {
            next.trim().is_empty() || next.starts_with([' ', '\t']) || next.starts_with("- ")
        }) {
            nested.push(next);
        }
        fields.insert(key.trim().to_owned(), read_value(value.trim(), &nested));
    }
    fields
}

fn read_value(value: &str, nested: &[&str]) -> Field {
    match value {
        "" => {
            let items = nested.iter().filter_map(|line| line.trim().strip_prefix("- "));
            Field::List(items.map(unquote).collect())
        }
        "|" | "|-" | "|+" => Field::Text(unindent(nested, "\n")),
        ">" | ">-" | ">+" => Field::Text(unindent(nested, " ")),
        _ => match value.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            Some(items) => Field::List(split_list(items)),
            None => {
                let more = nested.iter().map(|line| line.trim()).filter(|line| !line.is_empty());
                let whole: Vec<_> = [value].into_iter().chain(more).collect();
                Field::Text(unquote(&whole.join(" ")))
            }
        },
    }
}

fn unindent(lines: &[&str], between: &str) -> String {
    let trimmed: Vec<_> = lines.iter().map(|line| line.trim()).collect();
    trimmed.join(between).trim().to_owned()
}

/// The items of a list in one line.
fn split_list(text: &str) -> Vec<String> {
    let mut depth = 0_usize;
    let items = text.split(|letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    });
    items.map(unquote).filter(|item| !item.is_empty()).collect()
}

fn unquote(text: &str) -> String {
    let text = text.trim();
    let inner = |quote: char| text.strip_prefix(quote).and_then(|rest| rest.strip_suffix(quote));
    match (inner('"'), inner('\'')) {
        (Some(inner), _) => inner.replace("\\\"", "\"").replace("\\n", "\n"),
        (_, Some(inner)) => inner.replace("''", "'"),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_lists_and_flags_are_read_as_people_write_them() {
        let document = Document::parse(
            "---\n\
             description: \"Says: hello\"\n\
             allowed-tools: Bash(git add:*, git commit:*), Read\n\
             tools:\n  - Glob\n  - 'Grep'\n\
             more: [a, b]\n\
             long: >\n  one\n  two\n\
             # a remark\n\
             keep: true\n\
             ---\n\
             The body.\n---\nStill the body.\n",
        );
        assert_eq!(document.text("description"), Some("Says: hello"));
        let allowed = document.list("allowed-tools").unwrap();
        assert_eq!(allowed, ["Bash(git add:*, git commit:*)", "Read"]);
        assert_eq!(document.list("tools").unwrap(), ["Glob", "Grep"]);
        assert_eq!(document.list("more").unwrap(), ["a", "b"]);
        assert_eq!(document.text("long"), Some("one two"));
        assert_eq!(document.flag("keep"), Some(true));
        assert_eq!(document.text("missing"), None);
        assert_eq!(document.body, "The body.\n---\nStill the body.\n");
    }

    #[test]
    fn file_without_front_matter_is_all_body() {
        for text in ["", "just words", "--- no", "---\nnever: closed\n"] {
            assert_eq!(Document::parse(text).body, text);
        }
    }
}
