//! The rules of a session as `list_permission_rules` shows them.

use bowline_protocol::{ListedRule, PermissionRulesState, RawJson};
use serde_json::json;

use super::{
    policy::Policy,
    rule::{Rule, Subject},
    source::RuleSource,
    text_pattern::TextPattern,
};

impl Policy {
    /// All rules with their sources, and what is wrong with some of them.
    pub fn list(&self) -> PermissionRulesState {
        let managed_only = self.rules.is_managed_only();
        let problems: Vec<RawJson> = self
            .rules
            .problems()
            .iter()
            .map(|it| {
                let source = it.source.as_str();
                json!({ "source": source, "rule": it.rule, "message": it.problem }).into()
            })
            .collect();
        PermissionRulesState {
            rules: self.rules.iter().map(|rule| listed(rule, managed_only)).collect(),
            workspace_directories: self
                .directories
                .iter()
                .map(|(source, location)| {
                    json!({ "path": location.named(), "source": source.as_str() }).into()
                })
                .collect(),
            original_cwd: self.roots.current_directory.to_string_lossy().into_owned(),
            managed_only,
            errors: (!problems.is_empty()).then_some(problems),
            ..PermissionRulesState::default()
        }
    }
}

fn listed(rule: &Rule, managed_only: bool) -> ListedRule {
    let described = match &rule.subject {
        Subject::Command(TextPattern::Prefix(prefix)) => {
            Some(json!({ "prefix": "Any Bash command starting with ", "emphasis": prefix }))
        }
        Subject::Command(TextPattern::Exact(command)) => {
            Some(json!({ "prefix": "The Bash command ", "emphasis": command }))
        }
        Subject::Tool(_) => {
            Some(json!({ "prefix": "Any use of ", "emphasis": rule.rule.tool_name }))
        }
        _ => None,
    };
    let idle = match &rule.subject {
        _ if managed_only && rule.source != RuleSource::Policy => {
            Some("only the administrator's rules apply")
        }
        Subject::Nothing => Some("the rule matches nothing"),
        _ => None,
    };
    ListedRule {
        behavior: rule.behavior.clone(),
        source: rule.source.as_str().to_owned(),
        rule: rule.text.clone(),
        description: described.map(RawJson::from),
        editability: rule.source.editability().to_owned(),
        not_in_effect: idle.map(|why| json!(why).into()),
        extra: bowline_protocol::Extra::new(),
    }
}
