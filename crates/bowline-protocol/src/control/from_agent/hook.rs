//! Run this hook.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    extra::Extra,
    hook::HookInput,
    id::{CallbackId, ToolUseId},
};

/// Run this hook. The response is a [`HookOutput`](crate::HookOutput).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct HookCallback {
    /// The callback, as the host named it with `initialize`.
    pub callback_id: CallbackId,
    /// Input of the hook.
    pub input: HookInput,
    /// The call, on events of tools; on others it means nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_use_id: Option<ToolUseId>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}
