//! The rows, in the order of the options.

use std::{collections::BTreeMap, sync::Arc};

use serde_json::{Value, json};

use super::{
    Becomes::{AnyFlag, AnyVariable, Field, Flag, Here, Variable},
    Row,
    Since::{Any, From, New, Old},
    row,
};
use crate::{
    BuiltinTools, DialogAnswer, DialogRequest, Effort, HookCall, HookEvent, HookMatcher,
    HookOutput, McpServer, McpServerConfig, OtherRequest, PermissionMode, PermissionPrompts,
    PermissionResult, Plugin, PluginDelivery, PreviewFormat, ProcessUser, Resume, SettingSource,
    Settings, Skills, SystemPrompt, Thinking, ToolRequest, TraceContext,
    carried::Carrier,
    options::AgentSetup,
    protocol::{AgentDefinition, McpRemoteServer},
};

/// A carrier that always fails.
fn carrier() -> impl Carrier {
    async |_: AgentSetup| {
        Err::<(tokio::io::Empty, tokio::io::Sink), _>(std::io::ErrorKind::Unsupported.into())
    }
}

// A table is read as a table.
#[rustfmt::skip]
pub(super) fn rows() -> Vec<Row> {
    vec![
        // Which agent, and how it is reached.
        row("process.cli_path", "cli_path", "pathToClaudeCodeExecutable", Any, |it| it.process.cli_path = Some("/bin/agent".into()), &[Here]),
        row("process.cli_runner", "", "executable, executableArgs", Any, |it| it.process.cli_runner = vec!["node".into()], &[Here]),
        row("process.spawner", "", "spawnClaudeCodeProcess", Any, |it| { it.process.spawner = Some(Arc::new(|mut command: tokio::process::Command| command.spawn())) }, &[Here]),
        row("transport", "transport", "", Any, |it| *it = std::mem::take(it).carried_by(carrier()), &[Here]),
        row("process.user", "user", "", Any, |it| it.process.user = Some(ProcessUser::Id(1000)), &[Here]),
        row("cwd", "cwd", "cwd", Any, |it| it.cwd = Some("/".into()), &[Variable("PWD", "/")]),
        row("process.env, process.clear_env", "env", "env", Any, |it| { it.process.env.insert("A".to_owned(), Some("b".to_owned())); }, &[AnyVariable("A", "b")]),
        row("process.extra_args", "extra_args", "extraArgs", Any, |it| { it.process.extra_args.insert("bare".to_owned(), None); }, &[AnyFlag("--bare")]),
        row("process.stderr", "stderr", "stderr", Any, |it| it.process.stderr = Some(Arc::new(|_| {})), &[Here]),
        row("process.client_app", "client_app", "", New, |it| it.process.client_app = Some("app/1".to_owned()), &[Variable("CLAUDE_AGENT_SDK_CLIENT_APP", "app/1")]),
        row("process.trace_context", "(active span)", "(active span)", Old, |it| { it.process.trace_context = Some(TraceContext { traceparent: "00-1-2-01".to_owned(), tracestate: None }) }, &[Variable("TRACEPARENT", "00-1-2-01"), Variable("TRACESTATE", "")]),
        row("limits.line", "max_buffer_size", "", Any, |it| it.limits.line = 1 << 20, &[Here]),
        row("limits.close", "", "abortController", Any, |it| it.limits.close = std::time::Duration::from_secs(2), &[Here]),
        // The model.
        row("model", "model", "model", Old, |it| it.model = Some("opus".to_owned()), &[Flag("--model opus")]),
        row("generation.fallback_models", "fallback_model", "fallbackModel", Old, |it| it.generation.fallback_models = vec!["a".to_owned(), "b".to_owned()], &[Flag("--fallback-model a,b")]),
        row("generation.thinking", "thinking", "thinking", New, |it| it.generation.thinking = Some(Thinking::Adaptive), &[Flag("--thinking adaptive")]),
        row("generation.thinking", "max_thinking_tokens", "maxThinkingTokens", Old, |it| it.generation.thinking = Some(Thinking::Budget(9)), &[Flag("--max-thinking-tokens 9")]),
        row("generation.thinking_display", "thinking", "thinking", New, |it| it.generation.thinking_display = Some("omitted".to_owned()), &[Flag("--thinking-display omitted")]),
        row("generation.effort", "effort", "effort", New, |it| it.generation.effort = Some(Effort::Max), &[Flag("--effort max")]),
        row("generation.betas", "betas", "betas", Old, |it| it.generation.betas = vec!["x".to_owned()], &[Flag("--betas x")]),
        row("system_prompt", "system_prompt", "systemPrompt", Old, |it| it.system_prompt = "Be brief.".into(), &[Flag("--system-prompt Be brief.")]),
        row("system_prompt", "system_prompt", "", Old, |it| it.system_prompt = SystemPrompt::File("/p".into()), &[Flag("--system-prompt-file /p")]),
        row("system_prompt", "", "systemPrompt", New, |it| it.system_prompt = SystemPrompt::Parts(vec!["a".to_owned()]), &[Field("systemPrompt", r#"["a"]"#)]),
        row("system_prompt", "system_prompt", "systemPrompt", Old, |it| it.system_prompt = SystemPrompt::appended("More."), &[Flag("--append-system-prompt More.")]),
        row("system_prompt", "system_prompt", "systemPrompt", New, |it| { it.system_prompt = SystemPrompt::Preset { append: None, exclude_dynamic_sections: true } }, &[Field("excludeDynamicSections", "true")]),
        row("generation.system_prompt_snapshot", "system_prompt", "systemPrompt", From("2.1.257"), |it| it.generation.system_prompt_snapshot = Some(true), &[Field("systemPromptSnapshot", "true")]),
        row("generation.append_subagent_system_prompt", "", "", New, |it| it.generation.append_subagent_system_prompt = Some("x".to_owned()), &[Field("appendSubagentSystemPrompt", r#""x""#)]),
        row("generation.plan_mode_instructions", "", "planModeInstructions", New, |it| it.generation.plan_mode_instructions = Some("x".to_owned()), &[Field("planModeInstructions", r#""x""#)]),
        row("generation.output_schema", "output_format", "outputFormat", Old, |it| it.generation.output_schema = Some(json!({"type": "object"})), &[Flag(r#"--json-schema {"type":"object"}"#)]),
        // Limits of a run.
        row("max_turns", "max_turns", "maxTurns", Old, |it| it.max_turns = Some(3), &[Flag("--max-turns 3")]),
        row("generation.max_budget_usd", "max_budget_usd", "maxBudgetUsd", Old, |it| it.generation.max_budget_usd = Some(1.5), &[Flag("--max-budget-usd 1.5")]),
        row("generation.task_budget", "task_budget", "taskBudget", New, |it| it.generation.task_budget = Some(9), &[Flag("--task-budget 9")]),
        // Tools.
        row("tools.builtin", "tools", "tools", Old, |it| it.tools.builtin = Some(BuiltinTools::Only(vec!["Read".to_owned(), "Bash".to_owned()])), &[Flag("--tools Read,Bash")]),
        row("allowed_tools", "allowed_tools", "allowedTools", Old, |it| it.allowed_tools = vec!["Read".to_owned()], &[Flag("--allowedTools Read")]),
        row("tools.disallowed_tools", "disallowed_tools", "disallowedTools", Old, |it| it.tools.disallowed_tools = vec!["Bash".to_owned()], &[Flag("--disallowedTools Bash")]),
        row("tools.tool_aliases", "", "toolAliases", New, |it| it.tools.tool_aliases = BTreeMap::from([("Shell".to_owned(), "Bash".to_owned())]), &[Field("toolAliases", r#"{"Shell":"Bash"}"#)]),
        row("tools.question_preview", "", "toolConfig", New, |it| it.tools.question_preview = Some(PreviewFormat::Html), &[Variable("CLAUDE_CODE_QUESTION_PREVIEW_FORMAT", "html")]),
        row("tools.mcp_servers", "mcp_servers", "mcpServers", Old, |it| { it.tools.mcp_servers.insert("w".to_owned(), McpServerConfig::Http(McpRemoteServer { url: "http://x".to_owned(), ..McpRemoteServer::default() })); }, &[Flag(r#"--mcp-config {"mcpServers":{"w":{"type":"http","url":"http://x"}}}"#)]),
        row("tools.mcp_config_files", "mcp_servers", "", Old, |it| it.tools.mcp_config_files = vec!["/m.json".into()], &[Flag("--mcp-config /m.json")]),
        row("sdk_mcp_servers", "mcp_servers", "mcpServers", Old, |it| it.sdk_mcp_servers = vec![McpServer::new("calc").into()], &[Field("sdkMcpServers", r#"["calc"]"#)]),
        row("tools.strict_mcp_config", "strict_mcp_config", "strictMcpConfig", Old, |it| it.tools.strict_mcp_config = true, &[Flag("--strict-mcp-config")]),
        // Permissions and hooks.
        row("permission_mode", "permission_mode", "permissionMode", Old, |it| it.permission_mode = Some(PermissionMode::Plan), &[Flag("--permission-mode plan")]),
        row("permissions.allow_dangerously_skip_permissions", "", "allowDangerouslySkipPermissions", Old, |it| it.permissions.allow_dangerously_skip_permissions = true, &[Flag("--allow-dangerously-skip-permissions")]),
        row("can_use_tool", "can_use_tool", "canUseTool", Old, |it| it.can_use_tool = Some(Arc::new(async |_: ToolRequest| PermissionResult::allow())), &[Flag("--permission-prompt-tool stdio")]),
        row("permissions.permission_prompt_tool", "permission_prompt_tool_name", "permissionPromptToolName", Old, |it| it.permissions.permission_prompt_tool = Some("mcp__s__t".to_owned()), &[Flag("--permission-prompt-tool mcp__s__t")]),
        row("permissions.permission_prompts", "", "permissionPrompts", New, |it| it.permissions.permission_prompts = Some(PermissionPrompts::Disabled), &[Flag("--permission-prompts none")]),
        row("hooks", "hooks", "hooks", Old, |it| { it.hooks.insert(HookEvent::Stop, vec![HookMatcher::always().run(async |_: HookCall| HookOutput::default())]); }, &[Field("hooks", r#"{"Stop":[{"matcher":null,"hookCallbackIds":["hook_0"]}]}"#)]),
        row("callbacks.on_elicitation", "", "onElicitation", Any, |it| { it.callbacks.on_elicitation = Some(Arc::new(async |_: crate::ElicitationRequest| { Err::<crate::protocol::ElicitationResponse, _>("no user is attached") })) }, &[Here]),
        row("callbacks.on_user_dialog", "", "onUserDialog, supportedDialogKinds", New, |it| { it.callbacks.on_user_dialog = Some((vec!["form".to_owned()], Arc::new(async |_: DialogRequest| DialogAnswer::Cancelled))) }, &[Field("supportedDialogKinds", r#"["form"]"#)]),
        row("callbacks.on_request", "", "getOAuthToken, getHostAuthToken", New, |it| { it.callbacks.on_request.insert("oauth_token_refresh".to_owned(), Arc::new(async |_: OtherRequest| Value::Null)); }, &[Variable("CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH", "1")]),
        // The conversation.
        row("resume", "continue_conversation", "continue", Old, |it| it.resume = Resume::Newest, &[Flag("--continue")]),
        row("resume", "resume", "resume", Old, |it| it.resume = Resume::Session("s".to_owned()), &[Flag("--resume=s")]),
        row("session.fork_session", "fork_session", "forkSession", Old, |it| it.session.fork_session = true, &[Flag("--fork-session")]),
        row("session.resume_session_at", "resume_session_at", "resumeSessionAt", Old, |it| it.session.resume_session_at = Some("m".to_owned()), &[Flag("--resume-session-at=m")]),
        row("session.resume_drops_turn", "resume_drops_turn", "resumeDropsTurn", New, |it| it.session.resume_drops_turn = Some("m".to_owned()), &[Flag("--resume-drops-turn=m")]),
        row("session.session_id", "session_id", "sessionId", Old, |it| it.session.session_id = Some("s".to_owned()), &[Flag("--session-id=s")]),
        row("session.no_session_persistence", "", "persistSession", Old, |it| it.session.no_session_persistence = true, &[Flag("--no-session-persistence")]),
        row("session.session_store", "session_store", "sessionStore", New, |it| it.session.session_store = Some(Arc::new(crate::store::MemoryStore::new())), &[Flag("--session-mirror")]),
        row("session.session_store_flush", "session_store_flush", "sessionStoreFlush", Any, |it| it.session.session_store_flush = crate::store::MirrorFlush::Eager, &[Here]),
        row("limits.store", "load_timeout_ms", "loadTimeoutMs", Any, |it| it.limits.store = std::time::Duration::from_secs(9), &[Here]),
        row("session.title", "", "title", New, |it| it.session.title = Some("t".to_owned()), &[Field("title", r#""t""#)]),
        row("session.file_checkpointing", "enable_file_checkpointing", "enableFileCheckpointing", Old, |it| it.session.file_checkpointing = true, &[Variable("CLAUDE_CODE_ENABLE_SDK_FILE_CHECKPOINTING", "true")]),
        // Settings and what comes with them.
        row("settings.additional", "settings", "settings", Old, |it| it.settings.additional = Some(Settings::File("/s.json".into())), &[Flag("--settings /s.json")]),
        row("settings.sandbox", "sandbox", "sandbox", Old, |it| it.settings.sandbox = Some(json!({"enabled": true})), &[Flag(r#"--settings {"sandbox":{"enabled":true,"failIfUnavailable":true}}"#)]),
        row("settings.managed_settings", "", "managedSettings", New, |it| it.settings.managed_settings = Some(json!({})), &[Flag("--managed-settings {}")]),
        row("settings.setting_sources", "setting_sources", "settingSources", Old, |it| it.settings.setting_sources = Some(vec![SettingSource::User, SettingSource::Local]), &[Flag("--setting-sources=user,local")]),
        row("settings.add_dirs", "add_dirs", "additionalDirectories", Old, |it| it.settings.add_dirs = vec!["/a".into()], &[Flag("--add-dir /a")]),
        row("settings.project_config_root", "", "projectConfigRoot", New, |it| it.settings.project_config_root = Some("/r".into()), &[Flag("--project-config-root /r")]),
        row("settings.skills", "skills", "skills", Old, |it| it.settings.skills = Some(Skills::Named(vec!["pdf".to_owned()])), &[Flag("--allowedTools Skill(pdf)"), Field("skills", r#"["pdf"]"#)]),
        row("settings.plugins", "plugins", "plugins", Old, |it| it.settings.plugins = vec![Plugin { path: "/p".into(), skip_mcp_discovery: false }], &[Flag("--plugin-dir /p")]),
        row("settings.plugin_delivery", "", "pluginDelivery", From("2.1.261"), |it| { it.settings.plugins = vec![Plugin { path: "/p".into(), skip_mcp_discovery: false }]; it.settings.plugin_delivery = PluginDelivery::Initialize; }, &[Flag("--await-initialize"), Field("plugins", r#"[{"type":"local","path":"/p"}]"#)]),
        row("settings.agents", "agents", "agents", Old, |it| { it.settings.agents.insert("rev".to_owned(), AgentDefinition { description: "d".to_owned(), prompt: "p".to_owned(), ..AgentDefinition::default() }); }, &[Field("agents", r#"{"rev":{"description":"d","prompt":"p"}}"#)]),
        row("settings.agent", "", "agent", Old, |it| it.settings.agent = Some("rev".to_owned()), &[Flag("--agent rev")]),
        // What is reported.
        row("messages.include_partial_messages", "include_partial_messages", "includePartialMessages", Old, |it| it.messages.include_partial_messages = true, &[Flag("--include-partial-messages")]),
        row("messages.include_hook_events", "include_hook_events", "includeHookEvents", New, |it| it.messages.include_hook_events = true, &[Flag("--include-hook-events")]),
        row("messages.replay_user_messages", "(extra_args)", "(extraArgs)", Old, |it| it.messages.replay_user_messages = true, &[Flag("--replay-user-messages")]),
        row("messages.forward_subagent_text", "forward_subagent_text", "forwardSubagentText", New, |it| it.messages.forward_subagent_text = true, &[Field("forwardSubagentText", "true")]),
        row("messages.prompt_suggestions", "", "promptSuggestions", New, |it| it.messages.prompt_suggestions = true, &[Field("promptSuggestions", "true")]),
        row("messages.agent_progress_summaries", "", "agentProgressSummaries", New, |it| it.messages.agent_progress_summaries = true, &[Field("agentProgressSummaries", "true")]),
        row("messages.per_task_stop_affordance", "", "perTaskStopAffordance", New, |it| it.messages.per_task_stop_affordance = true, &[Field("perTaskStopAffordance", "true")]),
        row("messages.verbatim_prompts", "verbatim_prompts", "verbatimPrompts", From("2.1.248"), |it| it.messages.verbatim_prompts = true, &[Here]),
        row("process.debug", "(extra_args)", "debug", Old, |it| it.process.debug = true, &[Flag("--debug")]),
        row("process.debug_file", "(extra_args)", "debugFile", New, |it| it.process.debug_file = Some("/d".into()), &[Flag("--debug-file /d")]),
    ]
}
