//! User messages: prompts, and tool results.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Origin;
use crate::{
    content::{Content, ContentBlock, Role, ToolResultBlock},
    extra::Extra,
    id::{AgentId, MessageUuid, SessionId, ToolUseId},
    maybe::Maybe,
    permission::DecisionReasonType,
    raw::RawJson,
    wire::open_enum,
};

/// A prompt from the host, or, from the agent, the result of one tool call, the replay of a prompt,
/// or words the agent puts in the user's mouth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserMessage {
    /// Content, as the model sees it.
    pub message: UserMessageBody,
    /// Inside a subagent: the call that started it. `null` in the main conversation.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub parent_tool_use_id: Maybe<ToolUseId>,
    /// The session. An agent always sets it; the value of a host is ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<SessionId>,
    /// Names the message. A prompt that a host names is run only once, is reported on as it moves
    /// through the queue, and can be cancelled and rewound to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uuid: Option<MessageUuid>,
    /// When it was made (ISO 8601).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<String>,
    /// Priority of the prompt in the queue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<PromptPriority>,
    /// `false`: only note it in the conversation, do not send it to the model.
    #[serde(rename = "shouldQuery", default, skip_serializing_if = "Option::is_none")]
    pub should_query: Option<bool>,
    /// `true`: take the text as it is; no `@path` is expanded and no slash command is run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_composed: Option<bool>,
    /// Pasted text, appended to the typed text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pasted_content: Option<Vec<Content>>,
    /// The parts of the text that were pasted rather than typed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline_pastes: Option<Vec<String>>,
    /// Origin, if not simply the user.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<Origin>,
    /// Made by a program, not typed by a person.
    #[serde(rename = "isSynthetic", default, skip_serializing_if = "Option::is_none")]
    pub is_synthetic: Option<bool>,
    /// Already part of the conversation; replayed to the host.
    #[serde(rename = "isReplay", default, skip_serializing_if = "Option::is_none")]
    pub is_replay: Option<bool>,
    /// Files that came with a replayed prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_attachments: Option<Vec<RawJson>>,
    /// Structured tool result, for programs; the model sees only `message`.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub tool_use_result: Maybe<RawJson>,
    /// Permission decision of each call in `message`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool_result_meta: Option<Vec<ToolResultMeta>>,
    /// Inside a subagent: which one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// Inside a subagent: what kind it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subagent_type: Option<String>,
    /// Inside a subagent: what it was sent to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task_description: Option<String>,
    /// The refused response that this requests again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_message_id: Option<String>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Default for UserMessage {
    /// An empty message of the main conversation.
    fn default() -> Self {
        Self {
            message: UserMessageBody::default(),
            parent_tool_use_id: Maybe::Null,
            session_id: None,
            uuid: None,
            timestamp: None,
            priority: None,
            should_query: None,
            client_composed: None,
            pasted_content: None,
            inline_pastes: None,
            origin: None,
            is_synthetic: None,
            is_replay: None,
            file_attachments: None,
            tool_use_result: Maybe::Absent,
            tool_result_meta: None,
            agent_id: None,
            subagent_type: None,
            task_description: None,
            refused_message_id: None,
            extra: Extra::new(),
        }
    }
}

impl UserMessage {
    /// A prompt.
    ///
    /// ```
    /// use bowline_protocol::UserMessage;
    ///
    /// let line = serde_json::to_value(UserMessage::prompt("hello"))?;
    /// assert_eq!(line["message"]["content"], "hello");
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn prompt(content: impl Into<Content>) -> Self {
        Self {
            message: UserMessageBody { content: content.into(), ..UserMessageBody::default() },
            ..Self::default()
        }
    }

    /// The result of one tool call.
    pub fn tool_result(block: ToolResultBlock) -> Self {
        Self::prompt(vec![ContentBlock::ToolResult(block)])
    }
}

/// A user message of the Messages API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UserMessageBody {
    /// Always the user.
    pub role: Role,
    /// Content.
    pub content: Content,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Default for UserMessageBody {
    fn default() -> Self {
        Self { role: Role::User, content: Content::default(), extra: Extra::new() }
    }
}

open_enum! {
    /// Priority of a prompt in the queue.
    PromptPriority {
        /// Before everything, stopping what runs.
        Now = "now",
        /// Before everything that waits.
        Next = "next",
        /// After everything queued.
        Later = "later",
    }
}

/// Permission decision of a tool call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolResultMeta {
    /// The call.
    pub id: ToolUseId,
    /// Permission decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub permission_decision: Option<PermissionDecision>,
    /// Why it did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub non_execution_kind: Option<NonExecutionKind>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Permission decision of a tool call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct PermissionDecision {
    /// Verdict.
    pub decision: PermissionVerdict,
    /// Source of the decision.
    pub source: DecisionSource,
    /// On what grounds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason_type: Option<DecisionReasonType>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Whether a tool call may run.
    PermissionVerdict {
        /// It may.
        Accept = "accept",
        /// It may not.
        Reject = "reject",
    }
}

open_enum! {
    /// Source of a permission decision.
    DecisionSource {
        /// Rules, the permission mode, or the nature of the tool.
        Config = "config",
        /// A hook.
        Hook = "hook",
        /// The user, for this once.
        UserTemporary = "user_temporary",
        /// The user, for the future too.
        UserPermanent = "user_permanent",
        /// The user, against it.
        UserReject = "user_reject",
    }
}

open_enum! {
    /// Why a tool call did not run.
    NonExecutionKind {
        /// A rule or the permission mode forbids it.
        PermissionRule = "permission-rule",
        /// The user denied it.
        UserRejected = "user-rejected",
        /// The turn was interrupted before.
        Interrupted = "interrupted",
    }
}
