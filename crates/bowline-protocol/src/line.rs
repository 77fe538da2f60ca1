//! A line of either direction: everything that an agent or a host may send.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{
    control::{
        AgentRequest, ControlCancelRequest, ControlRequest, ControlResponse, HostRequest,
        KeepAlive, UpdateEnvironmentVariables,
    },
    message::{Message, UserMessage},
    raw::RawJson,
    wire::{Key, ReadError, Tags, read_body, read_by_tag},
};

/// What an agent may write.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum AgentLine {
    /// A request for the host.
    ControlRequest(Box<ControlRequest<AgentRequest>>),
    /// The response to a request of the host.
    ControlResponse(ControlResponse),
    /// The agent cancels one of its requests.
    ControlCancelRequest(ControlCancelRequest),
    /// Keep-alive signal.
    KeepAlive(KeepAlive),
    /// Anything on the data plane, also what this version does not know.
    #[serde(untagged)]
    Message(Message),
}

impl AgentLine {
    /// Reads one line.
    pub fn parse(json: &str) -> Result<Self, ReadError> {
        let tags = Tags::read(json, Key::Type)?;
        match tags.get(Key::Type) {
            Some(tag @ "control_request") => {
                read_body(tag, Key::Type, json).map(Self::ControlRequest)
            }
            Some(tag @ "control_response") => {
                read_body(tag, Key::Type, json).map(Self::ControlResponse)
            }
            Some(tag @ "control_cancel_request") => {
                read_body(tag, Key::Type, json).map(Self::ControlCancelRequest)
            }
            Some(tag @ "keep_alive") => read_body(tag, Key::Type, json).map(Self::KeepAlive),
            _ => Message::from_tags(&tags, json).map(Self::Message),
        }
    }
}

impl<'de> Deserialize<'de> for AgentLine {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(from)?;
        Self::parse(raw.get()).map_err(de::Error::custom)
    }
}

impl<M: Into<Message>> From<M> for AgentLine {
    fn from(message: M) -> Self {
        Self::Message(message.into())
    }
}

/// What a host may write.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum HostLine {
    /// A prompt.
    User(Box<UserMessage>),
    /// A request for the agent.
    ControlRequest(Box<ControlRequest<HostRequest>>),
    /// The response to a request of the agent.
    ControlResponse(ControlResponse),
    /// The host cancels one of its requests.
    ControlCancelRequest(ControlCancelRequest),
    /// Keep-alive signal.
    KeepAlive(KeepAlive),
    /// New environment variables.
    UpdateEnvironmentVariables(UpdateEnvironmentVariables),
    /// A line this version does not know, byte for byte as it came. An agent ignores it.
    #[serde(untagged)]
    Unknown(RawJson),
}

read_by_tag!(HostLine, Type, {
    "user" => User,
    "control_request" => ControlRequest,
    "control_response" => ControlResponse,
    "control_cancel_request" => ControlCancelRequest,
    "keep_alive" => KeepAlive,
    "update_environment_variables" => UpdateEnvironmentVariables,
});

impl From<UserMessage> for HostLine {
    fn from(prompt: UserMessage) -> Self {
        Self::User(Box::new(prompt))
    }
}
