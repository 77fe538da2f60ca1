//! The policy that a session starts with.

use std::{fs, path::Path};

use bowline_engine::{
    permission::{Policy, Roots, RuleSource},
    settings::{Settings, SettingsPaths, expand_home},
};
use bowline_protocol::{PermissionBehavior, PermissionMode};

use super::SetupError;
use crate::{
    args::{RunArgs, split_rules},
    environment::Environment,
};

/// The policy that a session starts with, and notices about invalid rules and folders.
pub(super) fn policy(
    args: &RunArgs,
    settings: &Settings,
    places: &SettingsPaths,
    environment: &Environment,
    cwd: &Path,
) -> Result<(Policy, Vec<String>), SetupError> {
    let home = environment.home();
    let project = fs::canonicalize(cwd).unwrap_or_else(|_| cwd.to_owned());
    let roots = Roots { current_directory: cwd.to_owned(), home: home.clone() };
    let mut policy = settings.policy(places, roots);
    let mut notices = Vec::new();
    let typed = RuleSource::CliArg;
    let flags = &args.permissions;
    let rules = &mut policy.rules;
    rules.add_all(typed, &PermissionBehavior::Allow, &split_rules(&flags.allowed_tools));
    rules.add_all(typed, &PermissionBehavior::Deny, &split_rules(&flags.disallowed_tools));
    if args.sources.restricted {
        policy.blocks_reads_outside = true;
        policy.blocks_writes_outside = true;
        if flags.tools.is_none() {
            let runs = ["Bash", "WebFetch"].map(str::to_owned);
            policy.rules.add_all(typed, &PermissionBehavior::Deny, &runs);
        }
    }
    for folder in &flags.add_dir {
        let folder = expand_home(folder, home.as_deref());
        match fs::canonicalize(cwd.join(&folder)) {
            // What is part of the project is there already.
            Ok(found) if found.starts_with(&project) => {}
            Ok(found) if found.is_dir() => policy.add_directory(typed, &folder),
            _ => notices.push(format!("--add-dir: {} is not a folder", folder.display())),
        }
    }
    notices.extend(policy.rules.problems().iter().map(ToString::to_string));

    let forbidden = settings.forbids_bypass();
    let mode = start_mode(args, settings);
    let wanted = flags.dangerously_skip_permissions
        || flags.allow_dangerously_skip_permissions
        || mode == PermissionMode::BypassPermissions;
    if wanted && args.sources.restricted {
        return Err("bypassPermissions not supported in restricted mode".into());
    }
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
fn start_mode(args: &RunArgs, settings: &Settings) -> PermissionMode {
    if args.permissions.dangerously_skip_permissions {
        return PermissionMode::BypassPermissions;
    }
    if let Some(mode) = args.permissions.permission_mode {
        return mode.into();
    }
    settings.start_mode()
}
