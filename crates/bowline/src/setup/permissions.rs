//! The policy that a session starts with.

use std::path::{Path, PathBuf};

use bowline_engine::{
    permission::{Policy, Roots, RuleSource},
    settings::{Places, Settings, Source, Trust},
};
use bowline_protocol::{PermissionBehavior, PermissionMode};

use super::SetupError;
use crate::{
    args::{RunArgs, split_rules},
    environment::Environment,
};

/// The policy that a session starts with, and what of the settings does not count.
pub(super) fn policy(
    args: &RunArgs,
    settings: &Settings,
    places: &Places,
    trust: Trust,
    environment: &Environment,
    cwd: &Path,
) -> Result<(Policy, Vec<String>), SetupError> {
    let home = environment.home();
    let mut policy = Policy::new(Roots { current_directory: cwd.to_owned(), home: home.clone() });
    let said = settings.permissions(places, trust);
    let mut notices = said.notices;
    policy.rules.set_managed_only(said.managed_only);
    for (source, path, rules) in said.layers {
        let source = rule_source(source);
        policy.rules.set_settings_root(source, rule_root(source, path.as_deref(), places));
        add(&mut policy, source, &PermissionBehavior::Allow, &rules.allow);
        add(&mut policy, source, &PermissionBehavior::Ask, &rules.ask);
        add(&mut policy, source, &PermissionBehavior::Deny, &rules.deny);
        for folder in &rules.additional_directories {
            policy.add_directory(source, &expand_home(folder, home.as_deref()));
        }
    }
    let typed = RuleSource::CliArg;
    let flags = &args.permissions;
    add(&mut policy, typed, &PermissionBehavior::Allow, &split_rules(&flags.allowed_tools));
    add(&mut policy, typed, &PermissionBehavior::Deny, &split_rules(&flags.disallowed_tools));
    for folder in &flags.add_dir {
        policy.add_directory(typed, &expand_home(folder, home.as_deref()));
    }
    notices.extend(policy.rules.problems().iter().map(ToString::to_string));

    let forbidden =
        settings.known().permissions.disable_bypass_permissions_mode.as_deref() == Some("disable");
    let mode = start_mode(args, settings, trust, &mut notices);
    let wanted = flags.dangerously_skip_permissions
        || flags.allow_dangerously_skip_permissions
        || mode == PermissionMode::BypassPermissions;
    if wanted && !forbidden && !environment.is_sandbox() && rustix::process::geteuid().is_root() {
        return Err(SetupError::BypassAsRoot);
    }
    if wanted && forbidden {
        notices.push("Permissions are not bypassed: settings forbid it.".to_owned());
    }
    policy.bypass_available = wanted && !forbidden;
    policy.mode = match mode {
        PermissionMode::BypassPermissions if forbidden => PermissionMode::Default,
        mode => mode.canonical(),
    };
    Ok((policy, notices))
}

/// The mode that was typed, or else that of the settings.
fn start_mode(
    args: &RunArgs,
    settings: &Settings,
    trust: Trust,
    notices: &mut Vec<String>,
) -> PermissionMode {
    if args.permissions.dangerously_skip_permissions {
        return PermissionMode::BypassPermissions;
    }
    if let Some(mode) = args.permissions.permission_mode {
        return mode.into();
    }
    let said = settings.known().permissions.default_mode.clone();
    let source = settings.get("permissions.defaultMode").map(|traced| traced.source);
    let lets_more_run = |mode: &PermissionMode| {
        use PermissionMode::{AcceptEdits, Auto, BypassPermissions};
        matches!(mode, AcceptEdits | Auto | BypassPermissions)
    };
    match said {
        Some(mode)
            if source == Some(Source::Project)
                && trust == Trust::Untrusted
                && lets_more_run(&mode) =>
        {
            notices.push(format!(
                "Ignoring permissions.defaultMode {mode} of the project: this workspace has not \
                 been trusted."
            ));
            PermissionMode::Default
        }
        Some(mode) => mode,
        None => PermissionMode::Default,
    }
}

fn add(policy: &mut Policy, source: RuleSource, behavior: &PermissionBehavior, rules: &[String]) {
    for rule in rules {
        policy.rules.add(source, behavior, rule);
    }
}

fn rule_source(source: Source) -> RuleSource {
    match source {
        Source::User => RuleSource::User,
        Source::Project => RuleSource::Project,
        Source::Local => RuleSource::Local,
        Source::Flag => RuleSource::Flag,
        Source::Policy => RuleSource::Policy,
    }
}

/// What `/path` means in a rule: the project in its own files, elsewhere the folder of the file.
fn rule_root(source: RuleSource, file: Option<&Path>, places: &Places) -> PathBuf {
    match source {
        RuleSource::Project | RuleSource::Local => places.project.clone(),
        _ => file.and_then(Path::parent).unwrap_or(Path::new("/")).to_owned(),
    }
}

fn expand_home(folder: &str, home: Option<&Path>) -> PathBuf {
    match (folder.strip_prefix('~'), home) {
        (Some(rest), Some(home)) if rest.is_empty() || rest.starts_with('/') => {
            home.join(rest.trim_start_matches('/'))
        }
        _ => PathBuf::from(folder),
    }
}
