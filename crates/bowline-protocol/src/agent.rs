//! Subagents as a host defines them.

use std::{collections::BTreeMap, fmt};

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de};

use crate::{extra::Extra, mcp::McpServerConfig, permission::PermissionMode, wire::open_enum};

/// A kind of subagent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AgentDefinition {
    /// When to use it, for the model that chooses.
    pub description: String,
    /// Its system prompt.
    pub prompt: String,
    /// The tools it has; all if not given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<Vec<String>>,
    /// Tools it does not have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disallowed_tools: Option<Vec<String>>,
    /// Its model, or `inherit`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// MCP servers it has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_servers: Option<Vec<AgentMcpServer>>,
    /// Skills it knows from the start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skills: Option<Vec<String>>,
    /// Put before its first prompt when it is the main agent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub initial_prompt: Option<String>,
    /// Limit on requests to the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_turns: Option<u32>,
    /// Whether it runs in the background.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub background: Option<bool>,
    /// Scope of its memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory: Option<AgentMemory>,
    /// Effort of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effort: Option<AgentEffort>,
    /// Permission mode.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission_mode: Option<PermissionMode>,
    /// Fields this version does not know (`observer`, `omitClaudeMd`, `autoCompactWindow`).
    #[serde(flatten)]
    pub extra: Extra,
}

open_enum! {
    /// Scope of its memory.
    AgentMemory {
        /// With the user.
        User = "user",
        /// With the project, shared.
        Project = "project",
        /// With the project, not shared.
        Local = "local",
    }
}

/// An MCP server of a subagent.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AgentMcpServer {
    /// One that the session has.
    Name(String),
    /// Servers of its own, by name.
    Configs(BTreeMap<String, McpServerConfig>),
}

impl<'de> Deserialize<'de> for AgentMcpServer {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Server;

        impl<'de> de::Visitor<'de> for Server {
            type Value = AgentMcpServer;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a server or an object of configurations")
            }

            fn visit_str<E: de::Error>(self, name: &str) -> Result<AgentMcpServer, E> {
                Ok(AgentMcpServer::Name(name.to_owned()))
            }

            fn visit_map<A: de::MapAccess<'de>>(self, map: A) -> Result<AgentMcpServer, A::Error> {
                let configs = de::value::MapAccessDeserializer::new(map);
                BTreeMap::deserialize(configs).map(AgentMcpServer::Configs)
            }
        }

        from.deserialize_any(Server)
    }
}

/// Effort of a subagent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(untagged)]
pub enum AgentEffort {
    /// A level: `low`, `medium`, `high` and so on.
    Level(String),
    /// A number.
    Number(u64),
}

impl<'de> Deserialize<'de> for AgentEffort {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Effort;

        impl de::Visitor<'_> for Effort {
            type Value = AgentEffort;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a level or a whole number")
            }

            fn visit_str<E: de::Error>(self, level: &str) -> Result<AgentEffort, E> {
                Ok(AgentEffort::Level(level.to_owned()))
            }

            fn visit_u64<E: de::Error>(self, number: u64) -> Result<AgentEffort, E> {
                Ok(AgentEffort::Number(number))
            }
        }

        from.deserialize_any(Effort)
    }
}
