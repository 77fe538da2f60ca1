//! Control requests, each sent to a session.

mod files;
mod initialize;
mod mcp;
mod mcp_program;
mod model;
mod plugins;
mod session;
mod settings;
mod side;
mod tasks;
mod texts;

use serde_json::{Value, json};

use crate::rig::Rig;

/// Hooks of the host for one event.
async fn hook(rig: &Rig, event: &str) {
    let request = json!({
        "subtype": "initialize",
        "hooks": {event: [{"hookCallbackIds": ["hook_0"]}]},
    });
    rig.control(request).await.unwrap();
}

/// The inputs of the hooks that were called.
fn hook_inputs<'a>(frames: &'a [Value], event: &str) -> Vec<&'a Value> {
    let calls = frames.iter().filter(|frame| frame["type"] == "hook_callback");
    let inputs = calls.map(|frame| &frame["call"]["input"]);
    inputs.filter(|input| input["hook_event_name"] == event).collect()
}
