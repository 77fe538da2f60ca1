//! Reduction of the settings of an untrusted project to keys that grant nothing.
//!
//! The lists name what stays. A key that is not on them, or that a later version adds, does not.

use std::path::Path;

use bowline_model::ModelRef;
use bowline_protocol::{HookSettings, PermissionMode};
use serde_json::{Map, Value, json};

use super::{
    KnownSettings,
    harmless_variables::is_harmless,
    trust::{Part, SkippedHook, SkippedParts},
};

/// Keys that change how the model responds, and nothing else.
const MANNERS: &[&str] = &[
    "outputStyle",
    "language",
    "effortLevel",
    "alwaysThinkingEnabled",
    "maxThinkingTokens",
    "autoCompactEnabled",
    "autoCompactWindow",
];
/// Keys that only take away.
const REFUSALS: &[&str] = &["disabledMcpjsonServers"];
/// Lists of `permissions` that only take away.
const RULES: &[&str] = &["ask", "deny"];
/// Switches of `permissions` that take away when they are on.
const STRICTER_IF_TRUE: &[&str] = &[
    "blockReadsOutsideWorkingDirectories",
    "blockWritesOutsideWorkingDirectories",
    "denyInsteadOfPrompting",
];
/// Keys of `permissions` that take rights away when they are `disable`.
const STRICTER_IF_DISABLED: &[&str] = &["disableBypassPermissionsMode", "disableAutoMode"];
/// Keys that are reported by name where they do not apply.
const REPORTED: &[&str] = &[
    "disableAllHooks",
    "agent",
    "apiKeyHelper",
    "cleanupPeriodDays",
    "enableAllProjectMcpServers",
    "enabledMcpjsonServers",
];

/// Takes everything out of the settings of one file that could give rights, run a program or lead
/// elsewhere, and returns what that was. `known` are the parsed settings, `file` is the name of the file.
pub(super) fn reduce_untrusted(
    value: &mut Map<String, Value>,
    known: &KnownSettings,
    file: &str,
) -> SkippedParts {
    let mut left_out = SkippedParts::default();
    let whole = std::mem::take(value);
    for (key, said) in whole {
        let kept = match key.as_str() {
            name if MANNERS.contains(&name) || REFUSALS.contains(&name) => Some(said),
            "permissions" => permissions(&said, known, &mut left_out),
            "model" | "fallbackModel" => models(said, &key, &mut left_out),
            "env" => variables(said, &mut left_out),
            "sandbox" => sandbox(&said),
            // `false` only disables its own servers.
            "enableAllProjectMcpServers" if said == Value::Bool(false) => Some(said),
            "hooks" => {
                left_out.hooks.extend(skipped_hooks(&known.hooks, file));
                None
            }
            "mcpServers" => report_entries(&said, Part::Server, &mut left_out),
            "agents" => report_entries(&said, Part::Agent, &mut left_out),
            "enabledPlugins" => report_entries(&said, Part::Plugin, &mut left_out),
            "bowline" => {
                let hides_keys = said.get("hideKeys") == Some(&Value::Bool(true));
                let names = said.as_object().into_iter().flat_map(Map::keys);
                for name in names.filter(|name| !(hides_keys && *name == "hideKeys")) {
                    left_out.add(Part::Setting, format!("bowline.{name}"));
                }
                hides_keys.then(|| serde_json::json!({ "hideKeys": true }))
            }
            name => {
                if REPORTED.contains(&name) {
                    left_out.add(Part::Setting, name);
                }
                None
            }
        };
        if let Some(kept) = kept {
            value.insert(key, kept);
        }
    }
    left_out
}

/// Reports the entries of an object, none of which stays.
fn report_entries(said: &Value, part: Part, left_out: &mut SkippedParts) -> Option<Value> {
    for name in said.as_object().into_iter().flat_map(Map::keys) {
        left_out.add(part, name);
    }
    None
}

fn permissions(said: &Value, known: &KnownSettings, left_out: &mut SkippedParts) -> Option<Value> {
    let mut kept = Map::new();
    for (key, said) in said.as_object()? {
        let stays = match key.as_str() {
            name if RULES.contains(&name) => true,
            name if STRICTER_IF_TRUE.contains(&name) => *said == Value::Bool(true),
            name if STRICTER_IF_DISABLED.contains(&name) => said == "disable",
            "defaultMode" => known.permissions.default_mode.as_ref().is_some_and(gives_nothing),
            _ => false,
        };
        if stays {
            kept.insert(key.clone(), said.clone());
            continue;
        }
        let entries = || said.as_array().into_iter().flatten().filter_map(Value::as_str);
        match key.as_str() {
            "allow" => entries().for_each(|rule| left_out.add(Part::AllowRule, rule)),
            "additionalDirectories" => {
                entries().for_each(|folder| left_out.add(Part::Directory, folder));
            }
            _ => left_out.add(Part::Setting, format!("permissions.{key}")),
        }
    }
    Some(Value::Object(kept))
}

/// Whether a mode lets nothing run that the default one would prompt for.
fn gives_nothing(mode: &PermissionMode) -> bool {
    use PermissionMode::{Default, DontAsk, Plan};
    matches!(mode.clone().canonical(), Default | DontAsk | Plan)
}

/// The models of a service. Scripts and recordings are files that decide what the model does, and
/// another provider is another recipient of the conversation.
fn models(said: Value, key: &str, left_out: &mut SkippedParts) -> Option<Value> {
    let stays = match &said {
        Value::String(names) => names.split(',').all(is_harmless_model),
        Value::Array(names) => {
            names.iter().all(|name| name.as_str().is_some_and(is_harmless_model))
        }
        _ => false,
    };
    if !stays {
        left_out.add(Part::Setting, key);
    }
    stays.then_some(said)
}

/// Whether a project that is not trusted may choose a model of this name.
pub fn is_harmless_model(name: &str) -> bool {
    matches!(name.parse(), Ok(ModelRef::Anthropic(_)))
}

fn variables(said: Value, left_out: &mut SkippedParts) -> Option<Value> {
    let Value::Object(mut set) = said else { return None };
    set.retain(|name, _| {
        let stays = is_harmless(name);
        if !stays {
            left_out.add(Part::Variable, name);
        }
        stays
    });
    Some(Value::Object(set))
}

/// A project may request a sandbox, but not what is allowed inside of it.
fn sandbox(said: &Value) -> Option<Value> {
    let is_set = |name| said.get(name) == Some(&Value::Bool(true));
    is_set("enabled").then(|| {
        let mut kept = json!({"enabled": true, "autoAllowBashIfSandboxed": false});
        if is_set("failIfUnavailable") {
            kept["failIfUnavailable"] = true.into();
        }
        kept
    })
}

/// The hooks of a file, as hooks that do not run.
pub fn skipped_hooks<'a>(
    hooks: &'a HookSettings,
    file: &'a str,
) -> impl Iterator<Item = SkippedHook> + use<'a> {
    hooks.iter().flat_map(move |(event, groups)| {
        groups.iter().flat_map(|group| &group.hooks).map(move |hook| SkippedHook {
            event: event.to_string(),
            label: hook.label().to_owned(),
            file: file.to_owned(),
        })
    })
}

/// The path of a file relative to the project.
pub fn shown(file: &Path, project: &Path) -> String {
    file.strip_prefix(project).unwrap_or(file).display().to_string()
}
