//! Control requests from the agent to its host.

mod dialog;
mod hook;
mod mcp;
mod permission;

pub use self::{dialog::*, hook::*, mcp::*, permission::*};
use super::call::requests;
use crate::{hook::HookOutput, permission::PermissionResult};

requests! {
    /// Every request of an agent to its host.
    AgentRequest {
        /// May this tool run?
        "can_use_tool" => CanUseTool -> PermissionResult,
        /// Run this hook.
        "hook_callback" => HookCallback -> HookOutput,
        /// Pass this on to one of your MCP servers.
        "mcp_message" => McpMessage -> McpMessageResponse,
        /// An MCP server requests input from the user.
        "elicitation" => Elicitation -> ElicitationResponse,
        /// Show the user a dialog.
        "request_user_dialog" => RequestUserDialog -> UserDialogResponse,
    }
    opaque {
        /// A new token for the user's account.
        "oauth_token_refresh" => OauthTokenRefresh,
        /// A new token for the host itself.
        "host_auth_token_refresh" => HostAuthTokenRefresh,
        /// The secret of a remote piece of work.
        "remote_control_work_secret" => RemoteControlWorkSecret,
        /// Copy to the clipboard.
        "ui_copy" => UiCopy,
        /// Request for the text in the prompt.
        "ui_prompt_read" => UiPromptRead,
        /// Put this into the prompt.
        "ui_prompt_fill" => UiPromptFill,
        /// Color the prompt.
        "ui_prompt_paint" => UiPromptPaint,
        /// Suggest this in the prompt.
        "ui_prompt_suggest" => UiPromptSuggest,
        /// Request for the selection.
        "ui_read_selection" => UiReadSelection,
        /// Run a tool elsewhere.
        "remote_tool_call" => RemoteToolCall,
        /// Inner workings of tools that run elsewhere.
        "remote_plumbing_call" => RemotePlumbingCall,
        /// Request for the tools that can run elsewhere.
        "remote_tools_probe" => RemoteToolsProbe,
        /// List again the tools that can run elsewhere.
        "remote_tools_reannounce" => RemoteToolsReannounce,
    }
}
