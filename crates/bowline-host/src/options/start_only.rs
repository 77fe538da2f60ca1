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
        let has_store = self.session_store.is_some();
        #[cfg(not(feature = "sessions"))]
        let has_store = false;
        let by_initialize = self.plugin_delivery == PluginDelivery::Initialize;
        let has_plugins = !self.plugins.is_empty();
        let is_short = |text: &str| text.len() <= LONGEST_ARGUMENT;
        let prompt = match &self.system_prompt {
            SystemPrompt::Text(text) | SystemPrompt::Preset { append: Some(text), .. } => {
                is_short(text)
            }
            SystemPrompt::File(_) => true,
            SystemPrompt::Empty | SystemPrompt::Parts(_) | SystemPrompt::Preset { .. } => false,
        };
        let schema = self.output_schema.as_ref().is_some_and(|it| is_short(&it.to_string()));
        let announced =
            ANNOUNCED_BY_VARIABLE.iter().any(|(subtype, _)| self.on_request.contains_key(*subtype));
        let options = [
            ("cwd", self.cwd.is_some()),
            ("env", !self.env.is_empty()),
            ("extra_args", !self.extra_args.is_empty()),
            ("client_app", self.client_app.is_some()),
            ("trace_context", self.trace_context.is_some()),
            ("model", self.model.is_some()),
            ("fallback_models", !self.fallback_models.is_empty()),
            ("thinking", self.thinking.is_some()),
            ("thinking_display", self.thinking_display.is_some()),
            ("effort", self.effort.is_some()),
            ("betas", !self.betas.is_empty()),
            ("system_prompt", prompt),
            ("output_schema", schema),
            ("max_turns", self.max_turns.is_some_and(|turns| turns > 0)),
            ("max_budget_usd", self.max_budget_usd.is_some()),
            ("task_budget", self.task_budget.is_some()),
            ("tools", self.tools.is_some()),
            ("allowed_tools", !self.allowed_tools.is_empty()),
            ("disallowed_tools", !self.disallowed_tools.is_empty()),
            ("question_preview", self.question_preview.is_some()),
            ("mcp_servers", !self.mcp_servers.is_empty()),
            ("mcp_config_files", !self.mcp_config_files.is_empty()),
            ("strict_mcp_config", self.strict_mcp_config),
            ("permission_mode", self.permission_mode.is_some()),
            ("allow_dangerously_skip_permissions", self.allow_dangerously_skip_permissions),
            ("can_use_tool", self.can_use_tool.is_some()),
            ("permission_prompt_tool", self.permission_prompt_tool.is_some()),
            ("permission_prompts", self.permission_prompts.is_some()),
            ("on_request", announced),
            ("resume", self.resume != Resume::No),
            ("fork_session", self.fork_session),
            ("resume_session_at", self.resume_session_at.is_some()),
            ("resume_drops_turn", self.resume_drops_turn.is_some()),
            ("session_id", self.session_id.is_some()),
            ("no_session_persistence", self.no_session_persistence),
            ("session_store", has_store),
            ("file_checkpointing", self.file_checkpointing),
            ("settings", self.settings.is_some()),
            ("managed_settings", self.managed_settings.is_some()),
            ("setting_sources", self.setting_sources.is_some()),
            ("sandbox", self.sandbox.is_some()),
            ("add_dirs", !self.add_dirs.is_empty()),
            ("project_config_root", self.project_config_root.is_some()),
            ("skills", self.skills.is_some()),
            ("plugins", has_plugins && !by_initialize),
            ("plugin_delivery", has_plugins && by_initialize),
            ("agent", self.agent.is_some()),
            ("include_partial_messages", self.include_partial_messages),
            ("include_hook_events", self.include_hook_events),
            ("replay_user_messages", self.replay_user_messages),
            ("debug", self.debug),
            ("debug_file", self.debug_file.is_some()),
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
