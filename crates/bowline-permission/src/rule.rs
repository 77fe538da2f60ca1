//! One permission rule, prepared for matching; its text is parsed by `bowline_protocol::PermissionRule`.

use bowline_protocol::{MatchedRule, PermissionBehavior, PermissionRule};

use super::{
    path_pattern::{PathPattern, PatternRoots, Reach},
    source::RuleSource,
    text_pattern::TextPattern,
    tool_name::{ToolPattern, canonical_tool},
};

/// A rule, its behavior and its source.
#[derive(Debug, Clone)]
pub struct Rule {
    /// What happens to the calls that it matches.
    pub behavior: PermissionBehavior,
    /// Where it comes from.
    pub source: RuleSource,
    /// The rule as it was written.
    pub text: String,
    pub(super) rule: PermissionRule,
    pub(super) subject: Subject,
}

/// What a rule is about.
#[derive(Debug, Clone)]
pub(super) enum Subject {
    /// Every call of some tools.
    Tool(ToolPattern),
    /// Shell commands.
    Command(TextPattern),
    /// Files that are read, by whatever tool.
    Read(PathPattern),
    /// Files that are changed, by whatever tool.
    Edit(PathPattern),
    /// Hosts that are fetched from.
    Domain(String),
    /// Calls of a tool with such a parameter.
    Parameter { tool: ToolPattern, name: String, value: TextPattern },
    /// Nothing: the rule has no effect.
    Nothing,
}

impl Rule {
    /// Prepares a rule. What is wrong with it comes beside it; such a rule matches nothing.
    pub(super) fn new(
        rule: PermissionRule,
        text: String,
        behavior: PermissionBehavior,
        source: RuleSource,
        roots: PatternRoots<'_>,
    ) -> (Self, Option<String>) {
        let (subject, problem) = match subject(&rule, &behavior, roots) {
            Ok(subject) => (subject, None),
            Err(problem) => (Subject::Nothing, Some(problem)),
        };
        (Self { behavior, source, text, rule, subject }, problem)
    }

    /// The rule as the protocol shows it.
    pub fn matched(&self) -> MatchedRule {
        MatchedRule {
            source: self.source.as_str().to_owned(),
            tool_name: self.rule.tool_name.clone(),
            rule_content: self.rule.content().map(str::to_owned),
            ..MatchedRule::default()
        }
    }
}

fn subject(
    rule: &PermissionRule,
    behavior: &PermissionBehavior,
    roots: PatternRoots<'_>,
) -> Result<Subject, String> {
    let tool = ToolPattern::new(&rule.tool_name, behavior);
    let Some(content) = rule.content() else { return Ok(Subject::Tool(tool)) };
    let reach = match behavior {
        PermissionBehavior::Allow => Reach::Current,
        _ => Reach::Everywhere,
    };
    let parameter = |name: &str, value: &str| Subject::Parameter {
        tool: tool.clone(),
        name: name.to_owned(),
        value: TextPattern::new(value),
    };
    match canonical_tool(&rule.tool_name) {
        "Bash" => Ok(Subject::Command(TextPattern::new(content))),
        "Read" => PathPattern::new(content, roots, reach).map(Subject::Read),
        "Edit" => PathPattern::new(content, roots, reach).map(Subject::Edit),
        "Write" | "NotebookEdit" | "MultiEdit" => Err(format!(
            "has no effect: write Edit({content}), which covers every tool that changes files"
        )),
        "Grep" | "Glob" | "LSP" => Err(format!(
            "has no effect: write Read({content}), which covers every tool that reads files"
        )),
        "Skill" => Ok(parameter("skill", content)),
        "Agent" => Ok(parameter("subagent_type", content)),
        name if name.starts_with("mcp__") && !content.contains(':') => {
            Err(format!("has no effect: write {name}__{content} for one tool of the server"))
        }
        name => match content.split_once(':') {
            Some(("domain", domain)) if name == "WebFetch" => {
                Ok(Subject::Domain(domain.to_ascii_lowercase()))
            }
            Some((key, value)) if !key.is_empty() => Ok(parameter(key, value)),
            _ => Err(format!("has no effect: {name} is scoped as {name}(parameter:value)")),
        },
    }
}
