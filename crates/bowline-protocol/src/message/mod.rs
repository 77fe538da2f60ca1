//! The data plane: prompts, model responses, tool results, and status of the agent.

mod account;
mod assistant;
mod conversation;
mod origin;
mod result;
mod slash_command;
mod stream_event;
mod system;
mod tool;
mod usage;
mod user;

use schemars::JsonSchema;
use serde::Serialize;

use crate::{raw::RawJson, wire::read_by_tag};

pub use account::*;
pub use assistant::*;
pub use conversation::*;
pub use origin::*;
pub use result::*;
pub use slash_command::*;
pub use stream_event::*;
pub use system::*;
pub use tool::*;
pub use usage::*;
pub use user::*;

/// Every message of an agent on the data plane.
///
/// Each is in a box, so that a message is small to pass from hand to hand, whatever its payload;
/// `Message::from` takes any of them as they are.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// A tool's result, a replayed prompt, or text on behalf of the user.
    User(Box<UserMessage>),
    /// A block of a model response.
    Assistant(Box<AssistantMessage>),
    /// An event of a streamed model response.
    StreamEvent(Box<StreamEventMessage>),
    /// The end of a turn.
    Result(Box<ResultMessage>),
    /// A tool call is still running.
    ToolProgress(Box<ToolProgressMessage>),
    /// Summary of tool calls.
    ToolUseSummary(Box<ToolUseSummaryMessage>),
    /// Progress of a sign-in.
    AuthStatus(Box<AuthStatusMessage>),
    /// Rate limit: how much of the allowance is used.
    RateLimitEvent(Box<RateLimitEventMessage>),
    /// Suggested next prompt.
    PromptSuggestion(Box<PromptSuggestionMessage>),
    /// The conversation is reset.
    ConversationReset(Box<ConversationResetMessage>),
    /// The active goal.
    ActiveGoal(Box<ActiveGoalMessage>),
    /// Lines that were just written to a transcript.
    TranscriptMirror(Box<TranscriptMirrorMessage>),
    /// A prompt moves through the queue.
    CommandLifecycle(Box<CommandLifecycleMessage>),
    /// How close the context is to automatic compaction.
    AutocompactState(Box<AutocompactStateMessage>),
    /// Status of the session, distinguished by `subtype`.
    #[serde(untagged, serialize_with = "SystemMessage::write_with_type")]
    #[schemars(with = "system::Typed<'static>")]
    System(SystemMessage),
    /// A message this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(Message, Type, in boxes, {
    "user" => User,
    "assistant" => Assistant,
    "stream_event" => StreamEvent,
    "result" => Result,
    "system" => System(SystemMessage),
    "tool_progress" => ToolProgress,
    "tool_use_summary" => ToolUseSummary,
    "auth_status" => AuthStatus,
    "rate_limit_event" => RateLimitEvent,
    "prompt_suggestion" => PromptSuggestion,
    "conversation_reset" => ConversationReset,
    "active_goal" => ActiveGoal,
    "transcript_mirror" => TranscriptMirror,
    "command_lifecycle" => CommandLifecycle,
    "autocompact_state" => AutocompactState,
});

/// Makes each payload a value of its enum.
macro_rules! into_message {
    ($($variant:ident($payload:ty)),* $(,)?) => {$(
        impl From<$payload> for Message {
            fn from(message: $payload) -> Self {
                Self::$variant(message.into())
            }
        }
    )*};
}

into_message! {
    User(UserMessage),
    Assistant(AssistantMessage),
    StreamEvent(StreamEventMessage),
    Result(ResultMessage),
    System(SystemMessage),
    ToolProgress(ToolProgressMessage),
    ToolUseSummary(ToolUseSummaryMessage),
    AuthStatus(AuthStatusMessage),
    RateLimitEvent(RateLimitEventMessage),
    PromptSuggestion(PromptSuggestionMessage),
    ConversationReset(ConversationResetMessage),
    ActiveGoal(ActiveGoalMessage),
    TranscriptMirror(TranscriptMirrorMessage),
    CommandLifecycle(CommandLifecycleMessage),
    AutocompactState(AutocompactStateMessage),
}
