//! Registration of hooks by a host, in `initialize`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::{extra::Extra, id::CallbackId, maybe::Maybe, wire::open_enum};

/// Some of a host's callbacks for one event.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct HookMatcher {
    /// Matcher: absent or `*` for all, a name, `A|B`, or a regular expression.
    #[serde(default, skip_serializing_if = "Maybe::is_absent")]
    pub matcher: Maybe<String>,
    /// The callbacks.
    pub hook_callback_ids: Vec<CallbackId>,
    /// Timeout of each, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Number>,
    /// Effect of a failed callback.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_failure: Option<HookFailure>,
    /// Fields this version does not know.
    #[serde(flatten)]
    pub extra: Extra,
}

impl HookMatcher {
    /// Timeout of each callback. Absent means no limit.
    pub fn time_limit(&self) -> Option<Duration> {
        let limit = Duration::try_from_secs_f64(self.timeout.as_ref()?.as_f64()?).ok();
        limit.filter(|limit| !limit.is_zero())
    }
}

open_enum! {
    /// Effect of a failed hook. An unknown value is treated as `block`.
    HookFailure {
        /// Go on without it.
        Continue = "continue",
        /// Do not go on.
        Block = "block",
    }
}
