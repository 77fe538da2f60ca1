//! Control requests from the host to its agent.

mod context;
mod conversation;
mod files;
mod hooks;
mod initialize;
mod mcp;
mod models;
mod permissions;
mod plugins;
mod session;
mod settings;
mod status;
mod tasks;
mod usage;

pub use self::{
    context::*, conversation::*, files::*, hooks::*, initialize::*, mcp::*, models::*,
    permissions::*, plugins::*, session::*, settings::*, status::*, tasks::*, usage::*,
};
use super::{Ack, call::requests};
use crate::raw::RawJson;

requests! {
    /// Every request of a host to its agent.
    #[expect(
        clippy::large_enum_variant,
        reason = "the large one opens a session, once; a box would complicate every use"
    )]
    HostRequest {
        /// Here are my hooks, servers and agents; what have you got?
        "initialize" => Initialize -> InitializeResponse,
        /// Interrupts the turn.
        "interrupt" => Interrupt -> InterruptResponse,
        /// Changes the permission mode.
        "set_permission_mode" => SetPermissionMode -> SetPermissionModeResponse,
        /// Changes the model.
        "set_model" => SetModel -> SetModelResponse,
        /// Changes the thinking budget.
        "set_max_thinking_tokens" => SetMaxThinkingTokens -> Ack,
        /// Renames the session.
        "rename_session" => RenameSession -> Ack,
        /// Changes the color of the session.
        "set_color" => SetColor -> Ack,
        /// Whether clients are subscribed.
        "set_has_subscribers" => SetHasSubscribers -> Ack,
        /// Changes the working directory.
        "set_cwd" => SetCwd -> SetCwdResponse,
        /// Claims a session that was started in advance.
        "claim_session" => ClaimSession -> ClaimSessionResponse,
        /// Ends the session.
        "end_session" => EndSession -> Ack,
        /// Cancels a queued prompt.
        "cancel_async_message" => CancelAsyncMessage -> CancelAsyncMessageResponse,

        /// Request for the content of the context window.
        "get_context_usage" => GetContextUsage -> ContextUsage,
        /// Request for the cost of the session.
        "get_session_cost" => GetSessionCost -> SessionCostResponse,
        /// Request for the usage of the session and of the user's allowance.
        "get_usage" => GetUsage -> UsageResponse,
        /// Request for the models that can be selected.
        "list_models" => ListModels -> ListModelsResponse,
        /// Request for the version of the agent.
        "get_binary_version" => GetBinaryVersion -> BinaryVersionResponse,

        /// Side question: a prompt outside the conversation.
        "side_question" => SideQuestion -> SideQuestionResponse,
        /// Request for a generated session title.
        "generate_session_title" => GenerateSessionTitle -> GenerateSessionTitleResponse,
        /// Request for a status text.
        "get_status" => GetStatus -> StatusResponse,
        /// Request for the current plan.
        "get_plan" => GetPlan -> PlanResponse,
        /// Request for the conversation as text.
        "export_conversation" => ExportConversation -> ExportConversationResponse,

        /// Request for the status of the MCP servers.
        "mcp_status" => McpStatus -> McpStatusResponse,
        /// Use these MCP servers.
        "mcp_set_servers" => McpSetServers -> McpSetServersResponse,
        /// Connect to an MCP server again.
        "mcp_reconnect" => McpReconnect -> Ack,
        /// Switch an MCP server on or off.
        "mcp_toggle" => McpToggle -> Ack,
        /// Log in to an MCP server.
        "mcp_authenticate" => McpAuthenticate -> McpAuthenticateResponse,
        /// Redirect URL of an MCP login.
        "mcp_oauth_callback_url" => McpOauthCallbackUrl -> Ack,
        /// Log out of an MCP server.
        "mcp_clear_auth" => McpClearAuth -> Ack,
        /// Call a tool of an MCP server.
        "mcp_call" => McpCall -> RawJson,
        /// Read a resource of an MCP server.
        "mcp_read_resource" => McpReadResource -> McpReadResourceResponse,
        /// Notification of one of the host's MCP servers.
        "mcp_message" => McpServerMessage -> Ack,
        /// Be more or less strict about the tools of an MCP server.
        "set_mcp_permission_mode_override" => SetMcpPermissionModeOverride -> WarningResponse,

        /// Rewinds files to their state before a prompt.
        "rewind_files" => RewindFiles -> RewindFilesResponse,
        /// Take a file for read.
        "seed_read_state" => SeedReadState -> Ack,
        /// File names that match a query.
        "file_suggestions" => FileSuggestions -> FileSuggestionsResponse,
        /// Request for the content of a file.
        "read_file" => ReadFile -> ReadFileResponse,
        /// Adds a directory to the session.
        "register_repo_root" => RegisterRepoRoot -> Ack,

        /// Stops a background task.
        "stop_task" => StopTask -> Ack,
        /// Moves running calls to the background.
        "background_tasks" => BackgroundTasks -> BackgroundTasksResponse,
        /// Request for the output of a background task.
        "get_task_output" => GetTaskOutput -> TaskOutputResponse,

        /// Sets settings that take precedence over those of files.
        "apply_flag_settings" => ApplyFlagSettings -> Ack,
        /// Request for the settings and their sources.
        "get_settings" => GetSettings -> GetSettingsResponse,
        /// Changes a settings file.
        "update_settings" => UpdateSettings -> Ack,
        /// Request for the registered hooks.
        "get_hooks_listing" => GetHooksListing -> HooksListing,
        /// Request for the permission rules.
        "list_permission_rules" => ListPermissionRules -> ListPermissionRulesResponse,

        /// Look for plugins again.
        "reload_plugins" => ReloadPlugins -> ReloadPluginsResponse,
        /// Look for skills again.
        "reload_skills" => ReloadSkills -> ReloadSkillsResponse,
        /// Look for output styles again.
        "reload_output_styles" => ReloadOutputStyles -> ReloadOutputStylesResponse,
    }
    opaque {
        /// Request for the content of the memory dialog.
        "get_memory_dialog" => GetMemoryDialog,
        /// Request for the content of the skills dialog.
        "get_skills_dialog" => GetSkillsDialog,
        /// Request for the content of the the sandbox dialog.
        "get_sandbox_dialog" => GetSandboxDialog,
        /// Request for the content of the the browser dialog.
        "get_chrome_dialog" => GetChromeDialog,
        /// Request for the connected browsers.
        "get_chrome_browsers" => GetChromeBrowsers,
        /// Use this browser.
        "select_chrome_browser" => SelectChromeBrowser,
        /// Report of the connected browsers.
        "set_chrome_browser_hints" => SetChromeBrowserHints,
        /// Suggest no prompts for a while.
        "set_prompt_suggestions_paused" => SetPromptSuggestionsPaused,
        /// Switch a channel on.
        "channel_enable" => ChannelEnable,
        /// Log in to the vendor.
        "claude_authenticate" => ClaudeAuthenticate,
        /// Redirect URL of a login to the vendor.
        "claude_oauth_callback" => ClaudeOauthCallback,
        /// Wait for the login to the vendor.
        "claude_oauth_wait_for_completion" => ClaudeOauthWaitForCompletion,
        /// Be steered from afar.
        "remote_control" => RemoteControl,
        /// Feedback of the user to the vendor.
        "submit_feedback" => SubmitFeedback,
        /// The user responds to a survey.
        "submit_survey_feedback" => SubmitSurveyFeedback,
        /// The user rates a response.
        "message_rated" => MessageRated,
        /// Begin a review in the cloud.
        "ultrareview_launch" => UltrareviewLaunch,
    }
}
