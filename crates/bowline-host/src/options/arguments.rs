//! Command line and variables of the agent's process, as the official SDKs write them.

use std::{collections::BTreeMap, ffi::OsString, fs};

use serde_json::{Map, Value, json};

use super::{
    BuiltinTools, Options, PluginDelivery, Resume, Settings, Skills, SystemPrompt, Thinking,
    start_only::ANNOUNCED_BY_VARIABLE,
};
use crate::error::Error;

/// A text longer than this goes into `initialize`, because the system limits the length of an
/// argument (to 128 KiB on Linux).
pub(super) const LONGEST_ARGUMENT: usize = 64 * 1024;

/// The arguments, without the program.
pub(crate) fn arguments(options: &Options) -> Result<Vec<OsString>, Error> {
    let mut line = CommandLine(Vec::new());
    line.pair("output-format", "stream-json");
    line.flag("verbose");
    line.pair("input-format", "stream-json");
    model(options, &mut line);
    permissions(options, &mut line);
    conversation(options, &mut line);
    environment(options, &mut line)?;
    reports(options, &mut line);
    for (name, value) in &options.process.extra_args {
        match value {
            Some(value) if value.starts_with('-') => line.equals(name, value),
            Some(value) => line.pair(name, value),
            None => line.flag(name),
        }
    }
    Ok(line.0)
}

fn model(options: &Options, line: &mut CommandLine) {
    match &options.system_prompt {
        SystemPrompt::Empty => line.pair("system-prompt", ""),
        SystemPrompt::Text(text) if text.len() <= LONGEST_ARGUMENT => {
            line.pair("system-prompt", text);
        }
        SystemPrompt::File(path) => line.pair("system-prompt-file", path),
        SystemPrompt::Preset { append: Some(text), .. } if text.len() <= LONGEST_ARGUMENT => {
            line.pair("append-system-prompt", text);
        }
        SystemPrompt::Text(_) | SystemPrompt::Parts(_) | SystemPrompt::Preset { .. } => {}
    }
    line.optional("model", options.model.as_deref());
    line.list("fallback-model", &options.generation.fallback_models);
    line.list("betas", &options.generation.betas);
    match &options.generation.thinking {
        Some(Thinking::Adaptive) => line.pair("thinking", "adaptive"),
        Some(Thinking::Budget(tokens)) => line.pair("max-thinking-tokens", tokens.to_string()),
        Some(Thinking::Disabled) => line.pair("thinking", "disabled"),
        None => {}
    }
    let display = options.generation.thinking_display.as_deref();
    line.optional("thinking-display", display.filter(|_| thinks(options)));
    line.optional("effort", options.generation.effort.map(|effort| effort.as_str()));
    let max_turns = options.max_turns.filter(|turns| *turns > 0);
    line.optional("max-turns", max_turns.map(|turns| turns.to_string()));
    line.optional("max-budget-usd", options.generation.max_budget_usd.map(|usd| usd.to_string()));
    line.optional("task-budget", options.generation.task_budget.map(|tokens| tokens.to_string()));
    let schema = options.generation.output_schema.as_ref().map(Value::to_string);
    line.optional("json-schema", schema.filter(|text| text.len() <= LONGEST_ARGUMENT));
    line.optional("agent", options.settings.agent.as_deref());
}

/// Whether there may be anything to show of what the model thinks.
fn thinks(options: &Options) -> bool {
    options.generation.thinking != Some(Thinking::Disabled)
}

fn permissions(options: &Options, line: &mut CommandLine) {
    match &options.tools.builtin {
        Some(BuiltinTools::All) => line.pair("tools", "default"),
        Some(BuiltinTools::Only(names)) => line.pair("tools", names.join(",")),
        None => {}
    }
    let skills = match &options.settings.skills {
        Some(Skills::All) => vec!["Skill".to_owned()],
        Some(Skills::Named(names)) => names.iter().map(|name| format!("Skill({name})")).collect(),
        None => Vec::new(),
    };
    line.list("allowedTools", &[&options.allowed_tools[..], &skills].concat());
    line.list("disallowedTools", &options.tools.disallowed_tools);
    line.optional("permission-mode", options.permission_mode.as_ref().map(|mode| mode.as_str()));
    line.switch(
        "allow-dangerously-skip-permissions",
        options.permissions.allow_dangerously_skip_permissions,
    );
    match &options.permissions.permission_prompt_tool {
        Some(tool) => line.pair("permission-prompt-tool", tool),
        None if options.can_use_tool.is_some() => line.pair("permission-prompt-tool", "stdio"),
        None => {}
    }
    line.optional(
        "permission-prompts",
        options.permissions.permission_prompts.map(|who| who.as_str()),
    );
}

fn conversation(options: &Options, line: &mut CommandLine) {
    match &options.resume {
        Resume::No => {}
        Resume::Newest => line.flag("continue"),
        Resume::Session(id) => line.equals("resume", id),
    }
    line.switch("fork-session", options.session.fork_session);
    for (name, value) in [
        ("session-id", &options.session.session_id),
        ("resume-session-at", &options.session.resume_session_at),
        ("resume-drops-turn", &options.session.resume_drops_turn),
    ] {
        if let Some(value) = value {
            line.equals(name, value);
        }
    }
    line.switch("no-session-persistence", options.session.no_session_persistence);
    #[cfg(feature = "sessions")]
    line.switch("session-mirror", options.session.session_store.is_some());
}

fn environment(options: &Options, line: &mut CommandLine) -> Result<(), Error> {
    line.optional("settings", settings(options)?);
    line.optional(
        "managed-settings",
        options.settings.managed_settings.as_ref().map(Value::to_string),
    );
    match &options.settings.setting_sources {
        Some(sources) => {
            let names: Vec<_> = sources.iter().map(|source| source.as_str()).collect();
            line.equals("setting-sources", &names.join(","));
        }
        // Skills are found through settings.
        None if options.settings.skills.is_some() => line.equals("setting-sources", "user,project"),
        None => {}
    }
    for folder in &options.settings.add_dirs {
        line.pair("add-dir", folder);
    }
    line.optional("project-config-root", options.settings.project_config_root.as_ref());
    if !options.tools.mcp_servers.is_empty() {
        line.pair("mcp-config", json!({"mcpServers": options.tools.mcp_servers}).to_string());
    }
    for file in &options.tools.mcp_config_files {
        line.pair("mcp-config", file);
    }
    line.switch("strict-mcp-config", options.tools.strict_mcp_config);
    if options.settings.plugin_delivery == PluginDelivery::Initialize {
        line.switch("await-initialize", !options.settings.plugins.is_empty());
        return Ok(());
    }
    for plugin in &options.settings.plugins {
        match plugin.skip_mcp_discovery {
            true => line.pair("plugin-dir-no-mcp", &plugin.path),
            false => line.pair("plugin-dir", &plugin.path),
        }
    }
    Ok(())
}

fn reports(options: &Options, line: &mut CommandLine) {
    line.switch("include-partial-messages", options.messages.include_partial_messages);
    line.switch("include-hook-events", options.messages.include_hook_events);
    line.switch("replay-user-messages", options.messages.replay_user_messages);
    line.switch("debug", options.process.debug);
    line.optional("debug-file", options.process.debug_file.as_ref());
}

/// The settings, with the sandbox in them.
pub(crate) fn settings(options: &Options) -> Result<Option<OsString>, Error> {
    let Some(sandbox) = &options.settings.sandbox else {
        return Ok(options.settings.additional.as_ref().map(|settings| match settings {
            Settings::File(path) => path.into(),
            Settings::Inline(value) => value.to_string().into(),
        }));
    };
    let mut settings = match &options.settings.additional {
        None => Map::new(),
        Some(Settings::Inline(Value::Object(settings))) => settings.clone(),
        Some(Settings::Inline(_)) => {
            return Err(Error::Options("`settings` is not an object".to_owned()));
        }
        Some(Settings::File(path)) => {
            // The agent would look for it where it works.
            let path = options.cwd.clone().unwrap_or_default().join(path);
            let what = format!("reading the settings {}", path.display());
            let text = fs::read_to_string(path).map_err(|error| Error::connection(&what, error))?;
            // Editors of some systems begin a file with a byte order mark.
            serde_json::from_str(text.trim_start_matches('\u{feff}'))
                .map_err(|error| Error::Connection { what, source: Some(error.into()) })?
        }
    };
    settings.insert("sandbox".to_owned(), or_fail(sandbox.clone()));
    Ok(Some(Value::Object(settings).to_string().into()))
}

/// Has a requested sandbox that is unavailable fail the start, unless the options allow running without it.
fn or_fail(mut sandbox: Value) -> Value {
    if let Some(sandbox) = sandbox.as_object_mut()
        && sandbox.get("enabled") == Some(&Value::Bool(true))
    {
        sandbox.entry("failIfUnavailable").or_insert(Value::Bool(true));
    }
    sandbox
}

/// A command line that grows. Names come without their dashes.
struct CommandLine(Vec<OsString>);

impl CommandLine {
    fn flag(&mut self, name: &str) {
        self.0.push(format!("--{name}").into());
    }

    fn switch(&mut self, name: &str, on: bool) {
        if on {
            self.flag(name);
        }
    }

    fn pair(&mut self, name: &str, value: impl Into<OsString>) {
        self.flag(name);
        self.0.push(value.into());
    }

    /// For values that may look like a flag.
    fn equals(&mut self, name: &str, value: &str) {
        self.0.push(format!("--{name}={value}").into());
    }

    fn optional(&mut self, name: &str, value: Option<impl Into<OsString>>) {
        if let Some(value) = value {
            self.pair(name, value);
        }
    }

    fn list(&mut self, name: &str, values: &[String]) {
        if !values.is_empty() {
            self.pair(name, values.join(","));
        }
    }
}

/// Variables that the agent's process is given beside those of the options.
pub(crate) fn variables(options: &Options) -> BTreeMap<String, Option<String>> {
    let mut variables = BTreeMap::new();
    let mut set = |name: &str, value: &str| {
        variables.insert(name.to_owned(), Some(value.to_owned()));
    };
    set("CLAUDE_CODE_ENTRYPOINT", "sdk-rust");
    set("CLAUDE_AGENT_SDK_VERSION", env!("CARGO_PKG_VERSION"));
    set("CLAUDE_CODE_SDK_READS_SESSION_STATE", "1");
    if options.session.file_checkpointing {
        set("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true");
    }
    if let Some(name) = &options.process.client_app {
        set("CLAUDE_AGENT_SDK_CLIENT_APP", name);
    }
    if let Some(format) = options.tools.question_preview {
        set("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", format.as_str());
    }
    if let Some(span) = &options.process.trace_context {
        set("TRACEPARENT", &span.traceparent);
        set("TRACESTATE", span.tracestate.as_deref().unwrap_or_default());
    }
    for (subtype, variable) in ANNOUNCED_BY_VARIABLE {
        if options.callbacks.on_request.contains_key(subtype) {
            set(variable, "1");
        }
    }
    if let Some(cwd) = options.cwd.as_deref().and_then(|cwd| cwd.to_str()) {
        set("PWD", cwd);
    }
    // An agent that is started by an agent is not its child session.
    variables.insert("CLAUDECODE".to_owned(), None);
    variables.extend(options.process.env.clone());
    variables
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Effort, PermissionMode, PermissionResult, SettingSource};

    fn written(options: &Options) -> String {
        let line = arguments(options).unwrap();
        let line: Vec<_> = line.iter().map(|it| it.to_string_lossy().into_owned()).collect();
        let (fixed, rest) = line.split_at(5);
        assert_eq!(
            fixed.join(" "),
            "--output-format stream-json --verbose --input-format stream-json"
        );
        rest.join(" ")
    }

    #[test]
    fn default_options_have_an_empty_system_prompt() {
        assert_eq!(written(&Options::default()), "--system-prompt ");
    }

    #[test]
    fn values_are_written_as_flags_of_their_kind() {
        let mut options = Options::default()
            .model("opus")
            .allow(["Read", "Bash(ls:*)"])
            .resume("-odd-")
            .system_prompt(SystemPrompt::appended("Be brief."))
            .can_use_tool(async |_| PermissionResult::allow());
        options.generation.effort = Some(Effort::Xhigh);
        options.max_turns = Some(3);
        options.session.fork_session = true;
        options.permission_mode = Some(PermissionMode::Plan);
        options.settings.setting_sources = Some(vec![]);
        options.process.extra_args = BTreeMap::from([
            ("bare".to_owned(), None),
            ("dash".to_owned(), Some("-1".to_owned())),
            ("word".to_owned(), Some("x".to_owned())),
        ]);
        assert_eq!(
            written(&options),
            "--append-system-prompt Be brief. --model opus --effort xhigh --max-turns 3 \
             --allowedTools Read,Bash(ls:*) --permission-mode plan --permission-prompt-tool stdio \
             --resume=-odd- --fork-session --setting-sources= --bare --dash=-1 --word x"
        );
    }

    #[test]
    fn a_sandbox_is_part_of_the_settings() {
        let mut options = Options::default().system_prompt(SystemPrompt::preset());
        options.settings.additional = Some(Settings::Inline(json!({"model": "m"})));
        options.settings.sandbox = Some(json!({"enabled": true}));
        let settings = r#"{"model":"m","sandbox":{"enabled":true,"failIfUnavailable":true}}"#;
        assert_eq!(written(&options), format!("--settings {settings}"));
        let may_be_missing = json!({"enabled": true, "failIfUnavailable": false});
        options.settings.sandbox = Some(may_be_missing);
        options.settings.additional = None;
        let settings = r#"{"sandbox":{"enabled":true,"failIfUnavailable":false}}"#;
        assert_eq!(written(&options), format!("--settings {settings}"));
    }

    #[test]
    fn a_sandbox_is_put_into_a_settings_file_that_is_found_where_the_agent_works() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine.json"), "\u{feff}{\"model\":\"m\"}").unwrap();
        let mut options =
            Options::default().system_prompt(SystemPrompt::preset()).cwd(folder.path());
        options.settings.additional = Some(Settings::File("mine.json".into()));
        options.settings.sandbox = Some(json!({"enabled": false}));
        let settings = r#"{"model":"m","sandbox":{"enabled":false}}"#;
        assert_eq!(written(&options), format!("--settings {settings}"));
    }

    #[test]
    fn zero_max_turns_is_no_limit() {
        let mut options = Options::default().system_prompt(SystemPrompt::preset());
        options.max_turns = Some(0);
        assert_eq!(written(&options), "");
    }

    #[test]
    fn disabled_thinking_omits_its_display_flag() {
        let mut options = Options::default().system_prompt(SystemPrompt::preset());
        options.generation.thinking_display = Some("omitted".to_owned());
        assert_eq!(written(&options), "--thinking-display omitted");
        options.generation.thinking = Some(Thinking::Disabled);
        assert_eq!(written(&options), "--thinking disabled");
    }

    #[test]
    fn skills_are_allowed_and_found() {
        let mut options = Options::default().system_prompt(SystemPrompt::preset());
        options.settings.skills = Some(Skills::Named(vec!["pdf".to_owned()]));
        assert_eq!(written(&options), "--allowedTools Skill(pdf) --setting-sources=user,project");
        let options = options.setting_sources([SettingSource::Local]);
        assert_eq!(written(&options), "--allowedTools Skill(pdf) --setting-sources=local");
    }

    #[test]
    fn long_values_are_not_arguments() {
        let text = "x".repeat(LONGEST_ARGUMENT + 1);
        let mut options = Options::default().system_prompt(text.clone());
        options.generation.output_schema = Some(json!({"description": text}));
        assert_eq!(written(&options), "");
    }
}
