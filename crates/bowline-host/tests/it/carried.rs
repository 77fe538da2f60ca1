//! Agents over streams that the program supplies.

use std::{
    io,
    sync::{Arc, Mutex},
    time::Duration,
};

use bowline_host::{AgentSetup, Client, Error, Options, PermissionResult, ToolRequest, query};
use tokio::{io::DuplexStream, process::Command};

use crate::rig::{fake, fake_path, gone, last_error, pid, result, soon, started};

/// The fake agent, carried.
fn carried(part: &str) -> Options {
    let mut options = fake(part);
    options.process.cli_path = None;
    options.carried_by(async |setup: AgentSetup| started(fake_path(), &setup))
}

#[tokio::test]
async fn carried_agent_behaves_like_any_other() {
    assert_eq!(result(query("go", carried("big"))).await, "big");
    let options = carried("two_questions")
        .can_use_tool(async |request: ToolRequest| PermissionResult::deny(&*request.tool_name));
    let answers = result(query("go", options)).await;
    assert!(answers.contains("Bash") && answers.contains("Read"), "{answers}");
}

#[tokio::test]
async fn carrier_receives_the_options() {
    let heard = Arc::new(Mutex::new(None));
    let hear = heard.clone();
    let mut options = fake("big").model("m").env("KEY", "value").cwd("/elsewhere");
    options.process.cli_path = None;
    let options = options.carried_by(move |setup: AgentSetup| {
        *hear.lock().unwrap() = Some(setup.clone());
        async move { started(fake_path(), &setup) }
    });
    result(query("go", options)).await;
    let setup = heard.lock().unwrap().take().unwrap();
    assert!(setup.arguments.windows(2).any(|words| words == ["--model", "m"]), "{setup:?}");
    assert_eq!(setup.variables["KEY"].as_deref(), Some("value"));
    assert_eq!(setup.cwd, Some("/elsewhere".into()), "a folder that need not be on this machine");
}

#[tokio::test]
async fn an_agent_that_leaves_before_its_result_is_an_error() {
    let error = last_error(query("go", carried("exit"))).await;
    assert_eq!(error.code(), "cli_connection", "{error}");
    assert!(error.to_string().contains("left before it had a result"), "{error}");
}

#[tokio::test]
async fn an_agent_that_does_not_end_is_let_go() {
    let mut options = carried("stubborn");
    options.limits.close = Duration::from_millis(200);
    let client = soon("connecting", Client::connect(options)).await.unwrap();
    let pid = pid(&client);
    soon("closing", client.disconnect()).await;
    // Whom it started is for the carrier to end; this one did not.
    Command::new("kill").args(["-9", &pid.to_string()]).status().await.unwrap();
    gone(pid).await;
}

#[tokio::test]
async fn carrier_failure_is_in_the_error() {
    let nowhere = Options::default().carried_by(async |_: AgentSetup| {
        Err::<(DuplexStream, DuplexStream), _>(io::Error::other("the line is cut"))
    });
    let error = soon("connecting", Client::connect(nowhere)).await.err().unwrap();
    let Error::Connection { source: Some(source), .. } = &error else { panic!("{error:?}") };
    assert!(source.to_string().contains("the line is cut"), "{source}");

    let mut never = Options::default().carried_by(async |_: AgentSetup| {
        std::future::pending::<io::Result<(DuplexStream, DuplexStream)>>().await
    });
    never.limits.initialize = Duration::from_millis(50);
    let error = soon("connecting", Client::connect(never)).await.err().unwrap();
    assert!(error.to_string().contains("within 50ms"), "{error}");

    let options = Options::default().cli_path("claude").carried_by(async |_: AgentSetup| {
        Err::<(DuplexStream, DuplexStream), _>(io::ErrorKind::NotConnected.into())
    });
    let error = soon("connecting", Client::connect(options)).await.err().unwrap();
    assert_eq!(error.code(), "options", "{error}");
}
