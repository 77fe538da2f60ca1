//! Subagents: in the foreground, in the background, stopped, refused.

use std::collections::BTreeMap;

use bowline_protocol::AgentDefinition;
use serde_json::{Value, json};

use crate::rig::{Rig, shapes, text};

fn rig() -> Rig {
    Rig::with(|config| {
        let helper = AgentDefinition {
            description: "helps".to_owned(),
            prompt: "You help.".to_owned(),
            tools: Some(vec!["Bash".to_owned()]),
            ..AgentDefinition::default()
        };
        config.agents = BTreeMap::from([("helper".to_owned(), helper)]);
    })
}

fn send(prompt: &str, background: bool) -> String {
    let input = json!({
        "description": "sub work",
        "prompt": prompt,
        "subagent_type": "helper",
        "run_in_background": background,
    });
    format!("TOOL Agent {input}\nNEXT\nSAY main end")
}

const SUB: &str = "SAY sub start\nTOOL Bash {\"command\": \"echo in sub\"}\nNEXT\nSAY sub end";

#[tokio::test]
async fn denied_call_of_a_subagent_is_in_the_result() {
    let mut rig = rig();
    rig.will_permit(json!({"behavior": "deny", "message": "not here"}));
    let frames = rig.run(&send("TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY sub", false)).await;
    let denials = &frames.last().unwrap()["permission_denials"];
    assert_eq!(denials[0]["tool_input"], json!({"command": "touch x"}), "{denials}");
    assert_eq!(denials.as_array().unwrap().len(), 1);
    let frames = rig.run("SAY more").await;
    assert_eq!(frames.last().unwrap()["permission_denials"], json!([]), "received once");
}

#[tokio::test]
async fn foreground_subagent_shows_its_work_and_returns_its_response() {
    let mut rig = rig();
    let frames = rig.run(&send(SUB, false)).await;
    assert_eq!(
        shapes(&frames),
        [
            "init",
            "assistant:tool_use",
            "task_started",
            "user:text",
            "task_progress",
            "assistant:tool_use",
            "user:tool_result",
            "task_updated",
            "task_notification",
            "user:tool_result",
            "assistant:text",
            "result:success",
        ]
    );
    let inner = &frames[5];
    assert_eq!(inner["parent_tool_use_id"], frames[1]["message"]["content"][0]["id"]);
    assert_eq!(inner["subagent_type"], "helper");
    let handed_back = &frames[9];
    assert!(
        handed_back["message"]["content"][0]["content"][0]["text"]
            .as_str()
            .unwrap()
            .contains("sub end")
    );
    assert_eq!(handed_back["tool_use_result"]["status"], "completed");
    assert_eq!(handed_back["tool_use_result"]["toolsUsed"], json!(["Bash"]));
    assert_eq!(frames[11]["num_turns"], 2);
    let count = &frames[11]["subagent_stats"];
    assert_eq!(count["spawned"], 1);
    assert_eq!(count["requested"], json!({"background": 0, "foreground": 1, "unset": 0}));
    assert_eq!(count["completed"], 1);
    assert_eq!(count["by_type"], json!({"helper": 1}));
}

#[tokio::test]
async fn background_subagent_ends_in_a_separate_turn() {
    let mut rig = rig();
    let frames = rig.run(&send("DELAY 200\nSAY sub end", true)).await;
    assert_eq!(
        shapes(&frames),
        [
            "init",
            "assistant:tool_use",
            "background_tasks_changed",
            "task_started",
            "user:tool_result",
            "assistant:text",
            "result:success",
        ]
    );
    assert_eq!(frames[4]["tool_use_result"]["status"], "async_launched");
    let frames = rig.turn().await;
    let shapes = shapes(&frames);
    let notified = shapes.iter().position(|shape| shape == "task_notification").unwrap();
    assert!(notified < shapes.iter().position(|shape| shape == "init").unwrap());
    let result = frames.last().unwrap();
    assert_eq!(result["origin"]["kind"], "task-notification");
}

#[tokio::test]
async fn a_closed_input_holds_the_result_until_the_background_is_done() {
    let rig = rig();
    rig.prompt(&send("DELAY 300\nSAY sub end", true)).await;
    let (end, frames) = rig.finish().await;
    assert_eq!(end.last_turn_failed, Some(false));
    let shapes = shapes(&frames);
    let results: Vec<_> = (0..shapes.len()).filter(|at| shapes[*at] == "result:success").collect();
    assert_eq!(results.len(), 2);
    assert_eq!(results[1], results[0] + 1, "both results come at the end: {shapes:?}");
}

#[tokio::test]
async fn an_interrupt_reaches_the_subagent_and_its_command() {
    let mut rig = rig();
    let sleep = "TOOL Bash {\"command\": \"sleep 300\"}";
    rig.prompt(&send(sleep, false)).await;
    rig.until(|frame| frame["type"] == "assistant" && !frame["parent_tool_use_id"].is_null()).await;
    rig.control(json!({"subtype": "interrupt"})).await.unwrap();
    let frames = rig.turn().await;
    assert_eq!(frames.last().unwrap()["terminal_reason"], "aborted_tools");
    let received = frames.iter().find(|frame| frame["subtype"] == "task_notification").unwrap();
    assert_eq!(received["status"], "stopped");
    assert_eq!(rig.run("SAY alive").await.last().unwrap()["result"], "alive");
}

#[tokio::test]
async fn an_unknown_kind_is_named_with_those_there_are() {
    let mut rig = rig();
    let frames = rig
        .run("TOOL Agent {\"description\": \"x\", \"prompt\": \"y\", \"subagent_type\": \"z\"}")
        .await;
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert_eq!(
        text(result),
        "Agent type 'z' not found. Available agents: Explore, general-purpose, helper"
    );
}

#[tokio::test]
async fn subagents_nest_at_most_three_deep() {
    let mut rig = Rig::new();
    let mut script = "SAY bottom".to_owned();
    for _ in 0..4 {
        let input = json!({
            "description": "deeper", "prompt": script, "subagent_type": "general-purpose",
            "run_in_background": false,
        });
        script = format!("TOOL Agent {input}\nNEXT\nSAY back");
    }
    let frames = rig.run(&script).await;
    let started = frames.iter().filter(|frame| frame["subtype"] == "task_started");
    assert_eq!(started.count(), 3);
    let refused =
        frames.iter().filter(|frame| text(frame).contains("No such tool available: Agent"));
    assert_eq!(refused.count(), 1, "{frames:#?}");
}

#[tokio::test]
async fn two_work_at_once() {
    let mut rig = rig();
    // Each waits, with a limit, for the file that the other creates.
    let call = |own: &str, other: &str| {
        let wait = format!("for _ in {{1..400}}; do [ -e {other} ] && break; sleep 0.05; done");
        let command = format!("touch {own}; {wait}; [ -e {other} ] && echo rendezvous");
        let work = format!("TOOL Bash {}\nNEXT\nECHORESULT", json!({"command": command}));
        json!({"description": own, "prompt": work, "run_in_background": false})
    };
    let calls = format!("TOOL Agent {}\nTOOL Agent {}", call("one", "two"), call("two", "one"));
    let frames = rig.run(&format!("{calls}\nNEXT\nSAY both")).await;
    let answers = frames.iter().filter(|frame| frame["tool_use_result"]["status"] == "completed");
    let met =
        answers.filter(|frame| frame["message"]["content"].to_string().contains("rendezvous"));
    assert_eq!(met.count(), 2);
}

#[tokio::test]
async fn subagent_over_the_limit_is_refused_until_another_ends() {
    const MOST: usize = 16;
    let mut rig = rig();
    let call = |number: usize| {
        let input = json!({
            "description": format!("work {number}"),
            "prompt": "SAY waiting\nHANG",
            "run_in_background": true,
        });
        format!("TOOL Agent {input}\n")
    };
    let calls: String = (0..=MOST).map(call).collect();
    let frames = rig.run(&format!("{calls}NEXT\nSAY main end")).await;
    let results: Vec<_> = frames.iter().filter(|it| it["type"] == "user").collect();
    let launched = |frame: &&&Value| frame["tool_use_result"]["status"] == "async_launched";
    assert_eq!(results.iter().filter(launched).count(), MOST);
    let refused: Vec<_> = results.iter().filter(|it| !launched(it)).map(|it| text(it)).collect();
    assert_eq!(refused, ["16 agents are at work already; wait for one of them to finish"]);
    let result = frames.last().unwrap();
    assert_eq!(result["subtype"], "success", "the turn goes on");
    assert_eq!(result["subagent_stats"]["spawned"], MOST);
    assert_eq!(result["subagent_stats"]["refused"]["concurrency_limit"], 1);

    let started = frames.iter().find(|it| it["subtype"] == "task_started").unwrap();
    let stop = json!({"subtype": "stop_task", "task_id": started["task_id"]});
    rig.control(stop).await.unwrap();
    rig.until(|it| it["subtype"] == "task_notification").await;
    let frames = rig.run(&format!("{}NEXT\nSAY main end", call(MOST))).await;
    assert!(frames.iter().any(|it| launched(&&it)), "{:?}", shapes(&frames));
    rig.abort().await;
}

#[tokio::test]
async fn ask_user_question_returns_the_answer_to_the_model() {
    let mut rig = Rig::new();
    let question = json!({"questions": [{
        "question": "Which one?", "header": "Pick", "multiSelect": false,
        "options": [{"label": "A", "description": "first"}, {"label": "B", "description": "second"}],
    }]});
    let mut answered: Value = question.clone();
    answered["answers"] = json!({"Which one?": "B"});
    rig.will_permit(json!({"behavior": "allow", "updatedInput": answered}));
    let frames = rig.run(&format!("TOOL AskUserQuestion {question}\nNEXT\nSAY thanks")).await;
    let asked = frames.iter().find(|frame| frame["type"] == "can_use_tool").unwrap();
    assert_eq!(asked["question"]["requires_user_interaction"], true);
    let result = frames.iter().find(|frame| frame["type"] == "user").unwrap();
    assert!(text(result).contains("\"Which one?\"=\"B\""), "{result}");
}

#[tokio::test]
async fn plan_mode_ends_when_the_person_agrees() {
    let mut rig = Rig::new();
    let frames = rig.run("TOOL EnterPlanMode {}\nNEXT\nTOOL ExitPlanMode {}\nNEXT\nSAY go").await;
    let modes: Vec<_> = frames
        .iter()
        .filter(|frame| frame["subtype"] == "status")
        .map(|frame| frame["permissionMode"].as_str().unwrap())
        .collect();
    assert_eq!(modes, ["plan", "default"]);
    assert_eq!(frames.last().unwrap()["result"], "go");
}

#[tokio::test]
async fn the_plan_is_what_stands_in_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let plan = folder.path().join("plans/plan.md");
    let mut rig = Rig::with(|config| {
        config.policy.plan_file = Some(plan.clone());
        config.policy.mode = bowline_protocol::PermissionMode::Plan;
    });
    let write = json!({"file_path": plan, "content": "mend it"});
    let leave = json!({"plan": "something else"});
    let script = format!("TOOL Write {write}\nNEXT\nTOOL ExitPlanMode {leave}\nNEXT\nSAY go");
    let frames = rig.run(&script).await;
    let asked: Vec<_> = frames.iter().filter(|frame| frame["type"] == "can_use_tool").collect();
    assert_eq!(asked.len(), 1, "{asked:#?}");
    let shown = json!({"plan": "mend it", "planFilePath": plan});
    assert_eq!(asked[0]["question"]["input"], shown);
    let results = frames.iter().filter(|it| it["message"]["content"][0]["type"] == "tool_result");
    let last = results.map(text).next_back().unwrap();
    assert!(last.ends_with("## Approved Plan:\nmend it"), "{last}");
    // After the approval there is no second permission request.
    let frames = rig.run("TOOL ExitPlanMode {}\nNEXT\nSAY x").await;
    assert!(frames.iter().all(|frame| frame["type"] != "can_use_tool"), "{frames:#?}");
}

#[tokio::test]
async fn plan_mode_names_the_plan_file() {
    let log = crate::request_log::RequestLog::default();
    let mut rig = Rig::with(|config| {
        log.record(config);
        config.policy.mode = bowline_protocol::PermissionMode::Plan;
    });
    rig.run("SAY x").await;
    let plans = rig.path().canonicalize().unwrap().join(".bowline/plans");
    let received = log.system().join("\n");
    assert!(received.contains(&format!("Write the plan to {}/", plans.display())), "{received}");
}

#[tokio::test]
async fn stopped_subagent_starts_a_turn_after_the_response() {
    let mut rig = rig();
    let input = json!({
        "description": "wait", "prompt": "SAY waiting\nHANG", "run_in_background": true,
    });
    rig.prompt(&format!("TOOL Agent {input}\nNEXT\nSAY main end")).await;
    let frames = rig.until(|frame| frame["type"] == "result").await;
    let started = frames.iter().find(|it| it["subtype"] == "task_started").unwrap();
    let stop = json!({"subtype": "stop_task", "task_id": started["task_id"]});
    rig.control(stop).await.unwrap();
    let frames = rig.turn().await;
    let shapes = shapes(&frames);
    let place = |shape: &str| shapes.iter().position(|it| it == shape).unwrap();
    let end = frames.iter().find(|it| it["subtype"] == "task_notification").unwrap();
    assert_eq!((&end["status"], &end["summary"]), (&json!("stopped"), &json!("wait")));
    let received = &frames[place("user:text")];
    assert_eq!(text(received), "[Request interrupted by user]");
    assert_eq!(received["parent_tool_use_id"], started["tool_use_id"]);
    assert!(place("task_notification") < place("user:text"), "{shapes:?}");
    assert!(place("user:text") < place("init"), "{shapes:?}");
    assert_eq!(frames.last().unwrap()["origin"]["kind"], "task-notification");
}

#[tokio::test]
async fn subagent_of_a_refused_call_is_stopped() {
    let mut rig = Rig::new();
    rig.will_permit(json!({"behavior": "deny", "message": "no", "interrupt": true}));
    let input = json!({
        "description": "touch", "prompt": "TOOL Bash {\"command\": \"touch x\"}\nNEXT\nSAY s",
        "run_in_background": false,
    });
    let frames = rig.run(&format!("TOOL Agent {input}\nNEXT\nSAY main end")).await;
    let end = frames.iter().find(|it| it["subtype"] == "task_notification").unwrap();
    assert_eq!((&end["status"], &end["summary"]), (&json!("stopped"), &json!("touch")));
    let result = frames.iter().rfind(|it| it["type"] == "user").unwrap();
    assert_eq!(text(result), "[Request interrupted by user for tool use]");
    assert_eq!(result["tool_result_meta"][0]["non_execution_kind"], "interrupted");
    assert_eq!(frames.last().unwrap()["result"], "main end");
}

#[tokio::test]
async fn failed_subagent_reports_its_error_and_nested_one_its_parent() {
    let mut rig = rig();
    let inner = json!({
        "description": "inner", "prompt": "ERRORS 400 -1", "run_in_background": false,
    });
    let outer = json!({
        "description": "outer", "prompt": format!("TOOL Agent {inner}\nNEXT\nSAY went on"),
        "run_in_background": false,
    });
    let frames = rig.run(&format!("TOOL Agent {outer}\nNEXT\nSAY main end")).await;
    let started: Vec<_> = frames.iter().filter(|it| it["subtype"] == "task_started").collect();
    assert_eq!(started[0]["parent_task_id"], Value::Null);
    assert_eq!(started[1]["parent_task_id"], started[0]["task_id"]);
    let progress = frames.iter().find(|it| it["subtype"] == "task_progress").unwrap();
    assert_eq!(progress["description"], "inner");
    let updated = frames.iter().find(|it| it["patch"]["status"] == "failed").unwrap();
    let why = updated["patch"]["error"].as_str().unwrap();
    assert!(why.starts_with("Agent terminated early due to an API error"), "{why}");
    let end = frames.iter().find(|it| it["subtype"] == "task_notification").unwrap();
    assert_eq!((&end["status"], &end["summary"]), (&json!("failed"), &json!(why)));
    let prompts = frames.iter().filter(|it| it["type"] == "user" && text(it).starts_with("ERRORS"));
    assert_eq!(prompts.count(), 0, "what agents tell each other is theirs");
}
