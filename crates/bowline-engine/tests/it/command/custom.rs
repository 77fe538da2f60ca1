//! Custom commands and skills.

use std::fs;

use serde_json::json;
use tempfile::TempDir;

use crate::{
    context::write,
    request_log::RequestLog,
    rig::{Rig, shapes, text},
};

fn project(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        write(folder.path(), name, text);
    }
    folder
}

#[tokio::test]
async fn a_command_becomes_the_prompt_it_stands_for() {
    let log = RequestLog::default();
    let folder = project(&[
        (
            ".claude/commands/git/fix.md",
            "---\ndescription: Fixes things\nargument-hint: <what>\n---\nFix $0, then $ARGUMENTS.",
        ),
        (".bowline/commands/hello.md", "# Greets people\nSay hello."),
    ]);
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    let answer = rig.control(json!({"subtype": "initialize"})).await.unwrap();
    let listed = &answer["commands"].as_array().unwrap()[..2];
    let expected = json!([
        {"name": "git:fix", "description": "Fixes things (project)", "argumentHint": "<what>"},
        {"name": "hello", "description": "Greets people (user)", "argumentHint": ""},
    ]);
    assert_eq!(json!(listed), expected);
    let frames = rig.run("/git:fix 'the bug' now").await;
    assert_eq!(shapes(&frames), ["init", "assistant:text", "result:success"]);
    assert_eq!(
        log.conversation(),
        [
            "U: <command-message>git:fix</command-message>\n<command-name>/git:fix</command-name>\n\
             <command-args>'the bug' now</command-args>",
            "U: Fix the bug, then 'the bug' now.",
        ]
    );
}

#[tokio::test]
async fn programs_and_files_are_put_into_the_prompt() {
    let log = RequestLog::default();
    let folder = project(&[
        (
            ".claude/commands/look.md",
            "---\nallowed-tools: Bash(echo:*)\n---\nIt says !`echo $ARGUMENTS`. See @notes.txt.",
        ),
        ("notes.txt", "remember the milk"),
    ]);
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.run("/look hi").await;
    let received = log.conversation();
    assert_eq!(received[1], "U: It says hi. See @notes.txt.");
    assert!(received[2].contains("remember the milk"), "{received:?}");
}

#[tokio::test]
async fn a_program_that_may_not_run_keeps_the_command_from_the_model() {
    let log = RequestLog::default();
    let folder = project(&[(".claude/commands/look.md", "!`touch made.txt`")]);
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    rig.will_permit(json!({"behavior": "deny", "message": "not that"}));
    let frames = rig.run("/look").await;
    assert_eq!(shapes(&frames), ["can_use_tool", "init", "assistant:text", "result:success"]);
    let received = frames.last().unwrap()["result"].as_str().unwrap();
    assert!(received.contains("not that"), "{received}");
    assert!(log.requests().is_empty());
    assert!(!rig.path().join("made.txt").exists());
}

#[tokio::test]
async fn allowed_tools_of_a_command_apply_during_its_turn() {
    let call = "TOOL Bash {\"command\": \"touch made.txt\"}\nNEXT\nSAY done";
    let text = format!("---\nallowed-tools: Bash(touch:*)\n---\n{call}");
    let folder = project(&[(".claude/commands/make.md", &text)]);
    let mut rig = Rig::in_folder(folder, |_| {});
    let frames = rig.run("/make").await;
    assert!(!shapes(&frames).contains(&"can_use_tool".to_owned()), "it is allowed");
    assert!(rig.path().join("made.txt").exists());
    fs::remove_file(rig.path().join("made.txt")).unwrap();
    rig.will_permit(json!({"behavior": "deny", "message": "no"}));
    let frames = rig.run(call).await;
    assert!(shapes(&frames).contains(&"can_use_tool".to_owned()), "it no longer is");
}

#[tokio::test]
async fn a_command_may_choose_its_model() {
    let folder = project(&[("other.txt", "SAY from the other model\n")]);
    let script = folder.path().join("other.txt");
    let text = format!("---\nmodel: script:{}\n---\nhello", script.display());
    write(folder.path(), ".claude/commands/ask.md", &text);
    let mut rig = Rig::in_folder(folder, |_| {});
    assert_eq!(rig.run("/ask").await.last().unwrap()["result"], "from the other model");
    assert_eq!(rig.run("SAY mine").await.last().unwrap()["result"], "mine");
}

#[tokio::test]
async fn a_skill_is_a_command_that_knows_its_folder() {
    let log = RequestLog::default();
    let head = "---\nname: brew\ndescription: Brews coffee\n---\nHeat water.";
    let hidden = "---\nname: quiet\ndescription: d\nuser-invocable: false\n---\nHush.";
    let folder = project(&[
        (".claude/skills/brewing/SKILL.md", head),
        (".claude/skills/quiet/SKILL.md", hidden),
    ]);
    let root = folder.path().canonicalize().unwrap();
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    let answer = rig.control(json!({"subtype": "initialize"})).await.unwrap();
    let shown = json!({
        "name": "brew", "description": "Brews coffee (project)", "argumentHint": "",
        "aliases": ["brewing"],
    });
    assert_eq!(answer["commands"][0], shown);
    let frames = rig.run("/brew strong").await;
    // A skill has the name of its folder; the name in its head is an alias.
    assert_eq!(frames[0]["skills"], json!(["brewing"]));
    let commands = frames[0]["slash_commands"].as_array().unwrap();
    assert!(commands.contains(&json!("brewing")) && !commands.contains(&json!("quiet")));
    let received = log.conversation();
    let place = root.join(".claude/skills/brewing");
    let expected = format!(
        "U: Base directory for this skill: {}\n\nHeat water.\n\nARGUMENTS: strong",
        place.display()
    );
    assert_eq!(received[1], expected);

    let frames = rig.run("/quiet").await;
    assert_eq!(shapes(&frames), ["init", "assistant:text", "result:success"]);
    assert!(frames.last().unwrap()["result"].as_str().unwrap().contains("for the model"));
    assert_eq!(log.conversation(), received, "the model did not receive it");
}

#[tokio::test]
async fn commands_are_for_the_model_unless_disabled() {
    let folder = project(&[
        (".claude/commands/greet.md", "Greet $0 warmly."),
        (".claude/commands/mine.md", "---\ndisable-model-invocation: true\n---\nMine."),
        (".claude/commands/empty.md", ""),
    ]);
    let mut rig = Rig::in_folder(folder, |_| {});
    let frames = rig.run("TOOL Skill {\"skill\": \"greet\", \"args\": \"Ada\"}\nNEXT\nSAY x").await;
    assert_eq!(text(&frames[3]), "Greet Ada warmly.");
    let frames = rig.run("TOOL Skill {\"skill\": \"mine\"}\nNEXT\nSAY x").await;
    assert!(text(&frames[2]).contains("due to disable-model-invocation"), "{}", frames[2]);
    let commands = frames[0]["slash_commands"].as_array().unwrap();
    assert!(commands.contains(&json!("empty")), "{commands:?}");
}

#[tokio::test]
async fn the_host_chooses_among_skills() {
    let text = |name| format!("---\nname: {name}\ndescription: d\n---\nx");
    let folder = project(&[
        (".claude/skills/a/SKILL.md", &text("a")),
        (".claude/skills/b/SKILL.md", &text("b")),
    ]);
    let mut rig = Rig::in_folder(folder, |_| {});
    rig.control(json!({"subtype": "initialize", "skills": ["b"]})).await.unwrap();
    assert_eq!(rig.run("SAY hi").await[0]["skills"], json!(["b"]));
}

#[tokio::test]
async fn hooks_may_keep_a_command_from_becoming_a_prompt_or_add_to_it() {
    let log = RequestLog::default();
    let folder = project(&[(".claude/commands/hello.md", "Say hello.")]);
    let mut rig = Rig::in_folder(folder, |config| log.record(config));
    let hooks = json!({"UserPromptExpansion": [{"hookCallbackIds": ["h"]}]});
    rig.control(json!({"subtype": "initialize", "hooks": hooks})).await.unwrap();
    rig.will_hook(json!({"decision": "block", "reason": "not now"}));
    let frames = rig.run("/hello you").await;
    assert_eq!(
        shapes(&frames),
        ["hook:UserPromptExpansion", "init", "informational", "result:success"]
    );
    let input = &frames[0]["call"]["input"];
    assert_eq!(input["command_name"], "hello");
    assert_eq!(input["command_args"], "you");
    assert_eq!(input["command_source"], "project");
    assert_eq!(input["expansion_type"], "slash_command");
    assert_eq!(input["prompt"], "/hello you");
    assert!(log.requests().is_empty());
    rig.will_hook(json!({"hookSpecificOutput": {
        "hookEventName": "UserPromptExpansion", "additionalContext": "be nice",
    }}));
    rig.run("/hello").await;
    let received = log.conversation();
    assert!(received.last().unwrap().ends_with("hook additional context: be nice"), "{received:?}");
}
