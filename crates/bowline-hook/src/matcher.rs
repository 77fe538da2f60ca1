//! Matchers: which events of a kind a hook applies to.

use regex::Regex;

/// The names that the tool for subagents has had. A matcher for one means the other as well.
const AGENT_NAMES: [&str; 2] = ["Agent", "Task"];

/// Decides whether a hook applies to a tool, a source or a reason.
#[derive(Debug, Clone)]
pub struct Matcher(Kind);

#[derive(Debug, Clone)]
enum Kind {
    Everything,
    Names(Vec<String>),
    Pattern(Regex),
    Nothing,
}

impl Matcher {
    /// Reads a matcher. Nothing, the empty text and `*` mean everything; names stand for
    /// themselves, also in a list with `|` or `,`; anything else is a regular expression
    /// that may match any part. One that is not valid matches nothing.
    pub fn new(text: Option<&str>) -> Self {
        let text = text.unwrap_or_default().trim();
        if matches!(text, "" | "*") {
            return Self(Kind::Everything);
        }
        let is_list = |letter: char| {
            letter.is_ascii_alphanumeric() || matches!(letter, '_' | '|' | ',' | ' ')
        };
        if text.chars().all(is_list) {
            let names = text.split(['|', ',']).map(str::trim).filter(|name| !name.is_empty());
            return Self(Kind::Names(names.map(str::to_owned).collect()));
        }
        Self(Regex::new(text).map_or(Kind::Nothing, Kind::Pattern))
    }

    /// Whether the matcher can match anything at all.
    pub fn is_valid(&self) -> bool {
        !matches!(self.0, Kind::Nothing)
    }

    /// Whether the hook is for `target`.
    pub fn matches(&self, target: &str) -> bool {
        match &self.0 {
            Kind::Everything => true,
            Kind::Names(names) => names.iter().any(|name| {
                name == target
                    || AGENT_NAMES.contains(&name.as_str()) && AGENT_NAMES.contains(&target)
            }),
            Kind::Pattern(pattern) => {
                pattern.is_match(target)
                    || AGENT_NAMES.contains(&target)
                        && AGENT_NAMES.iter().any(|name| pattern.is_match(name))
            }
            Kind::Nothing => false,
        }
    }
}
