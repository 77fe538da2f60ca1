//! The tool `agent`: a whole session on a prompt.

use std::sync::{Arc, Mutex, PoisonError};

use bowline_engine::{
    Answer, BoxFuture, Host, PermissionPrompts, Session, SessionRequest, Sessions,
};
use bowline_protocol::{
    CanUseTool, ContentBlock, Message, PermissionResult, ResultMessage, SessionId, UserMessage,
};
use rmcp::model::{CallToolResult, ContentBlock as Block};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::{call::Line, content::failure};

/// How many bytes of what the agent says go into one piece of news.
const NEWS_BYTES: usize = 200;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    prompt: String,
    session_id: Option<SessionId>,
}

/// Runs a session to the end of one prompt.
pub(crate) async fn run(
    sessions: Arc<dyn Sessions>,
    input: Value,
    prompts: PermissionPrompts,
    line: Line,
    cancel: CancellationToken,
) -> CallToolResult {
    let input: Input = match serde_json::from_value(input) {
        Ok(input) => input,
        Err(error) => return failure(format!("agent takes a prompt and a session_id: {error}")),
    };
    let request = match input.session_id {
        Some(session) => SessionRequest::resume(session),
        None => SessionRequest::new(),
    };
    let mut config = match sessions.open(request) {
        Ok(config) => config,
        Err(error) => return failure(error.to_string()),
    };
    if matches!(config.permission_prompts, PermissionPrompts::Nobody | PermissionPrompts::Host) {
        config.permission_prompts = prompts;
    }
    let host = Arc::new(AgentHost { line, result: Mutex::default() });
    let (session, work) = match Session::start(config, host.clone()) {
        Ok(started) => started,
        Err(error) => return failure(error.to_string()),
    };
    session.prompt(UserMessage::prompt(input.prompt)).await;
    session.end_of_input().await;
    let stopped = async {
        cancel.cancelled().await;
        session.shutdown();
        std::future::pending::<()>().await
    };
    tokio::select! {
        _ = work => {}
        () = stopped => {}
    }
    let result = host.result.lock().unwrap_or_else(PoisonError::into_inner).take();
    match result {
        Some(result) => told(&session.id(), &result),
        None => failure("the session ended without a result"),
    }
}

/// The result of a session, as the tool's.
fn told(session: &SessionId, result: &ResultMessage) -> CallToolResult {
    let text = result.result.clone();
    let text = text.unwrap_or_else(|| result.errors.clone().unwrap_or_default().join("\n"));
    let structured = json!({
        "session_id": session,
        "result": text,
        "is_error": result.is_error,
        "subtype": result.subtype,
        "num_turns": result.num_turns,
        "duration_ms": result.duration_ms,
        "total_cost_usd": result.total_cost_usd,
        "permission_denials": result.permission_denials,
    });
    // A client that reads texts only needs the session's name as well.
    let content = vec![Block::text(text), Block::text(format!("session_id: {session}"))];
    let mut told = match result.is_error {
        true => CallToolResult::error(content),
        false => CallToolResult::success(content),
    };
    told.structured_content = Some(structured);
    told
}

/// The client, as the engine sees it while the agent works.
struct AgentHost {
    line: Line,
    result: Mutex<Option<Box<ResultMessage>>>,
}

impl Host for AgentHost {
    fn emit(&self, message: Message) -> BoxFuture<'_, ()> {
        match message {
            Message::Result(result) => {
                *self.result.lock().unwrap_or_else(PoisonError::into_inner) = Some(result);
            }
            Message::Assistant(said) => {
                said.message.content.iter().filter_map(news).for_each(|news| self.line.tell(news));
            }
            _ => {}
        }
        Box::pin(std::future::ready(()))
    }

    fn can_use_tool(&self, question: CanUseTool) -> Answer<'_, PermissionResult> {
        Box::pin(self.line.ask(question))
    }
}

/// What the agent does, in a few words.
fn news(block: &ContentBlock) -> Option<String> {
    let text = match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::ToolUse(call) => format!("{} {}", call.name, call.input.get()),
        _ => return None,
    };
    let end = text.floor_char_boundary(NEWS_BYTES);
    Some(if end < text.len() { format!("{}…", &text[..end]) } else { text })
}
