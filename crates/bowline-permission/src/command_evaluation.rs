//! Verdict on a command line that no rule restricts: every part has to be allowed.

use bowline_protocol::{DecisionReasonType, PermissionMode};
use bowline_shell::{Command, Script};

use super::{
    call::ProposedCall,
    command::{CommandLine, Part, Repositories},
    evaluation::{Evaluation, allowed, needs_approval},
    policy::Policy,
    suggestions,
    verdict::{ApprovalRequest, Reason, Verdict},
    word_path::WordPath,
};

/// Why a part may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PartGrounds {
    /// It only reads.
    ReadOnly,
    /// It only reads, and the mode or a rule allows the file that its output goes to.
    Redirected,
    /// A rule or the mode allows it.
    Granted,
}

/// Reason for a command that no rule and no mode covers.
const UNKNOWN: &str = "This command requires approval";

/// Why a part may not run unasked.
#[derive(Debug)]
enum Objection<'a> {
    /// It writes here.
    Writes(&'a Part, &'a WordPath),
    /// It reads here.
    Reads(&'a Part, &'a WordPath),
    /// It writes to files that a pattern names.
    Pattern,
    /// It is `git` where a repository may run programs.
    Repository(&'a str),
    /// Nothing allows it.
    Unknown,
}

impl Evaluation<'_> {
    pub(super) fn evaluate_command(&self, call: &ProposedCall<'_>, line: &CommandLine) -> Verdict {
        let whole = self
            .policy
            .rules
            .allowed_commands()
            .find(|(pattern, _)| pattern.is_exact() && pattern.matches(&line.text));
        if let Some((_, rule)) = whole {
            return allowed(rule);
        }
        if let Some(opaque) = &line.script.opaque {
            let text = format!("The command is not understood: {opaque}");
            return ask_for_whole_command(call, line, text);
        }
        let (mut granted, mut unasked) = (false, Vec::new());
        for part in &line.parts {
            match self.evaluate_part(part) {
                Ok(PartGrounds::Granted) => granted = true,
                Ok(PartGrounds::ReadOnly) => unasked.push(part),
                Ok(PartGrounds::Redirected) => {
                    granted = true;
                    unasked.push(part);
                }
                Err(objection) => return self.ask_command(call, line, &objection),
            }
        }
        // What belongs to no part is judged like the parts that only read, if there are any.
        let exposed = unasked.iter().find_map(|part| shows_too_much(self.policy, line, part));
        let exposed = exposed
            .or_else(|| line_shows_too_much(self.policy, line).filter(|_| !unasked.is_empty()));
        if let Some(text) = exposed {
            return ask_for_whole_command(call, line, text);
        }
        // Together with what was granted, it does not get the environment of commands that only read.
        if granted && unasked.iter().any(|part| part.repositories == Repositories::Quiet) {
            let text = "The repository names programs that git would run";
            return ask_for_whole_command(call, line, text.to_owned());
        }
        if granted && line.has_dependent_parts() {
            let text = "A part of the command works on files that an earlier part writes or moves";
            return ask_for_whole_command(call, line, text.to_owned());
        }
        let confinement = (!granted).then(|| self.confinement(call, line));
        Verdict::Allow(Reason { confinement, ..Reason::of(DecisionReasonType::SubcommandResults) })
    }

    fn evaluate_part<'a>(&self, part: &'a Part) -> Result<PartGrounds, Objection<'a>> {
        let accepts_edits = *self.mode == PermissionMode::AcceptEdits;
        let mut grounds = PartGrounds::Granted;
        for path in &part.redirected {
            let covered = self.is_known_inside(path) && accepts_edits
                || matches!(path, WordPath::Known(location) if self.edit_rule(location).is_some());
            if !covered {
                return Err(Objection::Writes(part, path));
            }
        }
        let has_rule = self.policy.rules.allowed_commands().any(|(pattern, _)| part.fits(pattern));
        if has_rule || accepts_edits && part.is_file_command {
            // A pattern is taken apart only where a rule names the program.
            if !has_rule && part.writes_pattern {
                return Err(Objection::Pattern);
            }
            // An allowed program still stays within the working directories.
            if let Some(path) = part.writes.iter().find(|path| !self.is_known_inside(path)) {
                return Err(Objection::Writes(part, path));
            }
        } else if part.command.runs_read_only() {
            if let Repositories::Hostile(doubt) = &part.repositories {
                return Err(Objection::Repository(doubt));
            }
            if part.runs_projects_version {
                return Err(Objection::Unknown);
            }
            grounds = match part.redirected.is_empty() {
                true => PartGrounds::ReadOnly,
                false => PartGrounds::Redirected,
            };
        } else if let Some(path) = part.writes.first() {
            return Err(Objection::Writes(part, path));
        } else {
            let unknown = part.reads.iter().find(|path| matches!(path, WordPath::Unknown(_)));
            return Err(unknown.map_or(Objection::Unknown, |path| Objection::Reads(part, path)));
        }
        match part.reads.iter().find(|path| !self.is_readable(path)) {
            Some(path) => Err(Objection::Reads(part, path)),
            None => Ok(grounds),
        }
    }

    fn is_known_inside(&self, path: &WordPath) -> bool {
        matches!(path, WordPath::Known(location) if self.policy.is_inside(location))
    }

    fn is_readable(&self, path: &WordPath) -> bool {
        matches!(path, WordPath::Known(location) if self.may_read(location))
    }

    fn ask_command(
        &self,
        call: &ProposedCall<'_>,
        line: &CommandLine,
        objection: &Objection<'_>,
    ) -> Verdict {
        let (part, path) = match objection {
            Objection::Writes(part, path) | Objection::Reads(part, path) => (part, path),
            Objection::Repository(doubt) => {
                return ask_for_whole_command(call, line, (*doubt).to_owned());
            }
            Objection::Pattern => {
                let text = "A pattern names the files that it changes";
                return ask_for_whole_command(call, line, text.to_owned());
            }
            Objection::Unknown => {
                let reason = Reason::of(DecisionReasonType::Unspecified).text(UNKNOWN);
                let mut request = ApprovalRequest::new(reason, needs_approval(call));
                request.suggestions.extend(suggestions::command(call, line));
                return Verdict::Ask(Box::new(request));
            }
        };
        let name = part.command.name().unwrap_or("a redirection");
        let location = match path {
            WordPath::Known(location) => location,
            WordPath::Unknown(word) => {
                let text = format!(
                    "{name} works on {word}, and only the running shell knows what that is"
                );
                return ask_for_whole_command(call, line, text);
            }
        };
        let path = location.named().display();
        let inside = self.policy.is_inside(location);
        let mut request = if inside {
            let message = format!(
                "{name} in '{path}' needs approval: it would change a file in a working directory \
                 of this session."
            );
            ApprovalRequest::new(Reason::default(), message)
        } else {
            let text = format!("{path} is outside the working directories of this session");
            let message = format!("{name} in '{path}' needs approval: {text}.");
            ApprovalRequest::new(Reason::of(DecisionReasonType::WorkingDir).text(text), message)
        };
        request.blocked_path = Some(path.to_string());
        request.suggestions = match objection {
            Objection::Writes(..) => suggestions::for_file_command(call, line, location),
            _ => suggestions::for_read_command(call, line, location),
        };
        Verdict::Ask(Box::new(request))
    }
}

/// What is shown about substitutions.
const SUBSTITUTES: &str = "The output of a command inside it becomes part of the command";

/// What a part that only reads would show or run beyond what it was judged by.
fn shows_too_much(policy: &Policy, line: &CommandLine, part: &Part) -> Option<String> {
    let Command { variables, substitutes, .. } = &part.command;
    if line.script.defines_functions {
        return Some("The command defines a function, which may shadow a program".to_owned());
    }
    secret(policy, line, variables).or_else(|| substitutes.then(|| SUBSTITUTES.to_owned()))
}

/// The same of what belongs to no part, such as a here-document.
fn line_shows_too_much(policy: &Policy, line: &CommandLine) -> Option<String> {
    let Script { variables, substitutes, .. } = &line.script;
    secret(policy, line, variables).or_else(|| substitutes.then(|| SUBSTITUTES.to_owned()))
}

fn secret(policy: &Policy, line: &CommandLine, variables: &[String]) -> Option<String> {
    let name = line.script.secret_variables(variables).find(|name| !policy.is_unset(name))?;
    Some(format!("The command shows the environment variable {name}, which may be a secret"))
}

/// An approval request for the whole command, for this reason.
fn ask_for_whole_command(call: &ProposedCall<'_>, line: &CommandLine, text: String) -> Verdict {
    let message = format!("{} {text}.", needs_approval(call));
    let reason = Reason::of(DecisionReasonType::Unspecified).text(text);
    let mut request = ApprovalRequest::new(reason, message);
    request.suggestions.extend(suggestions::exact_command(call, line));
    Verdict::Ask(Box::new(request))
}
