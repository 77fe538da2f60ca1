//! All rules of a session, by behavior and source.

use std::{collections::HashMap, fmt, path::PathBuf};

use bowline_protocol::{PermissionBehavior, PermissionRule};

use super::{
    path_pattern::{PathPattern, PatternRoots},
    roots::Roots,
    rule::{Rule, Subject},
    source::RuleSource,
    text_pattern::TextPattern,
};

/// All rules of a session.
#[derive(Debug, Clone)]
pub struct RuleSet {
    roots: Roots,
    settings_roots: HashMap<RuleSource, PathBuf>,
    rules: Vec<Rule>,
    problems: Vec<RuleProblem>,
    managed_only: bool,
}

/// A rule that cannot be used, or not as it was meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleProblem {
    /// Where it comes from.
    pub source: RuleSource,
    /// Its behavior.
    pub behavior: PermissionBehavior,
    /// The rule as it was written.
    pub rule: String,
    /// What is wrong with it.
    pub problem: String,
}

impl fmt::Display for RuleProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { source, behavior, rule, problem } = self;
        write!(f, "{source}: {behavior} rule `{rule}`: {problem}")
    }
}

impl RuleSet {
    /// No rules yet.
    pub fn new(roots: Roots) -> Self {
        Self {
            roots,
            settings_roots: HashMap::new(),
            rules: Vec::new(),
            problems: Vec::new(),
            managed_only: false,
        }
    }

    /// Sets what `/path` means in the rules of a source; without it, it is below the directory
    /// the session started in. Rules that are already there keep their meaning.
    pub fn set_settings_root(&mut self, source: RuleSource, root: impl Into<PathBuf>) {
        self.settings_roots.insert(source, root.into());
    }

    /// Applies only the administrator's rules, or all.
    pub fn set_managed_only(&mut self, managed_only: bool) {
        self.managed_only = managed_only;
    }

    /// Whether only the administrator's rules apply.
    pub fn is_managed_only(&self) -> bool {
        self.managed_only
    }

    /// Adds a rule as people write it. A bad one is remembered as a [problem](Self::problems).
    pub fn add(&mut self, source: RuleSource, behavior: &PermissionBehavior, text: &str) {
        match text.parse::<PermissionRule>() {
            Ok(rule) => self.insert(source, behavior, rule, text.trim().to_owned()),
            Err(error) => self.problems.push(RuleProblem {
                source,
                behavior: behavior.clone(),
                rule: text.to_owned(),
                problem: error.to_string(),
            }),
        }
    }

    /// Adds rules as people write them.
    pub fn add_all(&mut self, source: RuleSource, behavior: &PermissionBehavior, rules: &[String]) {
        for rule in rules {
            self.add(source, behavior, rule);
        }
    }

    /// Adds a rule.
    pub fn add_rule(
        &mut self,
        source: RuleSource,
        behavior: &PermissionBehavior,
        rule: PermissionRule,
    ) {
        let text = rule.to_string();
        self.insert(source, behavior, rule, text);
    }

    /// Removes rules that mean the same as this one.
    pub fn remove_rule(
        &mut self,
        source: RuleSource,
        behavior: &PermissionBehavior,
        rule: &PermissionRule,
    ) {
        let same = |known: &Rule| {
            known.source == source
                && known.behavior == *behavior
                && known.rule.tool_name == rule.tool_name
                && known.rule.content() == rule.content()
        };
        self.rules.retain(|known| !same(known));
    }

    /// Removes all rules of a source with this behavior.
    pub fn clear(&mut self, source: RuleSource, behavior: &PermissionBehavior) {
        self.rules.retain(|rule| rule.source != source || rule.behavior != *behavior);
        self.problems.retain(|it| it.source != source || it.behavior != *behavior);
    }

    /// Removes all rules of a source, for instance to read its file again.
    pub fn clear_source(&mut self, source: RuleSource) {
        self.rules.retain(|rule| rule.source != source);
        self.problems.retain(|problem| problem.source != source);
    }

    /// Rules that cannot be used, each with its source.
    pub fn problems(&self) -> &[RuleProblem] {
        &self.problems
    }

    /// All rules, in the order they were added, whether they apply or not.
    pub fn iter(&self) -> impl Iterator<Item = &Rule> {
        self.rules.iter()
    }

    /// Whether a rule forbids every call of a tool, so that the model need not know of it.
    pub fn is_disabled(&self, tool: &str) -> bool {
        self.with_behavior(&PermissionBehavior::Deny)
            .any(|rule| matches!(&rule.subject, Subject::Tool(pattern) if pattern.matches(tool)))
    }

    /// What rules that forbid every call of tools of servers call those: a tool, a server, or a
    /// pattern. Such tools come and go, so that they cannot be matched one by one in time.
    pub fn disabled_on_servers(&self) -> Vec<String> {
        let whole = |rule: &&Rule| matches!(rule.subject, Subject::Tool(_));
        let denied = self.with_behavior(&PermissionBehavior::Deny).filter(whole);
        let names = denied.map(|rule| rule.rule.tool_name.clone());
        names.filter(|name| name.starts_with("mcp__")).collect()
    }

    /// The rules that apply and have this behavior.
    pub(super) fn with_behavior(
        &self,
        behavior: &PermissionBehavior,
    ) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| {
            rule.behavior == *behavior && (!self.managed_only || rule.source == RuleSource::Policy)
        })
    }

    /// Whether some rule denies certain commands, or demands approval for them.
    pub(super) fn restricts_commands(&self) -> bool {
        self.restricting().any(|rule| matches!(rule.subject, Subject::Command(_)))
    }

    /// Whether some rule denies certain files, or demands approval for them.
    pub(super) fn restricts_files(&self) -> bool {
        self.restricting().any(|rule| matches!(rule.subject, Subject::Read(_) | Subject::Edit(_)))
    }

    /// The patterns of rules about certain files with this behavior.
    pub(super) fn file_patterns(
        &self,
        behavior: &PermissionBehavior,
    ) -> impl Iterator<Item = &PathPattern> {
        self.with_behavior(behavior).filter_map(|rule| match &rule.subject {
            Subject::Read(pattern) | Subject::Edit(pattern) => Some(pattern),
            _ => None,
        })
    }

    /// The patterns of commands that may run, with their rules.
    pub(super) fn allowed_commands(&self) -> impl Iterator<Item = (&TextPattern, &Rule)> {
        self.with_behavior(&PermissionBehavior::Allow).filter_map(|rule| match &rule.subject {
            Subject::Command(pattern) => Some((pattern, rule)),
            _ => None,
        })
    }

    fn restricting(&self) -> impl Iterator<Item = &Rule> {
        self.with_behavior(&PermissionBehavior::Deny)
            .chain(self.with_behavior(&PermissionBehavior::Ask))
    }

    /// A rule as it would be held against calls if it were one of these.
    pub(super) fn prepared(
        &self,
        source: RuleSource,
        behavior: &PermissionBehavior,
        rule: PermissionRule,
    ) -> Rule {
        let text = rule.to_string();
        Rule::new(rule, text, behavior.clone(), source, self.pattern_roots(source)).0
    }

    fn pattern_roots(&self, source: RuleSource) -> PatternRoots<'_> {
        let current = self.roots.current_directory.as_path();
        PatternRoots {
            current,
            home: self.roots.home.as_deref(),
            settings: self.settings_roots.get(&source).map_or(current, PathBuf::as_path),
        }
    }

    fn insert(
        &mut self,
        source: RuleSource,
        behavior: &PermissionBehavior,
        rule: PermissionRule,
        text: String,
    ) {
        let roots = self.pattern_roots(source);
        let (rule, problem) = Rule::new(rule, text, behavior.clone(), source, roots);
        if let Some(problem) = problem {
            let (behavior, rule) = (behavior.clone(), rule.text.clone());
            self.problems.push(RuleProblem { source, behavior, rule, problem });
        }
        self.rules.push(rule);
    }
}
