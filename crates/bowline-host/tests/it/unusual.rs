//! Agents that are scripts, started in unusual ways, with requests that are seldom made.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use bowline_host::{DialogAnswer, DialogRequest, Options, OtherRequest, query};
use serde_json::json;
use tokio::process::Command;

use crate::rig::result;

/// A shell script that is an agent: it sends two requests to its host, and reports whether it was
/// content with the responses and what was in its environment.
const AGENT: &str = r#"
read -r hello
id=$(printf %s "$hello" | sed 's/.*"request_id":"\([^"]*\)".*/\1/')
case $hello in *'"supportedDialogKinds":["form"]'*) kinds=yes ;; *) kinds=no ;; esac
say() { printf '%s\n' "$1"; }
say '{"type":"control_response","response":{"subtype":"success","request_id":"'"$id"'","response":
{"commands":[],"agents":[],"models":[],"account":{},"claude_code_version":"2.1.325"}}}' | tr -d '\n'
say ''
read -r prompt
say '{"type":"control_request","request_id":"1","request":{"subtype":"request_user_dialog","dialog_kind":"form","payload":{"a":1}}}'
read -r answer
case $answer in *'"behavior":"completed"'*'"b":2'*) dialog=yes ;; *) dialog=no ;; esac
say '{"type":"control_request","request_id":"2","request":{"subtype":"oauth_token_refresh","why":"expired"}}'
read -r answer
case $answer in *'"accessToken":"expired-fresh"'*) token=yes ;; *) token=no ;; esac
text="kinds $kinds, dialog $dialog, token $token, refresh $CLAUDE_CODE_SDK_HAS_OAUTH_REFRESH, by $STARTED_BY"
say '{"type":"result","subtype":"success","is_error":false,"result":"'"$text"'","duration_ms":1,"duration_api_ms":1,"num_turns":1,"stop_reason":null,"total_cost_usd":0.0,"usage":{},"uuid":"u","session_id":"s"}'
"#;

fn script(folder: &Path) -> PathBuf {
    let path = folder.join("agent.sh");
    std::fs::write(&path, AGENT).expect("a script can be written");
    path
}

#[tokio::test]
async fn a_script_is_run_by_its_runner_and_its_requests_are_answered() {
    let folder = tempfile::tempdir().unwrap();
    let mut options = Options::default()
        .cli_path(script(folder.path()))
        .on_user_dialog(["form"], async |dialog: DialogRequest| {
            let payload = dialog.payload.to_value();
            match payload["a"].as_i64() {
                Some(a) => DialogAnswer::Completed(json!({"b": a + 1})),
                None => DialogAnswer::Cancelled,
            }
        })
        .on_request("oauth_token_refresh", async |request: OtherRequest| {
            let why = request.body.to_value()["why"].as_str().unwrap_or_default().to_owned();
            json!({"accessToken": format!("{why}-fresh")})
        });
    options.process.cli_runner = vec!["sh".into()];
    options.process.spawner =
        Some(Arc::new(|mut command: Command| command.env("STARTED_BY", "us").spawn()));
    let told = result(query("go", options)).await;
    assert_eq!(told, "kinds yes, dialog yes, token yes, refresh 1, by us");
}

#[tokio::test]
async fn missing_callback_is_an_error_response() {
    let folder = tempfile::tempdir().unwrap();
    // A callback for any request keeps the input open, so that responses can be sent at all.
    let mut options = Options::default()
        .cli_path(script(folder.path()))
        .env("STARTED_BY", "nobody")
        .on_request("something_else", async |_: OtherRequest| json!({}));
    options.process.cli_runner = vec!["sh".into()];
    let told = result(query("go", options)).await;
    assert_eq!(told, "kinds no, dialog no, token no, refresh , by nobody");
}
