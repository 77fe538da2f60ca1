//! Identifiers. All are opaque strings; each has its own type so that none is taken for another.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

macro_rules! id_type {
    ($($(#[$meta:meta])* $name:ident),* $(,)?) => {$(
        $(#[$meta])*
        #[derive(
            Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord,
            Serialize, Deserialize, JsonSchema,
        )]
        #[serde(transparent)]
        pub struct $name(pub String);

        impl $name {
            /// The text on the wire.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl From<&str> for $name {
            fn from(id: &str) -> Self {
                Self(id.to_owned())
            }
        }

        impl From<String> for $name {
            fn from(id: String) -> Self {
                Self(id)
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    )*};
}

id_type! {
    /// Names one request on the control plane; chosen by its sender.
    RequestId,
    /// Names a session. A UUID, except where a host sends a placeholder.
    SessionId,
    /// Names one frame of the data plane or one line of a transcript.
    MessageUuid,
    /// Names one tool call of the model (`toolu_…`).
    ToolUseId,
    /// Names a background task: a shell, a subagent.
    TaskId,
    /// Names a running subagent.
    AgentId,
    /// Names a hook callback that a host registered.
    CallbackId,
}
