//! Changes from outside the turn, applied by the main agent with its next turn or request.

use bowline_protocol::{HookEvent, ModelSwitchInput, PermissionDenial};
use parking_lot::Mutex;

/// Changes that the main agent has not applied yet.
#[derive(Debug, Default)]
pub(crate) struct PendingChanges(Mutex<Changes>);

#[derive(Debug, Default)]
struct Changes {
    /// Texts of hooks for the model, sent with the next prompt.
    context: Vec<String>,
    /// The main agent's toolset has to be rebuilt.
    tools: bool,
    /// A switch of the model for which the hooks have not run.
    model_switch: Option<ModelSwitchInput>,
    /// The model is of another family and could not verify earlier thinking.
    foreign_thinking: bool,
    /// Events with hooks whose `on_failure` is unknown, so that their failure blocks.
    strict_hooks: Vec<HookEvent>,
    /// Denied calls of subagents that are not in a result yet.
    denials: Vec<PermissionDenial>,
}

impl PendingChanges {
    pub(crate) fn add_context(&self, texts: impl IntoIterator<Item = String>) {
        self.0.lock().context.extend(texts);
    }

    pub(crate) fn take_context(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().context)
    }

    pub(crate) fn tools_changed(&self) {
        self.0.lock().tools = true;
    }

    pub(crate) fn take_tools_changed(&self) -> bool {
        std::mem::take(&mut self.0.lock().tools)
    }

    pub(crate) fn model_switched(&self, switch: ModelSwitchInput) {
        self.0.lock().model_switch = Some(switch);
    }

    pub(crate) fn take_model_switch(&self) -> Option<ModelSwitchInput> {
        self.0.lock().model_switch.take()
    }

    pub(crate) fn thinking_is_foreign(&self) {
        self.0.lock().foreign_thinking = true;
    }

    pub(crate) fn take_foreign_thinking(&self) -> bool {
        std::mem::take(&mut self.0.lock().foreign_thinking)
    }

    pub(crate) fn set_strict_hooks(&self, events: Vec<HookEvent>) {
        self.0.lock().strict_hooks = events;
    }

    pub(crate) fn take_strict_hooks(&self) -> Vec<HookEvent> {
        std::mem::take(&mut self.0.lock().strict_hooks)
    }

    pub(crate) fn add_denials(&self, denials: impl IntoIterator<Item = PermissionDenial>) {
        self.0.lock().denials.extend(denials);
    }

    pub(crate) fn take_denials(&self) -> Vec<PermissionDenial> {
        std::mem::take(&mut self.0.lock().denials)
    }
}
