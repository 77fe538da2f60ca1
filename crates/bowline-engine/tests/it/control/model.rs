//! Switching the model.

use std::sync::{Arc, Mutex};

use bowline_engine::{ConnectedModel, Models};
use bowline_model::{BoxFuture, EventStream, Model, ModelError, ModelRequest, Providers};
use bowline_protocol::ContentBlock;
use serde_json::{Value, json};

use super::{hook, hook_inputs};
use crate::rig::{Rig, shapes};

async fn switch(rig: &Rig, model: Value) -> Result<Value, String> {
    rig.control(json!({"subtype": "set_model", "model": model})).await
}

#[tokio::test]
async fn model_switch_is_reported_to_the_host() {
    let mut rig = Rig::new();
    // Before the first turn there is no frame to send.
    assert_eq!(switch(&rig, json!("sonnet")).await, Ok(json!({"model": "claude-sonnet-5-5"})));
    assert_eq!(switch(&rig, json!(null)).await, Ok(json!({"model": "script"})));
    assert_eq!(rig.received(), Vec::<Value>::new());
    rig.run("SAY hi").await;
    rig.received();
    for (asked, resolved, shown) in [
        (json!("claude-haiku-5-5"), "claude-haiku-5-5", "claude-haiku-5-5"),
        (json!("opus"), "claude-opus-5-5", "opus (claude-opus-5-5)"),
        (json!("no-such-model"), "no-such-model", "no-such-model"),
        (json!(null), "script", "script"),
    ] {
        assert_eq!(switch(&rig, asked).await, Ok(json!({"model": resolved})));
        let received = rig.received();
        let text = format!("<local-command-stdout>Set model to `{shown}`</local-command-stdout>");
        assert_eq!(received[0]["message"]["content"], text);
        assert_eq!(received[0]["isReplay"], true);
    }
    // The same model again is not reported.
    assert_eq!(switch(&rig, json!("default")).await, Ok(json!({"model": "script"})));
    assert_eq!(rig.received(), Vec::<Value>::new());
    assert_eq!(rig.run("SAY hi").await.last().unwrap()["result"], "hi");
}

#[tokio::test]
async fn hooks_may_refuse_a_model_switch() {
    let mut rig = Rig::new();
    hook(&rig, "PreModelSwitch").await;
    rig.will_hook(json!({"hookSpecificOutput": {
        "hookEventName": "PreModelSwitch",
        "permissionDecision": "deny",
        "permissionDecisionReason": "too dear",
    }}));
    let error = switch(&rig, json!("opus")).await.unwrap_err();
    assert!(error.contains("too dear"), "{error}");
    let received = rig.received();
    let inputs = hook_inputs(&received, "PreModelSwitch");
    assert_eq!(inputs[0]["from_model"], "script");
    assert_eq!(inputs[0]["to_model"], "claude-opus-5-5");
    assert_eq!(inputs[0]["requested_model"], "opus");
    assert_eq!(inputs[0]["source"], "sdk");
    assert_eq!(received.len(), 1, "the host gets no message about a switch");
    assert_eq!(rig.run("SAY hi").await[0]["model"], "script");
}

/// The script model under any name; records its requests.
#[derive(Clone, Default)]
struct Recorder(Arc<Mutex<Vec<Arc<ModelRequest>>>>);

impl Models for Recorder {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let (wire_name, name) = (name.to_owned(), name.to_owned());
        Ok(ConnectedModel { model: Arc::new(self.clone()), wire_name, name })
    }
}

impl Model for Recorder {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        self.0.lock().unwrap().push(Arc::clone(&request));
        Box::pin(async move {
            let script = Models::connect(&Providers::new(), "script")?;
            script.model.stream(request).await
        })
    }

    fn count_tokens(&self, _: Arc<ModelRequest>) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl Recorder {
    /// Whether the model was shown earlier reasoning in the newest request.
    fn saw_thinking(&self) -> bool {
        let requests = self.0.lock().unwrap();
        let messages = &requests.last().unwrap().messages;
        let mut blocks = messages.iter().flat_map(|message| &message.content);
        blocks.any(|block| matches!(block, ContentBlock::Thinking(_)))
    }
}

fn recorded() -> (Rig, Recorder) {
    let recorder = Recorder::default();
    let models = Arc::new(recorder.clone());
    let rig = Rig::with(|config| {
        config.models = models;
        config.model = "claude-opus-5-5".to_owned();
    });
    (rig, recorder)
}

#[tokio::test]
async fn hooks_receive_a_model_switch_with_the_next_turn() {
    let (mut rig, _) = recorded();
    hook(&rig, "PostModelSwitch").await;
    switch(&rig, json!("claude-haiku-5-5")).await.unwrap();
    assert!(hook_inputs(&rig.received(), "PostModelSwitch").is_empty());
    let frames = rig.run("SAY hi").await;
    assert_eq!(shapes(&frames)[0], "hook:PostModelSwitch");
    assert_eq!(frames[0]["call"]["input"]["to_model"], "claude-haiku-5-5");
    let again = rig.run("SAY hi").await;
    assert!(hook_inputs(&again, "PostModelSwitch").is_empty(), "once");
}

#[tokio::test]
async fn a_model_of_another_family_does_not_see_earlier_reasoning() {
    let (mut rig, model) = recorded();
    rig.run("THINK hm\nSAY one").await;
    switch(&rig, json!("claude-opus-4-8")).await.unwrap();
    rig.run("SAY two").await;
    assert!(model.saw_thinking(), "an older version can verify it");
    switch(&rig, json!("claude-haiku-5-5")).await.unwrap();
    rig.run("SAY three").await;
    assert!(!model.saw_thinking());
}

#[tokio::test]
async fn same_model_is_not_a_switch() {
    let mut rig = Rig::new();
    hook(&rig, "PreModelSwitch").await;
    switch(&rig, json!("script")).await.unwrap();
    assert!(hook_inputs(&rig.received(), "PreModelSwitch").is_empty());
}
