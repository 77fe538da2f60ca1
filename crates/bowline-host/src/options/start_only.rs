//! Options that reach an agent only as flags and variables, when it is started.

use super::{Options, PluginDelivery, Resume, SystemPrompt, arguments::LONGEST_ARGUMENT};

/// Requests that an agent sends only if a variable announces that they are supported.
pub(super) const ANNOUNCED_BY_VARIABLE: [(&str, &str); 2] = [
    ("oauth_token_refresh", "CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH"),
    ("host_auth_token_refresh", "CLAUDE_CODE_SDK_HAS_HOST_AUTH_REFRESH"),
];

impl Options {
    /// The options that are set and become flags or variables. Those that are fields of `initialize`, or
    /// that only this side reads, are not among them.
    pub(crate) fn start_only(&self) -> impl Iterator<Item = &'static str> {
        #[cfg(feature = "sessions")]
        let has_store = self.session.session_store.is_some();
        #[cfg(not(feature = "sessions"))]
        let has_store = false;
        let by_initialize = self.settings.plugin_delivery == PluginDelivery::Initialize;
        let has_plugins = !self.settings.plugins.is_empty();
        let is_short = |text: &str| text.len() <= LONGEST_ARGUMENT;
        let prompt = match &self.system_prompt {
            SystemPrompt::Text(text) | SystemPrompt::Preset { append: Some(text), .. } => {
                is_short(text)
            }
            SystemPrompt::File(_) => true,
            SystemPrompt::Empty | SystemPrompt::Parts(_) | SystemPrompt::Preset { .. } => false,
        };
        let schema =
            self.generation.output_schema.as_ref().is_some_and(|it| is_short(&it.to_string()));
        let announced = ANNOUNCED_BY_VARIABLE
            .iter()
            .any(|(subtype, _)| self.callbacks.on_request.contains_key(*subtype));
        let options = [
            ("cwd", self.cwd.is_some()),
            ("process.env", !self.process.env.is_empty()),
            ("process.extra_args", !self.process.extra_args.is_empty()),
            ("process.client_app", self.process.client_app.is_some()),
            ("process.trace_context", self.process.trace_context.is_some()),
            ("model", self.model.is_some()),
            ("generation.fallback_models", !self.generation.fallback_models.is_empty()),
            ("generation.thinking", self.generation.thinking.is_some()),
            ("generation.thinking_display", self.generation.thinking_display.is_some()),
            ("generation.effort", self.generation.effort.is_some()),
            ("generation.betas", !self.generation.betas.is_empty()),
            ("system_prompt", prompt),
            ("generation.output_schema", schema),
            ("max_turns", self.max_turns.is_some_and(|turns| turns > 0)),
            ("generation.max_budget_usd", self.generation.max_budget_usd.is_some()),
            ("generation.task_budget", self.generation.task_budget.is_some()),
            ("tools.builtin", self.tools.builtin.is_some()),
            ("allowed_tools", !self.allowed_tools.is_empty()),
            ("tools.disallowed_tools", !self.tools.disallowed_tools.is_empty()),
            ("tools.question_preview", self.tools.question_preview.is_some()),
            ("tools.mcp_servers", !self.tools.mcp_servers.is_empty()),
            ("tools.mcp_config_files", !self.tools.mcp_config_files.is_empty()),
            ("tools.strict_mcp_config", self.tools.strict_mcp_config),
            ("permission_mode", self.permission_mode.is_some()),
            (
                "permissions.allow_dangerously_skip_permissions",
                self.permissions.allow_dangerously_skip_permissions,
            ),
            ("can_use_tool", self.can_use_tool.is_some()),
            (
                "permissions.permission_prompt_tool",
                self.permissions.permission_prompt_tool.is_some(),
            ),
            ("permissions.permission_prompts", self.permissions.permission_prompts.is_some()),
            ("callbacks.on_request", announced),
            ("resume", self.resume != Resume::No),
            ("session.fork_session", self.session.fork_session),
            ("session.resume_session_at", self.session.resume_session_at.is_some()),
            ("session.resume_drops_turn", self.session.resume_drops_turn.is_some()),
            ("session.session_id", self.session.session_id.is_some()),
            ("session.no_session_persistence", self.session.no_session_persistence),
            ("session.session_store", has_store),
            ("session.file_checkpointing", self.session.file_checkpointing),
            ("settings.additional", self.settings.additional.is_some()),
            ("settings.managed_settings", self.settings.managed_settings.is_some()),
            ("settings.setting_sources", self.settings.setting_sources.is_some()),
            ("settings.sandbox", self.settings.sandbox.is_some()),
            ("settings.add_dirs", !self.settings.add_dirs.is_empty()),
            ("settings.project_config_root", self.settings.project_config_root.is_some()),
            ("settings.skills", self.settings.skills.is_some()),
            ("settings.plugins", has_plugins && !by_initialize),
            ("settings.plugin_delivery", has_plugins && by_initialize),
            ("settings.agent", self.settings.agent.is_some()),
            ("messages.include_partial_messages", self.messages.include_partial_messages),
            ("messages.include_hook_events", self.messages.include_hook_events),
            ("messages.replay_user_messages", self.messages.replay_user_messages),
            ("process.debug", self.process.debug),
            ("process.debug_file", self.process.debug_file.is_some()),
        ];
        options.into_iter().filter_map(|(name, set)| set.then_some(name))
    }

    /// The options that have no effect because the agent already runs, as a list.
    pub(crate) fn without_effect(&self) -> Option<String> {
        if !self.transport.is_already_started() {
            return None;
        }
        let names: Vec<_> = self.start_only().collect();
        (!names.is_empty()).then(|| names.join(", "))
    }
}
