//! One call of a tool of ours, stopped by this program while the turn continues.

use std::sync::{
    Arc, Mutex,
    atomic::{AtomicBool, Ordering},
};

use bowline_host::{Agent, Client, McpServer, Tool, ToolContext, protocol::ToolUseId};
use serde::Deserialize;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::rig::{agents, soon};

#[derive(Deserialize, schemars::JsonSchema)]
struct Nothing {}

/// A tool that waits for ever, and what is known of its call.
#[derive(Clone, Default)]
struct Ferry {
    called: Arc<Notify>,
    call: Arc<Mutex<Option<(ToolUseId, CancellationToken)>>>,
    dropped: Arc<AtomicBool>,
}

impl Ferry {
    fn server(&self) -> McpServer {
        let ferry = self.clone();
        let wait = Tool::new("wait", "Waits for the ferry", move |_: Nothing, it: ToolContext| {
            let ferry = ferry.clone();
            async move {
                let _dropped = Dropped(ferry.dropped.clone());
                let id = it.tool_use_id.expect("the agent says which");
                *ferry.call.lock().expect("nobody panics with it") = Some((id, it.cancel));
                ferry.called.notify_one();
                std::future::pending::<String>().await
            }
        });
        McpServer::new("ferry").tool(wait)
    }

    /// The call, as soon as it runs.
    async fn call(&self, agent: &str) -> (ToolUseId, CancellationToken) {
        soon(agent, self.called.notified()).await;
        self.call.lock().expect("nobody panics with it").take().expect("it was called")
    }
}

struct Dropped(Arc<AtomicBool>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

const PROMPT: &str = "TOOL mcp__ferry__wait {}\nNEXT\nECHORESULT";

#[tokio::test]
async fn a_session_stops_one_call_and_the_model_reads_why() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        let ferry = Ferry::default();
        let options = options.sdk_mcp_server(ferry.server()).allow(["mcp__ferry__wait"]);
        let session = Agent::new(options).unwrap().start(PROMPT);
        assert!(!session.cancel_tool_call("nothing", "why not"), "{agent}");
        let (call, cancelled) = ferry.call(agent).await;
        assert!(session.cancel_tool_call(call.clone(), "the ferry has left"), "{agent}");
        let result = soon(agent, session.wait()).await.unwrap();
        let words = result.result.unwrap_or_default();
        assert!(words.contains("error: the ferry has left"), "{agent}: {words}");
        assert!(ferry.dropped.load(Ordering::SeqCst) && cancelled.is_cancelled(), "{agent}");
        assert!(!session.cancel_tool_call(call, "again"), "{agent}");
    }
}

#[tokio::test]
async fn a_client_stops_one_call_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    for (agent, options) in agents(folder.path()).await {
        let ferry = Ferry::default();
        let options = options.sdk_mcp_server(ferry.server()).allow(["mcp__ferry__wait"]);
        let client = soon(agent, Client::connect(options)).await.unwrap();
        client.query(PROMPT).await.unwrap();
        let (call, _) = ferry.call(agent).await;
        assert!(client.cancel_tool_call(call, "the ferry has left"), "{agent}");
        let words = soon(agent, client.receive_response().text()).await.unwrap();
        assert!(words.contains("the ferry has left"), "{agent}: {words}");
        client.query("SAY next time").await.unwrap();
        let words = soon(agent, client.receive_response().text()).await.unwrap();
        assert_eq!(words, "next time", "{agent}");
        soon(agent, client.disconnect()).await;
    }
}
