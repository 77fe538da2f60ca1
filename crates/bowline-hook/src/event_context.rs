//! Context that the hooks of one event share.

use std::sync::{Arc, OnceLock};

use bowline_protocol::{EventInput, HookEvent, HookInput, HookStartedMessage, RawJson, ToolUseId};

use super::{
    activity::{HookActivity, HookObserver},
    command::HookEnvironment,
};

/// Context that the hooks of one event share.
pub(super) struct EventContext {
    pub(super) input: HookInput,
    pub(super) event: HookEvent,
    pub(super) hook_name: String,
    /// The call it is about, where the event does not say.
    pub(super) about: Option<ToolUseId>,
    /// The input as programs and servers get it, made when the first of them needs it.
    pub(super) json: OnceLock<RawJson>,
    pub(super) environment: Arc<HookEnvironment>,
    pub(super) observer: Arc<dyn HookObserver>,
}

impl EventContext {
    /// The input as programs and servers get it.
    pub(super) fn json(&self) -> &RawJson {
        let written = || RawJson::from_value(&self.input).expect("hook inputs always serialize");
        self.json.get_or_init(written)
    }

    /// Informs the observer that a hook starts.
    pub(super) fn observe_start(&self, hook_id: &str) {
        self.observer.observe(HookActivity::Started(HookStartedMessage {
            hook_id: hook_id.to_owned(),
            hook_name: self.hook_name.clone(),
            hook_event: self.event.clone(),
            uuid: fresh_id().into(),
            session_id: self.input.base.session_id.clone(),
            extra: Default::default(),
        }));
    }
}

pub(super) fn fresh_id() -> String {
    uuid::Uuid::new_v4().to_string()
}

/// The id of the tool call that an input is about.
pub(super) fn tool_use_id(input: &HookInput) -> Option<&ToolUseId> {
    match &input.event {
        EventInput::PreToolUse(input) => Some(&input.tool_use_id),
        EventInput::PostToolUse(input) => Some(&input.tool_use_id),
        EventInput::PostToolUseFailure(input) => Some(&input.tool_use_id),
        EventInput::PermissionDenied(input) => Some(&input.tool_use_id),
        _ => None,
    }
}
