//! A server written with `rmcp` inside this program: tools that come and go, resources, elicitations.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use bowline_host::{
    Client, ElicitationRequest, ElicitationResponse, Embedded, Options, RmcpServer,
    protocol::McpReadResource,
};
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ListResourcesResult,
        ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
        ReadResourceResult, ServerConfig,
    },
    service::RequestContext,
};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::rig::soon;

/// The library desk: it lends a book once it knows who asks, and only then has a `return` tool.
#[derive(Default)]
struct Library {
    lent: Arc<AtomicBool>,
}

/// `rmcp`'s types, as they are on the wire.
fn wire<T: DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).expect("it is what the wire has")
}

fn text(text: &str) -> CallToolResponse {
    wire::<CallToolResult>(json!({"content": [{"type": "text", "text": text}]})).into()
}

impl ServerHandler for Library {
    fn get_info(&self) -> ServerConfig {
        wire(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {"listChanged": true}, "resources": {}},
            "serverInfo": {"name": "library", "version": "1"},
        }))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        let tools = match self.lent.load(Ordering::SeqCst) {
            true => vec![tool("lend"), tool("return")],
            false => vec![tool("lend")],
        };
        Ok(wire(json!({"tools": tools})))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        if call.name == "return" {
            return Ok(text("thanks"));
        }
        let question = wire(json!({
            "message": "Who are you?",
            "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}},
        }));
        let answer = context.peer.create_elicitation(question).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        self.lent.store(true, Ordering::SeqCst);
        context.peer.notify_tool_list_changed().await.ok();
        let told = format!("lent to {}", json!(answer.content)["name"]);
        Ok(text(&told))
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        Ok(wire(json!({"resources": [{"uri": "book://1", "name": "Knots"}]})))
    }

    async fn read_resource(
        &self,
        read: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let contents = json!({"contents": [{"uri": read.uri, "text": "Chapter 1"}]});
        Ok(wire::<ReadResourceResult>(contents).into())
    }
}

#[tokio::test]
async fn tools_resources_notifications_and_elicitations_of_a_server_work() {
    let folder = tempfile::tempdir().unwrap();
    let options = Options::default()
        .embedded(Embedded::script(folder.path()))
        .sdk_mcp_server(RmcpServer::new("library", Library::default))
        .allow(["mcp__library__lend", "mcp__library__return"])
        .on_elicitation(async |question: ElicitationRequest| {
            assert_eq!(&*question.mcp_server_name, "library");
            assert_eq!(question.message, "Who are you?");
            let content = json!({"name": "Ada"});
            ElicitationResponse::accept(content.into())
        });
    let client = soon("connecting", Client::connect(options)).await.unwrap();
    client.query("TOOL mcp__library__lend {}\nNEXT\nECHORESULT").await.unwrap();
    let answer = soon("the first turn", client.receive_response().text()).await.unwrap();
    assert!(answer.contains("lent to \"Ada\""), "{answer}");

    // The server sent a notification about its new tool.
    client.query("TOOL mcp__library__return {}\nNEXT\nECHORESULT").await.unwrap();
    let answer = soon("the second turn", client.receive_response().text()).await.unwrap();
    assert!(answer.contains("thanks"), "{answer}");

    let read = McpReadResource {
        server_name: "library".into(),
        uri: "book://1".into(),
        ..Default::default()
    };
    let book = soon("reading", client.request(read)).await.unwrap();
    assert!(serde_json::to_string(&book).unwrap().contains("Chapter 1"));
    soon("closing", client.disconnect()).await;
}

#[tokio::test]
async fn panicking_elicitation_callback_gets_a_response_and_the_server_continues() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Arc::new(AtomicBool::new(false));
    let asked_before = asked.clone();
    let options = Options::default()
        .embedded(Embedded::script(folder.path()))
        .sdk_mcp_server(RmcpServer::new("library", Library::default))
        .allow(["mcp__library__lend"])
        .on_elicitation(move |_: ElicitationRequest| {
            let again = asked_before.swap(true, Ordering::SeqCst);
            async move {
                assert!(again, "nobody is at the desk");
                ElicitationResponse::accept(json!({"name": "Ada"}).into())
            }
        });
    let client = soon("connecting", Client::connect(options)).await.unwrap();
    for told in ["nobody is at the desk", "lent to \\\"Ada\\\""] {
        client.query("TOOL mcp__library__lend {}\nNEXT\nECHORESULT").await.unwrap();
        let answer = soon(told, client.receive_response().text()).await.unwrap();
        assert!(json!(answer).to_string().contains(told), "{answer}");
    }
    soon("closing", client.disconnect()).await;
}

/// A desk where everything goes wrong.
struct Trouble;

impl ServerHandler for Trouble {
    fn get_info(&self) -> ServerConfig {
        wire(json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "trouble", "version": "1"},
        }))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tool = |name: &str| json!({"name": name, "inputSchema": {"type": "object"}});
        Ok(wire(json!({"tools": [tool("panic"), tool("hang")]})))
    }

    async fn call_tool(
        &self,
        call: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match &*call.name {
            "panic" => panic!("out of books"),
            _ => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn a_tool_that_panics_or_hangs_is_an_error_and_the_server_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    // Long enough for a panic with its backtrace.
    let server =
        RmcpServer::new("trouble", || Trouble).time_limit(std::time::Duration::from_secs(3));
    let options = Options::default()
        .embedded(Embedded::script(folder.path()))
        .sdk_mcp_server(server)
        .allow(["mcp__trouble__panic", "mcp__trouble__hang"]);
    let client = soon("connecting", Client::connect(options)).await.unwrap();
    // The agent knows the limit as well, and may be the first to time out.
    let limits = ["took longer than 3s", "timed out after 3s"];
    let panics = ["out of books"; 2];
    for (tool, told) in [("panic", panics), ("hang", limits), ("panic", panics)] {
        let prompt = format!("TOOL mcp__trouble__{tool} {{}}\nNEXT\nECHORESULT");
        client.query(prompt).await.unwrap();
        let text = soon(tool, crate::rig::result(client.receive_response())).await;
        assert!(told.iter().any(|told| text.contains(told)), "{tool}: {text}");
    }
}
