//! The user's commands and skills, as prompts.

use std::fs;

use bowline_engine::SessionConfig;
use serde_json::{Value, json};

use crate::rig::{Client, allow, is_gone, line_in};

/// A client of a server in a project with these files.
async fn client(files: &[(&str, &str)]) -> Client {
    let client = Client::with(json!({}), read_project).await;
    for (name, text) in files {
        let path = client.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    client
}

fn read_project(config: &mut SessionConfig) {
    config.places.project.clone_from(&config.cwd);
    config.sources.project = true;
    allow(config, "Bash(echo *)");
}

async fn get(client: &mut Client, name: &str, arguments: Value) -> Value {
    client.request("prompts/get", json!({"name": name, "arguments": arguments})).await
}

#[tokio::test]
async fn commands_and_skills_are_prompts() {
    let mut client = client(&[
        (
            ".claude/commands/git/tag.md",
            "---\ndescription: Makes a tag\nargument-hint: <name>\n---\nTag $0.",
        ),
        (".claude/skills/tidy/SKILL.md", "---\nname: tidy\ndescription: Tidies up\n---\nTidy up."),
    ])
    .await;
    let listed = client.request("prompts/list", json!({})).await;
    let mut prompts = listed["result"]["prompts"].as_array().unwrap().clone();
    prompts.sort_by_key(|prompt| prompt["name"].to_string());
    let expected = json!([
        {"name": "git:tag", "description": "Makes a tag",
         "arguments": [{"name": "name", "required": true}]},
        {"name": "tidy", "description": "Tidies up",
         "arguments": [{"name": "arguments", "required": false}]},
    ]);
    assert_eq!(json!(prompts), expected);
    let got = get(&mut client, "git:tag", json!({"name": "v 1"})).await;
    let messages = json!([{"role": "user", "content": {"type": "text", "text": "Tag v 1."}}]);
    assert_eq!(got["result"]["messages"], messages);
    let got = get(&mut client, "tidy", json!({})).await;
    let text = got["result"]["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.ends_with("Tidy up."), "{text}");
}

#[tokio::test]
async fn files_and_programs_are_brought_in_as_the_rules_allow() {
    let mut client = client(&[
        ("notes.txt", "remember\n"),
        (".claude/commands/look.md", "Look at @notes.txt, it is !`echo late`."),
        (".claude/commands/make.md", "Made: !`touch made`"),
        (".claude/commands/may.md", "---\nallowed-tools: Bash(touch *)\n---\nMade: !`touch may`"),
    ])
    .await;
    let got = get(&mut client, "look", json!({})).await;
    let uri = format!("file://{}", client.path().join("notes.txt").display());
    let messages = json!([
        {"role": "user", "content": {"type": "text", "text": "Look at @notes.txt, it is late."}},
        {"role": "user", "content": {"type": "resource", "resource": {
            "uri": uri, "mimeType": "text/plain", "text": "remember\n",
        }}},
    ]);
    assert_eq!(got["result"]["messages"], messages);
    let may = get(&mut client, "may", json!({})).await;
    assert!(may["result"].is_object() && client.path().join("may").exists(), "{may}");
    // What one command allows, no other one may.
    let refused = get(&mut client, "make", json!({})).await;
    assert!(refused["error"]["message"].as_str().unwrap().contains("touch made"), "{refused}");
    assert!(!client.path().join("made").exists());
    let call = client.call("Bash", json!({"command": "touch made"})).await;
    assert_eq!(call["isError"], true);
}

#[tokio::test]
async fn programs_of_a_command_end_with_the_server() {
    // The program takes its time to end.
    let program = "trap 'sleep 0.5; exit' TERM; echo $$ > pid; while :; do sleep 0.01; done";
    let command = format!("---\nallowed-tools: Bash\n---\nIt is !`{program}`.");
    let mut client = client(&[(".claude/commands/wait.md", &command)]).await;
    client.ask("prompts/get", json!({"name": "wait"})).await;
    let pid = line_in(&client.path().join("pid")).await;
    client.hang_up().await.unwrap();
    assert!(is_gone(&pid), "process {pid} lives on");
}

#[tokio::test]
async fn mistakes_are_said() {
    let mut client = client(&[(".claude/commands/one.md", "One.")]).await;
    for params in
        [json!({"name": "two"}), json!({"name": "one", "arguments": {"x": "y"}}), json!({})]
    {
        let refused = client.request("prompts/get", params.clone()).await;
        assert_eq!(refused["error"]["code"], -32602, "{params}: {refused}");
    }
    for (method, params) in [
        ("tools/call", json!({"arguments": {}})),
        ("completion/complete", json!({})),
        ("initialize", json!({})),
    ] {
        let refused = client.request(method, params).await;
        assert_eq!(refused["error"]["code"], -32602, "{method}: {refused}");
    }
    let refused = client.request("tools/fly", json!({})).await;
    assert_eq!(refused["error"]["code"], -32601, "{refused}");
}
