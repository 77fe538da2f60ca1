//! Request for the hooks that are registered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{extra::Extra, hook::HookEvent, raw::RawJson};

/// Request for the registered hooks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct GetHooksListing {
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Registered hooks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HooksListing {
    /// Events with registered hooks.
    pub events: Vec<RawJson>,
    /// The hooks.
    pub hooks: Vec<RawJson>,
    /// All hook events.
    pub event_catalog: Vec<HookEventInfo>,
    /// Policy of the administrator for hooks.
    pub policy: RawJson,
    /// Whether safe mode turns hooks off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe_mode: Option<bool>,
    /// Whether bare mode turns hooks off.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bare_mode: Option<bool>,
    /// Errors in the configuration of hooks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<Vec<RawJson>>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An event that hooks can register for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookEventInfo {
    /// The event.
    pub name: HookEvent,
    /// When it happens.
    pub summary: String,
    /// Whether a matcher narrows it.
    pub supports_matcher: bool,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
