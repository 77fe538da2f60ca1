//! Every request of the control plane and its response.
//!
//! Each line of `control.ndjson` is a request, its sender, and its response (`null` if it has
//! none). The hand-made lines fill every field there is, so that a field missing from a type
//! shows as an unknown one.

use std::collections::BTreeSet;
use std::fmt::Debug;

use bowline_protocol::*;
use expect_test::expect;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Deserialize)]
struct Exchange {
    from: Asker,
    request: RawJson,
    answer: Option<RawJson>,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Asker {
    Host,
    Agent,
}

impl Exchange {
    fn subtype(&self) -> String {
        self.request.to_value()["subtype"].as_str().unwrap().to_owned()
    }
}

fn exchanges(asker: Asker) -> Vec<Exchange> {
    include_str!("../fixtures/control.ndjson")
        .lines()
        .map(|line| serde_json::from_str::<Exchange>(line).unwrap())
        .filter(|exchange| exchange.from == asker)
        .collect()
}

/// Checks that `value`, read from `json`, keeps all of it.
fn is_whole(value: &(impl Serialize + Debug), json: &RawJson) {
    let debug = format!("{value:?}");
    for escape in ["Unknown(", "Other(", "extra: {\""] {
        assert!(!debug.contains(escape), "{escape} in\n{debug}\n{json:?}");
    }
    let written: Value = serde_json::to_value(value).unwrap();
    assert_eq!(written, json.to_value(), "{debug}");
}

#[test]
fn every_request_survives_a_round_trip() {
    let mut seen = BTreeSet::new();
    for exchange in exchanges(Asker::Host) {
        is_whole(&HostRequest::parse(exchange.request.get()).unwrap(), &exchange.request);
        seen.insert(exchange.subtype());
    }
    assert_eq!(seen, HostRequest::TAGS.iter().map(|&tag| tag.to_owned()).collect());

    let mut seen = BTreeSet::new();
    for exchange in exchanges(Asker::Agent) {
        is_whole(&AgentRequest::parse(exchange.request.get()).unwrap(), &exchange.request);
        seen.insert(exchange.subtype());
    }
    assert_eq!(seen, AgentRequest::TAGS.iter().map(|&tag| tag.to_owned()).collect());
}

fn answers<C>(asker: Asker)
where
    C: Call<Response: Serialize + Debug>,
{
    let mut found = false;
    for exchange in exchanges(asker).iter().filter(|exchange| exchange.subtype() == C::SUBTYPE) {
        let answer = exchange.answer.as_ref().expect("the answer has a body");
        is_whole(&C::read_response(Some(answer)).unwrap(), answer);
        found = true;
    }
    assert!(found, "no {}", C::SUBTYPE);
}

macro_rules! answers {
    ($asker:ident: $($request:ident),* $(,)?) => { $(answers::<$request>(Asker::$asker);)* };
}

#[test]
fn every_response_survives_a_round_trip() {
    answers!(Agent: CanUseTool, HookCallback, McpMessage, Elicitation, RequestUserDialog);
    answers!(
        Host: Initialize, Interrupt, SetPermissionMode, SetModel, SetCwd, ClaimSession,
        CancelAsyncMessage, GetContextUsage, GetSessionCost, GetUsage, ListModels,
        GetBinaryVersion, SideQuestion, GenerateSessionTitle, GetStatus, GetPlan,
        ExportConversation, McpStatus, McpSetServers, McpAuthenticate, McpCall, McpReadResource,
        SetMcpPermissionModeOverride, RewindFiles, FileSuggestions, ReadFile, BackgroundTasks,
        GetTaskOutput, GetSettings, GetHooksListing, ListPermissionRules, ReloadPlugins,
        ReloadSkills, ReloadOutputStyles,
    );
}

#[test]
fn acknowledgement_accepts_any_body() {
    assert_eq!(StopTask::read_response(None).unwrap(), Ack);
    for answer in ["null", "{}", r#"{"later":[1]}"#] {
        let answer = RawJson::from_text(answer.to_owned()).unwrap();
        assert_eq!(StopTask::read_response(Some(&answer)).unwrap(), Ack);
    }
    // Older agents send no body here either.
    assert_eq!(Interrupt::read_response(None).unwrap(), InterruptResponse::default());
}

#[test]
fn a_request_is_one_variant_of_its_direction() {
    let request: HostRequest =
        SetModel { model: Maybe::Value("opus".to_owned()), ..SetModel::default() }.into();
    assert_eq!(
        serde_json::to_string(&request).unwrap(),
        r#"{"subtype":"set_model","model":"opus"}"#
    );
}

#[test]
fn unknown_request_is_kept_byte_for_byte() {
    let json = r#"{"n":1.0,"subtype":"novel",  "x":[]}"#;
    let request = AgentRequest::parse(json).unwrap();
    assert!(matches!(request, AgentRequest::Unknown(_)));
    assert_eq!(serde_json::to_string(&request).unwrap(), json);
}

#[test]
fn errors_name_subtype_and_field() {
    let error = |json| HostRequest::parse(json).unwrap_err().to_string();
    expect![
        "mcp_toggle: enabled: invalid type: integer `1`, expected a boolean at line 1 column 55"
    ]
    .assert_eq(&error(r#"{"subtype":"mcp_toggle","serverName":"calc","enabled":1 }"#));
    expect!["rename_session: .: missing field `title` at line 1 column 28"]
        .assert_eq(&error(r#"{"subtype":"rename_session"}"#));
    expect!["mcp_set_servers: servers.a: http: .: missing field `url` at line 1 column 25"]
        .assert_eq(&error(
            r#"{"subtype":"mcp_set_servers","servers":{"a":{"type":"http","uri":"x"}}}"#,
        ));
    expect!["initialize: agents.a.effort: invalid type: boolean `true`, expected a level or a whole number at line 1 column 83"].assert_eq(&error(
        r#"{"subtype":"initialize","agents":{"a":{"description":"d","prompt":"p","effort":true}}}"#,
    ));
    let answer = RawJson::from_text(r#"{"cancelled":"yes"}"#.to_owned()).unwrap();
    expect![[r#"cancel_async_message: cancelled: invalid type: string "yes", expected a boolean at line 1 column 18"#]]
        .assert_eq(&CancelAsyncMessage::read_response(Some(&answer)).unwrap_err().to_string());
}
