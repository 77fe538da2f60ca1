//! Responses of the test servers: the same over pipes and over HTTP.

use std::io::{self, Write};

use serde_json::{Value, json};

pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/// A server without its pipes.
#[derive(Default)]
pub(crate) struct Script {
    /// Whether the tool `extra` is there.
    grown: bool,
    /// Methods of the notifications that came in, with their parameters.
    heard: Vec<Value>,
}

/// What to do with a message.
pub(crate) enum Act {
    /// Send these, in this order.
    Send(Vec<Value>),
    /// End at once.
    Die,
    /// Write so many bytes to stderr, then send these.
    Complain(usize, Vec<Value>),
    /// Write this to stdout as it is, then send these.
    Babble(String, Vec<Value>),
}

impl Act {
    /// Makes the noise that belongs to it and returns what to send; nothing if it means to die.
    pub(crate) fn perform(
        self,
        stdout: &mut dyn Write,
        stderr: &mut dyn Write,
    ) -> io::Result<Option<Vec<Value>>> {
        match self {
            Self::Send(messages) => Ok(Some(messages)),
            Self::Die => Ok(None),
            Self::Complain(bytes, messages) => {
                stderr.write_all(&vec![b'!'; bytes])?;
                Ok(Some(messages))
            }
            Self::Babble(noise, messages) => {
                stdout.write_all(noise.as_bytes())?;
                Ok(Some(messages))
            }
        }
    }
}

impl Script {
    pub(crate) fn hear(&mut self, message: &Value) -> Act {
        let method = message["method"].as_str().unwrap_or_default();
        let id = &message["id"];
        if method.is_empty() {
            // The question was asked by a call that still waits for its own answer.
            let call = message["id"].as_str().and_then(|id| id.strip_prefix("of-"));
            let call: Value = call.and_then(|call| call.parse().ok()).unwrap_or_default();
            return Act::Send(vec![result(&call, text(&message["result"].to_string()))]);
        }
        if id.is_null() {
            self.heard.push(json!({"method": method, "params": message["params"]}));
            return Act::Send(vec![]);
        }
        let params = &message["params"];
        match method {
            "initialize" => Act::Send(vec![result(
                id,
                json!({
                    "protocolVersion": params["protocolVersion"],
                    "capabilities": {
                        "tools": {"listChanged": true}, "prompts": {"listChanged": true}, "resources": {},
                    },
                    "serverInfo": {"name": "scripted", "version": "1.2", "title": "The Script"},
                    "instructions": "Mind the gap.",
                }),
            )]),
            "tools/list" => Act::Send(vec![result(id, self.tools(params))]),
            "tools/call" => self.call(id, params),
            "resources/list" => Act::Send(vec![result(
                id,
                json!({"resources": [
                    {"uri": "note://one", "name": "one", "mimeType": "text/plain"},
                    {"uri": "note://two/blob", "name": "two", "description": "bytes"},
                ]}),
            )]),
            "resources/read" => Act::Send(vec![match params["uri"].as_str() {
                Some("note://one") => result(
                    id,
                    json!({"contents": [
                    {"uri": "note://one", "mimeType": "text/plain", "text": "a note"}]}),
                ),
                Some("note://two/blob") => result(
                    id,
                    json!({"contents": [
                    {"uri": "note://two/blob", "mimeType": "image/png", "blob": PNG}]}),
                ),
                _ => error(id, -32002, "Resource not found"),
            }]),
            "prompts/list" => Act::Send(vec![result(
                id,
                json!({"prompts": [
                    {"name": "greet", "description": "Greets", "arguments": [{"name": "who"}]},
                ]}),
            )]),
            "prompts/get" => {
                let who = params["arguments"]["who"].as_str().unwrap_or("nobody");
                Act::Send(vec![result(
                    id,
                    json!({"messages": [
                        {"role": "user", "content": {"type": "text", "text": format!("hello {who}")}},
                    ]}),
                )])
            }
            "ping" => Act::Send(vec![result(id, json!({}))]),
            _ => Act::Send(vec![error(id, -32601, "no such method")]),
        }
    }

    /// Two pages: the second has `extra` once it has grown, a tool that was there before, and
    /// names itself as the next.
    fn tools(&self, params: &Value) -> Value {
        let tool = |name: &str| {
            json!({"name": name, "description": format!("does {name}"),
            "inputSchema": {"type": "object", "properties": {}}})
        };
        if params["cursor"] == "more" {
            let mut tools = vec![tool("fail"), tool("grow"), tool("echo")];
            tools.extend(self.grown.then(|| tool("extra")));
            return json!({"tools": tools, "nextCursor": "more"});
        }
        let mut echo = tool("echo");
        echo["annotations"] = json!({"readOnlyHint": true, "title": "Say It Again"});
        echo["inputSchema"]["required"] = json!(["text"]);
        let names = [
            "ask",
            "big",
            "die",
            "empty",
            "hang",
            "heard",
            "many",
            "meta",
            "noise",
            "odd",
            "picture",
            "pid",
            "progress",
            "roots",
            "spew",
            "structured",
            "nonsense",
        ];
        let mut tools = vec![echo, json!({"name": 7})];
        tools.extend(names.map(tool));
        json!({"tools": tools, "nextCursor": "more"})
    }

    fn call(&mut self, id: &Value, params: &Value) -> Act {
        let arguments = &params["arguments"];
        let reply = |value| Act::Send(vec![result(id, value)]);
        match params["name"].as_str().unwrap_or_default() {
            "echo" => reply(text(&format!("echo: {}", arguments["text"].as_str().unwrap_or("-")))),
            "fail" => {
                reply(json!({"content": [{"type": "text", "text": "it failed"}], "isError": true}))
            }
            "picture" => {
                reply(json!({"content": [{"type": "image", "data": PNG, "mimeType": "image/png"}]}))
            }
            "empty" => reply(json!({"content": []})),
            "structured" => reply(json!({"content": [], "structuredContent": {"sum": 3}})),
            "many" => reply(json!({"content": [
                {"type": "audio", "data": "AAAA", "mimeType": "audio/wav"},
                {"type": "resource", "resource": {"uri": "note://x", "text": "inside"}},
                {"type": "resource_link", "uri": "note://y", "name": "y"},
            ]})),
            "big" => reply(text(&"x".repeat(arguments["chars"].as_u64().unwrap_or(0) as usize))),
            "pid" => reply(text(&std::process::id().to_string())),
            "meta" => reply(text(&params["_meta"].to_string())),
            "heard" => reply(text(&Value::from(self.heard.clone()).to_string())),
            "odd" => reply(json!({"content": [{"type": "hologram", "depth": 3}]})),
            "grow" => {
                self.grown = true;
                let news = json!({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"});
                Act::Send(vec![news.clone(), news, result(id, text("grown"))])
            }
            "progress" => {
                let token = &params["_meta"]["progressToken"];
                let step = |n| {
                    json!({"jsonrpc": "2.0", "method": "notifications/progress",
                    "params": {"progressToken": token, "progress": n, "total": 2}})
                };
                Act::Send(vec![step(1), step(2), result(id, text("done"))])
            }
            // As text, because the order of the properties matters.
            "ask" => Act::Babble(
                format!(
                    r#"{{"jsonrpc":"2.0","id":"of-{id}","method":"elicitation/create","params":{{"message":"Who are you?","requestedSchema":{{"type":"object","properties":{{"name":{{"type":"string"}},"age":{{"type":"number"}}}}}}}}}}"#
                ) + "\n",
                vec![],
            ),
            "roots" => Act::Send(vec![
                json!({"jsonrpc": "2.0", "id": format!("of-{id}"), "method": "roots/list"}),
            ]),
            "hang" => Act::Send(vec![]),
            "die" => Act::Die,
            "spew" => Act::Complain(4 << 20, vec![result(id, text("spewed"))]),
            "noise" => {
                let noise = "what?\n{\"half\":\n[1,2]\n\"text\"\n{\"jsonrpc\":\"2.0\"}\n\u{fffd}\n";
                Act::Babble(noise.to_owned(), vec![result(id, text("quiet again"))])
            }
            "nonsense" => Act::Babble(
                format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":\"?\"}}\n"),
                vec![],
            ),
            "extra" if self.grown => reply(text("extra called")),
            _ => Act::Send(vec![error(id, -32602, "no such tool")]),
        }
    }
}

pub(crate) fn text(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

pub(crate) fn result(id: &Value, result: Value) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "result": result})
}

pub(crate) fn error(id: &Value, code: i64, message: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}})
}
