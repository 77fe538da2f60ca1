//! MCP servers: how they are reached and how they are doing.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};
use serde_json::Number;

use crate::{
    extra::Extra,
    raw::RawJson,
    wire::{Key, ReadError, Tags, open_enum, read_body, read_raw},
};

/// Configuration of an MCP server. Without a `type` it is a program.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpServerConfig {
    /// Over HTTP with server-sent events, the older way.
    Sse(McpRemoteServer),
    /// Over HTTP.
    Http(McpRemoteServer),
    /// Inside the host, over `mcp_message` requests.
    Sdk(McpSdkServer),
    /// Through the vendor's proxy. Only seen in a status.
    #[serde(rename = "claudeai-proxy")]
    ClaudeAiProxy(McpProxyServer),
    /// A program that is started and spoken to over its stdin and stdout.
    #[serde(untagged)]
    Stdio(McpStdioServer),
    /// A kind this version does not know, byte for byte as it came.
    #[serde(untagged)]
    Unknown(RawJson),
}

impl McpServerConfig {
    /// The tags this version knows.
    pub const TAGS: &'static [&'static str] = &["stdio", "sse", "http", "sdk", "claudeai-proxy"];

    /// Reads one value from its JSON text.
    pub fn parse(json: &str) -> Result<Self, ReadError> {
        let tags = Tags::read(json, Key::Type)?;
        let tag = tags.get(Key::Type);
        match tag {
            None | Some("stdio") => {
                let server = read_body("stdio", Key::Type, json)?;
                Ok(Self::Stdio(McpStdioServer { r#type: tag.map(|_| StdioType::Stdio), ..server }))
            }
            Some("sse") => read_body("sse", Key::Type, json).map(Self::Sse),
            Some("http") => read_body("http", Key::Type, json).map(Self::Http),
            Some("sdk") => read_body("sdk", Key::Type, json).map(Self::Sdk),
            Some("claudeai-proxy") => {
                read_body("claudeai-proxy", Key::Type, json).map(Self::ClaudeAiProxy)
            }
            Some(_) => read_raw(json).map(Self::Unknown),
        }
    }
}

impl<'de> Deserialize<'de> for McpServerConfig {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let raw = RawJson::deserialize(from)?;
        Self::parse(raw.get()).map_err(de::Error::custom)
    }
}

/// The one value that the `type` of a program may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StdioType {
    /// `stdio`
    Stdio,
}

/// A program that is an MCP server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpStdioServer {
    /// Whether the configuration states the type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub r#type: Option<StdioType>,
    /// The program.
    pub command: String,
    /// Its arguments.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub args: Option<Vec<String>>,
    /// Variables added to its environment.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub env: Option<BTreeMap<String, String>>,
    /// Timeout, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Whether its tools are always in the model's list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always_load: Option<bool>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An MCP server on the network.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpRemoteServer {
    /// Location.
    pub url: String,
    /// Headers of every request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub headers: Option<BTreeMap<String, String>>,
    /// Policy for some of its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<McpToolPolicy>>,
    /// Timeout, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Whether its tools are always in the model's list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub always_load: Option<bool>,
    /// Login parameters that it does not announce itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oauth: Option<McpOauth>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Login parameters that an MCP server does not announce itself.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpOauth {
    /// The client that was registered beforehand.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_id: Option<String>,
    /// The secret of that client, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// The private key of that client, in PEM, if it proves with signatures who it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_private_key: Option<String>,
    /// The address of a document that describes the client, for servers that read it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_metadata_url: Option<String>,
    /// The port of this machine that the browser comes back to, if it must be a certain one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback_port: Option<u16>,
    /// Scopes to request, separated by spaces, instead of those the server names.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scopes: Option<String>,
    /// Grant type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grant_type: Option<McpGrantType>,
    /// Identity provider of the user, with [`McpGrantType::JwtBearer`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub identity_provider: Option<McpIdentityProvider>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Grant type of a login.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum McpGrantType {
    /// A person, who agrees to it in a browser.
    AuthorizationCode,
    /// The client itself, by its id and its secret or key, without a person.
    ClientCredentials,
    /// A person for whom an identity provider vouches, without a consent dialog.
    JwtBearer,
}

/// A company's identity provider: its token for a user is exchanged for one of the server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpIdentityProvider {
    /// Issuer.
    pub issuer: String,
    /// Token endpoint.
    pub token_endpoint: String,
    /// The client that is registered with it.
    pub client_id: String,
    /// The secret of that client, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub client_secret: Option<String>,
    /// Identity token of the user, from a login to it.
    pub id_token: String,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An MCP server inside the host.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpSdkServer {
    /// The name under which the host knows it.
    pub name: String,
    /// Timeout, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Policy for some of its tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<McpToolPolicy>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An MCP server reached through the vendor's proxy.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct McpProxyServer {
    /// Location.
    pub url: String,
    /// Names it there.
    pub id: String,
    /// Timeout, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Policy for one tool of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct McpToolPolicy {
    /// The tool.
    pub name: String,
    /// Whether it may run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_policy: Option<McpPermissionPolicy>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Whether a tool of an MCP server may run.
    McpPermissionPolicy {
        /// It may.
        AlwaysAllow = "always_allow",
        /// Request permission each time.
        AlwaysAsk = "always_ask",
        /// It may not.
        AlwaysDeny = "always_deny",
    }
}

open_enum! {
    /// Status of an MCP server.
    #[derive(Default)]
    McpServerStatus {
        /// Its tools can be called.
        Connected = "connected",
        /// It could not be reached.
        Failed = "failed",
        /// The user must log in first.
        NeedsAuth = "needs-auth",
        /// It is being reached.
        #[default]
        Pending = "pending",
        /// It is switched off.
        Disabled = "disabled",
    }
}
