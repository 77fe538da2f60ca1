//! The same messages as anybody would first write them: enums with `#[serde(tag = "type")]`.
//!
//! Structs of the recorded lines have the fields that Bowline's have, large ones are boxed
//! as there, and opaque payloads are trees, because a tagged enum cannot hold raw JSON. What no
//! recorded line has is missing: other messages, blocks and events, which would be errors.

/// The types, each with `extra` as its last field.
macro_rules! messages {
    ($($extra:tt)*) => {
        use std::collections::BTreeMap;

        use serde::{Deserialize, Serialize};
        use serde_json::Value;

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Line {
            Assistant(Box<Assistant>),
            User(Box<User>),
            StreamEvent(Box<Streamed>),
            Result(Box<Ended>),
            System(System),
            ControlResponse(ControlResponse),
        }

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(tag = "subtype", rename_all = "snake_case")]
        pub enum System {
            Init(Box<Init>),
            Status(Status),
            ThinkingTokens(ThinkingTokens),
        }

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(tag = "subtype", rename_all = "snake_case")]
        pub enum Outcome {
            Success(Success),
            Error(Failure),
        }

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Block {
            Text(Text),
            Thinking(Thinking),
            ToolUse(ToolUse),
            ToolResult(ToolResult),
        }

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Event {
            MessageStart(MessageStart),
            ContentBlockStart(ContentBlockStart),
            ContentBlockDelta(ContentBlockDelta),
            ContentBlockStop(ContentBlockStop),
            MessageDelta(MessageDelta),
            MessageStop(MessageStop),
        }

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(tag = "type", rename_all = "snake_case")]
        pub enum Delta {
            TextDelta(TextDelta),
            InputJsonDelta(InputJsonDelta),
            ThinkingDelta(ThinkingDelta),
            SignatureDelta(SignatureDelta),
        }

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(untagged)]
        pub enum Content {
            Text(String),
            Blocks(Vec<Block>),
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Assistant {
            pub message: ApiMessage,
            pub parent_tool_use_id: Option<String>,
            pub uuid: String,
            pub session_id: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub request_id: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub timestamp: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub error: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuid: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuids: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub resume_reason: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub resumed_from_incomplete_thinking: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub supersedes: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub aborted: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub agent_id: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub subagent_type: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_description: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub tool_use_meta: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub thinking_duration_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub thinking_display: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub is_api_error_message: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_error_status: Option<u16>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_error_type: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_error: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_error_params: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub refused_message_id: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub local_command_source: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub local_command_run: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub local_command_outcome: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub context_usage: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub usage_report: Option<Value>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct User {
            pub message: Said,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub parent_tool_use_id: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub session_id: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub uuid: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub timestamp: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub priority: Option<String>,
            #[serde(rename = "shouldQuery", default, skip_serializing_if = "Option::is_none")]
            pub should_query: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub client_composed: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pasted_content: Option<Vec<Content>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub inline_pastes: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub origin: Option<Value>,
            #[serde(rename = "isSynthetic", default, skip_serializing_if = "Option::is_none")]
            pub is_synthetic: Option<bool>,
            #[serde(rename = "isReplay", default, skip_serializing_if = "Option::is_none")]
            pub is_replay: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub file_attachments: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub tool_use_result: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub tool_result_meta: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub agent_id: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub subagent_type: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub task_description: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub refused_message_id: Option<String>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Said {
            pub role: String,
            pub content: Content,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Streamed {
            pub event: Event,
            pub parent_tool_use_id: Option<String>,
            pub uuid: String,
            pub session_id: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ttft_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_message_id: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub thinking_display: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub abandoned_blocks: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuid: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuids: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub resume_reason: Option<String>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Ended {
            pub subtype: String,
            pub is_error: bool,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub result: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub errors: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub structured_output: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub terminal_reason: Option<String>,
            pub stop_reason: Option<String>,
            pub duration_ms: u64,
            pub duration_api_ms: u64,
            pub num_turns: u64,
            pub uuid: String,
            pub session_id: String,
            #[serde(default)]
            pub total_cost_usd: f64,
            #[serde(default)]
            pub usage: Usage,
            #[serde(rename = "modelUsage", default)]
            pub model_usage: BTreeMap<String, ModelUsage>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub model_usage_since_last_result: Option<BTreeMap<String, ModelUsage>>,
            #[serde(default)]
            pub permission_denials: Vec<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub subagent_stats: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub safety_stops: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub result_index: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub queued_turn_count: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuid: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuids: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub resume_reason: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub origin: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub local_command: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub deferred_tool_use: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_error_status: Option<u16>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_error_type: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub api_error: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub startup_failure_reason: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub invalid_config_file: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub fast_mode_state: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub fast_mode_disabled_reason: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub credential_expires_at: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ttft_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ttft_stream_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub time_to_request_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub first_content_frame_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub request_sent_wall_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub time_origin_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub time_to_request_from_spawn_ms: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub first_request_input_tokens: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub first_request_cache_read_input_tokens: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub warm_spare_claimed: Option<bool>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        #[serde(rename_all = "camelCase")]
        pub struct ModelUsage {
            pub input_tokens: u64,
            pub output_tokens: u64,
            pub cache_read_input_tokens: u64,
            pub cache_creation_input_tokens: u64,
            #[serde(default)]
            pub web_search_requests: u64,
            #[serde(rename = "costUSD")]
            pub cost_usd: f64,
            #[serde(default)]
            pub context_window: u64,
            #[serde(default)]
            pub max_output_tokens: u64,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub thinking_tokens: Option<u64>,
            #[serde(rename = "cacheCreationEphemeral5mInputTokens", default, skip_serializing_if = "Option::is_none")]
            pub cache_creation_ephemeral_5m_input_tokens: Option<u64>,
            #[serde(rename = "cacheCreationEphemeral1hInputTokens", default, skip_serializing_if = "Option::is_none")]
            pub cache_creation_ephemeral_1h_input_tokens: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub canonical_model: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub provider: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub cost_basis: Option<String>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Init {
            pub cwd: String,
            pub uuid: String,
            pub session_id: String,
            #[serde(default)]
            pub tools: Vec<String>,
            #[serde(default)]
            pub mcp_servers: Vec<McpServer>,
            pub model: String,
            #[serde(rename = "permissionMode")]
            pub permission_mode: String,
            #[serde(default)]
            pub slash_commands: Vec<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub terminal_slash_commands: Option<Vec<String>>,
            #[serde(rename = "apiKeySource")]
            pub api_key_source: String,
            #[serde(default)]
            pub claude_code_version: String,
            #[serde(default)]
            pub output_style: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub agents: Option<Vec<String>>,
            #[serde(default)]
            pub skills: Vec<String>,
            #[serde(default)]
            pub plugins: Vec<Plugin>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub plugin_errors: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub betas: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub capabilities: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub memory_paths: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub original_cwd: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub additional_directories: Option<Vec<String>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub messaging_socket_path: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub fast_mode_state: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub fast_mode_disabled_reason: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub effort: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub per_turn_effort_active: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ultrathink_available: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub ultrathink_typed_raises: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub view_mode: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub analytics_disabled: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub product_feedback_disabled: Option<bool>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuids: Option<Vec<String>>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct McpServer {
            pub name: String,
            pub status: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub source: Option<String>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Plugin {
            pub name: String,
            pub path: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub version: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub source: Option<String>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Status {
            pub status: Option<String>,
            pub uuid: String,
            pub session_id: String,
            #[serde(rename = "permissionMode", default, skip_serializing_if = "Option::is_none")]
            pub permission_mode: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub compact_result: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub compact_error: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub compact_output_chars: Option<u64>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ThinkingTokens {
            pub estimated_tokens: u64,
            pub estimated_tokens_delta: i64,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub user_message_uuid: Option<String>,
            pub uuid: String,
            pub session_id: String,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ControlResponse {
            pub response: Outcome,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Success {
            pub request_id: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub response: Option<Value>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pending_permission_requests: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pending_user_dialog_requests: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pending_elicitation_requests: Option<Vec<Value>>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Failure {
            pub request_id: String,
            pub error: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub error_code: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pending_permission_requests: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pending_user_dialog_requests: Option<Vec<Value>>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub pending_elicitation_requests: Option<Vec<Value>>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ApiMessage {
            pub id: String,
            #[serde(rename = "type", default)]
            pub kind: String,
            pub role: String,
            pub model: String,
            pub content: Vec<Block>,
            #[serde(default)]
            pub stop_reason: Option<String>,
            #[serde(default)]
            pub stop_sequence: Option<String>,
            #[serde(default)]
            pub usage: Usage,
            $($extra)*
        }

        #[derive(Debug, Default, Serialize, Deserialize)]
        pub struct Usage {
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub input_tokens: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub cache_creation_input_tokens: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub cache_read_input_tokens: Option<u64>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub output_tokens: Option<u64>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Text {
            pub text: String,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct Thinking {
            pub thinking: String,
            #[serde(default)]
            pub signature: String,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ToolUse {
            pub id: String,
            pub name: String,
            pub input: Value,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ToolResult {
            pub tool_use_id: String,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub content: Option<Content>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub is_error: Option<bool>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct MessageStart {
            pub message: ApiMessage,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ContentBlockStart {
            pub index: usize,
            pub content_block: Block,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ContentBlockDelta {
            pub index: usize,
            pub delta: Delta,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ContentBlockStop {
            pub index: usize,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct MessageDelta {
            pub delta: StopDelta,
            #[serde(default)]
            pub usage: Usage,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct MessageStop {
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct StopDelta {
            #[serde(default)]
            pub stop_reason: Option<String>,
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub stop_sequence: Option<String>,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct TextDelta {
            pub text: String,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct InputJsonDelta {
            pub partial_json: String,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct ThinkingDelta {
            pub thinking: String,
            $($extra)*
        }

        #[derive(Debug, Serialize, Deserialize)]
        pub struct SignatureDelta {
            pub signature: String,
            $($extra)*
        }
    };
}

/// Keeps the fields it does not know, as Bowline's types do.
pub mod keeping {
    messages! {
        #[serde(flatten)]
        pub extra: serde_json::Map<String, Value>,
    }
}

/// Drops the fields it does not know.
pub mod dropping {
    messages! {}
}
