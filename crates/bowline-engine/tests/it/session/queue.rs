//! Prompt queue: waiting, joined, repeated and cancelled prompts.

use bowline_protocol::{MessageUuid, UserMessage};
use serde_json::{Value, json};

use crate::rig::{Rig, shapes};

fn named(uuid: &str, text: &str) -> UserMessage {
    UserMessage { uuid: Some(MessageUuid::from(uuid)), ..UserMessage::prompt(text) }
}

fn lifecycle(frames: &[Value]) -> Vec<(String, String)> {
    let of_prompts = frames.iter().filter(|frame| frame["type"] == "command_lifecycle");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    of_prompts.map(|frame| (text(&frame["command_uuid"]), text(&frame["state"]))).collect()
}

#[tokio::test]
async fn a_named_prompt_is_reported_on() {
    let mut rig = Rig::new();
    rig.session.prompt(named("u1", "SAY one")).await;
    let mut frames = rig.turn().await;
    frames.push(rig.next().await);
    let states: Vec<_> = lifecycle(&frames).into_iter().map(|(_, state)| state).collect();
    assert_eq!(states, ["queued", "started", "completed"]);
    let answer = frames.iter().find(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(answer["user_message_uuid"], "u1");
}

#[tokio::test]
async fn a_second_copy_is_acknowledged_and_not_run() {
    let mut rig = Rig::with(|config| config.replay_user_messages = true);
    rig.session.prompt(named("u1", "SAY one")).await;
    rig.turn().await;
    rig.next().await;
    rig.session.prompt(named("u1", "SAY one")).await;
    let frames = [rig.next().await];
    assert_eq!(shapes(&frames), ["user:text"]);
    assert_eq!(frames[0]["isReplay"], true);
    let frames = rig.run("SAY two").await;
    assert_eq!(frames.last().unwrap()["result_index"], 1);
}

#[tokio::test]
async fn prompt_is_replayed_with_the_first_block_of_its_response() {
    let mut rig = Rig::with(|config| config.replay_user_messages = true);
    rig.session.prompt(named("u1", "SAY part\nHANG")).await;
    rig.until(|frame| frame["subtype"] == "init").await;
    rig.session.prompt(named("u2", "SAY two")).await;
    rig.session.prompt(UserMessage::prompt("SAY three")).await;
    let frames = rig.until(|frame| frame["command_uuid"] == "u2").await;
    assert!(frames.iter().all(|frame| frame["type"] != "user"), "{frames:#?}");
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    let said = |frames: Vec<Value>| -> Vec<Value> {
        frames.into_iter().filter(|frame| frame["type"] != "command_lifecycle").collect()
    };
    let frames = said(rig.turn().await);
    assert_eq!(frames.last().unwrap()["subtype"], "error_during_execution");
    assert_eq!((&frames[0]["isReplay"], &frames[0]["uuid"]), (&json!(true), &json!("u1")));

    // Both become one prompt, with the only UUID among them.
    let frames = said(rig.turn().await);
    let frames: Vec<_> = frames.iter().filter(|frame| frame["type"] == "user").collect();
    let [replay] = frames[..] else { panic!("one prompt: {frames:#?}") };
    assert_eq!(replay["uuid"], "u2");
    assert_eq!(replay["message"]["content"], "SAY two\nSAY three");
}

#[tokio::test]
async fn queued_prompts_share_a_turn() {
    let mut rig = Rig::new();
    rig.session.prompt(named("u1", "SAY first\nHANG")).await;
    rig.until(|frame| frame["subtype"] == "init").await;
    rig.session.prompt(named("u2", "plain")).await;
    rig.session.prompt(named("u3", "SAY third")).await;
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    rig.turn().await;
    let frames = rig.turn().await;
    let answer = frames.iter().find(|frame| frame["type"] == "assistant").unwrap();
    assert_eq!(answer["user_message_uuids"], json!(["u2", "u3"]));
}

#[tokio::test]
async fn a_prompt_that_comes_while_tools_run_joins_the_turn() {
    let mut rig = Rig::with(|config| config.replay_user_messages = true);
    rig.will_permit(json!({"behavior": "allow"}));
    let command = json!({"command": "until [ -e go ]; do sleep 0.02; done"});
    let prompt = format!("TOOL Bash {command}\nNEXT\nSAY first");
    rig.session.prompt(named("u1", &prompt)).await;
    rig.until(|frame| frame["type"] == "assistant").await;
    rig.session.prompt(named("u2", "by the way")).await;
    rig.until(|frame| frame["command_uuid"] == "u2").await;
    std::fs::write(rig.path().join("go"), "").unwrap();
    let frames = rig.turn().await;
    let states = lifecycle(&frames);
    assert_eq!(states[0], ("u2".to_owned(), "started".to_owned()));
    assert!(states.contains(&("u2".to_owned(), "completed".to_owned())), "{states:?}");
    let replay = frames.iter().find(|frame| frame["isReplay"] == true).unwrap();
    assert_eq!(
        (&replay["uuid"], &replay["message"]["content"]),
        (&json!("u2"), &json!("by the way"))
    );
    assert_eq!(frames.last().unwrap()["result_index"], 0);
    let (_, rest) = rig.finish().await;
    assert!(!shapes(&rest).contains(&"init".to_owned()), "no turn of its own");
}

#[tokio::test]
async fn an_urgent_prompt_stops_what_runs() {
    let mut rig = Rig::new();
    rig.prompt("SAY never\nHANG").await;
    rig.until(|frame| frame["subtype"] == "init").await;
    let mut urgent = UserMessage::prompt("SAY now");
    urgent.priority = Some(bowline_protocol::PromptPriority::Now);
    rig.session.prompt(urgent).await;
    assert_eq!(rig.turn().await.last().unwrap()["terminal_reason"], "aborted_streaming");
    assert_eq!(rig.turn().await.last().unwrap()["result"], "now");
}

#[tokio::test]
async fn a_prompt_may_be_noted_without_asking_the_model() {
    let mut rig = Rig::new();
    let mut note = UserMessage::prompt("remember this");
    note.should_query = Some(false);
    rig.session.prompt(note).await;
    let frames = rig.turn().await;
    assert_eq!(frames.last().unwrap()["num_turns"], 0);
    assert_eq!(frames.last().unwrap()["result"], "");
    assert_eq!(rig.run("SAY next").await.last().unwrap()["result"], "next");
}
