//! A project on disk and a policy for it, and calls written as one line.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bowline_permission::{
    ApprovalRequest, Denial, EvaluationContext, HookOpinion, Policy, ProposedCall, Roots,
    RuleSource, Verdict,
};
use bowline_protocol::{HookPermissionDecision, PermissionBehavior, PermissionMode};
use bowline_tools::Access;
use serde_json::{Value, json};
use tempfile::TempDir;

/// A project, a home and a place outside both, with a policy.
pub(super) struct Bench {
    pub(super) policy: Policy,
    pub(super) project: PathBuf,
    pub(super) home: PathBuf,
    pub(super) outside: PathBuf,
    hook: Option<HookOpinion>,
    needs_person: bool,
    _directory: TempDir,
}

impl Bench {
    pub(super) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        // The temporary directory may be a symlink itself; paths in expectations are real ones.
        let root = fs::canonicalize(directory.path()).unwrap();
        let [project, home, outside] = ["project", "home", "outside"].map(|name| root.join(name));
        for path in [&project, &home, &outside, &project.join("src"), &project.join("secret")] {
            fs::create_dir(path).unwrap();
        }
        for path in [project.join("a.txt"), project.join("secret/key"), outside.join("b.txt")] {
            fs::write(path, "text").unwrap();
        }
        let roots = Roots { current_directory: project.clone(), home: Some(home.clone()) };
        let policy = Policy::new(roots);
        let (hook, needs_person) = (None, false);
        Self { policy, project, home, outside, hook, needs_person, _directory: directory }
    }

    pub(super) fn mode(mut self, mode: &str) -> Self {
        self.policy.mode = PermissionMode::from(mode);
        self
    }

    /// Rules such as `allow Bash(git *)`.
    pub(super) fn rules(mut self, rules: &[&str]) -> Self {
        for rule in rules {
            let (behavior, rule) = rule.split_once(' ').unwrap();
            let rule = rule.replace("OUTSIDE", self.outside.to_str().unwrap());
            self.policy.rules.add(RuleSource::CliArg, &PermissionBehavior::from(behavior), &rule);
        }
        self
    }

    pub(super) fn hook(mut self, decision: &str) -> Self {
        let (reason, source) = (Some("because hook".to_owned()), "settings".to_owned());
        let decision = HookPermissionDecision::from(decision);
        self.hook = Some(HookOpinion { decision, reason, source });
        self
    }

    pub(super) fn needs_person(mut self) -> Self {
        self.needs_person = true;
        self
    }

    /// Evaluates a call such as `Bash git status`, `Write w.txt` or `WebFetch http://h/`.
    pub(super) fn verdict(&self, call: &str) -> Verdict {
        let (tool, argument) = call.split_once(' ').unwrap_or((call, ""));
        let argument = argument.replace("OUTSIDE", self.outside.to_str().unwrap());
        let path = self.project.join(&argument);
        let (input, access): (Value, Access) = match tool {
            "Bash" => (json!({ "command": argument }), Access::Command(argument)),
            "Read" | "Grep" | "Glob" => (json!({ "path": path }), Access::Read(vec![path])),
            "Write" | "Edit" | "NotebookEdit" => (json!({ "path": path }), Access::Edit(path)),
            "WebFetch" => (json!({ "url": argument }), Access::Fetch(argument)),
            "Skill" => (json!({ "skill": argument }), Access::Other),
            "Agent" | "Task" => (json!({ "subagent_type": argument }), Access::Nothing),
            "TodoWrite" => (json!({}), Access::Nothing),
            _ => (json!({ "text": argument, "count": 3 }), Access::Other),
        };
        let call = ProposedCall {
            tool,
            input: &input,
            access: &access,
            current_directory: &self.project,
            hook: self.hook.as_ref(),
            needs_person: self.needs_person,
        };
        self.policy.evaluate(&call, EvaluationContext::default())
    }

    /// The verdict in short: `allow mode`, `ask`, `deny rule`.
    pub(super) fn short(&self, call: &str) -> String {
        let (word, reason) = match self.verdict(call) {
            Verdict::Allow(reason) => ("allow", reason),
            Verdict::Ask(question) => ("ask", question.reason),
            Verdict::Deny(denial) => ("deny", denial.reason),
        };
        // That a command needs approval is what a question says anyway.
        let says_more = reason.text.as_deref() != Some("This command requires approval");
        match reason.kind.filter(|_| says_more) {
            Some(kind) => format!("{word} {kind}"),
            None => word.to_owned(),
        }
    }

    #[track_caller]
    pub(super) fn question(&self, call: &str) -> ApprovalRequest {
        match self.verdict(call) {
            Verdict::Ask(question) => *question,
            other => panic!("{call} should be asked about, not {other:?}"),
        }
    }

    #[track_caller]
    pub(super) fn denial(&self, call: &str) -> Denial {
        match self.verdict(call) {
            Verdict::Deny(denial) => denial,
            other => panic!("{call} should be denied, not {other:?}"),
        }
    }

    /// Holds calls against their verdicts in short.
    #[track_caller]
    pub(super) fn check(&self, rows: &[(&str, &str)]) {
        for (call, expected) in rows {
            assert_eq!(self.short(call), *expected, "{call}");
        }
    }

    pub(super) fn path(&self, name: &str) -> String {
        self.project.join(name).display().to_string()
    }
}

/// A symlink in the project.
pub(super) fn link(target: &Path, link: &Path) {
    std::os::unix::fs::symlink(target, link).unwrap();
}
