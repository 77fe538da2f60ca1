//! Control requests of a client: every method by name, as it goes over the wire.

use std::{collections::BTreeMap, time::UNIX_EPOCH};

use bowline_host::{
    Client, McpServerConfig, PermissionMode, SettingSource,
    protocol::{ContextDetail, McpAuthenticate, McpStdioServer, RawJson, ReloadPlugins},
};
use serde_json::{Value, json};

use crate::rig::{fake, result, soon};

/// Calls every method there is. The fake responds to each with an empty object, which is not what some
/// of them expect; the test looks at the requests.
async fn ask_everything(client: &Client) {
    client.interrupt().await.ok();
    client.set_permission_mode(PermissionMode::Plan).await.ok();
    client.set_model(Some("opus")).await.ok();
    client.set_model(None).await.ok();
    client.set_max_thinking_tokens(Some(9)).await.ok();
    client.set_max_thinking_tokens(None).await.ok();
    client.set_max_thinking_tokens_shown(None, "omitted").await.ok();
    client.cancel_message("m").await.ok();
    client.rewind_files("m").await.ok();
    client.preview_rewind("m").await.ok();
    client.read_file("/f").await.ok();
    client.read_file_start("/f", 9).await.ok();
    client.read_file_in_base64("/f", 9).await.ok();
    client.seed_read_state("/f", UNIX_EPOCH).await.ok();
    client.mcp_status().await.ok();
    client.reconnect_mcp_server("s").await.ok();
    let login = McpAuthenticate { server_name: "s".to_owned(), ..McpAuthenticate::default() };
    client.enable_mcp_server("s").await.ok();
    client.disable_mcp_server("s").await.ok();
    client.toggle_mcp_server("s", true).await.ok();
    client.authenticate_mcp_server(login).await.ok();
    client.finish_mcp_login("s", "http://localhost/?code=c").await.ok();
    client.clear_mcp_login("s").await.ok();
    let server = McpStdioServer { command: "c".to_owned(), ..McpStdioServer::default() };
    let servers = BTreeMap::from([("s".to_owned(), McpServerConfig::Stdio(server))]);
    client.set_mcp_servers(servers).await.ok();
    client.read_mcp_resource("s", "u").await.ok();
    client.call_mcp_tool("mcp__s__t", RawJson::empty_object()).await.ok();
    client.set_mcp_permission_mode_override("s", Some(PermissionMode::Auto)).await.ok();
    client.stop_task("t").await.ok();
    client.background_tasks().await.ok();
    client.background_call("u").await.ok();
    client.task_output("t").await.ok();
    client.context_usage().await.ok();
    client.context_usage_in_detail(ContextDetail::Full).await.ok();
    client.usage().await.ok();
    client.session_cost().await.ok();
    client.apply_flag_settings(json!({"model": null})).await.ok();
    client.update_settings(SettingSource::Local, json!({"outputStyle": "x"})).await.ok();
    client.settings().await.ok();
    client.reload_plugins().await.ok();
    let careful = ReloadPlugins { refuse_if_busy: Some(true), ..ReloadPlugins::default() };
    client.reload_plugins_with(careful).await.ok();
    client.reload_skills().await.ok();
    client.reload_output_styles().await.ok();
    client.side_question("q").await.ok();
    client.rename_session("t").await.ok();
    client.generate_session_title("d").await.ok();
    client.reinitialize().await.expect("it answers as it did the first time");
}

fn expected() -> Vec<Value> {
    vec![
        json!({"subtype": "interrupt"}),
        json!({"subtype": "set_permission_mode", "mode": "plan"}),
        json!({"subtype": "set_model", "model": "opus"}),
        json!({"subtype": "set_model", "model": null}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": 9}),
        json!({"subtype": "set_max_thinking_tokens", "max_thinking_tokens": null}),
        json!({
            "subtype": "set_max_thinking_tokens", "max_thinking_tokens": null,
            "thinking_display": "omitted",
        }),
        json!({"subtype": "cancel_async_message", "message_uuid": "m"}),
        json!({"subtype": "rewind_files", "user_message_id": "m"}),
        json!({"subtype": "rewind_files", "user_message_id": "m", "dry_run": true}),
        json!({"subtype": "read_file", "path": "/f"}),
        json!({"subtype": "read_file", "path": "/f", "max_bytes": 9}),
        json!({"subtype": "read_file", "path": "/f", "max_bytes": 9, "encoding": "base64"}),
        json!({"subtype": "seed_read_state", "path": "/f", "mtime": 0}),
        json!({"subtype": "mcp_status"}),
        json!({"subtype": "mcp_reconnect", "serverName": "s"}),
        json!({"subtype": "mcp_toggle", "serverName": "s", "enabled": true}),
        json!({"subtype": "mcp_toggle", "serverName": "s", "enabled": false}),
        json!({"subtype": "mcp_toggle", "serverName": "s", "enabled": true}),
        json!({"subtype": "mcp_authenticate", "serverName": "s"}),
        json!({
            "subtype": "mcp_oauth_callback_url", "serverName": "s",
            "callbackUrl": "http://localhost/?code=c",
        }),
        json!({"subtype": "mcp_clear_auth", "serverName": "s"}),
        json!({"subtype": "mcp_set_servers", "servers": {"s": {"command": "c"}}}),
        json!({"subtype": "mcp_read_resource", "serverName": "s", "uri": "u"}),
        json!({"subtype": "mcp_call", "tool": "mcp__s__t", "arguments": {}}),
        json!({"subtype": "set_mcp_permission_mode_override", "serverName": "s", "mode": "auto"}),
        json!({"subtype": "stop_task", "task_id": "t"}),
        json!({"subtype": "background_tasks"}),
        json!({"subtype": "background_tasks", "tool_use_id": "u"}),
        json!({"subtype": "get_task_output", "task_id": "t"}),
        json!({"subtype": "get_context_usage"}),
        json!({"subtype": "get_context_usage", "detail": "full"}),
        json!({"subtype": "get_usage"}),
        json!({"subtype": "get_session_cost"}),
        json!({"subtype": "apply_flag_settings", "settings": {"model": null}}),
        json!({"subtype": "update_settings", "source": "localSettings", "settings": {"outputStyle": "x"}}),
        json!({"subtype": "get_settings"}),
        json!({"subtype": "reload_plugins"}),
        json!({"subtype": "reload_plugins", "refuse_if_busy": true}),
        json!({"subtype": "reload_skills"}),
        json!({"subtype": "reload_output_styles"}),
        json!({"subtype": "side_question", "question": "q"}),
        json!({"subtype": "rename_session", "title": "t"}),
        json!({"subtype": "generate_session_title", "description": "d"}),
    ]
}

#[tokio::test]
async fn every_method_asks_what_its_name_says() {
    let client = Client::connect(fake("requests")).await.unwrap();
    soon("the questions", ask_everything(&client)).await;
    client.query("what did you hear?").await.unwrap();
    let heard: Vec<Value> = serde_json::from_str(&result(client.receive_response()).await).unwrap();
    let [first, asked @ .., last] = &heard[..] else { panic!("{heard:?}") };
    assert_eq!((&first["subtype"], first), (&json!("initialize"), last), "it is sent once more");
    let expected = expected();
    assert_eq!(asked.len(), expected.len());
    for (asked, expected) in asked.iter().zip(&expected) {
        assert_eq!(asked, expected);
    }
    client.disconnect().await;
}
