//! Permission updates that an approval request suggests ("always allow").

use std::path::Path;

use bowline_protocol::{
    DirectoriesUpdate, Extra, ModeUpdate, PermissionBehavior, PermissionMode, PermissionRule,
    PermissionUpdate, RulesUpdate, UpdateDestination,
};

use super::{
    call::ProposedCall, command::CommandLine, location::Location, resolved_access::ResolvedAccess,
    text_pattern::TextPattern,
};

/// Programs that run whatever their arguments say: allowing a prefix of them allows everything.
const RUNNERS: &[&str] = &[
    "bash", "sh", "zsh", "dash", "ksh", "sudo", "doas", "su", "env", "xargs", "eval", "exec",
    "source", "timeout", "nohup", "time", "nice", "python", "python3", "node", "ruby", "perl",
    "php", "deno", "bun", "npx", "ssh", "watch", "parallel", "command", "builtin",
];

pub(super) fn accept_edits() -> PermissionUpdate {
    PermissionUpdate::SetMode(ModeUpdate {
        mode: PermissionMode::AcceptEdits,
        destination: UpdateDestination::Session,
        extra: Extra::new(),
    })
}

/// For a file outside the working directories that is to be read.
pub(super) fn for_read(outside: &Location) -> Vec<PermissionUpdate> {
    let pattern = match outside.directory().to_string_lossy().trim_start_matches('/') {
        "" => "//**".to_owned(),
        below => format!("//{below}/**"),
    };
    vec![allow(PermissionRule::scoped("Read", pattern), UpdateDestination::Session)]
}

/// For a command that reads outside the working directories.
pub(super) fn for_read_command(
    call: &ProposedCall<'_>,
    line: &CommandLine,
    outside: &Location,
) -> Vec<PermissionUpdate> {
    command(call, line).into_iter().chain(for_read(outside)).collect()
}

/// For a file outside the working directories that is to be changed.
pub(super) fn for_edit_outside(outside: &Location, mode: &PermissionMode) -> Vec<PermissionUpdate> {
    let other_mode = (*mode != PermissionMode::AcceptEdits).then(accept_edits);
    other_mode.into_iter().chain([add_directory(outside.parent())]).collect()
}

/// For a command that changes files.
pub(super) fn for_file_command(
    call: &ProposedCall<'_>,
    line: &CommandLine,
    changed: &Location,
) -> Vec<PermissionUpdate> {
    let mut updates: Vec<PermissionUpdate> = command(call, line).into_iter().collect();
    updates.extend([add_directory(changed.directory()), accept_edits()]);
    updates
}

/// For a command that nothing speaks for: its first words if they name what it does, else all of it.
pub(super) fn command(call: &ProposedCall<'_>, line: &CommandLine) -> Option<PermissionUpdate> {
    let [part] = line.parts.as_slice() else { return exact_command(call, line) };
    let mut words = part.command.words.iter().map(|word| word.literal());
    let (Some(Some(name)), Some(Some(subcommand))) = (words.next(), words.next()) else {
        return exact_command(call, line);
    };
    let is_word = |text: &str| {
        text.starts_with(|it: char| it.is_ascii_lowercase())
            && text.chars().all(|it| it.is_ascii_alphanumeric() || "-_:".contains(it))
    };
    let plain = part.command.assignments.is_empty() && is_word(name) && is_word(subcommand);
    if !plain || RUNNERS.contains(&name) {
        return exact_command(call, line);
    }
    let rule = PermissionRule::scoped(call.tool, format!("{name} {subcommand} *"));
    Some(allow(rule, UpdateDestination::LocalSettings))
}

/// For exactly this command line. One that does not fit on a line is not offered.
pub(super) fn exact_command(
    call: &ProposedCall<'_>,
    line: &CommandLine,
) -> Option<PermissionUpdate> {
    let fits = !line.text.is_empty() && !line.text.contains('\n');
    // A star in a command is a star, not a pattern; and `:*` at its end would be one.
    let rule = PermissionRule::scoped(call.tool, TextPattern::escape(&line.text));
    fits.then(|| allow(rule, UpdateDestination::LocalSettings))
}

/// For a tool that only its name, its skill or its host describes.
pub(super) fn for_tool(call: &ProposedCall<'_>, access: &ResolvedAccess) -> Vec<PermissionUpdate> {
    let rule = match (access, call.input["skill"].as_str()) {
        (ResolvedAccess::Fetch(host), _) => {
            PermissionRule::scoped(call.tool, format!("domain:{host}"))
        }
        (_, Some(skill)) if call.tool == "Skill" => {
            PermissionRule::scoped(call.tool, skill.trim_start_matches('/'))
        }
        _ => PermissionRule::tool(call.tool),
    };
    vec![allow(rule, UpdateDestination::LocalSettings)]
}

fn add_directory(directory: &Path) -> PermissionUpdate {
    PermissionUpdate::AddDirectories(DirectoriesUpdate {
        directories: vec![directory.to_string_lossy().into_owned()],
        destination: UpdateDestination::Session,
        extra: Extra::new(),
    })
}

fn allow(rule: PermissionRule, destination: UpdateDestination) -> PermissionUpdate {
    PermissionUpdate::AddRules(RulesUpdate {
        rules: vec![rule],
        behavior: PermissionBehavior::Allow,
        destination,
        extra: Extra::new(),
    })
}
