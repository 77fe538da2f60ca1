//! Hook output that is common to all events.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Number;

use super::HookSpecificOutput;
use crate::{
    extra::Extra,
    raw::RawJson,
    wire::{ReadError, open_enum, read_whole},
};

/// Output of a hook.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum HookOutput {
    /// It is done, and this is what it thinks. `{}` is no opinion.
    Sync(Box<SyncHookOutput>),
    /// It goes on by itself; the action proceeds as if it had no opinion.
    Async(AsyncHookOutput),
}

impl HookOutput {
    /// Reads the output from its JSON text.
    pub fn parse(json: &str) -> Result<Self, ReadError> {
        #[derive(Deserialize)]
        struct Mark {
            #[serde(default, rename = "async")]
            is_async: bool,
        }

        const WHAT: &str = "hook output";
        let mark: Mark = read_whole(WHAT, json)?;
        if mark.is_async {
            read_whole(WHAT, json).map(Self::Async)
        } else {
            read_whole(WHAT, json).map(|output| Self::Sync(Box::new(output)))
        }
    }
}

impl Default for HookOutput {
    /// No opinion.
    fn default() -> Self {
        Self::Sync(Box::default())
    }
}

impl From<SyncHookOutput> for HookOutput {
    fn from(output: SyncHookOutput) -> Self {
        Self::Sync(Box::new(output))
    }
}

impl<'de> Deserialize<'de> for HookOutput {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(from)?;
        Self::parse(raw.get()).map_err(de::Error::custom)
    }
}

/// A hook that goes on by itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AsyncHookOutput {
    /// Always true.
    pub r#async: bool,
    /// Timeout, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub async_timeout: Option<Number>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Decision of a hook.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct SyncHookOutput {
    /// `false` stops the agent.
    #[serde(rename = "continue", skip_serializing_if = "Option::is_none")]
    pub continue_: Option<bool>,
    /// Why, for the user.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_reason: Option<String>,
    /// Whether to hide what the hook printed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub suppress_output: Option<bool>,
    /// A verdict, on events that take one here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<HookDecision>,
    /// Why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Shown to the user, not to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub system_message: Option<String>,
    /// An escape sequence for the user's terminal: a title, a bell, a notification.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminal_sequence: Option<String>,
    /// Output that is specific to the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hook_specific_output: Option<HookSpecificOutput>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// A verdict.
    HookDecision {
        /// Go on without asking.
        Approve = "approve",
        /// Do not go on.
        Block = "block",
    }
}
