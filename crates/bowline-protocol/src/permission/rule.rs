//! One permission rule, as an object on the wire and as the text people write: `Tool(specifier)`.

use std::{borrow::Cow, fmt, str::FromStr};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, maybe::Maybe};

/// Names calls of a tool: all of them, or those that fit a specifier.
///
/// The text form is `Tool` or `Tool(specifier)`; parentheses and backslashes that belong to
/// the specifier may be written `\(`, `\)` and `\\`. `Tool()` and `Tool(*)` mean `Tool`.
///
/// ```
/// use bowline_protocol::PermissionRule;
///
/// let rule: PermissionRule = "Bash(git *)".parse()?;
/// assert_eq!(rule.tool_name, "Bash");
/// assert_eq!(rule.content(), Some("git *"));
/// assert_eq!(rule.to_string(), "Bash(git *)");
/// # Ok::<(), bowline_protocol::RuleError>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PermissionRule {
    /// The tool, or a pattern of MCP tools.
    pub tool_name: String,
    /// Specifier without escapes; absent for all calls.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub rule_content: Maybe<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl PermissionRule {
    /// Every call of a tool.
    pub fn tool(name: impl Into<String>) -> Self {
        Self { tool_name: name.into(), ..Self::default() }
    }

    /// The calls of a tool that fit a specifier, which is given without escapes.
    pub fn scoped(name: impl Into<String>, content: impl Into<String>) -> Self {
        Self { rule_content: Maybe::Value(content.into()), ..Self::tool(name) }
    }

    /// Specifier, or `None` for all calls: an absent specifier, the empty one and `*` are the same.
    pub fn content(&self) -> Option<&str> {
        self.rule_content.as_ref().map(String::as_str).filter(|content| !is_everything(content))
    }

    /// Reads a list of rules separated by commas or spaces.
    pub fn parse_list(text: &str) -> Result<Vec<Self>, RuleError> {
        split_rules(text).map(str::parse).collect()
    }
}

/// The rules in a list, separated by commas or spaces outside parentheses.
pub fn split_rules(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_usize;
    let mut escaped = false;
    text.split(move |letter: char| {
        let literal = escaped;
        escaped = letter == '\\' && !literal;
        match letter {
            '(' if !literal => depth += 1,
            ')' if !literal => depth = depth.saturating_sub(1),
            ',' => return depth == 0,
            _ if letter.is_whitespace() => return depth == 0,
            _ => {}
        }
        false
    })
    .filter(|rule| !rule.is_empty())
}

/// Syntax error of a rule. Offsets are in bytes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RuleError {
    /// There is no tool name.
    #[error("rule `{rule}` names no tool")]
    NoTool {
        /// The text.
        rule: String,
    },
    /// A parenthesis is opened and never closed.
    #[error("rule `{rule}`: the parenthesis at {at} is not closed")]
    NotClosed {
        /// The text.
        rule: String,
        /// Offset of the opening parenthesis.
        at: usize,
    },
    /// A parenthesis is closed that was never opened.
    #[error("rule `{rule}`: the parenthesis at {at} was not opened")]
    NotOpened {
        /// The text.
        rule: String,
        /// Offset of the closing parenthesis.
        at: usize,
    },
    /// Something follows the specifier.
    #[error("rule `{rule}`: unexpected text at {at}, after the closing parenthesis")]
    TextAfter {
        /// The text.
        rule: String,
        /// Offset of the text.
        at: usize,
    },
}

impl FromStr for PermissionRule {
    type Err = RuleError;

    fn from_str(text: &str) -> Result<Self, RuleError> {
        let rule = text.trim();
        let named = |name: &str| match name.trim_end() {
            "" => Err(RuleError::NoTool { rule: rule.to_owned() }),
            name => Ok(Self::tool(name)),
        };
        let mut parentheses = parentheses(rule);
        let open = match parentheses.next() {
            None => return named(rule),
            Some((at, ')')) => return Err(RuleError::NotOpened { rule: rule.to_owned(), at }),
            Some((at, _)) => at,
        };
        let found = named(&rule[..open])?;
        // A specifier may hold parentheses of its own, so the last one ends it.
        let close = parentheses
            .filter(|(_, letter)| *letter == ')')
            .last()
            .map(|(at, _)| at)
            .ok_or_else(|| RuleError::NotClosed { rule: rule.to_owned(), at: open })?;
        if close + 1 < rule.len() {
            return Err(RuleError::TextAfter { rule: rule.to_owned(), at: close + 1 });
        }
        let content = unescape(&rule[open + 1..close]);
        if is_everything(&content) {
            return Ok(found);
        }
        Ok(Self { rule_content: Maybe::Value(content.into_owned()), ..found })
    }
}

impl fmt::Display for PermissionRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.content() {
            None => f.write_str(&self.tool_name),
            Some(content) => write!(f, "{}({})", self.tool_name, escape(content)),
        }
    }
}

fn is_everything(content: &str) -> bool {
    matches!(content, "" | "*")
}

/// The parentheses that are not escaped, and where they are.
fn parentheses(rule: &str) -> impl Iterator<Item = (usize, char)> {
    let mut escaped = false;
    rule.char_indices().filter(move |(_, letter)| {
        let literal = escaped;
        escaped = *letter == '\\' && !literal;
        !literal && matches!(letter, '(' | ')')
    })
}

fn unescape(content: &str) -> Cow<'_, str> {
    if !content.contains('\\') {
        return content.into();
    }
    let mut plain = String::with_capacity(content.len());
    let mut letters = content.chars().peekable();
    while let Some(letter) = letters.next() {
        // A backslash before anything else is part of a command or a pattern.
        match letters.next_if(|next| letter == '\\' && matches!(next, '(' | ')' | '\\')) {
            Some(literal) => plain.push(literal),
            None => plain.push(letter),
        }
    }
    plain.into()
}

fn escape(content: &str) -> Cow<'_, str> {
    if !content.contains(['\\', '(', ')']) {
        return content.into();
    }
    let mut text = String::with_capacity(content.len() + 2);
    for letter in content.chars() {
        if matches!(letter, '\\' | '(' | ')') {
            text.push('\\');
        }
        text.push(letter);
    }
    text.into()
}
