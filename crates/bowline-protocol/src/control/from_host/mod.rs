//! What a host asks its agent.

mod context;
mod files;
mod initialize;
mod mcp;
mod plugins;
mod session;
mod settings;
mod tasks;
mod texts;
mod usage;

pub use self::{
    context::*, files::*, initialize::*, mcp::*, plugins::*, session::*, settings::*, tasks::*,
    texts::*, usage::*,
};
use super::{Ack, call::requests};
use crate::raw::RawJson;

requests! {
    /// Everything a host asks its agent.
    #[expect(
        clippy::large_enum_variant,
        reason = "the large one opens a session, once; a box would be in everybody's way for that"
    )]
    HostRequest {
        /// Here are my hooks, servers and agents; what have you got?
        "initialize" => Initialize -> InitializeResponse,
        /// Stop what you are doing.
        "interrupt" => Interrupt -> InterruptResponse,
        /// Be more or less strict about tools.
        "set_permission_mode" => SetPermissionMode -> SetPermissionModeResponse,
        /// Use another model.
        "set_model" => SetModel -> SetModelResponse,
        /// Think more or less.
        "set_max_thinking_tokens" => SetMaxThinkingTokens -> Ack,
        /// Give the session another title.
        "rename_session" => RenameSession -> Ack,
        /// Give the session another color.
        "set_color" => SetColor -> Ack,
        /// Whether anybody is watching.
        "set_has_subscribers" => SetHasSubscribers -> Ack,
        /// Work in another directory.
        "set_cwd" => SetCwd -> SetCwdResponse,
        /// Take a session that was started in advance.
        "claim_session" => ClaimSession -> ClaimSessionResponse,
        /// Finish.
        "end_session" => EndSession -> Ack,
        /// Forget a prompt that still waits.
        "cancel_async_message" => CancelAsyncMessage -> CancelAsyncMessageResponse,

        /// What fills the context?
        "get_context_usage" => GetContextUsage -> ContextUsage,
        /// What has the session cost?
        "get_session_cost" => GetSessionCost -> SessionCostResponse,
        /// How much of the user's allowance is used?
        "get_usage" => GetUsage -> UsageResponse,
        /// Which models are there?
        "list_models" => ListModels -> ListModelsResponse,
        /// Which version are you?
        "get_binary_version" => GetBinaryVersion -> BinaryVersionResponse,

        /// Answer this without making it part of the conversation.
        "side_question" => SideQuestion -> SideQuestionResponse,
        /// Think of a title.
        "generate_session_title" => GenerateSessionTitle -> GenerateSessionTitleResponse,
        /// How are you, in words?
        "get_status" => GetStatus -> StatusResponse,
        /// What is the plan?
        "get_plan" => GetPlan -> PlanResponse,
        /// The conversation as a text.
        "export_conversation" => ExportConversation -> ExportConversationResponse,

        /// How are the MCP servers?
        "mcp_status" => McpStatus -> McpStatusResponse,
        /// Use these MCP servers.
        "mcp_set_servers" => McpSetServers -> McpSetServersResponse,
        /// Connect to an MCP server again.
        "mcp_reconnect" => McpReconnect -> Ack,
        /// Switch an MCP server on or off.
        "mcp_toggle" => McpToggle -> Ack,
        /// Log in to an MCP server.
        "mcp_authenticate" => McpAuthenticate -> McpAuthenticateResponse,
        /// Where an MCP server sent the user after the login.
        "mcp_oauth_callback_url" => McpOauthCallbackUrl -> Ack,
        /// Log out of an MCP server.
        "mcp_clear_auth" => McpClearAuth -> Ack,
        /// Call a tool of an MCP server.
        "mcp_call" => McpCall -> RawJson,
        /// Read a resource of an MCP server.
        "mcp_read_resource" => McpReadResource -> McpReadResourceResponse,
        /// One of the host's MCP servers says something by itself.
        "mcp_message" => McpServerMessage -> Ack,
        /// Be more or less strict about the tools of an MCP server.
        "set_mcp_permission_mode_override" => SetMcpPermissionModeOverride -> WarningResponse,

        /// Put files back as they were before a prompt.
        "rewind_files" => RewindFiles -> RewindFilesResponse,
        /// Take a file for read.
        "seed_read_state" => SeedReadState -> Ack,
        /// Files whose names fit.
        "file_suggestions" => FileSuggestions -> FileSuggestionsResponse,
        /// What is in a file?
        "read_file" => ReadFile -> ReadFileResponse,
        /// Work in this directory as well.
        "register_repo_root" => RegisterRepoRoot -> Ack,

        /// Stop a background task.
        "stop_task" => StopTask -> Ack,
        /// Let what runs go on in the background.
        "background_tasks" => BackgroundTasks -> BackgroundTasksResponse,
        /// What has a background task printed?
        "get_task_output" => GetTaskOutput -> TaskOutputResponse,

        /// Use these settings above those of files.
        "apply_flag_settings" => ApplyFlagSettings -> Ack,
        /// What are the settings, and where do they come from?
        "get_settings" => GetSettings -> GetSettingsResponse,
        /// Write into a settings file.
        "update_settings" => UpdateSettings -> Ack,
        /// Which hooks are there?
        "get_hooks_listing" => GetHooksListing -> HooksListing,
        /// Which permission rules are there?
        "list_permission_rules" => ListPermissionRules -> ListPermissionRulesResponse,

        /// Look for plugins again.
        "reload_plugins" => ReloadPlugins -> ReloadPluginsResponse,
        /// Look for skills again.
        "reload_skills" => ReloadSkills -> ReloadSkillsResponse,
        /// Look for output styles again.
        "reload_output_styles" => ReloadOutputStyles -> ReloadOutputStylesResponse,
    }
    opaque {
        /// What the dialog about memory shows.
        "get_memory_dialog" => GetMemoryDialog,
        /// What the dialog about skills shows.
        "get_skills_dialog" => GetSkillsDialog,
        /// What the dialog about the sandbox shows.
        "get_sandbox_dialog" => GetSandboxDialog,
        /// What the dialog about the browser shows.
        "get_chrome_dialog" => GetChromeDialog,
        /// Which browsers are there?
        "get_chrome_browsers" => GetChromeBrowsers,
        /// Use this browser.
        "select_chrome_browser" => SelectChromeBrowser,
        /// What the host knows about browsers.
        "set_chrome_browser_hints" => SetChromeBrowserHints,
        /// Suggest no prompts for a while.
        "set_prompt_suggestions_paused" => SetPromptSuggestionsPaused,
        /// Switch a channel on.
        "channel_enable" => ChannelEnable,
        /// Log in to the vendor.
        "claude_authenticate" => ClaudeAuthenticate,
        /// Where the vendor sent the user after the login.
        "claude_oauth_callback" => ClaudeOauthCallback,
        /// Wait for the login to the vendor.
        "claude_oauth_wait_for_completion" => ClaudeOauthWaitForCompletion,
        /// Be steered from afar.
        "remote_control" => RemoteControl,
        /// The user says something to the vendor.
        "submit_feedback" => SubmitFeedback,
        /// The user answers a survey.
        "submit_survey_feedback" => SubmitSurveyFeedback,
        /// The user rates an answer.
        "message_rated" => MessageRated,
        /// Begin a review in the cloud.
        "ultrareview_launch" => UltrareviewLaunch,
    }
}
