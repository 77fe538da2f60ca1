//! Spans of agents as a program that collects them sees them.

use std::sync::{Arc, Mutex};

use bowline_host::{
    Agent, HookCall, HookEvent, HookMatcher, HookOutput, McpServer, PermissionResult, Tool,
    ToolRequest,
};
use serde::Deserialize;
use tracing::{Instrument, Subscriber, info_span, span};
use tracing_subscriber::{
    Layer, Registry,
    layer::{Context, SubscriberExt},
    registry::LookupSpan,
};

use crate::rig::{embedded, soon};

/// Each span of ours as its ancestors and itself, as in `session/tool`.
#[derive(Clone, Default)]
struct Seen(Arc<Mutex<Vec<String>>>);

impl<S: Subscriber + for<'a> LookupSpan<'a>> Layer<S> for Seen {
    fn on_new_span(&self, _: &span::Attributes<'_>, id: &span::Id, context: Context<'_, S>) {
        let span = context.span(id).expect("it is new");
        if span.metadata().target().starts_with("bowline_host") {
            let names: Vec<_> = span.scope().from_root().map(|it| it.name()).collect();
            self.0.lock().expect("nobody panics with it").push(names.join("/"));
        }
    }
}

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

#[tokio::test]
async fn callbacks_belong_to_the_span_in_which_their_session_was_started() {
    let seen = Seen::default();
    let _collects = tracing::subscriber::set_default(Registry::default().with(seen.clone()));
    let folder = tempfile::tempdir().unwrap();
    let inside = async |_: Nothing| {
        tracing::Span::current().metadata().map(|it| it.name()).unwrap_or("none")
    };
    let tie = Tool::new("tie", "Ties", inside);
    let options = embedded(folder.path())
        .sdk_mcp_server(McpServer::new("knots").tool(tie))
        .can_use_tool(async |_: ToolRequest| PermissionResult::allow())
        .hook(
            HookEvent::PreToolUse,
            HookMatcher::always().run(async |_: HookCall| HookOutput::default()),
        );
    let agent = Agent::new(options).unwrap();
    let run = async {
        let session = agent.start("TOOL mcp__knots__tie {}\nNEXT\nECHORESULT");
        session.wait().await
    };
    let result = soon("the session", run.instrument(info_span!("web_request"))).await.unwrap();
    let words = result.result.unwrap_or_default();
    assert!(words.contains("tool"), "the handler runs inside its span: {words}");
    let expected = [
        "web_request/session",
        "web_request/session/hook",
        "web_request/session/permission",
        "web_request/session/tool",
    ];
    assert_eq!(*seen.0.lock().unwrap(), expected);
}
