//! Settings that Bowline acts on.

use std::collections::BTreeMap;

use bowline_protocol::{AgentDefinition, HookSettings, PermissionMode};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};
use serde_path_to_error::Segment;

/// The keys that Bowline acts on. Everything else stays in the layer it is in.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct KnownSettings {
    /// The model to talk to.
    pub model: Option<String>,
    /// The models to try when that one is overloaded, in order.
    #[serde(deserialize_with = "one_or_many")]
    pub fallback_model: Vec<String>,
    /// Variables for the session and everything it starts.
    #[serde(deserialize_with = "texts")]
    pub env: BTreeMap<String, String>,
    /// Rules and modes.
    pub permissions: PermissionSettings,
    /// Hooks by event.
    pub hooks: HookSettings,
    /// No hooks at all, except managed ones if this is not a managed setting.
    pub disable_all_hooks: Option<bool>,
    /// Managed: only managed hooks and those of the host run.
    pub allow_managed_hooks_only: Option<bool>,
    /// Managed: only managed permission rules apply.
    pub allow_managed_permission_rules_only: Option<bool>,
    /// The output style.
    pub output_style: Option<String>,
    /// The language of responses.
    pub language: Option<String>,
    /// How much effort the model makes.
    pub effort_level: Option<String>,
    /// Whether the model thinks before it responds.
    pub always_thinking_enabled: Option<bool>,
    /// How much it may think.
    pub max_thinking_tokens: Option<u64>,
    /// Whether a long conversation is summarized by itself.
    pub auto_compact_enabled: Option<bool>,
    /// The size in tokens at which that happens.
    pub auto_compact_window: Option<u64>,
    /// Whether servers of `.mcp.json` are started that nobody names; they are unless this is false.
    pub enable_all_project_mcp_servers: Option<bool>,
    /// The servers of `.mcp.json` to start where not all are.
    pub enabled_mcpjson_servers: Vec<String>,
    /// The servers of `.mcp.json` not to start.
    pub disabled_mcpjson_servers: Vec<String>,
    /// A command that prints the key of the model's service.
    pub api_key_helper: Option<String>,
    /// For how many days transcripts are kept.
    pub cleanup_period_days: Option<u32>,
    /// Installed plugins, as `name@marketplace`, and whether they are used.
    pub enabled_plugins: BTreeMap<String, bool>,
    /// The agent that the main conversation is.
    pub agent: Option<String>,
    /// Further agents, by name.
    pub agents: BTreeMap<String, AgentDefinition>,
    /// What only Bowline has.
    pub bowline: BowlineSettings,
}

/// The `permissions` block.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct PermissionSettings {
    /// Calls that run.
    pub allow: Vec<String>,
    /// Calls that are asked about.
    pub ask: Vec<String>,
    /// Calls that are refused.
    pub deny: Vec<String>,
    /// The mode to start in.
    pub default_mode: Option<PermissionMode>,
    /// Further folders to work in.
    pub additional_directories: Vec<String>,
    /// `disable`: nobody can bypass permissions.
    pub disable_bypass_permissions_mode: Option<String>,
    /// `disable`: no automatic mode.
    pub disable_auto_mode: Option<String>,
    /// Reading outside the working directories is refused rather than asked about.
    pub block_reads_outside_working_directories: Option<bool>,
    /// The same for writing.
    pub block_writes_outside_working_directories: Option<bool>,
    /// What would ask is denied.
    pub deny_instead_of_prompting: Option<bool>,
}

/// The `bowline` block: keys of our own, apart from those that other programs read.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[non_exhaustive]
pub struct BowlineSettings {
    /// Prices by model, which add to and override the built-in ones.
    pub prices: Map<String, Value>,
    /// Whether WebFetch may reach this machine and private networks.
    pub allow_private_addresses: Option<bool>,
    /// The server that keeps the logs of sessions.
    pub session_server: Option<String>,
    /// Whether commands of the model run without the keys of models in their environment.
    pub hide_keys: Option<bool>,
}

impl KnownSettings {
    /// Reads the known keys and removes from `value` each part that does not fit,
    /// which `report` is told about with its path and the reason.
    pub(super) fn take_from(
        value: &mut Map<String, Value>,
        mut report: impl FnMut(String, String),
    ) -> Self {
        let mut whole = Value::Object(std::mem::take(value));
        // Each round removes one value, so there is an end.
        let known = loop {
            match serde_path_to_error::deserialize::<_, Self>(&whole) {
                Ok(known) => break known,
                Err(error) => {
                    let path = Vec::from_iter(error.path());
                    report(error.path().to_string(), error.inner().to_string());
                    if !remove(&mut whole, &path) {
                        break Self::default();
                    }
                }
            }
        };
        if let Value::Object(left) = whole {
            *value = left;
        }
        known
    }
}

/// Removes the value at a path, or the nearest one around it.
fn remove(value: &mut Value, path: &[&Segment]) -> bool {
    let Some((first, rest)) = path.split_first() else { return false };
    match (value, first) {
        (Value::Object(object), Segment::Map { key }) => {
            let inner = object.get_mut(key).is_some_and(|value| remove(value, rest));
            if !inner {
                let before = object.len();
                object.retain(|known, _| known != key);
                return object.len() < before;
            }
            true
        }
        (Value::Array(items), Segment::Seq { index }) => {
            let inner = items.get_mut(*index).is_some_and(|value| remove(value, rest));
            if !inner && *index < items.len() {
                items.remove(*index);
                return true;
            }
            inner
        }
        _ => false,
    }
}

fn one_or_many<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a model or a list of models")]
    enum OneOrMany {
        One(String),
        Many(Vec<String>),
    }
    Ok(match OneOrMany::deserialize(from)? {
        OneOrMany::One(list) => list.split(',').map(|model| model.trim().to_owned()).collect(),
        OneOrMany::Many(models) => models,
    })
}

/// Variables are texts, but people write numbers and truth values as well.
fn texts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a text, a number or a truth value")]
    enum Scalar {
        Text(String),
        Truth(bool),
        Number(serde_json::Number),
    }
    let scalars = BTreeMap::<String, Scalar>::deserialize(from)?;
    let text = |scalar| match scalar {
        Scalar::Text(text) => text,
        Scalar::Truth(truth) => truth.to_string(),
        Scalar::Number(number) => number.to_string(),
    };
    Ok(scalars.into_iter().map(|(name, scalar)| (name, text(scalar))).collect())
}
