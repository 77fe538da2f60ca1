//! Faults: each turn ends exactly once with its outcome, and leaves no processes.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use bowline_engine::{BoxFuture, ConnectedModel, Models};
use bowline_model::{ErrorKind, EventStream, Model, ModelError, ModelRequest};
use bowline_protocol::{ContentBlock, StreamEvent};
use futures_util::{StreamExt, stream};
use serde_json::{Value, json};

use crate::rig::{Rig, text};

/// Checks that there is one result, and that the session still works.
async fn ends_once_and_lives(rig: &mut Rig, frames: &[Value]) {
    let results = frames.iter().filter(|frame| frame["type"] == "result").count();
    assert_eq!(results, 1);
    let frames = rig.run("SAY alive").await;
    assert_eq!(frames.last().unwrap()["result"], "alive");
}

#[tokio::test]
async fn tool_panic_is_an_error_result() {
    let mut rig = Rig::new();
    rig.serves(|_, message| {
        let id = &message["id"];
        let answer = |result: Value| Ok(json!({"jsonrpc": "2.0", "id": id, "result": result}));
        match message["method"].as_str().unwrap_or_default() {
            "initialize" => answer(json!({
                "protocolVersion": "2025-11-25",
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "bad", "version": "1"},
            })),
            "tools/list" => answer(json!({
                "tools": [{"name": "crash", "inputSchema": {"type": "object"}}],
            })),
            "tools/call" => panic!("as the test wants"),
            _ => answer(json!({})),
        }
    });
    rig.control(json!({"subtype": "initialize", "sdkMcpServers": ["bad"]})).await.unwrap();
    let frames = rig.run("TOOL mcp__bad__crash {}\nNEXT\nSAY went on").await;
    let received = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(received["message"]["content"][0]["is_error"], true);
    assert_eq!(frames.last().unwrap()["result"], "went on");
    ends_once_and_lives(&mut rig, &frames).await;
}

/// The script model, with changed responses.
struct Changed<F> {
    script: ConnectedModel,
    change: F,
}

impl<F: Fn(EventStream) -> EventStream + Send + Sync + 'static> Model for Changed<F> {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        Box::pin(async move { self.script.model.stream(request).await.map(&self.change) })
    }

    fn count_tokens(
        &self,
        request: Arc<ModelRequest>,
    ) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        self.script.model.count_tokens(request)
    }
}

struct Only(ConnectedModel);

impl Models for Only {
    fn connect(&self, _: &str) -> Result<ConnectedModel, ModelError> {
        Ok(self.0.clone())
    }
}

/// A session with such a model and no other.
fn with_answers_changed(
    change: impl Fn(EventStream) -> EventStream + Send + Sync + 'static,
) -> Rig {
    Rig::with(|config| {
        let script = config.models.connect("script").unwrap();
        let model = Arc::new(Changed { script: script.clone(), change });
        config.models = Arc::new(Only(ConnectedModel { model, ..script }));
    })
}

#[tokio::test]
async fn a_model_that_panics_ends_the_turn_and_not_the_session() {
    let asked = AtomicBool::new(false);
    let mut rig = with_answers_changed(move |events| {
        assert!(asked.swap(true, Ordering::Relaxed), "as the test wants");
        events
    });
    let frames = rig.run("SAY never").await;
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "error_during_execution");
    assert_eq!(result["is_error"], true);
    assert!(result["errors"][0].as_str().unwrap().contains("as the test wants"), "{result}");
    ends_once_and_lives(&mut rig, &frames).await;
}

#[tokio::test]
async fn two_calls_of_one_name_have_a_result_each() {
    let renamed = |mut event: StreamEvent| {
        if let StreamEvent::ContentBlockStart(start) = &mut event
            && let ContentBlock::ToolUse(call) = &mut start.content_block
        {
            call.id = "toolu_same".into();
        }
        event
    };
    let mut rig = with_answers_changed(move |events| {
        EventStream::new(events.map(move |event| event.map(renamed)))
    });
    let call = |word: &str| format!("TOOL Bash {{\"command\": \"echo {word}\"}}\n");
    let frames = rig.run(&format!("{}{}NEXT\nSAY x", call("one"), call("two"))).await;
    let blocks = |kind: &str, field: &str| -> Vec<Value> {
        let blocks = frames.iter().map(|frame| &frame["message"]["content"][0]);
        let mut found: Vec<_> =
            blocks.filter(|it| it["type"] == kind).map(|it| it[field].clone()).collect();
        found.sort_by_key(Value::to_string);
        found
    };
    assert_eq!(blocks("tool_result", "content"), ["one", "two"]);
    let names = blocks("tool_use", "id");
    assert_eq!(names, blocks("tool_result", "tool_use_id"));
    assert_ne!(names[0], names[1]);
    ends_once_and_lives(&mut rig, &frames).await;
}

#[tokio::test]
async fn stream_cut_after_a_block_emits_no_duplicates() {
    let mut rig = Rig::with(|config| config.retry.first_delay = Duration::ZERO);
    let call = "TOOL Bash {\"command\": \"echo ran >> runs.txt\"}";
    let frames = rig.run(&format!("SAY before\n{call}\nSAY behind\nCUT\nNEXT\nSAY after")).await;
    let said: Vec<_> =
        frames.iter().filter(|frame| frame["type"] == "assistant").map(text).collect();
    assert_eq!(said.iter().filter(|text| **text == "before").count(), 1, "{said:?}");
    assert_eq!(std::fs::read_to_string(rig.path().join("runs.txt")).unwrap(), "ran\n");
    assert_eq!(frames.last().unwrap()["is_error"], false);
    ends_once_and_lives(&mut rig, &frames).await;
}

#[tokio::test]
async fn hook_decides_before_a_slow_host() {
    let mut rig = Rig::new();
    let hooks = json!({"PermissionRequest": [{"hookCallbackIds": ["h1"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_not_answer();
    rig.will_hook(json!({"hookSpecificOutput": {
        "hookEventName": "PermissionRequest",
        "decision": {"behavior": "allow", "updatedInput": {"command": "echo by hook"}},
    }}));
    let frames = rig.run("TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY done").await;
    let received = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(text(received), "by hook");
    ends_once_and_lives(&mut rig, &frames).await;
}

#[tokio::test]
async fn dropped_session_leaves_no_processes() {
    let mut rig = Rig::new();
    let background = json!({"command": "echo $$ > pid; sleep 300", "run_in_background": true});
    let foreground =
        json!({"command": "while [ ! -s pid ]; do sleep 0.01; done; echo $$ > pid2; sleep 300"});
    rig.prompt(&format!("TOOL Bash {background}\nTOOL Bash {foreground}\nNEXT\nSAY never")).await;
    rig.until(|frame| frame["type"] == "can_use_tool").await;
    let pid = |name: &str| {
        let path = rig.path().join(name);
        async move {
            loop {
                match std::fs::read_to_string(&path) {
                    Ok(pid) if pid.ends_with('\n') => break pid.trim().to_owned(),
                    _ => tokio::time::sleep(Duration::from_millis(5)).await,
                }
            }
        }
    };
    let pids = [pid("pid").await, pid("pid2").await];
    rig.abort().await;
    for pid in pids {
        let gone = async {
            while std::path::Path::new(&format!("/proc/{pid}")).exists() {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(60), gone).await.expect("the command is gone");
    }
}

/// A model that is always down.
struct Down;

impl Model for Down {
    fn stream(&self, _: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        let error = ModelError::new(ErrorKind::Status, "down");
        Box::pin(std::future::ready(Err(ModelError { status: Some(500), ..error })))
    }

    fn count_tokens(&self, _: Arc<ModelRequest>) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

/// Any name but `down` is the script model.
struct Mostly(ConnectedModel);

impl Models for Mostly {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let script = self.0.clone();
        Ok(match name {
            "down" => ConnectedModel { model: Arc::new(Down), name: "down".to_owned(), ..script },
            _ => script,
        })
    }
}

#[tokio::test]
async fn a_model_that_stays_down_is_replaced_by_the_next() {
    let mut rig = Rig::with(|config| {
        let script = config.models.connect("script").unwrap();
        config.models = Arc::new(Mostly(script));
        config.model = "down".to_owned();
        config.fallback_models = vec!["down".to_owned(), "script".to_owned()];
        config.retry.max_retries = 1;
        config.retry.first_delay = Duration::from_millis(1);
    });
    let frames = rig.run("SAY here").await;
    let received = |kind: &str| frames.iter().filter(|frame| frame["subtype"] == kind).count();
    assert_eq!(received("api_retry"), 2, "{frames:#?}");
    let fallbacks: Vec<_> =
        frames.iter().filter(|frame| frame["subtype"] == "model_fallback").collect();
    assert_eq!(fallbacks.len(), 2);
    assert_eq!(fallbacks[1]["trigger"], "server_error");
    assert_eq!(fallbacks[1]["fallback_model"], "script");
    assert_eq!(frames.last().unwrap()["result"], "here");
}

/// A model that responds once and is down from then on; requests to the others are recorded.
struct Moody {
    script: ConnectedModel,
    answered: Arc<AtomicBool>,
    asked: Arc<Mutex<Vec<Arc<ModelRequest>>>>,
}

struct Once(ConnectedModel, Arc<AtomicBool>);

impl Model for Once {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        match self.1.swap(true, Ordering::Relaxed) {
            false => self.0.model.stream(request),
            true => Down.stream(request),
        }
    }

    fn count_tokens(&self, _: Arc<ModelRequest>) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

struct Noted(ConnectedModel, Arc<Mutex<Vec<Arc<ModelRequest>>>>);

impl Model for Noted {
    fn stream(&self, request: Arc<ModelRequest>) -> BoxFuture<'_, Result<EventStream, ModelError>> {
        self.1.lock().unwrap().push(Arc::clone(&request));
        self.0.model.stream(request)
    }

    fn count_tokens(&self, _: Arc<ModelRequest>) -> BoxFuture<'_, Result<Option<u64>, ModelError>> {
        Box::pin(std::future::ready(Ok(None)))
    }
}

impl Models for Moody {
    fn connect(&self, name: &str) -> Result<ConnectedModel, ModelError> {
        let script = self.script.clone();
        let model: Arc<dyn Model> = match name {
            "moody-1" => Arc::new(Once(script.clone(), Arc::clone(&self.answered))),
            _ => Arc::new(Noted(script.clone(), Arc::clone(&self.asked))),
        };
        Ok(ConnectedModel { model, name: name.to_owned(), wire_name: name.to_owned() })
    }
}

/// A model of another family could not verify what the first one has thought.
#[tokio::test]
async fn model_of_another_family_does_not_receive_earlier_thinking() {
    for (fallback, sees) in [("moody-2", true), ("other-1", false)] {
        let asked = Arc::new(Mutex::new(Vec::new()));
        let mut rig = Rig::with(|config| {
            let script = config.models.connect("script").unwrap();
            let (answered, asked) = (Arc::default(), Arc::clone(&asked));
            config.models = Arc::new(Moody { script, answered, asked });
            config.model = "moody-1".to_owned();
            config.fallback_models = vec![fallback.to_owned()];
            config.retry.max_retries = 0;
        });
        rig.run("THINK deep\nSAY one").await;
        let frames = rig.run("SAY two").await;
        assert_eq!(frames.last().unwrap()["result"], "two");
        let request = asked.lock().unwrap()[0].clone();
        let mut blocks = request.messages.iter().flat_map(|message| &message.content);
        let thought = blocks.any(|block| matches!(block, ContentBlock::Thinking(_)));
        assert_eq!(thought, sees, "{fallback}");
        let said = request.messages.iter().flat_map(|message| &message.content);
        assert!(said.filter_map(ContentBlock::as_text).any(|text| text == "one"));
    }
}

#[tokio::test]
async fn an_agent_thinks_like_the_one_that_sends_it() {
    let mut rig = Rig::with(|config| {
        let script = config.models.connect("script").unwrap();
        let (answered, asked) = (Arc::default(), Arc::default());
        config.models = Arc::new(Moody { script, answered, asked });
        config.model = "main-1".to_owned();
    });
    let send =
        |prompt: String| json!({"description": "d", "prompt": prompt, "run_in_background": false});
    let inner = send("TOOL Bash {\"command\": \"ls\"}\nNEXT\nSAY inner".to_owned());
    let mut outer = send(format!("TOOL Agent {inner}\nNEXT\nSAY outer"));
    outer["model"] = "other-1".into();
    let frames = rig.run(&format!("TOOL Agent {outer}\nNEXT\nSAY done")).await;
    let calls = frames.iter().filter(|it| it["message"]["content"][0]["type"] == "tool_use");
    let models: Vec<_> = calls.map(|it| it["message"]["model"].as_str().unwrap()).collect();
    assert_eq!(models, ["main-1", "other-1", "other-1"]);
}

#[tokio::test]
async fn stream_without_an_end_is_bounded() {
    let mut rig = with_answers_changed(|events| {
        let goes_on = |event: &Result<StreamEvent, ModelError>| {
            std::future::ready(!matches!(event, Ok(StreamEvent::MessageDelta(_))))
        };
        let cut = ModelError::new(ErrorKind::StreamCut, "it broke off");
        EventStream::new(events.take_while(goes_on).chain(stream::iter([Err(cut)])))
    });
    let frames = rig.run("SAY a beginning").await;
    let said = frames.iter().filter(|frame| frame["type"] == "assistant");
    assert_eq!(said.filter(|frame| frame["error"].is_null()).count(), 4, "{frames:#?}");
    let result = frames.last().unwrap();
    assert_eq!(result["is_error"], true);
    assert!(result["result"].as_str().unwrap().contains("it broke off"), "{result}");
    assert_eq!(frames.iter().filter(|frame| frame["type"] == "result").count(), 1);
}
