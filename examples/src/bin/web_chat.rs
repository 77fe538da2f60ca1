//! A page to talk to an agent: each visitor has a separate conversation, and sees responses as
//! they grow.
//!
//! `cargo run -p bowline-examples --bin web_chat -- --listen 127.0.0.1:8080`, then open the address
//! that it prints. It begins with a secret: other users of the machine and pages in the browser reach the
//! port as well, and must not talk to the agent. Offline the model follows the prompts as scripts (`SAY hello`, or any text,
//! which it repeats); `--cli PATH` uses a real agent.
//!
//! | request, after the secret | effect |
//! |---|---|
//! | `GET /` | the page |
//! | `POST /chat` | begins a conversation; returns its number |
//! | `POST /chat/{number}` | sends the body to the agent; returns its response as server-sent events |
//! | `DELETE /chat/{number}` | ends the conversation |

#![expect(clippy::print_stdout, reason = "this is what a program is for")]

#[path = "../../../crates/bowline-host/examples/support/command_line.rs"]
mod command_line;

use std::{
    collections::HashMap,
    convert::Infallible,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    response::{
        Html, IntoResponse, Response,
        sse::{Event, KeepAlive, Sse},
    },
    routing::{get, post},
};
use bowline_host::{
    Client, ContentBlock, Embedded, Error, Message, Options,
    protocol::{Delta, StreamEvent},
};
use futures_util::{Stream, StreamExt};
use tokio::net::TcpListener;
use uuid::Uuid;

use command_line::{CLI, Flag};

const LISTEN: Flag = ("--listen", "ADDRESS", "serve the page here, at 127.0.0.1:8080 by default");

/// Conversations at once. An idle one costs some kilobytes, but no page needs ten thousand.
const MOST_CONVERSATIONS: usize = 1000;

const PAGE: &str = include_str!("web_chat.html");

/// The conversations, by number.
#[derive(Clone)]
struct Chats {
    /// What each of them is with.
    agent: Options,
    open: Arc<Mutex<HashMap<u64, Client>>>,
    next: Arc<AtomicU64>,
}

impl Chats {
    fn open(&self) -> MutexGuard<'_, HashMap<u64, Client>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let said = command_line::read("A page to talk to an agent.", &[CLI, LISTEN]);
    let agent = agent(said.get("--cli"));
    let chats = Chats { agent, open: Arc::default(), next: Arc::default() };
    let secret = Uuid::new_v4().simple().to_string();
    let router = Router::new()
        .route(&format!("/{secret}/"), get(async || Html(PAGE)))
        .route(&format!("/{secret}/chat"), post(begin))
        .route(&format!("/{secret}/chat/{{number}}"), post(say).delete(end))
        .with_state(chats.clone());
    let address = said.get("--listen").map_or("127.0.0.1:8080", String::as_str);
    let listener = TcpListener::bind(address).await;
    let listener = listener.map_err(|error| format!("cannot listen at {address}: {error}"))?;
    println!("listening on http://{}/{secret}/", listener.local_addr()?);
    let asked_to_stop = async { drop(tokio::signal::ctrl_c().await) };
    axum::serve(listener, router).with_graceful_shutdown(asked_to_stop).await?;
    let open: Vec<_> = chats.open().drain().map(|(_, client)| client).collect();
    for client in open {
        client.disconnect().await;
    }
    Ok(())
}

async fn begin(State(chats): State<Chats>) -> Result<String, Failure> {
    if chats.open().len() >= MOST_CONVERSATIONS {
        return Err(Failure(StatusCode::SERVICE_UNAVAILABLE, "too many conversations".to_owned()));
    }
    let client = Client::connect(chats.agent.clone()).await?;
    let number = chats.next.fetch_add(1, Ordering::Relaxed);
    chats.open().insert(number, client);
    Ok(number.to_string())
}

async fn say(
    State(chats): State<Chats>,
    Path(number): Path<u64>,
    prompt: String,
) -> Result<Sse<impl Stream<Item = Result<Event, Infallible>>>, Failure> {
    let client = chats.open().get(&number).cloned();
    let client = client.ok_or_else(no_such_conversation)?;
    client.query(prompt).await?;
    let events = client.receive_response().filter_map(async |message| event(message).map(Ok));
    Ok(Sse::new(events).keep_alive(KeepAlive::default()))
}

async fn end(State(chats): State<Chats>, Path(number): Path<u64>) -> Result<(), Failure> {
    let client = chats.open().remove(&number).ok_or_else(no_such_conversation)?;
    client.disconnect().await;
    Ok(())
}

/// The page's event for a message: text as it comes, tools by name, and the end.
fn event(message: Result<Message, Error>) -> Option<Event> {
    let event = |kind: &str, data: &str| Some(Event::default().event(kind).data(data));
    match message {
        Ok(Message::StreamEvent(part)) => match part.event {
            StreamEvent::ContentBlockDelta(part) => match part.delta {
                Delta::TextDelta(delta) => event("words", &delta.text),
                _ => None,
            },
            _ => None,
        },
        Ok(Message::Assistant(answer)) => {
            answer.message.content.iter().find_map(|block| match block {
                ContentBlock::ToolUse(call) => event("tool", &call.name),
                _ => None,
            })
        }
        Ok(Message::Result(result)) => event("done", &format!("{} ms", result.duration_ms)),
        Ok(_) => None,
        Err(error) => event("failed", &error.to_string()),
    }
}

/// A request that failed.
struct Failure(StatusCode, String);

fn no_such_conversation() -> Failure {
    Failure(StatusCode::NOT_FOUND, "there is no such conversation".to_owned())
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(StatusCode::BAD_GATEWAY, error.to_string())
    }
}

impl IntoResponse for Failure {
    fn into_response(self) -> Response {
        (self.0, self.1).into_response()
    }
}

/// A real agent if the command line names one, else one that follows its prompts as scripts.
fn agent(path: Option<&String>) -> Options {
    let mut options = match path {
        Some(path) => Options::default().cli_path(path),
        None => Options::default().embedded(Embedded::script(std::env::temp_dir())),
    };
    options.messages.include_partial_messages = true;
    options
}
